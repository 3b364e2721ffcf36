"""`tf.estimator.Estimator`, `model_fn`, `input_fn` → a module, a dataset, a loop."""

import contextlib
import dataclasses
import itertools
import tempfile

import tensorflow as tf
from absl import app, flags

from v2_eager.contrib_training.hparams import HParams
from v2_eager.numerics import initializers, optimizers, randomness
from v2_eager.numerics.canned import refuse_nan

__all__ = [
    "parse_hparams",
    "train",
    "evaluate",
    "predict",
    "serve",
    "train_and_evaluate",
    "run_main",
]

SEED = 5  # the `tf_random_seed` of `RunConfig`, which seeded only its graph


def parse_hparams(text):
    """Overrides the default hyperparameters from the text of a command-line flag."""
    return dataclasses.asdict(Settings().parse(text))


@dataclasses.dataclass
class Settings(HParams):
    """The hyperparameters, as a dataclass.

    A typo is an error, and an editor completes the names.

    Args:
        hidden: list of the hidden layers' sizes.
        activation: name of a function of `tf.nn`.
        classes: number of the logits.
        rate: learning rate.
        momentum: momentum of the optimizer.
        batch_size: rows of a batch.
        shuffle: whether training reads the rows in random order.
    """

    hidden: list[int] = dataclasses.field(default_factory=lambda: [4])
    activation: str = "relu"
    classes: int = 3
    rate: float = 0.125
    momentum: float = 0.5
    batch_size: int = 2
    shuffle: bool = True


class Classifier(tf.Module):
    """Dense layers whose variables have the names that `tf.layers` gave them.

    A call takes x, [n, inputs] floats, and returns the logits, [n, classes].

    Args:
        inputs: number of features.
        dtype: float dtype of the variables.
        hparams: `Settings`.
    """

    def __init__(self, inputs, dtype, hparams):
        super().__init__()
        self.activation = getattr(tf.nn, hparams.activation)
        self.layers = []
        for number, units in enumerate([*hparams.hidden, hparams.classes]):
            last = number == len(hparams.hidden)
            name = "scores" if last else f"hidden_{number}"
            seeds = randomness.kernel_seeds(SEED, number)
            glorot = initializers.glorot_uniform(seed=randomness.stream(*seeds))
            kernel = tf.Variable(glorot([inputs, units], dtype), name=name + "/kernel")
            bias = tf.Variable(tf.zeros([units], dtype), name=name + "/bias")
            self.layers.append([kernel, bias])
            inputs = units

    def __call__(self, x):
        *hidden, scores = self.layers
        for kernel, bias in hidden:
            x = self.activation(tf.nn.bias_add(tf.matmul(x, kernel), bias))
        return tf.nn.bias_add(tf.matmul(x, scores[0]), scores[1])


class Trainer(tf.Module):
    """Model, optimizer, global step and train step; everything that a checkpoint needs.

    `classify` and `predict` take x, [n, features] floats, `train_step` a batch (x,
    labels), `evaluate` a dataset of batches. Each is a `tf.function`.

    Args:
        features: [n, features] array, for its size and dtype.
        hparams: `Settings`.
    """

    def __init__(self, features, hparams):
        super().__init__()
        inputs, dtype = features.shape[1], features.dtype
        # --- model
        self.model = Classifier(inputs, dtype, hparams)
        self.optimizer = optimizers.Momentum(hparams.rate, hparams.momentum)
        self.optimizer.create_slots(self.model.trainable_variables)
        self.global_step = tf.Variable(
            0, trainable=False, dtype=tf.int64, name="global_step"
        )
        # The number of rows is None: a shorter last batch makes no new trace.
        rows = tf.TensorSpec([None, inputs], dtype, name="x")
        self.classify = tf.function(self._classify, input_signature=[rows])
        self.predict = tf.function(self._predict, input_signature=[rows])
        self.train_step = tf.function(self._train_step)
        self.evaluate = tf.function(self._evaluate)

    # --- predictions
    def _classify(self, x):
        return {"classes": tf.argmax(self.model(x), axis=1)}

    def _predict(self, x):
        logits = self.model(x)
        return {
            "classes": tf.argmax(logits, axis=1),
            "probabilities": tf.nn.softmax(logits),
        }

    # --- loss
    def _loss(self, logits, labels):
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_mean(loss)

    def _evaluate(self, batches):
        """Computes metrics over a dataset, in float32 for every dtype of the model."""
        total = count = hits = rows = tf.constant(0.0)
        for x, labels in batches:
            logits = self.model(x)
            total += tf.cast(self._loss(logits, labels), tf.float32)
            count += 1
            hit = tf.equal(tf.argmax(logits, axis=1, output_type=labels.dtype), labels)
            hits += tf.reduce_sum(tf.cast(hit, tf.float32))
            rows += tf.cast(tf.size(hit), tf.float32)
        return {
            "loss": tf.math.divide_no_nan(total, count),
            "accuracy": tf.math.divide_no_nan(hits, rows),
            "global_step": self.global_step.read_value(),
        }

    # --- step
    def _train_step(self, x, labels):
        """Takes a training step, and returns the loss before it."""
        variables = self.model.trainable_variables
        with tf.GradientTape() as tape:
            loss = self._loss(self.model(x), labels)
        refuse_nan(loss)
        pairs = zip(tape.gradient(loss, variables), variables)
        self.optimizer.apply_gradients(pairs, self.global_step)
        return loss


def train_batches(data, hparams):
    """Repeats the rows without end."""
    dataset = tf.data.Dataset.from_tensor_slices(data)
    if hparams.shuffle:
        dataset = dataset.shuffle(100, seed=7, reshuffle_each_iteration=False)
    return iter(dataset.repeat().batch(hparams.batch_size))


def eval_batches(data, hparams):
    return tf.data.Dataset.from_tensor_slices(data).batch(hparams.batch_size)


def trained(data, hparams, steps, model_dir=None):
    """Makes a `Trainer` and trains it, with checkpoints if there is a directory."""
    tf.random.set_seed(SEED)  # the seed of the process: `shuffle` needs it
    trainer = Trainer(data[0], hparams)
    with saved(trainer, model_dir) if model_dir else contextlib.nullcontext():
        batches = train_batches(data, hparams)
        for batch in itertools.islice(batches, steps_to_take(0, steps) if steps else 0):
            trainer.train_step(*batch)
    return trainer


def checkpoints(trainer, model_dir, keep=5):
    """Restores the latest checkpoint of a directory, and returns the manager."""
    checkpoint = tf.train.Checkpoint(trainer=trainer)
    manager = tf.train.CheckpointManager(
        checkpoint, model_dir, keep, checkpoint_name="model.ckpt"
    )
    manager.restore_or_initialize()
    return manager


@contextlib.contextmanager
def saved(trainer, model_dir):
    """Restores, then saves before and after the block, as `Estimator.train` did.

    After an exception it does not save. An Estimator also saved every 600 seconds.
    """
    manager = checkpoints(trainer, model_dir)
    manager.save(trainer.global_step)
    yield
    manager.save(trainer.global_step)


def as_numpy(tensors):
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def train(data, runs, hparams=""):
    """Trains in several runs, each of which resumes from the last checkpoint."""
    hparams = Settings().parse(hparams)
    losses, weights, steps = [], [], []
    with tempfile.TemporaryDirectory() as model_dir:
        for run in runs:
            tf.random.set_seed(SEED)  # the seed of the process: `shuffle` needs it
            trainer = Trainer(data[0], hparams)
            with saved(trainer, model_dir):
                batches = train_batches(data, hparams)  # from the first one
                count = steps_to_take(trainer.global_step.numpy(), **run)
                for batch in itertools.islice(batches, count):
                    losses.append(trainer.train_step(*batch).numpy())
                    # A line of the loop replaces the hook.
                    values = [w.numpy() for w in trainer.model.trainable_variables]
                    weights.append(values)
            steps.append(trainer.global_step.numpy())
        names = sorted(v.name[:-2] for v in trainer.variables)
    return {"losses": losses, "weights": weights, "steps": steps, "names": names}


def steps_to_take(done, steps=None, max_steps=None):
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    if steps is None and max_steps is None:  # v1 would train for ever
        raise ValueError("Give steps or max_steps.")
    if steps is None:
        refuse_zero("max_steps", max_steps)
        return max(0, max_steps - done)
    refuse_zero("steps", steps)
    return steps


def refuse_zero(name, number):
    if number <= 0:
        raise ValueError(f"Must specify {name} > 0, given: {number}")


def evaluate(data, eval_data, steps, eval_steps=None, hparams=""):
    """Trains, then computes mean loss and accuracy on other data."""
    hparams = Settings().parse(hparams)
    batches = eval_batches(eval_data, hparams)
    if eval_steps is not None:
        refuse_zero("steps", eval_steps)
        batches = batches.take(eval_steps)
    return as_numpy(trained(data, hparams, steps).evaluate(batches))


def predict(data, features, steps, hparams=""):
    """Trains, then predicts classes and probabilities."""
    hparams = Settings().parse(hparams)
    trainer = trained(data, hparams, steps)
    rows = []
    for batch in eval_batches(features, hparams):
        columns = as_numpy(trainer.predict(batch))
        rows += [dict(zip(columns, row)) for row in zip(*columns.values())]
    return rows


def serve(data, features, steps, hparams=""):
    """Trains, exports a SavedModel, loads it, and calls each of its signatures."""
    if not steps:  # as in v1, untrained weights are not exported
        raise ValueError("Couldn't find trained model")
    trainer = trained(data, Settings().parse(hparams), steps)

    # --- signatures
    def on_examples(function):
        spec = {"x": tf.io.FixedLenFeature(features.shape[1:], tf.float32)}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def parsed(examples):
            x = tf.io.parse_example(examples, spec)["x"]
            return function(tf.cast(x, features.dtype))

        return parsed

    # --- export
    with tempfile.TemporaryDirectory() as path:
        signatures = {
            "serving_default": on_examples(trainer.predict),
            "classes": on_examples(trainer.classify),
            "raw:serving_default": trainer.predict,
            "raw:classes": trainer.classify,
        }
        tf.saved_model.save(trainer.model, path, signatures)
        # --- load
        loaded = tf.saved_model.load(path)
        # --- ask
        given = {"examples": to_examples(features), "x": tf.constant(features)}
        signatures, answers = {}, {}
        for name, function in sorted(loaded.signatures.items()):
            inputs = function.structured_input_signature[1]
            outputs = function.structured_outputs
            signatures[name] = [sorted(inputs), sorted(outputs)]
            answers[name] = as_numpy(function(**{key: given[key] for key in inputs}))
        return signatures, answers


def to_examples(rows):
    def serialized(row):
        value = tf.train.Feature(float_list=tf.train.FloatList(value=row))
        features = tf.train.Features(feature={"x": value})
        return tf.train.Example(features=features).SerializeToString()

    return tf.constant([serialized(row) for row in rows])


def train_and_evaluate(
    data, eval_data, max_steps, save_every, patience=None, keep=5, hparams=""
):
    """Trains, evaluates at every checkpoint, and stops early without a lower loss."""
    refuse_zero("max_steps", max_steps)
    refuse_zero("save_every", save_every)
    hparams = Settings().parse(hparams)
    metrics = []
    # --- build
    with tempfile.TemporaryDirectory() as model_dir:
        tf.random.set_seed(SEED)  # the seed of the process: `shuffle` needs it
        trainer = Trainer(data[0], hparams)
        manager = checkpoints(trainer, model_dir, keep)
        manager.save(trainer.global_step)
        batches = train_batches(data, hparams)
        evaluation = eval_batches(eval_data, hparams)
        # --- loop
        step, best = 0, None
        while step < max_steps:
            count = min(save_every, max_steps - step)
            for _ in range(count):
                trainer.train_step(*next(batches))
            step += count
            manager.save(step)
            metrics.append(as_numpy(trainer.evaluate(evaluation)))
            loss = metrics[-1]["loss"]
            if best is None or loss < best:
                best, best_step = loss, step
            if patience is not None and step - best_step >= patience:
                break
        # --- checkpoints
        names = [path.split("/")[-1] for path in manager.checkpoints]
    return {"metrics": metrics, "result": metrics[-1], "checkpoints": names}


def run_main(arguments, data, eval_data):
    """Runs a script with flags, which trains and evaluates an estimator."""
    # --- flags
    # In a script, define them at the top of the module.
    text = flags.DEFINE_string(
        "hparams", "", "Hyperparameters, as name=value,name=value."
    )
    train_steps = flags.DEFINE_integer("train_steps", 4, "Number of steps.")
    evaluate = flags.DEFINE_boolean("evaluate", True, "Whether to evaluate in the end.")
    report = {}

    # --- experiment
    def experiment(hparams, model_dir):
        trainer = trained(data, hparams, train_steps.value, model_dir)
        if evaluate.value:
            return as_numpy(trainer.evaluate(eval_batches(eval_data, hparams)))

    # --- main
    def main(argv):
        report["arguments"] = argv[1:]
        with tempfile.TemporaryDirectory() as model_dir:
            report["result"] = experiment(Settings().parse(text.value), model_dir)
            path = tf.train.latest_checkpoint(model_dir)
            step = "trainer/global_step/.ATTRIBUTES/VARIABLE_VALUE"
            report["global_step"] = tf.train.load_variable(path, step)

    # --- run
    # In a script: if __name__ == "__main__": app.run(main)
    def parser(argv):
        # Ignores unknown flags, as `tf.app.run` did. Without it they end the program.
        return flags.FLAGS(argv, known_only=True)

    try:
        app.run(main, ["program", *arguments], flags_parser=parser)
    except SystemExit as end:
        report["status"] = end.code
    finally:
        for flag in (text, train_steps, evaluate):
            delattr(flags.FLAGS, flag.name)  # a script does not need this
    return report
