"""`get_updates`, `add_update`, constraints, gradient reversal → tapes and `fit`."""

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "clip_critic",
    "fit_constrained",
    "normalize_spectrally",
    "adapt",
    "fit_scales",
    "renormalize",
    "warm_up",
    "penalize_pretrained",
    "fit_by_layers",
    "train_actor",
    "reinforce",
    "learn_by_target",
    "decode",
    "begin_at_states",
    "read_both_ways",
    "read_padded",
    "number_words",
    "confuse",
    "standardize",
    "preprocess",
    "tie_weights",
]

K = tf.keras.backend
layers = tf.keras.layers


def stack(start, last=None, **options):
    """Makes a model of dense layers, with the weights `start`."""
    model = tf.keras.Sequential([layers.Input(start[0].shape[:1])])
    for kernel in start[:-2:2]:
        model.add(layers.Dense(kernel.shape[1], activation="tanh", **options))
    model.add(layers.Dense(start[-2].shape[1], activation=last, **options))
    model.set_weights(start)
    return model


def told(history):
    """Returns the losses in the history of `fit` as an [epochs] float32 array."""
    return np.float32(history.history["loss"])


def wasserstein(y_true, y_pred):
    """Computes a critic's Wasserstein loss: the mean of label * score, labels ±1."""
    return K.mean(y_true * y_pred)


def clip_critic(batches, start, rate, limit):
    """Trains the critic of a Wasserstein GAN, and clips its weights after each step.

    Args:
        batches: list of pairs of [n, features] float32 arrays: real rows, generated
            rows.
        start: [kernel, bias] of a hidden layer and of an output layer, of one unit.
        rate: learning rate of RMSprop.
        limit: number; weights are clipped to [-`limit`, `limit`].

    Returns:
        ([steps, 2] float32 losses of real and of generated rows, list of the weights).
    """
    with tf.Graph().as_default():
        # --- build
        critic = stack(start)
        critic.compile(tf.keras.optimizers.RMSprop(lr=rate), wasserstein)
        # --- train
        losses = []
        for real, made in batches:
            ones = np.ones([len(real), 1], "f")
            losses.append(
                [critic.train_on_batch(real, -ones), critic.train_on_batch(made, ones)]
            )
            # --- clip
            for layer in critic.layers:
                clipped = [np.clip(w, -limit, limit) for w in layer.get_weights()]
                layer.set_weights(clipped)
        return np.float32(losses), critic.get_weights()


class Between(tf.keras.constraints.Constraint):
    """Clips weights to [low, high]."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __call__(self, w):
        return K.clip(w, self.low, self.high)

    def get_config(self):
        return {"low": self.low, "high": self.high}


def fit_constrained(data, start, low, high, epochs, rate=0.25):
    """Fits a model with a custom constraint that clips its kernels to [low, high].

    Args:
        data: (x [n, features], y [n, units]) float32 arrays, all rows in one batch.
        start: [kernel, bias] of a hidden layer and of an output layer.
        low, high: the smallest and the largest allowed weight.
        epochs: number of epochs, each of one step.
        rate: learning rate of gradient descent.

    Returns:
        ([epochs] float32 losses, list of the weights).
    """
    with tf.Graph().as_default():
        model = stack(start, kernel_constraint=Between(low, high))
        model.compile(tf.keras.optimizers.SGD(rate), "mse")
        x, y = data
        history = model.fit(x, y, batch_size=len(x), epochs=epochs, verbose=0)
        return told(history), model.get_weights()


class SpectralDense(layers.Dense):
    """A dense layer with spectral normalization: one power iteration step per call."""

    def build(self, input_shape):
        super(SpectralDense, self).build(input_shape)
        self.u = self.add_weight("u", [1, self.units], trainable=False)

    def call(self, x):
        v = K.l2_normalize(K.dot(self.u, K.transpose(self.kernel)))
        u = K.l2_normalize(K.dot(v, self.kernel))
        u, v = K.stop_gradient(u), K.stop_gradient(v)
        sigma = K.sum(K.dot(v, self.kernel) * u)
        self.add_update(K.update(self.u, u))
        return self.activation(K.bias_add(K.dot(x, self.kernel / sigma), self.bias))


def normalize_spectrally(data, start, epochs, rate=0.25):
    """Fits dense layers with spectral normalization.

    Args:
        data: as for `fit_constrained`.
        start: list of [kernel, bias, u], one for each of two layers; u is [1, units].
        epochs: number of epochs, each of one step.
        rate: learning rate of gradient descent.

    Returns:
        ([epochs] float32 losses, list of the weights of each layer, predictions).
    """
    with tf.Graph().as_default():
        # --- build
        sizes = [len(bias) for _, bias, _ in start]
        model = tf.keras.Sequential(
            [
                layers.Input(start[0][0].shape[:1]),
                SpectralDense(sizes[0], activation="tanh"),
                SpectralDense(sizes[1]),
            ]
        )
        model.compile(tf.keras.optimizers.SGD(rate), "mse")
        for layer, arrays in zip(model.layers, start):
            layer.set_weights(arrays)
        # --- train
        x, y = data
        history = model.fit(x, y, batch_size=len(x), epochs=epochs, verbose=0)
        weights = [layer.get_weights() for layer in model.layers]
        return told(history), weights, model.predict(x)


class Reversal(layers.Layer):
    """Returns its inputs, and multiplies the gradient by -strength."""

    made = 0

    def __init__(self, strength, **kwargs):
        super(Reversal, self).__init__(**kwargs)
        self.strength = strength

    def call(self, x):
        Reversal.made += 1  # a name can be registered only once
        name = "Reversal%d" % Reversal.made
        strength = self.strength

        @tf.RegisterGradient(name)
        def reverse(op, gradient):
            return -strength * gradient

        with x.graph.gradient_override_map({"Identity": name}):
            return tf.identity(x)


def adapt(data, start, strength, epochs, batch_size, rate=0.25):
    """Trains a domain-adversarial network with a gradient reversal layer.

    Args:
        data: (x [n, features] float32, classes [n] int32, domains [n] int32) arrays.
        start: [kernel, bias] of the features, of the classes and of the domains.
        strength: factor of the reversed gradient.
        epochs, batch_size: number of epochs, and of rows in a batch.
        rate: learning rate of gradient descent.

    Returns:
        ([epochs] float32 losses, list of the weights).
    """
    with tf.Graph().as_default():
        # --- build
        sizes = [len(bias) for bias in start[1::2]]
        inputs = layers.Input(start[0].shape[:1])
        features = layers.Dense(sizes[0], activation="tanh")(inputs)
        classes = layers.Dense(sizes[1], activation="softmax")(features)
        reverse = Reversal(strength)(features)
        domains = layers.Dense(sizes[2], activation="softmax")(reverse)
        model = tf.keras.Model(inputs, [classes, domains])
        model.compile(
            tf.keras.optimizers.SGD(rate), ["sparse_categorical_crossentropy"] * 2
        )
        model.set_weights(start)
        # --- train
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        history = model.fit(data[0], list(data[1:]), shuffle=False, **options)
        return told(history), model.get_weights()


class Scaled(layers.Layer):
    """Scales vectors of the last axis to length 1, times a weight per channel."""

    def __init__(self, scale, **kwargs):
        super(Scaled, self).__init__(**kwargs)
        self.scale = scale

    def build(self, input_shape):
        self.gamma = K.variable(self.scale * np.ones(int(input_shape[-1])))
        self._trainable_weights = [self.gamma]
        super(Scaled, self).build(input_shape)

    def call(self, x):
        return K.l2_normalize(x, axis=-1) * self.gamma


def fit_scales(data, start, scale, epochs, rate=0.25):
    """Fits a custom layer with a trained scale: the L2 normalization of SSD.

    Args:
        data: (x [n, features], y [n, units]) float32 arrays, all rows in one batch.
        start: [kernel, bias] of the dense layer before the custom layer.
        scale: number, the initial value of the weight.
        epochs: number of epochs, each of one step.
        rate: learning rate of gradient descent.

    Returns:
        ([epochs] float32 losses, list of the weights).
    """
    with tf.Graph().as_default():
        inputs = layers.Input(start[0].shape[:1])
        dense = layers.Dense(len(start[1]))
        model = tf.keras.Model(inputs, Scaled(scale)(dense(inputs)))
        model.compile(tf.keras.optimizers.SGD(rate), "mse")
        dense.set_weights(start)
        x, y = data
        history = model.fit(x, y, batch_size=len(x), epochs=epochs, verbose=0)
        return told(history), model.get_weights()


def renormalize(batches, x, weights, clipping, momentum):
    """Applies batch renormalization (`renorm=True`) in training and in inference.

    Args:
        batches: list of [n, features] float arrays, to train on.
        x: [n, features] float array, to normalize in the end.
        weights: [gamma, beta], each [features].
        clipping: dict of "rmin", "rmax" and "dmax".
        momentum: momentum of all moving statistics.

    Returns:
        (list of the normalized batches, `x`, normalized at the end, list of the
        weights: gamma, beta, moving mean, variance and deviation, then `renorm_mean`
        and `renorm_stddev`).
    """
    with tf.Graph().as_default():
        inputs = layers.Input(x.shape[1:])
        norm = layers.BatchNormalization(
            momentum=momentum,
            renorm=True,
            renorm_clipping=clipping,
            renorm_momentum=momentum,
        )
        outputs = norm(inputs)
        norm.set_weights(list(weights) + norm.get_weights()[2:])
        run = K.function([inputs, K.learning_phase()], [outputs], norm.updates)
        found = [run([batch, 1])[0] for batch in batches]
        return found, tf.keras.Model(inputs, outputs).predict(x), norm.get_weights()


class WarmUp(tf.keras.callbacks.Callback):
    """Raises the learning rate with every batch, for a number of epochs: warm-up."""

    def __init__(self, rate, epochs):
        super(WarmUp, self).__init__()
        self.rate, self.epochs, self.seen = rate, epochs, 0

    def on_batch_begin(self, batch, logs=None):
        rows, size = self.params["samples"], self.params["batch_size"]
        self.seen += 1
        share = self.seen / (self.epochs * np.ceil(rows / float(size)))
        K.set_value(self.model.optimizer.lr, self.rate * min(share, 1.0))


def warm_up(data, start, rate, rising, epochs, batch_size):
    """Fits a model with learning rate warm-up: a callback raises the rate per batch.

    Args:
        data: (x [n, features], y [n, units]) float32 arrays.
        start: [kernel, bias] of a hidden layer and of an output layer.
        rate: learning rate of gradient descent after the warm-up.
        rising: number of epochs of the warm-up.
        epochs, batch_size: number of epochs, and of rows in a batch.

    Returns:
        ([epochs] float32 losses, list of the weights).
    """
    with tf.Graph().as_default():
        model = stack(start)
        model.compile(tf.keras.optimizers.SGD(rate), "mse")
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        callbacks = [WarmUp(rate, rising)]
        history = model.fit(*data, shuffle=False, callbacks=callbacks, **options)
        return told(history), model.get_weights()


def penalize_pretrained(data, start, penalty, epochs, rate=0.25):
    """Adds an L2 penalty to the kernels of a built model, then fits it.

    Args:
        data, start: as for `fit_constrained`.
        penalty: weight of the sum of the kernels' squares.
        epochs: number of epochs, each of one step.
        rate: learning rate of gradient descent.

    Returns:
        ([epochs] float32 losses, list of the weights).
    """
    with tf.Graph().as_default():
        pretrained = stack(start)
        # --- penalize
        for layer in pretrained.layers:
            layer.kernel_regularizer = tf.keras.regularizers.l2(penalty)
        # Only a model that is rebuilt from its configuration uses the penalty.
        model = tf.keras.models.model_from_json(pretrained.to_json())
        model.set_weights(pretrained.get_weights())
        # --- train
        model.compile(tf.keras.optimizers.SGD(rate), "mse")
        x, y = data
        history = model.fit(x, y, batch_size=len(x), epochs=epochs, verbose=0)
        return told(history), model.get_weights()


def fit_by_layers(data, start, rates, momentum, steps):
    """Fits a model with a learning rate for each layer.

    Args:
        data, start: as for `fit_constrained`.
        rates: learning rates of the first and of the last layer.
        momentum: momentum of both layers.
        steps: number of steps, each on all rows.

    Returns:
        ([steps] float32 losses, list of the weights).
    """
    with tf.Graph().as_default():
        # --- build
        model = stack(start)
        target = K.placeholder(shape=(None, start[-1].size))
        loss = K.mean(K.square(model.output - target))
        # --- rates
        updates = []
        for layer, rate in zip(model.layers, rates):
            optimizer = tf.keras.optimizers.SGD(rate, momentum)
            updates += optimizer.get_updates(loss, layer.trainable_weights)
        train = K.function([model.input, target], [loss], updates=updates)
        # --- train
        losses = [train(list(data))[0] for _ in range(steps)]
        return np.float32(losses), model.get_weights()


def train_actor(states, actor, critic, rate):
    """Trains a DDPG actor with the gradient of the critic's value for its actions.

    Args:
        states: list of [n, features] float32 arrays, one for each step.
        actor: [kernel, bias] of a hidden layer and of the `tanh` layer of actions.
        critic: [kernel, bias] of a hidden layer for states and actions, and of the
            value's layer.
        rate: learning rate of Adam.

    Returns:
        (list of the [n, actions] actions before each step, list of the weights).
    """
    with tf.Graph().as_default():
        # --- build
        actor = stack(actor, "tanh")
        shapes = actor.input_shape, actor.output_shape
        inputs = [layers.Input(shape[1:]) for shape in shapes]
        value = stack(critic)
        critic = tf.keras.Model(inputs, value(layers.concatenate(inputs)))
        # --- step
        slopes = K.gradients(critic.output, critic.inputs[1])
        ask = K.function(critic.inputs, slopes)
        slope = K.placeholder(shape=(None, actor.output_shape[1]))
        weights = actor.trainable_weights
        gradients = tf.gradients(actor.output, weights, -slope)
        optimizer = tf.keras.optimizers.Adam(lr=rate)
        updates = [optimizer.apply_gradients(zip(gradients, weights))]
        train = K.function([actor.input, slope], [actor.output], updates=updates)
        # --- train
        taken = []
        for batch in states:
            taken.append(actor.predict_on_batch(batch))
            train([batch, ask([batch, taken[-1]])[0]])
        return taken, actor.get_weights()


def reinforce(episodes, start, rate, discount):
    """Trains a policy with the discounted returns of its actions: REINFORCE.

    Args:
        episodes: list of (states [n, features] float32, actions [n] int32, rewards [n]
            float32) arrays.
        start: [kernel, bias] of a hidden layer and of the `softmax` layer of actions.
        rate: learning rate of Adam.
        discount: number, the discount factor of the returns.

    Returns:
        ([episodes] float32 losses, list of the weights).
    """
    with tf.Graph().as_default():
        # --- build
        policy = stack(start, "softmax")
        taken = K.placeholder(shape=(None, start[-1].size))
        returns = K.placeholder(shape=(None,))
        # --- step
        likely = K.sum(policy.output * taken, axis=1)
        loss = K.mean(-K.log(likely) * returns)
        optimizer = tf.keras.optimizers.Adam(lr=rate)
        updates = optimizer.get_updates(loss, policy.trainable_weights)
        train = K.function([policy.input, taken, returns], [loss], updates=updates)
        # --- train
        losses = []
        for states, actions, rewards in episodes:
            one_hot = np.eye(start[-1].size, dtype="f")[actions]
            losses += train([states, one_hot, discounted(rewards, discount)])
        return np.float32(losses), policy.get_weights()


def discounted(rewards, discount):
    """Computes the steps' discounted returns, scaled to mean 0 and deviation 1."""
    returns, later = np.zeros(len(rewards)), 0.0
    for step in reversed(range(len(rewards))):
        returns[step] = later = rewards[step] + discount * later
    return ((returns - returns.mean()) / returns.std()).astype(rewards.dtype)


def learn_by_target(memory, start, rate, discount, every):
    """Trains a Q-network with a target network that is updated every few steps: DQN.

    Args:
        memory: list of (states [n, features] float32, actions [n] int32, rewards [n]
            float32, next states [n, features] float32, whether the episode ended [n]
            bool).
        start: [kernel, bias] of a hidden layer and of the layer of action values.
        rate: learning rate of Adam.
        discount: number, the discount factor of the next state's value.
        every: number of steps between two updates of the target network.

    Returns:
        ([steps] float32 losses, list of the weights).
    """
    with tf.Graph().as_default():
        # --- build
        model = stack(start)
        model.compile(tf.keras.optimizers.Adam(lr=rate), "mse")
        target = tf.keras.models.clone_model(model)
        # --- train
        losses = []
        for step, (states, actions, rewards, later, ended) in enumerate(memory):
            if step % every == 0:
                target.set_weights(model.get_weights())
            best = target.predict_on_batch(later).max(axis=1)
            wanted = model.predict_on_batch(states)
            wanted[np.arange(len(states)), actions] = rewards + discount * best * ~ended
            losses.append(model.train_on_batch(states, wanted))
        return np.float32(losses), model.get_weights()


def decode(sources, first, length, start):
    """Translates by greedy decoding with the encoder and decoder of a trained model.

    Args:
        sources: [n, steps, words] float32 array, one-hot.
        first: int, the start word.
        length: number of words to decode.
        start: [kernel, recurrent kernel, bias] of the encoder and of the decoder, then
            [kernel, bias] of the words.

    Returns:
        ([n, length] int array of words, [n, length, words] probabilities).
    """
    with tf.Graph().as_default(), tf.Session():
        # --- trained model
        units, words = start[1].shape[0], start[-1].size
        read, said = (layers.Input([None, size]) for size in (len(start[0]), words))
        encoder = layers.LSTM(units, return_state=True, name="encoder")
        states = encoder(read)[1:]
        decoder = layers.LSTM(
            units, return_sequences=True, return_state=True, name="decoder"
        )
        outputs = layers.Dense(words, activation="softmax", name="words")(
            decoder(said, initial_state=states)[0]
        )
        model = tf.keras.Model([read, said], outputs)
        model.set_weights(start)
        # --- its parts
        encode = tf.keras.Model(model.input[0], model.get_layer("encoder").output[1:])
        before = [layers.Input([units]) for _ in range(2)]
        x, h, c = model.get_layer("decoder")(model.input[1], initial_state=before)
        x = model.get_layer("words")(x)
        step = tf.keras.Model([model.input[1]] + before, [x, h, c])
        # --- translate
        states = encode.predict_on_batch(sources)
        word = np.full([len(sources)], first)
        found, likely = [], []
        for _ in range(length):
            one_hot = np.eye(words, dtype="f")[word][:, np.newaxis]
            answer = step.predict_on_batch([one_hot] + list(states))
            states = answer[1:]
            likely.append(answer[0][:, 0])
            word = likely[-1].argmax(axis=-1)
            found.append(word)
        return np.stack(found, axis=1), np.stack(likely, axis=1)


def begin_at_states(pieces, weights, states):
    """Runs a stateful LSTM piece by piece, from given initial states.

    Args:
        pieces: list of [batch, steps, features] float arrays.
        weights: [kernel, recurrent kernel, bias] of the LSTM.
        states: [h, c], each [batch, units].

    Returns:
        (list of the last outputs, [batch, units] each; [h, c] in the end).
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        lstm = layers.LSTM(
            weights[1].shape[0], stateful=True, batch_input_shape=pieces[0].shape
        )
        model = tf.keras.Sequential([lstm])
        model.set_weights(weights)
        # --- begin
        lstm.reset_states(states=states)
        # --- read
        outputs = [model.predict_on_batch(piece) for piece in pieces]
        return outputs, K.batch_get_value(lstm.states)


def read_both_ways(pieces, weights):
    """Runs a stateful bidirectional LSTM piece by piece.

    Args:
        pieces: list of [batch, steps, features] float arrays.
        weights: [kernel, recurrent kernel, bias] of the forward LSTM, then of the
            backward LSTM.

    Returns:
        List of the last outputs, [batch, 2 * units] each.
    """
    with tf.Graph().as_default(), tf.Session():
        lstm = layers.LSTM(weights[1].shape[0], stateful=True)
        both = layers.Bidirectional(lstm, batch_input_shape=pieces[0].shape)
        model = tf.keras.Sequential([both])
        model.set_weights(weights)
        return [model.predict_on_batch(piece) for piece in pieces]


class Summing(layers.Layer):
    """RNN cell whose output is the sum of its state."""

    def __init__(self, units, **kwargs):
        super(Summing, self).__init__(**kwargs)
        self.state_size, self.output_size = units, 1

    def build(self, input_shape):
        shape = [int(input_shape[-1]), self.state_size]
        self.kernel = self.add_weight("kernel", shape)
        self.recurrent = self.add_weight("recurrent", [self.state_size] * 2)
        super(Summing, self).build(input_shape)

    def call(self, inputs, states):
        h = K.tanh(K.dot(inputs, self.kernel) + K.dot(states[0], self.recurrent))
        return K.sum(h, axis=-1, keepdims=True), [h]


def read_padded(x, weights):
    """Runs a custom RNN cell, whose output is not its state, on padded sequences.

    Args:
        x: [batch, steps, features] float array; a step of zeros is padding.
        weights: [features, units] and [units, units] float arrays.

    Returns:
        ([batch, steps, 1] outputs, [batch, units] last states).
    """
    with tf.Graph().as_default(), tf.Session():
        inputs = layers.Input(x.shape[1:])
        rnn = layers.RNN(
            Summing(len(weights[1])), return_sequences=True, return_state=True
        )
        model = tf.keras.Model(inputs, rnn(layers.Masking()(inputs)))
        model.set_weights(weights)
        return tuple(model.predict_on_batch(x))


def number_words(texts, most, unknown, length):
    """Maps words to ids, the most frequent first, and pads in front: `Tokenizer`.

    Args:
        texts: list of texts.
        most: int; ids are less than `most`.
        unknown: str, the out-of-vocabulary word; its id is 1.
        length: number of words in a row.

    Returns:
        ([n, length] int32 array; list of the words that have ids, in their order).
    """
    tokenizer = tf.keras.preprocessing.text.Tokenizer(most, oov_token=unknown)
    tokenizer.fit_on_texts(texts)
    rows = tokenizer.texts_to_sequences(texts)
    rows = tf.keras.preprocessing.sequence.pad_sequences(rows, maxlen=length)
    words = sorted(tokenizer.word_index, key=tokenizer.word_index.get)
    return rows, words[: most - 1]


class Confusion(tf.keras.callbacks.Callback):
    """Computes a confusion matrix after each epoch."""

    def __init__(self, x, labels, classes):
        super(Confusion, self).__init__()
        self.x, self.labels, self.classes, self.counts = x, labels, classes, []

    def on_epoch_end(self, epoch, logs=None):
        found = self.model.predict(self.x).argmax(axis=-1)
        counts = tf.confusion_matrix(self.labels, found, self.classes)
        self.counts.append(K.eval(counts))


def confuse(data, held_out, start, epochs, rate=0.25):
    """Fits a classifier, and computes a confusion matrix after each epoch.

    Args:
        data: (x [n, features] float32, labels [n] int32) arrays.
        held_out: arrays of the same kind, for the confusion matrix.
        start: [kernel, bias] of a hidden layer and of an output layer.
        epochs: number of epochs, each of one step.
        rate: learning rate of gradient descent.

    Returns:
        List of [classes, classes] int32 arrays, a row for each true class.
    """
    with tf.Graph().as_default():
        model, confusion = stack(start, "softmax"), Confusion(*held_out, len(start[-1]))
        optimizer = tf.keras.optimizers.SGD(rate)
        model.compile(optimizer, "sparse_categorical_crossentropy")
        x, labels = data
        options = {"batch_size": len(x), "epochs": epochs, "verbose": 0}
        model.fit(x, labels, callbacks=[confusion], **options)
        return confusion.counts


def standardize(images, others):
    """Standardizes images with the channel means and deviations of other images.

    Args:
        images: [n, height, width, channels] float32 array, from which mean and
            deviation are computed.
        others: array of the same kind, which is standardized.

    Returns:
        Array like `others`.
    """
    generator = tf.keras.preprocessing.image.ImageDataGenerator(
        featurewise_center=True, featurewise_std_normalization=True
    )
    generator.fit(images)
    return np.stack([generator.standardize(image.copy()) for image in others])


def preprocess(images):
    """Preprocesses images for pretrained networks, in the modes caffe, tf and torch.

    Args:
        images: [n, height, width, 3] float32 array in [0, 255], red first.

    Returns:
        Dict of arrays like `images`: "caffe" is blue first, without the mean of each
        channel, as for VGG and ResNet; "tf" is in [-1, 1], as for Inception, Xception,
        MobileNet and NASNet; "torch" is divided by deviations, as for DenseNet.
    """
    applications = tf.keras.applications
    ways = {
        "caffe": applications.resnet50,
        "tf": applications.mobilenet_v2,
        "torch": applications.densenet,
    }
    return {way: ways[way].preprocess_input(images.copy()) for way in ways}


class Tied(layers.Layer):
    """A dense layer that uses the transposed kernel of another layer."""

    def __init__(self, tied_to, **kwargs):
        super(Tied, self).__init__(**kwargs)
        self.tied_to = tied_to

    def build(self, input_shape):
        size = int(self.tied_to.kernel.shape[0])
        self.bias = self.add_weight("bias", [size], initializer="zeros")
        super(Tied, self).build(input_shape)

    def call(self, x):
        return K.dot(x, K.transpose(self.tied_to.kernel)) + self.bias


def tie_weights(rows, start, epochs, batch_size, rate=0.25):
    """Fits an autoencoder whose decoder uses the encoder's transposed kernel.

    Args:
        rows: [n, features] float32 array.
        start: [kernel, bias] of the encoder.
        epochs, batch_size, rate: as for `adapt`.

    Returns:
        ([epochs] float32 losses, [kernel, bias, bias of the decoder]).
    """
    with tf.Graph().as_default():
        encoder = layers.Dense(len(start[1]), activation="tanh")
        decoder = Tied(encoder)
        model = tf.keras.Sequential([layers.Input(rows.shape[1:]), encoder, decoder])
        encoder.set_weights(start)
        model.compile(tf.keras.optimizers.SGD(rate), "mse")
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        history = model.fit(rows, rows, shuffle=False, **options)
        return told(history), encoder.get_weights() + [K.get_value(decoder.bias)]
