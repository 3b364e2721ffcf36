"""Kernels of 1.15.5 of which today's may have other float32 bits, each proven alone."""
