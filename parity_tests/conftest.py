"""Sizes that hypothesis makes up are proven by `make test-slow`."""

import pytest


def pytest_collection_modifyitems(items):
    """Marks the generated proofs as slow."""
    for item in items:
        if item.name.endswith("_generated"):
            item.add_marker(pytest.mark.slow)
