"""A small program of TensorFlow 1, run with one switch: the answer of each line.

This file also runs on Python 3.7: `python program.py SWITCH` prints {line: answer} as
JSON. SWITCH is a function of `tf.compat.v1`, such as "enable_v2_tensorshape", or "".
"""

import json
import re
import sys

import tensorflow.compat.v1 as tf

BATCH = "x = tf.placeholder(tf.float32, [None, 3])"
VARIABLE = "v = tf.get_variable('v', initializer=[1.0, 2.0])"
READ = """\
old = v.value()
with tf.control_dependencies([old]):
    new = v.assign_add([10.0, 10.0])
with tf.control_dependencies([new]):
    late = old + 0.0"""
COND = (
    "chosen = tf.cond(tf.constant(True), lambda: kept(tf.constant(3.0)), lambda: 0.0)"
)
LOOP = """\
x = tf.constant(2.0)
cube = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), [0, x])[1]"""

IN_A_GRAPH = [
    (BATCH, "x.shape[1]"),
    (BATCH, "x.shape[1].value"),
    (BATCH, "x.shape[0] is None"),
    (BATCH, "x.shape[0] * 2"),
    (BATCH, "x.shape[1] / 2"),
    (BATCH, "x.shape[1] == 3"),
    (BATCH, "x.shape.as_list()"),
    (BATCH, "x == x"),
    (BATCH, "tf.constant(1.0) == 1.0"),
    (BATCH, "tf.constant(1.0) in [x, tf.constant(1.0)]"),
    (VARIABLE, "type(v).__name__"),
    (VARIABLE, "v.op.type"),
    (VARIABLE + "\n" + READ, "run(late)"),
    (VARIABLE, "run(tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False))"),
    (VARIABLE, "v == v"),
    (COND, "control_flow(chosen)"),
    (COND, "run(chosen)"),
    (COND, "run(KEPT[-1])"),
    (LOOP, "control_flow(cube)"),
    (LOOP, "run(cube)"),
    (LOOP, "run(tf.gradients(cube, x))"),
    (LOOP, "run(tf.gradients(tf.gradients(cube, x), x))"),
]
"""(lines before, expression); each runs in a graph and a session of its own."""

OUTSIDE = [
    ("", "tf.placeholder(tf.float32).dtype"),
    ("x = tf.constant([1.0, 2.0])", "type(x).__name__"),
    ("x = tf.constant([1.0, 2.0])", "float(tf.reduce_sum(x))"),
    ("x = tf.constant([1.0, 2.0])", "tf.Session().run(x * 2.0)"),
    ("x = tf.constant([1.0, 2.0])", "len(tf.gradients(x * x, x))"),
    ("x = tf.constant([1.0, 2.0])", "[float(row) for row in x]"),
    ("x = tf.constant([1.0, 2.0])", "x.shape[0]"),
    ("x = tf.constant(1.0)", "x == 1.0"),
    ("x = tf.constant(1.0)", "x in [tf.constant(2.0), tf.constant(1.0)]"),
    ("x = tf.constant(1.0)", "len({x: 'fed'})"),
    ("", "type(tf.Variable(1.0)).__name__"),
    ("", "type(tf.get_variable('outside', [])).__name__"),
    ("", "type(tf.function(lambda: tf.constant(1.0))()).__name__"),
    ("", "[int(n) for n in tf.data.Dataset.range(3)]"),
]
"""The same, without a graph of their own."""

CONTROL_FLOW = {"Switch", "Merge", "If", "StatelessIf"}
CONTROL_FLOW |= {"Enter", "Exit", "While", "StatelessWhile"}
KEPT = []


def kept(tensor):
    """Keeps a tensor of a branch, so that code outside the branch can use it."""
    KEPT.append(tensor * 2.0)
    return KEPT[-1]


def control_flow(tensor):
    """Lists the types of the control flow ops in a tensor's graph."""
    types = {op.type for op in tensor.graph.get_operations()}
    return sorted(types & CONTROL_FLOW)


def answered(lines, expression, sess=None):
    """Evaluates an expression, as text; an error gives its type and first sentence."""

    def run(fetches):
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches)

    names = dict(globals(), run=run)
    try:
        exec(lines, names)
        return shown(eval(expression, names))
    except Exception as error:  # the error is the answer
        sentence = re.split(r"\.\s|\n", str(error))[0].rstrip(".")
        return "%s: %s" % (type(error).__name__, nameless(sentence))


def shown(value):
    """Formats a value as text; "a symbolic tensor" for all symbolic tensors."""
    if isinstance(value, tf.Tensor) and not hasattr(value, "numpy"):
        return "a symbolic tensor"
    value = value.numpy() if isinstance(value, tf.Tensor) else value
    if isinstance(value, list):
        return "[%s]" % ", ".join(shown(item) for item in value)
    return nameless(repr(value.tolist() if hasattr(value, "tolist") else value))


def nameless(text):
    """Removes the parts of `text` that differ between runs: addresses, op names."""
    text = re.sub(r"\(defined at [^)]*\)", "", text)
    text = re.sub(r'Tensor\("[^"]*"[^)]*\),? ?.*', "…", text)
    return re.sub(r" at 0x[0-9a-f]+", "", text).strip()


def main(switch):
    """Calls a switch, and prints the answers as JSON."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    if switch:
        getattr(tf, switch)()
    answers = {"version": tf.__version__, "in a graph": {}, "outside": {}}
    for lines, expression in IN_A_GRAPH:
        with tf.Graph().as_default(), tf.Session() as sess:
            answers["in a graph"][expression] = answered(lines, expression, sess)
    for lines, expression in OUTSIDE:
        answers["outside"][expression] = answered(lines, expression)
    print(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
