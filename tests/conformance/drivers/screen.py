"""The terminal interface: press keys, and read the screen."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

from bridle.config.settings import load_settings
from bridle.core.protocol import Cancel, Decide, Prompt, Reply, Resume, Steer
from bridle.core.session_api import SessionApi
from bridle.surfaces.tui.app import BridleApp
from bridle.surfaces.tui.panels.card import Card
from bridle.surfaces.tui.session_connector import open_sessions
from bridle.surfaces.tui.startup import StartOptions
from tests.conformance.drivers.board import SHOWN as SHOWN_BY_BOARD
from tests.conformance.drivers.board import noted, told_by_board
from tests.conformance.scenario import Move, Scenario
from tests.conformance.seen import Seen, asked, began, ended, finished, said, thought
from tests.conformance.world import Driver, Place, World
from tests.surfaces.tui.stage import Tui

SHOWN = SHOWN_BY_BOARD - {"started"}
"""What is over does not say any more that it was begun."""

SIZE = (100, 40)
DECISIONS = {"once": ("y",), "session": ("s",), "always": ("a",), "deny": ("n", "enter"), "stop": ("x",)}
GOES_ON = "twice to cancel the run"
CUT_OFF = "the last run was interrupted"
"""Both stand in the empty prompt."""
OUTCOMES = {
    "done": "completed",
    "denied": "denied",
    "cancelled": "cancelled",
    "out of budget": "budget_exhausted",
}

BODY = re.compile(r" *(?P<sign>[│├▌])(?P<gap>.?)(?P<text>.*)")
GOES_ON_BELOW = re.compile(r" {2,}[^\s│├✓✗]")
CALL = re.compile(r"(?P<indent> *)(?P<mark>[✓✗]) (?P<tool>\w+)(?P<about>.*)")
NOTE = re.compile(r"[·!] (?P<text>.*)")
RULE = re.compile(r"── . (?P<word>[a-z ]+)")
THOUGHT = "▾ thought"
SAID = "▌ "
STEERED = "▌ sent to the active run"
OUTPUT = "├ output"
CHOICE = re.compile(r"^┃ \d (\w+)", re.MULTILINE)


def told_on_screen(scenario: Scenario) -> Sequence[Seen]:
    """Return what of a story is shown: calls by their tools, and what was before a run was cut off."""
    story = told_by_board(scenario)
    if Seen("resumed") in story:
        story = [began(), Seen("called", "bash", "c1"), *story]
    return [line._replace(what=line.what.split()[0]) if line.kind == "called" else line for line in story]


# ---------------------------------------------------------------------------- reading


def read(screen: Sequence[str], prompt: str) -> list[Seen]:
    """Return what is shown of the last run that began with a prompt, up to its end."""
    begin = max(at for at, line in enumerate(screen) if line == f"{SAID}{prompt}")
    told, calls, inner = [began()], 0, 0
    for head, body in _blocks(screen[begin + 1 :]):
        if found := CALL.fullmatch(head):
            calls, inner = (calls, inner + 1) if found["indent"] else (calls + 1, 0)
            told += _call(found, f"c{calls}.{inner}" if inner else f"c{calls}", body)
        elif found := RULE.match(head):
            spoken = [line.what for line in told if line.kind == "said"]
            return [*told, ended(OUTCOMES[found["word"].strip()], spoken[-1] if spoken else "")]
        elif found := NOTE.fullmatch(head):
            told += noted(found["text"])
        elif head == STEERED:
            told.append(Seen("steered", "\n".join(body)))
        elif head.startswith(THOUGHT):
            told.append(thought("\n".join(body)))
        else:
            told.append(said(head))
    raise AssertionError("the run has no end")


def _call(head: re.Match[str], call: str, body: list[str]) -> Iterator[Seen]:
    yield Seen("called", head["tool"], call)
    if " · sub-agent " in head["about"]:
        yield Seen("spawned")
    if OUTPUT in body:
        body = body[body.index(OUTPUT) + 1 :]
    elif head["about"].endswith(" · denied"):
        body = body[-1:]  # above it may stand why
    yield finished(call, "\n".join(body), is_error=head["mark"] == "✗")


def _blocks(screen: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Put lines that were wrapped together again, and what stands behind a bar below its head."""
    blocks: list[tuple[str, list[str]]] = []
    width, before = max(map(len, screen)), ""  # the rule at the end of a run is as wide as there is room
    for line in filter(None, screen):
        found = BODY.fullmatch(line)
        if found is None and GOES_ON_BELOW.match(line):
            head, body = blocks.pop()
            blocks.append((f"{head} {line.strip()}", body))
        elif found is None or (found["sign"] == "▌" and not before.startswith("▌")):
            blocks.append((line, []))
        elif found["sign"] == "├":
            blocks[-1][1].append(line.strip())
        elif found["gap"] == "↪":
            blocks[-1][1][-1] += " " * (width - len(before)) + found["text"]
        else:
            blocks[-1][1].append(found["text"])
        before = line
    return blocks


# ---------------------------------------------------------------------------- driving


class ScreenDriver:
    """A person at a terminal."""

    def __init__(self, tui: Tui, place: Place) -> None:
        self._tui = tui
        self._place = place
        self._asked: list[Seen] = []

    async def start(self) -> None:
        await self.open()
        await self._write(self._place.scenario.prompt, "enter")
        if self._place.scenario.begins:
            await self._tui.until(lambda: self._tui.app.front.session)
            session = self._tui.app.front.session
            assert session is not None
            self._place.session = session

    async def open(self) -> None:
        """Show the session of the play, or the start screen in its folder."""
        app, place = self._tui.app, self._place
        if place.scenario.begins:
            app.open_session(None, place.cwd)
        elif app.front.session != place.session:
            app.open_session(place.session)
            await self._tui.until(lambda: app.front.head)

    async def _write(self, text: str, key: str) -> None:
        await self._tui.type(text)
        await self._tui.press(key)

    async def do(self, move: Move) -> None:
        tui = self._tui
        match move:
            case Decide():
                await self._look(asked(move.call_id), "Needs approval")
                await tui.press(*DECISIONS[move.answer])
            case Reply():
                await self._look(Seen("question", "Which?", move.call_id), "the model asks", "Which?")
                await self._reply(move)
            case Steer():
                await tui.sees(GOES_ON)
                await self._write(move.message.text, "ctrl+s")
            case Prompt():
                await tui.sees(GOES_ON)
                await self._write(move.message.text, "enter")
            case Cancel():
                await self._cancel()
            case Resume():
                await self.open()
                await tui.sees(CUT_OFF)
                await tui.press("enter")

    async def _look(self, line: Seen, *words: str) -> None:
        """Wait for the question, and until it accepts keys."""
        await self._tui.sees(*words)
        [card] = self._tui.app.screen.query(Card)
        await self._tui.until(lambda: card.has_focus_within and card._hears_at <= time.monotonic())
        self._asked.append(line)

    async def _reply(self, move: Reply) -> None:
        choices = CHOICE.findall(self._tui.screen)
        if move.answers:
            [answer] = move.answers
            await self._tui.press(*["down"] * choices.index(answer), "enter")
        else:
            await self._tui.press("escape", "x")  # the field for own words would take it for a letter

    async def _cancel(self) -> None:
        scenario = self._place.scenario
        if scenario.too_early is not None:
            await self.open()
        elif scenario.needs_person:
            await self._look(asked("c1"), "Needs approval")
            await self._tui.press("escape")  # back to the prompt
        else:
            await self._tui.sees(GOES_ON)
        await self._tui.press("escape", "escape")

    async def seen(self) -> list[Seen]:
        await self._tui.until(self._is_over)
        await self._tui.press("tab", "o", "G")  # opens all that is folded
        lines = read(self._lines, self._place.scenario.prompt)
        for one in self._asked:
            at = next(at for at, line in enumerate(lines) if line.call == one.call)
            lines.insert(at + 1, one)
        return lines

    @property
    def _lines(self) -> list[str]:
        view = self._tui.app.main.conversation
        return [view.render_line(y).text[1:].rstrip() for y in range(view.size.height)]

    def _is_over(self) -> bool:
        """Return whether the end of the run is shown below its prompt."""
        lines = self._lines
        begins = [at for at, line in enumerate(lines) if line == f"{SAID}{self._place.scenario.prompt}"]
        return bool(begins) and any(map(RULE.match, lines[begins[-1] :]))


@asynccontextmanager
async def opened(world: World) -> AsyncIterator[Tui]:
    """Show the interface over the daemon."""
    environ, cwd = dict(world.environ), str(world.root)
    settings = load_settings(environ, world.root)
    app = BridleApp(settings, environ, StartOptions(cwd), lambda tell: open_sessions(environ, cwd, tell))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        tui = Tui(app, pilot)
        await tui.until(lambda: app.link.state == "ready" and app.main.panels)
        assert app.main.panels is not None
        app.main.panels.asked._guard_s = 0.0  # no one waits here to have read it
        yield tui


async def watch_screen(world: World, place: Place, api: SessionApi, is_on: asyncio.Event) -> list[Seen]:
    """Watch a session on a separate screen."""
    async with opened(world) as tui:
        driver = ScreenDriver(tui, place)
        await driver.open()
        is_on.set()
        return await driver.seen()


@asynccontextmanager
async def on_screen(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive the interface."""
    api = await world.api()
    async with opened(world) as tui:
        yield ScreenDriver(tui, place), api
