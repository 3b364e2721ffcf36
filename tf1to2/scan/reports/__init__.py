"""The formats of a scan's report: each module has `render(report) -> str`."""

FORMATS = ("text", "json", "github", "sarif", "html")
