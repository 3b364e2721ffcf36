"""`tf.FIFOQueue`, `tf.train.batch`, `QueueRunner`, `Coordinator` → `tf.data`."""

import math
import os
import tempfile
import threading

import tensorflow.compat.v1 as tf

__all__ = [
    "fifo_queue",
    "random_queue",
    "squares",
    "produce_and_consume",
    "read_lines",
    "csv_batches",
    "padded_batches",
    "shuffled_slices",
    "shuffle_batches",
    "join_files",
]


def _drain(sess, fetches, local=True):
    """Runs `fetches` until the queues end, while threads of queue runners fill them."""
    sess.run(tf.global_variables_initializer())
    if local:
        sess.run(tf.local_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    results = []
    try:
        while not coord.should_stop():
            results.append(sess.run(fetches))
    except tf.errors.OutOfRangeError:
        pass  # the epochs are over, or a thread has failed: join raises
    finally:
        coord.request_stop()
        coord.join(threads)
    return results


def _write(directory, files):
    paths = []
    for name, text in files.items():
        paths.append(os.path.join(directory, name))
        if text is not None:
            with open(paths[-1], "w") as file:
                file.write(text)
    return paths


def fifo_queue(values, size, smaller=False):
    """Fills a queue, closes it, and takes batches out of it until it is empty.

    Args:
        values: [n, ...] array.
        size: elements per batch.
        smaller: whether a last batch may be smaller; otherwise the queue keeps the
            rest.

    Returns:
        (list of batches, number of remaining elements).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        # A queue that is too small for all elements would block the run forever.
        queue = tf.FIFOQueue(len(values), values.dtype, values.shape[1:])
        fill = queue.enqueue_many([tf.constant(values)])
        take = queue.dequeue_up_to if smaller else queue.dequeue_many
        batch, left_over = take(size), queue.size()
        # --- run
        sess.run(fill)
        sess.run(queue.close())
        batches = []
        while True:
            try:
                batches.append(sess.run(batch))
            except tf.errors.OutOfRangeError:
                return batches, int(sess.run(left_over))


def random_queue(values, count, seed):
    """Fills a `RandomShuffleQueue`, and takes elements out of it at random.

    Args:
        values: [n] array.
        count: number of elements to take.
        seed: seed of the graph and of the queue.

    Returns:
        [count] array.

    Raises:
        tf.errors.OutOfRangeError: the queue has fewer elements.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(seed)
        queue = tf.RandomShuffleQueue(len(values), 0, values.dtype, [[]], seed=seed)
        fill = queue.enqueue_many([tf.constant(values)])
        drawn = queue.dequeue_many(count)
        # --- run
        sess.run(fill)
        sess.run(queue.close())
        return sess.run(drawn)


def squares(limit, capacity):
    """Squares the numbers below a limit, prefetched by a thread.

    Args:
        limit: number of squares.
        capacity: largest number of squares that are computed ahead.

    Returns:
        List of `limit` int64 numbers.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        counter = tf.Variable(0, trainable=False, dtype=tf.int64)
        number = counter.count_up_to(limit)  # OutOfRangeError closes the queue
        queue = tf.FIFOQueue(capacity, [tf.int64], [[]])
        # Two enqueue ops would run in two threads, in no fixed order.
        runner = tf.train.QueueRunner(queue, [queue.enqueue(tf.square(number))])
        tf.train.add_queue_runner(runner)
        # --- run
        return _drain(sess, queue.dequeue())


def produce_and_consume(numbers, capacity, limit):
    """Computes square roots in a producer thread, and doubles them in a consumer.

    Args:
        numbers: list of floats.
        capacity: largest number of roots that wait in the queue.
        limit: largest number of results.

    Returns:
        List of float64 numbers.

    Raises:
        ValueError: a number is negative; in TensorFlow 2 InvalidArgumentError.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        queue = tf.FIFOQueue(capacity, [tf.float64], [[]])
        root = tf.placeholder(tf.float64, [])
        enqueue, close = queue.enqueue(root), queue.close()
        doubled = queue.dequeue() * 2
        # --- produce
        coord = tf.train.Coordinator()

        def produce():
            try:
                with coord.stop_on_exception():
                    for number in numbers:
                        if coord.should_stop():
                            break
                        sess.run(enqueue, {root: math.sqrt(number)})
            finally:
                # After the coordinator got the exception, because a stop hides later
                # ones.
                sess.run(close)

        # --- consume
        thread = threading.Thread(target=produce)
        thread.start()
        results = []
        try:
            while True:
                result = sess.run(doubled)  # continue, or the producer stays blocked
                if len(results) < limit:
                    results.append(result)
                else:
                    coord.request_stop()
        except tf.errors.OutOfRangeError:
            coord.request_stop()
        coord.join([thread])  # raises what the producer raised
        return results


def read_lines(files, epochs, skip=0, initialized=True):
    """Reads text files line by line, for a number of epochs.

    Args:
        files: {name: text} of the files, in order; a text of None is a missing file.
        epochs: number of passes over the files.
        skip: number of lines to skip at the beginning of each file.
        initialized: whether to initialize local variables, such as the count of epochs.

    Returns:
        List of (key, line) in bytes, a key being b"name:number of the line".

    Raises:
        tf.errors.NotFoundError: a file is missing.
        ValueError: there are no files; TensorFlow 2 returns no data.
        tf.errors.FailedPreconditionError: the local variables are not initialized;
            TensorFlow 2 raises nothing.
    """
    with tempfile.TemporaryDirectory() as directory:
        paths = _write(directory, files)
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            names = tf.train.string_input_producer(
                paths, num_epochs=epochs, shuffle=False
            )
            reader = tf.TextLineReader(skip_header_lines=skip)
            key, line = reader.read(names)
            # --- run
            pairs = _drain(sess, [key, line], initialized)
        return [(os.path.basename(key), line) for key, line in pairs]


def csv_batches(text, size, epochs, smaller=False):
    """Decodes a CSV file into batches.

    Args:
        text: the file, a line per example: a float (else -1), an int and a word (else
            "none").
        size: examples per batch.
        epochs: number of passes over the file; a batch may have rows of two passes.
        smaller: whether a last batch may be smaller.

    Returns:
        List of (floats, ints, words), each [size].

    Raises:
        tf.errors.InvalidArgumentError: a field is missing or of another kind.
    """
    with tempfile.TemporaryDirectory() as directory:
        paths = _write(directory, {"data.csv": text})
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            names = tf.train.string_input_producer(
                paths, num_epochs=epochs, shuffle=False
            )
            _, line = tf.TextLineReader().read(names)
            # An empty default: the field is required.
            fields = tf.decode_csv(line, [[-1.0], tf.constant([], tf.int64), ["none"]])
            batch = tf.train.batch(fields, size, allow_smaller_final_batch=smaller)
            # --- run
            return _drain(sess, batch)


def padded_batches(rows, size):
    """Reads records of different lengths, and pads each batch to its longest record.

    Args:
        rows: list of lists of ints: the records of the TFRecord file.
        size: rows per batch; a last batch that is smaller is dropped.

    Returns:
        List of [size, longest] int64 arrays.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.tfrecord")
        # --- write
        with tf.python_io.TFRecordWriter(path) as writer:
            for row in rows:
                values = tf.train.Feature(int64_list=tf.train.Int64List(value=row))
                features = tf.train.Features(feature={"values": values})
                writer.write(tf.train.Example(features=features).SerializeToString())
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            names = tf.train.string_input_producer([path], num_epochs=1)
            _, serialized = tf.TFRecordReader().read(names)
            row = tf.parse_single_example(
                serialized, {"values": tf.VarLenFeature(tf.int64)}
            )
            values = tf.sparse_tensor_to_dense(row["values"])
            batch = tf.train.batch([values], size, dynamic_pad=True)
            # --- run
            return _drain(sess, batch)


def shuffled_slices(x, y, size, epochs, seed):
    """Batches the rows of two arrays, which are shuffled again in each epoch.

    Args:
        x: [n, ...] array.
        y: [n, ...] array.
        size: rows per batch; a last batch that is smaller is dropped.
        epochs: number of passes over the rows.
        seed: seed of the graph and of the shuffling; the order is that of TensorFlow 1.

    Returns:
        List of (rows of x, rows of y).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(seed)
        row = tf.train.slice_input_producer(
            [tf.constant(x), tf.constant(y)], num_epochs=epochs, shuffle=True, seed=seed
        )
        batch = tf.train.batch(row, size)
        # --- run
        return _drain(sess, batch)


def shuffle_batches(x, size, min_after_dequeue, seed):
    """Batches elements that are shuffled in a buffer.

    Args:
        x: [n] array.
        size: elements per batch; a last batch that is smaller is dropped.
        min_after_dequeue: least number of elements in the buffer, until the data end.
        seed: seed of the queue; it does not fix the order, since threads fill the
            buffer.

    Returns:
        (list of the sizes of batches, all their elements sorted, whether the order
        differs from that of `x`).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        element = tf.train.slice_input_producer(
            [tf.constant(x)], num_epochs=1, shuffle=False
        )
        capacity = min_after_dequeue + 3 * size
        batch = tf.train.shuffle_batch(
            element, size, capacity, min_after_dequeue, num_threads=2, seed=seed
        )
        # --- run
        batches = _drain(sess, batch)
    elements = [element for batch in batches for element in batch]
    return [len(batch) for batch in batches], sorted(elements), elements != list(x)


def join_files(files, readers):
    """Reads several files in parallel, and mixes their lines.

    Args:
        files: {name: text} of the files.
        readers: number of files to read at a time.

    Returns:
        The lines, sorted: with several readers the order differs in every run.
    """
    with tempfile.TemporaryDirectory() as directory:
        paths = _write(directory, files)
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            names = tf.train.string_input_producer(paths, num_epochs=1)
            lines = [[tf.TextLineReader().read(names)[1]] for _ in range(readers)]
            batch = tf.train.batch_join(lines, 2, allow_smaller_final_batch=True)
            # --- run
            return sorted(line for batch in _drain(sess, batch) for line in batch)
