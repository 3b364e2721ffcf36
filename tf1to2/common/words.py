"""Phrases that messages have in common: "did you mean", numbers, unknown words."""

import difflib


def nearest(word, known, cutoff=0.5):
    """Suggests the known word nearest to a misspelled word: "did you mean port?".

    Args:
        word: what a person has typed.
        known: iterable of str, the words that there are.
        cutoff: how similar two words must be, from 0 to 1.

    Returns:
        The question, or "" if no known word is similar.
    """
    near = difflib.get_close_matches(word, known, 1, cutoff)
    return f"did you mean {near[0]}?" if near else ""


def counted(count, word):
    """Writes a number with its noun: "1 row", "2 rows"."""
    return f"{count} {word}" + "s" * (count != 1)


def no_such(what, word, known):
    """Writes the message for an unknown word, with the nearest word or all words.

    Args:
        what: what the word is to be: "topic".
        word: what a person has typed.
        known: iterable of str, the words that there are.
    """
    hint = nearest(word, known) or f"there are: {', '.join(known)}"
    return f"no {what} called {word!r}; {hint}"
