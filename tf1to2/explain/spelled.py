"""Finds the full name of TensorFlow 1 for a spelling in a program or a question."""

import re

from tf1to2.catalog import entries, facts
from tf1to2.explain import suggest
from tf1to2.pages import library
from tf1to2.source.names import records

NETS = "tf.contrib.slim.nets"
ALIASES = {
    "FLAGS": "tf.flags.FLAGS",
    "K": "tf.keras.backend",
    "rnn_cell": "tf.nn.rnn_cell",
    "tfe": "tf.contrib.eager",
    **{
        "nets": NETS,
        "resnet_v1": f"{NETS}.resnet_v1",
        "resnet_v2": f"{NETS}.resnet_v2",
    },
    **{name: f"{NETS}.{name}" for name in ("alexnet", "inception", "overfeat", "vgg")},
    "resnet_utils": f"{NETS}.resnet_utils",
}
"""{alias in programs: module}.

A module of contrib keeps its name, or gets the prefix `contrib_`: `import
tensorflow.contrib.slim as slim`.
"""

ARGUMENT = re.compile(r"(\w+)=(?!=)\S*")
"""An argument as calls write it: `keep_dims=True`."""

BACKEND = re.compile(r"^tf\.(contrib\.)?keras\.(api\.keras\.)?backend\.")
"""Functions with the name of a method that is much more common: `eval`."""

EARLY = {"tf.nn.seq2seq": "tf.contrib.legacy_seq2seq"}
"""{module of TensorFlow before 1.0: module in 1.x}."""


def symbol(text):
    """Expands a spelling to a full name, which may not exist in TensorFlow 1.

    Args:
        text: `tf.log`, `tensorflow.compat.v1.log`, `.eval`, `log`, `slim.conv2d`.
    """
    if text.startswith("."):
        return text.removesuffix("()")
    text = text.removesuffix("()")
    beside = text.replace("tensorflow_hub.", "hub.", 1)
    if not beside.startswith("tf.") and entries.is_listed(beside):
        return beside  # a name of another package
    if text.startswith("tf."):
        text = "tensorflow" + text[2:]
    origin = records.public(text)
    for root in ("tensorflow", "tf"):
        if origin == root or origin.startswith(root + "."):
            module, dot, name = ("tf" + origin.removeprefix(root)).rpartition(".")
            return EARLY.get(module, module) + dot + name
    if library.find(text):
        return f"tf.{origin}"
    if net := re.fullmatch(r"(resnet_v[12]|vgg)_(\d+|a)|(alexnet)_v2", origin):
        return f"{NETS}.{net[1] or net[3]}.{origin}"
    alias, _, rest = origin.partition(".")
    module = ALIASES.get(alias, f"tf.contrib.{alias.removeprefix('contrib_')}")
    return next(filter(_is_name, [f"tf.{origin}", f"{module}.{rest}"]), f"tf.{origin}")


def by_itself(word):
    """Returns the methods with this name, or [] if a function or class has it, too."""
    if not word.isidentifier():
        return []
    found = suggest.named(word)
    if any(not (_method(one) or BACKEND.search(one)) for one in found):
        return []
    return [*filter(_method, suggest.members(f".{word}"))]


def likely(text):
    """Finds the full names for a short name: one object, or several methods.

    Args:
        text: `replica_device_setter`, `sess.partial_run`.
    """
    owner, _, name = text.rpartition(".")
    if owner:
        return suggest.of_class(owner.rpartition(".")[2], name)
    found = suggest.named(name)
    exact = [one for one in found if one.endswith(f".{name}")]
    ours = [one for one in exact if one.startswith("tf.keras.")]
    found = (ours if name[:1].isupper() else exact) or exact or found
    return found[:1] if len({facts.aliases(one)[0] for one in found}) == 1 else []


def _method(symbol):
    fact = facts.member(*symbol.rpartition(".")[::2])
    return fact and fact.kind == "method"


def _is_name(symbol):
    return symbol.count(".") > 1 and (
        suggest.exists(symbol) or suggest.left_early(symbol)
    )
