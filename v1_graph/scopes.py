"""`tf.variable_scope`, `tf.get_variable`, `reuse` → modules that own variables."""

import tensorflow.compat.v1 as tf

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
    """Returns names of ops: default, explicit, and in a scope entered three times.

    Args:
        scope: name of the scope.

    Returns:
        List of seven tensor names.
    """
    names = []
    with tf.Graph().as_default():
        # --- default and explicit names
        names.extend([tf.constant(1).name, tf.constant(1).name])
        names.extend([tf.constant(1, name="a").name, tf.constant(1, name="a").name])
        # --- a scope: opened, opened again (it gets another name), entered again
        for name in [scope, scope, scope + "/"]:
            with tf.name_scope(name):
                names.append(tf.constant(1, name="a").name)
    return names


def variable_names(scope):
    """Returns names of variables without a scope, in name and variable scopes.

    Args:
        scope: name of the scopes.

    Returns:
        List of 13 variable names; a checkpoint has them without the ":0".
    """
    with tf.Graph().as_default():
        # --- no scope
        made = [tf.Variable(1.0), tf.Variable(1.0)]
        made += [tf.Variable(1.0, name="b"), tf.Variable(1.0, name="b")]
        # --- a name scope, twice: get_variable ignores it
        for name in ["c", "d"]:
            with tf.name_scope(scope):
                made.append(tf.Variable(1.0, name="b"))
                made.append(tf.get_variable(name, []))
        # --- a variable scope, twice: it also opens a new name scope each time
        for name in ["c", "d"]:
            with tf.variable_scope(scope):
                made.append(tf.Variable(1.0, name="b"))
                made.append(tf.get_variable(name, []))
        # --- a clash of the two
        with tf.variable_scope(scope):
            made.append(tf.get_variable("b", []))
        return [variable.name for variable in made]


def get_in_turn(values, reuse):
    """Calls `get_variable` for outer/inner/w in turn, each time with its `reuse`.

    Args:
        values: list of arrays, the initial value in each turn. The first value is also
            added to the first turn's variable.
        reuse: list of [outer, inner], the `reuse` of the two scopes in each turn: False
            or None (inherit), True (the variable must exist), "auto" (get or create).

    Returns:
        The variables' names and their values, two lists.

    Raises:
        ValueError: the variable exists but there is no reuse; the variable does not
            exist and reuse is True; the variable exists with another shape or dtype.
    """
    auto = {"auto": tf.AUTO_REUSE}
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- get
        got = []
        for value, (outer, inner) in zip(values, reuse):
            with tf.variable_scope("outer", reuse=auto.get(outer, outer)):
                with tf.variable_scope("inner", reuse=auto.get(inner, inner)):
                    initializer = tf.constant_initializer(value)
                    got.append(
                        tf.get_variable("w", value.shape, value.dtype, initializer)
                    )
        # --- run
        sess.run(tf.global_variables_initializer())
        sess.run(tf.assign_add(got[0], values[0]))
        return [variable.name for variable in got], sess.run(got)


def template_names(order):
    """Makes templates of one name, calls them in order; returns variables' names.

    Args:
        order: list of the templates' indices, the order of their first calls.

    Returns:
        List of the variables' names, by index.
    """
    with tf.Graph().as_default():
        # --- make
        nets = [
            tf.make_template("net", lambda: tf.get_variable("w", [])) for _ in order
        ]
        # --- call
        for index in order:
            nets[index]()
        return [net.variables[0].name for net in nets]


def make_convolution(filters, size=3, trainable=True, name="convolution"):
    """Makes a convolution layer whose variables are shared by all calls.

    Args:
        filters: number of output channels.
        size: height and width of the kernel.
        trainable: whether its variables are trained.
        name: scope of the variables `conv2d/kernel` and `conv2d/bias`.

    Returns:
        Callable from a [batch, height, width, channels] tensor to
        [batch, height, width, filters].
    """

    def convolution(image):
        return conv2d(image, filters, size, trainable)

    return tf.make_template(name, convolution)


def conv2d(image, filters, size, trainable=True):
    # The scope is named as tf.layers named it: conv2d, conv2d_1, … in the open scope.
    with tf.variable_scope(None, default_name="conv2d"):
        kernel = tf.get_variable(
            "kernel",
            [size, size, image.shape[3].value, filters],
            image.dtype,
            tf.glorot_uniform_initializer(seed=1, dtype=image.dtype),
            trainable=trainable,
        )
        bias = tf.get_variable(
            "bias", [filters], image.dtype, tf.zeros_initializer(), trainable=trainable
        )
    return tf.nn.bias_add(tf.nn.conv2d(image, kernel, [1, 1, 1, 1], "SAME"), bias)


def make_siamese(filters, size=3, depth=1, name="siamese"):
    """Makes a siamese network: two towers of convolutions that share variables.

    Args:
        filters: number of output channels of each convolution.
        size: height and width of the kernels.
        depth: number of convolutions in a tower.
        name: scope of the variables `tower/conv2d/kernel`, `tower/conv2d_1/kernel`, …

    Returns:
        Callable from two [batch, height, width, channels] tensors to two
        [batch, height, width, filters]. It raises ValueError if the images differ in
        their channels.
    """

    def tower(image):
        for _ in range(depth):
            image = conv2d(image, filters, size)
        return image

    def siamese(first, second):
        # --- share
        with tf.variable_scope("tower"):
            left = tower(first)
        with tf.variable_scope("tower", reuse=True):
            right = tower(second)
        return left, right

    return tf.make_template(name, siamese)


def make_scoped_dense(units, penalty=0.1, name="dense"):
    """Makes a dense layer with positive weights; a scope sets initializer and penalty.

    Args:
        units: size of the output.
        penalty: factor of half the sum of squares of both variables.
        name: scope of the variables `kernel` (the weights' logarithm) and `bias`.

    Returns:
        Callable from a [batch, features] tensor to [batch, units] and the penalty.
    """

    def positive(getter, name, *args, **kwargs):
        variable = getter(name, *args, **kwargs)
        return tf.exp(variable) if name.endswith("kernel") else variable

    def dense(x):
        with tf.variable_scope(
            tf.get_variable_scope(),
            initializer=tf.random_normal_initializer(seed=1),
            regularizer=lambda variable: penalty * tf.nn.l2_loss(variable),
            custom_getter=positive,
        ) as scope:
            # --- get
            kernel = tf.get_variable("kernel", [x.shape[1].value, units], x.dtype)
            bias = tf.get_variable("bias", [units], x.dtype)
        # --- penalize
        # This searches the collection by prefix: without the slash, it would also find
        # dense_1.
        loss = tf.losses.get_regularization_loss(scope.name + "/")
        return tf.nn.bias_add(tf.matmul(x, kernel), bias), loss

    return tf.make_template(name, dense)
