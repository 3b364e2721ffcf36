"""Replaces Horovod's processes by threads (ranks) where Horovod is not installed.

    from tf1to2.parity import stand_ins

    stand_ins.install()
    import horovod
    import horovod.tensorflow as hvd

Names, defaults and meanings are those of Horovod 0.28.1 (its documentation, "Horovod
with TensorFlow", and the docstrings of `horovod.tensorflow`), which also runs beside
TensorFlow 1.15. An allreduce is a mean unless `op` says otherwise: for dense tensors
the sum times 1 / size, for `tf.IndexedSlices` the values of all ranks in order, divided
by size. A broadcast sets the global variables, with slots and global step.
`backward_passes_per_step` sums gradients, and does not average them.

The ranks show all that a program does around the collective: which rank has which rows,
whose weights all start with, which tensors are reduced, which rank saves. A sum of two
numbers does not depend on their order, so that with two ranks the bits are those of the
package (measured with 0.28.1 on both TensorFlows). With three or more the package adds
in the order of its ring, which depends on the place in the buffer; here ranks are added
in their order. There are no processes, no network, no fusion of tensors, no GPU, no
Adasum and no elastic run.

This module also runs on Python 3.7, beside TensorFlow 1.
"""

import contextlib
import itertools
import threading
from unittest import mock

import tensorflow as tf

v1 = tf.compat.v1

Average, Sum = 0, 1
PATIENCE = 120
"""The number of seconds that a rank waits for the others."""
SHUT_DOWN = (
    "Horovod has been shut down. This was caused by an exception on one of the ranks "
    "or an attempt to allreduce, allgather or broadcast a tensor after one of the "
    "ranks finished execution."
)


class World:
    """The shared state of the ranks in a run, by which they exchange values.

    Args:
        size: the number of ranks.
    """

    def __init__(self, size):
        self.size = size
        self.turn = threading.Condition()
        self.mail, self.queues, self.left = {}, {}, set()
        self.numbers = [itertools.count() for _ in range(size)]

    def meet(self, rank, key, values):
        """Adds a rank's values, waits for the others, returns the values of all."""
        with self.turn:
            box, read = self.mail.setdefault(key, ({}, set()))
            box[rank] = values
            self.turn.notify_all()
            self.turn.wait_for(lambda: len(box) == self.size or self.left, PATIENCE)
            if len(box) < self.size:
                raise RuntimeError(SHUT_DOWN if self.left else "the ranks have stalled")
            read.add(rank)
            if len(read) == self.size:
                del self.mail[key]
            return [box[rank] for rank in range(self.size)]

    def queue(self, number, sender, receiver, dtypes):
        """The queue from one rank to another, for one collective."""
        key = number, sender, receiver
        with self.turn:
            if key not in self.queues:
                self.queues[key] = tf.queue.FIFOQueue(2, dtypes)
                if sender in self.left:
                    self.queues[key].close()
            return self.queues[key]

    def leave(self, rank):
        """Notes that a rank has ended, so that other ranks do not wait for it."""
        with self.turn:
            self.left.add(rank)
            self.turn.notify_all()
            for (_, sender, _), queue in self.queues.items():
                if sender == rank:
                    queue.close()


class Place(threading.local):
    """The rank of a thread; a thread not started by `run` is the only rank."""

    world, rank, initialized = None, 0, False


HERE = Place()


# --- horovod


def run(func, args=(), kwargs=None, num_proc=1, np=None):
    """Runs a function in each rank, as `horovod.run` does in processes.

    Args:
        func: the program of a rank.
        args, kwargs: its arguments.
        num_proc, np: the number of ranks; `np` is the older name.

    Returns:
        List of the values that the ranks returned.

    Raises:
        Exception: that of the rank that failed first; the package raises RuntimeError,
            and writes it to the error stream.
    """
    world = World(np or num_proc)
    results, failures = [None] * world.size, []

    def work(rank):
        HERE.world, HERE.rank = world, rank
        try:
            results[rank] = func(*args, **(kwargs or {}))
        except tf.errors.OutOfRangeError as error:  # that rank has ended
            failures.append(
                tf.errors.UnknownError(None, None, SHUT_DOWN) if world.left else error
            )
        except BaseException as error:
            failures.append(error)
        finally:
            world.leave(rank)

    ranks = range(world.size)
    threads = [threading.Thread(target=work, args=[r], daemon=True) for r in ranks]
    with _sessions_with_threads():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failures:
        try:
            raise failures[0]
        finally:
            # Otherwise the frames of the ranks, and all their objects, stay alive.
            failures.clear()
    return results


@contextlib.contextmanager
def _sessions_with_threads():
    """Gives each rank its own session threads, so that no rank blocks another."""
    make = v1.Session.__init__

    def init(self, target="", graph=None, config=None):
        own = v1.ConfigProto()
        if config is not None:
            own.CopyFrom(config)
        elif not tf.__version__.startswith("1."):
            from tensorflow.python.eager import context

            own.CopyFrom(context.context().config)
        # A pool with a name is kept: runs that ended their pools stalled for seconds.
        name = "rank %d" % HERE.rank
        own.session_inter_op_thread_pool.add(num_threads=4, global_name=name)
        make(self, target, graph, own)

    with mock.patch.object(v1.Session, "__init__", init):
        yield


# --- hvd


def init():
    """Initializes the rank; a thread outside `run` becomes the only rank."""
    HERE.world, HERE.initialized = HERE.world or World(1), True


def shutdown():
    HERE.initialized = False


def is_initialized():
    return HERE.initialized


def _world():
    if not HERE.initialized:
        raise ValueError("Horovod has not been initialized; use hvd.init().")
    return HERE.world


def rank():
    """The number of this rank, from 0."""
    return _world() and HERE.rank


def size():
    """The number of ranks."""
    return _world().size


local_rank, local_size = rank, size  # all on one machine


class NoneCompressor:
    """Sends tensors as they are."""

    @staticmethod
    def compress(tensor):
        return tensor, None

    @staticmethod
    def decompress(tensor, ctx):
        return tensor


class FP16Compressor:
    """Sends and sums floats in half precision."""

    @staticmethod
    def compress(tensor):
        floating = tensor.dtype.is_floating
        return tf.cast(tensor, tf.float16) if floating else tensor, tensor.dtype

    @staticmethod
    def decompress(tensor, ctx):
        return tf.cast(tensor, ctx)


class Compression:
    none, fp16 = NoneCompressor, FP16Compressor


def _exchange(tensors):
    """Exchanges tensors with all ranks; returns a list of tensors for each rank."""
    world, here = _world(), rank()
    if world.size == 1:
        return [list(tensors)]
    number = next(world.numbers[here])  # the order is the same in all ranks
    if _eager():
        return _through_queues(tensors, world, here, number)
    return _through_python(tensors, world, here, number)


def _eager():
    if tf.__version__.startswith("1."):
        return tf.executing_eagerly()
    return v1.executing_eagerly_outside_functions()


def _through_python(tensors, world, here, number):
    """Exchanges tensors in sessions, by Python: each rank has its own graph."""
    turns = itertools.count()

    def meet(*values):
        everyone = world.meet(here, (number, next(turns)), values)
        return [value for values in everyone for value in values]

    dtypes = [tensor.dtype.base_dtype for tensor in tensors]
    found = v1.py_func(meet, tensors, dtypes * world.size)
    count = len(tensors)
    return [found[r * count : (r + 1) * count] for r in range(world.size)]


def _through_queues(tensors, world, here, number):
    """Exchanges tensors eagerly or in a `tf.function`, by queues."""
    dtypes = [tensor.dtype for tensor in tensors]
    others = [other for other in range(world.size) if other != here]
    with tf.init_scope():
        sent = [world.queue(number, here, other, dtypes) for other in others]
        come = {other: world.queue(number, other, here, dtypes) for other in others}
    for queue in sent:
        queue.enqueue(tensors)
    found = []
    for other in range(world.size):
        values = list(tensors) if other == here else come[other].dequeue()
        found.append(values if isinstance(values, (list, tuple)) else [values])
    return found


def _like(tensor, shape):
    tensor.set_shape(shape)
    return tensor


def _mean(total, count):
    """Divides a sum by `count`, computed at least in float32, as `ScaleBuffer` does."""
    if not total.dtype.is_floating:
        raise NotImplementedError("integers have no mean: use op=hvd.Sum")
    wide = tf.float64 if total.dtype == tf.float64 else tf.float32
    return tf.cast(tf.cast(total, wide) * tf.constant(1 / count, wide), total.dtype)


def _reduce(tensors, op=Average, compression=Compression.none):
    """Reduces tensors and slices; leaves out None."""
    parts = []
    for tensor in tensors:
        if isinstance(tensor, tf.IndexedSlices):
            parts += [tensor.values, tensor.indices]
        elif tensor is not None:
            parts.append(compression.compress(tensor)[0])
    everyone = iter(list(zip(*_exchange(parts)))) if parts else iter(())
    count, found = size(), []
    for tensor in tensors:
        if tensor is None:
            found.append(None)
        elif isinstance(tensor, tf.IndexedSlices):
            values, indices = tf.concat(next(everyone), 0), tf.concat(next(everyone), 0)
            values.set_shape([None] + tensor.values.shape.as_list()[1:])
            if op == Average:
                values = values / tf.cast(count, values.dtype)
            found.append(tf.IndexedSlices(values, indices, tensor.dense_shape))
        else:
            terms = next(everyone)
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            if op == Average:
                total = _mean(total, count)
            whole = compression.decompress(total, tensor.dtype)
            found.append(_like(whole, tensor.shape))
    return found


def allreduce(tensor, average=None, compression=Compression.none, op=None, name=None):
    """Computes the mean or the sum of a tensor over all ranks.

    Args:
        tensor: float tensor, variable or `tf.IndexedSlices`; with `hvd.Sum`, any.
        average: the old form of `op`: whether to compute the mean.
        compression: `hvd.Compression.none` or `fp16`.
        op: `hvd.Average`, the default, or `hvd.Sum`.
        name: ignored.

    Returns:
        A tensor of its shape and dtype; of slices, the slices of all ranks.

    Raises:
        ValueError: both `average` and `op` are given.
    """
    if average is not None and op is not None:
        raise ValueError(
            "The op parameter supersedes average. Please provide only one of them."
        )
    if average is not None:
        op = Average if average else Sum
    if not isinstance(tensor, tf.IndexedSlices):
        tensor = tf.convert_to_tensor(tensor)
    return _reduce([tensor], Average if op is None else op, compression)[0]


def allgather(tensor, name=None):
    """Concatenates the rows of all ranks; the number of rows may differ by rank."""
    tensor = tf.convert_to_tensor(tensor)
    whole = tf.concat([parts[0] for parts in _exchange([tensor])], 0)
    return _like(whole, [None] + tensor.shape.as_list()[1:])


def broadcast(tensor, root_rank, name=None):
    """Returns the tensor of the rank `root_rank` in every rank."""
    tensor = tf.convert_to_tensor(tensor)
    return _like(_exchange([tensor])[root_rank][0], tensor.shape)


def broadcast_variables(variables, root_rank):
    """Sets the variables of every rank to the values in the rank `root_rank`."""
    if not isinstance(variables, (list, tuple)):
        raise ValueError("broadcast_variables takes a list of variables")
    values = _exchange([tf.convert_to_tensor(v) for v in variables])[root_rank]
    pairs = list(zip(variables, values))
    return tf.group(*[v.assign(_like(value, v.shape)) for v, value in pairs])


def broadcast_global_variables(root_rank):
    """Returns an op that sets all global variables to the values in one rank."""
    if tf.executing_eagerly():
        raise RuntimeError(
            "hvd.broadcast_global_variables() does not support eager execution. Please "
            "use `hvd.broadcast_variables(<model/optimizer variables>)` instead."
        )
    return broadcast_variables(v1.global_variables(), root_rank)


class BroadcastGlobalVariablesHook(v1.train.SessionRunHook):
    """Broadcasts once, when variables have been initialized or restored."""

    def __init__(self, root_rank, device=""):
        self.root_rank, self.bcast_op = root_rank, None

    def begin(self):
        if not self.bcast_op or self.bcast_op.graph != v1.get_default_graph():
            self.bcast_op = broadcast_global_variables(self.root_rank)

    def after_create_session(self, session, coord):
        session.run(self.bcast_op)


def _dense(gradients):
    slices = tf.IndexedSlices
    return [tf.convert_to_tensor(g) if isinstance(g, slices) else g for g in gradients]


class DistributedOptimizer(v1.train.Optimizer):
    """An optimizer of `tf.train` that reduces gradients before it applies them.

    Args:
        optimizer: a `tf.train.Optimizer`.
        name: "Distributed" and its class, if None.
        use_locking: passed on.
        compression: see `allreduce`.
        sparse_as_dense: whether slices are made dense first.
        backward_passes_per_step: the number of steps whose gradients are summed before
            they are reduced and applied.
        op: `hvd.Average` or `hvd.Sum`.
        average_aggregated_gradients: whether the sum is divided by the number of steps.
    """

    def __init__(
        self,
        optimizer,
        name=None,
        use_locking=False,
        compression=Compression.none,
        sparse_as_dense=False,
        backward_passes_per_step=1,
        op=Average,
        average_aggregated_gradients=False,
    ):
        name = name or "Distributed" + type(optimizer).__name__
        super().__init__(use_locking, name)
        self._optimizer, self._op, self._compression = optimizer, op, compression
        self._sparse_as_dense, self._passes = sparse_as_dense, backward_passes_per_step
        self._divide, self._counter = average_aggregated_gradients, None

    def compute_gradients(self, *args, **kwargs):
        """Computes the gradients, and reduces them over all ranks."""
        pairs = self._optimizer.compute_gradients(*args, **kwargs)
        gradients, variables = zip(*pairs)
        if self._sparse_as_dense:
            gradients = _dense(gradients)
        if self._passes > 1:
            gradients = self._collected(gradients)
        else:
            gradients = _reduce(gradients, self._op, self._compression)
        return list(zip(gradients, variables))

    def _collected(self, gradients):
        """Sums gradients in local variables; reduces them only in every last pass."""
        given = [gradient for gradient in gradients if gradient is not None]
        if any(isinstance(gradient, tf.IndexedSlices) for gradient in given):
            raise ValueError(
                "IndexedSlices are not supported when `backward_passes_per_step` > 1 "
                "and `sparse_as_dense` is False."
            )
        kept = [v1.GraphKeys.LOCAL_VARIABLES]
        with v1.variable_scope(
            "aggregation_variables_%s%d" % (self.get_name(), rank())
        ):
            self._counter = v1.get_variable(
                "aggregation_counter",
                initializer=0,
                trainable=False,
                collections=kept,
                use_resource=True,
            )
            sums = [
                v1.get_variable(
                    str(place),
                    initializer=tf.zeros(gradient.shape, gradient.dtype),
                    trainable=False,
                    collections=kept,
                    use_resource=True,
                )
                for place, gradient in enumerate(given)
            ]
        first = tf.equal(self._counter.read_value(), 0)
        added = []
        for total, gradient in zip(sums, given):
            value = total.read_value()
            begun = tf.where(
                tf.fill(tf.shape(value), first), tf.zeros_like(value), value
            )
            added.append(total.assign(begun + gradient, read_value=False))
        with tf.control_dependencies(added + [first]):
            counted = self._counter.assign_add(1, read_value=False)
        with tf.control_dependencies([counted]):
            whole = [total.read_value() for total in sums]
            last = tf.equal(self._counter.read_value(), self._passes)

        def reduced():
            found = _reduce(whole, self._op, self._compression)
            with tf.control_dependencies(found):
                done = self._counter.assign(0, read_value=False)
            with tf.control_dependencies([done]):
                return [g / (self._passes if self._divide else 1) for g in found]

        found = v1.cond(last, reduced, lambda: [tf.identity(g) for g in given])
        found = iter(found if isinstance(found, (list, tuple)) else [found])
        return [None if gradient is None else next(found) for gradient in gradients]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Applies gradients in every last pass; other passes only count the step."""
        pairs = list(grads_and_vars)
        if self._counter is None:
            return self._optimizer.apply_gradients(pairs, global_step, name)

        def apply():
            return self._optimizer.apply_gradients(pairs, global_step, name)

        def count():
            if global_step is None:
                return tf.no_op()
            return v1.assign_add(global_step, 1).op

        with tf.control_dependencies([g for g, _ in pairs if g is not None]):
            return v1.cond(tf.equal(self._counter.read_value(), 0), apply, count)

    def get_slot(self, *args, **kwargs):
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self, *args, **kwargs):
        return self._optimizer.variables(*args, **kwargs)


class DistributedGradientTape:
    """A tape that reduces the gradients that it computes.

    Args:
        gradtape: a `tf.GradientTape`.
        compression, sparse_as_dense, op: see `DistributedOptimizer`.
    """

    def __init__(
        self,
        gradtape,
        compression=Compression.none,
        sparse_as_dense=False,
        op=Average,
    ):
        self._tape, self._compression, self._op = gradtape, compression, op
        self._sparse_as_dense = sparse_as_dense

    def __enter__(self):
        self._tape.__enter__()
        return self

    def __exit__(self, *error):
        return self._tape.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self._tape, name)

    def gradient(self, target, sources, output_gradients=None):
        """Computes the gradients, and reduces them over all ranks."""
        gradients = self._tape.gradient(target, sources, output_gradients)
        if self._sparse_as_dense:
            gradients = _dense(gradients)
        return _reduce(gradients, self._op, self._compression)
