"""Writes constraints.txt: the versions that pip takes today, for each Python.

    .ci/constraints.py PYTHON...    interpreters, from the oldest to the newest

pip of each interpreter resolves the ranges of all extras in pyproject.toml, and of the
build, and installs nothing. A package of which the Pythons take different versions gets
a line for each version, with a marker. It runs on Python 3.11 and newer.
"""

import datetime
import itertools
import json
import pathlib
import re
import subprocess
import sys

import tomllib


def requirements():
    """The requirements of all extras in pyproject.toml, and those of the build.

    The project's own extras are left out. Builds in isolation need constraints, too.
    """
    settings = tomllib.loads(pathlib.Path("pyproject.toml").read_text("utf-8"))
    project = settings["project"]
    lists = [
        project["dependencies"],
        *project["optional-dependencies"].values(),
        settings["build-system"]["requires"],
    ]
    lines = {line for lines in lists for line in lines}
    return sorted(line for line in lines if not line.startswith("tf1to2["))


def resolved(python):
    """(version of the interpreter, {package: version that its pip takes})."""
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--dry-run", "--ignore-installed", "--report", "-", *requirements()]
    done = subprocess.run(pip, check=True, stdout=subprocess.PIPE, text=True)
    report = json.loads(done.stdout)
    found = [item["metadata"] for item in report["install"]]
    versions = {re.sub("[-_.]+", "-", m["name"]).lower(): m["version"] for m in found}
    return report["environment"]["python_version"], versions


def lines(found):
    """Yields the lines of constraints, from [(version of Python, packages)]."""
    for name in sorted({name for _, packages in found for name in packages}):
        takes = [(python, p[name]) for python, p in found if name in p]
        groups = [
            (version, [python for python, _ in group])
            for version, group in itertools.groupby(takes, key=lambda pair: pair[1])
        ]
        for place, (version, _) in enumerate(groups):
            marker = []
            if place > 0:
                marker.append(f'python_version >= "{groups[place][1][0]}"')
            if place < len(groups) - 1:
                marker.append(f'python_version < "{groups[place + 1][1][0]}"')
            tail = "; " + " and ".join(marker) if marker else ""
            yield f"{name}=={version}{tail}"


if __name__ == "__main__":
    found = [resolved(python) for python in sys.argv[1:]]
    pythons = ", ".join(python for python, _ in found)
    head = [
        f"# Made by `make constraints`, {datetime.date.today()}, for Python {pythons}.",
        "# make and CI install these; users have the ranges of pyproject.toml.",
    ]
    text = "".join(line + "\n" for line in [*head, *lines(found)])
    pathlib.Path("constraints.txt").write_text(text, "utf-8")
