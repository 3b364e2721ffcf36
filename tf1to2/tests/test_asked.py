"""Questions as people type them: `explain` leads from their words to the pair."""

import unittest
from unittest import mock

from parameterized import parameterized

from tf1to2.scan import asked, explain

# {a pair, or a page of the guide: what was asked}.
QUESTIONS = {
    "gradients.accumulated_step": "gradient accumulation accum_vars zero_ops",
    "slim.make_network": "with slim.arg_scope([slim.conv2d, slim.fully_connected], "
    "weights_regularizer=slim.l2_regularizer(0.0005), normalizer_fn=slim.batch_norm)",
    "seq2seq.make_training_decoder": "BasicDecoder TrainingHelper "
    "GreedyEmbeddingHelper dynamic_decode now that tensorflow_addons is dead",
    "rnn.make_bidirectional": "bidirectional_dynamic_rnn with sequence_length in TF2, "
    "outputs after the length",
    "optimizers.fit_clipped": "grads_and_vars = optimizer.compute_gradients(loss); "
    "clip_by_global_norm; apply_gradients(global_step=global_step)",
    "training_recipes.pretrain": "BERT AdamWeightDecayOptimizer create_optimizer "
    "warmup polynomial_decay port to tf2",
    "estimators.train_and_evaluate": "convert estimator model_fn EstimatorSpec "
    "train_and_evaluate to tensorflow 2.16 custom loop",
    "training_loops.early_stopping": "SessionRunHook LoggingTensorHook StopAtStepHook "
    "in TF2 training loop",
    "summaries.graph_nodes": "tensorboard graph tab empty after moving to TF2 "
    "writer.add_graph(sess.graph)",
    "guide/fast.md": "Why is TensorFlow 2 much slower than TensorFlow 1 custom loss",
    "parallel.fit_towers": "multi gpu towers average_gradients tf.device('/gpu:%d') "
    "reuse_variables to MirroredStrategy loss different",
    "saved_models.run_frozen": "load frozen graph .pb from TF1 and run inference",
    "guide/plan.md": "ran tf_upgrade_v2, now everything is tf.compat.v1 - is it TF2?",
    "optimizers.fit": "RMSPropOptimizer vs keras RMSprop training worse after port",
    "contrib_learn.train_on_tpu": "ValueError: CrossShardOptimizer must be used for "
    "model training on TPUs.",
    "scopes.make_siamese": "share weights between two networks variable_scope reuse",
    "graphs.feed_between": "feed_dict overriding an intermediate tensor",
    "guide/distributed.md": "MultiWorkerMirroredStrategy hangs at Started server with "
    "target",
    "guide/saved_models.md": "signature output names became output_0",
    "functions.scale_by_each": "memory grows in a loop of sess.run calls",
    "graphs.printed_and_run": "how to print tensor value in tf2",
}


def answer(question):
    with mock.patch.object(explain, "_sides", return_value=""):
        return explain.render(question)


class AskedTest(unittest.TestCase):
    @parameterized.expand(QUESTIONS.items())
    def test_the_words_lead_there(self, place, question):
        told = answer(question)
        wanted = place if "/" in place else f"tf1to2 diff {place}"
        self.assertIn(wanted, told)

    def test_a_rare_word_weighs_more_than_many_common_ones(self):
        first = asked.passages("the gradient of a loss under reduce_retracing")[0]
        self.assertIn("reduce_retracing", first.text)

    def test_what_shares_a_word_alone_is_no_answer(self):
        self.assertEqual(asked.passages("xyzzy plugh gradient quux frobnicate"), [])

    def test_no_pair_is_told_twice(self):
        for question in QUESTIONS.values():
            first = [p.places[0] for p in asked.passages(question) if p.places]
            self.assertEqual(len(first), len(set(first)), question)
