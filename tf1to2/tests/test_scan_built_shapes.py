"""What `build` is handed: a tuple."""

from parameterized import parameterized

from tf1to2.tests.marked import MarkedCase


class BuiltShapeTest(MarkedCase):
    TOLD = "Keras 3 passes a tuple"

    @parameterized.expand(
        [
            ("an index", "self.n = input_shape[-1]"),
            ("a length", "self.n = len(input_shape)"),
            (
                "a TensorShape of it",
                "self.n = tf.TensorShape(input_shape).as_list()[-1]",
            ),
            (
                "made one first",
                "input_shape = tf.TensorShape(input_shape)\n"
                "        self.n = input_shape.as_list()[-1]",
            ),
            (
                "asked what it is",
                "if isinstance(input_shape, tf.TensorShape):\n"
                "            input_shape = input_shape.as_list()",
            ),
            ("of another tensor", "self.n = tf.ones((2, 3)).shape.as_list()"),
        ]
    )
    def test_is_left_alone(self, _, line):
        self.check_sound(
            "class Scale(layers.Layer):\n"
            f"    def build(self, input_shape):\n        {line}\n"
            "    def call(self, x):\n        return x\n"
            "Scale()(tf.keras.Input((4,)))\n"
        )

    def test_what_is_no_layer_is_left_alone(self):
        self.check_sound(
            "class Plan:\n    def build(self, shape):\n        return shape.as_list()\n"
            "Plan().build(tf.TensorShape([2]))\n"
        )

    @parameterized.expand(
        [
            ("as a list", "shape.as_list()[-1]", "as_list"),
            ("its rank", "shape.ndims", "ndims"),
            ("its dimensions", "shape.dims[-1]", "dims"),
            ("known", "shape.is_fully_defined()", "is_fully_defined"),
            ("with a rank", "shape.with_rank(2)", "with_rank"),
        ]
    )
    def test_members_of_a_tensor_shape(self, _, value, member):
        self.check_raises(
            "class Scale(layers.Layer):\n"
            f"    def build(self, shape):\n        self.n = {value}  # here\n"
            "    def call(self, x):\n        return x\n"
            "Scale()(tf.keras.Input((4,)))\n",
            AttributeError,
            f"'tuple' object has no attribute '{member}'",
        )

    def test_several_inputs_and_a_model(self):
        self.check_raises(
            "class Join(layers.Layer):\n    def build(self, shapes):\n"
            "        self.a = shapes[0].as_list()  # here\n"
            "        self.all = [s.as_list() for s in shapes]  # here\n"
            "    def call(self, x):\n        return x[0]\n"
            "class Net(tf.keras.Model):\n    def build(self, shape):\n"
            "        self.n = shape.as_list()  # here\n"
            "    def call(self, x):\n        return x\n"
            "Join()([tf.keras.Input((4,)), tf.keras.Input((3,))])\n",
            AttributeError,
            "'tuple' object has no attribute 'as_list'",
        )

    def test_a_base_class_of_another_module(self):
        self.write(
            setup="",
            base="from tensorflow.keras.layers import Layer\nclass Base(Layer): pass\n"
            "class Other: pass\n",
            use="from base import Base, Other\n"
            "class A(Base):\n    def build(self, s):\n        s.as_list()\n"
            "class B(Other):\n    def build(self, s):\n        s.as_list()\n",
        )
        self.assertEqual(self.lines("use.py"), [4])
