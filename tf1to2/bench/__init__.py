"""`tf1to2 bench`: both sides of a pair on the clock, interleaved, in one process."""
