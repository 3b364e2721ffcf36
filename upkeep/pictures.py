"""Draws the pictures of README and the guide.

Each function computes its data with the pages, and returns a figure. The files are
guide/pictures/NAME.svg, where NAME is the name of the function, and NAME-dark.svg for
dark pages. README's picture is a pair of the pages, in four files: for light and dark,
wide and narrow browser windows.
"""

import argparse
import json
import pathlib
import re

import matplotlib
import numpy as np

import parity_tests  # noqa: F401  TensorFlow starts in the settings of the proofs

# isort: split
import tensorflow as tf
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from tf1to2.pages import topics
from upkeep import svg, whole_programs
from v2_eager import averages, images, learning_rates, regularization

FOLDER = pathlib.Path(__file__).parents[1] / "guide" / "pictures"
OLD, NEW, GREY = "#b4540a", "#1f6fb2", "#767676"  # easy to distinguish
GROUND, INK = (svg.GROUNDS[True][name] for name in ("ground", "text"))
DARK = {  # {colour: the colour on dark pages}
    "#ffffff": GROUND, "#000000": INK, OLD: "#f0a35e", NEW: "#6fb7f2", GREY: "#a0a4a8",
    "#5b2a86": "#c9a6ee", "#1f77b4": "#6fb7f2", "#2ca02c": "#6fd66f",
    "#d62728": "#ff8a80", "#9467bd": "#c9a6ee",
}  # fmt: skip
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "tf1to2",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def half_pixel_centres():
    """Draws how four pixels are enlarged to eight, then and now."""
    ramp = np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1)
    old = np.ravel(images.resize(ramp, [1, 8]))
    new = np.ravel(tf.image.resize(ramp, [1, 8]))
    figure, axes = _figure(5.4, 2.6)
    places = np.arange(8)
    axes.plot(places, old, "o-", color=OLD, label="TensorFlow 1: at the corners")
    axes.plot(places, new, "s--", color=NEW, label="tf.image.resize: at the centres")
    axes.set(xlabel="pixel of the enlarged row", ylabel="value", xticks=places)
    axes.legend()
    return figure


def schedules():
    """Draws five schedules of learning rates over 100 steps."""
    steps = np.arange(101)
    curves = {
        "exponential_decay": lambda s: learning_rates.exponential_decay(
            1.0, s, 25, 0.5
        ),
        "… with staircase": lambda s: learning_rates.exponential_decay(
            1.0, s, 25, 0.5, staircase=True
        ),
        "polynomial_decay": lambda s: learning_rates.polynomial_decay(1.0, s, 100, 0.0),
        "cosine_decay": lambda s: learning_rates.cosine_decay(1.0, s, 100),
        "piecewise_constant": lambda s: learning_rates.piecewise_constant(
            s, [40, 80], [1.0, 0.5, 0.25]
        ),
    }
    figure, axes = _figure(5.4, 3.0)
    for (name, rate), line in zip(
        curves.items(), ["-", "--", "-.", ":", (0, (5, 1, 1, 1))]
    ):
        values = [float(rate(tf.constant(step))) for step in steps]
        axes.plot(steps, values, linestyle=line, label=name)
    axes.set(xlabel="global step", ylabel="rate, from 1")
    axes.legend()
    return figure


def moving_averages():
    """Draws a variable that jumps to 8, and its moving averages."""
    values = np.full([30], 8, np.float32)
    start, counts = np.float32(0), np.arange(30)
    figure, axes = _figure(5.4, 2.8)
    kinds = {
        "decay 0.9": averages.follow(start, values, 0.9),
        "decay 0.9, with num_updates": averages.follow(start, values, 0.9, counts),
        "of a tensor, zero_debias": averages.smooth(values, 0.9, zero_debias=True)[0],
    }
    axes.axhline(8, color=GREY, linewidth=0.8, label="the variable, from 0 to 8")
    for (name, history), line in zip(kinds.items(), ["-", "--", ":"]):
        rows = np.array([np.ravel(row)[-1] for row in history])
        axes.plot(np.arange(len(rows)), rows, linestyle=line, label=name)
    axes.set(xlabel="update", ylabel="average")
    axes.legend(loc="center right")
    return figure


def decision_boundary(steps=40_000):
    """Draws the boundary of a network that is trained without and with penalties."""
    points, labels = regularization.points_on_a_disc(150, seed=0)
    points, labels = points.astype(np.float32), labels.astype(np.float32)
    rng = np.random.default_rng(0)
    sizes = 2, 10, 5, 3, 1
    kernels = [
        rng.standard_normal(shape).astype(np.float32) for shape in zip(sizes, sizes[1:])
    ]
    biases = [np.full(size, 0.1, np.float32) for size in sizes[1:]]
    figure, both = _figure(6.4, 3.2, columns=2)
    for axes, penalized in zip(both, (False, True)):
        trained = regularization.train(
            points, labels, kernels, biases, steps, regularized=penalized
        )
        predictions, _ = regularization.decision_boundary(
            trained["kernels"], trained["biases"], 0.02
        )
        xx, yy = np.mgrid[-1.2:1.2:0.02, -0.2:2.2:0.02]
        axes.contour(xx, yy, predictions, levels=[0.5], colors="black")
        for value, colour, mark in ((0, NEW, "o"), (1, OLD, "^")):
            of = labels[:, 0] == value
            axes.scatter(*points[of].T, s=9, color=colour, marker=mark)
        axes.set(xlim=(-1.2, 1.2), ylim=(-0.2, 2.2), aspect="equal")
        axes.set_title("with penalties" if penalized else "without", fontsize=9)
    return figure


def race(runs=200):
    """Draws how often `a + 2` beside `tf.assign(a, 5)` has each result, in 200 runs."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        a = v1.Variable(1, use_resource=False)
        both = [a + 2, v1.assign(a, 5)]
        session = []
        for _ in range(runs):
            sess.run(a.initializer)
            session.append(int(sess.run(both)[0]))
    variable = tf.Variable(1)

    @tf.function
    def lines():
        total = variable + 2
        variable.assign(5)
        return total

    function = []
    for _ in range(runs):
        variable.assign(1)
        function.append(int(lines()))
    figure, axes = _figure(5.4, 2.4)
    places = np.arange(2)
    for offset, colour, name, answers in (
        (-0.2, OLD, "one sess.run", session),
        (0.2, NEW, "two lines of a tf.function", function),
    ):
        heights = [answers.count(value) for value in (3, 7)]
        bars = axes.bar(places + offset, heights, 0.38, color=colour, label=name)
        axes.bar_label(bars)
    axes.set(xticks=places, xticklabels=["3", "7"], xlabel="answer", ylabel="runs")
    axes.legend()
    return figure


def broadcasting():
    """Draws the intended sum, and the matrix that broadcasting makes."""
    figure, both = _figure(6.0, 2.4, columns=2)
    column = np.array([[1], [2]])
    shown = {
        "[[1], [2]] + [[1], [2]]: sum 6": column + column,
        "[[1], [2]] + [1, 2]: sum 12": column + np.array([1, 2]),
    }
    for axes, (title, table) in zip(both, shown.items()):
        rows, columns = table.shape
        for i in range(rows):
            for j in range(columns):
                axes.add_patch(
                    matplotlib.patches.Rectangle(
                        (j, rows - 1 - i), 1, 1, fill=False, edgecolor=GREY
                    )
                )
                axes.text(j + 0.5, rows - 0.5 - i, str(table[i, j]), ha="center")
        axes.set(xlim=(-0.1, 2.1), ylim=(-0.1, 2.1), aspect="equal")
        axes.set_axis_off()
        axes.set_title(title, fontsize=9)
    return figure


def graph_and_trace():
    """Draws when Python runs: once per graph, or once per signature of a function."""
    figure, axes = _figure(6.4, 2.4)
    lanes = {
        1.3: ("TensorFlow 1", OLD, ["build the graph", "run", "run", "run"]),
        0.2: ("TensorFlow 2", NEW, ["call: trace, run", "run", "run", "run"]),
    }
    for y, (title, colour, boxes) in lanes.items():
        axes.text(-0.1, y + 0.3, title, ha="right", color=colour)
        x = 0.0
        for number, text in enumerate(boxes):
            width = 1.7 if number == 0 else 0.8
            axes.add_patch(
                matplotlib.patches.Rectangle(
                    (x, y), width, 0.6, fill=number == 0, color=colour, alpha=0.9
                )
                if number == 0
                else matplotlib.patches.Rectangle(
                    (x, y), width, 0.6, fill=False, edgecolor=colour
                )
            )
            axes.text(
                x + width / 2,
                y + 0.3,
                text,
                ha="center",
                va="center",
                color="white" if number == 0 else "black",
            )
            x += width + 0.25
    axes.text(0, 2.05, "filled: Python runs, too", fontsize=8, color=GREY)
    axes.set(xlim=(-1.3, 5.2), ylim=(0, 2.3))
    axes.set_axis_off()
    return figure


def benchmarks():
    """Draws the time of each form relative to 1.15.5, for batches of 64."""
    path = FOLDER.parents[1] / "benchmarks" / "work.json"
    rows = [
        row
        for row in json.loads(path.read_text("utf-8"))["work"]
        if row["batch"] == 64 and not row["grown"]
    ]
    panels = {
        "from NumPy to NumPy": (
            "tf.function, NumPy",
            "concrete, NumPy",
            "train_on_batch",
        ),
        "from what is at hand": ("tf.function", "dataset", "loop", "fit"),
    }
    figure, both = _figure(7.2, 3.6, columns=2)
    both[0].sharex(both[1])
    for axes, (title, forms) in zip(both, panels.items()):
        axes.axvline(1, color=GREY, linewidth=0.8)
        for number, form in enumerate(forms):
            far = [
                (i, row["ratios"].get(form, {}).get("1.15.5"))
                for i, row in enumerate(rows)
            ]
            far = [(i, ratio) for i, ratio in far if ratio]
            places = [i + 0.18 * (number - 1) for i, _ in far]
            middle = [ratio["ratio"] for _, ratio in far]
            bounds = [
                [ratio["ratio"] - ratio["low"] for _, ratio in far],
                [ratio["high"] - ratio["ratio"] for _, ratio in far],
            ]
            axes.errorbar(
                middle,
                places,
                xerr=bounds,
                fmt="osD^"[number],
                color=(OLD, NEW, GREY, "#5b2a86")[number],
                markersize=4,
                linewidth=1,
                label=form,
            )
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_title(title, fontsize=9, pad=16)
        above = {"transform": axes.get_xaxis_transform(), "fontsize": 8}
        axes.text(0.93, 1.01, "← faster", ha="right", **above)
        axes.text(1.07, 1.01, "slower →", ha="left", **above)
        axes.set(
            yticks=range(len(rows)),
            yticklabels=[row["program"] for row in rows] if axes is both[0] else [],
            xlabel="time / time of 1.15.5's sess.run",
            ylim=(len(rows) - 0.4, -0.6),
        )
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    return figure


def models(names=()):
    """Draws the losses of whole programs in 100 steps: 1.15.5's, and the right page's.

    Args:
        names: topics; all whole programs if empty.
    """
    programs = whole_programs.programs()
    programs = [(n, topic) for n, topic in programs if not names or n in names]
    rows = -(-len(programs) // 4)
    figure = Figure((8.4, 1.5 * rows + 0.3), layout="constrained", facecolor="white")
    grid = figure.subplots(rows, 4, squeeze=False).ravel()
    for axes, (name, topic) in zip(grid, programs):
        left, right = whole_programs.losses(name)
        for path in left:
            axes.plot(left[path], color=OLD, linewidth=4, alpha=0.5)
            axes.plot(right[path], color=NEW, linewidth=1)
        axes.set_title(topic.title.partition(":")[0], fontsize=8)
        axes.tick_params(labelsize=7)
    for axes in grid[len(programs) :]:
        axes.axis("off")
    handles = (
        Line2D([], [], color=OLD, linewidth=4, alpha=0.5, label="TensorFlow 1.15.5"),
        Line2D([], [], color=NEW, linewidth=1, label="the right page"),
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def samples():
    """Draws samples of the generators: from the weights of 1.15.5, and from its own."""
    names = whole_programs.GENERATORS
    figure = Figure((6.4, 1.0 * 3 * len(names) * 0.75), layout="constrained")
    figure.set_facecolor("white")
    parts = figure.subfigures(len(names), 1)
    for part, name in zip(parts, names):
        rows = whole_programs.samples(name)
        part.suptitle(topics.topics()[name].title.partition(":")[0], fontsize=9)
        for axes, (title, drawn) in zip(part.subplots(len(rows), 1), rows.items()):
            gap = np.ones([len(drawn), drawn.shape[1], 1]) * np.nan
            row = np.concatenate([drawn, gap], axis=2)
            axes.imshow(np.concatenate(list(row), axis=1), cmap="Greys_r")
            axes.set(xticks=[], yticks=[])
            axes.set_ylabel(title, rotation=0, ha="right", va="center", fontsize=8)
            axes.spines[:].set_visible(False)
    return figure


PICTURES = {
    drawn.__name__: drawn
    for drawn in (
        half_pixel_centres,
        schedules,
        moving_averages,
        decision_boundary,
        race,
        broadcasting,
        graph_and_trace,
        benchmarks,
        models,
        samples,
    )
}


# {picture: its pair}, and {suffix of a file's name: arguments of svg.pair}.
PAIRS = {"pair": "basics.train_classifier"}
FORMS = {
    "": {},
    "-dark": {"dark": True},
    "-narrow": {"narrow": True},
    "-narrow-dark": {"narrow": True, "dark": True},
}


def forms(name):
    """Draws a picture in PAIRS in all its forms: {file: SVG text}."""
    return {
        f"{name}{end}.svg": svg.pair(PAIRS[name], **form) for end, form in FORMS.items()
    }


def dark(text):
    """Changes the colours of a picture's SVG text for dark pages."""
    text = re.sub("#[0-9a-f]{6}", lambda match: DARK.get(match[0], match[0]), text)
    return text.replace("*{stroke-linejoin", f"text{{fill: {INK}}}*{{stroke-linejoin")


def _figure(width, height, columns=1):
    """Makes a white figure and its axes."""
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    return figure, figure.subplots(1, columns)


def main(arguments=None):
    """Draws the pictures with the given names, or all."""
    parser = argparse.ArgumentParser(
        prog="python -m upkeep.pictures", description="Draw the pictures of the guide."
    )
    known = [*PICTURES, *PAIRS]
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"all, or some of: {', '.join(known)}"
    )
    names = parser.parse_args(arguments).names
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no picture {unknown[0]}; choose from {', '.join(known)}")
    FOLDER.mkdir(exist_ok=True)
    for name in names or known:
        if name in PAIRS:
            for file, text in forms(name).items():
                (FOLDER / file).write_text(text, "utf-8")
                _told(FOLDER / file)
            continue
        path = FOLDER / f"{name}.svg"
        with matplotlib.rc_context(STYLE):
            PICTURES[name]().savefig(path, metadata={"Date": None, "Creator": None})
        (FOLDER / f"{name}-dark.svg").write_text(dark(path.read_text("utf-8")), "utf-8")
        _told(path)


def _told(path):
    print(f"wrote {path.name}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
