"""What is known of each name of 1.15.5: facts, verdicts, signatures, links."""
