"""Reads suppression comments: `# tf1to2: ignore`, `# tf1to2: ignore[rule, rule]`."""

import re

IGNORE = re.compile(
    r"#\s*tf1to2\s*:\s*ignore(?:\[\s*([\w.*-]+(?:[\s,]+[\w.*-]+)*)[\s,]*\])?(?=\s|#|$)"
)
MEANT = re.compile(r"#\s*tf1to2\b\s*:")
MALFORMED = "write # tf1to2: ignore or # tf1to2: ignore[rule, rule]"


def read(comments):
    """Finds the suppressed rules of each line, and malformed ignore comments.

    Args:
        comments: [(line, text)].

    Returns:
        ({line: set of rules, empty for all}, [line of a malformed comment]).
    """
    rules, malformed = {}, []
    for line, text in comments:
        found = IGNORE.search(text)
        if found:
            rules[line] = set(re.split(r"[\s,]+", found[1])) if found[1] else set()
        elif MEANT.search(text):
            malformed.append(line)
    return rules, malformed
