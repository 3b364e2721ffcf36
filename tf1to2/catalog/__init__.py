"""The catalog of all names of 1.15.5: facts, verdicts, signatures, links to pairs."""
