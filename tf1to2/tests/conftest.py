"""What pytest does before a test of the tools, as before one of the proofs."""

from parity_tests.conftest import pytest_runtest_setup  # noqa: F401
