"""Splits names of variables into role, words, numbers and slot, to compare them.

`net/fc_1/weights/Adam_1` is the second slot of Adam for a kernel in `net`, `dense`,
number 1.
"""

import dataclasses
import functools
import re

# {role of a tensor: its spellings in the last part of a name}.
ROLES = {
    "kernel": "kernel,kernels,w,weight,weights,filter,filters",
    "bias": "bias,biases,b",
    "gamma": "gamma,scale",
    "beta": "beta",
    "moving_mean": "moving mean,running mean",
    "moving_variance": "moving variance,moving var,running variance,running var",
    "embedding": "embedding,embeddings",
    "recurrent_kernel": "recurrent kernel,recurrent weights,recurrent w",
    "depthwise_kernel": "depthwise kernel,depthwise weights,depthwise filter",
    "pointwise_kernel": "pointwise kernel,pointwise weights,pointwise filter",
    "step": "global step,step,steps,iterations,iteration",
    "beta1_power": "beta 1 power",
    "beta2_power": "beta 2 power",
    "learning_rate": "learning rate,lr",
}
# {slot: its names as an attribute of an optimizer}.
SLOTS = {
    "m": "m,momentum,momentums,mom",
    "v": "v,velocity,velocities,rms,ms",
    "vhat": "vhat,v hat",
    "mg": "mg,average gradient,average gradients",
    "accum": "accum,accumulator",
    "update": "accum update,accumulated delta",
    "linear": "linear",
}
# {operation of TensorFlow 1: its slots in order}: `w/Adam`, then `w/Adam_1`.
OPTIMIZERS = {
    "Adam": ["m", "v"],
    "LazyAdam": ["m", "v"],
    "AdamW": ["m", "v"],
    "Momentum": ["m accum"],
    "RMSProp": ["v", "m"],
    "Adagrad": ["accum"],
    "Adadelta": ["accum", "update"],
    "Ftrl": ["accum", "linear"],
    "ExponentialMovingAverage": ["average"],
}
CENTERED = ["v", "mg", "m"]
# Words that do not belong to the name of a slot's variable: owners and lists.
OWNERS = set(
    "adam adamw lazy nadam sgd rmsprop prop adagrad adadelta ftrl momentum optimizer "
    "optimizers opt slot slots".split()
)
LISTS = set("variables vars trainable trained params parameters".split())
PHRASES = [
    (r"(?<=[a-z])_?[123]d(?![a-z])", ""),  # conv2d is not the second conv
    (r"fully_?connected|linear|(?<![a-z])fc(?![a-z])", "dense"),
    (r"batch_?norm(alization)?", "bn"),
    (r"layer_?norm(alization)?", "ln"),
]


def _by_words(table):
    return {
        tuple(words.split()): meaning
        for meaning, spellings in table.items()
        for words in spellings.split(",")
    }


ROLE_WORDS, SLOT_WORDS = _by_words(ROLES), _by_words(SLOTS)


@dataclasses.dataclass(frozen=True)
class Spelling:
    """The parts of a variable's name.

    Attributes:
        text: the name.
        role: the role of the tensor, such as "kernel", or None.
        words, numbers: tuples of the other words and numbers, in order.
        slots: frozenset of the names of the slot; empty for a variable.
    """

    text: str
    role: str | None
    words: tuple
    numbers: tuple
    slots: frozenset = frozenset()


def spell(text, names=(), slot=None):
    """Splits a variable's name into a `Spelling`.

    Args:
        text: name of a variable, or path of attributes.
        names: all other names of the file, to distinguish slots from variables.
        slot: (name of the variable, name of the slot), if the file has both.
    """
    text = re.sub(r":\d+$", "", text)
    if match := re.fullmatch(r"(.+)/\.OPTIMIZER_SLOT/(?:.+/)?(.+)", text):
        slot = match.groups()
    if slot:
        kinds = SLOT_WORDS.get(tuple(atoms(slot[1])), slot[1])
        return _spelled(text, slot[0], frozenset([kinds]))
    variable, _, last = text.rpartition("/")
    made = re.fullmatch(r"(.+?)(?:_(\d+))?", last)
    maker, count = (made[1], int(made[2] or 0)) if made else ("", 0)
    if variable and maker in OPTIMIZERS:
        centered = maker == "RMSProp" and f"{variable}/RMSProp_2" in names
        order = CENTERED if centered else OPTIMIZERS[maker]
        turn, place = divmod(count, len(order))
        # A second optimizer of the same kind has slots of its own.
        kinds = [f"{k}.{turn}" if turn else k for k in order[place].split()]
        return _spelled(text, variable, frozenset([*kinds, f"#{count}"]))
    if variable in names:  # an optimizer with a name of the user's
        return _spelled(text, variable, frozenset([f"{maker}#{count}"]))
    return _of_owner(text) or _spelled(text, text)


def _of_owner(text):
    """Returns the `Spelling` of an optimizer's slot; None if it is not a slot."""
    found = atoms(text)
    if not OWNERS & set(found[:-1]):
        return None
    for size in (2, 1):
        for start in range(len(found) - size, -1, -1):
            kind = SLOT_WORDS.get(tuple(found[start : start + size]))
            rest = found[:start] + found[start + size :]
            owned = OWNERS & set(rest)
            if kind and owned and len(rest) > len(owned):
                return _parts(text, rest, frozenset([kind]))
    if {"slot", "slots"} & set(found) and found[-1].isdecimal():
        return _parts(text, found[:-1], frozenset([f"#{int(found[-1])}"]))
    return None


def _spelled(text, variable, slots=frozenset()):
    found = atoms(variable, parts=True)
    return _parts(text, found, slots)


def _parts(text, found, slots):
    """Makes a `Spelling` from the parts of a name; finds the role in the last part."""
    if found and isinstance(found[0], str):
        found = [found]
    role, rest = None, [list(part) for part in found]
    for part in reversed(rest):
        if not all(word.isdecimal() for word in part):
            role = _take_role(part)
            break
    flat = [word for part in rest for word in part]
    if slots:
        flat = [word for word in flat if word not in OWNERS | LISTS]
    return Spelling(
        text,
        role,
        tuple(word for word in flat if not word.isdecimal()),
        tuple(int(word) for word in flat if word.isdecimal()),
        slots,
    )


def _take_role(part):
    for size in (3, 2, 1):
        for start in range(len(part) - size, -1, -1):
            role = ROLE_WORDS.get(tuple(part[start : start + size]))
            if role:
                del part[start : start + size]
                return role
    return None


@functools.cache
def atoms(text, parts=False):
    """Splits a name into lower-case words and numbers, by part if `parts` is true."""
    found = []
    for part in text.split("/"):
        # The file escapes a slash or a dot in a name.
        part = re.sub(r"\.(.)", lambda m: "_" if m[1] == "S" else m[1], part)
        part = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", part).lower()
        for pattern, word in PHRASES:
            part = re.sub(pattern, word, part)
        found.append(re.findall(r"[0-9]{1,18}|[^\W\d_]+", part))
    return found if parts else [word for part in found for word in part]


def same_word(one, other):
    """Whether two words are equal, or one abbreviates the other."""
    return one == other or (
        min(len(one), len(other)) >= 3
        and (one.startswith(other) or other.startswith(one))
    )
