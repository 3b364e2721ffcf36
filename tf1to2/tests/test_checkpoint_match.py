import unittest

from parameterized import parameterized

from tf1to2.checkpoint.stored import Tensor
from tf1to2.matching import automatic
from tf1to2.matching.spelling import spell

SQUARE = (8, 8)


def side(names, shape=SQUARE):
    """Items of names, a space between them; `name:3` has the shape [3]."""
    tensors = {}
    for name in names.split():
        name, _, size = name.partition(":")
        own = tuple(int(n) for n in size.split("x")) if size else shape
        tensors[name] = Tensor(name, "float32", own)
    return automatic.items(tensors)


def matched(old, new):
    found, *_ = automatic.match(side(old), side(new))
    return {name: to for name, (to, _) in found.items()}


class MatchTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("other words", "net/kernel net/bias:8", "net/weights net/biases:8"),
            ("letters", "net/kernel net/bias:8", "net/w net/b:8"),
            ("a scope around", "a/kernel b/kernel", "model/a/w model/b/w"),
            ("a scope less", "v1/a/kernel v1/b/kernel", "a/w b/w"),
            ("another scope around", "v1/a/kernel v1/b/kernel", "model/a/w model/b/w"),
            ("abbreviated", "generator/w discriminator/w", "gen/w disc/w"),
            (
                "camel case",
                "BatchNorm/gamma fc/gamma",
                "batch_normalization/scale l/dense/gamma",
            ),
            ("dimensions are no numbers", "conv2d/w conv2d_1/w", "convs/0/w convs/1/w"),
            (
                "unnamed layers",
                "dense/kernel dense_1/kernel dense_2/kernel",
                "layers/0/w layers/1/w layers/2/w",
            ),
            (
                "in order, not by number",
                "h1/w h2/w h10/w h11/w",
                "hidden/0/w hidden/1/w hidden/2/w hidden/3/w",
            ),
            (
                "other first numbers",
                "layer1/b layer2/b layer3/b",
                "layers/0/b layers/1/b layers/2/b",
            ),
            (
                "two series in one",
                "block1/dense/w block1/dense_1/w block2/dense/w block2/dense_1/w",
                "blocks/0/dense/0/w blocks/0/dense/1/w blocks/1/dense/0/w "
                "blocks/1/dense/1/w",
            ),
            (
                "nothing shared but the shape",
                "fc/kernel:2x3 fc/bias:3",
                "out/w:2x3 out/b:3",
            ),
            (
                "a bias goes with its kernel",
                "p/kernel:2x8 p/bias:8 q/kernel:3x8 q/bias:8",
                "s/w:2x8 s/b:8 t/w:3x8 t/b:8",
            ),
            (
                "attention",
                "att/q/kernel att/k/kernel att/v/kernel",
                "layer/q/w layer/k/w layer/v/w",
            ),
            (
                "statistics",
                "bn/moving_mean:8 bn/moving_variance:8",
                "norm/running_mean:8 norm/running_var:8",
            ),
            (
                "adam",
                "n/w n/b n/w/Adam n/w/Adam_1 n/b/Adam n/b/Adam_1",
                "net/w net/b net/w/Adam net/w/Adam_1 net/b/Adam net/b/Adam_1",
            ),
            (
                "adam of objects",
                "n/w n/b n/w/Adam n/w/Adam_1 n/b/Adam n/b/Adam_1",
                "net/w net/b opt/m/net/w opt/v/net/w opt/m/net/b opt/v/net/b",
            ),
            (
                "slots of TensorFlow 2's v1 optimizers",
                "n/w n/b n/w/Momentum n/b/Momentum",
                "net/w net/b net/w/.OPTIMIZER_SLOT/o/momentum "
                "net/b/.OPTIMIZER_SLOT/o/momentum",
            ),
            (
                "centered",
                "w w/RMSProp w/RMSProp_1 w/RMSProp_2",
                "net/w net/w/.OPTIMIZER_SLOT/o/rms "
                "net/w/.OPTIMIZER_SLOT/o/mg net/w/.OPTIMIZER_SLOT/o/momentum",
            ),
            (
                "not centered",
                "w w/RMSProp w/RMSProp_1",
                "net/w net/w/.OPTIMIZER_SLOT/o/rms net/w/.OPTIMIZER_SLOT/o/momentum",
            ),
            (
                "numbers of training",
                "global_step:0 beta1_power:1 beta2_power:1",
                "optimizer/iterations:0 optimizer/beta1_power:1 "
                "optimizer/beta2_power:1",
            ),
        ]
    )
    def test_one_after_the_other(self, _, old, new):
        # Both lists are written in the order in which they belong together.
        names = [[n.partition(":")[0] for n in text.split()] for text in (old, new)]
        wanted = dict(zip(*names, strict=True))
        self.assertEqual(matched(old, new), wanted)
        back = {to: name for name, to in wanted.items()}
        self.assertEqual(matched(new, old), back)
        # The order in which they come says nothing.
        again = " ".join(reversed(new.split()))
        self.assertEqual(matched(old, again), wanted)

    @parameterized.expand(
        [
            ("two for one", "net/w", "a/net/w b/net/w"),
            ("one for two", "a/net/w b/net/w", "net/w"),
            ("averages beside", "net/fc/w", "model/net/fc/w ema/net/fc/w"),
            ("nothing shared", "p/w q/w", "s/w t/w"),
            ("another role", "net/kernel:8", "net/bias:8"),
            ("another shape", "net/w:2x3", "net/w:3x2"),
            ("a scalar that shares no word", "temperature:1", "learning_rate:1"),
            (
                "series of other lengths",
                "layer1/b layer2/b",
                "layers/0/b layers/1/b layers/2/b",
            ),
            (
                "two series of one length",
                "dense/w dense_1/w",
                "a/0/w a/1/w b/0/w b/1/w",
            ),
            ("steps of two", "global_step", "optimizer/iterations counter/step"),
            ("the powers of nobody", "beta1_power:1 beta2_power:1", "power:1"),
            ("the other slot", "n/w/Adam", "net/w/Adam_1"),
            ("a slot is no variable", "n/w/Adam", "n/w"),
            ("the second of two optimizers", "w/Adam_2 w/Adam_3", "o/m/w o/v/w"),
        ]
    )
    def test_nobody_guesses(self, _, old, new):
        self.assertEqual(matched(old, new), {})
        self.assertEqual(matched(new, old), {})

    def test_the_dtype_is_a_constraint(self):
        old = automatic.items({"w": Tensor("w", "float32", (3,))})
        new = automatic.items({"w": Tensor("w", "float64", (3,))})
        self.assertEqual(automatic.match(old, new), ({}, {"w": []}, {"w": "w"}))

    def test_what_could_be_meant(self):
        found, near, _ = automatic.match(side("net/w x/b:3"), side("a/net/w b/net/w"))
        self.assertEqual(found, {})
        self.assertEqual(near, {"net/w": ["a/net/w", "b/net/w"], "x/b": []})

    def test_a_layer_that_was_put_in_front(self):
        # `layers/1` is not `layer1`, although the shapes would allow it.
        found = matched(
            "layer1/w:4x8 layer1/b:8 layer2/w layer2/b:8",
            "layers/0/w:4x8 layers/0/b:8 layers/1/w layers/1/b:8",
        )
        self.assertEqual(found["layer1/b"], "layers/0/b")
        self.assertEqual(found["layer2/b"], "layers/1/b")
        self.assertEqual(found["layer2/w"], "layers/1/w")

    def test_the_name_of_the_variable_leads_to_its_list(self):
        # As Keras 3 keeps the slots of Adam: in a list, but with their names.
        names = ("o/_variables/2", "o/_variables/3", "l/0", "l/1")
        tensors = {n: Tensor(n, "float32", SQUARE) for n in names}
        others = {
            "o/_variables/2": ["adam/s_fc1_kernel_momentum"],
            "o/_variables/3": ["adam/s_fc1_kernel_velocity"],
            "l/0": ["s/fc1/kernel"],
            "l/1": ["s/fc2/kernel"],
        }
        old = side("net/fc1/w net/fc2/w net/fc1/w/Adam net/fc1/w/Adam_1")
        found, *_ = automatic.match(old, automatic.items(tensors, others))
        self.assertEqual(
            {name: to for name, (to, _) in found.items()},
            {
                "net/fc1/w": "l/0",
                "net/fc2/w": "l/1",
                "net/fc1/w/Adam": "o/_variables/2",
                "net/fc1/w/Adam_1": "o/_variables/3",
            },
        )


class SpellingTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("net/fc_1/weights:0", "kernel", ("net", "dense"), (1,)),
            ("net/dense1/kernel", "kernel", ("net", "dense"), (1,)),
            ("net/fully_connected_1/w", "kernel", ("net", "dense"), (1,)),
            ("w1", "kernel", (), (1,)),
            ("model/ws/0", None, ("model", "ws"), (0,)),
            ("weights/0", "kernel", (), (0,)),
            ("conv2d_3/kernel", "kernel", ("conv",), (3,)),
            ("a.Sb/bias", "bias", ("a", "b"), ()),
            ("cell/recurrent_kernel", "recurrent_kernel", ("cell",), ()),
            ("beta1_power_1", "beta1_power", (), (1,)),
            ("größe/λ", None, ("größe", "λ"), ()),
            ("²/9", None, ("²",), (9,)),
            ("", None, (), ()),
        ]
    )
    def test_a_variable(self, text, role, words, numbers):
        got = spell(text)
        self.assertEqual((got.role, got.words, got.numbers), (role, words, numbers))
        self.assertFalse(got.slots)

    @parameterized.expand(
        [
            ("net/w/Adam", {"m", "#0"}),
            ("net/w/Adam_1", {"v", "#1"}),
            ("net/w/Adam_2", {"m.1", "#2"}),
            ("net/w/Momentum", {"m", "accum", "#0"}),
            ("net/w/.OPTIMIZER_SLOT/a/b/momentum", {"m"}),
            ("adam/net_w_velocity", {"v"}),
            ("optimizer/slots/net/w/1", {"#1"}),
            ("optimizer/accum_update/net/w", {"update"}),
        ]
    )
    def test_a_slot(self, text, slots):
        got = spell(text)
        self.assertEqual((got.slots, got.role, got.words), (slots, "kernel", ("net",)))

    def test_a_slot_of_an_optimizer_that_somebody_named(self):
        self.assertEqual(spell("w/mine_1", {"w"}).slots, {"mine#1"})
        self.assertFalse(spell("w/mine_1").slots)
