"""`hvd.DistributedOptimizer`, hooks → `hvd.DistributedGradientTape`, or a strategy."""

import tempfile

import horovod
import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers, restore
from v2_eager.parallel import mirrored
from v2_eager.slim_learning import write_checkpoint

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


class Line(tf.Module):
    """A linear model and its mean squared error.

    Args:
        start: [kernel, bias], [features, units] and [units] arrays.
    """

    def __init__(self, start):
        super().__init__()
        self.kernel = tf.Variable(start[0], name="kernel")
        self.bias = tf.Variable(start[1], name="bias")
        self.weights = [self.kernel, self.bias]

    def loss(self, x, y):
        outputs = tf.nn.bias_add(x @ self.kernel, self.bias)
        return tf.reduce_mean(tf.square(outputs - y))

    def numpy(self):
        return [weight.numpy() for weight in self.weights]


def begin():
    """Initializes Horovod, and makes one GPU visible to each rank; call it first."""
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")


def make_step(line, optimizer, global_step=None, compression=hvd.Compression.none):
    """Makes a train step that averages the gradients of all ranks."""
    shapes = [[None, size] for size in line.kernel.shape]

    @tf.function(input_signature=[tf.TensorSpec(s, line.kernel.dtype) for s in shapes])
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = line.loss(x, y)
        tape = hvd.DistributedGradientTape(tape, compression=compression)
        gradients = tape.gradient(loss, line.weights)
        optimizer.apply_gradients(zip(gradients, line.weights), global_step)
        return loss

    return step


def batches_of(x, y, size):
    """Returns this rank's batches: rows rank, rank + size, rank + 2 * size, …."""
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    return [(x[i : i + size], y[i : i + size]) for i in range(0, len(x), size)]


def told(results):
    """Splits the results of all ranks into a list of losses and a list of weights."""
    losses, weights = zip(*results)
    return {"losses": list(losses), "weights": list(weights)}


def train(x, y, starts, batch_size, rate=0.0078125):
    """Fits a linear model on several ranks, each with its own rows; rank 0 saves."""

    def main(folder):
        begin()
        # --- build
        line = Line(starts[hvd.rank()])
        # --- step
        global_step = tf.Variable(0, trainable=False, dtype=tf.int64)
        optimizer = optimizers.Adam(rate * hvd.size()).create_slots(line.weights)
        step = make_step(line, optimizer, global_step)
        # --- broadcast
        # Before the first step: after it, rank 0 has used gradients of other weights.
        variables = [*line.variables, *optimizer.variables, global_step]
        hvd.broadcast_variables(variables, root_rank=0)
        # --- run
        batches = batches_of(x, y, batch_size)
        saved = tf.train.Checkpoint(
            kernel=line.kernel, bias=line.bias, global_step=global_step
        )
        manager = tf.train.CheckpointManager(saved, folder, max_to_keep=5)
        if hvd.rank() == 0:
            manager.save(global_step)  # before the first step, as in v1
        losses = [step(*batch).numpy() for batch in batches]
        if hvd.rank() == 0:
            manager.save(global_step)
        return losses, line.numpy()

    # --- ranks
    with tempfile.TemporaryDirectory() as folder:
        results = horovod.run(main, args=(folder,), np=len(starts))
        # --- results
        reader = tf.train.load_checkpoint(folder)
        path = "{}/.ATTRIBUTES/VARIABLE_VALUE"
        names = ["kernel", "bias", "global_step"]
        saved = {name: reader.get_tensor(path.format(name)) for name in names}
        return {**told(results), "saved": saved}


def resume(x, y, saved, starts, steps, rate=0.0078125):
    """Restores a checkpoint on rank 0, broadcasts it, and continues training."""

    def main(path):
        begin()
        # --- build
        rows = [tf.constant(a[hvd.rank() :: hvd.size()]) for a in (x, y)]
        line = Line(starts[hvd.rank()])
        optimizer = optimizers.Momentum(rate * hvd.size(), 0.875)
        optimizer.create_slots(line.weights)
        step = make_step(line, optimizer)
        # --- broadcast
        variables = restore.named(line, optimizer)  # slots, too
        if hvd.rank() == 0:
            restore.by_name(path, variables)
        hvd.broadcast_variables(list(variables.values()), root_rank=0)
        # --- run
        losses = [step(*rows).numpy() for _ in range(steps)]
        return losses, line.numpy()

    # --- ranks
    with tempfile.TemporaryDirectory() as folder:
        path = write_checkpoint(saved, folder)
        results = horovod.run(main, args=(path,), np=len(starts))
    # --- results
    return told(results)


def evaluate(logits, labels, ranks):
    """Evaluates on several ranks with `allreduce` (mean, sum) and `allgather`."""

    def main():
        begin()

        @tf.function
        def reduced(logits, labels):
            # --- metrics
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            predictions = tf.argmax(logits, 1)
            correct = tf.cast(predictions == labels, logits.dtype)
            # --- reduce
            loss = hvd.allreduce(tf.reduce_mean(losses), op=hvd.Average)
            total = hvd.allreduce(tf.reduce_sum(correct), op=hvd.Sum)
            count = hvd.allreduce(tf.reduce_sum(tf.ones_like(correct)), op=hvd.Sum)
            # --- results
            return {
                "loss": loss,
                "accuracy": total / count,
                "predictions": hvd.allgather(predictions),
            }

        rows = [tf.constant(a[hvd.rank() :: hvd.size()]) for a in (logits, labels)]
        return {name: value.numpy() for name, value in reduced(*rows).items()}

    # --- ranks
    return horovod.run(main, np=ranks)


def train_table(ids, targets, starts, sparse_as_dense=False, rate=0.125):
    """Trains an embedding table whose sparse gradients are gathered from all ranks."""

    def main():
        begin()
        # --- build
        own = [tf.constant(a[:, hvd.rank() :: hvd.size()]) for a in (ids, targets)]
        table = tf.Variable(starts[hvd.rank()], name="table")
        # --- step
        optimizer = optimizers.Momentum(rate, 0.875).create_slots([table])

        @tf.function
        def step(ids, targets):
            with tf.GradientTape() as tape:
                sums = tf.reduce_sum(tf.nn.embedding_lookup(table, ids), 1)
                loss = tf.reduce_mean(tf.square(sums - targets))
            tape = hvd.DistributedGradientTape(tape, sparse_as_dense=sparse_as_dense)
            (gradient,) = tape.gradient(loss, [table])
            if isinstance(gradient, tf.IndexedSlices):
                rows = gradient.indices
            else:
                rows = tf.range(table.shape[0], dtype=tf.int64)
            optimizer.apply_gradients([(gradient, table)])
            return loss, rows

        # --- broadcast
        hvd.broadcast_variables([table, *optimizer.variables], root_rank=0)
        # --- run
        losses = []
        for batch in zip(*own):
            loss, rows = step(*batch)
            losses.append(loss.numpy())
        return {"losses": losses, "rows": rows.numpy(), "table": table.numpy()}

    # --- ranks
    return horovod.run(main, np=len(starts))


def train_in_halves(x, y, start, steps, ranks, rate=0.0625):
    """Fits a linear model with gradients that are reduced in float16."""

    def main():
        begin()
        # --- build
        rows = [tf.constant(a[hvd.rank() :: hvd.size()]) for a in (x, y)]
        line = Line(start)
        # --- step
        optimizer = optimizers.GradientDescent(rate)
        step = make_step(line, optimizer, compression=hvd.Compression.fp16)
        # --- run
        losses = [step(*rows).numpy() for _ in range(steps)]
        return losses, line.numpy()

    # --- ranks
    results = horovod.run(main, np=ranks)
    return told(results)


def accumulate(x, y, start, passes, ranks, average=False, rate=0.03125):
    """Fits a linear model with gradients accumulated over several passes per step."""

    def main():
        begin()
        # --- build
        rows = [tf.constant(a[:, hvd.rank() :: hvd.size()]) for a in (x, y)]
        line = Line(start)
        sums = [tf.Variable(tf.zeros_like(w), trainable=False) for w in line.weights]
        # --- step
        global_step = tf.Variable(0, trainable=False, dtype=tf.int64)
        optimizer = optimizers.GradientDescent(rate)

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = line.loss(x, y)
            for total, gradient in zip(sums, tape.gradient(loss, line.weights)):
                total.assign_add(gradient)
            global_step.assign_add(1)
            return loss

        @tf.function
        def apply():
            gradients = [hvd.allreduce(total) for total in sums]
            if average:
                gradients = [gradient / passes for gradient in gradients]
            optimizer.apply_gradients(zip(gradients, line.weights))
            for total in sums:
                total.assign(tf.zeros_like(total))

        # --- run
        losses = []
        for number, batch in enumerate(zip(*rows), 1):
            losses.append(step(*batch).numpy())
            if number % passes == 0:
                apply()
        return {
            "losses": losses,
            "weights": line.numpy(),
            "global_step": global_step.numpy(),
        }

    # --- ranks
    return horovod.run(main, np=ranks)


def replicate(x, y, start, batch_size, steps, rate=0.0078125):
    """Fits a linear model on two devices, with Horovod or with a strategy."""
    strategy = mirrored()
    ranks = strategy.num_replicas_in_sync
    # --- build
    data = tf.data.Dataset.from_tensor_slices((x, y))

    def feed(context):
        # A machine feeds its replicas in turn: all of them here, some of them in a
        # MultiWorkerMirroredStrategy of several machines.
        count = ranks // context.num_input_pipelines
        first = count * context.input_pipeline_id
        return tf.data.Dataset.range(first, first + count).interleave(
            lambda rank: data.shard(ranks, rank).repeat().batch(batch_size), count
        )

    batches = iter(strategy.distribute_datasets_from_function(feed))
    with strategy.scope():
        line = Line(start)
        # --- step
        optimizer = optimizers.Adam(rate * ranks).create_slots(line.weights)

    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = line.loss(x, y)
        gradients = tape.gradient(loss, line.weights)
        context = tf.distribute.get_replica_context()
        pairs = zip(context.all_reduce("MEAN", gradients), line.weights)
        optimizer.apply_gradients(pairs, aggregate=False)  # the default sums
        return loss

    @tf.function
    def step(batch):
        return strategy.experimental_local_results(strategy.run(replica, batch))

    # --- run
    losses = [step(next(batches)) for _ in range(steps)]
    # --- results
    return {"losses": np.transpose(losses), "weights": line.numpy()}
