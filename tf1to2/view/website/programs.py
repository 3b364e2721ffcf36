"""The pages of the site that show the programs in `examples/`: a page per folder."""

import difflib
import functools
import pathlib
import re

from tf1to2.pages import topics

FOLDER = "examples"
PARENTS = {  # of the others, port
    "examples/stages": "plan",
    "examples/legacy": "scan",
    "examples/ported": "scan",
}
LANGUAGES = {
    ".py": "python", ".json": "json", ".yml": "yaml", ".txt": "text", ".ipynb": "json",
}  # fmt: skip
SHOWN = (*LANGUAGES, ".md")
STAGE = re.compile(r"examples/stages/stage(\d+)")
NOT_OURS = "__pycache__", ".pytest", ".ipynb", ".venv"  # beginnings of names
LONG = 60  # lines of a difference that is folded on the page of its stage


@functools.cache
def files():
    """Returns {path of a text file in `examples/`: the page that shows it}."""
    top = topics.document(FOLDER)
    found = {}
    for path in sorted(top.rglob("*")):
        place = path.relative_to(top)
        ours = not any(part.startswith(NOT_OURS) for part in place.parts)
        if path.suffix in SHOWN and ours:
            page = f"{FOLDER}/{place.parts[0]}"
            if place.parts[1].startswith("stage"):  # a page of its own
                page += f"/{place.parts[1]}"
            found[f"{FOLDER}/{place.as_posix()}"] = page
    return found


def pages():
    """The pages, each with the path of its folder: "examples/stages/stage0"."""
    return list(dict.fromkeys(files().values()))


def children(page):
    """The pages of programs below a page of the guide, or below another program."""
    if page in pages():
        return [other for other in pages() if other.startswith(f"{page}/")]
    tops = [other for other in pages() if other.count("/") == 1]
    return [other for other in tops if PARENTS.get(other, "port") == page]


def target(path, anchor):
    """Returns the "page#anchor" that shows a program's file or folder, or None."""
    if path in pages():
        return path
    page = files().get(path)
    if page is None or path.endswith("/README.md"):
        return f"{page}#{anchor}" if page and anchor else page
    return f"{page}#{_anchor(_title(path, page))}"


def text(page):
    """The text of a page: what the folder's README says, then its files as code."""
    names = [path for path, of in files().items() if of == page]
    readme = f"{page}/README.md"
    stage = STAGE.fullmatch(page)
    parts = [f"# Stage {stage[1]}\n" if stage else f"# {page}\n"]
    if readme in names:
        parts = [topics.document(readme).read_text("utf-8")]
    if stage and (lines := changes(int(stage[1]))):
        parts.append(_shown(int(stage[1]), lines, len(lines) > LONG))
    for path in names:
        if path != readme:
            code = topics.document(path).read_text("utf-8").rstrip()
            language = LANGUAGES.get(pathlib.Path(path).suffix, "text")
            heading = f"## {_title(path, page)}"
            parts.append(f"{heading}\n\n````{language}\n{code}\n````\n")
    return "\n".join(parts)


def changes(number):
    """Returns the lines of a unified diff from the stage before, or [] for stage 0."""
    paths = [f"examples/stages/stage{n}/train.py" for n in (number - 1, number)]
    if number == 0 or not all(path in files() for path in paths):
        return []
    before, after = (
        topics.document(path).read_text("utf-8").splitlines() for path in paths
    )
    names = [path.removeprefix("examples/stages/") for path in paths]
    return list(difflib.unified_diff(before, after, *names, lineterm=""))


def with_changes(plan):
    """Adds the changes of the program to the end of each stage in the plan."""

    def section(match):
        number = int(match[2])
        lines = changes(number)
        return match[1] + (_shown(number, lines, True) + "\n") * bool(lines)

    return re.sub(r"(?ms)^(## (\d)\. .*?)(?=^## |\Z)", section, plan)


def _shown(number, lines, folded):
    """The difference between two stages as Markdown."""
    signs = [line[:1] for line in lines[2:]]
    counts = f"{signs.count('-')} lines removed, {signs.count('+')} added"
    said = f"From stage {number - 1} to stage {number}: {counts}"
    code = "\n".join(["````diff", *lines, "````"])
    if not folded:
        return f"{said}.\n\n{code}\n"
    summary = f'<details class="changes"><summary>{said}</summary>'
    return f"{summary}\n\n{code}\n\n</details>\n"


def _title(path, page):
    return path.removeprefix(f"{page}/")


def _anchor(title):
    """The anchor that MyST makes of a heading."""
    return re.sub(r"[^\w-]", "", title.lower())
