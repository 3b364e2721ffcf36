"""`y._keras_history.layer`: the member of that name is `operation` in Keras 3."""

from tf1to2.source.names import inspected

WORDS = (b"_keras_history.layer",)
ORIGIN = "tensorflow.keras.KerasTensor._keras_history.layer"


def uses(values):
    """Yields each mention of the member."""
    source, word = values.source, WORDS[0]
    start = source.source.find(word)
    while start >= 0:
        end = start + len(word)
        node = source.root.descendant_for_byte_range(end - 1, end)
        node = node.parent if node is not None else None
        if node is not None and node.type == "attribute" and node.end_byte == end:
            yield inspected.Found(node, ORIGIN)
        start = source.source.find(word, end)
