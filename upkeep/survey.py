"""Makes the tables of all public names of TensorFlow 1.15.5, then and now.

python -m upkeep.survey            writes names.tsv, members.tsv, privates.tsv
python -m upkeep.survey --check    compares with them, writes nothing

The genuine 1.15.5 is inspected under Python 3.7, today's TensorFlow twice, with Keras 3
and with tf_keras, each in a process of its own (see api_walk.py). All columns are facts
from these; judgements are in verdicts.tsv.

names.tsv: symbol; kind; object, the first of several names of one object; signature;
today: "same" (the object of compat.v1), "differs" (another object of that name), "v1"
(only in compat.v1), "gone", or its new name; signature_today, if it differs; tf_keras,
if that differs from Keras 3: "gone", "=" (as in 1.15.5) or its signature; deprecated,
the replacement that 1.15.5 recommended.

members.tsv: class; member, or "" in the line of the class; kind; signature, which in
the line of the class has its bases; today, signature_today, tf_keras as above, but ""
if the class is missing. A class has lines for members that it defines, and for members
that changed in another way than in its base. privates.tsv has the public names for
names that legacy code imports from tensorflow.python.
"""

import collections
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from tf1to2.catalog import facts
from tf1to2.common import output
from tf1to2.parity.recordings import (
    NoGenuineTensorFlow,
    genuine_environment,
    genuine_python,
)
from upkeep import genuine

NAMES = ("symbol", "kind", "object", "signature", "today", "signature_today")
NAMES += ("tf_keras", "deprecated")
MEMBERS = ("class", "member", "kind", "signature", "today", "signature_today")
MEMBERS += ("tf_keras",)
SURVEYED = "2.21"  # the version of today's TensorFlow in the tables


def main(argv=None):
    parser = genuine.parser("survey", __doc__.partition("\n")[0])
    options = parser.parse_args(argv)
    try:
        python = genuine_python(options.environment)
        found, now, legacy = walk(python)
    except NoGenuineTensorFlow as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().rpartition("\n")[2]
        print(f"error: {' '.join(error.cmd[:3])}: {last}", file=sys.stderr)
        return 2
    if not now["version"].startswith(SURVEYED + "."):
        print(
            f"error: the tables are for TensorFlow {SURVEYED}, but {now['version']} is "
            "installed",
            file=sys.stderr,
        )
        return 2
    stale = False
    for name, text in tables(found, now, legacy).items():
        path = facts.FOLDER / name
        if not options.check:
            output.save(path, text)
        elif path.read_text(encoding="utf-8") != text:
            stale = True
            print(f"{name} differs from the installed TensorFlows: run make upkeep")
    if not stale:
        members = sum(len(c["own"]) for c in found["classes"].values())
        print(
            f"{len(found['names'])} names, {len(found['classes'])} classes with "
            f"{members} members of their own, on TensorFlow {found['version']} and "
            f"{now['version']}"
        )
    return int(stale)


def walk(python):
    """Runs api_walk.py on 1.15.5, on today with Keras 3, and with tf_keras."""
    root = pathlib.Path(__file__).parents[1]
    environment = genuine_environment(PYTHONPATH=str(root))
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, n) for n in ("then", "now", "legacy")]
        for interpreter, path, keras in zip(
            (python, sys.executable, sys.executable), paths, ("0", "0", "1")
        ):
            several = paths[:1] if path == paths[0] else [paths[0], path]
            subprocess.run(
                [interpreter, "-m", "upkeep.api_walk", *several],
                check=True,
                env={**environment, "TF_USE_LEGACY_KERAS": keras},
                stderr=subprocess.PIPE,  # TensorFlow's log lines
                text=True,
            )
        return [json.loads(pathlib.Path(path).read_text()) for path in paths]


def tables(found, now, legacy):
    """Makes the text of names.tsv, members.tsv and privates.tsv: {file: text}."""
    first = _first_names(found, now)
    return {
        "names.tsv": _text(NAMES, _names(found, now, legacy, first)),
        "members.tsv": _text(MEMBERS, _members(found, now, legacy, first)),
        "privates.tsv": _text(None, sorted(found["privates"].items())),
    }


def _text(columns, rows):
    file = io.StringIO()
    writer = csv.writer(
        file,
        delimiter="\t",
        quoting=csv.QUOTE_NONE,
        quotechar=None,
        lineterminator="\n",
    )
    if columns:
        writer.writerow(columns)
    writer.writerows(rows)
    return file.getvalue()


def _first_names(found, now):
    """Finds the first name of each symbol's object, and its name today, or ""."""
    groups = collections.defaultdict(list)
    for symbol, name in found["names"].items():
        groups[name["object"] if name["object"] >= 0 else symbol].append(symbol)
    first = {}
    for symbols in groups.values():

        def rank(symbol):
            here = now["names"][symbol]["today"] in ("same", "differs")
            contrib = symbol.startswith("tf.contrib.")
            return (not here, contrib, symbol.count("."), symbol)

        best = min(symbols, key=rank)
        here = "" if rank(best)[0] else best
        first.update((symbol, (best, here)) for symbol in symbols)
    return first


def _names(found, now, legacy, first):
    rows = {}
    for symbol, name in found["names"].items():
        best, here = first[symbol]
        today = now["names"][symbol]["today"]
        text = now["names"][symbol]["signature"]
        if today in ("v1", "gone") and here:
            today, text = here, now["names"][here]["signature"]
        others = legacy["names"][symbol], now["names"][symbol]
        keras = _tf_keras(name["signature"], today, text, *others)
        rows[symbol] = [
            symbol,
            name["kind"],
            best if best != symbol else "",
            name["signature"],
            today,
            text if text != name["signature"] else "",
            keras,
            name["deprecated"],
        ]
    for symbol in found["modules"]:
        if symbol.count("."):
            there = now["modules"][symbol]
            other = legacy["modules"][symbol]
            keras = "" if there == other else "=" if other else "gone"
            today = "same" if there else "gone"
            rows[symbol] = [symbol, "module", "", "", today, "", keras, ""]
    return [rows[symbol] for symbol in sorted(rows)]


def _tf_keras(then, today, text, legacy, now):
    """Fills the column tf_keras of names.tsv: differences from Keras 3."""
    if not {legacy["home"].partition(".")[0], now["home"].partition(".")[0]} & {
        "keras",
        "tf_keras",
    }:
        return ""
    if legacy["today"] in ("v1", "gone"):
        return "gone" if today not in ("v1", "gone") else ""
    if today in ("v1", "gone") or legacy["signature"] != text:
        return "=" if legacy["signature"] == then else legacy["signature"]
    return ""


def _members(found, now, legacy, first):
    classes = found["classes"]
    spelled = {}
    for symbol, name in found["names"].items():
        if name["class"]:
            spelled[name["class"]] = first[symbol][0]
    owner = {key: spelled.get(key, classes[key]["path"]) for key in classes}
    facts = {key: _facts(key, classes, now, legacy) for key in classes}
    votes = collections.defaultdict(collections.Counter)
    for key, known in facts.items():
        for member, fact in known.items():
            votes[_definer(key, member, classes), member][fact] += 1
    told = {}  # {(class, member): (kind, signature, fact)}
    for key in sorted(classes, key=lambda k: (len(classes[k]["mro"]), k)):
        for member in sorted(facts[key].keys() | classes[key]["own"].keys()):
            fact = facts[key].get(member)
            own = classes[key]["own"].get(member)
            if own:
                common = votes[key, member].most_common(1)
                fact = fact or (common[0][0] if common else ("", "", ""))
                told[key, member] = (*own, fact)
            else:
                base = next(b for b in classes[key]["mro"] if (b, member) in told)
                kind, signature, usual = told[base, member]
                if fact != usual:
                    told[key, member] = (kind, signature, fact)
    rows = []
    for key in classes:
        bases = ", ".join(owner[base] for base in classes[key]["mro"])
        at = now["members"].get(key, {"at": ""})["at"]
        if key in spelled or any(k == key for k, _ in told):
            rows.append([owner[key], "", "class", bases, at, "", ""])
    for (key, member), (kind, signature, (today, text, keras)) in told.items():
        text = text if text != signature else ""
        rows.append([owner[key], member, kind, signature, today, text, keras])
    return sorted(rows)


def _facts(key, classes, now, legacy):
    """Compares a class' members with today's: {member: (today, signature, …)}."""
    if key not in now["members"]:
        return {}
    here = now["members"][key]["members"]
    there = legacy["members"].get(key, {"members": here})["members"]
    found = {}
    for base in (key, *classes[key]["mro"]):
        for member, (_, then) in classes[base]["own"].items():
            if member in found:
                continue
            own, text = here.get(member, (False, ""))
            other = there.get(member)
            today = "gone" if member not in here else "same" if own else "differs"
            keras = ""
            if other is None:
                keras = "gone" if member in here else ""
            elif member not in here or other[1] != text:
                keras = "=" if other[1] == then else other[1]
            found[member] = (today, text, keras)
    return found


def _definer(key, member, classes):
    return next(
        base for base in (key, *classes[key]["mro"]) if member in classes[base]["own"]
    )


if __name__ == "__main__":
    sys.exit(main())
