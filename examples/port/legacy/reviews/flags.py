"""Command line flags of every module. Import FLAGS from here."""
from __future__ import absolute_import, division, print_function

import tensorflow as tf

flags = tf.app.flags

flags.DEFINE_integer("vocabulary", 40, "Number of word ids, 0 is padding.")
flags.DEFINE_integer("embedding", 8, "Size of the word vectors.")
flags.DEFINE_integer("units", 12, "Units of the GRU.")
flags.DEFINE_integer("batch_size", 16, "Reviews in a batch, half of each domain.")
flags.DEFINE_integer("num_steps", 100, "Training steps.")
flags.DEFINE_float("learning_rate", 0.02, "Initial learning rate.")
flags.DEFINE_integer("decay_steps", 25, "Steps from one drop of the rate to the next.")
flags.DEFINE_float("decay_rate", 0.8, "Factor of a drop.")
flags.DEFINE_float("max_grad_norm", 1.0, "Gradients are clipped to this norm.")
flags.DEFINE_float("ema_decay", 0.95, "Decay of the averaged weights.")
flags.DEFINE_float("keep_prob", 0.8, "1 - dropout of the word vectors.")
flags.DEFINE_float("l2", 0.001, "Weight of the L2 penalty.")
flags.DEFINE_float("init_scale", 0.1, "Weights are drawn from +- this.")
flags.DEFINE_integer("seed", 17, "Random seed.")
flags.DEFINE_string("train_dir", "/tmp/reviews", "Where checkpoints go.")
flags.DEFINE_boolean("evaluate", False, "Evaluate the last checkpoint, do not train.")

FLAGS = flags.FLAGS
