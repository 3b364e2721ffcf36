"""`hvd.DistributedOptimizer`, hooks → `hvd.DistributedGradientTape`, or a strategy."""

import tempfile

import horovod
import horovod.tensorflow as hvd
import numpy as np
import tensorflow.compat.v1 as tf

from v1_graph.slim_learning import write_checkpoint

__all__ = [
    "train",
    "resume",
    "evaluate",
    "train_table",
    "train_in_halves",
    "accumulate",
    "replicate",
]

# `horovod.run(main, np=2)` is `horovodrun -np 2 python train.py`, where main is the
# whole script: each rank runs it; `hvd.rank()` is the number of the rank.


class Line(object):
    """Linear model and its squared error in the current graph."""

    def __init__(self, x, y, start):
        self.kernel = tf.get_variable("kernel", initializer=start[0])
        self.bias = tf.get_variable("bias", initializer=start[1])
        self.weights = [self.kernel, self.bias]
        outputs = tf.nn.bias_add(tf.matmul(x, self.kernel), self.bias)
        self.loss = tf.reduce_mean(tf.square(outputs - y))


def pinned():
    """Makes a session configuration with one visible GPU, chosen by the local rank."""
    config = tf.ConfigProto()
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    return config


def batches_of(x, y, size):
    """Returns this rank's batches: rows rank, rank + size, rank + 2 * size, …."""
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    return [(x[i : i + size], y[i : i + size]) for i in range(0, len(x), size)]


def told(results):
    """Splits the results of all ranks into a list of losses and a list of weights."""
    losses, weights = zip(*results)
    return {"losses": list(losses), "weights": list(weights)}


def train(x, y, starts, batch_size, rate=0.0078125):
    """Fits a linear model on several ranks, each with its own rows; rank 0 saves.

    Args:
        x: [n, features] float array; rank i has the rows i, i + ranks, ….
        y: [n, units] array of the same dtype.
        starts: for each rank [kernel, bias], its initial [features, units] and [units]
            weights; the weights of rank 0 are broadcast.
        batch_size: rows of a batch on each rank.
        rate: learning rate of Adam for one rank; multiplied by the number of ranks.

    Returns:
        dict with the `losses` of each rank, each before its step, the final `weights`
        of each rank, and the `kernel`, `bias` and `global_step` that rank 0 `saved`.
    """

    def main(folder):
        hvd.init()
        # --- build
        with tf.Graph().as_default():
            batches = batches_of(x, y, batch_size)
            inputs = [tf.placeholder(a.dtype, [None, a.shape[1]]) for a in (x, y)]
            line = Line(*inputs, start=starts[hvd.rank()])
            # --- step
            global_step = tf.train.get_or_create_global_step()
            optimizer = tf.train.AdamOptimizer(rate * hvd.size())
            optimizer = hvd.DistributedOptimizer(optimizer)
            train_op = optimizer.minimize(line.loss, global_step)
            # --- broadcast
            hooks = [
                hvd.BroadcastGlobalVariablesHook(0),
                tf.train.StopAtStepHook(last_step=len(batches)),
                tf.train.FinalOpsHook(line.weights),
            ]
            # --- run
            losses = []
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder if hvd.rank() == 0 else None,
                hooks=hooks,
                config=pinned(),
                save_summaries_steps=None,
                save_summaries_secs=None,
                log_step_count_steps=None,
            ) as sess:
                while not sess.should_stop():
                    feed = dict(zip(inputs, batches[len(losses)]))
                    losses.append(sess.run([line.loss, train_op], feed)[0])
            return losses, hooks[-1].final_ops_values

    # --- ranks
    with tempfile.TemporaryDirectory() as folder:
        results = horovod.run(main, args=(folder,), np=len(starts))
        # --- results
        reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(folder))
        names = ["kernel", "bias", "global_step"]
        saved = {name: reader.get_tensor(name) for name in names}
        return dict(told(results), saved=saved)


def resume(x, y, saved, starts, steps, rate=0.0078125):
    """Restores a checkpoint on rank 0, broadcasts it, and continues training.

    Args:
        x, y, starts: see `train`; all rows of a rank are one batch.
        saved: content of the checkpoint: {"kernel": array, "bias": array}, and the
            slots {"kernel/Momentum": array, "bias/Momentum": array}.
        steps: number of steps.
        rate: learning rate of Momentum for one rank; multiplied by the number of ranks.

    Returns:
        dict with the `losses` of each rank, each before its step, and the final
        `weights` of each rank.
    """

    def main(path):
        hvd.init()
        # --- build
        with tf.Graph().as_default():
            rows = [a[hvd.rank() :: hvd.size()] for a in (x, y)]
            inputs = [tf.placeholder(a.dtype, [None, a.shape[1]]) for a in rows]
            line = Line(*inputs, start=starts[hvd.rank()])
            optimizer = tf.train.MomentumOptimizer(rate * hvd.size(), 0.875)
            optimizer = hvd.DistributedOptimizer(optimizer)
            train_op = optimizer.minimize(line.loss)
            # --- broadcast
            bcast = hvd.broadcast_global_variables(0)  # slots, too
            saver = tf.train.Saver()
            with tf.Session(config=pinned()) as sess:
                sess.run(tf.global_variables_initializer())
                if hvd.rank() == 0:
                    saver.restore(sess, path)
                sess.run(bcast)
                # --- run
                feed = dict(zip(inputs, rows))
                losses = [
                    sess.run([line.loss, train_op], feed)[0] for _ in range(steps)
                ]
                return losses, sess.run(line.weights)

    # --- ranks
    with tempfile.TemporaryDirectory() as folder:
        path = write_checkpoint(saved, folder)
        results = horovod.run(main, args=(path,), np=len(starts))
    # --- results
    return told(results)


def evaluate(logits, labels, ranks):
    """Evaluates on several ranks with `allreduce` (mean, sum) and `allgather`.

    Args:
        logits: [n, classes] float array; rank i has the rows i, i + ranks, ….
        labels: [n] int64 array.
        ranks: number of ranks.

    Returns:
        For each rank a dict: `loss`, the mean of the means of the ranks, `accuracy`
        over all rows, and `predictions`, [n] int64, rank after rank.
    """

    def main():
        hvd.init()
        # --- metrics
        with tf.Graph().as_default(), tf.Session(config=pinned()) as sess:
            own_logits = tf.constant(logits[hvd.rank() :: hvd.size()])
            own_labels = tf.constant(labels[hvd.rank() :: hvd.size()])
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=own_labels, logits=own_logits
            )
            predictions = tf.argmax(own_logits, 1)
            correct = tf.cast(tf.equal(predictions, own_labels), logits.dtype)
            # --- reduce
            loss = hvd.allreduce(tf.reduce_mean(losses))  # an average, by default
            total = hvd.allreduce(tf.reduce_sum(correct), op=hvd.Sum)
            count = hvd.allreduce(tf.reduce_sum(tf.ones_like(correct)), op=hvd.Sum)
            # --- results
            return sess.run(
                {
                    "loss": loss,
                    "accuracy": total / count,
                    "predictions": hvd.allgather(predictions),
                }
            )

    # --- ranks
    return horovod.run(main, np=ranks)


def train_table(ids, targets, starts, sparse_as_dense=False, rate=0.125):
    """Trains an embedding table whose sparse gradients are gathered from all ranks.

    Args:
        ids: [steps, n, k] int64 array, rows of the table; rank i has the rows i, i +
            ranks, … of each step.
        targets: [steps, n, units] float array, the targets of the sums of k rows.
        starts: for each rank its initial [words, units] table, as in `train`.
        sparse_as_dense: whether to make gradients dense before they are reduced.
        rate: learning rate of Momentum.

    Returns:
        For each rank a dict: its `losses`, each before its step, the `rows` of the last
        gradient, all rows if it is dense, and the final `table`.
    """

    def main():
        hvd.init()
        # --- build
        with tf.Graph().as_default(), tf.Session(config=pinned()) as sess:
            own = [a[:, hvd.rank() :: hvd.size()] for a in (ids, targets)]
            inputs = [tf.placeholder(a.dtype, a.shape[1:]) for a in own]
            table = tf.get_variable("table", initializer=starts[hvd.rank()])
            sums = tf.reduce_sum(tf.nn.embedding_lookup(table, inputs[0]), 1)
            loss = tf.reduce_mean(tf.square(sums - inputs[1]))
            # --- step
            optimizer = hvd.DistributedOptimizer(
                tf.train.MomentumOptimizer(rate, 0.875),
                sparse_as_dense=sparse_as_dense,
            )
            pairs = optimizer.compute_gradients(loss)
            gradient, _ = pairs[0]
            if isinstance(gradient, tf.IndexedSlices):
                rows = gradient.indices
            else:
                rows = tf.range(table.shape[0], dtype=tf.int64)
            train_op = optimizer.apply_gradients(pairs)
            # --- broadcast
            bcast = hvd.broadcast_global_variables(0)
            sess.run(tf.global_variables_initializer())
            sess.run(bcast)
            # --- run
            losses = []
            for batch in zip(*own):
                feed = dict(zip(inputs, batch))
                value, named, _ = sess.run([loss, rows, train_op], feed)
                losses.append(value)
            return {"losses": losses, "rows": named, "table": sess.run(table)}

    # --- ranks
    return horovod.run(main, np=len(starts))


def train_in_halves(x, y, start, steps, ranks, rate=0.0625):
    """Fits a linear model with gradients that are reduced in float16.

    Args:
        x, y: see `train`; all rows of a rank are one batch.
        start: [kernel, bias], the initial weights of all ranks.
        steps: number of steps.
        ranks: number of ranks.
        rate: learning rate of gradient descent.

    Returns:
        dict with the `losses` of each rank, each before its step, and the final
        `weights` of each rank.
    """

    def main():
        hvd.init()
        # --- build
        with tf.Graph().as_default(), tf.Session(config=pinned()) as sess:
            rows = [tf.constant(a[hvd.rank() :: hvd.size()]) for a in (x, y)]
            line = Line(*rows, start=start)
            # --- step
            optimizer = hvd.DistributedOptimizer(
                tf.train.GradientDescentOptimizer(rate),
                compression=hvd.Compression.fp16,
            )
            train_op = optimizer.minimize(line.loss)
            # --- run
            sess.run(tf.global_variables_initializer())
            losses = [sess.run([line.loss, train_op])[0] for _ in range(steps)]
            return losses, sess.run(line.weights)

    # --- ranks
    results = horovod.run(main, np=ranks)
    return told(results)


def accumulate(x, y, start, passes, ranks, average=False, rate=0.03125):
    """Fits a linear model with gradients accumulated over several passes per step.

    Args:
        x: [steps, n, features] float array; rank i has the rows i, i + ranks, ….
        y: [steps, n, units] array of the same dtype.
        start: [kernel, bias], the initial weights of all ranks.
        passes: number of gradients to add up before they are reduced and applied.
        ranks: number of ranks.
        average: whether to divide the sum by the number of passes.
        rate: learning rate of gradient descent.

    Returns:
        For each rank a dict: its `losses`, each before its pass, the final `weights`,
        and the `global_step`, which counts passes.
    """

    def main():
        hvd.init()
        # --- build
        with tf.Graph().as_default(), tf.Session(config=pinned()) as sess:
            rows = [a[:, hvd.rank() :: hvd.size()] for a in (x, y)]
            inputs = [tf.placeholder(a.dtype, a.shape[1:]) for a in rows]
            line = Line(*inputs, start=start)
            # --- step
            global_step = tf.train.get_or_create_global_step()
            optimizer = hvd.DistributedOptimizer(
                tf.train.GradientDescentOptimizer(rate),
                backward_passes_per_step=passes,
                average_aggregated_gradients=average,
            )
            train_op = optimizer.minimize(line.loss, global_step)
            # --- run
            # The accumulated gradients are local variables.
            sess.run(
                [tf.global_variables_initializer(), tf.local_variables_initializer()]
            )
            losses = [
                sess.run([line.loss, train_op], dict(zip(inputs, batch)))[0]
                for batch in zip(*rows)
            ]
            weights, step = sess.run([line.weights, global_step])
            return {"losses": losses, "weights": weights, "global_step": step}

    # --- ranks
    return horovod.run(main, np=ranks)


def replicate(x, y, start, batch_size, steps, rate=0.0078125):
    """Fits a linear model on two devices, with Horovod or with a strategy.

    Args:
        x, y: see `train`; the rows of a rank are repeated.
        start: [kernel, bias], the initial weights of all ranks.
        batch_size: rows of a batch on each rank.
        steps: number of steps.
        rate: learning rate of Adam for one rank; multiplied by the number of ranks.

    Returns:
        dict with the [2, steps] `losses`, each before its step, and the final
        `weights`.
    """

    def main():
        hvd.init()
        # --- build
        with tf.Graph().as_default():
            rows = [a[hvd.rank() :: hvd.size()] for a in (x, y)]
            inputs = [tf.placeholder(a.dtype, [None, a.shape[1]]) for a in rows]
            line = Line(*inputs, start=start)
            # --- step
            global_step = tf.train.get_or_create_global_step()
            optimizer = tf.train.AdamOptimizer(rate * hvd.size())
            optimizer = hvd.DistributedOptimizer(optimizer)
            train_op = optimizer.minimize(line.loss, global_step)
            # --- run
            losses = []
            with tf.Session(config=pinned()) as sess:
                sess.run(tf.global_variables_initializer())
                for first in range(0, steps * batch_size, batch_size):
                    places = range(first, first + batch_size)
                    batch = [a.take(places, axis=0, mode="wrap") for a in rows]
                    feed = dict(zip(inputs, batch))
                    losses.append(sess.run([line.loss, train_op], feed)[0])
                return losses, sess.run(line.weights)

    results = horovod.run(main, np=2)
    # --- results
    return {
        "losses": np.stack([losses for losses, _ in results]),
        "weights": results[0][1],
    }
