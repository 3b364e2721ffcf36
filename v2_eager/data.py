"""`feed_dict`, `make_one_shot_iterator`, `get_next` → loops over `tf.data`."""

import tensorflow as tf

from v2_eager.numerics import optimizers

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
    """Computes x² + 1 of data that the graph contains."""
    # --- build
    # Made out here it is handed to the function; inside it would be part of the graph.
    data = tf.constant(x)

    @tf.function
    def predict():
        return tf.square(data) + 1

    # --- run
    return predict().numpy()


def from_placeholder(feeds, width):
    """Computes scale · x² + 1 of what is fed, one run per feed."""

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
    """Computes x² + 1 of batches that a Python function hands out, one per run."""
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
    """Batches rows of several lengths that a generator yields, padded with zeros."""

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
    """Computes x² + 1 batch by batch until the data ends."""
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
        seed: of the graph and of the shuffling; a new dataset begins it anew.
        initialized: has no meaning any more: a dataset is ready when it is there.
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
    """Switches between datasets without losing the place in any."""
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
    """Trains a linear model on cached, repeated, shuffled, mapped and batched data."""

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
    optimizer = optimizers.GradientDescent(rate)

    def step(features, labels):
        with tf.GradientTape() as tape:
            error = tf.matmul(features, weights)[:, 0] - labels
            loss = tf.reduce_mean(tf.square(error))
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
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
