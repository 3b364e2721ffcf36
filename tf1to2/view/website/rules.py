"""Converts regular expressions of Python to JavaScript."""

import re


def for_javascript(pattern):
    """Converts the source of a Python regular expression to JavaScript.

    `(?P<name>…)` becomes `(?<name>…)`, and `(?i:a)`, which older browsers do not
    support, becomes `[aA]`. `\\w` and `\\b` know the letters of ASCII alone there.

    Args:
        pattern: a string or a compiled expression.
    """
    text = getattr(pattern, "pattern", pattern).replace("(?P<", "(?<")
    return re.sub(r"\(\?i:(\w+)\)", _in_any_case, text)


def _in_any_case(match):
    return "".join(f"[{a.lower()}{a.upper()}]" for a in match[1])
