"""Makes calls.tsv: the names of TensorFlow that the left page of each pair calls.

A pair proves a name only if its left page calls it. Therefore the left pages are
scanned like legacy code: for each pair its function, and all that it uses from its
module and from other left pages. `make upkeep` writes the table; links.py reads it.
"""

import ast
import collections
import functools
import math
import re

from tf1to2.catalog import entries, facts
from tf1to2.pages import topics
from tf1to2.source.names import methods, reader, records

OWN, HELPER = "own", "helper"
DATASET = "tf.data.Dataset"
# Local names of datasets in left pages; the scanner does not report all methods.
DATASETS = re.compile(r"data(set)?\b")


def calls(handed=None):
    """Finds the names that each pair calls: {"topic.pair": {name: `OWN`/`HELPER`}}.

    `HELPER` means that only helpers of the pair's function call the name.

    Args:
        handed: {pair: words in the arguments of its cases}, for pages that get a
            function of a module by its name; see `words`.
    """
    found = {}
    for topic in topics.topics().values():
        for pair in topic.pairs:
            full = f"{topic.name}.{pair}"
            own, whole = _page(topic.name)[pair], _whole(topic.name, pair)
            spelled = handed[full] if handed else ()
            chosen = {f"{m}.{word}" for m in whole.modules for word in spelled}
            called = whole.calls | {name for name in chosen if _known(name)}
            found[full] = {
                name: HELPER if name in whole.calls - own.calls else OWN
                for name in sorted(called)
            }
    return found


def words():
    """Collects the strings in the arguments of each pair's cases. Starts TensorFlow."""
    from tf1to2.parity import providers
    from tf1to2.parity.cases import Raises
    from tf1to2.parity.structure import flatten

    found = collections.defaultdict(set)
    for name in topics.topics():
        proof = providers.provider("parity_tests").load(name)
        for case in proof.cases:
            if not isinstance(case, Raises):
                leaves = flatten([case.args, case.kwargs, case.factory])
                words = {leaf for _, leaf in leaves if isinstance(leaf, str)}
                found[f"{name}.{case.name}"] |= words
    return found


# For a name of a page: its calls, the modules from which it takes functions by name,
# and the names that it needs: (page, name).
_Part = collections.namedtuple("_Part", "calls modules needs")


@functools.cache
def _page(stem):
    """Parses a left page; returns {each name that it defines: its `_Part`}."""
    source = (topics.folder("v1_graph") / (stem + ".py")).read_text("utf-8")
    body = ast.parse(source).body
    uses = collections.defaultdict(set)
    for use in reader.read(source.encode()).uses:
        uses[use.line].add(symbol(use.origin or use.likely))
    defined, imported = {}, {}
    for node in body:
        for name in _bound(node):
            defined.setdefault(name, []).append(node)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("v1_graph."):
            other = node.module.removeprefix("v1_graph.")
            imported |= {a.asname or a.name: (other, a.name) for a in node.names}
    known = {**{name: (stem, name) for name in defined}, **imported}
    parts = {}
    for name, nodes in defined.items():
        called, modules, needs = set(), set(), set()
        for node in nodes:
            decorators = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(d.lineno for d in decorators)])
            for line in range(first, node.end_lineno + 1):
                called |= uses[line]
            inner = list(ast.walk(node))
            modules |= {_taken_by_name(n) for n in inner} - {None}
            called |= {_of_a_dataset(n) for n in inner} - {None}
            words = {n.id for n in inner if isinstance(n, ast.Name)}
            needs |= {known[word] for word in words & set(known)}
        parts[name] = _Part(called, modules, needs - {(stem, name)})
    return parts


def _of_a_dataset(node):
    """The full name of the dataset method that an AST node calls; otherwise None."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    of, name = ast.unparse(node.func.value), node.func.attr
    if name in facts.members(DATASET) and (DATASET in of or DATASETS.match(of)):
        return f"{DATASET}.{name}"
    return None


def _taken_by_name(node):
    """Returns "tf.M" if an AST node is `getattr(tf.M, name)`; otherwise None."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr":
        module, name = map(ast.unparse, node.args[:2])
        if re.fullmatch(r"tf(\.\w+)*", module) and name.isidentifier():
            return module
    return None


def _bound(node):
    """The names that a statement of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.If):  # what `python -m` with `__name__` runs
        return [n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]


def _whole(stem, name):
    """Merges the `_Part` of a left page's function with those of all names it needs."""
    seen, ahead = {}, [(stem, name)]
    while ahead:
        place = ahead.pop()
        if place not in seen:
            seen[place] = _page(place[0])[place[1]]
            ahead += seen[place].needs
    called, modules, _ = zip(*seen.values(), strict=True)
    return _Part(set().union(*called), set().union(*modules), set(seen))


def _known(name):
    """Whether TensorFlow 1.15 had exactly this name."""
    entry = entries.lookup(name)
    return entry is not None and entry.symbol == name


def symbol(origin):
    """Converts the scanner's origin of a name to the catalog's name: "tf.nn.relu"."""
    name = records.public(origin)
    if member := methods.member(name):
        return "." + member[1]  # a method of the result of a call
    return name if name.startswith(".") else records.symbol(name)


def table():
    """The text of calls.tsv: each called name with its pairs, the best pair first.

    Starts TensorFlow.
    """
    known = {pair: _with_owners(called) for pair, called in calls(words()).items()}
    # A whole program shows a name only if no other pair does.
    programs = {pair for pair in known if pair.startswith(topics.WHOLE)}
    shown = {name for pair in set(known) - programs for name in known[pair]}
    shown |= {alias for name in shown for alias in facts.aliases(name)}
    for pair in programs:
        known[pair] = {n: where for n, where in known[pair].items() if n not in shown}
    spread = collections.Counter(name for called in known.values() for name in called)
    weight = {name: math.log(1 + len(known) / count) for name, count in spread.items()}
    lines = ["# The pair that shows a name best is the first.", "name\tpairs"]
    for name in sorted(spread):
        ranked = {}
        for spelling in set(facts.aliases(name)) & set(spread):
            for pair, called in known.items():
                if spelling in called:
                    rank = _centrality(spelling, pair, called, weight)
                    ranked[pair] = max(rank, ranked.get(pair, 0))
        best = sorted(ranked, key=lambda pair: (-ranked[pair], pair))
        lines.append(f"{name}\t{' '.join(best)}")
    return "\n".join(lines) + "\n"


def _with_owners(called):
    """Adds classes of called methods: `tf.train.Server` for `create_local_server`."""
    found = dict(called)
    for name, where in called.items():
        entry = entries.lookup(name)
        if entry and entry.kind == "module":  # a name whose attribute is used
            del found[name]
        if entry and entry.kind in ("const", "func"):  # FLAGS.steps, of FLAGS
            found.setdefault(entry.symbol, found.pop(name))
        while (name := name.rpartition(".")[0]) not in ("", "tf"):
            if _known(name) and entries.lookup(name).kind == "class":
                found.setdefault(name, where)
    return found


def _centrality(name, pair, called, weight):
    """Scores how well a pair illustrates a name, from 0 to 4.5.

    The sum of: the pair is named after it (2), its own lines call it (1), the topic is
    named after it (0.5), there are few other names (up to 1).
    """
    topic, _, title = pair.partition(".")
    words, wanted = _words(name.rpartition(".")[2]), _words(title)
    named = len(words & wanted) / len(words | wanted)
    # fsum: sums differ between Pythons, which would swap pairs of equal rank.
    share = weight[name] / math.fsum(weight[other] for other in called)
    return (
        2 * named
        + (called[name] == OWN)
        + 0.5 * bool(_words(topic) & _words(name))
        + share
    )


def _words(name):
    """Splits a name into lowercase singular words, without "make" and "tf"."""
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    return {re.sub(r"(?<=[^s]{3})s$", "", w.lower()) for w in words} - {"make", "tf"}
