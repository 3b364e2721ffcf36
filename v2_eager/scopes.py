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
    """Returns names of ops: default, explicit, and in a scope entered three times."""
    names = []

    # Only a trace has names: the name of an eager tensor raises AttributeError.
    @tf.function
    def trace():
        # --- default and explicit names
        names.extend([tf.constant(1).name, tf.constant(1).name])
        names.extend([tf.constant(1, name="a").name, tf.constant(1, name="a").name])
        # --- a scope: opened, opened again (it gets another name), entered again
        for name in [scope, scope, scope + "/"]:
            with tf.name_scope(name):
                names.append(tf.constant(1, name="a").name)

    trace.get_concrete_function()
    return names


def variable_names(scope):
    """Returns names of variables without a scope, in name and variable scopes."""
    # TensorFlow 2 does not make variable names unique. An empty graph still can, as
    # every graph did in TensorFlow 1.
    names = tf.Graph()

    def variable(name="Variable"):
        return tf.Variable(1.0, name=names.unique_name(name))

    def get_variable(name, prefix=""):
        with names.name_scope(None):  # these names count, too
            return variable(prefix + name)

    # --- no scope
    made = [variable(), variable()]
    made += [variable("b"), variable("b")]
    # --- a name scope, twice: get_variable ignores it
    for name in ["c", "d"]:
        with names.name_scope(scope):
            made.append(variable("b"))
            made.append(get_variable(name))
    # --- a variable scope, twice: it also opens a new name scope each time
    for name in ["c", "d"]:
        with names.name_scope(scope):
            made.append(variable("b"))
            made.append(get_variable(name, scope + "/"))
    # --- a clash of the two
    made.append(get_variable("b", scope + "/"))
    return [variable.name for variable in made]


class Scope:
    """A variable scope: a name prefix and a dict of variables, with `get_variable`.

    Use it to keep the names of old checkpoints in code that gets variables by name. New
    code does not need it: an object that is called twice shares its variables. In a
    `tf.Module`, write `self.store = {}`, then `Scope(self.store)`: checkpoints find the
    variables in a dict, but not in a scope.

    Args:
        store: dict, {full name: variable}, which all scopes of a model share.
        prefix: prefix of the full names, "" or a path with a "/" at its end.
        reuse: False: variables must be new; True: variables must exist; "auto": get or
            create.
    """

    def __init__(self, store, prefix="", reuse=False):
        self.store, self.prefix, self.reuse = store, prefix, reuse
        self.opened = set()

    def open(self, name=None, default_name=None, reuse=False):
        """Opens the scope `name`, or the first unused default_name, default_name_1, ….

        Each entry counts from zero again, so that a second entry gets the same names as
        the first. Sharing by `reuse` depends on this.
        """
        if name is None:
            numbered = (f"{default_name}_{i}" for i in itertools.count(1))
            candidates = itertools.chain([default_name], numbered)
            name = next(name for name in candidates if name not in self.opened)
        self.opened.add(name)
        return Scope(self.store, f"{self.prefix}{name}/", reuse or self.reuse)

    def get_variable(self, name, shape, dtype, initializer):
        """Gets or makes a variable; `initializer` is called with shape and dtype."""
        full = self.prefix + name
        if full not in self.store:
            if self.reuse is True:
                raise ValueError(f"{full} does not exist and reuse is True")
            self.store[full] = make_variable(full, initializer, shape, dtype)
        elif not self.reuse:
            raise ValueError(f"{full} already exists and reuse is not set")
        return checked(self.store[full], shape, dtype)


def make_variable(name, initializer, shape, dtype, trainable=True):
    """Makes a variable with exactly this name, as old checkpoints have it."""
    if None in shape:
        raise ValueError(f"shape {shape} of {name} must be fully defined")
    with tf.name_scope(""):  # an outer scope does not change the name
        return tf.Variable(lambda: initializer(shape, dtype), trainable, name=name)


def checked(variable, shape, dtype):
    """Returns the variable; raises ValueError if its shape or dtype differs."""
    if (variable.shape, variable.dtype) != (shape, dtype):
        raise ValueError(
            f"Trying to share variable {variable.name[:-2]}, but specified shape "
            f"{tuple(shape)}, specified dtype {dtype} and found shape "
            f"{variable.shape}, found dtype {variable.dtype}"
        )
    return variable


def get_in_turn(values, reuse):
    """Calls `get_variable` for outer/inner/w in turn, each time with its `reuse`."""
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
    """Makes templates of one name, calls them in order; returns variables' names."""
    # --- make
    root = Scope({})
    nets = [Net(root) for _ in order]
    # --- call
    for index in order:
        nets[index]()
    return [net.w.name for net in nets]


class Net(tf.Module):
    """A module whose first call makes its variable and chooses the variable's name.

    Args:
        parent: the `Scope` in which the module opens `net`, `net_1`, ….
    """

    def __init__(self, parent):
        super().__init__()
        self.parent, self.w = parent, None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.w is not None

    def __call__(self):
        if self.w is None:
            scope = self.parent.open(default_name="net")
            self.w = scope.get_variable("w", [], tf.float32, tf.zeros_initializer())
        return self.w


def make_convolution(filters, size=3, trainable=True, name="convolution"):
    """Makes a convolution layer whose variables are shared by all calls.

    Returns a `Convolution`; see the class.
    """
    return Convolution(filters, size, f"{name}/conv2d", trainable)


class Convolution(tf.Module):
    """A convolution layer; the first call makes its variables, later calls reuse them.

    A call takes [batch, height, width, channels] floats and returns [batch, height,
    width, filters].

    Args:
        filters: number of output channels.
        size: height and width of the kernel.
        path: scope of the variables `kernel`, [size, size, channels, filters], and
            `bias`.
        trainable: whether its variables are trained.

    Raises:
        ValueError: in a call: another number of channels than in the first call.
    """

    def __init__(self, filters, size, path, trainable=True):
        super().__init__()
        self.filters, self.size, self.path = filters, size, path
        self.trainable, self.kernel = trainable, None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.kernel is not None

    def __call__(self, image):
        shape = [self.size, self.size, image.shape[3], self.filters]
        if self.kernel is None:
            glorot, zeros = initializers.glorot_uniform(seed=1), tf.zeros_initializer()
            kind = image.dtype, self.trainable
            self.kernel = make_variable(f"{self.path}/kernel", glorot, shape, *kind)
            self.bias = make_variable(f"{self.path}/bias", zeros, shape[3:], *kind)
        # A kernel for fewer channels would make a grouped convolution.
        kernel = checked(self.kernel, shape, image.dtype)
        return tf.nn.bias_add(tf.nn.conv2d(image, kernel, 1, "SAME"), self.bias)


def make_siamese(filters, size=3, depth=1, name="siamese"):
    """Makes a siamese network: two towers of convolutions that share variables.

    Returns a `Siamese`; see the class.
    """
    return Siamese(filters, size, depth, name)


class Siamese(tf.Module):
    """A siamese network: one tower of convolutions, called twice.

    A call takes two [batch, height, width, channels] float tensors and returns their
    two [batch, height, width, filters].

    Args:
        filters: number of output channels of each convolution.
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
    """Makes a dense layer with positive weights; a scope sets initializer and penalty.

    Returns a `ScopedDense`; see the class.
    """
    return ScopedDense(units, penalty, name)


class ScopedDense(tf.Module):
    """A dense layer with positive weights, and a penalty on both variables.

        y = x exp(kernel) + bias

    The initializer and the penalty, which a variable scope set for all variables, are
    written here for each variable. A call takes x, [batch, features] floats, and
    returns [batch, units] and the penalty, a scalar.

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
        """Whether the variables exist."""
        return self.kernel is not None

    def __call__(self, x):
        # --- get
        if self.kernel is None:
            normal = initializers.random_normal(seed=1)  # stddev 1, not Keras' 0.05
            shape = [x.shape[1], self.units]
            self.kernel = make_variable(f"{self.path}/kernel", normal, shape, x.dtype)
            self.bias = make_variable(f"{self.path}/bias", normal, shape[1:], x.dtype)
        # --- penalize
        variables = self.kernel, self.bias
        loss = tf.add_n([self.penalty * tf.nn.l2_loss(w) for w in variables])
        return tf.nn.bias_add(tf.matmul(x, tf.exp(self.kernel)), self.bias), loss
