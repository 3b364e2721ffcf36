"""Where names lead: what left pages call, and no row that says what is known anyway."""

import unittest
from unittest import mock

import pytest
from parameterized import parameterized

from tf1to2.catalog import entries, facts, links
from tf1to2.pages import topics
from tf1to2.scan import findings
from tf1to2.tests.test_scan import TF, ScanCase
from upkeep import calls, share
from upkeep.probes import coverage


class CallsTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("its own line", "data.from_placeholder", "tf.placeholder_with_default"),
            ("a helper of the page", "scopes.make_siamese", "tf.nn.conv2d"),
            ("another page", "cookbook.batch_gather", "tf.shape"),
            ("a process", "distributed.train_synchronously", "tf.train.Server"),
            ("by its name", "randomness.draws", "tf.truncated_normal"),
            ("contrib", "layers.make_layer_norm", "tf.contrib.layers.layer_norm"),
            ("a member", "layers.make_batch_norm", "tf.GraphKeys.UPDATE_OPS"),
            ("its class", "layers.make_batch_norm", "tf.GraphKeys"),
        ]
    )
    def test_it_is_called_there(self, _, pair, name):
        self.assertIn(pair, links.proofs(name))

    @parameterized.expand(
        [
            ("a neighbour", "layers.make_conv2d", "tf.contrib.slim.conv2d"),
            ("a namesake", "cookbook.make_batch_norm", "tf.contrib.layers.batch_norm"),
            ("another pair's", "layers.make_conv1d", "tf.layers.Conv2D"),
            ("in words alone", "graphs.three_sessions", "tf.placeholder"),
        ]
    )
    def test_it_is_not_called_there(self, _, pair, name):
        self.assertNotIn(pair, links.proofs(name))

    @pytest.mark.tables
    def test_the_table_is_what_the_pages_call(self):
        self.assertEqual(
            (links.FOLDER / "calls.tsv").read_text("utf-8"),
            calls.table(),
            "make upkeep",
        )


class LinksTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("to its own", "tf.estimator.train_and_evaluate", "train_and_evaluate"),
            ("by the last component", "tf.GraphKeys.UPDATE_OPS", "make_batch_norm"),
            ("by another", "tf.GraphKeys.LOSSES", "collected_losses"),
            ("to a pair at all", "tf.train.Saver", "train"),
            ("one that calls it", "tf.log", "log_or_zero"),
            ("a dict of them", "tf.FixedLenFeature", "parse_rows"),
            ("a writer", "tf.python_io.TFRecordWriter", "write_records"),
            ("the same writer", "tf.io.TFRecordWriter", "write_records"),
            ("an exporter", "tf.estimator.export.ServingInputReceiver", "serve"),
            ("inherited", "tf.keras.optimizers.Adam.get_updates", "train_by_function"),
            ("columns", "tf.contrib.layers.bucketized_column", "bucketize"),
        ]
    )
    def test_it_leads(self, _, name, pair):
        self.assertEqual(entries.lookup(name).pair.partition(".")[2], pair)

    @parameterized.expand(
        [
            ("a keras layer", "tf.keras.layers.Dense", "layers.make_dense_layers"),
            ("of keras 1", "tf.keras.layers.Convolution2D", "layers.make_conv2d"),
            ("a base class", "tf.keras.layers.Layer", "keras_layers.center"),
            ("what it defines", "tf.keras.layers.Layer.build", "keras_layers.center"),
            ("predictions", "tf.keras.Model.predict", "keras_training.predict_classes"),
            ("weights", "tf.keras.Model.get_weights", "keras_layers.list_weights"),
            ("shards", "tf.data.Dataset.shard", "input_pipelines.read_shards"),
            (
                "repetition",
                "tf.data.Dataset.repeat",
                "input_pipelines.shuffle_and_repeat",
            ),
            ("a pad", "tf.pad", "tensors.pad_rows"),
            ("a cast", "tf.cast", "tensors.cast"),
            ("a draw", "tf.truncated_normal", "randomness.draws"),
            ("a flag", "tf.app.flags.DEFINE_integer", "files.read_flags"),
            ("queues", "tf.train.start_queue_runners", "queues.read_lines"),
            ("nests", "tf.contrib.framework.nest.flatten", "contrib_framework.fetch"),
            ("a scope of arguments", "tf.contrib.slim.arg_scope", "slim.make_network"),
            ("a hub module", "hub.Module", "saved_models.fine_tune"),
        ]
    )
    def test_it_leads_to_what_is_about_it(self, _, name, pair):
        self.assertEqual(entries.lookup(name).pair, pair)

    def test_names_of_one_object_lead_to_one_pair(self):
        for name in entries.symbols():
            pairs = {entries.lookup(n).pair for n in facts.aliases(name)}
            self.assertEqual(len(pairs), 1, f"{name}: {pairs}")

    def test_rows_lead_somewhere(self):
        known = topics.topics()
        for pattern, place in links.rows().items():
            topic, _, name = place.partition(".")
            self.assertIn(topic, known, pattern)
            self.assertIn(name or None, (None, *known[topic].pairs), pattern)

    def test_rows_are_of_names_and_not_of_modules(self):
        for name in links.rows():
            if not name.endswith(".*"):
                entry = entries.lookup(name)
                self.assertTrue(entry and entry.kind != "module", name)

    def test_no_row_says_what_is_known_without_it(self):
        rows = links.rows()
        for pattern, place in rows.items():
            others = {p: place for p, place in rows.items() if p != pattern}
            with mock.patch.object(links, "rows", return_value=others):
                led = links.pair(pattern.removesuffix(".*"))
            self.assertNotEqual(led, place, pattern)

    @parameterized.expand(
        [
            *("batch", "make_initializable_iterator", "make_one_shot_iterator", "map"),
            *("output_classes", "output_shapes", "output_types", "prefetch", "repeat"),
        ]
    )
    def test_a_dataset_does_not_lead_to_keras(self, member):
        for name in ("tf.data.Dataset", f"tf.data.Dataset.{member}"):
            self.assertRegex(links.pair(name), r"^(data|input_pipelines)\.")


class BranchTest(ScanCase):
    @parameterized.expand(
        [
            ("both from outside", "lambda: a, lambda: b", "branches_that_ran"),
            ("an attribute", "lambda: self.a, lambda: a + 1", "branches_that_ran"),
            ("both computed", "lambda: a + 1, lambda: f(b)", "add_or_multiply"),
            ("constants", "lambda: True, lambda: 3", "add_or_multiply"),
            (
                "on lines of their own",
                "\n  lambda: a,\n  lambda: b",
                "branches_that_ran",
            ),
            ("keywords", "true_fn=lambda: a, false_fn=f", "branches_that_ran"),
            ("a function that returns a name", "f, h", "branches_that_ran"),
            ("functions that compute", "f, g", "add_or_multiply"),
            ("an argument", "lambda a: a, f", "add_or_multiply"),
        ]
    )
    def test_a_cond_leads_by_its_branches(self, _, branches, pair):
        self.write(
            a=f"{TF}tf.Session()\n"
            "def f(): return a + 1\n"
            "def g():\n  b = 2 * a\n  return b\n"
            "def h():\n  return self.a\n"
            f"tf.cond(p, {branches})"
        )
        _, finding = findings.scan(["a.py"]).findings
        self.assertEqual(finding.entry.pair, f"control_flow.{pair}")


class ShareTest(unittest.TestCase):
    def test_what_is_called_or_probed_counts_by_its_uses(self):
        usage = {
            "tf.placeholder": 5,
            "tf.io.FixedLenFeature": 90,  # still there
            "tf.GraphKeys.TRAINABLE_VARIABLES": 3,
            "tf.contrib.tpu.outfeed_dequeue_tuple": 2,
            "tf.nowhere": 90,
        }
        rest = [(2, "tf.contrib.tpu.outfeed_dequeue_tuple")]
        self.assertEqual(share.share(usage), (10, 8, rest))

    def test_most_of_what_legacy_code_uses_is_proven(self):
        total, proven, _ = share.share(coverage.used())
        self.assertGreater(proven / total, 0.92)


if __name__ == "__main__":
    unittest.main()
