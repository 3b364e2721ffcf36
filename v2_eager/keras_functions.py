"""`K.function`, `K.gradients`, `K.learning_phase` → calls of models, and tapes."""

from multiprocessing.pool import ThreadPool

import numpy as np
import tensorflow as tf

from v2_eager import ctc
from v2_eager.numerics import averages

__all__ = [
    "layer_outputs",
    "monte_carlo",
    "running_mean",
    "saliency",
    "guided_saliency",
    "grad_cam",
    "deep_dream",
    "loss_gradients",
    "average_weights",
    "reset_weights",
    "run_in_session",
    "train_in_session",
    "train_closure",
    "loss_of_inputs",
    "fit_autoencoder",
    "fit_its_output",
    "two_graphs",
    "serve",
    "fit_in_phase",
    "name_layers",
    "cut",
    "replace_head",
    "look_inside",
]

keras = tf.keras
layers = keras.layers
register = keras.utils.register_keras_serializable("tensorflow_1")


def network(start, penalty=None, norm=layers.BatchNormalization, model=keras.Model):
    """Makes a dense network with a batch norm and the weights `start`."""
    (features, hidden), classes = start[0].shape, len(start[-1])
    regularizer = None if penalty is None else keras.regularizers.L2(penalty)
    inputs = layers.Input([features])
    x = layers.Dense(
        hidden, activation="relu", kernel_regularizer=regularizer, name="hidden"
    )(inputs)
    x = norm(momentum=0.75, name="norm")(x)
    outputs = layers.Dense(classes, activation="softmax", name="classes")(x)
    made = model(inputs, outputs)
    made.set_weights(start)
    return made


def images_network(start, channels, activation="relu"):
    """Makes a convolutional network: two convolutions, and the weights `start`."""
    inputs = layers.Input([None, None, channels])
    x = inputs
    for name, kernel in [("edges", start[0]), ("shapes", start[2])]:
        convolution = layers.Conv2D(
            kernel.shape[-1], 3, padding="same", activation=activation, name=name
        )
        x = convolution(x)
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(len(start[-1]), activation="softmax", name="classes")(x)
    model = keras.Model(inputs, outputs)
    model.set_weights(start)
    return model


def one_layer(kernel):
    """Makes a model of one dense layer with a constant initializer for its kernel."""
    initializer = keras.initializers.Constant(kernel)
    layer = layers.Dense(kernel.shape[1], kernel_initializer=initializer)
    return keras.Sequential([layers.Input(kernel.shape[:1]), layer])


def layer_outputs(x, start, phase):
    """Computes the output of each layer of a model, in training or inference mode.

    A call in training mode updates the moving averages of a batch norm. `K.function`
    ran only its `updates`; `stateless_call` updates nothing.
    """
    model = network(start)
    outputs = [layer.output for layer in model.layers[1:]]
    every = keras.Model(model.input, outputs)

    @tf.function
    def run(x):
        weights = every.trainable_variables, every.non_trainable_variables
        return every.stateless_call(*weights, x, training=bool(phase))[0]

    return [y.numpy() for y in run(tf.constant(x))], model.get_weights()


@register
class Dropout(layers.Dropout):
    """Dropout with the random numbers that TensorFlow 1 drew from the same seeds.

    In training it sets each element to 0 with the probability `rate` and divides the
    others by `1 - rate`. `keras.layers.Dropout` has its own random stream, which
    `tf.random.set_seed` does not reset.

    Args:
        rate: float in [0, 1), the share of elements that are set to 0.
        noise_shape: shape of the mask, which is broadcast to the inputs; by default
            the shape of the inputs.
        seed: int, the seed of the op, used together with the seed of
            `tf.random.set_seed`; by default a number that Keras draws.
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def call(self, inputs, training=False):
        if not training:
            return inputs
        return tf.nn.dropout(inputs, self.rate, self.noise_shape, self.seed)


def monte_carlo(x, start, rate, seed, passes):
    """Computes mean and deviation of many predictions with dropout (Monte Carlo).

    `predict` calls every layer with `training=False`, even if the code of the model
    calls it with True. If old seeds do not matter, use `layers.Dropout(rate)`.
    """
    # --- build
    tf.random.set_seed(7)
    inputs = layers.Input(x.shape[1:])
    hidden = layers.Dense(len(start[1]), activation="relu")(inputs)
    hidden = Dropout(rate, seed=seed)(hidden)
    outputs = layers.Dense(len(start[-1]), activation="softmax")(hidden)
    model = keras.Model(inputs, outputs)
    model.set_weights(start)

    # --- run
    @tf.function
    def run(x):
        return model(x, training=True)

    found = np.array([run(tf.constant(x)).numpy() for _ in range(passes)])
    return found.mean(axis=0), found.std(axis=0)


def running_mean(batches, momentum):
    """Subtracts a running mean from each batch, and updates the mean with the batch.

    `K.moving_average_update` corrected the bias of the initial zero: it divided by 1 -
    momentum ** n.
    """
    # --- variables
    size, dtype = batches[0].shape[1], keras.config.floatx()
    mean, biased = (tf.Variable(tf.zeros([size], dtype)) for _ in range(2))
    seen = tf.Variable(tf.zeros([], dtype))

    # --- step
    @tf.function(input_signature=[tf.TensorSpec([None, size], dtype)])
    def step(x):
        centred = x - mean
        moved = tf.reduce_mean(x, axis=0)
        averages.assign_debiased_average(mean, biased, seen, moved, momentum)
        return centred

    # --- run
    centred = [step(tf.constant(batch, dtype)).numpy() for batch in batches]
    return centred, [mean.numpy(), seen.numpy()]


def saliency(images, start):
    """Computes a saliency map: the predicted class's gradient for each pixel.

    Integers have no gradient: pixels are cast to floats first, as a placeholder did.
    """
    model = images_network(start, images.shape[-1])

    @tf.function
    def run(images):
        with tf.GradientTape() as tape:
            tape.watch(images)
            outputs = model(images, training=False)
            score = tf.reduce_max(outputs, axis=-1)
        gradients = tape.gradient(score, images)
        found = tf.reduce_max(tf.abs(gradients), axis=-1)
        return found, tf.argmax(outputs, axis=-1)

    return [y.numpy() for y in run(tf.constant(images, model.input.dtype))]


@tf.custom_gradient
def guided_relu(x):
    """Computes ReLU, and passes back only positive gradients."""
    y = tf.nn.relu(x)

    def gradient(dy):
        return tf.where(dy > 0, dy, tf.zeros_like(dy)) * tf.cast(y > 0, dy.dtype)

    return y, gradient


def guided_saliency(images, start, label):
    """Computes a class's gradient for each pixel by guided backpropagation.

    In a loaded model, replace relu: `layer.activation = guided_relu`.
    """
    model = images_network(start, images.shape[-1], guided_relu)

    @tf.function
    def run(images):
        with tf.GradientTape() as tape:
            tape.watch(images)
            score = model(images, training=False)[:, label]
        return tape.gradient(score, images)

    return run(tf.constant(images, model.input.dtype)).numpy()


def grad_cam(image, start, label):
    """Computes Grad-CAM: last convolution's maps, weighted by a class's gradient."""
    # --- build
    model = images_network(start, image.shape[-1])
    seen = model.get_layer("shapes").output
    both = keras.Model(model.input, [seen, model.output])

    # --- gradients
    @tf.function
    def run(images):
        with tf.GradientTape() as tape:
            maps, outputs = both(images, training=False)
            score = outputs[:, label]
        weights = tf.reduce_mean(tape.gradient(score, maps), axis=[0, 1, 2])
        # --- map
        heat = tf.nn.relu(tf.reduce_mean(maps[0] * weights, axis=-1))
        return heat / tf.reduce_max(heat)

    return run(tf.constant(image[np.newaxis])).numpy()


def deep_dream(image, start, shares, rate, steps, limit=None):
    """DeepDream: changes an image by gradient ascent on the outputs of layers."""
    # --- build
    model = images_network(start, image.shape[-1])
    names = sorted(shares)
    # A dict: with a list of one output, the model would return a tensor.
    outputs = {name: model.get_layer(name).output for name in names}
    answers = keras.Model(model.input, outputs)

    # --- step
    @tf.function
    def step(image):
        with tf.GradientTape() as tape:
            tape.watch(image)
            loss = tf.zeros([], image.dtype)
            found = answers(image, training=False)
            for name in names:
                answer = found[name]
                inner = tf.reduce_sum(tf.square(answer[:, 2:-2, 2:-2, :]))
                size = tf.cast(tf.size(answer), image.dtype)
                loss += shares[name] * inner / size
        gradients = tape.gradient(loss, image)
        return loss, gradients / tf.maximum(tf.reduce_mean(tf.abs(gradients)), 1e-7)

    # --- run
    losses = []
    for _ in range(steps):
        value, upwards = step(tf.constant(image, model.input.dtype))
        losses.append(value.numpy())
        if limit is not None and losses[-1] > limit:
            break
        image = image + rate * upwards.numpy()
    return image, losses


def loss_gradients(data, start, penalty):
    """Differentiates the compiled loss with respect to the trainable weights.

    `compute_loss` includes the penalties, as `model.total_loss` did.
    """
    model = network(start, penalty)
    model.compile("sgd", "sparse_categorical_crossentropy")

    @tf.function
    def run(x, y):
        with tf.GradientTape() as tape:
            loss = model.compute_loss(x, y, model(x, training=False))
        return tape.gradient(loss, model.trainable_variables)

    return [gradient.numpy() for gradient in run(*map(tf.constant, data))]


def average_weights(x, snapshots):
    """Predicts with the mean of several sets of weights."""
    model = network(snapshots[0])
    # --- average
    means = [sum(weights) / len(snapshots) for weights in zip(*snapshots)]
    # --- predict
    model.set_weights(means)
    length = tf.sqrt(tf.reduce_sum(tf.square(model.weights[0]))).numpy()
    return model.predict(x, verbose=0), [w.numpy() for w in model.weights], length


def reset_weights(data, kernel, epochs, rate):
    """Trains a layer, resets its weights with their initializers, and trains again."""
    # --- build
    model = one_layer(kernel)
    (layer,) = model.layers
    model.compile(keras.optimizers.SGD(rate, momentum=0.5), "mse")
    # --- train
    losses = []
    for _ in range(2):
        layer.kernel.assign(layer.kernel_initializer(layer.kernel.shape))
        layer.bias.assign(layer.bias_initializer(layer.bias.shape))
        options = {"batch_size": len(data[0]), "epochs": epochs, "verbose": 0}
        history = model.fit(*data, shuffle=False, **options)
        losses.append(history.history["loss"])
    return np.array(losses, keras.config.floatx())


def run_in_session(x, start):
    """Runs a model on its input and on another tensor, in one session or function."""
    # --- build
    model = network(start)

    @tf.function
    def run(x, half):
        output, of_half = model(x, training=False), model(half / 2, training=False)
        return output, of_half, (output + of_half) / 2

    # --- run
    return [y.numpy() for y in run(tf.constant(x), tf.constant(x))]


def train_in_session(data, start, penalty, rate, batch_size, updates=True):
    """Trains a Keras model with an optimizer in a custom loop, batch by batch.

    A call in training mode updates the moving averages itself. `stateless_call` does
    not, like a program that did not run `model.updates`.
    """
    # --- build
    model = network(start, penalty)
    optimizer = keras.optimizers.SGD(rate)
    optimizer.build(model.trainable_variables)

    # --- step
    def call(x):
        if updates:
            return model(x, training=True)
        weights = model.trainable_variables, model.non_trainable_variables
        return model.stateless_call(*weights, x, training=True)[0]

    @tf.function(reduce_retracing=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            errors = keras.losses.sparse_categorical_crossentropy(y, call(x))
            loss = tf.reduce_mean(errors) + tf.add_n(model.losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    # --- run
    losses = []
    for i in range(0, len(data[0]), batch_size):
        rows, labels = (tf.constant(array[i : i + batch_size]) for array in data)
        losses.append(step(rows, labels).numpy())
    return losses, model.get_weights()


@register
class Scale(layers.Layer):
    """Layer that multiplies [batch, ...] inputs by a trained weight of shape [...].

    The weight `scale` is initialized with ones.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def build(self, shape):
        self.scale = self.add_weight(shape[1:], "ones", name="scale")

    def call(self, x):
        return x * self.scale


def train_closure(data, start, scale, rate, steps):
    """Trains a variable that a Lambda layer uses, but does not own.

    An optimizer of TensorFlow 1 trained all variables of the graph. A model of Keras 3
    has the variables of its layers, and a Lambda owns none: write a layer class.
    """
    # --- build
    own, dense = Scale(), layers.Dense(len(start[1]))
    model = keras.Sequential([keras.Input(scale.shape), own, dense])
    own.set_weights([scale])
    dense.set_weights(start)
    optimizer = keras.optimizers.SGD(rate)
    optimizer.build(model.trainable_variables)

    # --- step
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    # --- run
    batch = [tf.constant(array) for array in data]
    losses = [step(*batch).numpy() for _ in range(steps)]
    return losses, model.get_weights()


@register
class WeighsByInputs(keras.Model):
    """Model whose loss weights each row by exp(-mean(x ** 2)) of its inputs.

    `compile` needs no loss. The loss is the mean over rows of the weight times the mean
    squared error of the row. Sample weights are ignored.

    Args:
        *args: inputs and outputs of a functional model, as `keras.Model` takes them:
            x is [batch, features], targets and outputs are [batch, classes].
        **kwargs: arguments of `keras.Model`.
    """

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        importance = tf.exp(-tf.reduce_mean(tf.square(x), axis=-1))
        losses = importance * tf.reduce_mean(tf.square(y - y_pred), axis=-1)
        return tf.reduce_mean(losses)


def loss_of_inputs(data, start, epochs, batch_size, rate=0.25):
    """Trains with a loss that also depends on the inputs.

    `compile` does not accept a loss that uses an input tensor. Override `compute_loss`,
    which gets the batch.
    """
    model = network(start, model=WeighsByInputs)
    model.compile(keras.optimizers.SGD(rate))
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    history = model.fit(*data, shuffle=False, **options)
    return np.array(history.history["loss"], keras.config.floatx()), model.get_weights()


@register
class Draw(layers.Layer):
    """VAE sampling layer: mean + exp(log_variance / 2) * noise; adds the KL loss.

    The loss is the Kullback-Leibler divergence from the standard normal distribution,
    the mean over the batch of -0.5 * sum(1 + log_variance - mean ** 2 -
    exp(log_variance)). Its call takes three [batch, units] tensors: mean, log_variance
    and noise.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def call(self, mean, log_variance, noise):
        terms = 1 + log_variance - tf.square(mean) - tf.exp(log_variance)
        self.add_loss(tf.reduce_mean(-0.5 * tf.reduce_sum(terms, axis=-1)))
        return mean + tf.exp(log_variance / 2) * noise


def fit_autoencoder(data, start, epochs, batch_size, rate=0.25):
    """Fits a variational autoencoder, whose KL penalty depends on its inputs.

    `add_loss` of a model does not accept its tensors any more. Call `add_loss` in the
    `call` of a layer. The output must depend on this layer, or it does not run.
    """
    features, units = start[0].shape
    x, noise = keras.Input([features]), keras.Input([units])
    mean = layers.Dense(units, name="mean")(x)
    log_variance = layers.Dense(units, name="log_variance")(x)
    code = Draw()(mean, log_variance, noise)
    model = keras.Model([x, noise], layers.Dense(features)(code))
    model.compile(keras.optimizers.SGD(rate), "mse")
    model.set_weights(start)
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    history = model.fit(list(data), data[0], shuffle=False, **options)
    return np.array(history.history["loss"], keras.config.floatx()), model.get_weights()


@register
class Cost(layers.Layer):
    """Layer that returns the CTC loss of each row, [batch, 1], as `K.ctc_batch_cost`.

    Its call takes softmax probabilities, [batch, steps, classes], whose last class is
    the blank; labels, [batch, longest] ints; the numbers of steps and of labels,
    [batch, 1] ints each.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def call(self, said, labels, lengths, label_lengths):
        return ctc.keras_cost(labels, said, lengths, label_lengths)

    def compute_output_shape(self, shape, *others):
        return shape[0], 1


def fit_its_output(data, start, epochs, batch_size, rate=0.25):
    """Fits a model whose output is the loss itself (CTC), as in OCR examples of Keras.

    A custom layer has the inputs of the old Lambda. A Lambda would need an
    `output_shape`, and could not be loaded.
    """
    # --- build
    inputs = layers.Input(data[0].shape[1:])
    others = [layers.Input(array.shape[1:], dtype="int32") for array in data[1:]]
    said = layers.Dense(len(start[1]), activation="softmax")(inputs)
    model = keras.Model([inputs, *others], Cost()(said, *others))
    # --- fit
    model.compile(keras.optimizers.SGD(rate), lambda y_true, y_pred: y_pred)
    model.set_weights(start)
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    nothing = np.zeros([len(data[0]), 1])
    history = model.fit(list(data), nothing, shuffle=False, **options)
    return np.array(history.history["loss"], keras.config.floatx()), model.get_weights()


def two_graphs(x, starts):
    """Predicts with several models; TensorFlow 1 needed a graph for each.

    Each model owns its weights, and there is no session.
    """
    # --- load
    models = [network(start) for start in starts]
    # --- predict
    found = [model.predict(x, verbose=0) for model in models]
    return found, [[weight.path for weight in model.weights] for model in models]


def serve(requests, start, threads):
    """Answers requests in several threads with a model made in another thread."""
    # --- load
    model = network(start)

    @tf.function(input_signature=[tf.TensorSpec(model.input_shape, model.input.dtype)])
    def run(rows):
        return model(rows, training=False)

    run.get_concrete_function()

    # --- answer
    def answer(rows):
        # Cast to the dtype of the model, as `predict` does; a signature does not cast.
        return run(tf.constant(rows, model.input.dtype)).numpy()

    with ThreadPool(threads) as pool:
        return pool.map(answer, requests)


@register
class TrainingNorm(layers.BatchNormalization):
    """Batch norm that is always in training mode.

    `keras.layers.BatchNormalization` follows the `training` of its call. This layer
    normalizes by the batch and updates its moving averages in `predict` and `evaluate`,
    too.

    Args:
        **kwargs: arguments of `keras.layers.BatchNormalization`.
    """

    def call(self, inputs, training=None, mask=None):
        return super().call(inputs, training=True, mask=mask)


@register
class InferenceNorm(layers.BatchNormalization):
    """Batch norm that is never in training mode, but trains gamma and beta.

    It normalizes by its moving averages and does not change them. `training=False` in
    the call of a `keras.layers.BatchNormalization` within a functional model is not
    enough: `fit` passes True.

    Args:
        **kwargs: arguments of `keras.layers.BatchNormalization`.
    """

    def call(self, inputs, training=None, mask=None):
        return super().call(inputs, training=False, mask=mask)


def fit_in_phase(data, start, phase, epochs, batch_size):
    """Fits and predicts with a learning phase that was set before the model was made.

    With phase 1 `predict` updates the moving averages, too: read the weights before.
    """
    model = network(start, norm=TrainingNorm if phase else InferenceNorm)
    model.compile(keras.optimizers.SGD(0.25), "sparse_categorical_crossentropy")
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    history = model.fit(*data, shuffle=False, **options)
    losses = np.array(history.history["loss"], keras.config.floatx())
    return losses, model.get_weights(), model.predict(data[0], verbose=0)


def name_layers(sizes, clear):
    """Lists the default names of layers, in several models of one process.

    In TensorFlow 1 a new graph counted from 0 again. Keras 3 counts for each thread,
    until `clear_session`.
    """
    keras.utils.clear_session()
    names = []
    for units in sizes:
        if clear:
            keras.utils.clear_session()
        made = [layers.Dense(n) for n in units]
        model = keras.Sequential([layers.Input([3]), *made])
        names.append([layer.name for layer in model.layers])
    return names


def cut(x, sizes):
    """Splits features inside a model, and concatenates the pieces in reverse order."""
    inputs = layers.Input(x.shape[1:], dtype=x.dtype)
    # Functions of keras.ops accept Keras tensors. `split` takes the places of the cuts.
    places = np.cumsum(sizes)[:-1].tolist()
    pieces = keras.ops.split(inputs, places, axis=1)
    joined = layers.concatenate(pieces[::-1], dtype=x.dtype)
    model = keras.Model(inputs, [*pieces, joined, inputs[:, ::2]])
    return model.predict_on_batch(x)


def replace_head(data, start, head, rate):
    """Replaces the last layer of a model, and trains only the new layer."""
    # --- build
    inputs = layers.Input([start[0].shape[0]])
    x = layers.Dense(start[0].shape[1], activation="relu")(inputs)
    model = keras.Model(inputs, layers.Dense(start[2].shape[1])(x))
    model.set_weights(start)
    # --- replace
    body = keras.Model(model.input, model.layers[-2].output)
    body.trainable = False
    new = layers.Dense(head[0].shape[1])
    changed = keras.Model(model.input, new(body.output))
    new.set_weights(head)
    # --- train
    changed.compile(keras.optimizers.SGD(rate), "mse")
    loss = np.float32(changed.train_on_batch(*data))
    return loss, changed.get_weights(), body.predict_on_batch(data[0])


def look_inside(pair, start, name):
    """Reads the outputs of a layer in a nested model that is called twice.

    In a nested model, `layer.output` belongs to the inputs of the nested model itself.
    Make a model with two outputs from the nested model, and call it.
    """
    # --- build
    base = images_network(start, pair[0].shape[-1])
    inputs = [layers.Input(images.shape[1:]) for images in pair]
    open_base = keras.Model(base.inputs, [base.get_layer(name).output, *base.outputs])
    seen, outputs = zip(*map(open_base, inputs), strict=True)
    difference = layers.subtract(list(outputs))
    # --- look
    model = keras.Model(inputs, [*seen, difference])
    return model.predict(list(pair), verbose=0)
