import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, EAGER, friend, layer, refused
from tf1to2.parity import FalseFriend, Program, Raises, integers, normal
from v1_graph import contrib_recurrences as v1
from v2_eager import contrib_recurrences as v2
from v2_eager.numerics import recurrences

RNG = np.random.RandomState(0)
MAPS = normal("b", 4, 5, 6, 2)
FILMS = (RNG.uniform(size=[8, 5, 8, 8, 1]) < 0.3).astype("f")
START = {
    "kernels": [
        RNG.normal(0, 0.2, [3, 3, 5, 16]).astype("f"),
        RNG.normal(0, 0.2, [3, 3, 7, 12]).astype("f"),
    ],
    "biases": [np.zeros(16, "f"), np.zeros(12, "f")],
    "last": RNG.normal(size=[1, 1, 3, 1]).astype("f"),
}
X = RNG.normal(size=[67, 7, 4]).astype("f")
LENGTHS = RNG.randint(8, size=67).astype("i4")
TIMES = np.cumsum(RNG.uniform(0.1, 3, [67, 7, 1]), 1).astype("f")


def drawn(shapes, path):
    shapes = {path + name: shape for name, shape in shapes.items()}
    return {n: RNG.normal(0, 0.5, shape).astype("f") for n, shape in shapes.items()}


IND_RNN = drawn(
    {"kernel_w": [4, 5], "kernel_u": [1, 5], "bias": [5]}, "rnn/ind_rnn_cell/"
)
INDY_GRU = drawn(
    {
        "gates/kernel_w": [4, 10],
        "gates/kernel_u": [1, 10],
        "gates/bias": [10],
        "candidate/kernel": [4, 5],
        "candidate/kernel_u": [1, 5],
        "candidate/bias": [5],
    },
    "rnn/indy_gru_cell/",
)
INDY_LSTM = drawn(
    {"kernel_w": [4, 20], "kernel_u": [1, 20], "bias": [20]}, "rnn/indy_lstm_cell/"
)


def phased(more=0):
    """Returns weights of five units with periods between 1 and 20."""
    path = "rnn/phased_lstm_cell/"
    shapes = {
        "mask_gates/kernel": [9 + more, 10],
        "mask_gates/bias": [10],
        "new_input/kernel": [9, 5],
        "new_input/bias": [5],
        "output_gate/kernel": [9 + more, 5],
        "output_gate/bias": [5],
    }
    period = np.exp(RNG.uniform(0, 3, 5)).astype("f")
    return {
        **drawn(shapes, path),
        path + "period": period,
        path + "phase": (RNG.uniform(0, 1, 5) * period).astype("f"),
        path + "ratio_on": RNG.uniform(0.1, 0.6, 5).astype("f"),
    }


def grid(halves, blocks=1, gates="ijfo", peepholes=()):
    """Returns weights of three units over bands of width 5."""
    shapes = {}
    for block in range(blocks):
        for half in halves:
            shapes[f"W_{half}_{block}_0"] = [5 + 2 * 3, 3 * len(gates)]
            shapes[f"B_{half}_{block}"] = [3 * len(gates)]
        for name in peepholes:
            shapes[f"{name}_{block}"] = [3]
    return drawn(shapes, "rnn/grid_lstm_cell/")


DIAGONALS = [
    f"W_{gate}_diag_{of}{by}"
    for gate in "FIO"
    for of in ("freq", "time")
    for by in "ft"
]
OF_BANDS = {"W_0": [5 + 2 * 3, 12], "B": [12]}
OF_SEEN_BANDS = {**OF_BANDS, **{f"W_{gate}_diag": [3] for gate in "FIO"}}
PHASED, SEEN = phased(), phased(5)
SPECTRA = RNG.normal(size=[67, 6, 11]).astype("f")
SPECTRAL = [SPECTRA, LENGTHS % 7, 3, 5, 2]


# --- Obvious replacements of contrib, with other numbers.


def recurrent_conv_of_keras(channels, kernel, sizes, name="reader"):
    """Takes the gates in the order i, f, j, o, as `ConvLSTM2D` of Keras does."""
    path = f"{name}/rnn/conv_2d_lstm_cell"

    class Cell(recurrences.ConvLSTMCell):
        def __call__(self, x, state):
            kernel, bias = self.kernel, self.bias
            i, f, j, o = tf.split(kernel, 4, -1)
            self.kernel = tf.concat([i, j, f, o], -1)
            output = super().__call__(x, state)
            self.kernel, self.bias = kernel, bias
            return output

    return v2.FilmReader(Cell(channels, kernel, name=path, initializer=v2.DRAW))


def state_as_output(units, name="reader"):
    class Cell(recurrences.SRUCell):
        def __call__(self, x, state):
            _, state = super().__call__(x, state)
            return state, state

    return v2.Reader(Cell(units, f"{name}/rnn/sru_cell", v2.DRAW))


def of_time_alone(x, lengths, units, size, skip, weights):
    """Runs a grid whose bands do not see each other: one LSTM for each band."""

    class Cell(v2.rnn.GridLSTMCell):
        def gates(self, half, seen):
            seen = tf.concat([seen[:, :-3], tf.zeros_like(seen[:, -3:])], 1)
            return super().gates(half, seen)

    with mock.patch.object(v2.rnn, "GridLSTMCell", Cell):
        return v2.read_spectra(x, lengths, units, size, skip, weights)


def without_a_clock(times, x, weights):
    return v2.read_by_time(0 * times, x, weights)


def program(name, slug, args, kwargs=(), cls=Program, **options):
    return cls(name, slug, args, dict(kwargs), skip=CONTRIB, **options)


CASES = [
    layer(
        "make_conv_lstm",
        "of several lengths",
        [MAPS, integers("b", high=5)],
        {"channels": 3, "kernel": [3, 3], "sizes": [5, 6, 2]},
    ),
    layer(
        "make_conv_lstm",
        "of several lengths, in 64 bits",
        [MAPS, integers("b", high=5, dtype="int64")],
        {"channels": 3, "kernel": [3, 3], "sizes": [5, 6, 2]},
        EAGER,
    ),
    Raises(
        "make_conv_lstm",
        "one length for several films",
        [RNG.normal(size=[3, 4, 6, 2]).astype("f"), np.int32([2])],
        of="layer",
        factory={"channels": 3, "kernel": [3], "sizes": [6, 2]},
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match="both shapes must be equal|Expected shape for lengths",
        skip=CONTRIB,
    ),
    layer(
        "make_conv_lstm",
        "of series",
        [normal("b", 4, 9, 2)],
        {"channels": 3, "kernel": [5], "sizes": [9, 2], "use_bias": False},
    ),
    layer(
        "make_conv_lstm",
        "of volumes",
        [normal("b", 3, 4, 5, 3, 2)],
        {"channels": 2, "kernel": [3, 2, 3], "sizes": [4, 5, 3, 2], "name": "deep"},
    ),
    friend(
        "make_conv_lstm",
        "gates in the order of Keras",
        [MAPS],
        recurrent_conv_of_keras,
        "the gates are i, j, f, o in the kernel; those of Keras are i, f, j, o",
        {"channels": 3, "kernel": [3, 3], "sizes": [5, 6, 2]},
        sizes=[{"b": 3}],
    ),
    refused(
        "make_conv_lstm",
        "sizes of other maps",
        [RNG.normal(size=[3, 4, 6, 2]).astype("f")],
        "Invalid input_shape",
        factory={"channels": 3, "kernel": [3, 3], "sizes": [6, 2]},
    ),
    program("predict_frames", "six steps", [FILMS, START, 6]),
    layer(
        "make_group_lstm",
        "of several lengths",
        [normal("b", 5, 6), integers("b", high=6)],
        {"units": 8, "groups": 2},
    ),
    layer(
        "make_group_lstm",
        "projected",
        [normal("b", 5, 6)],
        {"units": 6, "groups": 3, "projected": 3, "forget_bias": 0.5, "name": "small"},
    ),
    refused(
        "make_group_lstm",
        "units that do not divide",
        [X],
        "num_units must be divisible by number_of_groups",
        factory={"units": 5, "groups": 2},
    ),
    refused(
        "make_group_lstm",
        "inputs that do not divide",
        [X[:, :, :3]],
        r"input size \(3\) must be divisible by number_of_groups \(2\)",
        factory={"units": 8, "groups": 2},
    ),
    layer(
        "make_sru",
        "of several lengths",
        [normal("b", 5, 3), integers("b", high=6)],
        {"units": 4},
    ),
    friend(
        "make_sru",
        "its state as the output",
        [normal("b", 5, 3)],
        state_as_output,
        "the output is a gate between the state and the input",
        {"units": 4},
    ),
    program("read_independently", "IndRNN", ["IndRNN", 5, X, LENGTHS, IND_RNN]),
    program("read_independently", "IndyGRU", ["IndyGRU", 5, X, LENGTHS, INDY_GRU]),
    program("read_independently", "IndyLSTM", ["IndyLSTM", 5, X, LENGTHS, INDY_LSTM]),
    program("read_by_time", "seven inputs", [TIMES, X, PHASED], float32=True),
    program(
        "read_by_time",
        "precise times, with peepholes",
        [TIMES.astype("d"), X, SEEN],
        {"leak": 0.05, "peepholes": True},
        float32=True,
    ),
    program(
        "read_by_time",
        "without a clock",
        [TIMES, X, PHASED],
        cls=FalseFriend,
        of="program",
        naive=without_a_clock,
        because="how far a unit is open hangs on the time of the input",
        float32=True,
    ),
    program("read_spectra", "the classic", [*SPECTRAL, grid("ft")]),
    program(
        "read_spectra",
        "with peepholes, in two blocks",
        [*SPECTRAL, grid("ft", 2, peepholes=DIAGONALS)],
        {"blocks": [(0, 7), (4, 11)], "options": {"use_peepholes": True}},
    ),
    program(
        "read_spectra",
        "shared, clipped",
        [*SPECTRAL, grid("f", peepholes=[n for n in DIAGONALS if "freq" in n])],
        {
            "options": {
                "use_peepholes": True,
                "share_time_frequency_weights": True,
                "cell_clip": 0.5,
                "forget_bias": 0.5,
            }
        },
    ),
    program(
        "read_spectra",
        "coupled gates",
        [*SPECTRAL, grid("ft", gates="ijo")],
        {"options": {"couple_input_forget_gates": True}},
    ),
    program(
        "read_spectra",
        "bands by themselves",
        [*SPECTRAL, grid("ft")],
        cls=FalseFriend,
        of="program",
        naive=of_time_alone,
        because="a band sees the output of the one below",
    ),
    program(
        "read_bands",
        "the classic",
        [SPECTRA, 3, 5, 3, drawn(OF_BANDS, "time_freq_lstm_cell/")],
    ),
    program(
        "read_bands",
        "with peepholes",
        [SPECTRA, 3, 5, 2, drawn(OF_SEEN_BANDS, "time_freq_lstm_cell/")],
        {"peepholes": True},
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribRecurrencesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class FilmTest(unittest.TestCase):
    FILMS = np.random.RandomState(1).normal(size=[2, 6, 4, 1]).astype("f")

    def test_a_film_goes_on_from_a_state(self):
        read = v2.make_conv_lstm(2, [3], [4, 1])
        whole, last = read(self.FILMS)
        first, state = read(self.FILMS[:, :3])
        second, end = read(self.FILMS[:, 3:], state=state)
        np.testing.assert_array_equal(np.concatenate([first, second], 1), whole)
        np.testing.assert_array_equal(end, last)

    def test_lists_of_lengths_are_not_traced_anew(self):
        read = v2.make_conv_lstm(2, [3], [4, 1])
        for lengths in ([1, 2], [3, 2], [2, 2]):
            read(self.FILMS, lengths)
        self.assertEqual(read.read.experimental_get_tracing_count(), 2)
