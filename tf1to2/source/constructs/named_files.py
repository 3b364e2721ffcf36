"""`model.save(path)` whose path has an ending that Keras 3 requires."""

NAMES = ("save", "save_weights")
ENDINGS = (".keras", ".weights.h5")


def kinds(values, called):
    """Returns the ending of a path in a variable as a kind: "[.keras]"."""
    path, _ = called.get("filepath", 0)
    if path is None or path.type != "identifier":
        return []
    found = values.followed(path)
    if isinstance(found, str):
        return []
    last = next(values.source.ends(found), "")
    return [("filepath", f"[{end}]") for end in ENDINGS if last.endswith(end)]
