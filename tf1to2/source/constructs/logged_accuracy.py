"""`history.history["acc"]`, `logs.get("val_acc")`: keys that Keras renamed.

`compile(metrics=["accuracy"])` logged "acc" in tf.keras of 1.15 and in Keras up to 2.2;
today it logs "accuracy". `metrics=["acc"]` logs "acc" then and now.
"""

import re

from tf1to2.source.names import inspected

KEY = re.compile(
    rb"\b(logs|\w*history|\w*hist)(?:\.history)?(?:\[|\.get\()\s*([\"'])(?:val_)?acc\2"
)
BY_NAME = re.compile(rb"metrics\s*=\s*[\[(][^\])]*[\"']acc[\"']")
WORDS = (b"acc'", b'acc"')
ACC = (("*", "[acc]"),)
LOGS = "tensorflow.keras.callbacks.Callback.on_epoch_end"
HISTORY = "tensorflow.keras.callbacks.History"


def uses(values):
    """Yields the reads of "acc" and "val_acc"."""
    source = values.source
    if BY_NAME.search(source.source):
        return
    for place in KEY.finditer(source.source):
        node = source.root.descendant_for_byte_range(place.end() - 1, place.end())
        while node is not None and node.type not in ("subscript", "call"):
            node = node.parent
        if node is not None and node.start_byte <= place.start():
            origin = LOGS if place[1] == b"logs" else HISTORY
            yield inspected.Found(node, origin, kinds=ACC, by_kind=True)
