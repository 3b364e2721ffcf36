"""The session of a program that yields its steps: a new one, or its own."""

import unittest

import tensorflow.compat.v1 as tf

from tf1to2.parity import v1


def answers(steps):
    """What the runner has of a program, in a graph of its own."""
    with tf.Graph().as_default():
        return v1._run_steps(steps())


class SessionTest(unittest.TestCase):
    def test_a_device_that_is_not_there_is_replaced(self):
        def steps():
            with tf.device("/gpu:0"):
                w = tf.get_variable("w", initializer=1.0)
                step = tf.assign_add(w, 1.0)
            yield {"w": step}, {}

        self.assertEqual(answers(steps)["steps"], [{"w": 2.0}])

    def test_the_program_has_its_own(self):
        options = tf.ConfigProto(allow_soft_placement=True)

        def steps():
            w = tf.get_variable("w", initializer=1.0)
            step = tf.assign_add(w, 1.0)
            with tf.Session(config=options) as sess:
                sess.run(w.initializer)
                sess.run(w.assign(5.0))  # as a Saver restores
                yield {"w": step}, {}
                self.assertEqual(sess.run(w), 6.0)
                yield {"w": step}, {}

        found = answers(steps)
        self.assertEqual(found["steps"], [{"w": 6.0}, {"w": 7.0}])
        self.assertEqual(found["variables"], {2: {"w": 7.0}})

    def test_a_program_that_yields_nothing_is_refused(self):
        with self.assertRaisesRegex(ValueError, "the program yields no step"):
            answers(lambda: iter(()))


if __name__ == "__main__":
    unittest.main()
