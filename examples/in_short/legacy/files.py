"""Flags and the start of a program."""

import tensorflow as tf


def files():
    printed = []
    # [in short
    flags = tf.app.flags
    FLAGS = flags.FLAGS
    flags.DEFINE_float("in_short_rate", 0.1, "The learning rate.")

    def main(_):
        printed.append(FLAGS.in_short_rate)

    # in short]
    FLAGS(["program"], known_only=True)
    main(None)
    return printed
