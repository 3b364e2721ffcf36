"""`tf1to2 scan`: finds and reports the uses of TensorFlow 1 in files."""
