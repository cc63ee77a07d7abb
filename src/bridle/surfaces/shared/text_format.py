"""Formats calls, changes, diffs, approvals, questions, prices and totals as text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.json import encode
from msgspec.structs import replace

from bridle.core.codeact import PYTHON
from bridle.core.ids import CallId
from bridle.core.messages import ToolResult
from bridle.core.permission import SHELL_TOOL
from bridle.core.protocol import ApprovalRequested, Question, Todo
from bridle.core.revision import FileChange
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.terminal import Colour, Screen, one_line, visible

if TYPE_CHECKING:
    from bridle.surfaces.shared.highlight import Piece

# ---------------------------------------------------------------------------- code output
# Tracks the output of running code, to separate it from the rest of the result.


MAX_CHARS = 512 * 1024  # results that can be compared with it are shorter
NO_OUTPUT = "[no output]"
MORE = "\n[there is more; it is not shown live]\n"
NOT_FINISHED = "not finished: "
LAST_PRINTED = "; the last it had printed was:\n"
TRACE_HEAD = "Traceback (most recent call last):"


class CodeOutput:
    """Collects the output of running code, up to a limit."""

    def __init__(self) -> None:
        self._pieces: dict[CallId, list[str]] = {}
        self._chars = 0

    def add(self, call_id: CallId, text: str) -> None:
        """Add a piece of output."""
        if self._chars < MAX_CHARS:
            self._pieces.setdefault(call_id, []).append(text)
            self._chars += len(text)

    def rest_of(self, result: ToolResult) -> str:
        """Return the part of a result after its output (error and notes), and forget the call."""
        pieces = self._pieces.pop(result.call_id, [])
        self._chars -= sum(map(len, pieces))
        output, printed = result.output.strip("\n"), "".join(pieces).strip("\n")
        if output.startswith(NOT_FINISHED):
            return output.partition(LAST_PRINTED)[0]
        if output.startswith(printed):
            rest = output[len(printed) :].strip("\n")
            return "" if rest == NO_OUTPUT else rest
        if not result.is_error:
            return ""
        trace = output.rfind(f"\n{TRACE_HEAD}")  # the collected output differs from the result's
        return output[trace + 1 :] if trace >= 0 else output.rpartition("\n")[2]


# ---------------------------------------------------------------------------- text format


TELLING_ARGS = (
    *("command", "code", "pattern", "url", "query", "question", "path", "file_path"),
    *("name", "prompt", "agent_id"),
)
"""Arguments that describe a call best; the first one present is shown."""

MAX_FILES = 5  # named on one line

LINE_HEAD_CHARS, LINE_TAIL_CHARS = 1_000, 500
MAX_LINE_CHARS = LINE_HEAD_CHARS + LINE_TAIL_CHARS
MAX_BLANK_LINES = 3  # in a row

SHORT_ID_CHARS = 13  # a UUIDv7 up to the end of its timestamp

TODO_MARKS: dict[str, tuple[str, Colour]] = {
    "pending": ("[ ]", "detail"),
    "in_progress": ("[>]", "name"),
    "completed": ("[x]", "done"),
}

_DIFF_COLOURS: dict[str, Colour] = {"+": "added", "-": "removed", "@": "name"}


def short_id(session: str) -> str:
    """Return as much of a generated id as a user needs to type; a chosen name is not shortened."""
    is_uuid = len(session) == 36 and session[8] == session[13] == session[18] == session[23] == "-"
    return session[:SHORT_ID_CHARS] if is_uuid else session


def describe_args(args: dict[str, Any]) -> str:
    """Return a one-line description of a call's arguments."""
    telling = next((name for name in TELLING_ARGS if isinstance(args.get(name), str)), None)
    if telling == "code":
        return one_line(first_line(args["code"]))
    if telling is not None:
        where = f" in {args['path']}" if telling == "pattern" and isinstance(args.get("path"), str) else ""
        return one_line(args[telling] + where)
    if args and all(isinstance(value, str | int | float) for value in args.values()):
        return one_line(" ".join(f"{name}={value}" for name, value in args.items()))
    if len(args) == 1 and isinstance(value := next(iter(args.values())), list):
        return format_count(len(value), "item")
    return one_line(encode(args).decode()) if args else ""


def first_line(code: str) -> str:
    """Return the first nonblank line of a piece of code."""
    return next((line for line in code.split("\n") if line.strip()), "")


def code_of(tool: str, args: dict[str, Any]) -> str:
    """Return the code that a call runs; empty for calls of other tools."""
    code = args.get("code") if tool == PYTHON else None
    return code.rstrip() if isinstance(code, str) else ""


def end_notes(result: ToolResult) -> list[str]:
    """Return the notes below a command's output: how it ended, or that it still runs."""
    lines = result.output.rstrip("\n").split("\n") if result.name == SHELL_TOOL else []
    first = len(lines)
    while first and lines[first - 1].startswith("[") and lines[first - 1].endswith("]"):
        first -= 1
    return [line for line in lines[first:] if line != NO_OUTPUT]


def describe_changes(changes: Sequence[FileChange]) -> str:
    """Return on one line which files were created, changed and deleted."""
    words = [f"{_change_word(change)} {one_line(change.path)}" for change in changes[:MAX_FILES]]
    more = len(changes) - MAX_FILES
    return ", ".join(words) + (f" and {format_count(more, 'more file')}" if more > 0 else "")


def _change_word(change: FileChange) -> str:
    if change.before is None:
        return "created"
    return "deleted" if change.after is None else "changed"


def todo_lines(screen: Screen, todos: Sequence[Todo]) -> list[str]:
    """Return a to-do list, one item per line."""
    lines = []
    for todo in todos:
        mark, colour = TODO_MARKS[todo.status]
        lines.append(f"{screen.paint(colour, mark)} {one_line(todo.text)}")
    return lines


def question_lines(screen: Screen, question: Question, who: str = "") -> list[str]:
    """Return the lines of a model's question and its numbered choices, marked as not being ours."""
    text = [f"? {visible(line)}" for line in question.text.strip().split("\n")]
    choices = [
        f"  {screen.paint('name', str(number))} {one_line(choice)}"
        for number, choice in enumerate(question.choices, 1)
    ]
    asked = [screen.paint("detail", f"asked by {who}")] if who else []
    return [screen.paint("strong", text[0]), *text[1:], *asked, *choices]


def format_reason(why: str, who: str = "") -> str:
    """Return the line that says why a call needs approval; `who` makes it, if not the session."""
    return f"Needs approval for {who}: {why}" if who else f"Needs approval: {why}"


def paint_diff(screen: Screen, text: str) -> list[str]:
    """Return the lines of a diff in color; any other text is only made safe for a screen."""
    lines = []
    for line in text.split("\n"):
        if line.startswith(("--- ", "+++ ")):
            lines.append(screen.paint("strong", line))
        else:
            colour = _DIFF_COLOURS.get(line[:1])
            lines.append(screen.paint(colour, line) if colour else visible(line))
    return lines


def approval_lines(screen: Screen, request: ApprovalRequested, who: str = "") -> list[str]:
    """Return the lines of an approval: the call, its preview or arguments, the asker and the reason."""
    code = code_of(request.tool, request.args)
    is_shown = code or (request.tool == SHELL_TOOL and request.preview)  # all of it, on separate lines
    about = "" if is_shown else screen.paint("name", describe_args(request.args))
    title = f"{screen.paint('strong', one_line(request.tool))} {about}".rstrip()
    shown = request.preview.rstrip("\n") or encode(request.args).decode()
    if code:
        guard = request.preview.rstrip("\n").rpartition("\n")[2]  # the code comes before it, maybe shortened
        lines = [*code_lines(screen, code), *filter(None, [visible(guard)])]
    else:
        lines = paint_diff(screen, _compact(shown))
    source = "Python code" if request.parent is not None else who
    return [title, *lines, screen.paint("detail", format_reason(request.why, source))]


def code_lines(screen: Screen, code: str) -> list[str]:
    """Return code with colors and line numbers, shortened so that it does not fill the screen."""
    from bridle.surfaces.shared.highlight import paint_pieces, scan_python  # most runs show no code

    scanned = scan_python(code)
    width = len(str(len(scanned)))
    lines, blank = [], 0
    for number, line in enumerate(scanned, 1):
        blank = 0 if any(not piece.text.isspace() for piece in line) else blank + 1
        if blank <= MAX_BLANK_LINES:
            shown = paint_pieces(screen, _shortened(line))
            lines.append(f"{screen.paint('detail', f'{number:>{width}}')} {shown}".rstrip())
    return lines


def _shortened(line: "list[Piece]") -> "list[Piece]":
    whole = sum(len(piece.text) for piece in line)
    if whole <= MAX_LINE_CHARS:
        return line
    kept: list[Piece] = []
    place = 0
    for piece in line:
        text = piece.text
        head, tail = LINE_HEAD_CHARS - place, whole - LINE_TAIL_CHARS - place
        if head > 0:
            kept.append(replace(piece, text=text[:head]))
        if 0 <= head < len(text):
            kept.append(replace(piece, text=_not_shown(whole), colour="detail"))
        if tail < len(text):
            kept.append(replace(piece, text=text[max(0, tail) :]))
        place += len(text)
    return kept


def _compact(text: str) -> str:
    """Shorten rows of empty lines and very long lines, which would push the rest off the screen."""
    kept: list[str] = []
    blank = 0
    for line in text.split("\n"):
        if len(line) > MAX_LINE_CHARS:
            line = f"{line[:LINE_HEAD_CHARS]}{_not_shown(len(line))}{line[-LINE_TAIL_CHARS:]}"
        blank = 0 if line.strip() else blank + 1
        if blank <= MAX_BLANK_LINES:
            kept.append(line)
    return "\n".join(kept)


def _not_shown(whole: int) -> str:
    return f" [{whole - MAX_LINE_CHARS:,} characters not shown] "


def describe_cost(cost: float | None) -> str:
    """Return a price as text; an unknown price is never shown as zero."""
    if cost is None:
        return "price unknown"
    return f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"


def format_elapsed(duration_ms: int) -> str:
    """Return a duration as text."""
    return f"{duration_ms} ms" if duration_ms < 1000 else f"{duration_ms / 1000:.1f} s"


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun: 1 turn, 2 turns."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def summary_line(result: Result) -> str:
    """Return on one line what a run used."""
    tokens = sum(result.usage.get(kind, 0) for kind in ("input", "output", "cache_read", "cache_write"))
    return " · ".join(
        [
            f"session {short_id(result.session_id)}",
            format_count(result.turns, "turn"),
            format_count(result.tool_calls, "tool call"),
            format_count(tokens, "token"),
            describe_cost(result.cost),
        ]
    )
