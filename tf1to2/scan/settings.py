"""What the scanned project has settled in its setup.cfg or pyproject.toml."""

import configparser
import pathlib

from tf1to2.errors import CommandError

LISTS = ("select", "ignore", "exclude")
KNOWN = (*LISTS, "baseline", "page")


def find(start):
    """The settings of the project that `start` lies in: the nearest file that has any.

    Returns:
        {"select", "ignore", "exclude": list of str, "baseline": path, "page": address};
        what is not settled is missing.

    Raises:
        CommandError: a file is malformed, or has a setting that there is not.
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
        import tomllib
    except ImportError:  # Python 3.10
        return (
            None if "[tool.tf1to2]" not in path.read_text("utf-8") else _no_toml(path)
        )
    try:
        return tomllib.loads(path.read_text("utf-8")).get("tool", {}).get("tf1to2")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {error}") from error


def _no_toml(path):
    raise CommandError(f"{path}: Python 3.10 reads no TOML: use [tf1to2] in setup.cfg")


def _cfg(path):
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        message = str(error).replace("\n", " ")
        raise CommandError(f"{path}: {message}") from error
    if not parser.has_section("tf1to2"):
        return None
    return {
        key: value.replace(",", " ").split() if key in LISTS else value
        for key, value in parser.items("tf1to2")
    }


def _checked(found, path):
    for key, value in found.items():
        if key not in KNOWN:
            raise CommandError(
                f"{path}: there is no setting {key}; there are {', '.join(KNOWN)}"
            )
        wanted = list if key in LISTS else str
        if not isinstance(value, wanted):
            raise CommandError(f"{path}: {key} must be a {wanted.__name__}")
    if "baseline" in found:
        found = {**found, "baseline": str(path.parent / found["baseline"])}
    return found
