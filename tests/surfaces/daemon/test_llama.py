"""A real llama-server under the daemon: it starts, answers, crashes, restarts and ends with the daemon."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Prompt, RunEnded, RunOptions, TextDelta
from bridle.core.queries import Records
from bridle.surfaces.daemon.kontekst import make_kontekst_home
from bridle.surfaces.remote.client import RemoteService
from bridle.surfaces.shared.session_calls import wait_for_run
from tests.providers.llama.conftest import llama_server, weights
from tests.surfaces.daemon.process import DaemonProcess, descendants, until_gone
from tests.surfaces.grpc.client import Run

__all__ = ["llama_server", "weights"]

CONFIG = """
[providers.local]
kind = "llama"
model_file = "{weights}"
executable = "{program}"
ctx_size = 1024
threads = 1
"""
AGENT = 'model = "local/smol"\ntools = []\n[sampling]\nmax_tokens = {tokens}\n'
STORY_TOKENS, WORD_TOKENS = 96, 8


@pytest.fixture
def agents(daemon: DaemonProcess, llama_server: Path, weights: Path) -> DaemonProcess:
    """Configure the provider, and two agents: one that tells a lot, one that says a word."""
    home = daemon.place.home
    (home / "config.toml").write_text(CONFIG.format(weights=weights, program=llama_server))
    for name, tokens in (("teller", STORY_TOKENS), ("brief", WORD_TOKENS)):
        folder = home / "agents" / name
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text(AGENT.format(tokens=tokens))
        (folder / "agent.md").write_text("You are a friend.")
    return daemon


def servers(daemon: DaemonProcess) -> set[int]:
    """Return the processes of llama-server."""
    found = set()
    for pid in descendants(daemon.pid):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if any(word.endswith(b".gguf") for word in words):
            found.add(pid)
    return found


async def answer(client: RemoteService, session: SessionId, text: str) -> RunEnded:
    receipt = await client.submit(session, Prompt(user_message(text), RunOptions()))
    assert receipt.run_id is not None
    return await wait_for_run(client, session, receipt.run_id, receipt.seq)


async def first_word(client: RemoteService, session: SessionId) -> None:
    """Start a long answer and wait until it has begun to come."""
    watch = client.watch(session)
    await anext(watch)
    await client.submit(session, Prompt(user_message("Tell me a long story about a dog."), RunOptions()))
    async for item in watch:
        if isinstance(item, TextDelta):
            break
    await watch.aclose()


@pytest.mark.slow
async def test_a_real_server_starts_answers_crashes_recovers_and_is_not_left_behind(
    agents: DaemonProcess, tmp_path: Path
):
    daemon = agents
    await daemon.start()
    async with daemon.reached() as client:
        brief = await client.create(cwd=str(tmp_path), agent="brief")
        told = await client.create(cwd=str(tmp_path), agent="teller")
        assert servers(daemon) == set()
        assert (await answer(client, brief, "Say hello.")).outcome == "completed"
        [first] = servers(daemon)

        # in the middle of an answer: the turn is asked again, of a new server
        await first_word(client, told)
        os.kill(first, signal.SIGKILL)
        records = await client.ask(Records(told))
        run_id = next(record.event.run_id for record in records if hasattr(record.event, "run_id"))
        async with asyncio.timeout(60):
            ended = await wait_for_run(client, told, run_id)
        [second] = servers(daemon)
        assert (ended.outcome, bool(ended.text), second != first) == ("completed", True, True)

        # between two answers
        os.kill(second, signal.SIGKILL)
        assert (await answer(client, brief, "Say it again.")).outcome == "completed"
        [third] = servers(daemon)
        assert third not in (first, second)

        await first_word(client, told)
        daemon.kill()
    await until_gone({third})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def kontekst(
    tmp_path: Path, env: dict[str, str], llama_server: Path, weights: Path
) -> Iterator[DaemonProcess]:
    """Yield the daemon of a Kontekst installation with a folder of models, not started yet."""
    data, models, programs = (tmp_path / name for name in ("data", "models", "programs"))
    for folder in (data / "agents/friend", models, programs):
        folder.mkdir(parents=True)
    (models / "smol.gguf").symlink_to(weights)
    (programs / "llama-server").symlink_to(llama_server)
    (data / "agents/friend/config.toml").write_text(
        f'model = "smol.gguf"\ntools = []\n[sampling]\nmax_tokens = {WORD_TOKENS}\n'
    )
    (data / "agents/friend/agent.md").write_text("You are a friend.")
    (data / "config.toml").write_text(
        f'bind = "127.0.0.1:0"\nendpoint = "http://127.0.0.1:{free_port()}"\ncontext_size = 1024\n'
        f'data_dir = "{data}"\nmodel_dir = "{models}"\n'
    )
    environ = {**env, "PATH": f"{programs}:{env['PATH']}"}
    environ = make_kontekst_home(str(data / "config.toml"), environ)
    daemon = DaemonProcess(Path(environ["BRIDLE_HOME"]), environ)
    yield daemon
    daemon.close()


@pytest.mark.slow
async def test_a_daemon_of_kontekst_serves_its_folder_of_models(kontekst: DaemonProcess, tmp_path: Path):
    await kontekst.start()
    async with kontekst.reached() as client:
        [listening] = [one for one in (await client.status()).listening if one.startswith("grpc ")]

    async with grpc.aio.insecure_channel(listening.removeprefix("grpc ")) as channel:
        run = Run(channel)
        await run.start("Say hello.", agent_name="friend", working_dir=str(tmp_path))
        ended = (await run.until("completed", "failed"))[-1]
        await run.end()
        processes = descendants(kontekst.pid)
        commands = [Path(f"/proc/{pid}/cmdline").read_text().split("\0") for pid in processes]
    kontekst.kill()

    assert ended[0] == "completed", ended
    assert ended[1]["content"]
    assert any("--models-dir" in words and str(tmp_path / "models") in words for words in commands)
    await until_gone(processes)
