"""`tf.keras.layers`: `LSTM`, `GRU`, `BatchNormalization`, … → Keras 3, old defaults."""

import re

import numpy as np
import tensorflow as tf

from v2_eager.keras_layers.own import (
    Attention,
    Clustering,
    Conditioned,
    Likeness,
    Residual,
)

layers = tf.keras.layers

__all__ = [
    "make_lstm",
    "make_gru",
    "make_conv_lstm",
    "make_cells",
    "make_bidirectional",
    "make_tagger",
    "read_in_pieces",
    "translate",
    "list_weights",
    "normalize",
    "activate",
    "pool",
    "merge",
    "penalty",
    "compare_twins",
    "center",
    "attend",
    "make_residual",
    "compare_padded",
    "read_documents",
    "read_with_constants",
    "route",
    "initial_scale",
    "make_clusters",
    "attend_by_layers",
    "read_in_other_batches",
]


def old_names(layer):
    """Maps the names in TensorFlow 1 to the weights of a layer of this page.

    Keras 3 adds the name of the model and of a wrapped object: the cell of an LSTM, the
    layer in a TimeDistributed. TensorFlow 1 added none, and numbered equal names.
    """
    added = re.compile(r"/(\w+_cells?(_\d+)?|lower|upper|dense)(?=/)|^tagger/")
    names = {}
    for weight in layer.weights:
        name = added.sub("", weight.path)
        names[f"{name}_1" if name in names else name] = weight
    return names


@tf.keras.utils.register_keras_serializable("tensorflow_1")
def hard_sigmoid(x):
    """Computes v1's hard sigmoid: 0.2 * x + 0.5 clipped; Keras 3 has x / 6 + 0.5."""
    return tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


# `implementation=1`, the old default, multiplies gate by gate: it rounds as before.
OLD_LSTM = {"recurrent_activation": hard_sigmoid, "implementation": 1}
OLD_GRU = {**OLD_LSTM, "reset_after": False}


def make_lstm(units, return_sequences=False, name="lstm"):
    """Makes an LSTM with the defaults of TensorFlow 1."""
    return layers.LSTM(units, **OLD_LSTM, return_sequences=return_sequences, name=name)


def make_gru(units, return_sequences=False, name="gru"):
    """Makes a GRU with the defaults of TensorFlow 1."""
    return layers.GRU(units, **OLD_GRU, return_sequences=return_sequences, name=name)


def make_conv_lstm(filters, size, padding="valid", name="conv_lstm2d"):
    """Makes a convolutional LSTM with the defaults of TensorFlow 1."""
    return layers.ConvLSTM2D(
        filters, size, padding=padding, recurrent_activation=hard_sigmoid, name=name
    )


def make_cells(units, name="rnn"):
    """Makes an `RNN` layer of an LSTM cell with a GRU cell on top."""
    lower, upper = units
    return layers.RNN(
        [
            layers.LSTMCell(lower, **OLD_LSTM, name="lower"),
            layers.GRUCell(upper, **OLD_GRU, name="upper"),
        ],
        name=name,
    )


def make_bidirectional(units, merge_mode="concat", name="bidirectional"):
    """Makes a bidirectional layer of two LSTMs, one for each direction."""
    lstm = make_lstm(units, return_sequences=True)
    return layers.Bidirectional(lstm, merge_mode, name=name)


def make_tagger(words, tags, units, length, name="tagger"):
    """Makes a model that tags each word of padded sentences."""
    return tf.keras.Sequential(
        [
            layers.Input([length], dtype="int32"),
            layers.Embedding(words, units, mask_zero=True, name="embedding"),
            make_lstm(units, return_sequences=True),
            layers.TimeDistributed(
                layers.Dense(tags, activation="softmax", name="dense"), name="tags"
            ),
        ],
        name=name,
    )


def read_in_pieces(pieces, weights, reset=()):
    """Reads long sequences piece by piece with a stateful LSTM."""
    # --- build
    units = weights[1].shape[0]
    shape = pieces[0].shape
    lstm = layers.LSTM(units, **OLD_LSTM, stateful=True)
    model = tf.keras.Sequential([layers.Input(batch_shape=shape), lstm])
    model.set_weights(weights)
    # --- read
    outputs = []
    for number, piece in enumerate(pieces):
        if number in reset:
            lstm.reset_state()
        outputs.append(model.predict_on_batch(piece))
    return outputs


def translate(source, target, encoder, decoder):
    """Runs an encoder LSTM, and a decoder LSTM that starts from its final state."""
    # --- build
    units = encoder[1].shape[0]
    read = layers.LSTM(units, **OLD_LSTM, return_state=True)
    write = layers.LSTM(units, **OLD_LSTM, return_sequences=True, return_state=True)
    sources = layers.Input([None, source.shape[-1]])
    targets = layers.Input([None, target.shape[-1]])
    _, h, c = read(sources)
    outputs = write(targets, initial_state=[h, c])
    model = tf.keras.Model([sources, targets], outputs)
    read.set_weights(encoder)
    write.set_weights(decoder)
    # --- run
    return tuple(model.predict_on_batch([source, target]))


def list_weights(kind, features, units):
    """Lists names and shapes of a layer's weights, in the order of `get_weights`."""
    # --- layer
    layer = {
        "Dense": lambda: layers.Dense(units),
        "LSTM": lambda: layers.LSTM(units),
        "GRU": lambda: make_gru(units),
        "Bidirectional": lambda: layers.Bidirectional(make_gru(units)),
        "BatchNormalization": lambda: layers.BatchNormalization(),
        "SeparableConv1D": lambda: layers.SeparableConv1D(units, 2),
        "PReLU": lambda: layers.PReLU(shared_axes=[1]),
    }[kind]()
    layer(layers.Input([5, features]))
    # --- weights
    names = [w.name for w in layer.weights]
    shapes = [tuple(w.shape) for w in layer.weights]
    return names, shapes, layer.count_params()


def normalize(x, weights, trainable=True, training=None, phase=0):
    """Applies batch normalization, frozen or not, in training or in inference."""
    # --- build
    # Today a layer with trainable=False uses its moving statistics, in training too. In
    # TensorFlow 1 a frozen layer used the batch's statistics: here a layer with a
    # momentum of 1 and with weights that are not trained.
    norm = layers.BatchNormalization(momentum=0.9 if trainable else 1.0)
    norm.build(x.shape)
    for weight in norm.trainable_weights:
        weight.trainable = trainable
    norm.set_weights(weights)
    # --- run
    training = bool(phase) if training is None else training
    y = tf.function(norm)(x, training=training)
    return (y.numpy(), *norm.get_weights()[2:])


def activate(x, kind):
    """Applies one of the activations whose name or formula differs in Keras 3."""
    activations = tf.keras.activations
    kept = {"dtype": x.dtype}  # by default a layer casts to float32
    return {
        "leaky": layers.LeakyReLU(**kept),
        "less leaky": layers.LeakyReLU(negative_slope=0.1, **kept),
        "thresholded": lambda x: x * tf.cast(x > 0.7, x.dtype),
        "relu": lambda x: activations.relu(x, 0.1, max_value=1.5, threshold=0.2),
        "hard_sigmoid": hard_sigmoid,
        "selu": activations.selu,
        "elu": layers.ELU(alpha=0.5, **kept),
        "softmax": layers.Softmax(**kept),
    }[kind](x)


def pool(x, kind):
    """Pools images by average or maximum, over windows or over the whole image."""
    kept = {"dtype": x.dtype}  # by default a layer casts to float32
    return {
        "averages": layers.AveragePooling2D(2, **kept),
        "maxima": layers.MaxPool2D(**kept),
        "overlapping": layers.AveragePooling2D(3, strides=2, padding="same", **kept),
        "average": layers.GlobalAveragePooling2D(**kept),
        "maximum": layers.GlobalMaxPool2D(**kept),
    }[kind](x)


def merge(a, b):
    """Merges two tensors with each merging layer: `add`, `concatenate`, `dot`, ….

    Raises:
        ValueError: the tensors have different dtypes (TypeError in TensorFlow 1); the
            layers would cast.
    """
    b = tf.convert_to_tensor(b, a.dtype)
    kept = {"dtype": a.dtype}  # by default a layer casts to float32
    return {
        "add": layers.add([a, b], **kept),
        "subtract": layers.subtract([a, b], **kept),
        "multiply": layers.multiply([a, b], **kept),
        "average": layers.average([a, b], **kept),
        "maximum": layers.maximum([a, b], **kept),
        "minimum": layers.minimum([a, b], **kept),
        "concatenate": layers.concatenate([a, b], **kept),
        "dot": layers.dot([a, b], axes=2, **kept),
        "cosine": layers.dot([a, b], axes=2, normalize=True, **kept),
    }


def penalty(w, kind):
    """Computes the penalty that a Keras regularizer adds to the loss."""
    regularizers = tf.keras.regularizers
    return {
        "l1": regularizers.L1(),
        "l2": regularizers.L2(),
        "l1_l2": regularizers.L1L2(l1=0.01, l2=0.01),
        "given": regularizers.L1L2(l1=0.003, l2=0.02),
        "by name": regularizers.L1L2(l1=0.01, l2=0.01),
    }[kind](w)


def compare_twins(a, b, kernel, bias):
    """Siamese network: compares a shared layer's outputs for two inputs by distance."""
    # --- build
    ops = tf.keras.ops
    left, right = (layers.Input(a.shape[1:]) for _ in range(2))
    shared = layers.Dense(bias.size, activation="tanh")
    apart = ops.abs(shared(left) - shared(right))
    model = tf.keras.Model([left, right], ops.sum(apart, axis=1, keepdims=True))
    shared.set_weights([kernel, bias])

    # --- run
    @tf.function
    def run(a, b):
        with tf.GradientTape() as tape:
            distance = model([a, b])
        return distance, tape.gradient(distance, model.trainable_variables)

    distance, (for_kernel, for_bias) = run(a, b)
    return {
        "distance": distance.numpy(),
        "kernel": for_kernel.numpy(),
        "bias": for_bias.numpy(),
        "parameters": model.count_params(),
    }


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Center(layers.Layer):
    """Subtracts the mean of the batch, scales, and keeps a moving mean in training.

    The output is scale * (x - mean over the batch), [batch, size], of which
    rate * mean(output ** 2) is added to the losses. In training the weight `mean` moves
    by (1 - momentum) * (mean over the batch - mean). TensorFlow 1 ran that update in
    `fit` and not in `predict`; here `training` of the call decides.

    Args:
        momentum: float in [0, 1], how much of the moving mean is kept in a step.
        rate: float, the weight of the loss.
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def __init__(self, momentum, rate, **kwargs):
        super().__init__(**kwargs)
        self.momentum, self.rate = momentum, rate

    def build(self, input_shape):
        size = input_shape[-1]
        self.scale = self.add_weight(
            shape=[size],
            initializer="ones",
            regularizer=tf.keras.regularizers.L2(),
            name="scale",
        )
        self.mean = self.add_weight(
            shape=[size], initializer="zeros", trainable=False, name="mean"
        )

    def call(self, x, training=None):
        x = tf.cast(x, self.compute_dtype)  # Keras casts floats; whole numbers truncate
        # --- update
        batch_mean = tf.reduce_mean(x, axis=0)
        if training:
            self.mean.assign_add((1.0 - self.momentum) * (batch_mean - self.mean))
        # --- loss
        y = self.scale * (x - batch_mean)
        self.add_loss(self.rate * tf.reduce_mean(tf.square(y)))
        return y

    def get_config(self):
        own = {"momentum": self.momentum, "rate": self.rate}
        return {**super().get_config(), **own}


def center(batches, momentum=0.9, rate=0.1):
    """Centers batches by a custom layer that adds a loss and updates a moving mean."""
    # --- build
    layer = Center(momentum, rate)
    layer.build(batches[0].shape)

    @tf.function
    def step(batch):
        y = layer(batch, training=True)
        return y, tf.add_n(layer.losses)

    # --- run
    outputs, losses = zip(*[step(tf.constant(batch)) for batch in batches])
    return {
        "outputs": [y.numpy() for y in outputs],
        "losses": [loss.numpy() for loss in losses],
        "weights": layer.get_weights(),
    }


def attend(encoded, decoded, weights):
    """Additive attention: averages the encoder's steps for each step of the decoder."""
    # --- build
    attention = Attention()
    attention.build([encoded.shape, decoded.shape])
    attention.set_weights(weights)

    # --- run
    @tf.function
    def run(*inputs):
        with tf.GradientTape() as tape:
            contexts, shares = attention(inputs)
            total = tf.reduce_sum(tf.square(contexts))
        return contexts, shares, tape.gradient(total, attention.trainable_variables)

    contexts, shares, gradients = run(tf.constant(encoded), tf.constant(decoded))
    return {
        "contexts": contexts.numpy(),
        "shares": shares.numpy(),
        "gradients": [gradient.numpy() for gradient in gradients],
    }


def make_residual(units, name="residual"):
    """Makes a residual layer that creates its two inner dense layers in `build`.

    Returns a `Residual`; see the class.
    """
    return Residual(units, name=name)


def compare_padded(a, b, vectors):
    """Compares two padded sentences in a custom layer with two inputs and masks."""
    # --- build
    inputs = [layers.Input(words.shape[1:], dtype="int32") for words in (a, b)]
    embedding = layers.Embedding(*vectors.shape, mask_zero=True)
    likeness = Likeness()([embedding(words) for words in inputs])
    model = tf.keras.Model(inputs, likeness)
    embedding.set_weights([vectors])
    # --- run
    return model.predict_on_batch([a, b])


def read_documents(ids, vectors, of_words, of_sentences):
    """Encodes documents: an LSTM over words, then one over sentences, with masks."""
    # --- build
    words, sentences = (weights[1].shape[0] for weights in (of_words, of_sentences))
    embedding = layers.Embedding(*vectors.shape)
    inputs = layers.Input(ids.shape[1:], dtype="int32")
    # A TimeDistributed returns no mask; its `mask=` goes to the layer that it wraps.
    kept = inputs != 0
    x = layers.TimeDistributed(embedding)(inputs)
    x = layers.TimeDistributed(layers.LSTM(words, **OLD_LSTM))(x, mask=kept)
    read = layers.LSTM(sentences, **OLD_LSTM)
    model = tf.keras.Model(inputs, read(x, mask=tf.keras.ops.any(kept, axis=-1)))
    model.set_weights([vectors, *of_words, *of_sentences])
    # --- run
    return model.predict_on_batch(ids)


def read_with_constants(x, context, weights):
    """Runs an RNN with a custom cell that reads a constant context at each step."""
    # --- build
    size, units = weights[2].shape
    layer = layers.RNN(Conditioned(units, size), return_sequences=True)
    layer.build(x.shape)
    layer.set_weights(weights)

    # --- run
    @tf.function
    def run(x, context):
        zeros = tf.zeros([len(x), units], x.dtype)
        return layer(x, initial_state=[zeros, context])

    return run(tf.constant(x), tf.constant(context)).numpy()


def route(inputs, kernel, routings=3):
    """Routes capsules dynamically, with `K.batch_dot` in TensorFlow 1."""
    # --- predict
    hat = tf.matmul(inputs[:, tf.newaxis, :, tf.newaxis], kernel, transpose_b=True)
    hat = hat[:, :, :, 0]
    # --- route
    agreement = tf.zeros_like(hat[:, :, :, 0])
    for routing in range(routings):
        share = tf.nn.softmax(agreement, axis=1)
        outputs = squash(tf.matmul(share[:, :, tf.newaxis], hat)[:, :, 0])
        if routing < routings - 1:
            agreement += tf.matmul(outputs[:, :, tf.newaxis], hat, transpose_b=True)[
                :, :, 0
            ]
    return outputs


def squash(x):
    """Shortens vectors to a length below 1, and keeps their directions."""
    squared = tf.reduce_sum(tf.square(x), axis=-1, keepdims=True)
    return squared / (1 + squared) / tf.sqrt(squared + 1e-7) * x


def initial_scale(name, shape, seed=7):
    """Measures the spread of the values that an initializer draws by default."""
    # --- draw
    initializer = getattr(tf.keras.initializers, name)(seed=seed)
    draws = initializer(shape).numpy()
    # --- measure
    scales = draws.std(), np.median(abs(draws))
    return tuple(float(f"{scale:.2g}") for scale in scales)


def make_clusters(count, alpha=1.0, name="clustering"):
    """Makes a layer that assigns rows softly to trained cluster centers: DEC.

    Returns a `Clustering`; see the class.
    """
    return Clustering(count, alpha, name=name)


def attend_by_layers(query, value, kept):
    """Applies Keras' `Attention` (dot products) and `AdditiveAttention` (sums)."""
    mask = [None, kept]
    by_sums = layers.AdditiveAttention(use_scale=False, dtype=query.dtype)
    return {
        "products": layers.Attention(dtype=query.dtype)([query, value], mask=mask),
        "sums": by_sums([query, value], mask=mask),
    }


def read_in_other_batches(data, weights, pieces, rate):
    """Trains a stateful LSTM on batches, then runs it with a batch size of 1."""
    units = weights[1].shape[0]

    def reader(shape):
        lstm = layers.LSTM(units, **OLD_LSTM, stateful=True)
        return tf.keras.Sequential([layers.Input(batch_shape=shape), lstm])

    # --- train
    model = reader(data[0][0].shape)
    model.compile(tf.keras.optimizers.SGD(rate), "mse")
    model.set_weights(weights)
    losses = []
    for x, y in data:
        model.reset_metrics()  # otherwise the mean of all losses so far
        losses.append(model.train_on_batch(x, y))
    # --- read
    other = reader(pieces[0].shape)
    other.set_weights(model.get_weights())
    return np.float32(losses), [other.predict_on_batch(x) for x in pieces]
