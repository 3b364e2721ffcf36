"""`tf1to2 verify`, `prove`, `record` and `mutate`: the proofs as commands."""
