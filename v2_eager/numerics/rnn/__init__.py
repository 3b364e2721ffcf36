"""The cells of `tf.nn.rnn_cell` and `tf.contrib.rnn`, and the loops that run them.

    cell = BasicLSTMCell(128, name="rnn/basic_lstm_cell")
    outputs, state = unroll(cell, x, lengths)

A cell has `build(depth, dtype)`, which makes its variables with v1's names,
`zero_state(batch, dtype)` and `output_size`. A call takes ([batch, depth], state) and
returns (output, new state). Follows `tensorflow/python/ops/rnn.py`,
`rnn_cell_impl.py`, `rnn_cell_wrapper_impl.py` and `tensorflow/contrib/rnn` of 1.15.5.
In a `tf.function`, gradients have the bits of v1.
"""

from v2_eager.numerics.rnn.cells import (
    BasicLSTMCell,
    BasicRNNCell,
    Cell,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
    dropped,
)
from v2_eager.numerics.rnn.contrib_cells import (
    CoupledInputForgetGateLSTMCell,
    CudnnCompatibleGRUCell,
    CudnnCompatibleLSTMCell,
    GRUBlockCell,
    GRUBlockCellV2,
    IntersectionRNNCell,
    LayerNormBasicLSTMCell,
    LSTMBlockCell,
    NASCell,
    UGRNNCell,
)
from v2_eager.numerics.rnn.contrib_wrappers import (
    AttentionCellWrapper,
    EmbeddingWrapper,
    HighwayWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
    Wrapper,
)
from v2_eager.numerics.rnn.fused import LSTMBlockFusedCell, TimeReversedFusedRNN
from v2_eager.numerics.rnn.grid_cells import GridLSTMCell, TimeFreqLSTMCell
from v2_eager.numerics.rnn.loops import (
    unroll,
    unroll_both_ways,
    unroll_both_ways_in_python,
    unroll_in_python,
    unroll_stack_both_ways,
)
from v2_eager.numerics.rnn.wrappers import DropoutWrapper, MultiRNNCell, ResidualWrapper

__all__ = [
    "LSTMStateTuple",
    "unroll",
    "unroll_in_python",
    "unroll_both_ways",
    "unroll_both_ways_in_python",
    "unroll_stack_both_ways",
    "Cell",
    "BasicRNNCell",
    "BasicLSTMCell",
    "LSTMCell",
    "GRUCell",
    "MultiRNNCell",
    "ResidualWrapper",
    "DropoutWrapper",
    "dropped",
    "LSTMBlockCell",
    "LSTMBlockFusedCell",
    "TimeReversedFusedRNN",
    "GRUBlockCell",
    "GRUBlockCellV2",
    "LayerNormBasicLSTMCell",
    "CoupledInputForgetGateLSTMCell",
    "NASCell",
    "UGRNNCell",
    "IntersectionRNNCell",
    "CudnnCompatibleLSTMCell",
    "CudnnCompatibleGRUCell",
    "TimeFreqLSTMCell",
    "GridLSTMCell",
    "Wrapper",
    "AttentionCellWrapper",
    "HighwayWrapper",
    "InputProjectionWrapper",
    "OutputProjectionWrapper",
    "EmbeddingWrapper",
]
