"""The first hour with a release, as checks of one environment with an empty home."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE_S = 120.0
ROOT = Path(__file__).parents[1]
EDIT = ROOT / "examples" / "scripts" / "edit.json"
EXAMPLE = """\
import asyncio, bridle

async def main():
    async with bridle.open(model="scripted/demo") as b:
        result = await (await b.session()).run("hello")
        assert result.text, result

asyncio.run(main())
"""

Check = Callable[[Path, Path], None]


def _environ(bin_folder: Path, home: Path) -> dict[str, str]:
    return {
        "PATH": f"{bin_folder}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
    }


def _output(bin_folder: Path, home: Path, *args: str) -> str:
    done = subprocess.run(
        [str(bin_folder / args[0]), *args[1:]],
        env=_environ(bin_folder, home),
        cwd=home,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}: {done.stdout[-500:]}{done.stderr[-1000:]}"
    return done.stdout


def _version(bin_folder: Path, home: Path) -> None:
    said = _output(bin_folder, home, "bridle", "--version")
    assert re.fullmatch(r"bridle \d+\.\d+\.\d+\S*\n", said), said


def _doctor(bin_folder: Path, home: Path) -> None:
    """`bridle doctor` finds no fault with a model that needs no key."""
    _output(bin_folder, home, "bridle", "config", "set", "model", "scripted/demo")
    said = _output(bin_folder, home, "bridle", "doctor")
    assert re.search(r"^ok +python", said, re.MULTILINE), said
    assert not re.search(r"^fail", said, re.MULTILINE), said


def _run(bin_folder: Path, home: Path) -> None:
    assert _output(bin_folder, home, "bridle", "run", "--model", "scripted/demo", "hello").strip()
    assert "ok" in _output(bin_folder, home, "bridle", "session", "verify")


def _edit(bin_folder: Path, home: Path) -> None:
    """An agent edits a file; the session is listed, shown and rewound."""
    file = home / "hello.py"
    file.write_text('print("hello")\n')
    shutil.copy(EDIT, home)
    _output(
        bin_folder,
        home,
        "bridle",
        "run",
        "--accept-edits",
        "--model",
        f"scripted/{EDIT.name}",
        "be friendlier",
    )
    assert file.read_text() == 'print("hello, world")\n', file.read_text()
    [session] = json.loads(_output(bin_folder, home, "bridle", "session", "list", "--json"))
    assert "be friendlier" in _output(bin_folder, home, "bridle", "session", "show", session["id"])
    _output(bin_folder, home, "bridle", "session", "rewind", session["id"], "--to", "0", "--yes")
    assert file.read_text() == 'print("hello")\n', file.read_text()


def _mcp(bin_folder: Path, home: Path) -> None:
    """Bridle is added to itself as an MCP server, listed and started."""
    _output(bin_folder, home, "bridle", "mcp", "add", "own", "--", str(bin_folder / "bridle"), "mcp", "serve")
    assert "own" in _output(bin_folder, home, "bridle", "mcp", "list")
    _output(
        bin_folder, home, "bridle", "config", "set", "mcp.servers.own.start_timeout", "90s"
    )  # the machine may be busy
    _output(bin_folder, home, "bridle", "mcp", "test", "own")


def _library(bin_folder: Path, home: Path) -> None:
    _output(bin_folder, home, "python", "-c", EXAMPLE)


def _screen(bin_folder: Path, home: Path) -> None:
    """`bridle` without arguments draws the terminal interface."""
    _output(bin_folder, home, "bridle", "config", "set", "model", "scripted/demo")
    with _terminal(bin_folder, home, "bridle") as read:
        shown = ""
        deadline = time.monotonic() + PATIENCE_S
        while "bridle" not in shown.lower() and time.monotonic() < deadline:
            shown += read()
    assert "Traceback" not in shown, shown[-1000:]
    assert "bridle" in shown.lower(), shown[-1000:]


def _page(bin_folder: Path, home: Path) -> None:
    """The daemon serves the web page."""
    process = subprocess.Popen(
        [str(bin_folder / "bridle"), "web", "--print"],
        env=_environ(bin_folder, home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=PATIENCE_S)
        address = re.search(r"https?://[^\s#]+", said)
        assert address, said
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(address[0], timeout=PATIENCE_S) as answer:
            assert b"<html" in answer.read().lower()
    except urllib.error.URLError as error:
        raise AssertionError(str(error)) from error
    finally:
        with suppress(AssertionError, subprocess.SubprocessError):
            _output(bin_folder, home, "bridle", "daemon", "stop")
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _terminal(bin_folder: Path, home: Path, *args: str) -> Iterator[Callable[[], str]]:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [str(bin_folder / args[0]), *args[1:]],
        env=_environ(bin_folder, home),
        cwd=home,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)

    def read() -> str:
        ready, _, _ = select.select([master], [], [], 1.0)
        with suppress(OSError):
            return os.read(master, 65536).decode(errors="replace") if ready else ""
        return ""

    try:
        yield read
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(master)


def _uninstall(bin_folder: Path, home: Path) -> None:
    """Uninstalling leaves nothing behind."""
    _output(bin_folder, home, "python", "-m", "pip", "uninstall", "--quiet", "--yes", "bridle-agent")
    environment = bin_folder.parent
    rest = [*environment.glob("bin/bridle*"), *environment.glob("lib*/python3*/site-packages/bridle*")]
    assert not rest, rest


QUICK: tuple[Check, ...] = (_version, _run)
FIRST_HOUR: tuple[Check, ...] = (_version, _doctor, _run, _edit, _mcp, _library, _screen, _page)
LAST: tuple[Check, ...] = (_uninstall,)
