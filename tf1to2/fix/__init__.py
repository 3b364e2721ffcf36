"""`tf1to2 fix`: rewrites the calls whose replacement is certain.

documents.py   files and notebooks: applies edits, and keeps the rest byte for byte
edits.py       replaces byte ranges of a source
sites.py       the node of the tree that belongs to a finding
arguments.py   renames and moves the arguments of a call
renames.py     new names, keywords and positions, by names.tsv
templates.py   calls that become another call
absl.py        flags, logging and app.run
flags.py       which files may use absl's flags
objects.py     .value of a dimension, tf.assign, name scopes
imports.py     adds the imports that changes need
unsafe.py      with --unsafe: calls that a person must review, with the code around
statements.py  with --unsafe: initializers and iterators, with the lines that use them
marks.py       the TODO at the end of such a line
planning.py    collects all changes of a file, and checks the result
command.py     the command

Nothing here imports TensorFlow. test_fix_proofs.py proves the new code: it fixes the
old call of every probe, runs it, and compares with the answer of 1.15.5.
test_fix_unsafe.py does the same for --unsafe.
"""
