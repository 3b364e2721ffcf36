"""What became of every public name of TensorFlow 1.15: a verdict and a proven pair.

Two tables make it: names.tsv, generated (see survey.py), says what is mechanical;
verdicts.tsv, written by hand, says the rest, and wins. To change what the scanner says
of a name, edit verdicts.tsv.
"""

import collections
import dataclasses
import difflib
import functools
import pathlib
import re

VERDICTS = ("same", "renamed", "changed", "rewrite", "removed", "private")
FOLDER = pathlib.Path(__file__).parent
# Parameters that have another name now, wherever both signatures bear it out.
RENAMED = {
    tuple(pair.split("="))
    for pair in """
    keep_dims=keepdims reduction_indices=axis squeeze_dims=axis dimension=axis dim=axis
    reduction_axes=axis concat_dim=axis split_dim=axis seq_dim=seq_axis
    batch_dim=batch_axis keep_prob=rate fn1=true_fn fn2=false_fn targets=labels
    filter=filters kernel=filters preferred_dtype=dtype_hint tensor=input value=input
    string_tensor=input input_tensor=input t=input text=input_text l=l1 l=l2
    alpha=negative_slope instance=obj y=x algorithm=alg Targmax=output_dtype
    value_structure=element_spec virtual_devices=logical_devices rate=dilations
    rates=dilations
    """.split()
}
MESSAGES = {
    "same": "is the same in TensorFlow 2",
    "renamed": "is {replacement} now",
    "changed": "has the same name and another meaning in TensorFlow 2",
    "rewrite": "becomes {replacement}",
    "removed": "is gone; there is {replacement}",
    "private": "is not public: it may change in any release",
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """What there is to say of a name.

    A `changed` name is a false friend in code that was written for TensorFlow 1, and in
    other code just a name; all other verdicts but `same` betray TensorFlow 1.

    Attributes:
        symbol: the name, as in `tf.train.AdamOptimizer`; methods as in `.eval`.
        kind: "func", "class", "const", "module" or "method".
        verdict: one of `VERDICTS`.
        replacement: what to write instead, or "".
        topic: the topic that shows it, or "".
        pair: "topic.name", only the topic, or "".
        what: what changed, in a sentence.
    """

    symbol: str
    kind: str
    verdict: str
    replacement: str = ""
    pair: str = ""
    what: str = ""

    @property
    def topic(self):
        return self.pair.partition(".")[0]

    @property
    def message(self):
        """The finding in one sentence."""
        if self.what:
            return f"{self.symbol}: {self.what}"
        text = MESSAGES[self.verdict]
        if self.verdict == "private" and self.replacement:
            text = "is not public; there is {replacement}"
        text = text.format(replacement=self.replacement or "nothing in its place")
        return f"{self.symbol} {text}"


def lookup(symbol):
    """The entry of a name, or of the nearest name above it.

    `tf.flags.FLAGS.batch_size` is an attribute of `tf.flags.FLAGS`.

    Args:
        symbol: as `tf.nn.relu`; a full name under `tensorflow.python` is private.

    Returns:
        `Entry`, or None for what TensorFlow 1.15 never had.
    """
    if symbol.startswith(PRIVATE):
        return _private("tensorflow" + symbol[2:])
    asked = symbol
    while symbol and symbol != "tf":
        entry = _known(symbol)
        if entry:  # what a module did not have then is new, and not for us to judge
            return entry if symbol == asked or entry.kind != "module" else None
        symbol = symbol.rpartition(".")[0]
    return None


def judge(symbol, call=None):
    """As `lookup`, but for a call that TensorFlow 2 rejects or takes for another.

    What a `same` name has to say in the table, it says of such calls.

    Args:
        symbol: the name.
        call: `names.Call`, or None where the name is only mentioned.
    """
    entry = lookup(symbol)
    if call is None or entry is None or entry.verdict not in ("same", "renamed"):
        return entry
    row = _rows().get(entry.symbol)
    if row is None or not row.parameters_today or entry.symbol != symbol:
        return entry
    before, now = row.parameters.split(","), row.parameters_today.split(",")
    renamed, gone, moved = [], [], []
    for keyword in call.keywords:
        if (
            keyword in before
            and keyword not in now
            and "**" not in row.parameters_today
        ):
            new = next((name for name in now if (keyword, name) in RENAMED), None)
            if new:
                renamed.append(f"write {new}= in place of {keyword}=")
            else:
                gone.append(f"the argument {keyword} is gone")
    for number, name in enumerate(before[: call.positional]):
        at = now[number] if number < len(now) else None
        if not name or name.startswith(("*", "_")):
            break  # the signature does not say what it takes
        if at == name or any(n.startswith("*") for n in now[: number + 1]):
            continue
        if (name, at) not in RENAMED:
            moved.append(f"argument {number + 1} was {name} and is {at or 'none'}")
            break
    if not (renamed or gone or moved):
        return entry
    if entry.what:  # the table says it better than the signatures
        return dataclasses.replace(entry, verdict="renamed")
    verdict = "rewrite" if gone else "renamed" if renamed else "changed"
    what = "; ".join([*renamed, *gone, *moved])
    return dataclasses.replace(entry, verdict=verdict, what=what)


def near(symbol, count=3):
    """Known names that look like `symbol`."""
    return difflib.get_close_matches(symbol, _rows(), count, 0.6)


def symbols():
    """Every name that has an entry of its own, sorted."""
    return sorted({*_rows(), *_verdicts()[0]})


# `tf.contrib.rnn.python.ops.rnn_cell.GLSTMCell` is `tf.contrib.rnn.GLSTMCell`.
DEEP = re.compile(r"^(tf\.contrib\.\w+\.)python\.(?:\w+\.)*(?=\w+$)")
# Not public in any version.
PRIVATE = ("tf.python.", "tf.core.", "tf.tools.", "tf.compiler.", "tf.stream_executor.")


@functools.cache
def _rows():
    """{symbol: line of names.tsv}."""
    Row = collections.namedtuple("Row", "symbol kind today parameters parameters_today")
    with (FOLDER / "names.tsv").open(encoding="utf-8") as lines:
        next(lines)
        rows = (Row(*line.rstrip("\n").split("\t")) for line in lines)
        return {row.symbol: row for row in rows}


@functools.cache
def _verdicts():
    """({name: line}, {prefix: line}) of verdicts.tsv; a prefix ends in ".*" there."""
    exact, wild = {}, {}
    with (FOLDER / "verdicts.tsv").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.startswith("#"):
                pattern, *rest = line.rstrip("\n").split("\t")
                if len(rest) != 4 or rest[0] not in VERDICTS:
                    raise ValueError(
                        f"verdicts.tsv, line {number}: five columns, the second one of "
                        + ", ".join(VERDICTS)
                    )
                table, key = (
                    (wild, pattern[:-2]) if pattern.endswith(".*") else (exact, pattern)
                )
                if key in table:
                    raise ValueError(f"verdicts.tsv, line {number}: {pattern} again")
                table[key] = rest
    return exact, wild


def _private(symbol):
    """The entry of a name that is not public; what it says is of its public name."""
    known, name = _publics(), symbol
    while name and name not in known:
        name = name.rpartition(".")[0]
    if not name:
        return _under(symbol, "module") or _entry(symbol, "module", "private")
    entry = lookup(known[name] + symbol.removeprefix(name))
    replacement = entry.replacement
    if entry.verdict in ("same", "changed"):
        replacement = replacement or known[name]
    what = f"not public; {entry.message}"
    module = _under(symbol, "module")  # whose topic is better than none
    pair = entry.pair or (module.pair if module else "")
    return _entry(name, entry.kind, "private", replacement, pair, what)


@functools.cache
def _publics():
    """{name under tensorflow.python: public name}, of TensorFlow 1.15."""
    with (FOLDER / "privates.tsv").open(encoding="utf-8") as lines:
        return dict(line.rstrip("\n").split("\t") for line in lines)


@functools.cache
def _modules():
    """Every module of the public names: "tf.train" for "tf.train.Saver"."""
    return {
        ".".join(parts[:end])
        for parts in (symbol.split(".") for symbol in _rows())
        for end in range(2, len(parts))
    }


@functools.cache
def _known(symbol):
    exact, wild = _verdicts()
    row = _rows().get(symbol)
    if row:
        kind = row.kind
    elif symbol.startswith("."):
        kind = "method"
    else:
        kind = "module" if symbol in _modules() else "func"
    if symbol in exact:
        return _entry(symbol, kind, *exact[symbol])
    if row is None and (short := DEEP.sub(r"\1", symbol)) in exact:
        return _entry(symbol, kind, *exact[short])
    if row is None and symbol not in _modules():
        # What lay deeper in contrib went with it; elsewhere it may be new.
        gone = symbol.startswith(("tf.contrib.", "tf.examples."))
        return _under(symbol, kind) if gone else None
    if row and row.today == "same":
        return _entry(symbol, kind, "same")
    if row and row.today.startswith("tf."):
        return _entry(symbol, kind, "renamed", row.today)
    return _under(symbol, kind) or _entry(
        symbol, kind, "same" if row is None else "changed"
    )


def _under(symbol, kind):
    """The entry by the longest `module.*` that a name lies under, or None."""
    _, wild = _verdicts()
    prefix = symbol
    while prefix:
        if prefix in wild:
            return _entry(symbol, kind, *wild[prefix])
        prefix = prefix.rpartition(".")[0]
    return None


def _entry(symbol, kind, verdict, replacement="", pair="", what=""):
    return Entry(symbol, kind, verdict, replacement, pair, what)
