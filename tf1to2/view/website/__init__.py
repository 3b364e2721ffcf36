"""The site of `tf1to2 page`: Sphinx and MyST, and what shows a pair side by side."""
