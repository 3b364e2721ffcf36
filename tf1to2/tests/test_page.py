"""The site holds together: pages, pairs, anchors, links, and nothing from outside."""

import functools
import html
import html.parser
import os
import re
import sys
import unittest
from unittest import mock
from urllib.parse import unquote

import pytest
from parameterized import parameterized

from tf1to2.pages import library, topics
from tf1to2.pages.definitions import needed
from tf1to2.tests.commands import Folder, command
from tf1to2.tests.site import built
from tf1to2.view import site
from tf1to2.view.website import extension, programs, texts

pytestmark = pytest.mark.slow  # Sphinx makes the site: 45 s

BOTH = re.compile('(?s)<span class="?b(?: d")?>(.*?)</span>')  # what both sides say
THERE = re.compile('<span class="?c(?: d")?></span>')  # its place on the right


class Reader(html.parser.HTMLParser):
    """Collects ids, links and the balance of tags."""

    VOID = {"meta", "link", "input", "br", "hr", "img", "use", "path", "line", "circle"}
    VOID |= {"wbr"}

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.open, self.loaded = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag in ("script", "link", "img") and attributes.get("rel") != "canonical":
            self.loaded += [attributes[n] for n in ("src", "href") if n in attributes]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag, tag


@functools.cache
def read():
    """{page: (text, Reader)} of all files of HTML."""
    return {
        path.relative_to(built()).as_posix(): (text, Reader(text))
        for path in sorted(built().rglob("*.html"))
        for text in [path.read_text("utf-8")]
    }


class SiteTest(unittest.TestCase):
    def test_every_document_is_a_page_and_every_tag_is_closed(self):
        for name in texts.texts():
            text, reader = read()[f"{name}.html"]
            self.assertEqual(reader.open, [], name)
            self.assertIn("<h1>", text)

    def test_every_pair_has_its_anchor_and_is_on_the_page_of_its_topic(self):
        for name, topic in topics.topics().items():
            ids = read()[f"{name}.html"][1].ids
            for pair in topic.pairs:
                self.assertIn(f"{name}.{pair}", ids)

    def test_pictures_of_the_guide_are_shown(self):
        for path in topics.document("guide").glob("*.md"):
            pictures = re.findall(r"\(pictures/(\w+\.svg)\)", path.read_text("utf-8"))
            for picture in pictures:
                loaded = read()[f"{path.stem}.html"][1].loaded
                self.assertIn(picture, [link.rpartition("/")[2] for link in loaded])

    def test_each_form_of_the_picture_of_readme_is_shown(self):
        text = topics.document("README.md").read_text("utf-8")
        forms = set(re.findall(r"pictures/([\w-]+\.svg)", text))
        loaded = {link.rpartition("/")[2] for link in read()["readme.html"][1].loaded}
        self.assertGreater(len(forms), 3)
        self.assertLessEqual(forms, loaded)

    def test_anchors_are_unique(self):
        for name, (_, reader) in read().items():
            twice = {i for i in reader.ids if reader.ids.count(i) > 1}
            self.assertEqual(twice, set(), name)

    def test_links_lead_somewhere(self):
        dead = []
        for name, (_, reader) in read().items():
            for link in {*reader.links, *reader.loaded}:
                if re.match(r"https?:|data:|mailto:", link):
                    continue
                file, _, anchor = link.partition("?")[0].partition("#")
                path = os.path.normpath(os.path.join(os.path.dirname(name), file))
                there = path.replace(os.sep, "/") if file else name
                if there in read():
                    known = {"", *read()[there][1].ids}
                    dead += [(name, link)] * (unquote(anchor) not in known)
                elif not (built() / there).is_file():
                    dead.append((name, link))
        self.assertEqual(dead, [])

    def test_nothing_is_loaded_from_elsewhere(self):
        for name, (_, reader) in read().items():
            for url in reader.loaded:
                self.assertNotRegex(url, r"^(https?:)?//", name)
        for path in built().rglob("*.css"):
            style = path.read_text("utf-8")
            self.assertNotRegex(style, r"@import|url\([\"']?(http|//)")

    def test_each_page_names_its_copy_and_each_copy_is_there(self):
        for name in texts.texts():
            copy = f"{name}.md"
            self.assertTrue((built() / copy).is_file(), copy)
            self.assertIn(copy.rpartition("/")[2], read()[f"{name}.html"][1].loaded)
        self.assertTrue((built() / "llms.txt").is_file())

    def test_pictures_of_copies_are_there(self):
        for path in built().rglob("*.md"):
            shown = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", path.read_text("utf-8"))
            for picture in shown:
                self.assertTrue((path.parent / picture).is_file(), (path, picture))

    def test_what_the_theme_misses_is_where_it_was(self):
        text = "".join(text for text, _ in read().values())
        for found, wanted in site.MISSED.items():
            self.assertIn(wanted, text)
            self.assertNotIn(found, text.replace(wanted, ""))

    def test_no_document_is_left_without_a_way_to_it(self):
        entry = read()["index.html"][1].links
        for name in texts.texts():
            if "/" not in name and name != "index":
                self.assertIn(f"{name}.html", entry)

    @parameterized.expand(["index", "numerics/losses"])
    def test_the_sidebar_says_what_a_topic_is(self, name):
        tree = read()[f"{name}.html"][0].partition('class="sidebar-tree"')[2]
        tree = tree.partition("</nav>")[0]
        lessons = [t.lesson.replace("`", "") for t in topics.topics().values()]
        titles = re.findall('title="(.*?)"', tree)
        self.assertCountEqual(map(html.unescape, titles), lessons)

    def code(self):
        """{place: [code of a column]} of the site."""
        found = {}
        for text, _ in read().values():
            for part in re.split('<section id="(?=[a-z_0-9]+[./])', text)[1:]:
                place, _, part = part.partition('"')
                part = part.partition("</section>")[0]
                code = re.findall("(?s)<pre class=alone>(.*?)</pre>", part)
                part = re.sub("<span class=u>.*?</span>", "", part)
                for sides in part.split("<div class=sides>")[1:]:
                    shared = BOTH.findall(sides)
                    columns = re.findall("(?s)<code class=[lr]>(.*?)</code>", sides)
                    for column in columns:
                        for mark in THERE.findall(column):
                            column = column.replace(mark, shared.pop(0), 1)
                        code.append(column)
                found[place] = [
                    html.unescape(re.sub("<.*?>", "", text)).rstrip() for text in code
                ]
        return found

    def test_all_code_that_pairs_need_is_shown(self):
        shown = self.code()
        left, right = zip(*library.pairs().values(), strict=True)
        library_ = library.numerics().values()
        keras = library.by_keras().values()
        for part in needed([*left, *right, *library_, *keras])[0]:
            with self.subTest(part=(part.module.name, part.name)):
                self.assertIn(part.text, shown[library.place(part)])

    def test_helpers_stand_once(self):
        places = [place for parts in library.helpers().values() for place, _ in parts]
        self.assertEqual(len(places), len(set(places)))
        every = [i for _, reader in read().values() for i in reader.ids]
        for place in places:
            self.assertEqual(every.count(place), 1, place)
            self.assertIn(place, read()[f"{extension.page_of(place)}.html"][1].ids)

    def test_every_file_of_a_program_is_shown(self):
        for path, of in programs.files().items():
            text = topics.document(path).read_text("utf-8")
            with self.subTest(path=path):
                self.assertIn(f"{of}.html", read())
                if path.endswith(".md"):
                    continue
                shown = [
                    html.unescape(re.sub("<.*?>", "", code))
                    for code in re.findall(
                        "(?s)<pre[^>]*>(.*?)</pre>", read()[f"{of}.html"][0]
                    )
                ]
                self.assertIn(text.strip(), [code.strip() for code in shown])

    @parameterized.expand([("plan", 9), ("port", 4), ("index", 1)])
    def test_links_to_programs_are_kept(self, name, count):
        path = {p: page for page, p in texts.pages().items()}[name]
        there = topics.document(path).read_text("utf-8")
        wanted = re.findall(r"\]\(((?:\.\./)?examples/[^)]*\.(?:py|yml|md))[#)]", there)
        links = [
            link for link in read()[f"{name}.html"][1].links if "examples/" in link
        ]
        for link in wanted:
            of = programs.files()[link.removeprefix("../")]
            self.assertTrue(any(x.startswith(f"{of}.html") for x in links), link)
        self.assertGreaterEqual(len(wanted), count)

    def test_both_forms_are_shown_where_keras_has_one(self):
        for place in library.by_keras():
            text = read()[f"{place.partition('.')[0]}.html"][0]
            section = text.partition(f'<section id="{place}"')[2]
            section = section.partition("</section>")[0]
            for form in ("exact", "keras"):
                self.assertEqual(section.count(f"<div class=form data-form={form}>"), 1)


class WriteTest(Folder):
    def setUp(self):
        super().setUp()
        self.built = mock.patch.object(site, "_built", self.one_page)
        self.built.start()
        self.addCleanup(self.built.stop)

    @staticmethod
    def one_page(folder):
        html = folder / "html"
        html.mkdir()
        for name in (site.ENTRY, site.OURS):
            (html / name).write_text("new")
        return html

    def left(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_it_makes_the_directory(self):
        path = site.write(self.folder / "a/b")
        self.assertEqual(path, str(self.folder / "a/b/index.html"))
        self.assertEqual(os.listdir(self.folder / "a"), ["b"])

    def test_a_site_takes_the_place_of_a_site(self):
        site.write(self.folder / "site")
        (self.folder / "site" / "old.html").touch()
        site.write(self.folder / "site")
        self.assertFalse((self.folder / "site" / "old.html").exists())
        self.assertEqual(self.left(), ["site"])

    def test_other_files_are_left_alone(self):
        (self.folder / "mine").touch()
        self.assertEqual(command("page", "-o", self.folder).status, 2)
        self.assertEqual(self.left(), ["mine"])

    def test_a_file_in_the_way(self):
        (self.folder / "mine").touch()
        self.assertEqual(command("page", "-o", self.folder / "mine").status, 2)
        self.assertEqual(self.left(), ["mine"])

    def test_what_sphinx_warns_of_is_an_error_and_leaves_nothing(self):
        self.built.stop()
        with mock.patch.object(texts, "texts", lambda: {"index": "# A\n\n[b](#none)"}):
            with self.assertRaisesRegex(site.CommandError, "index.md:3.*none"):
                site.write(self.folder / "site")
        self.built.start()
        self.assertEqual(self.left(), [])

    @parameterized.expand([(True, os.cpu_count()), (False, 1)])
    def test_sphinx_forks_where_it_may(self, may_fork, jobs):
        self.built.stop()
        with mock.patch.object(site, "may_fork", return_value=may_fork):
            with mock.patch("sphinx.application.Sphinx", side_effect=OSError) as sphinx:
                with self.assertRaises(site.CommandError):
                    site.write(self.folder / "site")
        self.built.start()
        self.assertEqual(sphinx.call_args.kwargs["parallel"], jobs)

    @parameterized.expand(["sphinx", "furo", "myst_parser", "sphinx_copybutton"])
    def test_without_the_extra_it_says_what_to_install(self, module):
        with mock.patch.dict(sys.modules, {module: None}):
            told = r'page needs .*"docs".*\[docs\]'
            with self.assertRaisesRegex(site.CommandError, told):
                site.write(self.folder / "site")
        self.assertEqual(self.left(), [])
