"""The right pages: the programs of `v1_graph`, written in native TensorFlow 2."""
