"""What all packages share: output, errors, processes, tables, words."""
