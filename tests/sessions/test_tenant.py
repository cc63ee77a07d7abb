"""Everything stored for a session belongs to the session's tenant, whoever asks."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bridle.core.errors import UsageError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, user_message
from bridle.core.protocol import (
    ApprovalRequested,
    Decide,
    Prompt,
    Record,
    RunEnded,
    RunOptions,
    ToolFinished,
)
from bridle.core.queries import Changes, PlanRewind, PreviewContext, Records
from bridle.core.tenancy import Tenant
from bridle.scale.tenant_folders import TenantFolders
from bridle.system.current_tenant import current
from bridle.tools.read_file import ReadFile
from tests.local_tenants import LocalTenants
from tests.sessions.stage import Play, SmallTool, Stage, call, says

MINE = SessionId("acme.1")


class NotingKeeper:
    """Notes for whom it works."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str]] = set()

    def keeper(self, session: SessionId, cwd: str) -> "NotingKeeper":
        return self

    def collect(self, *, is_over: bool = False) -> Sequence[Any]:
        self.seen.add(("collect", current.get()))
        return ()

    def confirm(self) -> None:
        pass

    def look(self, paths: Sequence[str]) -> dict[str, Any]:
        self.seen.add(("look", current.get()))
        return {}


async def test_looking_at_files_keeps_them_for_the_tenant_of_the_session():
    keeper = NotingKeeper()
    async with Stage(Play(), revisions=keeper) as stage:
        await stage.service.create(cwd="/", session_id=MINE)

        await stage.service.ask(Changes(MINE))
        await stage.service.ask(PlanRewind(MINE, 1))

        assert keeper.seen == {("collect", "acme"), ("look", "acme")}
        assert current.get() == ""


async def test_a_prompt_that_a_crash_has_left_in_the_queue_runs_for_the_tenant_of_the_session():
    seen: list[str] = []
    tool = SmallTool("touch", lambda on: seen.append(current.get()) or "touched")
    play = Play(says("", call("c1", "touch")), says("two"), hold=True)
    async with Stage(play, tools=[tool]) as stage:
        await stage.service.create(cwd="/", session_id=MINE)
        await stage.service.submit(MINE, Prompt(user_message("a")))
        await play.streaming.wait()
        await stage.service.submit(MINE, Prompt(user_message("b")))
        await stage.service.set_aside(MINE)
        play.go.set()

        await stage.service.give_up(MINE, "lost")
        await stage.service.begin_queued(MINE)
        await stage.service.until_free(MINE)

        ends = [
            one.event for one in await stage.service.ask(Records(MINE)) if isinstance(one.event, RunEnded)
        ]
        assert ([end.outcome for end in ends], seen) == (["failed", "completed"], ["acme"])


async def test_the_folder_of_a_run_is_looked_at_when_the_run_begins():
    """A program may have replaced the folder with a link since the session started."""
    looked: list[tuple[str, str]] = []
    allowed = {"/", "/tmp"}

    class Places:
        async def check_session(self, session: SessionId, cwd: str) -> None:
            looked.append((session, cwd))
            if cwd not in allowed:
                raise UsageError("no folder of yours")

        async def bounds(self, session: SessionId) -> None:
            return None

    play = Play(says("one"), says("two"))
    async with Stage(play, workplaces=Places()) as stage:
        await stage.service.create(cwd="/", session_id=MINE)
        await stage.service.submit(MINE, Prompt(user_message("a"), RunOptions(cwd="/tmp")))
        await stage.service.until_free(MINE)
        allowed.clear()

        for act in (
            stage.service.submit(MINE, Prompt(user_message("b"), RunOptions(cwd="/tmp"))),
            stage.service.submit(MINE, Prompt(user_message("b"))),
            stage.service.ask(PreviewContext(MINE)),
            stage.service.ask(PlanRewind(MINE, 1)),
        ):
            with pytest.raises(UsageError, match="no folder of yours"):
                await act

        assert await stage.service.ask(Changes(MINE)) == []
        assert looked == [(MINE, cwd) for cwd in ("/tmp", "/tmp", "/", "/", "/", "/")]


async def test_no_run_of_a_tenant_begins_where_nothing_holds_programs_apart(tmp_path: Path):
    tenants = LocalTenants(os.urandom)
    tenants.put(Tenant("acme"))
    places = TenantFolders(tenants, str(tmp_path), "sandbox.mode is off")
    async with Stage(Play(says("done")), workplaces=places) as stage:
        await stage.service.create(cwd=str(tmp_path / "acme"), session_id=MINE)
        with pytest.raises(UsageError, match=r"need a sandbox, but on this worker sandbox\.mode is off"):
            await stage.service.submit(MINE, Prompt(user_message("a")))

        ours = await stage.service.create(cwd=str(tmp_path))
        receipt = await stage.service.submit(ours, Prompt(user_message("a")))
        assert receipt.run_id is not None
        assert (await stage.service.wait(ours, receipt.run_id)).outcome == "completed"


async def test_no_rule_of_a_client_opens_the_files_of_others(tmp_path: Path):
    """Tools that read and write files do so outside of every sandbox: rules alone hold them."""
    for name in ("acme", "bolt"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "secret").write_text(f"the word of {name}")
    tenants = LocalTenants(os.urandom)
    tenants.put(Tenant("acme"))
    everything = ("read_file(/**)", f"read_file({tmp_path}/bolt/**)", f"read_file({tmp_path}/acme/**)")
    paths = [f"{tmp_path}/bolt/secret", "../bolt/secret", f"{tmp_path}/acme/secret"]
    play = Play(
        says("", *(ToolCall(CallId(f"r{at}"), "read_file", {"path": path}) for at, path in enumerate(paths))),
        says("", call("w", "touch")),
        says("", ToolCall(CallId("again"), "read_file", {"path": paths[0]})),
        says("done"),
    )
    tools = [ReadFile(), SmallTool("touch", lambda on: "touched", access="write")]
    async with Stage(play, tools=tools, workplaces=TenantFolders(tenants, str(tmp_path))) as stage:
        await stage.service.create(cwd=str(tmp_path / "acme"), session_id=MINE)
        receipt = await stage.service.submit(MINE, Prompt(user_message("a"), RunOptions(allow=everything)))
        async for item in stage.service.watch(MINE):
            if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
                break
        await stage.service.submit(MINE, Decide(CallId("w"), "session", rules=everything))
        await stage.service.wait(MINE, receipt.run_id)

        said = {
            one.event.result.call_id: one.event.result
            for one in await stage.service.ask(Records(MINE))
            if isinstance(one.event, ToolFinished)
        }
        assert {name: result.is_error for name, result in said.items()} == {
            "r0": True,
            "r1": True,
            "r2": False,
            "w": False,
            "again": True,
        }
        assert "the word of bolt" not in str(said)
