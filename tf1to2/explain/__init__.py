"""`tf1to2 explain`: answers about a name, an error message or a question."""
