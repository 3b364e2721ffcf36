"""What maintainers run: makes recordings, tables and pictures. Not in the wheel."""
