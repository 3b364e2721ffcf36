"""Reads a user's project: files, notebooks, comments, imports and names."""
