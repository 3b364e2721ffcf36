"""`tf1to2 page`: the guide and all pairs as a site that needs no server."""

import importlib
import io
import os
import pathlib
import re
import shutil
import tempfile
import warnings

from tf1to2 import __version__
from tf1to2.common.errors import CommandError, needs
from tf1to2.common.processes import may_fork
from tf1to2.pages import topics
from tf1to2.view.website import box, copies, passages, ranking, texts
from tf1to2.view.website.breaks import breakable

HERE = pathlib.Path(__file__).parent
ENTRY = "index.html"
OURS = "searchindex.js"  # a folder that has it is a site
LIGHT = {
    "rule": "#d0d7de", "proven": "#0a5c2e",
    "gone": "#fff1f0", "new": "#eafbee", "gone-word": "#ffd3cf", "new-word": "#bff0c9",
    "k": "#7b2fa8", "s": "#0a5c2e", "n": "#0b5394", "c": "#57606a", "f": "#6a2c00",
    "d": "#6b4e00",
}  # fmt: skip
DARK = {
    "rule": "#3d444d", "proven": "#8ddb9d",
    "gone": "#2d1618", "new": "#10261a", "gone-word": "#5f1f22", "new-word": "#17462a",
    "k": "#d9a6ff", "s": "#8ddb9d", "n": "#9ecbff", "c": "#a9b4c0", "f": "#ffcf9e",
    "d": "#f0d060",
}  # fmt: skip
MISSED = {  # by furo 2025.12
    'class="caption" role="heading"': 'class="caption" role="heading" aria-level="2"',
    '<aside class="sidebar-drawer"': '<aside class="sidebar-drawer" aria-label="Site"',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
    "<pre><span></span>": '<pre tabindex="0">',
    '<th class="head"><p></p></th>': "<td></td>",
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
}
SPARED = {  # an eighth of a page of short sections, which no style or script reads
    r'<span class="pre">(.*?)</span>': r"\1",  # within the next one: first
    r'<span class="std std-ref">(.*?)</span>': r"\1",
    'class="docutils literal notranslate"': 'class="literal notranslate"',
    ' title="Link to this heading"': "",
    # Furo's styles know these of its bars alone.
    "(?s)(?<=<article).*(?=</article>)": lambda article: article[0].replace(
        '<a class="reference internal" ', "<a "
    ),
}
MARKDOWN = '<link rel="alternate" type="text/markdown" href="{}.md"></head>'
SCRIPTS = "site tables search lookup messages answer box filter".split()
DATA = {"names": box, "passages": passages, "pages": ranking}  # loaded when needed
SETTINGS = {
    "project": "TensorFlow 1 → 2",
    "html_title": "TensorFlow 1 → 2, side by side",
    "version": __version__,
    "extensions": ["myst_parser", "sphinx_copybutton", "tf1to2.view.website.extension"],
    "html_theme": "furo",
    "html_theme_options": {"light_css_variables": LIGHT, "dark_css_variables": DARK},
    "templates_path": ["_templates"],
    "html_show_copyright": False,
    "html_static_path": ["_static"],
    "html_css_files": ["site.css"],
    "html_js_files": [(f"{name}.js", {"defer": ""}) for name in SCRIPTS],
    "html_use_index": False,
    "html_copy_source": False,
    "html_show_sphinx": False,
    "myst_enable_extensions": ["attrs_inline"],
    "myst_heading_anchors": 4,
}


def add_arguments(parser):
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default="site",
        help="folder to write (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(options):
    print(write(options.output))
    return 0


def write(directory):
    """Builds the site.

    Args:
        directory: where it goes: a folder that is not there, or is empty, or has a
            site.

    Returns:
        Path of its entry.

    Raises:
        CommandError: the extra "docs" is not installed; the folder has something else
            or cannot be written.
    """
    try:
        for module in ("sphinx", *SETTINGS["extensions"], SETTINGS["html_theme"]):
            importlib.import_module(module)
    except ImportError as error:
        raise needs("page", error, "docs") from error
    target = pathlib.Path(directory)
    try:
        if target.exists() and any(target.iterdir()) and not (target / OURS).exists():
            raise CommandError(f"{target} contains other files: give a new folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".site-") as folder:
            built = _built(pathlib.Path(folder))
            if target.exists():
                os.rename(target, os.path.join(folder, "old"))
            os.rename(built, target)
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}") from error
    return str(target / ENTRY)


def _built(folder):
    """Writes the texts to a folder, builds the site there, and returns its path."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    source, built = folder / "source", folder / "html"
    pages = texts.texts()
    for page, text in pages.items():
        path = source / f"{page}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for name in ("static", "templates"):
        shutil.copytree(HERE / "website" / name, source / f"_{name}")
    shutil.copytree(topics.document("guide") / "pictures", source / "pictures")
    for name, module in DATA.items():
        (source / "_static" / f"{name}.js").write_text(module.script(), "utf-8")
    jobs = os.cpu_count() or 1 if may_fork() else 1
    said = io.StringIO()
    with patch_docutils(), docutils_namespace(), warnings.catch_warnings():
        # Of what Sphinx and MyST have to settle between them.
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        app = Sphinx(
            *(source, None, built, folder / "doctrees", "html", SETTINGS),
            **{"status": None, "warning": said, "parallel": jobs},
        )
        app.build()
    if told := re.sub(r"\x1b\[[\d;]*m", "", said.getvalue()).strip():
        told = told.replace(f"{source}{os.sep}", "").split("\n")
        more = f" (and {len(told) - 1} lines more)" if told[1:] else ""
        raise CommandError(f"page: Sphinx warns: {told[0]}{more}")
    for file, text in copies.copies(pages).items():
        (built / file).write_text(text, "utf-8")
    shutil.copytree(source / "pictures", built / "pictures")  # which copies show
    for path in built.rglob("*.html"):
        text = _mended(path.read_text("utf-8"))
        if path.with_suffix(".md").exists():
            text = text.replace("</head>", MARKDOWN.format(path.stem), 1)
        path.write_text(text, "utf-8")
    return built


def _mended(text):
    """Adds attributes for screen readers to a page, and lets its long names wrap."""
    for found, wanted in MISSED.items():
        text = text.replace(found, wanted)
    for found, wanted in SPARED.items():
        text = re.sub(found, wanted, text)
    return breakable(text)
