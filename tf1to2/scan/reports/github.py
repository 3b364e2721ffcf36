"""The report as annotations of GitHub Actions."""


def render(report):
    """Renders one workflow command per finding."""
    lines = [
        "::{} file={},line={},col={},endLine={},endColumn={},title={}::{}".format(
            "warning" if f.entry.verdict in ("renamed", "private") else "error",
            _property(f.path),
            f.line,
            f.column,
            f.end_line,
            f.end_column,
            _property(f"tf1to2 {f.entry.verdict}"),
            _text(f"cell {f.cell}: " * bool(f.cell) + _message(f.entry, report)),
        )
        for f in report.findings
    ]
    lines += [
        f"::error file={_property(path)},title=tf1to2 not fully read::{_text(reason)}"
        for path, reason in report.unread
    ]
    return "".join(line + "\n" for line in lines)


def _message(entry, report):
    link = report.link(entry)
    return f"{entry.message}\n{link}" if link else entry.message


def _text(value):
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value):
    return _text(value).replace(":", "%3A").replace(",", "%2C")
