"""DQN: `get_collection`, `replace_target_op`, `gather_nd` → modules, `assign`, a tape.

The program of the tutorials of 2016 to 2018 on "Human-level control through deep
reinforcement learning" (Mnih et al., Nature, 2015): a maze instead of Atari.
"""

import collections
import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

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
    """A maze like `gym`'s FrozenLake: the observation is the one-hot cell.

    Args:
        rewards: see `train`.
    """

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


class QNetwork(tf.Module):
    """Two dense layers: the values of the actions, [n, 4], of observations.

    Args:
        scope: prefix of the variables' names, "eval_net" or "target_net".
        n_features: size of an observation.
        dtype: float dtype.
    """

    def __init__(self, scope, n_features, dtype):
        super().__init__()
        normal = initializers.random_normal(0.0, 0.3, seed=1)

        def layer(number, inputs, units):
            kernel = normal([inputs, units], dtype)
            bias = tf.constant(0.1, dtype, [1, units])
            return [
                tf.Variable(kernel, name=f"{scope}/l{number}/w{number}"),
                tf.Variable(bias, name=f"{scope}/l{number}/b{number}"),
            ]

        self.w1, self.b1 = layer(1, n_features, UNITS)
        self.w2, self.b2 = layer(2, UNITS, len(MOVES))
        spec = tf.TensorSpec([None, n_features], dtype, name="s")
        self.serve = tf.function(lambda s: {"q": self(s)}, input_signature=[spec])

    def __call__(self, s):
        l1 = tf.nn.relu(tf.matmul(s, self.w1) + self.b1)
        return tf.matmul(l1, self.w2) + self.b2

    def choose_action(self, observation):
        """Returns the action with the largest value for one observation."""
        return np.argmax(self.serve(observation[np.newaxis, :])["q"])


class DQN(tf.Module):
    """A trained network, a target network, and the training step.

    Args:
        n_features: size of an observation.
        dtype: float dtype.
    """

    def __init__(self, n_features, dtype):
        super().__init__()
        self.eval_net = QNetwork("eval_net", n_features, dtype)
        self.target_net = QNetwork("target_net", n_features, dtype)
        self.optimizer = optimizers.RMSProp(LEARNING_RATE, epsilon=1e-5, centered=True)
        self.optimizer.create_slots(self.eval_net.variables)
        self.global_step = tf.Variable(
            0, trainable=False, dtype=tf.int64, name="global_step"
        )

    def by_name(self):
        """Returns {name in TensorFlow 1: variable}; the slots have a scope."""
        variables = self.eval_net, self.target_net, self.global_step
        slots = restore.named(self.optimizer, scope="train")
        return {**restore.named(*variables), **slots}

    def replace_target(self):
        """Copies the trained network to the target network."""
        for t, e in zip(self.target_net.variables, self.eval_net.variables):
            t.assign(e)

    @tf.function
    def learn(self, s, a, r, s_, done):
        """Takes one step and returns the loss before it."""
        # The target is computed outside of the tape, so it gets no gradient.
        q_max = tf.reduce_max(self.target_net(s_), axis=1)
        r, done = tf.cast(r, s.dtype), tf.cast(done, s.dtype)
        q_target = r + GAMMA * (1.0 - done) * q_max

        def loss():
            q_chosen = tf.gather(self.eval_net(s), a, batch_dims=1)
            return tf.reduce_mean(clipped_error(q_target - q_chosen))

        variables = self.eval_net.variables
        return self.optimizer.minimize(loss, variables, self.global_step)


def clipped_error(x):
    """Computes the Huber loss of each error: its gradient is clipped to [-1, 1]."""
    return tf.where(tf.abs(x) < 1.0, 0.5 * tf.square(x), tf.abs(x) - 0.5)


def train(maze, seed, steps, checkpoint=None, folder=None):
    """Trains a DQN in a maze; the replay memory begins empty."""
    # --- build
    env, random = Maze(maze), np.random.RandomState(seed)
    memory = collections.deque(maxlen=MEMORY_SIZE)
    tf.random.set_seed(7)
    dqn = DQN(maze.size, maze.dtype)
    if checkpoint is not None:
        restore.by_name(checkpoint, dqn.by_name())
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- run
    losses, returns, total, observation = [], [], 0.0, env.reset()
    first = int(dqn.global_step)
    for step in range(first, first + steps):
        # --- act
        epsilon = max(FINAL_EPSILON, 1.0 - step / EPSILON_DECAY)
        for _ in range(UPDATE_PERIOD if memory else BATCH_SIZE):
            if random.uniform() < epsilon:
                action = random.randint(len(MOVES))
            else:
                action = dqn.eval_net.choose_action(observation)
            observation_, reward, done = env.step(action)
            memory.append((observation, action, reward, observation_, done))
            observation, total = observation_, total + reward
            if done:
                returns.append(total)
                if writer:
                    with writer.as_default(step):
                        tf.summary.scalar("return", total)
                observation, total = env.reset(), 0.0
        # --- learn
        if step % REPLACE_TARGET_ITER == 0:
            dqn.replace_target()
        sample = [memory[i] for i in random.choice(len(memory), BATCH_SIZE)]
        losses.append(dqn.learn(*map(np.array, zip(*sample))).numpy())
    # --- save
    if folder:
        restore.save(os.path.join(folder, "model.ckpt"), dqn.by_name())
        writer.close()
    return {
        "losses": np.array(losses),
        "returns": np.array(returns, maze.dtype),
        "variables": {name: v.numpy() for name, v in dqn.by_name().items()},
    }


def evaluate(maze, checkpoint):
    """Plays an episode from each cell with the greedy policy."""
    # --- restore
    env, returns, lengths = Maze(maze), [], []
    net = QNetwork("eval_net", maze.size, maze.dtype)
    restore.by_name(checkpoint, restore.named(net))
    # --- run
    for cell in np.argwhere(abs(maze) < 1):
        observation, total, done = env.reset(cell), 0.0, False
        while not done:
            observation, reward, done = env.step(net.choose_action(observation))
            total += reward
        returns.append(total)
        lengths.append(env.moves)
    mean_return = np.mean(np.array(returns, maze.dtype))
    return {"mean_return": mean_return, "lengths": np.array(lengths)}


def export(observations, checkpoint, folder):
    """Exports the trained network as a SavedModel, and asks it for values."""
    # --- save
    net = QNetwork("eval_net", observations.shape[1], observations.dtype)
    restore.by_name(checkpoint, restore.named(net))
    tf.saved_model.save(net, folder, signatures={"serving_default": net.serve})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    return {"q": signature(s=tf.constant(observations))["q"].numpy()}
