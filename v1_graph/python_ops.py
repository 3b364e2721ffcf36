"""`tf.py_func`, `tf.RegisterGradient`, `gradient_override_map` → `custom_gradient`."""

import glob
import os
import tempfile
import uuid

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "relu",
    "quantize",
    "binarize",
    "saliency",
    "newton_root",
    "keep_boxes",
    "repeat_rows",
    "parse_quantities",
    "log_steps",
    "check_gradient",
    "analytic_and_numeric",
    "draw_labels",
    "write_images",
]


def relu(x, chained=True):
    """Computes ReLU, max(x, 0), and its gradient in NumPy.

    Args:
        x: float tensor.
        chained: whether to multiply by the upstream gradient, as is necessary.

    Returns:
        Tensor like `x`.
    """

    # --- forward
    def forward(x):
        return np.maximum(x, 0, dtype=x.dtype)

    def slope(x):
        return (x > 0).astype(x.dtype)  # the dtype of Tout, or it is refused

    # --- gradient
    def gradient(op, upstream):
        x = op.inputs[0]
        slopes = tf.py_func(slope, [x], x.dtype)
        slopes.set_shape(x.shape)
        return upstream * slopes if chained else slopes

    # A name can be registered once in a process, but this line runs for every layer.
    name = "PythonRelu" + uuid.uuid4().hex
    tf.RegisterGradient(name)(gradient)
    # The type of the op: with stateful=False it would be PyFuncStateless.
    with tf.get_default_graph().gradient_override_map({"PyFunc": name}):
        y = tf.py_func(forward, [x], x.dtype)
    y.set_shape(x.shape)
    return y


def quantize(x, bits):
    """Rounds numbers in [0, 1] to 2**bits levels; gradients pass straight through.

    Args:
        x: float tensor.
        bits: number of bits.

    Returns:
        Tensor like `x`.
    """
    levels = 2**bits - 1
    # --- gradient
    with tf.get_default_graph().gradient_override_map({"Round": "Identity"}):
        rounded = tf.round(x * levels)
    return rounded / levels


def binarize(x):
    """Computes the signs of numbers; gradients pass straight through.

    Args:
        x: float tensor.

    Returns:
        Tensor like `x`.
    """
    # --- gradient
    with tf.get_default_graph().gradient_override_map({"Sign": "Identity"}):
        return tf.sign(x)


@tf.RegisterGradient("GuidedRelu")
def guided_relu_gradient(op, upstream):
    """Passes positive gradients where the input was positive, as guided ReLU does."""
    return tf.nn.relu(upstream) * tf.cast(op.inputs[0] > 0, upstream.dtype)


def saliency(x, hidden, output, guided=True):
    """Computes the gradient of the largest logit, by guided backpropagation or not.

    Args:
        x: [batch, n] float tensor.
        hidden: [n, m] tensor of the same dtype, the first weights.
        output: [m, classes] tensor of the same dtype, the last weights.
        guided: whether ReLUs block negative gradients.

    Returns:
        [batch, n] tensor.
    """

    # --- network
    def network(x):
        return tf.matmul(tf.nn.relu(tf.matmul(x, hidden)), output)

    # --- gradient
    # Every ReLU that is made here has the other gradient, also in a library's network.
    overridden = {"Relu": "GuidedRelu"} if guided else {}
    with tf.get_default_graph().gradient_override_map(overridden):
        logits = network(x)
    return tf.gradients(tf.reduce_max(logits, axis=1), x)[0]


def newton_root(x, tolerance=2.0**-10, limit=50):
    """Solves y + y³ = x in Python by Newton's method, until it converges.

    Args:
        x: float tensor.
        tolerance: largest residual before the last step.
        limit: largest number of steps.

    Returns:
        Tensor like `x`, with the gradient of the steps that were taken.
    """

    # --- python
    # Runs eagerly: x is a tensor, Python decides, a tape records every step.
    def solve(x):
        y = tf.zeros_like(x)  # not x itself: the slope would be that of x - x, too
        for _ in range(limit):
            with tf.GradientTape() as tape:
                tape.watch(y)
                residual = y + y * y * y - x
            y = y - residual / tape.gradient(residual, y)
            if np.abs(residual.numpy()).max(initial=0) <= tolerance:
                break
        return y

    # --- op
    y = tf.py_function(solve, [x], x.dtype)
    y.set_shape(x.shape)
    return y


def keep_boxes(boxes, scores, limit=0.5):
    """Non-maximum suppression in Python: drops boxes that overlap a better one.

    Args:
        boxes: [n, 4] float tensor of left, top, right, bottom.
        scores: [n] tensor of the same dtype.
        limit: the largest overlap, as intersection over union.

    Returns:
        [[k, 4] boxes, [k] int32 indices of these boxes, [k] largest overlap of each box
        with the boxes before it].
    """

    # --- python
    def suppress(boxes, scores):
        kept, overlaps = [], []
        areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        for i in np.argsort(-scores, kind="mergesort"):
            size = np.minimum(boxes[i, 2:], boxes[kept, 2:])
            size = np.maximum(size - np.maximum(boxes[i, :2], boxes[kept, :2]), 0)
            common = size[:, 0] * size[:, 1]
            overlap = (common / (areas[i] + areas[kept] - common)).max(initial=0)
            if overlap <= limit:
                kept.append(i)
                overlaps.append(overlap)
        # One array for each dtype of Tout. By default, NumPy would make int64 and
        # float64.
        return np.array(kept, np.int32), np.array(overlaps, boxes.dtype)

    # --- op
    kept, overlaps = tf.py_func(suppress, [boxes, scores], [tf.int32, boxes.dtype])
    kept.set_shape([None])
    overlaps.set_shape([None])
    # Outside Python, because an op of Python has no gradient.
    return [tf.gather(boxes, kept), kept, overlaps]


def repeat_rows(x, shape, checked=True):
    """Repeats every row in Python, and sets the static shape of the result.

    Args:
        x: [n, m] tensor.
        shape: list of numbers and None, the static shape to set.
        checked: whether to check the shape when the op has run.

    Returns:
        [[2n, m] tensor, its shape as the graph knows it].

    Raises:
        InvalidArgumentError: the shape is checked, and differs.
    """
    # --- op
    y = tf.py_func(lambda x: np.repeat(x, 2, axis=0), [x], x.dtype)
    # --- shape
    # Until now the graph does not even know the rank.
    if checked:
        y = tf.ensure_shape(y, shape)
    else:
        y.set_shape(shape)
    return [y, tf.shape(y)]


def parse_quantities(texts, cast=True):
    """Parses texts such as "1.5 µm" in Python into numbers and units.

    Args:
        texts: [n] string tensor, UTF-8.
        cast: whether to cast Python's float64 to float32.

    Returns:
        [[n] float32 numbers, [n] strings in upper case].

    Raises:
        InvalidArgumentError: a text has no number, or `cast` is False.
    """

    # --- python
    def parse(texts):
        numbers, units = [], []
        for text in texts:  # of bytes
            number, _, unit = text.decode("utf-8").partition(" ")
            numbers.append(float(number))
            units.append(unit.upper().encode("utf-8"))
        numbers = np.array(numbers)
        # An object array: with a fixed width, NumPy would drop zero bytes at the end.
        return numbers.astype(np.float32) if cast else numbers, np.array(units, object)

    # --- op
    numbers, units = tf.py_func(parse, [texts], [tf.float32, tf.string])
    numbers.set_shape(texts.shape)
    units.set_shape(texts.shape)
    return [numbers, units]


def log_steps(xs):
    """Squares numbers one by one; Python logs its calls, and the trace of the step.

    Args:
        xs: [n] float array.

    Returns:
        ([n] list of squares, list of 1 + 2n lines).
    """
    log = []

    def before(x):
        log.append(f"before {x:g}")

    def after(x):
        log.append(f"after {x:g}")

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- step
        log.append("made")
        x = tf.placeholder(xs.dtype, [])
        # Without outputs, it is an operation that runs for its side effect.
        with tf.control_dependencies([tf.py_func(before, [x], [])]):
            square = tf.square(x)
        logged = tf.py_func(after, [square], [])
        # --- run
        squares = [sess.run([square, logged], {x: number})[0] for number in xs]
        return squares, log


def check_gradient(x, weights, chained=True, delta=1e-3):
    """Compares the gradient of ReLUs written in Python with finite differences.

    Args:
        x: [n] float array.
        weights: [m, n] array of the same dtype.
        chained: whether the gradient of `relu` is right.
        delta: half the distance of the points where the difference is taken.

    Returns:
        dict of [n, m] arrays `analytic` and `numeric`, and `error`, their largest
        distance.
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        given = tf.constant(x)
        y = relu(tf.tensordot(weights, given, 1), chained)
        # --- run
        where = given, x.shape, y, weights.shape[:1]
        analytic, numeric = tf.test.compute_gradient(*where, x, delta)
        error = tf.test.compute_gradient_error(*where, x, delta)
        return {"analytic": analytic, "numeric": numeric, "error": float(error)}


def analytic_and_numeric(x, dx):
    """Differentiates ReLU with its own gradient, and with a difference quotient.

    Args:
        x: float tensor.
        dx: scalar tensor of the same dtype.

    Returns:
        [gradient, quotient], tensors like `x`.
    """
    # --- analytic
    gradient = tf.gradients(relu(x), x)[0]
    # --- numeric
    return [gradient, (relu(x + dx) - relu(x)) / dx]


# Rows of three pixels, written in octal: 7 is a full row, 5 has a gap.
DIGITS = "75557 26227 71747 71717 55711 74717 74757 71111 75757 75717".split()


def paint(image, label):
    """Draws a number on an image in place, with the same pixels on any machine."""
    for i, digit in enumerate(str(label)):
        bits = [f"{int(row):03b}" for row in DIGITS[int(digit)]]
        ink = 255 * np.array([[int(bit) for bit in row] for row in bits], np.uint8)
        image[1:6, 1 + 4 * i : 4 + 4 * i] = ink[:, :, np.newaxis]


def plot(image, label):
    """Draws an image and its label with matplotlib; pixels depend on its version."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # No pyplot: it is not thread-safe, and keeps every figure.
    figure = Figure(figsize=(2, 1), dpi=80)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot(111)
    axes.imshow(image)
    axes.text(0, 0, str(label), color="white", verticalalignment="top")
    canvas.draw()
    return np.array(canvas.buffer_rgba())[:, :, :3]


def draw_labels(images, labels, max_outputs=3, plotted=False):
    """Draws labels on the first images of a batch.

    Args:
        images: [n, height, width, channels] uint8 tensor.
        labels: [n] integer tensor, none of them negative.
        max_outputs: largest number of images to draw.
        plotted: whether to draw by matplotlib, on 80 x 160 pixels and 3 channels.

    Returns:
        [k, height, width, channels] uint8 tensor.
    """

    # --- python
    def draw(images, labels):
        if plotted:
            return np.stack([plot(*both) for both in zip(images[:max_outputs], labels)])
        drawn = images[:max_outputs].copy()  # the argument must not change
        for image, label in zip(drawn, labels):
            paint(image, label)
        return drawn

    # --- op
    drawn = tf.py_func(draw, [images, labels], tf.uint8)
    drawn.set_shape(
        [None, 80, 160, 3] if plotted else [None] + images.shape[1:].as_list()
    )
    return drawn


def write_images(images, labels=None, name="images", max_outputs=3, plotted=False):
    """Writes image summaries to an event file, and reads them back.

    Args:
        images: [steps, batch, height, width, channels] array, uint8 or float.
        labels: [steps, batch] integer array to be drawn on the images, or None.
        name: name of the summary.
        max_outputs: largest number of images of a batch to write.
        plotted: whether labels are drawn by matplotlib.

    Returns:
        List of dicts of `step`, `tag`, `size` and `pixels`, in the order of the file.
    """
    with tempfile.TemporaryDirectory() as directory:
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            image = tf.placeholder(images.dtype, images.shape[1:])
            label = tf.placeholder(tf.int64, images.shape[1:2])
            shown = image
            if labels is not None:
                shown = draw_labels(image, label, max_outputs, plotted)
            summary = tf.summary.image(name, shown, max_outputs)
            # --- run
            writer = tf.summary.FileWriter(directory)
            for step in range(len(images)):
                feed = {image: images[step]}
                if labels is not None:
                    feed[label] = labels[step]
                writer.add_summary(sess.run(summary, feed), step)
            writer.close()
            # --- read
            return read_images(directory, sess)


def read_images(directory, sess):
    """Reads the image summaries of an event file."""
    (path,) = glob.glob(os.path.join(directory, "events.*"))
    found = []
    for event in tf.train.summary_iterator(path):
        for value in event.summary.value:
            png = value.image.encoded_image_string
            found.append(
                {
                    "step": event.step,
                    "tag": value.tag,
                    "size": [value.image.height, value.image.width],
                    "pixels": sess.run(tf.image.decode_png(png)),
                }
            )
    return found
