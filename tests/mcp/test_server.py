"""One server, well-behaved or not, over real pipes."""

import asyncio
import os
import signal
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ports import ToolOutput
from bridle.mcp.server import Timing
from tests.mcp.players import OTHER, QUICK, eventually, is_alive, kept, plain, raw
from tests.patience import PATIENCE_S


async def test_a_tool_is_called(tmp_path: Path):
    async with kept(tmp_path, plain()) as keep:
        assert await keep.call("mcp__plain__add", {"a": 1, "b": 2}) == ToolOutput("3")
        assert await keep.call("mcp__plain__fail") == ToolOutput("Error executing tool fail", is_error=True)


async def test_one_that_exits_at_once_is_named_with_its_last_words(tmp_path: Path):
    async with kept(tmp_path, raw("exit", env={"API_TOKEN": "sesame-123"}), timing=Timing()) as keep:
        offer = await keep.offer()

        assert offer.tools == ()
        said = "secret is (hidden)\nI cannot find my files (hint: bridle mcp test raw)"
        assert offer.notes == (
            f"MCP server raw failed: it ended with exit status 5; its last output:\n{said}",
        )


async def test_last_words_are_those_of_the_last_life(tmp_path: Path):
    async with kept(tmp_path, raw("exit")) as keep:
        await keep.offer()
        await keep.until(lambda: keep.server().state == "failed")
        assert keep.server().detail == (
            "it ended with exit status 5; its last output:\nsecret is\nI cannot find my files"
        )


async def test_a_program_that_is_not_there_is_named(tmp_path: Path):
    async with kept(tmp_path, replace(raw("exit"), argv=("no-such-program",))) as keep:
        [note] = (await keep.offer()).notes

        assert note.startswith("MCP server raw failed: ")
        assert "no-such-program" in note


async def test_one_that_never_answers_does_not_hold_up_a_prompt(tmp_path: Path):
    async with kept(tmp_path, raw("never"), raw("chatty", name="quick"), wait_s=0.0) as keep:
        await keep.offer(OTHER)
        await keep.server("quick").settled()
        offer = await keep.offer()

        assert [tool.spec.name for tool in offer.tools] == ["mcp__quick__do", "mcp__quick__other"]
        assert offer.notes == (
            "MCP server raw is still starting: its tools are available with the next prompt",
        )
        assert (await keep.offer()).notes == ()


async def test_one_that_does_not_answer_in_time_has_failed(tmp_path: Path):
    async with kept(tmp_path, raw("never", start_timeout_s=0.2), timing=Timing(delays_s=())) as keep:
        [note] = (await keep.offer()).notes

        assert note.startswith("MCP server raw failed: it did not answer within 0.2 s")
        assert keep.server().state == "failed"


async def test_what_is_printed_between_messages_is_kept_and_not_read(tmp_path: Path):
    async with kept(tmp_path, raw("chatty")) as keep:
        assert await keep.call("mcp__raw__do") == ToolOutput("done")
        assert keep.server().words.lines == (
            "secret is",
            "Welcome to my server!",
            '{"level": "info", "msg": "ready"}',
            "\ufffd\ufffd not UTF-8",
        )


async def test_a_call_that_hangs_ends_and_others_go_on(tmp_path: Path):
    async with kept(tmp_path, raw("hang", timeout_s=0.5)) as keep:
        tools = await keep.tools()
        hanging = asyncio.create_task(tools["mcp__raw__do"].run({}, keep.context()))
        assert await tools["mcp__raw__other"].run({}, keep.context()) == ToolOutput("done")
        with pytest.raises(ToolError, match=r"MCP server raw did not finish do within 0\.5 s"):
            await hanging
        await eventually(lambda: any("told to stop" in line for line in keep.server().words.lines))
        assert keep.server().state == "ready"


@pytest.mark.parametrize("make", [raw, plain])
async def test_a_cancelled_call_settles_at_once_and_the_server_is_told(tmp_path: Path, make: object):
    settings = raw("hang") if make is raw else plain()
    name = "mcp__raw__do" if make is raw else "mcp__plain__hang"
    async with kept(tmp_path, settings) as keep:
        tools = await keep.tools()
        server = keep.server(settings.name)
        call = asyncio.create_task(tools[name].run({}, keep.context()))
        await eventually(lambda: {"silence", "hanging"} & set(server.words.lines) != set())
        call.cancel()
        _, pending = await asyncio.wait([call], timeout=2)

        assert not pending
        assert call.cancelled()
        assert server.busy == 0
        await eventually(
            lambda: any("told to stop" in line or line == "let go" for line in server.words.lines)
        )


async def test_a_crash_fails_the_call_with_last_words_and_the_next_call_finds_it_again(tmp_path: Path):
    async with kept(tmp_path, raw("crash")) as keep:
        tools = await keep.tools()
        with pytest.raises(ToolError) as raised:
            await tools["mcp__raw__do"].run({}, keep.context())
        assert str(raised.value) == (
            'MCP server raw ended before it could call "do": it ended with exit status 3; its last output:\n'
            "secret is\nabout to fall (hint: it is restarted; whether the call took effect is unknown)"
        )
        before = keep.server().pid
        fine = replace(tools["mcp__raw__do"]._tool, name="fine")  # type: ignore[attr-defined]
        assert await keep.server().call(fine.name, {}, keep.context()) == ToolOutput("fine")
        assert keep.server().pid != before


async def test_one_that_is_killed_is_started_again(tmp_path: Path):
    async with kept(tmp_path, plain()) as keep:
        first = int((await keep.call("mcp__plain__pid")).text)
        hanging = asyncio.create_task(keep.call("mcp__plain__hang"))
        await eventually(lambda: "hanging" in keep.server("plain").words.lines)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(ToolError, match="it was ended by signal 9"):
            await hanging
        second = int((await keep.call("mcp__plain__pid")).text)

        assert first != second
        assert not is_alive(first)


async def test_after_five_failures_it_rests_until_somebody_asks_later(tmp_path: Path):
    timing = Timing(delays_s=(0.0, 0.0, 0.0, 0.0), rest_s=0.0)
    async with kept(tmp_path, raw("exit"), timing=timing) as keep:
        await keep.offer()
        await keep.until(lambda: keep.server().state == "failed")
        assert sum("I cannot find" in line for line in keep.server().words.lines) == 5
        await keep.offer()
        await keep.until(lambda: keep.server().state == "failed")
        assert sum("I cannot find" in line for line in keep.server().words.lines) == 6


async def test_time_that_passed_while_it_did_not_answer_is_not_time_it_was_there(tmp_path: Path):
    timing = Timing(delays_s=(0.0,), stable_s=0.05)
    async with kept(tmp_path, raw("never", start_timeout_s=0.2), timing=timing) as keep:
        await keep.offer()
        async with asyncio.timeout(PATIENCE_S):
            await keep.until(lambda: keep.server().state == "failed")

        assert keep.server().detail.startswith("it did not answer within 0.2 s")


async def test_one_that_rests_is_not_tried_again_at_once(tmp_path: Path):
    async with kept(tmp_path, raw("exit"), timing=Timing(delays_s=())) as keep:
        await keep.offer()
        assert keep.server().state == "failed"
        await keep.offer()
        with pytest.raises(ToolError, match="MCP server raw is not available: it ended with exit status 5"):
            await keep.server().call("do", {}, keep.context())

        assert sum("I cannot find" in line for line in keep.server().words.lines) == 1


async def test_one_that_does_not_answer_a_ping_is_started_again(tmp_path: Path):
    async with kept(tmp_path, raw("deaf"), timing=replace(QUICK, idle_s=0.05, ping_s=0.05)) as keep:
        await keep.offer()
        await keep.until(lambda: keep.server().state == "waiting")
        await keep.until(lambda: "it did not answer a ping" in keep.server().detail)


async def test_one_that_answers_pings_is_left_alone(tmp_path: Path):
    async with kept(tmp_path, raw("chatty"), timing=replace(QUICK, idle_s=0.01)) as keep:
        await keep.offer()
        pid = keep.server().pid
        used_s = keep.server()._used_s
        await eventually(lambda: keep.server()._used_s > used_s)

        assert keep.server().pid == pid


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("broken", "its answer is not a valid message"),
        ("torn", "its answer is not a valid message"),
        ("long", "it sent a message longer than 16 MiB"),
    ],
)
async def test_an_answer_that_cannot_be_read_fails_the_call_and_not_the_server(
    tmp_path: Path, how: str, why: str
):
    async with kept(tmp_path, raw(how)) as keep:
        tools = await keep.tools()
        pid = keep.server().pid
        with pytest.raises(ToolError) as raised:
            await tools["mcp__raw__do"].run({}, keep.context())
        assert str(raised.value) == f'MCP server raw did not call "do": {why}'
        assert await keep.server().call("fine", {}, keep.context()) == ToolOutput("fine")
        assert keep.server().pid == pid


async def test_one_that_closes_its_output_and_lives_on_is_lost(tmp_path: Path):
    async with kept(tmp_path, raw("mute")) as keep:
        tools = await keep.tools()
        pid = keep.server().pid
        with pytest.raises(ToolError, match="it closed its output"):
            await tools["mcp__raw__do"].run({}, keep.context())
        await eventually(lambda: not is_alive(pid))


async def test_one_that_does_not_read_is_given_up(tmp_path: Path):
    async with kept(tmp_path, raw("closed")) as keep:
        tools = await keep.tools()
        small = asyncio.create_task(tools["mcp__raw__do"].run({}, keep.context()))
        await eventually(lambda: "closed" in keep.server().words.lines)
        with pytest.raises(ToolError, match="it left more than 64 MiB unread"):
            await tools["mcp__raw__do"].run({"text": "x" * (65 * 2**20)}, keep.context())
        with pytest.raises(ToolError, match="it left more than 64 MiB unread"):
            await small


async def test_a_flood_of_news_does_not_drown_an_answer(tmp_path: Path):
    async with kept(tmp_path, raw("flood")) as keep:
        assert await keep.call("mcp__raw__do") == ToolOutput("done")
        await eventually(lambda: keep.server().words.last(1) == "info: raw: line 4999")


async def test_parts_that_no_standard_knows_are_not_lost(tmp_path: Path):
    async with kept(tmp_path, raw("odd")) as keep:
        assert await keep.call("mcp__raw__do") == ToolOutput(
            'one\n{"type": "video", "url": "v"}\n[image left out: it is not base64]\n"bare"\n[1, 2]',
            is_error=True,
        )


async def test_megabytes_and_many_images_come_through(tmp_path: Path):
    async with kept(tmp_path, plain()) as keep:
        output = await keep.call("mcp__plain__much", {"size": 5_000_000, "images": 50})

        assert len(output.text) == 5_000_000
        assert [media.mime for media in output.media] == ["image/png"] * 50


async def test_megabytes_are_looked_through_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    threads: list[int] = []

    def look(*_: object) -> ToolOutput:
        threads.append(threading.get_ident())
        return ToolOutput("")

    monkeypatch.setattr("bridle.mcp.client.convert_call_result", look)
    async with kept(tmp_path, plain()) as keep:
        await keep.call("mcp__plain__much", {"size": 1_000_000, "images": 0})
        await keep.call("mcp__plain__much", {"size": 1_000, "images": 0})
    here = threading.get_ident()
    assert [thread == here for thread in threads] == [False, True]


async def test_progress_is_shown_and_keeps_a_call_alive(tmp_path: Path):
    async with kept(tmp_path, raw("progress", "0.3", timeout_s=0.9)) as keep:
        assert await keep.call("mcp__raw__do") == ToolOutput("done")
        assert keep.emitted == ["0 % reading\n", "25 % reading\n", "50 % reading\n", "75 % reading\n"]


async def test_3000_tools_in_pages_are_all_there(tmp_path: Path):
    async with kept(tmp_path, raw("many")) as keep:
        tools = await keep.tools()

        assert len(tools) == 3000
        assert "mcp__raw__tool_2999" in tools


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("endless", "there are more than 100 pages"),
        ("circle", "a page refers back to an earlier one"),
        ("huge", "they take more than 8 MiB"),
    ],
)
async def test_a_list_without_end_is_a_failure(tmp_path: Path, how: str, why: str):
    async with kept(tmp_path, raw(how), timing=Timing(delays_s=())) as keep:
        [note] = (await keep.offer()).notes

        assert note.startswith(f"MCP server raw failed: its list of tools has no end: {why}")


async def test_tools_that_change_are_seen_by_the_next_run_and_not_by_this_one(tmp_path: Path):
    async with kept(tmp_path, raw("changing")) as keep:
        tools = await keep.tools()
        assert sorted(tools) == ["mcp__raw__change", "mcp__raw__version_0"]
        await tools["mcp__raw__change"].run({}, keep.context())
        listing = keep.server().listing
        await eventually(lambda: keep.server().listing is not listing)

        assert sorted(await keep.tools()) == ["mcp__raw__change", "mcp__raw__version_1"]
        assert sorted(tools) == ["mcp__raw__change", "mcp__raw__version_0"]
        assert await tools["mcp__raw__version_0"].run({}, keep.context()) == ToolOutput("done")


async def test_a_modern_server_tells_of_new_tools_too(tmp_path: Path):
    async with kept(tmp_path, plain()) as keep:
        assert (await keep.call("mcp__plain__grow")).text == "grown"
        await eventually(lambda: "extra" in [tool.name for tool in keep.server("plain").listing.tools])

        assert (await keep.call("mcp__plain__extra")).text == "extra"


async def test_a_stubborn_one_with_children_leaves_nothing(tmp_path: Path):
    pids = tmp_path / "pids"
    async with kept(tmp_path, raw("children", str(pids)), raw("stubborn", name="stubborn")) as keep:
        await keep.offer()
        family = [int(line) for line in pids.read_text().split()]
        family.append(keep.server("stubborn").pid)
        assert len(family) == 3
        assert all(map(is_alive, family))

    assert not any(map(is_alive, family))
