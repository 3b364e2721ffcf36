import contextlib
import io
import json
import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.shorthand import refused
from tf1to2.checkpoint.following import make_plan
from tf1to2.checkpoint.maps import read_map
from tf1to2.checkpoint.stored import Checkpoint
from tf1to2.checkpoint.writing import write
from tf1to2.parity import FalseFriend, Naive, Program, dyadic, normal
from tf1to2.parity.distance import same_bits
from tf1to2.parity.v1 import legacy
from v1_graph import checkpoints as v1
from v2_eager import checkpoints as v2
from v2_eager.numerics import restore
from v2_keras import checkpoints as v3

RNG = np.random.RandomState(0)
DATA = [RNG.standard_normal((5, 3)), RNG.standard_normal((5, 2))]
START = {"kernel": RNG.standard_normal((3, 2)), "bias": RNG.standard_normal(2)}
ZERO = {"kernel": np.zeros((3, 2)), "bias": np.zeros(2)}
LINE = [normal(5, 3), normal(5, 2), {"kernel": normal(3, 2), "bias": normal(2)}]
STATE = {
    "kernel": START["kernel"],
    "bias": START["bias"],
    "kernel/Adam": RNG.standard_normal((3, 2)),
    "kernel/Adam_1": RNG.uniform(1, 2, (3, 2)),
    "bias/Adam": RNG.standard_normal(2),
    "bias/Adam_1": RNG.uniform(1, 2, 2),
    "beta1_power": np.float32(0.25),
    "beta2_power": np.float32(0.75),
    "global_step": np.int64(20),
}


def files_of(arrays):
    """Returns checkpoint files with the bytes that a `tf.train.Saver` writes."""
    with tempfile.TemporaryDirectory() as folder:
        return v2._pack(v2._write(arrays, folder))


def but(**changes):
    """Returns the files of `STATE` with changes; None leaves a name out."""
    state = {name.replace("__", "/"): value for name, value in changes.items()}
    return files_of({n: a for n, a in {**STATE, **state}.items() if a is not None})


SIZES = {"fc6": (5, 4), "fc7": (4, 3), "fc8": (3, 2)}
NET = {
    layer: [RNG.standard_normal((rows, columns)), RNG.standard_normal(columns)]
    for layer, (rows, columns) in SIZES.items()
}
ZEROS = {layer: [np.zeros_like(part) for part in NET[layer]] for layer in NET}
SMALL_NET = {
    "fc7": [np.float64([[1, 0], [3, 2]]), np.float64([-6, 1])],
    "fc8": [np.float64([[5], [7]]), np.float64([9])],
}
SMALL_ZEROS = {
    "fc7": [np.zeros((2, 2)), np.zeros(2)],
    "fc8": [np.float64([[1], [0]]), np.zeros(1)],
}
GIVEN = files_of(STATE)
TWENTY = but(  # the powers start at beta: after 20 steps they are beta ** 21
    beta1_power=np.multiply.accumulate(np.full(21, 0.9, "f"))[-1],
    beta2_power=np.multiply.accumulate(np.full(21, 0.999, "f"))[-1],
)
MADE_UP = {"keras": "Keras takes the powers of its betas from the step"}
SLOW = {"eager": "the same steps as in the other cases, a hundred times"}
OTHER_MODEL = {
    "old/w": normal(3),
    "old/b": normal(2, 2),
    "old/steps": np.int64(7),
    "scale": normal(),
}
MODEL = {"net/w": normal(3), "net/b": normal(2, 2), "new/w": normal(3)}


def train_after_read(x, y, weights, steps, files):
    """Uses `tf.train.Checkpoint`, the obvious replacement, which reads old files."""
    with tf.name_scope("model"):
        trainer = v2.Trainer(weights, 0.125)
    with tempfile.TemporaryDirectory() as folder:
        tf.train.Checkpoint(trainer=trainer).read(v2._unpack(files, folder))
    return finish(trainer, x, y, steps)


def train_the_weights_alone(x, y, weights, steps, files):
    trainer = v2.Trainer(weights, 0.125)
    with tempfile.TemporaryDirectory() as folder:
        variables = trainer.by_name()
        weights = {name: variables[name] for name in ("kernel", "bias")}
        restore.by_name(v2._unpack(files, folder), weights)
    return finish(trainer, x, y, steps)


def finish(trainer, x, y, steps):
    losses = np.array([trainer.step(x, y).numpy() for _ in range(steps)])
    variables = {k.replace("model/", ""): v for k, v in trainer.by_name().items()}
    state = {name: v.numpy() for name, v in variables.items()}
    files = files_of(variables)
    return {"losses": losses, "state": state, "files": files}


INVALID, MISSING = tf.errors.InvalidArgumentError, tf.errors.NotFoundError
CASES = [
    Program("train", "the classic", [*LINE, 3]),
    Program("train", "100 steps", [*DATA, START, 100], skip=SLOW),
    Program("train", "200 steps", [*DATA, START, 200], skip=SLOW),
    Program(
        "train",
        "from a file, and straight back",
        [*DATA, ZERO, 0, GIVEN],
        expect={"losses": [], "state": STATE, "files": GIVEN},
        skip={"function": PLAIN},
    ),
    Program(
        "train_in_scope",
        "of variables",
        [normal(64, 5), [normal(64, 5), normal(64, 5)], "optimizer"],
        skip={"function": PLAIN},
    ),
    Program(
        "train_in_scope",
        "of names",
        [normal(3), [normal(3)], "train", "name"],
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "train",
        "from a file of TensorFlow 2; tf.train.Checkpoint finds nothing in it",
        [*DATA, ZERO, 3, GIVEN],
        of="program",
        naive=train_after_read,
        because="it looks for variables of other names, finds none, and says nothing",
        skip=MADE_UP,
    ),
    FalseFriend(
        "train",
        "the weights without slots and powers",
        [*DATA, ZERO, 3, GIVEN],
        of="program",
        naive=train_the_weights_alone,
        because="Adam begins anew",
        skip=MADE_UP,
    ),
    Program("train", "from a file of twenty steps", [*DATA, ZERO, 3, TWENTY]),
    refused(
        "train",
        "a slot is missing",
        [*DATA, ZERO, 1, but(bias__Adam=None)],
        "bias/Adam not found in checkpoint",
        MISSING,
    ),
    refused(
        "train",
        "another dtype",
        [*DATA, ZERO, 1, but(bias=np.float32([1, 2]))],
        "bias; expected dtype double does not equal original dtype float",
        INVALID,
    ),
    refused(
        "train",
        "another shape",
        [*DATA, ZERO, 1, but(bias=np.float64([1, 2, 3]))],
        "[Ss]hape",
        graph=INVALID,
    ),
    refused(
        "train",
        "a file that is none",
        [*DATA, ZERO, 1, {**GIVEN, ".index": np.arange(200, dtype=np.uint8)}],
        "not an sstable",
        tf.errors.DataLossError,
    ),
    refused(
        "train",
        "a byte of the data is lost",
        [
            *DATA,
            ZERO,
            1,
            {n: f[: 334 if "index" in n else 9] for n, f in GIVEN.items()},
        ],
        "Read less bytes than requested|Read fewer bytes",
        tf.errors.OutOfRangeError,
    ),
    Program("stop_and_resume", "the classic", [*LINE, 3, 2], {"rate": 0.3}),
    refused(
        "stop_and_resume",
        "labels of another size",
        [DATA[0], DATA[1].T[:, :3], ZERO, 1, 1],
        "Dimensions must be equal|[Ii]ncompatible shapes",
        eager=INVALID,
    ),
    Program(
        "restore_part",
        "two of three, renamed",
        [OTHER_MODEL, MODEL, {"old/w": "net/w", "old/b": "net/b"}],
        skip={"function": PLAIN},
    ),
    Program(
        "restore_part",
        "integers and booleans",
        [{"n": np.int64(7), "b": np.bool_(True)}, {"a": np.int64(0), "c": np.bool_(0)}]
        + [{"n": "a", "b": "c"}],
        expect={"a": 7, "c": True},
        skip={"function": PLAIN},
    ),
    refused(
        "restore_part",
        "no such name",
        [{"a": np.float32(1)}, {"b": np.float32(0)}, {"b": "b"}],
        "b not found in checkpoint",
        MISSING,
    ),
    Program(
        "start_from",
        "scope to scope",
        [OTHER_MODEL, MODEL, {"old/": "net/"}],
        skip={"function": PLAIN},
    ),
    Program(
        "start_from",
        "one name, and a scope",
        [
            {"w": dyadic(3), "s/b": dyadic(2, 2), "s/a/c": dyadic(2)},
            {"net/b": dyadic(2, 2), "net/a/c": dyadic(2), "new/w": dyadic(3)},
            {"w": "new/w", "s/": "net/"},
        ],
        skip={"function": PLAIN},
    ),
    Program(
        "start_from",
        "out of a scope",
        [{"old/w": np.float32([1, 2])}, {"w": np.zeros(2, "f")}, {"old/": "/"}],
        expect={"w": [1, 2]},
        skip={"function": PLAIN},
    ),
    refused(
        "start_from",
        "not in the checkpoint",
        [{"a/w": np.float32(1)}, {"b/v": np.float32(0)}, {"a/": "b/"}],
        "Tensor a/v .*is not found",
    ),
    refused(
        "start_from",
        "another shape",
        [{"w": np.float32(1)}, {"v": np.float32([0])}, {"w": "v"}],
        "Shape of variable v(:0)? .*doesn't match",
    ),
    refused(
        "start_from",
        "no such variable",
        [{"w": np.float32(1)}, {"v": np.float32(0)}, {"w": "u"}],
        "Assignment map with",
    ),
    Program("load_arrays", "all layers", [RNG.standard_normal((67, 5)), NET, ZEROS]),
    Program(
        "load_arrays",
        "but the last one",
        [np.float64([[1, 2]]), SMALL_NET, SMALL_ZEROS, ["fc8"]],
        expect={
            "y": [[1]],
            "variables": {
                "fc7/weights": [[1, 0], [3, 2]],
                "fc7/biases": [-6, 1],
                "fc8/weights": [[1], [0]],
                "fc8/biases": [0],
            },
        },
    ),
    refused(
        "load_arrays",
        "another shape",
        [np.ones((2, 3)), {"fc8": [np.ones((3, 2)), np.ones(2)]}, SMALL_ZEROS],
        "hape",
    ),
    refused(
        "load_arrays",
        "no such layer",
        [np.ones((2, 2)), {"fc9": [np.ones((2, 1)), np.ones(1)]}, SMALL_ZEROS],
        "fc9",
        KeyError,
        graph=ValueError,
    ),
    Program(
        "inspect",
        "the classic",
        [{"w": np.float32([[1, 2]]), "n/step": np.int64(7)}, "w"],
        expect={
            "list": ["n/step []", "w [1, 2]"],
            "dtypes": ["int64", "float32"],
            "value": [[1, 2]],
        },
        exact=True,
        skip={"function": PLAIN},
    ),
    refused(
        "inspect",
        "no such name",
        [{"w": np.float32(1)}, "w:0"],
        "no w:0 in the checkpoint",
        MISSING,
    ),
    Program(
        "keep",
        "the last two",
        [[[1, 2, 30]], 2],
        expect={
            "files": [
                "checkpoint",
                "model.ckpt-2.data-00000-of-00001",
                "model.ckpt-2.index",
                "model.ckpt-30.data-00000-of-00001",
                "model.ckpt-30.index",
            ],
            "latest": "model.ckpt-30",
            "all": ["model.ckpt-2", "model.ckpt-30"],
            "resumed": 30,
        },
        skip={"function": PLAIN},
    ),
    Program(
        "keep", "five by default", [[[0, 1, 2, 3, 4, 5, 6]]], skip={"function": PLAIN}
    ),
    Program(
        "keep", "over three runs", [[[1, 2], [3], [4]], 2], skip={"function": PLAIN}
    ),
    Program(
        "keep", "and one an hour", [[[1, 2, 3]], 1, 1e-9], skip={"function": PLAIN}
    ),
]


def load_and_compile(path, load=tf.keras.models.load_model):
    model = load(path)
    step = model.optimizer.iterations
    model.compile(v3.adam(0.125), "mse")
    model.optimizer.build(model.trainable_variables)
    model.optimizer.iterations.assign(step)
    return model


def without_slots(path, variables):
    reader = tf.train.load_checkpoint(path)
    for name in ("kernel", "bias", "global_step"):
        variables[name].assign(reader.get_tensor(name))


NAIVE = [
    Naive(
        "train, from a file of twenty steps",
        "without the slots",
        mock.patch.object(v3, "restore", without_slots)(v3.train),
        because="the slots of Adam begin at zero again",
    ),
    Naive(
        "stop_and_resume, the classic",
        "compiled anew",
        mock.patch.object(v3.keras.models, "load_model", load_and_compile)(
            v3.stop_and_resume
        ),
        because="compile makes a fresh optimizer, whose slots are zero",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class CheckpointsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class KerasTest(unittest.TestCase):
    def test_after_a_stop_float64_is_trained_in_float64(self):
        whole = v3.train(*DATA, START, 5)
        parts = v3.stop_and_resume(*DATA, START, 3, 2)
        np.testing.assert_array_equal(parts["losses"], whole["losses"])
        for name, value in whole["state"].items():
            np.testing.assert_array_equal(parts["state"][name], value, name)

    @parameterized.expand(
        [
            ("no_slot", {"bias__Adam": None}, MISSING, "bias/Adam not found"),
            ("dtype", {"bias": np.float32([1, 2])}, ValueError, "bias is float32"),
            ("shape", {"bias": np.float64([1, 2, 3])}, ValueError, r"float64 \(3,\)"),
        ]
    )
    def test_what_does_not_fit_is_said_before_anything_changes(
        self, _, other, error, match
    ):
        model = v3.line([ZERO["kernel"], ZERO["bias"]], v3.adam())
        with tempfile.TemporaryDirectory() as folder:
            path = v2._unpack(but(**other), folder)
            with self.assertRaisesRegex(error, match):
                v3.restore(path, v3.old_names(model))
        self.assertFalse(any(np.any(value) for value in model.get_weights()))

    def test_a_file_is_there_until_the_next_one_is_whole(self):
        model = v3.line([START["kernel"], START["bias"]], v3.adam())

        def half(path):
            with open(path, "wb") as file:
                file.write(b"PK")
            raise KeyboardInterrupt

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            v3.save(model, path)
            with mock.patch.object(model, "save", half):
                with self.assertRaises(KeyboardInterrupt):
                    v3.save(model, path)
            self.assertEqual(os.listdir(folder), ["model.keras"])
            loaded = v3.load(path, "float64")
        np.testing.assert_array_equal(loaded.get_weights()[0], START["kernel"])


def recorded(slug):
    """Returns the recorded result of TensorFlow 1.15.5, and its files."""
    (entry,) = [e for e in PROOF.recorded() if e.case.slug == slug]
    answer = PROOF.recording.answer(entry.key, entry.request)
    return answer, {suffix: answer["outputs/files/" + suffix] for suffix in GIVEN}


OBJECTS = {
    "kernel": "trainer/kernel",
    "bias": "trainer/bias",
    "kernel/Adam": "trainer/adam/slots/0/m",
    "kernel/Adam_1": "trainer/adam/slots/0/v",
    "bias/Adam": "trainer/adam/slots/1/m",
    "bias/Adam_1": "trainer/adam/slots/1/v",
    "beta1_power": "trainer/adam/powers/beta1_power",
    "beta2_power": "trainer/adam/powers/beta2_power",
    "global_step": "trainer/global_step",
}


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def assert_same_files(self, got, wanted):
        self.assertEqual(got.keys(), wanted.keys())
        for suffix, content in wanted.items():
            np.testing.assert_array_equal(got[suffix], content, strict=True)


class OnwardTest(FolderTest):
    """Continues training from a file that TensorFlow 1.15.5 wrote after 100 steps."""

    def convert(self, source, target, mapping):
        with open(self.path("map.json"), "w") as file:
            json.dump(mapping, file)
        mapping = read_map(self.path("map.json"))
        plan = make_plan(Checkpoint(source), mapping)
        self.assertEqual(plan.problems, {})
        write(plan, self.path(target))
        return self.path(target)

    def test_100_steps_of_1_15_and_100_of_today_are_200_of_1_15(self):
        middle, end = recorded("100 steps")[1], recorded("200 steps")
        answer = v2.train(*DATA, ZERO, 100, middle)
        self.assert_same_files(answer["files"], end[1])
        for name, value in answer["state"].items():
            value = np.asarray(value).astype("f" if value.dtype == "d" else value.dtype)
            self.assertTrue(same_bits(value, end[0]["outputs/state/" + name]).all())
        losses = answer["losses"].astype("f")
        self.assertTrue(same_bits(losses, end[0]["outputs/losses"][100:]).all())

    def test_likewise_after_a_conversion_to_objects(self):
        source = v2._unpack(recorded("100 steps")[1], self.folder)
        mapping = {"format": "objects", "tensors": OBJECTS}
        converted = self.convert(source, "objects", mapping)
        trainer = v2.Trainer(ZERO, 0.125)
        new = tf.train.Checkpoint(trainer=trainer)
        new.read(converted).assert_consumed()
        answer = finish(trainer, *DATA, 100)
        self.assert_same_files(answer["files"], recorded("200 steps")[1])

    def test_converted_there_and_back_it_is_the_same_file(self):
        files = recorded("100 steps")[1]
        source = v2._unpack(files, self.folder)
        there = {"format": "objects", "tensors": OBJECTS}
        back = {"format": "names", "tensors": {o: n for n, o in OBJECTS.items()}}
        objects = self.convert(source, "objects", there)
        names = self.convert(objects, "names", back)
        self.assert_same_files(v2._pack(names), files)
        again = self.convert(names, "again", there)
        self.assert_same_files(v2._pack(again), v2._pack(objects))

    def test_today_s_saver_reads_what_the_right_page_wrote(self):
        answer = v2.train(*DATA, START, 100)
        self.assert_same_files(answer["files"], recorded("100 steps")[1])
        with legacy():
            left = v1.train(*DATA, ZERO, 100, answer["files"])
        self.assert_same_files(left["files"], recorded("200 steps")[1])


class ByNameTest(FolderTest):
    """`tf.train.Checkpoint` reads a Saver's file by the names of the variables."""

    def setUp(self):
        super().setUp()
        arrays = {"w": np.float32([1, 2]), "b": np.float64([3, 4])}
        self.file = v2._write(arrays, self.folder)

    def test_what_is_not_found_keeps_its_value(self):
        w, other = tf.Variable([0.0, 0.0], name="w"), tf.Variable([0.0, 0.0])
        status = tf.train.Checkpoint(w=w, other=other).read(self.file)
        np.testing.assert_array_equal(w, [1, 2])
        np.testing.assert_array_equal(other, [0, 0])
        match = "Some objects had attributes which were not restored"
        for complain in (
            status.assert_consumed,
            status.assert_existing_objects_matched,
        ):
            with self.assertRaisesRegex(AssertionError, match):
                complain()

    def test_the_attribute_does_not_count_and_the_rest_of_the_file_neither(self):
        w = tf.Variable([0.0, 0.0], name="w")
        status = tf.train.Checkpoint(another_name=w).read(self.file)
        status.assert_consumed()  # although b is in the file
        np.testing.assert_array_equal(w, [1, 2])

    def test_two_of_one_name_get_the_same_value(self):
        twins = [tf.Variable([0.0, 0.0], name="w") for _ in range(2)]
        tf.train.Checkpoint(twins=twins).read(self.file).assert_consumed()
        np.testing.assert_array_equal(twins, [[1, 2], [1, 2]])

    def test_assign_narrows_what_a_saver_refuses(self):
        b = tf.Variable([0.0, 0.0])
        b.assign(tf.train.load_variable(self.file, "b"))
        np.testing.assert_array_equal(b, np.float32([3, 4]))
        with self.assertRaisesRegex(INVALID, "expected dtype float"):
            restore.by_name(self.file, {"b": b})

    def test_a_missing_name_changes_nothing(self):
        w = tf.Variable([0.0, 0.0])
        with self.assertRaisesRegex(MISSING, "Key x not found"):
            restore.by_name(self.file, {"w": w, "x": tf.Variable(0.0)})
        np.testing.assert_array_equal(w, [0, 0])

    def test_another_shape_changes_nothing(self):
        w, b = tf.Variable([0.0, 0.0]), tf.Variable(np.zeros(3))
        with self.assertRaisesRegex(ValueError, r"b has the shape \(2,\)"):
            restore.by_name(self.file, {"w": w, "b": b})
        np.testing.assert_array_equal(w, [0, 0])

    def test_a_scope_goes_with_a_scope(self):
        x = {"x/": tf.Variable([0.0, 0.0])}
        with self.assertRaisesRegex(
            ValueError, "scope only name x/ should map to scope only w"
        ):
            restore.init_from_checkpoint(self.file, {"w": "x/"}, x)

    def test_a_saver_cannot_read_objects(self):
        w = tf.Variable([1.0, 2.0])
        file = tf.train.Checkpoint(w=w).write(self.path("objects"))
        with legacy(), v1.tf.Session() as sess, _quiet():
            v1.tf.get_variable("w", [2])
            saver = v1.tf.train.Saver()
            with self.assertRaisesRegex(MISSING, "attempting to load an object-based"):
                saver.restore(sess, file)


@contextlib.contextmanager
def _quiet():
    with contextlib.redirect_stderr(io.StringIO()):
        yield


class KeepTest(FolderTest):
    def test_0_keeps_all_as_none_does(self):
        self.assertEqual(v2.keep([[1, 2, 3]], 0), v2.keep([[1, 2, 3]], None))

    def saved(self, saver, steps):
        with v1.tf.Session() as sess:
            for step in steps:
                v1.tf.train.get_or_create_global_step().load(step, sess)
                saver.save(sess, self.path("m"), step, write_meta_graph=False)
        state = v1.tf.train.get_checkpoint_state(self.folder)
        files = [n for n in os.listdir(self.folder) if n.endswith(".index")]
        named = [os.path.basename(p) for p in state.all_model_checkpoint_paths]
        return len(files), named

    def test_a_new_saver_forgets_the_files_of_the_last_run(self):
        for count in (2, 4):
            with legacy():
                v1.tf.train.get_or_create_global_step()
                saver = v1.tf.train.Saver(max_to_keep=2)
                files, named = self.saved(saver, [count - 1, count])
            self.assertEqual(files, count)
            self.assertEqual(named, [f"m-{count - 1}", f"m-{count}"])

    def test_all_are_kept_but_the_state_file_names_one(self):
        with legacy():
            v1.tf.train.get_or_create_global_step()
            files, named = self.saved(v1.tf.train.Saver(max_to_keep=None), [1, 2, 3])
        self.assertEqual((files, named), (3, ["m-3"]))
        self.assertEqual(len(v2.keep([[1, 2, 3]], None)["all"]), 3)

    def test_a_recovered_file_is_not_kept_for_ever(self):
        with legacy():
            left = v1.keep([[1, 2], [3]], 1, 1e-9)
        right = v2.keep([[1, 2], [3]], 1, 1e-9)
        indices = [[f for f in x["files"] if "index" in f] for x in (left, right)]
        self.assertEqual([len(files) for files in indices], [2, 3])

    def test_the_manager_calls_them_ckpt_and_counts_saves(self):
        manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(v=tf.Variable(1.0)), self.folder, 2
        )
        names = [os.path.basename(manager.save()) for _ in range(3)]
        self.assertEqual(names, ["ckpt-1", "ckpt-2", "ckpt-3"])
        self.assertEqual(
            sorted(os.listdir(self.folder)),
            ["checkpoint"]
            + [
                f"ckpt-{n}.{end}"
                for n in (2, 3)
                for end in ("data-00000-of-00001", "index")
            ],
        )

    def test_a_save_adds_a_counter_that_a_converted_file_must_have(self):
        v = tf.Variable(1.0)
        written = tf.train.Checkpoint(v=v).write(self.path("written"))
        tf.train.Checkpoint(v=v).read(written).assert_consumed()
        with self.assertRaisesRegex(AssertionError, "save_counter"):
            tf.train.Checkpoint(v=v).restore(written).assert_consumed()
        saved = tf.train.Checkpoint(v=v).save(self.path("saved"))
        tf.train.Checkpoint(v=v).restore(saved).assert_consumed()


class StatusTest(FolderTest):
    def test_without_an_assertion_nothing_is_said(self):
        file = tf.train.Checkpoint(v=tf.Variable(1.0)).write(self.path("m"))
        w = tf.Variable(0.0)
        status = tf.train.Checkpoint(w=w).read(file)
        self.assertEqual(w.numpy(), 0)
        with self.assertRaisesRegex(AssertionError, "not bound to checkpointed values"):
            status.assert_consumed()
        status.expect_partial()


class InitializerTest(FolderTest):
    @parameterized.expand([("before", True, 5), ("after", False, 1)])
    def test_only_what_is_initialized_afterwards(self, _, early, expected):
        file = v2._write({"w": np.float32(5)}, self.folder)
        with legacy(), v1.tf.Session() as sess:
            w = v1.tf.get_variable("w", initializer=np.float32(1))
            if early:
                v1.tf.train.init_from_checkpoint(file, {"w": "w"})
            sess.run(v1.tf.global_variables_initializer())
            if not early:
                v1.tf.train.init_from_checkpoint(file, {"w": "w"})
            self.assertEqual(sess.run(w), expected)
