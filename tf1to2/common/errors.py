"""The exception of a command that cannot do its job, and its usual messages."""


class CommandError(Exception):
    """A command cannot do its job; the message says what to do. Exit status 2."""


def needs(command, error, extra="tensorflow"):
    """Makes a `CommandError` for a missing package, with the extra to install."""
    return CommandError(
        f"{command} needs {error.name or error}: install tf1to2 with its extra "
        f'"{extra}", for example: pip install "PATH_TO_TF1TO2[{extra}]"'
    )


def extra_of(package):
    """Returns the extra of tf1to2 that installs a package, or None without one."""
    import importlib.metadata
    import re

    for requirement in importlib.metadata.requires("tf1to2") or ():
        found = re.match(r"""([\w.-]+).*;.*extra == ["'](\w+)["']""", requirement)
        if found and found[1] == package:
            return found[2]
    return None
