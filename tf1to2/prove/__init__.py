"""`tf1to2 verify`, `prove`, `record` and `mutate`: the commands that run proofs."""
