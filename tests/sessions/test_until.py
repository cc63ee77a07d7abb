"""A run that continues until a command succeeds."""

import asyncio
import os
import time
from pathlib import Path

from bridle.core.budget import Limits
from bridle.core.protocol import Cancel, MessageAdded
from bridle.sessions.run.boundary import MAX_OUTPUT_BYTES, UntilResult, run_check
from tests.sessions.stage import Play, SmallTool, Stage, call, says

ENV = {"PATH": os.defpath}


def write_tool(folder: Path) -> SmallTool:
    def write(name: str) -> str:
        (folder / name).touch()
        return "written"

    return SmallTool("write", write)


async def test_the_run_goes_on_until_the_command_passes(tmp_path: Path):
    play = Play(says("I think I am done"), says("", call("c1", "write", "made")), says("now I am"))
    async with Stage(play, tools=[write_tool(tmp_path)], cwd=str(tmp_path), environ=ENV) as stage:
        ended = await stage.run("make it", until="echo checking; test -e made")
        log = await stage.log()
        kinds = await stage.kinds()

    assert (ended.outcome, ended.text, ended.turns) == ("completed", "now I am", 3)
    [asked] = [e for e in log if isinstance(e, MessageAdded) and e.source == "check"]
    assert asked.message.text == (
        "Not done yet: the check `echo checking; test -e made` exited with 1. It printed:\nchecking\n"
        "Continue until it passes."
    )
    assert kinds == [
        "RunStarted",
        "MessageAdded",
        *("TurnStarted", "ModelReplied", "TurnEnded", "MessageAdded"),
        *("TurnStarted", "ModelReplied", "ToolStarted", "ToolFinished", "TurnEnded"),
        *("TurnStarted", "ModelReplied", "TurnEnded"),
        "Checkpoint",
        "RunEnded",
    ]


async def test_the_budget_ends_what_the_command_does_not(tmp_path: Path):
    play = Play(*(says(f"done {n}") for n in range(10)))
    async with Stage(play, cwd=str(tmp_path), environ=ENV) as stage:
        ended = await stage.run("go", until="false", limits=Limits(turns=3))

    assert (ended.outcome, ended.turns, ended.text) == ("budget_exhausted", 3, "done 2")


async def test_a_cancel_ends_the_command_and_all_it_started(tmp_path: Path):
    async with Stage(Play(says("done")), cwd=str(tmp_path), environ=ENV) as stage:
        run_id = await stage.prompt("go", until="sleep 600 & echo $! > pid; mv pid ready; wait")
        await asyncio.to_thread(until_there, tmp_path / "ready")
        await stage.service.submit(stage.session, Cancel())
        ended = await stage.service.wait(stage.session, run_id)

    assert ended.outcome == "cancelled"
    assert is_gone(int((tmp_path / "ready").read_text()))


def until_there(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    for _ in range(1000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


async def test_a_command_that_takes_too_long_has_not_passed(tmp_path: Path):
    check = await run_check("echo slow; sleep 600", str(tmp_path), ENV, timeout_s=0.5)

    assert not check.passed
    assert "did not end within 0.5 s. It printed:\nslow" in check.text


async def test_a_flood_is_cut_in_the_middle(tmp_path: Path):
    check = await run_check("echo first; seq 1 200000; echo last; exit 3", str(tmp_path), ENV)

    assert "exited with 3" in check.text
    assert "first" in check.text
    assert "bytes left out]" in check.text
    assert check.text.rstrip().endswith("last\nContinue until it passes.")
    assert len(check.text) < MAX_OUTPUT_BYTES + 1_000


async def test_a_folder_that_is_gone_is_a_failed_check(tmp_path: Path):
    check = await run_check("true", str(tmp_path / "nowhere"), ENV)

    assert (check.passed, "could not be started" in check.text) == (False, True)


async def test_what_exits_with_0_passes(tmp_path: Path):
    assert await run_check("true", str(tmp_path), ENV) == UntilResult(passed=True)
