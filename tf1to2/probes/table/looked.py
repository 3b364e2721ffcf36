"""What `tf1to2 fix --unsafe` writes, with the rest ported as its pair shows."""

from tf1to2.probes import probe

START = "v = tf.Variable(np.float64([1.5, -2.0, 0.3]))\n"
PAIRS = "pairs = [(tf.constant(np.float64([0.7, -0.1, 2.3])), v)]\n"
TWICE_THEN = "with tf.control_dependencies([optimizer.apply_gradients(pairs)]):\n    step = optimizer.apply_gradients(pairs)\nwith tf.control_dependencies([step]):\n    after = v.read_value()\nafter"
TWICE_NOW = (
    "optimizer.apply_gradients(pairs)\noptimizer.apply_gradients(pairs)\nv.read_value()"
)
OPTIMIZERS = "from v2_eager.numerics import optimizers\n"
STEPS = "step = np.array([0, 3, 10, 25])"
SCHEDULES = "tf.keras.optimizers.schedules"
METRICS = "from v2_eager.numerics import metrics\n"
STREAM = "sess = tf.Session()\nsess.run(tf.local_variables_initializer())\nsess.run(update)\nsess.run(value)"
LABELS, GUESSES = "tf.constant([0, 1, 1, 0, 1])", "tf.constant([0, 1, 0, 1, 1])"
SCORES = "tf.constant([0.1, 0.9, 0.4, 0.6, 0.7])"
EVENTS = "import glob\nfrom tensorflow.core.util import event_pb2\nevents = [event_pb2.Event.FromString(record.numpy()) for record in tf.data.TFRecordDataset(glob.glob(folder + '/*'))]\n"


def _metric(name, given, made, now):
    return probe(
        f"tf.metrics.{name}",
        f"value, update = tf.metrics.{name}({given})\n{STREAM}",
        f"{METRICS}value = metrics.{made}\nupdate = value.update_state({now})\nvalue.result()",
    )


PROBES = [
    *(
        probe(
            f"tf.train.{name}Optimizer",
            f"{START}optimizer = tf.train.{name}Optimizer({given})\n{PAIRS}{TWICE_THEN}".replace(
                "float64", dtype
            ),
            f"{OPTIMIZERS}{START}optimizer = optimizers.{name}({given})\n{PAIRS}{TWICE_NOW}".replace(
                "float64", dtype
            ),
        )
        for name, given, dtype in (
            ("GradientDescent", "learning_rate=0.1", "float64"),
            ("Momentum", "0.1, 0.9, use_nesterov=True", "float64"),
            ("Adagrad", "0.1, 0.2", "float64"),
            ("Adadelta", "0.1, rho=0.9, epsilon=1e-6", "float64"),
            ("RMSProp", "0.1, 0.8, 0.5, centered=True", "float64"),
            ("Adam", "0.1, beta1=0.8, name='A'", "float64"),
            ("Ftrl", "0.1, l1_regularization_strength=0.01", "float64"),
            ("ProximalGradientDescent", "0.1, 0.01, 0.02", "float32"),
            ("ProximalAdagrad", "0.1, l2_regularization_strength=0.1", "float32"),
        )
    ),
    *(
        probe(
            f"tf.contrib.layers.{name}",
            f"penalty = tf.contrib.layers.{name}({given})\npenalty(x)",
            f"penalty = tf.keras.regularizers.{now}\npenalty(x)",
            "x = normal(40, 5)",
        )
        for name, given, now in (
            ("l2_regularizer", "scale=0.1 + 0.2", "L2(l2=0.5 * (0.1 + 0.2))"),
            ("l1_l2_regularizer", "0.1", "L1L2(0.1, 0.5)"),
            ("l1_l2_regularizer", "0.1, 0.2", "L1L2(0.1, 0.5 * 0.2)"),
        )
    ),
    probe(
        "tf.contrib.layers.l2_regularizer",
        "penalty = tf.contrib.layers.l2_regularizer(0.1)\npenalty(x)",
        "penalty = tf.keras.regularizers.L2(0.5 * 0.1)\npenalty(x)",
        "x = normal(40, 5)",
        why="Keras rounds the factor to float32, whatever the weights are",
        within=1.1e-7,
        where="keras>=3.14",
    ),
    probe(
        "tf.contrib.layers.l1_regularizer",
        "penalty = tf.contrib.layers.l1_regularizer(0.1, 's')\npenalty(x)",
        "penalty = tf.keras.regularizers.L1(0.1)\npenalty(x)",
        "x = normal(40, 5)",
        why="L1 of Keras before 3.14 is float32, and refuses other dtypes",
        where="keras<3.14",
        raises="(InvalidArgumentError: cannot compute|TypeError: Input 'y' of) '?Mul'?",
    ),
    *(
        probe(
            f"tf.train.{name}",
            f"rate = tf.train.{name}({given})\nrate",
            f"rate = {SCHEDULES}.{now}\nrate(step)",
            STEPS,
        )
        for name, given, now in (
            (
                "exponential_decay",
                "0.1, step, 10, 0.5",
                "ExponentialDecay(0.1, decay_steps=10, decay_rate=0.5)",
            ),
            (
                "exponential_decay",
                "0.1, global_step=step, decay_steps=10, decay_rate=0.5, staircase=True",
                "ExponentialDecay(0.1, decay_steps=10, decay_rate=0.5, staircase=True)",
            ),
            (
                "inverse_time_decay",
                "0.1, step, 10, 0.5",
                "InverseTimeDecay(0.1, decay_steps=10, decay_rate=0.5)",
            ),
            (
                "polynomial_decay",
                "0.1, step, 20, 0.01, power=2.0",
                "PolynomialDecay(0.1, decay_steps=20, end_learning_rate=0.01, power=2.0)",
            ),
            (
                "cosine_decay",
                "learning_rate=0.1, global_step=step, decay_steps=20",
                "CosineDecay(initial_learning_rate=0.1, decay_steps=20)",
            ),
        )
    ),
    probe(
        "tf.train.piecewise_constant",
        "rate = tf.train.piecewise_constant(step, [3, 20], [0.1, 0.2, 0.3])\nrate",
        f"rate = {SCHEDULES}.PiecewiseConstantDecay(boundaries=[3, 20], values=[0.1, 0.2, 0.3])\nrate(step)",
        *("step = np.array(3)", "step = np.array(4)", "step = np.array(25)"),
    ),
    _metric("mean", "[0.1, 2.5, 3.0]", "Mean()", "[0.1, 2.5, 3.0]"),
    *(
        _metric(name, f"{LABELS}, {GUESSES}", made, f"{LABELS}, {GUESSES}")
        for name, made in (
            ("accuracy", "Accuracy()"),
            ("precision", "Precision()"),
            ("recall", "Recall()"),
            ("true_positives", "TruePositives()"),
            ("false_positives", "FalsePositives()"),
            ("true_negatives", "TrueNegatives()"),
            ("false_negatives", "FalseNegatives()"),
        )
    ),
    *(
        _metric(
            name,
            f"labels={SCORES}, predictions=tf.constant([0.5] * 5), name='m'",
            made,
            f"labels={SCORES}, predictions=tf.constant([0.5] * 5)",
        )
        for name, made in (
            ("mean_absolute_error", "MeanAbsoluteError()"),
            ("mean_squared_error", "MeanSquaredError()"),
            ("root_mean_squared_error", "RootMeanSquaredError()"),
        )
    ),
    _metric(
        "auc",
        f"{LABELS}, {SCORES}, curve='PR', num_thresholds=50",
        "AUC(curve='PR', num_thresholds=50)",
        f"{LABELS}, {SCORES}",
    ),
    _metric(
        "mean_iou",
        f"{LABELS}, {GUESSES}, 2, weights=tf.constant([1.0, 2, 1, 1, 3])",
        "MeanIoU(num_classes=2)",
        f"{LABELS}, {GUESSES}, weights=tf.constant([1.0, 2, 1, 1, 3])",
    ),
    _metric(
        "mean_per_class_accuracy",
        f"{LABELS}, {GUESSES}, 2",
        "MeanPerClassAccuracy(num_classes=2)",
        f"{LABELS}, {GUESSES}",
    ),
    probe(
        "tf.summary.scalar",
        "writer = tf.summary.FileWriter(folder)\nsummary = tf.summary.scalar('loss', 0.1)\nwriter.add_summary(tf.Session().run(summary), 7)\nwriter.close()\nevents = list(tf.train.summary_iterator(__import__('glob').glob(folder + '/*')[0]))\n[events[-1].step, events[-1].summary.value[0].tag, np.float32(events[-1].summary.value[0].simple_value)]",
        f"writer = tf.summary.create_file_writer(folder)\nwith writer.as_default(step=7):\n    summary = tf.summary.scalar('loss', 0.1, step=tf.summary.experimental.get_step())\nwriter.close()\n{EVENTS}[events[-1].step, events[-1].summary.value[0].tag, tf.make_ndarray(events[-1].summary.value[0].tensor)[()]]",
        eager="files are Python's",
    ),
    probe(
        "tf.placeholder",
        "x = tf.placeholder(tf.float32, [None, 2])\ny = 2.0 * x + 1.0\ntf.Session().run(y, {x: [[0.1, 0.2]]})",
        "x = tf.TensorSpec(dtype=tf.float32, shape=[None, 2])\ny = tf.function(lambda x: 2.0 * x + 1.0, input_signature=[x])\ny([[0.1, 0.2]])",
        eager="it is one",
    ),
    probe(
        "tf.data.make_one_shot_iterator",
        "dataset = tf.data.Dataset.range(5, 8)\niterator = dataset.make_one_shot_iterator()\nelement = iterator.get_next()\nsess = tf.Session()\n[sess.run(element), sess.run(element)]",
        "dataset = tf.data.Dataset.range(5, 8)\niterator = iter(dataset)\n[next(iterator).numpy(), next(iterator).numpy()]",
        eager="iterators are Python's",
    ),
    probe(
        "tf.data.make_one_shot_iterator",
        "tf.data.make_one_shot_iterator(tf.data.Dataset.range(5, 8)).get_next()",
        "next(iter(tf.data.Dataset.range(5, 8)))",
        eager="iterators are Python's",
    ),
]
