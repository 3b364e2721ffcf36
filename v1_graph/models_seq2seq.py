"""`AttentionWrapper`, `dynamic_decode`, `BeamSearchDecoder`, clipped Adam: seq2seq.

Attention for translation: Bahdanau, Cho and Bengio 2014; Luong, Pham and Manning 2015.
Programs on `tf.contrib.seq2seq`, such as Google's nmt, were written like this from 2017
on.
"""

import os

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

PAD, GO, EOS = 0, 1, 2
VOCAB_SIZE, EMBED_SIZE, UNITS = 10, 6, 6
BEAM_WIDTH, MAX_GRAD_NORM = 3, 1.0


class Seq2Seq:
    """The graph of the encoder, the attention and the decoder.

    Args:
        mode: "train", "greedy" or "beam".
        dtype: dtype of the weights.
    """

    def __init__(self, mode, dtype):
        self.mode, self.dtype = mode, dtype
        self.source = tf.placeholder(tf.int32, [None, None], name="source")
        self.source_length = tf.placeholder(tf.int32, [None], name="source_length")
        self.target = tf.placeholder(tf.int32, [None, None], name="target")
        self.target_length = tf.placeholder(tf.int32, [None], name="target_length")
        self.batch_size = tf.shape(self.source)[0]
        initializer = tf.random_uniform_initializer(-0.25, 0.25, seed=1)
        tf.get_variable_scope().set_initializer(initializer)
        with tf.variable_scope("encoder"):
            memory, state = self.encode()
        with tf.variable_scope("decoder") as scope:
            self.decode(memory, state, scope)

    def embedding(self):
        return tf.get_variable("embedding", [VOCAB_SIZE, EMBED_SIZE], self.dtype)

    def encode(self):
        inputs = tf.nn.embedding_lookup(self.embedding(), self.source)
        outputs, (fw, bw) = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.BasicLSTMCell(UNITS),
            tf.nn.rnn_cell.BasicLSTMCell(UNITS),
            inputs,
            sequence_length=self.source_length,
            dtype=self.dtype,
        )
        state = tf.nn.rnn_cell.LSTMStateTuple(
            c=tf.concat([fw.c, bw.c], 1), h=tf.concat([fw.h, bw.h], 1)
        )
        return tf.concat(outputs, 2), state

    def decode(self, memory, state, scope):
        seq2seq = tensorflow.contrib.seq2seq
        lengths, rows = self.source_length, self.batch_size
        if self.mode == "beam":
            memory = seq2seq.tile_batch(memory, BEAM_WIDTH)
            state = seq2seq.tile_batch(state, BEAM_WIDTH)
            lengths = seq2seq.tile_batch(lengths, BEAM_WIDTH)
            rows *= BEAM_WIDTH
        mechanism = seq2seq.LuongAttention(
            2 * UNITS, memory, memory_sequence_length=lengths, dtype=self.dtype
        )
        cell = seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.BasicLSTMCell(2 * UNITS),
            mechanism,
            attention_layer_size=2 * UNITS,
        )
        initial_state = cell.zero_state(rows, self.dtype).clone(cell_state=state)
        projection = tf.layers.Dense(VOCAB_SIZE, use_bias=False, name="projection")
        embedding = self.embedding()
        start_tokens = tf.fill([self.batch_size], GO)
        longest = 2 * tf.reduce_max(self.source_length)
        if self.mode == "train":
            go = tf.fill([self.batch_size, 1], GO)
            inputs = tf.concat([go, self.target[:, :-1]], 1)
            inputs = tf.nn.embedding_lookup(embedding, inputs)
            helper = seq2seq.TrainingHelper(inputs, self.target_length)
            decoder = seq2seq.BasicDecoder(cell, helper, initial_state, projection)
            outputs, _, _ = seq2seq.dynamic_decode(decoder, scope=scope)
            mask = tf.sequence_mask(self.target_length, dtype=memory.dtype)
            target = self.target[:, : tf.reduce_max(self.target_length)]
            self.loss = seq2seq.sequence_loss(outputs.rnn_output, target, mask)
        elif self.mode == "greedy":
            helper = seq2seq.GreedyEmbeddingHelper(embedding, start_tokens, EOS)
            decoder = seq2seq.BasicDecoder(cell, helper, initial_state, projection)
            outputs, _, self.lengths = seq2seq.dynamic_decode(
                decoder, impute_finished=True, maximum_iterations=longest, scope=scope
            )
            self.ids = outputs.sample_id
        else:
            decoder = seq2seq.BeamSearchDecoder(
                cell,
                embedding,
                start_tokens,
                EOS,
                initial_state,
                BEAM_WIDTH,
                output_layer=projection,
            )
            outputs, _, _ = seq2seq.dynamic_decode(
                decoder, maximum_iterations=longest, scope=scope
            )
            self.ids = outputs.predicted_ids
            self.scores = outputs.beam_search_decoder_output.scores[:, -1]


def train(
    sources,
    source_lengths,
    targets,
    target_lengths,
    rate,
    steps,
    checkpoint=None,
    folder=None,
):
    """Trains with teacher forcing: Adam, clipped gradients, a halved learning rate.

    Args:
        sources: [batches, batch, time] int32 array of symbols, padded with 0. The
            global step chooses the batch.
        source_lengths: [batches, batch] int32 array, at least 1.
        targets: [batches, batch, time] int32 array, each row with 2, the end, as its
            last symbol, padded with 0.
        target_lengths: [batches, batch] int32 array, with the end.
        rate: scalar float array, the learning rate of the first 64 steps; the weights
            have its dtype.
        steps: how many steps to take.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.

    Returns:
        dict with the `losses`, [steps], before each step, and the final `variables` by
        name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        model = Seq2Seq("train", rate.dtype)
        global_step = tf.train.get_or_create_global_step()
        lr = tf.train.exponential_decay(rate, global_step, 64, 0.5, staircase=True)
        params = tf.trainable_variables()
        gradients = tf.gradients(model.loss, params)
        clipped, norm = tf.clip_by_global_norm(gradients, MAX_GRAD_NORM)
        optimizer = tf.train.AdamOptimizer(lr)
        train_op = optimizer.apply_gradients(zip(clipped, params), global_step)
        tf.summary.scalar("lr", lr)
        tf.summary.scalar("train_loss", model.loss)
        tf.summary.scalar("grad_norm", norm)
        merged = tf.summary.merge_all()
        saver = tf.train.Saver(tf.global_variables())
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        if checkpoint:
            saver.restore(sess, checkpoint)
        else:
            sess.run(tf.global_variables_initializer())
        # --- run
        losses, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            i = step % len(sources)
            feed = {
                model.source: sources[i],
                model.source_length: source_lengths[i],
                model.target: targets[i],
                model.target_length: target_lengths[i],
            }
            _, loss, summary = sess.run([train_op, model.loss, merged], feed)
            losses.append(loss)
            if writer:
                writer.add_summary(summary, step)
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def restored(sess, mode, checkpoint):
    """Builds the graph of a mode, and restores the weights."""
    dtype = tf.train.load_variable(checkpoint, "decoder/embedding").dtype
    model = Seq2Seq(mode, dtype)
    tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
    return model


def evaluate(source, source_length, target, target_length, checkpoint):
    """Decodes greedily, and computes the accuracy of the symbols.

    Args:
        source: [n, time] int32 array, see `train`.
        source_length: [n] int32 array.
        target: [n, time] int32 array, see `train`.
        target_length: [n] int32 array.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the `ids`, [n, steps] int32, 0 past the end, their `lengths`, [n]
        int32, with the end, and the `accuracy`: the share of the symbols of all
        targets, ends included, that are decoded at their place.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- decode
        model = restored(sess, "greedy", checkpoint)
        feed = {model.source: source, model.source_length: source_length}
        ids, lengths = sess.run([model.ids, model.lengths], feed)
        # --- compare
        time = target.shape[1]
        padded = np.pad(ids, [(0, 0), (0, time)], "constant")[:, :time]
        inside = np.arange(time) < target_length[:, None]
        accuracy = np.mean((padded == target)[inside])
        return {"ids": ids, "lengths": lengths, "accuracy": accuracy}


def export(source, source_length, checkpoint, folder):
    """Saves a beam search as a SavedModel, loads it, and decodes.

    Args:
        source: [n, time] int32 array, see `train`.
        source_length: [n] int32 array.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the `ids`, [n, steps, 3] int32, the best beam first and 2 past its
        end, and the `scores` of the beams, [n, 3], their log probabilities.
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        model = restored(sess, "beam", checkpoint)
        inputs = {"source": model.source, "source_length": model.source_length}
        outputs = {"ids": model.ids, "scores": model.scores}
        tf.saved_model.simple_save(sess, folder, inputs, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        meta = tf.saved_model.loader.load(sess, tags, folder)
        signature = meta.signature_def["serving_default"]
        # --- run
        given = {"source": source, "source_length": source_length}
        feed = {signature.inputs[name].name: x for name, x in given.items()}
        return {n: sess.run(x.name, feed) for n, x in signature.outputs.items()}
