"""Lists of numbers as input of a Keras model: `model.predict([100.0])`."""

from tf1to2.source.names import literals

FED = {
    "fit": ("x", "y"),
    "evaluate": ("x", "y"),
    "predict": ("x",),
    "train_on_batch": ("x", "y"),
    "test_on_batch": ("x", "y"),
    "predict_on_batch": ("x",),
}
"""{method: its arguments for arrays}."""
NAMES = tuple(FED)
KIND, SEVERAL = "[numbers]", "[several numbers]"


def kinds(values, called):
    """Returns `KIND` for a list of numbers, also `SEVERAL` for more than one number."""
    found = []
    for place, name in enumerate(FED[called.name]):
        node, _ = called.get(name, place)
        many = literals.numbers(values, node)
        found += [(name, KIND)] * bool(many) + [(name, SEVERAL)] * (many > 1)
    if literals.numbers(values, called.keywords.get("validation_data")):
        found.append(("validation_data", KIND))
    return found
