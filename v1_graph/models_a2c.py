"""A2C: `reuse=True`, in-graph sampling, entropy, `clip_by_global_norm`, RMSProp.

The program of OpenAI's blog post of 2017 on A2C, the synchronous form of Mnih et al.,
"Asynchronous methods for deep reinforcement learning", ICML, 2016: mazes, not Atari.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

MOVES = np.array([[-1, 0], [1, 0], [0, 1], [0, -1]])  # up, down, right, left
MAX_EPISODE_STEPS = 20
UNITS = 20
N_ENVS, N_STEPS = 8, 5
GAMMA, ALPHA, EPSILON = 0.99, 0.99, 1e-5
ENT_COEF, VF_COEF, MAX_GRAD_NORM = 0.01, 0.5, 0.1
LEARNING_RATE, TOTAL_STEPS = 0.5, 512


class Mazes:
    """Several mazes that are played at once; the observations are one-hot cells."""

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


def fc(x, scope, nh, init_scale):
    """Applies a dense layer with orthogonal weights: [n, inputs] to [n, nh]."""
    with tf.variable_scope(scope):
        shape = [x.get_shape()[1].value, nh]
        init = tf.orthogonal_initializer(init_scale, seed=1)
        w = tf.get_variable("w", shape, x.dtype, initializer=init)
        b = tf.get_variable("b", [nh], x.dtype, initializer=tf.zeros_initializer())
        return tf.matmul(x, w) + b


def sample(logits):
    """Draws an action for each row of logits: the Gumbel-max trick."""
    noise = tf.random_uniform(tf.shape(logits), dtype=logits.dtype, seed=4)
    return tf.argmax(logits - tf.log(-tf.log(noise)), 1)


def cat_entropy(logits):
    """Computes the entropy of the distribution of each row, in nats."""
    a0 = logits - tf.reduce_max(logits, 1, keepdims=True)
    ea0 = tf.exp(a0)
    z0 = tf.reduce_sum(ea0, 1, keepdims=True)
    return tf.reduce_sum(ea0 / z0 * (tf.log(z0) - a0), 1)


class Policy:
    """The graph of the actor and the critic on one placeholder of observations."""

    def __init__(self, n_features, dtype, reuse=False):
        self.x = tf.placeholder(dtype, [None, n_features])
        with tf.variable_scope("model", reuse=reuse):
            h = tf.nn.relu(fc(self.x, "fc1", UNITS, np.sqrt(2)))
            self.pi = fc(h, "pi", len(MOVES), 0.01)
            self.vf = fc(h, "v", 1, 1.0)[:, 0]
        self.a0 = sample(self.pi)

    def step(self, sess, ob):
        return sess.run([self.a0, self.vf], {self.x: ob})

    def value(self, sess, ob):
        return sess.run(self.vf, {self.x: ob})


class Model:
    """The graphs that act and that train, with the losses and the training step."""

    def __init__(self, n_features, dtype):
        self.step_model = Policy(n_features, dtype)
        self.train_model = Policy(n_features, dtype, reuse=True)
        self.actions = tf.placeholder(tf.int32, [None])
        self.advantages = tf.placeholder(dtype, [None])
        self.returns = tf.placeholder(dtype, [None])
        pi, vf = self.train_model.pi, self.train_model.vf
        neglogpac = tf.nn.sparse_softmax_cross_entropy_with_logits(
            logits=pi, labels=self.actions
        )
        self.pg_loss = tf.reduce_mean(self.advantages * neglogpac)
        self.vf_loss = tf.reduce_mean(tf.square(vf - self.returns) / 2.0)
        self.entropy = tf.reduce_mean(cat_entropy(pi))
        loss = self.pg_loss - self.entropy * ENT_COEF + self.vf_loss * VF_COEF
        self.global_step = tf.train.get_or_create_global_step()
        rate = tf.train.polynomial_decay(
            LEARNING_RATE, self.global_step, TOTAL_STEPS, 0.0
        )
        params = tf.trainable_variables("model")
        grads, _ = tf.clip_by_global_norm(tf.gradients(loss, params), MAX_GRAD_NORM)
        trainer = tf.train.RMSPropOptimizer(rate, decay=ALPHA, epsilon=EPSILON)
        self.train_op = trainer.apply_gradients(zip(grads, params), self.global_step)

    def train(self, sess, obs, actions, returns, values):
        feed = {
            self.train_model.x: obs,
            self.actions: actions,
            self.advantages: returns - values,
            self.returns: returns,
        }
        losses = [self.pg_loss, self.vf_loss, self.entropy]
        return sess.run([*losses, self.train_op], feed)[:-1]


def discount_with_dones(rewards, dones, values):
    """Computes n-step returns; `values` are those of the states after the steps."""
    returns, running = np.zeros_like(rewards), values
    for t in reversed(range(len(rewards))):
        running = rewards[t] + GAMMA * running * ~dones[t]
        returns[t] = running
    return returns


def train(maze, steps, checkpoint=None, folder=None):
    """Trains an actor and a critic with A2C in several copies of a maze.

    Args:
        maze: [rows, columns] float array: the reward for a move into each cell. If it
            is 1 or more, or -1 or less, the episode ends. All begin in cell (0, 0).
        steps: number of training steps, each after 5 moves in 8 mazes.
        checkpoint: path of a checkpoint to go on from, or None.
        folder: where to save a checkpoint, or None.

    Returns:
        dict with the `policy_losses`, `value_losses` and `entropies` (nats) before each
        step, the `mean_rewards` of its moves, and the final `variables` by name.
    """
    env = Mazes(maze)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        model = Model(maze.size, maze.dtype)
        saver = tf.train.Saver()
        sess.run(tf.global_variables_initializer())
        if checkpoint is not None:
            saver.restore(sess, checkpoint)
        # --- run
        rows, obs = [], env.observe()
        for _ in range(steps):
            # --- act
            batch = []
            for _ in range(N_STEPS):
                actions, values = model.step_model.step(sess, obs)
                nexts, rewards, dones = env.step(actions)
                batch.append((obs, actions, values, rewards, dones))
                obs = nexts
            mb_obs, mb_actions, mb_values, mb_rewards, mb_dones = map(
                np.array, zip(*batch)
            )
            last_values = model.step_model.value(sess, obs)
            # --- learn
            mb_returns = discount_with_dones(mb_rewards, mb_dones, last_values)
            arrays = mb_obs, mb_actions, mb_returns, mb_values
            flat = [a.reshape(-1, *a.shape[2:]) for a in arrays]
            rows.append([*model.train(sess, *flat), mb_rewards.mean()])
        # --- save
        if folder is not None:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        names = "policy_losses", "value_losses", "entropies", "mean_rewards"
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {**dict(zip(names, np.array(rows).T)), "variables": variables}


def evaluate(maze, moves, checkpoint):
    """Plays mazes with sampled actions, and computes the values of all cells.

    Args:
        maze: see `train`.
        moves: number of moves in each of 8 mazes.
        checkpoint: path of a checkpoint.

    Returns:
        dict with the `mean_reward` of the moves, the number of `episodes` that ended,
        and the `values` of the cells, of the shape of the maze.
    """
    env = Mazes(maze)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- restore
        tf.set_random_seed(7)
        policy = Policy(maze.size, maze.dtype)
        tf.train.Saver().restore(sess, checkpoint)
        # --- run
        total, episodes, obs = [], 0, env.observe()
        for _ in range(moves):
            actions, _ = policy.step(sess, obs)
            obs, rewards, dones = env.step(actions)
            total.append(rewards)
            episodes += np.sum(dones)
        cells = np.eye(maze.size, dtype=maze.dtype)
        values = policy.value(sess, cells).reshape(maze.shape)
    return {"mean_reward": np.mean(total), "episodes": episodes, "values": values}


def export(observations, checkpoint, folder):
    """Exports the actor and the critic as a SavedModel, and asks them once.

    Args:
        observations: [n, cells] float array, one-hot.
        checkpoint: path of a checkpoint.
        folder: an empty folder.

    Returns:
        dict with `pi`, [n, 4], the probabilities of the actions, and `vf`, [n].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        policy = Policy(observations.shape[1], observations.dtype)
        tf.train.Saver().restore(sess, checkpoint)
        outputs = {"pi": tf.nn.softmax(policy.pi), "vf": policy.vf}
        tf.saved_model.simple_save(sess, folder, {"x": policy.x}, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.loader.load(sess, ["serve"], folder)
        signature = loaded.signature_def["serving_default"]
        fetches = {name: info.name for name, info in signature.outputs.items()}
        return sess.run(fetches, {signature.inputs["x"].name: observations})
