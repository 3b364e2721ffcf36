"""Datasets, what generators yield, records, CSV and vocabularies."""

import os

import tensorflow as tf

from tf1to2.tests.raisers import in_graph, v1
from tf1to2.tests.raisers.saved import in_folder

Dataset = tf.data.Dataset
ROWS, PAIRS = Dataset.range(4), Dataset.from_tensors((1, 2))
FLOATS = tf.TensorSpec([], tf.float32)
TEXTS = Dataset.from_tensors("a,b")


def of_one(features):
    return features


def of_two(features, label):
    return features, label


def read(make):
    """A function that reads the dataset that `make` returns."""
    return lambda: list(make())


def yielded(element, types):
    """A function that reads a generator with one element."""
    return read(lambda: Dataset.from_generator(lambda: [element], types))


def another_graph():
    with tf.Graph().as_default():
        rows = v1.data.Dataset.range(2)
    with tf.Graph().as_default():
        v1.data.make_initializable_iterator(rows)


def iterate_over_a_variable():
    rows = Dataset.from_tensors(v1.get_variable("w", [2]))
    v1.data.make_one_shot_iterator(rows)


def restart_one_shot():
    return v1.data.make_one_shot_iterator(v1.data.Dataset.range(3)).initializer


def initialize(dataset, shape):
    """A function that lets an iterator of int64 start on a dataset."""

    def graph():
        iterator = v1.data.Iterator.from_structure(tf.int64, tf.TensorShape(shape))
        iterator.make_initializer(dataset())

    return in_graph(graph)


def columns(**options):
    """A function of a folder that reads a CSV file of two columns in it."""

    def csv(folder):
        path = os.path.join(folder, "rows.csv")
        tf.io.write_file(path, "age,name\n30,Ann\n")
        tf.data.experimental.make_csv_dataset(path, 1, num_epochs=1, **options)

    return in_folder(csv)


def decode(row, *defaults):
    return lambda: tf.io.decode_csv(row, [[default] for default in defaults])


def parse(feature, many=False):
    """A function that parses a record whose feature "a" is two integers."""
    record = tf.train.Example(
        features={"feature": {"a": {"int64_list": {"value": [1, 2]}}}}
    ).SerializeToString()
    if many:
        return lambda: tf.io.parse_example([record], {"a": feature})
    return lambda: tf.io.parse_single_example(record, {"a": feature})


def words(dtype=tf.int64):
    values = tf.constant([0, 1], dtype)
    return tf.lookup.KeyValueTensorInitializer(tf.constant(["cat", "dog"]), values)


def wrong_vocabulary(folder):
    path = os.path.join(folder, "words.txt")
    tf.io.write_file(path, "cat dog\n")
    lines = tf.lookup.TextFileInitializer(
        path, tf.string, 0, tf.int64, 1, delimiter=" "
    )
    tf.lookup.StaticHashTable(lines, -1)


def vocabulary_with_twins():
    pairs = tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "a"]), [1, 2])
    tf.lookup.StaticHashTable(pairs, -1)


ERRORS = {
    "EagerTensor of dtype int64": lambda: ROWS.batch(2.0),
    "Expected int64, but": in_graph(lambda: Dataset.range(4).batch(2.0)),
    "Batch size must": read(lambda: ROWS.batch(0)),
    "Window size must": read(lambda: ROWS.window(0)),
    "num_parallel_calls must": read(lambda: ROWS.map(abs, num_parallel_calls=0)),
    "Index must be between": read(lambda: ROWS.shard(2, 2)),
    "<lambda>() takes 1 positional": lambda: PAIRS.map(lambda x: x),
    "<lambda>() missing 1": lambda: ROWS.map(lambda features, label: label),
    "tf__…() takes 1 positional": lambda: PAIRS.map(of_one),
    "tf__…() missing 1": lambda: ROWS.map(of_two),
    "Invalid `predicate`": lambda: ROWS.filter(lambda n: n % 2),
    "`map_func` argument must": lambda: PAIRS.flat_map(lambda a, b: (a, b)),
    "Unsupported return value": lambda: ROWS.map(lambda n: object()),
    "`transformation_func` must": lambda: ROWS.apply(lambda rows: 5),
    "of 0 must be at least": read(lambda: ROWS.map(lambda n: None)),
    "If shallow structure": lambda: PAIRS.padded_batch(2, [None]),
    "Invalid input to `zip`": lambda: Dataset.zip([ROWS, ROWS]),
    "at least one dataset": Dataset.zip,
    "Incompatible dataset elements": lambda: ROWS.concatenate(Dataset.from_tensors("")),
    "Expected output types": initialize(lambda: Dataset.from_tensors("a"), []),
    "Expected output shapes": initialize(lambda: Dataset.range(2), [2]),
    "for the new state": lambda: ROWS.reduce(
        0.0, lambda total, n: tf.cast(n, tf.int32)
    ),
    "match the expected structure": yielded((1, 2, 3), (tf.int32, tf.int32)),
    "provide either the": lambda: Dataset.from_generator(lambda: [1]),
    "used together with": lambda: Dataset.from_generator(
        lambda: [1], tf.float32, output_signature=FLOATS
    ),
    "Unbatching a tensor": lambda: Dataset.from_tensor_slices(5),
    "Invalid `element`": lambda: Dataset.from_tensor_slices(()),
    "`unbatch()` is only": lambda: Dataset.from_tensors(([1, 2], [1])).unbatch(),
    "Cannot unbatch": lambda: ROWS.unbatch(),
    "has unknown rank": lambda: Dataset.from_generator(
        lambda: [[1]], tf.int32
    ).padded_batch(2),
    "The padded shape": lambda: Dataset.from_tensors([1, 2]).padded_batch(2, [None, 2]),
    "`filenames` argument": lambda: tf.data.TextLineDataset(5),
    "as_numpy_iterator()": in_graph(lambda: Dataset.range(3).as_numpy_iterator()),
    "only supports `len`": in_graph(lambda: len(Dataset.range(3))),
    "Dataset' object is not subscriptable": lambda: ROWS[0],
    "is not an iterator": lambda: next(ROWS),
    "no attribute 'get_next'": lambda: ROWS.get_next,
    "Dataset' object has no attribute 'shape'": lambda: ROWS.shape,
    "of the iterator is different": another_graph,
    "does not have an initializer": in_graph(restart_one_shot),
    "No files match `file_pattern`": lambda: tf.data.experimental.make_csv_dataset(
        "no_such*.csv", 2
    ),
    "`label_name` provided": columns(label_name="label"),
    "in `select_columns`": columns(select_columns=["label"]),
    "fields but have": decode("1,2,3", 0, 0),
    "is not a valid …": decode("1,x", 0, 0),
    "required but missing in record": lambda: tf.io.decode_csv(
        "1,", [[0], tf.constant([], tf.int32)]
    ),
    "Can't parse serialized": parse(tf.io.FixedLenFeature([3], tf.int64)),
    "values != expected": parse(tf.io.FixedLenFeature([3], tf.int64), many=True),
    "First dimension of shape": parse(tf.io.FixedLenFeature([None], tf.int64)),
    "All dimensions of shape": parse(tf.io.FixedLenFeature([2, None], tf.int64)),
    "requires allow_missing": parse(tf.io.FixedLenSequenceFeature([], tf.int64)),
    "Value for attr 'Tdense'": parse(tf.io.FixedLenFeature([2], tf.int32)),
    "attr 'sparse_types'": parse(tf.io.VarLenFeature(tf.int32)),
    "Dtype of argument": lambda: tf.lookup.StaticHashTable(words(), -1).lookup(
        tf.constant([1])
    ),
    "Invalid `value_dtype`": lambda: tf.lookup.StaticVocabularyTable(
        words(tf.int32), 1
    ),
    "`num_oov_buckets` must": lambda: tf.lookup.StaticVocabularyTable(words(), 0),
    "'default_value'": lambda: tf.lookup.StaticHashTable(words()),
    "different value for same key": vocabulary_with_twins,
    "is not a valid int64": in_folder(wrong_vocabulary),
    "Mutating": lambda: setattr(ROWS.options(), "deterministic", True),
    "Cannot set the property": lambda: setattr(tf.data.Options(), "autotune_all", 1),
    'Property "': lambda: setattr(tf.data.Options(), "deterministic", "no"),
    "capture a stateful node": in_graph(iterate_over_a_variable),
    "incorrect header check": read(
        lambda: tf.data.TFRecordDataset(__file__, compression_type="GZIP")
    ),
    "Input serialized must": lambda: tf.io.parse_single_example(
        ["a", "b"], {"a": tf.io.FixedLenFeature([], tf.int64)}
    ),
    "all be the same size": lambda: tf.io.decode_raw(["abc", "a"], tf.uint8),
    "'SymbolicTensor' object has no attribute 'decode'": lambda: TEXTS.map(
        lambda line: line.decode()
    ),
    "attribute 'split'": lambda: TEXTS.map(lambda line: line.split(",")),
    "EagerTensor' object has no attribute 'decode'": lambda: tf.constant("a").decode(),
    "Expected '…' to be true. Summarized data: b": lambda: Dataset.list_files(
        "no_such*.png"
    ),
    "sequence with mixed types": lambda: tf.constant([["a", 1]]),
    "argument must be str, bytes": lambda: TEXTS.map(
        lambda name: os.path.join("folder", name)
    ),
}
