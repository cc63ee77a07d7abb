"""What the telemetry settings enable, and what is not even imported without them."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bridle.app import open_service, open_store
from bridle.config.settings import load_settings
from bridle.core.messages import user_message
from bridle.core.protocol import Prompt, RunOptions, RunStarted, ToolFinished
from bridle.core.queries import Records
from bridle.core.trace import parse_trace
from tests.telemetry.collector import collecting

INCOMING = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

PROGRAM = """
import sys
from bridle.__main__ import main
{before}
code = main(["run", "--output", "json", "hi"])
print([name for name in ("bridle.telemetry", "opentelemetry", "prometheus_client") if name in sys.modules])
sys.exit(code)
"""


def settle(home: Path, project: Path, replies: list[dict[str, Any]], telemetry: str = "") -> None:
    """Write settings with a scripted model."""
    project.mkdir()
    script = home.parent / "script.json"
    script.write_text(json.dumps({"replies": replies}))
    (home / "config.toml").write_text(
        f'model = "scripted/{script}"\n[lsp]\nenabled = false\n[rules]\nallow = ["bash"]\n{telemetry}'
    )


def run_program(env: dict[str, str], project: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM.format(before=before)]
    return subprocess.run(
        command, env=env, cwd=project, capture_output=True, text=True, timeout=60, check=False
    )


def test_nothing_is_imported_when_it_is_off(home: Path, tmp_path: Path, env: dict[str, str]):
    settle(home, tmp_path / "project", [{"text": "hello"}])

    done = run_program(env, tmp_path / "project")

    answer, imported = done.stdout.splitlines()
    assert (json.loads(answer)["text"], imported, done.returncode) == ("hello", "[]", 0)


def test_a_missing_package_is_named(home: Path, tmp_path: Path, env: dict[str, str]):
    settle(home, tmp_path / "project", [{"text": "hello"}], "[telemetry]\ntraces = true\n")

    done = run_program(env, tmp_path / "project", "sys.modules['opentelemetry'] = None")

    assert done.returncode != 0
    assert "telemetry: the package opentelemetry" in done.stderr
    assert "pip install 'bridle-agent[scale]'" in done.stderr


async def test_a_command_knows_its_trace(home: Path, tmp_path: Path, env: dict[str, str]):
    say = 'printf %s "$TRACEPARENT"'
    calls = [say, f"{say}; export TRACEPARENT=mine", say]
    replies = [{"calls": [{"name": "bash", "args": {"command": command}}]} for command in calls]
    check = 'test -n "$TRACEPARENT"'
    async with collecting() as collector:
        settle(
            home,
            tmp_path / "project",
            [*replies, {"text": "ok"}],
            f'[telemetry]\ntraces = true\nendpoint = "{collector.url}"\n',
        )
        service = open_service(load_settings(env, tmp_path / "project"), env)
        session = await service.create(cwd=str(tmp_path / "project"))
        prompt = Prompt(user_message("go"), RunOptions(trace=INCOMING, until=check))
        receipt = await service.submit(session, prompt)
        assert receipt.run_id is not None
        ended = await service.wait(session, receipt.run_id)
        records = await service.ask(Records(session))
        await service.aclose()

    outputs = [one.event.result.output for one in records if isinstance(one.event, ToolFinished)]
    spans = [span for span in collector.spans if span.name == "execute_tool bash"]
    places = [parse_trace(output.splitlines()[0]) for output in outputs]
    assert [place and (f"{place.trace_id:032x}", f"{place.span_id:016x}") for place in places] == [
        (INCOMING[3:35], spans[0].span_id),
        (INCOMING[3:35], spans[1].span_id),
        None,
    ]
    assert outputs[2].splitlines()[0] == "mine"  # what a command exports stays its own
    assert ended.outcome == "completed"  # so the check had it, too


@pytest.mark.parametrize(("named", "recorded"), [(INCOMING, INCOMING), ("00-x", ""), (None, "")])
async def test_a_run_of_the_command_line_is_a_part_of_what_its_environment_names(
    home: Path, tmp_path: Path, env: dict[str, str], named: str | None, recorded: str
):
    settle(home, tmp_path / "project", [{"text": "hello"}])

    done = await asyncio.to_thread(
        run_program, env if named is None else {**env, "TRACEPARENT": named}, tmp_path / "project"
    )

    store = open_store(load_settings(env, tmp_path / "project"))
    [session] = await store.list()
    records = await store.read(session.id)
    await store.aclose()
    assert done.returncode == 0
    assert [one.event.options.trace for one in records if isinstance(one.event, RunStarted)] == [recorded]
