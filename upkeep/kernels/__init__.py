"""Proofs of single kernels, whose float32 bits may differ between 1.15.5 and today."""
