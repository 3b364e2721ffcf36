"""Tied weights, `minimize(…, var_list=…)` for each layer, three Adams, fine-tuning.

A stacked autoencoder, trained layer by layer: Bengio et al., "Greedy Layer-Wise
Training of Deep Networks", 2006. Each phase is an object: a loss, variables, an Adam.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

PHASE = 20  # steps of each phase of the pretraining


class TiedLayer(tf.Module):
    """A dense layer whose weights also decode.

    Args:
        number: the layer is `encoder{number}`, and its decoder is `decoder{number}`.
        inputs, units: sizes of the inputs and of the codings.
        dtype: dtype of the variables.
    """

    def __init__(self, number, inputs, units, dtype):
        super().__init__()
        encoder, decoder = f"encoder{number}", f"decoder{number}"
        he_init = initializers.variance_scaling(2.0, seed=number)
        weights = he_init([inputs, units], dtype)
        self.weights = tf.Variable(weights, name=f"{encoder}/weights")
        self.biases = tf.Variable(tf.zeros([units], dtype), name=f"{encoder}/biases")
        zeros = tf.zeros([inputs], dtype)
        self.decoder_biases = tf.Variable(zeros, name=f"{decoder}/biases")

    def encode(self, x):
        return tf.nn.elu(tf.matmul(x, self.weights) + self.biases)

    def decode(self, codings):
        """Multiplies by the tied weights; has no activation."""
        # The transpose is here: in __init__ it would be a copy of the first weights.
        return tf.matmul(codings, tf.transpose(self.weights)) + self.decoder_biases

    def penalty(self):
        return 1e-4 * tf.nn.l2_loss(self.weights)


class Autoencoder(tf.Module):
    """Two layers, of 16 and 4 units, and the losses of the three phases.

    Args:
        size: size of an image.
        dtype: dtype of the images and of the variables.
    """

    def __init__(self, size, dtype):
        super().__init__()
        self.outer = TiedLayer(1, size, 16, dtype)
        self.inner = TiedLayer(2, 16, 4, dtype)

    def encode(self, images):
        return self.inner.encode(self.outer.encode(images))

    def decode(self, codings):
        return self.outer.decode(tf.nn.elu(self.inner.decode(codings)))

    def loss1(self, images):
        """Computes the loss of the outer layer alone, with its penalty."""
        outputs = self.outer.decode(self.outer.encode(images))
        return tf.reduce_mean(tf.square(outputs - images)) + self.outer.penalty()

    def loss2(self, images):
        """Computes the loss of the inner layer, which reconstructs outer codings."""
        hidden = self.outer.encode(images)
        outputs = tf.nn.elu(self.inner.decode(self.inner.encode(hidden)))
        return tf.reduce_mean(tf.square(outputs - hidden)) + self.inner.penalty()

    def loss(self, images):
        """Computes the loss of all layers, with both penalties."""
        error = tf.reduce_mean(tf.square(self.decode(self.encode(images)) - images))
        return error + (self.outer.penalty() + self.inner.penalty())


class Phase(tf.Module):
    """A loss, the variables that it trains, and their Adam.

    Args:
        scope: prefix of the names of Adam's powers.
        loss: function of the images.
        trained: list of variables.
        rate: learning rate.
        name: suffix of the names of Adam's slots.
    """

    def __init__(self, scope, loss, trained, rate, name="Adam"):
        super().__init__()
        self.loss, self.trained = loss, trained
        with tf.name_scope(scope):
            self.adam = optimizers.Adam(rate, name=name).create_slots(trained)

    @tf.function
    def step(self, images, global_step):
        """Takes one step and returns the loss before it."""
        return self.adam.minimize(lambda: self.loss(images), self.trained, global_step)


def train(images, steps, checkpoint=None, folder=None):
    """Trains layer by layer, then fine-tunes all layers; each phase has its Adam."""
    # --- build
    tf.random.set_seed(7)
    net = Autoencoder(images.shape[-1], images.dtype)
    inner, outer = net.inner.trainable_variables, net.outer.trainable_variables
    phases = [
        Phase("phase1", net.loss1, outer, 0.01),
        Phase("phase2", net.loss2, inner, 0.01),
        # The second Adam of a variable has the slots Adam_2 and Adam_3.
        Phase("fine_tuning", net.loss, [*outer, *inner], 0.003, "Adam_2"),
    ]
    global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
    variables = {
        name.replace("Adam_2_1", "Adam_3"): variable
        for name, variable in restore.named(net, *phases, global_step).items()
    }
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses, first = [], int(global_step)
    for step in range(first, first + steps):
        phase = phases[min(step // PHASE, 2)]
        batch = tf.constant(images[step % len(images)])
        losses.append(phase.step(batch, global_step).numpy())
    if folder:
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(size, dtype, checkpoint):
    """Makes an autoencoder with the weights of a checkpoint."""
    net = Autoencoder(size, dtype)
    restore.by_name(checkpoint, restore.named(net))
    return net


def evaluate(images, checkpoint):
    """Restores the weights; computes codings, reconstructions and their error."""
    # --- build
    net = restored(images.shape[1], images.dtype, checkpoint)

    @tf.function
    def measure(images):
        codings = net.encode(images)
        outputs = net.decode(codings)
        error = tf.reduce_mean(tf.square(outputs - images))
        return {"codings": codings, "outputs": outputs, "error": error}

    # --- run
    found = measure(tf.constant(images))
    return {name: value.numpy() for name, value in found.items()}


def export(images, checkpoint, folder):
    """Saves the encoder as a SavedModel, loads it, and encodes images."""
    # --- save
    net = restored(images.shape[1], images.dtype, checkpoint)
    spec = tf.TensorSpec([None, images.shape[1]], images.dtype, name="images")
    encode = tf.function(
        lambda images: {"codings": net.encode(images)}, input_signature=[spec]
    )
    tf.saved_model.save(net, folder, signatures={"serving_default": encode})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    found = signature(images=tf.constant(images))
    return {name: value.numpy() for name, value in found.items()}
