"""Checkpoints by name: `tf.train.Saver`, by the kernels that it called.

    restore.by_name("model.ckpt-1000", restore.named(model, optimizer))

The files are those of TensorFlow 1: it reads what `save` writes, and the other way.
"""

import tensorflow as tf

__all__ = [
    "named",
    "by_name",
    "save",
    "init_from_checkpoint",
]


def named(*owners, scope=""):
    """The variables of modules by the names that a Saver went by.

    Cells, layers and norms make their variables at the first call, optimizers and
    averages at the first step: `build`, `create_slots` or `create` makes them before.
    Of a module with a part that is never called, give `module.variables`.

    Args:
        *owners: `tf.Module`s, variables, or lists of variables.
        scope: what all names began with, such as "train" of the slots and the powers of
            an optimizer that was made in `tf.variable_scope("train")`.

    Returns:
        {name: variable}, the names without ":0".

    Raises:
        ValueError: a module has no variables yet; two variables of one name: give a
            dict of your own.
        TypeError: a model, layer or variable of Keras: likewise.
    """
    variables = {}
    for owner in owners:
        if isinstance(owner, tf.Module):
            refuse_unbuilt(owner)
            owner = owner.variables
        for variable in tf.nest.flatten(owner):
            if not isinstance(variable, tf.Variable):
                kind = type(variable).__name__
                raise TypeError(f"{kind} is no tf.Variable: give a dict of old names")
            name = variable.name.partition(":")[0]
            name = f"{scope}/{name}" if scope else name
            if variables.setdefault(name, variable) is not variable:
                raise ValueError(f"At least two variables have the same name: {name}")
    return variables


def refuse_unbuilt(owner):
    """Raises a ValueError if a module, or one in it, is yet to make its variables.

    Args:
        owner: a `tf.Module`.

    Raises:
        ValueError: names the module's class, and the method that makes its variables.
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
    """Does what `tf.train.Saver(variables).restore(sess, path)` did.

    All is read and compared before the first assignment: what raises changes nothing.

    Args:
        path: prefix of a checkpoint, such as "model.ckpt-1000".
        variables: {name in the checkpoint: variable}; see `named`.

    Raises:
        tf.errors.NotFoundError: the checkpoint lacks a name, or there is none.
        tf.errors.InvalidArgumentError: it holds one of another dtype.
        ValueError: it holds one of another shape.
    """
    # tf.train.load_checkpoint would read any dtype, and assign would cast it.
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
    """Does what `tf.train.Saver(variables).save(sess, path)` did, but for one file.

    The file `checkpoint`, which lists the checkpoints of a folder, is not written.

    Args:
        path: prefix of the files to write.
        variables: {name: variable, tensor or array}; see `named`.
    """
    names = sorted(variables)  # the order of a Saver: the same bytes
    # The public one would write paths of objects, tf.train.Checkpoint, and its graph.
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tf.convert_to_tensor(variables[name]) for name in names],
    )


def init_from_checkpoint(path, assignment_map, variables):
    """Does what `tf.train.init_from_checkpoint` did, at once.

    Args:
        path: prefix of a checkpoint.
        assignment_map: {"scope/" or name of the checkpoint: "scope/" or name of a
            variable}; "/" is the scope of everything.
        variables: {name: variable}; see `named`.

    Raises:
        ValueError: a variable in an assigned scope is not in the checkpoint or has
            another shape there, or there is no such variable or scope.
    """
    sources = expand_scopes(assignment_map, variables)
    shapes = dict(tf.train.list_variables(path))
    for source, name in sources.items():
        if source not in shapes:
            raise ValueError(f"Tensor {source} is not found in the checkpoint")
        if shapes[source] != variables[name].shape:
            raise ValueError(f"Shape of variable {name} doesn't match: {source}")
    by_name(path, {source: variables[name] for source, name in sources.items()})


def expand_scopes(assignment_map, names):
    """{name of the checkpoint: name of a variable}, without scopes.

    Args:
        assignment_map: see `init_from_checkpoint`.
        names: the names of the variables.

    Raises:
        ValueError: an entry covers no variable, or is a scope on one side alone.
    """
    sources = {}
    for source, name in assignment_map.items():
        if not name.endswith("/"):
            found = {source: name} if name in names else {}
        elif not source.endswith("/"):
            raise ValueError(f"scope only name {name} for {source}, which is no scope")
        else:
            scope, old = name.lstrip("/"), source.lstrip("/")
            found = {old + n[len(scope) :]: n for n in names if n.startswith(scope)}
        if not found:
            raise ValueError(f"Assignment map with {name} covers no variable")
        sources.update(found)
    return sources
