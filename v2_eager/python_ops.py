"""`tf.py_func`, `tf.RegisterGradient`, `gradient_override_map` → `custom_gradient`."""

import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.summaries import read_folder

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
    """Computes ReLU, max(x, 0), and its gradient in NumPy."""

    # --- forward
    def forward(x):
        return np.maximum(x, 0, dtype=x.dtype)

    def slope(x):
        return (x > 0).astype(x.dtype)  # the dtype of Tout, or it is refused

    @tf.custom_gradient
    def python_relu(x):
        # --- gradient
        def gradient(upstream):
            slopes = tf.numpy_function(slope, [x], x.dtype)
            slopes = tf.ensure_shape(slopes, x.shape)
            return upstream * slopes if chained else slopes

        # No name, no registry, no type of op: the gradient is next to its function.
        y = tf.numpy_function(forward, [x], x.dtype)
        return tf.ensure_shape(y, x.shape), gradient

    return python_relu(x)


def quantize(x, bits):
    """Rounds numbers in [0, 1] to 2**bits levels; gradients pass straight through."""
    levels = 2**bits - 1

    # --- gradient
    @tf.custom_gradient
    def rounded(x):
        return tf.round(x), lambda upstream: upstream

    return rounded(x * levels) / levels


def binarize(x):
    """Computes the signs of numbers; gradients pass straight through."""

    # --- gradient
    @tf.custom_gradient
    def signs(x):
        return tf.sign(x), lambda upstream: upstream

    return signs(x)


@tf.custom_gradient
def guided_relu(x):
    """Computes ReLU; passes only positive gradients, and only where x was positive."""

    def gradient(upstream):
        return tf.nn.relu(upstream) * tf.cast(x > 0, upstream.dtype)

    return tf.nn.relu(x), gradient


def saliency(x, hidden, output, guided=True):
    """Computes the gradient of the largest logit, by guided backpropagation or not."""

    # --- network
    # The gradient of an op cannot be replaced from outside: pass an activation.
    def network(x, activation):
        return tf.matmul(activation(tf.matmul(x, hidden)), output)

    # --- gradient
    with tf.GradientTape() as tape:
        tape.watch(x)
        logits = network(x, guided_relu if guided else tf.nn.relu)
        largest = tf.reduce_max(logits, axis=1)
    return tape.gradient(largest, x)


# AutoGraph would convert `solve` as well, since it is defined inside.
@tf.autograph.experimental.do_not_convert
def newton_root(x, tolerance=2.0**-10, limit=50):
    """Solves y + y³ = x in Python by Newton's method, until it converges."""

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
    return tf.ensure_shape(y, x.shape)


@tf.autograph.experimental.do_not_convert
def keep_boxes(boxes, scores, limit=0.5):
    """Non-maximum suppression in Python: drops boxes that overlap a better one."""

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
    dtypes = [tf.int32, boxes.dtype]
    kept, overlaps = tf.numpy_function(suppress, [boxes, scores], dtypes)
    kept = tf.ensure_shape(kept, [None])
    overlaps = tf.ensure_shape(overlaps, [None])
    # Outside Python, because an op of Python has no gradient.
    return [tf.gather(boxes, kept), kept, overlaps]


def repeat_rows(x, shape, checked=True):
    """Repeats every row in Python, and sets the static shape of the result.

    Returns:
        [[2n, m] tensor, its shape as the function knows it].
    """
    # --- op
    y = tf.numpy_function(lambda x: np.repeat(x, 2, axis=0), [x], x.dtype)
    # --- shape
    # A function does not even know the rank; eagerly the shape is known.
    if checked:
        y = tf.ensure_shape(y, shape)
    else:
        y.set_shape(shape)
    return [y, tf.shape(y)]


@tf.autograph.experimental.do_not_convert
def parse_quantities(texts, cast=True):
    """Parses texts such as "1.5 µm" in Python into numbers and units.

    Raises:
        ValueError: a text has no number, eagerly.
        InvalidArgumentError: in a function: a text has no number, or `cast` is False.
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
    numbers, units = tf.numpy_function(parse, [texts], [tf.float32, tf.string])
    return [tf.ensure_shape(both, texts.shape) for both in (numbers, units)]


def log_steps(xs):
    """Squares numbers one by one; Python logs its calls, and the trace of the step."""
    log = []

    def before(x):
        log.append(f"before {x:g}")

    def after(x):
        log.append(f"after {x:g}")

    # --- step
    @tf.function
    def step(x):
        log.append("made")  # only in the trace: once for all calls
        # Python calls run in the order of the lines; no fetch is needed.
        tf.numpy_function(before, [x], [])
        square = tf.square(x)
        tf.numpy_function(after, [square], [])
        return square

    # --- run
    return [step(tf.constant(x)).numpy() for x in xs], log


def check_gradient(x, weights, chained=True, delta=1e-3):
    """Compares the gradient of ReLUs written in Python with finite differences."""
    # --- build
    weights = tf.constant(weights)

    def layer(x):
        return relu(tf.tensordot(weights, x, 1), chained)

    # --- run
    # By default delta is 1/1024. The rows of a Jacobian are the outputs.
    analytic, numeric = tf.test.compute_gradient(layer, [x], delta)
    analytic, numeric = analytic[0].T, numeric[0].T
    error = np.abs(analytic - numeric).max()
    return {"analytic": analytic, "numeric": numeric, "error": float(error)}


def analytic_and_numeric(x, dx):
    """Differentiates ReLU with its own gradient, and with a difference quotient."""
    # --- analytic
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = relu(x)
    gradient = tape.gradient(y, x)
    # --- numeric
    return [gradient, (relu(x + dx) - y) / dx]


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


@tf.autograph.experimental.do_not_convert
def draw_labels(images, labels, max_outputs=3, plotted=False):
    """Draws labels on the first images of a batch."""

    # --- python
    def draw(images, labels):
        if plotted:
            return np.stack([plot(*both) for both in zip(images[:max_outputs], labels)])
        drawn = images[:max_outputs].copy()  # the argument is the tensor's own memory
        for image, label in zip(drawn, labels):
            paint(image, label)
        return drawn

    # --- op
    drawn = tf.numpy_function(draw, [images, labels], tf.uint8)
    shape = [None, 80, 160, 3] if plotted else [None] + images.shape[1:].as_list()
    return tf.ensure_shape(drawn, shape)


def write_images(images, labels=None, name="images", max_outputs=3, plotted=False):
    """Writes image summaries to an event file, and reads them back."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        # The op scales floats as in TensorFlow 1. tf.summary.image, see the topic
        # `summaries`, would not scale them, and expects [0, 1].
        writer = tf.raw_ops.SummaryWriter(shared_name=directory)
        tf.raw_ops.CreateSummaryFileWriter(
            writer=writer,
            logdir=directory,
            max_queue=10,
            flush_millis=120_000,
            filename_suffix="",
        )

        @tf.function
        def write(step, shown, labels):
            if labels is not None:
                shown = draw_labels(shown, labels, max_outputs, plotted)
            tf.raw_ops.WriteImageSummary(
                writer=writer,
                step=step,
                tag=name,
                tensor=shown,
                bad_color=tf.constant([255, 0, 0, 255], tf.uint8),
                max_images=max_outputs,
            )

        # --- run
        try:
            for step in range(len(images)):
                drawn = None if labels is None else tf.constant(labels[step])
                write(tf.constant(step, tf.int64), tf.constant(images[step]), drawn)
        finally:
            tf.raw_ops.CloseSummaryWriter(writer=writer)
        # --- read
        return read_images(directory)


def read_images(directory):
    """Reads the image summaries of an event file."""
    found = []
    for event in read_folder(directory):
        image = event["image"]
        found.append(
            {
                "step": event["step"],
                "tag": event["tag"],
                "size": [int(image["height"]), int(image["width"])],
                "pixels": tf.io.decode_png(image["encoded_image_string"]).numpy(),
            }
        )
    return found
