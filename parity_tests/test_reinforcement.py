import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.shorthand import friend, refused
from tf1to2.parity import Layer, Op, Program, Raises, normal, uniform
from v1_graph import reinforcement as v1
from v2_eager import reinforcement as v2
from v2_eager.numerics import optimizers

UNITS, ACTIONS, STEPS, ROWS, FEATURES = 5, 4, 4, 67, 3


def drawn(*sizes, seed=0, scale=1.0):
    """Draws normal numbers; each use has its own seed."""
    return (scale * np.random.RandomState(seed).normal(size=sizes)).astype("f")


def network(inputs, heads, seed, scale=0.7):
    """Draws initial weights of a network: a body, and heads {name: size}."""
    sizes = {"body/kernel": [inputs, UNITS], "body/bias": [UNITS]}
    for head, size in heads.items():
        sizes |= {f"{head}/kernel": [UNITS, size], f"{head}/bias": [size]}
    return {
        name: drawn(*size, seed=100 * seed + i, scale=scale)
        for i, (name, size) in enumerate(sizes.items())
    }


RANDOM = np.random.RandomState(20)
STATES = drawn(STEPS, ROWS, FEATURES, seed=1)
NEXTS = drawn(STEPS, ROWS, FEATURES, seed=2)
DONE = RANDOM.randint(0, ACTIONS, [STEPS, ROWS]).astype("i4")
MOVES = drawn(STEPS, ROWS, 2, seed=3)
REWARDS = drawn(STEPS, ROWS, seed=4)
RETURNS = drawn(STEPS, ROWS, seed=5, scale=2.0)
OVER = RANDOM.randint(0, 2, [STEPS, ROWS]).astype("f")
POLICY = network(FEATURES, {"policy": ACTIONS, "value": 1}, 1)
PAIR = {
    "actor": network(FEATURES, {"head": 2}, 2, 0.4),
    "critic": network(FEATURES + 2, {"head": 1}, 3),
}
Q = network(FEATURES, {"head": ACTIONS}, 4)

PPO = [STATES, DONE, RETURNS, POLICY]
DDPG = [STATES, MOVES, REWARDS, NEXTS, OVER, PAIR]
A3C = [STATES, DONE, RETURNS, POLICY]
ORDER = [0, 1, 1, 0]
DRAWN_ROWS = RANDOM.randint(0, ROWS, [6, 64])
MEMORY = [STATES[0], DONE[0], RETURNS[0], DRAWN_ROWS, Q]

# --- Wrong programs that people write instead of the right page.


def ppo(states, actions, returns, start, epochs, held=True, ratio_of=None):
    """Runs `train_ppo` with its defaults, and one part replaced."""
    new, old = v2.variables_of(start, "pi"), v2.variables_of(start, "old_pi")
    variables, history = list(new.values()), []
    adam = optimizers.Adam(0.01, epsilon=1e-5)
    for state, action, wanted in zip(states, actions, returns):
        v2.copy(new, old)
        history.append([])
        for _ in range(epochs):
            with tf.GradientTape() as tape:
                log_probs, values = v2.policy_of(new, state)
                old_log_probs, _ = v2.policy_of(old, state)
                advantage = wanted - values
                if held:
                    advantage = tf.stop_gradient(advantage)
                mean, variance = tf.nn.moments(advantage, [0])
                advantage = (advantage - mean) / (tf.sqrt(variance) + 1e-8)
                likely = v2.chosen(log_probs, action)
                before = v2.chosen(old_log_probs, action)
                if ratio_of == "itself":
                    before = tf.stop_gradient(likely)
                ratio = tf.exp(likely - before)
                clipped = tf.clip_by_value(ratio, 0.8, 1.2)
                gained = tf.minimum(ratio * advantage, clipped * advantage)
                value_loss = tf.reduce_mean(tf.square(wanted - values))
                entropy = tf.reduce_mean(v2.entropy_of(log_probs))
                loss = -tf.reduce_mean(gained) + 0.5 * value_loss - 0.01 * entropy
                far = tf.cast(tf.abs(ratio - 1) > 0.2, loss.dtype)
            adam.apply_gradients(zip(tape.gradient(loss, variables), variables))
            terms = loss, entropy, tf.reduce_mean(far)
            history[-1].append(tf.stack(terms).numpy())
    return {"terms": np.array(history), "variables": v2.values_of(new, old)}


def ratio_to_itself(*args):
    """Runs `train_ppo` with the policy's ratio to itself: always 1, never clipped."""
    return ppo(*args, ratio_of="itself")


def advantage_with_gradient(*args):
    return ppo(*args, held=False)


def one_tape(states, actions, rewards, nexts, over, start):
    """Runs `train_ddpg`, but computes both gradients before both steps."""
    names = "actor", "critic", "actor_target", "critic_target"
    nets = [v2.variables_of(start[n.partition("_")[0]], n) for n in names]
    actor, critic, actor_target, critic_target = nets
    adams = [optimizers.Adam(0.01), optimizers.Adam(0.02)]
    losses, taken = [], []

    def act(weights, x):
        return 2.0 * tf.tanh(v2.outputs_of(weights, x))

    def judge(weights, x, action):
        return v2.outputs_of(weights, tf.concat([x, action], 1))[:, 0]

    for before, action, reward, after, ends in zip(
        states, actions, rewards, nexts, over
    ):
        later = judge(critic_target, after, act(actor_target, after))
        wanted = reward + 0.9 * (1 - ends) * later
        with tf.GradientTape(persistent=True) as tape:
            acted = act(actor, before)
            missing = wanted - judge(critic, before, action)
            loss = tf.reduce_mean(tf.square(missing))
            worse = -tf.reduce_mean(judge(critic, before, acted))
        for adam, value, net in zip(adams, (worse, loss), (actor, critic)):
            variables = list(net.values())
            adam.apply_gradients(zip(tape.gradient(value, variables), variables))
        for source, target in zip(nets[:2], nets[2:]):
            for name, variable in target.items():
                variable.assign(0.125 * source[name] + 0.875 * variable)
        losses.append(loss.numpy())
        taken.append(acted.numpy())
    return {
        "losses": np.array(losses),
        "actions": np.array(taken),
        "variables": v2.values_of(*nets),
    }


def one_network(states, actions, returns, start, order):
    """Runs `train_workers` with gradients at the current global network."""
    found = v2.train_workers(states, actions, returns, start, [0] * len(order))
    weights = found["variables"]
    shared = {n: v for n, v in weights.items() if n.startswith("global")}
    copies = {
        n.replace("global", f"worker_{i}"): v for n, v in shared.items() for i in (0, 1)
    }
    return {**found, "variables": {**shared, **copies}}


def exact_correction(mean, log_std, noise):
    return v2.squashed_action(mean, log_std, noise, epsilon=None)


def by_cumsum(rewards, over, last):
    """Discounts with `cumsum` over the whole time; it ignores the ends of episodes."""
    powers = 0.99 ** tf.range(len(rewards) + 1, dtype=rewards.dtype)
    rows = tf.concat([rewards, last[tf.newaxis]], 0) * powers[:, tf.newaxis]
    return (tf.cumsum(rows, reverse=True) / powers[:, tf.newaxis])[:-1]


def ends_of_the_next(rewards, values, over, last):
    """Uses `over` as in OpenAI baselines: whether an episode ended before the step."""
    over = tf.concat([tf.zeros_like(over[:1]), over[:-1]], 0)
    return v2.estimate_advantages(rewards, values, over, last)


def errors_after(states, actions, targets, rows, start):
    """Runs `train_prioritized` with the errors of a second call, after the step."""
    net = v2.variables_of(start, "q")
    variables, adam = list(net.values()), optimizers.Adam(0.01)
    priorities, history = np.ones(len(states), states.dtype), []
    for taken in rows:
        weights = v2.importance(priorities, taken, 0.6, 0.4)

        def missing(taken=taken):
            values = v2.outputs_of(net, states[taken])
            return tf.abs(v2.chosen(values, actions[taken]) - targets[taken])

        def loss(missing=missing, weights=weights):
            short = tf.minimum(missing(), 1.0)
            return tf.reduce_mean(weights * (0.5 * short**2 + (missing() - short)))

        value = adam.minimize(loss, variables)
        error = missing().numpy()
        priorities[taken] = error + 1e-6
        history.append((value.numpy(), weights, error))
    losses, weights, errors = map(np.array, zip(*history))
    return {
        "losses": losses,
        "weights": weights,
        "errors": errors,
        "priorities": priorities,
        "variables": v2.values_of(net),
    }


class NoiseAsItComes(v2.NoisyDense):
    """A `NoisyDense` without the root of the noise."""

    def __init__(self, units):
        super().__init__(units, 0.5, "noisy")

    def __call__(self, x, noise_in, noise_out):
        mean = super().__call__(x)
        kernel = self.sigma_w * noise_in[:, tf.newaxis] * noise_out
        return mean + tf.matmul(x, kernel) + self.sigma_b * noise_out


SPECS = [normal("n", 2), normal("n", 2), normal("n", 2)]
MILD = [normal("n", 2), normal("n", 2, scale=0.25), normal("n", 2, scale=0.75)]
ENDS = (np.random.RandomState(21).uniform(size=[80, 13]) < 0.1).astype("f")
TIMES = [drawn(80, 13, seed=22), ENDS, drawn(13, seed=23)]
WITH_VALUES = [TIMES[0], drawn(80, 13, seed=24), *TIMES[1:]]
SHORT = [drawn(7, 3, seed=25), ENDS[20:27, :3], drawn(3, seed=26)]
NOISY = [normal("n", 6), normal(6), normal(5)]
BAD_ACTIONS = [np.full_like(DONE, 4), np.full_like(DONE, -1)]
NONE = np.zeros([2, 0, FEATURES], "f")

CASES = [
    Program("train_ppo", "four batches, three epochs", [*PPO, 3]),
    Program(
        "train_ppo",
        "a narrow clip, other weights",
        [*PPO, 4],
        {"clip": 0.05, "value_weight": 0.25, "bonus": 0.125, "rate": 0.05},
    ),
    friend(
        "train_ppo",
        "a ratio to itself",
        [*PPO, 3],
        ratio_to_itself,
        "the ratio is 1, whatever the policy does: nothing is clipped",
    ),
    friend(
        "train_ppo",
        "an advantage with a gradient",
        [*PPO, 3],
        advantage_with_gradient,
        "the values are moved by the surrogate, too",
    ),
    refused(
        "train_ppo",
        "returns of one column",
        [STATES, DONE, RETURNS[..., None], POLICY, 1],
        r"returns must have the shape \(4, 67\), like the states, not \(4, 67, 1\)",
    ),
    refused(
        "train_ppo",
        "other actions",
        [STATES, DONE[:, 1:], RETURNS, POLICY, 1],
        r"actions must have the shape \(4, 67\), like the states, not \(4, 66\)",
    ),
    *(
        refused(
            name,
            slug,
            [STATES, actions, RETURNS, POLICY, last],
            "actions must be from 0 to 3",
        )
        for name, last in [("train_ppo", 1), ("train_workers", ORDER)]
        for slug, actions in zip(("an action too many", "action -1"), BAD_ACTIONS)
    ),
    refused("train_ppo", "no epochs", [*PPO, 0], "epochs must be at least 1"),
    refused(
        "train_ppo",
        "no states",
        [NONE, np.zeros([2, 0], "i"), NONE[..., 0], POLICY, 1],
        "states must not be empty",
    ),
    Program("train_ddpg", "four steps", DDPG),
    Program(
        "train_ddpg",
        "other numbers",
        DDPG,
        {"bound": 0.5, "tau": 0.5, "discount": 0.75, "rates": (0.05, 0.125)},
    ),
    friend(
        "train_ddpg",
        "one tape for both",
        DDPG,
        one_tape,
        "the actor's gradient is that of a critic before its step",
    ),
    *(
        refused("train_ddpg", f"other {name}", args, f"{name} must have the shape")
        for name, args in [
            ("actions", [STATES, MOVES[1:], *DDPG[2:]]),
            ("rewards", [STATES, MOVES, REWARDS[..., None], *DDPG[3:]]),
            ("nexts", [*DDPG[:3], NEXTS[:, 1:], *DDPG[4:]]),
            ("over", [*DDPG[:4], OVER[..., None], PAIR]),
        ]
    ),
    refused(
        "train_ddpg",
        "no states",
        [NONE, NONE, NONE[..., 0], NONE, NONE[..., 0], PAIR],
        "states must not be empty",
    ),
    Program("train_workers", "two in turn", [*A3C, ORDER]),
    Program(
        "train_workers",
        "three, one waits",
        [*A3C, [0, 2, 1, 2]],
        {"limit": 1.0, "bonus": 0.5, "rate": 0.05},
    ),
    friend(
        "train_workers",
        "gradients at the global network",
        [*A3C, ORDER],
        one_network,
        "a worker's copy is as old as its last step",
    ),
    refused(
        "train_workers",
        "a short order",
        [*A3C, [0, 1]],
        "order must have one worker number",
    ),
    refused(
        "train_workers",
        "worker -1",
        [*A3C, [0, 1, 0, -1]],
        "order must have one worker number",
    ),
    refused(
        "train_workers",
        "returns of one column",
        [STATES, DONE, RETURNS[..., None], POLICY, ORDER],
        "returns must have the shape",
    ),
    refused(
        "train_workers",
        "other actions",
        [STATES, DONE[:, 1:], RETURNS, POLICY, ORDER],
        "actions must have the shape",
    ),
    Op("gaussian_terms", "any size", SPECS),
    Op("gaussian_terms", "one deviation for all", [SPECS[0], normal(2), SPECS[2]]),
    Op(
        "gaussian_terms",
        "the standard one",
        [np.zeros([1, 2], "f"), np.zeros([1, 2], "f"), np.zeros([1, 2], "f")],
        expect={"log_prob": [-1.837877], "entropy": [2.837877]},
    ),
    refused(
        "gaussian_terms",
        "actions of one column",
        [drawn(8, 2), drawn(2), drawn(8, 1)],
        "are incompatible",
        of="op",
    ),
    Op("squashed_action", "any size", MILD),
    Op("squashed_action", "exact", MILD, {"epsilon": None}),
    Op("squashed_action", "another epsilon", MILD, {"epsilon": 0.01}),
    friend(
        "squashed_action",
        "the exact correction",
        MILD,
        exact_correction,
        "below 1e-6 the slope of the tanh is lost in the epsilon",
        of="op",
    ),
    refused(
        "squashed_action",
        "noise of one column",
        [drawn(8, 2), drawn(8, 2), drawn(8, 1)],
        "are incompatible",
        of="op",
    ),
    Op(
        "discounted_returns",
        "an end",
        [
            np.ones([4, 1], "f"),
            np.array([[0], [1], [0], [0]], "f"),
            np.array([8], "f"),
            0.5,
        ],
        expect=[[1.5], [1], [3.5], [5]],
    ),
    Op("discounted_returns", "80 steps", TIMES),
    Op(
        "discounted_returns",
        "any size",
        [normal("t", "n"), uniform("t", "n"), normal("n")],
    ),
    friend(
        "discounted_returns",
        "by a sum over powers",
        SHORT,
        by_cumsum,
        "it adds what came after the end",
        of="op",
    ),
    refused(
        "discounted_returns",
        "ends of one column",
        [SHORT[0], SHORT[1][:, :1], SHORT[2]],
        "are incompatible",
        of="op",
    ),
    refused(
        "discounted_returns",
        "one last value",
        [SHORT[0], SHORT[1], SHORT[2][:1]],
        "are incompatible",
        of="op",
    ),
    Op("estimate_advantages", "80 steps", WITH_VALUES),
    Op(
        "estimate_advantages",
        "other shares",
        [normal("t", "n"), normal("t", "n"), uniform("t", "n"), normal("n"), 0.75, 0.5],
    ),
    friend(
        "estimate_advantages",
        "ends before the step",
        WITH_VALUES,
        ends_of_the_next,
        "the value after an end is counted, and the step after it is cut off",
        of="op",
    ),
    *(
        refused("estimate_advantages", slug, args, "are incompatible", of="op")
        for slug, args in [
            ("values of one column", [SHORT[0], SHORT[0][:, :1], *SHORT[1:]]),
            ("ends of one column", [SHORT[0], SHORT[0], SHORT[1][:, :1], SHORT[2]]),
            ("one last value", [SHORT[0], *SHORT[:2], SHORT[2][:1]]),
        ]
    ),
    Program("train_prioritized", "six steps", MEMORY),
    Program(
        "train_prioritized",
        "other powers",
        MEMORY,
        {"alpha": 1.0, "beta": 0.75, "rate": 0.125},
    ),
    friend(
        "train_prioritized",
        "errors after the step",
        MEMORY,
        errors_after,
        "a session fetched the errors that the gradient was taken from",
    ),
    *(
        refused("train_prioritized", slug, args, match)
        for slug, args, match in [
            (
                "targets of one column",
                [*MEMORY[:2], MEMORY[2][:, None], *MEMORY[3:]],
                "targets must have the shape",
            ),
            (
                "other actions",
                [MEMORY[0], DONE[0][1:], *MEMORY[2:]],
                "actions must have the shape",
            ),
            (
                "an action too many",
                [MEMORY[0], BAD_ACTIONS[0][0], *MEMORY[2:]],
                "actions must be from 0 to 3",
            ),
            (
                "a row too many",
                [*MEMORY[:3], np.array([[0, 67]]), Q],
                "rows must not be empty, and each must be from 0 to 66",
            ),
            ("row -1", [*MEMORY[:3], np.array([[0, -1]]), Q], "rows must not be empty"),
            (
                "no rows",
                [*MEMORY[:3], np.zeros([0, 4], "i"), Q],
                "rows must not be empty",
            ),
        ]
    ),
    Layer("make_noisy_dense", "any rows", NOISY, factory={"units": 5}),
    Layer("make_noisy_dense", "evaluated", NOISY[:1], factory={"units": 5}),
    Layer(
        "make_noisy_dense",
        "less noise, another name",
        NOISY,
        factory={"units": 5, "sigma": 0.125, "name": "head"},
    ),
    friend(
        "make_noisy_dense",
        "noise without the root",
        NOISY,
        NoiseAsItComes,
        "the noise is the root of what was drawn, with its sign",
        of="layer",
        factory={"units": 5},
    ),
    *(
        refused(
            "make_noisy_dense",
            slug,
            [drawn(8, 6), drawn(inputs), drawn(outputs)],
            "are incompatible",
            of="layer",
            factory={"units": 5},
        )
        for slug, inputs, outputs in [
            ("one noise for all inputs", 1, 5),
            ("one noise for all units", 6, 1),
        ]
    ),
    Raises.alike(
        "make_noisy_dense",
        "an unknown number of features",
        [drawn(8, 6)],
        ValueError,
        "the number of features must be defined",
        of="layer",
        factory={"units": 5},
        dynamic=True,
        skip={
            "eager": "there all sizes are known",
            "function": "a first call has made the variables",
        },
    ),
]
PROOF = proof(v1, v2, CASES)


class ReinforcementTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class NoisyDenseTest(unittest.TestCase):
    def test_an_unknown_number_of_features(self):
        layer = v2.make_noisy_dense(5)
        call = tf.function(layer, input_signature=[tf.TensorSpec([None, None])])
        with self.assertRaisesRegex(ValueError, "features must be defined"):
            call(tf.ones([2, 3]))
