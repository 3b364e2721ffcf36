"""Masks of weights: see the pair of the topic contrib_framework that proves them."""

DESCRIPTORS = {"Pruning": "contrib_framework.train_pruned"}
