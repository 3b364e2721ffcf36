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
    """Names ops: by default, by hand, and in a name scope that is entered thrice.

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
        # --- a scope: opened, opened anew under another name, entered again
        for name in [scope, scope, scope + "/"]:
            with tf.name_scope(name):
                names.append(tf.constant(1, name="a").name)
    return names


def variable_names(scope):
    """Names variables, created and got by name: bare, in name and variable scopes.

    Args:
        scope: name of the scopes.

    Returns:
        List of 13 variable names, as a checkpoint has them but for the ":0".
    """
    with tf.Graph().as_default():
        # --- no scope
        made = [tf.Variable(1.0), tf.Variable(1.0)]
        made += [tf.Variable(1.0, name="b"), tf.Variable(1.0, name="b")]
        # --- a name scope, twice: get_variable does not see it
        for name in ["c", "d"]:
            with tf.name_scope(scope):
                made.append(tf.Variable(1.0, name="b"))
                made.append(tf.get_variable(name, []))
        # --- a variable scope, twice: a name scope, too, which is new every time
        for name in ["c", "d"]:
            with tf.variable_scope(scope):
                made.append(tf.Variable(1.0, name="b"))
                made.append(tf.get_variable(name, []))
        # --- a clash of the two
        with tf.variable_scope(scope):
            made.append(tf.get_variable("b", []))
        return [variable.name for variable in made]


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
    """Makes templates of one name, calls them in some order, names their variables.

    Args:
        order: list of their indices, the order of the first calls.

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
    """Makes a dense layer of positive weights; initializer, penalty, sign by scope.

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
        # The collection is searched by prefix: without the slash, dense_1 counts, too.
        loss = tf.losses.get_regularization_loss(scope.name + "/")
        return tf.nn.bias_add(tf.matmul(x, kernel), bias), loss

    return tf.make_template(name, dense)
