"""PPO, DDPG, A3C, SAC, prioritized replay: scopes, assign ops → variables, tapes."""

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "train_ppo",
    "train_ddpg",
    "train_workers",
    "gaussian_terms",
    "squashed_action",
    "discounted_returns",
    "estimate_advantages",
    "train_prioritized",
    "make_noisy_dense",
]


def variables_of(start):
    return {n: tf.get_variable(n, initializer=value) for n, value in start.items()}


def trained(scope):
    """Returns the variables of a scope; `actor` does not include `actor_target`."""
    return tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope + "/")


def check(size, **arrays):
    """Raises if arrays differ in shape: [n, 1] and [n] would broadcast to [n, n]."""
    if 0 in size:
        raise ValueError(
            "states must not be empty: their first sizes are {}".format(size)
        )
    for name, array in arrays.items():
        if array.shape != size:
            message = "{} must have the shape {}, like the states, not {}"
            raise ValueError(message.format(name, size, array.shape))


def check_actions(actions, kernel):
    """Raises if an action is out of range: `tf.one_hot` would make zeros of it."""
    if actions.min() < 0 or actions.max() >= kernel.shape[1]:
        raise ValueError("actions must be from 0 to {}".format(kernel.shape[1] - 1))


def policy_of(weights, x):
    """Computes (log probabilities of actions [n, actions], values of states [n])."""
    hidden = tf.tanh(tf.matmul(x, weights["body/kernel"]) + weights["body/bias"])
    logits = tf.matmul(hidden, weights["policy/kernel"]) + weights["policy/bias"]
    values = tf.matmul(hidden, weights["value/kernel"]) + weights["value/bias"]
    return tf.nn.log_softmax(logits), tf.squeeze(values, 1)


def chosen(rows, actions):
    """Selects the number of each row that belongs to the row's action."""
    mask = tf.one_hot(actions, rows.shape[1].value, dtype=rows.dtype)
    return tf.reduce_sum(rows * mask, 1)


def entropy_of(log_probs):
    return -tf.reduce_sum(tf.exp(log_probs) * log_probs, 1)


def outputs_of(weights, x):
    """Computes the output of a network with a body and a head."""
    hidden = tf.nn.relu(tf.matmul(x, weights["body/kernel"]) + weights["body/bias"])
    return tf.matmul(hidden, weights["head/kernel"]) + weights["head/bias"]


def train_ppo(
    states,
    actions,
    returns,
    start,
    epochs,
    clip=0.2,
    value_weight=0.5,
    bonus=0.01,
    rate=0.01,
):
    """Trains a policy with PPO: clips its ratio to the policy before the batch.

    Args:
        states: [batches, n, features] float array.
        actions: [batches, n] int32 array, the actions of the old policy.
        returns: [batches, n] float array, the returns of these actions.
        start: {"body/kernel": [features, units] array, "body/bias": [units] array,
            "policy/kernel": [units, actions] array, and so on for "policy/bias",
            "value/kernel": [units, 1] array and "value/bias"}, for both policies.
        epochs: number of steps on each batch.
        clip: the ratio of probabilities is clipped to 1 - clip and 1 + clip.
        value_weight: weight of the value loss.
        bonus: weight of the entropy.
        rate: learning rate of Adam, whose epsilon is 1e-5.

    Returns:
        dict with the `terms`, [batches, epochs, 3]: loss, entropy, and share of the
        ratios that are clipped, before each step; and the final `variables` of both
        policies by name.

    Raises:
        ValueError: there are no states or no epochs, sizes differ, or an action is out
            of range.
    """
    check(states.shape[:2], actions=actions, returns=returns)
    check_actions(actions, start["policy/kernel"])
    if epochs < 1:
        raise ValueError("epochs must be at least 1")
    arrays = [states, actions, returns]
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        feeds = [tf.placeholder(array.dtype, array.shape[1:]) for array in arrays]
        state, action, wanted = feeds
        with tf.variable_scope("pi"):
            log_probs, values = policy_of(variables_of(start), state)
        with tf.variable_scope("old_pi"):
            old_log_probs, _ = policy_of(variables_of(start), state)
        new, old = trained("pi"), trained("old_pi")
        # --- loss
        advantage = tf.stop_gradient(wanted - values)
        mean, variance = tf.nn.moments(advantage, [0])
        advantage = (advantage - mean) / (tf.sqrt(variance) + 1e-8)
        ratio = tf.exp(chosen(log_probs, action) - chosen(old_log_probs, action))
        clipped = tf.clip_by_value(ratio, 1 - clip, 1 + clip)
        surrogate = tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
        value_loss = tf.reduce_mean(tf.square(wanted - values))
        entropy = tf.reduce_mean(entropy_of(log_probs))
        loss = -surrogate + value_weight * value_loss - bonus * entropy
        far = tf.cast(tf.abs(ratio - 1) > clip, loss.dtype)
        # --- step
        terms = tf.stack([loss, entropy, tf.reduce_mean(far)])
        optimizer = tf.train.AdamOptimizer(rate, epsilon=1e-5)
        gradients = optimizer.compute_gradients(loss, new)
        with tf.control_dependencies([terms]):
            step = optimizer.apply_gradients(gradients)
        follow = tf.group(*[tf.assign(o, n) for o, n in zip(old, new)])
        # --- run
        sess.run(tf.global_variables_initializer())
        history = []
        for batch in zip(*arrays):
            sess.run(follow)
            feed = dict(zip(feeds, batch))
            history.append([sess.run([terms, step], feed)[0] for _ in range(epochs)])
        variables = sess.run({v.op.name: v for v in new + old})
        return {"terms": np.array(history), "variables": variables}


def train_ddpg(
    states,
    actions,
    rewards,
    nexts,
    over,
    start,
    bound=2.0,
    tau=0.125,
    discount=0.9,
    rates=(0.01, 0.02),
):
    """Trains an actor and a critic with DDPG, with a target network for each.

    Args:
        states, nexts: [steps, n, features] float arrays, before and after an action.
        actions: [steps, n, size] array, the actions.
        rewards: [steps, n] array.
        over: [steps, n] array, 1 where an episode ends, else 0.
        start: {"actor": {"body/kernel": [features, units] array, "body/bias": [units],
            "head/kernel": [units, size], "head/bias": [size]}, "critic": the same four
            arrays, from `features + size` to 1}, for the networks and for their
            targets.
        bound: the largest magnitude of an action.
        tau: share of the way that the targets move to their networks in each step.
        discount: factor of the next state's value.
        rates: learning rates of the actor's Adam and of the critic's Adam.

    Returns:
        dict with the critic's `losses` and the actor's `actions`, [steps, n, size],
        before each step, and the final `variables` of all four networks by name.

    Raises:
        ValueError: there are no states, or sizes differ.
    """
    size = states.shape[:2]
    check(size, actions=actions[..., 0], rewards=rewards, over=over)
    check(states.shape, nexts=nexts)
    arrays = [states, actions, rewards, nexts, over]

    def act(weights, x):
        return bound * tf.tanh(outputs_of(weights, x))

    def judge(weights, x, action):
        return tf.squeeze(outputs_of(weights, tf.concat([x, action], 1)), 1)

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        feeds = [tf.placeholder(array.dtype, array.shape[1:]) for array in arrays]
        before, action, reward, after, ends = feeds
        with tf.variable_scope("actor"):
            acted = act(variables_of(start["actor"]), before)
        with tf.variable_scope("critic"):
            values = judge(variables_of(start["critic"]), before, action)
        with tf.variable_scope("actor_target"):
            later = act(variables_of(start["actor"]), after)
        with tf.variable_scope("critic_target"):
            later = judge(variables_of(start["critic"]), after, later)
        actor, critic = trained("actor"), trained("critic")
        target = trained("actor_target") + trained("critic_target")
        # --- critic
        wanted = tf.stop_gradient(reward + discount * (1 - ends) * later)
        loss = tf.reduce_mean(tf.square(wanted - values))
        optimizer = tf.train.AdamOptimizer(rates[1])
        gradients = optimizer.compute_gradients(loss, critic)
        with tf.control_dependencies([loss]):
            step_critic = optimizer.apply_gradients(gradients)
        # --- actor
        (slopes,) = tf.gradients(values, action)
        slope = tf.placeholder(acted.dtype, acted.shape)
        # Without gate_gradients the head may be updated before the body's gradient
        # has read it.
        gradients = tf.gradients(acted, actor, -slope, gate_gradients=True)
        gradients = [g / states.shape[1] for g in gradients]
        step_actor = tf.train.AdamOptimizer(rates[0]).apply_gradients(
            zip(gradients, actor)
        )
        # --- follow
        follow = tf.group(
            *[t.assign(tau * v + (1 - tau) * t) for v, t in zip(actor + critic, target)]
        )
        # --- run
        sess.run(tf.global_variables_initializer())
        losses, taken = [], []
        for batch in zip(*arrays):
            losses.append(sess.run([loss, step_critic], dict(zip(feeds, batch)))[0])
            taken.append(sess.run(acted, {before: batch[0]}))
            fed = sess.run(slopes, {before: batch[0], action: taken[-1]})
            sess.run(step_actor, {before: batch[0], slope: fed})
            sess.run(follow)
        variables = sess.run({v.op.name: v for v in actor + critic + target})
        return {
            "losses": np.array(losses),
            "actions": np.array(taken),
            "variables": variables,
        }


def train_workers(
    states, actions, returns, start, order, limit=40.0, bonus=0.01, rate=0.01
):
    """Trains with A3C: gradients of the workers' older copies update one network.

    Args:
        states: [steps, n, features] float array.
        actions: [steps, n] int32 array.
        returns: [steps, n] float array.
        start: see `train_ppo`; for the global network and for all copies.
        order: list of [steps] ints, the worker of each step, from 0.
        limit: global norm to which the gradients are clipped.
        bonus: weight of the entropy.
        rate: learning rate of the RMSProp that all workers share.

    Returns:
        dict with the `losses` of the steps, computed with the workers' copies, and the
        final `variables` of all networks by name.

    Raises:
        ValueError: there are no states, sizes differ, or an action or a worker is out
            of range.
    """
    check(states.shape[:2], actions=actions, returns=returns)
    check_actions(actions, start["policy/kernel"])
    if len(order) != len(states) or min(order) < 0:
        raise ValueError(
            "order must have one worker number >= 0 for each step of states"
        )
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        state = tf.placeholder(states.dtype, states.shape[1:])
        action = tf.placeholder(actions.dtype, actions.shape[1:])
        wanted = tf.placeholder(returns.dtype, returns.shape[1:])
        optimizer = tf.train.RMSPropOptimizer(rate, 0.99, epsilon=0.1)
        with tf.variable_scope("global"):
            variables_of(start)
        # --- worker
        workers = []
        for number in range(max(order) + 1):
            with tf.variable_scope("worker_{}".format(number)) as scope:
                log_probs, values = policy_of(variables_of(start), state)
            advantage = tf.stop_gradient(wanted - values)
            policy_loss = -tf.reduce_sum(chosen(log_probs, action) * advantage)
            value_loss = tf.reduce_sum(tf.square(wanted - values))
            entropy = tf.reduce_sum(entropy_of(log_probs))
            loss = 0.5 * value_loss + policy_loss - bonus * entropy
            copy, shared = trained(scope.name), trained("global")
            clipped, _ = tf.clip_by_global_norm(tf.gradients(loss, copy), limit)
            push = optimizer.apply_gradients(zip(clipped, shared))
            pull = tf.group(*[tf.assign(c, s) for c, s in zip(copy, shared)])
            workers.append((loss, push, pull))
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = []
        for number, batch in zip(order, zip(states, actions, returns)):
            loss, push, pull = workers[number]
            feed = dict(zip([state, action, wanted], batch))
            losses.append(sess.run([loss, push], feed)[0])
            sess.run(pull)
        variables = sess.run({v.op.name: v for v in tf.trainable_variables()})
        return {"losses": np.array(losses), "variables": variables}


def gaussian_terms(mean, log_std, actions):
    """Computes log probability and entropy of a Gaussian policy's actions.

    Args:
        mean: [n, size] float tensor.
        log_std: [size] or [n, size] tensor of the same dtype.
        actions: [n, size] tensor of the same dtype.

    Returns:
        dict with `log_prob` and `entropy`, [n] tensors, sums over an action's numbers.

    Raises:
        ValueError: the actions have another shape than the mean.
    """
    mean.shape.assert_is_compatible_with(actions.shape)
    # --- terms
    policy = tf.distributions.Normal(mean, tf.exp(log_std))
    return {
        "log_prob": tf.reduce_sum(policy.log_prob(actions), 1),
        "entropy": tf.reduce_sum(policy.entropy(), 1),
    }


def squashed_action(mean, log_std, noise, epsilon=1e-6):
    """Computes an action squashed by tanh, and its log probability, as SAC does.

    Args:
        mean, log_std: [n, size] float tensors; log_std is clipped to [-20, 2].
        noise: [n, size] tensor, drawn from the standard normal distribution.
        epsilon: added in the logarithm of tanh's correction; None computes the exact
            correction.

    Returns:
        (the action, [n, size]; its log probability, [n]).

    Raises:
        ValueError: the noise has another shape than the mean.
    """
    mean.shape.assert_is_compatible_with(noise.shape)
    # --- draw
    log_std = tf.clip_by_value(log_std, -20.0, 2.0)
    std = tf.exp(log_std)
    drawn = mean + noise * std
    action = tf.tanh(drawn)
    # --- log probability
    log_prob = tf.distributions.Normal(mean, std).log_prob(drawn)
    if epsilon is None:
        slope = 2 * (np.log(2) - drawn - tf.nn.softplus(-2 * drawn))
    else:
        slope = tf.log(1 - tf.square(action) + epsilon)
    return action, tf.reduce_sum(log_prob, 1) - tf.reduce_sum(slope, 1)


def discounted_returns(rewards, over, last, discount=0.99):
    """Computes the discounted return of each step, until the end of its episode.

    Args:
        rewards: [time, n] float tensor.
        over: [time, n] tensor, 1 where an episode ends with the step, else 0.
        last: [n] tensor, the value of the state after the last step.
        discount: factor per step.

    Returns:
        [time, n] tensor.

    Raises:
        ValueError: sizes differ.
    """
    rewards.shape.assert_is_compatible_with(over.shape)
    rewards.shape[1:].assert_is_compatible_with(last.shape)

    # --- scan
    def step(later, row):
        reward, end = row
        return reward + discount * (1 - end) * later

    rows = tf.reverse(rewards, [0]), tf.reverse(over, [0])
    return tf.reverse(tf.scan(step, rows, last), [0])


def estimate_advantages(rewards, values, over, last, discount=0.99, share=0.95):
    """Computes generalized advantage estimates (GAE) of each step.

    Args:
        rewards, values: [time, n] float tensors; the values belong to the states before
            the actions.
        over: [time, n] tensor, 1 where an episode ends with the step, else 0.
        last: [n] tensor, the value of the state after the last step.
        discount: factor per step.
        share: lambda: 0 for the errors of single steps, 1 for returns minus values.

    Returns:
        [time, n] tensor, through which no gradient passes.

    Raises:
        ValueError: sizes differ.
    """
    for tensor in (values, over):
        rewards.shape.assert_is_compatible_with(tensor.shape)
    rewards.shape[1:].assert_is_compatible_with(last.shape)
    # --- errors
    after = tf.concat([values[1:], tf.expand_dims(last, 0)], 0)
    goes_on = 1 - over
    errors = rewards + discount * goes_on * after - values

    # --- scan
    def step(later, row):
        error, go = row
        return error + discount * share * go * later

    rows = tf.reverse(errors, [0]), tf.reverse(goes_on, [0])
    return tf.stop_gradient(tf.reverse(tf.scan(step, rows, tf.zeros_like(last)), [0]))


def train_prioritized(
    states, actions, targets, rows, start, alpha=0.6, beta=0.4, rate=0.01
):
    """Trains a Q network with prioritized replay; new errors become the priorities.

    Args:
        states: [size, features] float array, the memory.
        actions: [size] int32 array.
        targets: [size] float array, the targets of the actions' values.
        rows: [steps, n] int array: the rows of the memory that each step uses.
        start: {"body/kernel": [features, units] array, "body/bias": [units] array,
            "head/kernel": [units, actions] array, "head/bias": [actions] array}.
        alpha: exponent of the priorities in a draw, from 0 to 1.
        beta: exponent of the importance weights, which correct for the priorities.
        rate: learning rate of Adam.

    Returns:
        dict with the `losses`, the `weights` and the absolute `errors` before each
        step, and the final `priorities` and `variables`.

    Raises:
        ValueError: there are no states or no rows, sizes differ, or an action or a row
            is out of range.
    """
    check(states.shape[:1], actions=actions, targets=targets)
    check_actions(actions, start["head/kernel"])
    check_rows(rows, len(states))
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        state = tf.placeholder(states.dtype, [None, states.shape[1]])
        action = tf.placeholder(actions.dtype, [None])
        target = tf.placeholder(targets.dtype, [None])
        weight = tf.placeholder(targets.dtype, [None])
        with tf.variable_scope("q"):
            values = outputs_of(variables_of(start), state)
        missing = chosen(values, action) - target
        # --- step
        absolute = tf.abs(missing)
        quadratic = tf.minimum(absolute, 1.0)
        huber = 0.5 * tf.square(quadratic) + (absolute - quadratic)
        loss = tf.reduce_mean(weight * huber)
        step = tf.train.AdamOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        priorities = np.ones(len(states), states.dtype)
        history = []
        for drawn in rows:
            weights = importance(priorities, drawn, alpha, beta)
            feed = {state: states[drawn], action: actions[drawn]}
            feed.update({target: targets[drawn], weight: weights})
            # The gradient reads the error, so this fetches the error before the step.
            value, error, _ = sess.run([loss, absolute, step], feed)
            priorities[drawn] = error + 1e-6
            history.append((value, weights, error))
        losses, weights, errors = map(np.array, zip(*history))
        variables = sess.run({v.op.name: v for v in tf.trainable_variables()})
        return {
            "losses": losses,
            "weights": weights,
            "errors": errors,
            "priorities": priorities,
            "variables": variables,
        }


def importance(priorities, drawn, alpha, beta):
    """Computes importance weights of drawn rows; the rarest row has weight 1."""
    # --- weights
    shares = priorities**alpha
    shares = shares / shares.sum()
    weights = (len(shares) * shares) ** -beta
    return weights[drawn] / weights.max()


def check_rows(rows, size):
    """Raises if row ids are not in the memory: NumPy would count -1 from its end."""
    if not rows.size or rows.min() < 0 or rows.max() >= size:
        raise ValueError(
            "rows must not be empty, and each must be from 0 to {}".format(size - 1)
        )


def make_noisy_dense(units, sigma=0.5, name="noisy"):
    """Makes a noisy dense layer, as in NoisyNet, with factorised noise.

    Args:
        units: size of the output.
        sigma: initial scale of the noise, divided by the root of the number of
            features.
        name: scope of the variables `mu_w`, `sigma_w`, [features, units], `mu_b` and
            `sigma_b`, [units].

    Returns:
        Callable from an [n, features] float tensor, and the noises of the inputs,
        [features], and of the units, [units], to an [n, units] tensor. Without noises
        it uses the means, as in an evaluation.

    Raises:
        ValueError: in a call: the noises have other sizes than the layer, or the number
            of features is unknown.
    """

    def dense(x, noise_in=None, noise_out=None):
        size = x.shape[1].value
        if size is None:
            raise ValueError("the number of features must be defined")
        # --- variables
        draw = tf.random_uniform_initializer(-(size**-0.5), size**-0.5, 1, x.dtype)
        fill = tf.constant_initializer(sigma * size**-0.5)
        mu_w = tf.get_variable("mu_w", [size, units], x.dtype, draw)
        sigma_w = tf.get_variable("sigma_w", [size, units], x.dtype, fill)
        mu_b = tf.get_variable("mu_b", [units], x.dtype, draw)
        sigma_b = tf.get_variable("sigma_b", [units], x.dtype, fill)
        if noise_in is None:
            return tf.matmul(x, mu_w) + mu_b
        # --- noise
        noise_in.shape.assert_is_compatible_with([size])
        noise_out.shape.assert_is_compatible_with([units])
        of_inputs, of_units = flattened(noise_in), flattened(noise_out)
        noise = tf.expand_dims(of_inputs, 1) * of_units
        return tf.matmul(x, mu_w + sigma_w * noise) + (mu_b + sigma_b * of_units)

    return tf.make_template(name, dense)


def flattened(noise):
    """Computes sign(noise) * sqrt(|noise|), NoisyNet's f."""
    return tf.sign(noise) * tf.sqrt(tf.abs(noise))
