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
    """Computes x² + 1 of a constant."""
    # --- build
    # Made outside, it is an input of the function; inside, it would be in the graph.
    data = tf.constant(x)

    @tf.function
    def predict():
        return tf.square(data) + 1

    # --- run
    return predict().numpy()


def from_placeholder(feeds, width):
    """Computes scale · x² + 1 of fed arrays, one call per feed."""

    # --- build
    # The signature replaces the placeholders: one trace for all batch sizes.
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
    """Computes x² + 1 of batches that a Python function returns, one per call."""
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
    """Batches rows of different lengths from a generator, padded with zeros."""

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
    """Computes x² + 1 of each batch until the dataset ends."""
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
    """Sums each of `count` batches, and raises if the dataset has fewer batches.

    Raises:
        StopIteration: eagerly: the dataset has fewer batches.
        tf.errors.OutOfRangeError: in a `tf.function`: the dataset has fewer batches.
    """
    # --- build
    iterator = iter(tf.data.Dataset.from_tensor_slices(x).batch(size))

    @tf.function
    def next_sum(iterator):
        # At the end of the data a `for` loop ends, but `next` raises an error.
        return tf.reduce_sum(next(iterator))

    # --- run
    return [next_sum(iterator).numpy() for _ in range(count)]


def initializable(arrays, size, seed, initialized=True):
    """Reads one array after another in shuffled batches, each from its beginning.

    Args:
        seed: seed of the graph and of the shuffling; a new dataset restarts the
            shuffling.
        initialized: has no effect in TensorFlow 2: a dataset needs no initialization.
    """
    # --- build
    tf.random.set_seed(seed)

    def batches(x):
        dataset = tf.data.Dataset.from_tensor_slices(x)
        return dataset.shuffle(100, seed=seed).batch(size)

    # --- run
    # A second loop over the same dataset has another order, so each dataset is new.
    return [[batch.numpy() for batch in batches(x)] for x in arrays]


def reinitializable(train, valid, epochs):
    """Alternates between training on one dataset and evaluating on another.

    Raises:
        TypeError: `train` and `valid` have different dtypes; eagerly
            InvalidArgumentError.
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
    """Takes elements from several datasets in turn; each keeps its position."""
    # --- build
    iterators = {
        name: iter(tf.data.Dataset.from_tensor_slices(x)) for name, x in sources.items()
    }

    @tf.function
    def predict(iterator):
        return tf.square(next(iterator)) + 1

    # --- run
    # An iterator is an argument like any other, and keeps its position.
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
