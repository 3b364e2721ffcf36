"""passages.js: the passages of the guide, for questions in the site's search box.

search.js ranks the passages as `explain/questions.py` does: the words, the thresholds
and the numbers that it needs are written here, so that they are in one place.
"""

import json

from tf1to2.explain import questions, render
from tf1to2.view.website.rules import for_javascript

CONSTANTS = """
    SATURATION LENGTH ENOUGH UNKNOWN ALL_BUT MOST ELSE TOGETHER ALONE RARE RELEASE
    ALSO CAUSES
""".split()


def script():
    """The text of passages.js, which the box loads at the first question."""
    known, index, of_pairs = questions._index()
    pairs = sorted(of_pairs.lengths)
    data = {
        "passages": [list(passage[:4]) for passage in known],
        "index": flat(index, {row: row for row in index.lengths}),
        "ofPairs": flat(of_pairs, {pair: i for i, pair in enumerate(pairs)}),
        "pairs": pairs,
        "subjects": questions.subjects(),
        "symptoms": questions.symptoms(),
        "causes": {
            row: questions.in_short(known[row].text)
            for _, rows in questions.symptoms()
            for row in rows
        },
        "words": {
            "common": sorted(questions.COMMON),
            "endings": for_javascript(questions.ENDINGS),
            "names": for_javascript(questions.NAMES),
            "parts": questions.PARTS.pattern,
            "word": questions.WORD.pattern,
        },
        **{name: getattr(questions, name) for name in CONSTANTS},
        "LACKS": render.LACKS,
        "FEW": render.FEW,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"window.tf1to2.guide = {text};\n"


def flat(index, numbers):
    """Converts an `Index` to numbers: {stem: [document, times, document, …]}."""
    return {
        "having": {
            stem: [n for d, times in rows.items() for n in (numbers[d], times)]
            for stem, rows in index.having.items()
        },
        "lengths": [index.lengths[d] for d in numbers],
    }
