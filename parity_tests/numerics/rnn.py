"""Cells, wrappers and loops: 64 sequences of up to five steps."""

import numpy as np

from parity_tests.numerics import ALONE, NARROW, Inputs
from tf1to2.parity import Layer, Program, normal

RANDOM = Inputs("rnn")
SEQUENCES, LENGTHS = normal("b", 5, 7), 1 + RANDOM.integers(5, 64)
WITHOUT = {"graph": ALONE, "generated": ALONE, "dynamic": "proven in the topic rnn"}


def reader(slug, cell, loop="unroll", lengths=True, x=SEQUENCES, narrow=False):
    return Layer(
        "make_reader",
        slug,
        [x, LENGTHS] if lengths else [x],
        factory={"cell": cell, "loop": loop},
        sizes=[{"b": 64}],
        float32=narrow,
        skip={**WITHOUT, **(NARROW if narrow else {})},
    )


def cell(name, **options):
    return name, {"num_units": 6, **options}


ONE_STREAM = {"graph": ALONE, "eager": "eagerly, ops of one seed share a stream"}
DROPPING = {"input_keep_prob": 0.5, "output_keep_prob": 0.75, "state_keep_prob": 0.5}


def dropped(slug, cell, **options):
    cell = "DropoutWrapper", {"cell": cell, "seed": 3, **DROPPING, **options}
    args = [RANDOM.normal(64, 5, 7), cell, 2]
    return Program("dropped", slug, args, skip=ONE_STREAM)


LSTMS = [
    reader("BasicLSTMCell", cell("BasicLSTMCell", forget_bias=0.5)),
    reader(
        "BasicLSTMCell by ReLU, all of one length",
        cell("BasicLSTMCell", activation="relu"),
        lengths=False,
    ),
    reader(
        "BasicLSTMCell, float16",
        cell("BasicLSTMCell"),
        x=normal("b", 5, 7, dtype="float16"),
        narrow=True,
    ),
]
DESCRIPTORS = {
    "BasicRNNCell": [reader("BasicRNNCell", cell("BasicRNNCell"))],
    "Cell": "numerics.make_reader",
    **dict.fromkeys(["BasicLSTMCell", "LSTMStateTuple", "unroll"], LSTMS),
    "LSTMCell": [
        reader(
            "LSTMCell with all there is",
            cell(
                "LSTMCell",
                use_peepholes=True,
                cell_clip=0.5,
                num_proj=4,
                proj_clip=0.25,
            ),
        ),
        reader("LSTMCell", cell("LSTMCell")),
    ],
    "GRUCell": [reader("GRUCell", cell("GRUCell"))],
    "unroll_in_python": [
        reader("GRUCell, unrolled", cell("GRUCell"), "unroll_in_python")
    ],
    "unroll_both_ways": [
        reader("GRUCell, both ways", cell("GRUCell"), "unroll_both_ways"),
    ],
    "MultiRNNCell": [
        reader(
            "an LSTM below a GRU",
            ("MultiRNNCell", {"cells": [cell("BasicLSTMCell"), cell("GRUCell")]}),
        )
    ],
    "ResidualWrapper": [
        reader(
            "a GRU that adds what it reads",
            ("ResidualWrapper", {"cell": ("GRUCell", {"num_units": 7})}),
        )
    ],
    "DropoutWrapper": [
        Program(
            "dropped_by",
            "a GRU on an LSTM",
            [
                RANDOM.normal(64, 5, 7),
                ("MultiRNNCell", {"cells": [cell("BasicLSTMCell"), cell("GRUCell")]}),
                np.float32([0.5, 1.0, 0.9]),
            ],
            skip=ONE_STREAM,
        ),
        dropped("a GRU", cell("GRUCell")),
        dropped(
            "a GRU on an LSTM, c spared",
            ("MultiRNNCell", {"cells": [cell("BasicLSTMCell"), cell("GRUCell")]}),
        ),
    ],
    "dropped": "rnn.dropout",
    "LSTMBlockCell": [
        reader(
            "LSTMBlockCell, a negative limit",
            cell("LSTMBlockCell", forget_bias=0.5, cell_clip=-1.0, use_peephole=True),
            narrow=True,
        ),
    ],
    "LSTMBlockFusedCell": "contrib_cells.make_lstm_fused",
    "TimeReversedFusedRNN": "contrib_cells.make_fused_both_ways",
    "GRUBlockCell": [
        reader(
            "a GRUBlockCell below a GRUBlockCellV2",
            ("MultiRNNCell", {"cells": [cell("GRUBlockCell"), cell("GRUBlockCellV2")]}),
            narrow=True,
        )
    ],
    "GRUBlockCellV2": "contrib_cells.make_gru_block",
    "TimeFreqLSTMCell": "contrib_recurrences.read_bands",
    "GridLSTMCell": "contrib_recurrences.read_spectra",
    "LayerNormBasicLSTMCell": [
        reader(
            "LayerNormBasicLSTMCell by ReLU",
            cell("LayerNormBasicLSTMCell", forget_bias=0.5, activation="relu"),
        ),
        reader(
            "LayerNormBasicLSTMCell, float16",
            cell("LayerNormBasicLSTMCell"),
            x=normal("b", 5, 7, dtype="float16"),
            narrow=True,
        ),
    ],
    "CoupledInputForgetGateLSTMCell": [
        reader(
            "CoupledInputForgetGateLSTMCell with all there is",
            cell(
                "CoupledInputForgetGateLSTMCell",
                use_peepholes=True,
                num_proj=4,
                proj_clip=0.25,
                forget_bias=0.5,
                activation="relu",
                layer_norm=True,
            ),
        )
    ],
    "NASCell": [
        reader("NASCell, projected", cell("NASCell", num_proj=4, use_bias=True)),
    ],
    "UGRNNCell": [
        reader("UGRNNCell", cell("UGRNNCell", forget_bias=0.5, activation="relu"))
    ],
    "IntersectionRNNCell": [
        reader(
            "IntersectionRNNCell",
            cell("IntersectionRNNCell", num_in_proj=6, forget_bias=0.5),
        )
    ],
    "CudnnCompatibleLSTMCell": [
        reader("CudnnCompatibleLSTMCell", cell("CudnnCompatibleLSTMCell"), narrow=True)
    ],
    "CudnnCompatibleGRUCell": [
        reader("CudnnCompatibleGRUCell", cell("CudnnCompatibleGRUCell"))
    ],
    "Wrapper": "contrib_rnn.make_highway",
    "AttentionCellWrapper": [
        reader(
            "AttentionCellWrapper of an LSTM, all its sizes",
            (
                "AttentionCellWrapper",
                {
                    "cell": cell("BasicLSTMCell"),
                    "attn_length": 2,
                    "attn_size": 4,
                    "attn_vec_size": 3,
                    "input_size": 5,
                },
            ),
        )
    ],
    "HighwayWrapper": [
        reader(
            "HighwayWrapper of an LSTM, its gates apart",
            (
                "HighwayWrapper",
                {
                    "cell": ("BasicLSTMCell", {"num_units": 7}),
                    "couple_carry_transform_gates": False,
                    "carry_bias_init": 0.5,
                },
            ),
        )
    ],
    "InputProjectionWrapper": [
        reader(
            "InputProjectionWrapper",
            ("InputProjectionWrapper", {"cell": cell("GRUCell"), "num_proj": 5}),
        )
    ],
    "OutputProjectionWrapper": [
        reader(
            "OutputProjectionWrapper, tanh",
            (
                "OutputProjectionWrapper",
                {"cell": cell("GRUCell"), "output_size": 3, "activation": "tanh"},
            ),
        )
    ],
    "EmbeddingWrapper": "contrib_rnn.make_embedding_reader",
    "unroll_both_ways_in_python": "contrib_rnn.make_static_both_ways",
    "unroll_stack_both_ways": "contrib_rnn.make_stack_both_ways",
}
