"""Questions as people type them: `explain` leads from their words to the pair."""

import unittest
from unittest import mock

from parameterized import parameterized

from tf1to2.common import tsv
from tf1to2.explain import questions, render, resolve
from tf1to2.pages import topics

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
    "distributed.train_synchronously": "MultiWorkerMirroredStrategy hangs at Started "
    "server with target",
    "guide/saved_models.md": "signature output names became output_0",
    "functions.scale_by_each": "memory grows in a loop of sess.run calls",
    "graphs.printed_and_run": "how to print tensor value in tf2",
}
MORE = {
    "guide/errors-environment.md, Could not find a version": "Tensorflow on Apple M1: "
    "I need tensorflow-gpu<2,>=1.15.2",
    "keras_training.plain_loop": "how to add callbacks without using model.fit in tf2",
    "debugging.first_nonfinite": "tfdbg has_inf_or_nan in tensorflow 2",
    "guide/fast.md, Fast in TensorFlow 2: `model.predict`": "agent calls model.predict "
    "on every step, much slower than TF1",
    "guide/metrics.md, Changes your numbers: 200": "auc other than roc_auc_score",
    "guide/bridges.md, Changes your numbers: Wrap": "tf.compat.v1.get_variable does "
    "not reuse: assert v1 == v2 fails",
    # What is folded on the page is found, too, and says of which rule it is.
    "guide/debugging.md, Good to know: Replace `tfdbg` by `pdb` and "
    "`enable_check_numerics`: it has no successor on the command line. For "
    "`sqrt(log(x))` the function writes": "FlushNonExecutionFiles of the dump debug "
    "writer",
    # The words around an error, not those of the error.
    "keras_files.freeze": "module 'keras.backend' has no attribute 'get_session' in "
    "keras_to_tensorflow freeze",
    "bridges.run_frozen": "module 'tensorflow' has no attribute 'Session' how to load "
    "a frozen graph pb",
    "canned_estimators.dnn_classifier": "module 'tensorflow' has no attribute "
    "'estimator' tf.estimator.DNNClassifier hidden_units",
    "guide/symptoms.md, It hangs: The process was forked": "gunicorn preload: "
    "tensorflow hangs in the worker",
    "candidate_sampling.sampled_softmax_loss": "sampled softmax as a Keras layer",
    "feature_columns.make_embedding": "tf.feature_column.shared_embeddings",
    "saved_models.freeze": "convert_variables_to_constants_v2",
    "saved_models.run_frozen": "TF-TRT from a frozen graph",
    "guide/contrib_learn.md": "embedding columns on a TPU",
    "training_recipes.accumulate": "gradient_accumulation_steps",
    "guide/functions.md, Good to know: A GPU's": "is GPU memory released by a session",
    "guide/mixed_precision.md, Changes": "clip gradients with LossScaleOptimizer",
    "mixed_precision.recompute_gradients": "recompute_grad in a Keras layer",
    "gradients.cube_derivatives": "second gradient is None, tape.gradient after with",
    "saved_models.detect": "run_inference_for_single_image num_detections detection_"
    "boxes with a TF2 object detection model",
    "checkpoints.load_arrays": "assign weights of bvlc_alexnet.npy by np.load item()",
    "contrib_distributions.fit_posterior": "Edward ed.KLqp, tf.contrib.distributions",
    "training_recipes.train_dqn": "DQN update of the target network tf.assign",
    "gradients.reverse_gradient": "flip_gradient of DANN gradient reversal layer",
    "metric_learning.train_centers": "center loss tf.scatter_sub(centers, labels)",
    "functions.score_in_processes": "multiprocessing Pool, a session in each process",
    "parallel.device_function": "pin all variables to the CPU and ops to the GPU, "
    "tf.device(function)",
    "parallel.fit_towers": "average_gradients(tower_grads) tf.expand_dims tf.concat",
    "guide/plan.md, 0.": "the same GAN gives different results in TF 1.x and TF 2.x",
    "guide/fast.md, Fast in TensorFlow 2: A recurrent": "RNN is slow, control flow v2",
    "keras_layers.center": "get_output_shape_for, add_weight() got multiple values",
    "keras_functions.fit_autoencoder": "A KerasTensor cannot be used as input to a "
    "TensorFlow function, vae.add_loss of z_mean and z_log_var",
    "reinforcement.train_ppo": "PPO ratio of the old policy, clip_by_value",
    "embeddings.load_vectors": "GloVe vectors into an embedding by a placeholder",
    "keras_inputs.fit_windows": "TimeseriesGenerator in Keras 3",
    "layers.make_conv2d_transpose": "deconv with a batch of unknown size",
    "tensors.multiply_sparse": "feed a SparseTensorValue to a sparse placeholder",
    "saved_models.to_tflite": "my TF1 checkpoint of slim as a .tflite file",
    "guide/errors-keras.md, Unrecognized data": "predict of a Python list fails in "
    "Keras 3",
    "guide/errors-environment.md, cannot open": "compile my C++ op for TF2",
    "guide/errors.md, Cannot take the length": "unknown rank after tf.py_function in a "
    "Dataset.map",
    "contrib_framework.speech_features": "the spectrogram that "
    "contrib_audio.audio_spectrogram gave",
}

# {what was said to go wrong: the heading that has its causes}.
SITUATIONS = {
    "I have 50,000 lines of TF 1 code": "large-program",
    "a huge codebase, where to begin": "large-program",
    "one code base that must support both versions": "both-versions",
    "the numbers differ after my port": "numbers-differ",
    "it became slower": "slower",
    "load an old checkpoint into TF2": "old-checkpoint",
    "frozen graph": "frozen-graph",
    "use frozen_inference_graph.pb": "frozen-graph",
    "a Keras 2.2 h5 model": "keras-2-files",
    "ResNet from slim's model zoo": "model-zoo",
    "dcgan": "models_dcgan",
    "word2vec nce": "models_word2vec",
    "port a char-rnn": "models_char_rnn",
    "DQN with a replay buffer": "models_dqn",
    "deep Q-learning": "models_dqn",
    "a Siamese network on MNIST": "models_siamese",
    "my VAE on MNIST": "models_vae",
    "MNIST for ML beginners": "models_softmax",
    "a CNN on MNIST": "models_convnet",
    "stacked autoencoder with tied weights": "models_autoencoder",
    "a recommender by matrix factorization": "models_factorization",
    "DeepFM on Criteo": "models_deepfm",
    "a U-Net for medical images": "models_unet",
    "BiLSTM CRF for NER": "models_tagger",
    "a transformer encoder from scratch": "models_transformer",
    "policy gradient on CartPole": "models_policy_gradient",
    "an A2C agent": "models_a2c",
    "port a conditional GAN": "models_cgan",
    "WGAN-GP critic with labels": "models_cgan",
    "port a ResNet": "models_resnet",
    "a small preactivation ResNet": "models_resnet",
    "an Estimator on census data": "models_estimator",
    "port MAML": "models_maml",
    "meta-learning of sinusoids": "models_maml",
    "port Google's nmt": "models_seq2seq",
    "an encoder-decoder with attention and beam search": "models_seq2seq",
    "neural style transfer": "models_style_transfer",
    "Gatys style transfer with a VGG mat file": "models_style_transfer",
    "port BERT": "models_bert",
    "masked LM with gather_indexes": "models_bert",
    "a graph convolutional network on Cora": "models_gcn",
}
SYMPTOMS = {
    "my loss becomes nan in the second epoch": "The loss is NaN",
    "training loss does not decrease since the upgrade to 2.4": "The loss does not go "
    "down",
    "the weights of my layer are not updated": "The model does not train some "
    "variables",
    "validation accuracy drops after the port": "Accuracy is lower than before",
    "tf1 and tf2 give different results for one input": "Numbers differ from "
    "TensorFlow 1's",
    "results are not reproducible with a seed": "Numbers differ from run to run",
    "load_model gives different predictions": "Predictions differ after loading",
    "moving_mean of batch normalization is not updated in my loop": "Dropout or batch "
    "norm behaves as in training",
    "memory leak when evaluate is called in a loop": "Memory grows",
    "runs out of memory with the old batch size": "Out of memory",
    "train_on_batch triggers retracing": "The graph is traced again and again",
    "training gets stuck at epoch 1": "It hangs",
    "tensorboard shows no scalar data": "Nothing is written (summaries, checkpoints, "
    "logs)",
    "how to print a tensor inside of a tape": "Nothing is written (summaries, "
    "checkpoints, logs)",
    "the learning rate does not change with a callback": "The learning rate does not "
    "change",
    "weights are not loaded from the checkpoint": "Nothing is restored",
    "keras lstm layer produces different results in tf 1 and tf 2": "Numbers differ "
    "from TensorFlow 1's",
    "Batch normalization performs different in Keras and in an Estimator": "Dropout or "
    "batch norm behaves as in training",
    "Same random seed, different tensorflow versions, different results": "Numbers "
    "differ from TensorFlow 1's",
    "GPU not found": "Could not find cuda drivers on your machine, GPU will not be "
    "used.",
    "TensorFlow 2.4 does not use the GPU": "Could not find cuda drivers on your "
    "machine, GPU will not be used.",
}


def answer(question):
    with mock.patch.object(render, "_page", return_value=[]):
        return render.render(resolve.resolve(question), full=True)


class AskedTest(unittest.TestCase):
    @parameterized.expand([*QUESTIONS.items(), *MORE.items()])
    def test_the_words_lead_there(self, place, question):
        told = answer(question)
        wanted = place if "/" in place else f"tf1to2 diff {place}"
        self.assertIn(wanted, " ".join(told.split()))

    @parameterized.expand(
        [
            "Argument `decay` is no longer supported and will be ignored.",
            "The shape for while/Merge_5:0 is not an invariant for the loop. It enters "
            "the loop with shape (25, 7), but has shape (25, 1) after one iteration.",
            "Attempting to capture an EagerTensor without building a function.",
        ]
    )
    def test_a_message_alone_asks_nothing_else(self, message):
        self.assertNotIn("by some of these words", answer(message))

    def test_a_call_of_the_question_is_judged_as_the_scan_judges_it(self):
        handed, made = "tf.cond(a < b, lambda: a, lambda: b)", "tf.cond(a < b, f, g)"
        judged = "tf.cond: eagerly Python decides"
        self.assertNotIn(judged, answer(f"why {handed} runs"))
        self.assertIn(judged, answer(f"why {made} runs"))

    def test_a_call_that_stays_as_it_is_comes_last(self):
        told = answer("how to write tf.expand_dims(x, 0) and tf.log(x) in it")
        self.assertTrue(told.startswith("tf.log is tf.math.log now"), told[:200])
        self.assertIn("\ntf.expand_dims: same", told)

    @parameterized.expand(
        [
            (
                "tf.py_func is deprecated, which of the two options is it?",
                "tf.py_func b",
            ),
            ("tf.compat.v1.get_variable does not reuse variables", "tf.get_variable b"),
            (
                "different results from tf.image.resize in tf 2",
                "tf.image.resize: it has",
            ),
            (
                "replace tf.contrib.distributions with tfp",
                "tf.contrib.distributions is",
            ),
        ]
    )
    def test_a_name_comes_before_passages_that_are_less_about_it(self, question, told):
        self.assertTrue(answer(question).startswith(told), answer(question)[:200])

    @parameterized.expand(
        [
            (
                "why has keras.layers.BatchNormalization no update_ops",
                "Dropout or batch",
            ),
            (
                "how does tf.train.exponential_decay get the global_step",
                "learning_rates",
            ),
        ]
    )
    def test_a_passage_that_is_about_the_name_comes_first(self, question, told):
        self.assertIn(told, answer(question).partition("\n")[0])

    def test_a_name_that_the_guide_does_not_have_asks_for_more_of_the_other_words(self):
        self.assertNotEqual(questions.passages("the required feature"), [])
        self.assertEqual(
            questions.passages("the required feature of the Frobnicator Q7"), []
        )

    def test_other_names_beside_a_message_are_told(self):
        message = "tf.gradients is not supported when eager execution is enabled."
        self.assertIn("diff gradients.hessian", answer(f"tf.hessians(f, x) {message}"))
        self.assertNotIn("Names in your text", answer(message))

    def test_each_name_of_a_question_has_its_pair(self):
        told = answer("static_rnn with MultiRNNCell of LSTMCells and DropoutWrapper")
        for pair in "rnn.make_static_rnn", "rnn.make_stack", "rnn.dropout":
            self.assertIn(f"tf1to2 diff {pair}\n", told)

    def test_a_call_is_told_what_its_arguments_ask_for(self):
        told = " ".join(
            answer("Convolution2D(32, 3, 3, border_mode='same') in TF2").split()
        )
        told = told.partition("tf.keras.layers.Convolution2D: rewrite")[2]
        self.assertIn("border_mode= → padding=", told)
        self.assertNotIn("W_regularizer=", told)

    def test_a_class_of_keras_counts_by_its_plain_name(self):
        told = " ".join(answer("LSTM of keras in 1.15 predicts something else").split())
        self.assertIn("recurrent_activation was hard_sigmoid, is sigmoid", told)
        self.assertNotIn(
            "tf.keras.Model", answer("Model predictions differ in Keras 3")
        )

    @parameterized.expand(
        [
            ("keras_functions.grad_cam", "grad-cam by K.gradients(class_output, conv)"),
            ("parallel.fit_towers", "towers in tf.device, average_gradients, num_gpus"),
        ]
    )
    def test_the_code_shown_is_of_the_pair_that_the_words_fit(self, pair, question):
        self.assertIn(f"\n{pair}: ", answer(question))

    def test_what_else_is_told_of_an_error_is_apart(self):
        told = answer(
            "'Tensor' object is not iterable in a while_loop with a TensorArray"
        )
        self.assertTrue(told.startswith("Iterating over a symbolic"), told)
        self.assertIn("\n\nguide/", told)

    @parameterized.expand(
        [("slim", "tf.contrib.slim"), ("tfprof", "tf.contrib.tfprof")]
    )
    def test_an_import_that_failed_is_a_module_of_contrib(self, name, symbol):
        told = answer(f"NameError: name 'contrib_{name}' is not defined")
        self.assertTrue(told.startswith(f"{symbol}: "), told)

    def test_a_package_that_left_before_1_15_is_told(self):
        told = answer("tf.contrib.gan.gan_train_ops in TF2")
        self.assertIn("keras_training.train_gan", told)

    def test_two_messages_are_told_by_one_that_is_known(self):
        told = answer("workers=4 of fit_generator; Your input ran out of data")
        self.assertTrue(told.startswith("Your input ran out of data"))

    def test_a_name_of_before_1_0_is_one_of_contrib(self):
        told = answer("what replaces tf.nn.seq2seq.model_with_buckets?")
        self.assertIn("legacy_seq2seq.train_with_buckets: identical on 1.15.5", told)

    def test_a_hyphen_parts_words(self):
        self.assertIn("tf1to2 diff keras_functions.grad_cam", answer("grad-cam"))
        self.assertIn("diff numerics.make_batch_norm", answer("batch-norrm"))

    def test_what_has_few_of_the_words_says_which_it_lacks(self):
        told = answer("Can I measure the execution time of individual operations?")
        first = told.partition("\n")[0]
        self.assertTrue(first.startswith("No passage has all of these words."), first)
        self.assertIn("lacks time, individual", first)
        self.assertNotIn("No passage", answer("load a frozen graph"))

    @parameterized.expand(["my port is slower than TF1", "TF2 is very slow"])
    def test_fast_answers_what_is_slow(self, question):
        first = questions.passages(question)[0]
        self.assertEqual(first.page, "guide/fast.md")
        self.assertIn("decorate the training step with `@tf.function`", first.text)

    @parameterized.expand(SYMPTOMS.items())
    def test_what_goes_wrong_is_told_by_its_causes(self, question, heading):
        self.assertEqual(questions.passages(question)[0].heading, heading)

    @parameterized.expand(SITUATIONS.items())
    def test_a_situation_has_a_page_that_comes_first(self, question, page):
        (first, *_) = questions.passages(question)
        self.assertEqual((first.page, first.lacks), (f"guide/{page}.md", ()))

    def test_the_cause_that_the_words_name_comes_first(self):
        for question, cause in (
            ("the loss is nan, a row without words", "count of 0"),
            ("the loss is nan in float16", "16"),
            ("different results from an LSTM", "An LSTM or a GRU"),
            ("different results after tf.image.resize", "The images are resized"),
            ("memory leak of model.predict or model.fit", "A model or a function"),
        ):
            (first, *_) = questions.passages(question)
            self.assertIn(cause, first.text.partition("\n")[0])

    def test_each_symptom_has_causes_and_words_of_its_own(self):
        said = [frozenset(words) for words, _ in questions.symptoms()]
        self.assertEqual(len(said), len(set(said)))
        self.assertEqual([w for w, rows in questions.symptoms() if not rows], [])
        headings = [row["heading"] for row in tsv.rows(questions.SYMPTOMS)]
        known = {passage.heading for passage in questions._index()[0]}
        self.assertEqual(set(headings) - known, set())

    def test_a_release_says_little(self):
        for release in "2.0", "2.4", "1.15":
            (first, *_) = questions.passages(f"placeholder removed in TF {release}")
            self.assertIn("placeholder", f"{first.heading} {first.text}")

    @parameterized.expand(
        [
            ("where is tf.contrib.layers.flatten in TF 2.5?", "tf.contrib.layers.fl"),
            ("What's the purpose of tf.nn.fused_batch_norm()?", "tf.nn.fused_batch"),
            ("replacement of tf.losses.huber_loss in tensorflow 2", "tf.losses.huber"),
        ]
    )
    def test_a_question_of_a_name_is_told_by_the_name(self, question, symbol):
        self.assertTrue(answer(question).startswith(symbol), answer(question)[:200])

    def test_what_only_leads_elsewhere_is_no_passage(self):
        for passage in questions._index()[0]:
            self.assertFalse(passage.text.startswith("It needs `"), passage)

    @parameterized.expand([*QUESTIONS.values(), *SYMPTOMS])
    def test_an_answer_is_a_screen(self, question):
        told = render.render(resolve.resolve(question), 100)
        self.assertLessEqual(told.count("\n"), render.LINES)

    def test_a_rare_word_weighs_more_than_many_common_ones(self):
        first = questions.passages("the gradient of a loss under reduce_retracing")[0]
        self.assertIn("reduce_retracing", first.text)

    def test_what_loads_a_frozen_graph_comes_before_what_freezes_one(self):
        (first, second, *_) = questions.passages("load a frozen graph")
        self.assertEqual(first.page, "guide/frozen-graph.md")
        self.assertIn("saved_models.run_frozen", second.places)

    def test_what_shares_a_word_alone_is_no_answer(self):
        self.assertEqual(questions.passages("xyzzy plugh gradient quux frobnicate"), [])

    @parameterized.expand(questions.subjects())
    def test_a_subject_leads_to_its_pairs(self, subject):
        told = {p for passage in questions.passages(subject) for p in passage.places}
        self.assertTrue(told & set(questions.subjects()[subject]), told)

    def test_a_subject_leads_to_its_chapter_before_what_may_be_wrong(self):
        for subject in "early stopping", "NaN: stop training, find the op":
            first = questions.passages(subject)[0]
            self.assertNotEqual(first.page, questions.CAUSES)

    @parameterized.expand(
        [
            ("Jacobian", "gradients.jacobian"),
            ("dropout", "keras_functions.monte_carlo"),
            ("TPU", "contrib_learn.train_on_tpu"),
        ]
    )
    def test_a_word_alone_leads_to_its_subjects(self, word, pair):
        self.assertIn(f"tf1to2 diff {pair}", answer(word))

    def test_names_like_the_word_are_told_besides(self):
        self.assertIn("Similar names: tf.nn.dropout", answer("dropout"))

    def test_subjects_are_sorted_and_name_pairs(self):
        words = list(questions.subjects())
        self.assertEqual(words, sorted(words, key=str.casefold))
        named = {pair for pairs in questions.subjects().values() for pair in pairs}
        known = {
            f"{t.name}.{pair}" for t in topics.topics().values() for pair in t.pairs
        }
        self.assertEqual(named - known, set())

    def test_no_pair_is_told_twice(self):
        for question in QUESTIONS.values():
            first = [p.places[0] for p in questions.passages(question) if p.places]
            self.assertEqual(len(first), len(set(first)), question)
