"""Short forms of the cases that most topics have: bad input, and false friends.

A topic with other defaults writes `refused = functools.partial(shorthand.refused,
skip=CONTRIB)`. A keyword of a call replaces such a default; it is not merged with it.
"""

from tf1to2.parity import FalseFriend, Raises


def refused(name, slug, args, match, error=ValueError, *, of="program", **others):
    """Makes a case of bad input that raises an error on all sides.

    Args:
        name: the public name of the pair.
        slug: the reason why the input is bad, in English.
        args: positional arguments.
        match: regular expression that each message must contain.
        error: exception type of all sides, except those in `others`.
        of: the kind of pair: "op", "layer" or "program".
        others: exception types of single sides, `graph`, `eager`, `function` and
            `genuine`; None if the input works there. Any other field of `Raises`.
    """
    return Raises.alike(name, slug, args, error, match, of=of, **others)


def friend(name, slug, args, naive, because, *, of="program", **others):
    """Makes a `FalseFriend`: the obvious replacement `naive` gives other numbers."""
    return FalseFriend(name, slug, args, of=of, naive=naive, because=because, **others)
