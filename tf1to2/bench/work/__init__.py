"""The work that people have, as programs on the clock.

Each program stands once in every module that knows its way: `legacy` (a session, on the
genuine 1.15.5 and on today's `compat.v1`), `native` and `by_keras`. All begin with the
weights and see the batches of `inputs`, so that all compute the same losses, which is
tested. `serve` runs one program in a process of its own. `legacy`, `inputs` and `serve`
also run on Python 3.7.

A program is a function of `inputs.Inputs` that returns {form: function that makes it};
what is made is a function of a number of steps, which takes them and returns the last
loss, or the last output as NumPy has it.
"""
