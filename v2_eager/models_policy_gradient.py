"""REINFORCE: `tf.layers.dense`, `sess.run(all_act_prob)`, `choice(p=…)`, fed returns.

The program of many tutorials of 2016 to 2018: the gradient of Williams, "Simple
statistical gradient-following algorithms for connectionist reinforcement learning",
Machine Learning, 1992, with one training step for each episode of CartPole.
"""

import math
import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

GRAVITY, POLE_MASS, TOTAL_MASS, LENGTH = 9.8, 0.1, 1.1, 0.5
FORCE, TAU = 10.0, 0.02
X_LIMIT, ANGLE_LIMIT = 2.4, math.radians(12)
MAX_EPISODE_STEPS = 60
N_FEATURES, N_ACTIONS, UNITS = 4, 2, 10
LEARNING_RATE = 0.02
GAMMA = 0.99


class CartPole:
    """The cart of `gym`'s CartPole-v0: it balances a pole, with a reward of 1.

    Args:
        dtype: float dtype of the observations.
    """

    def __init__(self, dtype):
        self.dtype = dtype

    def reset(self, state):
        self.state, self.moves = [float(x) for x in state], 0
        return np.array(self.state, self.dtype)

    def step(self, action):
        x, x_dot, angle, angle_dot = self.state
        cos, sin = math.cos(angle), math.sin(angle)
        force = FORCE if action == 1 else -FORCE
        mass_length = POLE_MASS * LENGTH
        push = (force + mass_length * angle_dot**2 * sin) / TOTAL_MASS
        inertia = LENGTH * (4.0 / 3.0 - POLE_MASS * cos**2 / TOTAL_MASS)
        angle_acc = (GRAVITY * sin - cos * push) / inertia
        x_acc = push - mass_length * angle_acc * cos / TOTAL_MASS
        rates = x_dot, x_acc, angle_dot, angle_acc
        self.state = [s + TAU * rate for s, rate in zip(self.state, rates)]
        self.moves += 1
        fallen = abs(self.state[0]) > X_LIMIT or abs(self.state[2]) > ANGLE_LIMIT
        done = fallen or self.moves == MAX_EPISODE_STEPS
        return np.array(self.state, self.dtype), 1.0, done


class Policy(tf.Module):
    """Two dense layers: [n, 4] floats to the logits of the actions, [n, 2].

    Args:
        dtype: float dtype of the observations and of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        normal = initializers.random_normal(0.0, 0.3, seed=1)

        def layer(name, inputs, units):
            kernel = tf.Variable(normal([inputs, units], dtype), name=f"{name}/kernel")
            bias = tf.constant(0.1, dtype, [units])
            return kernel, tf.Variable(bias, name=f"{name}/bias")

        self.fc1 = layer("fc1", N_FEATURES, UNITS)
        self.fc2 = layer("fc2", UNITS, N_ACTIONS)
        spec = tf.TensorSpec([None, N_FEATURES], dtype, "obs")
        self.serve = tf.function(
            lambda obs: {"act_prob": tf.nn.softmax(self(obs))}, input_signature=[spec]
        )

    def __call__(self, obs):
        kernel, bias = self.fc1
        layer = tf.tanh(tf.nn.bias_add(tf.matmul(obs, kernel), bias))
        kernel, bias = self.fc2
        return tf.nn.bias_add(tf.matmul(layer, kernel), bias)


def probabilities(serve, observation):
    """Returns the probabilities of the actions for one observation: an array."""
    return serve(tf.constant(observation[np.newaxis, :]))["act_prob"].numpy().ravel()


class PolicyGradient(tf.Module):
    """A policy, the Adam that trains it, and the global step.

    Args:
        dtype: float dtype of the observations and of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        self.policy = Policy(dtype)
        with tf.name_scope("train"):  # a prefix of the powers, not of the slots
            self.adam = optimizers.Adam(LEARNING_RATE)
        self.adam.create_slots(self.policy.variables)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
        # One trace for all lengths of episodes.
        signature = [
            tf.TensorSpec([None, N_FEATURES], dtype),
            tf.TensorSpec([None], tf.int64),
            tf.TensorSpec([None], dtype),
        ]
        self.learn = tf.function(self.step, input_signature=signature)

    def step(self, obs, acts, vt):
        """Takes one step on the moves of an episode and returns the loss before it."""

        def loss():
            neg_log_prob = tf.nn.sparse_softmax_cross_entropy_with_logits(
                logits=self.policy(obs), labels=acts
            )
            return tf.reduce_mean(neg_log_prob * vt)

        return self.adam.minimize(loss, self.policy.variables, self.global_step)


def discount_and_norm_rewards(rewards):
    """Computes the discounted return after each move, and normalizes the returns."""
    discounted, running = np.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        running = rewards[t] + GAMMA * running
        discounted[t] = running
    return (discounted - np.mean(discounted)) / (np.std(discounted) + 1e-8)


def train(starts, seed, steps, checkpoint=None, folder=None):
    """Trains a policy with REINFORCE: one step after each episode of CartPole."""
    # --- build
    env, random = CartPole(starts.dtype), np.random.RandomState(seed)
    tf.random.set_seed(7)
    agent = PolicyGradient(starts.dtype)
    variables = restore.named(agent)
    if checkpoint is not None:
        restore.by_name(checkpoint, variables)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # A concrete function takes half of the time of a `tf.function` for one move.
    serve = agent.policy.serve.get_concrete_function()
    # --- run
    losses, returns, first = [], [], int(agent.global_step)
    for step in range(first, first + steps):
        # --- act
        ep_obs, ep_as, ep_rs = [], [], []
        observation, done = env.reset(starts[step % len(starts)]), False
        while not done:
            prob_weights = probabilities(serve, observation)
            action = random.choice(N_ACTIONS, p=prob_weights)
            ep_obs.append(observation)
            ep_as.append(action)
            observation, reward, done = env.step(action)
            ep_rs.append(reward)
        # --- learn
        vt = discount_and_norm_rewards(ep_rs).astype(starts.dtype)
        losses.append(agent.learn(np.array(ep_obs), np.array(ep_as), vt).numpy())
        returns.append(sum(ep_rs))
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("loss", losses[-1])
    # --- save
    if folder:
        restore.save(os.path.join(folder, "model.ckpt"), variables)
        writer.close()
    return {
        "losses": np.array(losses),
        "returns": np.array(returns, starts.dtype),
        "variables": {name: v.numpy() for name, v in variables.items()},
    }


def restored(dtype, checkpoint):
    """Makes a policy with the weights of a checkpoint."""
    policy = Policy(dtype)
    restore.by_name(checkpoint, restore.named(policy))
    return policy


def evaluate(starts, checkpoint):
    """Plays an episode from each state with the likelier action of each move."""
    env, lengths = CartPole(starts.dtype), []
    # --- restore
    serve = restored(starts.dtype, checkpoint).serve.get_concrete_function()
    # --- run
    for start in starts:
        observation, done = env.reset(start), False
        while not done:
            action = np.argmax(probabilities(serve, observation))
            observation, _, done = env.step(action)
        lengths.append(env.moves)
    mean_return = np.mean(np.array(lengths, starts.dtype))
    return {"mean_return": mean_return, "lengths": np.array(lengths)}


def export(observations, checkpoint, folder):
    """Exports the policy as a SavedModel, and asks it for probabilities."""
    # --- save
    policy = restored(observations.dtype, checkpoint)
    signatures = {"serving_default": policy.serve}
    tf.saved_model.save(policy, folder, signatures=signatures)
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    return {"act_prob": signature(obs=tf.constant(observations))["act_prob"].numpy()}
