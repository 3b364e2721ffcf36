"""Checkpoints under other names, every tensor accounted for: `convert-checkpoint`."""

from tf1to2.checkpoint.places import names

__all__ = ["names"]
