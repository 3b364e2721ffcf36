"""Scopes: names that the graph kept apart and shared → names and sharing said aloud."""

import itertools

import tensorflow as tf

from v2_eager.numerics import initializers

__all__ = [
    "op_names",
    "variable_names",
    "get_in_turn",
    "template_names",
    "make_convolution",
    "make_siamese",
    "make_scoped_dense",
]


def op_names(scope):
    """Names ops: by default, by hand, and in a name scope that is entered three times.

    Args:
        scope: name of the scope.

    Returns:
        List of seven tensor names.
    """
    names = []

    # Only a trace has names: an eager tensor raises AttributeError when asked.
    @tf.function
    def trace():
        # --- default and explicit names
        names.extend([tf.constant(1).name, tf.constant(1).name])
        names.extend([tf.constant(1, name="a").name, tf.constant(1, name="a").name])
        # --- a scope: opened, opened anew under another name, entered again
        for name in [scope, scope, scope + "/"]:
            with tf.name_scope(name):
                names.append(tf.constant(1, name="a").name)

    trace.get_concrete_function()
    return names


def variable_names(scope):
    """Names variables, created and got by name: bare, in name and in variable scopes.

    Args:
        scope: name of the scopes.

    Returns:
        List of 13 variable names, as a checkpoint has them but for the ":0".
    """
    # Nothing counts names any more. A graph without ops still can, as all graphs did.
    names = tf.Graph()

    def variable(name="Variable"):
        return tf.Variable(1.0, name=names.unique_name(name))

    def get_variable(scope, name):
        return scope.get_variable(name, [], tf.float32, tf.ones_initializer())

    root = Scope({})
    # --- no scope
    made = [variable(), variable()]
    made += [variable("b"), variable("b")]
    # --- a name scope, twice: get_variable does not see it
    for name in ["c", "d"]:
        with names.name_scope(scope):
            made.append(variable("b"))
            made.append(get_variable(root, name))
    # --- a variable scope, twice: a name scope, too, which is new every time
    for name in ["c", "d"]:
        with names.name_scope(scope):
            made.append(variable("b"))
            made.append(get_variable(root.open(scope), name))
    # --- a clash of the two
    made.append(variable(scope + "/b"))
    return [variable.name for variable in made]


class Scope:
    """A prefix, and the variables by full name: what `tf.get_variable` looked up.

    It is handed on where the open scope used to be global. `store` is a dict; as an
    attribute of a `tf.Module` it is seen by optimizers and checkpoints.
    """

    def __init__(self, store, prefix="", reuse=False):
        self.store, self.prefix, self.reuse = store, prefix, reuse
        self.opened = set()

    def open(self, name=None, default_name=None, reuse=False):
        """The scope `name`, or the first of default_name, default_name_1, … not open.

        The count begins anew with every entry, so that a second entry meets the names
        of the first: sharing by `reuse` rests on it.
        """
        if name is None:
            numbered = (f"{default_name}_{i}" for i in itertools.count(1))
            candidates = itertools.chain([default_name], numbered)
            name = next(name for name in candidates if name not in self.opened)
        self.opened.add(name)
        return Scope(self.store, f"{self.prefix}{name}/", reuse or self.reuse)

    def get_variable(self, name, shape, dtype, initializer, trainable=True):
        """Makes or finds a variable; `initializer` is called with shape and dtype."""
        full = self.prefix + name
        if full in self.store:
            if not self.reuse:
                raise ValueError(f"{full} already exists and reuse is not set")
        elif self.reuse is True:
            raise ValueError(f"{full} does not exist and reuse is True")
        elif None in shape:
            raise ValueError(f"shape {shape} of {full} must be fully defined")
        else:
            with tf.name_scope(""):  # the prefix is all there is to the name
                self.store[full] = tf.Variable(
                    lambda: initializer(shape, dtype), trainable, name=full
                )
        variable = self.store[full]
        if (variable.shape, variable.dtype) != (shape, dtype):
            raise ValueError(
                f"{full} of specified shape {tuple(shape)}, specified dtype {dtype} "
                f"is {variable.shape}, {variable.dtype}"
            )
        return variable


def get_in_turn(values, reuse):
    """Gets outer/inner/w once per value, then adds the first value to the first got.

    Args:
        values: list of arrays, the initial value that each turn would give.
        reuse: list of [outer, inner], what each turn says of its two scopes: False or
            None (nothing), True (only what exists), "auto" (whichever it is).

    Returns:
        The variables' names and their values, two lists.

    Raises:
        ValueError: the variable exists and nothing was said of reuse; it does not
            exist and reuse is True; it exists with another shape or dtype.
    """
    root = Scope({})
    # --- get
    got = []
    for value, (outer, inner) in zip(values, reuse):
        scope = root.open("outer", reuse=outer).open("inner", reuse=inner)
        initializer = tf.constant_initializer(value)
        got.append(scope.get_variable("w", value.shape, value.dtype, initializer))
    # --- run
    got[0].assign_add(values[0])
    return [variable.name for variable in got], [x.numpy() for x in got]


def template_names(order):
    """Makes templates of one name, calls them in some order, and names their variables.

    Args:
        order: list of their indices, the order of the first calls.

    Returns:
        List of the variables' names, by index.
    """

    def net(scope):
        return scope.get_variable("w", [], tf.float32, tf.zeros_initializer())

    # --- make
    root = Scope({})
    nets = [Template("net", net, root) for _ in order]
    # --- call
    for index in order:
        nets[index]()
    return [net.variables[0].name for net in nets]


class Template(tf.Module):
    """A function of a scope: its first call makes the variables, the others find them.

    Of several templates of one name in `parent`, the second to be called is name_1.
    """

    def __init__(self, name, function, parent=None):
        super().__init__()
        self.store = {}
        self.function, self.parent = function, parent or Scope({})
        self.scope_name, self.prefix = name, None

    def __call__(self, *args):
        if self.prefix is None:
            self.prefix = self.parent.open(default_name=self.scope_name).prefix
        return self.function(Scope(self.store, self.prefix, bool(self.store)), *args)


def make_convolution(filters, size=3, trainable=True, name="convolution"):
    """Makes a convolution that can be called on many images and has one kernel.

    Args:
        filters: number of output channels.
        size: height and width of the kernel.
        trainable: whether its variables are trained.
        name: scope of the variables `conv2d/kernel` and `conv2d/bias`.

    Returns:
        Callable from a [batch, height, width, channels] tensor to
        [batch, height, width, filters].
    """

    def convolution(scope, image):
        return conv2d(scope, image, filters, size, trainable)

    return Template(name, convolution)


def conv2d(scope, image, filters, size, trainable=True):
    scope = scope.open(default_name="conv2d")
    kernel = scope.get_variable(
        "kernel",
        [size, size, image.shape[3], filters],
        image.dtype,
        initializers.glorot_uniform(seed=1),
        trainable,
    )
    bias = scope.get_variable(
        "bias", [filters], image.dtype, tf.zeros_initializer(), trainable
    )
    return tf.nn.bias_add(tf.nn.conv2d(image, kernel, 1, "SAME"), bias)


def make_siamese(filters, size=3, depth=1, name="siamese"):
    """Makes two towers of convolutions that share their variables by reuse.

    Args:
        filters: number of output channels of every convolution.
        size: height and width of the kernels.
        depth: number of convolutions in a tower.
        name: scope of the variables `tower/conv2d/kernel`, `tower/conv2d_1/kernel`, …

    Returns:
        Callable from two [batch, height, width, channels] tensors to two
        [batch, height, width, filters]; it raises ValueError when the images differ
        in their channels.
    """

    def tower(scope, image):
        for _ in range(depth):
            image = conv2d(scope, image, filters, size)
        return image

    def siamese(scope, first, second):
        # --- share
        left = tower(scope.open("tower"), first)
        right = tower(scope.open("tower", reuse=True), second)
        return left, right

    return Template(name, siamese)


def make_scoped_dense(units, penalty=0.1, name="dense"):
    """Makes a dense layer of positive weights; initializer, penalty, sign by the scope.

    Args:
        units: size of the output.
        penalty: factor of half the sum of squares of both variables.
        name: scope of the variables `kernel` (the weights' logarithm) and `bias`.

    Returns:
        Callable from a [batch, features] tensor to [batch, units] and the penalty.
    """

    # What the scope did unseen is said here, for each variable.
    def dense(scope, x):
        # --- get
        normal = initializers.random_normal(seed=1)  # of deviation 1, not 0.05
        kernel = scope.get_variable("kernel", [x.shape[1], units], x.dtype, normal)
        bias = scope.get_variable("bias", [units], x.dtype, normal)
        # --- penalize
        loss = tf.add_n([penalty * tf.nn.l2_loss(w) for w in (kernel, bias)])
        return tf.nn.bias_add(tf.matmul(x, tf.exp(kernel)), bias), loss

    return Template(name, dense)
