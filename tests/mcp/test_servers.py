"""Who shares a server, when it starts, and when it ends."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import ConfigError, ToolError, UsageError
from bridle.core.ids import SessionId
from bridle.core.mcp_servers import ToolOffer
from bridle.core.messages import Text
from bridle.core.permission import Rule
from bridle.core.ports import ToolOutput
from bridle.core.server_views import PromptView, ServerView
from bridle.mcp.server import Timing
from bridle.mcp.settings import FolderServers, ServerSettings
from tests.mcp.players import CAST, ONE, OTHER, QUICK, Keep, eventually, is_alive, kept, plain, raw


async def pids(keep: Keep, *places: tuple[SessionId, Path]) -> list[int]:
    """Return which process answers in each place."""
    found = []
    for session, cwd in places:
        await keep.servers.offer(session, str(cwd))
        [settings] = (await keep.servers._found(str(cwd))).servers
        found += [one.server.pid for one in keep.servers._use(session, str(cwd), FolderServers((settings,)))]
    return found


async def test_nothing_is_started_before_it_is_needed(tmp_path: Path):
    async with kept(tmp_path, raw("chatty")) as keep:
        assert await keep.servers.views(keep.cwd) == (ServerView("mcp", "raw", "idle", "", keep.cwd),)
        assert await keep.servers.prompts(keep.cwd) == ()
        assert keep.servers._kept == {}


async def test_no_servers_are_an_empty_offer(tmp_path: Path):
    async with kept(tmp_path) as keep:
        assert await keep.offer() == ToolOffer()


async def test_wrong_settings_are_the_callers_to_hear(tmp_path: Path):
    def load(_: str) -> FolderServers:
        raise ConfigError("config.toml: no")

    async with kept(tmp_path, load=load) as keep:
        with pytest.raises(ConfigError):
            await keep.offer()


async def test_the_sessions_of_a_folder_share_one_and_folders_do_not(tmp_path: Path):
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    async with kept(tmp_path, raw("chatty")) as keep:
        first, second, third = await pids(keep, (ONE, here), (OTHER, here), (ONE, there))

        assert first == second != third


async def test_a_server_of_the_user_is_shared_by_all(tmp_path: Path):
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    settings = raw("chatty", scope="user", env={"HOME": str(tmp_path)})
    async with kept(tmp_path, settings) as keep:
        first, second = await pids(keep, (ONE, here), (OTHER, there))

        assert first == second


async def test_a_server_of_a_session_is_its_own_and_ends_with_it(tmp_path: Path):
    async with kept(tmp_path, raw("chatty", scope="session")) as keep:
        first, second = await pids(keep, (ONE, tmp_path), (OTHER, tmp_path))
        assert first != second
        assert (len(keep.servers._kept), keep.servers._leaving) == (2, {})
        await keep.servers.end_session(ONE)
        await eventually(lambda: not is_alive(first))

        assert is_alive(second)


async def test_a_folder_without_sessions_lets_go_after_a_while(tmp_path: Path):
    async with kept(tmp_path, raw("chatty"), idle_s=0.05) as keep:
        [pid] = await pids(keep, (ONE, tmp_path))
        await keep.servers.offer(OTHER, keep.cwd)
        await keep.servers.end_session(ONE)
        assert keep.servers._timers == {}
        await keep.servers.end_session(OTHER)
        assert list(keep.servers._timers) == [keep.cwd]
        await eventually(lambda: not is_alive(pid))

        assert keep.servers._kept == {}
        assert (await keep.offer()).tools != ()


async def test_a_session_that_comes_back_in_time_finds_the_same_one(tmp_path: Path):
    async with kept(tmp_path, raw("chatty")) as keep:
        first = await pids(keep, (ONE, tmp_path))
        await keep.servers.end_session(ONE)

        assert await pids(keep, (OTHER, tmp_path)) == first
        assert keep.servers._timers == {}


async def test_changed_settings_end_the_old_one_once_it_has_nothing_to_do(tmp_path: Path):
    now = [raw("hang")]
    async with kept(tmp_path, load=lambda _: FolderServers(tuple(now))) as keep:
        old = await keep.tools()
        server = keep.server()
        pid = server.pid
        hanging = asyncio.create_task(old["mcp__raw__do"].run({}, keep.context()))
        await eventually(lambda: "silence" in server.words.lines)
        now[0] = raw("chatty")
        await keep.offer(OTHER)
        assert is_alive(pid)
        assert keep.server().pid != pid
        hanging.cancel()
        await asyncio.wait([hanging])
        await eventually(lambda: not is_alive(pid))

        # A run that began before keeps its tools, which now go to the new one.
        assert await old["mcp__raw__do"].run({}, keep.context()) == ToolOutput("done")


async def test_a_server_that_was_taken_out_is_ended(tmp_path: Path):
    now: list[ServerSettings] = [raw("chatty")]
    async with kept(tmp_path, load=lambda _: FolderServers(tuple(now))) as keep:
        tools = await keep.tools()
        pid = keep.server().pid
        now.clear()
        assert await keep.offer() == ToolOffer()
        await eventually(lambda: not is_alive(pid))
        with pytest.raises(ToolError, match="MCP server raw is not available: it was stopped"):
            await tools["mcp__raw__do"].run({}, keep.context())


async def test_what_a_session_has_heard_it_is_not_told_again_until_it_changes(tmp_path: Path):
    found = FolderServers(
        (raw("exit"),), (("off", "off", "no"), ("new", "untrusted", "the project is not trusted"))
    )
    async with kept(tmp_path, load=lambda _: found, timing=Timing(delays_s=())) as keep:
        heard = (await keep.offer()).notes
        assert [note.split("\n")[0] for note in heard] == [
            "MCP server raw failed: it ended with exit status 5; its last output:",
        ]
        assert (await keep.offer()).notes == ()
        assert (await keep.offer(OTHER)).notes == heard


async def test_views_say_how_each_is(tmp_path: Path):
    found = FolderServers((raw("chatty"), raw("exit", name="bad")), (("gone", "off", "switched off"),))
    async with kept(tmp_path, load=lambda _: found, timing=Timing(delays_s=())) as keep:
        await keep.offer()
        bad, gone, good = await keep.servers.views(keep.cwd)

        assert replace(bad, detail="", pid=0) == ServerView("mcp", "bad", "failed", "", keep.cwd)
        assert gone == ServerView("mcp", "gone", "off", "switched off", keep.cwd)
        about = "raw 1, protocol 2025-11-25"
        assert good == ServerView("mcp", "raw", "ready", about, keep.cwd, tools=2, pid=keep.server().pid)


async def test_a_slow_one_comes_with_the_next_prompt(tmp_path: Path):
    async with kept(tmp_path, raw("slow", "0.4"), wait_s=0.0) as keep:
        late = await keep.offer()
        assert (late.tools, late.notes) == (
            (),
            ("MCP server raw is still starting: its tools are available with the next prompt",),
        )
        await keep.server().settled()

        assert len((await keep.offer()).tools) == 2


async def test_one_that_has_just_fallen_is_waited_for(tmp_path: Path):
    later = Timing(delays_s=(0.3, 0.3, 0.3, 0.3))
    async with kept(tmp_path, raw("crash"), timing=later) as keep:
        tools = await keep.tools()
        with pytest.raises(ToolError, match="exit status 3"):
            await tools["mcp__raw__do"].run({}, keep.context())
        await keep.until(lambda: keep.server().state == "waiting")
        offer = await keep.offer()

    assert [tool.spec.name for tool in offer.tools] == ["mcp__raw__do", "mcp__raw__other"]
    assert offer.notes == ()


async def test_one_that_falls_is_not_started_again_when_its_project_is_not_trusted_any_more(tmp_path: Path):
    found = [FolderServers((raw("crash"),))]
    async with kept(tmp_path, load=lambda _: found[0]) as keep:
        tools = await keep.tools()
        found[0] = FolderServers(inert=(("raw", "untrusted", "the project has changed"),))
        server = keep.server()
        with pytest.raises(ToolError, match="exit status 3"):
            await tools["mcp__raw__do"].run({}, keep.context())
        await keep.until(lambda: server.state == "failed")

        assert server.detail.startswith("it is not restarted because its settings or project have changed")
        assert server.pid == 0


async def test_a_prompt_is_expanded_and_starts_its_server(tmp_path: Path):
    async with kept(tmp_path, plain(), raw("never")) as keep:
        servers = keep.servers
        found = await servers.expand(ONE, keep.cwd, "/mcp__plain__greet Ann mood=wild")

        assert found == (Text("Greet Ann in a wild way."),)
        assert await servers.prompts(keep.cwd) == (
            PromptView("mcp__plain__greet", "Greet someone.", ("name", "mood?")),
        )
        assert await servers.expand(ONE, keep.cwd, "/skill x") is None
        assert await servers.expand(ONE, keep.cwd, "hello /mcp__plain__greet") is None
        with pytest.raises(UsageError, match=r"/mcp__plain__greet needs name"):
            await servers.expand(ONE, keep.cwd, "/mcp__plain__greet")
        with pytest.raises(UsageError, match=r"did you mean /mcp__plain__greet\?"):
            await servers.expand(ONE, keep.cwd, "/mcp__plain__great Ann")
        assert await servers.complete(ONE, keep.cwd, "mcp__plain__greet", "name", "A") == ()


async def test_a_prompt_of_a_server_that_fails_says_why(tmp_path: Path):
    async with kept(tmp_path, raw("exit"), timing=Timing(delays_s=())) as keep:
        with pytest.raises(UsageError, match="MCP server raw is not ready: it ended with exit status 5"):
            await keep.servers.expand(ONE, keep.cwd, "/mcp__raw__x")


async def test_all_start_and_end_at_once(tmp_path: Path):
    """Each of them answers when all have been started."""
    (tmp_path / "come").mkdir()
    many = [raw("together", str(tmp_path / "come"), "8", name=f"s{number}") for number in range(8)]
    async with kept(tmp_path, *many) as keep:
        offer = await keep.offer()
        running = [view.pid for view in await keep.servers.views(keep.cwd)]
        assert len(offer.tools) == 16
        assert all(map(is_alive, running))

    assert not any(map(is_alive, running))


async def test_after_the_end_nothing_is_offered(tmp_path: Path):
    async with kept(tmp_path, raw("chatty")) as keep:
        await keep.offer()
        await keep.servers.aclose()

        assert await keep.offer() == ToolOffer()


async def test_an_offer_that_is_cancelled_leaves_servers_to_the_next(tmp_path: Path):
    async with kept(tmp_path, raw("slow", "0.3"), timing=QUICK) as keep:
        offering = asyncio.create_task(keep.offer())
        await eventually(lambda: keep.servers._kept != {})
        offering.cancel()
        await asyncio.wait([offering])

        assert offering.cancelled()
        assert len((await keep.offer()).tools) == 2


async def test_a_confined_one_cannot_write_outside(tmp_path: Path):
    script = shutil.copy(CAST / "raw.py", tmp_path)
    argv = (sys.executable, "-I", "-S", script, "children")
    inside = replace(raw("", confined=True), argv=(*argv, str(tmp_path / "pids")))
    outside = replace(raw("", name="outside", confined=True), argv=(*argv, "/usr/pids"))
    async with kept(tmp_path, inside, outside, timing=Timing(delays_s=())) as keep:
        offer = await keep.offer()

        assert [tool.spec.name for tool in offer.tools] == ["mcp__raw__do", "mcp__raw__other"]
        assert "Read-only file system" in offer.notes[0]


async def test_a_confined_one_cannot_read_what_rules_deny(tmp_path: Path):
    (tmp_path / "keys").write_text("hidden")
    code = "import sys; sys.stderr.write(open('keys').read())"
    denied = (Rule("deny", "read_file", "keys"),)
    spy = replace(raw("", confined=True, rules=denied), argv=(sys.executable, "-I", "-S", "-c", code))
    async with kept(tmp_path, spy, timing=Timing(delays_s=())) as keep:
        [note] = (await keep.offer()).notes

        assert "PermissionError" in note
        assert "hidden" not in note


OWNER = """
import asyncio, sys
from pathlib import Path
from tests.mcp.players import kept, raw

async def main(folder):
    both = [raw("children", str(folder / name), name=name) for name in ("one", "two")]
    async with kept(folder, *both) as keep:
        await keep.offer()
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_nothing_outlives_an_owner_that_is_killed(tmp_path: Path):
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])},
    )
    assert owner.stdout is not None
    with owner, owner.stdout:
        assert await asyncio.to_thread(owner.stdout.readline) == b"ready\n"
        family = [int(pid) for name in ("one", "two") for pid in (tmp_path / name).read_text().split()]
        assert len(family) == 4
        assert all(map(is_alive, family))
        owner.kill()

    await eventually(lambda: not any(map(is_alive, family)))


def test_the_sdk_is_not_loaded_before_a_server_is_started():
    code = (
        "import bridle.mcp.servers, sys; print({'mcp', 'mcp_types', 'anyio', 'pydantic'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout == "set()\n"
