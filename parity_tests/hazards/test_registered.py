"""The registered names by which Keras finds the pages' classes in a file."""

import collections
import unittest

import keras

from parity_tests.hazards import found

PACKAGES = {"v2_eager": "tensorflow_1", "v2_keras": "v2_keras"}
SAVED = [
    *("models", "metrics", "layers", "losses", "optimizers", "schedules"),
    *("regularizers", "constraints", "initializers"),
]
ALL = {name: cls for kind in SAVED for name, cls in found.classes()[kind].items()}


class RegisteredTest(unittest.TestCase):
    def test_every_class_is_registered_in_the_package_of_its_tree(self):
        for name, cls in ALL.items():
            with self.subTest(name):
                registered = keras.saving.get_registered_name(cls)
                package, separator, _ = registered.partition(">")
                self.assertEqual(separator, ">", "it is not registered")
                self.assertEqual(package, PACKAGES[name.partition(".")[0]])

    def test_no_two_classes_have_one_name(self):
        by_name = collections.defaultdict(list)
        for name, cls in ALL.items():
            by_name[keras.saving.get_registered_name(cls)].append(name)
        self.assertEqual({k: v for k, v in by_name.items() if v[1:]}, {})

    def test_the_name_of_a_class_finds_it(self):
        for name, cls in ALL.items():
            with self.subTest(name):
                registered = keras.saving.get_registered_name(cls)
                self.assertIs(keras.saving.get_registered_object(registered), cls)
