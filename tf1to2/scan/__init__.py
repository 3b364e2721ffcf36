"""`tf1to2 scan`: finds what is TensorFlow 1 in a tree, and reports it."""
