"""Short forms of the cases that most topics have: bad input, and false friends.

A topic with other defaults says `refused = functools.partial(shorthand.refused,
skip=CONTRIB)`. A keyword of a call replaces such a default and is not merged with it.
"""

from tf1to2.parity import FalseFriend, Raises


def refused(name, slug, args, match, error=ValueError, *, of="program", **others):
    """A case of bad input that raises on all sides.

    Args:
        name: the public name of the pair.
        slug: what is bad about the input, in English.
        args: positional arguments.
        match: regular expression that is found in every message.
        error: exception type of all sides, but for those that `others` name.
        of: the kind of page: "op", "layer" or "program".
        others: exception types of single sides, `graph`, `eager`, `function` and
            `genuine`; None where the input works. Any other field of `Raises`.
    """
    return Raises.alike(name, slug, args, error, match, of=of, **others)


def friend(name, slug, args, naive, because, *, of="program", **others):
    """A case whose obvious replacement, `naive`, gives other numbers: `FalseFriend`."""
    return FalseFriend(name, slug, args, of=of, naive=naive, because=because, **others)
