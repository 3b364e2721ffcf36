"""Finds the code of a page that a function reaches: other code cannot affect it.

A function, a class or a value of any module of the page is reached if reached code
contains its name: as a name, an attribute or a string. So more code is reached than
runs, and never less, except for names that a program builds from strings.
"""

import ast
import hashlib

from tf1to2.pages.page import code_of, undocumented

DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def code(page, name):
    """Hashes the code that a function of a page reaches or that an import runs.

    Args:
        page: a `Page`.
        name: of a function, or of a class, at the top of its module.

    Returns:
        A hash like `Page.code`; exactly `Page.code` if the name is not found or a
        module cannot be read.
    """
    try:
        modules = {n: _Module(p.read_bytes()) for n, p in page.sources.items()}
    except SyntaxError:  # written for another Python
        return page.code
    if page.name not in modules or name not in modules[page.name].bound:
        return page.code
    seen, waiting = set(), {name}
    for module in modules.values():
        waiting |= names(module.run)
    while waiting:
        one = waiting.pop()
        seen.add(one)
        for module in modules.values():
            waiting |= names(module.bound.get(one, ())) - seen
    text = "".join(
        f"{n}\n{code_of(module.kept(seen))}\n" for n, module in modules.items()
    )
    return hashlib.sha256(text.encode()).hexdigest()


def names(statements):
    """The names, attributes and strings that the given statements contain."""
    found = set()
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.alias):  # x.f, imported as g
                found.add(node.name.rpartition(".")[2])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


class _Module:
    """The statements of a module, grouped by the names that they bind.

    Attributes:
        body: all of them, without docstrings.
        bound: {name: the statements that only bind it}.
        run: the other statements, which every import of the module executes.
    """

    def __init__(self, source):
        self.body, self.bound, self.run = undocumented(ast.parse(source)).body, {}, []
        for statement in self.body:
            bound = _bound(statement)
            for name in bound:
                self.bound.setdefault(name, []).append(statement)
            if not bound and not _is_main(statement):
                self.run.append(statement)

    def kept(self, seen):
        """Lists the statements that always run or that bind a name in `seen`."""
        return [
            one
            for one in self.body
            if not _is_main(one) and (not (b := _bound(one)) or not seen.isdisjoint(b))
        ]


def _bound(statement):
    """Lists the names that a statement binds, or () if it has other effects."""
    if isinstance(statement, DEFINED):
        return () if statement.decorator_list else (statement.name,)
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        names = [a.asname or a.name.partition(".")[0] for a in statement.names]
        return () if "*" in names else tuple(names)
    if isinstance(statement, ast.Assign):
        calls = any(isinstance(node, ast.Call) for node in ast.walk(statement.value))
        names = [target.id for target in statement.targets if hasattr(target, "id")]
        whole = len(names) == len(statement.targets) and not calls
        return tuple(names) if whole else ()
    return ()


def _is_main(statement):
    """Whether a statement is `if __name__ == "__main__":`, which no import runs."""
    test = statement.test if isinstance(statement, ast.If) else None
    return isinstance(test, ast.Compare) and getattr(test.left, "id", "") == "__name__"
