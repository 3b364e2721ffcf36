"""Hazards: what a reader does with merged code that no comparison of numbers sees.

A class that a page defines is saved, loaded and trained on; built twice; given a
gradient that is None or sparse; used beside other callbacks; left by `break`; run on
two replicas. `found` lists the classes by their kind, read off the packages. Each
module `test_<kind>` has a table with a case for each class of that kind, and an
allow-list with a reason for each class that has none. `test_found` fails if a class
is in neither.
"""
