"""Asks 1.15.5 for the old calls of the probes, and today's for the new ones."""
