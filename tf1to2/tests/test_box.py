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
# What box.js needs of a page; it answers the messages of the standard input.
PAGE = """
const listeners = {}, [script, names] = process.argv.slice(1);
const elements = {
  "box": {
    dataset: {}, value: "",
    addEventListener: (kind, listener) => { listeners[kind] = listener; },
  },
  "box-answer": { replaceChildren() {} },
};
globalThis.window = globalThis;
globalThis.document = {
  documentElement: { dataset: {} },
  getElementById: (id) => elements[id],
  addEventListener() {},
  createElement: () => ({}),
  head: { append(element) { require(names); element.onload(); } },
};
require(script);
listeners.focus();
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answers = texts.map((text) => window.tf1to2.ofError(text));
console.log(JSON.stringify(
  answers.map(({ names, errors }) => [names.slice(0, 1), errors.map((e) => e.message)])
));
"""


# Answers the questions of the standard input.
SEARCH = """
const [script, guide] = process.argv.slice(1);
globalThis.window = globalThis;
window.tf1to2 = {};
require(guide);
require(script);
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const { passages } = window.tf1to2Search;
const found = texts.map((text) => passages(text, window.tf1to2.guide));
console.log(JSON.stringify(found));
"""


def explained(text):
    """What `explain` finds in a message.

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

    @unittest.skipUnless(NODE, "test_browser.py asks the box in a browser")
    def test_the_box_answers_every_message_as_explain_does(self):
        wanted = {text: explained(text) for text in examples()}
        self.assertEqual(wanted[OF_A_TYPE][0], ["tf.data.Dataset.output_shapes"])
        answers = self.asked(PAGE, "box.js", box.script(), list(wanted))
        for text, answer in zip(wanted, answers, strict=True):
            self.assertEqual(answer, wanted[text], text)

    @unittest.skipUnless(NODE, "it is JavaScript")
    def test_the_box_finds_the_passages_that_explain_finds(self):
        asked = [*QUESTIONS.values(), *MORE.values(), *SYMPTOMS]
        asked += ["why is it slow", "xyzzy plugh", "placeholder in TF 2.4"]
        found = self.asked(SEARCH, "search.js", passages.script(), asked)
        for text, answer in zip(asked, found, strict=True):
            wanted = [[*one[:4], list(one.lacks)] for one in questions.passages(text)]
            self.assertEqual(answer, wanted, text)

    def asked(self, page, script, data, texts):
        """What a program of Node answers, given a script of the site and its data."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "data.js"
            path.write_text(data, "utf-8")
            run = subprocess.run(
                [NODE, "-e", page, "--", SCRIPTS / script, path],
                input=json.dumps(texts),
                capture_output=True,
                text=True,
            )
        self.assertEqual(run.stderr, "", run.stderr)
        return json.loads(run.stdout)


if __name__ == "__main__":
    unittest.main()
