"""PPO, DDPG, A3C, SAC, prioritized replay: scopes, assign ops → variables, tapes."""

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers

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


def variables_of(start, scope):
    return {n: tf.Variable(value, name=f"{scope}/{n}") for n, value in start.items()}


def values_of(*networks):
    variables = [v for weights in networks for v in weights.values()]
    return {v.name.partition(":")[0]: v.numpy() for v in variables}


def copy(source, target):
    for name, variable in target.items():
        variable.assign(source[name])


def check(size, **arrays):
    """Raises if arrays differ in shape: [n, 1] and [n] would broadcast to [n, n]."""
    if 0 in size:
        raise ValueError(f"states must not be empty: their first sizes are {size}")
    for name, array in arrays.items():
        if array.shape != size:
            raise ValueError(
                f"{name} must have the shape {size}, like the states, not {array.shape}"
            )


def check_actions(actions, kernel):
    """Raises if an action is out of range; `tf.gather` would raise only on a CPU."""
    if actions.min() < 0 or actions.max() >= kernel.shape[1]:
        raise ValueError(f"actions must be from 0 to {kernel.shape[1] - 1}")


def policy_of(weights, x):
    """Computes (log probabilities of actions [n, actions], values of states [n])."""
    hidden = tf.tanh(tf.matmul(x, weights["body/kernel"]) + weights["body/bias"])
    logits = tf.matmul(hidden, weights["policy/kernel"]) + weights["policy/bias"]
    values = tf.matmul(hidden, weights["value/kernel"]) + weights["value/bias"]
    return tf.nn.log_softmax(logits), tf.squeeze(values, 1)


def chosen(rows, actions):
    """Selects the number of each row that belongs to the row's action."""
    return tf.gather(rows, actions, batch_dims=1)


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
    """Trains a policy with PPO: clips its ratio to the policy before the batch."""
    check(states.shape[:2], actions=actions, returns=returns)
    check_actions(actions, start["policy/kernel"])
    if epochs < 1:
        raise ValueError("epochs must be at least 1")
    # --- build
    new, old = variables_of(start, "pi"), variables_of(start, "old_pi")
    variables = list(new.values())
    optimizer = optimizers.Adam(rate, epsilon=1e-5).create_slots(variables)

    # --- loss
    def terms_of(state, action, wanted):
        log_probs, values = policy_of(new, state)
        old_log_probs, _ = policy_of(old, state)
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
        return loss, entropy, tf.reduce_mean(far)

    # --- step
    @tf.function
    def step(*batch):
        with tf.GradientTape() as tape:
            terms = terms_of(*batch)
        optimizer.apply_gradients(zip(tape.gradient(terms[0], variables), variables))
        return tf.stack(terms)

    # --- run
    history = []
    for batch in zip(*map(tf.constant, (states, actions, returns))):
        copy(new, old)
        history.append([step(*batch).numpy() for _ in range(epochs)])
    return {"terms": np.array(history), "variables": values_of(new, old)}


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
    """Trains an actor and a critic with DDPG, with a target network for each."""
    size = states.shape[:2]
    check(size, actions=actions[..., 0], rewards=rewards, over=over)
    check(states.shape, nexts=nexts)

    def act(weights, x):
        return bound * tf.tanh(outputs_of(weights, x))

    def judge(weights, x, action):
        return tf.squeeze(outputs_of(weights, tf.concat([x, action], 1)), 1)

    # --- build
    actor, critic, actor_target, critic_target = networks = [
        variables_of(start[name.partition("_")[0]], name)
        for name in ("actor", "critic", "actor_target", "critic_target")
    ]
    of_actor, of_critic = list(actor.values()), list(critic.values())
    adams = [optimizers.Adam(rate) for rate in rates]
    for adam, variables in zip(adams, (of_actor, of_critic)):
        adam.create_slots(variables)

    @tf.function
    def step(before, action, reward, after, ends):
        # --- critic
        later = judge(critic_target, after, act(actor_target, after))
        wanted = reward + discount * (1 - ends) * later

        def error():
            return tf.reduce_mean(tf.square(wanted - judge(critic, before, action)))

        loss = adams[1].minimize(error, of_critic)
        # --- actor
        # With the updated critic: one tape for both steps would use the old critic.
        with tf.GradientTape() as tape:
            acted = act(actor, before)
            worse = -judge(critic, before, acted)
        gradients = [g / states.shape[1] for g in tape.gradient(worse, of_actor)]
        adams[0].apply_gradients(zip(gradients, of_actor))
        # --- follow
        for source, target in zip(networks[:2], networks[2:]):
            for name, variable in target.items():
                variable.assign(tau * source[name] + (1 - tau) * variable)
        return loss, acted

    # --- run
    batches = zip(*map(tf.constant, (states, actions, rewards, nexts, over)))
    losses, taken = zip(*[step(*batch) for batch in batches])
    return {
        "losses": np.array(losses),
        "actions": np.array(taken),
        "variables": values_of(*networks),
    }


def train_workers(
    states, actions, returns, start, order, limit=40.0, bonus=0.01, rate=0.01
):
    """Trains with A3C: gradients of the workers' older copies update one network."""
    check(states.shape[:2], actions=actions, returns=returns)
    check_actions(actions, start["policy/kernel"])
    if len(order) != len(states) or min(order) < 0:
        raise ValueError(
            "order must have one worker number >= 0 for each step of states"
        )
    # --- build
    shared = variables_of(start, "global")
    moved = list(shared.values())
    optimizer = optimizers.RMSProp(rate, 0.99, epsilon=0.1).create_slots(moved)

    # --- worker
    def make_worker(scope):
        own = variables_of(start, scope)

        @tf.function
        def train(state, action, wanted):
            with tf.GradientTape() as tape:
                log_probs, values = policy_of(own, state)
                advantage = tf.stop_gradient(wanted - values)
                policy_loss = -tf.reduce_sum(chosen(log_probs, action) * advantage)
                value_loss = tf.reduce_sum(tf.square(wanted - values))
                entropy = tf.reduce_sum(entropy_of(log_probs))
                loss = 0.5 * value_loss + policy_loss - bonus * entropy
            gradients = tape.gradient(loss, list(own.values()))
            clipped, _ = tf.clip_by_global_norm(gradients, limit)
            optimizer.apply_gradients(zip(clipped, moved))
            copy(shared, own)
            return loss

        return own, train

    copies, train = zip(*[make_worker(f"worker_{i}") for i in range(max(order) + 1)])
    # --- run
    batches = zip(*map(tf.constant, (states, actions, returns)))
    losses = [train[i](*batch).numpy() for i, batch in zip(order, batches)]
    return {"losses": np.array(losses), "variables": values_of(shared, *copies)}


def gaussian_terms(mean, log_std, actions):
    """Computes log probability and entropy of a Gaussian policy's actions."""
    mean, actions = map(tf.convert_to_tensor, (mean, actions))
    mean.shape.assert_is_compatible_with(actions.shape)
    # --- terms
    std = tf.exp(log_std)
    log_std = tf.math.log(std * tf.ones_like(mean))
    return {
        "log_prob": tf.reduce_sum(normal_log_prob(actions, mean, std), 1),
        "entropy": tf.reduce_sum(HALF_LOG + 0.5 + log_std, 1),
    }


HALF_LOG = 0.5 * np.log(2 * np.pi)


def normal_log_prob(x, mean, std):
    """Computes the log density of normal distributions."""
    return -0.5 * tf.square((x - mean) / std) - (HALF_LOG + tf.math.log(std))


def squashed_action(mean, log_std, noise, epsilon=1e-6):
    """Computes an action squashed by tanh, and its log probability, as SAC does."""
    mean, noise = map(tf.convert_to_tensor, (mean, noise))
    mean.shape.assert_is_compatible_with(noise.shape)
    # --- draw
    std = tf.exp(tf.clip_by_value(log_std, -20.0, 2.0))
    drawn = mean + noise * std
    action = tf.tanh(drawn)
    # --- log probability
    log_prob = normal_log_prob(drawn, mean, std)
    if epsilon is None:
        slope = 2 * (np.log(2) - drawn - tf.math.softplus(-2 * drawn))
    else:
        slope = tf.math.log(1 - tf.square(action) + epsilon)
    return action, tf.reduce_sum(log_prob, 1) - tf.reduce_sum(slope, 1)


def discounted_returns(rewards, over, last, discount=0.99):
    """Computes the discounted return of each step, until the end of its episode."""
    rewards, over, last = map(tf.convert_to_tensor, (rewards, over, last))
    rewards.shape.assert_is_compatible_with(over.shape)
    rewards.shape[1:].assert_is_compatible_with(last.shape)

    # --- scan
    def step(later, row):
        reward, end = row
        return reward + discount * (1 - end) * later

    return tf.scan(step, (rewards, over), last, reverse=True)


def estimate_advantages(rewards, values, over, last, discount=0.99, share=0.95):
    """Computes generalized advantage estimates (GAE) of each step."""
    rewards, values, over, last = map(
        tf.convert_to_tensor, (rewards, values, over, last)
    )
    for tensor in (values, over):
        rewards.shape.assert_is_compatible_with(tensor.shape)
    rewards.shape[1:].assert_is_compatible_with(last.shape)
    # --- errors
    after = tf.concat([values[1:], last[tf.newaxis]], 0)
    goes_on = 1 - over
    errors = rewards + discount * goes_on * after - values

    # --- scan
    def step(later, row):
        error, go = row
        return error + discount * share * go * later

    found = tf.scan(step, (errors, goes_on), tf.zeros_like(last), reverse=True)
    return tf.stop_gradient(found)


def train_prioritized(
    states, actions, targets, rows, start, alpha=0.6, beta=0.4, rate=0.01
):
    """Trains a Q network with prioritized replay; new errors become the priorities."""
    check(states.shape[:1], actions=actions, targets=targets)
    check_actions(actions, start["head/kernel"])
    check_rows(rows, len(states))
    # --- build
    network = variables_of(start, "q")
    variables = list(network.values())
    optimizer = optimizers.Adam(rate).create_slots(variables)

    # --- step
    @tf.function
    def step(state, action, target, weight):
        with tf.GradientTape() as tape:
            missing = chosen(outputs_of(network, state), action) - target
            absolute = tf.abs(missing)
            quadratic = tf.minimum(absolute, 1.0)
            huber = 0.5 * tf.square(quadratic) + (absolute - quadratic)
            loss = tf.reduce_mean(weight * huber)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss, absolute

    # --- run
    priorities = np.ones(len(states), states.dtype)
    history = []
    for drawn in rows:
        weights = importance(priorities, drawn, alpha, beta)
        batch = states[drawn], actions[drawn], targets[drawn], weights
        value, error = step(*map(tf.constant, batch))
        priorities[drawn] = error + 1e-6
        history.append((value, weights, error))
    losses, weights, errors = map(np.array, zip(*history))
    return {
        "losses": losses,
        "weights": weights,
        "errors": errors,
        "priorities": priorities,
        "variables": values_of(network),
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
            f"rows must not be empty, and each must be from 0 to {size - 1}"
        )


def make_noisy_dense(units, sigma=0.5, name="noisy"):
    """Makes a noisy dense layer, as in NoisyNet, with factorised noise.

    Returns a `NoisyDense`; see the class.
    """
    return NoisyDense(units, sigma, name)


class NoisyDense(tf.Module):
    """A dense layer whose kernel and bias are a mean plus scaled noise (NoisyNet).

        kernel = mu_w + sigma_w f(noise_in) f(noise_out)ᵀ, f(x) = sign(x) sqrt(|x|)

    See Fortunato et al., 2017. A call takes x, [n, features] floats, and optionally the
    noises of the inputs, [features], and of the units, [units]; without them it uses
    the means. It returns [n, units]. The first call makes the variables.

    Args:
        units: size of the output.
        sigma: initial scale of the noise, times the inverse root of the number of
            features.
        name: scope of the variables `mu_w`, `sigma_w`, [features, units], `mu_b` and
            `sigma_b`, [units].

    Raises:
        ValueError: in a call: the noises have other sizes than the layer, or the number
            of features is unknown.
    """

    def __init__(self, units, sigma, name):
        super().__init__()  # without the name: tf.Module accepts no "/" in a name
        self.units, self.sigma, self.path = units, sigma, name
        self.mu_w = None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.mu_w is not None

    def build(self, size, dtype):
        """Makes the variables; the first call does this."""
        if size is None:
            raise ValueError("the number of features must be defined")
        root = size**-0.5
        draw = initializers.random_uniform(-root, root, seed=1)
        for part, shape in ("w", [size, self.units]), ("b", [self.units]):
            scale = tf.fill(shape, tf.cast(self.sigma * root, dtype))
            with tf.name_scope(""):  # an outer scope does not change the names
                mu = tf.Variable(draw(shape, dtype), name=f"{self.path}/mu_{part}")
                sigma = tf.Variable(scale, name=f"{self.path}/sigma_{part}")
            setattr(self, f"mu_{part}", mu)
            setattr(self, f"sigma_{part}", sigma)

    def __call__(self, x, noise_in=None, noise_out=None):
        # --- variables
        if self.mu_w is None:
            self.build(x.shape[1], x.dtype)
        if noise_in is None:
            return tf.matmul(x, self.mu_w) + self.mu_b
        # --- noise
        noise_in.shape.assert_is_compatible_with([x.shape[1]])
        noise_out.shape.assert_is_compatible_with([self.units])
        of_inputs, of_units = flattened(noise_in), flattened(noise_out)
        noise = of_inputs[:, tf.newaxis] * of_units
        kernel = self.mu_w + self.sigma_w * noise
        return tf.matmul(x, kernel) + (self.mu_b + self.sigma_b * of_units)


def flattened(noise):
    """Computes sign(noise) * sqrt(|noise|), NoisyNet's f."""
    return tf.sign(noise) * tf.sqrt(tf.abs(noise))
