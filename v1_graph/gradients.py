"""`tf.gradients`, `grad_ys`, `tf.hessians`, `stop_gradients` → `tf.GradientTape`."""

import itertools

import tensorflow.compat.v1 as tf

__all__ = [
    "product_gradients",
    "gradients_of_targets",
    "semi_gradient",
    "detached_gradients",
    "gradients_or_none",
    "gradients_by_source",
    "gradient_through_state",
    "fine_tune",
    "separate_gradients",
    "cube_derivatives",
    "jacobian",
    "hessian",
    "hessian_vector_product",
    "slope_penalty",
    "adapt",
    "conjugate",
    "log1pexp_derivatives",
    "make_scale",
    "reverse_gradient",
    "cross_entropy_gradients",
    "embedding_gradient",
    "clip_gradients",
    "accumulated_step",
]


def product_gradients(x, y, upstream=None):
    """Differentiates x * y, with ones or given weights as upstream gradient.

    Args:
        x: float tensor.
        y: tensor that broadcasts with `x`, of the same dtype.
        upstream: tensor of the product's shape; None means ones.

    Returns:
        [gradient for x, gradient for y], of their shapes.

    Raises:
        ValueError: the upstream gradient has another shape.
    """
    # --- record
    product = x * y
    # --- differentiate
    return tf.gradients(product, [x, y], grad_ys=upstream)


def gradients_of_targets(x, weights):
    """Differentiates two targets: their sum, their weighted sum, and each one.

    Args:
        x: float tensor.
        weights: tensor of the shape and dtype of `x`, the weights of the second target.

    Returns:
        [sum, weighted sum, gradient of x², gradient of 3x], each of the shape of `x`.
    """
    # --- record
    targets = [tf.square(x), 3 * x]
    # --- differentiate
    # A list of targets is summed. A graph can be differentiated any number of times.
    (total,) = tf.gradients(targets, x)
    (weighted,) = tf.gradients(targets, x, grad_ys=[None, weights])
    return [total, weighted] + [tf.gradients(target, x)[0] for target in targets]


def semi_gradient(weights, features, next_features, reward, discount=0.9):
    """Differentiates a temporal-difference loss; its target is a constant.

    Args:
        weights: [n] float tensor of a linear value function.
        features: [batch, n] tensor of the same dtype, like all other arguments.
        next_features: [batch, n] tensor.
        reward: [batch] tensor.
        discount: discount factor of the next value.

    Returns:
        [gradient for the weights, gradient for the target], of shapes [n] and [batch].
    """
    # --- record
    target = reward + discount * tf.tensordot(next_features, weights, 1)
    loss = tf.reduce_sum(tf.square(target - tf.tensordot(features, weights, 1))) / 2
    # --- differentiate
    return tf.gradients(loss, [weights, target], stop_gradients=[target])


def detached_gradients(x, y):
    """Differentiates x² + y² with y² detached by `tf.stop_gradient`.

    Args:
        x: float tensor.
        y: tensor of the same shape and dtype.

    Returns:
        [x² + y², 2x, None].
    """
    # --- record
    total = tf.square(x) + tf.stop_gradient(tf.square(y))
    # --- differentiate
    return [total] + tf.gradients(total, [x, y])


def gradients_or_none(x, other, unconnected="none"):
    """Differentiates x² for x and for an unconnected tensor: None or zeros.

    Args:
        x: tensor; the square of integers has no gradient.
        other: tensor that the square does not depend on.
        unconnected: "none" or "zero", the value of a missing gradient.

    Returns:
        [gradient for x, gradient for other], None or zeros if missing.

    Raises:
        ValueError: `unconnected` has another value.
    """
    # --- record
    square = x * x
    # --- differentiate
    return tf.gradients(square, [x, other], unconnected_gradients=unconnected)


def gradients_by_source(trained, frozen, constant):
    """Differentiates for a trained and a frozen variable, a constant, a tensor.

    Args:
        trained: float array, the initial value of a trainable variable.
        frozen: array of the same shape and dtype, for a variable that is not trainable.
        constant: array of the same shape and dtype.

    Returns:
        List of four gradients: for the two variables, the constant, and the sum
        `trained + 1`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        trained = tf.Variable(trained)
        frozen = tf.Variable(frozen, trainable=False)
        constant = tf.constant(constant)
        # --- record
        shifted = trained + 1
        y = shifted * frozen * constant
        # --- differentiate
        # Any tensor that y depends on has a gradient, trainable or not.
        gradients = tf.gradients(y, [trained, frozen, constant, shifted])
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run(gradients)


def gradient_through_state(start, increment):
    """Differentiates after `assign_add`: no gradient flows through the assignment.

    Args:
        start: float array, the initial value.
        increment: array of the same shape and dtype.

    Returns:
        (product of the sum and the increment, gradient for the variable, gradient for
        the increment: only from the product, though the sum contains it as well).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        state = tf.Variable(start)
        increment = tf.constant(increment)
        # --- record
        with tf.control_dependencies([tf.assign_add(state, increment)]):
            product = state.read_value() * increment
        # --- differentiate
        gradients = tf.gradients(product, [state, increment])
        # --- run
        sess.run(tf.global_variables_initializer())
        return tuple(sess.run([product] + gradients))


def fine_tune(x, y, body, head, rate=0.125, steps=3):
    """Trains the head of a linear network by gradient descent; the body is frozen.

    Args:
        x: [batch, n] float array.
        y: [batch] array of the same dtype, like all other arguments.
        body: [n, m] array, the first weights.
        head: [m, 1] array, the last weights.
        rate: learning rate.
        steps: number of steps.

    Returns:
        (list of losses, body, head, names of the variables that were trained).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        body = tf.Variable(body, name="body")
        head = tf.Variable(head, name="head")
        trained = [v for v in tf.trainable_variables() if v.name.startswith("head")]
        # --- step
        prediction = tf.matmul(tf.matmul(x, body), head)[:, 0]
        loss = tf.reduce_mean(tf.square(prediction - y))
        gradients = tf.gradients(loss, trained)
        update = [tf.assign_sub(v, rate * g) for v, g in zip(trained, gradients)]
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, update])[0] for _ in range(steps)]
        return losses, sess.run(body), sess.run(head), [v.name for v in trained]


def separate_gradients(x, y):
    """Differentiates sin(x) + sigmoid(y), in one call for x and in another for y.

    Args:
        x: float tensor.
        y: tensor of the same shape and dtype.

    Returns:
        [cos(x), sigmoid(y) * (1 - sigmoid(y))].
    """
    # --- record
    total = tf.sin(x) + tf.sigmoid(y)
    # --- differentiate
    return [tf.gradients(total, x)[0], tf.gradients(total, y)[0]]


def cube_derivatives(x):
    """Computes the first and the second derivative of x³.

    Args:
        x: float tensor.

    Returns:
        [3x², 6x].
    """
    # --- record
    cube = x**3
    # --- differentiate
    (first,) = tf.gradients(cube, x)
    (second,) = tf.gradients(first, x)
    return [first, second]


def energy(x):
    """Returns x[0]² x[1] + x[1]² x[2] + …, whose Hessian has three diagonals."""
    return tf.reduce_sum(tf.square(x[:-1]) * x[1:])


def jacobian(x, weights):
    """Computes the Jacobian of (weights · x)²; a gradient would sum its rows.

    Args:
        x: [n] float tensor.
        weights: [m, n] tensor of the same dtype.

    Returns:
        [m, n] tensor, the derivatives of (weights · x)².
    """
    # --- record
    y = tf.square(tf.tensordot(weights, x, 1))
    # --- differentiate
    return tf.map_fn(lambda i: tf.gradients(y[i], x)[0], tf.range(tf.size(y)), x.dtype)


def hessian(x):
    """Computes the Hessian of `energy`.

    Args:
        x: [n] float tensor.

    Returns:
        [n, n] tensor.
    """
    (result,) = tf.hessians(energy(x), x)
    return result


def hessian_vector_product(x, vector):
    """Computes a Hessian-vector product of `energy`, without the Hessian.

    Args:
        x: [n] float tensor.
        vector: [n] tensor of the same dtype.

    Returns:
        [n] tensor.
    """
    # --- differentiate
    (gradient,) = tf.gradients(energy(x), x)
    return tf.gradients(gradient, x, grad_ys=vector)[0]


def slope_penalty(real, fake, shares, hidden, output):
    """Computes WGAN-GP's penalty: mean of (norm of the critic's gradient - 1)².

    Args:
        real: [n, features] float tensor.
        fake: [n, features] tensor of the same dtype, like all other arguments.
        shares: [n, 1] tensor, the share of `real` in each mixed row.
        hidden: [features, units] tensor, the first weights of the critic.
        output: [units, 1] tensor, the last weights.

    Returns:
        [penalty, its gradients with respect to the two weights].
    """
    mixed = shares * real + (1 - shares) * fake
    scores = tf.matmul(tf.tanh(tf.matmul(mixed, hidden)), output)
    # --- differentiate
    (slopes,) = tf.gradients(scores, mixed)
    lengths = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=1))
    penalty = tf.reduce_mean(tf.square(lengths - 1))
    return [penalty] + tf.gradients(penalty, [hidden, output])


def adapt(hidden, output, x, y, new_x, new_y, rate=0.1, steps=2, first_order=False):
    """MAML: takes gradient steps on a task, then differentiates through the steps.

    Args:
        hidden: [features, units] float tensor, the first weights of a network.
        output: [units, outputs] tensor, the last weights, of the same dtype, like all
            other arguments.
        x, y: [n, features] and [n, outputs], the rows of the inner steps.
        new_x, new_y: rows of the same task, for the outer loss.
        rate: learning rate of the inner steps.
        steps: number of inner steps.
        first_order: whether to treat the gradients of the inner steps as constants.

    Returns:
        [loss of the new rows after the steps, its gradients with respect to the initial
        weights].
    """
    fast = [hidden, output]
    for _ in range(steps):
        # --- adapt
        gradients = tf.gradients(squared_error(fast, x, y), fast)
        if first_order:
            gradients = [tf.stop_gradient(gradient) for gradient in gradients]
        fast = [w - rate * gradient for w, gradient in zip(fast, gradients)]
    # --- differentiate
    loss = squared_error(fast, new_x, new_y)
    return [loss] + tf.gradients(loss, [hidden, output])


def squared_error(weights, x, y):
    """Computes the mean squared error of a two-layer network with the given weights."""
    hidden, output = weights
    predicted = tf.matmul(tf.tanh(tf.matmul(x, hidden)), output)
    return tf.reduce_mean(tf.square(predicted - y))


def conjugate(z):
    """Differentiates z² for complex z: the gradient is the derivative's conjugate.

    Args:
        z: complex tensor.

    Returns:
        (the gradient, which is the conjugate of 2z; the derivative 2z).
    """
    y = z * z
    # grad_ys is required if y is complex.
    (gradient,) = tf.gradients(y, z, grad_ys=tf.ones_like(y))
    return gradient, tf.conj(gradient)


def log1pexp_derivatives(x):
    """Computes log(1 + exp(x)) and its first and second derivatives.

    Args:
        x: float tensor.

    Returns:
        [log(1 + exp(x)), sigmoid(x), sigmoid(x) * (1 - sigmoid(x))].
    """
    # --- record
    y = log1pexp(x)
    # --- differentiate
    (first,) = tf.gradients(y, x)
    (second,) = tf.gradients(first, x)
    return [y, first, second]


@tf.custom_gradient
def log1pexp(x):
    """Computes log(1 + exp(x)), with custom gradients that are stable for every x."""

    @tf.custom_gradient
    def slope(x):
        y = 1 - 1 / (1 + tf.exp(x))
        # With the built-in gradients the second derivative is 0 * inf from x = 89 on.
        return y, lambda upstream: upstream * y * (1 - y)

    y = tf.maximum(x, 0) + tf.log1p(tf.exp(-tf.abs(x)))
    return y, lambda upstream: upstream * slope(x)


def make_scale(limit, name="scale"):
    """Makes a layer w * x that clips the upstream gradient to ±limit.

    Args:
        limit: maximum magnitude of an upstream gradient.
        name: scope of the variable `w`.

    Returns:
        Callable from a [batch, features] tensor to a tensor of the same shape.
    """

    @tf.custom_gradient
    def scaled(x):
        # A function with a custom gradient may use only resource variables.
        w = tf.get_variable(
            "w", [x.shape[1].value], x.dtype, tf.ones_initializer(), use_resource=True
        )

        def gradient(upstream, variables=None):
            clipped = tf.clip_by_value(upstream, -limit, limit)
            return clipped * w, [tf.reduce_sum(clipped * x, axis=0) for _ in variables]

        return w * x, gradient

    return tf.make_template(name, scaled)


def reverse_gradient(x, weight=1.0):
    """Gradient reversal: returns x, and multiplies the upstream gradient by -weight.

    Args:
        x: float tensor.
        weight: factor of the gradient, before the change of sign.

    Returns:
        Tensor like `x`.
    """
    # A name can be registered only once, so each call needs a new one.
    name = "ReverseGradient%d" % next(NUMBERS)

    @tf.RegisterGradient(name)
    def _reversed(op, upstream):
        return [tf.negative(upstream) * weight]

    with tf.get_default_graph().gradient_override_map({"Identity": name}):
        return tf.identity(x)


NUMBERS = itertools.count()


def cross_entropy_gradients(labels, logits, detached=True):
    """Differentiates softmax cross-entropy for logits and, if not detached, labels.

    Args:
        labels: [batch, classes] float tensor of probabilities.
        logits: tensor of the same shape and dtype.
        detached: whether to treat the labels as constants: their gradient is None.

    Returns:
        [loss, gradient for logits, gradient for labels or None].
    """
    # --- record
    if detached:
        loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    else:
        loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits)
    # --- differentiate
    return [loss] + tf.gradients(loss, [logits, labels])


def embedding_gradient(table, ids):
    """Differentiates an embedding lookup: `IndexedSlices`, one slice per id.

    Args:
        table: [rows, n] float tensor.
        ids: [k] int32 tensor of rows.

    Returns:
        [indices, values, dense gradient], of shapes [k], [k, n] and [rows, n]; an id
        that occurs twice has two slices, and their sum in the dense gradient.
    """
    # --- record
    looked_up = tf.gather(table, ids)
    loss = tf.reduce_sum(tf.square(looked_up)) / 2
    # --- differentiate
    (slices,) = tf.gradients(loss, table)
    rows = tf.shape(table)[0]
    dense = tf.unsorted_segment_sum(slices.values, slices.indices, rows)
    return [slices.indices, slices.values, dense]


def clip_gradients(gradients, limit, how):
    """Clips gradients by value, by the norm of each, or by their global norm.

    Args:
        gradients: list of float tensors of one dtype, or None for a missing gradient.
        limit: maximum absolute value or norm.
        how: "value", "norm" or "global_norm"; only the last keeps the direction.

    Returns:
        (list of clipped gradients, None remains None; global norm before clipping).
    """
    norm = tf.global_norm(gradients)
    if how == "global_norm":
        clipped, _ = tf.clip_by_global_norm(gradients, limit, norm)
        return clipped, norm
    clipped = []
    for gradient in gradients:
        if gradient is None:
            clipped.append(None)
        elif how == "norm":
            clipped.append(tf.clip_by_norm(gradient, limit))
        else:
            clipped.append(tf.clip_by_value(gradient, -limit, limit))
    return clipped, norm


def accumulated_step(xs, ys, weights, rate=0.125):
    """Takes one gradient descent step; accumulates gradients over micro-batches.

    Args:
        xs: [parts, batch, n] float array.
        ys: [parts, batch] array of the same dtype.
        weights: [n, 1] array of the same dtype.
        rate: learning rate.

    Returns:
        (weights after the step, gradient of the mean over all micro-batches).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.placeholder(xs.dtype, xs.shape[1:])
        y = tf.placeholder(ys.dtype, ys.shape[1:])
        w = tf.Variable(weights)
        total = tf.Variable(tf.zeros_like(weights), trainable=False)
        # --- step
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)[:, 0] - y))
        (gradient,) = tf.gradients(loss, w)
        accumulate = tf.assign_add(total, gradient / len(xs))
        update = tf.assign_sub(w, rate * total)
        # --- run
        sess.run(tf.global_variables_initializer())
        for part in zip(xs, ys):
            sess.run(accumulate, dict(zip([x, y], part)))
        sess.run(update)
        return sess.run(w), sess.run(total)
