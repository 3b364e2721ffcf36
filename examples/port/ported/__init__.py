"""Sentiment of reviews, learned from books, for films."""

from ported.net import Net, flip_gradient
from ported.train import train

__all__ = ["Net", "flip_gradient", "train"]
