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

# `horovod.run(main, np=2)` is `horovodrun -np 2 python train.py`, where main is all of
# the script: each rank runs it, and knows by `hvd.rank()` which one it is.


class Line(object):
    """Kernel and bias in the current graph, and the squares of what they are off."""

    def __init__(self, x, y, start):
        self.kernel = tf.get_variable("kernel", initializer=start[0])
        self.bias = tf.get_variable("bias", initializer=start[1])
        self.weights = [self.kernel, self.bias]
        outputs = tf.nn.bias_add(tf.matmul(x, self.kernel), self.bias)
        self.loss = tf.reduce_mean(tf.square(outputs - y))


def pinned():
    """The configuration of a session that has one GPU of its machine."""
    config = tf.ConfigProto()
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    return config


def batches_of(x, y, size):
    """The batches of this rank: of every so many-th row."""
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    return [(x[i : i + size], y[i : i + size]) for i in range(0, len(x), size)]


def told(results):
    """The losses and the weights of each rank."""
    losses, weights = zip(*results)
    return {"losses": list(losses), "weights": list(weights)}


def train(x, y, starts, batch_size, rate=0.0078125):
    """Fits a line in a monitored session of each rank, every rank with its own rows.

    Args:
        x: [n, features] float array; rank i has the rows i, i + ranks, ….
        y: [n, units] array of the same dtype.
        starts: for each rank [kernel, bias], its initial [features, units] and [units]
            weights, of which those of rank 0 are taken.
        batch_size: rows of a batch, of each rank.
        rate: of Adam for one rank; it is multiplied by the number of ranks.

    Returns:
        dict with the `losses` of each rank, each before its step, the `weights` that
        each has in the end, and the `kernel`, `bias` and `global_step` that rank 0
        `saved`.
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
    """Goes on from a checkpoint that rank 0 alone restores, in plain sessions.

    Args:
        x, y, starts: see `train`; all rows of a rank are one batch.
        saved: what the checkpoint holds: {"kernel": array, "bias": array}, and what
            momentum has, {"kernel/Momentum": array, "bias/Momentum": array}.
        steps: how many steps to take.
        rate: of momentum for one rank; it is multiplied by the number of ranks.

    Returns:
        dict with the `losses` of each rank, each before its step, and the `weights`
        that each has in the end.
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
    """Evaluates in ranks of different sizes: a mean, sums, and all predictions.

    Args:
        logits: [n, classes] float array; rank i has the rows i, i + ranks, ….
        labels: [n] int64 array.
        ranks: how many there are.

    Returns:
        For each rank a dict: `loss`, the mean over ranks of their means, `accuracy`,
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
    """Trains a table by the rows that each rank looks up, which are gathered.

    Args:
        ids: [steps, n, k] int64 array, rows of the table; rank i has i, i + ranks, …
            of each n.
        targets: [steps, n, units] float array, what the sum of the k rows should be.
        starts: for each rank its initial [words, units] table, as in `train`.
        sparse_as_dense: whether gradients are made dense before they are reduced.
        rate: of momentum.

    Returns:
        For each rank a dict: its `losses`, each before its step, the `rows` that the
        last gradient names, all of them if it is dense, and the final `table`.
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
    """Fits a line by gradients that are sent and added in half precision.

    Args:
        x, y: see `train`; all rows of a rank are one batch.
        start: [kernel, bias], the initial weights of all ranks.
        steps: how many steps to take.
        ranks: how many there are.
        rate: of the descent.

    Returns:
        dict with the `losses` of each rank, each before its step, and the `weights`
        that each has in the end.
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
    """Fits a line, the gradients of several passes in one step.

    Args:
        x: [steps, n, features] float array; rank i has the rows i, i + ranks, ….
        y: [steps, n, units] array of the same dtype.
        start: [kernel, bias], the initial weights of all ranks.
        passes: how many gradients are added up before they are reduced and applied.
        ranks: how many there are.
        average: whether the sum is divided by the passes.
        rate: of the descent.

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
            # What is added up is in local variables.
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
    """Fits a line on two devices, by Horovod, and then without it.

    Args:
        x, y: see `train`; the rows of a rank come again and again.
        start: [kernel, bias], the initial weights of all.
        batch_size: rows of a batch, of each rank.
        steps: how many steps to take.
        rate: of Adam for one rank; it is multiplied by the number of ranks.

    Returns:
        dict with the [2, steps] `losses`, each before its step, and the `weights` in
        the end.
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
