"""`K.function`, `K.gradients`, `K.learning_phase` → calls of models, and tapes."""

from multiprocessing.pool import ThreadPool

import numpy as np
import tensorflow.compat.v1 as tf

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

K = tf.keras.backend
layers = tf.keras.layers


def network(start, penalty=None, tensor=None):
    """Makes a dense network with a batch norm and the weights `start`."""
    (features, hidden), classes = start[0].shape, len(start[-1])
    regularizer = None if penalty is None else tf.keras.regularizers.l2(penalty)
    inputs = layers.Input((features,), tensor=tensor)
    x = layers.Dense(
        hidden, activation="relu", kernel_regularizer=regularizer, name="hidden"
    )(inputs)
    x = layers.BatchNormalization(momentum=0.75, name="norm")(x)
    outputs = layers.Dense(classes, activation="softmax", name="classes")(x)
    model = tf.keras.Model(inputs, outputs)
    model.set_weights(start)
    return model


def images_network(start, channels):
    """Makes a convolutional network: two convolutions, and the weights `start`."""
    inputs = layers.Input((None, None, channels))
    x = inputs
    for name, kernel in [("edges", start[0]), ("shapes", start[2])]:
        convolution = layers.Conv2D(
            kernel.shape[-1], 3, padding="same", activation="relu", name=name
        )
        x = convolution(x)
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(len(start[-1]), activation="softmax", name="classes")(x)
    model = tf.keras.Model(inputs, outputs)
    model.set_weights(start)
    return model


def one_layer(kernel):
    """Makes a model of one dense layer with a constant initializer for its kernel."""
    initializer = tf.keras.initializers.Constant(kernel)
    layer = layers.Dense(kernel.shape[1], kernel_initializer=initializer)
    return tf.keras.Sequential([layers.Input(kernel.shape[:1]), layer])


def layer_outputs(x, start, phase):
    """Computes the output of each layer of a model, in training or inference mode.

    Args:
        x: [n, features] float array.
        start: [kernel, bias, gamma, beta, mean, variance, kernel, bias], float arrays
            of a dense layer, of its batch norm and of a last dense layer.
        phase: 1 for training, 0 for inference.

    Returns:
        (list of the outputs of the layers, [n, units] each; list of the final weights).
    """
    with tf.Graph().as_default():
        model = network(start)
        outputs = [layer.output for layer in model.layers[1:]]
        run = K.function([model.input, K.learning_phase()], outputs)
        return run([x, phase]), model.get_weights()


def monte_carlo(x, start, rate, seed, passes):
    """Computes mean and deviation of many predictions with dropout (Monte Carlo).

    Args:
        x: [n, features] float array.
        start: [kernel, bias] of a hidden layer and of the last layer.
        rate: dropout rate of the hidden units.
        seed: int, the seed of the dropout; the graph's seed is 7.
        passes: number of predictions.

    Returns:
        ([n, classes] means, [n, classes] standard deviations).
    """
    with tf.Graph().as_default():
        # --- build
        tf.set_random_seed(7)
        inputs = layers.Input(x.shape[1:])
        hidden = layers.Dense(len(start[1]), activation="relu")(inputs)
        hidden = layers.Dropout(rate, seed=seed)(hidden)
        outputs = layers.Dense(len(start[-1]), activation="softmax")(hidden)
        model = tf.keras.Model(inputs, outputs)
        model.set_weights(start)
        # --- run
        run = K.function([model.input, K.learning_phase()], [model.output])
        found = np.array([run([x, 1])[0] for _ in range(passes)])
        return found.mean(axis=0), found.std(axis=0)


def running_mean(batches, momentum):
    """Subtracts a running mean from each batch, and updates the mean with the batch.

    Args:
        batches: list of [n, features] float arrays.
        momentum: share of the old mean that an update keeps.

    Returns:
        (list of the batches, each minus the mean before it; [mean, number of batches]).
    """
    with tf.Graph().as_default():
        # --- variables
        x = K.placeholder(shape=(None, batches[0].shape[1]))
        mean, seen = K.zeros(batches[0].shape[1]), K.variable(0)
        # --- step
        centred = x - mean
        with tf.control_dependencies([centred]):
            moved = K.moving_average_update(mean, K.mean(x, axis=0), momentum)
            updates = [moved, K.update_add(seen, 1)]
        step = K.function([x], [centred], updates=updates)
        # --- run
        K.get_session().run(tf.global_variables_initializer())
        centred = [step([batch])[0] for batch in batches]
        return centred, K.batch_get_value([mean, seen])


def saliency(images, start):
    """Computes a saliency map: the predicted class's gradient for each pixel.

    Args:
        images: [n, height, width, channels] float array.
        start: [kernel, bias] of two convolutions and of a layer.

    Returns:
        ([n, height, width] maps, [n] classes).
    """
    with tf.Graph().as_default():
        model = images_network(start, images.shape[-1])
        score = K.max(model.output, axis=-1)
        gradients = K.gradients(score, model.input)[0]
        found = K.max(K.abs(gradients), axis=-1)
        run = K.function([model.input], [found, K.argmax(model.output)])
        return run([images])


@tf.RegisterGradient("KerasGuidedRelu")
def _guided_relu(op, dy):
    return tf.where(dy > 0, dy, tf.zeros_like(dy)) * tf.cast(
        op.outputs[0] > 0, dy.dtype
    )


def guided_saliency(images, start, label):
    """Computes a class's gradient for each pixel by guided backpropagation.

    Args:
        images, start: see `saliency`.
        label: int, the class.

    Returns:
        Array like `images`; every ReLU passes only positive gradients.
    """
    graph = tf.Graph()
    with graph.as_default(), graph.gradient_override_map({"Relu": "KerasGuidedRelu"}):
        model = images_network(start, images.shape[-1])
        gradients = K.gradients(model.output[:, label], model.input)
        return K.function([model.input], gradients)([images])[0]


def grad_cam(image, start, label):
    """Computes Grad-CAM: last convolution's maps, weighted by a class's gradient.

    Args:
        image: [height, width, channels] float array.
        start: as for `saliency`.
        label: the class.

    Returns:
        [height, width] float array, at most 1; NaN if no value is positive.
    """
    with tf.Graph().as_default():
        # --- build
        model = images_network(start, image.shape[-1])
        seen = model.get_layer("shapes").output
        # --- gradients
        gradients = K.gradients(model.output[:, label], seen)[0]
        weights = K.mean(gradients, axis=(0, 1, 2))
        run = K.function([model.input], [weights, seen[0]])
        # --- map
        weights, maps = run([image[np.newaxis]])
        for i in range(len(weights)):
            maps[:, :, i] *= weights[i]
        heat = np.maximum(np.mean(maps, axis=-1), 0)
        return heat / np.max(heat)


def deep_dream(image, start, shares, rate, steps, limit=None):
    """DeepDream: changes an image by gradient ascent on the outputs of layers.

    Args:
        image: [1, height, width, channels] float array.
        start: as for `saliency`.
        shares: {name of a layer: its share of the loss}.
        rate: step size; a gradient is divided by the mean of its magnitudes first.
        steps: maximum number of steps.
        limit: a loss above this ends the ascent; None for all steps.

    Returns:
        (the image, list of the losses).
    """
    with tf.Graph().as_default():
        # --- build
        model = images_network(start, image.shape[-1])
        loss = K.variable(0.0)
        for name, share in sorted(shares.items()):
            answer = model.get_layer(name).output
            scaling = K.prod(K.cast(K.shape(answer), K.floatx()))
            loss = loss + share * K.sum(K.square(answer[:, 2:-2, 2:-2, :])) / scaling
        # --- step
        gradients = K.gradients(loss, model.input)[0]
        gradients /= K.maximum(K.mean(K.abs(gradients)), 1e-7)
        step = K.function([model.input], [loss, gradients])
        # --- run
        losses = []
        for _ in range(steps):
            value, upwards = step([image])
            losses.append(value)
            if limit is not None and value > limit:
                break
            image = image + rate * upwards
        return image, losses


def loss_gradients(data, start, penalty):
    """Differentiates the compiled loss with respect to the trainable weights.

    Args:
        data: (x, y), float array [n, features] and int array [n] of classes.
        start: as for `layer_outputs`.
        penalty: number, the L2 penalty factor of the first kernel.

    Returns:
        List of arrays like the trainable weights.
    """
    with tf.Graph().as_default():
        model = network(start, penalty)
        model.compile("sgd", "sparse_categorical_crossentropy")
        gradients = model.optimizer.get_gradients(
            model.total_loss, model.trainable_weights
        )
        inputs = model._feed_inputs + model._feed_targets + model._feed_sample_weights
        run = K.function(inputs + [K.learning_phase()], gradients)
        return run(list(data) + [0])


def average_weights(x, snapshots):
    """Predicts with the mean of several sets of weights.

    Args:
        x: [n, features] float array.
        snapshots: list of sets of weights, each as `start` of `layer_outputs`.

    Returns:
        ([n, classes] probabilities, list of the mean weights, L2 norm of the first
        kernel).
    """
    with tf.Graph().as_default():
        model = network(snapshots[0])
        # --- average
        sums = [K.zeros(K.int_shape(weight)) for weight in model.weights]
        for snapshot in snapshots:
            pairs = zip(sums, K.batch_get_value(sums), snapshot)
            K.batch_set_value([(s, value + new) for s, value, new in pairs])
        means = [K.eval(s / len(snapshots)) for s in sums]
        # --- predict
        K.batch_set_value(list(zip(model.weights, means)))
        length = K.eval(K.sqrt(K.sum(K.square(model.weights[0]))))
        return model.predict(x), K.batch_get_value(model.weights), length


def reset_weights(data, kernel, epochs, rate):
    """Trains a layer, resets its weights with their initializers, and trains again.

    Args:
        data: (x, y), float arrays [n, features] and [n, units].
        kernel: [features, units] float array, the initial kernel; the bias begins at 0.
        epochs: number of epochs, each of one step on all rows.
        rate: learning rate of gradient descent with momentum.

    Returns:
        [2, epochs] losses. The optimizer's slots are not reset.
    """
    with tf.Graph().as_default():
        # --- build
        model = one_layer(kernel)
        model.compile(tf.keras.optimizers.SGD(rate, momentum=0.5), "mse")
        # --- train
        losses = []
        for _ in range(2):
            for weight in model.weights:
                weight.initializer.run(session=K.get_session())
            history = model.fit(
                *data, batch_size=len(data[0]), epochs=epochs, shuffle=False, verbose=0
            )
            losses.append(history.history["loss"])
        return np.array(losses, K.floatx())


def run_in_session(x, start):
    """Runs a model on its input and on another tensor, in one session or function.

    Args:
        x: [n, features] float array.
        start: as for `layer_outputs`.

    Returns:
        Three [n, classes] arrays: for `x`, for `x` / 2, and the mean of both.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        K.set_session(sess)
        model = network(start)
        half = tf.placeholder(x.dtype, [None, x.shape[1]])
        of_half = model(half / 2)
        both = (model.output + of_half) / 2
        # --- run
        feed = {model.input: x, half: x, K.learning_phase(): 0}
        return sess.run([model.output, of_half, both], feed)


def train_in_session(data, start, penalty, rate, batch_size, updates=True):
    """Trains a Keras model with an optimizer in a custom loop, batch by batch.

    Args:
        data, start, penalty: as for `loss_gradients`.
        rate: learning rate of gradient descent.
        batch_size: rows of a batch.
        updates: whether the moving averages are updated; False for a program that ran
            the step without `model.updates`.

    Returns:
        (list of the losses, list of the weights).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        K.set_session(sess)
        x = tf.placeholder(data[0].dtype, [None, data[0].shape[1]])
        y = tf.placeholder(tf.int32, [None])
        model = network(start, penalty, tensor=x)
        # --- step
        errors = tf.keras.losses.sparse_categorical_crossentropy(y, model.output)
        loss = tf.reduce_mean(errors) + tf.add_n(model.losses)
        train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        fetches = [loss, train] + (model.updates if updates else [])
        # --- run
        losses = []
        for i in range(0, len(data[0]), batch_size):
            rows, labels = (array[i : i + batch_size] for array in data)
            feed = {x: rows, y: labels, K.learning_phase(): 1}
            losses.append(sess.run(fetches, feed)[0])
        return losses, model.get_weights()


def train_closure(data, start, scale, rate, steps):
    """Trains a variable that a Lambda layer uses, but does not own.

    Args:
        data: (x, y), float arrays [n, features] and [n, units].
        start: [kernel, bias] of the dense layer after the Lambda layer.
        scale: [features] array, the initial value of the variable that multiplies the
            inputs.
        rate: learning rate of gradient descent.
        steps: number of steps, each on all rows.

    Returns:
        (list of the losses before each step, [scale, kernel, bias]).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        K.set_session(sess)
        variable = tf.Variable(scale, name="scale")
        inputs = layers.Input(scale.shape)
        scaled = layers.Lambda(lambda x: x * variable)(inputs)
        dense = layers.Dense(len(start[1]))
        model = tf.keras.Model(inputs, dense(scaled))
        # --- step
        y = tf.placeholder(data[1].dtype, [None, len(start[1])])
        loss = tf.reduce_mean(tf.square(model.output - y))
        train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        model.set_weights(start)
        feed = dict(zip([model.input, y], data))
        losses = [sess.run([loss, train], feed)[0] for _ in range(steps)]
        return losses, sess.run([variable, dense.kernel, dense.bias])


def loss_of_inputs(data, start, epochs, batch_size, rate=0.25):
    """Trains with a loss that also depends on the inputs.

    Args:
        data: (x, y), float arrays [n, features] and [n, classes].
        start: as for `layer_outputs`.
        epochs: number of epochs.
        batch_size: rows of a batch.
        rate: learning rate of gradient descent.

    Returns:
        ([epochs] losses, list of the weights).
    """
    with tf.Graph().as_default():
        model = network(start)
        importance = K.exp(-K.mean(K.square(model.input), axis=-1))

        def loss(y_true, y_pred):
            return importance * K.mean(K.square(y_true - y_pred), axis=-1)

        model.compile(tf.keras.optimizers.SGD(rate), loss)
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        history = model.fit(*data, shuffle=False, **options)
        return np.array(history.history["loss"], K.floatx()), model.get_weights()


def fit_autoencoder(data, start, epochs, batch_size, rate=0.25):
    """Fits a variational autoencoder, whose KL penalty depends on its inputs.

    Args:
        data: (x, noise), float arrays [n, features] and [n, units]. The noise is an
            input, so that both sides use the same noise.
        start: list of six arrays: kernel and bias of the mean, of the log of the
            variance, both [features, units], and of the decoder, [units, features].
        epochs, batch_size, rate: as for `loss_of_inputs`.

    Returns:
        ([epochs] losses, list of the weights).
    """
    features, units = start[0].shape
    with tf.Graph().as_default():
        x, noise = layers.Input((features,)), layers.Input((units,))
        mean = layers.Dense(units, name="mean")(x)
        log_variance = layers.Dense(units, name="log_variance")(x)
        drawn = layers.Lambda(lambda part: part[0] + K.exp(part[1] / 2) * part[2])
        code = drawn([mean, log_variance, noise])
        model = tf.keras.Model([x, noise], layers.Dense(features)(code))
        terms = 1 + log_variance - K.square(mean) - K.exp(log_variance)
        model.add_loss(K.mean(-0.5 * K.sum(terms, axis=-1)))
        model.compile(tf.keras.optimizers.SGD(rate), "mse")
        model.set_weights(start)
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        history = model.fit(list(data), data[0], shuffle=False, **options)
        return np.array(history.history["loss"], K.floatx()), model.get_weights()


def fit_its_output(data, start, epochs, batch_size, rate=0.25):
    """Fits a model whose output is the loss itself (CTC), as in OCR examples of Keras.

    Args:
        data: (x, labels, lengths, label lengths), float array [n, time, features] and
            int arrays [n, labels], [n, 1] and [n, 1].
        start: [kernel, bias] of a dense layer with softmax; the last class is the
            blank.
        epochs, batch_size, rate: as for `loss_of_inputs`.

    Returns:
        ([epochs] losses, list of the weights).
    """
    x = data[0]
    with tf.Graph().as_default():
        # --- build
        inputs = layers.Input(x.shape[1:])
        others = [layers.Input(array.shape[1:], dtype="int32") for array in data[1:]]
        said = layers.Dense(len(start[1]), activation="softmax")(inputs)
        cost = layers.Lambda(lambda args: K.ctc_batch_cost(*args), name="ctc")
        truth, lengths, label_lengths = others
        output = cost([truth, said, lengths, label_lengths])
        model = tf.keras.Model([inputs] + others, output)
        # --- fit
        optimizer = tf.keras.optimizers.SGD(rate)
        model.compile(optimizer, {"ctc": lambda y_true, y_pred: y_pred})
        model.set_weights(start)
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        nothing = np.zeros([len(x), 1])
        history = model.fit(list(data), nothing, shuffle=False, **options)
        return np.array(history.history["loss"], K.floatx()), model.get_weights()


def two_graphs(x, starts):
    """Predicts with several models; TensorFlow 1 needed a graph for each.

    Args:
        x: [n, features] float array.
        starts: list of sets of weights, as for `layer_outputs`.

    Returns:
        (list of [n, classes] arrays, list of lists of the names of weights).
    """
    # --- load
    loaded = []
    for start in starts:
        graph = tf.Graph()
        session = tf.Session(graph=graph)
        with graph.as_default(), session.as_default():
            loaded.append((graph, session, network(start)))
    # --- predict
    found = []
    for graph, session, model in loaded:
        with graph.as_default(), session.as_default():
            found.append(model.predict(x))
        session.close()
    names = [[w.name.partition(":")[0] for w in m.weights] for _, _, m in loaded]
    return found, names


def serve(requests, start, threads):
    """Answers requests in several threads with a model made in another thread.

    Args:
        requests: list of [n, features] float arrays.
        start: as for `layer_outputs`.
        threads: number of threads.

    Returns:
        List of [n, classes] arrays, in the order of the requests.
    """
    # --- load
    graph = tf.Graph()
    with graph.as_default():
        session = tf.Session()
        K.set_session(session)
        model = network(start)
        model._make_predict_function()
    graph.finalize()

    # --- answer
    def answer(rows):
        with graph.as_default(), session.as_default():
            return model.predict(rows)

    pool = ThreadPool(threads)
    answers = pool.map(answer, requests)
    pool.close()
    session.close()
    return answers


def fit_in_phase(data, start, phase, epochs, batch_size):
    """Fits and predicts with a learning phase that was set before the model was made.

    Args:
        data, start: as for `loss_gradients`.
        phase: 1 for training, 0 for inference, in `fit` and in `predict`.
        epochs: number of epochs.
        batch_size: rows of a batch.

    Returns:
        ([epochs] losses, list of the weights, [n, classes] predictions).
    """
    with tf.Graph().as_default():
        K.set_learning_phase(phase)
        model = network(start)
        model.compile(tf.keras.optimizers.SGD(0.25), "sparse_categorical_crossentropy")
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        history = model.fit(*data, shuffle=False, **options)
        losses = np.array(history.history["loss"], K.floatx())
        return losses, model.get_weights(), model.predict(data[0])


def name_layers(sizes, clear):
    """Lists the default names of layers, in several models of one process.

    Args:
        sizes: list of lists of units, a list for each model.
        clear: whether to clear the session before each model.

    Returns:
        List of lists of names, one list for each model.
    """

    def build():
        names = []
        for units in sizes:
            if clear:
                K.clear_session()
            made = [layers.Dense(n) for n in units]
            model = tf.keras.Sequential(made)
            model.build((None, 3))
            names.append([layer.name for layer in model.layers])
        return names

    # A thread has its own default graph, and only such a graph can be cleared.
    return ThreadPool(1).apply(build)


def cut(x, sizes):
    """Splits features inside a model, and concatenates the pieces in reverse order.

    Args:
        x: [batch, features] float array.
        sizes: number of features of each piece.

    Returns:
        List of arrays: the pieces, their concatenation, and every second feature.
    """
    with tf.Graph().as_default(), tf.Session():
        inputs = layers.Input(x.shape[1:])
        pieces = layers.Lambda(lambda x: tf.split(x, sizes, axis=1))(inputs)
        joined = layers.concatenate(pieces[::-1])
        second = layers.Lambda(lambda x: x[:, ::2])(inputs)
        model = tf.keras.Model(inputs, pieces + [joined, second])
        return model.predict_on_batch(x)


def replace_head(data, start, head, rate):
    """Replaces the last layer of a model, and trains only the new layer.

    Args:
        data: (x [n, features], y [n, outputs]) float32 arrays.
        start: [kernel, bias] of a first layer, then of the last layer.
        head: [kernel, bias] of the new last layer.
        rate: learning rate of gradient descent.

    Returns:
        (float32 loss before a step that trains only the new layer, list of all weights,
        [n, units] outputs of the first layer).
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        inputs = layers.Input([start[0].shape[0]])
        x = layers.Dense(start[0].shape[1], activation="relu")(inputs)
        model = tf.keras.Model(inputs, layers.Dense(start[2].shape[1])(x))
        model.set_weights(start)
        # --- replace
        body = tf.keras.Model(model.input, model.layers[-2].output)
        body.trainable = False
        new = layers.Dense(head[0].shape[1])
        changed = tf.keras.Model(model.input, new(body.output))
        new.set_weights(head)
        # --- train
        changed.compile(tf.keras.optimizers.SGD(rate), "mse")
        loss = np.float32(changed.train_on_batch(*data))
        return loss, changed.get_weights(), body.predict_on_batch(data[0])


def look_inside(pair, start, name):
    """Reads the outputs of a layer in a nested model that is called twice.

    Args:
        pair: two [n, height, width, channels] float arrays to compare.
        start: [kernel, bias] of two convolutions and of a last layer.
        name: name of the layer, "edges" or "shapes".

    Returns:
        List of three arrays: the layer's output for the first and for the second of the
        pair, and the difference of the model's outputs.
    """
    with tf.Graph().as_default():
        # --- build
        base = images_network(start, pair[0].shape[-1])
        inputs = [layers.Input(images.shape[1:]) for images in pair]
        outputs = [base(images) for images in inputs]
        difference = layers.subtract(outputs)
        # --- look
        layer = base.get_layer(name)  # node 0 is the call in the base itself
        seen = [layer.get_output_at(1), layer.get_output_at(2)]
        return tf.keras.Model(inputs, seen + [difference]).predict(list(pair))
