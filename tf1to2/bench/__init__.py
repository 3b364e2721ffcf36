"""`tf1to2 bench`: times both sides of a pair, interleaved, in one process."""
