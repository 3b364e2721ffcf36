"""Implements `tf1to2 convert-checkpoint`: every tensor is accounted for."""

from tf1to2.checkpoint.places import names

__all__ = ["names"]
