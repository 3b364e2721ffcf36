"""`tf.estimator.Estimator`, `model_fn`, `input_fn` → a module, a dataset, a loop."""

import tempfile

import tensorflow.compat.v1 as tf

__all__ = [
    "parse_hparams",
    "train",
    "evaluate",
    "predict",
    "serve",
    "train_and_evaluate",
    "run_main",
]


def parse_hparams(text):
    """Overrides the default hyperparameters from the text of a command-line flag.

    Args:
        text: such as "rate=0.5,hidden=[8,4]", or empty.

    Returns:
        dict of all hyperparameters.

    Raises:
        ValueError: an unknown or repeated name, or a value of another type.
    """
    return default_hparams().parse(text).values()


def default_hparams():
    from tensorflow.contrib import training

    return training.HParams(
        hidden=[4],
        activation="relu",
        classes=3,
        rate=0.125,
        momentum=0.5,
        batch_size=2,
        shuffle=True,
    )


def model_fn(features, labels, mode, params):
    # --- model
    net = features["x"]
    activation = getattr(tf.nn, params.activation)
    for number, units in enumerate(params.hidden):
        initializer = tf.glorot_uniform_initializer(seed=number)
        name = "hidden_%d" % number
        net = tf.layers.dense(net, units, activation, True, initializer, name=name)
    initializer = tf.glorot_uniform_initializer(seed=len(params.hidden))
    logits = tf.layers.dense(
        net, params.classes, kernel_initializer=initializer, name="scores"
    )
    # --- predictions
    classes = tf.argmax(logits, axis=1)
    predictions = {"classes": classes, "probabilities": tf.nn.softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {
            "serving_default": tf.estimator.export.PredictOutput(predictions),
            "classes": tf.estimator.export.PredictOutput({"classes": classes}),
        }
        return tf.estimator.EstimatorSpec(mode, predictions, export_outputs=outputs)
    # --- loss
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(loss, name="loss")
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, classes)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    # --- step
    optimizer = tf.train.MomentumOptimizer(params.rate, params.momentum)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def train_input_fn(data, params):
    """Repeats the rows without end; `steps` or `max_steps` ends the training."""
    features, labels = data
    dataset = tf.data.Dataset.from_tensor_slices(({"x": features}, labels))
    if params.shuffle:
        dataset = dataset.shuffle(100, seed=7, reshuffle_each_iteration=False)
    return dataset.repeat().batch(params.batch_size)


def eval_input_fn(data, params):
    features, labels = data
    dataset = tf.data.Dataset.from_tensor_slices(({"x": features}, labels))
    return dataset.batch(params.batch_size)


def make_estimator(model_dir, hparams, **config):
    config = tf.estimator.RunConfig(model_dir, tf_random_seed=5, **config)
    return tf.estimator.Estimator(model_fn, config=config, params=hparams)


class History(tf.train.SessionRunHook):
    """Hook that collects the loss of every step and the weights after it."""

    def __init__(self):
        self.losses, self.weights = [], []

    def begin(self):
        self.variables = tf.trainable_variables()

    def before_run(self, run_context):
        return tf.train.SessionRunArgs("loss:0")

    def after_run(self, run_context, run_values):
        self.losses.append(run_values.results)
        # A separate run: in the same run, a read may happen before or after the step.
        self.weights.append(run_context.session.run(self.variables))


def train(data, runs, hparams=""):
    """Trains in several runs, each of which resumes from the last checkpoint.

    Args:
        data: (features, labels), [n, features] float array and [n] ints.
        runs: list of {"steps": number of steps} or {"max_steps": last step}.
        hparams: see `parse_hparams`.

    Returns:
        dict with the `losses` of the steps, the `weights` after each step, the `steps`
        taken at the end of each run, and the `names` of the variables in the
        checkpoint.

    Raises:
        ValueError: a run with both numbers, or with 0 steps.
        tf.train.NanLossDuringTrainingError: a loss is NaN; in TensorFlow 2
            InvalidArgumentError.
    """
    hparams = default_hparams().parse(hparams)
    history, steps = History(), []
    with tempfile.TemporaryDirectory() as model_dir:
        for run in runs:
            estimator = make_estimator(model_dir, hparams)
            estimator.train(lambda: train_input_fn(data, hparams), [history], **run)
            steps.append(estimator.get_variable_value("global_step"))
        names = sorted(estimator.get_variable_names())
    return {
        "losses": history.losses,
        "weights": history.weights,
        "steps": steps,
        "names": names,
    }


def evaluate(data, eval_data, steps, eval_steps=None, hparams=""):
    """Trains, then computes mean loss and accuracy on other data.

    Args:
        data, hparams: as for `train`.
        eval_data: (features, labels) to evaluate on.
        steps: number of training steps, or None for no training.
        eval_steps: number of batches to evaluate, or None for all.

    Returns:
        dict with `loss`, the mean over the batches, `accuracy` and `global_step`.
        Without rows both metrics are 0.

    Raises:
        ValueError: `eval_steps` is 0.
    """
    hparams = default_hparams().parse(hparams)
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = make_estimator(model_dir, hparams)
        if steps:
            estimator.train(lambda: train_input_fn(data, hparams), steps=steps)
        return estimator.evaluate(lambda: eval_input_fn(eval_data, hparams), eval_steps)


def predict(data, features, steps, hparams=""):
    """Trains, then predicts classes and probabilities.

    Args:
        data, hparams: as for `train`.
        features: [n, features] array, the rows to predict.
        steps: number of training steps, or None for no training.

    Returns:
        List of n dicts with `classes` and `probabilities`.
    """
    hparams = default_hparams().parse(hparams)

    def input_fn():
        dataset = tf.data.Dataset.from_tensor_slices({"x": features})
        return dataset.batch(hparams.batch_size)

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = make_estimator(model_dir, hparams)
        if steps:
            estimator.train(lambda: train_input_fn(data, hparams), steps=steps)
        return list(estimator.predict(input_fn))


def serve(data, features, steps, hparams=""):
    """Trains, exports a SavedModel, loads it, and calls each of its signatures.

    Args:
        data, hparams: as for `train`.
        features: [n, features] array, the rows to predict.
        steps: number of training steps, or None for no training.

    Returns:
        (dict from signature to [names of the inputs, names of the outputs], dict from
        signature to its outputs).

    Raises:
        ValueError: nothing was trained.
    """
    hparams = default_hparams().parse(hparams)

    # --- signatures
    def serving_input_receiver_fn():
        spec = {"x": tf.FixedLenFeature(features.shape[1:], tf.float32)}
        examples = tf.placeholder(tf.string, [None])
        x = tf.cast(tf.parse_example(examples, spec)["x"], features.dtype)
        return tf.estimator.export.ServingInputReceiver(
            {"x": x}, {"examples": examples}, {"raw": {"x": x}}
        )

    # --- export
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = make_estimator(model_dir, hparams)
        if steps:
            estimator.train(lambda: train_input_fn(data, hparams), steps=steps)
        path = estimator.export_savedmodel(model_dir, serving_input_receiver_fn)
        # --- load
        with tf.Graph().as_default(), tf.Session() as sess:
            loaded = tf.saved_model.loader.load(sess, ["serve"], path)
            # --- ask
            given = {"examples": to_examples(features), "x": features}
            signatures, answers = {}, {}
            for name, signature in sorted(loaded.signature_def.items()):
                inputs = {k: t.name for k, t in signature.inputs.items()}
                outputs = {k: t.name for k, t in signature.outputs.items()}
                feed = {tensor: given[key] for key, tensor in inputs.items()}
                signatures[name] = [sorted(inputs), sorted(outputs)]
                answers[name] = sess.run(outputs, feed)
            return signatures, answers


def to_examples(rows):
    def serialized(row):
        value = tf.train.Feature(float_list=tf.train.FloatList(value=row))
        features = tf.train.Features(feature={"x": value})
        return tf.train.Example(features=features).SerializeToString()

    return [serialized(row) for row in rows]


def train_and_evaluate(
    data, eval_data, max_steps, save_every, patience=None, keep=5, hparams=""
):
    """Trains, evaluates at every checkpoint, and stops early without a lower loss.

    Args:
        data, eval_data, hparams: as for `evaluate`.
        max_steps: the step at which training ends.
        save_every: number of steps between two checkpoints.
        patience: training ends after this number of steps without a lower loss; None
            for never.
        keep: number of checkpoints to keep.

    Returns:
        dict with the `metrics` of each evaluation, the last of them as `result`, and
        the names of the kept `checkpoints`.

    Raises:
        ValueError: `max_steps` or `save_every` is 0.
    """
    hparams = default_hparams().parse(hparams)
    metrics = []

    class Collector(tf.estimator.Exporter):
        """An exporter that only collects the metrics of every evaluation."""

        name = "collector"

        def export(
            self,
            estimator,
            export_path,
            checkpoint_path,
            eval_result,
            is_the_final_export,
        ):
            metrics.append(eval_result)

    # --- build
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = make_estimator(
            model_dir,
            hparams,
            save_checkpoints_steps=save_every,
            keep_checkpoint_max=keep,
        )
        hooks = []
        if patience is not None:
            hook = tf.estimator.experimental.stop_if_no_decrease_hook(
                estimator, "loss", patience, run_every_secs=None, run_every_steps=1
            )
            hooks.append(hook)
        # --- loop
        train_spec = tf.estimator.TrainSpec(
            lambda: train_input_fn(data, hparams), max_steps, hooks
        )
        eval_spec = tf.estimator.EvalSpec(
            lambda: eval_input_fn(eval_data, hparams),
            steps=None,
            exporters=Collector(),
            throttle_secs=0,
        )
        result, _ = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
        # --- checkpoints
        state = tf.train.get_checkpoint_state(model_dir)
        names = [path.split("/")[-1] for path in state.all_model_checkpoint_paths]
    return {"metrics": metrics, "result": result, "checkpoints": names}


def run_main(arguments, data, eval_data):
    """Runs a script with flags, which trains and evaluates an estimator.

    Args:
        arguments: list of text, the command line without the program.
        data, eval_data: as for `evaluate`.

    Returns:
        dict with the exit `status` of the program, the `arguments` that are no flags,
        the `result`, and the final `global_step`.
    """
    from tensorflow.contrib import learn

    # --- flags
    # In a script, define them at the top of the module.
    flags = tf.app.flags
    flags.DEFINE_string("hparams", "", "Hyperparameters, as name=value,name=value.")
    flags.DEFINE_integer("train_steps", 4, "Number of steps.")
    flags.DEFINE_boolean("evaluate", True, "Whether to evaluate in the end.")
    FLAGS = flags.FLAGS
    report = {}

    # --- experiment
    def experiment_fn(run_config, hparams):
        return learn.Experiment(
            tf.estimator.Estimator(model_fn, config=run_config, params=hparams),
            train_input_fn=lambda: train_input_fn(data, hparams),
            eval_input_fn=lambda: eval_input_fn(eval_data, hparams),
            train_steps=FLAGS.train_steps,
            eval_steps=None,
            min_eval_frequency=0,  # only at the end
        )

    # --- main
    def main(argv):
        report["arguments"] = argv[1:]
        with tempfile.TemporaryDirectory() as model_dir:
            result = learn.learn_runner.run(
                experiment_fn,
                run_config=learn.RunConfig(model_dir=model_dir, tf_random_seed=5),
                schedule="train_and_evaluate" if FLAGS.evaluate else "train",
                hparams=default_hparams().parse(FLAGS.hparams),
            )
            report["result"] = result[0] if FLAGS.evaluate else None
            path = tf.train.latest_checkpoint(model_dir)
            report["global_step"] = tf.train.load_variable(path, "global_step")

    # --- run
    # In a script: if __name__ == "__main__": tf.app.run()
    try:
        tf.app.run(main, ["program"] + arguments)
    except SystemExit as end:
        report["status"] = end.code
    finally:
        for name in ("hparams", "train_steps", "evaluate"):
            delattr(FLAGS, name)  # a script does not need this
    return report
