"""A number of steps beside a Sequence, which Keras 3 does not begin again."""

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
# What makes a Sequence, beside the classes that are made from one.
MAKERS = ("TimeseriesGenerator", "Sequence", "OrderedEnqueuer")
IMAGES = "ImageDataGenerator"  # by its methods alone
FLOWS = re.compile(r"\.flow(_from_\w+)?$")


def kinds(values, called):
    """`BESIDE` of steps that are given beside a Sequence, and are not its length;
    `BEYOND` if both are written as numbers, and there are more steps."""
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
    """The integer that is written, or 0."""
    node = values.followed(node)
    written = "" if isinstance(node, str) else values.text(node)
    return int(written) if written.isdecimal() else 0


def _length(values, fed):
    """The number that the `__len__` of a class of the file's own returns, or 0."""
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
    """The origin of the class whose `flow` a call is, "" if unknown; or None."""
    function = call.child_by_field_name("function")
    if not FLOWS.search(values.text(function)):
        return None
    return values.made_by(function.child_by_field_name("object"))


def _is_its_length(values, steps, fed):
    """Whether the steps are written as the length of what is fed: `len(rows)`."""
    steps = values.followed(steps)
    if isinstance(steps, str):
        return False
    return re.sub(r"\s", "", values.text(steps)) == f"len({values.text(fed)})"
