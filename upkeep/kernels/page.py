"""Runs each of TensorFlow's float32 kernels alone: the same raw ops then and now.

One file is both pages: it runs on the genuine TensorFlow 1.15 and on today's.
"""

import tensorflow as tf

raw = tf.raw_ops
PAD = {"strides": [1, 1, 1, 1], "padding": "SAME"}
IMAGE = [4, 8, 8, 3]
FILTER = [3, 3, 3, 5]

NUMBERS = {
    "lr": 0.1,
    "rho": 0.9,
    "momentum": 0.9,
    "epsilon": 1e-3,
    "l1": 0.01,
    "l2": 0.1,
}
BETAS = {"beta1_power": 0.9, "beta2_power": 0.999, "beta1": 0.9, "beta2": 0.999}


def _steps(kernel, slots, *numbers, **others):
    """Makes a call of an optimizer's kernel: variable x, gradient y, slots z > 0.

    Args:
        kernel: type of the op.
        slots: names of its slots, separated by spaces.
        *numbers: the names of its numbers in `NUMBERS`.
        **others: its other arguments.

    Returns:
        (kernel, function from x, y and z to the list of changed variables).
    """
    arguments = dict({name: NUMBERS[name] for name in numbers}, **others)

    def call(x, y, z):
        values = dict({slot: z for slot in slots.split()}, var=x)
        handles = {
            name: raw.VarHandleOp(
                dtype=tf.float32,
                shape=x.shape,
                container="",
                shared_name=kernel + "/" + name,
            )
            for name in values
        }
        begin = [
            raw.AssignVariableOp(resource=handles[name], value=values[name])
            for name in sorted(values)
        ]
        with tf.control_dependencies([op for op in begin if op is not None]):
            step = getattr(raw, kernel)(grad=y, **handles, **arguments)
        with tf.control_dependencies([step] if step is not None else []):
            return [
                raw.ReadVariableOp(resource=handles[name], dtype=tf.float32)
                for name in sorted(values)
            ]

    return kernel, call


# name: (the type of the op, a function that calls it); its inputs are in `proof`.
KERNELS = {
    "exp": ("Exp", lambda x: raw.Exp(x=x)),
    "expm1": ("Expm1", lambda x: raw.Expm1(x=x)),
    "log": ("Log", lambda x: raw.Log(x=x)),
    "log1p": ("Log1p", lambda x: raw.Log1p(x=x)),
    "sqrt": ("Sqrt", lambda x: raw.Sqrt(x=x)),
    "rsqrt": ("Rsqrt", lambda x: raw.Rsqrt(x=x)),
    "reciprocal": ("Reciprocal", lambda x: raw.Reciprocal(x=x)),
    "square": ("Square", lambda x: raw.Square(x=x)),
    "pow": ("Pow", lambda x, y: raw.Pow(x=x, y=y)),
    "sin": ("Sin", lambda x: raw.Sin(x=x)),
    "cos": ("Cos", lambda x: raw.Cos(x=x)),
    "tan": ("Tan", lambda x: raw.Tan(x=x)),
    "asin": ("Asin", lambda x: raw.Asin(x=x)),
    "acos": ("Acos", lambda x: raw.Acos(x=x)),
    "atan": ("Atan", lambda x: raw.Atan(x=x)),
    "atan2": ("Atan2", lambda x, y: raw.Atan2(y=x, x=y)),
    "sinh": ("Sinh", lambda x: raw.Sinh(x=x)),
    "cosh": ("Cosh", lambda x: raw.Cosh(x=x)),
    "tanh": ("Tanh", lambda x: raw.Tanh(x=x)),
    "asinh": ("Asinh", lambda x: raw.Asinh(x=x)),
    "acosh": ("Acosh", lambda x: raw.Acosh(x=x)),
    "atanh": ("Atanh", lambda x: raw.Atanh(x=x)),
    "erf": ("Erf", lambda x: raw.Erf(x=x)),
    "erfc": ("Erfc", lambda x: raw.Erfc(x=x)),
    "lgamma": ("Lgamma", lambda x: raw.Lgamma(x=x)),
    "digamma": ("Digamma", lambda x: raw.Digamma(x=x)),
    "igamma": ("Igamma", lambda x, y: raw.Igamma(a=x, x=y)),
    "sigmoid": ("Sigmoid", lambda x: raw.Sigmoid(x=x)),
    "softplus": ("Softplus", lambda x: raw.Softplus(features=x)),
    "softsign": ("Softsign", lambda x: raw.Softsign(features=x)),
    "elu": ("Elu", lambda x: raw.Elu(features=x)),
    "selu": ("Selu", lambda x: raw.Selu(features=x)),
    "relu": ("Relu", lambda x: raw.Relu(features=x)),
    "add": ("AddV2", lambda x, y: raw.AddV2(x=x, y=y)),
    "multiply": ("Mul", lambda x, y: raw.Mul(x=x, y=y)),
    "divide": ("RealDiv", lambda x, y: raw.RealDiv(x=x, y=y)),
    "floormod": ("FloorMod", lambda x, y: raw.FloorMod(x=x, y=y)),
    "xlogy": ("Xlogy", lambda x, y: raw.Xlogy(x=x, y=y)),
    "squared_difference": (
        "SquaredDifference",
        lambda x, y: raw.SquaredDifference(x=x, y=y),
    ),
    "tanh_grad": ("TanhGrad", lambda x, y: raw.TanhGrad(y=x, dy=y)),
    "sigmoid_grad": ("SigmoidGrad", lambda x, y: raw.SigmoidGrad(y=x, dy=y)),
    "sqrt_grad": ("SqrtGrad", lambda x, y: raw.SqrtGrad(y=x, dy=y)),
    "rsqrt_grad": ("RsqrtGrad", lambda x, y: raw.RsqrtGrad(y=x, dy=y)),
    "softplus_grad": (
        "SoftplusGrad",
        lambda x, y: raw.SoftplusGrad(gradients=y, features=x),
    ),
    "elu_grad": ("EluGrad", lambda x, y: raw.EluGrad(gradients=y, outputs=x)),
    "sum": ("Sum", lambda x: raw.Sum(input=x, axis=[0], keep_dims=False)),
    "sum_of_rows": ("Sum", lambda m: raw.Sum(input=m, axis=[1], keep_dims=False)),
    "sum_of_columns": ("Sum", lambda m: raw.Sum(input=m, axis=[0], keep_dims=False)),
    "mean": ("Mean", lambda x: raw.Mean(input=x, axis=[0], keep_dims=False)),
    "mean_of_rows": ("Mean", lambda m: raw.Mean(input=m, axis=[1], keep_dims=False)),
    "prod": ("Prod", lambda x: raw.Prod(input=x, axis=[0], keep_dims=False)),
    "l2_loss": ("L2Loss", lambda x: raw.L2Loss(t=x)),
    "cumsum": ("Cumsum", lambda x: raw.Cumsum(x=x, axis=0)),
    "add_n": ("AddN", lambda x, y: raw.AddN(inputs=[x, y, x])),
    "segment_sum": (
        "SegmentSum",
        lambda m: raw.SegmentSum(data=m, segment_ids=_rows(m)),
    ),
    "unsorted_segment_sum": (
        "UnsortedSegmentSum",
        lambda m: raw.UnsortedSegmentSum(data=m, segment_ids=_rows(m), num_segments=4),
    ),
    "sparse_segment_mean": (
        "SparseSegmentMean",
        lambda m: raw.SparseSegmentMean(**_segments(m)),
    ),
    "sparse_segment_sqrt_n": (
        "SparseSegmentSqrtN",
        lambda m: raw.SparseSegmentSqrtN(**_segments(m)),
    ),
    "matmul": ("MatMul", lambda m, n: raw.MatMul(a=m, b=n)),
    "matmul_of_one_row": ("MatMul", lambda m, n: raw.MatMul(a=m[:1], b=n)),
    "batch_matmul": (
        "BatchMatMulV2",
        lambda m, n: raw.BatchMatMulV2(
            x=tf.reshape(m, [4, 10, 25]), y=tf.reshape(n, [4, 25, 10])
        ),
    ),
    "cholesky": ("Cholesky", lambda s: raw.Cholesky(input=s)),
    "matrix_inverse": ("MatrixInverse", lambda s: raw.MatrixInverse(input=s)),
    "matrix_determinant": (
        "MatrixDeterminant",
        lambda s: raw.MatrixDeterminant(input=s),
    ),
    "softmax": ("Softmax", lambda m: raw.Softmax(logits=m)),
    "log_softmax": ("LogSoftmax", lambda m: raw.LogSoftmax(logits=m)),
    "softmax_cross_entropy": (
        "SoftmaxCrossEntropyWithLogits",
        lambda m: list(
            raw.SoftmaxCrossEntropyWithLogits(features=m, labels=tf.abs(m[::-1]) / 32)
        ),
    ),
    "sparse_softmax_cross_entropy": (
        "SparseSoftmaxCrossEntropyWithLogits",
        lambda m: list(
            raw.SparseSoftmaxCrossEntropyWithLogits(features=m, labels=_rows(m))
        ),
    ),
    "ctc_loss": ("CTCLoss", lambda m: list(raw.CTCLoss(**_sentence(m)))),
    "bias_add_grad": ("BiasAddGrad", lambda m: raw.BiasAddGrad(out_backprop=m)),
    "conv2d": ("Conv2D", lambda i, f: raw.Conv2D(input=i, filter=f, **PAD)),
    "conv2d_of_the_input": (
        "Conv2DBackpropInput",
        lambda i, f: raw.Conv2DBackpropInput(
            input_sizes=IMAGE, filter=f, out_backprop=_five(i), **PAD
        ),
    ),
    "conv2d_of_the_filter": (
        "Conv2DBackpropFilter",
        lambda i: raw.Conv2DBackpropFilter(
            input=i, filter_sizes=FILTER, out_backprop=_five(i), **PAD
        ),
    ),
    "avg_pool": (
        "AvgPool",
        lambda i: raw.AvgPool(value=i, ksize=[1, 3, 3, 1], **PAD),
    ),
    "fused_batch_norm": (
        "FusedBatchNormV3",
        lambda i: list(
            raw.FusedBatchNormV3(
                x=i, scale=_ones(i), offset=0 * _ones(i), mean=[], variance=[]
            )
        )[:3],
    ),
    "fused_batch_norm_grad": (
        "FusedBatchNormGradV3",
        lambda i: list(
            raw.FusedBatchNormGradV3(
                y_backprop=i[::-1],
                x=i,
                scale=_ones(i),
                reserve_space_1=0.1 * _ones(i),
                reserve_space_2=0.9 * _ones(i),
                reserve_space_3=[0.0],
            )
        )[:3],
    ),
    "adadelta": _steps(
        "ResourceApplyAdadelta", "accum accum_update", "lr", "rho", "epsilon"
    ),
    "adagrad": _steps("ResourceApplyAdagrad", "accum", "lr"),
    "adagrad_da": _steps(
        "ResourceApplyAdagradDA",
        "gradient_accumulator gradient_squared_accumulator",
        "lr",
        "l2",
        l1=0.0,  # otherwise another kernel runs, which has not changed
        global_step=3,
    ),
    "adam": _steps("ResourceApplyAdam", "m v", "lr", "epsilon", **BETAS),
    "ftrl": _steps(
        "ResourceApplyFtrl", "accum linear", "lr", "l1", "l2", lr_power=-0.5
    ),
    "ftrl_with_shrinkage": _steps(
        "ResourceApplyFtrlV2",
        "accum linear",
        "lr",
        "l1",
        "l2",
        l2_shrinkage=0.1,
        lr_power=-0.5,
    ),
    "momentum": _steps("ResourceApplyMomentum", "accum", "lr", "momentum"),
    "proximal_adagrad": _steps(
        "ResourceApplyProximalAdagrad", "accum", "lr", "l1", "l2"
    ),
    "rms_prop": _steps(
        "ResourceApplyRMSProp", "ms mom", "lr", "rho", "momentum", "epsilon"
    ),
    "rms_prop_centered": _steps(
        "ResourceApplyCenteredRMSProp",
        "mg ms mom",
        "lr",
        "rho",
        "momentum",
        "epsilon",
    ),
    "lrn": ("LRN", lambda i: raw.LRN(input=i)),
    "resize_bilinear": (
        "ResizeBilinear",
        lambda i: raw.ResizeBilinear(images=i, size=[11, 13]),
    ),
    "random_normal": (
        "RandomStandardNormal",
        lambda x: raw.RandomStandardNormal(
            shape=tf.shape(x), dtype=tf.float32, seed=7, seed2=8
        ),
    ),
    "random_uniform": (
        "RandomUniform",
        lambda x: raw.RandomUniform(
            shape=tf.shape(x), dtype=tf.float32, seed=7, seed2=8
        ),
    ),
    "fake_quant": (
        "FakeQuantWithMinMaxVars",
        lambda x: raw.FakeQuantWithMinMaxVars(inputs=x, min=-3.1, max=4.0),
    ),
    "fake_quant_grad": (
        "FakeQuantWithMinMaxVarsGradient",
        lambda x, y: raw.FakeQuantWithMinMaxVarsGradient(
            gradients=y, inputs=x, min=-3.1, max=4.0
        ),
    ),
    "fake_quant_of_fixed_range": (
        "FakeQuantWithMinMaxArgs",
        lambda x: raw.FakeQuantWithMinMaxArgs(inputs=x, min=-3.1, max=4.0),
    ),
    "fake_quant_per_channel": (
        "FakeQuantWithMinMaxVarsPerChannel",
        lambda m: raw.FakeQuantWithMinMaxVarsPerChannel(
            inputs=m, min=m[0] - 1, max=m[0] + 1
        ),
    ),
}


def _sentence(m):
    """The arguments of a CTC loss: one sentence, with ten different labels."""
    return {
        "inputs": m[:, tf.newaxis],
        "labels_indices": [[0, i] for i in range(10)],
        "labels_values": list(range(10)),
        "sequence_length": [40],
    }


def _rows(m):
    """The class or segment of each row of a matrix: 0 0 0 … 1 1 1 … 3 3 3."""
    return tf.range(tf.shape(m)[0]) * 4 // tf.shape(m)[0]


def _ones(i):
    """Ones, one for each channel of an image."""
    return tf.ones_like(i[0, 0, 0])


def _segments(m):
    """The arguments of a kernel that combines one, two, three, … rows of a matrix."""
    ids = [i for i in range(9) for _ in range(i)]
    return {"data": m, "indices": tf.range(len(ids)), "segment_ids": ids}


def _five(i):
    """Makes a five-channel image: three channels, then the first two again."""
    return tf.concat([i, i[..., :2]], 3)


globals().update((name, kernel) for name, (_, kernel) in KERNELS.items())
