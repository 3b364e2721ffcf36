"""Finds a number of steps for a Sequence: Keras 3 does not restart the Sequence."""

import re

from tf1to2.source.names import owners, records

STEPS = {
    "fit": ("steps_per_epoch", "validation_steps"),
    "fit_generator": ("steps_per_epoch", "validation_steps"),
    "evaluate": ("steps",),
    "evaluate_generator": ("steps",),
    "predict": ("steps",),
    "predict_generator": ("steps",),
}
NAMES = tuple(STEPS)
BESIDE, BEYOND = "[beside a Sequence]", "[beyond a Sequence]"
# Classes whose objects are a Sequence; classes derived from Sequence also count.
MAKERS = ("TimeseriesGenerator", "Sequence", "OrderedEnqueuer")
IMAGES = "ImageDataGenerator"  # its methods `flow…` make a Sequence
FLOWS = re.compile(r"\.flow(_from_\w+)?$")


def kinds(values, called):
    """Returns `BEYOND` if steps exceed the Sequence, `BESIDE` if they may differ.

    `BEYOND` if both numbers are known, and there are more steps than batches.
    """
    found = []
    for steps in STEPS[called.name]:
        if steps == "validation_steps":
            given = called.keywords.get(steps)
            fed = called.keywords.get("validation_data")
        else:
            place = 1 if called.name.endswith("_generator") else None
            given, _ = called.get(steps, place)
            fed = called.get("x", 0)[0] or called.keywords.get("generator")
        if given is None or fed is None or given.type == "none":
            continue
        if _is_sequence(values, fed) and not _is_its_length(values, given, fed):
            beyond = _number(values, given) > _length(values, fed) > 0
            found.append((steps, BEYOND if beyond else BESIDE))
    return found


def _number(values, node):
    """Returns the integer value of an expression; 0 if it is not an integer literal."""
    node = values.followed(node)
    written = "" if isinstance(node, str) else values.text(node)
    return int(written) if written.isdecimal() else 0


def _length(values, fed):
    """Returns the literal length from a Sequence's `__len__`; 0 if it is unknown."""
    made = values.followed(fed)
    function = made.child_by_field_name("function")
    owner = owners.definition(values, function)
    if owner is None or owner.type != "class_definition":
        return 0
    method = owners.own_method(values, owner, "__len__")
    last = method and method.child_by_field_name("body").named_children[-1]
    if not last or last.type != "return_statement" or not last.named_children:
        return 0
    return _number(values, last.named_children[0])


def _is_sequence(values, node):
    node = values.followed(node)
    if isinstance(node, str) or node.type != "call":
        return False
    maker = flow_of(values, node)
    if maker is not None:
        return maker.endswith(IMAGES)
    made = values.made_by(node)
    public = records.public(made.removeprefix("~"))
    if made.startswith("~"):
        return public.startswith(f"{owners.KERAS}utils.Sequence")
    return public.startswith(owners.KERAS) and public.rpartition(".")[2] in MAKERS


def flow_of(values, call):
    """Returns the class of `x` in `x.flow(…)`: "" if unknown, None for other calls."""
    function = call.child_by_field_name("function")
    if not FLOWS.search(values.text(function)):
        return None
    return values.made_by(function.child_by_field_name("object"))


def _is_its_length(values, steps, fed):
    """Whether the number of steps is the length of the input: `len(rows)`."""
    steps = values.followed(steps)
    if isinstance(steps, str):
        return False
    return re.sub(r"\s", "", values.text(steps)) == f"len({values.text(fed)})"
