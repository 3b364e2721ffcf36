"""The proofs: one module per topic, a table of known differences, and recordings."""

import importlib
import pathlib

from tf1to2.parity import settings, stand_ins

settings.apply()  # before any test imports TensorFlow
stand_ins.install()  # the pages of the topic `horovod` import it

HERE = pathlib.Path(__file__).parent
PLAIN = "plain Python: no tf.function is called"
"""Why a program, or a run of one, is not proven in the way "function"."""


def proof(v1, v2, cases, naive=()):
    """Makes the `Proof` of a topic of this repository.

    Args:
        v1: the left page.
        v2: the right page.
        cases: list of `Case`.
        naive: list of `Naive` for the Keras page, which is found by the topic's name.
    """
    from parity_tests.exceptions import BOUNDS
    from tf1to2.parity.proof import Proof

    topic = v2.__name__.rpartition(".")[2]
    bounds = [bound for bound in BOUNDS if bound.pair.startswith(topic + ".")]
    golden = HERE / "golden" / (topic + ".npz")
    return Proof(
        v1,
        v2,
        cases,
        golden,
        bounds,
        settings.current() == "strict",
        float32=HERE / "float32.tsv",
        by_keras=topic.startswith("keras_"),
        keras=_keras(topic),
        naive=naive,
    )


def _keras(topic):
    from tf1to2.pages.page import Page

    try:
        return Page("v2_keras." + topic, HERE.parent)
    except FileNotFoundError:
        return None


class Topics:
    """The provider of this package's proofs: see `tf1to2.parity.providers`."""

    def names(self):
        pages = HERE.parent.joinpath("v1_graph").glob("[a-z]*.py")
        return sorted(path.stem for path in pages)

    def module(self, name):
        return "parity_tests.test_" + name

    def load(self, name):
        return importlib.import_module(self.module(name)).PROOF


PROVIDER = Topics()
