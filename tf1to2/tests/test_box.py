"""The box of the site recognizes messages by the rules of `explain/messages.py`."""

import functools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import pytest
from parameterized import parameterized

from parity_tests import conftest
from tf1to2.explain import messages, questions
from tf1to2.tests.test_asked import MORE, QUESTIONS, SYMPTOMS
from tf1to2.tests.test_explain import ERRORS, TOLD
from tf1to2.tests.test_pasted import PROGRAMS, printed
from tf1to2.view.website import box, passages, rules

pytestmark = pytest.mark.filterwarnings(conftest.GAST)

SCRIPTS = pathlib.Path(box.__file__).with_name("static")
NODE = shutil.which("node")
OF_A_TYPE = "type object 'Dataset' has no attribute 'output_shapes'"
UNDEFINED = "name 'contrib_slim' is not defined"
# Answers the messages of the standard input.
MESSAGES = """
const lookup = tf1to2Lookup(window.tf1to2);
const { ofError } = tf1to2Messages(window.tf1to2, lookup);
const answer = texts.map(ofError)
  .map(({ names, errors }) => [names.slice(0, 1), errors.map((e) => e.message)]);
"""
# Answers the questions of the standard input.
QUESTIONS_ASKED = """
const answer = texts.map((text) => tf1to2Search.passages(text, window.tf1to2.guide));
"""
# Runs a program with what the scripts of the site know of the page.
RUN = """
globalThis.window = globalThis;
window.tf1to2 = {};
process.argv.slice(1).forEach((script) => require(script));
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
%s
console.log(JSON.stringify(answer));
"""


def by_node(program, scripts, data, texts):
    """The answer of a program of Node about texts.

    Args:
        program: JavaScript that makes `answer` of `texts`.
        scripts: files of the site that it needs: "search.js".
        data: modules whose `script()` it needs before, names.js first.
        texts: strings.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = [SCRIPTS / name for name in scripts]
        for module in reversed(data):
            path = pathlib.Path(folder) / f"{module.__name__}.js"
            path.write_text(module.script(), "utf-8")
            paths.insert(0, path)
        run = subprocess.run(
            [NODE, "-e", RUN % program, "--", *paths],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
        )
    if run.stderr:
        raise AssertionError(run.stderr)
    return json.loads(run.stdout)


def explained(text):
    """The answer of `explain` to a message.

    Returns:
        [[the first name that it is about], the messages that it knows]; where there is
        neither, the first name in it, without the guide's passages with its words.
    """
    symbols, known = messages.names(text), messages.advice(text)
    if entry := messages.of_keras(text):
        symbols = [entry.symbol]
    if not symbols:
        known = known or messages.likely(text)
    if not (symbols or known):
        symbols = messages.mentioned(text)
    symbols = [s for s in symbols if not s.startswith("tf.python.")]  # not in the box
    return [symbols[:1], [one.message for one in known]]


@functools.cache
def examples():
    """The messages of the tests of `explain`, as Python prints them."""
    ends = [printed(program)[1].strip() for program in PROGRAMS.values()]
    told = [message for _, message, _ in TOLD]
    return [*(message for message, _ in ERRORS), OF_A_TYPE, UNDEFINED, *told, *ends]


def for_python(pattern):
    """An expression of the box as Python writes it."""
    return re.sub(r"\(\?<(?![=!])", "(?P<", pattern)


class RulesTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("a named group", r"(?P<name>\w+) (?<!x)y", r"(?<name>\w+) (?<!x)y"),
            ("any case", re.compile(r"^(?i:tf)\b"), r"^[tT][fF]\b"),
        ]
    )
    def test_an_expression_is_written_for_javascript(self, _, pattern, written):
        self.assertEqual(rules.for_javascript(pattern), written)
        re.compile(for_python(written))

    def test_every_pattern_matches_as_in_explain(self):
        exported = [for_python(pattern) for pattern, _ in box.rules()["PATTERNS"]]
        for pattern, (known, _) in zip(exported, messages.PATTERNS, strict=True):
            found = [re.search(pattern, text) for text in examples()]
            wanted = [re.search(known, text) for text in examples()]
            self.assertTrue(any(wanted), f"no example of {known}")
            self.assertEqual(
                [match and (match.span(), match.groups()) for match in found],
                [match and (match.span(), match.groups()) for match in wanted],
            )

    @unittest.skipUnless(NODE, "test_browser_box.py asks the box in a browser")
    def test_the_box_answers_every_message_as_explain_does(self):
        wanted = {text: explained(text) for text in examples()}
        self.assertEqual(wanted[OF_A_TYPE][0], ["tf.data.Dataset.output_shapes"])
        scripts = "lookup.js", "messages.js"
        answers = by_node(MESSAGES, scripts, [box], list(wanted))
        for text, answer in zip(wanted, answers, strict=True):
            self.assertEqual(answer, wanted[text], text)

    @unittest.skipUnless(NODE, "it is JavaScript")
    def test_the_box_finds_the_passages_that_explain_finds(self):
        asked = [*QUESTIONS.values(), *MORE.values(), *SYMPTOMS]
        asked += ["why is it slow", "xyzzy plugh", "placeholder in TF 2.4"]
        found = by_node(QUESTIONS_ASKED, ["search.js"], [passages], asked)
        for text, answer in zip(asked, found, strict=True):
            wanted = [[*one[:4], list(one.lacks)] for one in questions.passages(text)]
            self.assertEqual(answer, wanted, text)


if __name__ == "__main__":
    unittest.main()
