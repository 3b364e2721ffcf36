"""Cells without a full recurrent matrix: see the pairs of contrib_recurrences."""

DESCRIPTORS = {
    "ConvLSTMCell": "contrib_recurrences.make_conv_lstm",
    "unroll_maps": "contrib_recurrences.make_conv_lstm",
    "GLSTMCell": "contrib_recurrences.make_group_lstm",
    "SRUCell": "contrib_recurrences.make_sru",
    **dict.fromkeys(
        ["IndRNNCell", "IndyGRUCell", "IndyLSTMCell"],
        "contrib_recurrences.read_independently",
    ),
    "PhasedLSTMCell": "contrib_recurrences.read_by_time",
}
