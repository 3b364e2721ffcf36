"""guide/false-friends.md: what gives other numbers than a name of TensorFlow 1.

Each row is a `FalseFriend` of the proofs; friends.tsv says which name or line of
TensorFlow 1 it belongs to, and what is taken for it. Names that have another meaning
today, and no such row, are those that verdicts.tsv calls `changed`.
"""

import pathlib
import re
import warnings

from tf1to2.catalog import entries
from tf1to2.common import tsv

TABLE = pathlib.Path(__file__).with_name("friends.tsv")

# Silent, common in code of TensorFlow 1, and large: the first ones to look for.
DANGEROUS = {
    ("operators.same_tensor", "equal values"): "`==` and `in` stand in every program; "
    "a condition that was never true is true now, or is a tensor",
    ("control_flow.choose", "rows of a square matrix"): "of a square matrix nothing "
    "raises, and columns are chosen for rows",
    ("layers.dropout", "a share to keep taken for a rate"): "the argument has kept its "
    "place: 0.9 to keep drops nine of ten, and training goes on",
    ("images.resize", "a ramp"): "every pixel moves; a trained network gets worse, and "
    "no error says so",
    (
        "losses.mean_squared_error",
        "a masked mean, by Keras",
    ): "every batch with padding has another loss and other gradients",
    ("basics.regularized_loss", "the mean squared error"): "a penalty beside a mean "
    "weighs n/2 times as much",
    ("gradients.gradients_by_source", "numbers"): "the gradient is None, and an "
    "optimizer passes over it",
    ("gradients.cross_entropy_gradients", "even odds"): "the name is the same; labels "
    "that are computed are trained, too",
    ("optimizers.fit", "ten steps of RMSProp"): "the first step, shown here, moves "
    "each weight by 3.2e-4 where v1 moves it by 4e-5 to 1.5e-4; ten steps move them "
    "1.4 to 3.7 times as far",
    ("learning_rates.descend", "the rate made once, before the loop"): "the rate never "
    "falls, and the loss still does",
    (
        "checkpoints.train",
        "from a file of TensorFlow 2; tf.train.Checkpoint finds nothing in it",
    ): "it loads nothing and says nothing: training begins with fresh weights",
    ("training_loops.stop_and_resume", "in two runs"): "the first loss after a resume "
    "is right, and all others are not",
    ("rnn.run_lstm", "the weights as they are, in Keras"): "the shapes of the kernels "
    "agree, the order of the gates does not",
    ("parallel.fit_towers", "gradients summed by a Keras optimizer"): "the step is as "
    "many times too large as there are devices",
    ("keras_functions.fit_in_phase", "as not in training"): "a base model that was "
    "frozen so is trained by `fit`, and its losses fall all the same",
}


def named():
    """{(pair, case): (name of TensorFlow 1, what is taken for it)}, in Markdown."""
    return {
        (row["pair"], row["case"]): (row["name"], row["taken"])
        for row in tsv.rows(TABLE)
    }


def tables(found):
    """{name of a table: its text}, from what `docs.proofs` found."""
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
    """The anchor of a name or line of TensorFlow 1."""
    return re.sub(r"\W+", "-", name.replace("==", "equals")).strip("-").lower()


def _dangerous(rows):
    names = named()
    text = [
        "| TensorFlow 1 | what is taken for it | TensorFlow 1 gives | it gives "
        "| why it is dangerous |",
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
        "| TensorFlow 1 | what is taken for it | TensorFlow 1 gives | it gives "
        "| because | proven by |",
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
    """The names that mean something else today and are in no proven row."""
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
    """The first numbers in which a false friend differs: {"left", "naive"}, as text.

    Those come first that differ in what is shown of them. Names and other text are
    shown only where no number differs.
    """
    import numpy as np

    from tf1to2.parity import false_friends
    from tf1to2.parity.compare import same_numbers

    with warnings.catch_warnings():  # a warning that is an error is no answer
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
        raise AssertionError(f"{case} shows no number that differs")
    a, b = min(differing, key=lambda s: (not _are_numbers(s), _look_alike(*s)))
    shown = ["nothing" if side is None else _shown(side) for side in (a, b)]
    if shown[0] == shown[1]:
        far = np.max(np.abs(np.subtract(a, b)))
        shown[1] += f", {far:.1g} away"
    return dict(zip(("left", "naive"), shown, strict=True))


def _telling(a, b, places):
    """The first of these places where it shows, or else the first of all."""
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
    if array.dtype.kind == "f":  # five digits, which no processor changes
        text = np.array2string(
            array, separator=", ", formatter={"float": lambda x: f"{x:.5g}"}
        )
        return text.replace("\n", "")
    value = array.tolist()
    if isinstance(value, bytes) and len(value) > 60:
        return f"{len(value)} bytes"
    return str(value)
