"""Tool calls as cards: a head line with the state, and below it the code, diff, output and answer."""

from collections.abc import Sequence

from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.text_format import format_count, format_elapsed, short_id
from bridle.surfaces.shared.view_model.view_types import Attached, Call, CallState
from bridle.surfaces.tui.conversation.code import find_lexer, highlight
from bridle.surfaces.tui.conversation.text_wrap import WRAP_MARK, Flow, Piece, Pieces, sanitize, sanitize_line
from bridle.surfaces.tui.diffs import DIFFING_TOOLS, DiffLine, FileDiff, LineKind, parse_diff

# ---------------------------------------------------------------------------- diffs
# Diffs in the conversation: signs, colors and line numbers.


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


# ---------------------------------------------------------------------------- cards


MARKS: dict[CallState, tuple[str, str]] = {
    "writing": ("…", "dim"),
    "waiting": ("?", "warning"),
    "running": ("…", "warning"),
    "done": ("✓", "done"),
    "failed": ("✗", "failed"),
    "denied": ("✗", "failed"),
    "lost": ("!", "warning"),
}
"""The mark of each call state, and its ink."""

LIVE_LINES = 10
CLOSED_LINES: dict[str, int] = {"code": 8, "diff": 12, "output": 4, "preview": 12, "answer": 12}
"""How many lines of each part a closed card shows."""
OPEN_LINES = 1_000  # lines of each part of an open card
TAIL_CHARS = 8_000  # characters of a running call's output
OPEN_TAIL_CHARS = 100_000
MAX_CHARS = 400_000  # characters of one part
MAX_DEPTH = 6
MAX_BRIEF_CHARS = 500

_WORDS: dict[CallState, str] = {
    "writing": "is being written",
    "waiting": "waits for you",
    "denied": "denied",
    "lost": "did not finish",
}
_ESCAPES = (("\\n", "\n"), ("\\t", "\t"), ('\\"', '"'))


def card_flows(call: Call, *, is_open: bool, depth: int, now_ms: int) -> list[Flow]:
    """Return the flows of a call; for a running call, only the end of its output is read."""
    indent: Pieces = (("  " * min(depth, MAX_DEPTH), "text"),) if depth else ()
    flows = [_head(call, indent, now_ms)]
    if (
        call.why
        and call.why not in call.output
        and (call.state == "denied" or (is_open and call.state == "waiting"))
    ):
        flows.append(Flow(((sanitize_line(call.why), MARKS[call.state][1]),), _bar(indent), _bar(indent)))
    parts = _parts(call, is_open=is_open)
    for number, (name, part) in enumerate(parts):
        if number:
            flows.append(Flow(((f"├ {name}", "dim"),), (*indent, ("  ", "text")), mode="cut"))
        flows += _shown(name, part, call, indent, is_open=is_open)
    if call.changed and not call.diff:
        flows.append(Flow(((sanitize_line(call.changed), "dim"),), _bar(indent), _bar(indent)))
    if call.attached:
        flows.append(Flow(chips(call.attached), _bar(indent), _bar(indent)))
    return flows


def is_foldable(call: Call) -> bool:
    """Return True if the card has parts below its head."""
    return any((call.code, call.diff, call.output, call.preview, call.answer, call.written))


def chips(attached: Sequence[Attached]) -> Pieces:
    """Return labels for attached pictures and files on one line."""
    pieces: list[Piece] = []
    for one in attached:
        name = one_line(one.name)[:MAX_BRIEF_CHARS]
        words = f"{name} · {one_line(one.mime)}" if name else one_line(one.mime)
        pieces += [(f"[{words}]", "name"), (" ", "text")]
    return tuple(pieces[:-1])


def _head(call: Call, indent: Pieces, now_ms: int) -> Flow:
    mark, ink = MARKS[call.state]
    brief = one_line(call.brief[: 4 * MAX_BRIEF_CHARS])[:MAX_BRIEF_CHARS]
    pieces: list[Piece] = [(sanitize_line(call.tool), "strong")]
    if brief:
        pieces += [(" ", "text"), (brief, "name")]
    details = [_WORDS.get(call.state, ""), _duration(call, now_ms)]
    if call.child is not None:
        details.append(f"sub-agent {short_id(call.child)}")
    if note := " · ".join(filter(None, details)):
        pieces.append((f" · {note}", ink if call.state in _WORDS else "dim"))
    lead = (*indent, (f"{mark} ", ink))
    return Flow(tuple(pieces), lead, (*indent, ("  ", "text")), folds=is_foldable(call))


def _duration(call: Call, now_ms: int) -> str:
    if call.duration_ms:
        return format_elapsed(call.duration_ms)
    if call.state != "running":
        return ""
    if not call.started_at:
        return "waits for its turn"
    seconds = (now_ms - call.started_at) // 1000
    return f"{seconds} s" if seconds > 0 else ""


def _parts(call: Call, *, is_open: bool) -> list[tuple[str, list[Flow]]]:
    """Return the parts below the head, each with its name."""
    parts: list[tuple[str, list[Flow]]] = []
    ink = "failed" if call.state == "failed" else "text"
    if call.state == "writing":
        text = call.written[-TAIL_CHARS:]
        for written, meant in _ESCAPES:
            text = text.replace(written, meant)
        return [("written", _text(text))] if text else []
    if call.code and (is_open or call.state != "waiting"):
        parts.append(("code", [Flow(line) for line in highlight(call.code, find_lexer("python"))]))
    if call.preview and call.state == "waiting" and is_open and not call.code:  # else the approval shows it
        flows = diff_flows(call.preview) if call.tool in DIFFING_TOOLS else []
        parts.append(("preview", flows or _text(call.preview)))
    if call.diff:
        parts.append(("diff", diff_flows(call.diff) or _text(call.diff)))
    if call.output and (is_open or not call.diff or call.state == "failed"):
        parts.append(("output", _text(_output(call, is_open=is_open), ink)))
    if call.answer:
        parts.append(("answer", _text(call.answer, "strong")))
    return parts


def _output(call: Call, *, is_open: bool) -> str:
    if call.state == "running":
        return call.output[-(OPEN_TAIL_CHARS if is_open else TAIL_CHARS) :]
    return call.output[:MAX_CHARS]


def _shown(name: str, part: list[Flow], call: Call, indent: Pieces, *, is_open: bool) -> list[Flow]:
    """Return the visible lines of a part, and a line with the number of hidden ones."""
    is_live = name == "written" or (name == "output" and call.state == "running")
    limit = OPEN_LINES if is_open else LIVE_LINES if is_live else CLOSED_LINES.get(name, LIVE_LINES)
    left = len(part) - limit
    if left == 1 and not is_live:
        left, limit = 0, limit + 1  # the line with the count would take as much space
    from_end = is_live or (name == "output" and call.state == "failed" and not is_open)
    kept = part if left <= 0 else part[-limit:] if from_end else part[:limit]
    bar, wrapped = _bar(indent), (*indent, (f"  │{WRAP_MARK}", "dim"))
    flows = [
        Flow(
            flow.pieces,
            bar + flow.lead,
            (bar if flow.hang else wrapped) + flow.hang,
            "letters" if is_open else "cut",
        )
        for flow in kept
    ]
    if left <= 0:
        is_long = is_open and not is_live and len(part) > CLOSED_LINES.get(name, LIVE_LINES)
        return [*flows, _fold_line(indent, "▾ fold")] if is_long else flows
    more = _fold_line(indent, f"{'…' if is_open else '▸'} {format_count(left, 'more line')}")
    return [more, *flows] if from_end else [*flows, more]


def _fold_line(indent: Pieces, text: str) -> Flow:
    return Flow(((text, "dim"),), (*indent, ("  ", "text")), folds=True)


def _bar(indent: Pieces) -> Pieces:
    return (*indent, ("  │ ", "dim"))


def _text(text: str, ink: str = "text") -> list[Flow]:
    return [Flow(((line, ink),)) for line in sanitize(text.rstrip("\n")).split("\n")]
