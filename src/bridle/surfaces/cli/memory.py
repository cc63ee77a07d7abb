"""`bridle memory`: search past sessions, show statistics, rebuild the index, and forget sessions."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bridle.app import memory_in, open_store
from bridle.core.errors import BridleError, UsageError
from bridle.core.ids import SessionId
from bridle.core.ports import MemoryHit
from bridle.surfaces.cli.confirm import ask_confirmation
from bridle.surfaces.cli.output.data import print_json, write_table
from bridle.surfaces.cli.session_lookup import find_id, load_settings_here, resolve_directory
from bridle.surfaces.shared.terminal import Console, Screen, one_line, pad, visible
from bridle.surfaces.shared.text_format import format_count, short_id
from bridle.system.dates import calendar_s

if TYPE_CHECKING:
    from bridle.memory.local import LocalMemory, MemoryStats

MAX_LIMIT = 20
BAR_CELLS = 30
LABEL_WIDTH = 15
MEGABYTE = 1_000_000
PROJECT_HEADINGS = ("SESSIONS", "PASSAGES", "VECTORS", "INDEX", "PROJECT")


def search(args: argparse.Namespace, console: Console) -> int:
    """Print the passages of this project's sessions that match the query."""
    if not 0 <= args.limit <= MAX_LIMIT:
        raise UsageError(f"--limit must be a whole number from 0 to {MAX_LIMIT}, not {args.limit}")

    async def work(memory: "LocalMemory") -> None:
        found = await memory.search(" ".join(args.query), cwd=resolve_directory(), limit=args.limit)
        if args.json:
            print_json(console.out, [_view(passage) for passage in found])
        else:
            for index, passage in enumerate(found):
                _write_passage(console.out, passage, is_first=not index)
            if not found:
                console.err.line("no matches")

    return _with_memory(console, work)


def stats(args: argparse.Namespace, console: Console) -> int:
    """Show what memory holds, and what is not indexed yet."""

    async def work(memory: "LocalMemory") -> None:
        held = await memory.stats()
        if args.json:
            print_json(console.out, held)
        else:
            _write_stats(console.out, held)

    return _with_memory(console, work)


def rebuild(args: argparse.Namespace, console: Console) -> int:
    """Rebuild memory from the stored sessions."""
    bar = _Bar(console.err)

    async def work(memory: "LocalMemory") -> None:
        try:
            await memory.rebuild(bar)
        finally:
            bar.end()
        held = await memory.stats()
        console.out.line(
            f"{format_count(held.passages, 'passage')} of {format_count(held.sessions, 'session')}"
        )

    return _with_memory(console, work)


def forget(args: argparse.Namespace, console: Console) -> int:
    """Remove a session, a project or everything from memory, after confirmation."""

    async def work(memory: "LocalMemory") -> None:
        sessions = await _meant(args, memory)
        if not sessions:
            console.err.line("nothing to forget")
            return
        what = f"session {sessions[0]}" if args.session else format_count(len(sessions), "session")
        words = f"{'--project' if args.project else '--all' if args.all else sessions[0]} --yes"
        hint = f"bridle memory forget {words}"
        question = f"remove {what} from memory?"
        if not args.yes and not ask_confirmation(
            console, question, without="forgetting needs confirmation", hint=hint
        ):
            console.err.line("nothing was forgotten")
            return
        await memory.forget_all(sessions)
        console.done(f"removed {what} from memory")

    return _with_memory(console, work)


async def _meant(args: argparse.Namespace, memory: "LocalMemory") -> list[SessionId]:
    if args.session:
        return [find_id(dict.fromkeys(await memory.sessions(), ""), args.session)]
    return await memory.sessions(resolve_directory() if args.project else None)


def _with_memory(console: Console, work: "Callable[[LocalMemory], Awaitable[None]]") -> int:
    """Open memory, call `work` with it, and print its notices."""
    settings = load_settings_here(console)

    async def run() -> None:
        store = open_store(settings)
        memory = memory_in(settings, console.environ, store)
        try:
            if memory is None:
                raise UsageError(
                    "memory is off", hint="set memory.enabled, and a store.backend that keeps sessions"
                )
            await work(memory)
        finally:
            if memory is not None:
                for notice in memory.notices:
                    console.warn(notice)
                with suppress(BridleError):
                    await memory.aclose()
            await store.aclose()

    asyncio.run(run())
    return 0


class _Bar:
    """Shows the progress of a rebuild, if the terminal can erase a line."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._is_drawn = False

    def __call__(self, phase: str, done: int, whole: int) -> None:
        """Draw the progress: `done` of `whole`."""
        if self._screen.erases:
            bar = "█" * int(BAR_CELLS * min(1.0, done / max(1, whole)))
            self._screen.erase()
            self._screen.write(f"{phase:<8} {bar:░<{BAR_CELLS}} {done:,} of {whole:,}")
            self._screen.flush()
            self._is_drawn = True

    def end(self) -> None:
        """Erase the bar."""
        if self._is_drawn:
            self._screen.erase()
            self._screen.flush()


def _view(passage: MemoryHit) -> dict[str, object]:
    return {
        "content": passage.text,
        "score": passage.score,
        "session_id": passage.session,
        "turn": passage.turn,
        "seq": passage.seq,
        "role": passage.role,
        "when": datetime.fromtimestamp(calendar_s(passage.at), UTC).isoformat(timespec="seconds"),
    }


def _write_passage(screen: Screen, passage: MemoryHit, *, is_first: bool) -> None:
    if not is_first:
        screen.line()
    when = datetime.fromtimestamp(calendar_s(passage.at), UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    place = f"{when}  session {short_id(passage.session)}  turn {passage.turn}  {passage.role}"
    screen.line(f"{screen.paint('name', f'{passage.score:.2f}')}  {screen.paint('detail', place)}")
    for line in passage.text.split("\n"):
        screen.line(f"  {visible(line)}".rstrip())


def _write_stats(screen: Screen, held: "MemoryStats") -> None:
    left = [format_count(held.left_sessions, "session")] if held.left_sessions else []
    left += [f"the vectors of {format_count(held.left_vectors, 'passage')}"] if held.left_vectors else []
    for label, text in (
        ("passages", f"{held.passages:,}"),
        ("sessions", f"{held.sessions:,}"),
        ("size", f"{held.size_bytes / MEGABYTE:.1f} MB"),
        ("embedder", held.embedder or "none: keyword search only"),
        ("pending", " and ".join(left) or "nothing"),
    ):
        screen.line(f"{screen.paint('detail', pad(label, LABEL_WIDTH))}{one_line(text)}")
    if held.projects:
        screen.line()
        rows = [
            (f"{one.sessions:,}", f"{one.passages:,}", f"{one.vectors:,}", one.index, one.root)
            for one in held.projects
        ]
        write_table(screen, PROJECT_HEADINGS, rows)
