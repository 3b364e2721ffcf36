"""Helpers of all packages: output, errors, processes, tables, words."""
