"""Finds races: variables that a session run reads and writes in undefined order.

A session runs any operation that is ready. If one operation reads a variable, another
writes it, and neither waits for the other, the value that is read is random. Examples:
gradients, weights or the global step fetched beside the train op, or updates that two
layers make in place. Repeated runs can agree by chance, so that this module reads the
graph. It runs beside TensorFlow 1.
"""

import contextlib

WRITERS = (
    "Apply",
    "Assign",
    "CountUpTo",
    "ResourceApply",
    "ResourceScatter",
    "ResourceSparseApply",
    "ResourceStridedSliceAssign",
    "Scatter",
    "SparseApply",
    "StridedSliceAssign",
)
"""Prefixes of the types of operations that write a variable."""

VARIABLES = ("VarHandleOp", "Variable", "VariableV2")
ALIASES = (
    "ExpandDims",
    "Identity",
    "RefIdentity",
    "RefSwitch",
    "Reshape",
    "Squeeze",
    "StopGradient",
)
"""Operations that pass a variable's memory on: their consumers read it later."""

ASKING = ("IsVariableInitialized", "VarIsInitializedOp")
"""Operations that only check whether a variable has a value."""


LATE = (
    ". A control dependency does not help: TensorFlow 1 reads the memory of a "
    "variable, also through tf.identity, when the run ends. Fetch a copy, such as x + 0"
)
"""Added if there is an order, such as a control dependency, that has no effect."""


@contextlib.contextmanager
def watched():
    """Collects, in the context's list, a sentence for each variable with a race."""
    found, seen = [], set()

    def look(graph, fetched, feeds):
        key = graph.version, id(graph), tuple(x.name for x in fetched)
        if key not in seen:
            seen.add(key)
            known = {getattr(feed, "name", feed) for feed in feeds or ()}
            found.extend(t for t in unordered(fetched, known) if t not in found)

    with _looking(look):
        yield found


@contextlib.contextmanager
def drawing():
    """Collects, in the context's dict, the `seeds` of each graph that is run."""
    found, seen = {}, set()

    def look(graph, fetched, feeds):
        if (graph.version, id(graph)) not in seen:
            seen.add((graph.version, id(graph)))
            found.update(seeds(graph))

    with _looking(look):
        yield found


@contextlib.contextmanager
def _looking(look):
    """Calls look(graph, fetches, feeds) before each session run in the context."""
    from tensorflow.python.client import session

    def fetched_by(graph, fetches):
        handler = session._FetchHandler(graph, fetches, {})
        return handler.fetches() + handler.targets()

    def running(self, fetches, feed_dict=None, *args, **kwargs):
        look(self.graph, fetched_by(self.graph, fetches), feed_dict)
        return methods["run"](self, fetches, feed_dict, *args, **kwargs)

    def making(self, fetches, feed_list=None, *args, **kwargs):
        look(self.graph, fetched_by(self.graph, fetches), feed_list)
        return methods["make_callable"](self, fetches, feed_list, *args, **kwargs)

    def making_from_options(self, options):  # as K.function does
        names = [*options.fetch, *options.target]
        fetched = [self.graph.as_graph_element(name) for name in names]
        look(self.graph, fetched, options.feed)
        return methods["_make_callable_from_options"](self, options)

    watching = {
        "run": running,
        "make_callable": making,
        "_make_callable_from_options": making_from_options,
    }
    methods = {name: getattr(session.BaseSession, name) for name in watching}
    for name, method in watching.items():
        setattr(session.BaseSession, name, method)
    try:
        yield
    finally:
        for name, method in methods.items():
            setattr(session.BaseSession, name, method)


def seeds(graph):
    """Returns {operation name: [seed, seed2]} of the random operations in a graph."""
    return {
        op.name: [op.get_attr("seed"), op.get_attr("seed2")]
        for op in graph.get_operations()
        if "seed2" in op.node_def.attr
    }


def unordered(fetched, feeds=()):
    """Yields sentences on variables that a run reads and writes in undefined order.

    Args:
        fetched: list of tensors and operations.
        feeds: the names of the tensors that are fed.
    """

    def before(op):
        inputs = [x.op for x in op.inputs if x.name not in feeds]
        return inputs + list(op.control_inputs)

    def reach(ops):
        found, waiting = set(), list(ops)
        while waiting:
            op = waiting.pop()
            if op not in found:
                found.add(op)
                waiting.extend(before(op))
        return found

    ran = reach([getattr(x, "op", x) for x in fetched if x.name not in feeds])
    memory = {}  # tensor that is a variable's memory: the variable
    for op in sorted(ran, key=lambda op: op._id):
        if op.type in VARIABLES:
            memory[op.outputs[0].name] = op
        elif op.outputs and (op.type in ALIASES or _written(op)):
            if op.inputs[0].name in memory:
                memory[op.outputs[0].name] = memory[op.inputs[0].name]
    touched, written = {}, {}  # of a variable: readers, writers
    for op in ran:
        for tensor in op.inputs:
            if tensor.name in memory and op.type not in ALIASES + ASKING:
                touched.setdefault(memory[tensor.name], set()).add(op)
        for tensor in _written(op):
            if tensor.name in memory:
                written.setdefault(memory[tensor.name], set()).add(op)
    for variable in sorted(written, key=_name):
        writers = sorted(written[variable], key=_name)
        ends = sorted(touched[variable], key=_name)
        ends += [x.op for x in fetched if memory.get(x.name) is variable]
        for writer in writers:
            before_it = reach([writer])
            for end in ends:
                is_fetch = end.type in ALIASES + VARIABLES
                if writer in reach([end]) or (end in before_it and not is_fetch):
                    continue
                yield "%s: %s %s it, %s writes it, in no order%s" % (
                    variable.name,
                    end.name,
                    "writes" if end in writers else "reads",
                    writer.name,
                    LATE if end in before_it else "",
                )
                break
            else:
                continue
            break


def _name(op):
    return op.name


def _written(op):
    """Lists the inputs that an operation writes: references or resource handles."""
    if not op.type.startswith(WRITERS):
        return []
    args = zip(op.inputs, op.op_def.input_arg)
    return [x for x, arg in args if arg.is_ref or x.dtype.name == "resource"]
