import ast
import inspect
import unittest

from tf1to2.parity import mutate

SOURCE = '''
"""Head."""


def page(x, axis=1):
    """Docstring."""
    y = -x - 2.0 * x
    with scope():
        y = tf.maximum(x, y)
    if x is None and axis > 0:
        y = swap(x, y, keep=True)
    return y
'''


class MutateTest(unittest.TestCase):
    def test_every_kind_of_change_is_made_once(self):
        found = [(line, what) for line, what, _ in mutate.mutants(SOURCE)]
        for change in [
            (5, "1 becomes 2"),
            (7, "2.0 becomes 3.0"),
            (7, "operator Sub"),
            (7, "operands swapped"),
            (7, "unary USub dropped"),
            (9, "maximum becomes minimum"),
            (5, "line 8 unwrapped"),
            (10, "comparison Is"),
            (10, "comparison Gt"),
            (11, "keyword keep dropped"),
            (11, "first arguments swapped"),
            (11, "True is negated"),
        ]:
            with self.subTest(change=change):
                self.assertEqual(found.count(change), 1)

    def test_every_mutant_is_another_program_that_compiles(self):
        original = ast.unparse(ast.parse(SOURCE))
        texts = [ast.unparse(tree) for *_, tree in mutate.mutants(SOURCE)]
        for text in texts:
            compile(text, "mutant", "exec")
        self.assertNotIn(original, texts)
        self.assertTrue(all('"""Docstring."""' in text for text in texts))

    def test_the_owner_of_a_line(self):
        self.assertEqual(mutate.owner(SOURCE, 8), "page")

    def test_a_broken_page_is_noticed_and_a_whole_one_is_not(self):
        from parity_tests import test_broadcasting as test

        source = inspect.getsource(test.v2)
        path = test.v2.__file__
        whole = compile(source, path, "exec")
        broken = compile(source.replace("total += ", "total -= "), path, "exec")
        self.assertTrue(mutate.noticed(test, broken, path, "make_merge"))
        self.assertFalse(mutate.noticed(test, whole, path))
