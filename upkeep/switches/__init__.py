"""Measures the effects of the switches between the behaviours of TensorFlow 1 and 2.

`program` runs on the genuine 1.15.5 after each `enable_…` function, and on today's
TensorFlow after each `disable_…` function, in separate processes. measured.json has its
answers; guide/switches.md shows the effects of each switch.
"""

import json
import pathlib

from upkeep import genuine

HERE = pathlib.Path(__file__).parent
MEASURED = HERE / "measured.json"
NEW = (
    "enable_v2_tensorshape",
    "enable_resource_variables",
    "enable_control_flow_v2",
    "enable_tensor_equality",
    "enable_eager_execution",
    "enable_v2_behavior",
)
"""The switches of 1.15.5, in the order in which a port uses them."""
OLD = tuple(name.replace("enable", "disable") for name in NEW)
"""The switches of today's TensorFlow."""
SIDES = {"1.15.5": NEW, "today": OLD}


def measure(python, switches):
    """Runs the program without a switch, and once with each switch.

    Args:
        python: path of the interpreter that has the TensorFlow.
        switches: names of switches.

    Returns:
        {switch, or "": {"version": …, "in a graph": {line: answer}, "outside": …}}.

    Raises:
        RuntimeError: the program failed.
    """
    found = {}
    for switch in ("", *switches):
        text = genuine.printed(python, HERE / "program.py", switch)
        found[switch] = json.loads(text)
    return found


def recorded():
    """Reads the recorded results of `measure`: {"1.15.5" or "today": result}."""
    return json.loads(MEASURED.read_text("utf-8"))


def changes(found):
    """Lists the lines whose answer each switch changes, from a result of `measure`."""
    plain = found[""]
    return {
        switch: [
            (where, line, plain[where][line], answer)
            for where in ("in a graph", "outside")
            for line, answer in answers[where].items()
            if answer != plain[where][line]
        ]
        for switch, answers in found.items()
        if switch
    }


def table(found):
    """The table of lines whose answers depend on switches, in Markdown."""
    rows = {}
    for switch, changed in changes(found).items():
        for change in changed:
            rows.setdefault(change, []).append(f"`{switch}`")
    lines = ["| line | without | with | switch |", "|---|---|---|---|"]
    for (where, line, before, after), by in rows.items():
        place = ", outside of a graph" if where == "outside" else ""
        cells = _cell(line) + place, _cell(before), _cell(after), ", ".join(by)
        lines.append("| {} | {} | {} | {} |".format(*cells))
    idle = [f"`{switch}`" for switch, changed in changes(found).items() if not changed]
    if idle:
        lines += ["", "Alone it changes nothing: " + ", ".join(idle) + "."]
    return "\n".join(lines)


def _cell(answer):
    return "`" + answer.replace("|", "\\|") + "`"
