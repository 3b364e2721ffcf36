"""Makes the plan of a conversion from a map, and finds tensors without a place."""

import collections
import dataclasses
import math
import re

from tf1to2.checkpoint.casting import Loss
from tf1to2.checkpoint.plan import Move, Plan
from tf1to2.checkpoint.stored import Tensor
from tf1to2.common.errors import CommandError
from tf1to2.common.words import nearest
from tf1to2.matching import automatic

COUNTER = (
    "save_counter"  # Checkpoint counts its files in it; the program does not use it
)


def make_plan(source, mapping, like=None, names=None):
    """Makes the plan that accounts for every tensor of the source and the result.

    Args:
        source: Checkpoint.
        mapping: as `read_map` returns it.
        like: Checkpoint, the template, or None.
        names: {old name: name in the result}, or None.

    Returns:
        Plan.

    Raises:
        CommandError: the template is of another format, or cannot be read.
    """
    if like and like.format != mapping["format"]:
        raise CommandError(
            f'{like.path} has the format "{like.format}", but the map says '
            f'"{mapping["format"]}"'
        )
    plan = Plan(source, like, mapping)
    _drop(plan)
    _move(plan)
    for name, entry in mapping["new"].items():
        if entry != "" and not _is_pattern(name, like.tensors if like else ()):
            plan.moves.append(_new(plan, name, entry))
    if mapping["auto"]:
        _match(plan, names or {})
    _fill(plan)
    _check_sources(plan)
    _check_targets(plan)
    plan.moves.sort(key=lambda move: move.to)
    return plan


def _is_pattern(name, tensors):
    return "*" in name and name not in tensors


def _matcher(pattern):
    """The regular expression of a pattern: a star matches anything."""
    return re.compile("(.*)".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def _drop(plan):
    said = plan.mapping["tensors"]
    dropped = set()
    for pattern in plan.mapping["drop"]:
        found = {pattern} & set(plan.source.tensors)
        if found & set(said):
            plan.problem("mapped and dropped", pattern)
        elif not found and "*" in pattern:
            match = _matcher(pattern).fullmatch
            found = {name for name in plan.source.tensors if match(name)}
            if not found:
                plan.problem("dropped, but not in the source", pattern)
            found -= set(said)  # an entry for one name comes before a pattern
        elif not found:
            plan.problem("dropped, but not in the source", pattern)
        dropped |= found
    plan.dropped = sorted(dropped)


def _move(plan):
    tensors, said = plan.source.tensors, plan.mapping["tensors"]
    patterns = {}
    for name, entry in said.items():
        if name in tensors:
            if entry != "":
                plan.moves.append(_moved(plan, name, entry))
        elif "*" in name:
            patterns[name] = (_matcher(name), entry)
        else:
            plan.problem("mapped, but not in the source", _near(name, tensors))
    used, free = set(), set(tensors) - set(said) - set(plan.dropped)
    for name in sorted(free) if patterns else ():
        found = {p: m for p, (r, _) in patterns.items() if (m := r.fullmatch(name))}
        used.update(found)
        if len(found) > 1:
            plan.problem("mapped by several patterns", f"{name}: {', '.join(found)}")
        elif found:
            ((pattern, match),) = found.items()
            entry = patterns[pattern][1]
            if entry != "":
                stars = iter(match.groups())
                to = re.sub(r"\*", lambda _, stars=stars: next(stars), entry["to"])
                plan.moves.append(_moved(plan, name, {**entry, "to": to}))
    for pattern in sorted(set(patterns) - used):
        plan.problem("mapped, but not in the source", pattern)


def _moved(plan, name, entry):
    tensor = plan.source.tensors[name]
    move = Move(source=name, **entry)
    shape, dtype = tensor.shape, move.dtype or tensor.dtype
    wrong = dtype != tensor.dtype and "string" in (dtype, tensor.dtype)
    if move.transpose is not None:
        wrong |= sorted(move.transpose) != list(range(len(shape)))
        shape = () if wrong else tuple(shape[axis] for axis in move.transpose)
    if move.reshape is not None:
        wrong |= math.prod(move.reshape) != math.prod(shape)
        shape = move.reshape
    line = f"{name}, {tensor}: {move.changes()}"
    if wrong or not all(move.to.split("/")):
        plan.problem("impossible", line if wrong else f"{name}: to {move.to!r}")
        return move
    try:
        move = move.tried(plan.source)
    except (Loss, ValueError, MemoryError) as error:
        plan.problem("not possible in this dtype", f"{line}: {error}")
    return dataclasses.replace(move, result=Tensor(move.to, dtype, shape))


def _new(plan, name, entry):
    if entry == "like":
        if plan.like is None or name not in plan.like.tensors:
            plan.problem('"like", but not in the template', name)
            return Move(name, given="like")
        return Move(name, given="like", result=plan.like.tensors[name])
    array, given = entry["array"], entry["given"]
    result = Tensor(name, given["dtype"], array.shape)
    return Move(name, value=array, given=given, result=result)


def _match(plan, names):
    """Matches the tensors without an entry in the map by similar names."""
    taken = {move.to for move in plan.moves}
    moved = {move.source for move in plan.moves}
    others, targets = {}, {}
    if plan.like:
        others, targets = _named(plan), dict(plan.like.tensors)
    spelled = {text: name for name, texts in others.items() for text in texts}
    for old, new in names.items():
        if plan.like and new not in targets:
            new = spelled.get(
                new, new
            )  # `new` may be the name of a variable, not its path
        if plan.like and new not in targets:
            plan.problem("named, but not in the template", _near(new, targets))
            continue
        targets.setdefault(new, None)
        others.setdefault(new, []).insert(0, old)
    sources = {
        name: tensor
        for name, tensor in plan.source.tensors.items()
        if name not in moved and name not in plan.dropped
    }
    sources = automatic.items(sources, plan.source.spellings())
    targets = automatic.items(targets, others)
    targets = [item for item in targets if item.name not in taken]
    found, plan.near, plan.unlike = automatic.match(sources, targets)
    for name, (to, why) in found.items():
        tensor = plan.source.tensors[name]
        result = Tensor(to, tensor.dtype, tensor.shape)
        plan.moves.append(Move(to, name, result=result, why=why))
    if not plan.like:
        _name_slots(plan)
        filled = {move.to for move in plan.moves}
        for old in sorted(old for old, new in names.items() if new not in filled):
            tensors = plan.source.tensors
            plan.problem("named, but not in the source", _near(old, tensors))
    elif COUNTER in plan.like.tensors and COUNTER not in taken | set(found):
        plan.moves.append(_new(plan, COUNTER, "like"))


def _named(plan):
    """Returns the spellings of the template's tensors, without a name that misleads.

    A variable without a name is called `Variable`, in the template, too. If the source
    has others without a name and of its shape, it can be any of them.
    """
    tensors, spellings = plan.source.tensors, plan.like.spellings()
    alike = [n for n in tensors if re.fullmatch(r"Variable(_\d+)?", n)]
    if len({str(tensors[name]) for name in alike}) == len(alike):
        return spellings
    return {
        key: [t for t in texts if t != "Variable"] for key, texts in spellings.items()
    }


def _name_slots(plan):
    """Moves the slots of matched variables: w/Adam to new/w/Adam."""
    if plan.format != "names" or plan.source.format != "names":
        return
    places = {move.source: move.to for move in plan.moves if move.why}
    for name in plan.near:
        variable, _, slot = name.rpartition("/")
        if variable in places:
            tensor = plan.source.tensors[name]
            to = f"{places[variable]}/{slot}"
            result = Tensor(to, tensor.dtype, tensor.shape)
            plan.moves.append(Move(to, name, result=result, why="slot of its variable"))


def _fill(plan):
    """Applies the patterns in the map's `new` to names that no other entry fills."""
    tensors = plan.like.tensors if plan.like else {}
    for pattern, entry in plan.mapping["new"].items():
        if entry == "" or not _is_pattern(pattern, tensors):
            continue
        filled = {move.to for move in plan.moves}
        match = _matcher(pattern).fullmatch
        found = [name for name in tensors if match(name)]
        if not found:
            plan.problem('"like", but not in the template', pattern)
        plan.moves += [_new(plan, n, entry) for n in found if n not in filled]


def _check_sources(plan):
    accounted = {*plan.dropped, *(move.source for move in plan.moves)}
    tensors = plan.source.tensors
    plan.open = [name for name in tensors if name not in accounted]
    for name in plan.open:
        line = f"{name}  {tensors[name]}"
        if name in plan.unlike and plan.like:
            other = plan.unlike[name]
            line += f"  ({other} is {plan.like.tensors[other]})"
        elif name in plan.near:
            line += f"  ({_some(plan.near[name])})"
        plan.problem("unaccounted for in the source", line)


def _some(names):
    if not names:
        return "it fits no place that is left: drop it?"
    return (
        "could be "
        + " or ".join(names[:3])
        + (f", {len(names)} in all" if names[3:] else "")
    )


def _check_targets(plan):
    counts = collections.Counter(move.to for move in plan.moves)
    for name in sorted(name for name, count in counts.items() if count > 1):
        plan.problem("filled twice", name)
    if plan.like is not None:
        tensors = plan.like.tensors
        asked = [name for name, entry in plan.mapping["new"].items() if entry == ""]
        for name in sorted({*counts, *asked} - set(tensors)):
            plan.problem("not in the template", _near(name, tensors))
        plan.unfilled = sorted(set(tensors) - set(counts))
        for name in plan.unfilled:
            plan.problem("unfilled in the template", f"{name}  {tensors[name]}")
        for move in plan.moves:
            wanted, result = tensors.get(move.to), move.result
            if wanted and result and str(wanted) != str(result):
                line = f"{move.to}: {result}, but {wanted} in the template"
                plan.problem("with another dtype or shape than in the template", line)
        return
    plan.unfilled = [
        name
        for name, entry in plan.mapping["new"].items()
        if entry == "" and name not in counts
    ]
    for name in plan.unfilled:
        plan.problem("new, but without a value", name)
    if plan.format == "objects":
        parents = {
            "/".join(p[:i])
            for n in counts
            if (p := n.split("/"))
            for i in range(1, len(p))
        }
        for name in counts:
            if re.search(r"(^|/)\.(ATTRIBUTES|OPTIMIZER_SLOT)(/|$)", name):
                plan.problem("not a path of attributes (give --like)", name)
            if name in parents:
                plan.problem("a tensor, but also an object that has tensors", name)


def _near(name, known):
    hint = nearest(name, known, 0.6)
    return f"{name} ({hint})" if hint else name
