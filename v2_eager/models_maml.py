"""MAML: a dict of weights, `tf.gradients` in `tf.map_fn`, `stop_grad`, Adam.

Finn, Abbeel and Levine, "Model-Agnostic Meta-Learning for Fast Adaptation of Deep
Networks", 2017: nested tapes give the second derivatives.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

META_LR = 0.001
UPDATE_LR = 0.01
NUM_UPDATES, TEST_NUM_UPDATES = 2, 5
UPDATE_BATCH_SIZE = 5
DIM_HIDDEN = 16


def mse(pred, label):
    """Computes the mean squared error, a scalar."""
    return tf.reduce_mean(tf.square(tf.reshape(pred, [-1]) - tf.reshape(label, [-1])))


def forward(inp, weights):
    """Predicts [points, 1] from [points, 1] with a dict of weights."""
    hidden = tf.nn.relu(tf.matmul(inp, weights["w1"]) + weights["b1"])
    hidden = tf.nn.relu(tf.matmul(hidden, weights["w2"]) + weights["b2"])
    return tf.matmul(hidden, weights["w3"]) + weights["b3"]


class MAML(tf.Module):
    """Weights that adapt to a task in a few steps of gradient descent.

    A call takes the points of a batch of tasks, [tasks, points, 1] floats. It returns
    (mean loss before the updates, [mean loss after each], [predictions after each]).

    Args:
        dtype: float dtype of the points and of the weights.
        num_updates: number of inner updates.
        stop_grad: whether to ignore second derivatives, as first-order MAML does.
    """

    def __init__(self, dtype, num_updates, stop_grad=False):
        super().__init__()
        self.num_updates, self.stop_grad, self.weights = num_updates, stop_grad, {}
        dims = [1, DIM_HIDDEN, DIM_HIDDEN, 1]
        for i, shape in enumerate(zip(dims, dims[1:]), 1):
            w = initializers.truncated_normal(stddev=0.01, seed=i)(shape, dtype)
            self.weights[f"w{i}"] = tf.Variable(w, name=f"model/w{i}")
            b = tf.zeros(shape[1:], dtype)
            self.weights[f"b{i}"] = tf.Variable(b, name=f"model/b{i}")

    def update(self, weights, inputa, labela):
        """Takes an inner step; returns the loss before it and the new weights."""
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = mse(forward(inputa, weights), labela)
        # An outer tape records this call, too: so it differentiates the gradients.
        gradients = tape.gradient(loss, weights)
        if self.stop_grad:
            gradients = tf.nest.map_structure(tf.stop_gradient, gradients)
        # Tensors, not `assign_sub`: an assignment has no gradient.
        return loss, {k: w - UPDATE_LR * gradients[k] for k, w in weights.items()}

    def task_metalearn(self, task):
        """Adapts the weights to one task."""
        inputa, inputb, labela, labelb = task
        weights, lossesa, outputbs = self.weights, [], []
        for _ in range(self.num_updates):
            loss, weights = self.update(weights, inputa, labela)
            lossesa.append(loss)
            outputbs.append(forward(inputb, weights))
        return lossesa[0], [mse(output, labelb) for output in outputbs], outputbs

    def __call__(self, inputs, labels):
        inputa, inputb = tf.split(inputs, [UPDATE_BATCH_SIZE, -1], 1)
        labela, labelb = tf.split(labels, [UPDATE_BATCH_SIZE, -1], 1)
        loss = tf.TensorSpec([], inputs.dtype)
        many = [loss] * self.num_updates
        outputs = [tf.TensorSpec(inputb.shape[1:], inputs.dtype)] * self.num_updates
        # tf.vectorized_map is faster, but adds float32 numbers in another order.
        lossesa, lossesb, outputbs = tf.map_fn(
            self.task_metalearn,
            (inputa, inputb, labela, labelb),
            parallel_iterations=len(inputs),
            fn_output_signature=(loss, many, outputs),
        )
        return tf.reduce_mean(lossesa), [tf.reduce_mean(x) for x in lossesb], outputbs


class Trainer(tf.Module):
    """Weights that adapt, their Adam and the global step.

    Args:
        dtype, stop_grad: see `MAML`.
    """

    def __init__(self, dtype, stop_grad):
        super().__init__()
        self.model = MAML(dtype, NUM_UPDATES, stop_grad)
        self.adam = optimizers.Adam(META_LR).create_slots(self.model.variables)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")

    @tf.function
    def step(self, inputs, labels):
        """Takes one step; returns the losses before and after the inner updates."""
        with tf.GradientTape() as tape:
            preloss, postlosses, _ = self.model(inputs, labels)
        variables = self.model.trainable_variables
        grads = tape.gradient(postlosses[-1], variables)
        clipped = [tf.clip_by_value(grad, -10, 10) for grad in grads]
        self.adam.apply_gradients(zip(clipped, variables), self.global_step)
        return preloss, postlosses[-1]


def train(inputs, labels, steps, checkpoint=None, folder=None, stop_grad=False):
    """Trains weights that adapt to a new task in a few steps of gradient descent."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(inputs.dtype, stop_grad)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses, first = [], int(trainer.global_step)
    for itr in range(first, first + steps):
        batch = [tf.constant(points[itr % len(points)]) for points in (inputs, labels)]
        losses.append([loss.numpy() for loss in trainer.step(*batch)])
        if writer:
            with writer.as_default(itr):
                tf.summary.scalar("pre_update_loss", losses[-1][0])
                tf.summary.scalar("post_update_loss", losses[-1][1])
    # --- save
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    prelosses, postlosses = np.array(losses).reshape([-1, 2]).T
    return {
        "prelosses": prelosses,
        "losses": postlosses,
        "variables": {name: v.numpy() for name, v in variables.items()},
    }


def restored(dtype, checkpoint):
    """Makes a model with the weights of a checkpoint, for the updates of a test."""
    model = MAML(dtype, TEST_NUM_UPDATES)
    restore.by_name(checkpoint, restore.named(model))
    return model


def evaluate(inputs, labels, checkpoint):
    """Adapts the weights to new tasks; computes the loss before and after each step."""
    # --- restore
    model = restored(inputs.dtype, checkpoint)
    # --- run
    measure = tf.function(model)
    loss, losses, outputs = measure(tf.constant(inputs), tf.constant(labels))
    return {"losses": np.array([loss, *losses]), "predictions": outputs[-1].numpy()}


def export(inputa, labela, inputb, checkpoint, folder):
    """Saves a model that adapts to points and predicts others, loads it, and calls it.

    The signature contains the tape: the saved graph computes gradients.
    """
    # --- save
    model = restored(inputa.dtype, checkpoint)
    points = tf.TensorSpec([None, 1], inputa.dtype)

    @tf.function(input_signature=[points] * 3)
    def adapt(inputa, labela, inputb):
        weights = model.weights
        for _ in range(TEST_NUM_UPDATES):
            _, weights = model.update(weights, inputa, labela)
        return {"outputb": forward(inputb, weights)}

    tf.saved_model.save(model, folder, signatures={"serving_default": adapt})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    points = {"inputa": inputa, "labela": labela, "inputb": inputb}
    found = signature(**{n: tf.constant(x) for n, x in points.items()})
    return {"outputb": found["outputb"].numpy()}
