"""Finds and loads proofs: of a package of topics, or of a user's `test_port.py`.

A provider has names, and loads the proof of a name. This module knows nothing else
about a repository. A module or a file is a provider if it has an attribute `PROVIDER`,
or proofs among its globals.
"""

import importlib
import os
import pathlib
import sys
from typing import Protocol

from tf1to2.common.errors import CommandError
from tf1to2.common.words import no_such
from tf1to2.parity.proof import Proof


class Provider(Protocol):
    """The interface by which verify, record and mutate find proofs."""

    def names(self):
        """Lists the names of the provider's proofs, in order, without loading any."""

    def load(self, name):
        """Loads the `Proof` that has the given name."""

    def module(self, name):
        """Returns the dotted name of the module that contains the proof."""


class Module:
    """A provider of the proofs among the global variables of a module."""

    def __init__(self, module, where):
        found = [value for value in vars(module).values() if isinstance(value, Proof)]
        self._proofs = {proof.name: proof for proof in found}
        self._name = module.__name__
        if len(self._proofs) < len({id(proof) for proof in found}):
            raise CommandError(f"{where}: two proofs have one name: add name= to one")
        paths = [proof.recording.path for proof in self._proofs.values()]
        if len(set(paths)) < len(paths):
            raise CommandError(
                f"{where}: two pairs use one file: add recording= to one"
            )
        if not found:
            raise CommandError(f"{where} has no proof: add one, pair = Pair(…)")

    def names(self):
        return list(self._proofs)

    def load(self, name):
        return self._proofs[name]

    def module(self, name):
        return self._name


def provider(where):
    """Returns the provider in `where`: a module's dotted name, or a file's path.

    Raises:
        CommandError: there is no such file or module, or it has no proof.
    """
    where = os.fspath(where)
    name = where
    if where.endswith(".py"):
        path = pathlib.Path(where).resolve()
        if not path.is_file():
            raise CommandError(f"{where}: no such file")
        where, name = str(path), path.stem
        if str(path.parent) not in sys.path:  # its pages are beside it
            sys.path.insert(0, str(path.parent))
    try:
        module = importlib.import_module(name)
    except Exception as error:  # any exception of a user's file becomes one line
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise CommandError(f"{where} cannot be imported: {text}") from error
    found = getattr(module, "PROVIDER", None)
    return found or Module(module, where)


def select(provider, wanted):
    """Resolves names of proofs and of pairs.

    Args:
        provider: a `Provider`.
        wanted: list of "name" or "name.pair"; empty for everything.

    Returns:
        [(Proof, pair or None)].

    Raises:
        CommandError: an unknown name, with the nearest known one.
    """
    known = provider.names()
    chosen = []
    for text in wanted or known:
        if len(known) == 1 and text in provider.load(*known).pairs:
            text = f"{known[0]}.{text}"
        # A proof's own name may have dots: take the longest that fits.
        fits = [n for n in known if text == n or text.startswith(n + ".")]
        if not fits:
            raise CommandError(no_such("proof", text.partition(".")[0], known))
        name = max(fits, key=len)
        chosen.append((name, text[len(name) + 1 :] or None))
    proofs = [(provider.load(name), pair) for name, pair in chosen]
    for proof, pair in proofs:
        if pair and pair not in proof.pairs:
            raise CommandError(no_such(f"pair in {proof.name}", pair, proof.pairs))
    return proofs
