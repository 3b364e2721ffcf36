"""`feed_dict`, `make_one_shot_iterator`, `get_next` → loops over `tf.data`."""

import numpy as np
import tensorflow.compat.v1 as tf

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


def _until_end(sess, fetches):
    """Runs `fetches` until the data ends, and returns the list of results."""
    results = []
    while True:
        try:
            results.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            return results


def from_constant(x):
    """Computes x² + 1 of a constant.

    Args:
        x: array; as a constant it counts towards the 2 GB limit of a graph.

    Returns:
        Array like `x`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        data = tf.constant(x)
        prediction = tf.square(data) + 1
        # --- run
        return sess.run(prediction)


def from_placeholder(feeds, width):
    """Computes scale · x² + 1 of fed arrays, one call per feed.

    Args:
        feeds: list of dicts with `x`, [batch, width] float32 array, and perhaps
            `scale`, a number, else 1.
        width: number of columns.

    Returns:
        List of [batch, width] float32 arrays.

    Raises:
        tf.errors.InvalidArgumentError: a feed without `x`; in TensorFlow 2 TypeError.
        ValueError: a feed with another width or rank, or with text; in TensorFlow 2
            TypeError.
        KeyError: a feed with another name; in TensorFlow 2 TypeError.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        inputs = {
            "x": tf.placeholder(tf.float32, [None, width]),
            "scale": tf.placeholder_with_default(np.float32(1), []),
        }
        prediction = inputs["scale"] * tf.square(inputs["x"]) + 1
        # --- run
        return [
            sess.run(prediction, {inputs[name]: feed[name] for name in feed})
            for feed in feeds
        ]


def from_python(batches, dtype, count):
    """Computes x² + 1 of batches that a Python function returns, one per call.

    Args:
        batches: list of arrays of one shape.
        dtype: name of the declared return dtype of the function.
        count: number of batches to compute.

    Returns:
        List of `count` arrays.

    Raises:
        tf.errors.InvalidArgumentError: the function returns another dtype.
        tf.errors.OutOfRangeError: the function raises StopIteration.
    """
    supply = iter(batches)

    def next_batch():
        return next(supply)

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.py_func(next_batch, [], tf.as_dtype(dtype))
        x.set_shape(batches[0].shape)
        prediction = tf.square(x) + 1
        # --- run
        return [sess.run(prediction) for _ in range(count)]


def from_generator(rows, size, width):
    """Batches rows of different lengths from a generator, padded with zeros.

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
        for row in rows:
            yield row

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        dataset = tf.data.Dataset.from_generator(
            generate, output_types=tf.float32, output_shapes=[width]
        )
        dataset = dataset.padded_batch(size, padded_shapes=[width])
        batch = dataset.make_one_shot_iterator().get_next()
        # --- run
        return _until_end(sess, batch)


def one_shot(x, size, drop_remainder=False):
    """Computes x² + 1 of each batch until the dataset ends.

    Args:
        x: [n, ...] array.
        size: elements per batch.
        drop_remainder: whether to drop a last batch that is smaller.

    Returns:
        (static shape of a batch, list of predictions).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        dataset = tf.data.Dataset.from_tensor_slices(x)
        dataset = dataset.batch(size, drop_remainder=drop_remainder)
        data = dataset.make_one_shot_iterator().get_next()
        prediction = tf.square(data) + 1
        # --- run
        return data.shape.as_list(), _until_end(sess, prediction)


def next_batches(x, size, count):
    """Sums each of `count` batches, and raises if the dataset has fewer batches.

    Args:
        x: [n, ...] array.
        size: elements per batch.
        count: number of batches to take.

    Returns:
        List of `count` sums.

    Raises:
        tf.errors.OutOfRangeError: the dataset has fewer batches. An eager `next` raises
            StopIteration.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        dataset = tf.data.Dataset.from_tensor_slices(x).batch(size)
        # Call get_next once, outside of the loop: every call adds nodes to the graph.
        total = tf.reduce_sum(dataset.make_one_shot_iterator().get_next())
        # --- run
        return [sess.run(total) for _ in range(count)]


def initializable(arrays, size, seed, initialized=True):
    """Reads one array after another in shuffled batches, each from its beginning.

    Args:
        arrays: list of vectors of one dtype; repeat an array for another epoch.
        size: elements per batch.
        seed: seed of the graph and of the shuffling; an initialization restarts the
            shuffling.
        initialized: whether to initialize the iterator before its use.

    Returns:
        List of lists of batches.

    Raises:
        tf.errors.FailedPreconditionError: the iterator is not initialized; TensorFlow 2
            raises nothing.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(seed)
        x = tf.placeholder(arrays[0].dtype, [None])
        dataset = tf.data.Dataset.from_tensor_slices(x)
        dataset = dataset.shuffle(100, seed=seed).batch(size)
        iterator = dataset.make_initializable_iterator()
        batch = iterator.get_next()
        # --- run
        epochs = []
        for array in arrays:
            if initialized:
                sess.run(iterator.initializer, {x: array})
            epochs.append(_until_end(sess, batch))
        return epochs


def reinitializable(train, valid, epochs):
    """Alternates between training on one dataset and evaluating on another.

    Args:
        train: [n] float array; each element moves the estimate half of the way to it.
        valid: [m] array of the same dtype.
        epochs: number of times to do both.

    Returns:
        (estimate, list of the sums of squared errors on `valid`).

    Raises:
        TypeError: `train` and `valid` have different dtypes.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        datasets = [tf.data.Dataset.from_tensor_slices(x) for x in (train, valid)]
        iterator = tf.data.Iterator.from_structure(
            tf.data.get_output_types(datasets[0]),
            tf.data.get_output_shapes(datasets[0]),
        )
        begin_train, begin_valid = [iterator.make_initializer(d) for d in datasets]
        x = iterator.get_next()
        estimate = tf.Variable(np.zeros([], train.dtype))
        # --- step
        step = tf.assign_add(estimate, (x - estimate) / 2)
        error = tf.square(x - estimate)
        # --- run
        sess.run(tf.global_variables_initializer())
        errors = []
        for _ in range(epochs):
            sess.run(begin_train)
            _until_end(sess, step)
            sess.run(begin_valid)
            # One run per element: a sum over all would need another variable.
            errors.append(sum(_until_end(sess, error), np.zeros([], valid.dtype)))
        return sess.run(estimate), errors


def feedable(sources, turns):
    """Takes elements from several datasets in turn; each keeps its position.

    Args:
        sources: {name: [n] array}, all of one dtype.
        turns: list of names, the source of each element.

    Returns:
        List of x² + 1, one per turn.

    Raises:
        tf.errors.OutOfRangeError: a source has ended. An eager `next` raises
            StopIteration.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        iterators = {
            name: tf.data.Dataset.from_tensor_slices(x).make_one_shot_iterator()
            for name, x in sources.items()
        }
        handle = tf.placeholder(tf.string, [])
        like = next(iter(iterators.values()))
        iterator = tf.data.Iterator.from_string_handle(
            handle, tf.data.get_output_types(like), tf.data.get_output_shapes(like)
        )
        prediction = tf.square(iterator.get_next()) + 1
        # --- run
        handles = {name: sess.run(i.string_handle()) for name, i in iterators.items()}
        return [sess.run(prediction, {handle: handles[name]}) for name in turns]


def pipeline(x, y, size, epochs, seed, repeat_first=True, rate=0.125):
    """Trains a linear model on cached, repeated, shuffled, mapped and batched data.

    Args:
        x: [n, features] float array.
        y: [n] array of the same dtype.
        size: elements per batch; the shuffle buffer holds five times as many.
        epochs: number of epochs.
        seed: seed of the graph and of the shuffling.
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

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- data
        tf.set_random_seed(seed)
        dataset = tf.data.Dataset.from_tensor_slices((x, y))
        dataset = tf.data.Dataset.zip((tf.data.Dataset.range(len(x)), dataset))
        dataset = dataset.cache()
        if repeat_first:
            dataset = dataset.repeat(epochs).shuffle(5 * size, seed=seed)
        else:
            dataset = dataset.shuffle(5 * size, seed=seed).repeat(epochs)
            # TensorFlow 1.15 fuses shuffle and repeat, which gives another order.
            options = tf.data.Options()
            options.experimental_optimization.shuffle_and_repeat_fusion = False
            dataset = dataset.with_options(options)
        dataset = dataset.map(parse, num_parallel_calls=2)
        dataset = dataset.batch(size, drop_remainder=True).prefetch(1)
        indices, features, labels = dataset.make_one_shot_iterator().get_next()
        # --- step
        weights = tf.Variable(np.zeros([x.shape[1], 1], x.dtype))
        error = tf.matmul(features, weights)[:, 0] - labels
        loss = tf.reduce_mean(tf.square(error))
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        steps = _until_end(sess, [indices, loss, step])
        return {
            "order": np.stack([i for i, _, _ in steps]),
            "losses": np.stack([value for _, value, _ in steps]),
            "weights": sess.run(weights)[:, 0],
        }
