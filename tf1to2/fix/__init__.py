"""What is certain, written: the changes of `tf1to2 fix`.

documents.py   files and notebooks as they lie there, edited and kept otherwise
edits.py       byte ranges of a source, replaced
sites.py       the node of the tree that a finding stands on
arguments.py   the arguments of a call, under other names and in other places
renames.py     new names, keywords and places, by names.tsv
templates.py   calls that become another call
absl.py        flags, logging and app.run
flags.py       which files may take their flags from absl
objects.py     .value of a dimension, tf.assign, name scopes
imports.py     the imports that changes need
unsafe.py      with --unsafe: calls whose surroundings a person ports
statements.py  with --unsafe: initializers and iterators, with the lines that use them
marks.py       the TODO at the end of such a line
planning.py    all changes of a file, checked
command.py     the command

Nothing here starts TensorFlow. What a change writes is proven by test_fix_proofs.py: it
fixes the old call of every probe, runs it, and compares with what 1.15.5 answered; of
--unsafe by test_fix_unsafe.py.
"""
