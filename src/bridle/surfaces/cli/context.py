"""`bridle context`: what fills the context window, what is left out, and what the next turn sends.

```
session 019a8536-2b7c · model openai/gpt-5 · window 400,000 tokens
system     █·······························     1,203   0.3%
…
      #  tokens  part      what
      1     403  earlier   user       fix the parser
```
"""

import argparse
import asyncio
from collections.abc import Sequence

from msgspec import Struct

from bridle.core.context import ContextUsage
from bridle.core.errors import UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import Message, ToolResult
from bridle.core.protocol import ModelReplied
from bridle.core.queries import ListSessions, NextContext, PreviewContext, Records
from bridle.core.session_api import SessionApi
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.cli.session_access import open_sessions
from bridle.surfaces.cli.session_lookup import find_newest_session, find_session, resolve_directory
from bridle.surfaces.shared.terminal import Colour, Console, Screen, cut, one_line
from bridle.surfaces.shared.text_format import describe_args, format_count, short_id

BAR_CELLS = 40
LABEL_WIDTH = 10
ROOM_FOR_NUMBERS = 40
PARTS: tuple[tuple[str, Colour], ...] = (
    ("system", "name"),
    ("tools", "name"),
    ("earlier", "name"),
    ("this run", "name"),
    ("reserve", "warning"),
    ("free", "done"),
)


class ContextDiff(Struct, frozen=True):
    """The difference between what the last turn sent and what the next one sends."""

    before: ContextUsage
    now: ContextUsage
    gone: tuple[Message, ...]
    """Messages that the last turn sent and the next one does not."""
    new: tuple[Message, ...]
    system_changed: bool
    tools_changed: bool


def context(args: argparse.Namespace, console: Console) -> int:
    """Show the context of a session's next turn, or its difference from the last turn's."""
    session, before, now = asyncio.run(_contexts(args, console))
    diff = compare(before, now) if before is not None else None
    out = console.out
    if args.json:
        print_json(out, now if diff is None else diff)
        return 0
    window = format_count(now.usage.window, "token")
    out.line(f"session {short_id(session)} · model {now.model} · window {window}")
    lines = _picture(out, now) if diff is None else _difference(out, diff)
    for line in lines:
        out.line(line)
    return 0


async def _contexts(
    args: argparse.Namespace, console: Console
) -> tuple[SessionId, NextContext | None, NextContext]:
    cwd = resolve_directory()
    async with open_sessions(console, cwd) as api:
        sessions = await api.ask(ListSessions(archived=True))
        found = find_session(sessions, args.session) if args.session else find_newest_session(sessions, cwd)
        before = await _last_context(api, found.id) if args.diff else None
        return found.id, before, await api.ask(PreviewContext(found.id))


async def _last_context(api: SessionApi, session: SessionId) -> NextContext:
    """Return what the last turn sent; raises UsageError if there was no turn."""
    replies = [
        record.seq for record in await api.ask(Records(session)) if isinstance(record.event, ModelReplied)
    ]
    if not replies:
        raise UsageError("this session has no turns yet", hint="run it without --diff")
    return await api.ask(PreviewContext(session, replies[-1] - 1))


def compare(before: NextContext, now: NextContext) -> ContextDiff:
    """Return what was removed and added; messages are only ever dropped at the front and added at the end."""
    kept = _overlap(before.messages, now.messages)
    return ContextDiff(
        before.usage,
        now.usage,
        before.messages[: len(before.messages) - kept],
        now.messages[kept:],
        before.system != now.system,
        before.tools != now.tools,
    )


def _overlap(before: Sequence[Message], now: Sequence[Message]) -> int:
    """Return the length of the longest suffix of `before` that is a prefix of `now`."""
    for length in range(min(len(before), len(now)), 0, -1):
        if tuple(before[len(before) - length :]) == tuple(now[:length]):
            return length
    return 0


# ---------------------------------------------------------------------------- bars and contents


def _picture(screen: Screen, sent: NextContext) -> list[str]:
    return [*_bars(screen, sent.usage), "", *_contents(screen, sent)]


def _bars(screen: Screen, usage: ContextUsage) -> list[str]:
    return [
        _bar(screen, label, colour, amount, usage.window)
        for (label, colour), amount in zip(PARTS, _amounts(usage), strict=True)
    ]


def _amounts(usage: ContextUsage) -> tuple[int, ...]:
    free = max(0, usage.window - usage.total - usage.reserve)
    return usage.system, usage.tools, usage.earlier, usage.run, usage.reserve, free


def _bar(screen: Screen, label: str, colour: Colour, amount: int, window: int) -> str:
    share = amount / window if window else 0.0
    filled = min(BAR_CELLS, max(round(share * BAR_CELLS), 1 if amount else 0))
    bar = screen.paint(colour, "█" * filled) + screen.paint("detail", "·" * (BAR_CELLS - filled))
    return f"{label:<{LABEL_WIDTH}} {bar} {amount:>9,} {share:>6.1%}"


def _contents(screen: Screen, sent: NextContext) -> list[str]:
    usage = sent.usage
    messages, tools = format_count(len(sent.messages), "message"), format_count(len(sent.tools), "tool")
    whose = f"{usage.earlier_messages} earlier, {usage.run_messages} of this run"
    lines = [f"sends {messages} ({whose}) and {tools}"]
    if usage.dropped_messages:
        note = f"{format_count(usage.dropped_messages, 'older message')} left out to fit; nothing is deleted"
        lines.append(screen.paint("warning", note))
    lines += _next_to_go(sent)
    lines.append(screen.paint("detail", _row("#", "tokens", "part", "what", "")))
    lines.append(_row("", f"{usage.system:,}", "system", "", _cut(screen, sent.system)))
    if sent.tools:
        names = ", ".join(tool.name for tool in sent.tools)
        lines.append(_row("", f"{usage.tools:,}", "tools", "", _cut(screen, names)))
    for number, message in enumerate(sent.messages, 1):
        part = "earlier" if number <= usage.earlier_messages else "this run"
        tokens = f"{sent.tokens[number - 1]:,}" if number <= len(sent.tokens) else ""
        lines.append(_row(str(number), tokens, part, message.role, _cut(screen, _gist(message))))
    return lines


def _next_to_go(sent: NextContext) -> list[str]:
    """Describe what is dropped next: the oldest exchange, never this run's prompt or the newest exchange."""
    first = 0 if sent.usage.earlier_messages else 1
    end = first + 1
    while end < len(sent.messages) and sent.messages[end].role == "tool":
        end += 1
    if first == 1 and end >= len(sent.messages):
        return []
    who = f"message {end} goes" if end == first + 1 else f"messages {first + 1} to {end} go"
    return [f"{who} next, when more than {format_count(_amounts(sent.usage)[-1], 'token')} are added"]


def _row(number: str, tokens: str, part: str, role: str, what: str) -> str:
    return f"{number:>5} {tokens:>9}  {part:<8}  {role:<9}  {what}".rstrip()


# ---------------------------------------------------------------------------- difference


def _difference(screen: Screen, diff: ContextDiff) -> list[str]:
    lines = [_change(label, was, now) for label, was, now in _changes(diff)]
    notes = [
        *(
            ["the system prompt has changed: the provider's cache of it is lost"]
            if diff.system_changed
            else []
        ),
        *(["the tools have changed: the provider's cache of them is lost"] if diff.tools_changed else []),
    ]
    return [
        *lines,
        *(screen.paint("warning", note) for note in notes),
        "",
        *(screen.paint("failed", f"- {_named(screen, message)}") for message in diff.gone),
        *(screen.paint("done", f"+ {_named(screen, message)}") for message in diff.new),
    ]


def _changes(diff: ContextDiff) -> list[tuple[str, int, int]]:
    labels = [label for label, _ in PARTS]
    return list(zip(labels, _amounts(diff.before), _amounts(diff.now), strict=True))


def _change(label: str, was: int, now: int) -> str:
    changed = f"{now - was:+,}" if now != was else "the same"
    return f"{label:<{LABEL_WIDTH}} {was:>9,} -> {now:>9,}  {changed}"


def _named(screen: Screen, message: Message) -> str:
    return f"{message.role:<9} {_cut(screen, _gist(message))}"


def _gist(message: Message) -> str:
    calls = [f"» {call.name} {describe_args(call.args)}" for call in message.calls]
    results = [part.output for part in message.parts if isinstance(part, ToolResult)]
    return " ".join([message.text, *calls, *results])


def _cut(screen: Screen, text: str) -> str:
    return cut(one_line(text[:1000]), max(20, screen.width - ROOM_FOR_NUMBERS))
