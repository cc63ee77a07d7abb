"""The command line: in a pipe, and on a terminal where a person answers."""

import asyncio
import json
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from bridle.core.protocol import Cancel, Decide, Delta, Prompt, Record, Reply, Resume, SessionCreated, Steer
from bridle.core.session_api import SessionApi
from bridle.surfaces.shared.output_format import EXIT_CODES, Result
from tests.conformance.scenario import Move
from tests.conformance.seen import Reducer, Seen, asked, ended, said
from tests.conformance.world import Driver, Place, World
from tests.surfaces.command import PROGRAM, Terminal

KEYS = {"once": "y", "session": "s", "always": "a", "deny": "n", "stop": "q"}
OUTCOMES = {code: outcome for outcome, code in EXIT_CODES.items() if outcome not in ("failed", "limit")}
SENTENCE = re.compile(r"^[A-Z].*\.$", re.MULTILINE)
"""Only the model speaks in whole sentences: our own lines have no full stop."""
PASSING = re.compile(r"^.*\r\x1b\[K", re.MULTILINE)  # a line that was taken off the screen again

_line: msgspec.json.Decoder[Delta | Result] = msgspec.json.Decoder(Delta | Result)


def read_line(line: bytes) -> Record | Delta | Result:
    """Read a line of stream-json."""
    return msgspec.json.decode(line, type=Record) if line.startswith(b'{"seq"') else _line.decode(line)


class PipeDriver:
    """`bridle run --output stream-json`, and `bridle session …` beside it."""

    def __init__(self, world: World, place: Place) -> None:
        self._world = world
        self._place = place
        self._process: Process | None = None
        self._reading: asyncio.Task[list[Seen]] | None = None

    async def start(self) -> None:
        scenario = self._place.scenario
        session = [] if scenario.begins else ["--session", self._place.session]
        schema = scenario.options.output_schema
        flags = [] if schema is None else ["--output-schema", json.dumps(schema)]
        await self._run(*session, *flags, scenario.prompt)

    async def _run(self, *args: str) -> None:
        self._process = await self._spawn("run", "--output", "stream-json", *args)
        has_begun = asyncio.Event()
        self._reading = asyncio.create_task(self._read(self._process, has_begun))
        await has_begun.wait()

    async def _spawn(self, *args: str) -> Process:
        return await asyncio.create_subprocess_exec(
            *PROGRAM, *args, cwd=self._place.folder, env=self._world.environ, stdin=DEVNULL, stdout=PIPE
        )

    async def _read(self, process: Process, has_begun: asyncio.Event) -> list[Seen]:
        assert process.stdout is not None
        reducer, told = Reducer(), list[Seen]()
        result: Result | None = None
        async for line in process.stdout:
            match read_line(line):
                case Result() as result:
                    pass
                case Record(event=SessionCreated() as event):
                    self._place.session = event.session_id
                case item:
                    told += reducer.feed(item)
            if told or result is not None:
                has_begun.set()
        has_begun.set()
        assert result is not None
        assert (await process.wait(), result.outcome) == (
            EXIT_CODES[result.outcome],
            told[-1].what.split(":")[0],
        )
        return told

    async def do(self, move: Move) -> None:
        match move:
            case Steer():
                await self._session("steer", move.message.text)
            case Prompt():
                await self._session("queue", move.message.text)
            case Cancel() if self._process is not None:
                self._process.send_signal(signal.SIGINT)
            case Cancel():
                await self._session("cancel")
            case Resume():
                await self._run("--session", self._place.session)
            case _:
                raise AssertionError(move)

    async def _session(self, word: str, *args: str) -> None:
        other = await self._spawn("session", word, self._place.session, *args)
        await other.communicate()
        assert other.returncode == 0

    async def seen(self) -> list[Seen]:
        assert self._reading is not None
        return await self._reading

    def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()


class TerminalDriver:
    """`bridle run` at a terminal, with a person who presses keys."""

    def __init__(self, world: World, place: Place) -> None:
        self._world = world
        self._place = place
        self._terminal: Terminal | None = None
        self._asked: list[Seen] = []

    async def start(self) -> None:
        self._open("run", "--session", self._place.session, self._place.scenario.prompt)

    def _open(self, *args: str) -> None:
        environ = {**self._world.environ, "TERM": "xterm"}
        self._terminal = Terminal([*PROGRAM, *args], self._place.folder, environ)

    async def do(self, move: Move) -> None:
        if isinstance(move, Resume):
            self._open("attach", self._place.session, "--resume")
        else:
            assert self._terminal is not None
            await asyncio.to_thread(self._press, self._terminal, move)

    def _press(self, terminal: Terminal, move: Move) -> None:
        match move:
            case Decide():
                terminal.expect("Needs approval")
                self._asked.append(asked(move.call_id))
                terminal.expect("\n> ")
                terminal.send(KEYS[move.answer])
                if move.answer == "deny":
                    terminal.expect("why (Enter to skip): ")
                    terminal.send(f"{move.reason}\n")
            case Reply():
                terminal.expect("Which?")
                self._asked.append(Seen("question", "Which?", move.call_id))
                terminal.expect("(Enter to skip): ")
                terminal.send(f"{', '.join(move.answers)}\n")
            case Cancel():
                terminal.expect("Needs approval")
                self._asked.append(asked("c1"))
                terminal.expect("\n> ")
                terminal.interrupt()
            case _:
                raise AssertionError(move)

    async def seen(self) -> list[Seen]:
        assert self._terminal is not None
        code = await asyncio.to_thread(self._terminal.finish)
        spoken = SENTENCE.findall(PASSING.sub("", self._terminal.screen))
        return [*self._asked, *map(said, spoken), ended(OUTCOMES[code], spoken[-1] if spoken else "")]

    def close(self) -> None:
        if self._terminal is not None:
            self._terminal.__exit__()


async def watch_attached(world: World, place: Place, api: SessionApi, is_on: asyncio.Event) -> list[Seen]:
    """Watch a run with `bridle attach`, which joins only what goes on."""
    process = await asyncio.create_subprocess_exec(
        *(*PROGRAM, "attach", place.session),
        cwd=place.folder,
        env=world.environ,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=DEVNULL,
    )
    assert process.stdout is not None
    first = await process.stdout.readline()
    is_on.set()
    spoken = (first + await process.stdout.read()).decode().splitlines()
    return [*map(said, spoken), ended(OUTCOMES[await process.wait()], spoken[-1])]


@asynccontextmanager
async def in_pipe(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive the program without a terminal."""
    driver = PipeDriver(world, place)
    try:
        yield driver, await world.api()
    finally:
        driver.kill()


@asynccontextmanager
async def at_terminal(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive the program at a terminal."""
    driver = TerminalDriver(world, place)
    try:
        yield driver, await world.api()
    finally:
        driver.close()
