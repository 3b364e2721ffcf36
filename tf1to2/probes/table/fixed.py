"""Calls as legacy code writes them, which `tf1to2 fix` makes others of.

The numbers of an initializer are others for each run; how they spread is not.
"""

from tf1to2.probes import probe

X = "x = normal(4, 5)"
VALUES = "from absl import flags\nvalues = flags.FlagValues()\n"
READ = "values(['program', '--n=5'])\nvalues.n"
SPREAD = "([400, 400])\nmean = tf.reduce_mean(drawn)\nspread = tf.sqrt(tf.reduce_mean(tf.square(drawn - mean)))\ntf.cast(tf.round(10 * tf.stack([mean, spread])), tf.int32)"

PROBES = [
    probe("tf.div", "tf.div(x, 3.0)", "x / 3.0", X, exact=True),
    probe("tf.div", "tf.div(2.0, x, name='n')", "2.0 / x", X, exact=True),
    probe("tf.div", "tf.div(x, tf.to_float(3))", "x / 3.0", X, exact=True),
    *(
        probe(
            f"tf.{name}",
            f"drawn = tf.{name}({given}){SPREAD}",
            f"drawn = tf.{new}({explicit}){SPREAD}",
        )
        for name, given, new, explicit in (
            (
                "truncated_normal_initializer",
                "",
                "initializers.truncated_normal",
                "stddev=1.0",
            ),
            (
                "random_normal_initializer",
                "",
                "random_normal_initializer",
                "stddev=1.0",
            ),
            (
                "random_normal_initializer",
                "2.0",
                "random_normal_initializer",
                "2.0, 1.0",
            ),
            (
                "random_uniform_initializer",
                "",
                "random_uniform_initializer",
                "0.0, 1.0",
            ),
            (
                "random_uniform_initializer",
                "-1.0",
                "random_uniform_initializer",
                "-1.0, 1.0",
            ),
        )
    ),
    probe(
        "tf.flags.DEFINE_integer",
        f"{VALUES}tf.flags.DEFINE_integer(flag_name='n', default_value=3, docstring='d', flag_values=values)\n{READ}",
        f"{VALUES}flags.DEFINE_integer(name='n', default=3, help='d', flag_values=values)\n{READ}",
    ),
    probe(
        "tf.nn.dropout",
        "tf.nn.dropout(x, 1.0 - 0.25, seed=3)",
        "tf.nn.dropout(x, rate=0.25, seed=3)",
        X,
    ),
    probe(
        "tf.py_func",
        "tf.py_func(np.cumsum, [x], x.dtype, stateful=True)",
        "tf.numpy_function(np.cumsum, [x], x.dtype)",
        X,
    ),
    probe(
        "tf.assign",
        "v = tf.get_variable('v', [], initializer=distinct('v'))\nsess = tf.Session()\nsess.run(tf.global_variables_initializer())\nsess.run(tf.assign(v, 2.5))",
        "v = tf.Variable(0.5)\nv.assign(2.5)\nv.read_value()",
    ),
    probe(
        "tf.name_scope",
        "with tf.name_scope(None, 'scope', [x]) as scope:\n    y = x + 1\ny",
        "with tf.name_scope('scope') as scope:\n    y = x + 1\ny",
        X,
    ),
]
