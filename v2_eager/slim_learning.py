"""`slim.learning.train`, `create_train_op`, `DatasetDataProvider` → a loop."""

import os
import re
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.numerics import metrics, optimizers, restore
from v2_eager.numerics.batch_norms import ContribBatchNorm
from v2_eager.numerics.layers import FullyConnected
from v2_eager.numerics.restore import named
from v2_eager.records import write_records
from v2_eager.training_loops import saved_steps

__all__ = [
    "create_train_op",
    "train",
    "evaluate_once",
    "assign_from_checkpoint",
    "read_examples",
    "read_masks",
]


class Classifier(tf.Module):
    """A hidden layer with ReLU and a batch norm, then the logits.

    A call takes x, [n, features] floats, and `is_training`, a bool, and returns the
    logits, [n, classes].

    Args:
        units: size of the hidden layer.
        classes: number of the logits.
        scale: weight of the l2 penalty on both layers' weights.
        fused: `fused` of the batch norm; must be False for float64.
        update: whether training updates the moving statistics.
    """

    def __init__(self, units, classes, scale=0.0, fused=None, update=True):
        super().__init__()
        norm = ContribBatchNorm(
            0.9, fused=fused, update=update, name="hidden/BatchNorm"
        )
        self.hidden = FullyConnected("hidden", units, normalizer=norm)
        self.scores = FullyConnected("scores", classes, None)
        self.scale = scale

    def __call__(self, x, is_training):
        return self.scores(self.hidden(x, is_training=is_training))

    def penalties(self):
        kernels = self.hidden.weights, self.scores.weights
        return [self.scale * tf.nn.l2_loss(kernel) for kernel in kernels]


def create_train_op(x, y, start, steps, rate, options=()):
    """Trains with `create_train_op`: update ops, multipliers, clipping, NaN check."""
    options = dict(options)
    x, y = tf.constant(x), tf.constant(y, tf.int64)
    # --- loss
    model = Classifier(
        *start["scores/weights"].shape,
        options.pop("scale", 0.25),
        options.pop("fused", None),
        update=options.pop("update_ops", None) is None,
    )
    model(x, False)  # makes the variables
    for name, value in start.items():
        named(model)[name].assign(value)

    def loss():
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, True))
        return tf.add_n([tf.reduce_mean(losses), *model.penalties()])

    # --- step
    scope = options.pop("train", None) or ""
    variables = [v for v in model.trainable_variables if re.match(scope, v.name)]
    take = Step(variables, optimizers.Momentum(rate, 0.9), **options)
    step = tf.function(lambda: take(loss))
    # --- run
    losses = [step().numpy() for _ in range(steps)]
    variables = {name: v.numpy() for name, v in named(model, take).items()}
    return {"losses": np.stack(losses), "variables": variables}


class Step(tf.Module):
    """A training step as `slim.learning.create_train_op` made it.

    Args:
        variables: list of variables to train.
        optimizer: an optimizer of `v2_eager.numerics.optimizers`.
        clip_gradient_norm: largest norm of each gradient; 0 for no clipping.
        gradient_multipliers: {name of a variable: factor of its gradient}.
        check_numerics: whether an infinite or NaN loss raises an error.
    """

    def __init__(
        self,
        variables,
        optimizer,
        clip_gradient_norm=0,
        gradient_multipliers=(),
        check_numerics=True,
    ):
        super().__init__()
        self.trained, self.optimizer = variables, optimizer.create_slots(variables)
        self.clip, self.multipliers = clip_gradient_norm, dict(gradient_multipliers)
        self.check = check_numerics
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")

    def __call__(self, loss):
        """Takes a step; returns the loss before the step."""
        value, pairs = self.optimizer.differentiate(loss, self.trained)
        if self.check:  # before the weights become NaN; the left page checks later
            value = tf.debugging.check_numerics(value, "LossTensor is inf or nan")
        pairs = [(self.transformed(gradient, v), v) for gradient, v in pairs]
        self.optimizer.apply_gradients(pairs, self.global_step)
        return value

    def transformed(self, gradient, variable):
        """Multiplies a gradient (or its slices) by a factor, then clips the result."""
        factor = self.multipliers.get(variable.name[:-2])
        if gradient is None:
            if factor is not None:
                raise ValueError("Requested multiple of `None` gradient.")
            return None
        sparse = isinstance(gradient, tf.IndexedSlices)
        values = gradient.values if sparse else gradient
        if factor is not None:
            values *= tf.cast(factor, values.dtype)
        if self.clip > 0:
            values = tf.clip_by_norm(values, self.clip)
        if sparse:
            return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
        return values


def train(x, y, start, stops, rate=0.125):
    """Trains with `slim.learning.train` in several runs; each resumes the last run."""
    losses = []
    with tempfile.TemporaryDirectory() as directory:
        for number_of_steps in stops:
            if number_of_steps < 1:
                raise ValueError("`number_of_steps` must be a positive number.")
            # --- build
            line = FullyConnected("line", y.shape[1], None)
            line.build(x.shape[1], tf.as_dtype(x.dtype))
            for name, variable in named(line).items():
                variable.assign(start[name])
            take = Step(line.trainable_variables, optimizers.Adam(rate))
            step, error = tf.function(take), squared_error(line, x, y)
            manager = tf.train.CheckpointManager(
                tf.train.Checkpoint(line=line, take=take),
                directory,
                max_to_keep=5,
                checkpoint_name="model.ckpt",
            )
            manager.restore_or_initialize()
            # --- run
            while True:  # the check follows a step: a finished run takes one more step
                loss = step(error)
                if take.global_step >= number_of_steps:
                    break
            losses.append(loss.numpy())
            manager.save(take.global_step)
        # --- results
        return {
            "losses": losses,
            "saved": saved_steps(directory),
            "variables": {name: v.numpy() for name, v in named(line, take).items()},
        }


def squared_error(layer, x, y):
    return lambda: tf.reduce_mean(tf.square(layer(x) - y))


def evaluate_once(x, y, saved, num_evals, batch_size):
    """Evaluates a checkpoint with `slim.evaluation`, batch by batch.

    Args:
        num_evals: number of batches, at least one.

    Returns:
        dict of the scalars "accuracy", "recall_2", which is float64, and "loss" over
        these batches.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = write_checkpoint(saved, directory)
        # --- build
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size)
        model = Classifier(*saved["scores/weights"].shape)
        model(tf.constant(x), False)  # makes the variables
        restore.by_name(path, named(model))
    # --- metrics
    accuracy, recall, loss = metrics.Accuracy(), metrics.RecallAtK(2), metrics.Mean()

    @tf.function(input_signature=list(data.element_spec))
    def update(rows, labels):
        logits = model(rows, False)
        accuracy.update_state(labels, tf.argmax(logits, 1))
        recall.update_state(labels[:, tf.newaxis], logits)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss.update_state(losses)

    # --- run
    for rows, labels in data.take(max(num_evals, 1)):  # slim checked after a batch
        update(rows, labels)
    measures = {"accuracy": accuracy, "recall_2": recall, "loss": loss}
    return {name: metric.result().numpy() for name, metric in measures.items()}


def write_checkpoint(arrays, directory):
    """Writes a checkpoint with these arrays, and returns its path."""
    path = os.path.join(directory, "model.ckpt")
    restore.save(path, arrays)
    return path


def assign_from_checkpoint(saved, start, exclude, ignore_missing=False, reshape=False):
    """Restores variables from a checkpoint, except those in excluded scopes."""
    with tempfile.TemporaryDirectory() as directory:
        path = write_checkpoint(saved, directory)
        # --- build
        variables = {name: tf.Variable(array) for name, array in start.items()}

        def is_restored(name):
            # slim matched scopes with the names of tensors, which end with ":0".
            return not any(re.match(scope, name + ":0") for scope in exclude)

        # --- restore
        chosen = {name: v for name, v in variables.items() if is_restored(name)}
        if not chosen:
            raise ValueError("var_list cannot be empty")
        if ignore_missing:
            held = dict(tf.train.list_variables(path))
            chosen = {name: v for name, v in chosen.items() if name in held}
        if reshape:
            reader = tf.train.load_checkpoint(path)
            for name, variable in chosen.items():
                variable.assign(tf.reshape(reader.get_tensor(name), variable.shape))
        elif chosen:
            restore.by_name(path, chosen)
        return {name: v.numpy() for name, v in variables.items()}


def read_examples(images, labels, boxes, count):
    """Reads examples with `DatasetDataProvider`, in file order, repeatedly."""
    sides = ["ymin", "xmin", "ymax", "xmax"]
    floats = tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)
    features = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64),
        **{f"image/object/bbox/{side}": floats for side in sides},
    }

    def decode(serialized):
        row = tf.io.parse_single_example(serialized, features)
        image = tf.io.decode_image(row["image/encoded"], 3, expand_animations=False)
        corners = [row[f"image/object/bbox/{side}"] for side in sides]
        return {
            "image": tf.ensure_shape(image, images.shape[1:]),
            "label": row["image/class/label"],
            "boxes": tf.stack(corners, 1),
        }

    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.tfrecord")
        # --- write
        encoded = [tf.io.encode_png(image).numpy() for image in images]
        rows = [
            {
                "image/encoded": [image],
                "image/class/label": [label],
                **{
                    f"image/object/bbox/{side}": list(values)
                    for side, values in zip(sides, zip(*corners))
                },
            }
            for image, label, corners in zip(encoded, labels, boxes)
        ]
        tf.io.write_file(path, write_records(rows))
        # --- read
        dataset = tf.data.TFRecordDataset(path).map(decode).repeat()
        # --- run
        return list(dataset.take(count).as_numpy_iterator())


def read_masks(images, masks, epochs):
    """Reads examples from several files; an `ItemHandlerCallback` decodes masks.

    Raises:
        ValueError: `epochs` is less than 1.
    """
    if epochs < 1:  # a dataset has no rows with repeat(0), and no end with repeat(-1)
        raise ValueError(f"num_epochs must be > 0, not {epochs}")
    shape = images[0].shape[1:]

    def decode_mask(text):  # the shape is known, because there may be no mask
        return tf.ensure_shape(tf.io.decode_png(text, 1), [*shape[:2], 1])

    def decode(serialized):
        one = tf.io.FixedLenFeature([], tf.string)
        many = tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True)
        spec = {"image/encoded": one, "masks": many}
        row = tf.io.parse_single_example(serialized, spec)
        found = tf.map_fn(decode_mask, row["masks"], fn_output_signature="uint8")
        image = tf.io.decode_image(row["image/encoded"], 3, expand_animations=False)
        return {
            "image": tf.ensure_shape(image, shape),
            "masks": tf.cast(tf.reshape(found, [-1, *shape[:2]]), tf.float32),
        }

    with tempfile.TemporaryDirectory() as directory:
        # --- write
        for i, (file_images, file_masks) in enumerate(zip(images, masks)):
            rows = [
                {
                    "image/encoded": [tf.io.encode_png(image).numpy()],
                    "masks": [tf.io.encode_png(mask).numpy() for mask in row_masks],
                }
                for image, row_masks in zip(file_images, file_masks)
            ]
            path = os.path.join(directory, f"rows-{i:05d}")
            tf.io.write_file(path, write_records(rows))
        # --- read
        paths = sorted(tf.io.gfile.glob(os.path.join(directory, "rows-*")))
        dataset = tf.data.TFRecordDataset(paths).repeat(epochs).map(decode).prefetch(2)
        # --- run
        return list(dataset.as_numpy_iterator())
