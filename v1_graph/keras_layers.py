"""`tf.keras.layers`: `LSTM`, `GRU`, `BatchNormalization`, … → Keras 3, old defaults."""

import numpy as np
import tensorflow.compat.v1 as tf

K = tf.keras.backend
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


def make_lstm(units, return_sequences=False, name="lstm"):
    """Makes an LSTM with the defaults of TensorFlow 1.

    Args:
        units: size of the state.
        return_sequences: whether to return the outputs of all steps.
        name: name of the layer, the scope of `kernel`, `recurrent_kernel` and `bias`.

    Returns:
        Callable from a [batch, steps, features] float tensor to the last output,
        [batch, units], or to all outputs, [batch, steps, units].
    """
    return layers.LSTM(units, return_sequences=return_sequences, name=name)


def make_gru(units, return_sequences=False, name="gru"):
    """Makes a GRU with the defaults of TensorFlow 1.

    Args:
        units: size of the state.
        return_sequences: whether to return the outputs of all steps.
        name: name of the layer, the scope of `kernel`, `recurrent_kernel` and `bias`.

    Returns:
        Callable from a [batch, steps, features] float tensor to the last output,
        [batch, units], or to all outputs, [batch, steps, units].
    """
    return layers.GRU(units, return_sequences=return_sequences, name=name)


def make_conv_lstm(filters, size, padding="valid", name="conv_lstm2d"):
    """Makes a convolutional LSTM with the defaults of TensorFlow 1.

    Args:
        filters: number of channels of the state.
        size: (height, width) of the kernels.
        padding: "valid" or "same".
        name: name of the layer, the scope of `kernel`, `recurrent_kernel` and `bias`.

    Returns:
        Callable from a [batch, steps, height, width, channels] float tensor to the last
        output, [batch, new height, new width, filters].
    """
    return layers.ConvLSTM2D(filters, size, padding=padding, name=name)


def make_cells(units, name="rnn"):
    """Makes an `RNN` layer of an LSTM cell with a GRU cell on top.

    Args:
        units: (size of the LSTM's state, size of the GRU's state).
        name: name of the layer, the scope of `lower/kernel`, …, `upper/bias`.

    Returns:
        Callable from a [batch, steps, features] float tensor to the last output,
        [batch, units[1]].
    """
    lower, upper = units
    return layers.RNN(
        [layers.LSTMCell(lower, name="lower"), layers.GRUCell(upper, name="upper")],
        name=name,
    )


def make_bidirectional(units, merge_mode="concat", name="bidirectional"):
    """Makes a bidirectional layer of two LSTMs, one for each direction.

    Args:
        units: size of each state.
        merge_mode: "concat", "sum", "mul" or "ave".
        name: name of the layer, the scope of `forward_lstm/kernel`, …,
            `backward_lstm/bias`.

    Returns:
        Callable from a [batch, steps, features] float tensor to [batch, steps, 2 *
        units], or [batch, steps, units] if the two outputs are not concatenated.
    """
    lstm = layers.LSTM(units, return_sequences=True, name="lstm")
    return layers.Bidirectional(lstm, merge_mode, name=name)


def make_tagger(words, tags, units, length, name="tagger"):
    """Makes a model that tags each word of padded sentences.

    Args:
        words: number of words; 0 is padding.
        tags: number of tags.
        units: size of the word vectors and of the LSTM's state.
        length: number of words in a sentence.
        name: name of the model.

    Returns:
        Callable from an int32 tensor [batch, length] to the probabilities of the tags,
        [batch, length, tags].
    """
    return tf.keras.Sequential(
        [
            layers.Embedding(
                words, units, mask_zero=True, input_length=length, name="embedding"
            ),
            layers.LSTM(units, return_sequences=True, name="lstm"),
            layers.TimeDistributed(
                layers.Dense(tags, activation="softmax", name="dense"), name="tags"
            ),
        ],
        name=name,
    )


def read_in_pieces(pieces, weights, reset=()):
    """Reads long sequences piece by piece with a stateful LSTM.

    Args:
        pieces: list of [batch, steps, features] float arrays.
        weights: [kernel, recurrent kernel, bias] of the LSTM.
        reset: indices of the pieces before which the states are set to zero.

    Returns:
        List of the last outputs, [batch, units] each.
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        units = weights[1].shape[0]
        model = tf.keras.Sequential()
        shape = pieces[0].shape
        model.add(layers.LSTM(units, stateful=True, batch_input_shape=shape))
        model.set_weights(weights)
        # --- read
        outputs = []
        for number, piece in enumerate(pieces):
            if number in reset:
                model.reset_states()
            outputs.append(model.predict_on_batch(piece))
        return outputs


def translate(source, target, encoder, decoder):
    """Runs an encoder LSTM, and a decoder LSTM that starts from its final state.

    Args:
        source: [batch, steps, features] float array.
        target: [batch, other steps, features] float array.
        encoder: [kernel, recurrent kernel, bias] of the LSTM that reads `source`.
        decoder: [kernel, recurrent kernel, bias] of the LSTM that reads `target`, of
            the same size.

    Returns:
        (outputs [batch, other steps, units], final h, final c), of the decoder.
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        units = encoder[1].shape[0]
        read = layers.LSTM(units, return_state=True)
        write = layers.LSTM(units, return_sequences=True, return_state=True)
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
    """Lists names and shapes of a layer's weights, in the order of `get_weights`.

    Args:
        kind: "Dense", "LSTM", "GRU", "Bidirectional", "BatchNormalization",
            "SeparableConv1D" or "PReLU".
        features: size of the last dimension of the input, which has three dimensions.
        units: size of the layer; some layers ignore it.

    Returns:
        (list of names, list of shapes, number of parameters).
    """
    with tf.Graph().as_default():
        # --- layer
        layer = {
            "Dense": lambda: layers.Dense(units),
            "LSTM": lambda: layers.LSTM(units),
            "GRU": lambda: layers.GRU(units),
            "Bidirectional": lambda: layers.Bidirectional(layers.GRU(units)),
            "BatchNormalization": lambda: layers.BatchNormalization(),
            "SeparableConv1D": lambda: layers.SeparableConv1D(units, 2),
            "PReLU": lambda: layers.PReLU(shared_axes=[1]),
        }[kind]()
        layer(layers.Input([5, features]))
        # --- weights
        names = [w.name.split("/")[-1].split(":")[0] for w in layer.weights]
        shapes = [tuple(w.shape.as_list()) for w in layer.weights]
        return names, shapes, layer.count_params()


def normalize(x, weights, trainable=True, training=None, phase=0):
    """Applies batch normalization, frozen or not, in training or in inference.

    Args:
        x: [batch, …, features] float array.
        weights: [gamma, beta, moving mean, moving variance], each [features].
        trainable: False freezes the layer.
        training: argument of the call: True, False, or None for the learning phase.
        phase: the learning phase: 1 in `fit`, 0 in `predict`.

    Returns:
        (output, moving mean, moving variance).
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        inputs = layers.Input(x.shape[1:])
        norm = layers.BatchNormalization(momentum=0.9)
        norm.trainable = trainable
        outputs = norm(inputs, training=training)
        norm.set_weights(weights)
        # --- run
        run = K.function([inputs, K.learning_phase()], [outputs], norm.updates)
        (y,) = run([x, phase])
        return (y,) + tuple(norm.get_weights()[2:])


def activate(x, kind):
    """Applies one of the activations whose name or formula differs in Keras 3.

    Args:
        x: float tensor of any shape.
        kind: "leaky", "less leaky", "thresholded", "relu", "hard_sigmoid", "selu",
            "elu" or "softmax".

    Returns:
        Tensor like x.
    """
    activations = tf.keras.activations
    return {
        "leaky": layers.LeakyReLU(),
        "less leaky": layers.LeakyReLU(alpha=0.1),
        "thresholded": layers.ThresholdedReLU(theta=0.7),
        "relu": lambda x: activations.relu(x, 0.1, max_value=1.5, threshold=0.2),
        "hard_sigmoid": activations.hard_sigmoid,
        "selu": activations.selu,
        "elu": layers.ELU(alpha=0.5),
        "softmax": layers.Softmax(),
    }[kind](x)


def pool(x, kind):
    """Pools images by average or maximum, over windows or over the whole image.

    Args:
        x: [batch, height, width, channels] float tensor.
        kind: "averages" or "maxima" of windows of two, "overlapping" averages of three;
            "average" or "maximum" of an image.

    Returns:
        Tensor [batch, new height, new width, channels] or [batch, channels].
    """
    return {
        "averages": layers.AveragePooling2D(),
        "maxima": layers.MaxPool2D(),
        "overlapping": layers.AveragePooling2D(3, strides=2, padding="same"),
        "average": layers.GlobalAveragePooling2D(),
        "maximum": layers.GlobalMaxPool2D(),
    }[kind](x)


def merge(a, b):
    """Merges two tensors with each merging layer: `add`, `concatenate`, `dot`, ….

    Args:
        a: [batch, steps, features] float tensor.
        b: tensor or array like `a`.

    Returns:
        dict from names to tensors.
    """
    return {
        "add": layers.add([a, b]),
        "subtract": layers.subtract([a, b]),
        "multiply": layers.multiply([a, b]),
        "average": layers.average([a, b]),
        "maximum": layers.maximum([a, b]),
        "minimum": layers.minimum([a, b]),
        "concatenate": layers.concatenate([a, b]),
        "dot": layers.dot([a, b], axes=2),
        "cosine": layers.dot([a, b], axes=2, normalize=True),
    }


def penalty(w, kind):
    """Computes the penalty that a Keras regularizer adds to the loss.

    Args:
        w: float tensor.
        kind: "l1", "l2", "l1_l2", "given" or "by name".

    Returns:
        Scalar.
    """
    regularizers = tf.keras.regularizers
    return {
        "l1": regularizers.l1(),
        "l2": regularizers.l2(),
        "l1_l2": regularizers.l1_l2(),
        "given": regularizers.l1_l2(l1=0.003, l2=0.02),
        "by name": regularizers.get("l1_l2"),
    }[kind](w)


def compare_twins(a, b, kernel, bias):
    """Siamese network: compares a shared layer's outputs for two inputs by distance.

    Args:
        a: [batch, features] float array.
        b: tensor or array like `a`.
        kernel: [features, units] float array, of the shared layer.
        bias: [units] float array.

    Returns:
        dict with the `distance` [batch, 1], the gradients of the sum of the distances
        for `kernel` and `bias`, and how many `parameters` the model has.
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        left, right = (layers.Input(a.shape[1:]) for _ in range(2))
        shared = layers.Dense(bias.size, activation="tanh")
        difference = layers.Lambda(lambda pair: K.abs(pair[0] - pair[1]))
        apart = difference([shared(left), shared(right)])
        distance = layers.Lambda(lambda x: K.sum(x, axis=1, keepdims=True))(apart)
        model = tf.keras.Model([left, right], distance)
        shared.set_weights([kernel, bias])
        # --- run
        gradients = K.gradients(K.sum(model.output), model.trainable_weights)
        run = K.function(model.inputs, [model.output] + gradients)
        far, for_kernel, for_bias = run([a, b])
        return {
            "distance": far,
            "kernel": for_kernel,
            "bias": for_bias,
            "parameters": model.count_params(),
        }


class Center(layers.Layer):
    def __init__(self, momentum, rate, **kwargs):
        super(Center, self).__init__(**kwargs)
        self.momentum, self.rate = momentum, rate

    def build(self, input_shape):
        size = int(input_shape[-1])
        self.scale = self.add_weight(
            "scale", [size], initializer="ones", regularizer=tf.keras.regularizers.l2()
        )
        self.mean = self.add_weight(
            "mean", [size], initializer="zeros", trainable=False
        )
        super(Center, self).build(input_shape)

    def call(self, x):
        # --- update
        batch_mean = K.mean(x, axis=0)
        change = (1.0 - self.momentum) * (batch_mean - self.mean)
        self.add_update(tf.assign_add(self.mean, change))
        # --- loss
        y = self.scale * (x - batch_mean)
        self.add_loss(self.rate * K.mean(K.square(y)))
        return y


def center(batches, momentum=0.9, rate=0.1):
    """Centers batches by a custom layer that adds a loss and updates a moving mean.

    Args:
        batches: list of [batch, features] float arrays.
        momentum: share of the mean that an update keeps.
        rate: weight of the loss that the layer adds.

    Returns:
        dict with the `outputs` and the `losses` of all batches, and the final
        `weights`, in the order of `get_weights`.
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        inputs = layers.Input(batches[0].shape[1:])
        model = tf.keras.Model(inputs, Center(momentum, rate)(inputs))
        total = tf.add_n(model.losses)
        step = K.function([inputs], [model.output, total], model.updates)
        # --- run
        outputs, losses = zip(*[step([batch]) for batch in batches])
        return {
            "outputs": list(outputs),
            "losses": list(losses),
            "weights": model.get_weights(),
        }


class Attention(layers.Layer):
    def build(self, input_shape):
        features, units = [int(shape[-1]) for shape in input_shape]
        self.w = self.add_weight("w", [features, features], initializer="uniform")
        self.u = self.add_weight("u", [units, features], initializer="uniform")
        self.v = self.add_weight("v", [features, 1], initializer="uniform")
        super(Attention, self).build(input_shape)

    def call(self, inputs):
        encoded, decoded = inputs
        keys = K.dot(encoded, self.w)

        def share(step, states):
            query = K.expand_dims(K.dot(step, self.u), 1)
            scores = K.dot(K.tanh(keys + query), self.v)
            return K.softmax(K.squeeze(scores, -1)), states

        def read(shares, states):
            return K.sum(encoded * K.expand_dims(shares), axis=1), states

        # K.rnn requires a state, though no step needs the result of another.
        states = [K.zeros_like(decoded[:, 0])]
        _, shares, _ = K.rnn(share, decoded, states)
        _, contexts, _ = K.rnn(read, shares, states)
        return [contexts, shares]


def attend(encoded, decoded, weights):
    """Additive attention: averages the encoder's steps for each step of the decoder.

    Args:
        encoded: [batch, steps, features] float array.
        decoded: [batch, steps of the decoder, units] array of the dtype of `encoded`.
        weights: list of arrays: kernel for the encoder [features, features], for the
            decoder [units, features], and for the scores [features, 1].

    Returns:
        dict with the `contexts`, [batch, steps of the decoder, features], the `shares`,
        [batch, steps of the decoder, steps], which sum to 1, and the `gradients` of the
        sum of the contexts' squares with respect to the weights.
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        inputs = [layers.Input(array.shape[1:]) for array in (encoded, decoded)]
        attention = Attention()
        contexts, shares = attention(inputs)
        attention.set_weights(weights)
        # --- run
        total = K.sum(K.square(contexts))
        gradients = K.gradients(total, attention.trainable_weights)
        run = K.function(inputs, [contexts, shares] + gradients)
        found = run([encoded, decoded])
        return {"contexts": found[0], "shares": found[1], "gradients": found[2:]}


class Residual(layers.Layer):
    def __init__(self, units, **kwargs):
        super(Residual, self).__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.widen = layers.Dense(self.units, activation="relu", name="widen")
        self.narrow = layers.Dense(input_shape[-1].value, name="narrow")
        super(Residual, self).build(input_shape)

    def call(self, x):
        return x + self.narrow(self.widen(x))


def make_residual(units, name="residual"):
    """Makes a residual layer that creates its two inner dense layers in `build`.

    Args:
        units: size of the inner layer.
        name: name of the layer, the scope of `widen/kernel`, …, `narrow/bias`.

    Returns:
        Callable from a [batch, features] float tensor to a tensor of the same shape.
    """
    return Residual(units, name=name)


class Likeness(layers.Layer):
    def call(self, inputs, mask=None):
        means = []
        for words, kept in zip(inputs, mask):
            kept = K.expand_dims(K.cast(kept, K.dtype(words)))
            means.append(K.sum(words * kept, axis=1) / K.sum(kept, axis=1))
        return K.sum(means[0] * means[1], axis=-1, keepdims=True)

    def compute_mask(self, inputs, mask=None):
        return None


def compare_padded(a, b, vectors):
    """Compares two padded sentences in a custom layer with two inputs and masks.

    Args:
        a: [batch, length] int32 array, words; 0 is padding.
        b: [batch, other length] int32 array.
        vectors: [words, size] float array, a vector for each word.

    Returns:
        [batch, 1] products of the means of the vectors, without padding.
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        inputs = [layers.Input(words.shape[1:], dtype="int32") for words in (a, b)]
        embedding = layers.Embedding(*vectors.shape, mask_zero=True)
        likeness = Likeness()([embedding(words) for words in inputs])
        model = tf.keras.Model(inputs, likeness)
        embedding.set_weights([vectors])
        # --- run
        return model.predict_on_batch([a, b])


def read_documents(ids, vectors, of_words, of_sentences):
    """Encodes documents: an LSTM over words, then one over sentences, with masks.

    Args:
        ids: [batch, sentences, words] int32 array; 0 is padding, of words and of
            sentences.
        vectors: [words, size] float array, a vector for each word.
        of_words: [kernel, recurrent kernel, bias] of the LSTM that reads a sentence.
        of_sentences: [kernel, recurrent kernel, bias] of the LSTM that reads the
            sentences' vectors.

    Returns:
        [batch, units] last outputs.
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        words, sentences = (weights[1].shape[0] for weights in (of_words, of_sentences))
        embedding = layers.Embedding(*vectors.shape, mask_zero=True)
        inputs = layers.Input(ids.shape[1:], dtype="int32")
        x = layers.TimeDistributed(embedding)(inputs)
        x = layers.TimeDistributed(layers.LSTM(words))(x)
        model = tf.keras.Model(inputs, layers.LSTM(sentences)(x))
        model.set_weights([vectors] + of_words + of_sentences)
        # --- run
        return model.predict_on_batch(ids)


class Conditioned(layers.Layer):
    def __init__(self, units, size, **kwargs):
        super(Conditioned, self).__init__(**kwargs)
        self.units = self.state_size = units
        self.size = size

    def build(self, input_shape):
        # The shape of a step alone: `build` does not get the shape of the constants.
        self.kernel = self.add_weight("kernel", [input_shape[-1], self.units])
        self.recurrent = self.add_weight("recurrent", [self.units, self.units])
        self.context = self.add_weight("context", [self.size, self.units])
        super(Conditioned, self).build(input_shape)

    def call(self, inputs, states, constants):
        summed = K.dot(inputs, self.kernel) + K.dot(states[0], self.recurrent)
        h = K.tanh(summed + K.dot(constants[0], self.context))
        return h, [h]


def read_with_constants(x, context, weights):
    """Runs an RNN with a custom cell that reads a constant context at each step.

    Args:
        x: [batch, steps, features] float array.
        context: [batch, size] float array.
        weights: list of arrays: kernel for the step [features, units], for the state
            [units, units], for the context [size, units].

    Returns:
        [batch, steps, units] float array, the outputs.
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        inputs = [layers.Input(array.shape[1:]) for array in (x, context)]
        size, units = weights[2].shape
        layer = layers.RNN(Conditioned(units, size), return_sequences=True)
        model = tf.keras.Model(inputs, layer(inputs[0], constants=inputs[1:]))
        model.set_weights(weights)
        # --- run
        return model.predict_on_batch([x, context])


def route(inputs, kernel, routings=3):
    """Routes capsules dynamically, with `K.batch_dot` in TensorFlow 1.

    Args:
        inputs: [batch, inputs, features] float tensor, capsules.
        kernel: [outputs, inputs, size, features] float tensor.
        routings: number of iterations of the routing, 1 or more.

    Returns:
        [batch, outputs, size] float tensor, each capsule shorter than 1.
    """
    # --- predict
    tiled = K.tile(K.expand_dims(inputs, 1), [1, K.int_shape(kernel)[0], 1, 1])
    hat = K.map_fn(lambda row: K.batch_dot(row, kernel, [2, 3]), elems=tiled)
    # --- route
    agreement = K.zeros_like(hat[:, :, :, 0])
    for routing in range(routings):
        share = tf.nn.softmax(agreement, axis=1)
        outputs = squash(K.batch_dot(share, hat, [2, 2]))
        if routing < routings - 1:
            agreement += K.batch_dot(outputs, hat, [2, 3])
    return outputs


def squash(x):
    """Shortens vectors to a length below 1, and keeps their directions."""
    squared = K.sum(K.square(x), axis=-1, keepdims=True)
    return squared / (1 + squared) / K.sqrt(squared + K.epsilon()) * x


def initial_scale(name, shape, seed=7):
    """Measures the spread of the values that an initializer draws by default.

    Args:
        name: name of a class in `tf.keras.initializers`.
        shape: shape of the variable.
        seed: seed of the draws.

    Returns:
        (standard deviation, median of the magnitudes), to two digits.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- draw
        initializer = getattr(tf.keras.initializers, name)(seed=seed)
        draws = sess.run(initializer(shape))
        # --- measure
        scales = draws.std(), np.median(abs(draws))
        return tuple(float("%.2g" % scale) for scale in scales)


class Clustering(layers.Layer):
    def __init__(self, count, alpha, **kwargs):
        super(Clustering, self).__init__(**kwargs)
        self.count, self.alpha = count, alpha

    def build(self, input_shape):
        shape = [self.count, input_shape[-1].value]
        self.clusters = self.add_weight("clusters", shape, initializer="glorot_uniform")
        super(Clustering, self).build(input_shape)

    def call(self, x):
        squared = K.sum(K.square(K.expand_dims(x, axis=1) - self.clusters), axis=2)
        near = 1.0 / (1.0 + squared / self.alpha)
        near **= (self.alpha + 1.0) / 2.0
        return K.transpose(K.transpose(near) / K.sum(near, axis=1))


def make_clusters(count, alpha=1.0, name="clustering"):
    """Makes a layer that assigns rows softly to trained cluster centers: DEC.

    Args:
        count: number of centers.
        alpha: degrees of freedom of Student's t-distribution.
        name: name of the layer, the scope of `clusters`.

    Returns:
        Callable from a [batch, features] float tensor to [batch, count] shares, which
        sum to 1.
    """
    return Clustering(count, alpha, name=name)


def attend_by_layers(query, value, kept):
    """Applies Keras' `Attention` (dot products) and `AdditiveAttention` (sums).

    Args:
        query: [batch, steps, features] float tensor.
        value: [batch, other steps, features] tensor of the dtype of `query`.
        kept: [batch, other steps] bool tensor, False where there is padding.

    Returns:
        {"products", "sums"}: [batch, steps, features] tensors.
    """
    mask = [None, kept]
    return {
        "products": layers.Attention()([query, value], mask=mask),
        "sums": layers.AdditiveAttention(use_scale=False)([query, value], mask=mask),
    }


def read_in_other_batches(data, weights, pieces, rate):
    """Trains a stateful LSTM on batches, then runs it with a batch size of 1.

    Args:
        data: list of ([batch, steps, features], [batch, units]) float32 arrays.
        weights: [kernel, recurrent kernel, bias] of the LSTM.
        pieces: list of [1, steps, features] float32 arrays, one after another.
        rate: learning rate of gradient descent.

    Returns:
        (float32 losses of the batches, list of [1, units] outputs for the pieces).
    """
    units = weights[1].shape[0]

    def reader(shape):
        lstm = layers.LSTM(units, stateful=True, batch_input_shape=shape)
        return tf.keras.Sequential([lstm])

    with tf.Graph().as_default(), tf.Session():
        # --- train
        model = reader(data[0][0].shape)
        model.compile(tf.keras.optimizers.SGD(rate), "mse")
        model.set_weights(weights)
        losses = [model.train_on_batch(x, y) for x, y in data]
        # --- read
        other = reader(pieces[0].shape)
        other.set_weights(model.get_weights())
        return np.float32(losses), [other.predict_on_batch(x) for x in pieces]
