"""`resnet_v1` and `resnet_v2` of slim: `arg_scope`, `create_train_op`, fine-tuning.

ResNets: He et al., "Deep Residual Learning for Image Recognition", 2015, and "Identity
Mappings in Deep Residual Networks", 2016. Modules replace the scopes; the variables
keep the names of slim's checkpoints.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import batch_norms, initializers, layers, optimizers, restore

__all__ = ["train", "evaluate", "export", "fine_tune"]

NUM_CLASSES = 3
ROOT = 8
# Scope, channels between the two 1 x 1 convolutions, units, stride of the last unit.
BLOCKS = [("block1", 4, 2, 2), ("block2", 8, 1, 1)]
WEIGHT_DECAY = 0.0001
BOUNDARIES, RATES = [30, 60], [0.05, 0.005, 0.0005]


class Conv(layers.Conv2D):
    """A convolution of a ResNet: with a stride, its padding ignores the image's size.

    Args:
        path, units, size, stride: see `layers.Conv2D`; `size` is one number.
        activation: function, or None.
        norm: function from a path to a batch norm, or None for biases.
    """

    def __init__(self, path, units, size, stride=1, activation=None, norm=None):
        super().__init__(
            path,
            units,
            size,
            stride,
            "SAME" if stride == 1 else "VALID",
            activation=activation,
            normalizer=norm and norm(f"{path}/BatchNorm"),
            initializer=initializers.contrib_variance_scaling(seed=1),
        )

    def product(self, x):
        if self.stride > 1:
            before = (self.size[0] - 1) // 2
            sides = [before, self.size[0] - 1 - before]
            x = tf.pad(x, [[0, 0], sides, sides, [0, 0]])
        return super().product(x)


class BottleneckV1(tf.Module):
    """A unit with batch norms after its convolutions.

    A call takes x, [n, height, width, channels] floats, and `is_training`, a bool.

    Args:
        path: scope of the variables.
        depth: number of output channels.
        inner: number of channels between the two 1 x 1 convolutions.
        stride: stride of the 3 x 3 convolution and of the shortcut.
        projects: whether the shortcut is a convolution, because the depth changes.
        norm: function from a path to a batch norm.
    """

    def __init__(self, path, depth, inner, stride, projects, norm):
        super().__init__()
        self.make(f"{path}/bottleneck_v1", depth, inner, stride, projects, norm, norm)

    def make(self, path, depth, inner, stride, projects, norm, last):
        """Makes the layers; `last` replaces `norm` where no ReLU follows."""
        self.stride, self.shortcut = stride, None
        if projects:
            self.shortcut = Conv(f"{path}/shortcut", depth, 1, stride, norm=last)
        self.conv1 = Conv(f"{path}/conv1", inner, 1, 1, tf.nn.relu, norm)
        self.conv2 = Conv(f"{path}/conv2", inner, 3, stride, tf.nn.relu, norm)
        self.conv3 = Conv(f"{path}/conv3", depth, 1, norm=last)

    def __call__(self, x, is_training):
        return tf.nn.relu(self.added(x, x, is_training))

    def added(self, x, net, is_training):
        """Adds the shortcut of x and the residual of `net`."""
        mode = {"is_training": is_training}
        if self.shortcut is None:
            shortcut = tf.nn.max_pool2d(x, 1, self.stride, "VALID")
        else:
            shortcut = self.shortcut(net, **mode)
        return shortcut + self.conv3(
            self.conv2(self.conv1(net, **mode), **mode), **mode
        )

    def layers(self):
        """Lists the convolutions."""
        parts = self.shortcut, self.conv1, self.conv2, self.conv3
        return [layer for layer in parts if layer is not None]


class BottleneckV2(BottleneckV1):
    """A unit with batch norms before its convolutions.

    Args:
        path, depth, inner, stride, projects, norm: see `BottleneckV1`.
    """

    def __init__(self, path, depth, inner, stride, projects, norm):
        tf.Module.__init__(self)
        path = f"{path}/bottleneck_v2"
        self.preact = norm(f"{path}/preact")
        self.make(path, depth, inner, stride, projects, norm, None)

    def __call__(self, x, is_training):
        # An identity as the shortcut skips the first batch norm, a projection does not.
        return self.added(x, tf.nn.relu(self.preact(x, is_training)), is_training)


class ResNet(tf.Module):
    """A small ResNet v1 or v2, which classifies images.

    A call takes [n, height, width, channels] floats and `is_training`, a bool, and
    returns the logits, [n, classes].

    Args:
        model_name: "resnet_v1_small" or "resnet_v2_small", the scope of the variables.
        shape: (height, width, channels) of an image.
        dtype: dtype of the images and of the variables.
        num_classes: number of classes.
    """

    def __init__(self, model_name, shape, dtype, num_classes=NUM_CLASSES):
        super().__init__()
        second = model_name.startswith("resnet_v2")

        def norm(path):
            # The default is the fused kernel, which does not support float64.
            return batch_norms.ContribBatchNorm(
                0.9, scale=True, epsilon=1e-5, fused=dtype == tf.float32, name=path
            )

        # The first unit of v2 has the batch norm and the ReLU of this layer.
        root = {} if second else {"activation": tf.nn.relu, "norm": norm}
        self.conv1 = Conv(f"{model_name}/conv1", ROOT, 7, 2, **root)
        self.units, depth, unit = [], ROOT, BottleneckV2 if second else BottleneckV1
        for block, inner, count, stride in BLOCKS:
            for i in range(count):
                path = f"{model_name}/{block}/unit_{i + 1}"
                last = stride if i == count - 1 else 1
                projects, depth = depth != 4 * inner, 4 * inner
                self.units.append(unit(path, depth, inner, last, projects, norm))
        self.postnorm = norm(f"{model_name}/postnorm") if second else None
        self.logits = Conv(f"{model_name}/logits", num_classes, 1)
        self(tf.zeros([1, *shape], dtype), False)  # makes the variables

    def __call__(self, images, is_training):
        net = self.conv1(images, is_training=is_training)
        net = tf.nn.max_pool2d(net, 3, 2, "SAME")
        for unit in self.units:
            net = unit(net, is_training)
        if self.postnorm is not None:
            net = tf.nn.relu(self.postnorm(net, is_training))
        net = tf.reduce_mean(net, [1, 2], keepdims=True)
        return tf.squeeze(self.logits(net), [1, 2])

    def penalties(self):
        """Returns the l2 penalties of the weights; biases and batch norms have none."""
        parts = [layer for unit in self.units for layer in unit.layers()]
        parts = [self.conv1, *parts, self.logits]
        return [WEIGHT_DECAY * tf.nn.l2_loss(part.weights) for part in parts]


def cross_entropy(labels, logits):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    return tf.reduce_mean(losses)


class Trainer(tf.Module):
    """A ResNet, its Momentum and the global step.

    Args:
        net: a `ResNet`.
        rate: learning rate, a number or a schedule.
    """

    def __init__(self, net, rate):
        super().__init__()
        self.net, self.optimizer = net, optimizers.Momentum(rate, 0.9)
        self.optimizer.create_slots(net.trainable_variables)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")

    @tf.function
    def step(self, images, labels):
        """Takes one step on a batch of images; returns the loss before it."""

        def total_loss():
            loss = cross_entropy(labels, self.net(images, is_training=True))
            loss = tf.add_n([loss, *self.net.penalties()])
            return tf.debugging.check_numerics(loss, "LossTensor is inf or nan")

        return self.optimizer.minimize(
            total_loss, self.net.trainable_variables, self.global_step
        )


def train(model_name, images, labels, steps, checkpoint=None, folder=None):
    """Trains a ResNet with Momentum, a piecewise constant rate and weight decay."""
    # --- build
    tf.random.set_seed(7)
    rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay(BOUNDARIES, RATES)
    trainer = Trainer(ResNet(model_name, images.shape[2:], images.dtype), rate)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses, first = [], int(trainer.global_step)
    for step in range(first, first + steps):
        i = step % len(images)
        loss = trainer.step(tf.constant(images[i]), tf.constant(labels[i]))
        losses.append(loss.numpy())
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("total_loss", loss)
                tf.summary.scalar("learning_rate", rate(step))
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(model_name, images, checkpoint):
    """Makes a ResNet with the variables of a checkpoint."""
    net = ResNet(model_name, images.shape[1:], images.dtype)
    restore.by_name(checkpoint, restore.named(net))
    return net


def evaluate(model_name, images, labels, checkpoint):
    """Restores the model variables; computes the top-1 accuracy and the loss."""
    # --- build
    net = restored(model_name, images, checkpoint)

    @tf.function
    def measure(images, labels):
        logits = net(images, is_training=False)
        predictions = tf.argmax(logits, 1)
        correct = tf.cast(predictions == labels, logits.dtype)
        return {
            "accuracy": tf.reduce_mean(correct),
            "loss": cross_entropy(labels, logits),
            "predictions": predictions,
        }

    # --- run
    found = measure(tf.constant(images), tf.constant(labels))
    return {name: value.numpy() for name, value in found.items()}


def export(model_name, images, checkpoint, folder):
    """Saves a ResNet as a SavedModel, loads it, and computes probabilities."""
    # --- save
    net = restored(model_name, images, checkpoint)
    spec = tf.TensorSpec([None, *images.shape[1:]], images.dtype, name="images")
    serve = tf.function(
        lambda images: {"probabilities": tf.nn.softmax(net(images, is_training=False))},
        input_signature=[spec],
    )
    tf.saved_model.save(net, folder, signatures={"serving_default": serve})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    found = signature(images=tf.constant(images))
    return {name: value.numpy() for name, value in found.items()}


def fine_tune(model_name, images, labels, num_classes, steps, checkpoint):
    """Trains with other classes; restores all model variables but the logits."""
    # --- build
    tf.random.set_seed(7)
    net = ResNet(model_name, images.shape[2:], images.dtype, num_classes)
    trainer = Trainer(net, 0.01)
    # --- restore
    logits = f"{model_name}/logits"
    variables = restore.named(net)  # without the step and the slots
    chosen = {n: v for n, v in variables.items() if not n.startswith(logits)}
    restore.by_name(checkpoint, chosen)
    # --- run
    losses = []
    for step in range(steps):
        i = step % len(images)
        loss = trainer.step(tf.constant(images[i]), tf.constant(labels[i]))
        losses.append(loss.numpy())
    values = {name: v.numpy() for name, v in restore.named(trainer).items()}
    return {"losses": np.array(losses), "variables": values}
