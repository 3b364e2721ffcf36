"""`loss_weights=` that today's `compile` refuses."""

from parameterized import parameterized

from tf1to2.tests.marked import MarkedCase

NET = """
i = tf.keras.Input((1,))
one = tf.keras.Model(i, layers.Dense(1, name="a")(i))
two = tf.keras.Model(i, [layers.Dense(1, name=name)(i) for name in "ab"])
x = np.ones((2, 1))
def own_loss(y, p):
    return K.mean(y - p)
"""
FIT = "\n{0}.fit(x, [x] * len({0}.outputs), verbose=0)\n"


class LossWeightsTest(MarkedCase):
    TOLD = "Keras 3 requires"

    @parameterized.expand(
        [
            ("one", "one", "'mse', loss_weights=[2.0]"),
            ("a dict of one", "one", "'mse', loss_weights={'a': 2.0}"),
            ("as many", "two", "['mse', 'mae'], loss_weights=[1.0, 0.5]"),
            ("by names", "two", "['mse', 'mae'], loss_weights={'a': 1.0, 'b': 0.5}"),
            (
                "two dicts",
                "two",
                "{'a': 'mse', 'b': 'mae'}, loss_weights={'a': 1.0, 'b': 0.5}",
            ),
            ("no weights", "two", "'mse'"),
            ("losses of a product", "two", "['mse'] * 2, loss_weights=[1.0, 0.5]"),
        ]
    )
    def test_is_left_alone(self, _, model, arguments):
        text = f"{NET}{model}.compile('sgd', {arguments})"
        self.check_sound(text + FIT.format(model))

    @parameterized.expand(
        [
            ("a word", "'mse', loss_weights=[1.0, 0.5]"),
            ("by its keyword", "loss='mse', loss_weights=(1.0, 0.5)"),
            ("a function", "own_loss, loss_weights=[1.0, 0.5]"),
            (
                "a function of Keras",
                "tf.keras.losses.MeanSquaredError(), loss_weights=[1, 2]",
            ),
            ("a dict", "'mse', loss_weights={'a': 1.0, 'b': 0.5}"),
            ("a name for them", "loss='mae', loss_weights=shares"),
        ]
    )
    def test_one_loss_for_all_outputs(self, _, arguments):
        text = f"{NET}shares = [1.0, 0.5]\ntwo.compile('sgd', {arguments})  # here"
        message = "`loss_weights` must match the number of losses"
        self.check_raises(text + FIT.format("two"), ValueError, message)

    def test_a_dict_without_one(self):
        arguments = "{'a': 'mse', 'b': 'mae'}, loss_weights={'a': 1.0}"
        text = f"{NET}two.compile('sgd', {arguments})  # here"
        self.check_raises(text + FIT.format("two"), KeyError, "b")
