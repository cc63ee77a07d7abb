"""Words for what happens: calls, changes, diffs, approvals, questions, prices and sums, each as text."""

from collections.abc import Sequence
from typing import Any

from msgspec.json import encode

from bridle.core.permission import SHELL_TOOL
from bridle.core.protocol import ApprovalRequested, Question, Todo
from bridle.core.revision import FileChange
from bridle.surfaces.terminal import Colour, Screen, one_line, visible
from bridle.surfaces.wire import Result

TELLING_ARGS = ("command", "pattern", "url", "query", "question", "path", "file_path", "name")
"""Arguments that say best what a call is about, the first present one is shown."""

MOST_FILES = 5  # named on one line

LINE_HEAD_CHARS, LINE_TAIL_CHARS = 1_000, 500
MOST_LINE_CHARS = LINE_HEAD_CHARS + LINE_TAIL_CHARS

SHORT_ID_CHARS = 13  # a UUIDv7 up to the end of its clock reading

TODO_MARKS: dict[str, tuple[str, Colour]] = {
    "pending": ("[ ]", "detail"),
    "in_progress": ("[>]", "name"),
    "completed": ("[x]", "done"),
}

_DIFF_COLOURS: dict[str, Colour] = {"+": "added", "-": "removed", "@": "name"}


def short_id(session: str) -> str:
    """Return as much of a generated id as a user needs to type; a chosen name stays whole."""
    is_uuid = len(session) == 36 and session[8] == session[13] == session[18] == session[23] == "-"
    return session[:SHORT_ID_CHARS] if is_uuid else session


def describe_args(args: dict[str, Any]) -> str:
    """Say on one line what a call is about."""
    telling = next((name for name in TELLING_ARGS if isinstance(args.get(name), str)), None)
    if telling is not None:
        where = f" in {args['path']}" if telling == "pattern" and isinstance(args.get("path"), str) else ""
        return one_line(args[telling] + where)
    if args and all(isinstance(value, str | int | float) for value in args.values()):
        return one_line(" ".join(f"{name}={value}" for name, value in args.items()))
    if len(args) == 1 and isinstance(value := next(iter(args.values())), list):
        return count(len(value), "item")
    return one_line(encode(args).decode()) if args else ""


def describe_changes(changes: Sequence[FileChange]) -> str:
    """Say on one line which files were made, changed and deleted."""
    words = [f"{_change_word(change)} {one_line(change.path)}" for change in changes[:MOST_FILES]]
    more = len(changes) - MOST_FILES
    return ", ".join(words) + (f" and {count(more, 'more file')}" if more > 0 else "")


def _change_word(change: FileChange) -> str:
    if change.before is None:
        return "created"
    return "deleted" if change.after is None else "changed"


def todo_lines(screen: Screen, todos: Sequence[Todo]) -> list[str]:
    """Show a list of things to do, one on each line."""
    lines = []
    for todo in todos:
        mark, colour = TODO_MARKS[todo.status]
        lines.append(f"{screen.paint(colour, mark)} {one_line(todo.text)}")
    return lines


def question_lines(screen: Screen, question: Question) -> list[str]:
    """Show a question of the model and its numbered choices, marked so that it cannot pass for ours."""
    text = [f"? {visible(line)}" for line in question.text.strip().split("\n")]
    choices = [
        f"  {screen.paint('name', str(number))} {one_line(choice)}"
        for number, choice in enumerate(question.choices, 1)
    ]
    return [screen.paint("strong", text[0]), *text[1:], *choices]


def because(why: str) -> str:
    """Say what a verdict rests on: a rule, a mode, or something that is the case."""
    return f"because of {why}" if why.startswith(("rule ", "mode ")) else f"because {why}"


def paint_diff(screen: Screen, text: str) -> list[str]:
    """Colour the lines of a diff; any other text comes out as it went in, made safe for a screen."""
    lines = []
    for line in text.split("\n"):
        if line.startswith(("--- ", "+++ ")):
            lines.append(screen.paint("strong", line))
        else:
            colour = _DIFF_COLOURS.get(line[:1])
            lines.append(screen.paint(colour, line) if colour else visible(line))
    return lines


def approval_lines(screen: Screen, request: ApprovalRequested) -> list[str]:
    """Show all that an approval is about: the call, its preview or arguments, and why it is asked."""
    is_shown = request.tool == SHELL_TOOL and request.preview  # the whole command, on lines of its own
    about = "" if is_shown else screen.paint("name", describe_args(request.args))
    title = f"{screen.paint('strong', request.tool)} {about}".rstrip()
    shown = request.preview.rstrip("\n") or encode(request.args).decode()
    lines = paint_diff(screen, _compact(shown))
    return [title, *lines, screen.paint("detail", f"asked {because(request.why)}")]


def _compact(text: str) -> str:
    """Shorten what would push the rest off the screen: rows of empty lines, and lines without end."""
    kept: list[str] = []
    for line in text.split("\n"):
        if len(line) > MOST_LINE_CHARS:
            left_out = f"{len(line) - MOST_LINE_CHARS:,}"
            line = f"{line[:LINE_HEAD_CHARS]} [{left_out} characters not shown] {line[-LINE_TAIL_CHARS:]}"
        if line.strip() or len(kept) < 3 or any(before.strip() for before in kept[-3:]):
            kept.append(line)
    return "\n".join(kept)


def describe_cost(cost: float | None) -> str:
    """Say a price; an unknown one is never shown as zero."""
    if cost is None:
        return "price unknown"
    return f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"


def took(duration_ms: int) -> str:
    """Say how long something took."""
    return f"{duration_ms} ms" if duration_ms < 1000 else f"{duration_ms / 1000:.1f} s"


def count(number: int, noun: str) -> str:
    """Count things in words: 1 turn, 2 turns."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def summary_line(result: Result) -> str:
    """Say on one line what a run used."""
    tokens = sum(result.usage.get(kind, 0) for kind in ("input", "output", "cache_read", "cache_write"))
    return " · ".join(
        [
            f"session {short_id(result.session_id)}",
            count(result.turns, "turn"),
            count(result.tool_calls, "tool call"),
            count(tokens, "token"),
            describe_cost(result.cost),
        ]
    )
