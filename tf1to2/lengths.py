"""How long the two pages of a topic are, in lines of code.

python -m tf1to2.lengths     prints a line for each topic, the longest right page last
"""

import ast
import io
import statistics
import tokenize

from tf1to2 import topics

SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of_code(source):
    """How many lines of Python have code: no docstring, comment or empty line."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False):
            text = node.body[0]
            lines.difference_update(range(text.lineno, text.end_lineno + 1))
    return len(lines)


def lengths():
    """{topic: (lines of code left, right)}, of the topics whose pages are two files."""
    found = {}
    for name, topic in topics.topics().items():
        if len(topic.sources) == 1:  # a package has a library beside its page
            pages = topic.v1, topic.v2
            found[name] = tuple(lines_of_code(p.read_text("utf-8")) for p in pages)
    return found


def main():
    rows = [
        (right / left, left, right, name) for name, (left, right) in lengths().items()
    ]
    for row in sorted(rows):
        print("{:5.2f}  {:4} {:4}  {}".format(*row))
    print(f"{statistics.median(row[0] for row in rows):5.2f}  in the median")


if __name__ == "__main__":
    main()
