"""`tf.contrib.framework`, `factorization.KMeans`, `model_pruning` → plain loops."""

import os
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers, restore
from v2_eager.numerics.pruning import Pruning
from v2_eager.slim_learning import write_checkpoint
from v2_eager.summaries import read_folder, write_histogram, write_scalar

__all__ = [
    "average_checkpoints",
    "restore_model",
    "fetch",
    "feed_by_specs",
    "make_centered",
    "write_old_summaries",
    "cluster",
    "speech_features",
    "train_pruned",
]


def average_checkpoints(checkpoints):
    """Averages the variables of several checkpoints into a new checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, saved in enumerate(checkpoints):
            os.mkdir(os.path.join(folder, str(i)))
            paths.append(write_checkpoint(saved, os.path.join(folder, str(i))))
        # --- sum
        values, dtypes = {}, {}
        for name, shape in tf.train.list_variables(paths[0]):
            if not name.startswith("global_step"):
                values[name] = np.zeros(shape)  # sums are float64
        for path in paths:
            reader = tf.train.load_checkpoint(path)
            for name in values:
                tensor = reader.get_tensor(name)
                dtypes[name] = tensor.dtype
                values[name] += tensor
        # --- mean
        means = {
            name: (values[name] / len(paths)).astype(dtypes[name]) for name in values
        }
        # --- write
        averaged = os.path.join(folder, "averaged.ckpt-0")
        restore.save(averaged, {**means, "global_step": np.int64(0)})
        # --- read
        reader = tf.train.load_checkpoint(averaged)
        names = reader.get_variable_to_shape_map()
        return {name: reader.get_tensor(name) for name in sorted(names)}


def restore_model(saved, start, model, steps):
    """Restores only the model variables from a checkpoint, not the others."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_checkpoint(saved, folder)
        # --- build
        global_step = tf.Variable(0, trainable=False, dtype=tf.int64)
        variables = {name: tf.Variable(array) for name, array in start.items()}
        # --- restore
        restore.by_name(path, {name: variables[name] for name in model})
    # --- count
    for _ in range(steps):
        global_step.assign_add(1)
    variables["global_step"] = global_step
    return {name: variable.numpy() for name, variable in variables.items()}


def fetch(x, settings):
    """Evaluates the tensors in a nested structure and keeps its other leaves.

    Sparse and ragged tensors are not converted: eagerly they have values already.
    """
    # --- build
    inputs, rows = tf.constant(x), tf.Variable(len(x))
    report = {"rows": rows, "moments": tf.nn.moments(inputs, 0)}
    report["settings"] = settings
    # --- fetch
    dense = tf.Tensor, tf.Variable
    return tf.nest.map_structure(
        lambda leaf: leaf.numpy() if isinstance(leaf, dense) else leaf, report
    )


def feed_by_specs(batches):
    """Sums nested batches of any row count, with specs made from the first batch."""

    # --- specs
    def spec_of(array):
        return tf.TensorSpec([None, *array.shape[1:]], array.dtype)

    specs = tf.nest.map_structure(spec_of, batches[0])

    # --- build
    @tf.function(input_signature=[specs])
    def sums(inputs):
        return tf.nest.map_structure(lambda rows: tf.reduce_sum(rows, 0), inputs)

    # --- run
    return [tf.nest.map_structure(lambda x: x.numpy(), sums(b)) for b in batches]


def make_centered(decay=0.9, name="centered"):
    """Makes a layer that subtracts the batch mean in training, else the moving mean.

    Returns a `Centered`; see the class.
    """
    return Centered(decay, name)


class Centered(tf.Module):
    """Subtracts the mean of the batch in training, and the moving mean in inference.

    A call takes x, [n, units] floats, and `is_training`, a bool or a bool tensor, and
    returns a tensor of the same shape. In training it updates the moving mean. The
    first call makes the variable.

    Args:
        decay: share of the moving mean that an update keeps.
        name: scope of the variable `moving_mean`, [units].
    """

    def __init__(self, decay, name):
        super().__init__()  # without a name: tf.Module allows only identifiers
        self.decay, self.path, self.moving_mean = decay, f"{name}/moving_mean", None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.moving_mean is not None

    def __call__(self, x, is_training):
        if self.moving_mean is None:
            zeros = tf.zeros(x.shape[1:], x.dtype)
            with tf.name_scope(""):  # no outer scope becomes part of the name
                self.moving_mean = tf.Variable(zeros, False, name=self.path)
        # Python evaluates a bool. For a tensor AutoGraph makes a tf.cond.
        if is_training:
            mean = tf.reduce_mean(x, 0)
            self.moving_mean.assign_sub((1 - self.decay) * (self.moving_mean - mean))
        else:
            mean = self.moving_mean.read_value()
        return x - mean


def write_old_summaries(tags, values):
    """Writes summaries as ops before TensorFlow 1.0 did: without scopes in the tags."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        with writer.as_default():
            for step, row in enumerate(tf.constant(values)):
                for tag, value in zip(tags, row, strict=True):
                    write_scalar(tag, value, step)
                write_scalar("cost (total)", tf.reduce_sum(row), step)
                write_histogram("costs", row, step)
        writer.close()
        # --- read
        return read_folder(directory)


def cluster(x, centers, steps, cosine=False):
    """Clusters rows by full-batch k-means from given initial centers."""
    # --- build
    points, centers = tf.constant(x), tf.Variable(centers)
    count = centers.shape[0]
    if cosine:  # the cosine distance of unit vectors is half the squared distance
        points = tf.nn.l2_normalize(points, 1)

    @tf.function
    def step():
        nearest = tf.nn.l2_normalize(centers, 1) if cosine else centers
        squares = tf.reduce_sum(tf.square(nearest), 1)
        products = tf.matmul(points, nearest, transpose_b=True)
        norms = tf.reduce_sum(tf.square(points), 1, keepdims=True)
        distances = norms - 2 * products + squares
        assigned = tf.argmin(distances, 1)
        distance = tf.maximum(tf.reduce_min(distances, 1), 0)
        sums = tf.math.unsorted_segment_sum(points, assigned, count)
        sizes = tf.math.unsorted_segment_sum(tf.ones_like(distance), assigned, count)
        new = sums / (sizes[:, tf.newaxis] + 1e-6)  # a center without rows becomes 0
        centers.assign(tf.nn.l2_normalize(new, 1) if cosine else new)
        return assigned, tf.reduce_mean(distance * 0.5 if cosine else distance)

    # --- run
    means = []
    for _ in range(steps):
        last, distance = step()
        means.append(distance.numpy())
    return {
        "distances": np.stack(means),
        "assigned": last.numpy(),
        "centers": centers.numpy(),
    }


def speech_features(samples, rate, window, stride, count=13):
    """Computes spectrograms and MFCCs of audio, as the speech commands example does.

    Raises:
        ValueError: samples without a channel dimension (eagerly a
            tf.errors.InvalidArgumentError).
    """
    # tf.signal would compute other coefficients; it has gradients.
    spectrogram = tf.raw_ops.AudioSpectrogram(
        input=samples, window_size=window, stride=stride, magnitude_squared=True
    )
    mfcc = tf.raw_ops.Mfcc(
        spectrogram=spectrogram, sample_rate=rate, dct_coefficient_count=count
    )
    return spectrogram, mfcc


def train_pruned(x, y, start, steps, spec, rate=0.0625):
    """Trains a linear model and gradually prunes its smallest weights."""
    # --- loss
    kernel, bias = [tf.Variable(start[name], name=name) for name in ("kernel", "bias")]
    mask = tf.Variable(tf.ones_like(kernel), False, name="kernel/mask")

    def loss():
        outputs = tf.nn.bias_add(tf.matmul(x, mask * kernel), bias)
        return tf.reduce_mean(tf.math.squared_difference(outputs, y))

    # --- step
    global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
    optimizer = optimizers.GradientDescent(rate)

    @tf.function
    def step():
        return optimizer.minimize(loss, [kernel, bias], global_step)

    # --- prune
    pruner = Pruning(kernel, mask, **spec)
    update_mask = tf.function(pruner.update)
    # --- run
    losses, shares = [], []
    for _ in range(steps):
        losses.append(step().numpy())
        update_mask(global_step)
        shares.append(tf.math.zero_fraction(mask).numpy())
    variables = [kernel, bias, mask, *pruner.own, global_step]
    return {
        "losses": np.stack(losses),
        "shares": np.stack(shares),
        "variables": {v.name.partition(":")[0]: v.numpy() for v in variables},
    }
