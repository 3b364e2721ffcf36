"""`slim.learning.train`, `create_train_op`, `DatasetDataProvider` → a loop."""

import os
import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

from v1_graph.records import write_records
from v1_graph.training_loops import saved_steps

__all__ = [
    "create_train_op",
    "train",
    "evaluate_once",
    "assign_from_checkpoint",
    "read_examples",
    "read_masks",
]

# Only 1.15 has contrib, and compat.v1 does not: so this uses `tensorflow.contrib`.


def classifier(x, units, classes, scale, fused, is_training=True):
    """Computes logits of a small network; penalties and updates are in collections."""
    slim = tensorflow.contrib.slim
    with slim.arg_scope(
        [slim.fully_connected], weights_regularizer=slim.l2_regularizer(scale)
    ):
        params = {"is_training": is_training, "decay": 0.9, "fused": fused}
        hidden = slim.fully_connected(
            x,
            units,
            normalizer_fn=slim.batch_norm,
            normalizer_params=params,
            scope="hidden",
        )
        return slim.fully_connected(hidden, classes, None, scope="scores")


def create_train_op(x, y, start, steps, rate, options=()):
    """Trains with `create_train_op`: update ops, multipliers, clipping, NaN check.

    Args:
        x: [n, features] float array; for float64, the option `fused` must be False.
        y: [n] int array of class ids.
        start: {"hidden/weights": [features, units] array, "hidden/BatchNorm/beta":
            [units] array, "scores/weights": [units, classes] array, "scores/biases":
            [classes] array}, of the dtype of x.
        steps: number of steps with momentum 0.9, all on the same rows.
        rate: learning rate.
        options: dict with some of: `fused` of the batch norm; `scale`, the weight of
            the l2 penalty; `clip_gradient_norm`, for each gradient separately;
            `gradient_multipliers`, {name: factor}; `train`, the scope of the trained
            variables; `update_ops`, [] to run no updates; `check_numerics`, whether an
            infinite or NaN loss raises an error.

    Returns:
        dict with the [steps] `losses`, which include the penalties, before each step,
        and the final `variables` by their names in a checkpoint.

    Raises:
        tf.errors.InvalidArgumentError: a loss is infinite or NaN.
        ValueError: a variable with a multiplier has no gradient.
    """
    options = dict(options)
    fused, scale = options.pop("fused", None), options.pop("scale", 0.25)
    trained = options.pop("train", None)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- loss
        slim = tensorflow.contrib.slim
        inputs = tf.placeholder(x.dtype, [None, x.shape[1]])
        labels = tf.placeholder(tf.int64, [None])
        units, classes = start["scores/weights"].shape
        logits = classifier(inputs, units, classes, scale, fused)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits
        )
        slim.losses.add_loss(tf.reduce_mean(losses))
        total_loss = slim.losses.get_total_loss()
        # --- step
        train_op = slim.learning.create_train_op(
            total_loss,
            tf.train.MomentumOptimizer(rate, 0.9),
            variables_to_train=slim.get_trainable_variables(trained),
            **options,
        )
        # --- run
        sess.run(tf.global_variables_initializer())
        slim.assign_from_values_fn(start)(sess)
        losses = [sess.run(train_op, {inputs: x, labels: y}) for _ in range(steps)]
        variables = {v.op.name: v for v in slim.get_variables()}
        return {"losses": np.stack(losses), "variables": sess.run(variables)}


def train(x, y, start, stops, rate=0.125):
    """Trains with `slim.learning.train` in several runs; each resumes the last run.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        start: {"line/weights": [features, units] array, "line/biases": [units] array}.
        stops: list of the `number_of_steps` of the runs.
        rate: learning rate.

    Returns:
        dict with the last loss of each run (`losses`), the steps of the checkpoints
        (`saved`), and the `variables` of the last checkpoint by name.

    Raises:
        tf.errors.InvalidArgumentError: a loss is infinite or NaN.
        ValueError: a number of steps is less than 1.
    """
    losses = []
    with tempfile.TemporaryDirectory() as directory:
        for number_of_steps in stops:
            with tf.Graph().as_default():
                # --- build
                slim = tensorflow.contrib.slim
                outputs = slim.fully_connected(
                    tf.constant(x), y.shape[1], None, scope="line"
                )
                slim.losses.add_loss(tf.reduce_mean(tf.square(outputs - y)))
                train_op = slim.learning.create_train_op(
                    slim.losses.get_total_loss(), tf.train.AdamOptimizer(rate)
                )
                # --- run
                loss = slim.learning.train(
                    train_op,
                    directory,
                    number_of_steps=number_of_steps,
                    init_fn=slim.assign_from_values_fn(start),  # not in a resumed run
                    log_every_n_steps=0,
                    save_summaries_secs=0,  # else threads save at certain times
                    save_interval_secs=0,
                )
                losses.append(loss)
        # --- results
        reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(directory))
        variables = {
            n: reader.get_tensor(n) for n in reader.get_variable_to_shape_map()
        }
        return {
            "losses": losses,
            "saved": saved_steps(directory),
            "variables": variables,
        }


def evaluate_once(x, y, saved, num_evals, batch_size):
    """Evaluates a checkpoint with `slim.evaluation`, batch by batch.

    Args:
        x: [n, features] float32 array.
        y: [n] int64 array of class ids.
        saved: {name: array}, the checkpoint's content, as `create_train_op` returns it.
        num_evals: number of batches.
        batch_size: number of rows in a batch; the last batch may have fewer.

    Returns:
        dict of the float32 scalars "accuracy", "recall_2" and "loss" over these
        batches.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = write_checkpoint(saved, directory)
        with tf.Graph().as_default():
            # --- build
            slim = tensorflow.contrib.slim
            tf.train.get_or_create_global_step()
            data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size)
            rows, labels = tf.data.make_one_shot_iterator(data).get_next()
            units, classes = saved["scores/weights"].shape
            logits = classifier(rows, units, classes, 0.0, None, is_training=False)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=logits
            )
            # --- metrics
            values, updates = slim.metrics.aggregate_metric_map(
                {
                    "accuracy": slim.metrics.streaming_accuracy(
                        tf.argmax(logits, 1), labels
                    ),
                    "recall_2": slim.metrics.streaming_sparse_recall_at_k(
                        logits, labels[:, tf.newaxis], 2
                    ),
                    "loss": slim.metrics.streaming_mean(losses),
                }
            )
            # --- run
            return slim.evaluation.evaluate_once(
                "",
                path,
                os.path.join(directory, "eval"),
                num_evals=num_evals,
                eval_op=list(updates.values()),
                final_op=values,
            )


def write_checkpoint(arrays, directory):
    """Writes a checkpoint with these arrays, and returns its path."""
    with tf.Graph().as_default(), tf.Session() as sess:
        saver = tf.train.Saver(
            {name: tf.Variable(array, name=name) for name, array in arrays.items()}
        )
        sess.run(tf.global_variables_initializer())
        return saver.save(sess, os.path.join(directory, "model.ckpt"))


def assign_from_checkpoint(saved, start, exclude, ignore_missing=False, reshape=False):
    """Restores variables from a checkpoint, except those in excluded scopes.

    Args:
        saved: {name: array}, the checkpoint's content.
        start: {name: array}, the model's variables before.
        exclude: list of scopes that are not restored.
        ignore_missing: whether variables that the checkpoint does not contain keep
            their values.
        reshape: whether other shapes of the same size are accepted.

    Returns:
        {name: array}, the model's variables after.

    Raises:
        tf.errors.NotFoundError: the checkpoint does not contain a name.
        ValueError: all variables are excluded.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = write_checkpoint(saved, directory)
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            slim = tensorflow.contrib.slim
            variables = {
                name: slim.variable(name, initializer=array)
                for name, array in start.items()
            }
            # --- restore
            init_fn = slim.assign_from_checkpoint_fn(
                path,
                slim.get_variables_to_restore(exclude=exclude),
                ignore_missing,
                reshape,
            )
            sess.run(tf.global_variables_initializer())
            if init_fn is not None:  # None: the checkpoint contains none of them
                init_fn(sess)
            return sess.run(variables)


def read_examples(images, labels, boxes, count):
    """Reads examples with `DatasetDataProvider`, in file order, repeatedly.

    Args:
        images: [n, height, width, 3] uint8 array.
        labels: list of n ints.
        boxes: list of n lists of [ymin, xmin, ymax, xmax], floats.
        count: number of examples to read.

    Returns:
        List of dicts: `image`, [height, width, 3] uint8, `label`, an int64 scalar, and
        `boxes`, [k, 4] float32, in the order of the file, repeatedly.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        path = os.path.join(directory, "rows.tfrecord")
        # --- write
        with tf.Session() as sess:
            encoded = [sess.run(tf.image.encode_png(image)) for image in images]
        sides = ["ymin", "xmin", "ymax", "xmax"]
        rows = [
            dict(
                zip(["image/object/bbox/" + side for side in sides], zip(*corners)),
                **{"image/encoded": [image], "image/class/label": [label]},
            )
            for image, label, corners in zip(encoded, labels, boxes)
        ]
        with open(path, "wb") as file:
            file.write(write_records(rows))
        # --- read
        slim = tensorflow.contrib.slim
        handlers = slim.tfexample_decoder
        features = {
            "image/encoded": tf.FixedLenFeature([], tf.string),
            "image/format": tf.FixedLenFeature([], tf.string, "png"),
            "image/class/label": tf.FixedLenFeature([], tf.int64),
        }
        for side in sides:
            features["image/object/bbox/" + side] = tf.VarLenFeature(tf.float32)
        items = {
            "image": handlers.Image(shape=images.shape[1:]),
            "label": handlers.Tensor("image/class/label"),
            "boxes": handlers.BoundingBox(sides, "image/object/bbox/"),
        }
        dataset = slim.dataset.Dataset(
            path,
            tf.TFRecordReader,
            handlers.TFExampleDecoder(features, items),
            len(images),
            {"image": "pixels", "label": "class", "boxes": "where"},
        )
        provider = slim.dataset_data_provider.DatasetDataProvider(
            dataset, num_readers=1, shuffle=False
        )
        example = dict(zip(sorted(items), provider.get(sorted(items))))
        # --- run
        with tf.Session() as sess, slim.queues.QueueRunners(sess):
            return [sess.run(example) for _ in range(count)]


def read_masks(images, masks, epochs):
    """Reads examples from several files; an `ItemHandlerCallback` decodes masks.

    Args:
        images: list of [n, height, width, 3] uint8 arrays, one for each file.
        masks: list of lists of [k, height, width, 1] uint8 arrays of 0 and 1; k varies.
        epochs: number of times to read all files.

    Returns:
        List of dicts in the order of the files: `image`, [height, width, 3] uint8, and
        `masks`, [k, height, width] float32.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- write
        with tf.Session() as sess:
            for i, (file_images, file_masks) in enumerate(zip(images, masks)):
                rows = [
                    {
                        "image/encoded": [sess.run(tf.image.encode_png(image))],
                        "masks": [sess.run(tf.image.encode_png(m)) for m in row_masks],
                    }
                    for image, row_masks in zip(file_images, file_masks)
                ]
                with open(os.path.join(directory, "rows-%05d" % i), "wb") as file:
                    file.write(write_records(rows))
        # --- read
        from tensorflow.contrib.slim.python.slim.data import parallel_reader

        slim = tensorflow.contrib.slim
        paths = parallel_reader.get_data_files(os.path.join(directory, "rows-*"))
        _, serialized = parallel_reader.parallel_read(
            sorted(paths), tf.TFRecordReader, epochs, num_readers=1, shuffle=False
        )
        example = mask_decoder(images[0].shape[1:]).decode(serialized)
        example = slim.prefetch_queue.prefetch_queue(
            example, 2, dynamic_pad=True
        ).dequeue()
        # --- run
        found = []
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())  # local variables count epochs
            with slim.queues.QueueRunners(sess):
                try:
                    while True:
                        found.append(sess.run(example))
                except tf.errors.OutOfRangeError:
                    return found


def mask_decoder(shape):
    """Makes a decoder, as detection models use, for images of this shape."""
    slim = tensorflow.contrib.slim

    def decode_masks(tensors):
        texts = tf.sparse_tensor_to_dense(tensors["masks"], default_value="")
        masks = tf.cond(
            tf.size(texts) > 0,
            lambda: tf.map_fn(
                lambda text: tf.image.decode_png(text, 1), texts, "uint8"
            ),
            lambda: tf.zeros((0,) + shape[:2] + (1,), "uint8"),
        )
        return tf.cast(tf.reshape(masks, (-1,) + shape[:2]), tf.float32)

    class Decoder(slim.data_decoder.DataDecoder):
        def __init__(self):
            handlers = slim.tfexample_decoder
            self._decoder = handlers.TFExampleDecoder(
                {
                    "image/encoded": tf.FixedLenFeature([], tf.string),
                    "image/format": tf.FixedLenFeature([], tf.string, "png"),
                    "masks": tf.VarLenFeature(tf.string),
                },
                {
                    "image": handlers.Image(shape=shape),
                    "masks": handlers.ItemHandlerCallback(["masks"], decode_masks),
                },
            )

        def list_items(self):
            return self._decoder.list_items()

        def decode(self, data, items=None):
            items = items or self.list_items()
            return dict(zip(items, self._decoder.decode(data, items)))

    return Decoder()
