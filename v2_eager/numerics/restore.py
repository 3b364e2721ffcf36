"""Name-based checkpoints, as `tf.train.Saver` wrote and read them, with its kernels.

    restore.by_name("model.ckpt-1000", restore.named(model, optimizer))

The files are TensorFlow 1's: `tf.train.Saver` reads the files of `save`, and `by_name`
reads the files of `tf.train.Saver`.
"""

import tensorflow as tf

__all__ = [
    "named",
    "by_name",
    "save",
    "init_from_checkpoint",
]


def named(*owners, scope=""):
    """Maps checkpoint names to the variables of modules, as `tf.train.Saver` did.

    Cells, layers and norms make their variables in the first call, optimizers and
    averages in the first step. To make them before, call `build`, `create_slots` or
    `create`. If a part of a module is never called, pass `module.variables`.

    Args:
        *owners: `tf.Module`s, variables, or lists of variables.
        scope: prefix of all names, such as "train" for the slots and the powers of an
            optimizer that was made in `tf.variable_scope("train")`.

    Returns:
        {name: variable}, the names without ":0".

    Raises:
        ValueError: a module has not made its variables yet, or two variables have the
            same name. If two variables have the same name, write the dict yourself.
        TypeError: an owner is a model, layer or variable of Keras: write the dict
            yourself.
    """
    variables = {}
    for owner in owners:
        if isinstance(owner, tf.Module):
            refuse_unbuilt(owner)
            owner = owner.variables
        for variable in tf.nest.flatten(owner):
            if not isinstance(variable, tf.Variable):
                kind = type(variable).__name__
                raise TypeError(
                    f"{kind} is not a tf.Variable: pass a dict {{old name: variable}}"
                )
            name = variable.name.partition(":")[0]
            name = f"{scope}/{name}" if scope else name
            if variables.setdefault(name, variable) is not variable:
                raise ValueError(f"At least two variables have the same name: {name}")
    return variables


def refuse_unbuilt(owner):
    """Raises a ValueError if a module or a submodule has not made its variables yet.

    Args:
        owner: a `tf.Module`.

    Raises:
        ValueError: its message names the class and the method that makes the variables.
    """
    for module in (owner, *owner.submodules):
        if getattr(module, "built", True) is False:
            methods = "build", "create_slots", "create"
            method = next((m for m in methods if hasattr(module, m)), None)
            name = getattr(module, "path", module.name)
            ways = f"call its {method}(...), or call" if method else "call"
            raise ValueError(
                f"{type(module).__name__} {name} has no variables yet: {ways} it once, "
                "before its variables are named"
            )


def by_name(path, variables):
    """Restores variables by name, as `tf.train.Saver(…).restore(sess, path)` did.

    It reads and compares everything before the first assignment: if it raises an error,
    no variable has changed.

    Args:
        path: prefix of a checkpoint, such as "model.ckpt-1000".
        variables: {name in the checkpoint: variable}; see `named`.

    Raises:
        tf.errors.NotFoundError: the checkpoint does not contain a name, or does not
            exist.
        tf.errors.InvalidArgumentError: an entry has another dtype than its variable.
        ValueError: an entry has another shape than its variable.
    """
    # tf.train.load_checkpoint would accept any dtype, and assign would cast it.
    values = tf.raw_ops.RestoreV2(
        prefix=path,
        tensor_names=list(variables),
        shape_and_slices=[""] * len(variables),
        dtypes=[variable.dtype for variable in variables.values()],
    )
    for (name, variable), value in zip(variables.items(), values):
        if not value.shape.is_compatible_with(variable.shape):
            shapes = f"shape {value.shape} in the checkpoint, not {variable.shape}"
            raise ValueError(f"{name} has the {shapes}")
    for variable, value in zip(variables.values(), values):
        variable.assign(value)


def save(path, variables):
    """Saves variables by name, as `tf.train.Saver(…).save(sess, path)` did.

    It does not write the file `checkpoint`, which lists the checkpoints of a folder.

    Args:
        path: prefix of the files to write.
        variables: {name: variable, tensor or array}; see `named`.
    """
    names = sorted(variables)  # the order of a Saver, so the files have the same bytes
    # tf.train.Checkpoint would write paths of objects, and the graph of objects.
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tf.convert_to_tensor(variables[name]) for name in names],
    )


def init_from_checkpoint(path, assignment_map, variables):
    """Assigns variables from a checkpoint, as `tf.train.init_from_checkpoint` did.

    It assigns them immediately, not in an initializer that runs later.

    Args:
        path: prefix of a checkpoint.
        assignment_map: {"scope/" or name in the checkpoint: "scope/" or name of a
            variable}; "/" is the root scope.
        variables: {name: variable}; see `named`.

    Raises:
        ValueError: a variable in an assigned scope is missing in the checkpoint or has
            another shape there, or the variable or scope does not exist.
    """
    sources = expand_scopes(assignment_map, variables)
    shapes = dict(tf.train.list_variables(path))
    for source, name in sources.items():
        if source not in shapes:
            raise ValueError(f"Tensor {source} is not found in the checkpoint")
        if shapes[source] != variables[name].shape:
            raise ValueError(
                f"Shape of variable {name} doesn't match with shape of tensor {source}"
            )
    by_name(path, {source: variables[name] for source, name in sources.items()})


def expand_scopes(assignment_map, names):
    """Expands an assignment map with scopes to {checkpoint name: variable name}.

    Args:
        assignment_map: see `init_from_checkpoint`.
        names: the names of the variables.

    Raises:
        ValueError: an entry matches no variable, or only one side of the entry is a
            scope.
    """
    sources = {}
    for source, name in assignment_map.items():
        if not name.endswith("/"):
            found = {source: name} if name in names else {}
        elif not source.endswith("/"):
            raise ValueError(
                f"Assignment map with scope only name {name} should map to scope only "
                f"{source}. Should be 'scope/': 'other_scope/'."
            )
        else:
            scope, old = name.lstrip("/"), source.lstrip("/")
            found = {old + n[len(scope) :]: n for n in names if n.startswith(scope)}
        if not found:
            raise ValueError(f"Assignment map with {name} covers no variable")
        sources.update(found)
    return sources
