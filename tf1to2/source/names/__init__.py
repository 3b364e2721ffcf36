"""Finds the names of TensorFlow that a Python file uses, by imports and aliases.

records.py  the result for a file
reader.py   reads one file: `read`
hints.py    chooses the parts of a file to visit
walk.py     visits the tree: the names that every scope binds and mentions
scopes.py   from a mention to its import
methods.py  methods of objects, by the object's class or by the method's name
guards.py   code for both versions of TensorFlow
syntax.py   the tree, parsed by tree-sitter, also for Python 2 and broken files
"""
