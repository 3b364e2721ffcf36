"""`HParams`, `create_train_op`, `contrib.metrics.streaming_…`, `contrib.lookup`."""

import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "configure",
    "create_train_op",
    "stop_early",
    "bucket",
    "stream",
    "stream_at_k",
    "look_up",
]

# compat.v1 does not contain contrib: only `tensorflow.contrib` of 1.15 does.


def configure(text="", overrides=(), values_json="{}"):
    """Overrides hyperparameters from text, from a dict and from JSON.

    Args:
        text: such as "learning_rate=0.1,units=[8,4]", as a command line gives it.
        overrides: {name: value}.
        values_json: a JSON object of the same kind.

    Returns:
        dict of the `values`, and the same values as `json`.

    Raises:
        KeyError: a dict with an unknown name.
        ValueError: text with an unknown or a repeated name, or a value of another type.
    """
    training = tensorflow.contrib.training
    # --- defaults
    hparams = training.HParams(
        learning_rate=0.001,
        units=[64, 32],
        keep_probs=[0.5],
        activation="relu",
        batch_size=32,
        use_bias=True,
        model_dir=None,
    )
    # --- override
    hparams.parse(text)
    hparams.override_from_dict(dict(overrides))
    hparams.parse_json(values_json)
    # --- results
    return {"values": hparams.values(), "json": hparams.to_json(sort_keys=True)}


def create_train_op(x, y, start, steps, rate, multipliers=None, max_norm=None):
    """Trains with Adam; scales and clips each gradient, and summarizes its norm.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        start: {"kernel": [features, units] array, "bias": [units] array}.
        steps: number of steps with Adam.
        rate: learning rate.
        multipliers: {name of a variable: factor of its gradient}, or None.
        max_norm: maximum norm of each single gradient, clipped after the multipliers,
            or None.

    Returns:
        dict with the `losses` before every step, the summarized `norms` of the changed
        gradients, {tag: array}, and the final `variables` by name.

    Raises:
        tf.errors.InvalidArgumentError: a loss that is infinite or NaN.
        ValueError: `multipliers` is an empty dict.
    """
    training = tensorflow.contrib.training

    def transform(pairs):
        if multipliers is not None:
            pairs = training.multiply_gradients(pairs, multipliers)
        if max_norm is not None:
            pairs = training.clip_gradient_norms(pairs, max_norm)
        return pairs

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- loss
        variables = [tf.get_variable(n, initializer=v) for n, v in start.items()]
        outputs = tf.nn.bias_add(tf.matmul(tf.constant(x), variables[0]), variables[1])
        loss = tf.reduce_mean(tf.squared_difference(outputs, tf.constant(y)))
        # --- step
        train_op = training.create_train_op(
            loss,
            tf.train.AdamOptimizer(rate),
            transform_grads_fn=transform,
            summarize_gradients=True,
        )
        # --- run
        sess.run(tf.global_variables_initializer())
        losses, norms, summaries = [], {}, tf.summary.merge_all()
        for _ in range(steps):
            value, written = sess.run([train_op, summaries])
            losses.append(value)
            for item in tf.Summary.FromString(written).value:
                if item.HasField("simple_value"):  # the others are histograms
                    norms.setdefault(item.tag, []).append(item.simple_value)
        found = {v.op.name: v for v in tf.global_variables()}
        return {
            "losses": np.stack(losses),
            "norms": {tag: np.float32(values) for tag, values in norms.items()},
            "variables": sess.run(found),
        }


def stop_early(x, y, start, validation, patience, evaluate_every, check_every, last):
    """Trains until the accuracy has not risen for `patience` steps (early stopping).

    Args:
        x: [n, features] float array.
        y: [n] int64 array of classes.
        start: {"kernel": [features, classes] array, "bias": [classes] array}.
        validation: (x, y) to evaluate.
        patience: training ends after this number of steps without a higher accuracy.
        evaluate_every: number of steps from one evaluation to the next.
        check_every: number of steps from one check of the evaluations to the next.
        last: the step at which training ends at the latest.

    Returns:
        dict with the float32 `accuracies` of the evaluations, the `steps` of these
        evaluations, and the final `variables` by name.

    Raises:
        ValueError: `last` is not positive.
        tf.train.NanLossDuringTrainingError: a loss is NaN; in TensorFlow 2
            InvalidArgumentError.
    """
    metrics = []

    def model_fn(features, labels, mode, params):
        variables = [tf.get_variable(n, initializer=v) for n, v in params.items()]
        logits = tf.nn.bias_add(tf.matmul(features, variables[0]), variables[1])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits
        )
        loss = tf.reduce_mean(losses)
        optimizer = tf.train.GradientDescentOptimizer(0.5)
        return tf.estimator.EstimatorSpec(
            mode,
            loss=loss,
            train_op=optimizer.minimize(loss, tf.train.get_global_step()),
            eval_metric_ops={
                "accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))
            },
        )

    class Collector(tf.estimator.Exporter):
        """An exporter that only collects the metrics of every evaluation."""

        name = "collector"

        def export(self, estimator, export_path, checkpoint_path, eval_result, **_):
            metrics.append(eval_result)

    def rows(x, y):
        return lambda: tf.data.Dataset.from_tensors((x, y))

    with tempfile.TemporaryDirectory() as directory:
        # --- build
        config = tf.estimator.RunConfig(
            directory, save_checkpoints_steps=evaluate_every
        )
        estimator = tf.estimator.Estimator(model_fn, config=config, params=start)
        hook = tf.estimator.experimental.stop_if_no_increase_hook(
            estimator,
            "accuracy",
            patience,
            run_every_secs=None,
            run_every_steps=check_every,
        )
        # --- run
        tf.estimator.train_and_evaluate(
            estimator,
            tf.estimator.TrainSpec(lambda: rows(x, y)().repeat(), last, [hook]),
            tf.estimator.EvalSpec(
                rows(*validation), exporters=Collector(), throttle_secs=0
            ),
        )
        variables = {name: estimator.get_variable_value(name) for name in start}
    return {
        "accuracies": np.stack([m["accuracy"] for m in metrics]),
        "steps": [int(m["global_step"]) for m in metrics],
        "variables": variables,
    }


def bucket(rows, labels, batch_size, boundaries, smaller_final_batch=False):
    """Batches sequences of similar length, padded to the longest of each batch.

    Args:
        rows: list of lists of ints, none empty.
        labels: [n] int array.
        batch_size: number of sequences in a batch.
        boundaries: increasing ints; a length equal to a boundary is in the bucket above
            the boundary.
        smaller_final_batch: whether to keep smaller batches at the end.

    Returns:
        List of batches, dicts of the `lengths`, [b] int32, the `words`, [b, most]
        int32, padded with 0, and the `labels`. The batches are sorted by bucket,
        because the order of the buckets depends on threads.
    """
    training = tensorflow.contrib.training
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        producer = tf.train.range_input_producer(len(rows), num_epochs=1, shuffle=False)
        index = producer.dequeue()
        words = tf.ragged.constant(rows)[index]
        lengths, batch = training.bucket_by_sequence_length(
            tf.size(words),
            {"words": words, "labels": tf.constant(labels)[index]},
            batch_size,
            boundaries,
            dynamic_pad=True,
            allow_smaller_final_batch=smaller_final_batch,
        )
        batch["lengths"] = lengths
        # --- run
        sess.run(tf.local_variables_initializer())
        coordinator, batches = tf.train.Coordinator(), []
        threads = tf.train.start_queue_runners(sess, coordinator)
        try:
            while True:
                batches.append(sess.run(batch))
        except tf.errors.OutOfRangeError:
            coordinator.request_stop()
        coordinator.join(threads)
        # --- sort
        return sorted(
            batches,
            key=lambda batch: np.searchsorted(boundaries, batch["lengths"][0], "right"),
        )


def run_all(build, batches):
    """Updates contrib's metrics, and returns the metrics' values after each batch."""
    metrics = tensorflow.contrib.metrics
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs = [tf.placeholder(a.dtype, [None, *a.shape[1:]]) for a in batches[0]]
        values, updates = metrics.aggregate_metric_map(build(*inputs))
        sess.run(tf.local_variables_initializer())
        history = []
        for batch in batches:
            sess.run(updates, dict(zip(inputs, batch)))
            history.append(sess.run(values))
        return history


def stream(batches):
    """Streams metrics of binary classification: AUC, F1, covariance, kappa, ….

    Args:
        batches: list of (labels, scores, weights), [n] float32 arrays: labels 0 or 1,
            scores from 0 to 1, any weights; n may vary.

    Returns:
        List of {name: scalar}, after each batch; `all` has all scores so far.
    """

    def build(labels, scores, weights):
        # --- metrics
        metrics = tensorflow.contrib.metrics
        decided = tf.round(scores)
        numbers = [tf.cast(x, tf.int64) for x in (labels, decided)]
        return {
            "accuracy": metrics.streaming_accuracy(decided, labels, weights),
            "mean": metrics.streaming_mean(scores, weights),
            "precision": metrics.streaming_precision(decided, labels, weights),
            "recall": metrics.streaming_recall(decided, labels, weights),
            "false": metrics.streaming_false_positive_rate(decided, labels, weights),
            "auc": metrics.streaming_auc(scores, labels, weights),
            "f1": metrics.f1_score(labels, scores, weights),
            "absolute": metrics.streaming_mean_absolute_error(scores, labels, weights),
            "root": metrics.streaming_root_mean_squared_error(scores, labels),
            "covariance": metrics.streaming_covariance(scores, labels, weights),
            "pearson": metrics.streaming_pearson_correlation(scores, labels),
            "kappa": metrics.cohen_kappa(*numbers, num_classes=2),
            "count": metrics.count(scores, weights),
            "all": metrics.streaming_concat(scores),
        }

    # --- run
    return run_all(build, batches)


def stream_at_k(batches, k):
    """Streams precision, recall and average precision of the k highest scores.

    Args:
        batches: list of (labels, scores): int64 [n, labels], float32 [n, classes]
            arrays; n may vary.
        k: number of highest scores to count.

    Returns:
        List of {name: float64 scalar}, after each batch.
    """

    def build(labels, scores):
        # --- metrics
        metrics = tensorflow.contrib.metrics
        return {
            "precision": metrics.streaming_sparse_precision_at_k(scores, labels, k),
            "recall": metrics.streaming_sparse_recall_at_k(scores, labels, k),
            "average": metrics.streaming_sparse_average_precision_at_k(
                scores, labels, k
            ),
        }

    # --- run
    return run_all(build, batches)


def look_up(words, vocabulary, num_oov_buckets=0, more=()):
    """Maps words to ids, and ids back to words, with lookup tables.

    Args:
        words: string array.
        vocabulary: list of distinct strings.
        num_oov_buckets: number of hash buckets for out-of-vocabulary words.
        more: {word: number} to insert into a mutable table.

    Returns:
        dict of arrays like `words`: the `ids` in the vocabulary or of a bucket, the ids
        `found` without buckets, -1 if missing, the ids of the mutable table,
        `inserted`, and the ids mapped back to `words`, "UNK" if missing.

    Raises:
        tf.errors.FailedPreconditionError: a word is in the vocabulary twice.
    """
    lookup = tensorflow.contrib.lookup
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- tables
        to_id = lookup.index_table_from_tensor(vocabulary, num_oov_buckets)
        to_word = lookup.index_to_string_table_from_tensor(vocabulary)
        numbers = tf.range(len(vocabulary), dtype=tf.int64)
        initializer = lookup.KeyValueTensorInitializer(vocabulary, numbers)
        table = lookup.HashTable(initializer, -1)
        grows = lookup.MutableHashTable(tf.string, tf.int64, -1)
        # --- look up
        sess.run(tf.tables_initializer())
        if more:
            keys, values = zip(*dict(more).items())
            sess.run(grows.insert(tf.constant(keys), tf.constant(values, tf.int64)))
        ids = to_id.lookup(tf.constant(words))
        found = {
            "ids": ids,
            "found": table.lookup(tf.constant(words)),
            "inserted": grows.lookup(tf.constant(words)),
            "words": to_word.lookup(ids),
        }
        return sess.run(found)
