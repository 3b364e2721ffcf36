"""What every module of the project imports."""

import tensorflow as tf

layers = tf.layers
flags = tf.app.flags
