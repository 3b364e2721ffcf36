"""Modules: restored by objects and by names, in lists and dicts, before they are built.

A case makes a module of a right page or of `numerics` and calls it. A module that is
only used inside others is proven as a part of one of them, `within`.
"""

import functools
import os
import tempfile
import unittest

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards import found
from parity_tests.hazards.made_modules import (
    FOLDER,
    Made,
    argument,
    arrays,
    cell,
    columns,
    estimator,
    features_of,
    head,
    layer,
    line,
    made,
    moving_average,
    numbers,
    optimizer,
    page,
    scale,
    step,
    step_of,
    tensors,
    vocabulary_file,
    wrapper,
)
from tf1to2.parity import structure
from v2_eager import (
    canned_estimators,
    contrib_framework,
    contrib_norms,
    cookbook,
    estimators,
    feature_columns,
    models_autoencoder,
    models_resnet,
    scopes,
    seq2seq,
    slim,
    slim_learning,
    slim_networks,
)
from v2_eager import layers as v2_layers
from v2_eager.numerics import (
    averages,
    batch_norms,
    canned,
    layers,
    metrics,
    norms,
    optimizers,
    pruning,
    quantization,
    recurrences,
    restore,
    rnn,
)
from v2_eager.numerics.optimizers import loss_scale
from v2_eager.rnn import Network as RnnNetwork

CELLS = "v2_eager.numerics.rnn.cells."
CONTRIB_CELLS = "v2_eager.numerics.rnn.contrib_cells."
WRAPPERS = "v2_eager.numerics.rnn.contrib_wrappers."
CENSUS = "41,Masters,Wife,Sales,38,>50K", "23,HS-grad,Husband,,50,<=50K"
RECURRENCES = "v2_eager.numerics.recurrences."
SCALES = "v2_eager.numerics.optimizers.loss_scale."


def within(name):
    """Makes a case of a class whose objects are parts of another case's object."""
    return name


def recurrent(kind, *args, **kwargs):
    inputs, depth = kwargs.pop("inputs", None), kwargs.pop("depth", 3)
    return Made(lambda _: kind(*args, **kwargs), step_of(depth, inputs))


def net_of_scopes():
    class Owner(tf.Module):
        """Owns the dict of variables of its scope."""

        def __init__(self):
            super().__init__()
            self.store = {}
            self.net = scopes.Net(scopes.Scope(self.store))

    return Made(lambda _: Owner(), lambda module, _: module.net().read_value())


def mixed_loss_scale():
    manager = loss_scale.FixedLossScale(2)
    return loss_scale.MixedPrecisionLossScale(optimizers.Adam(0.1), manager)


def pruned():
    class Masked(tf.Module):
        def __init__(self):
            super().__init__()
            self.kernel = tf.Variable(numbers("float32", 4, 3), name="kernel")
            self.mask = tf.Variable(tf.ones([4, 3]), False, name="mask")
            self.pruning = pruning.Pruning(self.kernel, self.mask)

    def call(module, _):
        module.pruning.update(tf.constant(40))
        return module.kernel * module.mask

    return Made(lambda _: Masked(), call)


def train_step(module, dtype):
    """Calls a trainer's `step(x, y)`; the inputs have two numbers per row."""
    return module.step(numbers(dtype, 4, 2), numbers(dtype, 4, 1))


def weights(dtype):
    return {"kernel": np.ones([2, 1], dtype), "bias": np.zeros([1], dtype)}


def words():
    return feature_columns.Vocabulary(["red", "green", "blue"])


def of_program(topic, owner, arguments, call, parts=""):
    """Makes the rows of a whole program: its trainer, and the classes within it."""
    page = f"v2_eager.models_{topic}"
    return [
        (f"{page}.{owner}", made(f"models_{topic}.{owner}", arguments, call)),
        *((f"{page}.{part}", within(f"{page}.{owner}")) for part in parts.split()),
    ]


def phase(dtype):
    """Makes the last phase of the stacked autoencoder."""
    net = models_autoencoder.Autoencoder(6, dtype)
    made = models_autoencoder.Phase("phase", net.loss, [*net.trainable_variables], 0.1)
    made.net, made.global_step = net, tf.Variable(0, dtype=tf.int64, name="global_step")
    return made


def images(dtype, *shape):
    """Makes black and white pixels, 0 and 1."""
    return tf.cast(numbers(dtype, *shape) > 0, dtype)


def masked_texts(dtype):
    """Makes the features of BERT for two texts of three words, the last one masked."""
    ids = tf.constant([[1, 5, 3], [1, 6, 3]])
    masked = tf.constant([[2], [2]]), tf.constant([[7], [8]])
    weights = tf.ones([2, 1], dtype)
    types = tf.constant([[0, 0, 1], [0, 1, 1]])
    return ids, tf.ones_like(ids), types, *masked, weights, tf.constant([0, 1])


def say(module, dtype):
    """Calls a decoder of seq2seq with teacher forcing."""
    inputs, lengths = numbers(dtype, 2, 3, 6), tf.constant([3, 2])
    helper = seq2seq.TrainingHelper(inputs, lengths)
    return module(helper, tf.zeros([2, 6], dtype))[0]


def translate(module, dtype):
    helper = seq2seq.TrainingHelper(numbers(dtype, 2, 3, 5), tf.constant([3, 2]))
    return module(helper, tf.constant([[1, 2], [3, 4]]), tf.constant([2, 1]))


CASES = [
    # --- attention
    (
        "v2_eager.attention.BahdanauMonotonicAttention",
        page("attention", "make_monotonic", "Bahdanau, parallel"),
    ),
    (
        "v2_eager.attention.LuongMonotonicAttention",
        page("attention", "make_monotonic", "Luong, hard"),
    ),
    (
        "v2_eager.attention.Reader",
        page("attention", "make_attention_reader", "with a layer"),
    ),
    (
        "v2_eager.attention.ReaderOfTwo",
        page("attention", "make_two_memories", "of two sizes"),
    ),
    (
        "v2_eager.attention.Step",
        within("v2_eager.attention.mechanisms.BahdanauAttention"),
    ),
    (
        "v2_eager.attention.mechanisms.BahdanauAttention",
        page("attention", "make_bahdanau", "normalized"),
    ),
    (
        "v2_eager.attention.mechanisms.LuongAttention",
        page("attention", "make_luong", "scaled"),
    ),
    (
        "v2_eager.attention.wrapper.AttentionWrapper",
        within("v2_eager.attention.Reader"),
    ),
    # --- beam_search, seq2seq, legacy_seq2seq
    (
        "v2_eager.beam_search.AttentiveSearch",
        page("beam_search", "make_attentive_beam_search", "four beams"),
    ),
    (
        "v2_eager.beam_search.Search",
        page("beam_search", "make_beam_search", "not by length"),
    ),
    ("v2_eager.seq2seq.beams.Embedding", within("v2_eager.beam_search.Search")),
    (
        "v2_eager.seq2seq.FeedbackDecoder",
        page("seq2seq", "make_feedback_decoder", "five steps"),
    ),
    (
        "v2_eager.seq2seq.GreedyDecoder",
        page("seq2seq", "make_greedy_decoder", "one step"),
    ),
    (
        "v2_eager.seq2seq.TrainingDecoder",
        page("seq2seq", "make_training_decoder", "past the ends"),
    ),
    ("v2_eager.seq2seq.decoding.Dense", within("v2_eager.seq2seq.GreedyDecoder")),
    (
        "v2_eager.seq2seq.models.Decoder",
        made(
            "seq2seq.models.Decoder",
            lambda dtype: [argument("seq2seq", "sample", "three times", 0, dtype)],
            say,
        ),
    ),
    (
        "v2_eager.seq2seq.models.Translator",
        made(
            "seq2seq.models.Translator",
            lambda dtype: [argument("seq2seq", "translate", "eight steps", 2, dtype)],
            translate,
        ),
    ),
    (
        "v2_eager.legacy_seq2seq.decoders.AttentionDecoder",
        page("legacy_seq2seq", "make_attention_decoder", "one head"),
    ),
    (
        "v2_eager.legacy_seq2seq.decoders.EmbeddingAttentionDecoder",
        within("v2_eager.legacy_seq2seq.decoders.EmbeddingAttentionSeq2Seq"),
    ),
    (
        "v2_eager.legacy_seq2seq.decoders.EmbeddingAttentionSeq2Seq",
        page("legacy_seq2seq", "make_attention_seq2seq", "given"),
    ),
    (
        "v2_eager.legacy_seq2seq.decoders.EmbeddingDecoder",
        within("v2_eager.legacy_seq2seq.decoders.EmbeddingSeq2Seq"),
    ),
    (
        "v2_eager.legacy_seq2seq.decoders.EmbeddingSeq2Seq",
        page("legacy_seq2seq", "make_embedding_seq2seq", "given"),
    ),
    (
        "v2_eager.legacy_seq2seq.models.Attending",
        within("v2_eager.legacy_seq2seq.decoders.AttentionDecoder"),
    ),
    (
        "v2_eager.legacy_seq2seq.models.BasicSeq2Seq",
        page("legacy_seq2seq", "make_basic_seq2seq", "tied"),
    ),
    (
        "v2_eager.legacy_seq2seq.models.BucketModel",
        made(
            "legacy_seq2seq.models.BucketModel",
            lambda dtype: [
                argument("legacy_seq2seq", "train_with_buckets", "two", 4, dtype)
            ],
            lambda module, _: module(
                tf.ones([2, 3], tf.int32), tf.ones([2, 2], tf.int32)
            ),
        ),
    ),
    (
        "v2_eager.legacy_seq2seq.models.CharRNN",
        page("legacy_seq2seq", "make_char_rnn", "given"),
    ),
    (
        "v2_eager.legacy_seq2seq.models.Translator",
        within("v2_eager.legacy_seq2seq.decoders.EmbeddingSeq2Seq"),
    ),
    # --- lines
    *[
        (f"v2_eager.{topic}.Line", line(topic))
        for topic in ("contrib_learn", "contrib_opt", "distributed", "horovod")
    ],
    # --- trainers
    (
        "v2_eager.checkpoints.Trainer",
        made("checkpoints.Trainer", lambda dtype: [weights(dtype), 0.125], train_step),
    ),
    (
        "v2_eager.training_loops.Trainer",
        made(
            "training_loops.Trainer",
            lambda dtype: [list(weights(dtype).values())],
            lambda module, dtype: module.step(
                numbers(dtype, 5, 4, 2), numbers(dtype, 5, 4, 1)
            ),
        ),
    ),
    (
        "v2_eager.estimators.Trainer",
        made(
            "estimators.Trainer",
            lambda dtype: [np.ones([4, 2], dtype), estimators.Settings()],
            lambda module, dtype: module.train_step(
                numbers(dtype, 4, 2), tf.constant([0, 1, 2, 1])
            ),
        ),
    ),
    ("v2_eager.estimators.Classifier", within("v2_eager.estimators.Trainer")),
    (
        "v2_eager.slim_learning.Step",
        step(lambda w: slim_learning.Step(w, optimizers.Momentum(0.1, 0.9))),
    ),
    (
        "v2_eager.contrib_norms.OptimizeLoss",
        step(
            lambda w: contrib_norms.OptimizeLoss(
                w, 0.1, {"optimizer": "Adam", "decay": (10, 0.5)}
            )
        ),
    ),
    # --- whole programs
    *of_program(
        "vae",
        "Trainer",
        lambda dtype: [dtype],
        lambda module, dtype: module.step(images(dtype, 16, 100)),
        "Autoencoder Decoder Dense Encoder",
    ),
    *of_program(
        "word2vec",
        "Word2Vec",
        lambda dtype: [np.dtype(dtype).type(0.5), "nce", "adagrad"],
        lambda module, _: module.step(
            tf.constant([1, 2]), tf.constant([[3], [4]], tf.int64)
        ),
    ),
    *of_program(
        "word2vec",
        "Lookup",
        lambda dtype: [numbers(dtype, 5, 3)],
        lambda module, _: module(tf.constant([1, 2])),
    ),
    *of_program(
        "dqn",
        "DQN",
        lambda dtype: [5, tf.as_dtype(dtype)],
        lambda module, dtype: module.learn(
            numbers(dtype, 3, 5),
            tf.constant([0, 1, 3]),
            numbers(dtype, 3),
            numbers(dtype, 3, 5) + 1,
            tf.constant([0, 0, 1], dtype),
        ),
        "QNetwork",
    ),
    *of_program(
        "char_rnn",
        "Trainer",
        lambda dtype: [tf.as_dtype(dtype)],
        lambda module, _: module.step(
            tf.constant([[1, 2, 3]]), tf.constant([[2, 3, 4]]), module.model.zeros(1)
        ),
        "Model",
    ),
    *of_program(
        "dcgan",
        "Trainer",
        lambda dtype: [3, tf.as_dtype(dtype), 0.1],
        lambda module, dtype: [
            module.d_step(numbers(dtype, 4, 8, 8, 1), numbers(dtype, 4, 3)),
            module.g_step(numbers(dtype, 4, 3)),
        ],
        "Discriminator Generator",
    ),
    *of_program(
        "cgan",
        "Trainer",
        lambda dtype: [3, 5, tf.as_dtype(dtype), 0.1],
        lambda module, dtype: [
            module.d_step(
                numbers(dtype, 2, 5),
                tf.constant([0, 2]),
                numbers(dtype, 2, 3),
                numbers(dtype, 2, 1),
            ),
            module.g_step(numbers(dtype, 2, 3), tf.constant([0, 2])),
        ],
        "Critic Dense Generator",
    ),
    *of_program(
        "siamese",
        "Trainer",
        lambda dtype: [(8, 8, 1), tf.as_dtype(dtype)],
        lambda module, dtype: module.step(
            numbers(dtype, 3, 8, 8, 1),
            numbers(dtype, 3, 8, 8, 1) + 1,
            tf.constant([1, 0, 1], dtype),
        ),
        "Tower",
    ),
    *of_program(
        "resnet",
        "Trainer",
        lambda dtype: [
            models_resnet.ResNet("resnet_v1_small", (8, 8, 3), tf.as_dtype(dtype)),
            0.1,
        ],
        lambda module, dtype: module.step(
            numbers(dtype, 3, 8, 8, 3), tf.constant([1, 0, 2], tf.int64)
        ),
        "BottleneckV1 Conv",
    ),
    *of_program(
        "resnet",
        "ResNet",
        lambda dtype: ["resnet_v2_small", (8, 8, 3), tf.as_dtype(dtype)],
        lambda module, dtype: module(numbers(dtype, 3, 8, 8, 3), is_training=True),
        "BottleneckV2",
    ),
    *of_program(
        "softmax",
        "SoftmaxRegression",
        lambda dtype: [tf.as_dtype(dtype)],
        lambda module, dtype: module.step(
            numbers(dtype, 2, 784), tf.eye(2, 10, dtype=dtype)
        ),
    ),
    *of_program(
        "convnet",
        "Trainer",
        lambda dtype: [dtype],
        lambda module, dtype: module.step(
            numbers(dtype, 2, 28, 28, 1), tf.constant([1, 2], tf.int64)
        ),
        "ConvLayer ConvNet",
    ),
    *of_program(
        "gcn",
        "Trainer",
        lambda dtype: [4, 3, tf.as_dtype(dtype), 0.0],
        lambda module, dtype: module.step(
            tf.sparse.from_dense(numbers(dtype, 3, 4)),
            tf.sparse.eye(3, dtype=dtype),
            tf.eye(3, dtype=dtype),
            tf.constant([True, True, False]),
            tf.constant([False, False, True]),
        ),
        "GCN GraphConvolution",
    ),
    *of_program(
        "bert",
        "Trainer",
        lambda dtype: [dtype],
        lambda module, dtype: module.step(*masked_texts(dtype)),
        "BertModel Dense Pretraining TransformerLayer",
    ),
    *of_program(
        "style_transfer",
        "Trainer",
        lambda dtype: [
            [[numbers(dtype, 3, 3, i, 2), numbers(dtype, 2)] for i in (3, 2, 2)],
            numbers(dtype, 5, 6, 3).numpy(),
            numbers(dtype, 7, 4, 3).numpy(),
            "avg",
        ],
        lambda module, _: module.step(),
        "Losses Vgg",
    ),
    *of_program(
        "style_transfer",
        "Stylized",
        lambda dtype: [tf.Variable(numbers(dtype, 1, 5, 6, 3), name="image")],
        lambda module, dtype: module.serve(numbers(dtype, 5, 6, 3)),
    ),
    *of_program(
        "seq2seq",
        "Trainer",
        lambda dtype: [np.dtype(dtype).type(0.125)],
        lambda module, _: module.step(
            tf.constant([[3, 4, 5], [6, 7, 0]]),
            tf.constant([3, 2]),
            tf.constant([[5, 4, 3, 2], [7, 6, 2, 0]]),
            tf.constant([4, 3]),
        ),
        "Seq2Seq",
    ),
    *of_program(
        "maml",
        "Trainer",
        lambda dtype: [tf.as_dtype(dtype), False],
        lambda module, dtype: module.step(
            numbers(dtype, 2, 10, 1), numbers(dtype, 2, 10, 1)
        ),
        "MAML",
    ),
    *of_program(
        "estimator",
        "WideAndDeep",
        lambda _: [],
        lambda module, _: module.step(*module.parse_csv(CENSUS)),
        "Columns Embedding",
    ),
    *of_program(
        "factorization",
        "Trainer",
        lambda dtype: [tf.as_dtype(dtype), "adam", 0.1],
        lambda module, dtype: module.step(
            tf.constant([1, 2]), tf.constant([3, 3]), numbers(dtype, 2)
        ),
        "Factorization Tables",
    ),
    *of_program(
        "deepfm",
        "Trainer",
        lambda dtype: [tf.as_dtype(dtype)],
        lambda module, dtype: module.step(
            tf.constant([[1, 2, 3, 4], [1, 5, 6, 4]]),
            numbers(dtype, 2, 4),
            tf.constant([0, 1], dtype),
        ),
        "DeepFM Dense",
    ),
    *of_program(
        "unet",
        "Trainer",
        lambda dtype: [1, tf.as_dtype(dtype)],
        lambda module, dtype: module.step(
            numbers(dtype, 1, 8, 8, 1),
            tf.ones([1, 8, 8], tf.int32),
            tf.ones([1, 8, 8], dtype),
        ),
        "Block Conv UNet UpConv",
    ),
    *of_program(
        "tagger",
        "Trainer",
        lambda dtype: [np.asarray(numbers(dtype, 7, 3))],
        lambda module, _: module.step(
            tf.constant([[1, 2, 3], [4, 5, 0]]),
            tf.constant([[0, 1, 2], [3, 4, 0]]),
            tf.constant([3, 2]),
        ),
        "Tagger",
    ),
    *of_program(
        "transformer",
        "Trainer",
        lambda dtype: [np.asarray(0.1, dtype)],
        lambda module, _: module.step(
            tf.constant([[1, 2, 3, 0, 0, 0, 0, 0, 0, 0]]),
            tf.constant([[4, 5, 6, 0, 0, 0, 0, 0, 0, 0]]),
        ),
        "Attention FeedForward LayerNorm Transformer",
    ),
    *of_program(
        "policy_gradient",
        "PolicyGradient",
        lambda dtype: [tf.as_dtype(dtype)],
        lambda module, dtype: module.learn(
            numbers(dtype, 3, 4), tf.constant([0, 1, 1], tf.int64), numbers(dtype, 3)
        ),
        "Policy",
    ),
    *of_program(
        "a2c",
        "Model",
        lambda dtype: [6, tf.as_dtype(dtype)],
        lambda module, dtype: module.train(
            numbers(dtype, 3, 6),
            tf.constant([0, 1, 3], tf.int64),
            numbers(dtype, 3),
            tf.zeros([3], dtype),
        ),
        "Policy",
    ),
    (
        "v2_eager.models_autoencoder.Phase",
        Made(
            phase,
            lambda module, dtype: module.step(numbers(dtype, 3, 6), module.global_step),
        ),
    ),
    *[
        (
            f"v2_eager.models_autoencoder.{part}",
            within("v2_eager.models_autoencoder.Phase"),
        )
        for part in ("Autoencoder", "TiedLayer")
    ],
    # --- other pages
    (
        "v2_eager.broadcasting.DenseOfConcatenation",
        page("broadcasting", "make_dense_of_concatenation", "ten units"),
    ),
    ("v2_eager.broadcasting.Merge", page("broadcasting", "make_merge", "ten units")),
    (
        "v2_eager.canned_estimators.Embedding",
        Made(
            lambda _: canned_estimators.Embedding(words(), 2),
            lambda module, _: module({"words": tf.constant([["red", "blue"]])}),
        ),
    ),
    (
        "v2_eager.contrib_cells.Fused",
        within("v2_eager.numerics.rnn.fused.LSTMBlockFusedCell"),
    ),
    (
        "v2_eager.contrib_cells.FusedBothWays",
        page("contrib_cells", "make_fused_both_ways", "of several lengths"),
    ),
    (
        "v2_eager.contrib_cells.MinimalGatedCell",
        page("contrib_cells", "make_minimal", "of several lengths"),
    ),
    ("v2_eager.contrib_columns.Bag", page("contrib_columns", "make_bag", "sum")),
    (
        "v2_eager.contrib_columns.Deep",
        page("contrib_columns", "make_deep", "the mean of the vectors"),
    ),
    (
        "v2_eager.contrib_columns.LinearClassifier",
        made(
            "contrib_columns.LinearClassifier",
            lambda _: [3],
            lambda module, _: module.predict(numbers("float32", 4, 3)),
        ),
    ),
    (
        "v2_eager.contrib_columns.Sequences",
        page("contrib_columns", "make_sequences", "the classic"),
    ),
    (
        "v2_eager.contrib_columns.Wide",
        page("contrib_columns", "make_wide", "the hash of old"),
    ),
    (
        "v2_eager.contrib_framework.Centered",
        page("contrib_framework", "make_centered", "the moving mean in training"),
    ),
    (
        "v2_eager.contrib_layers.BagOfWords",
        page("contrib_layers", "make_bow_encoder", "of all words"),
    ),
    (
        "v2_eager.contrib_layers.Chain",
        page("contrib_layers", "make_conv2d", "valid, strided, without biases"),
    ),
    (
        "v2_eager.contrib_layers.Perceptron",
        page("contrib_layers", "make_fully_connected", "a scale of 0"),
    ),
    (
        "v2_eager.contrib_layers.Sequences",
        page("contrib_layers", "make_embed_sequence", "of any length"),
    ),
    (
        "v2_eager.contrib_norms.Activated",
        page("contrib_norms", "make_layer_norm", "a factor for every place"),
    ),
    (
        "v2_eager.contrib_norms.Classifier",
        Made(
            lambda _: contrib_norms.Classifier(5, 3, False),
            lambda module, dtype: module(numbers(dtype, 4, 6)),
        ),
    ),
    (
        "v2_eager.contrib_norms.Critic",
        page("contrib_norms", "make_critic", "real and generated"),
    ),
    (
        "v2_eager.contrib_norms.Normalized",
        page("contrib_norms", "make_normalized", "training"),
    ),
    (
        "v2_eager.contrib_recurrences.FilmReader",
        page("contrib_recurrences", "make_conv_lstm", "of series"),
    ),
    (
        "v2_eager.contrib_rnn.LanguageModel",
        made(
            "contrib_rnn.LanguageModel",
            lambda dtype: [
                argument(
                    *("contrib_rnn", "train_language_model", "two pieces, twice", 1),
                    dtype,
                ),
                2,
            ],
            lambda module, dtype: module(
                tf.constant([[1, 2], [3, 4]]), module.cell.zero_state(2, dtype)
            ),
        ),
    ),
    (
        "v2_eager.contrib_rnn.StackBothWays",
        page("contrib_rnn", "make_stack_both_ways", "of two layers"),
    ),
    (
        "v2_eager.contrib_rnn.StaticBothWays",
        page("contrib_rnn", "make_static_both_ways", "of several lengths"),
    ),
    ("v2_eager.contrib_vision.Conv3D", within("v2_eager.contrib_vision.Volumes")),
    (
        "v2_eager.contrib_vision.Conv3DTranspose",
        within("v2_eager.contrib_vision.Volumes"),
    ),
    ("v2_eager.contrib_vision.GDN", page("contrib_vision", "make_gdn", "of a batch")),
    (
        "v2_eager.contrib_vision.InPlane",
        page("contrib_vision", "make_in_plane", "of a batch"),
    ),
    (
        "v2_eager.contrib_vision.SpatialSoftmax",
        page("contrib_vision", "make_keypoints", "of a batch"),
    ),
    (
        "v2_eager.contrib_vision.Volumes",
        page("contrib_vision", "make_volumes", "of a batch"),
    ),
    (
        "v2_eager.control_flow.Repeated",
        page("control_flow", "make_repeated", "three times"),
    ),
    (
        "v2_eager.cookbook.BatchNorm",
        page("cookbook", "make_batch_norm", "training"),
    ),
    ("v2_eager.crf.Crf", page("crf", "make_crf", "all lengths")),
    (
        "v2_eager.ctc.Recognizer",
        made(
            "ctc.Recognizer",
            lambda dtype: [
                {"kernel": np.ones([3, 4], dtype), "bias": np.ones(4, dtype)}
            ],
            lambda module, dtype: module(numbers(dtype, 2, 5, 3)),
        ),
    ),
    (
        "v2_eager.execution_order.Centering",
        page("execution_order", "make_centering", "another name"),
    ),
    (
        "v2_eager.feature_columns.Embedding",
        page("feature_columns", "make_embedding", "shared by two"),
    ),
    (
        "v2_eager.feature_columns.LinearModel",
        page("feature_columns", "make_linear_model", "two units, and means"),
    ),
    (
        "v2_eager.feature_columns.Vocabulary",
        within("v2_eager.feature_columns.WordCounter"),
    ),
    (
        "v2_eager.feature_columns.WideAndDeep",
        made(
            "feature_columns.WideAndDeep",
            lambda dtype: [
                *(["red", "green", "blue"], [18, 65]),
                argument(
                    *("feature_columns", "train_wide_and_deep", "twelve steps", 4),
                    dtype,
                ),
            ],
            lambda module, _: module(
                {
                    "age": tf.constant([17.0, 40.0]),
                    "income": tf.constant([1.0, 2.0]),
                    "words": tf.constant([["red", ""], ["blue", "red"]]),
                }
            ),
        ),
    ),
    (
        "v2_eager.feature_columns.WordCounter",
        page("feature_columns", "make_word_counter", "numbers of 32 bits"),
    ),
    ("v2_eager.gradients.Scale", page("gradients", "make_scale", "another")),
    (
        "v2_eager.layers.DenseLayers",
        page("layers", "make_dense_layers", "three, penalized"),
    ),
    (
        "v2_eager.layers.Embedding",
        page("layers", "make_embedding", "any number of rows"),
    ),
    ("v2_eager.layers.Layer", page("layers", "make_conv2d", "valid")),
    (
        "v2_eager.layers.Network",
        made(
            "layers.Network",
            lambda _: [True],
            lambda module, dtype: module(numbers(dtype, 2, 4, 4, 3), training=True),
        ),
    ),
    (
        "v2_eager.mixed_precision.QuantizedNetwork",
        made(
            "mixed_precision.QuantizedNetwork",
            lambda _: [
                argument("mixed_precision", "train_quantized", "eight bits", 2, "f"),
                1,
            ],
            lambda module, _: module(numbers("float32", 2, 6, 5, 3), is_training=True),
        ),
    ),
    (
        "v2_eager.regularization.Classifier",
        page("regularization", "make_classifier", "two layers"),
    ),
    (
        "v2_eager.reinforcement.NoisyDense",
        page("reinforcement", "make_noisy_dense", "any rows"),
    ),
    (
        "v2_eager.rnn.Bidirectional",
        page("rnn", "make_bidirectional", "of several lengths"),
    ),
    (
        "v2_eager.rnn.Network",
        Made(
            lambda _: RnnNetwork(4),
            lambda module, dtype: (
                module.build(3, tf.as_dtype(dtype)),
                module(numbers(dtype, 2, 3, 3), tf.constant([3, 2])),
            ),
        ),
    ),
    ("v2_eager.rnn.Reader", page("rnn", "make_basic_rnn", "tanh")),
    (
        "v2_eager.saved_models.Dense",
        made(
            "saved_models.Dense",
            lambda dtype: [weights(dtype)],
            lambda module, dtype: module(numbers(dtype, 4, 2)),
        ),
    ),
    (
        "v2_eager.saved_models.Detector",
        made(
            "saved_models.Detector",
            lambda _: [
                argument("saved_models", "detect", "a picture", 1, "float32"),
                20,
            ],
            lambda module, _: module(tf.ones([1, 9, 9, 3], tf.uint8)),
        ),
    ),
    (
        "v2_eager.saved_models.Words",
        made(
            "saved_models.Words",
            lambda dtype: [vocabulary_file(), np.ones([3, 2], dtype)],
            lambda module, _: [
                *module.ids(tf.constant(["cat", "sat"])).values(),
                *module.vectors(tf.constant(["cat", "sat"])).values(),
            ],
        ),
    ),
    (
        "v2_eager.scopes.Convolution",
        page("scopes", "make_convolution", "any size"),
    ),
    ("v2_eager.scopes.Net", net_of_scopes()),
    (
        "v2_eager.scopes.ScopedDense",
        page("scopes", "make_scoped_dense", "any batch"),
    ),
    ("v2_eager.scopes.Siamese", page("scopes", "make_siamese", "any size")),
    ("v2_eager.slim.Network", page("slim", "make_network", "inference")),
    ("v2_eager.slim.Tower", layer(slim.Tower, [2, 4, 4, 3])),
    (
        "v2_eager.slim_learning.Classifier",
        layer(lambda: slim_learning.Classifier(4, 3, fused=False), [4, 5], True),
    ),
    (
        "v2_eager.slim_networks.Bottleneck",
        within("v2_eager.slim_networks.WithPenalties"),
    ),
    (
        "v2_eager.slim_networks.Conv2DSame",
        page("slim_networks", "make_conv2d_same", "dilated"),
    ),
    (
        "v2_eager.slim_networks.Inception",
        page("slim_networks", "make_inception_block", "training"),
    ),
    (
        "v2_eager.slim_networks.ResNetV2",
        layer(
            lambda: slim_networks.ResNetV2(
                "net", [("block1", 1, 2, 2)], 2, 3, fused=False
            ),
            [2, 8, 8, 3],
            True,
        ),
    ),
    (
        "v2_eager.slim_networks.WithPenalties",
        layer(
            lambda: slim_networks.WithPenalties(
                "net", [("block1", 1, 1, 1)], 2, 3, fused=False
            ),
            [2, 8, 8, 3],
            True,
        ),
    ),
    (
        "v2_eager.variables.Embedding",
        page("variables", "make_embedding", "any size"),
    ),
    # --- numerics: norms and layers
    (
        "v2_eager.numerics.Normalized",
        page("numerics", "make_batch_norm", "a matrix, in training"),
    ),
    ("v2_eager.numerics.Reader", page("numerics", "make_reader", "BasicRNNCell")),
    (
        "v2_eager.numerics.batch_norms.BatchNorm",
        layer(lambda: batch_norms.BatchNorm(fused=False), [4, 3], True),
    ),
    (
        "v2_eager.numerics.batch_norms.ContribBatchNorm",
        layer(
            lambda: batch_norms.ContribBatchNorm(
                scale=True, fused=False, zero_debias_moving_mean=True
            ),
            [4, 3],
        ),
    ),
    (
        "v2_eager.numerics.batch_norms.ContribBatchNorm fused",
        layer(batch_norms.ContribBatchNorm, [4, 3]),
    ),
    (
        "v2_eager.numerics.norms.GroupNorm",
        layer(lambda: norms.GroupNorm(2), [2, 3, 3, 4]),
    ),
    ("v2_eager.numerics.norms.InstanceNorm", layer(norms.InstanceNorm, [2, 3, 3, 4])),
    ("v2_eager.numerics.norms.LayerNorm", layer(norms.LayerNorm, [2, 3])),
    (
        "v2_eager.numerics.layers.Conv2D",
        layer(
            lambda: layers.Conv2D(
                "a", 2, 3, normalizer=batch_norms.ContribBatchNorm(fused=False)
            ),
            [2, 4, 4, 3],
        ),
    ),
    (
        "v2_eager.numerics.layers.Conv2DTranspose",
        layer(lambda: layers.Conv2DTranspose("a", 2, 3, 2), [2, 4, 4, 3]),
    ),
    (
        "v2_eager.numerics.layers.FullyConnected",
        layer(lambda: layers.FullyConnected("a", 2), [2, 3]),
    ),
    (
        "v2_eager.numerics.layers.SeparableConv2D",
        layer(lambda: layers.SeparableConv2D("a", 2, 3), [2, 4, 4, 3]),
    ),
    # --- numerics: averages, quantizers, optimizers
    ("v2_eager.numerics.averages.ExponentialMovingAverage", moving_average()),
    (
        "v2_eager.numerics.averages.TensorAverage",
        Made(
            lambda dtype: averages.TensorAverage([3], dtype, 0.9, zero_debias=True),
            lambda module, dtype: module.update(numbers(dtype, 3)),
        ),
    ),
    (
        "v2_eager.numerics.quantization.LastValueQuantize",
        layer(lambda: quantization.LastValueQuantize("q"), [3]),
    ),
    (
        "v2_eager.numerics.quantization.MovingAverageQuantize",
        layer(lambda: quantization.MovingAverageQuantize("q"), [3]),
    ),
    ("v2_eager.numerics.pruning.Pruning", pruned()),
    (
        SCALES + "DynamicLossScale",
        scale(lambda: loss_scale.DynamicLossScale(increment_period=2)),
    ),
    (
        SCALES + "ExponentialUpdateLossScale",
        scale(lambda: loss_scale.ExponentialUpdateLossScale(8, 2)),
    ),
    (SCALES + "FixedLossScale", within(SCALES + "MixedPrecisionLossScale")),
    (
        SCALES + "LossScale",
        optimizer(
            lambda: loss_scale.LossScale(
                optimizers.Adam(0.1), loss_scale.ExponentialUpdateLossScale(8, 1)
            )
        ),
    ),
    (SCALES + "MixedPrecisionLossScale", optimizer(mixed_loss_scale)),
    (
        "v2_eager.numerics.optimizers.moving_average.MovingAverage",
        optimizer(lambda: optimizers.MovingAverage(optimizers.Adam(0.1), 0.5)),
    ),
    (
        "v2_eager.numerics.metrics.correlations.PearsonCorrelation",
        Made(
            lambda _: metrics.PearsonCorrelation(),
            lambda module, _: (
                module.update_state(numbers("float32", 5), numbers("float32", 5) ** 2),
                module.result(),
            ),
        ),
    ),
    # --- numerics: canned
    (
        "v2_eager.numerics.canned.Baseline",
        Made(
            lambda _: canned.Baseline(2), lambda module, _: module(tf.constant([1, 2]))
        ),
    ),
    (
        "v2_eager.numerics.canned.BinaryHead",
        head(canned.BinaryHead, [0, 1, 1, 0]),
    ),
    (
        "v2_eager.numerics.canned.MultiClassHead",
        head(lambda: canned.MultiClassHead(3), [0, 1, 2, 0]),
    ),
    (
        "v2_eager.numerics.canned.RegressionHead",
        head(canned.RegressionHead, [0.5, 1.0, 2.0, 0.0]),
    ),
    (
        "v2_eager.numerics.canned.DNN",
        features_of(lambda: canned.DNN(columns(), [4], 2, batch_norm=True)),
    ),
    (
        "v2_eager.numerics.canned.Linear",
        features_of(lambda: canned.Linear(columns(), 2)),
    ),
    ("v2_eager.numerics.canned.Estimator", estimator()),
    # --- numerics: cells
    (CELLS + "BasicLSTMCell", cell("BasicLSTMCell", 2)),
    (CELLS + "BasicRNNCell", cell("BasicRNNCell", 2)),
    (CELLS + "GRUCell", cell("GRUCell", 2)),
    (CELLS + "LSTMCell", cell("LSTMCell", 3, use_peepholes=True, num_proj=2)),
    (
        CONTRIB_CELLS + "CoupledInputForgetGateLSTMCell",
        cell(
            *("CoupledInputForgetGateLSTMCell", 3, True),
            **{"num_proj": 2, "layer_norm": True},
        ),
    ),
    *[
        (CONTRIB_CELLS + name, cell(name, 2))
        for name in (
            "CudnnCompatibleGRUCell",
            "CudnnCompatibleLSTMCell",
            "GRUBlockCell",
            "GRUBlockCellV2",
            "LayerNormBasicLSTMCell",
            "UGRNNCell",
        )
    ],
    (CONTRIB_CELLS + "IntersectionRNNCell", cell("IntersectionRNNCell", 2, 2)),
    (CONTRIB_CELLS + "LSTMBlockCell", cell("LSTMBlockCell", 2, use_peephole=True)),
    (CONTRIB_CELLS + "NASCell", cell("NASCell", 3, 2, True)),
    (
        "v2_eager.numerics.rnn.grid_cells.GridLSTMCell",
        cell(
            "GridLSTMCell",
            2,
            True,
            feature_size=2,
            frequency_skip=1,
            num_frequency_blocks=[2],
        ),
    ),
    (
        "v2_eager.numerics.rnn.grid_cells.TimeFreqLSTMCell",
        cell("TimeFreqLSTMCell", 2, True, feature_size=2),
    ),
    (WRAPPERS + "AttentionCellWrapper", wrapper("AttentionCellWrapper", 2)),
    (WRAPPERS + "HighwayWrapper", wrapper("HighwayWrapper", False)),
    (WRAPPERS + "InputProjectionWrapper", wrapper("InputProjectionWrapper", 2)),
    (WRAPPERS + "OutputProjectionWrapper", wrapper("OutputProjectionWrapper", 2)),
    (
        WRAPPERS + "EmbeddingWrapper",
        Made(
            lambda _: rnn.EmbeddingWrapper(rnn.GRUCell(2, name="in"), 5, 3),
            lambda module, dtype: (
                module.build(1, tf.as_dtype(dtype)),
                module(tf.constant([[1], [4]]), module.zero_state(2, dtype)),
            ),
        ),
    ),
    (
        "v2_eager.numerics.rnn.fused.LSTMBlockFusedCell",
        page("contrib_cells", "make_lstm_fused", "of several lengths"),
    ),
    (
        "v2_eager.numerics.rnn.fused.TimeReversedFusedRNN",
        within("v2_eager.contrib_cells.FusedBothWays"),
    ),
    (
        "v2_eager.numerics.rnn.wrappers.DropoutWrapper",
        wrapper("DropoutWrapper", 0.5, variational_recurrent=True, seed=3),
    ),
    (
        "v2_eager.numerics.rnn.wrappers.MultiRNNCell",
        Made(
            lambda _: rnn.MultiRNNCell(
                [rnn.GRUCell(2, name="a"), rnn.BasicLSTMCell(2, name="b")]
            ),
            step_of(),
        ),
    ),
    ("v2_eager.numerics.rnn.wrappers.ResidualWrapper", wrapper("ResidualWrapper")),
    # --- numerics: recurrences
    (
        RECURRENCES + "ConvLSTMCell",
        within("v2_eager.contrib_recurrences.FilmReader"),
    ),
    (
        RECURRENCES + "GLSTMCell",
        recurrent(recurrences.GLSTMCell, 4, num_proj=2, number_of_groups=2, depth=4),
    ),
    *[
        (RECURRENCES + name, recurrent(getattr(recurrences, name), 3))
        for name in ("IndRNNCell", "IndyGRUCell", "IndyLSTMCell", "SRUCell")
    ],
    (
        RECURRENCES + "PhasedLSTMCell",
        Made(
            lambda _: recurrences.PhasedLSTMCell(2, True),
            lambda module, dtype: (
                module.build(3, tf.as_dtype(dtype)),
                module(
                    (numbers(dtype, 2, 1), numbers(dtype, 2, 3)),
                    module.zero_state(2, tf.as_dtype(dtype)),
                ),
            ),
        ),
    ),
]
ALLOWED = {
    "v2_eager.attention.Monotonic": "an abstract base: a mechanism is one of its two",
    "v2_eager.attention.mechanisms.Attention": "an abstract base without a score",
    "v2_eager.contrib_layers.Embeddings": "an abstract base, which cannot be called",
    "v2_eager.numerics.canned.ClassHead": "an abstract base of two heads, without loss",
    "v2_eager.numerics.canned.Head": "an abstract base, which has no loss of a row",
    "v2_eager.numerics.layers.Image": "an abstract base, which makes no product",
    "v2_eager.numerics.layers.Layer": "an abstract base, which makes no product",
    "v2_eager.numerics.norms.Norm": "an abstract base, which cannot be called",
    CELLS + "Cell": "an abstract base, which makes no variables",
    WRAPPERS + "Wrapper": "an abstract base, which makes no variables",
}

# --- Cases that a row does not test, with the reason.

RATES = "powers, rates and scales are float32, as in TensorFlow 1"
FUSED = "its case runs the fused kernel, which takes no float64"
OF_FLOAT32 = "it makes float32 variables, as in TensorFlow 1, whatever comes in"
NARROW = {  # their proofs feed only float32
    f"v2_eager.{name}": "its proof, too, feeds float32 alone"
    for name in (
        *("beam_search.Search", "legacy_seq2seq.decoders.AttentionDecoder"),
        "legacy_seq2seq.decoders.EmbeddingAttentionSeq2Seq",
        *("legacy_seq2seq.decoders.EmbeddingSeq2Seq", "contrib_cells.FusedBothWays"),
        *("contrib_columns.Deep", "contrib_columns.Sequences", "contrib_columns.Wide"),
        *("contrib_layers.BagOfWords", "contrib_norms.Critic"),
        *("contrib_norms.Normalized", "contrib_vision.SpatialSoftmax"),
        *("contrib_vision.Volumes", "crf.Crf", "feature_columns.Embedding"),
        *("feature_columns.LinearModel", "numerics.rnn.fused.LSTMBlockFusedCell"),
    )
}
FLOAT32 = {
    **NARROW,
    "v2_eager.models_autoencoder.Phase": RATES,
    "v2_eager.models_char_rnn.Trainer": RATES,
    "v2_eager.models_cgan.Trainer": RATES,
    "v2_eager.models_dcgan.Trainer": RATES,
    "v2_eager.models_a2c.Model": RATES,
    "v2_eager.models_estimator.WideAndDeep": OF_FLOAT32,
    "v2_eager.models_maml.Trainer": RATES,
    "v2_eager.models_seq2seq.Trainer": RATES,
    "v2_eager.models_style_transfer.Trainer": RATES,
    "v2_eager.models_gcn.Trainer": RATES,
    "v2_eager.models_convnet.Trainer": "in float64 it draws another dropout mask",
    "v2_eager.models_deepfm.Trainer": "in float64 it draws another dropout mask",
    "v2_eager.models_tagger.Trainer": "in float64 it draws another dropout mask",
    "v2_eager.models_transformer.Trainer": "in float64 it draws another dropout mask",
    "v2_eager.models_factorization.Trainer": RATES,
    "v2_eager.models_policy_gradient.PolicyGradient": RATES,
    "v2_eager.models_unet.Trainer": RATES,
    "v2_eager.models_vae.Trainer": "in float64 it draws other noise",
    "v2_eager.checkpoints.Trainer": RATES,
    "v2_eager.training_loops.Trainer": RATES,
    "v2_eager.contrib_norms.OptimizeLoss": RATES,
    SCALES + "DynamicLossScale": RATES,
    SCALES + "ExponentialUpdateLossScale": RATES,
    SCALES + "LossScale": RATES,
    SCALES + "MixedPrecisionLossScale": RATES,
    "v2_eager.numerics.optimizers.moving_average.MovingAverage": RATES,
    "v2_eager.slim.Tower": FUSED,
    "v2_eager.numerics.batch_norms.ContribBatchNorm fused": FUSED,
    "v2_eager.canned_estimators.Embedding": OF_FLOAT32,
    "v2_eager.contrib_columns.LinearClassifier": OF_FLOAT32,
    "v2_eager.contrib_layers.Sequences": OF_FLOAT32,
    "v2_eager.feature_columns.WideAndDeep": OF_FLOAT32,
    "v2_eager.feature_columns.WordCounter": "it counts in float32, as a column did",
    "v2_eager.layers.Embedding": OF_FLOAT32,
    "v2_eager.mixed_precision.QuantizedNetwork": "quantizing ops take float32 alone",
    "v2_eager.numerics.quantization.LastValueQuantize": "its op takes float32 alone",
    "v2_eager.numerics.quantization.MovingAverageQuantize": "as LastValueQuantize",
    "v2_eager.numerics.pruning.Pruning": "its weights are float32, as documented",
    "v2_eager.numerics.metrics.correlations.PearsonCorrelation": OF_FLOAT32,
    **{
        f"v2_eager.numerics.canned.{name}": "canned Estimators were float32 alone"
        for name in (
            *("Baseline", "BinaryHead", "MultiClassHead", "RegressionHead"),
            *("DNN", "Linear", "Estimator"),
        )
    },
    RECURRENCES + "PhasedLSTMCell": "it computes in float32, as documented",
    "v2_eager.saved_models.Detector": "it has no numbers of its own but float32 boxes",
    "v2_eager.scopes.Net": "its variable is float32, whatever comes in",
}
METRICS = "sums of metrics were local variables, which no Saver wrote, of equal names"
NO_NAMES = {
    "v2_eager.numerics.metrics.correlations.PearsonCorrelation": METRICS,
    "v2_eager.numerics.canned.BinaryHead": METRICS,
    "v2_eager.numerics.canned.MultiClassHead": METRICS,
    "v2_eager.numerics.canned.RegressionHead": METRICS,
    "v2_eager.models_estimator.WideAndDeep": METRICS,
    "v2_eager.numerics.canned.Estimator": METRICS,
}
DRAWS = "what is loaded begins its stream of random numbers again"
NO_SAVED_MODEL = {
    "v2_eager.models_convnet.Trainer": DRAWS,
    "v2_eager.models_deepfm.Trainer": DRAWS,
    "v2_eager.models_tagger.Trainer": DRAWS,
    "v2_eager.models_transformer.Trainer": DRAWS,
    "v2_eager.models_vae.Trainer": DRAWS,
    "v2_eager.models_word2vec.Word2Vec": DRAWS,
    "v2_eager.layers.Network": DRAWS,
    "v2_eager.numerics.rnn.wrappers.DropoutWrapper": DRAWS,
}
SLOW = {  # loops of many ops
    *("attention.ReaderOfTwo", "beam_search.AttentiveSearch", "beam_search.Search"),
    *("contrib_cells.FusedBothWays", "contrib_columns.Wide", "crf.Crf"),
    *("contrib_rnn.StackBothWays", "distributed.Line", "feature_columns.WideAndDeep"),
    *("legacy_seq2seq.decoders.AttentionDecoder", "mixed_precision.QuantizedNetwork"),
    "legacy_seq2seq.decoders.EmbeddingAttentionSeq2Seq",
    *("legacy_seq2seq.decoders.EmbeddingSeq2Seq", "legacy_seq2seq.models.BucketModel"),
    *("legacy_seq2seq.models.CharRNN", "numerics.canned.BinaryHead"),
    *("numerics.canned.Estimator", "numerics.rnn.grid_cells.GridLSTMCell"),
    "numerics.rnn.contrib_wrappers.AttentionCellWrapper",
    *("seq2seq.FeedbackDecoder", "seq2seq.GreedyDecoder", "seq2seq.TrainingDecoder"),
    *("seq2seq.models.Decoder", "seq2seq.models.Translator"),
    *("slim_networks.Inception", "slim_networks.ResNetV2"),
}

OBJECTS = [(name, case) for name, case in CASES if isinstance(case, Made)]
PARTS = [(name, owner) for name, owner in CASES if not isinstance(owner, Made)]
UNBUILT = r"^\w+ \S+ has no variables yet: call (its \w+\(...\), or call )?it once, "


def distinguish(module):
    """Assigns distinct values to each variable, so that a test notices a swap."""
    for variable in module.variables:
        values = structure.distinct(variable.name, variable.shape)
        variable.assign(tf.cast(values, variable.dtype))


def next_of(case, module):
    """Calls the module; returns its outputs, and its variables after the call."""
    answer = case.ask(module)
    named = sorted((v.name, i, v.numpy()) for i, v in enumerate(module.variables))
    return [*answer, *[value for _, _, value in named]]


class Saved:
    """A module with distinct values, its checkpoints, and its outputs after saving.

    Attributes:
        created: all variables that the module and its first call made.
        made: the module's variables after the first call.
        kept: the module's variables after the second call.
        next: its outputs and variables after the checkpoints.
        fresh: another such module, after a call.
    """

    def __init__(self, name):
        case = dict(OBJECTS)[name]
        path = os.path.join(FOLDER.name, name.replace(" ", "_"))
        self.objects, self.names = f"{path}.objects", f"{path}.names"
        if case.narrow:
            case.narrow()  # imports the proof, which makes other variables
        self.created = []

        def create(next_creator, **kwargs):
            self.created.append(next_creator(**kwargs))
            return self.created[-1]

        with tf.variable_creator_scope(create):
            self.module = case.make("float32")
            case.ask(self.module)
        self.made = [variable.ref() for variable in self.module.variables]
        distinguish(self.module)
        tf.train.Checkpoint(module=self.module).write(self.objects)
        if name not in NO_NAMES and self.made:
            restore.save(self.names, restore.named(self.module))
        self.next = next_of(case, self.module)
        self.kept = [variable.ref() for variable in self.module.variables]
        self.fresh = case.make("float32")
        case.ask(self.fresh)

    def cleared(self):
        """Sets all variables of the fresh module to zero, and returns it."""
        for variable in self.fresh.variables:
            variable.assign(tf.zeros_like(variable))
        return self.fresh


saved = functools.cache(Saved)


def tearDownModule():
    saved.cache_clear()
    FOLDER.cleanup()


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


# --- The rows.


def a_checkpoint_of_objects_restores_it(test, name, case):
    fresh = saved(name).cleared()
    status = tf.train.Checkpoint(module=fresh).read(saved(name).objects)
    status.assert_consumed()
    status.assert_existing_objects_matched()
    assert_same(next_of(case, fresh), saved(name).next)


def a_checkpoint_by_name_restores_it(test, name, case):
    if not saved(name).made:
        test.assertEqual(restore.named(saved(name).module), {})
        return
    fresh = saved(name).cleared()
    restore.by_name(saved(name).names, restore.named(fresh))
    assert_same(next_of(case, fresh), saved(name).next)


def its_variables_are_found_in_lists_and_dicts(test, name, _):
    net = tf.Module()
    net.parts = [{"outer": ({"inner": saved(name).module},)}]
    variables = {variable.ref() for variable in net.variables}
    test.assertEqual(variables, set(saved(name).made))
    created = [v.name.partition(":")[0] for v in saved(name).created]
    created = [n for n in created if n != "StateVar"]  # of generators for first values
    names = [v.name.partition(":")[0] for v in net.variables]
    test.assertEqual(sorted(created), sorted(names))  # checkpoints contain them all
    test.assertEqual(len(restore.named(net)), len(variables))  # distinct names


def it_is_refused_until_it_has_its_variables(test, name, case):
    module, net = case.make("float32"), tf.Module()
    net.parts = [{"outer": ({"inner": module},)}]
    try:
        before = restore.named(net)
    except ValueError as error:
        test.assertRegex(str(error), UNBUILT)
        with test.assertRaisesRegex(ValueError, UNBUILT):
            restore.named(module)
    else:
        test.assertEqual(len(before), len(saved(name).made))


def later_calls_make_no_variables(test, name, _):
    test.assertEqual(saved(name).kept, saved(name).made)


def it_computes_in_float64(test, _, case):
    module = case.make("float64")
    outputs = case.ask(module, "float64")
    dtypes = {x.dtype.name for x in outputs} | {v.dtype.name for v in module.variables}
    test.assertIn("float64", dtypes)
    test.assertNotIn("float32", dtypes)


ROWS = {  # {test: names of the cases that it leaves out}
    a_checkpoint_of_objects_restores_it: {},
    a_checkpoint_by_name_restores_it: NO_NAMES,
    its_variables_are_found_in_lists_and_dicts: NO_NAMES,
    it_is_refused_until_it_has_its_variables: NO_NAMES,
    later_calls_make_no_variables: {},
    it_computes_in_float64: FLOAT32,
}


def asked(row, name):
    """Returns whether a row tests a case."""
    return name not in ROWS[row]


def is_slow(name):
    """Returns whether a case takes too long for the quick tests."""
    return name.removeprefix("v2_eager.") in SLOW


class Eager(unittest.TestCase):
    """Runs the pages' `tf.function`s eagerly, without tracing."""

    def setUp(self):
        tf.config.run_functions_eagerly(True)
        self.addCleanup(tf.config.run_functions_eagerly, False)


def quick(row):
    """Returns the cases of a row as parameters, without the slow cases."""
    return [(n, c) for n, c in OBJECTS if asked(row, n) and not is_slow(n)]


class ModulesTest(Eager):
    @parameterized.expand(quick(a_checkpoint_of_objects_restores_it))
    def test_a_checkpoint_of_objects_restores_it(self, name, case):
        a_checkpoint_of_objects_restores_it(self, name, case)

    @parameterized.expand(quick(a_checkpoint_by_name_restores_it))
    @pytest.mark.slow
    def test_a_checkpoint_by_name_restores_it(self, name, case):
        a_checkpoint_by_name_restores_it(self, name, case)

    @parameterized.expand(quick(its_variables_are_found_in_lists_and_dicts))
    def test_its_variables_are_found_in_lists_and_dicts(self, name, case):
        its_variables_are_found_in_lists_and_dicts(self, name, case)

    @parameterized.expand(quick(it_is_refused_until_it_has_its_variables))
    def test_it_is_refused_until_it_has_its_variables(self, name, case):
        it_is_refused_until_it_has_its_variables(self, name, case)

    @parameterized.expand(quick(later_calls_make_no_variables))
    def test_later_calls_make_no_variables(self, name, case):
        later_calls_make_no_variables(self, name, case)

    @parameterized.expand(quick(it_computes_in_float64))
    def test_it_computes_in_float64(self, name, case):
        it_computes_in_float64(self, name, case)

    @parameterized.expand([(n, owner) for n, owner in PARTS if not is_slow(owner)])
    def test_a_part_stands_in_the_object_of_its_case(self, name, owner):
        stands_within(self, name, owner)


def stands_within(test, name, owner):
    module = saved(owner).module
    kinds = {type(part) for part in (module, *module.submodules)}
    test.assertIn(found.classes()["modules"][name], kinds)


@pytest.mark.slow
class SlowModulesTest(Eager):
    @parameterized.expand([case for case in OBJECTS if is_slow(case[0])])
    def test_all_rows(self, name, case):
        for row in ROWS:
            if asked(row, name):
                with self.subTest(row.__name__):
                    row(self, name, case)

    @parameterized.expand([(n, owner) for n, owner in PARTS if is_slow(owner)])
    def test_a_part_stands_in_the_object_of_its_case(self, name, owner):
        stands_within(self, name, owner)


@pytest.mark.slow
class FunctionsTest(unittest.TestCase):
    @parameterized.expand(OBJECTS)
    def test_a_function_makes_its_variables_once(self, _, case):
        module = case.make("float32")

        @tf.function
        def ask():
            return tensors(case.call(module, "float32"))

        counts = []
        for _ in range(3):
            ask()
            counts.append(ask.experimental_get_tracing_count())
        self.assertEqual(counts[1:], counts[:1] * 2)

    @parameterized.expand([case for case in OBJECTS if case[0] not in NO_SAVED_MODEL])
    def test_a_saved_model_gives_the_same(self, _, case):
        net = tf.Module()
        net.module = case.make("float32")
        net.ask = tf.function(lambda: tensors(case.call(net.module, "float32")))
        net.ask()
        distinguish(net.module)
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(net, folder)
            loaded = tf.saved_model.load(folder)
            for _ in range(2):
                assert_same(arrays(loaded.ask()), arrays(net.ask()))


class TableTest(unittest.TestCase):
    @parameterized.expand(sorted(NARROW))
    def test_a_narrow_proof_says_so(self, name):
        self.assertTrue(dict(OBJECTS)[name].narrow())

    def test_what_is_not_asked_is_of_a_case(self):
        for names in (FLOAT32, NO_NAMES, NO_SAVED_MODEL):
            self.assertLessEqual(set(names), {name for name, _ in OBJECTS})
        cases = {name.removeprefix("v2_eager.") for name, _ in OBJECTS}
        self.assertLessEqual(SLOW, cases)


PHASES = [  # layers whose training phase was a placeholder in v1
    (
        "contrib_norms",
        lambda: contrib_norms.make_normalized(2, 3),
        [2, 4, 4, 3],
    ),
    ("contrib_framework", lambda: contrib_framework.make_centered(), [4, 3]),
    ("cookbook", lambda: cookbook.make_batch_norm(), [4, 3]),
    ("layers", lambda: v2_layers.make_batch_norm(), [4, 3]),
    ("quantization", lambda: quantization.MovingAverageQuantize("q"), [4]),
    ("slim", lambda: slim.make_network(2, 3, 0.1), [2, 6, 6, 3]),
    ("slim_learning", lambda: slim_learning.Classifier(4, 3), [4, 5]),
    (
        "slim_networks, a ResNet",
        lambda: slim_networks.make_resnet_v2([("block1", 1, 1, 1)], 2, 3),
        [2, 8, 8, 3],
    ),
    (
        "slim_networks, an inception block",
        lambda: slim_networks.make_inception_block(3, 4, keep_prob=1.0),
        [2, 8, 8, 3],
    ),
]


@pytest.mark.slow
class PhasesTest(unittest.TestCase):
    @parameterized.expand(PHASES)
    def test_a_tensor_in_a_function_does_what_a_bool_does(self, _, make, shape):
        x, found = numbers("float32", *shape), []
        for kind, traces in ((bool, 2), (tf.constant, 1)):
            layer = make()
            layer(x, False)  # makes the variables
            call = tf.function(layer.__call__)
            answers = [call(x, kind(phase)) for phase in (True, False, True)]
            self.assertEqual(call.experimental_get_tracing_count(), traces)
            found.append([*arrays(answers), *[v.numpy() for v in layer.variables]])
        assert_same(*found)


class RestoreTest(unittest.TestCase):
    """A restore that raises an error changes no variable."""

    @parameterized.expand(
        [
            ("another shape", tf.zeros([3]), ValueError, "has the shape"),
            (
                "another dtype",
                tf.zeros([2], tf.float64),
                tf.errors.InvalidArgumentError,
                "dtype|data type|expected",
            ),
            ("a name that is missing", None, tf.errors.NotFoundError, "b not found"),
        ]
    )
    def test_what_does_not_fit_changes_nothing(self, _, value, error, match):
        written = {"a": tf.ones([2])} | ({} if value is None else {"b": value})
        a, b = tf.Variable([5.0, 6.0], name="a"), tf.Variable([7.0, 8.0], name="b")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            restore.save(path, written)
            with self.assertRaisesRegex(error, match):
                restore.by_name(path, restore.named([a, b]))
            with self.assertRaisesRegex((ValueError, error), "b"):
                restore.init_from_checkpoint(path, {"/": "/"}, restore.named([a, b]))
        np.testing.assert_array_equal(a, [5, 6])
        np.testing.assert_array_equal(b, [7, 8])
