"""DQN: `get_collection`, `replace_target_op`, `gather_nd` → modules, `assign`, a tape.

The program of the tutorials of 2016 to 2018 on "Human-level control through deep
reinforcement learning" (Mnih et al., Nature, 2015): a maze instead of Atari.
"""

import collections
import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

MOVES = np.array([[-1, 0], [1, 0], [0, 1], [0, -1]])  # up, down, right, left
MAX_EPISODE_STEPS = 20
UNITS = 20
LEARNING_RATE = 0.01
GAMMA = 0.9
EPSILON_DECAY = 300
FINAL_EPSILON = 0.1
BATCH_SIZE = 32
MEMORY_SIZE = 500
UPDATE_PERIOD = 4
REPLACE_TARGET_ITER = 10


class Maze:
    """A maze like `gym`'s FrozenLake: the observation is the one-hot cell."""

    def __init__(self, rewards):
        self.rewards = rewards
        places = np.eye(rewards.size, dtype=rewards.dtype)
        self.places = places.reshape(rewards.shape + (rewards.size,))

    def reset(self, cell=(0, 0)):
        self.cell, self.moves = tuple(cell), 0
        return self.places[self.cell]

    def step(self, action):
        last = np.array(self.rewards.shape) - 1
        self.cell = tuple(np.clip(self.cell + MOVES[action], 0, last))
        self.moves += 1
        reward = float(self.rewards[self.cell])
        done = abs(reward) >= 1 or self.moves == MAX_EPISODE_STEPS
        return self.places[self.cell], reward, done


class DeepQNetwork:
    """The graph of a trained network, a target network, and the training step."""

    def __init__(self, n_features, dtype):
        self.s = tf.placeholder(dtype, [None, n_features], name="s")
        self.a = tf.placeholder(tf.int32, [None], name="a")
        self.r = tf.placeholder(dtype, [None], name="r")
        self.s_ = tf.placeholder(dtype, [None, n_features], name="s_")
        self.done = tf.placeholder(dtype, [None], name="done")
        with tf.variable_scope("eval_net"):
            self.q_eval = self.build_net(self.s, "eval_net_params")
        with tf.variable_scope("target_net"):
            self.q_next = self.build_net(self.s_, "target_net_params")
        t_params = tf.get_collection("target_net_params")
        e_params = tf.get_collection("eval_net_params")
        self.replace_target_op = [tf.assign(t, e) for t, e in zip(t_params, e_params)]
        q_max = tf.reduce_max(self.q_next, axis=1)
        q_target = tf.stop_gradient(self.r + GAMMA * (1.0 - self.done) * q_max)
        indices = tf.stack([tf.range(tf.shape(self.a)[0]), self.a], axis=1)
        q_chosen = tf.gather_nd(self.q_eval, indices)
        self.loss = tf.reduce_mean(clipped_error(q_target - q_chosen))
        self.global_step = tf.train.get_or_create_global_step()
        with tf.variable_scope("train"):
            optimizer = tf.train.RMSPropOptimizer(
                LEARNING_RATE, epsilon=1e-5, centered=True
            )
            self.train_op = optimizer.minimize(self.loss, self.global_step)

    def build_net(self, s, name):
        names = [name, tf.GraphKeys.GLOBAL_VARIABLES]
        kwargs = {"dtype": s.dtype, "collections": names}
        w_init = tf.random_normal_initializer(0.0, 0.3, seed=1)
        b_init = tf.constant_initializer(0.1)
        size, actions = s.shape[1].value, len(MOVES)
        with tf.variable_scope("l1"):
            w1 = tf.get_variable("w1", [size, UNITS], initializer=w_init, **kwargs)
            b1 = tf.get_variable("b1", [1, UNITS], initializer=b_init, **kwargs)
            l1 = tf.nn.relu(tf.matmul(s, w1) + b1)
        with tf.variable_scope("l2"):
            w2 = tf.get_variable("w2", [UNITS, actions], initializer=w_init, **kwargs)
            b2 = tf.get_variable("b2", [1, actions], initializer=b_init, **kwargs)
            return tf.matmul(l1, w2) + b2

    def choose_action(self, sess, observation):
        feed = {self.s: observation[np.newaxis, :]}
        return np.argmax(sess.run(self.q_eval, feed))

    def learn(self, sess, batch):
        feed = dict(zip([self.s, self.a, self.r, self.s_, self.done], batch))
        return sess.run([self.loss, self.train_op], feed)[0]


def clipped_error(x):
    """Computes the Huber loss of each error: its gradient is clipped to [-1, 1]."""
    return tf.where(tf.abs(x) < 1.0, 0.5 * tf.square(x), tf.abs(x) - 0.5)


def train(maze, seed, steps, checkpoint=None, folder=None):
    """Trains a DQN in a maze; the replay memory begins empty.

    Args:
        maze: [rows, columns] float array: the reward for a move into each cell. If it
            is 1 or more, or -1 or less, the episode ends. All begin in cell (0, 0).
        seed: seed of the random actions and of the samples of the memory.
        steps: number of training steps, each after 4 moves, the first after 32.
        checkpoint: path of a checkpoint to go on from, or None.
        folder: where to save a checkpoint and the summaries, or None.

    Returns:
        dict with the `losses` before each step, the `returns` of the finished episodes,
        and the final `variables` by name.
    """
    env, random = Maze(maze), np.random.RandomState(seed)
    memory = collections.deque(maxlen=MEMORY_SIZE)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        dqn = DeepQNetwork(maze.size, maze.dtype)
        saver = tf.train.Saver(max_to_keep=1)
        if checkpoint is None:
            sess.run(tf.global_variables_initializer())
        else:
            saver.restore(sess, checkpoint)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- run
        losses, returns, total, observation = [], [], 0.0, env.reset()
        first = sess.run(dqn.global_step)
        for step in range(first, first + steps):
            # --- act
            epsilon = max(FINAL_EPSILON, 1.0 - step / EPSILON_DECAY)
            for _ in range(UPDATE_PERIOD if memory else BATCH_SIZE):
                if random.uniform() < epsilon:
                    action = random.randint(len(MOVES))
                else:
                    action = dqn.choose_action(sess, observation)
                observation_, reward, done = env.step(action)
                memory.append((observation, action, reward, observation_, done))
                observation, total = observation_, total + reward
                if done:
                    returns.append(total)
                    if writer:
                        value = tf.Summary.Value(tag="return", simple_value=total)
                        writer.add_summary(tf.Summary(value=[value]), step)
                    observation, total = env.reset(), 0.0
            # --- learn
            if step % REPLACE_TARGET_ITER == 0:
                sess.run(dqn.replace_target_op)
            sample = [memory[i] for i in random.choice(len(memory), BATCH_SIZE)]
            losses.append(dqn.learn(sess, map(np.array, zip(*sample))))
        # --- save
        if folder:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
            writer.close()
        return {
            "losses": np.array(losses),
            "returns": np.array(returns, maze.dtype),
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }


def evaluate(maze, checkpoint):
    """Plays an episode from each cell with the greedy policy.

    Args:
        maze: see `train`; cells that end an episode are left out.
        checkpoint: path of a checkpoint.

    Returns:
        dict with the `mean_return` of the episodes, and their `lengths`, an int array
        [cells] of the numbers of moves, 20 at most.
    """
    env, returns, lengths = Maze(maze), [], []
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- restore
        dqn = DeepQNetwork(maze.size, maze.dtype)
        tf.train.Saver(tf.get_collection("eval_net_params")).restore(sess, checkpoint)
        # --- run
        for cell in np.argwhere(abs(maze) < 1):
            observation, total, done = env.reset(cell), 0.0, False
            while not done:
                action = dqn.choose_action(sess, observation)
                observation, reward, done = env.step(action)
                total += reward
            returns.append(total)
            lengths.append(env.moves)
    mean_return = np.mean(np.array(returns, maze.dtype))
    return {"mean_return": mean_return, "lengths": np.array(lengths)}


def export(observations, checkpoint, folder):
    """Exports the trained network as a SavedModel, and asks it for values.

    Args:
        observations: [n, cells] float array, one-hot.
        checkpoint: path of a checkpoint.
        folder: an empty folder.

    Returns:
        dict with `q`, [n, 4], the values of the actions.
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        dqn = DeepQNetwork(observations.shape[1], observations.dtype)
        tf.train.Saver().restore(sess, checkpoint)
        tf.saved_model.simple_save(sess, folder, {"s": dqn.s}, {"q": dqn.q_eval})
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.loader.load(sess, ["serve"], folder)
        signature = loaded.signature_def["serving_default"]
        s, q = signature.inputs["s"].name, signature.outputs["q"].name
        return {"q": sess.run(q, {s: observations})}
