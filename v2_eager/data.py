"""`feed_dict`, `make_one_shot_iterator`, `get_next` → loops over `tf.data`."""

import tensorflow as tf

__all__ = [
    "from_constant",
    "from_placeholder",
    "from_python",
    "from_generator",
    "one_shot",
    "next_batches",
    "initializable",
    "reinitializable",
    "feedable",
    "pipeline",
]


def from_constant(x):
    """Computes x² + 1 of data that the graph contains.

    Args:
        x: array; as a constant it counts towards the 2 GB that a graph may have.

    Returns:
        Array like `x`.
    """
    # --- build
    # Made out here it is handed to the function; inside it would be part of the graph.
    data = tf.constant(x)

    @tf.function
    def predict():
        return tf.square(data) + 1

    # --- run
    return predict().numpy()


def from_placeholder(feeds, width):
    """Computes scale · x² + 1 of what is fed, one run per feed.

    Args:
        feeds: list of dicts with `x`, [batch, width] float32 array, and perhaps
            `scale`, a number, else 1.
        width: number of columns.

    Returns:
        List of [batch, width] float32 arrays.

    Raises:
        TypeError: a feed without `x` or with another name, another width or rank, or
            text.
    """

    # --- build
    # The signature is what the placeholders were: one trace for all sizes of batches.
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, width], tf.float32),
            tf.TensorSpec([], tf.float32),
        ]
    )
    def predict(x, scale=1.0):
        return scale * tf.square(x) + 1

    # --- run
    return [predict(**feed).numpy() for feed in feeds]


def from_python(batches, dtype, count):
    """Computes x² + 1 of batches that a Python function hands out, one per run.

    Args:
        batches: list of arrays of one shape.
        dtype: name of the dtype that the function is said to return.
        count: how many batches to ask for.

    Returns:
        List of `count` arrays.

    Raises:
        tf.errors.InvalidArgumentError: the function returns another dtype.
        tf.errors.OutOfRangeError: it raises StopIteration.
    """
    supply = iter(batches)

    def next_batch():
        return next(supply)

    # --- build
    @tf.function
    def predict():
        x = tf.numpy_function(next_batch, [], tf.as_dtype(dtype))
        x = tf.ensure_shape(x, batches[0].shape)
        return tf.square(x) + 1

    # --- run
    return [predict().numpy() for _ in range(count)]


def from_generator(rows, size, width):
    """Batches rows of several lengths that a generator yields, padded with zeros.

    Args:
        rows: list of lists of numbers.
        size: rows per batch.
        width: length of all rows, or None if they differ.

    Returns:
        List of [size, longest] float32 arrays, the last one perhaps shorter.

    Raises:
        tf.errors.InvalidArgumentError: a row is not of the length `width`.
    """

    def generate():
        yield from rows

    # --- build
    dataset = tf.data.Dataset.from_generator(
        generate, output_signature=tf.TensorSpec([width], tf.float32)
    )
    dataset = dataset.padded_batch(size)
    # --- run
    return [batch.numpy() for batch in dataset]


def one_shot(x, size, drop_remainder=False):
    """Computes x² + 1 batch by batch until the data ends.

    Args:
        x: [n, ...] array.
        size: elements per batch.
        drop_remainder: whether to drop a last batch that is smaller.

    Returns:
        (static shape of a batch, list of predictions).
    """
    # --- build
    dataset = tf.data.Dataset.from_tensor_slices(x)
    dataset = dataset.batch(size, drop_remainder=drop_remainder)

    @tf.function(input_signature=[dataset.element_spec])
    def predict(data):
        return tf.square(data) + 1

    # --- run
    predictions = [predict(data).numpy() for data in dataset]
    return dataset.element_spec.shape.as_list(), predictions


def next_batches(x, size, count):
    """Sums a given number of batches, which must be there.

    Args:
        x: [n, ...] array.
        size: elements per batch.
        count: how many batches to take.

    Returns:
        List of `count` sums.

    Raises:
        StopIteration: too few, eagerly.
        tf.errors.OutOfRangeError: too few, in a `tf.function`.
    """
    # --- build
    iterator = iter(tf.data.Dataset.from_tensor_slices(x).batch(size))

    @tf.function
    def next_sum(iterator):
        # A `for` loop ends without an error. `next` raises one.
        return tf.reduce_sum(next(iterator))

    # --- run
    return [next_sum(iterator).numpy() for _ in range(count)]


def initializable(arrays, size, seed, initialized=True):
    """Reads shuffled batches of one array after another, each from its beginning.

    Args:
        arrays: list of vectors of one dtype; the same one again is another epoch.
        size: elements per batch.
        seed: of the graph and of the shuffling; a new dataset begins it anew.
        initialized: has no meaning any more: a dataset is ready when it is there.

    Returns:
        List of lists of batches.
    """
    # --- build
    tf.random.set_seed(seed)

    def batches(x):
        dataset = tf.data.Dataset.from_tensor_slices(x)
        return dataset.shuffle(100, seed=seed).batch(size)

    # --- run
    # A second loop over *one* dataset is an epoch in another order: here each is new.
    return [[batch.numpy() for batch in batches(x)] for x in arrays]


def reinitializable(train, valid, epochs):
    """Trains on one dataset and evaluates on another with the same graph, in turn.

    Args:
        train: [n] float array; each element moves the estimate half of the way to it.
        valid: [m] array of the same dtype.
        epochs: how often to do both.

    Returns:
        (estimate, list of the sums of squared errors on `valid`).

    Raises:
        TypeError: the two are of different dtypes; InvalidArgumentError, eagerly.
    """
    # --- build
    datasets = [tf.data.Dataset.from_tensor_slices(x) for x in (train, valid)]
    estimate = tf.Variable(tf.zeros([], train.dtype))

    # --- step
    @tf.function
    def epoch(train, valid):
        for x in train:
            estimate.assign_add((x - estimate) / 2)
        total = tf.zeros([], estimate.dtype)
        for x in valid:
            total += tf.square(x - estimate)
        return total

    # --- run
    errors = [epoch(*datasets).numpy() for _ in range(epochs)]
    return estimate.numpy(), errors


def feedable(sources, turns):
    """Switches between datasets without losing the place in any.

    Args:
        sources: {name: [n] array}, all of one dtype.
        turns: list of names: where the next element comes from.

    Returns:
        List of x² + 1, one per turn.

    Raises:
        tf.errors.OutOfRangeError: a source has ended; StopIteration, eagerly.
    """
    # --- build
    iterators = {
        name: iter(tf.data.Dataset.from_tensor_slices(x)) for name, x in sources.items()
    }

    @tf.function
    def predict(iterator):
        return tf.square(next(iterator)) + 1

    # --- run
    # An iterator is an argument like any other, and keeps its place.
    return [predict(iterators[name]).numpy() for name in turns]


def pipeline(x, y, size, epochs, seed, repeat_first=True, rate=0.125):
    """Trains a linear model on cached, repeated, shuffled, mapped and batched data.

    Args:
        x: [n, features] float array.
        y: [n] array of the same dtype.
        size: elements per batch; the shuffle buffer holds five times as many.
        epochs: how often to repeat the data.
        seed: of the graph and of the shuffling.
        repeat_first: whether to repeat before shuffling, so that epochs mix.
        rate: learning rate.

    Returns:
        dict with `order`, the [steps, size] indices of the elements in the batches,
        `losses` [steps], and the `weights` [features] in the end.
    """

    # --- parse
    def parse(index, element):
        features, label = element
        return index, features / 2, label

    # --- data
    tf.random.set_seed(seed)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).enumerate()
    dataset = dataset.cache()
    if repeat_first:
        dataset = dataset.repeat(epochs).shuffle(5 * size, seed=seed)
    else:
        dataset = dataset.shuffle(5 * size, seed=seed).repeat(epochs)
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    # --- step
    weights = tf.Variable(tf.zeros([x.shape[1], 1], x.dtype))

    def step(features, labels):
        with tf.GradientTape() as tape:
            error = tf.matmul(features, weights)[:, 0] - labels
            loss = tf.reduce_mean(tf.square(error))
        weights.assign_sub(rate * tape.gradient(loss, weights))
        return loss

    # --- run
    @tf.function
    def train(dataset):
        order = tf.TensorArray(tf.int64, 0, dynamic_size=True)
        losses = tf.TensorArray(x.dtype, 0, dynamic_size=True)
        for indices, features, labels in dataset:
            order = order.write(order.size(), indices)
            losses = losses.write(losses.size(), step(features, labels))
        return {"order": order.stack(), "losses": losses.stack()}

    result = {name: value.numpy() for name, value in train(dataset).items()}
    return {**result, "weights": weights[:, 0].numpy()}
