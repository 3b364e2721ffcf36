"""Writes highlighted code in half of the bytes: no tags for most plain tokens."""

from pygments.formatters import HtmlFormatter
from pygments.token import Name, Operator, Punctuation, Text, Whitespace

# These very kinds: the first have the colour of all text, and operators nearly so.
PLAIN = Name, Punctuation, Operator, Whitespace


class Compact(HtmlFormatter):
    """Writes plain names, punctuation and operators without a `<span>`."""

    def format_unencoded(self, tokensource, outfile):
        merged = ((Text if kind in PLAIN else kind, x) for kind, x in tokensource)
        super().format_unencoded(merged, outfile)


def use(app):
    """Makes the builder of a Sphinx app highlight code with `Compact`."""
    app.builder.highlighter.formatter = Compact
