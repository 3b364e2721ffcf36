"""Finds the attribute paths of variables in a TensorFlow 2 checkpoint."""

from tf1to2.common.errors import CommandError


def names(root, variables):
    """Finds the attribute path of each variable, for `convert-checkpoint --names`.

    Args:
        root: what is saved: `tf.train.Checkpoint(...)`, or a module or model.
        variables: {old name: variable}, of `tf.Variable` or of Keras.

    Returns:
        {old name: attribute path}, to be written by `json.dump`.

    Raises:
        CommandError: a variable cannot be reached from `root` by attributes.
    """
    import tensorflow as tf

    view, paths, waiting = tf.train.TrackableView(root), {id(root): ""}, [root]
    for parent in waiting:  # breadth first, as TensorFlow does when it saves
        for name, child in view.children(parent).items():
            if id(child) not in paths:
                escaped = str(name).replace(".", "..").replace("/", ".S")
                paths[id(child)] = f"{paths[id(parent)]}/{escaped}".removeprefix("/")
                waiting.append(child)
    found = {}
    for old, variable in variables.items():
        # A Keras 3 variable contains a tf.Variable, and TensorFlow saves that one.
        inner = getattr(variable, "value", variable)
        path = paths.get(id(variable)) or paths.get(id(inner))
        if not path:
            raise CommandError(
                f"{old}: the variable is not in an attribute of {type(root).__name__}"
            )
        found[old] = path
    return found
