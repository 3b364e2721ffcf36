"""Compares two signatures of one name: the changes, and which calls they affect."""

import ast
import functools
import typing

from tf1to2.catalog.entry import Change

# Old and new names of parameters. A pair counts if one signature has the old name and
# the other the new one.
RENAMED = {
    tuple(pair.split("="))
    for pair in """
    keep_dims=keepdims reduction_indices=axis squeeze_dims=axis dimension=axis dim=axis
    reduction_axes=axis concat_dim=axis split_dim=axis seq_dim=seq_axis
    batch_dim=batch_axis fn1=true_fn fn2=false_fn targets=labels
    filter=filters kernel=filters preferred_dtype=dtype_hint tensor=input value=input
    string_tensor=input input_tensor=input t=input text=input_text l=l1 l=l2
    alpha=negative_slope instance=obj y=x algorithm=alg Targmax=output_dtype
    value_structure=element_spec virtual_devices=logical_devices rate=dilations
    rates=dilations output_dtype=dtype box_ind=box_indices sorted_input=values
    bytes=input_bytes ksizes=sizes t=x msg=message identifier=config
    variable_names_whitelist=variable_names_allowlist time_major=logits_time_major
    tensor=data values=data
    """.split()
}
# Defaults that are written differently and mean the same.
SYNONYMS = {
    ("data_format", "'NHWC'", "None"),
    ("data_format", "'channels_last'", "None"),  # unless ~/.keras has another default
    ("data_format", "'NDHWC'", "None"),
    ("dilations", "[1, 1, 1, 1]", "None"),
    ("dilations", "[1, 1, 1, 1, 1]", "None"),
    ("reduction", "'auto'", "'sum_over_batch_size'"),
    ("axis", "None", "-1"),  # of a softmax
    ("verbose", "1", "'auto'"),
    ("verbose", "0", "'auto'"),
    ("reshuffle_each_iteration", "None", "True"),
    ("cycle_length", "-1", "None"),
    ("block_length", "1", "None"),
    ("padding", "(1, 1, 1)", "((1, 1), (1, 1), (1, 1))"),
}
# Arguments that only label a node of the graph: they do not change numbers.
LABELS = ("name", "shared_name")


class Parameter(typing.NamedTuple):
    """One parameter: `default` is its text, or None if it has no default."""

    name: str
    default: str | None
    place: int | None  # None: by keyword only


@functools.cache
def parameters(signature):
    """Parses a signature: ({name: Parameter}, has `*args`, has `**kwargs`)."""
    found, more, keywords, named, place = {}, False, False, False, 0
    for text in _split(signature[1:-1]):
        if text.startswith("**"):
            keywords = True
        elif text.startswith("*"):
            more, place = more or len(text) > 1, None
        else:
            name, equals, default = text.partition("=")
            if name.startswith("_"):  # a sentinel: later arguments need their keyword
                place, named = None, True
                continue
            default = default if equals and not named else None
            found[name] = Parameter(name, default, place)
            place = None if place is None else place + 1
    return found, more, keywords


def _split(text):
    """Splits a text at the commas outside brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            if letter == quote and text[at - 1] != "\\":
                quote = ""
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


@functools.cache
def differences(before, now):
    """The changes from one signature to the other that may affect a call.

    Args:
        before: the signature of 1.15.5; if it is unknown, "": the result is empty.
        now: today's signature.

    Returns:
        Tuple of `entry.Change`, in the order of the old parameters.
    """
    if not before or not now or before == now:
        return ()
    old, wild, _ = parameters(before)
    new, more, keywords = parameters(now)
    if wild and len(old) == 0:
        return ()  # 1.15.5 does not say what it takes
    found, taken, told = [], set(old), False
    for parameter in old.values():
        name, place = parameter.name, parameter.place
        successor, other = new.get(name), None
        if successor is None:
            other = _successor(parameter, old, new)
            if other:
                found.append(Change("renamed", name, now=other, place=place))
                successor = None if other in old else new[other]
                taken.add(other)
            elif not keywords:
                found.append(Change("gone", name, place=place))
        changed = successor and name not in LABELS and _default(parameter, successor)
        if changed:
            found.append(changed)
        if place is not None and not (told or more):
            at = next((p.name for p in new.values() if p.place == place), None)
            if at is None or at not in (name, other):
                found.append(Change("moved", name, now=at or "", place=place))
                told = True
    found += [
        Change("new", p.name)
        for p in new.values()
        if p.default is None and p.name not in taken
    ]
    return tuple(found)


def _successor(parameter, old, new):
    """Returns the new name of a renamed argument, or None if it is not renamed."""
    name, default, place = parameter
    known = next((n for n in new if (name, n) in RENAMED), None)
    if known or place is None or default is not None:
        return known
    # A required argument, and the required argument in the same position today.
    at = next((p for p in new.values() if p.place == place), None)
    return at.name if at and at.default is None and at.name not in old else None


def _default(parameter, successor):
    name, was, now = parameter.name, parameter.default, successor.default
    if was is None or equal(was, now) or (name, was, now) in SYNONYMS:
        return None  # every call passes a required argument
    if now is None and was == "None":
        return None  # two keywords for one argument: every call had to pass one
    if now is None:
        return Change("required", name, was, successor.name, parameter.place)
    return Change("default", name, was, now, parameter.place)


def equal(one, other):
    """Whether two defaults mean the same: 0 and 0.0, None and False, 'a' and 'A'."""
    if one == other:
        return True
    if other is None:
        return False
    try:
        one, other = ast.literal_eval(one), ast.literal_eval(other)
    except (ValueError, SyntaxError):
        return False
    if isinstance(one, str) and isinstance(other, str):
        return one.lower() == other.lower()
    if (one, other) in ((None, False), (False, None)):
        return True
    if None in (one, other) or str in (type(one), type(other)):
        return False
    return one == other or _scalar(one) == _scalar(other)


def _scalar(value):
    """Reduces a tuple of equal numbers, (2, 2), to 2; keeps other values."""
    if isinstance(value, (tuple, list)) and len(set(value)) == 1:
        return value[0]
    return value


def successors(before, now):
    """{old name: new name} of the arguments that two signatures name differently."""
    return {d.argument: d.now for d in differences(before, now) if d.how == "renamed"}


def passes(call, name, place):
    """Whether a `records.Call` passes the argument `name`, in position `place`."""
    return name in call.keywords or place is not None and place < call.positional


def felt(call, before, now):
    """Lists the differences between two signatures that affect a call.

    Args:
        call: `records.Call`, or None for a mention: then the differences that affect
            every call.
        before, now: the signatures.
    """
    return [d for d in differences(before, now) if _feels(call, d)]


def is_new(call, before, now):
    """Whether a call passes a keyword that only today's signature has."""
    if call is None or not call.keywords or not before or not now:
        return False
    old, _, anything = parameters(before)
    new = parameters(now)[0]
    return not anything and any(k in new and k not in old for k in call.keywords)


def _feels(call, difference):
    how, name, place = difference.how, difference.argument, difference.place
    if call is None:
        return difference.when_left_out
    if how == "moved":
        return place < call.positional
    if how == "new":
        return name not in call.keywords and not call.starred
    if difference.when_left_out:
        return not passes(call, name, place) and not (
            how == "required" and call.starred
        )
    return name in call.keywords
