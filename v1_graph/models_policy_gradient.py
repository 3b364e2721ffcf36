"""REINFORCE: `tf.layers.dense`, `sess.run(all_act_prob)`, `choice(p=…)`, fed returns.

The program of many tutorials of 2016 to 2018: the gradient of Williams, "Simple
statistical gradient-following algorithms for connectionist reinforcement learning",
Machine Learning, 1992, with one training step for each episode of CartPole.
"""

import math
import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

GRAVITY, POLE_MASS, TOTAL_MASS, LENGTH = 9.8, 0.1, 1.1, 0.5
FORCE, TAU = 10.0, 0.02
X_LIMIT, ANGLE_LIMIT = 2.4, math.radians(12)
MAX_EPISODE_STEPS = 60
N_FEATURES, N_ACTIONS, UNITS = 4, 2, 10
LEARNING_RATE = 0.02
GAMMA = 0.99


class CartPole:
    """The cart of `gym`'s CartPole-v0: it balances a pole, with a reward of 1."""

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


class PolicyGradient:
    """The graph of the policy, the loss of an episode, and the training step."""

    def __init__(self, dtype):
        with tf.name_scope("inputs"):
            self.tf_obs = tf.placeholder(dtype, [None, N_FEATURES], "observations")
            self.tf_acts = tf.placeholder(tf.int32, [None], "actions_num")
            self.tf_vt = tf.placeholder(dtype, [None], "actions_value")
        kwargs = {
            "kernel_initializer": tf.random_normal_initializer(0.0, 0.3, seed=1),
            "bias_initializer": tf.constant_initializer(0.1),
        }
        layer = tf.layers.dense(self.tf_obs, UNITS, tf.nn.tanh, name="fc1", **kwargs)
        all_act = tf.layers.dense(layer, N_ACTIONS, None, name="fc2", **kwargs)
        self.all_act_prob = tf.nn.softmax(all_act, name="act_prob")
        with tf.name_scope("loss"):
            neg_log_prob = tf.nn.sparse_softmax_cross_entropy_with_logits(
                logits=all_act, labels=self.tf_acts
            )
            self.loss = tf.reduce_mean(neg_log_prob * self.tf_vt)
        tf.summary.scalar("loss", self.loss)
        self.merged = tf.summary.merge_all()
        self.global_step = tf.train.get_or_create_global_step()
        with tf.name_scope("train"):
            optimizer = tf.train.AdamOptimizer(LEARNING_RATE)
            self.train_op = optimizer.minimize(self.loss, self.global_step)

    def probabilities(self, sess, observation):
        feed = {self.tf_obs: observation[np.newaxis, :]}
        return sess.run(self.all_act_prob, feed).ravel()


def discount_and_norm_rewards(rewards):
    """Computes the discounted return after each move, and normalizes the returns."""
    discounted, running = np.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        running = rewards[t] + GAMMA * running
        discounted[t] = running
    return (discounted - np.mean(discounted)) / (np.std(discounted) + 1e-8)


def train(starts, seed, steps, checkpoint=None, folder=None):
    """Trains a policy with REINFORCE: one step after each episode of CartPole.

    Args:
        starts: [n, 4] float array, the first states of the episodes: position (m),
            velocity (m/s), angle (rad) and angular velocity (rad/s). `global_step`
            decides which state is used.
        seed: seed of the sampled actions.
        steps: number of episodes and training steps.
        checkpoint: path of a checkpoint to go on from, or None.
        folder: where to save a checkpoint and the summaries, or None.

    Returns:
        dict with the `losses` before each step, the `returns` of the episodes, which
        are their lengths, 60 at most, and the final `variables` by name.
    """
    env, random = CartPole(starts.dtype), np.random.RandomState(seed)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        agent = PolicyGradient(starts.dtype)
        saver = tf.train.Saver(max_to_keep=1)
        if checkpoint is None:
            sess.run(tf.global_variables_initializer())
        else:
            saver.restore(sess, checkpoint)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- run
        losses, returns, first = [], [], sess.run(agent.global_step)
        for step in range(first, first + steps):
            # --- act
            ep_obs, ep_as, ep_rs = [], [], []
            observation, done = env.reset(starts[step % len(starts)]), False
            while not done:
                prob_weights = agent.probabilities(sess, observation)
                action = random.choice(N_ACTIONS, p=prob_weights)
                ep_obs.append(observation)
                ep_as.append(action)
                observation, reward, done = env.step(action)
                ep_rs.append(reward)
            # --- learn
            vt = discount_and_norm_rewards(ep_rs)
            feed = {agent.tf_obs: ep_obs, agent.tf_acts: ep_as, agent.tf_vt: vt}
            fetches = [agent.train_op, agent.loss, agent.merged]
            _, loss, summary = sess.run(fetches, feed)
            losses.append(loss)
            returns.append(sum(ep_rs))
            if writer:
                writer.add_summary(summary, step)
        # --- save
        if folder:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
            writer.close()
        return {
            "losses": np.array(losses),
            "returns": np.array(returns, starts.dtype),
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }


def evaluate(starts, checkpoint):
    """Plays an episode from each state with the likelier action of each move.

    Args:
        starts: see `train`.
        checkpoint: path of a checkpoint.

    Returns:
        dict with the `mean_return` of the episodes, and their `lengths`, an int array
        [n] of the numbers of moves, 60 at most.
    """
    env, lengths = CartPole(starts.dtype), []
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- restore
        agent = PolicyGradient(starts.dtype)
        tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
        # --- run
        for start in starts:
            observation, done = env.reset(start), False
            while not done:
                action = np.argmax(agent.probabilities(sess, observation))
                observation, _, done = env.step(action)
            lengths.append(env.moves)
    mean_return = np.mean(np.array(lengths, starts.dtype))
    return {"mean_return": mean_return, "lengths": np.array(lengths)}


def export(observations, checkpoint, folder):
    """Exports the policy as a SavedModel, and asks it for probabilities.

    Args:
        observations: [n, 4] float array of states, see `train`.
        checkpoint: path of a checkpoint.
        folder: an empty folder.

    Returns:
        dict with `act_prob`, [n, 2], the probabilities of the actions left and right.
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        agent = PolicyGradient(observations.dtype)
        tf.train.Saver().restore(sess, checkpoint)
        inputs, outputs = {"obs": agent.tf_obs}, {"act_prob": agent.all_act_prob}
        tf.saved_model.simple_save(sess, folder, inputs, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.loader.load(sess, ["serve"], folder)
        signature = loaded.signature_def["serving_default"]
        obs = signature.inputs["obs"].name
        act_prob = signature.outputs["act_prob"].name
        return {"act_prob": sess.run(act_prob, {obs: observations})}
