"""A2C: `reuse=True`, in-graph sampling, entropy, `clip_by_global_norm`, RMSProp.

The program of OpenAI's blog post of 2017 on A2C, the synchronous form of Mnih et al.,
"Asynchronous methods for deep reinforcement learning", ICML, 2016: mazes, not Atari.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

MOVES = np.array([[-1, 0], [1, 0], [0, 1], [0, -1]])  # up, down, right, left
MAX_EPISODE_STEPS = 20
UNITS = 20
N_ENVS, N_STEPS = 8, 5
GAMMA, ALPHA, EPSILON = 0.99, 0.99, 1e-5
ENT_COEF, VF_COEF, MAX_GRAD_NORM = 0.01, 0.5, 0.1
LEARNING_RATE, TOTAL_STEPS = 0.5, 512


class Mazes:
    """Several mazes that are played at once; the observations are one-hot cells.

    Args:
        rewards: [rows, columns] float array, see `train`.
    """

    def __init__(self, rewards):
        self.rewards, self.last = rewards, np.array(rewards.shape) - 1
        self.cells = np.zeros([N_ENVS, 2], int)
        self.moves = np.zeros(N_ENVS, int)

    def observe(self):
        numbers = np.ravel_multi_index(self.cells.T, self.rewards.shape)
        return np.eye(self.rewards.size, dtype=self.rewards.dtype)[numbers]

    def step(self, actions):
        self.cells = np.clip(self.cells + MOVES[actions], 0, self.last)
        self.moves += 1
        rewards = self.rewards[tuple(self.cells.T)]
        dones = (abs(rewards) >= 1) | (self.moves == MAX_EPISODE_STEPS)
        self.cells[dones] = self.moves[dones] = 0
        return self.observe(), rewards, dones


def sample(logits):
    """Draws an action for each row of logits: the Gumbel-max trick."""
    noise = tf.random.uniform(tf.shape(logits), dtype=logits.dtype, seed=4)
    return tf.argmax(logits - tf.math.log(-tf.math.log(noise)), 1)


def cat_entropy(logits):
    """Computes the entropy of the distribution of each row, in nats."""
    a0 = logits - tf.reduce_max(logits, 1, keepdims=True)
    ea0 = tf.exp(a0)
    z0 = tf.reduce_sum(ea0, 1, keepdims=True)
    return tf.reduce_sum(ea0 / z0 * (tf.math.log(z0) - a0), 1)


class Policy(tf.Module):
    """An actor and a critic with one body: [n, cells] floats to logits and values.

    Args:
        n_features: size of an observation.
        dtype: float dtype of the observations and of the variables.
    """

    def __init__(self, n_features, dtype):
        super().__init__()

        def fc(scope, inputs, nh, init_scale):
            w = initializers.orthogonal(init_scale, seed=1)([inputs, nh], dtype)
            w = tf.Variable(w, name=f"model/{scope}/w")
            return w, tf.Variable(tf.zeros([nh], dtype), name=f"model/{scope}/b")

        self.fc1 = fc("fc1", n_features, UNITS, np.sqrt(2))
        self.pi = fc("pi", UNITS, len(MOVES), 0.01)
        self.v = fc("v", UNITS, 1, 1.0)
        spec = tf.TensorSpec([None, n_features], dtype, "x")
        self.step = tf.function(self.act, input_signature=[spec])
        self.serve = tf.function(self.predict, input_signature=[spec])

    def __call__(self, x):
        (w, b), (w_pi, b_pi), (w_v, b_v) = self.fc1, self.pi, self.v
        h = tf.nn.relu(tf.matmul(x, w) + b)
        return tf.matmul(h, w_pi) + b_pi, (tf.matmul(h, w_v) + b_v)[:, 0]

    def act(self, x):
        """Draws actions; returns them and the values of the observations."""
        logits, values = self(x)
        return sample(logits), values

    def predict(self, x):
        """Returns the probabilities of the actions, and the values."""
        logits, values = self(x)
        return {"pi": tf.nn.softmax(logits), "vf": values}


class Model(tf.Module):
    """A policy, the RMSProp that trains it, and the global step.

    Args:
        n_features, dtype: see `Policy`.
    """

    def __init__(self, n_features, dtype):
        super().__init__()
        self.policy = Policy(n_features, dtype)
        # In the order of creation, in which v1 summed the norms of the gradients.
        self.params = [*self.policy.fc1, *self.policy.pi, *self.policy.v]
        rate = tf.keras.optimizers.schedules.PolynomialDecay(
            LEARNING_RATE, TOTAL_STEPS, 0.0
        )
        self.optimizer = optimizers.RMSProp(rate, decay=ALPHA, epsilon=EPSILON)
        self.optimizer.create_slots(self.params)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")

    @tf.function
    def train(self, obs, actions, returns, values):
        """Takes one step; returns policy loss, value loss and entropy before it."""
        # The values were computed during the moves: advantages get no gradient.
        advantages = returns - values
        with tf.GradientTape() as tape:
            logits, vf = self.policy(obs)
            neglogpac = tf.nn.sparse_softmax_cross_entropy_with_logits(
                logits=logits, labels=actions
            )
            pg_loss = tf.reduce_mean(advantages * neglogpac)
            vf_loss = tf.reduce_mean(tf.square(vf - returns) / 2.0)
            entropy = tf.reduce_mean(cat_entropy(logits))
            loss = pg_loss - entropy * ENT_COEF + vf_loss * VF_COEF
        grads = tape.gradient(loss, self.params)
        grads, _ = tf.clip_by_global_norm(grads, MAX_GRAD_NORM)
        self.optimizer.apply_gradients(zip(grads, self.params), self.global_step)
        return pg_loss, vf_loss, entropy


def discount_with_dones(rewards, dones, values):
    """Computes n-step returns; `values` are those of the states after the steps."""
    returns, running = np.zeros_like(rewards), values
    for t in reversed(range(len(rewards))):
        running = rewards[t] + GAMMA * running * ~dones[t]
        returns[t] = running
    return returns


def train(maze, steps, checkpoint=None, folder=None):
    """Trains an actor and a critic with A2C in several copies of a maze."""
    # --- build
    env = Mazes(maze)
    tf.random.set_seed(7)
    model = Model(maze.size, maze.dtype)
    variables = restore.named(model)
    if checkpoint is not None:
        restore.by_name(checkpoint, variables)
    # --- run
    rows, obs = [], env.observe()
    for _ in range(steps):
        # --- act
        batch = []
        for _ in range(N_STEPS):
            actions, values = (x.numpy() for x in model.policy.step(obs))
            nexts, rewards, dones = env.step(actions)
            batch.append((obs, actions, values, rewards, dones))
            obs = nexts
        mb_obs, mb_actions, mb_values, mb_rewards, mb_dones = map(np.array, zip(*batch))
        last_values = model.policy.serve(obs)["vf"].numpy()
        # --- learn
        mb_returns = discount_with_dones(mb_rewards, mb_dones, last_values)
        arrays = mb_obs, mb_actions, mb_returns, mb_values
        flat = [tf.constant(a.reshape(-1, *a.shape[2:])) for a in arrays]
        rows.append([*model.train(*flat), mb_rewards.mean()])
    # --- save
    if folder is not None:
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    names = "policy_losses", "value_losses", "entropies", "mean_rewards"
    values = {name: v.numpy() for name, v in variables.items()}
    return {**dict(zip(names, np.array(rows).T)), "variables": values}


def restored(n_features, dtype, checkpoint):
    """Makes a policy with the weights of a checkpoint."""
    policy = Policy(n_features, dtype)
    restore.by_name(checkpoint, restore.named(policy))
    return policy


def evaluate(maze, moves, checkpoint):
    """Plays mazes with sampled actions, and computes the values of all cells."""
    env = Mazes(maze)
    # --- restore
    tf.random.set_seed(7)
    policy = restored(maze.size, maze.dtype, checkpoint)
    # --- run
    total, episodes, obs = [], 0, env.observe()
    for _ in range(moves):
        actions, _ = policy.step(obs)
        obs, rewards, dones = env.step(actions.numpy())
        total.append(rewards)
        episodes += np.sum(dones)
    cells = np.eye(maze.size, dtype=maze.dtype)
    values = policy.serve(cells)["vf"].numpy().reshape(maze.shape)
    return {"mean_reward": np.mean(total), "episodes": episodes, "values": values}


def export(observations, checkpoint, folder):
    """Exports the actor and the critic as a SavedModel, and asks them once."""
    # --- save
    policy = restored(observations.shape[1], observations.dtype, checkpoint)
    signatures = {"serving_default": policy.serve}
    tf.saved_model.save(policy, folder, signatures=signatures)
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    answer = signature(x=tf.constant(observations))
    return {name: value.numpy() for name, value in answer.items()}
