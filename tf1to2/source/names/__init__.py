"""Which names of TensorFlow a Python file uses, and where: imports, aliases, scopes.

records.py  what is told of a file
reader.py   what one file says: `read`
hints.py    where it pays to look
walk.py     what every scope binds, and which names it mentions
scopes.py   from a mention to the import behind it
methods.py  methods of objects: by the class that made them, or unmistakable
guards.py   what is written for both versions
syntax.py   the tree, which tree-sitter parses: Python 2 and half-broken files too
"""
