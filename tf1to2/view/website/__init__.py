"""The site of `tf1to2 page`: made by Sphinx and MyST; shows pairs side by side."""
