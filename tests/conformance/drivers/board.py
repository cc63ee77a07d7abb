"""The traffic of the web page: a login, commands, the view model of a session and its patches."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import aiohttp
import msgspec
from msgspec.structs import replace

from bridle.core.codec import encode
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Prompt, Resume, Steer
from bridle.core.session_api import SessionApi
from bridle.surfaces.shared.view_model.view_types import (
    Answer,
    Call,
    Head,
    HeadChanged,
    Item,
    Note,
    Patch,
    Put,
    Said,
    Thought,
    ViewSnapshot,
)
from tests.conformance.drivers.rest import Client, events
from tests.conformance.scenario import Move, Scenario
from tests.conformance.seen import KINDS, Seen, asked, began, called, ended, finished, said, started, thought
from tests.conformance.world import Driver, Place, World
from tests.surfaces.shared.view_model.screen import DictScreen

SHOWN = KINDS - {"decided", "answered", "exhausted"}
"""What was answered is seen in what becomes of the call, and an empty budget in the end of the run."""

NOTES = {
    "goes on after it was cut off": Seen("resumed"),
    "retrying in ": Seen("retried"),
    "compacted: ": Seen("compacted"),
    "agent-1 is done": Seen("returned", "completed"),
}
"""How notes begin, and what they tell."""

BRIEF = ("retried", "compacted", "spawned")
"""Told without the number of the attempt, the words of the summary and the name of the sub-agent."""

_patch: msgspec.json.Decoder[Patch] = msgspec.json.Decoder(Patch)


def told_by_board(scenario: Scenario) -> Sequence[Seen]:
    """Return what of a story a person sees."""
    return [Seen(line.kind) if line.kind in BRIEF else line for line in scenario.story]


def noted(text: str) -> list[Seen]:
    """Return the content of a notice."""
    return [line for words, line in NOTES.items() if text.startswith(words)]


class BoardReducer:
    """Applies patches, and reports what is new on the screen."""

    def __init__(self, view: ViewSnapshot) -> None:
        self._screen = DictScreen(view)
        self._answer = ""

    def feed(self, patch: Patch) -> list[Seen]:
        """Return the visible part of one patch."""
        head, items = self._screen.head, {item.key: item for item in self._screen.items}
        assert not self._screen.apply([patch]), "everything would be loaded anew"
        match patch:
            case HeadChanged():
                return list(_asked(head, patch.head))
            case Put():
                return self._put(items.get(patch.item.key), patch.item)
            case _:
                return []

    def _put(self, before: Item | None, item: Item) -> list[Seen]:
        match item:
            case Answer(is_live=False) | Thought(is_live=False):
                return self._spoken(before, item)
            case Said(source="steer"):
                return [Seen("steered", item.text)]
            case Call():
                return list(_worked(before if isinstance(before, Call) else None, item))
            case Note(outcome=str() as outcome):
                return [ended(outcome, self._answer)]
            case Note():
                return noted(item.text)
            case _:
                return []

    def _spoken(self, before: Item | None, item: Answer | Thought) -> list[Seen]:
        if isinstance(before, Answer | Thought):
            assert before.text == item.text, "it was streamed otherwise"
            if not before.is_live:
                return []
        if isinstance(item, Thought):
            return [thought(item.text)]
        self._answer = item.text
        return [said(item.text)]


def _asked(before: Head, head: Head) -> Iterable[Seen]:
    """Report the start of a run, and the questions to the user."""
    if head.run is not None and (before.run is None or before.run.run_id != head.run.run_id):
        yield began()
    known = {one.call_id for one in (*before.approvals, *before.questions)}
    yield from (asked(one.call_id) for one in head.approvals if one.call_id not in known)
    for one in head.questions:
        if one.call_id not in known:
            yield Seen("question", one.question.text, one.call_id)


def _worked(before: Call | None, call: Call) -> Iterable[Seen]:
    if (before is None or before.state == "writing") and call.state != "writing":
        yield called(call.call_id, call.tool, **call.args)
    if call.started_at and not (before and before.started_at):
        yield started(call.call_id)
    if call.child and not (before and before.child):
        yield Seen("spawned")
    if _is_over(call) and not (before and _is_over(before)):
        yield finished(call.call_id, call.output, is_error=call.state != "done")


def _is_over(call: Call) -> bool:
    return call.state in ("done", "failed") or (call.state == "denied" and bool(call.output))


async def browser(world: World) -> Client:
    """Return a client that has followed the link of `bridle web`, and has no token."""
    if "browser" not in world.kept:
        link = (await (await world.api()).open_web()).url
        origin = link.partition("/login")[0]
        jar = aiohttp.CookieJar(unsafe=True)  # which keeps cookies of addresses too
        headers = {"origin": origin, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
        opened = aiohttp.ClientSession(origin, cookie_jar=jar, headers=headers)
        http = world.kept["browser"] = await world.stack.enter_async_context(opened)
        async with http.get(link, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["location"]) == (303, "/")
    kept: Client = world.kept["browser"]
    return kept


class PageDriver:
    """Commands are posted; the board is loaded once, and then its patches come."""

    def __init__(self, http: Client, place: Place) -> None:
        self._http = http
        self._place = place
        self._watching: asyncio.Task[list[Seen]] | None = None

    async def start(self) -> None:
        scenario = self._place.scenario
        if scenario.begins:
            body = {"prompt": "", "initial_turn": "deferred", "cwd": self._place.cwd}
            opened = await self._post("/sessions", body, 201)
            self._place.session = SessionId(opened["session_id"])
        await self._begin(Prompt(user_message(scenario.prompt), scenario.options))

    async def _begin(self, command: Prompt | Resume) -> None:
        view = await load(self._http, self._place)
        is_open, begun = asyncio.Event(), asyncio.get_running_loop().create_future()
        self._watching = asyncio.create_task(self._watch(view, is_open, begun))
        await is_open.wait()
        begun.set_result((await self._submit(command))["run_id"])

    async def _watch(
        self, view: ViewSnapshot, is_open: asyncio.Event, begun: asyncio.Future[str]
    ) -> list[Seen]:
        reducer, told = BoardReducer(view), list[Seen]()
        async with aclosing(patches(self._http, self._place, view.head.seq, is_open)) as coming:
            async for patch in coming:
                told += reducer.feed(patch)
                if (run_id := _ended(patch)) is not None and run_id == await begun:
                    break
        return told

    async def do(self, move: Move) -> None:
        await (self._begin(move) if isinstance(move, Resume) else self._submit(move))

    async def _submit(self, command: Move) -> Any:
        key = {"idempotency-key": uuid.uuid4().hex} if isinstance(command, Prompt | Steer) else {}
        return await self._post(f"/sessions/{self._place.session}/commands", command, **key)

    async def _post(self, path: str, body: Any, status: int = 200, **headers: str) -> Any:
        headers["content-type"] = "application/json"
        async with self._http.post(path, data=encode(body), headers=headers) as answer:
            assert answer.status == status, await answer.text()
            return await answer.json(content_type=None)

    async def seen(self) -> list[Seen]:
        assert self._watching is not None
        return await self._watching


async def load(http: Client, place: Place) -> ViewSnapshot:
    """Load the board of a session."""
    async with http.get(f"/sessions/{place.session}/board") as answer:
        assert answer.status == 200, await answer.text()
        return msgspec.json.decode(await answer.read(), type=ViewSnapshot)


async def patches(http: Client, place: Place, after: int, is_open: asyncio.Event) -> AsyncIterator[Patch]:
    """Yield the patches of a session; news of all sessions come between them."""
    path = f"/sessions/{place.session}/stream?speech=board&after={after}&news=true"
    async with aclosing(events(http, path, is_open)) as coming:
        async for name, data in coming:
            if name != "news":
                yield _patch.decode(data)


def _ended(patch: Patch) -> str | None:
    """Return the run whose end a patch reports."""
    return patch.item.run_id if isinstance(patch, Put) and isinstance(patch.item, Note) else None


async def watch_page(world: World, place: Place, api: SessionApi, is_on: asyncio.Event) -> list[Seen]:
    """Watch a session from what is shown of it when the page is opened."""
    http = await browser(world)
    view = await load(http, place)
    reducer = BoardReducer(ViewSnapshot(replace(view.head, run=None), (), None))
    told = [line for patch in (HeadChanged(view.head), *map(Put, view.items)) for line in reducer.feed(patch)]
    async with aclosing(patches(http, place, view.head.seq, is_on)) as coming:
        async for patch in coming:
            told += reducer.feed(patch)
            if _ended(patch) is not None:
                break
    return told


@asynccontextmanager
async def on_page(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive as the page does."""
    yield PageDriver(await browser(world), place), await world.api()
