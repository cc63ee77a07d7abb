"""Guardrails under attack: whatever a hook does, the call is denied and the reason recorded."""

import asyncio
import json
import os
import resource
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bridle.core.errors import ConfigError
from bridle.core.hook import (
    Deny,
    HookEntry,
    HookInvocation,
    HookOutcome,
    HookOverride,
    HookResponse,
    ReasonCode,
    ToolArgsPatch,
    ToolCallView,
)
from bridle.core.ids import CallId
from bridle.core.ports import HookRound
from bridle.core.protocol import HookCompleted, HookDenied, HookFailed
from bridle.hooks.factory import create_hooks
from tests.hooks.stage import Pipe, asked, calling, gone, posting, running, script, site, told
from tests.patience import PATIENCE_S

PRE = "pre_tool_execution"
C1 = CallId("c1")
LIMIT = 10_000


async def guarded(folder: Path, entry: HookEntry, invocation: HookInvocation | None = None) -> HookRound:
    """Ask a guardrail, with a small bound for what it prints."""
    return await asked([entry], invocation or told(cwd=str(folder)), site(folder, payload_max_bytes=LIMIT))


def refused(reason: str, code: ReasonCode = "runtime_error") -> HookRound:
    """Return what a round is when the hook failed."""
    return HookRound(
        HookOutcome(Deny(reason, code, "guard")),
        (HookFailed("guard", PRE, reason, 0, C1), HookDenied("guard", PRE, code, reason, None, C1)),
    )


# ---------------------------------------------------------------------------- programs


@pytest.mark.parametrize("capability", ["guardrail", "rewrite"])
def test_a_missing_program_is_an_error_before_the_run(tmp_path: Path, capability: str):
    entry = running("./guard", capability=capability)

    with pytest.raises(ConfigError) as caught:
        create_hooks([entry], HookOverride(), site(tmp_path))

    assert caught.value.message == f'settings: hook "guard": runtime.command: {tmp_path}/./guard is missing'


@pytest.mark.parametrize("policy", [None, "fail_open"])
def test_a_program_that_is_not_executable_is_one_too(tmp_path: Path, policy: Any):
    path = script(tmp_path, "tell({})")
    path.chmod(0o644)

    with pytest.raises(ConfigError, match="is not executable"):
        create_hooks([running(path, failure_policy=policy)], HookOverride(), site(tmp_path))


async def test_a_program_that_goes_away_later_denies(tmp_path: Path):
    path = script(tmp_path, "tell({})")
    hooks = create_hooks([running(path)], HookOverride(), site(tmp_path))
    good = await hooks.ask(told(), lambda _: None)
    path.unlink()

    assert good == HookRound(events=(HookCompleted("guard", PRE, 0, C1),))
    assert await hooks.ask(told(), lambda _: None) == refused(
        f"{path} cannot be started: No such file or directory"
    )


async def test_a_program_that_is_replaced_denies_until_a_new_run(tmp_path: Path):
    """The script, or an agent that can reach it, puts a harmless one in its place."""
    path = script(tmp_path, "tell({}); open(sys.argv[0], 'a').write('# more')")
    hooks = create_hooks([running(path)], HookOverride(), site(tmp_path))
    first = await hooks.ask(told(), lambda _: None)
    second = await hooks.ask(told(), lambda _: None)

    assert first.outcome == HookOutcome()
    assert second == refused(f"{path} was changed since the run started; a new run uses the changed file")
    assert (await guarded(tmp_path, running(path))).outcome == HookOutcome()


@pytest.mark.parametrize(
    "body",
    [
        "time.sleep(1000)",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)",
        "tell({}); time.sleep(1000)",
        "os.close(0); os.close(1); os.close(2); time.sleep(1000)",
        "while True: sys.stdout.flush()",
        "os.kill(os.getpid(), signal.SIGSTOP)",
    ],
)
async def test_a_program_that_does_not_end_is_killed(tmp_path: Path, body: str):
    round_ = await guarded(tmp_path, running(script(tmp_path, body), timeout_ms=300))

    assert round_ == refused("hook timed out after 300 ms", "timeout")


async def test_its_children_and_their_children_are_killed_too(tmp_path: Path):
    pids = tmp_path / "pids"
    path = script(
        tmp_path,
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "os.fork(); os.fork()\n"
        f"open('{pids}', 'a').write(f'{{os.getpid()}}\\n')\n"
        "time.sleep(1000)",
    )

    round_ = await guarded(tmp_path, running(path, timeout_ms=1000))

    assert round_ == refused("hook timed out after 1000 ms", "timeout")
    for line in pids.read_text().split():
        await gone(int(line))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("sys.exit(1)", "exit status 1"),
        ("tell({}); sys.exit('broken\\nin two')", "exit status 1: broken in two"),
        ("tell({}); sys.exit(2)", "exit status 2"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by signal 9"),
        ("pass", "its answer is invalid: it printed nothing"),
        ("print('all good')", "its answer is invalid: JSON is malformed: invalid character (byte 0)"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe{}')", "its answer is invalid: JSON is malformed"),
        ("tell({}); tell({})", "its answer is invalid: JSON is malformed"),
        ("tell({'decision': 'allow'})", "its answer is invalid: Expected `object | null`, got `str`"),
        ("tell({'Decision': {'decision': 'allow'}})", "its answer is invalid: Object contains unknown"),
        (
            "tell({'decision': {'decision': 'allow', 'message': 'x'}})",
            "its answer is invalid: unknown key",
        ),
        ("sys.stdout.write('[' * 9000)", "its answer is invalid: "),
        ("sys.stderr.write('\\x1b[2J' * 500); sys.exit(1)", "exit status 1: �[2J"),
    ],
)
async def test_an_end_or_an_answer_that_makes_no_sense_denies(tmp_path: Path, body: str, reason: str):
    round_ = await guarded(tmp_path, running(script(tmp_path, body)))

    assert round_.outcome.deny is not None
    said = round_.outcome.deny.message
    assert said.startswith(reason)
    assert len(said) < 1000
    assert round_ == refused(said)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_a_flood_is_cut_off_and_takes_no_memory(tmp_path: Path, stream: str):
    path = script(tmp_path, f"block = b'x' * (1 << 20)\nwhile True: sys.{stream}.buffer.write(block)")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    round_ = await guarded(tmp_path, running(path))

    name = "output" if stream == "stdout" else "error stream"
    assert round_ == refused(f"its {name} is longer than 10,000 bytes")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB; the flood has no end


async def test_a_hook_that_lies_about_who_it_is_is_recorded_as_itself(tmp_path: Path):
    body = "tell({'decision': {'decision': 'deny', 'hook_id': 'another', 'message': 'no'}})"

    round_ = await guarded(tmp_path, running(script(tmp_path, body)))

    assert round_ == HookRound(
        HookOutcome(Deny("no", "policy_violation", "guard")),
        (HookCompleted("guard", PRE, 0, C1), HookDenied("guard", PRE, "policy_violation", "no", None, C1)),
    )


async def test_an_observer_cannot_deny_and_nobody_can_patch_the_wrong_thing(tmp_path: Path):
    deny = script(tmp_path, "tell({'decision': {'decision': 'deny', 'message': 'no'}})", "deny")
    patch = script(tmp_path, "tell({'patches': [{'patch_type': 'run_result', 'text': 'pwned'}]})", "patch")
    entries = [
        running(deny, id="eye", capability="observe"),
        running(patch, id="pen", capability="rewrite"),
        running(patch, id="guard"),
    ]

    round_ = await asked(entries, at=site(tmp_path))

    notes = (
        "eye: an observe hook cannot deny",
        "pen: RunResultPatch does not apply at pre_tool_execution",
        "guard: a guardrail hook cannot patch",
    )
    assert round_ == HookRound(
        HookOutcome(ignored=notes),
        tuple(HookCompleted(note.partition(":")[0], PRE, 0, C1, (note,)) for note in notes),
    )


async def test_a_huge_invocation_arrives_whole(tmp_path: Path):
    path = script(
        tmp_path,
        "n = len(told()['tool_call']['args']['command'])\n"
        "tell({'decision': {'decision': 'deny', 'message': str(n)}})",
    )
    call = ToolCallView(C1, "bash", {"command": "x" * 20_000_000})

    round_ = await guarded(tmp_path, running(path), told(tool_call=call))

    assert round_.outcome.deny == Deny("20000000", hook_id="guard")


async def test_a_program_that_closes_its_input_early_is_heard(tmp_path: Path):
    path = script(tmp_path, "os.close(0); tell({'decision': {'decision': 'deny', 'message': 'no'}})")
    call = ToolCallView(C1, "bash", {"command": "x" * 5_000_000})

    assert (await guarded(tmp_path, running(path), told(tool_call=call))).outcome.deny == Deny(
        "no", hook_id="guard"
    )


async def test_no_key_is_in_its_environment(tmp_path: Path):
    path = script(
        tmp_path, "tell({'decision': {'decision': 'deny', 'message': ' '.join(sorted(os.environ))}})"
    )

    round_ = await guarded(tmp_path, running(path, env={"MINE": "1"}))

    assert round_.outcome.deny == Deny("HOME LANG MINE PATH", hook_id="guard")


async def test_a_cancelled_run_leaves_no_hook_behind(tmp_path: Path):
    pipe = Pipe(tmp_path / "pid")
    path = script(tmp_path, f"open('{pipe.path}', 'w').write(str(os.getpid()))\ntime.sleep(1000)")
    hooks = create_hooks([running(path)], HookOverride(), site(tmp_path))
    task = asyncio.create_task(hooks.ask(told(), lambda _: None))
    pid = int(await pipe.read())
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    pipe.close()


# ---------------------------------------------------------------------------- servers

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(answer: Serve):
    """Yield the address of a server on this machine; each connection is answered by `answer`."""
    talking: set[asyncio.Task[Any]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talking.add(task)
        try:
            await answer(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)


async def request(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes]:
    """Read a request: its first line, its headers and its body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return first, headers, await reader.readexactly(int(headers.get("content-length", 0)))


def replying(data: bytes) -> Serve:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(data)
        await writer.drain()

    return answer


def ok(body: bytes, more: str = "") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


async def test_a_server_reads_and_answers(tmp_path: Path):
    seen: list[Any] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, headers, body = await request(reader)
        seen.extend(
            [first, headers["x-token"], headers["content-type"], json.loads(body)["tool_call"]["name"]]
        )
        writer.write(ok(b'{"decision": {"decision": "deny", "message": "no"}}'))

    async with serving(answer) as url:
        round_ = await guarded(tmp_path, posting(f"{url}/hook?a=1", headers={"X-Token": "t"}))

    assert round_.outcome.deny == Deny("no", hook_id="guard")
    assert seen == ["POST /hook?a=1 HTTP/1.1", "t", "application/json", "bash"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
            "answered with status 302",
        ),
        (b"HTTP/1.1 307 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", "answered with status 307"),
        (b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}", "answered with status 500"),
        (b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n", "answered with status 404"),
        (b"", "the connection was lost"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}", "the connection was lost"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "the answer is not HTTP"),
    ],
)
async def test_an_answer_that_is_none_denies(tmp_path: Path, data: bytes, reason: str):
    async with serving(replying(data)) as url:
        round_ = await guarded(tmp_path, posting(f"{url}/hook?token=secret"))

    assert round_ == refused(f"{url}: {reason}")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (ok(b""), "it printed nothing"),
        (ok(b"<html>"), "JSON is malformed"),
        (ok(b"{}{}"), "JSON is malformed"),
        (ok(b"\x1f\x8b\x08\x00", "Content-Encoding: gzip\r\n"), "JSON is malformed"),
    ],
)
async def test_a_body_that_makes_no_sense_denies(tmp_path: Path, data: bytes, reason: str):
    async with serving(replying(data)) as url:
        round_ = await guarded(tmp_path, posting(url))

    assert round_.outcome.deny is not None
    assert round_ == refused(round_.outcome.deny.message)
    assert round_.outcome.deny.message.startswith(f"its answer is invalid: {reason}")


async def test_a_server_that_sends_without_end_is_cut_off(tmp_path: Path):
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with serving(flood) as url:
        round_ = await guarded(tmp_path, posting(url))

    assert round_ == refused(f"{url}: its answer is longer than 10,000 bytes")


@pytest.mark.parametrize(
    "begins", [b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"]
)
async def test_a_server_that_drips_is_not_waited_for(tmp_path: Path, begins: bytes):
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(begins)
        while True:
            writer.write(b"{")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with serving(drip) as url:
        round_ = await guarded(tmp_path, posting(url, timeout_ms=300))

    assert round_ == refused("hook timed out after 300 ms", "timeout")


async def test_a_server_that_resets_denies(tmp_path: Path):
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.transport.abort()

    async with serving(reset) as url:
        round_ = await guarded(tmp_path, posting(url))

    assert round_ == refused(f"{url}: the connection was lost")


async def test_a_server_that_is_not_there_denies(tmp_path: Path):
    async with serving(replying(b"")) as url:
        pass

    round_ = await guarded(tmp_path, posting(url))

    assert round_.outcome.deny is not None
    assert round_ == refused(round_.outcome.deny.message)
    assert round_.outcome.deny.message.startswith(f"{url}: ")


@pytest.mark.parametrize("url", ["http://", "http://user:secret@[::1", "http://127.0.0.1:99999/"])
async def test_an_address_that_is_none_denies(tmp_path: Path, url: str):
    round_ = await guarded(tmp_path, posting(url))

    assert round_.outcome.deny is not None
    assert round_ == refused(round_.outcome.deny.message)
    assert "secret" not in round_.outcome.deny.message


async def test_a_cancelled_run_closes_the_connection(tmp_path: Path):
    came, closed = asyncio.Event(), asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        came.set()
        await reader.read()
        closed.set()

    async with serving(wait) as url:
        hooks = create_hooks([posting(url)], HookOverride(), site(tmp_path))
        task = asyncio.create_task(hooks.ask(told(), lambda _: None))
        await came.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await hooks.aclose()
        async with asyncio.timeout(PATIENCE_S):
            await closed.wait()


# ---------------------------------------------------------------------------- functions that lie


@pytest.mark.parametrize(
    "answer",
    [
        HookResponse("deny"),  # type: ignore[arg-type]
        HookResponse(Deny(None)),  # type: ignore[arg-type]
        HookResponse(Deny("no", payload=object())),
        HookResponse(Deny("no", "whatever")),  # type: ignore[arg-type]
        HookResponse(patches=("args",)),  # type: ignore[arg-type]
        HookResponse(patches=(ToolArgsPatch("rm"),)),  # type: ignore[arg-type]
    ],
)
async def test_an_answer_of_a_function_that_makes_no_sense_denies(answer: HookResponse):
    entries = [calling("a", capability="guardrail")]

    round_ = await asked(entries, at=site(handlers={"a": lambda invocation: answer}))

    assert round_.outcome.deny is not None
    assert round_.outcome.deny.message.startswith("its answer is invalid: ")
    assert msgspec.json.decode(msgspec.json.encode(round_.events[1]), type=HookDenied) == round_.events[1]


async def test_a_function_that_gives_up_as_if_it_were_stopped_denies():
    async def giving_up(invocation: HookInvocation) -> None:
        raise asyncio.CancelledError

    entries = [calling("a", capability="guardrail")]

    round_ = await asked(entries, at=site(handlers={"a": giving_up}))

    assert round_.outcome.deny == Deny("CancelledError:", "runtime_error", "a")
