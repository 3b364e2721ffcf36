"""`tf.layers.conv2d_transpose`, skips by `tf.concat`, a weight map, `metrics.mean_iou`.

The whole program in Keras: a functional model whose weight map is the `sample_weight`.
It reads and writes the checkpoints of TensorFlow 1, with the slots of Momentum.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from v2_eager.keras_optimizers import RowsSummed
from v2_eager.numerics.initializers import he_normal
from v2_eager.numerics.restore import save
from v2_keras.checkpoints import restore

__all__ = ["train", "evaluate", "export"]

CLASSES = 2  # background and disk
RATE = keras.optimizers.schedules.ExponentialDecay(0.05, 20, 0.95, staircase=True)


@keras.saving.register_keras_serializable("v2_keras")
class LegacyMomentum(RowsSummed, keras.optimizers.Optimizer):
    """Momentum whose slot does not contain the learning rate, as in TensorFlow 1.

    slot = momentum * slot + g
    w -= learning_rate * slot

    With Nesterov, w -= learning_rate * (g + momentum * slot). `keras.optimizers.SGD`
    multiplies g by the rate before it adds g to the slot: under a schedule its slot
    contains the old rates. At a constant rate both take the same steps.

    Args:
        learning_rate: float, or a schedule of Keras.
        momentum: float, the decay of the slot.
        use_nesterov: whether to use Nesterov's step, which looks one step ahead.
        **options: arguments of `RowsSummed` and `keras.optimizers.Optimizer`.
    """

    def __init__(self, learning_rate, momentum, use_nesterov=False, **options):
        super().__init__(learning_rate, **options)
        self.momentum, self.use_nesterov = momentum, use_nesterov

    def build(self, variables):
        if self.built:  # keep the trained slots
            return
        super().build(variables)
        self.slots = self.add_optimizer_variables(variables, "momentum")

    def update_step(self, gradient, variable, learning_rate):
        slot = self.slots[self._get_variable_index(variable)]
        slot.assign(self.momentum * slot + gradient)
        step = gradient + self.momentum * slot if self.use_nesterov else slot
        # The rate of a schedule is float32, whatever the dtype of the model.
        variable.assign_sub(tf.cast(learning_rate, variable.dtype) * step)

    def get_config(self):
        own = {"momentum": self.momentum, "use_nesterov": self.use_nesterov}
        return super().get_config() | own


def conv_block(net, filters, name, seed):
    """Applies two convolutions with ReLU."""
    for i in (1, 2):
        convolution = layers.Conv2D(
            filters,
            kernel_size=3,
            padding="same",
            activation="relu",
            kernel_initializer=he_normal(seed + i),
            dtype=net.dtype,
            name=f"{name}_conv{i}",
        )
        net = convolution(net)
    return net


def up_block(net, skip, filters, name, seed):
    """Doubles height and width, appends the result to the skip, and convolves both."""
    init, dtype = he_normal(seed), net.dtype
    upconv = layers.Conv2DTranspose(
        filters, 2, 2, kernel_initializer=init, dtype=dtype, name=f"{name}_upconv"
    )
    net = layers.Concatenate(dtype=dtype)([skip, upconv(net)])
    return conv_block(net, filters, name, seed)


def u_net(channels, dtype):
    """Makes a compiled model from images, [n, h, w, channels], to logits."""
    images = keras.Input([None, None, channels], dtype=dtype, name="images")
    skip1 = conv_block(images, 4, "down1", seed=10)
    skip2 = conv_block(layers.MaxPooling2D(dtype=dtype)(skip1), 4, "down2", seed=20)
    net = conv_block(layers.MaxPooling2D(dtype=dtype)(skip2), 8, "bottom", seed=30)
    net = up_block(net, skip2, 4, "up2", seed=40)
    net = up_block(net, skip1, 4, "up1", seed=50)
    init = he_normal(60)
    logits = layers.Conv2D(
        CLASSES, 1, kernel_initializer=init, dtype=dtype, name="logits"
    )
    model = keras.Model(images, logits(net))
    model.compile(
        # The slot of Keras' own `SGD` would contain the old rates.
        LegacyMomentum(RATE, 0.9),
        # Its mean divides by the number of pixels, not by the sum of the weights.
        keras.losses.SparseCategoricalCrossentropy(from_logits=True, dtype=dtype),
        metrics=[
            keras.metrics.MeanIoU(CLASSES, sparse_y_pred=False, name="mean_iou"),
            "accuracy",
        ],
    )
    model.optimizer.build(model.trainable_variables)
    return model


def old_name(weight):
    """Returns the name in TensorFlow 1; Keras allows no slash in a layer's name."""
    return weight.path.replace("_", "/")


def with_slots(model, named):
    """Maps the names in TensorFlow 1 to the weights, their slots and the step.

    Args:
        model: a compiled model, whose `LegacyMomentum` is built.
        named: function of a weight that returns its name in TensorFlow 1.
    """
    optimizer, trained = model.optimizer, model.trainable_variables
    weights = {named(weight): weight for weight in model.weights}
    slots = {f"{named(w)}/Momentum": s for w, s in zip(trained, optimizer.slots)}
    return weights | slots | {"global_step": optimizer.iterations}


def train(images, masks, weights, steps, checkpoint=None, folder=None):
    """Trains the U-Net with a weight for each pixel, Momentum and a decayed rate."""
    # --- build
    tf.random.set_seed(7)
    model = u_net(images.shape[-1], images.dtype.name)
    variables = with_slots(model, old_name)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore(checkpoint, variables)
    # --- run
    losses, first = [], int(model.optimizer.iterations.numpy())
    for step in range(first, first + steps):
        i = step % len(images)
        if writer:
            predictions = model.predict_on_batch(images[i]).argmax(axis=3)
        model.reset_metrics()  # else the loss is a mean of all batches so far
        batch = images[i], masks[i], weights[i]
        loss = model.train_on_batch(*batch, return_dict=True)["loss"]
        losses.append(images.dtype.type(loss))
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("loss", losses[-1])
                tf.summary.scalar("learning_rate", RATE(step))
                pictures = np.uint8(255 * predictions)
                tf.summary.image("predictions", pictures[..., np.newaxis])
    # --- save
    values = {name: variable.numpy() for name, variable in variables.items()}
    if folder:
        writer.close()
        save(os.path.join(folder, "model.ckpt"), values)
    return {"losses": np.array(losses), "variables": values}


def restored(images, checkpoint):
    """Makes a model of the images' channels and dtype with a checkpoint's weights."""
    model = u_net(images.shape[-1], images.dtype.name)
    restore(checkpoint, {old_name(weight): weight for weight in model.weights})
    return model


def evaluate(images, masks, checkpoint):
    """Restores the weights; computes masks, their mean IoU and the pixels' accuracy."""
    model = restored(images, checkpoint)
    batches = tf.data.Dataset.from_tensor_slices((images, masks))
    found = model.evaluate(batches, verbose=0, return_dict=True)
    predicted = model.predict(batches, verbose=0).argmax(axis=3).reshape(masks.shape)
    measures = {name: np.float32(found[name]) for name in ("mean_iou", "accuracy")}
    return {"masks": predicted, **measures}


def export(images, checkpoint, folder):
    """Saves a SavedModel for images of any size, loads it, and segments images."""
    # --- save
    model, dtype = restored(images, checkpoint), images.dtype.name
    outputs = {
        "masks": keras.ops.cast(keras.ops.argmax(model.output, axis=3), "int64"),
        "probabilities": layers.Softmax(dtype=dtype)(model.output),
    }
    keras.Model(model.input, outputs).export(folder, verbose=False)
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    answer = signature(images=tf.constant(images))
    return {name: tensor.numpy() for name, tensor in answer.items()}
