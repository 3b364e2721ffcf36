"""The one table of known differences: everything else is identical, bit for bit."""

from tf1to2.parity.compare import Bound

# Where the gradient is 0, units in the last place are as many as they are small: the
# largest difference is 5.9e-17 in the one, 5.6e-17 in the other.
SOFTMAX = (
    "the gradient is softmax minus softmax; in float64 the two kernels round apart "
    "before TensorFlow 2.17, and 6e-17 is left of it"
)
HUBER = (
    "three parts of a gradient are added: in a session AddN begins with the part whose "
    "memory it may overwrite, which is another one here than in a tape"
)
A_WHOLE_SHARE = (
    "a pixel that has the whole share of a place leaves g - g for its neighbour, among "
    "other gradients, which a tape adds in another order: 2.2e-16 is left of 0"
)
LOOKING_FIRST = "two heads, from the first state"
NO_OPTIMIZER = "26 columns, no optimizer"
FALLING = "a rate that falls with the columns"
ATTENDING = "embedding_attention_decoder/attention_decoder"
EPSILON = (
    "a session of 1.15 adds epsilon to the 1 of 1 - predictions, and 1 + 1e-7 is "
    "1 + 1.19e-7 in float32; so does a graph of today that is rewritten"
)
REWRITTEN = (
    "1.15 rewrites the graph of a session, and adds or multiplies in another order; "
    "without that, all bits are the same"
)
DEFAULT_KERNELS = (
    "in the default settings today's kernels for products of matrices, convolutions "
    "and batch norms (oneDNN) add in another order"
)
BFLOAT16 = [
    ("outputs/losses", 75715, 80609),
    ("outputs/variables/hidden/weights", 1466196, 1639844),
    ("outputs/variables/hidden/biases", 143667, 276226),
    ("outputs/variables/scores/weights", 1294280, 509527),
    ("outputs/variables/scores/biases", 77923, 169349),
    ("outputs/variables/hidden/weights/Momentum", 2978826, 2038520088),
    ("outputs/variables/hidden/biases/Momentum", 1457698, 1683854),
    ("outputs/variables/scores/weights/Momentum", 4600960, 3065600),
    ("outputs/variables/scores/biases/Momentum", 1075972, 862964),
]
TIMES_AND_BACK = (
    "the gradient for y of x * y / y is 0 but for noise, of 3e-14 at most, and a sum "
    "of 67 of it depends on its order"
)
VANISHED = (
    "the gates are clipped, so that the gradient of early steps vanishes: what is left "
    "of it, 1e-6 of the largest and less, is the order in which a sum was made"
)
SATURATED = (
    "the cells are saturated: gradients of the last steps are 1e-8 of the largest and "
    "less, down to 1e-16, and have the last bits of tanh, sigmoid and sums in float64"
)
NEAR_ONE = (
    "a gate or a probability p is 1 but for 1e-8, and the gradient is that of 1 - p: "
    "sigmoid and tanh of 1.15 have other last bits in float64, too, up to 7e-16 away"
)
NO_BIAS = (
    "every path from this bias ends in a norm, which subtracts it: the gradient is 0 "
    "but for noise, 2e-16 at most after ten steps in float64"
)
PENALTY = (
    "Keras 3 keeps the weight of a penalty in float32: in a model of float64 its 0.01 "
    "is 2e-8 less"
)
CTC_ZERO = (
    "tf.nn.ctc_loss puts the blank last by a concatenation: past the end its gradient "
    "is 0.0, where v1's zero had the sign of what came back"
)
NEGATED = (
    "1.15 negates 0 to 0.0, as 0 - 0 is, where its kernel takes several numbers at "
    "once; today it is -0.0"
)
NO_AXES = (
    "the gradient of v1's difference of unknown shapes is summed over no axes, which "
    "makes 0.0 of the -0.0 in whole vectors"
)
BOUNDS: list[Bound] = [
    *(
        Bound(
            *(f"ctc.{pair}", case, way, "compat.v1", f"gradients/inputs/{place}"),
            ulps=0,
            measured=0,
            reason=CTC_ZERO,
        )
        for pair, place, case, ways in [
            ("ctc_loss", 3, "all lengths", ("eager", "function", "dynamic")),
            ("ctc_loss", 3, "sharp logits", ("eager",)),
            ("ctc_loss", 3, "the blank first", ("eager",)),
            ("ctc_loss_of_dense", 2, "all lengths", ("eager", "function", "dynamic")),
        ]
        for way in ways
    ),
    *(
        Bound(
            *("metric_learning.contrastive_loss", case, way, "1.15.5"),
            "gradients/inputs/2",
            ulps=0,
            measured=0,
            reason=NEGATED,
        )
        for case, ways in [
            ("ordinary rows", ("eager", "function", "dynamic", "xla")),
            ("a margin", ("eager", "function")),
            ("a half", ("eager",)),
        ]
        for way in ways
    ),
    *(
        Bound(
            *(f"attention.{pair}", case, way, "1.15.5", f"gradients/inputs/{i}"),
            ulps=worst,
            measured=worst,
            reason=NEAR_ONE,
            where=where,
        )
        for pair, case, i, worst, ways, where in [
            ("make_attention_reader", "what is put out", 0, 688918, ["eager"], ""),
            (
                *("make_attention_reader", "with a layer", 0, 1585),
                ["eager", "function", "dynamic"],
                "",
            ),
            ("make_monotonic", "its beginning", 1, 1, ["eager"], ""),
            (
                *("make_two_memories", "of two sizes", 0, 50473),
                ["eager", "function", "dynamic"],
                "tensorflow>=2.20",
            ),
            ("make_two_memories", "of two sizes", 0, 138689, ["xla"], ""),
        ]
        for way in ways
    ),
    *(
        Bound(
            *("contrib_tools.dense_image_warp", case, way, "1.15.5"),
            "gradients/inputs/1",
            ulps=0,
            measured=0,
            reason=NO_AXES,
        )
        for case, ways in [
            ("beyond the border, too", ("eager", "function", "dynamic", "xla")),
            ("forwards", ("eager",)),
        ]
        for way in ways
    ),
    *(
        Bound(
            *(f"contrib_tools.{pair}", case, way, "1.15.5", leaf),
            ulps=worst,
            measured=worst,
            reason=REWRITTEN,
            settings="" if way == "eager" else "strict",
        )
        for pair, case, leaf, worst in [
            ("rotate", "between pixels", "outputs", 8644),
            ("rotate", "between pixels", "gradients/inputs/0", 17792),
            ("transform", "at once", "outputs", 195),
            ("transform", "at once", "gradients/inputs/0", 36864),
        ]
        for way in ("eager", "function", "dynamic")
    ),
    *(
        Bound(
            *("keras_layers.penalty", f"{kind}, any size", way, "1.15.5", leaf),
            ulps=1,
            measured=1,
            reason=PENALTY,
            where="keras>=3.14",
        )
        for kind, leaf in [
            *((k, "gradients/inputs/0") for k in ("l2", "given", "l1_l2", "by name")),
            ("l1_l2", "outputs"),
        ]
        for way in ("eager", "function", "dynamic", "xla")
    ),
    *(
        Bound(
            *("keras_layers.make_lstm", case, way, "1.15.5", "gradients/inputs/0"),
            ulps=2 * worst,  # 5661 in the default settings
            measured=worst,
            reason=VANISHED,
            where="" if way == "xla" else "tensorflow>=2.20",
        )
        for case, way, worst in [
            *(("any size", way, 5558) for way in ("eager", "function", "dynamic")),
            ("any size", "xla", 7871),
            *(("hard_sigmoid by its name", way, 1) for way in ("eager", "function")),
        ]
    ),
    *(
        Bound(
            *("bridges.weighted_loss", "log_loss", way, "1.15.5", leaf),
            ulps=worst,
            measured=worst,
            reason=EPSILON,
            settings="" if way == "eager" else "strict",
        )
        for leaf, worst in (("gradients/inputs/0", 64), ("gradients/inputs/1", 512))
        for way in ("graph", "eager", "function")
    ),
    *(
        Bound(
            *("bridges.weighted_loss", "huber_loss", "eager", "compat.v1", leaf),
            ulps=16,
            measured=16,
            reason=HUBER,
        )
        for leaf in ("gradients/inputs/0", "gradients/inputs/1")
    ),
    *(
        Bound(
            *("slim_networks.train_classifier", "ten steps", way, "1.15.5"),
            f"outputs/variables/resnet_v2/{path}/biases{slot}",
            ulps=2**31,
            measured=2**31,
            noise=2e-16,
            reason=NO_BIAS,
        )
        for path in (
            "conv1",
            *(
                f"{unit}/bottleneck_v2/{conv}"
                for unit, conv in [
                    ("block1/unit_1", "shortcut"),
                    ("block1/unit_1", "conv3"),
                    ("block1/unit_2", "conv3"),
                    ("block2/unit_1", "shortcut"),
                    ("block2/unit_1", "conv3"),
                ]
            ),
        )
        for slot in ("", "/Momentum")
        for way in ("eager", "function")
    ),
    *(
        Bound(
            "numerical_stability.times_and_back",
            "any size",
            way,
            "1.15.5",
            "gradients/inputs/1",
            ulps=1358954496,
            measured=1308622848 if way == "xla" else 1358954496,
            noise=3e-14,
            reason=TIMES_AND_BACK,
        )
        for way in ("graph", "eager", "function", "dynamic", "xla")
    ),
    Bound(
        "numerical_stability.cross_entropy",
        "any size",
        "xla",
        "1.15.5",
        "gradients/inputs/0",
        ulps=223350,
        measured=223350,
        reason="of labels: a log probability near 0, 2e-16 apart, as XLA sums exp",
    ),
    *(
        Bound(
            "losses.log_loss",
            "any",
            way,
            "1.15.5",
            "gradients/inputs/1",
            ulps=29,
            measured=29,
            reason=EPSILON,
            settings=settings,
        )
        for way, settings in [
            ("eager", ""),
            ("graph", "strict"),
            ("function", "strict"),
        ]
    ),
    *(
        Bound(
            *(pair, case, way, "1.15.5", leaf),
            ulps=worst,
            measured=worst,
            reason=reason,
            settings="" if way == "eager" else "strict",
        )
        for pair, case, leaf, worst, reason in [
            (
                *("numerics.loss", "log_loss, weighted", "gradients/inputs/0"),
                *(256, EPSILON),
            ),
            (
                *("numerics.loss", "log_loss, weighted", "gradients/inputs/1"),
                *(74, EPSILON),
            ),
            (
                *("numerics.loss", "log_loss, float16", "gradients/inputs/0"),
                *(256, EPSILON),
            ),
            (
                *("numerics.loss", "sigmoid_cross_entropy, float16"),
                *("gradients/inputs/1", 1, REWRITTEN),
            ),
            (
                *("numerics.noisy_rates", "seven steps", "outputs/rates/2"),
                *(51, REWRITTEN),
            ),
        ]
        for way in ("graph", "eager", "function", "dynamic")
        if pair == "numerics.loss" or way in ("eager", "function")
    ),
    *(
        Bound(
            *(pair, case, way, "1.15.5", leaf),
            ulps=8 * worst,  # another processor has other kernels
            measured=worst,
            reason=DEFAULT_KERNELS,
            settings="default",
        )
        for pair, case, leaf, worst, ways in [
            *(
                (
                    *("numerics.contrib_normalized", f"images, {slug}"),
                    *(f"outputs/gradients/{number}", worst, ("eager", "function")),
                )
                for slug in (
                    "by default",
                    "as slim's nets have it",
                    "updated in place",
                    "no bias of the mean",
                )
                for number, worst in ((0, 115653), (1, 98347), (2, 25908))
            ),
            *(
                (
                    *(f"contrib_norms.{name}", case),
                    *(f"gradients/{path}BatchNorm/beta:0", worst, ways),
                )
                for name, case, path, worst, ways in [
                    (
                        *("make_batch_norm", "by default, images", "net/", 26),
                        ("eager", "function", "dynamic"),
                    ),
                    (
                        *("make_normalized", "training", "net/conv/", 44),
                        ("eager", "function", "dynamic"),
                    ),
                    (
                        *("make_normalized", "inference", "tower/conv/", 18),
                        ("eager", "function"),
                    ),
                ]
            ),
            *(
                (
                    *(f"slim.{name}", f"{case}, fused"),
                    *(f"gradients/net/{leaf}:0", worst, ways),
                )
                for name, case, leaf, worst, ways in [
                    *(
                        (
                            *("make_network", "training", leaf, worst),
                            ("eager", "function", "dynamic"),
                        )
                        for leaf, worst in [
                            ("conv1/weights", 448),
                            ("conv2/conv2_1/BatchNorm/gamma", 58),
                            ("conv2/conv2_1/weights", 24576),
                            ("conv2/conv2_2/weights", 16000),
                        ]
                    ),
                    (
                        *("make_network", "inference", "conv1/BatchNorm/beta", 286),
                        ("eager", "function"),
                    ),
                    (
                        *("make_separable_conv2d", "normalized"),
                        *("SeparableConv2d/pointwise_weights", 104),
                        ("eager", "function", "dynamic"),
                    ),
                ]
            ),
            *(
                (
                    *("beam_search.make_beam_search", "by length"),
                    f"gradients/model/decoder/gru_cell/candidate/{leaf}:0",
                    *(worst, ("eager", "function")),
                )
                for leaf, worst in [("bias", 58), ("kernel", 704)]
            ),
            *(
                (
                    *("legacy_seq2seq.make_attention_decoder", LOOKING_FIRST),
                    *(f"gradients/{leaf}", worst, ("eager", "function")),
                )
                for leaf, worst in [
                    ("inputs/1", 7192),
                    ("inputs/2", 55557120),  # there a gradient is nearly 0
                    ("model/attention_decoder/Attention_0/bias:0", 172),
                    ("model/attention_decoder/Attention_0/kernel:0", 315392),
                    ("model/attention_decoder/Attention_1/bias:0", 107),
                    ("model/attention_decoder/AttnV_0:0", 568),
                    ("model/attention_decoder/basic_lstm_cell/bias:0", 418),
                    ("model/attention_decoder/bias:0", 464),
                ]
            ),
            *(
                (
                    *("legacy_seq2seq.make_attention_seq2seq", "given"),
                    f"gradients/model/embedding_attention_seq2seq/{ATTENDING}/{leaf}:0",
                    *(worst, ("eager", "function")),
                )
                for leaf, worst in [
                    ("AttnV_0", 143),
                    ("output_projection_wrapper/gru_cell/candidate/kernel", 104),
                ]
            ),
            (  # a mean of 0.035, of scores up to 22 that cancel
                *("contrib_layers.summarize", "more units"),
                *("outputs/6/simple_value", 12, ("eager", "function")),
            ),
            (
                *("summaries.train", "float32", "outputs/kernel", 4),
                ("graph", "eager", "function"),
            ),
            *(
                (
                    "slim_networks.fine_tune",
                    "the last layers, without the fused kernel",
                    f"outputs/variables/resnet_v2/{leaf}/Momentum",
                    *(worst, ("eager", "function")),
                )
                for leaf, worst in [("logits/weights", 27776), ("postnorm/gamma", 1624)]
            ),
            *(
                (
                    *(f"canned_estimators.{name}", case),
                    *(f"outputs/variables/{leaf}", worst, ways),
                )
                for name, case, leaf, worst, ways in [
                    *(
                        (
                            *("linear_classifier", NO_OPTIMIZER),
                            *(
                                f"linear/linear_model/x{leaf}/weights/part_0/Ftrl",
                                worst,
                            ),
                            ("eager",),
                        )
                        for leaf, worst in [(10, 15), (19, 18)]
                    ),
                    *(
                        (
                            *("linear_classifier", FALLING),
                            *(f"linear/linear_model/{leaf}", worst, ("eager",)),
                        )
                        for leaf, worst in [
                            ("x10/weights", 53),
                            ("x10/weights/part_0/Ftrl_1", 44),
                            ("x19/weights", 41),
                            ("x19/weights/part_0/Ftrl_1", 32),
                        ]
                    ),
                    *(
                        (
                            *("dnn_classifier", "three classes, with batch norm"),
                            *(f"dnn/hiddenlayer_{leaf}/t_0/Adagrad", worst),
                            ("eager", "function"),
                        )
                        for leaf, worst in [
                            ("0/bias", 22),
                            ("0/kernel", 36),
                            ("1/kernel", 15),
                        ]
                    ),
                ]
            ),
            *(
                (
                    f"keras_files.{name}",
                    "images",
                    f"outputs/{leaf}",
                    780,
                    ("eager", "function"),
                )
                for name, leaf in [
                    ("load_whole", 1),
                    ("load_weights", 1),
                    ("freeze", 0),
                ]
            ),
        ]
        for way in ways
    ),
    *(
        Bound(
            *("mixed_precision.train_in_halves", "bfloat16", way, "1.15.5", leaf),
            ulps=8 * worst,  # another processor has other kernels
            measured=worst,
            reason="in the default settings oneDNN multiplies matrices of bfloat16, "
            "and sums in another order, ten steps long",
            settings="default",
        )
        for leaf, *found in BFLOAT16
        for way, worst in zip(("graph", "function", "eager"), (found[0], *found))
    ),
    *(
        Bound(
            *("canned_estimators.linear_classifier", NO_OPTIMIZER, "function"),
            *("1.15.5", f"outputs/variables/linear/linear_model/{leaf}"),
            ulps=8 * worst,
            measured=worst,
            reason="in the default settings TensorFlow 2 rewrites the graph of a "
            "function, and adds in another order; without that and without oneDNN "
            "the rows of float32 hold",
            settings="default",
        )
        for leaf, worst in [("bias_weights", 15), ("bias_weights/part_0/Ftrl_1", 16)]
    ),
    Bound(
        "cookbook.make_batch_norm",
        "fused training of any images",
        "xla",
        "1.15.5",
        "gradients/batch_norm/gamma:0",
        ulps=10,
        measured=10,
        reason="XLA sums 804 products in another order",
    ),
    *(
        Bound(
            "images.turn",
            "once",
            way,
            "compat.v1",
            "gradients/inputs/0",
            ulps=ulps,
            measured=ulps,
            reason="four gradients lead to the image: their sum has another order",
        )
        for way, ulps in [("eager", 256), ("function", 128), ("dynamic", 512)]
    ),
    Bound(
        "images.measure",
        "floats",
        "eager",
        "compat.v1",
        "gradients/inputs/0",
        ulps=160,
        measured=160,
        reason="an image has five uses, whose gradients a tape adds in another order",
    ),
    *(
        Bound(
            *("numerics.make_reader", case, way, "1.15.5", "gradients/inputs/0"),
            ulps=worst,
            measured=worst,
            reason=SATURATED,
            where="tensorflow>=2.20" if case == "NASCell, projected" else "",
        )
        for case, way, worst in [
            *(
                ("AttentionCellWrapper of an LSTM, all its sizes", way, 633865650)
                for way in ("eager", "function")
            ),
            ("AttentionCellWrapper of an LSTM, all its sizes", "xla", 1),
            *(("NASCell, projected", way, 1) for way in ("eager", "function")),
        ]
    ),
    *(
        Bound(
            "numerics.loss",
            f"huber_loss, {slug}",
            "eager",
            "compat.v1",
            f"gradients/inputs/{number}",
            ulps=worst,
            measured=worst,
            reason=HUBER,
        )
        for slug, number, worst in (
            ("weighted", 0, 64),
            ("weighted", 1, 64),
            ("a small delta", 0, 128),
            ("a small delta", 1, 128),
            ("float16", 0, 1024),
            ("one weight for all", 0, 128),
            ("one weight for all", 1, 128),
        )
    ),
    *(
        Bound(
            *(pair, case, way, "1.15.5", leaf),
            ulps=worst,
            measured=worst,
            noise=5.9e-17,
            reason=SOFTMAX,
            where="tensorflow<2.17",
        )
        for pair, case, leaf, worst, ways in [
            (
                *("debugging.entropy_naive", "a batch", "gradients/inputs/0"),
                *(1208897872, ("graph", "eager", "function", "dynamic")),
            ),
            (
                *("debugging.check_entropy", "naive", "outputs/analytic"),
                *(612368384, ("graph", "eager")),
            ),
        ]
        for way in ways
    ),
    *(
        Bound(
            *("contrib_vision.warp_at_points", case, way, "1.15.5"),
            leaf="gradients/inputs/0",
            ulps=629145600,
            measured=629145600,
            reason=A_WHOLE_SHARE,
            settings="strict" if way == "function" else "",
        )
        for case, way in [
            ("of a batch", "eager"),
            ("of a batch", "function"),
            ("back", "eager"),
        ]
    ),
    *(
        Bound(
            *("contrib_solvers.largest_singular_values", "five steps", "xla", "1.15.5"),
            leaf=leaf,
            ulps=ulps,
            measured=ulps,
            reason="XLA adds up products in another order, and has another SVD",
        )
        for leaf, ulps in (("gradients/inputs/0", 239), ("gradients/inputs/1", 251))
    ),
    Bound(
        *("contrib_vision.warp_at_points", "of a batch", "xla", "1.15.5"),
        leaf="gradients/inputs/0",
        ulps=620756992,
        measured=620756992,
        reason=A_WHOLE_SHARE,
    ),
    Bound(
        *("contrib_vision.warp_at_points", "of a batch", "xla", "1.15.5", "outputs"),
        ulps=1,
        measured=1,
        reason="XLA solves the system in another order, and has a log of its own",
    ),
    *(
        Bound(
            *("contrib_vision.interpolate_spline", "of order 3", "xla", "1.15.5"),
            leaf=leaf,
            ulps=1,
            measured=1,
            reason="XLA solves the system in another order",
        )
        for leaf in ("outputs", "gradients/inputs/0")
    ),
]
