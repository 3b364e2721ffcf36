"""`get_updates`, `add_update`, constraints, gradient reversal → tapes and `fit`."""

import collections
import contextlib

import numpy as np
import tensorflow as tf

from v2_eager.keras_layers import OLD_LSTM
from v2_eager.keras_optimizers import legacy
from v2_eager.keras_recipes.own import (
    Between,
    ByLayer,
    Confusion,
    Renormalization,
    Reversal,
    Scaled,
    SpectralDense,
    Summing,
    Tied,
    WarmUp,
)

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

keras = tf.keras
layers = keras.layers


def stack(start, last=None, **options):
    """Makes a model of dense layers, with the weights `start`."""
    model = keras.Sequential([keras.Input(start[0].shape[:1])])
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
    return tf.reduce_mean(y_true * y_pred)


@contextlib.contextmanager
def reads_before_updates():
    """Makes each forward pass read a weight before the step updates it.

    Where a loss is linear in the predictions, the gradient of the last layer does not
    depend on its weights. TensorFlow's dependency optimizer then drops the order that
    `tf.function` gave to the read and the update, and a compiled model sometimes
    computes with weights of the next step (about 1 training in 6, TensorFlow 2.21).
    """
    key = "dependency_optimization"
    before = tf.config.optimizer.get_experimental_options().get(key, True)
    tf.config.optimizer.set_experimental_options({key: False})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({key: before})


def clip_critic(batches, start, rate, limit):
    """Trains the critic of a Wasserstein GAN, and clips its weights after each step.

    A constraint would clip after each of the two batches of a step.
    """
    # --- build
    critic = stack(start)
    critic.compile(legacy("RMSprop", lr=rate), wasserstein)
    # --- train
    losses = []
    for real, made in batches:
        ones = np.ones([len(real), 1], "f")
        losses.append([])
        for x, y in [(real, -ones), (made, ones)]:
            critic.reset_metrics()
            with reads_before_updates():
                losses[-1].append(critic.train_on_batch(x, y))
        # --- clip
        for weight in critic.weights:
            weight.assign(tf.clip_by_value(weight, -limit, limit))
    return np.float32(losses), critic.get_weights()


def fit_constrained(data, start, low, high, epochs, rate=0.25):
    """Fits a model with a custom constraint that clips its kernels to [low, high]."""
    model = stack(start, kernel_constraint=Between(low, high))
    model.compile(keras.optimizers.SGD(rate), "mse")
    x, y = data
    history = model.fit(x, y, batch_size=len(x), epochs=epochs, verbose=0)
    return told(history), model.get_weights()


def normalize_spectrally(data, start, epochs, rate=0.25):
    """Fits dense layers with spectral normalization."""
    # --- build
    sizes = [len(bias) for _, bias, _ in start]
    model = keras.Sequential(
        [
            keras.Input(start[0][0].shape[:1]),
            SpectralDense(sizes[0], activation="tanh"),
            SpectralDense(sizes[1]),
        ]
    )
    model.compile(keras.optimizers.SGD(rate), "mse")
    for layer, arrays in zip(model.layers, start, strict=True):
        layer.set_weights(arrays)
    # --- train
    x, y = data
    history = model.fit(x, y, batch_size=len(x), epochs=epochs, verbose=0)
    weights = [layer.get_weights() for layer in model.layers]
    return told(history), weights, model.predict(x, verbose=0)


def adapt(data, start, strength, epochs, batch_size, rate=0.25):
    """Trains a domain-adversarial network with a gradient reversal layer."""
    # --- build
    sizes = [len(bias) for bias in start[1::2]]
    inputs = keras.Input(start[0].shape[:1])
    features = layers.Dense(sizes[0], activation="tanh")(inputs)
    classes = layers.Dense(sizes[1], activation="softmax")(features)
    reverse = Reversal(strength)(features)
    domains = layers.Dense(sizes[2], activation="softmax")(reverse)
    model = keras.Model(inputs, [classes, domains])
    model.compile(keras.optimizers.SGD(rate), ["sparse_categorical_crossentropy"] * 2)
    model.set_weights(start)
    # --- train
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    history = model.fit(data[0], list(data[1:]), shuffle=False, **options)
    return told(history), model.get_weights()


def fit_scales(data, start, scale, epochs, rate=0.25):
    """Fits a custom layer with a trained scale: the L2 normalization of SSD.

    In Keras 3 a `tf.Variable` as an attribute is not a weight: call `add_weight`.
    """
    inputs = keras.Input(start[0].shape[:1])
    dense = layers.Dense(len(start[1]))
    model = keras.Model(inputs, Scaled(scale)(dense(inputs)))
    model.compile(keras.optimizers.SGD(rate), "mse")
    dense.set_weights(start)
    x, y = data
    history = model.fit(x, y, batch_size=len(x), epochs=epochs, verbose=0)
    return told(history), model.get_weights()


def renormalize(batches, x, weights, clipping, momentum):
    """Applies batch renormalization (`renorm=True`) in training and in inference."""
    norm = Renormalization(clipping, momentum)
    norm.build(x.shape)
    norm.set_weights([*weights, *norm.get_weights()[2:]])
    run = tf.function(norm, reduce_retracing=True)
    found = [run(tf.constant(batch), training=True).numpy() for batch in batches]
    return found, norm(tf.constant(x)).numpy(), norm.get_weights()


def warm_up(data, start, rate, rising, epochs, batch_size):
    """Fits a model with learning rate warm-up: a callback raises the rate per batch.

    `params` has the number of batches, "steps", but not "samples" and "batch_size".
    """
    model = stack(start)
    model.compile(keras.optimizers.SGD(rate), "mse")
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    callbacks = [WarmUp(rate, rising)]
    history = model.fit(*data, shuffle=False, callbacks=callbacks, **options)
    return told(history), model.get_weights()


def penalize_pretrained(data, start, penalty, epochs, rate=0.25):
    """Adds an L2 penalty to the kernels of a built model, then fits it.

    Set the regularizer of the weight: only `build` reads the regularizer of the layer.
    """
    model = stack(start)
    # --- penalize
    for layer in model.layers:
        layer.kernel.regularizer = keras.regularizers.L2(penalty)
    # --- train
    model.compile(keras.optimizers.SGD(rate), "mse")
    x, y = data
    history = model.fit(x, y, batch_size=len(x), epochs=epochs, verbose=0)
    return told(history), model.get_weights()


def fit_by_layers(data, start, rates, momentum, steps):
    """Fits a model with a learning rate for each layer."""
    # --- build
    model = stack(start)
    # --- rates
    shares = {layer.name: rate for layer, rate in zip(model.layers, rates, strict=True)}
    model.compile(ByLayer(1.0, shares, momentum=momentum), "mse")
    # --- train
    x, y = data
    history = model.fit(x, y, batch_size=len(x), epochs=steps, verbose=0)
    return told(history), model.get_weights()


def train_actor(states, actor, critic, rate):
    """Trains a DDPG actor with the gradient of the critic's value for its actions."""
    # --- build
    actor, critic = stack(actor, "tanh"), stack(critic)
    optimizer = legacy("Adam", lr=rate)
    optimizer.build(actor.trainable_variables)

    # --- step
    @tf.function(reduce_retracing=True)
    def train(batch):
        with tf.GradientTape() as tape:
            actions = actor(batch)
        with tf.GradientTape() as of_value:
            of_value.watch(actions)
            value = critic(tf.concat([batch, actions], axis=1))
        slope = of_value.gradient(value, actions)
        weights = [weight.value for weight in actor.trainable_variables]
        optimizer.apply(tape.gradient(actions, weights, -slope))
        return actions

    # --- train
    taken = [train(tf.constant(batch)).numpy() for batch in states]
    return taken, actor.get_weights()


def reinforce(episodes, start, rate, discount):
    """Trains a policy with the discounted returns of its actions: REINFORCE."""
    # --- build
    policy = stack(start, "softmax")
    optimizer = legacy("Adam", lr=rate)
    optimizer.build(policy.trainable_variables)

    # --- step
    @tf.function(reduce_retracing=True)
    def train(states, taken, returns):
        with tf.GradientTape() as tape:
            likely = tf.reduce_sum(policy(states) * taken, axis=1)
            loss = tf.reduce_mean(-tf.math.log(likely) * returns)
        weights = [weight.value for weight in policy.trainable_variables]
        optimizer.apply(tape.gradient(loss, weights))
        return loss

    # --- train
    losses = []
    for states, actions, rewards in episodes:
        one_hot = np.eye(start[-1].size, dtype=states.dtype)[actions]
        returns = discounted(rewards, discount)
        losses.append(train(*map(tf.constant, (states, one_hot, returns))).numpy())
    return np.float32(losses), policy.get_weights()


def discounted(rewards, discount):
    """Computes the steps' discounted returns, scaled to mean 0 and deviation 1."""
    returns, later = np.zeros(len(rewards)), 0.0
    for step in reversed(range(len(rewards))):
        returns[step] = later = rewards[step] + discount * later
    return ((returns - returns.mean()) / returns.std()).astype(rewards.dtype)


def learn_by_target(memory, start, rate, discount, every):
    """Trains a Q-network with a target network that is updated every few steps: DQN.

    `copy.deepcopy(model)` also makes a copy; it raised in TensorFlow 1.
    """
    # --- build
    model = stack(start)
    model.compile(legacy("Adam", lr=rate), "mse")
    target = keras.models.clone_model(model)
    # --- train
    losses = []
    for step, (states, actions, rewards, later, ended) in enumerate(memory):
        if step % every == 0:
            target.set_weights(model.get_weights())
        best = target.predict_on_batch(later).max(axis=1)
        wanted = model.predict_on_batch(states)
        wanted[np.arange(len(states)), actions] = rewards + discount * best * ~ended
        model.reset_metrics()
        losses.append(model.train_on_batch(states, wanted))
    return np.float32(losses), model.get_weights()


def decode(sources, first, length, start):
    """Translates by greedy decoding with the encoder and decoder of a trained model."""
    # --- trained model
    units, words = start[1].shape[0], start[-1].size
    read, said = (keras.Input([None, size]) for size in (len(start[0]), words))
    encoder = layers.LSTM(units, **OLD_LSTM, return_state=True, name="encoder")
    states = encoder(read)[1:]
    decoder = layers.LSTM(
        units, **OLD_LSTM, return_sequences=True, return_state=True, name="decoder"
    )
    outputs = layers.Dense(words, activation="softmax", name="words")(
        decoder(said, initial_state=states)[0]
    )
    model = keras.Model([read, said], outputs)
    model.set_weights(start)
    # --- its parts
    encode = keras.Model(model.inputs[0], model.get_layer("encoder").output[1:])
    before = [keras.Input([units]) for _ in range(2)]
    x, h, c = model.get_layer("decoder")(model.inputs[1], initial_state=before)
    x = model.get_layer("words")(x)
    step = keras.Model([model.inputs[1], *before], [x, h, c])
    # --- translate
    states = encode.predict_on_batch(sources)
    word = np.full([len(sources)], first)
    found, likely = [], []
    for _ in range(length):
        one_hot = np.eye(words, dtype=sources.dtype)[word][:, np.newaxis]
        x, *states = step.predict_on_batch([one_hot, *states])
        likely.append(x[:, 0])
        word = likely[-1].argmax(axis=-1)
        found.append(word)
    return np.stack(found, axis=1), np.stack(likely, axis=1)


def begin_at_states(pieces, weights, states):
    """Runs a stateful LSTM piece by piece, from given initial states."""
    # --- build
    lstm = layers.LSTM(weights[1].shape[0], **OLD_LSTM, stateful=True)
    model = keras.Sequential([keras.Input(batch_shape=pieces[0].shape), lstm])
    model.set_weights(weights)
    # --- begin
    for state, value in zip(lstm.states, states, strict=True):
        state.assign(value)
    # --- read
    outputs = [model.predict_on_batch(piece) for piece in pieces]
    return outputs, [state.numpy() for state in lstm.states]


def read_both_ways(pieces, weights):
    """Runs a stateful bidirectional LSTM piece by piece.

    In TensorFlow 1 a Bidirectional did not pass states from piece to piece.
    """
    lstm = layers.LSTM(weights[1].shape[0], **OLD_LSTM)  # not stateful
    shape = pieces[0].shape
    model = keras.Sequential([keras.Input(shape[1:]), layers.Bidirectional(lstm)])
    model.set_weights(weights)
    return [model.predict_on_batch(piece) for piece in pieces]


def read_padded(x, weights):
    """Runs a custom RNN cell, whose output is not its state, on padded sequences."""
    inputs = keras.Input(x.shape[1:])
    cell = Summing(len(weights[1]))
    rnn = layers.RNN(cell, return_sequences=True, return_state=True)
    model = keras.Model(inputs, rnn(layers.Masking()(inputs)))
    model.set_weights(weights)
    return tuple(model.predict_on_batch(x))


SIGNS = r"[!-&(-/:-@\[-`{-~\t\n]"
"""Characters that the Tokenizer removes: ASCII punctuation except the apostrophe."""


def plain(texts):
    """Converts texts to lower case, and replaces each punctuation mark by a space."""
    return tf.strings.regex_replace(tf.strings.lower(texts, "utf-8"), SIGNS, " ")


def number_words(texts, most, unknown, length):
    """Maps words to ids, the most frequent first, and pads in front: `Tokenizer`.

    `TextVectorization.adapt` would sort words of equal frequency backwards. It deletes
    punctuation, where `Tokenizer` put a space.
    """
    split = tf.strings.split(plain(texts)).flat_values.numpy()
    counts = collections.Counter(word.decode() for word in split)
    words = [word for word, _ in counts.most_common(most - 2)]
    number = layers.TextVectorization(standardize=plain, ragged=True, vocabulary=words)
    rows = keras.utils.pad_sequences(number(tf.constant(texts)).to_list(), length)
    return rows, [unknown, *words]


def confuse(data, held_out, start, epochs, rate=0.25):
    """Fits a classifier, and computes a confusion matrix after each epoch."""
    model, confusion = stack(start, "softmax"), Confusion(*held_out, len(start[-1]))
    optimizer = keras.optimizers.SGD(rate)
    model.compile(optimizer, "sparse_categorical_crossentropy")
    x, labels = data
    options = {"batch_size": len(x), "epochs": epochs, "verbose": 0}
    model.fit(x, labels, callbacks=[confusion], **options)
    return confusion.counts


def standardize(images, others):
    """Standardizes images with the channel means and deviations of other images.

    `Normalization.adapt` would leave out the 1e-6 that is added to the deviation.
    """
    mean, deviation = images.mean(axis=(0, 1, 2)), images.std(axis=(0, 1, 2)) + 1e-6
    layer = layers.Normalization(mean=mean, variance=deviation**2)
    return layer(others).numpy()


def preprocess(images):
    """Preprocesses images for pretrained networks, in the modes caffe, tf and torch.

    `applications.imagenet_utils.preprocess_input(images, mode=way)` is the same.
    """
    applications = keras.applications
    ways = {
        "caffe": applications.resnet50,
        "tf": applications.mobilenet_v2,
        "torch": applications.densenet,
    }
    return {way: ways[way].preprocess_input(images.copy()) for way in ways}


def tie_weights(rows, start, epochs, batch_size, rate=0.25):
    """Fits an autoencoder whose decoder uses the encoder's transposed kernel."""
    encoder = layers.Dense(len(start[1]), activation="tanh")
    decoder = Tied(encoder)
    model = keras.Sequential([keras.Input(rows.shape[1:]), encoder, decoder])
    encoder.set_weights(start)
    model.compile(keras.optimizers.SGD(rate), "mse")
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    history = model.fit(rows, rows, shuffle=False, **options)
    return told(history), [*encoder.get_weights(), decoder.bias.numpy()]
