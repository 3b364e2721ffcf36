"""MAML: a dict of weights, `tf.gradients` in `tf.map_fn`, `stop_grad`, Adam.

Finn, Abbeel and Levine, "Model-Agnostic Meta-Learning for Fast Adaptation of Deep
Networks", 2017: regression of sinusoids, in the form of the programs of 2017 to 2019.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

META_LR = 0.001
UPDATE_LR = 0.01
NUM_UPDATES, TEST_NUM_UPDATES = 2, 5
UPDATE_BATCH_SIZE = 5
DIM_HIDDEN = 16


def mse(pred, label):
    """Computes the mean squared error, a scalar."""
    return tf.reduce_mean(tf.square(tf.reshape(pred, [-1]) - tf.reshape(label, [-1])))


class MAML:
    """The graph: the weights, and the inner updates of a batch of tasks.

    Args:
        dtype: float dtype of the points.
        num_updates: number of inner updates.
        stop_grad: whether to ignore second derivatives, as first-order MAML does.
    """

    def __init__(self, dtype, num_updates, stop_grad=False):
        self.dtype = dtype
        self.num_updates = num_updates
        self.stop_grad = stop_grad
        with tf.variable_scope("model"):
            self.weights = self.construct_weights()

    def construct_weights(self):
        weights = {}
        dims = [1, DIM_HIDDEN, DIM_HIDDEN, 1]
        for i in range(1, len(dims)):
            shape = [dims[i - 1], dims[i]]
            w = tf.truncated_normal(shape, stddev=0.01, dtype=self.dtype, seed=i)
            weights["w%d" % i] = tf.Variable(w, name="w%d" % i)
            b = tf.zeros([dims[i]], self.dtype)
            weights["b%d" % i] = tf.Variable(b, name="b%d" % i)
        return weights

    def forward(self, inp, weights):
        hidden = tf.nn.relu(tf.matmul(inp, weights["w1"]) + weights["b1"])
        hidden = tf.nn.relu(tf.matmul(hidden, weights["w2"]) + weights["b2"])
        return tf.matmul(hidden, weights["w3"]) + weights["b3"]

    def update(self, loss, weights):
        grads = tf.gradients(loss, list(weights.values()))
        if self.stop_grad:
            grads = [tf.stop_gradient(grad) for grad in grads]
        gradients = dict(zip(weights.keys(), grads))
        return dict(
            zip(
                weights.keys(),
                [weights[key] - UPDATE_LR * gradients[key] for key in weights.keys()],
            )
        )

    def task_metalearn(self, inp):
        """Adapts the weights to one task."""
        inputa, inputb, labela, labelb = inp
        task_lossa = mse(self.forward(inputa, self.weights), labela)
        task_outputbs, task_lossesb = [], []
        fast_weights = self.update(task_lossa, self.weights)
        task_outputbs.append(self.forward(inputb, fast_weights))
        task_lossesb.append(mse(task_outputbs[-1], labelb))
        for _ in range(self.num_updates - 1):
            loss = mse(self.forward(inputa, fast_weights), labela)
            fast_weights = self.update(loss, fast_weights)
            task_outputbs.append(self.forward(inputb, fast_weights))
            task_lossesb.append(mse(task_outputbs[-1], labelb))
        return [task_lossa, task_outputbs, task_lossesb]

    def construct_model(self, meta_batch_size):
        self.inputa = tf.placeholder(self.dtype, [meta_batch_size, None, 1], "inputa")
        self.inputb = tf.placeholder(self.dtype, [meta_batch_size, None, 1], "inputb")
        self.labela = tf.placeholder(self.dtype, [meta_batch_size, None, 1], "labela")
        self.labelb = tf.placeholder(self.dtype, [meta_batch_size, None, 1], "labelb")
        many = [self.dtype] * self.num_updates
        lossesa, self.outputbs, lossesb = tf.map_fn(
            self.task_metalearn,
            elems=(self.inputa, self.inputb, self.labela, self.labelb),
            dtype=[self.dtype, many, many],
            parallel_iterations=meta_batch_size,
        )
        self.total_loss1 = tf.reduce_sum(lossesa) / meta_batch_size
        self.total_losses2 = [tf.reduce_sum(x) / meta_batch_size for x in lossesb]

    def feed(self, inputs, labels):
        return {
            self.inputa: inputs[:, :UPDATE_BATCH_SIZE],
            self.inputb: inputs[:, UPDATE_BATCH_SIZE:],
            self.labela: labels[:, :UPDATE_BATCH_SIZE],
            self.labelb: labels[:, UPDATE_BATCH_SIZE:],
        }


def train(inputs, labels, steps, checkpoint=None, folder=None, stop_grad=False):
    """Trains weights that adapt to a new task in a few steps of gradient descent.

    Args:
        inputs: [batches, tasks, points, 1] float array. The tasks adapt to the first
            UPDATE_BATCH_SIZE points, and the meta-loss is that of the others. The
            global step chooses the batch.
        labels: array of the same shape and dtype.
        steps: how many steps to take.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.
        stop_grad: see `MAML`.

    Returns:
        dict with the `prelosses`, [steps], before the inner updates, the `losses`,
        [steps], after the last one, both before each step, and the final `variables`
        by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        model = MAML(inputs.dtype, NUM_UPDATES, stop_grad)
        model.construct_model(inputs.shape[1])
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(META_LR)
        gvs = optimizer.compute_gradients(model.total_losses2[NUM_UPDATES - 1])
        gvs = [(tf.clip_by_value(grad, -10, 10), var) for grad, var in gvs]
        metatrain_op = optimizer.apply_gradients(gvs, global_step)
        tf.summary.scalar("pre_update_loss", model.total_loss1)
        tf.summary.scalar("post_update_loss", model.total_losses2[-1])
        summary_op = tf.summary.merge_all()
        saver = tf.train.Saver(max_to_keep=10)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        sess.run(tf.global_variables_initializer())
        if checkpoint:
            saver.restore(sess, checkpoint)
        # --- run
        prelosses, postlosses = [], []
        first = sess.run(global_step)
        for itr in range(first, first + steps):
            feed_dict = model.feed(inputs[itr % len(inputs)], labels[itr % len(labels)])
            fetches = [metatrain_op, summary_op, model.total_loss1]
            result = sess.run(fetches + [model.total_losses2[-1]], feed_dict)
            prelosses.append(result[-2])
            postlosses.append(result[-1])
            if writer:
                writer.add_summary(result[1], itr)
        # --- save
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        return {
            "prelosses": np.array(prelosses),
            "losses": np.array(postlosses),
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }


def evaluate(inputs, labels, checkpoint):
    """Adapts the weights to new tasks; computes the loss before and after each step.

    Args:
        inputs, labels: [tasks, points, 1] float arrays, see `train`.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the `losses`, [1 + TEST_NUM_UPDATES]: the first is that of the points
        to adapt to, before any step, the others are those of the other points; and the
        `predictions` after the last step, [tasks, other points, 1].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- restore
        model = MAML(inputs.dtype, TEST_NUM_UPDATES)
        model.construct_model(len(inputs))
        tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
        # --- run
        fetches = [[model.total_loss1] + model.total_losses2, model.outputbs[-1]]
        losses, predictions = sess.run(fetches, model.feed(inputs, labels))
        return {"losses": np.array(losses), "predictions": predictions}


def export(inputa, labela, inputb, checkpoint, folder):
    """Saves a model that adapts to points and predicts others, loads it, and calls it.

    Args:
        inputa, labela: [n, 1] float arrays, the points to adapt to.
        inputb: [m, 1] array of the same dtype.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the `outputb`, [m, 1].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        model = MAML(inputa.dtype, TEST_NUM_UPDATES)
        names = ["inputa", "labela", "inputb"]
        inputs = {n: tf.placeholder(inputa.dtype, [None, 1], n) for n in names}
        fast_weights = model.weights
        for _ in range(TEST_NUM_UPDATES):
            loss = mse(model.forward(inputs["inputa"], fast_weights), inputs["labela"])
            fast_weights = model.update(loss, fast_weights)
        outputs = {"outputb": model.forward(inputs["inputb"], fast_weights)}
        tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
        tf.saved_model.simple_save(sess, folder, inputs, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        meta = tf.saved_model.loader.load(sess, tags, folder)
        signature = meta.signature_def["serving_default"]
        # --- run
        values = {"inputa": inputa, "labela": labela, "inputb": inputb}
        feed_dict = {signature.inputs[n].name: x for n, x in values.items()}
        return {"outputb": sess.run(signature.outputs["outputb"].name, feed_dict)}
