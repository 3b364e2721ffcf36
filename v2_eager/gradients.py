"""`tf.gradients`, `grad_ys`, `tf.hessians`, `stop_gradients` → `tf.GradientTape`."""

import tensorflow as tf

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
    """Differentiates x * y, with ones or given weights as upstream gradient."""
    # --- record
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        product = x * y
    # --- differentiate
    return tape.gradient(product, [x, y], output_gradients=upstream)


def gradients_of_targets(x, weights):
    """Differentiates two targets: their sum, their weighted sum, and each one."""
    # --- record
    # A tape can be used once and then frees its memory, unless it is persistent.
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        targets = [tf.square(x), 3 * x]
    # --- differentiate
    total = tape.gradient(targets, x)
    ones = tf.ones_like(x)  # in place of None in grad_ys
    weighted = tape.gradient(targets, x, output_gradients=[ones, weights])
    return [total, weighted] + [tape.gradient(target, x) for target in targets]


def semi_gradient(weights, features, next_features, reward, discount=0.9):
    """Differentiates a temporal-difference loss; its target is a constant."""
    # --- record
    with tf.GradientTape() as tape:
        tape.watch(weights)
        # Like stop_gradients, this affects one tape: other tapes still record, whereas
        # tf.stop_gradient would stop the gradients of all tapes.
        with tape.stop_recording():
            target = reward + discount * tf.tensordot(next_features, weights, 1)
        tape.watch(target)
        loss = tf.reduce_sum(tf.square(target - tf.tensordot(features, weights, 1))) / 2
    # --- differentiate
    return tape.gradient(loss, [weights, target])


def detached_gradients(x, y):
    """Differentiates x² + y² with y² detached by `tf.stop_gradient`."""
    # --- record
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        total = tf.square(x) + tf.stop_gradient(tf.square(y))
    # --- differentiate
    return [total] + tape.gradient(total, [x, y])


def gradients_or_none(x, other, unconnected="none"):
    """Differentiates x² for x and for an unconnected tensor: None or zeros."""
    # --- record
    with tf.GradientTape() as tape:
        tape.watch([t for t in (x, other) if t.dtype.is_floating])
        square = x * x
    # --- differentiate
    return tape.gradient(square, [x, other], unconnected_gradients=unconnected)


def gradients_by_source(trained, frozen, constant):
    """Differentiates for a trained and a frozen variable, a constant, a tensor."""
    # --- build
    trained = tf.Variable(trained)
    frozen = tf.Variable(frozen, trainable=False)
    constant = tf.constant(constant)

    @tf.function
    def differentiate():
        # --- record
        with tf.GradientTape() as tape:
            # By default a tape watches only the trainable variables that it reads.
            tape.watch([frozen, constant])
            shifted = trained + 1
            y = shifted * frozen * constant
        # --- differentiate
        return tape.gradient(y, [trained, frozen, constant, shifted])

    # --- run
    return [gradient.numpy() for gradient in differentiate()]


def gradient_through_state(start, increment):
    """Differentiates after `assign_add`: no gradient flows through the assignment."""
    # --- build
    state = tf.Variable(start)
    increment = tf.constant(increment)

    @tf.function
    def step():
        # --- record
        with tf.GradientTape() as tape:
            tape.watch(increment)
            state.assign_add(increment)
            product = state * increment
        # --- differentiate
        return product, *tape.gradient(product, [state, increment])

    # --- run
    return tuple(result.numpy() for result in step())


def fine_tune(x, y, body, head, rate=0.125, steps=3):
    """Trains the head of a linear network by gradient descent; the body is frozen."""
    # --- build
    body = tf.Variable(body, name="body")
    head = tf.Variable(head, name="head")
    trained = [v for v in (body, head) if v.name.startswith("head")]

    # --- step
    @tf.function
    def step(x, y):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(trained)
            prediction = tf.matmul(tf.matmul(x, body), head)[:, 0]
            loss = tf.reduce_mean(tf.square(prediction - y))
        for v, g in zip(trained, tape.gradient(loss, trained)):
            v.assign_sub(rate * g)
        return loss

    # --- run
    x, y = tf.constant(x), tf.constant(y)
    losses = [step(x, y).numpy() for _ in range(steps)]
    return losses, body.numpy(), head.numpy(), [v.name for v in trained]


def separate_gradients(x, y):
    """Differentiates sin(x) + sigmoid(y), in one call for x and in another for y."""
    # --- record
    with tf.GradientTape() as tape_x, tf.GradientTape() as tape_y:
        tape_x.watch(x)
        tape_y.watch(y)
        total = tf.sin(x) + tf.sigmoid(y)
    # --- differentiate
    return [tape_x.gradient(total, x), tape_y.gradient(total, y)]


def cube_derivatives(x):
    """Computes the first and the second derivative of x³."""
    # --- record
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            cube = x**3
        # --- differentiate
        first = inner.gradient(cube, x)  # recorded by the outer tape
    return [first, outer.gradient(first, x)]


def energy(x):
    """Returns x[0]² x[1] + x[1]² x[2] + …, whose Hessian has three diagonals."""
    return tf.reduce_sum(tf.square(x[:-1]) * x[1:])


def jacobian(x, weights):
    """Computes the Jacobian of (weights · x)²; a gradient would sum its rows."""
    # --- record
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.square(tf.tensordot(weights, x, 1))
    # --- differentiate
    return tape.jacobian(y, x)  # vectorized: no loop over the rows


def hessian(x):
    """Computes the Hessian of `energy`."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = energy(x)
        gradient = inner.gradient(y, x)
    return outer.jacobian(gradient, x)


def hessian_vector_product(x, vector):
    """Computes a Hessian-vector product of `energy`, without the Hessian."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = energy(x)
        # --- differentiate
        gradient = inner.gradient(y, x)
    return outer.gradient(gradient, x, output_gradients=vector)


def slope_penalty(real, fake, shares, hidden, output):
    """Computes WGAN-GP's penalty: mean of (norm of the critic's gradient - 1)²."""
    mixed = shares * real + (1 - shares) * fake
    with tf.GradientTape() as tape:  # for the weights; variables need no watch
        tape.watch([hidden, output])
        with tf.GradientTape() as inner:
            inner.watch(mixed)
            scores = tf.matmul(tf.tanh(tf.matmul(mixed, hidden)), output)
        # --- differentiate
        slopes = inner.gradient(scores, mixed)
        lengths = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=1))
        penalty = tf.reduce_mean(tf.square(lengths - 1))
    return [penalty, *tape.gradient(penalty, [hidden, output])]


def adapt(hidden, output, x, y, new_x, new_y, rate=0.1, steps=2, first_order=False):
    """MAML: takes gradient steps on a task, then differentiates through the steps."""
    with tf.GradientTape() as tape:  # around all steps: records the inner tapes
        tape.watch([hidden, output])
        fast = [hidden, output]
        for _ in range(steps):
            with tf.GradientTape() as inner:
                inner.watch(fast)  # new tensors in each step, no variables
                loss = squared_error(fast, x, y)
            # --- adapt
            gradients = inner.gradient(loss, fast)
            if first_order:
                gradients = [tf.stop_gradient(gradient) for gradient in gradients]
            fast = [w - rate * g for w, g in zip(fast, gradients, strict=True)]
        # --- differentiate
        loss = squared_error(fast, new_x, new_y)
    return [loss, *tape.gradient(loss, [hidden, output])]


def squared_error(weights, x, y):
    """Computes the mean squared error of a two-layer network with the given weights."""
    hidden, output = weights
    predicted = tf.matmul(tf.tanh(tf.matmul(x, hidden)), output)
    return tf.reduce_mean(tf.square(predicted - y))


def conjugate(z):
    """Differentiates z² for complex z: the gradient is the derivative's conjugate."""
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = z * z
    gradient = tape.gradient(y, z)
    return gradient, tf.math.conj(gradient)


def log1pexp_derivatives(x):
    """Computes log(1 + exp(x)) and its first and second derivatives."""
    # --- record
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = log1pexp(x)
        # --- differentiate
        first = inner.gradient(y, x)
    return [y, first, outer.gradient(first, x)]


@tf.custom_gradient
def log1pexp(x):
    """Computes log(1 + exp(x)), with custom gradients that are stable for every x."""

    @tf.custom_gradient
    def slope(x):
        y = 1 - 1 / (1 + tf.exp(x))
        # With the built-in gradients the second derivative is 0 * inf from x = 89 on.
        return y, lambda upstream: upstream * y * (1 - y)

    y = tf.maximum(x, 0) + tf.math.log1p(tf.exp(-tf.abs(x)))
    return y, lambda upstream: upstream * slope(x)


def make_scale(limit, name="scale"):
    """Makes a layer w * x that clips the upstream gradient to ±limit.

    Returns a `Scale`; see the class.
    """
    return Scale(limit, name)


class Scale(tf.Module):
    """A layer w * x that clips the upstream gradient to ±limit, element-wise.

    A call takes and returns [batch, features] floats. The first call makes w, of ones.

    Args:
        limit: maximum magnitude of an upstream gradient.
        name: scope of the variable `w`, [features].
    """

    def __init__(self, limit, name):
        super().__init__()  # a module's name must not contain a "/"
        self.limit, self.path = limit, name
        self.w = None

    @property
    def built(self):
        """Whether the variable exists."""
        return self.w is not None

    def __call__(self, x):
        if self.w is None:
            ones = tf.ones([x.shape[1]], x.dtype)
            with tf.name_scope(""):  # keeps outer scopes out of the name
                self.w = tf.Variable(ones, name=f"{self.path}/w")

        @tf.custom_gradient
        def scaled(x):
            w = tf.convert_to_tensor(self.w)

            def gradient(upstream, variables=None):
                clipped = tf.clip_by_value(upstream, -self.limit, self.limit)
                for_w = tf.reduce_sum(clipped * x, axis=0)
                return clipped * w, [for_w for _ in variables]

            return w * x, gradient

        return scaled(x)


def reverse_gradient(x, weight=1.0):
    """Gradient reversal: returns x, and multiplies the upstream gradient by -weight."""

    @tf.custom_gradient
    def handed_on(x):
        return tf.identity(x), lambda upstream: -upstream * weight

    return handed_on(x)


def cross_entropy_gradients(labels, logits, detached=True):
    """Differentiates softmax cross-entropy for logits and, if not detached, labels."""
    # --- record
    with tf.GradientTape() as tape:
        tape.watch([logits, labels])
        # Today's name without _v2 is the old _v2 op: labels get a gradient.
        targets = tf.stop_gradient(labels) if detached else labels
        loss = tf.nn.softmax_cross_entropy_with_logits(targets, logits)
    # --- differentiate
    return [loss] + tape.gradient(loss, [logits, labels])


def embedding_gradient(table, ids):
    """Differentiates an embedding lookup: `IndexedSlices`, one slice per id."""
    # --- record
    with tf.GradientTape() as tape:
        tape.watch(table)
        looked_up = tf.gather(table, ids)
        loss = tf.reduce_sum(tf.square(looked_up)) / 2
    # --- differentiate
    slices = tape.gradient(loss, table)
    rows = tf.shape(table)[0]
    dense = tf.math.unsorted_segment_sum(slices.values, slices.indices, rows)
    return [slices.indices, slices.values, dense]


def clip_gradients(gradients, limit, how):
    """Clips gradients by value, by the norm of each, or by their global norm."""
    norm = tf.linalg.global_norm(gradients)
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
    """Takes one gradient descent step; accumulates gradients over micro-batches."""
    # --- build
    w = tf.Variable(weights)

    @tf.function
    def train(xs, ys):
        total = tf.zeros_like(w)
        for i in tf.range(len(xs)):
            # --- step
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(xs[i], w)[:, 0] - ys[i]))
            total += tape.gradient(loss, w) / len(xs)
        w.assign_sub(rate * total)
        return total

    # --- run
    total = train(tf.constant(xs), tf.constant(ys))
    return w.numpy(), total.numpy()
