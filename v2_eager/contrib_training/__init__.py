"""`HParams`, `create_train_op`, `contrib.metrics.streaming_…`, `contrib.lookup`."""

import dataclasses
import json

import numpy as np
import tensorflow as tf

from v2_eager.contrib_opt import as_arrays, variables_of
from v2_eager.contrib_training.hparams import HParams
from v2_eager.feature_columns import index_table
from v2_eager.numerics import metrics, optimizers
from v2_eager.numerics.canned import refuse_nan
from v2_eager.numerics.restore import named

__all__ = [
    "configure",
    "create_train_op",
    "stop_early",
    "bucket",
    "stream",
    "stream_at_k",
    "look_up",
]


def configure(text="", overrides=(), values_json="{}"):
    """Overrides hyperparameters from text, from a dict and from JSON."""
    # --- defaults
    hparams = Settings()
    # --- override
    hparams.parse(text)
    hparams.override_from_dict(dict(overrides))
    hparams.override_from_dict(json.loads(values_json))
    # --- results
    values = dataclasses.asdict(hparams)
    return {"values": values, "json": json.dumps(values, sort_keys=True)}


@dataclasses.dataclass
class Settings(HParams):
    """The hyperparameters of `configure`, with their defaults.

    Args:
        learning_rate: a float.
        units: list of ints, the layers' sizes.
        keep_probs: list of floats.
        activation: name of a function.
        batch_size: rows of a batch.
        use_bias: whether the layers have a bias.
        model_dir: path, or None.
    """

    learning_rate: float = 0.001
    units: list[int] = dataclasses.field(default_factory=lambda: [64, 32])
    keep_probs: list[float] = dataclasses.field(default_factory=lambda: [0.5])
    activation: str = "relu"
    batch_size: int = 32
    use_bias: bool = True
    model_dir: str | None = None


def create_train_op(x, y, start, steps, rate, multipliers=None, max_norm=None):
    """Trains with Adam; scales and clips each gradient, and summarizes its norm."""
    if multipliers is not None and not multipliers:
        raise ValueError("`gradient_multipliers` is empty.")

    def transformed(gradient, variable):
        factor = (multipliers or {}).get(variable.name[:-2])
        if factor is not None:
            gradient *= tf.cast(factor, gradient.dtype)
        if max_norm is not None:
            gradient = tf.clip_by_norm(gradient, max_norm)
        return gradient

    # --- loss
    variables = variables_of(start)
    optimizer = optimizers.Adam(rate).create_slots(variables.values())
    global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")

    def loss():
        outputs = tf.nn.bias_add(tf.matmul(x, variables["kernel"]), variables["bias"])
        return tf.reduce_mean(tf.math.squared_difference(outputs, y))

    # --- step
    @tf.function
    def step():
        value, pairs = optimizer.differentiate(loss, variables.values())
        value = tf.debugging.check_numerics(value, "LossTensor is inf or nan")
        pairs = [(transformed(gradient, v), v) for gradient, v in pairs]
        # Automatic control dependencies order the ops of a variable; a check has none.
        with tf.control_dependencies([value]):
            optimizer.apply_gradients(pairs, global_step)
        return value, [tf.linalg.global_norm([gradient]) for gradient, _ in pairs]

    # --- run
    losses, norms = zip(*[step() for _ in range(steps)])
    tags = [f"summarize_grads/{name}_gradient_norm" for name in variables]
    found = {**variables, **named(optimizer, global_step)}
    return {
        "losses": np.stack(losses),
        "norms": {t: np.float32(values) for t, values in zip(tags, zip(*norms))},
        "variables": as_arrays(found),
    }


def stop_early(x, y, start, validation, patience, evaluate_every, check_every, last):
    """Trains until the accuracy has not risen for `patience` steps (early stopping)."""
    if last <= 0:
        raise ValueError(f"Must specify max_steps > 0, given: {last}")
    # --- build
    variables = variables_of(start)
    optimizer, accuracy = optimizers.GradientDescent(0.5), metrics.Accuracy()

    def logits_of(x):
        return tf.nn.bias_add(tf.matmul(x, variables["kernel"]), variables["bias"])

    @tf.function
    def train():
        def loss():
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits_of(x))
            return tf.reduce_mean(losses)

        refuse_nan(optimizer.minimize(loss, variables.values()))

    @tf.function
    def evaluate(x, y):
        accuracy.reset_state()
        accuracy.update_state(y, tf.argmax(logits_of(x), 1))
        return accuracy.result()

    # --- run
    accuracies, steps = [], []
    for step in range(1, last + 1):
        train()
        if step % evaluate_every == 0:
            steps.append(step)
            accuracies.append(evaluate(*validation).numpy())
        if step % check_every == 1 % check_every:
            if has_stopped(steps, accuracies, patience):
                break
    if step not in steps:  # as `train_and_evaluate` ends
        steps.append(step)
        accuracies.append(evaluate(*validation).numpy())
    return {
        "accuracies": np.stack(accuracies),
        "steps": steps,
        "variables": as_arrays(variables),
    }


def has_stopped(steps, values, patience):
    """Returns whether `patience` steps ever went by without a new maximum."""
    best = -np.inf
    for step, value in zip(steps, values):
        if value > best:
            best, first = value, step
        if step - first >= patience:
            return True
    return False


def bucket(rows, labels, batch_size, boundaries, smaller_final_batch=False):
    """Batches sequences of similar length, padded to the longest of each batch."""
    # --- build
    words = tf.ragged.constant(rows)
    dataset = tf.data.Dataset.from_tensor_slices((words, labels))

    def example(words, label):
        return {"words": words, "labels": label, "lengths": tf.size(words)}

    dataset = dataset.map(example).bucket_by_sequence_length(
        lambda example: example["lengths"],
        boundaries,
        [batch_size] * (len(boundaries) + 1),
        drop_remainder=not smaller_final_batch,
    )
    # --- run
    batches = list(dataset.as_numpy_iterator())
    # --- sort
    return sorted(
        batches,
        key=lambda batch: np.searchsorted(boundaries, batch["lengths"][0], "right"),
    )


def run_all(measures, update, batches):
    """Updates metrics batch by batch, and returns their values after each batch."""
    specs = [tf.TensorSpec([None, *a.shape[1:]], a.dtype) for a in batches[0]]
    update = tf.function(update, input_signature=specs)
    history = []
    for batch in batches:
        update(*map(tf.constant, batch))
        history.append({n: measure.result().numpy() for n, measure in measures.items()})
    return history


def stream(batches):
    """Streams metrics of binary classification: AUC, F1, covariance, kappa, …."""
    # --- metrics
    weighted = {
        "accuracy": metrics.Accuracy(),
        "precision": metrics.Precision(),
        "recall": metrics.Recall(),
        "false": metrics.FalsePositiveRate(),
    }
    of_scores = {
        "auc": metrics.AUC(),
        "f1": metrics.BestF1(),
        "absolute": metrics.MeanAbsoluteError(),
        "covariance": metrics.Covariance(),
    }
    unweighted = {
        "root": metrics.RootMeanSquaredError(),
        "pearson": metrics.PearsonCorrelation(),
    }
    mean, kappa = metrics.Mean(), metrics.CohenKappa(2)

    def update(labels, scores, weights):
        decided = tf.round(scores)
        for measure in weighted.values():
            measure.update_state(labels, decided, weights)
        for measure in of_scores.values():
            measure.update_state(labels, scores, weights)
        for measure in unweighted.values():
            measure.update_state(labels, scores)
        mean.update_state(scores, weights)
        kappa.update_state(tf.cast(labels, tf.int64), tf.cast(decided, tf.int64))

    # --- run
    measures = {**weighted, **of_scores, **unweighted, "mean": mean, "kappa": kappa}
    history, kept = run_all(measures, update, batches), []
    counts = np.cumsum([weights.sum() for _, _, weights in batches], dtype=np.float32)
    for values, count, (_, scores, _) in zip(history, counts, batches):
        kept.append(scores)  # a list in place of `streaming_concat`
        values.update(count=count, all=np.concatenate(kept))
    return history


def stream_at_k(batches, k):
    """Streams precision, recall and average precision of the k highest scores."""
    # --- metrics
    measures = {
        "precision": metrics.PrecisionAtK(k),
        "recall": metrics.RecallAtK(k),
        "average": metrics.AveragePrecisionAtK(k),
    }

    def update(labels, scores):
        for measure in measures.values():
            measure.update_state(labels, scores)

    # --- run
    return run_all(measures, update, batches)


def look_up(words, vocabulary, num_oov_buckets=0, more=()):
    """Maps words to ids, and ids back to words, with lookup tables."""
    # --- tables
    numbers = tf.range(len(vocabulary), dtype=tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(vocabulary, numbers)
    to_id = index_table(initializer, num_oov_buckets)
    to_word = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(numbers, vocabulary), "UNK"
    )
    table = tf.lookup.StaticHashTable(initializer, -1)
    grows = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    # --- look up
    if more:
        keys, values = zip(*dict(more).items())
        grows.insert(tf.constant(keys), tf.constant(values, tf.int64))
    ids = to_id[tf.constant(words)]
    found = {
        "ids": ids,
        "found": table[tf.constant(words)],
        "inserted": grows[tf.constant(words)],
        "words": to_word[ids],
    }
    return as_arrays(found)
