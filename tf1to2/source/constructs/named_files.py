"""`model.save(path)` of a path that was named as Keras 3 asks for."""

NAMES = ("save", "save_weights")
ENDINGS = (".keras", ".weights.h5")


def kinds(values, called):
    """The ending of a name that a variable stands for: "[.keras]"."""
    path, _ = called.get("filepath", 0)
    if path is None or path.type != "identifier":
        return []
    found = values.followed(path)
    if isinstance(found, str):
        return []
    last = next(values.source.ends(found), "")
    return [("filepath", f"[{end}]") for end in ENDINGS if last.endswith(end)]
