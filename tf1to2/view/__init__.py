"""Shows the two sides of a pair beside each other."""
