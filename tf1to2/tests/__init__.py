"""Tests of the tools, and of what all topics have in common."""
