"""Regular expressions of Python, as JavaScript writes them."""

import re


def for_javascript(pattern):
    """The source of a regular expression of Python, as JavaScript writes it.

    `(?P<name>…)` becomes `(?<name>…)`, and `(?i:a)`, which older browsers do not
    support, becomes `[aA]`. `\\w` and `\\b` know the letters of ASCII alone there.

    Args:
        pattern: a string or a compiled expression.
    """
    text = getattr(pattern, "pattern", pattern).replace("(?P<", "(?<")
    return re.sub(r"\(\?i:(\w+)\)", _in_any_case, text)


def _in_any_case(match):
    return "".join(f"[{a.lower()}{a.upper()}]" for a in match[1])
