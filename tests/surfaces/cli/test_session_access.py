"""Commands print the same with and without the daemon, and know when not to use it."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridle.surfaces.daemon.daemon_files import DaemonFiles
from tests.surfaces.command import Bridle, Done, steady
from tests.surfaces.daemon.process import DaemonProcess

EXAMPLES = Path(__file__).parents[3] / "examples" / "scripts"
EDIT = {"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "a\n"}}]}
TIMES = re.compile(r'"(at|created_at|updated_at|started_at)":\d+')
DURATIONS = re.compile(r'"duration_ms":\d+,?')  # left out where it is 0
TRANSIENT = re.compile(r"\r\x1b\[K(?:[^\n]*?… [^\n]*?(?=\r\x1b\[K))?")  # a line that shows what goes on
SEQUENCE = re.compile(r'"seq":\d+,')
HASHES = re.compile(r'"hash":"[0-9a-f]{64}"')


@pytest.fixture
def daemon(bridle: Bridle) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(bridle.home, bridle.env)
    yield daemon
    daemon.close()


def same(text: str) -> str:
    """Leave out what no two runs have in common."""
    return HASHES.sub('"hash":""', DURATIONS.sub("", TIMES.sub(r'"\1":0', steady(text))))


def fresh(bridle: Bridle) -> None:
    """Start with the same files."""
    for path in bridle.project.iterdir():
        path.unlink()
    (bridle.project / "hello.py").write_text('print("hello")\n')
    (bridle.project / "README.md").write_text("# Hello\n")


def settings(bridle: Bridle, text: str) -> None:
    (bridle.home / "config.toml").write_text(text)


async def sessions_of(daemon: DaemonProcess) -> list[str]:
    async with daemon.reached() as client:
        return [one.state for one in (await client.status()).sessions]


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.iterdir()))
async def test_the_examples_give_the_same_bytes(daemon: DaemonProcess, bridle: Bridle, example: str):
    def outputs() -> list[Done]:
        done = []
        for flags in (["-p"], ["-v"], ["--output", "json"], ["--output", "stream-json"]):
            fresh(bridle)
            words = ["run", *flags, "--model", f"scripted/{EXAMPLES / example}", "--accept-edits", "greet"]
            code, out, err = bridle(*words)
            done.append(Done(code, same(out), same(err)))
        return done

    def ordered(done: Done) -> Done:
        """Two calls at once may end in either order."""
        if example != "parallel.json":
            return done
        out, err = (sorted(SEQUENCE.sub("", text).splitlines()) for text in (done.out, done.err))
        return Done(done.code, "\n".join(out), "\n".join(err))

    alone = outputs()
    await daemon.start()
    served = outputs()

    assert list(map(ordered, served)) == list(map(ordered, alone))
    assert {done.code for done in alone} == {0}
    assert len(await sessions_of(daemon)) == 4


async def test_failures_give_the_same_bytes(daemon: DaemonProcess, bridle: Bridle):
    broken = bridle.script({"fault": {"kind": "http", "reason": "invalid_api_key"}})
    writing = bridle.script(EDIT, {"text": "never"})

    def outputs() -> list[Done]:
        fresh(bridle)
        commands = [
            ["run", "--model", broken, "hi"],
            ["run", "--model", writing, "hi"],
            ["run", "--model", "nobody/nothing", "hi"],
            ["run", "--agent", "nobody", "hi"],
            ["session", "rename", "nowhere", "x"],
        ]
        return [Done(code, same(out), same(err)) for code, out, err in (bridle(*words) for words in commands)]

    alone = outputs()
    await daemon.start()
    served = outputs()

    assert served == alone
    assert [done.code for done in alone] == [1, 77, 1, 1, 1]
    assert len(bridle.sessions()) == 4  # a prompt that was refused leaves nothing behind


async def test_an_approval_on_a_terminal_looks_the_same(daemon: DaemonProcess, bridle: Bridle):
    model = bridle.script(EDIT, {"text": "It says: {last_tool_result}"})

    def screen() -> str:
        fresh(bridle)
        with bridle.terminal("run", "--model", model, "write") as terminal:
            terminal.expect("stop the run\n> ")
            terminal.send("y")
            assert terminal.finish() == 0
        assert (bridle.project / "a.txt").read_text() == "a\n"
        return same(TRANSIENT.sub("", terminal.screen))

    alone = screen()
    await daemon.start()
    served = screen()

    assert served == alone
    assert len(await sessions_of(daemon)) == 1


async def test_commands_about_sessions_give_the_same_bytes(daemon: DaemonProcess, bridle: Bridle):
    fresh(bridle)
    model = bridle.script(EDIT, {"text": "done"})
    result = json.loads(bridle("run", "--yolo", "--output", "json", "--model", model, "write").out)
    session = result["session_id"]

    def outputs() -> list[Done]:
        commands = (
            ["context", session, "--json"],
            ["session", "show", session],
            ["session", "diff", session],
        )
        return [Done(code, same(out), same(err)) for code, out, err in (bridle(*words) for words in commands)]

    alone = outputs()
    await daemon.start()
    served = outputs()

    assert served == alone


async def test_auto_starts_a_daemon_and_never_uses_none(bridle: Bridle):
    model = bridle.script({"text": "hello"})
    place = DaemonFiles(bridle.home)
    settings(bridle, 'daemon = "running"\n')
    assert bridle("run", "--model", model, "hi") == Done(0, "hello\n", "")
    assert not place.is_held()

    settings(bridle, 'daemon = "auto"\n')
    try:
        assert bridle("run", "--model", model, "hi") == Done(0, "hello\n", "")
        assert place.is_held()
        assert len(live(bridle)) == 1
        settings(bridle, 'daemon = "never"\n')
        assert bridle("run", "--model", model, "hi") == Done(0, "hello\n", "")
        assert len(live(bridle)) == 1
    finally:
        bridle("daemon", "stop")
    assert not place.is_held()


def test_without_a_daemon_that_starts_work_goes_on(bridle: Bridle):
    model = bridle.script({"text": "hello"})
    settings(bridle, 'daemon = "auto"\n[serve]\ntcp = "0.0.0.0:1"\n')

    done = bridle("run", "--model", model, "hi")

    assert (done.code, done.out) == (0, "hello\n")
    assert done.err.startswith('warning: the daemon did not start: serve.tcp: "0.0.0.0:1" can be reached')


async def test_programs_of_a_run_get_the_variables_of_who_asked(daemon: DaemonProcess, bridle: Bridle):
    show = {"calls": [{"name": "bash", "args": {"command": "echo $VIRTUAL_ENV $SECRET_PATH"}}]}
    model = bridle.script(show, {"text": "{last_tool_result}"})
    await daemon.start()

    done = bridle("run", "--yolo", "-p", "--model", model, "hi", VIRTUAL_ENV="/my/venv", SECRET_PATH="/x")

    assert done == Done(0, "/my/venv\n", "")
    assert await sessions_of(daemon) == ["idle"]


async def test_a_key_that_the_daemon_does_not_have_means_to_go_on_without_it(
    daemon: DaemonProcess, bridle: Bridle
):
    model = bridle.script({"text": "hello"})
    await daemon.start()

    done = bridle("run", "--model", model, "hi", OPENAI_API_KEY="sk-new")

    assert (done.code, done.out) == (0, "hello\n")
    assert done.err == (
        "warning: the daemon has a different OPENAI_API_KEY; continuing without it\n"
        "hint: bridle daemon restart\n"
    )
    assert await sessions_of(daemon) == []


async def test_a_project_with_its_own_sandbox_has_its_own_engine(daemon: DaemonProcess, bridle: Bridle):
    model = bridle.script({"text": "hello"})
    await daemon.start()
    project = bridle.project / ".bridle"
    project.mkdir()
    (project / "config.toml").write_text('[sandbox]\nnetwork = "open"\n')
    not_trusted = bridle("run", "--model", model, "hi")
    assert await sessions_of(daemon) == ["idle"]

    trusted = bridle("trust", "--yes")
    done = bridle("run", "--model", model, "hi")

    assert (not_trusted.out, trusted.code, done) == ("hello\n", 0, Done(0, "hello\n", ""))
    assert await sessions_of(daemon) == ["idle"]


async def test_a_client_of_the_daemon_loads_no_engine(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    program = "import sys; from bridle.surfaces.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program, "run", "-p", "--model", bridle.script({"text": "hello"}), "hi"],
        env=bridle.env,
        cwd=bridle.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    answer, modules = done.stdout.splitlines()

    rooms = {".".join(name.split(".")[:2]) for name in modules.split() if name.startswith("bridle.")}
    assert (answer, rooms) == ("hello", {"bridle.config", "bridle.core", "bridle.surfaces", "bridle.system"})
    unneeded = {"aiohttp", "apsw", "grpc", "shutil", "secrets", "shlex", "termios"}
    unneeded |= {"bridle.core.ports", "bridle.core.schema", "bridle.core.mcp_servers"}
    assert not unneeded & set(modules.split())


async def test_a_model_file_is_named_from_where_the_user_is(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    shutil.copy(EXAMPLES / "hello.json", bridle.project / "mine.json")

    done = bridle("run", "-p", "--model", "scripted/mine.json", "hi")

    assert (done.code, done.out) == (0, "Hello from the scripted model. You said: hi\n")
    assert await sessions_of(daemon) == ["idle"]


def live(bridle: Bridle) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(bridle("ps", "--json").out)
    return listed
