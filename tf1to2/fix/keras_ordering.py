"""Replaces `K.image_dim_ordering() == "th"` by a test of `K.image_data_format()`."""

from tf1to2.fix.edits import Change, Edit
from tf1to2.fix.keras_values import ORDER, reworded

NAMES = {
    "image_dim_ordering": "image_data_format",
    "set_image_dim_ordering": "set_image_data_format",
}
ASKED = ("dim_ordering", "data_format")
"""Keywords, in Keras 1 and today, that accept the value of the call."""


def change(site):
    """Changes a call about the image data format; None if it is not certain.

    Args:
        site: `sites.Site`.
    """
    owner, _, name = site.symbol.rpartition(".")
    if owner != "tf.keras.backend" or name not in NAMES or site.call is None:
        return None
    if site.node.type != "attribute":
        return None
    label = site.node.child_by_field_name("attribute")
    edit = Edit(label.start_byte, label.end_byte, NAMES[name])
    if name.startswith("set_"):
        words = site.arguments.named_children
    else:
        words = _compared(site)
    if words is None:
        return None
    edits = [reworded(site.tree, word, ORDER) for word in words]
    return None if None in edits else Change((edit, *edits))


def _compared(site):
    """Returns the values compared with a call; None if the call has other uses."""
    around = site.call.parent
    if around.type == "keyword_argument":
        name = site.tree.text(around.child_by_field_name("name"))
        return [] if name in ASKED else None
    if around.type != "comparison_operator":
        return None
    those = around.named_children
    signs = {site.tree.text(one) for one in around.children if not one.is_named}
    if len(those) != 2 or not signs <= {"==", "!="}:
        return None
    return [one for one in those if one != site.call]
