"""`tf1to2 convert-checkpoint`: renames tensors and accounts for every one of them."""

from tf1to2.checkpoint.places import names

__all__ = ["names"]
