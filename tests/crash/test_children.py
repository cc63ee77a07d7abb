"""kill -9 while sub-agents work: they resume or are closed, nothing runs twice, usage counts once."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.surfaces.command import Bridle, Terminal, steady
from tests.surfaces.daemon.process import DaemonProcess

OPEN = [(False, True, ""), (True, True, ""), (True, True, "")]
ENDED = [(False, False, "completed"), (True, False, "completed"), (True, False, "completed")]
CLOSED = [(False, False, "completed"), (True, False, "failed"), (True, False, "failed")]


@pytest.fixture
def bridle(env: dict[str, str], tmp_path: Path) -> Bridle:
    """Return the program in an empty project."""
    project = tmp_path / "project"
    project.mkdir()
    return Bridle(env, project)


@pytest.fixture
def daemon(bridle: Bridle) -> Iterator[DaemonProcess]:
    """Yield the means to start a daemon."""
    process = DaemonProcess(bridle.home, bridle.env)
    yield process
    process.close()


def play(bridle: Bridle) -> str:
    """Return a model that starts one child in the background, which hangs, and one that asks."""
    command = "printf x >> count.txt; echo > started; sleep 60"
    hangs = bridle.script({"calls": [{"name": "bash", "args": {"command": command}}]}, {"text": "slept"})
    write = {"name": "write_file", "args": {"path": "out.txt", "content": "x"}}
    asks = bridle.script({"calls": [write]}, {"text": "wrote"})
    orders = [{"prompt": "hang", "model": hangs, "background": True}, {"prompt": "ask", "model": asks}]
    calls = [{"name": "agent_spawn", "args": order} for order in orders]
    return bridle.script({"calls": calls}, {"text": "{last_tool_result} | {last_user}"})


def kill_at_the_question(bridle: Bridle, kill: Callable[[Terminal], None]) -> None:
    """Start the play in a terminal and end what drives it once both children are at work."""
    os.mkfifo(bridle.project / "started")
    with bridle.terminal("run", "--allow", "bash", "--model", play(bridle), "go") as terminal:
        (bridle.project / "started").read_bytes()
        terminal.expect("Needs approval for agent-2: writes a file (mode ask)")
        kill(terminal)
        terminal.finish()
    (bridle.project / "started").unlink()


def stories(bridle: Bridle) -> list[tuple[bool, bool, str]]:
    """Say of each session whether it is a sub-agent, whether its run is open, and how it ended."""
    sessions = sorted(bridle.sessions(), key=lambda one: (one["created_at"], one["id"]))
    return [
        (one.get("sub_agent", False), one.get("unfinished", False), one.get("outcome", ""))
        for one in sessions
    ]


def tokens(bridle: Bridle) -> tuple[int, int]:
    """Return what the main session says was used in all, and what all have used by themselves."""
    [main] = [one["id"] for one in bridle.sessions() if not one.get("sub_agent")]
    usage = json.loads(bridle("session", "show", main, "--json").out)["totals"]["usage"]
    total = json.loads(bridle("stats", "--json").out)["total"]
    return usage["input"] + usage["output"], total["tokens"]


def check_that_nothing_ran_twice(bridle: Bridle) -> None:
    in_all, of_each = tokens(bridle)

    assert (bridle.project / "count.txt").read_text() == "x"
    assert in_all == of_each > 0


def check_that_all_went_on(bridle: Bridle) -> None:
    """The one in the background was told that its command was cut off, the other one wrote its file."""
    assert stories(bridle) == ENDED
    assert (bridle.project / "out.txt").read_text() == "x"
    check_that_nothing_ran_twice(bridle)


def test_a_run_that_was_killed_goes_on_with_its_children(bridle: Bridle):
    kill_at_the_question(bridle, lambda terminal: terminal.process.kill())
    before = stories(bridle)

    done = bridle("run", "--continue", "--allow", "write_file")

    answer, _, told = steady(done.out).partition(" | ")
    assert before == OPEN
    assert (done.code, told) == (0, "[result of agent-1 (ID): completed]\nslept\n")
    assert answer.startswith("wrote\n\n[agent-2 ID: completed, 2 turns, ")
    check_that_all_went_on(bridle)


def test_a_new_prompt_closes_the_children_of_a_run_that_was_killed(bridle: Bridle):
    kill_at_the_question(bridle, lambda terminal: terminal.process.kill())

    model = bridle.script({"text": "You said: {last_user}"}, repeat=True)
    done = bridle("run", "--continue", "--model", model, "hello")

    assert (done.code, done.out) == (0, "You said: hello\n")
    assert stories(bridle) == CLOSED
    assert not (bridle.project / "out.txt").exists()
    check_that_nothing_ran_twice(bridle)


async def test_a_run_of_a_killed_daemon_goes_on_with_its_children(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    kill_at_the_question(bridle, lambda terminal: daemon.kill())
    [main] = [one["id"] for one in bridle.sessions() if not one.get("sub_agent")]
    before = stories(bridle)

    await daemon.start()
    with bridle.terminal("attach", main, "--resume") as terminal:
        terminal.expect("stop the run\n> ")
        terminal.send("y")
        code = terminal.finish()

    assert (before, code) == (OPEN, 0)
    assert "| [result of agent-1 (ID): completed]" in steady(terminal.screen)
    check_that_all_went_on(bridle)
