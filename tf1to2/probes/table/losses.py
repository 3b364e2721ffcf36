"""tf.losses: a mean over the weights that are not 0, and a collection of losses."""

from tf1to2.probes import probe

XY = "x = normal(4, 5); y = normal(4, 5)"
XYW = "x = normal(4, 5); y = normal(4, 5); w = f32([[0], [1.5], [2], [0.5]])"
CLASSES = "x = normal(4, 5); y = integers(4, 5, high=2)"
SIGMOID = "x = normal(4, 5); y = uniform(4, 5)"
UNITS = "x = uniform(4, 5, low=0.05, high=0.95); y = uniform(4, 5, low=0.05, high=0.95)"
SPARSE = "x = normal(4, 5); y = integers(4, high=5)"
WIDE = "w = f32([0, 1.5, 2, 0.5])"


def weighted(loss, weights="w"):
    """The default reduction: the weighted sum over the number of weights not 0."""
    return f"loss = {loss}\nweights = {weights} * tf.ones_like(loss)\ntf.math.divide_no_nan(tf.reduce_sum(loss * weights), tf.math.count_nonzero(weights, dtype=loss.dtype))"


PROBES = [
    *(
        row
        for name, loss, keras in (
            (
                "mean_squared_error",
                "tf.math.squared_difference(x, y)",
                "MeanSquaredError()",
            ),
            ("absolute_difference", "tf.abs(x - y)", "MeanAbsoluteError()"),
            (
                "huber_loss",
                "tf.where(tf.abs(x - y) <= 1, 0.5 * tf.square(x - y), tf.abs(x - y) - 0.5)",
                "Huber()",
            ),
        )
        for row in (
            probe(
                f"tf.losses.{name}",
                f"tf.losses.{name}(y, x)",
                f"tf.reduce_mean({loss})",
                XY,
                exact=True,
            ),
            probe(
                f"tf.losses.{name}",
                f"tf.losses.{name}(y, x)",
                f"loss = tf.keras.losses.{keras}\nloss(y, x)",
                XY,
                exact=True,
                why="a mean of the means of rows",
                within=8.6e-8,
            ),
            probe(
                f"tf.losses.{name}",
                f"tf.losses.{name}(y, x, w)",
                weighted(loss),
                XYW,
                exact=True,
                eager="code of several lines",
            ),
            probe(
                f"tf.losses.{name}",
                f"tf.losses.{name}(y, x, w, reduction=tf.losses.Reduction.NONE)",
                f"{loss} * w",
                XYW,
                exact=True,
            ),
        )
    ),
    probe(
        "tf.losses.log_loss",
        "tf.losses.log_loss(y, x)",
        "tf.reduce_mean(-y * tf.math.log(x + 1e-7) - (1 - y) * tf.math.log(1 - x + 1e-7))",
        UNITS,
        exact=True,
    ),
    probe(
        "tf.losses.hinge_loss",
        "tf.losses.hinge_loss(y, x)",
        "tf.reduce_mean(tf.nn.relu(1 - (2 * tf.cast(y, x.dtype) - 1) * x))",
        CLASSES,
        exact=True,
    ),
    probe(
        "tf.losses.hinge_loss",
        "tf.losses.hinge_loss(y, x)",
        "loss = tf.keras.losses.Hinge()\nloss(y, x)",
        CLASSES,
        exact=True,
        why="a mean of the means of rows",
        within=8.5e-8,
    ),
    probe(
        "tf.losses.cosine_distance",
        "tf.losses.cosine_distance(tf.nn.l2_normalize(y, 1), tf.nn.l2_normalize(x, 1), axis=1)",
        "tf.reduce_mean(1 - tf.reduce_sum(tf.nn.l2_normalize(x, 1) * tf.nn.l2_normalize(y, 1), axis=1))",
        XY,
        exact=True,
    ),
    probe(
        "tf.losses.mean_pairwise_squared_error",
        "tf.losses.mean_pairwise_squared_error(y, x)",
        "d = x - y\nn = d.shape[1]\ntf.reduce_sum(2 * (tf.reduce_sum(d * d, 1) / (n - 1) - tf.reduce_sum(d, 1) ** 2 / (n * (n - 1))))",
        XY,
        exact=True,
        eager="code of several lines",
    ),
    probe(
        "tf.losses.sigmoid_cross_entropy",
        "tf.losses.sigmoid_cross_entropy(y, x)",
        "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(y, x.dtype), logits=x))",
        CLASSES,
        exact=True,
    ),
    probe(
        "tf.losses.sigmoid_cross_entropy",
        "tf.losses.sigmoid_cross_entropy(y, x, label_smoothing=0.1)",
        "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(y, x.dtype) * 0.9 + 0.05, logits=x))",
        CLASSES,
        exact=True,
    ),
    probe(
        "tf.losses.sigmoid_cross_entropy",
        "tf.losses.sigmoid_cross_entropy(y, x)",
        "loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)\nloss(y, x)",
        CLASSES,
        exact=True,
        why="a mean of the means of rows",
        within=1.2e-7,
    ),
    probe(
        "tf.losses.softmax_cross_entropy",
        "tf.losses.softmax_cross_entropy(y, x)",
        "tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=tf.cast(y, x.dtype), logits=x))",
        CLASSES,
        exact=True,
    ),
    probe(
        "tf.losses.softmax_cross_entropy",
        "tf.losses.softmax_cross_entropy(y, x, label_smoothing=0.1)",
        "tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=tf.cast(y, x.dtype) * 0.9 + 0.1 / 5, logits=x))",
        CLASSES,
        exact=True,
    ),
    probe(
        "tf.losses.softmax_cross_entropy",
        "tf.losses.softmax_cross_entropy(y, x)",
        "loss = tf.keras.losses.CategoricalCrossentropy(from_logits=True)\nloss(tf.cast(y, x.dtype), x)",
        "x = normal(4, 5); y = np.eye(5, dtype='float32')[:4]",
        exact=True,
    ),
    probe(
        "tf.losses.softmax_cross_entropy",
        "tf.losses.softmax_cross_entropy(y, x, w)",
        weighted(
            "tf.nn.softmax_cross_entropy_with_logits(labels=tf.cast(y, x.dtype), logits=x)"
        ),
        f"{CLASSES}; {WIDE}",
        exact=True,
        eager="code of several lines",
    ),
    probe(
        "tf.losses.sparse_softmax_cross_entropy",
        "tf.losses.sparse_softmax_cross_entropy(y, x)",
        "tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x))",
        SPARSE,
        exact=True,
    ),
    probe(
        "tf.losses.sparse_softmax_cross_entropy",
        "tf.losses.sparse_softmax_cross_entropy(y, x)",
        "loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)\nloss(y, x)",
        SPARSE,
        exact=True,
    ),
    probe(
        "tf.losses.sparse_softmax_cross_entropy",
        "tf.losses.sparse_softmax_cross_entropy(y, x, w)",
        weighted("tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)"),
        f"{SPARSE}; {WIDE}",
        exact=True,
        eager="code of several lines",
    ),
    probe(
        "tf.losses.sparse_softmax_cross_entropy",
        "tf.losses.sparse_softmax_cross_entropy(y, x, w)",
        "loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)\nloss(y, x, w)",
        f"{SPARSE}; {WIDE}",
        exact=True,
        why="Keras divides by the number of rows, also of those whose weight is 0",
    ),
    probe(
        "tf.losses.compute_weighted_loss",
        "tf.losses.compute_weighted_loss(x, w)",
        weighted("x"),
        "x = normal(4, 5); w = f32([[0], [1.5], [2], [0.5]])",
        exact=True,
        eager="code of several lines",
    ),
    *(
        probe(
            "tf.losses.compute_weighted_loss",
            f"tf.losses.compute_weighted_loss(x, w, reduction=tf.losses.Reduction.{name})",
            new,
            "x = normal(4, 5); w = f32([[0], [1.5], [2], [0.5]])",
            exact=True,
        )
        for name, new in (
            ("SUM", "tf.reduce_sum(x * w)"),
            ("MEAN", "tf.reduce_sum(x * w) / tf.reduce_sum(w * tf.ones_like(x))"),
            ("SUM_OVER_BATCH_SIZE", "tf.reduce_mean(x * w)"),
        )
    ),
    probe(
        "tf.losses.add_loss",
        "tf.losses.add_loss(x[0])\ntf.losses.add_loss(x[1])\ntf.losses.get_losses()",
        "losses = [x[0], x[1]]\nlosses",
        "x = normal(3)",
    ),
    probe(
        "tf.losses.get_losses",
        "tf.losses.add_loss(x[0])\ntf.losses.get_losses()",
        "losses = [x[0]]\nlosses",
        "x = normal(3)",
    ),
    probe(
        "tf.losses.get_total_loss",
        "tf.losses.add_loss(x[0])\ntf.losses.add_loss(x[1])\ntf.losses.get_total_loss()",
        "losses = [x[0], x[1]]\ntf.add_n(losses)",
        "x = normal(3)",
    ),
    probe(
        "tf.losses.get_regularization_losses",
        "v = tf.get_variable('v', [3, 2], initializer=distinct('v'), regularizer=tf.nn.l2_loss)\ntf.losses.get_regularization_losses()",
        "v = tf.Variable(distinct('v')([3, 2], tf.float32))\n[tf.nn.l2_loss(v)]",
        exact=True,
    ),
    probe(
        "tf.losses.get_regularization_loss",
        "v = tf.get_variable('v', [3, 2], initializer=distinct('v'), regularizer=tf.nn.l2_loss)\ntf.losses.get_regularization_loss()",
        "v = tf.Variable(distinct('v')([3, 2], tf.float32))\ntf.add_n([tf.nn.l2_loss(v)])",
        exact=True,
    ),
]
