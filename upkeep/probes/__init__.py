"""Runs the old calls of probes on 1.15.5, and the new ones on today's TensorFlow."""
