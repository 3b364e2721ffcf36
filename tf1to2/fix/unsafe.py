"""With --unsafe: rewrites calls that a person must review, and marks each line.

The results are those of TensorFlow 1 after the code around the call is ported as its
pair shows; before that, most of these calls raise. probes/table/fix_unsafe.txt proves
each call in ported code.
"""

import typing

from tf1to2.catalog import facts
from tf1to2.fix import arguments, imports, statements
from tf1to2.fix.edits import Change, Edit
from tf1to2.fix.sites import is_deferred

TAKEN = "legacy_numerics"
"""The module that `tf1to2 take` writes: names with TensorFlow 1's arithmetic."""
SCHEDULES = "tf.keras.optimizers.schedules."


class Template(typing.NamedTuple):
    """How a call is rewritten: its new name, and what happens to each argument.

    Attributes:
        target: a name of TensorFlow 2, or of the module `TAKEN`, which needs an import.
        pair: the pair that shows how to port the code around.
        now: the arguments of the target's signature that a call of 1.15.5 may use; ""
            for the signature of 1.15.5.
        renamed, wrapped, dropped, added: as in `arguments.rewritten`; `{tf}` in an
            added text is TensorFlow's name in the file.
        whole: whether the call must be assigned to one name, outside functions.
    """

    target: str
    pair: str
    now: str = ""
    renamed: dict = {}
    wrapped: dict = {}
    dropped: tuple = ()
    added: dict = {}
    whole: bool = False


def _summary(word, now, **renamed):
    return Template(
        f"tf.summary.{word}",
        "summaries.train",
        now,
        renamed,
        added={"step": "{tf}.summary.experimental.get_step()"},
    )


def _schedule(name, pair, now, dropped="global_step"):
    renamed = {"learning_rate": "initial_learning_rate"}
    target = SCHEDULES + name
    return Template(target, f"learning_rates.{pair}", now, renamed, dropped=(dropped,))


RATE = "(initial_learning_rate, decay_steps, "
REGULARIZERS = "tf.keras.regularizers."
PENALTIES = "regularization.contrib_penalties"
HALF = ("0.5 * ", "")  # contrib's L2 is half the sum of squares, Keras' the whole sum
OPTIMIZERS = (
    *("GradientDescent", "Momentum", "Adagrad", "Adadelta", "RMSProp", "Adam"),
    *("Ftrl", "ProximalGradientDescent", "ProximalAdagrad"),
)
CALLS = {
    **{
        f"tf.train.{name}Optimizer": Template(f"{TAKEN}.{name}", "optimizers.fit")
        for name in OPTIMIZERS
    },
    "tf.contrib.layers.l1_regularizer": Template(
        REGULARIZERS + "L1", PENALTIES, "(l1)", {"scale": "l1"}, dropped=("scope",)
    ),
    "tf.contrib.layers.l2_regularizer": Template(
        REGULARIZERS + "L2",
        PENALTIES,
        "(l2)",
        {"scale": "l2"},
        {"scale": HALF},
        ("scope",),
    ),
    "tf.contrib.layers.l1_l2_regularizer": Template(
        REGULARIZERS + "L1L2",
        PENALTIES,
        "(l1, l2)",
        {"scale_l1": "l1", "scale_l2": "l2"},
        {"scale_l2": HALF},
        ("scope",),
        {"l1": "1.0", "l2": "0.5"},
    ),
    "tf.train.exponential_decay": _schedule(
        "ExponentialDecay",
        "exponential_decay",
        RATE + "decay_rate, staircase=False, name=None)",
    ),
    "tf.train.inverse_time_decay": _schedule(
        "InverseTimeDecay",
        "inverse_time_decay",
        RATE + "decay_rate, staircase=False, name=None)",
    ),
    "tf.train.polynomial_decay": _schedule(
        "PolynomialDecay",
        "polynomial_decay",
        RATE + "end_learning_rate=0.0001, power=1.0, cycle=False, name=None)",
    ),
    "tf.train.cosine_decay": _schedule(
        "CosineDecay", "cosine_decay", RATE + "alpha=0.0, name=None)"
    ),
    "tf.train.piecewise_constant": _schedule(
        "PiecewiseConstantDecay",
        "piecewise_constant",
        "(boundaries, values, name=None)",
        "x",
    ),
    "tf.summary.scalar": _summary(
        "scalar", "(name, data, *, step=None)", tensor="data"
    ),
    "tf.summary.histogram": _summary(
        "histogram", "(name, data, *, step=None)", values="data"
    ),
    "tf.summary.image": _summary(
        "image", "(name, data, *, step=None, max_outputs=3)", tensor="data"
    ),
    "tf.summary.audio": _summary(
        "audio",
        "(name, data, sample_rate, *, step=None, max_outputs=3)",
        tensor="data",
    ),
    "tf.summary.text": _summary("text", "(name, data, *, step=None)", tensor="data"),
    "tf.summary.FileWriter": Template(
        "tf.summary.create_file_writer",
        "summaries.train",
        "(logdir)",
        dropped=("graph",),
    ),
    "tf.placeholder": Template(
        "tf.TensorSpec",
        "basics.fed_batches",
        "(shape, dtype=None, name=None)",
        added={"shape": "None"},
        whole=True,
    ),
}
# {function: (class, arguments of the constructor, pair)}; the others go to the update.
METRICS = {
    "mean": ("Mean", (), "averages"),
    "accuracy": ("Accuracy", (), "decisions"),
    "mean_absolute_error": ("MeanAbsoluteError", (), "regression"),
    "mean_squared_error": ("MeanSquaredError", (), "regression"),
    "root_mean_squared_error": ("RootMeanSquaredError", (), "regression"),
    "precision": ("Precision", (), "decisions"),
    "recall": ("Recall", (), "decisions"),
    "true_positives": ("TruePositives", (), "decisions"),
    "false_positives": ("FalsePositives", (), "decisions"),
    "true_negatives": ("TrueNegatives", (), "decisions"),
    "false_negatives": ("FalseNegatives", (), "decisions"),
    "auc": ("AUC", ("num_thresholds", "curve", "summation_method"), "curves"),
    "mean_iou": ("MeanIoU", ("num_classes",), "classes"),
    "mean_per_class_accuracy": ("MeanPerClassAccuracy", ("num_classes",), "classes"),
}
# {name in the module `TAKEN`: its name for `tf1to2 take`}
TAKES = {
    **{name: f"optimizers.{name}" for name in OPTIMIZERS},
    **{name: f"metrics.{name}" for name, _, _ in METRICS.values()},
}
PLAIN = ("identifier", "attribute", "integer", "float", "string")


def call(site):
    """Rewrites a call by the table `CALLS`; None if that is not possible."""
    symbol = next((n for n in facts.aliases(site.symbol) if n in CALLS), None)
    if symbol is None or site.call is None:
        return None
    row, before = CALLS[symbol], facts.fact(symbol).signature
    root = site.spelled("tf") or imports.tensorflow(site.tree)
    needs, text = (), root and root + row.target.removeprefix("tf")
    if row.target.startswith(f"{TAKEN}."):
        needs, text = (row.target,), imports.called(site.tree, row.target)
    if text is None or row.whole and (not site.named() or is_deferred(site.node)):
        return None
    found = [Edit(site.node.start_byte, site.node.end_byte, text)]
    if row.now:
        more = _arguments(site, row, before, root)
        if more is None:
            return None
        found += more
    return _look(site, found, row.pair, needs)


def _arguments(site, row, before, root):
    given = arguments.bound(site, before)
    if given is None or root is None and row.added:
        return None
    added = {name: text.format(tf=root) for name, text in row.added.items()}
    return arguments.rewritten(
        site, given, row.now, row.renamed, added, row.wrapped, row.dropped
    )


def metric(site):
    """Rewrites `value, update = tf.metrics.mean(x)` to a metric object."""
    row = METRICS.get(site.symbol.removeprefix("tf.metrics."))
    if row is None or not site.symbol.startswith("tf.metrics.") or site.call is None:
        return None
    assigned = site.call.parent
    left = assigned.child_by_field_name("left")
    if assigned.type != "assignment" or left is None or left.type != "pattern_list":
        return None
    names = [site.tree.text(one) for one in left.named_children]
    indent = site.tree.indent(assigned)
    given = arguments.bound(site, facts.fact(site.symbol).signature)
    if len(names) != 2 or not all(map(str.isidentifier, names)):
        return None
    if indent is None or given is None:
        return None
    name, made, pair = row
    options = [one for one in given if one.name in made]
    if any(one.value.type not in PLAIN for one in options):
        return None
    taken = "values" if name == "Mean" else "labels, predictions"
    target, now = f"{TAKEN}.{name}", f"({taken}, weights=None)"
    more = arguments.rewritten(site, given, now, dropped=(*made, "name"))
    if more is None:
        return None
    options = (f"{one.name}={site.tree.text(one.value)}" for one in options)
    text = (
        f"{names[0]} = {imports.called(site.tree, target)}({', '.join(options)})"
        f"\n{indent}{names[1]} = {names[0]}.update_state"
    )
    edit = Edit(assigned.start_byte, site.node.end_byte, text)
    return _look(site, [edit, *more], f"metrics.{pair}", (target,))


def takes(changes):
    """Returns the names for `tf1to2 take` that the changes import from `TAKEN`."""
    names = (name.rpartition(".") for one in changes for name in one.imports)
    return frozenset(TAKES[name] for module, _, name in names if module == TAKEN)


def taken(tree):
    """Returns the names for `tf1to2 take` that a file already imports from `TAKEN`."""
    return frozenset(TAKES.get(n, n) for n in imports.imported(tree, TAKEN))


def _look(site, edits, pair, needs=()):
    return Change(tuple(edits), needs, ((edits[0].start, pair),))


UNSAFE = (call, metric, statements.initializer, statements.iterator)
