"""Maintainers' commands: make recordings, tables and pictures. Not in the wheel."""
