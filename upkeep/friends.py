"""Makes guide/false-friends.md: obvious replacements that give other numbers.

Each row is a `FalseFriend` of the proofs; friends.tsv has the name or line of
TensorFlow 1 that it belongs to, and its obvious replacement. Other names whose meaning
has changed are those with the verdict `changed` in verdicts.tsv.
"""

import pathlib
import re
import warnings

from tf1to2.catalog import entries
from tf1to2.common import tsv

TABLE = pathlib.Path(__file__).with_name("friends.tsv")

# Silent, large, and common in code of TensorFlow 1: look for these first.
DANGEROUS = {
    ("operators.same_tensor", "equal values"): "every program uses `==` and `in`; a "
    "condition that was always false can now be true, or a tensor",
    ("control_flow.choose", "rows of a square matrix"): "a square matrix raises no "
    "error: columns are chosen instead of rows",
    ("layers.dropout", "a share to keep taken for a rate"): "the argument is at the "
    "same position: with 0.9, nine of ten are dropped, and training goes on",
    ("images.resize", "a ramp"): "every pixel moves; a trained network gets worse, "
    "without an error",
    (
        "losses.mean_squared_error",
        "a masked mean, by Keras",
    ): "every batch with padding has another loss and other gradients",
    ("basics.regularized_loss", "the mean squared error"): "relative to a mean, the "
    "penalty is n/2 times as large",
    ("gradients.gradients_by_source", "numbers"): "the gradient is None, and an "
    "optimizer skips it",
    ("gradients.cross_entropy_gradients", "even odds"): "the name is the same; labels "
    "that are computed get gradients, too",
    ("optimizers.fit", "ten steps of RMSProp"): "the first step, shown here, changes "
    "each weight by 3.2e-4, in v1 by 4e-5 to 1.5e-4; after ten steps the change is 1.4 "
    "to 3.7 times as large",
    ("learning_rates.descend", "the rate made once, before the loop"): "the rate stays "
    "constant, but the loss still falls",
    (
        "checkpoints.train",
        "from a file of TensorFlow 2; tf.train.Checkpoint finds nothing in it",
    ): "it loads nothing, without an error: training begins with new weights",
    ("training_loops.stop_and_resume", "in two runs"): "after a resume, the first loss "
    "is right, but all later losses differ",
    ("rnn.run_lstm", "the weights as they are, in Keras"): "the shapes of the kernels "
    "agree, but the order of the gates does not",
    ("parallel.fit_towers", "gradients summed by a Keras optimizer"): "the step is too "
    "large by a factor, the number of devices",
    ("keras_functions.fit_in_phase", "as not in training"): "`fit` trains a base model "
    "that was frozen in this way, and the losses still fall",
}


def named():
    """Reads {(pair, case): (TensorFlow 1 name, obvious replacement)}, in Markdown."""
    return {
        (row["pair"], row["case"]): (row["name"], row["taken"])
        for row in tsv.rows(TABLE)
    }


def tables(found):
    """Makes the tables of false friends: {name: text}, from `docs.proofs`' result."""
    rows = {
        (f"{topic}.{name}", friend["slug"]): friend
        for topic, pairs in found.items()
        for name, pair in pairs.items()
        for friend in pair["false friends"]
    }
    return {
        "dangerous friends": _dangerous(rows),
        "false friends": _all(rows),
        "changed names": _changed(),
    }


def anchor(name):
    """Makes the HTML anchor for a name or a line of TensorFlow 1."""
    return re.sub(r"\W+", "-", name.replace("==", "equals")).strip("-").lower()


def _dangerous(rows):
    names = named()
    text = [
        "| TensorFlow 1 | obvious replacement | TensorFlow 1 gives "
        "| the replacement gives | why it is dangerous |",
        "|---|---|---|---|---|",
    ]
    for key, reason in DANGEROUS.items():
        name, taken = names[key]
        gives = _numbers(rows[key])
        text.append(f"| [{name}](#{anchor(name)}) | {taken} | {gives} | {reason} |")
    return "\n".join(text)


def _all(rows):
    names = named()
    text = [
        "| TensorFlow 1 | obvious replacement | TensorFlow 1 gives "
        "| the replacement gives | because | proven by |",
        "|---|---|---|---|---|---|",
    ]
    for key in sorted(rows, key=lambda key: anchor(names[key][0])):
        name, taken = names[key]
        topic, _, pair = key[0].partition(".")
        text.append(
            f'| <a id="{anchor(name)}"></a>{name} | {taken} | {_numbers(rows[key])} '
            f"| {rows[key]['because']} | [{topic}.{pair}](guide/{topic}.md) |"
        )
    return "\n".join(text)


def _numbers(row):
    return " | ".join(_cell(row[side]) for side in ("left", "naive"))


def _cell(text):
    fence = "``" if "`" in text else "`"
    return fence + text.replace("|", "\\|") + fence


def _changed():
    """Makes the table of names whose meaning changed, with no proven false friend."""
    known = {
        part for name, _ in named().values() for part in re.findall(r"tf[\w.]+", name)
    }
    text = ["| TensorFlow 1 | what changed | write |", "|---|---|---|"]
    for symbol in entries.symbols():
        entry = entries.lookup(symbol)
        if entry.verdict == "changed" and symbol not in known:
            write = f"`{entry.form}`" if entry.form else entry.becomes
            cells = (entry.what or entry.message, write)
            cells = [cell.replace("|", "\\|") for cell in cells]
            text.append(f"| `{symbol}` | {cells[0]} | {cells[1]} |")
    return "\n".join(text)


def numbers(proof, case):
    """Formats the first values where a false friend differs: {"left", "naive"}.

    Numbers that differ in the digits shown come first. Names and other text are shown
    only if no number differs.
    """
    import numpy as np

    from tf1to2.parity import false_friends
    from tf1to2.parity.compare import same_numbers

    with warnings.catch_warnings():  # a warning that became an error is not an answer
        warnings.simplefilter("ignore")
        left, naive = false_friends.both(proof, case, case.bindings()[0])
    if isinstance(naive, Exception):
        first = next(iter(left.values()))
        return {"left": _shown(first), "naive": type(naive).__name__}
    differing = []
    for path in dict.fromkeys([*left, *naive]):
        a, b = left.get(path), naive.get(path)
        if path == "structure":
            continue
        if a is None or b is None or a.shape != b.shape:
            differing.append((a, b))
            continue
        differs = ~np.atleast_1d(same_numbers(a, b))
        if differs.any():
            index = ... if a.size <= 6 else _telling(a, b, np.argwhere(differs))
            differing.append((a[index], b[index]))
    if not differing:
        raise AssertionError(f"{case}: no number differs in the digits shown")
    a, b = min(differing, key=lambda s: (not _are_numbers(s), _look_alike(*s)))
    shown = ["nothing" if side is None else _shown(side) for side in (a, b)]
    if shown[0] == shown[1]:
        far = np.max(np.abs(np.subtract(a, b)))
        shown[1] += f", {far:.1g} away"
    return dict(zip(("left", "naive"), shown, strict=True))


def _telling(a, b, places):
    """Finds the first place where `a` and `b` print differently, or `places[0]`."""
    places = [tuple(place) for place in places[:1000]]
    return next((p for p in places if not _look_alike(a[p], b[p])), places[0])


def _look_alike(a, b):
    return a is not None and b is not None and _shown(a) == _shown(b)


def _are_numbers(sides):
    import numpy as np

    return all(s is not None and np.asarray(s).dtype.kind in "fiub" for s in sides)


def _shown(array):
    import numpy as np

    array = np.asarray(array)
    if array.size > 6:
        return "an array of shape " + str(list(array.shape))
    if array.dtype.kind == "f":  # five digits are the same on all processors
        text = np.array2string(
            array, separator=", ", formatter={"float": lambda x: f"{x:.5g}"}
        )
        return text.replace("\n", "")
    value = array.tolist()
    if isinstance(value, bytes) and len(value) > 60:
        return f"{len(value)} bytes"
    return str(value)
