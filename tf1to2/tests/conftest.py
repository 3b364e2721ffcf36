"""Fixtures of the tests of the tools."""

import pytest

from tf1to2.tests import commands


@pytest.fixture
def command():
    """`commands.command`, which runs `tf1to2` in this process."""
    return commands.command
