"""`tf1to2 explain`: what became of a name, and what a message is about."""
