"""Diffs in the conversation: signs, colors and line numbers."""

from bridle.surfaces.diffs import DiffLine, FileDiff, LineKind, parse_diff
from bridle.surfaces.tui.conversation.text_wrap import WRAP_MARK, Flow, Pieces, sanitize_line

SIGNS: dict[LineKind, tuple[str, str]] = {
    "same": (" ", "text"),
    "added": ("+", "added"),
    "removed": ("-", "removed"),
    "gap": (" ", "name"),
    "note": (" ", "dim"),
}
"""The sign of each kind of line, and its ink."""


def diff_flows(text: str) -> list[Flow]:
    """Return a flow for each line of a diff; an empty list if the text is not a diff."""
    files = parse_diff(text)
    numbers = [number for file in files for line in file.lines for number in (line.old, line.new) if number]
    digits = len(str(max(numbers, default=1)))
    return [flow for file in files for flow in _file_flows(file, digits)]


def _file_flows(file: FileDiff, digits: int) -> list[Flow]:
    flows = [_line_flow(line, digits) for line in file.lines]
    if not file.path:
        return flows
    what = "created, " if file.created else "deleted, " if file.deleted else ""
    head = Flow(
        ((sanitize_line(file.path), "strong name"), (f" · {what}+{file.added} -{file.removed}", "dim"))
    )
    return [head, *flows]


def _line_flow(line: DiffLine, digits: int) -> Flow:
    sign, ink = SIGNS[line.kind]
    number = line.old if line.kind == "removed" else line.new
    lead: Pieces = ((f"{number or '':>{digits}} ", "dim"), (f"{sign} ", ink))
    hang: Pieces = ((" " * (digits + 1), "dim"), (f"{WRAP_MARK} ", "dim"))
    return Flow(((sanitize_line(line.text), ink),), lead, hang, "letters")
