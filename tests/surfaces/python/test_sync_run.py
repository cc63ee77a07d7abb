"""One prompt from a script, without an event loop."""

import asyncio
import signal
import subprocess
import sys
from inspect import Parameter, signature
from pathlib import Path

import pytest

import bridle
from bridle.core.protocol import RunEnded
from bridle.surfaces.python.options import RunKeywords
from bridle.surfaces.python.sync_run import OpenKeywords
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, says
from tests.surfaces.python.opened import ENVIRON, events


def test_a_prompt_gets_its_answer(tmp_path: Path):
    result = bridle.run(
        "go",
        output=list[int],
        ephemeral=True,
        cwd=tmp_path,
        environ=ENVIRON,
        providers={"play": Play(says("[1, 2]"))},
        model="play/a",
    )

    assert result.value == [1, 2]


async def test_where_a_loop_runs_it_is_refused():
    with pytest.raises(bridle.UsageError, match="would block the event loop"):
        bridle.run("go")


def test_it_takes_what_open_takes():
    parameters = signature(bridle.open).parameters.values()
    named = {parameter.name for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY}

    assert set(OpenKeywords.__annotations__) == named | set(RunKeywords.__annotations__)


def test_a_prompt_that_is_refused_leaves_no_session(home: Path, env: dict[str, str], tmp_path: Path):
    with pytest.raises(bridle.ConfigError):
        bridle.run("go", environ=env, cwd=tmp_path, model="nowhere/a")

    async def sessions() -> list[bridle.SessionSummary]:
        async with bridle.open(environ=env, cwd=tmp_path) as b:
            return [*await b.sessions()]

    assert asyncio.run(sessions()) == []


SCRIPT = '{"replies": [{"text": ["wait ", "for it"], "chunk_delay_ms": 20000}]}'
PROGRAM = """
import sys
import bridle

@bridle.hook("pre_llm_request", capability="observe")
def begun(seen):
    print("begun", flush=True)

bridle.run("go", session_id="s", model=sys.argv[1], hooks=[begun])
"""


def test_ctrl_c_cancels_the_run_and_records_its_end(home: Path, env: dict[str, str], tmp_path: Path):
    (tmp_path / "script.json").write_text(SCRIPT)
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, f"scripted/{tmp_path / 'script.json'}"],
        env=env,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"begun\n"
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=PATIENCE_S)

    async def ends() -> list[RunEnded]:
        async with bridle.open(environ=env, cwd=tmp_path) as b:
            return events(await (await b.session("s")).records(), RunEnded)

    assert errors.endswith(b"KeyboardInterrupt\n")
    assert [end.outcome for end in asyncio.run(ends())] == ["cancelled"]
