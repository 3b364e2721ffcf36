"""What `tf1to2 fix` writes, executed: the old call of every probe is fixed and run.

1.15.5 has answered the old calls (recorded), so the fixed ones must answer the same.
"""

import dataclasses
import functools
import pathlib
import tempfile
import unittest

from parameterized import parameterized

from tf1to2.catalog import facts
from tf1to2.fix import planning, templates
from tf1to2.probes import probes
from upkeep.probes import proving

TF = "import tensorflow as tf\n"
END = "\n\ndef main(_):\n    pass\n\nif __name__ == '__main__':\n    tf.app.run(main)\n"


def fixed(calls, **options):
    """{call: (what fix writes, the entries it leaves)} of those that it changes."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, call in enumerate(calls):
            path = pathlib.Path(folder, f"call_{number}.py")
            path.write_text(TF + call + END, "utf-8")
        for one in planning.plan([folder], (), planning.Options(**options)):
            text = one.data.decode()
            text = text.replace("from absl import app\n", "").replace(TF, "")
            number = int(pathlib.Path(one.path).stem.split("_")[1])
            text = text.partition(END[:12])[0]
            if text != calls[number]:
                found[calls[number]] = text, [f.entry for f in one.left]
    return found


@functools.cache
def of_probes():
    return fixed(list(dict.fromkeys(row.old for row in probes())))


def rows():
    """Those probes whose old call becomes one that is whole, each old call once."""
    found = {}
    for row in probes():
        text, left = of_probes().get(row.old, ("", ()))
        if text and all(entry.verdict == "changed" for entry in left):
            known = found.get((row.old, row.inputs))
            if known is None or known.why:  # the way that keeps the numbers
                found[row.old, row.inputs] = dataclasses.replace(row, new=text)
    return list(found.values())


class ProofsTest(unittest.TestCase):
    def test_there_are_many(self):
        self.assertGreater(len(rows()), 300)

    @parameterized.expand([(f"{row.name}_{n}", row) for n, row in enumerate(rows())])
    def test_the_fixed_call_answers_what_1_15_5_answered(self, _, row):
        proving.prove(row)

    @parameterized.expand(sorted(templates.TEMPLATES))
    def test_every_template_is_proven(self, name):
        names = facts.aliases(name)
        known = [row for row in rows() if row.name in names]
        self.assertTrue(known, f"no probe of {name} is fixed")
