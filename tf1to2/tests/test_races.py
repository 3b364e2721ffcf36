"""What one run of a session reads and writes in no order, seen in the graph."""

import unittest

import tensorflow.compat.v1 as tf
from parameterized import parameterized
from tensorflow.core.protobuf import config_pb2

from tf1to2.parity import races, settings, v1

settings.apply()


def callable_options(ops):
    """As Keras' `K.function` has them."""
    options = config_pb2.CallableOptions()
    options.fetch.extend(op.name for op in ops)
    return options


def net():
    x = tf.constant([[1.0, 2.0]])
    w = tf.get_variable("w", [2, 1])
    v = tf.get_variable("v", [2, 1])
    return w, tf.reduce_sum(tf.square(tf.matmul(x, w) + tf.matmul(x, v)))


def penalty_beside_the_train_op():
    w, loss = net()
    return [tf.reduce_sum(w * w), tf.train.GradientDescentOptimizer(0.1).minimize(loss)]


def weights_beside_the_train_op():
    w, loss = net()
    return [w, tf.train.GradientDescentOptimizer(0.1).minimize(loss)]


def step_beside_the_train_op():
    _, loss = net()
    step = tf.train.get_or_create_global_step()
    return [step, tf.train.AdamOptimizer(0.1).minimize(loss, step)]


def other_gradients_beside_the_train_op():
    w = tf.get_variable("w", [2, 1])
    above = tf.get_variable("above", [1, 1])
    loss = tf.reduce_sum(tf.matmul(tf.matmul([[1.0, 2.0]], w), above))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return [tf.gradients(loss * loss, w)[0], train]


def updates_of_two_calls():
    mean = tf.get_variable("mean", [])
    return [tf.assign_sub(mean, (mean - x) * 0.1) for x in (1.0, 2.0)]


def resource_beside_the_train_op():
    tf.get_variable_scope().set_use_resource(True)
    return penalty_beside_the_train_op()


def loss_and_train_op():
    _, loss = net()
    return [loss, tf.train.AdamOptimizer(0.1).minimize(loss)]


def own_gradients_and_train_op():
    _, loss = net()
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    pairs = optimizer.compute_gradients(loss)
    clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], 1.0)
    train = optimizer.apply_gradients(zip(clipped, [v for _, v in pairs]))
    return [norm, train]


def read_after_the_train_op():
    w, loss = net()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([train]):
        return [w.read_value(), train]


def averages_after_the_train_op():
    _, loss = net()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([train]):
        return [tf.train.ExponentialMovingAverage(0.9).apply(tf.trainable_variables())]


def identity_before_the_train_op():
    _, loss = net()
    step = tf.train.get_or_create_global_step()
    shown = tf.identity(step)
    with tf.control_dependencies([shown]):
        return [shown, tf.assign_add(step, 1)]


def copy_before_the_train_op():
    step = tf.train.get_or_create_global_step()
    shown = step + 0
    with tf.control_dependencies([shown]):
        return [shown, tf.assign_add(step, 1)]


def initializers():
    net()
    return [tf.global_variables_initializer()]


class UnorderedTest(unittest.TestCase):
    def found(self, build):
        with v1.legacy():
            return list(races.unordered(build()))

    @parameterized.expand(
        [
            (penalty_beside_the_train_op, "w: mul reads it, Grad.* writes it"),
            (weights_beside_the_train_op, "w: w reads it, Grad.* writes it"),
            (step_beside_the_train_op, "global_step: global_step reads it, Adam"),
            (
                other_gradients_beside_the_train_op,
                "above: .* reads it, Grad.* writes it",
            ),
            (updates_of_two_calls, "mean: AssignSub_1 writes it, AssignSub writes it"),
            (resource_beside_the_train_op, "w: .*Read.* reads it, Grad.* writes it"),
        ],
        name_func=lambda f, _, p: f"{f.__name__}_{p.args[0].__name__}",
    )
    def test_in_no_order(self, build, told):
        found = self.found(build)
        self.assertTrue(found)
        self.assertRegex(found[0], told)
        self.assertTrue(found[0].endswith((", in no order", races.LATE)))

    @parameterized.expand(
        [
            (loss_and_train_op,),
            (own_gradients_and_train_op,),
            (read_after_the_train_op,),
            (averages_after_the_train_op,),
            (copy_before_the_train_op,),
            (initializers,),
        ],
        name_func=lambda f, _, p: f"{f.__name__}_{p.args[0].__name__}",
    )
    def test_in_order(self, build):
        self.assertEqual(self.found(build), [])

    def test_an_order_that_does_not_count_is_explained(self):
        (found,) = self.found(identity_before_the_train_op)
        self.assertRegex(found, "global_step: Identity reads it, AssignAdd writes it")
        self.assertIn("Fetch a copy, such as x + 0", found)

    @parameterized.expand(
        [
            ("made of fetches", lambda sess, ops: sess.make_callable(ops)),
            (
                "made of options",
                lambda sess, ops: sess._make_callable_from_options(
                    callable_options(ops)
                ),
            ),
        ]
    )
    def test_callables_are_watched(self, _, make):
        with v1.legacy(), races.watched() as found, tf.Session() as sess:
            fetches = updates_of_two_calls()
            sess.run(tf.global_variables_initializer())
            make(sess, fetches)()
        self.assertEqual(len(found), 1)

    def test_what_is_fed_is_not_read(self):
        with v1.legacy():
            penalty, train = penalty_beside_the_train_op()
            self.assertEqual(
                list(races.unordered([penalty, train], [penalty.name])), []
            )

    def test_sessions_are_watched_and_left_as_they_were(self):
        methods = "run", "make_callable", "_make_callable_from_options"
        before = [getattr(tf.Session, name) for name in methods]
        with v1.legacy(), races.watched() as found, tf.Session() as sess:
            fetches = updates_of_two_calls()
            sess.run(tf.global_variables_initializer())
            sess.run(fetches)
            sess.run(fetches)
        self.assertEqual(len(found), 1)
        self.assertEqual([getattr(tf.Session, name) for name in methods], before)

    def test_the_seeds_of_a_graph_that_runs(self):
        with v1.legacy(), races.drawing() as drawn, tf.Session() as sess:
            tf.set_random_seed(7)
            draws = [tf.random_normal([1], seed=5), tf.random_normal([1], name="free")]
            sess.run(draws)
        self.assertEqual(drawn["random_normal/RandomStandardNormal"], [7, 5])
        self.assertEqual([*drawn], [d.op.inputs[0].op.inputs[0].op.name for d in draws])


if __name__ == "__main__":
    unittest.main()
