"""The Sphinx extension: a pair side by side, and the code that pairs need.

```{pair} layers.make_conv2d
:folded:
```

is a section with the anchor `layers.make_conv2d`: the pair aligned by name and step,
the exact form and Keras' as tabs, what is proven, and ways to the code that it needs.
```{needed} layers``` is that code, each part once.
"""

import html
import posixpath
import re

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from tf1to2 import __version__
from tf1to2.pages import library, proven, sides, topics
from tf1to2.pages.definitions import Definition
from tf1to2.view.website import alignment, highlighting
from tf1to2.view.website.columns import columns, single


class Pair(SphinxDirective):
    """The directive that shows one pair of a topic."""

    required_arguments = 1
    option_spec = {"folded": directives.flag}

    def run(self):
        anchor = self.arguments[0]
        stem, _, name = anchor.partition(".")
        pair = library.pairs()[anchor]
        section = _section(self, anchor, name)
        section += self.parse_text_to_nodes(pair[1].first_line)
        section += _folded(
            "pair",
            "Both sides, {} and {} lines".format(*(d.stop - d.start for d in pair)),
            [_raw(_forms(topics.topics()[stem], name, pair) + _ways(stem, pair))],
            "folded" not in self.options,
        )
        section += self._proof(proven.proofs().get(stem, {}).get(name))
        return [section]

    def _proof(self, proof):
        if not proof:
            return []
        verdict, ways = proven.verdict(proof), proven.ways(proof)
        line = f"<strong>{verdict}</strong> on 1.15.5, {ways}, {proven.cases(proof)}"
        if not (notes := proven.notes(proof)):
            return [_raw(f"<p class=proof>{line}</p>")]
        items = self.parse_text_to_nodes("\n".join(f"- {note}" for note in notes))
        return _folded("proof", line, items)


class Sides(SphinxDirective):
    """The directive that shows both sides of a pair, in a page about another topic."""

    required_arguments = 1

    def run(self):
        return [_raw(columns("", library.pairs()[self.arguments[0]]))]


class Needed(SphinxDirective):
    """The directive that shows the helpers which the pairs of a topic need."""

    required_arguments = 1

    def run(self):
        return [
            self._part(place, definitions)
            for place, definitions in library.helpers()[self.arguments[0]]
        ]

    def _part(self, place, definitions):
        section = _section(self, place, place.replace("/", ".").partition(".")[2])
        if len(definitions) == 2:
            section += _raw(columns(place, definitions))
        else:
            (alone,) = definitions
            section += _raw(single(library.side(alone), alone))
        section += _raw(_ways(place, definitions))
        return section


def _section(directive, anchor, title):
    section = nodes.section(ids=[anchor], names=[anchor])
    section += nodes.title(title, "", nodes.literal(title, title))
    directive.state.document.note_explicit_target(section)
    directive.set_source_info(section)
    return section


def _raw(text):
    return nodes.raw("", text, format="html")


def _folded(kind, summary, inner, is_open=False):
    """Wraps nodes in a `<details>` element, under a summary that unfolds them."""
    opened = " open" * is_open
    start = _raw(f"<details class={kind}{opened}><summary>{summary}</summary>")
    return [start, *inner, _raw("</details>")]


def _forms(topic, name, pair):
    """Renders a pair's exact form, and its Keras form if it has one, as HTML."""
    exact = columns(f"{topic.name}.{name}", pair)
    if name not in topic.distances:
        return exact
    told = html.escape(topics.distance_told(topic.distances[name]))
    keras = sides.of_topic(topic, keras=True).pair(name)
    by_keras = columns("", keras, ("TensorFlow 1", "Keras"))
    return (
        f"<div class=form data-form=exact><p>Exact</p>{exact}</div>"
        f"<div class=form data-form=keras><p>Keras, {told}</p>{by_keras}"
        f"{_ways(topic.name, keras)}</div>"
    )


def _ways(place, definitions):
    """Links from a place to the code that its definitions refer to."""
    own = {library.place(definition) for definition in definitions}
    places = dict.fromkeys(
        library.place(what)
        for definition in definitions
        for _, what in definition.references
        if isinstance(what, Definition)
    )
    links = [
        f'<a href="{_page(there, place)}#{there}">{there.rpartition("/")[2]}</a>'
        for there in places
        if there not in own
    ]
    return f"<p class=needs>Needs {', '.join(links)}</p>" if links else ""


def _page(there, here):
    """Returns the link from the page of `here` to the page of `there`, or ""."""
    there, here = map(page_of, (there, here))
    return "" if there == here else "../" * here.count("/") + f"{there}.html"


def page_of(place):
    """Returns a place's page: "numerics/rnn" for "numerics.rnn/Cell"."""
    module, code, _ = place.partition("/")
    stem, _, kind = module.partition(".")
    return f"{stem}/{kind.partition('.')[0]}" if kind and code else stem


def _told_to_myst(app, doctree):
    """Registers anchors that contain dots with MyST, so that it checks their links."""
    known = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title).astext()
        for anchor in {*section["ids"]} & {*section["names"]}:
            known[anchor] = (section.line or 0, anchor, title)


def _lessons_in_sidebar(app, page, template, context, doctree):
    """Adds the lesson of each topic to its link in the sidebar, as a tooltip."""
    known = topics.topics()

    def link(match):
        there = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[2]))
        if there not in known:
            return match[0]
        lesson = known[there].lesson.replace("`", "")
        return f'{match[1]} title="{html.escape(lesson)}">'

    tree = context.get("furo_navigation_tree", "")
    found = r'(<a class="reference internal" href="([\w./]+)\.html")>'
    context["furo_navigation_tree"] = re.sub(found, link, tree)


def setup(app):
    app.add_directive("pair", Pair)
    app.add_directive("needed", Needed)
    app.add_directive("sides", Sides)
    app.connect("doctree-read", _told_to_myst)
    app.connect("doctree-read", alignment.align)
    app.connect("builder-inited", highlighting.use)
    app.connect("html-page-context", _lessons_in_sidebar, 600)  # after Furo's own, 500
    return {"version": __version__, "parallel_read_safe": True}
