"""`tf.variable_scope`, `tf.get_variable`, `reuse` → modules that own variables."""

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
    """Names ops: by default, by hand, and in a name scope that is entered thrice."""
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
    """Names variables, created and got by name: bare, in name and variable scopes."""
    # Nothing counts names any more. A graph without ops still can, as all graphs did.
    names = tf.Graph()

    def variable(name="Variable"):
        return tf.Variable(1.0, name=names.unique_name(name))

    def get_variable(name, prefix=""):
        with names.name_scope(None):  # the counter counts these, too
            return variable(prefix + name)

    # --- no scope
    made = [variable(), variable()]
    made += [variable("b"), variable("b")]
    # --- a name scope, twice: get_variable does not see it
    for name in ["c", "d"]:
        with names.name_scope(scope):
            made.append(variable("b"))
            made.append(get_variable(name))
    # --- a variable scope, twice: a name scope, too, which is new every time
    for name in ["c", "d"]:
        with names.name_scope(scope):
            made.append(variable("b"))
            made.append(get_variable(name, scope + "/"))
    # --- a clash of the two
    made.append(get_variable("b", scope + "/"))
    return [variable.name for variable in made]


class Scope:
    """A prefix, and the variables by full name: what `tf.get_variable` looked up.

    It keeps the names of old checkpoints where code asks for variables by name. New
    code has no use for it: an object that is called twice shares its variables. A
    `tf.Module` says `self.store = {}`, then `Scope(self.store)`: checkpoints see the
    variables of a dict, and do not look into a scope.

    Args:
        store: dict, {full name: variable}, which all scopes of a model share.
        prefix: what full names begin with, "" or a path with a "/" at its end.
        reuse: False: variables must be new; True: they must exist; "auto": either.
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

    def get_variable(self, name, shape, dtype, initializer):
        """Makes or finds a variable; `initializer` is called with shape and dtype."""
        full = self.prefix + name
        if full not in self.store:
            if self.reuse is True:
                raise ValueError(f"{full} does not exist and reuse is True")
            self.store[full] = make_variable(full, initializer, shape, dtype)
        elif not self.reuse:
            raise ValueError(f"{full} already exists and reuse is not set")
        return checked(self.store[full], shape, dtype)


def make_variable(name, initializer, shape, dtype, trainable=True):
    """A variable of just this name, which is its name in old checkpoints."""
    if None in shape:
        raise ValueError(f"shape {shape} of {name} must be fully defined")
    with tf.name_scope(""):  # an outer scope is no part of the name
        return tf.Variable(lambda: initializer(shape, dtype), trainable, name=name)


def checked(variable, shape, dtype):
    """The variable, if it has this shape and dtype."""
    if (variable.shape, variable.dtype) != (shape, dtype):
        raise ValueError(
            f"{variable.name[:-2]} of specified shape {tuple(shape)}, specified dtype "
            f"{dtype} is {variable.shape}, {variable.dtype}"
        )
    return variable


def get_in_turn(values, reuse):
    """Gets outer/inner/w once per value, then adds the first value to the first got."""
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
    """Makes templates of one name, calls them in some order, names their variables."""
    # --- make
    root = Scope({})
    nets = [Net(root) for _ in order]
    # --- call
    for index in order:
        nets[index]()
    return [net.w.name for net in nets]


class Net(tf.Module):
    """Makes its variable in its first call, and is numbered by it.

    Args:
        parent: the `Scope` that it opens `net`, `net_1`, … in.
    """

    def __init__(self, parent):
        super().__init__()
        self.parent, self.w = parent, None

    @property
    def built(self):
        """Whether it has its variables."""
        return self.w is not None

    def __call__(self):
        if self.w is None:
            scope = self.parent.open(default_name="net")
            self.w = scope.get_variable("w", [], tf.float32, tf.zeros_initializer())
        return self.w


def make_convolution(filters, size=3, trainable=True, name="convolution"):
    """Makes a convolution that can be called on many images and has one kernel.

    Returns a `Convolution`; see the class.
    """
    return Convolution(filters, size, f"{name}/conv2d", trainable)


class Convolution(tf.Module):
    """Owns its variables: its first call makes them, the others use them.

    A call takes [batch, height, width, channels] floats and returns [batch, height,
    width, filters].

    Args:
        filters: number of output channels.
        size: height and width of the kernel.
        path: scope of the variables `kernel`, [size, size, channels, filters], and
            `bias`.
        trainable: whether its variables are trained.

    Raises:
        ValueError: in a call: other channels than in the first one.
    """

    def __init__(self, filters, size, path, trainable=True):
        super().__init__()
        self.filters, self.size, self.path = filters, size, path
        self.trainable, self.kernel = trainable, None

    @property
    def built(self):
        """Whether it has its variables."""
        return self.kernel is not None

    def __call__(self, image):
        shape = [self.size, self.size, image.shape[3], self.filters]
        if self.kernel is None:
            glorot, zeros = initializers.glorot_uniform(seed=1), tf.zeros_initializer()
            kind = image.dtype, self.trainable
            self.kernel = make_variable(f"{self.path}/kernel", glorot, shape, *kind)
            self.bias = make_variable(f"{self.path}/bias", zeros, shape[3:], *kind)
        # A kernel for fewer channels would be taken for a grouped convolution.
        kernel = checked(self.kernel, shape, image.dtype)
        return tf.nn.bias_add(tf.nn.conv2d(image, kernel, 1, "SAME"), self.bias)


def make_siamese(filters, size=3, depth=1, name="siamese"):
    """Makes two towers of convolutions that share their variables by reuse.

    Returns a `Siamese`; see the class.
    """
    return Siamese(filters, size, depth, name)


class Siamese(tf.Module):
    """One tower of convolutions, called twice.

    A call takes two [batch, height, width, channels] float tensors and returns their
    two [batch, height, width, filters].

    Args:
        filters: number of output channels of every convolution.
        size: height and width of the kernels.
        depth: number of convolutions.
        name: scope of the variables `tower/conv2d/…`, `tower/conv2d_1/…`, …

    Raises:
        ValueError: in a call: the images differ in their channels.
    """

    def __init__(self, filters, size, depth, name):
        super().__init__()
        paths = [f"{name}/tower/conv2d" + (f"_{i}" if i else "") for i in range(depth)]
        self.tower = [Convolution(filters, size, path) for path in paths]

    def __call__(self, first, second):
        # --- share
        return self.encoded(first), self.encoded(second)

    def encoded(self, image):
        for convolution in self.tower:
            image = convolution(image)
        return image


def make_scoped_dense(units, penalty=0.1, name="dense"):
    """Makes a dense layer of positive weights; initializer, penalty, sign by scope.

    Returns a `ScopedDense`; see the class.
    """
    return ScopedDense(units, penalty, name)


class ScopedDense(tf.Module):
    """A dense layer of positive weights, with a penalty on both variables.

        y = x exp(kernel) + bias

    What a variable scope set for all variables is written here for each. A call takes
    x, [batch, features] floats, and returns [batch, units] and the penalty, a scalar.

    Args:
        units: size of the output.
        penalty: factor of half the sum of squares of both variables.
        path: scope of the variables `kernel`, [features, units], and `bias`.
    """

    def __init__(self, units, penalty, path):
        super().__init__()
        self.units, self.penalty, self.path = units, penalty, path
        self.kernel = None

    @property
    def built(self):
        """Whether it has its variables."""
        return self.kernel is not None

    def __call__(self, x):
        # --- get
        if self.kernel is None:
            normal = initializers.random_normal(seed=1)  # of deviation 1, not 0.05
            shape = [x.shape[1], self.units]
            self.kernel = make_variable(f"{self.path}/kernel", normal, shape, x.dtype)
            self.bias = make_variable(f"{self.path}/bias", normal, shape[1:], x.dtype)
        # --- penalize
        variables = self.kernel, self.bias
        loss = tf.add_n([self.penalty * tf.nn.l2_loss(w) for w in variables])
        return tf.nn.bias_add(tf.matmul(x, tf.exp(self.kernel)), self.bias), loss
