"""Classes of no other kind: records, mix-ins, helpers, and a few with state."""

import copy
import dataclasses
import json
import os
import pickle
import tempfile
import unittest

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards import found
from v2_eager import contrib_learn, contrib_training, estimators, training_loops
from v2_eager.scopes import Scope
from v2_keras import optimizers, rnn

RECORD = "a named tuple, which nests of tensors take apart and keep as it is"
HELPER = "holds tensors of one decoding and no variables; seq2seq's modules make it"
MIX_IN = "a mix-in without state; its classes are cases of other tables"
ENVIRONMENT = "an environment in NumPy, which the program makes"


def vocabulary():
    return contrib_learn.Vocabulary.learned(["one two two", "three"], 3)


class Owner(tf.Module):
    """Owns the dict of variables of a scope, as `Scope` requires."""

    def __init__(self):
        super().__init__()
        self.store = {}
        scope = Scope(self.store).open("outer")
        self.w = scope.get_variable("w", [2], tf.float32, tf.zeros_initializer())


def keras_momentum():
    sgd = keras.optimizers.SGD(0.125, 0.5)
    weight = keras.Variable(np.ones([2, 3], "f"))
    sgd.build([weight])
    return optimizers.Momentum(sgd.momentums[0], sgd)


def part(columns=np.s_[:], offset=0.0, order=lambda x: x):
    variables = [keras.Variable(np.ones(shape, "f")) for shape in ([3, 6], [2, 6])]
    return rnn.Part(variables, columns, order, offset)


CASES = [  # (class, function that makes an object)
    ("v2_eager.contrib_learn.Vocabulary", vocabulary),
    ("v2_eager.contrib_training.Settings", contrib_training.Settings),
    ("v2_eager.estimators.Settings", estimators.Settings),
    ("v2_eager.scopes.Scope", Owner),
    ("v2_eager.training_loops.ScalarWriter", training_loops.ScalarWriter),
    ("v2_keras.optimizers.Momentum", keras_momentum),
    ("v2_keras.rnn.Part", part),
    ("v2_keras.rnn.Part columns", lambda: part(np.s_[2:5])),
    ("v2_keras.rnn.Part offset", lambda: part(offset=1.0)),
    ("v2_keras.rnn.Part turned", lambda: part(order=lambda x: x[:, ::-1])),
]
ALLOWED = {
    "v2_eager.attention.mechanisms.Memory": RECORD,
    "v2_eager.attention.wrapper.AttentionWrapperState": RECORD,
    "v2_eager.attention.wrapper.AttentiveCell": "holds no variables: its wrapper, "
    "which is a case of test_modules, has them, and makes it for each batch",
    "v2_eager.beam_search.BeamSearchDecoder": HELPER,
    "v2_eager.beam_search.Letters": "has a number and no variables: one-hot vectors",
    "v2_eager.contrib_training.hparams.HParams": "the base of both Settings, no fields",
    "v2_eager.keras_optimizers.RowsSummed": MIX_IN,
    "v2_eager.keras_training.models.BatchLosses": "a mix-in of models, whose metrics "
    "Keras resets and saves; keras_training's pairs train with it",
    "v2_eager.keras_training.models.FrozenPenalties": MIX_IN,
    "v2_eager.models_a2c.Mazes": ENVIRONMENT,
    "v2_eager.models_dqn.Maze": ENVIRONMENT,
    "v2_eager.models_policy_gradient.CartPole": ENVIRONMENT,
    "v2_eager.numerics.losses.Reduction": "the names of reductions, strings alone",
    "v2_eager.numerics.optimizers.multitask.Multitask": MIX_IN,
    "v2_eager.numerics.optimizers.weight_decay.DecoupledWeightDecay": MIX_IN,
    "v2_eager.numerics.rnn.cells.LSTMStateTuple": RECORD,
    "v2_eager.numerics.rnn.grid_cells.GridHalf": RECORD,
    "v2_eager.seq2seq.Feedback": HELPER,
    "v2_eager.seq2seq.beams.BeamOutput": RECORD,
    "v2_eager.seq2seq.beams.BeamState": RECORD,
    "v2_eager.seq2seq.beams.FinalBeamOutput": RECORD,
    "v2_eager.seq2seq.decoding.BasicDecoder": HELPER,
    "v2_eager.seq2seq.decoding.BasicDecoderOutput": RECORD,
    "v2_eager.seq2seq.helpers.GreedyEmbeddingHelper": HELPER,
    "v2_eager.seq2seq.helpers.Helper": "the base of helpers, without a method",
    "v2_eager.seq2seq.helpers.SampleEmbeddingHelper": HELPER,
    "v2_eager.seq2seq.helpers.ScheduledEmbeddingTrainingHelper": HELPER,
    "v2_eager.seq2seq.helpers.TrainingHelper": HELPER,
    "v2_keras.mixed_precision.Trained": "a program's step: its model and optimizer are "
    "Keras' own, and are saved as such",
    "v2_keras.rnn.State": RECORD,
    "v2_keras.training_loops.Training": "a loop, which test_loops leaves in each way",
}


def those(*names):
    """Returns the cases of the classes with these names."""
    return [case for case in CASES if case[0].partition(" ")[0].endswith(names)]


class SettingsTest(unittest.TestCase):
    @parameterized.expand(those("Settings"))
    def test_two_share_no_list(self, _, make):
        one, other = make(), make()
        for field in dataclasses.fields(one):
            value = getattr(one, field.name)
            if isinstance(value, list):
                value.append(value[0])
                self.assertNotEqual(value, getattr(other, field.name), field.name)

    @parameterized.expand(those("Settings"))
    def test_all_fields_survive_json_and_a_copy(self, _, make):
        settings, fresh = make(), make()
        for field in dataclasses.fields(settings):  # each differs from its default
            value = getattr(settings, field.name)
            other = {bool: not value, str: "other", list: [7]}.get(type(value), 7)
            if isinstance(value, list) and isinstance(value[0], float):
                other = [7.0]
            if isinstance(value, float):
                other = 7.0
            setattr(settings, field.name, other)
        text = json.dumps(dataclasses.asdict(settings))
        self.assertEqual(fresh.override_from_dict(json.loads(text)), settings)
        self.assertEqual(copy.deepcopy(settings), settings)


class VocabularyTest(unittest.TestCase):
    @parameterized.expand(those("Vocabulary"))
    def test_it_gives_the_same_ids_from_a_file(self, _, make):
        vocabulary = make()
        loaded = pickle.loads(pickle.dumps(vocabulary))
        for documents in (["two one"], ["three four"], [""]):
            ids = vocabulary.ids(documents)
            np.testing.assert_array_equal(loaded.ids(documents), ids, strict=True)
        self.assertEqual(list(loaded.texts(ids)), list(vocabulary.texts(ids)))


class ScopeTest(unittest.TestCase):
    @parameterized.expand(those("Scope"))
    def test_the_variables_of_its_dict_are_in_a_checkpoint(self, _, make):
        owner, fresh = make(), make()
        owner.store["outer/w"].assign([1.0, 2.0])
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Checkpoint(owner=owner).write(os.path.join(folder, "a"))
            status = tf.train.Checkpoint(owner=fresh).read(path)
            status.assert_consumed().assert_existing_objects_matched()
        np.testing.assert_array_equal(fresh.w, [1, 2])


class WriterTest(unittest.TestCase):
    @parameterized.expand(those("ScalarWriter"))
    def test_a_second_writer_goes_on_in_the_same_folder(self, _, make):
        with tempfile.TemporaryDirectory() as folder:
            for step in (1, 2):
                writer = make(folder)
                writer.write(step, loss=tf.constant(0.5 * step))
                writer.close()
            read = training_loops.read_scalars(folder)
        self.assertEqual(
            [tuple(row) for row in read], [(1, "loss", 0.5), (2, "loss", 1)]
        )


class OldWeightsTest(unittest.TestCase):
    """Objects that read and write TensorFlow 1 variables in Keras' variables."""

    @parameterized.expand(those("Momentum", "Part"))
    def test_what_is_assigned_is_read(self, _, make):
        old = make()
        value = np.random.RandomState(2).randint(8, size=old.numpy().shape) / 8
        old.assign(value)
        np.testing.assert_array_equal(old.numpy(), np.float32(value), strict=True)

    @parameterized.expand(those("Part"))
    def test_columns_of_others_stay(self, _, make):
        old = make()
        before = [variable.numpy() for variable in old.variables]
        old.assign(np.zeros(old.numpy().shape) - float(old.offset) + 5)
        for variable, array in zip(old.variables, before, strict=True):
            others = np.delete(np.arange(array.shape[1]), old.columns)
            np.testing.assert_array_equal(variable.numpy()[:, others], array[:, others])

    def test_a_momentum_of_a_schedule_or_no_rate_is_refused(self):
        old = keras_momentum()
        old.optimizer.learning_rate = 0.0
        with self.assertRaisesRegex(ValueError, "learning rate must not be 0"):
            old.assign(np.ones([2, 3]))
        schedule = keras.optimizers.schedules.ExponentialDecay(0.5, 1, 0.5)
        with self.assertRaisesRegex(ValueError, "under a schedule"):
            optimizers.Momentum(old.variable, keras.optimizers.SGD(schedule, 0.5))


class AllowedTest(unittest.TestCase):
    @parameterized.expand([name for name, why in ALLOWED.items() if why == RECORD])
    def test_a_record_is_a_named_tuple(self, name):
        kind = found.classes()["others"][name]
        record = kind(*[tf.constant(float(i)) for i in range(len(kind._fields))])
        kept = tf.nest.map_structure(lambda x: x + 1, record)
        self.assertIs(type(kept), kind)
        self.assertEqual([x.numpy() for x in kept], [x.numpy() + 1 for x in record])
