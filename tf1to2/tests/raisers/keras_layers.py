"""Layers and models of Keras 3, given what Keras 1, tf.keras 1.15 or nobody takes."""

import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers import logged, run
from tf1to2.tests.raisers.saved import keras

layers = tf.keras.layers


def inputs(*shapes):
    """Inputs of these shapes, without their rows."""
    return [tf.keras.Input(list(shape)) for shape in shapes]


def layer(call=lambda self, x: x, **methods):
    """A new layer of a class with these methods."""
    return type("Own", (layers.Layer,), {"call": call, **methods})()


def forgetful(base):
    """An object of a class whose `__init__` does not call that of `base`."""
    methods = {"__init__": lambda self: setattr(self, "size", 1), "call": abs}
    return type("Own", (base,), methods)()


class Given(layers.Layer):
    """Adds a weight by position, as 1.15 took it."""

    def __init__(self, *positional, **named):
        super().__init__()
        self.given = positional, named

    def build(self, input_shape):
        positional, named = self.given
        self.add_weight(*positional, **named)

    def call(self, x):
        return x


class Picks(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(2)

    def call(self, rows):
        return self.dense(rows["a"])


class TwoShapes(layers.Layer):
    def build(self, input_shape, other=None):
        self.scale = other

    def call(self, x):
        return x


class TwoOutputShapes(layers.Layer):
    def call(self, x):
        return x

    def compute_output_shape(self, input_shape, mask=None):
        return input_shape


def named(name):
    """A function that reads a property of a `Sequential` that knows no shape."""
    return lambda: getattr(tf.keras.Sequential([layers.Dense(3)]), name)


def sequential(*made):
    return tf.keras.Sequential([tf.keras.Input([2]), *made])


def assign_property():
    layer().losses = []


def assign_layers(model):
    """A function that gives a model the attribute `layers`."""

    def assign():
        model().layers = []

    return assign


def add_later():
    dense = layers.Dense(3)
    dense.build([None, 2])
    dense.extra = layers.Dense(2)


def predict_fewer():
    lstm = layers.LSTM(2, stateful=True)
    model = tf.keras.Sequential([tf.keras.Input(batch_shape=[4, 5, 3]), lstm])
    model.predict(np.ones([2, 5, 3]), verbose=0)


def unroll_unknown():
    rnn = layers.SimpleRNN(2, unroll=True)
    tf.function(rnn).get_concrete_function(tf.TensorSpec([None, None, 3]))


def cell(**attributes):
    return type("Cell", (layers.Layer,), {"call": abs, **attributes})()


def clone(model, *values):
    """A function that clones a model onto tensors that are none of Keras."""
    return lambda: tf.keras.models.clone_model(model(), input_tensors=list(values))


def functional():
    """A model that is no `Sequential`."""
    (rows,) = inputs([2])
    return tf.keras.Model(rows, layers.Dense(1)(rows))


def none_for_one():
    a, b = inputs([3], [3])
    tf.keras.Model([a, b], layers.add([a, b]))([tf.ones([1, 3]), None])


def other_names():
    a, b = tf.keras.Input([3], name="left"), tf.keras.Input([3], name="right")
    tf.keras.Model({"user": a, "item": b}, layers.add([a, b]))


BUILT = {"input_shape": [None, 3]}
ROW, ROWS = tf.ones([1, 3]), tf.ones([2, 4, 3])
TWO_SIZES = [tf.keras.Input(batch_shape=[n, 3]) for n in (2, 4)]
ops = tf.keras.ops
Optimizer = tf.keras.optimizers.Optimizer
ERRORS = {
    "Argument … is deprecated. Use": logged(lambda: layers.LeakyReLU(alpha=0.3)),
    "Argument `input_length`": logged(lambda: layers.Embedding(9, 2, input_length=4)),
    "You must pass a `shape`": lambda: tf.keras.Input(),
    "both `shape` and": lambda: tf.keras.Input([3], batch_shape=[8, 3]),
    "both `batch_size` and": lambda: tf.keras.Input(batch_size=8, batch_shape=[8, 3]),
    "argument 'batch_input_shape'": lambda: tf.keras.Input(batch_input_shape=[8, 3]),
    "must be a tuple of": lambda: layers.Conv1D(8, (3, 3)),
    "The `data_format` argument": lambda: layers.Conv2D(8, 3, data_format="NCHW"),
    "The `padding` argument": lambda: layers.Conv2D(8, 3, padding="full"),
    "Inputs to a layer should": lambda: layers.Conv2D(3, 3)(None),
    "Expected `trainable` to": lambda: layers.Dense(3, trainable=1),
    "`add_loss()` can only": lambda: layers.Dense(1).add_loss(lambda: 1.0),
    "In layer '…', you forgot": lambda: forgetful(layers.Layer)(ROW),
    "You forgot to call": lambda: forgetful(tf.keras.metrics.Metric).add_weight(),
    "In optimizer '…', you forgot": lambda: forgetful(Optimizer).apply_gradients(
        [(tf.ones([1]), tf.keras.Variable([1.0]))]
    ),
    "For a `build()` method": lambda: TwoShapes()(ROW),
    "For a `compute_output_shape()` method": lambda: TwoOutputShapes()(
        tf.keras.Input([3])
    ),
    "Method `compute_output_shape()` of": lambda: layer(
        compute_output_shape=lambda self, input_shape: input_shape[-1]
    )(tf.keras.Input([3])),
    "does not have a `call` method": lambda: type("Own", (layers.Layer,), {})()(ROW),
    "does not have a `call()` method": lambda: type("Own", (tf.keras.Model,), {})()(
        ROW
    ),
    "outputs must be tensors": lambda: layer(lambda self, x: (x, 2))(
        tf.keras.Input([3])
    ),
    "Inputs have incompatible": lambda: layers.add(inputs([4], [5])),
    "Cannot broadcast shape": lambda: ops.add(*inputs([4], [5])),
    "Incompatible input shapes": lambda: layers.dot(inputs([4], [5]), axes=1),
    "argument `rate`": lambda: layers.Dropout(80),
    "argument `noise_shape`": lambda: layers.Dropout(0.5, noise_shape=tf.shape(ROWS)),
    "argument `stddev`": lambda: layers.GaussianNoise(3.0),
    "`padding` should have": lambda: layers.ZeroPadding2D((1, 1, 2, 2)),
    "`cropping` should have": lambda: layers.Cropping2D((1, 1, 2, 2)),
    "Invalid permutation": lambda: layers.Permute((0, 2, 1)),
    "When using `stateful=True`": lambda: layers.GRU(2, stateful=True)(
        tf.keras.Input([5, 3])
    ),
    "If an RNN is stateful": predict_fewer,
    "Cannot unroll": unroll_unknown,
    "state_size must be": lambda: layers.RNN(cell(state_size=tf.TensorShape([2]))),
    "The RNN cell should": lambda: layers.RNN(cell()),
    "Argument `cell` should": lambda: layers.RNN(object()),
    "All cells must have a `state": lambda: layers.StackedRNNCells([layers.Dense(2)]),
    "All cells must have a `call": lambda: layers.StackedRNNCells([object()]),
    "Invalid merge mode": lambda: layers.Bidirectional(
        layers.LSTM(4), merge_mode="average"
    ),
    "ConvLSTM layers only": lambda: layers.ConvLSTM2D(2, 3)(
        tf.keras.Input([None, None, None, 1])
    ),
    "`Model.layers` attribute": assign_layers(functional),
    "`Sequential.layers` attribute": assign_layers(keras),
    "has no setter": assign_property,
    "should have unique names": lambda: sequential(
        layers.Dense(2, name="fc"), layers.Dense(2, name="fc")
    ),
    "add a different Input": lambda: sequential(tf.keras.Input([2])),
    "cannot build it with": lambda: keras().build([None, 4]),
    "it has no layers": lambda: tf.keras.Sequential().build([None, 4]),
    "a single required": lambda: sequential(layer(lambda self, a, b: a + b)),
    "You cannot add new": add_later,
    "Could not automatically infer": lambda: layer(lambda self, x: np.sqrt(x))(
        tf.keras.Input([3])
    ),
    "Inner dimensions": lambda: ops.matmul(*inputs([4, 5], [4, 5])),
    "Every value in `xs`": lambda: ops.concatenate(inputs([4, 5], [4, 6]), axis=1),
    "Cannot squeeze axis": lambda: ops.squeeze(tf.keras.Input([4]), axis=1),
    "out-of-bounds index": lambda: tf.keras.Input([4])[:, 7],
    "slice has to many": lambda: tf.keras.Input([4])[:, 0, 0],
    "is out of bounds for an": lambda: ops.sum(tf.keras.Input([4]), axis=4),
    **{
        f"Unrecognized keyword arguments passed to …: {{…'{word}': …}}": run(
            f"import keras; x = keras.Input([2]); keras.Model({word}=x)"
        )
        for word in ("input", "output")
    },
    "unhashable type": lambda: set(sequential(layers.Dense(3)).weights),
    **{
        f"'{kind}' object has no attribute '{name}'": (
            lambda model=model, name=name: getattr(model(), name)
        )
        for kind, model in (("Functional", functional), ("Sequential", keras))
        for name in ("targets", "sample_weights", "stateful", "session", "updates")
    },
    # Further wordings of sections that were there.
    "In a nested call()": lambda: layer(lambda self, x, pair: x)(ROW, pair=[ROW, 1.0]),
    "A `Concatenate` layer should": lambda: layers.Concatenate()(tf.keras.Input([4])),
    "A `Dot` layer should": lambda: layers.Dot(axes=1)(tf.keras.Input([4])),
    "A `Subtract` layer should": lambda: layers.subtract(inputs([4], [4], [4])),
    "namely [query, value]": lambda: layers.Attention()(*inputs([4, 3], [4, 3])),
    "different batch sizes": lambda: layers.Add()(TWO_SIZES),
    "at most one unknown": lambda: layers.Reshape((-1, -1))(tf.keras.Input([8])),
    "argument `units`": lambda: layers.LSTMCell(0),
    "argument `key_dim`": lambda: layers.MultiHeadAttention(4, key_dim=64 / 4),
    "`input_dim` must be": lambda: layers.Embedding(1000.0, 16),
    "`output_dim` must be": lambda: layers.Embedding(1000, 32 / 2),
    "integer value for `n`": lambda: layers.RepeatVector(6 / 2),
    "integer value for `size`": lambda: layers.UpSampling1D(2.0),
    "`input_tensors` must be": lambda: tf.keras.models.clone_model(
        keras(), input_tensors=tf.ones([1, 2])
    ),
    "All entries in `input_tensors`": clone(functional, tf.ones([1, 2])),
    "initialize `TimeDistributed`": lambda: layers.TimeDistributed(tf.nn.relu),
    "initialize `Bidirectional`": lambda: layers.Bidirectional(tf.nn.relu),
    "supplied to Wrapper": lambda: layers.Wrapper(tf.nn.relu),
    "before accessing `kernel`": lambda: layers.Dense(4).kernel,
    "before accessing `embeddings`": lambda: layers.Embedding(9, 4).embeddings,
    "thus has no defined input.": lambda: layers.Dense(4).input,
    "at most 3 positional": lambda: Given("w", [3], tf.float32, "ones")(ROW),
    "`shape` was passed both": lambda: Given([3], shape=[3], name="w")(ROW),
    "Layer must be stateful": lambda: layers.Bidirectional(
        layers.LSTM(4)
    ).reset_states(),
    "retrieve layer at index": lambda: keras().get_layer(index=7),
    "either a layer name": lambda: keras().get_layer(),
    "no defined output shape": named("output_shape"),
    "no defined inputs": named("inputs"),
    "no defined outputs": named("outputs"),
    "is not optional": none_for_one,
    "`inputs` as a dict": logged(other_names),
    **{
        f"argument '{name}'": lambda name=name: layers.Dense(1).add_weight(
            shape=[1], name="w", **{name: None}
        )
        for name in ("partitioner", "use_resource", "collections", "synchronization")
    },
    "argument 'input_shape'": lambda: layers.SpatialDropout1D(0.2, input_shape=(4, 3)),
    "Dropout1D.__init__() got an unexpected keyword argument 'batch_input_shape'": (
        lambda: layers.SpatialDropout1D(0.2, batch_input_shape=(2, 4, 3))
    ),
    "Unrecognized keyword arguments passed to …: {…'max_tokens'": lambda: (
        layers.CategoryEncoding(max_tokens=5)
    ),
    "argument 'bins'": lambda: layers.Discretization(bins=[0.0, 1.0]),
    "argument 'reset_state'": lambda: layers.Normalization().adapt(
        np.ones([4, 2]), reset_state=False
    ),
    "num_tokens must be": lambda: layers.CategoryEncoding(),
    "Unrecognized keyword argument(s)": lambda: layers.StringLookup(mask_value="x"),
    "A Keras Variable cannot": lambda: bool(tf.keras.Variable(1.0)),
    "'KerasTensor' has no len()": lambda: len(tf.keras.Input([3])),
    "of KerasTensor is immutable": lambda: setattr(tf.keras.Input([3]), "shape", (4,)),
    "had a build config": logged(lambda: Picks().build_from_config(BUILT)),
    "`add_metric()` method": lambda: layers.Dense(1).add_metric(1.0, name="a"),
}
