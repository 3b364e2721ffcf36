"""Building blocks of the canned estimators: heads, linear model, DNN and baseline.

    model, head = Linear({"x": (lambda rows: rows, 4)}, 1), BinaryHead()
    loss = head.loss(labels, model(x))           # a sum over the batch, by default
    head.update_state(labels, model(x))          # in an evaluation, for each batch
    metrics = head.result()

Follows `tensorflow_estimator/python/estimator/canned` of 1.15.5 (`head.py`,
`linear.py`, `dnn.py`): the variables begin as those of `tf.estimator.LinearClassifier`
and the other canned estimators. For their optimizers see `optimizers`.
"""

import tensorflow as tf

from v2_eager.numerics import losses, metrics, restore
from v2_eager.numerics.batch_norms import BatchNorm
from v2_eager.numerics.initializers import glorot_uniform

__all__ = [
    "classifier_head",
    "BinaryHead",
    "MultiClassHead",
    "RegressionHead",
    "Linear",
    "DNN",
    "Baseline",
    "Estimator",
]


def classifier_head(n_classes=2, **options):
    """Makes a classifier's head: one logit for two classes, else one logit per class.

    Args:
        n_classes: number of classes.
        **options: arguments of `BinaryHead` or `MultiClassHead`.

    Raises:
        ValueError: fewer than two classes.
    """
    if n_classes == 2:
        return BinaryHead(**options)
    return MultiClassHead(n_classes, **options)


class Head(tf.Module):
    """The base class of heads: the loss, and the metrics of an evaluation.

    A subclass defines `processed`, `row_losses`, `predictions` and `measure`.

    Args:
        logits_dimension: number of logits per row.
        loss_reduction: "weighted_sum", or another name of `losses.Reduction`.
        **measures: {name: metric} of an evaluation, in addition to the losses.
    """

    def __init__(self, logits_dimension, loss_reduction, **measures):
        super().__init__()
        if loss_reduction not in losses.Reduction.ALL[1:]:
            raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
        self.logits_dimension, self.reduction = logits_dimension, loss_reduction
        self.measures = {
            "loss": metrics.Mean(),
            "average_loss": metrics.Mean(),
            **measures,
        }

    def loss(self, labels, logits, weights=None):
        """Computes the loss that training minimizes.

        Args:
            labels: [n] or [n, 1] tensor; for a regressor also [n, logits_dimension].
            logits: [n, logits_dimension] float32 tensor.
            weights: weights of the rows, a tensor shaped as the labels, or None.

        Returns:
            float32 scalar.

        Raises:
            tf.errors.InvalidArgumentError: a label is not a class, the number of
                weights is not the number of rows, or a regressor gets another number of
                labels than rows.
            ValueError: the labels have another dtype or width than the head expects,
                or a classifier gets another number of labels than rows.
        """
        labels = self.processed(tf.convert_to_tensor(labels))
        row_losses = self.row_losses(labels, logits)
        weights = row_weights(weights, logits)
        return losses.compute_weighted_loss(row_losses, weights, self.reduction)

    def update_state(self, labels, logits, weights=None):
        """Adds a batch to the metrics; for the arguments see `loss`."""
        labels = tf.convert_to_tensor(labels)
        loss, labels = self.loss(labels, logits, weights), self.processed(labels)
        weights = row_weights(weights, logits)
        self.measures["loss"].update_state(loss)
        row_losses = self.row_losses(labels, logits)
        self.measures["average_loss"].update_state(row_losses, weights)
        self.measure(labels, self.predictions(logits), weights)

    def result(self):
        """Returns {name: metric}; `loss` is the mean of the batches' losses."""
        return {name: metric.result() for name, metric in self.measures.items()}


def column(values):
    """Casts numbers to float32 and reshapes [n] to [n, 1].

    Args:
        values: [n] or [n, size] tensor of numbers.

    Returns:
        float32 tensor of rank 2; a scalar remains a scalar.
    """
    values = tf.cast(values, tf.float32)
    return values[:, None] if values.shape.rank == 1 else values


def refuse_nan(loss):
    """Raises an InvalidArgumentError if the loss is NaN; Estimators stopped, too.

    Args:
        loss: float scalar.

    Raises:
        tf.errors.InvalidArgumentError: the loss is NaN.
    """
    tf.debugging.assert_equal(tf.math.is_nan(loss), False, "NaN loss during training.")


def row_weights(weights, logits):
    """Returns the weights of the rows as float32 [n, 1], or 1.0 for None.

    Args:
        weights: [n] or [n, 1] numbers, a scalar, or None.
        logits: [n, logits_dimension] tensor.

    Returns:
        float32 tensor, [n, 1] or a scalar, or 1.0.

    Raises:
        tf.errors.InvalidArgumentError: weights and logits differ in the number of rows.
    """
    if weights is None:
        return 1.0
    weights = column(weights)
    if weights.shape.rank:
        rows = tf.shape(weights)[0], tf.shape(logits)[0]
        tf.debugging.assert_equal(*rows, "weights shape must be [n] or [n, 1]")
    return weights


class ClassHead(Head):
    """The base class of classifiers' heads: labels are class ids, or vocabulary words.

    Args:
        classes: number of classes.
        vocabulary: list of class names if the labels are names, or None if they are
            ids.
        logits_dimension: number of logits.
        reduction: reduction of the loss; see `losses.compute_weighted_loss`.
        **measures: see `Head`.
    """

    def __init__(self, classes, vocabulary, logits_dimension, reduction, **measures):
        super().__init__(logits_dimension, reduction, **measures)
        self.table = None
        self.names = tf.strings.as_string(tf.range(classes))
        if vocabulary is not None:
            self.names = tf.constant(vocabulary)
            numbers = tf.range(classes, dtype=tf.int64)
            words = tf.lookup.KeyValueTensorInitializer(self.names, numbers)
            self.table = tf.lookup.StaticHashTable(words, -1)
        self.classes = classes

    def ids(self, labels):
        """Returns the class ids of the labels, [n, 1]."""
        if labels.shape.rank == 1:
            labels = labels[:, None]
        if labels.shape[-1] != 1:
            raise ValueError(f"Mismatched label shape: {labels.shape[-1]}, not 1")
        if self.table is not None:
            labels = self.table[labels]
        elif labels.dtype == tf.string:
            raise ValueError("Labels dtype should be integer, or pass label_vocabulary")
        last = tf.cast(self.classes - 1, labels.dtype)
        tf.debugging.assert_less_equal(labels, last, "Labels must <= n_classes - 1")
        tf.debugging.assert_non_negative(labels, "Labels must >= 0")
        return labels

    def chosen(self, logits):
        """Computes the predictions of both heads from one logit per class."""
        class_ids = tf.argmax(logits, axis=-1)[:, None]
        rows = [tf.shape(logits)[0], 1]
        return {
            "probabilities": tf.nn.softmax(logits),
            "class_ids": class_ids,
            "classes": tf.gather(self.names, class_ids),
            "all_class_ids": tf.tile(tf.range(self.classes)[None], rows),
            "all_classes": tf.tile(self.names[None], rows),
        }


class BinaryHead(ClassHead):
    """The head of a binary classifier (`n_classes=2`): one logit and a sigmoid.

    Args:
        label_vocabulary: list of two strings if the labels are strings; None if they
            are 0 and 1, or probabilities.
        loss_reduction: see `Head`.
    """

    def __init__(self, label_vocabulary=None, loss_reduction="weighted_sum"):
        measures = {
            "accuracy": metrics.Accuracy(),
            "precision": metrics.Precision(),
            "recall": metrics.Recall(),
            "prediction/mean": metrics.Mean(),
            "label/mean": metrics.Mean(),
            "auc": metrics.AUC(),
            "auc_precision_recall": metrics.AUC(curve="PR"),
        }
        super().__init__(2, label_vocabulary, 1, loss_reduction, **measures)

    def processed(self, labels):
        """Returns the labels as float32; probabilities between 0 and 1 are allowed."""
        if self.table is None and labels.dtype != tf.string:
            labels = tf.cast(labels, tf.float32)
        return tf.cast(self.ids(labels), tf.float32)

    def row_losses(self, labels, logits):
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def predictions(self, logits):
        two_logits = tf.concat([tf.zeros_like(logits), logits], axis=-1)
        return {
            "logits": logits,
            "logistic": tf.sigmoid(logits),
            **self.chosen(two_logits),
        }

    def measure(self, labels, predictions, weights):
        for name in ("accuracy", "precision", "recall"):
            self.measures[name].update_state(labels, predictions["class_ids"], weights)
        for name in ("auc", "auc_precision_recall"):
            self.measures[name].update_state(labels, predictions["logistic"], weights)
        self.measures["label/mean"].update_state(labels, weights)
        self.measures["prediction/mean"].update_state(predictions["logistic"], weights)

    def result(self):
        found = super().result()
        share = found["label/mean"]  # of class 1: a constant prediction is as accurate
        return {**found, "accuracy_baseline": tf.maximum(share, 1 - share)}


class MultiClassHead(ClassHead):
    """The head of a classifier of 3 or more classes: one logit per class, and softmax.

    Args:
        n_classes: number of classes.
        label_vocabulary: list of `n_classes` strings if the labels are strings, or None
            if they are class ids.
        loss_reduction: see `Head`.
    """

    def __init__(self, n_classes, label_vocabulary=None, loss_reduction="weighted_sum"):
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        super().__init__(
            n_classes,
            label_vocabulary,
            n_classes,
            loss_reduction,
            accuracy=metrics.Accuracy(),
        )

    def processed(self, labels):
        if self.table is None and not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer, not {labels.dtype}")
        return self.ids(labels)

    def row_losses(self, labels, logits):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels[:, 0], logits=logits
        )[:, None]

    def predictions(self, logits):
        return {"logits": logits, **self.chosen(logits)}

    def measure(self, labels, predictions, weights):
        accuracy = self.measures["accuracy"]
        accuracy.update_state(labels, predictions["class_ids"], weights)


class RegressionHead(Head):
    """The head of a regressor: the squared error, summed over rows and labels.

    Args:
        label_dimension: number of labels per row.
        loss_reduction: see `Head`.
    """

    def __init__(self, label_dimension=1, loss_reduction="weighted_sum"):
        measures = {"prediction/mean": metrics.Mean(), "label/mean": metrics.Mean()}
        super().__init__(label_dimension, loss_reduction, **measures)

    def processed(self, labels):
        labels, width = column(labels), self.logits_dimension
        if labels.shape[-1] != width:
            raise ValueError(f"Mismatched label shape: {labels.shape[-1]}, not {width}")
        return labels

    def row_losses(self, labels, logits):
        rows = tf.shape(labels)[0], tf.shape(logits)[0]
        tf.debugging.assert_equal(*rows, "labels shape must be [n, label_dimension]")
        return tf.math.squared_difference(logits, labels)

    def predictions(self, logits):
        return {"predictions": logits}

    def measure(self, labels, predictions, weights):
        self.measures["label/mean"].update_state(labels, weights)
        values = predictions["predictions"]
        self.measures["prediction/mean"].update_state(values, weights)


class Linear(tf.Module):
    """The linear model: one weight per number or id of each feature column, and a bias.

    Its variables are `linear/linear_model/age/weights` for a column `age`, and
    `linear/linear_model/bias_weights`.

    Args:
        columns: {name: (function of the features, number of numbers or ids)}; the
            function returns [n, size] numbers, or sparse ids.
        units: number of logits.
    """

    def __init__(self, columns, units):
        super().__init__()
        self.columns, scope = dict(sorted(columns.items())), "linear/linear_model"
        self.weights = {
            name: tf.Variable(tf.zeros([size, units]), name=f"{scope}/{name}/weights")
            for name, (_, size) in self.columns.items()
        }
        self.bias = tf.Variable(tf.zeros(units), name=f"{scope}/bias_weights")

    def __call__(self, features, training=False):
        sums = []
        for name, (column, _) in self.columns.items():
            x, weights = column(features), self.weights[name]
            if isinstance(x, tf.SparseTensor):
                sums.append(
                    tf.nn.safe_embedding_lookup_sparse(weights, x, combiner="sum")
                )
            else:
                sums.append(tf.matmul(x, weights))
        # tf.add_n is the same sum, but graph optimization changes its order.
        return tf.nn.bias_add(tf.reduce_sum(tf.stack(sums), 0), self.bias)


class DNN(tf.Module):
    """The DNN: dense layers with ReLU on the concatenated columns, then the logits.

    Its variables are `dnn/hiddenlayer_0/kernel`, `dnn/hiddenlayer_0/bias` and so on,
    `dnn/logits/kernel` and `dnn/logits/bias`.

    Args:
        columns: {name: (function of the features, size)}; the function returns
            [n, size] numbers.
        hidden_units: list of ints, the sizes of the hidden layers.
        units: number of logits.
        batch_norm: whether a batch normalization follows each ReLU.
    """

    def __init__(self, columns, hidden_units, units, batch_norm=False):
        super().__init__()
        self.columns = dict(sorted(columns.items()))  # row order of the first kernel
        self.layers, inputs = [], sum(size for _, size in columns.values())
        for i, outputs in enumerate([*hidden_units, units]):
            hidden = i < len(hidden_units)
            path = f"dnn/hiddenlayer_{i}" if hidden else "dnn/logits"
            draw = glorot_uniform()([inputs, outputs])
            kernel = tf.Variable(draw, name=path + "/kernel")
            bias = tf.Variable(tf.zeros(outputs), name=path + "/bias")
            norm = None
            if batch_norm and hidden:
                norm = BatchNorm(0.999, name=f"{path}/batchnorm_{i}")
                norm.build(outputs, tf.float32)
            self.layers.append([kernel, bias, norm])
            inputs = outputs

    def __call__(self, features, training=False):
        net = tf.concat([column(features) for column, _ in self.columns.values()], 1)
        *hidden, (kernel, bias, _) = self.layers
        for hidden_kernel, hidden_bias, norm in hidden:
            product = tf.matmul(net, hidden_kernel)
            net = tf.nn.relu(tf.nn.bias_add(product, hidden_bias))
            if norm is not None:
                net = norm(net, training)
        return tf.nn.bias_add(tf.matmul(net, kernel), bias)


class Baseline(tf.Module):
    """The baseline: the same logits for every row, the variable `baseline/bias`.

    The variable begins at zero.

    A call takes rows, any [n, ...] tensor, and returns float32 [n, units].

    Args:
        units: number of logits.
    """

    def __init__(self, units):
        super().__init__()
        self.bias = tf.Variable(tf.zeros(units), name="baseline/bias")

    def __call__(self, rows, training=False):
        return self.bias * tf.ones([tf.shape(rows)[0], self.bias.shape[0]])


class Estimator(tf.Module):
    """A canned estimator: models, their optimizers, a head, and the three loops.

    The models' logits are added. Features are dicts.

    Args:
        head: a `BinaryHead`, a `MultiClassHead` or a `RegressionHead`.
        parts: list of (model, optimizer) pairs.
        weight_column: name of the feature that contains the rows' weights, or None.
    """

    def __init__(self, head, parts, weight_column=None):
        super().__init__()
        self.head, self.parts, self.weight_column = head, parts, weight_column
        self.models = [model for model, _ in parts]
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
        for model, optimizer in parts:
            optimizer.create_slots(model.trainable_variables)
        self.step = tf.function(self._step)
        self.update = tf.function(self._update)
        self.predict = tf.function(self._predict, reduce_retracing=True)

    def logits(self, features, training=False):
        first, *others = [model(features, training) for model in self.models]
        return sum(others, first)

    def weights(self, features):
        return features[self.weight_column] if self.weight_column else None

    def _step(self, features, labels):
        """Takes a training step; returns the loss before the step."""
        trained = [model.trainable_variables for model in self.models]
        with tf.GradientTape() as tape:
            logits = self.logits(features, training=True)
            loss = self.head.loss(labels, logits, self.weights(features))
        refuse_nan(loss)
        gradients = tape.gradient(loss, trained)
        for (_, optimizer), *pair in zip(self.parts, gradients, trained):
            optimizer.apply_gradients(zip(*pair))
        self.global_step.assign_add(1)
        return loss

    def train(self, features, labels, steps, batch_size):
        """Trains for some steps on batches of the rows in order, repeatedly.

        Returns {"losses": list, "variables": {name in a checkpoint: array}}.

        Raises:
            ValueError: `steps` is less than 1.
            tf.errors.InvalidArgumentError: a loss is NaN.
        """
        if steps < 1:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        data = tf.data.Dataset.from_tensor_slices((features, labels))
        batches = data.repeat().batch(batch_size).take(steps)
        losses = [self.step(*batch).numpy() for batch in batches]
        return {"losses": losses, "variables": as_numpy(self.named())}

    def named(self):
        """Returns {name in the old estimator's checkpoint: variable}, with slots."""
        owners = [owner for part in self.parts for owner in part]
        return restore.named(*owners, self.global_step)

    def _update(self, features, labels):
        logits = self.logits(features)
        self.head.update_state(labels, logits, self.weights(features))

    def evaluate(self, features, labels, batch_size):
        """Returns {metric: number} over all rows, and the global step."""
        data = tf.data.Dataset.from_tensor_slices((features, labels))
        batches = data.batch(batch_size)
        for metric in self.head.measures.values():
            metric.reset_state()
        # One trace for batches of all sizes, and for later evaluations.
        update = self.update.get_concrete_function(*batches.element_spec)
        for batch in batches:
            update(*batch)
        return as_numpy({**self.head.result(), "global_step": self.global_step})

    def _predict(self, features):
        return self.head.predictions(self.logits(features))


def as_numpy(tensors):
    """Converts a dict of tensors into a dict of arrays.

    Args:
        tensors: {name: tensor}.

    Returns:
        {name: array}.
    """
    return {name: tensor.numpy() for name, tensor in tensors.items()}
