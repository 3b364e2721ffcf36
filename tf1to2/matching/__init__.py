"""Matches names of variables, old and new: for checkpoints and for proofs."""
