"""`tf1to2 explain`: what became of one name, both sides of its pair, and the proof."""

import json

from tf1to2 import topics
from tf1to2.errors import CommandError
from tf1to2.scan import catalog, names
from tf1to2.view import terminal
from tf1to2.view.page import WAYS


def render(text, width=terminal.WIDTH, colour=False):
    """The explanation of a name.

    Args:
        text: as code has it: `tf.log`, `tensorflow.compat.v1.log`, `.eval`, `log`.
        width: columns of the side-by-side view.
        colour: whether to colour the code.

    Raises:
        CommandError: TensorFlow 1.15 had no such name; with the nearest ones.
    """
    entry = catalog.lookup(_symbol(text))
    if entry is None:
        near = catalog.near(_symbol(text))
        hint = f"did you mean {', '.join(near)}?" if near else "try tf1to2 topics"
        raise CommandError(f"TensorFlow 1.15 has no {text}; {hint}")
    lines = [f"{entry.symbol}: {entry.verdict}"]
    lines.append("  " + entry.message)
    if entry.what and entry.replacement:
        lines.append(f"  write: {entry.replacement}")
    lines.append("")
    known = topics.topics()
    if entry.topic not in known:
        return "\n".join(lines)
    topic, name = topics.find(entry.pair)
    if name is None:
        lines += [
            f"MIGRATION.md, {topic.name}: {topic.lesson}",
            *(f"  tf1to2 diff {topic.name}.{pair}" for pair in topic.pairs),
        ]
        return "\n".join(lines) + "\n"
    lines += [_proof(topic, name), ""]
    return "\n".join(lines) + terminal.side_by_side(topic, name, width, colour)


def _symbol(text):
    if text.startswith("."):
        return text
    text = text.removesuffix("()")
    if text.startswith("tf."):
        text = "tensorflow" + text[2:]
    origin = names.public(text)
    for root in ("tensorflow", "tf"):
        if origin == root or origin.startswith(root + "."):
            return "tf" + origin.removeprefix(root)
    return "tf." + origin


def _proof(topic, name):
    proofs = json.loads((topics.folder("parity_tests") / "proofs.json").read_text())
    proof = proofs.get(topic.name, {}).get(name)
    if not proof:
        return f"{topic.name}.{name}"
    ways = ", ".join(WAYS[way] for way in WAYS if way in proof["ways"])
    bounds = [bound["ulps"] for bound in proof["bounds"]]
    verdict = f"within {max(bounds)} ULP" if bounds else "identical"
    return (
        f"{topic.name}.{name}: {verdict} on 1.15.5, {ways}, in {proof['cases']} cases; "
        f"tf1to2 verify {topic.name}.{name}"
    )
