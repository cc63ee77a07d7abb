"""The daemon of a Kontekst installation: its sessions continue, and Kontekst can read the results."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from bridle.config.keys import ProviderSettings
from bridle.config.kontekst import read_kontekst
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import ConfigError
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalRequested,
    Decide,
    MessageAdded,
    Prompt,
    Record,
    Resume,
    RunOptions,
)
from bridle.core.queries import Records
from bridle.surfaces.daemon.kontekst import adapt_settings, make_kontekst_home
from bridle.surfaces.remote.client import RemoteService
from bridle.surfaces.shared.session_calls import wait_for_run
from tests.stores.test_kontekst_reader import ID, READ, WRITTEN
from tests.surfaces.daemon.process import DaemonProcess, seen
from tests.surfaces.daemon.test_process import WRITE, finished, script
from tests.surfaces.grpc.client import Run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with one session."""
    folder = tmp_path / "data"
    (folder / "sessions").mkdir(parents=True)
    (folder / "sessions" / f"{ID}.jsonl").write_bytes(WRITTEN)
    (folder / "agents/coder").mkdir(parents=True)
    (folder / "agents/coder/agent.md").write_text("Code.")
    (folder / "config.toml").write_text(
        f'bind = ":0"\ndata_dir = "{folder}"\nmodel_dir = "{folder}/models"\n'
    )
    return folder


@pytest.fixture
def beside(data: Path, env: dict[str, str]) -> Iterator[DaemonProcess]:
    """Yield a daemon that is not started yet."""
    environ = make_kontekst_home(str(data / "config.toml"), env)
    daemon = DaemonProcess(Path(environ["BRIDLE_HOME"]), environ)
    yield daemon
    daemon.close()


def contents(data: Path) -> list[str]:
    lines = (data / "sessions" / f"{ID}.jsonl").read_bytes().splitlines()
    return [json.loads(line)["content"] for line in lines]


async def asked_again(client: RemoteService, after: int) -> None:
    """Wait until a resumed run repeats its open question."""
    async for item in client.watch(ID, after):
        if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
            return


async def test_a_session_goes_on_and_kontekst_can_read_it(beside: DaemonProcess, data: Path, tmp_path: Path):
    model = script(tmp_path, {"text": "never"}, {"text": "never"}, {"text": "<ok>"})
    await beside.start()

    async with beside.reached() as client:
        records = await client.ask(Records(ID))
        outcome = await finished(
            client, ID, Prompt(user_message("go on"), RunOptions(model=model, agent="default"))
        )

    assert [record.event for record in records if isinstance(record.event, MessageAdded)] == READ
    assert outcome == ("completed", "<ok>")
    whole = (data / "sessions" / f"{ID}.jsonl").read_bytes()
    assert whole.startswith(WRITTEN)
    assert (
        whole.removeprefix(WRITTEN)
        .splitlines()[1]
        .startswith(rb'{"role":"assistant","content":"\u003cok\u003e","agent_name":"default"')
    )
    assert (data / "active_session").read_text() == ID


async def test_a_run_that_was_killed_goes_on_and_no_line_is_lost_or_doubled(
    beside: DaemonProcess, data: Path, tmp_path: Path
):
    model = script(
        tmp_path, {"text": "never"}, {"text": "never"}, {"text": "I write", **WRITE}, {"text": "done"}
    )
    await beside.start()
    async with beside.reached() as client:
        receipt = await client.submit(ID, Prompt(user_message("write"), RunOptions(model=model)))
        asked = await seen(client, ID, ApprovalRequested, receipt.seq)
    beside.kill()
    before = contents(data)
    await beside.start()

    async with beside.reached() as client:
        receipt = await client.submit(ID, Resume())
        assert receipt.run_id is not None
        await asked_again(client, receipt.seq)
        await client.submit(ID, Decide(asked.call_id, "deny", "not now"))
        await wait_for_run(client, ID, receipt.run_id, receipt.seq)

    assert before[-2:] == ["write", "I write"]
    assert contents(data)[: len(before) + 1] == [*before, "denied: not now"]


async def test_a_client_of_kontekst_goes_on_in_another_folder_with_another_agent(
    beside: DaemonProcess, data: Path, tmp_path: Path
):
    model = script(
        tmp_path, {"text": "never"}, {"text": "never"}, {"text": "I write", **WRITE}, {"text": "done"}
    )
    (beside.place.home / "config.toml").write_text(f'model = "{model}"\n')
    (data / "agents/writer").mkdir()
    (data / "agents/writer/agent.md").write_text("Write.")
    project = tmp_path / "project"
    project.mkdir()
    await beside.start()
    async with beside.reached() as client:
        [listening] = [one for one in (await client.status()).listening if one.startswith("grpc ")]

    async with grpc.aio.insecure_channel(listening.removeprefix("grpc ")) as channel:
        run = Run(channel)
        await run.start("go on", session_id=ID, agent_name="writer", working_dir=str(project))
        proposed = (await run.until("tools_proposed"))[-1][1]["calls"][0]
        await run.approve(proposed["call_id"])
        ended = (await run.until("completed", "failed"))[-1]
        await run.end()

    assert (ended[0], ended[1].get("content")) == ("completed", "done")
    assert (project / "a.txt").read_text() == "a"
    lines = (data / "sessions" / f"{ID}.jsonl").read_bytes().removeprefix(WRITTEN).splitlines()
    assert [(json.loads(line)["role"], json.loads(line)["agent_name"]) for line in lines] == [
        ("user", "writer"),
        ("assistant", "writer"),
        ("tool", "writer"),
        ("assistant", "writer"),
    ]


def test_the_log_says_what_is_different(data: Path, env: dict[str, str]):
    child = subprocess.Popen(
        [sys.executable, "-m", "bridle", "daemon", "run", "--config", str(data / "config.toml")],
        env=env,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    lines = []
    for line in child.stderr:
        lines.append(line.partition("bridle.daemon: ")[2].strip())
        if " serves " in line:
            os.kill(child.pid, signal.SIGTERM)
    child.stderr.close()

    assert child.wait() == 0
    assert lines[:3] == [
        f"Kontekst's installation in {data}, as {data}/config.toml says",
        'bind = ":0" would accept every machine; gRPC listens at 127.0.0.1:0 only',
        "gRPC at 127.0.0.1 asks for no token: every program on this machine can use it",
    ]


def test_a_missing_config_is_created_with_the_defaults_of_kontekst(tmp_path: Path, env: dict[str, str]):
    file = tmp_path / "new/config.toml"

    environ = make_kontekst_home(str(file), {**env, "HOME": str(tmp_path)})
    config = read_kontekst(file, {"HOME": str(tmp_path)})

    assert environ["BRIDLE_HOME"] == str(tmp_path / ".kontekst/bridle")
    assert (config.bind, config.endpoint, config.context_size) == (":50051", "http://127.0.0.1:8080", 4096)
    assert config.model_dir == tmp_path / "models"
    assert (tmp_path / ".kontekst/agents/default/agent.md").exists()


def test_a_daemon_in_the_background_logs_into_the_data_directory(data: Path, env: dict[str, str]):
    def bridle(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "bridle", "daemon", *args]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True)

    started = bridle("start", "--config", str(data / "config.toml"))
    again = bridle("start", "--config", str(data / "config.toml"))
    env["BRIDLE_HOME"] = str(data / "bridle")
    shown = bridle("logs")
    bridle("stop")

    assert started.stdout.startswith("the daemon is running (process ")
    assert started.stderr == f"hint: other commands use it with BRIDLE_HOME={data}/bridle\n"
    assert again.stdout == started.stdout.replace("is running", "is already running")
    assert f"Kontekst's installation in {data}" in shown.stdout
    assert (data / "daemon.log").read_text().startswith(shown.stdout[:40])
    assert not (data / "bridle/logs/daemon.log").exists()


def test_a_config_that_is_wrong_is_told_before_anything_is_made(data: Path, env: dict[str, str]):
    (data / "config.toml").write_text(f'data_dir = "{data}"\nendpoint = ""\n')

    with pytest.raises(ConfigError, match=r"config\.toml:2: endpoint is required"):
        make_kontekst_home(str(data / "config.toml"), env)

    assert not (data / "bridle").exists()


# ---------------------------------------------------------------------------- a server that runs already


def opened(data: Path, env: dict[str, str], port: int) -> Settings:
    (data / "models").mkdir()
    with (data / "config.toml").open("a") as config:
        config.write(f'endpoint = "http://127.0.0.1:{port}"\n')
    return load_settings(make_kontekst_home(str(data / "config.toml"), env), Path("/"))


def test_a_model_server_that_answers_is_used_and_not_started(
    data: Path, env: dict[str, str], caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        settings = adapt_settings(opened(data, env, port))

    assert settings.providers["llama"] == ProviderSettings(
        kind="llama", base_url=f"http://127.0.0.1:{port}", window_tokens=4096
    )
    assert caplog.messages[-1] == (f"a server answers at http://127.0.0.1:{port}and will be used")


def test_one_that_does_not_is_ours_to_start(data: Path, env: dict[str, str]):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings = opened(data, env, port)

    assert adapt_settings(settings) == settings
    assert settings.providers["llama"].models_dir == str(data / "models")


def test_any_other_home_is_left_as_it_is(env: dict[str, str]):
    settings = load_settings(env, Path("/"))

    assert adapt_settings(settings) is settings
