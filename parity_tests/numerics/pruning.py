"""Masks of weights: proven by the pair that they are for."""

DESCRIPTORS = {"Pruning": "contrib_framework.train_pruned"}
