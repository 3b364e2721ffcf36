"""Hazards: tests of uses of merged code that a comparison of numbers does not cover.

The tests save, load and continue to train a class of a page; build it twice; give it
gradients that are None or sparse; use it with other callbacks; leave its loop by
`break`; run it on two replicas. `found` lists the classes of the packages by kind. Each
module `test_<kind>` has a table with a case for each class of that kind, and an
allow-list with a reason for each class without a case. `test_found` fails if a class is
in neither.
"""
