"""Matches the old and new names of variables, for checkpoints and for proofs."""
