"""A server starts once for all users, restarts after a crash, and leaves nothing behind."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import ConfigError, ProviderError
from bridle.providers.embedded.runtime import embedded_options
from bridle.providers.llama.options import LlamaOptions
from bridle.providers.llama.server import ExternalServer, LlamaServer, RestartPolicy
from bridle.providers.llama.server_client import ServerFacts
from tests.patience import PATIENCE_S
from tests.providers.llama.conftest import Scripted
from tests.providers.llama.test_server_process import gone, is_running

StandIn = Callable[..., Scripted]
QUICK = RestartPolicy(max_crashes=3, first_pause_s=0.01, silence_s=0.5)


async def crash(server: LlamaServer) -> None:
    """Kill a server and wait until that is noticed."""
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    async with asyncio.timeout(PATIENCE_S):
        while server.pid is not None:  # noqa: ASYNC110 - no one else is told of it
            await asyncio.sleep(0.01)


# ---------------------------------------------------------------------------- with the stand-in


async def test_all_who_ask_at_once_share_one_start(stand_in: StandIn) -> None:
    scripted = stand_in()
    server = LlamaServer("llama", scripted.options)

    first, *others = await asyncio.gather(*(server.ready() for _ in range(5)))

    assert set(others) == {first}
    assert len(scripted.pids) == 1
    assert server.pid == scripted.pids[0]
    assert await server.facts() == ServerFacts(512, 1, 0, end_token="<end>")
    await server.aclose()
    assert not is_running(scripted.pids[0])


async def test_who_gives_up_waiting_leaves_the_start_to_the_others(stand_in: StandIn) -> None:
    scripted = stand_in()
    server = LlamaServer("llama", scripted.options)
    impatient, patient = asyncio.create_task(server.ready()), asyncio.create_task(server.ready())
    await asyncio.wait([impatient], timeout=0.05)

    impatient.cancel()
    await patient

    assert len(scripted.pids) == 1
    await server.aclose()


async def test_the_key_is_random_and_in_no_log(stand_in: StandIn) -> None:
    servers = [LlamaServer("llama", stand_in().options) for _ in range(2)]
    keys = {(await server.ready()).key for server in servers}

    assert len(keys) == 2
    assert "key: ***" in servers[0].log
    assert not any(key in line for key in keys for server in servers for line in server.log)
    for server in servers:
        await server.aclose()


async def test_a_crash_between_requests_is_repaired_by_the_next(stand_in: StandIn) -> None:
    scripted = stand_in()
    server = LlamaServer("llama", scripted.options, restart=QUICK)
    await server.ready()

    await crash(server)
    address = await server.ready()

    assert len(scripted.pids) == 2
    assert await server.control.is_healthy(address, 5)
    await server.aclose()


async def test_a_server_that_dies_too_often_is_left_alone(stand_in: StandIn) -> None:
    scripted = stand_in(die_at_starts=9)
    server = LlamaServer("llama", scripted.options, restart=QUICK)
    said = []
    for _ in range(5):
        with pytest.raises(ProviderError) as caught:
            await server.ready()
        said.append(caught.value.message)

    assert len(scripted.pids) == 3
    why = "exit code 1: srv  load_model: failed to load model, 'x'"
    assert said[0] == f"llama: the server ended before it was ready ({why})"
    assert said[4] == "llama: the server died 3 times within 300 s and is not started again"
    await server.aclose()


async def test_a_server_that_dies_at_once_is_reported_at_once(stand_in: StandIn) -> None:
    server = LlamaServer("llama", stand_in(die_at_starts=1).options)
    began = time.monotonic()

    with pytest.raises(ProviderError) as caught:
        await server.ready()

    assert time.monotonic() - began < PATIENCE_S
    assert caught.value.kind == "unknown"  # trying again cannot help
    await server.aclose()


async def test_a_restart_that_fails_may_be_tried_again(stand_in: StandIn) -> None:
    scripted = stand_in()
    server = LlamaServer("llama", scripted.options, restart=QUICK)
    await server.ready()
    Scripted(scripted.file.parent, {"die_at_starts": 2})
    await crash(server)

    with pytest.raises(ProviderError) as caught:
        await server.ready()
    await server.ready()

    assert caught.value.kind == "server_error"
    await server.aclose()


async def test_a_server_that_is_never_ready_is_given_up(stand_in: StandIn) -> None:
    scripted = stand_in(never_ready=True)
    for timeout_s in (0.3, 3.0, 30.0):  # on a busy machine it is given up before it has said its pid
        server = LlamaServer("llama", replace(scripted.options, start_timeout_s=timeout_s))
        with pytest.raises(ProviderError, match=re.escape(f"not ready after {timeout_s:g} s")):
            await server.ready()
        await server.aclose()
        if scripted.pids:
            break

    assert not is_running(scripted.pids[0])


async def test_closing_does_not_wait_for_a_start(stand_in: StandIn) -> None:
    scripted = stand_in(never_ready=True)
    server = LlamaServer("llama", scripted.options)
    starting = asyncio.create_task(server.ready())
    async with asyncio.timeout(PATIENCE_S):
        while not scripted.pids:  # noqa: ASYNC110 - it is another process that starts
            await asyncio.sleep(0.01)

    async with asyncio.timeout(PATIENCE_S):
        await server.aclose()

    with pytest.raises(ProviderError, match="killed by SIGTERM"):
        await starting
    assert not is_running(scripted.pids[0])


async def test_a_server_that_hangs_is_replaced_when_it_was_suspected(stand_in: StandIn) -> None:
    scripted = stand_in()
    server = LlamaServer("llama", replace(scripted.options, stop_timeout_s=0.1), restart=QUICK)
    await server.ready()
    os.kill(scripted.pids[0], signal.SIGSTOP)

    error = ProviderError("nothing arrived", kind="network_timeout")

    assert await server.explain(error) is error
    await server.ready()

    assert len(scripted.pids) == 2
    assert not is_running(scripted.pids[0])
    await server.aclose()


async def test_a_port_that_is_taken_is_named(stand_in: StandIn) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        server = LlamaServer("llama", replace(stand_in().options, port=port))

        with pytest.raises(ProviderError, match=rf"port {port} is taken by another program \(hint: choose"):
            await server.ready()

    assert (await server.ready()).url == f"http://127.0.0.1:{port}"
    await server.aclose()


async def test_another_server_at_the_address_is_noticed_by_the_key(stand_in: StandIn) -> None:
    server = LlamaServer("llama", stand_in().options)
    stranger = ExternalServer("other", (await server.ready()).url, api_key="wrong")

    with pytest.raises(ProviderError, match="rejects the key") as caught:
        await stranger.facts()

    assert caught.value.kind == "invalid_api_key"
    await stranger.aclose()
    await server.aclose()


async def test_options_that_cannot_work_start_nothing(tmp_path: Path) -> None:
    text = tmp_path / "notes.gguf"
    text.write_text("hello")
    for options, said in (
        (LlamaOptions(model=str(tmp_path / "none.gguf")), "file not found"),
        (LlamaOptions(model=str(text)), "not a GGUF file"),
    ):
        server = LlamaServer("llama", options)
        with pytest.raises(ConfigError, match=said):
            await server.ready()
        assert server.pid is None
        await server.aclose()


async def test_a_polite_end_that_is_ignored_is_followed_by_another(stand_in: StandIn) -> None:
    scripted = stand_in(ignore_sigterm=True)
    server = LlamaServer("llama", replace(scripted.options, stop_timeout_s=0.1))
    await server.ready()

    await server.aclose()

    assert not is_running(scripted.pids[0])


@pytest.mark.parametrize(("crashes", "pause_s"), [(0, 0), (1, 0.25), (2, 0.5), (4, 2), (9, 15), (10**6, 15)])
def test_pauses_grow_to_a_limit(crashes: int, pause_s: float) -> None:
    assert RestartPolicy().pause_s(crashes) == pause_s


# ---------------------------------------------------------------------------- with the real ones

OWNER = """
import asyncio, sys
from bridle.providers.llama.options import LlamaOptions
from bridle.providers.llama.server import LlamaServer

async def main():
    server = LlamaServer("llama", LlamaOptions(
        model=sys.argv[1], program=tuple(sys.argv[2:]), ctx_size=256, threads=1))
    await server.ready()
    print(server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture(params=["embedded", "executable"])
def real(request: pytest.FixtureRequest, weights: Path) -> LlamaOptions:
    """Return the options of each real runtime."""
    options = LlamaOptions(model=str(weights), ctx_size=256, threads=1)
    if request.param == "embedded":
        return embedded_options(weights, options)
    return replace(options, program=(str(request.getfixturevalue("llama_server")),))


@pytest.mark.slow
async def test_a_real_server_starts_and_ends(real: LlamaOptions) -> None:
    server = LlamaServer("llama", real)

    addresses = await asyncio.gather(server.ready(), server.ready())
    facts = await server.facts()
    pid = server.pid

    assert addresses[0] == addresses[1]
    assert facts == ServerFacts(256, 1, 134_515_008, has_tools=False, end_token="<|im_end|>")
    await server.aclose()
    assert pid is not None
    assert not is_running(pid)


@pytest.mark.slow
async def test_no_real_server_outlives_its_owner(real: LlamaOptions) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, real.model, *real.program], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    pid = int(await asyncio.to_thread(owner.stdout.readline))
    assert is_running(pid)

    owner.kill()
    owner.wait()

    await gone(pid)
    owner.stdout.close()


@pytest.mark.slow
async def test_a_real_server_says_why_it_cannot_load_a_model(real: LlamaOptions, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    with open(real.model, "rb") as whole:
        cut.write_bytes(whole.read(4_000_000))
    server = LlamaServer("llama", replace(real, model=str(cut)))
    began = time.monotonic()

    with pytest.raises(ProviderError, match="model is corrupted or incomplete"):
        await server.ready()

    assert time.monotonic() - began < PATIENCE_S
    await server.aclose()


@pytest.mark.slow
async def test_a_folder_of_models_is_served_by_name(
    llama_server: Path, weights: Path, tmp_path: Path
) -> None:
    (tmp_path / "smol.gguf").symlink_to(weights)
    options = LlamaOptions(models_dir=str(tmp_path), program=(str(llama_server),), ctx_size=256, threads=1)
    server = LlamaServer("llama", options)

    assert (await server.facts("smol")).window_tokens == 256
    with pytest.raises(ProviderError, match="nope") as caught:
        await server.facts("nope")

    assert caught.value.kind == "model_not_found"
    # it serves each model from a separate process, which must not be left behind either
    threads = Path(f"/proc/{server.pid}/task").glob("*/children")
    (loaded,) = [int(pid) for thread in threads for pid in thread.read_text().split()]
    await crash(server)
    await gone(loaded)
    await server.aclose()
