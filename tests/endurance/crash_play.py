"""One play with all features, which can be resumed from any point.

Two runs with parallel reads, approvals, changes of files, an output that is too long for its record, a
sub-agent and a prompt that waits in the queue; then a compaction and a run after it. What the user does
next is read from the record alone, so whoever takes the play up knows what is left to be done.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from bridle.app import Extensions, open_service
from bridle.config.settings import load_settings
from bridle.core.errors import SessionNotFound
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import (
    Aborted,
    ApprovalDecided,
    ApprovalRequested,
    ChildStarted,
    Command,
    Compact,
    Compacted,
    Decide,
    MessageAdded,
    Prompt,
    PromptQueued,
    Record,
    Resume,
    RunEnded,
    RunStarted,
)
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi
from bridle.core.tool import Access, AccessClass, Subject, ToolSpec
from bridle.surfaces.shared.session_calls import read_session

MAIN = SessionId("main")
PATIENCE_S = 10.0
LONG = "a long output " * 600
PARAMETERS = {"type": "object", "properties": {"on": {"type": "string"}}, "required": ["on"]}
SETTINGS = """\
model = "scripted/{folder}/script.json"

[store]
backend = "{kind}"

[sandbox]
mode = "off"

[compaction]
keep_turns = 0

[memory]
enabled = false

[tools]
max_output_bytes = 6000

[rules]
allow = ["note(*)"]
"""


USAGE = {"input": 20, "output": 10}


def _call(call_id: str, tool: str, **args: Any) -> dict[str, Any]:
    return {"id": call_id, "name": tool, "args": args}


def _turn(prompt: str, text: str, *calls: dict[str, Any]) -> dict[str, Any]:
    """Make a reply of a prompt's own, so that a compaction moves none."""
    return {"match": f"^{prompt}$", "text": text, "calls": calls, "usage": USAGE}


SCRIPT = (
    _turn("go", "I look.", _call("c1", "look", on="left"), _call("c2", "look", on="right")),
    _turn("go", "", _call("c3", "read_file", path="a.txt")),
    _turn("go", "", _call("c4", "write_file", path="b.txt", content="written\n")),
    _turn("go", "", _call("c5", "note", on="first")),
    _turn("go", "", _call("c6", "edit_file", path="a.txt", old_str="one", new_str="two")),
    _turn("go", "", _call("c7", "agent_spawn", prompt="be one")),
    _turn("go", "Done."),
    _turn("be one", "", _call("k1", "look", on="around"), _call("k2", "note", on="second")),
    _turn("be one", "", _call("k3", "write_file", path="c.txt", content="by a child\n")),
    _turn("be one", "I am one."),
    _turn("more", "", _call("c8", "note", on="third")),
    _turn("more", "And more."),
    {"match": "ummar", "text": "They said much.", "usage": USAGE},
    _turn("last", "", _call("c9", "look", on="back")),
    _turn("last", "The end."),
)


class RunAborted(Exception):
    """A run ended although its end could not be recorded."""


class Note:
    """Leaves one line in a file for every time it ran; the first note also has a prompt queued."""

    def __init__(self, name: str, access: AccessClass, folder: Path) -> None:
        self.parallel = access == "read"
        self.spec = ToolSpec(name, "Leaves a note.", PARAMETERS)
        self.api: SessionApi | None = None
        self._access: AccessClass = access
        self._notes = folder / "notes"

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        return Access(self.spec.name, self._access, (Subject("path", args["on"]),))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        with open(self._notes, "ab", buffering=0) as notes:
            notes.write(f"{args['on']}\n".encode())
        if args["on"] == "first":
            assert self.api is not None
            await self.api.submit(MAIN, Prompt(user_message("more"), key="more"))
        return ToolOutput(f"noted {args['on']}: {LONG if self._access == 'write' else ''}")


def set_up(folder: Path, kind: str) -> None:
    """Make the home, the project and the script."""
    (folder / "home").mkdir()
    (folder / "project").mkdir()
    (folder / "project" / "a.txt").write_text("one\n" + "It was a long and winding road.\n" * 100)
    (folder / "home" / "config.toml").write_text(SETTINGS.format(folder=folder, kind=kind))
    (folder / "script.json").write_text(json.dumps({"replies": SCRIPT}))


def environ_of(folder: Path) -> dict[str, str]:
    """Return what programs would see."""
    return {"BRIDLE_HOME": str(folder / "home"), "HOME": str(folder), "PATH": "/usr/bin:/bin"}


def open_play(folder: Path) -> SessionApi:
    """Open the engine on what is there."""
    environ = environ_of(folder)
    note = Note("note", "write", folder)
    look = Note("look", "read", folder)
    api = open_service(
        load_settings(environ, folder / "project"), environ, extensions=Extensions(tools=(note, look))
    )
    note.api = api
    return api


async def play(folder: Path) -> dict[str, list[Record]]:
    """Play to the end from wherever it was cut off; return the logs of all sessions."""
    api = open_play(folder)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await _go_on(api, str(folder / "project"))
            main = await api.ask(Records(MAIN))
            children = [record.event.child for record in main if isinstance(record.event, ChildStarted)]
            return {
                "main": main,
                **{f"child {n}": await api.ask(Records(child)) for n, child in enumerate(children)},
            }
    finally:
        await api.aclose()


async def _go_on(api: SessionApi, cwd: str) -> None:
    try:
        known = await api.ask(Records(MAIN))
    except SessionNotFound:
        await api.create(cwd=cwd, session_id=MAIN)
        known = []
    session = await read_session(api, MAIN)
    if session.run is not None or session.known.queue:
        await api.submit(MAIN, Resume())
    answered = {record.event.call_id for record in known if isinstance(record.event, ApprovalDecided)}
    seen: list[Any] = []
    heard = len(known)  # what comes up to here is no news: it asks for no move
    async with aclosing(api.watch(MAIN)) as items:
        async for item in items:
            if isinstance(item, Aborted):
                raise RunAborted(item.reason)
            if not isinstance(item, Record):
                continue
            seen.append(item.event)
            if isinstance(item.event, ApprovalRequested) and item.event.call_id not in answered:
                answered.add(item.event.call_id)
                await api.submit(MAIN, Decide(item.event.call_id, "once"))
            if item.seq < heard or not _is_at_rest(seen):
                continue
            command = _next_move(seen)
            if command is None:
                return
            heard = (await api.submit(MAIN, command)).seq


def _is_at_rest(events: Sequence[Any]) -> bool:
    """Return whether every run has ended and the queue is empty."""
    begun = sum(isinstance(event, RunStarted) for event in events)
    ended = sum(isinstance(event, RunEnded) for event in events)
    queued = sum(isinstance(event, PromptQueued) for event in events)
    taken = sum(text == "more" for text in _said(events))
    return begun == ended and queued <= taken


def _next_move(events: Sequence[Any]) -> Command | None:
    """Return what the user does next; None when there is nothing more."""
    said = set(_said(events))
    if "go" not in said:
        return Prompt(user_message("go"), key="go")
    if "more" not in said:  # whoever should have queued it was cut off before
        return Prompt(user_message("more"), key="more")
    if not any(isinstance(event, Compacted) for event in events):
        return Compact()
    if "last" not in said:
        return Prompt(user_message("last"), key="last")
    return None


def _said(events: Sequence[Any]) -> Iterator[str]:
    return (event.message.text for event in events if isinstance(event, MessageAdded))
