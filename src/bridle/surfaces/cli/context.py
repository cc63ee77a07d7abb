"""`bridle context`: who uses the window, what is left out, and what the next turn sends."""

import argparse
import asyncio

from msgspec import json

from bridle.core.context import ContextUsage
from bridle.core.messages import Message, ToolResult
from bridle.sessions.service import NextContext
from bridle.surfaces.cli.find import find_session, newest_session, working_directory
from bridle.surfaces.cli.serving import serving
from bridle.surfaces.render import count, describe_args, short_id
from bridle.surfaces.terminal import Colour, Console, Screen, cut, one_line

BAR_CELLS = 40
LABEL_WIDTH = 10
PARTS: tuple[tuple[str, Colour], ...] = (
    ("system", "name"),
    ("tools", "name"),
    ("earlier", "name"),
    ("this run", "name"),
    ("reserve", "warning"),
    ("free", "done"),
)


def context(args: argparse.Namespace, console: Console) -> int:
    """Show the context of a session's next turn."""
    session, sent = asyncio.run(_next_context(args.session, console))
    if args.json:
        console.out.json(json.format(json.encode(sent), indent=2))
        return 0
    out = console.out
    out.line(f"session {short_id(session)} · model {sent.model} · window {count(sent.usage.window, 'token')}")
    for line in [*_bars(out, sent.usage), "", *_contents(out, sent)]:
        out.line(line)
    return 0


async def _next_context(wanted: str | None, console: Console) -> tuple[str, NextContext]:
    cwd = working_directory()
    async with serving(console, cwd) as service:
        sessions = await service.list(archived=True)
        found = newest_session(sessions, cwd) if wanted is None else find_session(sessions, wanted)
        return found.id, await service.next_context(found.id)


def _bars(screen: Screen, usage: ContextUsage) -> list[str]:
    free = max(0, usage.window - usage.total - usage.reserve)
    amounts = (usage.system, usage.tools, usage.earlier, usage.run, usage.reserve, free)
    return [
        _bar(screen, label, colour, amount, usage.window)
        for (label, colour), amount in zip(PARTS, amounts, strict=True)
    ]


def _bar(screen: Screen, label: str, colour: Colour, amount: int, window: int) -> str:
    share = amount / window if window else 0.0
    filled = min(BAR_CELLS, max(round(share * BAR_CELLS), 1 if amount else 0))
    bar = screen.paint(colour, "█" * filled) + screen.paint("detail", "·" * (BAR_CELLS - filled))
    return f"{label:<{LABEL_WIDTH}} {bar} {amount:>9,} {share:>6.1%}"


def _contents(screen: Screen, sent: NextContext) -> list[str]:
    usage = sent.usage
    messages, tools = count(len(sent.messages), "message"), count(len(sent.tools), "tool")
    whose = f"{usage.earlier_messages} earlier, {usage.run_messages} of this run"
    lines = [f"sends {messages} ({whose}) and {tools}"]
    if usage.dropped_messages:
        note = f"{count(usage.dropped_messages, 'older message')} left out to fit; nothing is deleted"
        lines.append(screen.paint("warning", note))
    lines.append(f"  {'system':<{LABEL_WIDTH}} {_cut(screen, sent.system)}")
    if sent.tools:
        lines.append(
            f"  {'tools':<{LABEL_WIDTH}} {_cut(screen, ', '.join(tool.name for tool in sent.tools))}"
        )
    lines += [f"  {message.role:<{LABEL_WIDTH}} {_cut(screen, _gist(message))}" for message in sent.messages]
    return lines


def _gist(message: Message) -> str:
    calls = [f"» {call.name} {describe_args(call.args)}" for call in message.calls]
    results = [part.output for part in message.parts if isinstance(part, ToolResult)]
    return " ".join([message.text, *calls, *results])


def _cut(screen: Screen, text: str) -> str:
    return cut(one_line(text[:1000]), max(20, screen.width - LABEL_WIDTH - 4))
