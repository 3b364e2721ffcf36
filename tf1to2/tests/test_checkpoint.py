import argparse
import contextlib
import io
import json
import pathlib
from unittest import mock

import numpy as np
from parameterized import parameterized

import parity_tests  # noqa: F401  TensorFlow starts in the settings of the proofs

# isort: split
import tensorflow as tf

from tf1to2.checkpoint import command, stored, writing
from tf1to2.common.errors import CommandError
from tf1to2.parity.v1 import legacy
from tf1to2.tests.commands import Folder

VALUES = {
    "conv/w": np.arange(24, dtype="f").reshape(4, 3, 2),
    "dense/kernel": np.arange(6, dtype="f").reshape(2, 3) / 7,
    "dense/bias": np.float64([0.1, 0.2, 0.3]),
    "global_step": np.int64(100),
    "old/a": np.float32(1),
    "old/b": np.float32(2),
    "vocabulary": np.asarray([b"the", b"a"], object),
}
MAP = {
    "format": "objects",
    "tensors": {
        "conv/w": {"to": "net/layers/0/w", "transpose": [2, 0, 1], "reshape": [8, 3]},
        "dense/kernel": {"to": "net/kernel", "dtype": "float64"},
        "dense/bias": "net/bias",
        "global_step": "step",
        "vocabulary": "words",
    },
    "drop": ["old/*"],
    "new": {
        "save_counter": {"value": 1, "dtype": "int64"},
        "net/m": {"value": 0.5, "shape": [2, 3], "dtype": "float"},
    },
}


class Network(tf.Module):
    def __init__(self):
        super().__init__()
        layer = tf.Module()
        layer.w = tf.Variable(tf.zeros([8, 3]))
        self.layers = [layer]
        self.kernel = tf.Variable(tf.zeros([2, 3], tf.float64))
        self.bias = tf.Variable(tf.zeros([3], tf.float64))
        self.m = tf.Variable(tf.zeros([2, 3]))


def fresh():
    return tf.train.Checkpoint(
        net=Network(),
        step=tf.Variable(0, dtype=tf.int64),
        words=tf.Variable(["", ""]),
    )


def contents(prefix):
    reader = tf.train.load_checkpoint(str(prefix))
    return {
        name: reader.get_tensor(name) for name, _ in tf.train.list_variables(prefix)
    }


def without(tree, *path):
    tree = json.loads(json.dumps(tree))
    branch = tree
    for key in path[:-1]:
        branch = branch[key]
    del branch[path[-1]]
    return tree


def having(tree, *path_and_value):
    tree = json.loads(json.dumps(tree))
    *path, last, value = path_and_value
    branch = tree
    for key in path:
        branch = branch[key]
    branch[last] = value
    return tree


class Conversion(Folder):
    """A checkpoint of TensorFlow 1 in a folder, and the command."""

    def setUp(self):
        super().setUp()
        self.source, self.target = self.folder / "v1.ckpt", self.folder / "v2.ckpt"
        tf.raw_ops.SaveV2(  # as tf.train.Saver calls it
            prefix=str(self.source),
            tensor_names=list(VALUES),
            shape_and_slices=[""] * len(VALUES),
            tensors=[tf.constant(value) for value in VALUES.values()],
        )
        self.before = sorted(self.folder.iterdir())

    def convert(self, mapping, *arguments, source=None, target=None):
        """Runs the command; a map of None is left to the arguments."""
        file = self.folder / "map.json"
        if mapping is not None:
            text = mapping if isinstance(mapping, str) else json.dumps(mapping)
            file.write_text(text, errors="surrogatepass")
            arguments = ("--map", file, *arguments)
        places = source or self.source, target or self.target
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        options = parser.parse_args([str(word) for word in (*places, *arguments)])
        try:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                status = command.run(options)
        finally:
            file.unlink(missing_ok=True)
        return status, out.getvalue()

    def assert_nothing_left(self):
        self.assertEqual(sorted(self.folder.iterdir()), self.before)

    def refused(self, mapping, *arguments, match, **places):
        with self.assertRaisesRegex(CommandError, match) as raised:
            self.convert(mapping, *arguments, **places)
        self.assertEqual(len(str(raised.exception).splitlines()), 1)


class ConvertTest(Conversion):
    def test_names_become_objects(self):
        status, text = self.convert(MAP)
        self.assertEqual(status, 0)
        self.assertIn("7 tensors (names) = 5 moved + 2 dropped + 0 unaccounted", text)
        self.assertIn("7 tensors (objects) = 5 moved + 2 new", text)
        new = fresh()
        new.restore(str(self.target)).assert_consumed()
        net = new.net
        expected = VALUES["conv/w"].transpose(2, 0, 1).reshape(8, 3)
        np.testing.assert_array_equal(net.layers[0].w, expected, strict=True)
        expected = VALUES["dense/kernel"].astype("d")
        np.testing.assert_array_equal(net.kernel, expected, strict=True)
        np.testing.assert_array_equal(net.bias, VALUES["dense/bias"], strict=True)
        np.testing.assert_array_equal(net.m, np.full([2, 3], 0.5, "f"), strict=True)
        self.assertEqual(new.step.numpy(), 100)
        self.assertEqual(new.save_counter.numpy(), 1)
        self.assertEqual(new.words.numpy().tolist(), [b"the", b"a"])

    def test_the_template_s_graph_of_objects_is_kept(self):
        like = fresh().save(str(self.folder / "like"))
        mapping = having(MAP, "new", "save_counter", "like")
        status, _ = self.convert(mapping, "--like", like)
        self.assertEqual(status, 0)
        got, wanted = contents(self.target), contents(like)
        self.assertEqual(got.keys(), wanted.keys())
        self.assertEqual(got[stored.GRAPH], wanted[stored.GRAPH])
        new = fresh()
        new.restore(str(self.target)).assert_consumed()
        self.assertEqual((new.step.numpy(), new.save_counter.numpy()), (100, 1))

    def test_slots_that_are_no_attributes_need_the_template(self):
        def trained(steps):
            v, optimizer = (
                tf.Variable([8.0]),
                tf.compat.v1.train.MomentumOptimizer(1, 0.5),
            )
            for _ in range(steps):
                optimizer.apply_gradients([([1.0], v)])
            return tf.train.Checkpoint(v=v, optimizer=optimizer)

        like = trained(1).write(str(self.folder / "like"))
        slot = "v/.OPTIMIZER_SLOT/optimizer/momentum"
        mapping = {
            "format": "objects",
            "tensors": {
                "old/a": {"to": "v", "reshape": [1]},
                "old/b": {"to": slot, "reshape": [1]},
            },
            "drop": ["conv/w", "d*", "global_step", "vocabulary"],
        }
        status, text = self.convert(mapping)
        self.assertEqual(status, 1)
        self.assertIn(f"(give --like):\n  {slot}", text)
        status, text = self.convert(mapping, "--like", like)
        self.assertEqual(status, 0)
        new = trained(1)
        new.read(str(self.target)).assert_consumed()
        self.assertEqual(new.v.numpy(), [1])
        (momentum,) = new.optimizer.variables()
        self.assertEqual(momentum.numpy(), [2])

    @parameterized.expand(
        [
            ("shape", "old/a", "v: float32 [], but float32 [2] in the template"),
            ("dtype", "vocabulary", "v: string [2], but float32 [2] in the template"),
        ]
    )
    def test_the_template_says_dtype_and_shape(self, _, name, complaint):
        new = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
        like = new.write(str(self.folder / "like"))
        drop = [other for other in VALUES if other != name]
        mapping = {"format": "objects", "tensors": {name: "v"}, "drop": drop}
        status, text = self.convert(mapping, "--like", like)
        self.assertEqual(status, 1)
        self.assertIn(complaint, text)
        mapping["format"] = "names"
        self.refused(
            mapping, "--like", like, match='has the format "objects", but the map'
        )

    def test_only_the_star_is_special(self):
        status, text = self.convert(having(MAP, "drop", ["[o]ld/*", "ol?/*", "o*/?"]))
        self.assertEqual(status, 1)
        self.assertIn("not in the source:\n  [o]ld/*\n  ol?/*\n  o*/?\n", text)
        self.assertIn("unaccounted for in the source:\n  old/a  float32 []", text)

    def test_objects_become_names_again(self):
        self.convert(MAP)
        back = {
            "format": "names",
            "tensors": {
                "net/kernel": {"to": "dense/kernel", "dtype": "float32"},
                "net/layers/0/w": {"to": "turned", "reshape": [2, 4, 3]},
                "net/bias/.ATTRIBUTES/VARIABLE_VALUE": "dense/bias",
                "step": "global_step",
                "words": "vocabulary",
            },
            "drop": ["save_counter", "net/m"],
            "new": {
                "old/a": {"value": 1, "dtype": "float32"},
                "old/b": {"value": 2, "dtype": "float32"},
            },
        }
        middle, last = self.folder / "middle", self.folder / "last"
        self.convert(back, source=self.target, target=middle)
        names = {name: name for name in VALUES if name != "conv/w"}
        names["turned"] = {"to": "conv/w", "transpose": [1, 2, 0]}
        self.convert({"format": "names", "tensors": names}, source=middle, target=last)
        got = contents(last)
        self.assertEqual(got.keys(), VALUES.keys())
        for name, value in VALUES.items():
            np.testing.assert_array_equal(got[name], value, strict=True)

    def test_the_same_map_gives_the_same_bytes(self):
        copies = [self.folder / "one", self.folder / "two"]
        same = {"format": "names", "tensors": {name: name for name in VALUES}}
        self.convert(same, target=copies[0])
        self.convert(same, source=copies[0], target=copies[1])
        for suffix in (".index", ".data-00000-of-00001"):
            one, two = (p.with_suffix(suffix).read_bytes() for p in copies)
            self.assertEqual(one, two)
        self.assertEqual(contents(copies[1]).keys(), VALUES.keys())

    def test_a_large_one_is_written_in_shards(self):
        with mock.patch.object(writing, "SHARD", 64):
            self.convert(MAP)
        names = sorted(p.name for p in self.folder.glob("v2*"))
        self.assertEqual(names[:2], [f"v2.ckpt.data-{i:05}-of-00003" for i in range(2)])
        new = fresh()
        new.restore(str(self.target)).assert_consumed()
        self.assertEqual(new.net.bias.numpy().tolist(), VALUES["dense/bias"].tolist())

    def test_a_dry_run_prints_the_plan_and_writes_nothing(self):
        status, text = self.convert(MAP, "--dry-run")
        self.assertEqual(status, 0)
        rows = [line.split() for line in text.splitlines()]
        self.assertIn(["old/a", "float32", "[]", "(dropped)"], rows)
        self.assertIn("(new) net/m float32 [2, 3]".split(), rows)
        row = "dense/kernel float32 [2, 3] net/kernel float64 [2, 3] dtype float64"
        self.assertIn(row.split(), rows)
        self.assertIn("transpose [2, 0, 1], reshape [8, 3]", text)
        self.assert_nothing_left()

    @parameterized.expand(
        [
            (
                "a tensor that the map forgets",
                without(MAP, "tensors", "dense/bias"),
                "unaccounted for in the source:\n  dense/bias  float64 [3]",
            ),
            (
                "a tensor that there is not",
                having(MAP, "tensors", "dense/biases", "net/b"),
                "not in the source:\n  dense/biases (did you mean dense/bias?)",
            ),
            (
                "two for one place",
                having(MAP, "tensors", "dense/bias", "step"),
                "filled twice:\n  step",
            ),
            (
                "a new one in a place that is taken",
                having(MAP, "new", "step", {"value": 0, "dtype": "int64"}),
                "filled twice:\n  step",
            ),
            (
                "a tensor inside of a tensor",
                having(MAP, "tensors", "dense/bias", "step/bias"),
                "a tensor, but also an object that has tensors:\n  step",
            ),
            (
                "no permutation",
                having(MAP, "tensors", "conv/w", {"to": "w", "transpose": [0, 1]}),
                "impossible:\n  conv/w, float32 [4, 3, 2]: transpose [0, 1]",
            ),
            (
                "a reshape to another size",
                having(MAP, "tensors", "conv/w", {"to": "w", "reshape": [5, 5]}),
                "impossible:\n  conv/w, float32 [4, 3, 2]: reshape [5, 5]",
            ),
            (
                "text as numbers",
                having(MAP, "tensors", "vocabulary", {"to": "w", "dtype": "int32"}),
                "impossible:\n  vocabulary, string [2]: dtype int32",
            ),
            (
                "a slot without a template",
                having(MAP, "tensors", "dense/bias", "v/.OPTIMIZER_SLOT/opt/m"),
                "not a path of attributes (give --like)",
            ),
            (
                "nothing to be like",
                having(MAP, "new", "save_counter", "like"),
                '"like", but not in the template:\n  save_counter',
            ),
        ]
    )
    def test_refuses_to_convert_half(self, _, mapping, complaint):
        for arguments in ([], ["--dry-run"]):
            status, text = self.convert(mapping, *arguments)
            self.assertEqual(status, 1)
            self.assertIn(complaint, text)
            self.assertIn("nothing written", text)
        self.assert_nothing_left()

    def test_refuses_to_leave_the_template_half_filled(self):
        like = fresh().write(str(self.folder / "like"))
        mapping = without(without(MAP, "tensors", "dense/bias"), "new", "save_counter")
        mapping["drop"].append("dense/bias")
        mapping["tensors"]["conv/w"] = "net/layers/w"
        status, text = self.convert(mapping, "--like", like)
        self.assertEqual(status, 1)
        self.assertIn(
            "unfilled in the template:\n"
            "  net/bias  float64 [3]\n"
            "  net/layers/0/w  float32 [8, 3]",
            text,
        )
        self.assertIn("net/layers/w (did you mean net/layers/0/w?)", text)

    def test_a_missing_source(self):
        self.refused(MAP, source=self.folder / "none", match="no such checkpoint")
        beside = self.folder / "none" / "none"
        self.refused(MAP, source=beside, match="no such checkpoint")
        index = str(self.source) + ".index"
        match = "is only one file of a checkpoint: give .*v1"
        self.refused(MAP, source=index, match=match)

    def test_a_file_of_keras_is_no_checkpoint(self):
        (self.folder / "model.h5").write_bytes(b"\x89HDF\r\n\x1a\n and more")
        with self.assertRaisesRegex(CommandError, "model.h5 is an .h5 file of Keras"):
            stored.Checkpoint("model.h5")

    def test_a_directory_means_its_latest(self):
        self.refused(MAP, source=self.folder, match="no checkpoint in this directory")
        state = self.folder / "checkpoint"
        state.write_text('model_checkpoint_path: "v1.ckpt"\n')
        self.assertEqual(self.convert(MAP, source=self.folder)[0], 0)

    @parameterized.expand(
        [
            ("the index is none", ".index", lambda b: b"hello" * 40),
            ("the index is cut", ".index", lambda b: b[:-9]),
            ("the index is empty", ".index", lambda b: b""),
            ("a bit is flipped", ".data-00000-of-00001", lambda b: bytes([b[0] ^ 1])),
            ("the data are cut", ".data-00000-of-00001", lambda b: b[:20]),
            ("the data are missing", ".data-00000-of-00001", None),
        ]
    )
    def test_a_corrupt_source(self, _, suffix, damage):
        file = pathlib.Path(str(self.source) + suffix)
        data = file.read_bytes()
        if damage is None:
            file.unlink()
        else:
            damaged = damage(data)
            file.write_bytes(damaged + data[1:] if len(damaged) == 1 else damaged)
        self.before = sorted(self.folder.iterdir())
        self.refused(MAP, match="v1.ckpt: (cannot be read: .|no such checkpoint)")
        self.assert_nothing_left()

    def test_does_not_overwrite_unasked(self):
        self.convert(MAP)
        self.before = sorted(self.folder.iterdir())
        self.refused(MAP, match="v2.ckpt exists: add --force to replace it")
        self.refused(MAP, "--force", target=self.source, match="is the source: give")
        self.refused(MAP, target=self.folder / "no/v2", match="no: no such folder")
        self.assert_nothing_left()

    def test_force_replaces_every_file(self):
        with mock.patch.object(writing, "SHARD", 64):
            self.convert(MAP)
        mapping = having(MAP, "new", "save_counter", "value", 7)
        self.convert(mapping, "--force")
        names = sorted(p.name for p in self.folder.glob("v2*"))
        self.assertEqual(names, ["v2.ckpt.data-00000-of-00001", "v2.ckpt.index"])
        self.assertEqual(contents(self.target)["save_counter" + stored.SUFFIX], 7)

    @parameterized.expand([("at the first file", 1), ("at the last", 4)])
    def test_a_failure_puts_everything_back(self, _, number):
        self.convert(MAP)
        self.before = sorted(self.folder.iterdir())
        kept = [file.read_bytes() for file in self.before]
        calls, replace = [], writing.os.replace

        def failing(*places):
            calls.append(places)
            if len(calls) == number:
                raise OSError(28, "No space left on device")
            replace(*places)

        with mock.patch.object(writing.os, "replace", failing):
            self.refused(
                having(MAP, "new", "save_counter", "value", 7),
                "--force",
                match="v2.ckpt: No space left",
            )
        self.assert_nothing_left()
        self.assertEqual([file.read_bytes() for file in self.before], kept)

    def test_what_was_written_is_read_again(self):
        save = tf.raw_ops.SaveV2

        def forgetful(prefix, tensor_names, shape_and_slices, tensors):
            save(
                prefix=prefix,
                tensor_names=tensor_names[1:],
                shape_and_slices=shape_and_slices[1:],
                tensors=tensors[1:],
            )

        with mock.patch.object(tf.raw_ops, "SaveV2", forgetful):
            self.refused(MAP, match="file differs from the plan")
        self.assert_nothing_left()

    def test_a_partitioned_variable_is_one_tensor(self):
        v1, source = tf.compat.v1, self.folder / "parts"
        with legacy(), v1.Session() as sess:
            halves = v1.fixed_size_partitioner(2)
            parts = list(v1.get_variable("w", [2, 3], partitioner=halves))
            for part, row in zip(parts, VALUES["dense/kernel"], strict=True):
                part.load(row[None], sess)
            v1.train.Saver().save(sess, str(source), write_meta_graph=False)
        mapping = {"format": "names", "tensors": {"w": "whole"}}
        status, text = self.convert(mapping, source=source)
        self.assertEqual(status, 0, text)
        got = contents(self.target)["whole"]
        np.testing.assert_array_equal(got, VALUES["dense/kernel"], strict=True)
