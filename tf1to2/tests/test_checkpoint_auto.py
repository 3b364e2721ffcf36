import json
from unittest import mock

import numpy as np
from parameterized import parameterized

import parity_tests  # noqa: F401  TensorFlow starts in the settings of the proofs

# isort: split
import tensorflow as tf

from tf1to2 import checkpoint
from tf1to2.common.errors import CommandError
from tf1to2.tests.test_checkpoint import Conversion, contents
from v2_eager.numerics.optimizers import Adam


class Layer(tf.Module):
    def __init__(self, *shape, name="layer"):
        super().__init__()
        self.w = tf.Variable(tf.zeros(shape), name=f"{name}/w")
        self.b = tf.Variable(tf.zeros(shape[-1:]), name=f"{name}/b")


def nameless(variable):
    """A class that makes variables without their names, and knows them for its own."""

    class Kind(type):
        def __call__(cls, *arguments, name=None, **keywords):
            return variable(*arguments, **keywords)

        def __instancecheck__(cls, value):
            return isinstance(value, variable)

    return Kind("Nameless", (), {})


class AutoTest(Conversion):
    """From what TensorFlow 1 calls its variables, with values that all differ."""

    NAMES = {
        "net/fc1/kernel": [4, 4],
        "net/fc1/bias": [4],
        "net/fc2/kernel": [4, 4],
        "net/fc2/bias": [4],
    }

    def setUp(self):
        super().setUp()
        self.source = self.folder / "adam.ckpt"
        shapes = {
            f"{name}{slot}": shape
            for name, shape in self.NAMES.items()
            for slot in ("", "/Adam", "/Adam_1")
        } | {"beta1_power": [], "beta2_power": []}
        self.values = {
            name: np.full(shape, number, "f")
            for number, (name, shape) in enumerate(shapes.items())
        } | {"global_step": np.int64(99)}
        tf.raw_ops.SaveV2(
            prefix=str(self.source),
            tensor_names=list(self.values),
            shape_and_slices=[""] * len(self.values),
            tensors=[tf.constant(value) for value in self.values.values()],
        )
        self.before = sorted(self.folder.iterdir())

    def program(self):
        layers = {name: Layer(4, 4, name=name) for name in ("fc1", "fc2")}
        variables = [v for layer in layers.values() for v in (layer.w, layer.b)]
        optimizer = Adam().create_slots(variables)
        step = tf.Variable(0, dtype=tf.int64)
        return tf.train.Checkpoint(net=layers, optimizer=optimizer, step=step)

    def assert_carried(self, program):
        values, layers = self.values, program.net
        for i, layer in enumerate((layers["fc1"], layers["fc2"])):
            for j, (variable, old) in enumerate(
                [(layer.w, "kernel"), (layer.b, "bias")]
            ):
                name = f"net/fc{i + 1}/{old}"
                slots = program.optimizer.slots[2 * i + j]
                for suffix, new in [
                    ("", variable),
                    ("/Adam", slots["m"]),
                    ("/Adam_1", slots["v"]),
                ]:
                    wanted = values[name + suffix]
                    np.testing.assert_array_equal(new, wanted, strict=True)
        for name in ("beta1_power", "beta2_power"):
            self.assertEqual(program.optimizer.powers[name].numpy(), values[name])
        self.assertEqual(program.step.numpy(), 99)

    def test_by_a_template(self):
        like = self.program().save(self.folder / "like")
        status, text = self.convert(None, "--like", like)
        self.assertEqual(status, 0, text)
        self.assertIn("15 of 15 tensors matched by their names", text)
        program = self.program()
        program.restore(self.target).assert_consumed()
        self.assert_carried(program)

    def test_the_map_is_written_and_can_be_followed(self):
        like, file = self.program().save(self.folder / "like"), self.folder / "my.json"
        arguments = ["--like", like, "--write-map", file]
        status, text = self.convert(None, *arguments, "--dry-run")
        self.assertEqual(status, 0, text)
        self.assertIn("my.json: the map", text)
        self.refused(
            None, *arguments, match="my.json exists: add --force to replace it"
        )
        status, text = self.convert(file.read_text(), "--like", like)
        self.assertEqual(status, 0, text)
        program = self.program()
        program.restore(self.target).assert_consumed()
        self.assert_carried(program)

    def test_only_what_is_left_is_asked(self):
        program = self.program()
        program.net = {n: Layer(4, 4, name=n) for n in ("one", "two", "fc1")}
        program.optimizer = tf.train.Checkpoint()
        like = program.save(self.folder / "like")
        status, text = self.convert(None, "--like", like)
        self.assertEqual(status, 1)
        self.assertIn(
            "net/fc2/bias  float32 [4]  (could be net/one/b or net/two/b)", text
        )
        self.assertIn(
            "/Adam_1  float32 [4]  (it fits no place that is left: drop it?)", text
        )
        left = json.loads(text[text.index("\n{") : text.rindex("}") + 1])
        places = {f"net/{n}/{v}": "" for n in ("one", "two") for v in "bw"}
        self.assertEqual(left["new"], places)
        self.assertEqual(
            [name for name in left["tensors"] if "Adam" not in name],
            ["beta1_power", "beta2_power", "net/fc2/bias", "net/fc2/kernel"],
        )
        # What is left is a map of its own, once it is filled in.
        said = {"net/fc2/bias": "net/two/b", "net/fc2/kernel": "net/two/w"}
        filled = {**left, "tensors": said, "drop": ["*/Adam*", "beta*_power"]}
        filled["new"] = {"net/one/*": "like"}
        status, text = self.convert(filled, "--like", like)
        self.assertEqual(status, 0, text)
        program.restore(self.target).assert_consumed()
        fc1, two = (program.net[name].b.numpy() for name in ("fc1", "two"))
        np.testing.assert_array_equal(fc1, self.values["net/fc1/bias"])
        np.testing.assert_array_equal(two, self.values["net/fc2/bias"])

    def test_by_the_names_that_a_program_gives(self):
        program = self.program()
        layers = program.net
        variables = {
            "net/fc1/kernel": layers["fc2"].w,  # as no name would have it
            "net/fc1/bias": layers["fc1"].b,
            "net/fc2/kernel:0": layers["fc1"].w,
            "net/fc2/bias": layers["fc2"].b,
            "global_step": program.step,
        }
        file = self.folder / "names.json"
        file.write_text(json.dumps(checkpoint.names(program, variables)))
        status, text = self.convert(None, "--names", file)
        self.assertEqual(status, 1)
        self.assertIn("5 of 15 tensors matched", text)
        left = json.loads(text[text.index("\n{") : text.rindex("}") + 1])
        left["drop"] = ["*/Adam*", "beta*_power"]
        left["tensors"] = {}
        status, text = self.convert(left, "--names", file)
        self.assertEqual(status, 0, text)
        program.read(self.target).expect_partial()
        wanted = self.values["net/fc1/kernel"]
        np.testing.assert_array_equal(layers["fc2"].w, wanted, strict=True)
        wanted = self.values["net/fc2/bias"]
        np.testing.assert_array_equal(layers["fc2"].b, wanted, strict=True)
        # With the template, the slots follow their variables.
        like = program.save(self.folder / "like")
        arguments = ["--names", file, "--like", like, "--force"]
        status, text = self.convert(None, *arguments)
        self.assertEqual(status, 0, text)
        again = self.program()
        again.restore(self.target).assert_consumed()
        wanted = self.values["net/fc1/kernel/Adam"]
        np.testing.assert_array_equal(again.optimizer.slots[2]["m"], wanted)

    @parameterized.expand(
        [
            ("alone", {"Variable": [3]}, 0),
            ("two", {"Variable": [3], "Variable_1": [3]}, 1),
        ]
    )
    def test_a_variable_without_a_name_is_matched_if_no_other_fits(
        self, _, shapes, wanted
    ):
        old, like = str(self.folder / "old"), self.folder / "unnamed"
        tf.raw_ops.SaveV2(
            prefix=old,
            tensor_names=list(shapes),
            shape_and_slices=[""] * len(shapes),
            tensors=[tf.ones(shape) for shape in shapes.values()],
        )
        like = tf.train.Checkpoint(w=tf.Variable(tf.zeros([3]))).save(like)
        status, text = self.convert(None, "--like", like, source=old)
        self.assertEqual(status, wanted, text)

    def test_slots_of_variables_without_names_are_asked_or_given(self):
        with mock.patch.object(tf, "Variable", nameless(tf.Variable)):
            program = self.program()
        like, file = program.save(self.folder / "like"), self.folder / "names.json"
        status, text = self.convert(None, "--like", like)
        self.assertEqual(status, 1)
        self.assertIn("7 of 15 tensors matched", text)
        self.assertIn("(could be optimizer/slots/1/m or optimizer/slots/3/m)", text)
        slots = {}
        for i, layer in enumerate(program.net.values(), 1):
            for variable, old in ((layer.w, "kernel"), (layer.b, "bias")):
                for suffix, name in (("Adam", "m"), ("Adam_1", "v")):
                    slot = program.optimizer.get_slot(variable, name)
                    slots[f"net/fc{i}/{old}/{suffix}"] = slot
        file.write_text(json.dumps(checkpoint.names(program, slots)))
        status, text = self.convert(None, "--like", like, "--names", file)
        self.assertEqual(status, 0, text)
        program.restore(self.target).assert_consumed()
        self.assert_carried(program)

    def test_new_names(self):
        file = self.folder / "names.json"
        new = {name: name.replace("net/fc", "model/dense") for name in self.NAMES}
        same = ("beta1_power", "beta2_power", "global_step")
        file.write_text(json.dumps(new | {name: name for name in same}))
        status, text = self.convert(None, "--names", file, "--format", "names")
        self.assertEqual(status, 0, text)
        got = contents(self.target)
        for name, value in self.values.items():
            name = name.replace("net/fc", "model/dense")
            np.testing.assert_array_equal(got[name], value, strict=True)

    def test_a_kernel_that_is_transposed_now(self):
        layer = tf.train.Checkpoint(fc1=Layer(4, 3))
        layer.fc1.b = tf.Variable(tf.zeros(4))
        like = layer.write(self.folder / "like")
        status, text = self.convert(None, "--like", like)
        self.assertEqual(status, 1)
        line = "net/fc1/kernel  float32 [4, 4]  (fc1/w is float32 [4, 3])"
        self.assertIn(line, text)
        self.assertRegex(text, r"(?m)^net/fc1/bias +float32 \[4\] +fc1/b ")

    def test_a_name_that_there_is_not(self):
        file = self.folder / "names.json"
        file.write_text('{"net/fc3/gamma": "x", "net/fc1/kernel": "y"}')
        status, text = self.convert(None, "--names", file)
        self.assertEqual(status, 1)
        self.assertIn("named, but not in the source:\n  net/fc3/gamma", text)
        like = self.program().save(self.folder / "like")
        file.write_text('{"net/fc1/kernel": "net/fc1/x"}')
        status, text = self.convert(None, "--names", file, "--like", like)
        self.assertEqual(status, 1)
        self.assertIn("named, but not in the template:\n  net/fc1/x (did", text)

    def test_options(self):
        self.refused(None, match="--map auto needs --like CHECKPOINT or --names")
        none = self.folder / "none.json"
        self.refused(None, "--names", none, match="none.json: No such file")
        mapping = {"format": "names", "tensors": {}}
        self.refused(
            mapping, "--format", "names", match="--format is only for --map auto"
        )
        file = self.folder / "names.json"
        file.write_text('{"a": "b"}')
        self.refused(mapping, "--names", file, match='needs "auto": true in')

    def test_an_object_that_cannot_be_reached(self):
        with self.assertRaisesRegex(
            CommandError, "w: the variable is not in an attribute of Layer"
        ):
            checkpoint.names(Layer(1), {"w": tf.Variable(1.0)})
