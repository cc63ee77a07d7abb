"""Shows a stored session as text in a terminal.

```
you
  fix the greeting
assistant
  I look at the file first.
  » read_file greet.py
    1: print("helo")
  » python for name in names:
    1 for name in names:
    2     print(await read_file(name))
    » read_file a.txt
      hello
    hello
```
"""

import time
from collections.abc import Iterator, Mapping, Sequence

from bridle.core.codeact import FENCED
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Reasoning, Role, Text, ToolCall, ToolResult
from bridle.core.protocol import Record, SessionCreated, Totals
from bridle.core.session import Session, fold
from bridle.surfaces.shared.full_transcript import (
    CodeCall,
    FromAgent,
    NestedCall,
    collect_code_calls,
    describe_note,
    list_visible_messages,
)
from bridle.surfaces.shared.terminal import Colour, Screen, one_line, visible
from bridle.surfaces.shared.text_format import (
    code_lines,
    code_of,
    describe_args,
    describe_cost,
    format_count,
    todo_lines,
)
from bridle.system.dates import calendar_s

SPEAKERS: dict[Role, str] = {"system": "system", "user": "you", "assistant": "assistant", "tool": "tool"}
NO_CELL = CodeCall()
RESULT_LINES = 12  # of a tool's output, and of code; an export has everything
NESTED_LINES = 3  # of the output of a call made by code, which its code has read


def transcript_lines(screen: Screen, records: Sequence[Record]) -> Iterator[str]:
    """Yield the lines of a whole session, its facts first."""
    session, cells = fold(records), collect_code_calls(records)
    facts = session.known
    yield screen.paint("strong", one_line(facts.title) or "(no title)")
    yield screen.paint("detail", f"session {facts.created.session_id}")
    origin = describe_origin(facts.created)
    by = f", {origin}" if origin else ""
    yield screen.paint("detail", f"agent {facts.created.agent} in {facts.created.cwd}{by}")
    yield screen.paint("detail", f"from {local_time(facts.created_at)} to {local_time(session.updated_at)}")
    yield screen.paint("detail", describe_totals(facts.totals))
    speaker = ""
    for message in list_visible_messages(records):
        if isinstance(message, FromAgent):
            yield from ("", screen.paint("name", message.name))
            speaker = "user"  # the role of its message, which needs no other heading
            continue
        if not isinstance(message, Message):
            yield screen.paint("detail", f"  · {describe_note(message)}")
            continue
        if message.role != "tool" and message.role != speaker:
            yield ""
            yield screen.paint("name", SPEAKERS[message.role])
            speaker = message.role
        yield from _message_lines(screen, message, cells)
    yield from _end_lines(screen, session)


def describe_origin(created: SessionCreated) -> str:
    """Return which session this one comes from; empty if a person started it."""
    if created.parent is None:
        return ""
    if created.forked_at is None:
        return f"sub-agent of {created.parent}"
    return f"forked from {created.parent} at event {created.forked_at}"


def describe_totals(totals: Totals) -> str:
    """Return on one line what a session has used, and how many turns have no known price."""
    cost = None if totals.unpriced_turns == totals.turns and totals.turns else totals.cost
    known = describe_cost(cost)
    if totals.unpriced_turns and cost is not None:
        known += f" and {format_count(totals.unpriced_turns, 'turn')} of unknown price"
    return " · ".join(
        [
            format_count(totals.runs, "run"),
            format_count(totals.turns, "turn"),
            format_count(totals.tool_calls, "tool call"),
            format_count(totals.usage.context, "token"),
            known,
        ]
    )


def local_time(at_ms: int) -> str:
    """Return a stored time in the user's time zone."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(calendar_s(at_ms)))


def _message_lines(screen: Screen, message: Message, cells: Mapping[CallId, CodeCall]) -> Iterator[str]:
    for part in message.parts:
        match part:
            case Text(text=""):
                pass
            case Text():
                yield from _indented(part.text)
            case Reasoning():
                for line in _indented(part.text):
                    yield screen.paint("detail", line)
            case Media():
                yield screen.paint("detail", f"  [{part.mime} {part.name}]")
            case ToolCall():
                yield from _call_lines(screen, part)
            case ToolResult():
                cell = cells.get(part.call_id, NO_CELL)
                for made in cell.calls:
                    yield from _nested_lines(screen, made)
                yield from _result_lines(screen, part, RESULT_LINES, "    ")
                if cell.answer:
                    yield from _indented(cell.answer)


def _call_lines(screen: Screen, call: ToolCall, margin: str = "  ") -> Iterator[str]:
    yield f"{margin}» {screen.paint('name', one_line(call.name))} {describe_args(call.args)}".rstrip()
    code = code_of(call.name, call.args)
    if "\n" in code and FENCED not in call.meta:
        lines = code.split("\n")
        for line in code_lines(screen, "\n".join(lines[:RESULT_LINES])):
            yield f"{margin}  {line}"
        yield from _more(screen, len(lines) - RESULT_LINES, f"{margin}  ")


def _nested_lines(screen: Screen, made: NestedCall) -> Iterator[str]:
    yield from _call_lines(screen, made.call, "    ")
    if made.result is not None:
        yield from _result_lines(screen, made.result, NESTED_LINES, "      ")


def _result_lines(screen: Screen, result: ToolResult, most: int, margin: str) -> Iterator[str]:
    colour: Colour = "failed" if result.is_error else "detail"
    lines = result.output.rstrip("\n").split("\n")
    for line in lines[:most]:
        yield screen.paint(colour, f"{margin}{line}")
    yield from _more(screen, len(lines) - most, margin)


def _more(screen: Screen, left_out: int, margin: str) -> Iterator[str]:
    if left_out > 0:
        yield screen.paint("detail", f"{margin}… {format_count(left_out, 'more line')}")


def _end_lines(screen: Screen, session: Session) -> Iterator[str]:
    if session.known.todos:
        yield ""
        yield screen.paint("name", "to do")
        yield from (f"  {line}" for line in todo_lines(screen, session.known.todos))
    for item in session.known.queue:
        yield screen.paint("detail", f"waiting: {one_line(item.message.text)}")
    if session.run is not None:
        yield ""
        yield screen.paint("warning", "the last run has not ended: it is active, or was cut off")
    elif session.last is not None and session.last.outcome != "completed":
        yield ""
        yield screen.paint("warning", f"the last run ended {session.last.outcome}: {session.last.reason}")


def _indented(text: str) -> Iterator[str]:
    for line in text.rstrip("\n").split("\n"):
        yield f"  {visible(line)}".rstrip()
