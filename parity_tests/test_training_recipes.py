import os
import tempfile
import unittest

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Op, Program, Raises, normal, settings
from tf1to2.parity.v1 import legacy
from v1_graph import training_recipes as v1
from v2_eager import training_recipes as v2
from v2_eager.numerics import optimizers
from v2_eager.numerics.batch_norms import BatchNorm
from v2_keras import training_recipes as v3

UNITS = 5
XLA = {"xla": "it multiplies by 1 / steps: in the end the rate is -4e-22, and not 0"}
LAYERS = {"graph": "tf.layers is not available with Keras 3"}


def arrays(seed=0, steps=()):
    """Makes data of a function that a network can learn, and initial weights.

    Args:
        seed: seed of the draws.
        steps: leading dimensions before the 64 rows, such as the number of steps.
    """
    random = np.random.RandomState(seed)
    x = random.normal(size=[*steps, 64, 3])
    y = np.stack([np.sin(x[..., 0]), x[..., 1] * x[..., 2]], -1)
    start = {
        "body/kernel": random.normal(size=[3, UNITS]),
        "body/bias": random.normal(size=[UNITS]),
        "head/kernel": random.normal(size=[UNITS, 2]),
        "head/bias": random.normal(size=[2]),
    }
    start = {name: value.astype("f") for name, value in start.items()}
    return x.astype("f"), y.astype("f"), start


X, Y, START = arrays()
WIDTHS = {"layer_norm": 3, "LayerNorm": UNITS}
OF_NORMS = np.random.RandomState(13)
NORMS = {
    f"{scope}/{part}": OF_NORMS.normal(size=width).astype("f")
    for scope, width in WIDTHS.items()
    for part in ("gamma", "beta")
}
BERT = {**NORMS, **START}
EPISODES = np.random.RandomState(6)
TRANSITIONS = [
    arrays(7, [6])[0],
    EPISODES.randint(0, 2, [6, 64]).astype("i4"),
    EPISODES.normal(size=[6, 64]).astype("f"),
    arrays(8, [6])[0],
    EPISODES.randint(0, 2, [6, 64]).astype("f"),
]
DATA, VALIDATION = (X, Y), arrays(1)[:2]
KERNELS = {name: value for name, value in START.items() if "kernel" in name}
STEPS = np.arange(1031)
FIRST = 3 * X + 1, [arrays(seed)[:2] for seed in (9, 10, 11)]
DRAWN = np.random.RandomState(12)
PICTURES = [
    DRAWN.normal(size=shape).astype("f")
    for shape in ([1, 8, 9, 3], [1, 8, 9, 3], [3, 3, 3, 4])
]

# --- A table, whole and partitioned.

TABLE = {
    "table": np.random.RandomState(2).normal(size=[67, 4]),
    "table/Adagrad": np.random.RandomState(3).uniform(1, 2, [67, 4]),
}
ROWS = np.random.RandomState(4).randint(0, 67, [4, 16])
TARGETS = np.random.RandomState(5).normal(size=[4, 16, 4])


def files_of(arrays, sizes=()):
    """Returns a checkpoint's files; `sizes` are the rows of the partitions, if any."""
    names, slices, tensors = [], [], []
    for name in sorted(arrays):
        value, begin = arrays[name], 0
        for size in sizes or [len(value)]:
            shape, rest = " ".join(map(str, value.shape)), f"0,{value.shape[1]}"
            names.append(name)
            slices.append(f"{shape} {begin},{size}:{rest}" if sizes else "")
            tensors.append(value[begin : begin + size])
            begin += size
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ckpt")
        tf.raw_ops.SaveV2(
            prefix=path, tensor_names=names, shape_and_slices=slices, tensors=tensors
        )
        suffixes = ".index", ".data-00000-of-00001"
        return {s: np.fromfile(path + s, np.uint8) for s in suffixes}


WHOLE, PARTS = files_of(TABLE), files_of(TABLE, [23, 22, 22])

# --- Wrong programs that people write instead of the right page.


def after_warmup(global_step, learning_rate, decay_steps, warmup_steps):
    """Uses transformers' `WarmUp`: the decay begins where the warm-up ends."""
    schedule = tf.keras.optimizers.schedules.PolynomialDecay(
        learning_rate, decay_steps - warmup_steps, 0.0
    )
    done = tf.cast(global_step, tf.float32) / warmup_steps
    rate = schedule(tf.maximum(global_step - warmup_steps, 0))
    return tf.where(global_step < warmup_steps, learning_rate * done, rate)


def pretrain_by_adamw(x, y, start, steps, rate, warmup_steps):
    class Warmed(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return v2.warmed_rate(step, np.float32(rate), steps, warmup_steps)

    adamw = tf.keras.optimizers.AdamW(Warmed(), 0.01, epsilon=1e-6, global_clipnorm=1.0)
    adamw.exclude_from_weight_decay(var_names=["LayerNorm", "layer_norm", "bias"])
    weights = v2.variables_of(start)
    variables = list(weights.values())
    losses, rates = [], []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            losses.append(v2.normalized_error(weights, x, y))
        gradients = tape.gradient(losses[-1], variables)
        rates.append(adamw.learning_rate)
        adamw.apply_gradients(zip(gradients, variables))
    found = {"losses": losses, "rates": rates}
    found = {name: np.stack(values) for name, values in found.items()}
    values = {**v2.values_of(*variables), "global_step": np.int64(steps)}
    for name, slots in ("adam_m", adamw._momentums), ("adam_v", adamw._velocities):
        for variable, slot in zip(variables, slots):
            values[f"{variable.name[:-2]}/{name}"] = slot.numpy()
    return {**found, "variables": values}


def halve_a_number(data, validation, start, steps, rate, patience):
    """Uses a Python number as the rate, which the trace keeps."""
    weights = v2.variables_of(start)
    variables = list(weights.values())
    optimizer = optimizers.Momentum(lambda: rate, 0.9).create_slots(variables)

    @tf.function
    def step():
        optimizer.minimize(lambda: v2.error(weights, *data), variables)
        return v2.error(weights, *validation)

    rates, losses, best, stalled = [], [], np.inf, 0
    for _ in range(steps):
        rates.append(rate)
        losses.append(step().numpy())
        stalled = 0 if losses[-1] < best else stalled + 1
        best = min(best, losses[-1])
        if stalled > patience:
            rate, stalled = rate / 2, 0
    values = v2.values_of(*variables, *optimizer.variables)
    rates = np.array(rates, data[0].dtype)
    return {"rates": rates, "losses": np.array(losses), "variables": values}


def halve_by_keras(data, validation, start, steps, rate, patience):
    """Uses Keras' SGD, whose momentum contains the rates of earlier steps."""

    class Momentum(tf.Module):
        def __init__(self, learning_rate, momentum):
            super().__init__()
            self.rate = learning_rate
            self.sgd = tf.keras.optimizers.SGD(float(learning_rate), momentum)

        def create_slots(self, variables):
            self.sgd.build(variables)
            self.moved = variables
            return self

        def minimize(self, loss, variables):
            with tf.GradientTape() as tape:
                value = loss()
            self.sgd.learning_rate.assign(self.rate)
            self.sgd.apply_gradients(zip(tape.gradient(value, variables), variables))

        @property
        def variables(self):
            return [
                tf.Variable(slot, name=f"{variable.name[:-2]}/Momentum")
                for slot, variable in zip(self.sgd.momentums, self.moved)
            ]

    momentum = optimizers.Momentum
    optimizers.Momentum = Momentum
    try:
        return v2.halve_on_plateau(data, validation, start, steps, rate, patience)
    finally:
        optimizers.Momentum = momentum


def without_a_target(states, actions, rewards, nexts, over, start):
    """Uses the network itself as target in each step."""
    arrays = [states, actions, rewards, nexts, over]
    found = v2.train_dqn(*arrays, start, every=1)
    weights = found["variables"]
    online = {n: v for n, v in weights.items() if n.startswith("online")}
    target = {n.replace("online", "target"): v for n, v in online.items()}
    return {**found, "variables": {**online, **target}}


def one_after_the_other(xs, ys, start, rates=(0.125, 0.0625)):
    """Computes the head's gradients after the body's update."""
    weights, losses = v2.variables_of(start), []
    variables = list(weights.values())
    adam = optimizers.Adam(rates[0]).create_slots(variables[:2])
    momentum = optimizers.Momentum(rates[1], 0.9).create_slots(variables[2:])
    for x, y in zip(xs, ys):
        losses.append([v2.error(weights, *part).numpy() for part in zip(x, y)])

        def loss(x=x, y=y):
            errors = [v2.error(weights, *part) for part in zip(x, y)]
            return tf.add_n(errors) / len(errors)

        adam.minimize(loss, variables[:2])
        momentum.minimize(loss, variables[2:])
    values = v2.values_of(*variables, *adam.variables, *momentum.variables)
    values["global_step"] = np.int64(len(xs))
    return {"losses": np.array(losses), "variables": values}


def fake_first(real, fake, steps, momentum=0.75):
    found = v2.normalize_twice(fake, real, steps, momentum)
    return {**found, "outputs": found["outputs"][::-1]}


def channels_last(images, kernel, weights):
    """Uses channels last everywhere, except in the rows of the weights."""
    images = tf.transpose(images, [0, 2, 3, 1])
    hidden = tf.nn.relu(tf.nn.conv2d(images, kernel, 1, "SAME"))
    return tf.matmul(tf.reshape(hidden, [-1, weights.shape[0]]), weights)


def all_checkpoints(data, validation, start, rounds):
    rounds = [[stop] for stops in rounds for stop in stops]
    return v2.evaluate_checkpoints(data, validation, start, rounds)


XS, YS, _ = arrays(6, [3, 4])
REAL = np.random.RandomState(7).normal(0, 1, [64, 8]).astype("f")
FAKE = np.random.RandomState(8).normal(3, 2, [64, 8]).astype("f")
IMAGES = [normal("b", 2, 4, 6), normal(3, 3, 2, 5), normal(120, 3)]
SIZES = [{"b": 3}, {"b": 67}]
ROUNDS = [[2], [3, 5, 6], [8]]
CASES = [
    Op("warmed_rate", "scalar", [np.int64(7), np.float32(0.001), 100, 10]),
    Op("warmed_rate", "all steps", [STEPS, np.float32(2e-5), 1000, 100], skip=XLA),
    Op("warmed_rate", "no warm-up", [STEPS[:20], np.float32(0.01), 10, 0], skip=XLA),
    FalseFriend(
        "warmed_rate",
        "a line that begins after the warm-up",
        [STEPS, np.float32(2e-5), 1000, 100],
        naive=after_warmup,
        because="BERT's falling line begins at step 0, and the warm-up joins it",
        skip=XLA,
    ),
    Program("pretrain", "ten steps", [X, Y, BERT, 10]),
    Program("pretrain", "no warm-up, hardly clipped", [X, Y, BERT, 4, 0.125, 0, 5.0]),
    FalseFriend(
        "pretrain",
        "by AdamW",
        [X, Y, BERT, 10, 0.01, 4],
        of="program",
        naive=pretrain_by_adamw,
        because="AdamW corrects the bias of its averages, BERT's optimizer did not",
    ),
    Program("halve_on_plateau", "stalls", [DATA, VALIDATION, START, 20, 0.25]),
    Program("halve_on_plateau", "at once", [DATA, VALIDATION, START, 8, 0.5, 0]),
    *(
        FalseFriend(
            "halve_on_plateau",
            slug,
            [DATA, VALIDATION, START, 20, 0.25, 1],
            of="program",
            naive=naive,
            because=because,
        )
        for slug, naive, because in [
            ("a Python number", halve_a_number, "the trace has kept its first value"),
            (
                "Keras' momentum",
                halve_by_keras,
                "its slot holds steps, each of the rate of its time, and no gradients",
            ),
        ]
    ),
    Program("train_in_parts", "from parts", [PARTS, ROWS, TARGETS, 3]),
    Program("train_in_parts", "from one", [WHOLE, ROWS, TARGETS, 3]),
    Program(
        "train_in_parts", "by size", [PARTS, ROWS, TARGETS, 9], {"min_slice_size": 256}
    ),
    Raises.alike(
        "train_in_parts",
        "a checkpoint without the slots",
        [files_of({"table": TABLE["table"]}), ROWS, TARGETS, 3],
        tf.errors.NotFoundError,
        "table/Adagrad not found in checkpoint",
        of="program",
    ),
    Program("train_with_switch", "ten steps", [X, Y, KERNELS, 10], skip=LAYERS),
    Program("evaluate_averages", "three rounds", [DATA, VALIDATION, START, 3, 4], {}),
    Program("accumulate", "three steps of four", [XS, YS, START]),
    FalseFriend(
        "accumulate",
        "one after the other",
        [XS, YS, START],
        of="program",
        naive=one_after_the_other,
        because="the head's gradient is taken when the body has moved",
    ),
    Program("normalize_twice", "three steps", [REAL, FAKE, 3], skip=LAYERS),
    FalseFriend(
        "normalize_twice",
        "the other order",
        [REAL, FAKE, 3],
        of="program",
        naive=fake_first,
        because="the last batch has the largest share of the moving statistics",
        skip=LAYERS,
    ),
    Op("classify_channels_first", "any batch", IMAGES, sizes=SIZES),
    FalseFriend(
        "classify_channels_first",
        "channels last, and the same weights",
        IMAGES,
        naive=channels_last,
        because="flattened, channels are the fastest, and the rows are in this order",
        sizes=SIZES,
    ),
    Program("fetch_beside_step", "five steps", [X, Y, START["body/kernel"][:, :2], 5]),
    Program("evaluate_checkpoints", "one is missed", [DATA, VALIDATION, START, ROUNDS]),
    FalseFriend(
        "evaluate_checkpoints",
        "all of them",
        [DATA, VALIDATION, START, ROUNDS],
        of="program",
        naive=all_checkpoints,
        because="the iterator gives the newest, whatever came before it",
        differs="structure",
    ),
    Program("train_dqn", "a copy every two steps", [*TRANSITIONS, START]),
    Program(
        "train_dqn",
        "a soft update in each step",
        [*TRANSITIONS, START],
        {"every": 1, "tau": 0.125},
    ),
    FalseFriend(
        "train_dqn",
        "without a target",
        [*TRANSITIONS, START],
        of="program",
        naive=without_a_target,
        because="a network that runs after itself: its own next values are the target",
    ),
    Program(
        "normalize_by_data",
        "three batches",
        [*FIRST, START["body/kernel"][:, :2]],
    ),
    Program("paint", "six steps", [*PICTURES, 0.5, 6]),
]
PROOF = proof(v1, v2, CASES)


class TrainingRecipesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class PartsTest(unittest.TestCase):
    def test_the_files_of_parts_are_those_of_a_saver(self):
        """Compares bytes: the cases begin with the files of a v1 program."""
        sizes = iter([23, 22, 22] * 2)

        def initial(shape, dtype, partition_info):
            (begin, _), rows = partition_info.var_offset, next(sizes)
            return tf.constant(TABLE[name][begin : begin + rows])

        tf1 = tf.compat.v1
        with legacy(), tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
            for name, value in TABLE.items():
                tf1.get_variable(
                    name,
                    value.shape,
                    tf.float64,
                    initial,
                    partitioner=tf1.fixed_size_partitioner(3),
                )
            with tf1.Session() as sess:
                sess.run(tf1.global_variables_initializer())
                path = tf1.train.Saver().save(sess, os.path.join(folder, "model"))
            for suffix, content in PARTS.items():
                found = np.fromfile(path + suffix, np.uint8)
                np.testing.assert_array_equal(found, content)

    def test_by_mod_the_rows_are_others(self):
        table, order = TABLE["table"], np.arange(67)
        parts = np.split(table, [23, 45])
        found = np.stack([parts[i % 3][i // 3] for i in order])
        self.assertEqual((found == table).all(1).sum(), 2)


class SwitchTest(unittest.TestCase):
    def test_an_attribute_is_read_once(self):
        module = tf.Module()
        module.training = True

        @tf.function
        def drop(x):
            return tf.nn.dropout(x, 0.5) if module.training else x

        x = tf.ones([1000])
        drop(x)
        module.training = False
        self.assertNotEqual(tf.reduce_min(drop(x)), 1)


class BiasTest(unittest.TestCase):
    """A bias before a batch norm: the norm subtracts it, whatever its value is."""

    @parameterized.expand([("float32", 1e-9, 1e-6, 1e-4), ("float64", 0, 1e-15, 0)])
    def test_its_gradient_is_noise_and_moves_it(self, dtype, low, high, moved):
        x = tf.cast(np.random.RandomState(0).normal(size=[64, 10]), dtype)
        kernel = tf.Variable(tf.keras.initializers.GlorotUniform(1)([10, 8], dtype))
        bias, norm = tf.Variable(tf.zeros([8], dtype)), BatchNorm()
        norm.build(8, x.dtype)

        def loss():
            hidden = norm(tf.matmul(x, kernel) + bias, training=True)
            return tf.reduce_mean((tf.nn.relu(hidden) - x[:, :8]) ** 2)

        with tf.GradientTape() as tape:
            value = loss()
        gradients = tape.gradient(value, [kernel, bias])
        largest = [tf.reduce_max(tf.abs(g)).numpy() for g in gradients]
        self.assertGreater(largest[0], 0.1)
        self.assertTrue(low <= largest[1] <= high, largest)
        adam = optimizers.Adam(0.01).create_slots([kernel, bias])
        for _ in range(10):
            adam.minimize(loss, [kernel, bias])
        self.assertGreaterEqual(tf.reduce_max(tf.abs(bias)), moved)


class ActionsTest(unittest.TestCase):
    def test_one_that_there_is_not(self):
        start = {"body/kernel": np.ones([2, 3], "f"), "body/bias": np.zeros(3, "f")}
        start |= {"head/kernel": np.ones([3, 2], "f"), "head/bias": np.zeros(2, "f")}
        x, rewards = np.ones([1, 3, 2], "f"), np.ones([1, 3], "f")
        for action in (-1, 2):
            actions = np.full([1, 3], action, "i")
            args = x, actions, rewards, x, np.zeros_like(rewards), start
            with legacy():
                (loss,) = v1.train_dqn(*args)["losses"]
            self.assertLess(abs(loss - (1 + 0.9 * 6) ** 2), 5e-5)
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "not in .0, 2"):
                v2.train_dqn(*args)


class ChannelsTest(unittest.TestCase):
    def test_a_cpu_has_channels_last(self):
        if settings.current() != "strict":
            return  # with oneDNN a CPU supports both layouts
        images, kernel = tf.ones([1, 2, 5, 5]), tf.ones([3, 3, 2, 1])
        with self.assertRaisesRegex(tf.errors.UnimplementedError, "only .* the NHWC"):
            tf.nn.conv2d(images, kernel, 1, "SAME", "NCHW")

    def test_the_rows_of_the_weights_in_the_other_order(self):
        random = np.random.RandomState(0)
        images, kernel, weights = (
            tf.constant(random.normal(size=size).astype("f"))
            for size in ([64, 2, 4, 6], [3, 3, 2, 5], [120, 3])
        )
        expected = v2.classify_channels_first(images, kernel, weights)
        rows = tf.transpose(tf.reshape(weights, [5, 4, 6, 3]), [1, 2, 0, 3])
        found = channels_last(images, kernel, tf.reshape(rows, [120, 3]))
        distance = tf.reduce_max(tf.abs(found - expected))
        self.assertLess(distance / tf.reduce_max(tf.abs(expected)), 1e-6)


class KerasTest(unittest.TestCase):
    def model(self):
        layers = keras.layers.Dense(UNITS, "relu"), keras.layers.Dense(2)
        model = keras.Sequential([keras.Input([3]), *layers])
        model.set_weights(list(START.values()))
        return model

    def test_weights_go_by_their_names(self):
        random = np.random.RandomState(2)
        start = {
            f"{layer}/{part}": random.randn(*size).astype("f")
            for layer in ("body", "head")
            for part, size in (("kernel", [3, 3]), ("bias", [3]))
        }
        for norm in WIDTHS:
            start |= {f"{norm}/{part}": np.ones(3, "f") for part in ("gamma", "beta")}
        args = random.randn(2, 8, 3).astype("f")
        turned = dict(reversed(start.items()))
        told, again = (v3.pretrain(*args, s, 2)["losses"] for s in (start, turned))
        np.testing.assert_array_equal(told, again)

    def test_float64_is_trained_in_float64(self):
        wide = {name: value.astype("d") for name, value in BERT.items()}
        args = X.astype("d"), Y.astype("d"), wide, 5
        pair, page = (side.pretrain(*args) for side in (v2, v3))
        self.assertLess(np.abs(pair["rates"] - page["rates"]).max(), 1e-16)
        self.assertEqual(page["variables"].keys(), pair["variables"].keys())
        for name, value in pair["variables"].items():
            self.assertLess(np.abs(page["variables"][name] - value).max(), 1e-14, name)

    def test_a_limit_of_0_would_clip_nothing(self):
        with self.assertRaisesRegex(ValueError, "limit must be positive"):
            v3.pretrain(X, Y, BERT, 1, limit=0.0)

    def test_swapped_averages_are_others_and_stay(self):
        expected = v2.evaluate_averages(DATA, VALIDATION, START, 1, 4)
        model = self.model()
        sgd = keras.optimizers.SGD(0.125, use_ema=True, ema_momentum=0.9)
        model.compile(sgd, "mse")
        batch = tf.data.Dataset.from_tensors(DATA)
        swap = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
        model.fit(batch.repeat(4), shuffle=False, verbose=0, callbacks=[swap])
        found = model.evaluate(*VALIDATION, verbose=0)
        self.assertEqual(f"{expected['averaged'][0]:.3f}", "3.005")
        self.assertEqual(f"{found:.3f}", "1.410")  # not 0.723, the loss of the weights

    @parameterized.expand(
        [("together", 3, [1, 1, 0.7]), ("each", None, [0.9, 0.7, 0.1])]
    )
    def test_accumulated_gradients_are_a_mean(self, _, steps, expected):
        w, found = tf.Variable(1.0), []
        sgd = keras.optimizers.SGD(0.1, gradient_accumulation_steps=steps)
        for gradient in (1.0, 2.0, 6.0):
            sgd.apply_gradients([(tf.constant(gradient), w)])
            found.append(round(float(w.numpy()), 6))
        self.assertEqual(found, expected)

    def test_a_schedule_of_accumulated_gradients_is_read_by_the_batch(self):
        rates = keras.optimizers.schedules.PiecewiseConstantDecay
        sgd = keras.optimizers.SGD(
            rates([2, 5], [1.0, 2.0, 4.0]), gradient_accumulation_steps=3
        )
        w, found = tf.Variable(0.0), []
        for _ in range(9):
            sgd.apply_gradients([(tf.constant(1.0), w)])
            found.append(float(w.numpy()))
        # The three steps are in batches 2, 5 and 8, so their rates are 1, 2 and 4.
        self.assertEqual(found[2::3], [-1, -3, -7])
        self.assertEqual(sgd.iterations.numpy(), 3)

    @parameterized.expand([("epochs", "epoch", 16, True), ("batches", 3, 17, False)])
    def test_backup_and_restore_goes_on_with_an_epoch(self, _, every, steps, same):
        class Killed(keras.callbacks.Callback):
            def on_train_batch_begin(self, batch, logs=None):
                if self.model.optimizer.iterations == 9:
                    raise KeyboardInterrupt

        def fit(folder, *callbacks):
            model = self.model()
            model.compile(keras.optimizers.Adam(0.1), "mse")
            backup = keras.callbacks.BackupAndRestore(folder, save_freq=every)
            callbacks = [backup, *callbacks]
            options = {"batch_size": 16, "epochs": 4, "shuffle": False, "verbose": 0}
            try:
                model.fit(X, Y, callbacks=callbacks, **options)
            except KeyboardInterrupt:
                return None
            return int(model.optimizer.iterations), model.get_weights()

        with tempfile.TemporaryDirectory() as folder:
            _, expected = fit(os.path.join(folder, "whole"))
            path = os.path.join(folder, "backup")
            self.assertIsNone(fit(path, Killed()))
            found, weights = fit(path)
            self.assertEqual(found, steps)
            equal = all((a == b).all() for a, b in zip(weights, expected))
            self.assertEqual(equal, same)
            self.assertFalse(os.path.exists(path))  # the next run begins from scratch
