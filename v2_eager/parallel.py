"""`tf.device`, `tf.colocate_with`, towers → `tf.device`, `MirroredStrategy`."""

import tensorflow as tf

from v2_eager.basics import polynomial
from v2_eager.numerics import optimizers

__all__ = [
    "processors",
    "add",
    "nested_devices",
    "device_function",
    "add_in_halves",
    "add_in_parallel",
    "losses_and_gradient",
    "fit",
    "fit_towers",
    "feed_towers",
    "center",
]


def processors(count):
    """Splits the CPU into logical devices, which are used in place of GPUs.

    Raises:
        RuntimeError: TensorFlow has started with another number.
    """
    # --- configure
    # For the whole process, before its first op. Setting the same again is no error.
    (processor,) = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration()] * count
    tf.config.set_logical_device_configuration(processor, parts)
    # --- look
    return [short(device.name) for device in tf.config.list_logical_devices("CPU")]


def device(index):
    """Returns the name of a CPU device; in practice write device_type="GPU"."""
    return tf.DeviceSpec(device_type="CPU", device_index=index)


def short(name):
    """Returns a device's name without job, replica, task; "CPU:0" if it is empty."""
    spec = tf.DeviceSpec.from_string(name)
    return f"{spec.device_type or 'CPU'}:{spec.device_index or 0}"


def locate(*tensors):
    """Returns the device of each tensor; in a `tf.function`, the requested device."""
    return [short(tensor.device) for tensor in tensors]


def add(a, b, index):
    """Adds two arrays on a device, and returns the device of the sum."""
    processors(2)  # first of all; not needed with two GPUs
    # --- build
    with tf.device(device(index)):
        c = tf.constant(a) + tf.constant(b)
    # --- run
    return c.numpy(), short(c.device)


def nested_devices(x):
    """Places ops in nested device blocks, on a tensor's device, and on any device."""
    processors(2)
    x = tf.constant(x)
    # --- blocks
    with tf.device("/cpu:1"):
        outer = tf.square(x)
        with tf.device("/cpu:0"):
            inner = tf.negative(x)
            # --- beside
            with tf.device(outer.device):
                beside = outer + 1
        # --- anywhere
        with tf.device(None):
            anywhere = tf.abs(x)
    # --- run
    tensors = [outer, inner, beside, anywhere]
    return [tensor.numpy() for tensor in tensors], locate(*tensors)


def device_function(x, kernel):
    """Places a variable on the first device, and the computation on the second."""
    processors(2)
    # --- rule
    # tf.device accepts no function: a variable stays on the device where it is made,
    # and an op runs on the device of its block, not of the variables that it reads.
    with tf.device(device(0)):
        weights = tf.Variable(kernel, name="kernel")
    # --- build
    with tf.device(device(1)):
        y = tf.matmul(tf.constant(x), weights)
    # --- run
    return y.numpy(), locate(weights, y)


def add_in_halves(a, b):
    """Splits two arrays, and adds one half on each of two devices.

    Raises:
        ValueError: n is odd, or the shapes differ; found while a graph is made.
        tf.errors.InvalidArgumentError: the same mistake, found when the graph runs.
    """
    processors(2)
    where = []

    @tf.function
    def add(a, b):
        # --- split
        split_a, split_b = tf.split(a, 2), tf.split(b, 2)
        # --- add
        split_c = []
        for i in range(2):
            with tf.device(device(i)):
                split_c.append(split_a[i] + split_b[i])
        where.extend(locate(*split_c))
        return tf.concat(split_c, axis=0)

    # --- run
    return add(tf.constant(a), tf.constant(b)).numpy(), where


def make_parallel(fn, num_devices, **kwargs):
    """Splits a batch over devices, and applies `fn` on each with shared variables.

    Args:
        fn: function of tensors, the batch first, to one tensor, the batch first.
        num_devices: number of devices, a divisor of the size of the batch.
        **kwargs: the tensors.

    Returns:
        The result of `fn` for the whole batch.
    """
    in_splits = {k: tf.split(v, num_devices) for k, v in kwargs.items()}
    out_splits = []
    for i in range(num_devices):
        with tf.device(device(i)):
            # `fn` holds its variables as objects: no lookup by name.
            parts = {k: v[i] for k, v in in_splits.items()}
            out_splits.append(fn(**parts))
    return tf.concat(out_splits, axis=0)


def add_in_parallel(a, b, num_devices):
    """Adds two arrays with `make_parallel`, one part of them on each device.

    Raises:
        ValueError: n is not a multiple of `num_devices`; found while a graph is made.
        tf.errors.InvalidArgumentError: the same mistake, found when the graph runs.
    """
    processors(2)

    # --- build
    def model(a, b):
        return a + b

    # A function runs both devices in parallel; eagerly, op follows op.
    @tf.function
    def run(a, b):
        return make_parallel(model, num_devices, a=a, b=b)

    # --- run
    return run(tf.constant(a), tf.constant(b)).numpy()


def losses_and_gradient(x, y, w, num_devices, colocate=True):
    """Computes losses of a polynomial on several devices, and their mean's gradient.

    Raises:
        ValueError: n is not a multiple of `num_devices`; found while a graph is made.
        tf.errors.InvalidArgumentError: the same mistake, found when the graph runs.
    """
    processors(2)
    # --- build
    weights = tf.Variable(w)
    where = []

    @tf.function
    def run(x, y):
        # --- gradient
        losses, parts = parallel_gradients(x, y, weights, num_devices, colocate)
        where.extend(locate(*parts))
        return losses, tf.add_n(parts)

    # --- run
    losses, gradient = run(tf.constant(x), tf.constant(y))
    return losses.numpy(), gradient.numpy(), where


def parallel_gradients(x, y, weights, num_devices, colocate=True):
    """Computes the losses of a batch, and each device's part of the mean's gradient.

    A tape does not choose a device: outside a device block it computes gradients on the
    first device, whichever computed the loss. So the tape is called inside the block.
    """
    losses, gradients, size = [], [], tf.cast(tf.size(x), x.dtype)
    parts = zip(tf.split(x, num_devices), tf.split(y, num_devices))
    for i, (x_part, y_part) in enumerate(parts):
        with tf.device(device(i)):
            with tf.GradientTape() as tape:
                losses.append(tf.square(polynomial(x_part, weights) - y_part))
            share = tf.ones_like(losses[i]) / size  # of each loss in their mean
            if colocate:
                gradients.append(tape.gradient(losses[i], weights, share))
        if not colocate:
            gradients.append(tape.gradient(losses[i], weights, share))
    return tf.concat(losses, axis=0), gradients


def fit(x, y, w, num_devices, learning_rate=0.1):
    """Fits a polynomial with Adam; each batch is split over several devices.

    Raises:
        ValueError: n is not a multiple of `num_devices`; found while a graph is made.
        tf.errors.InvalidArgumentError: the same mistake, found when the graph runs.
    """
    processors(2)
    # --- build
    weights = tf.Variable(w)
    adam = optimizers.Adam(learning_rate).create_slots([weights])

    # --- step
    @tf.function
    def step(x, y):
        losses, parts = parallel_gradients(x, y, weights, num_devices)
        adam.apply_gradients([(tf.add_n(parts), weights)])
        return tf.reduce_mean(losses)

    # --- run
    batches = zip(tf.constant(x), tf.constant(y))
    losses = [step(*batch) for batch in batches]
    return weights.numpy(), tf.stack(losses).numpy()


def mirrored():
    """Makes a strategy with a replica on each device; on GPUs it needs no arguments."""
    processors(2)
    return tf.distribute.MirroredStrategy(
        [device(0).to_string(), device(1).to_string()],
        cross_device_ops=tf.distribute.ReductionToOneDevice(),
    )


def fit_towers(x, y, w, learning_rate=0.0625):
    """Fits a polynomial by gradient descent; averages gradients over two devices."""
    # --- build
    strategy = mirrored()
    with strategy.scope():
        weights = tf.Variable(w, name="w")  # a copy on each device
    optimizer = optimizers.GradientDescent(learning_rate)
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    batches = strategy.experimental_distribute_dataset(dataset)

    # --- tower
    def tower(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(polynomial(x, weights) - y))
            share = loss / strategy.num_replicas_in_sync
        # The optimizer sums the gradients of all towers, then updates each tower's
        # copy. With a plain assignment in the tower, the copies would differ without an
        # error.
        optimizer.apply_gradients([(tape.gradient(share, weights), weights)])
        return loss

    # --- step
    @tf.function
    def step(batch):
        losses = strategy.run(tower, batch)
        return strategy.reduce("MEAN", losses, axis=None)

    # --- run
    history = [step(batch) for batch in batches]
    return weights.numpy(), tf.stack(history).numpy()


def feed_towers(x, batch):
    """Splits each batch of a dataset between two devices."""
    strategy = mirrored()
    # --- dataset
    # The batch of both devices together, as in TensorFlow 1.
    dataset = tf.data.Dataset.from_tensor_slices(x)
    dataset = dataset.batch(batch, drop_remainder=True)
    # --- divide
    # Without drop_remainder a device may get no rows of the last batch: a loss of NaN.
    batches = strategy.experimental_distribute_dataset(dataset)
    # --- run
    parts = [strategy.experimental_local_results(values) for values in batches]
    return [[part.numpy() for part in pair] for pair in parts]


def center(x):
    """Subtracts the mean of the whole batch from its halves on two devices."""
    strategy = mirrored()

    # --- split
    def half(context):
        return tf.split(tf.constant(x), 2)[context.replica_id_in_sync_group]

    halves = strategy.experimental_distribute_values_from_function(half)

    def replica(part):
        # --- means
        mean = tf.reduce_mean(part, axis=0)

        # --- meet
        # Replicas run independently: here they wait for each other.
        context = tf.distribute.get_replica_context()
        mean = context.all_reduce("MEAN", mean)
        # --- subtract
        return part - mean

    @tf.function
    def run(halves):
        return strategy.gather(strategy.run(replica, (halves,)), axis=0)

    # --- run
    return run(halves).numpy()
