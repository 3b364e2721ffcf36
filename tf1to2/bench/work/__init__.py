"""Typical work as timed programs: training, prediction, beam search, input.

Each program is written once in each of these modules, if it applies: `legacy` (a
session, on the genuine 1.15.5 and on today's `compat.v1`), `native` and `by_keras`. All
start with the weights and use the batches of `inputs`, so that all compute the same
losses, which is tested. `serve` runs one program in a process of its own. `legacy`,
`inputs` and `serve` also run on Python 3.7.

A program is a function of `inputs.Inputs` that returns {form: function that makes it}.
That function returns a function of a number of steps, which runs them and returns the
last loss, or the last output as a NumPy array.
"""
