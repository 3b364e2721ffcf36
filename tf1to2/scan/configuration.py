"""Reads the settings of the scanned project from pyproject.toml or setup.cfg."""

import configparser
import pathlib
import sys

from tf1to2.common.errors import CommandError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LISTS = ("select", "ignore", "exclude")
KNOWN = (*LISTS, "baseline", "page")


def find(start):
    """Returns the project settings from the nearest file at or above `start`.

    Returns:
        {"select", "ignore", "exclude": list of str, "baseline": path, "page": address},
        without the settings that the file does not have.

    Raises:
        CommandError: a file is malformed, or has an unknown setting.
    """
    folder = pathlib.Path(start).resolve()
    for parent in (folder, *folder.parents):
        for name, parse in (("pyproject.toml", _toml), ("setup.cfg", _cfg)):
            path = parent / name
            if path.is_file():
                found = parse(path)
                if found is not None:
                    return _checked(found, path)
        if (parent / ".git").exists():
            break
    return {}


def _toml(path):
    try:
        tool = tomllib.loads(_text(path)).get("tool", {})
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CommandError(f"{path}: {_line(error)}") from error
    return tool.get("tf1to2") if isinstance(tool, dict) else None


def _cfg(path):
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(_text(path))
    except configparser.Error as error:
        raise CommandError(f"{path}: {_line(error)}") from error
    if not parser.has_section("tf1to2"):
        return None
    return {
        key: value.replace(",", " ").split() if key in LISTS else value
        for key, value in parser.items("tf1to2")
    }


def _text(path):
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: {error}") from error


def _line(error):
    return " ".join(str(error).split())


def _checked(found, path):
    if not isinstance(found, dict):
        raise CommandError(f"{path}: tf1to2 must be a table: [tool.tf1to2]")
    for key, value in found.items():
        if key not in KNOWN:
            raise CommandError(
                f"{path}: unknown setting {key}; the settings are {', '.join(KNOWN)}"
            )
        items = value if key in LISTS else [value]
        if not isinstance(items, list) or not all(isinstance(i, str) for i in items):
            kind = "a list of strings" if key in LISTS else "a string"
            raise CommandError(f"{path}: {key} must be {kind}, not {value!r}")
    if found.get("baseline"):
        found = {**found, "baseline": str(path.parent / found["baseline"])}
    return found
