"""Forty errors of half-ported programs, as Python prints them, pasted into explain.

Each program is run here, and what it prints is handed over: the whole traceback, its
end, and its message without the type. The first line of the answer must be the right
section's, or the right name's.
"""

import os
import re
import tempfile
import traceback
import unittest

import pytest
from parameterized import parameterized

from parity_tests import conftest
from tf1to2.explain import render, resolve
from tf1to2.tests.commands import inside

pytestmark = pytest.mark.filterwarnings(conftest.GAST)

HEAD = "import numpy as np\nimport tensorflow as tf\n"
V1 = HEAD.replace("import tensorflow", "import tensorflow.compat.v1")
# {what the first line of the answer begins with: a program}.
PROGRAMS = {
    "tf.placeholder: ": HEAD
    + """
images = tf.placeholder(tf.float32, [None, 784])
""",
    "tf.global_variables_initializer: ": HEAD
    + """
init = tf.global_variables_initializer()
""",
    "module 'tensorflow' has no attribute 'contrib'": """
from tensorflow.contrib.layers import xavier_initializer
""",
    "… is not available with Keras 3": V1
    + """
hidden = tf.layers.dense(tf.ones([2, 3]), 4)
""",
    "tf.placeholder() is not": V1
    + """
labels = tf.placeholder(tf.int32, [None], name="labels")
""",
    "The Session graph is empty": V1
    + """
total = tf.add(1, 2)
with tf.Session() as sess:
    print(sess.run(total))
""",
    "tf.gradients is not supported": HEAD
    + """
weights = tf.Variable(tf.ones([3]))
loss = tf.reduce_sum(weights * weights)
grads = tf.gradients(loss, [weights])
""",
    "`loss` passed to Optimizer.compute": V1
    + """
weights = tf.Variable(tf.ones([3]))
loss = tf.reduce_sum(weights * weights)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
""",
    "'Adam' object has no attribute 'minimize'": HEAD
    + """
weights = tf.Variable(tf.ones([3]))
optimizer = tf.keras.optimizers.Adam(1e-3)
optimizer.minimize(lambda: tf.reduce_sum(weights), [weights])
""",
    "Argument(s) not recognized": HEAD
    + """
optimizer = tf.keras.optimizers.RMSprop(lr=1e-3)
""",
    "No gradients provided": HEAD
    + """
weights = tf.Variable(tf.ones([3]))
optimizer = tf.keras.optimizers.Adam()
with tf.GradientTape() as tape:
    hits = tf.argmax(weights * 2)
optimizer.apply_gradients(zip(tape.gradient(hits, [weights]), [weights]))
""",
    "Unknown variable": HEAD
    + """
optimizer = tf.keras.optimizers.Adam()
generator, discriminator = tf.Variable([1.0]), tf.Variable([2.0])
for variable in (generator, discriminator):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(variable**2)
    optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])
""",
    "A non-persistent GradientTape": HEAD
    + """
a, b = tf.Variable(1.0), tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = a * b
da = tape.gradient(loss, a)
db = tape.gradient(loss, b)
""",
    "tf.function only supports singleton": HEAD
    + """
@tf.function
def layer(x):
    kernel = tf.Variable(tf.ones([3, 2]))
    return x @ kernel

layer(tf.ones([1, 3]))
""",
    "… is out of scope": HEAD
    + """
class Net:
    @tf.function
    def __call__(self, x):
        self.activation = tf.nn.relu(x)
        return self.activation

net = Net()
net(tf.ones([2]))
print(tf.reduce_mean(net.activation))
""",
    "Using a symbolic `tf.Tensor`": V1
    + """
with tf.Graph().as_default():
    step = tf.placeholder(tf.int32, [])
    rate = 0.1 if step < 1000 else 0.01
""",
    "Iterating over a symbolic": V1
    + """
with tf.Graph().as_default():
    mean, variance = tf.placeholder(tf.float32, [2])
""",
    "Cannot convert a symbolic tf.Tensor": HEAD
    + """
@tf.function
def normalize(x):
    return (x - np.mean(x)) / np.std(x)

normalize(tf.ones([4]))
""",
    "'SymbolicTensor' object has no attribute 'numpy'": HEAD
    + """
def load(path):
    return tf.io.read_file(path.numpy())

files = tf.data.Dataset.from_tensor_slices(["a.png"]).map(load)
""",
    "A KerasTensor cannot be used": HEAD
    + """
inputs = tf.keras.Input([8])
outputs = tf.nn.l2_normalize(inputs, axis=1)
""",
    "'…' has shape … before the loop": HEAD
    + """
@tf.function
def repeat(x, n):
    rows = x
    while tf.shape(rows)[0] < n:
        rows = tf.concat([rows, x], axis=0)
    return rows

repeat(tf.ones([1, 2]), tf.constant(3))
""",
    "'…' must also be initialized": HEAD
    + """
@tf.function
def clip(gradient, limit):
    if tf.norm(gradient) > limit:
        clipped = gradient * limit / tf.norm(gradient)
    return clipped

clip(tf.ones([2]), tf.constant(1.0))
""",
    "Binding inputs to tf.function": HEAD
    + """
@tf.function(input_signature=[tf.TensorSpec([None, 28, 28], tf.float32)])
def predict(images):
    return tf.reduce_mean(images, [1, 2])

predict(np.zeros([1, 28, 28, 1], np.float32))
""",
    "cannot compute … as input": HEAD
    + """
labels = tf.constant([1, 0, 2])
predictions = tf.constant([0.9, 0.1, 1.7])
error = predictions - labels
""",
    "cannot compute … as input #1": HEAD
    + """
@tf.function
def squared_error(predictions, labels):
    return tf.square(predictions - labels)

squared_error(tf.constant([0.9]), tf.constant([1]))
""",
    "Incompatible shapes": HEAD
    + """
kernel = tf.ones([4, 5])
scale = tf.ones([4])
scaled = kernel * scale
""",
    "Matrix size-incompatible": HEAD
    + """
batch = tf.ones([32, 784])
kernel = tf.ones([256, 784])
logits = tf.matmul(batch, kernel)
""",
    "Input to reshape": HEAD
    + """
flat = tf.reshape(tf.ones([2, 28, 28]), [2, 1024])
""",
    "`logits` and `labels` must": HEAD
    + """
logits = tf.ones([16, 1])
labels = tf.zeros([16])
loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
""",
    "Received a label value": HEAD
    + """
loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
    labels=tf.constant([10]), logits=tf.ones([1, 10])
)
""",
    "Attempting to use uninitialized": V1
    + """
from tf1to2.parity.v1 import legacy

with legacy(), tf.Session() as sess:
    bias = tf.get_variable("layer/bias", [4])
    print(sess.run(bias + 1.0))
""",
    "Could not find variable": V1
    + """
with tf.Graph().as_default(), tf.Session() as sess:
    bias = tf.Variable(tf.zeros([4]), name="bias", use_resource=True)
    print(sess.run(bias + 1.0))
""",
    "You must feed a value": V1
    + """
with tf.Graph().as_default(), tf.Session() as sess:
    keep_prob = tf.placeholder(tf.float32, name="keep_prob")
    sess.run(keep_prob * 2)
""",
    "Cannot feed value of shape": V1
    + """
with tf.Graph().as_default(), tf.Session() as sess:
    images = tf.placeholder(tf.float32, [None, 784])
    sess.run(tf.reduce_sum(images), {images: np.zeros([2, 28, 28])})
""",
    "Variable … already exists": V1
    + """
def tower():
    return tf.get_variable("w", [3])

with tf.Graph().as_default():
    first, second = tower(), tower()
""",
    "Tensor(…) must be from the same graph": V1
    + """
encoder, decoder = tf.Graph(), tf.Graph()
with encoder.as_default():
    code = tf.placeholder(tf.float32, [2, 3])
with decoder.as_default():
    tf.matmul(code, tf.ones([3, 2]))
""",
    "Tensor … is not an element": V1
    + """
model, server = tf.Graph(), tf.Graph()
with model.as_default():
    scores = tf.nn.softmax(tf.ones([1, 3]))
with server.as_default(), tf.Session() as sess:
    tf.constant(0.0)
    sess.run(scores)
""",
    "Key … not found in checkpoint": V1
    + """
with tf.Graph().as_default(), tf.Session() as sess:
    kernel = tf.get_variable("fc/weights", [2])
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, "model.ckpt")
with tf.Graph().as_default(), tf.Session() as sess:
    kernel = tf.get_variable("dense/kernel", [2])
    tf.train.Saver().restore(sess, path)
""",
    "Some objects had attributes": HEAD
    + """
with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
    tf.compat.v1.get_variable("fc/weights", [2])
    sess.run(tf.compat.v1.global_variables_initializer())
    path = tf.compat.v1.train.Saver().save(sess, "old.ckpt")
model = tf.train.Checkpoint(kernel=tf.Variable([0.0, 0.0]))
model.restore(path).assert_consumed()
""",
    "'_UserObject' object is not callable": HEAD
    + """
class Model(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def predict(self, x):
        return x * 2

tf.saved_model.save(Model(), "exported")
predictor = tf.saved_model.load("exported")
predictor(tf.constant([1.0]))
""",
    "Tried to export a function": HEAD
    + """
table = tf.Variable([1.0, 2.0])

class Lookup(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def find(self, ids):
        return tf.gather(table, ids)

tf.saved_model.save(Lookup(), "lookup")
""",
    "'PerReplica' object": HEAD
    + """
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

def loss():
    return tf.constant(0.5) + tf.distribute.get_replica_context().num_replicas_in_sync

print("loss", strategy.run(lambda: tf.random.uniform([])).numpy())
""",
    "File format not supported": HEAD
    + """
tf.saved_model.save(tf.Module(), "saved")
model = tf.keras.models.load_model("saved")
""",
}


def printed(program):
    """(traceback, its end, message) of a program, run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, inside(folder):
        path = os.path.join(folder, "train.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        try:
            exec(compile(program, path, "exec"), {"__name__": "__main__"})
        except Exception as error:
            end = "".join(traceback.format_exception_only(error))
            return traceback.format_exc(), end, str(error)
    raise AssertionError("the program fails no more")


class PastedTest(unittest.TestCase):
    def test_there_are_forty(self):
        self.assertGreaterEqual(len(PROGRAMS), 40)

    @parameterized.expand([(re.sub(r"\W+", "_", first), first) for first in PROGRAMS])
    def test_it_leads_to_the_right_place(self, _, first):
        for form, text in zip(
            ("traceback", "type", "message"), printed(PROGRAMS[first]), strict=True
        ):
            with self.subTest(form=form):
                answer = render.render(resolve.resolve(text))
                self.assertTrue(answer.startswith(first), f"{text}\n→\n{answer[:300]}")
