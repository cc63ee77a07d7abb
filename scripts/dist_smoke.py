"""Try a release as somebody who has nothing: empty environments and homes, nothing of this tree in sight."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE_S = 120.0
EXAMPLE = """\
import asyncio, bridle

async def main():
    async with bridle.open(model="scripted/demo") as b:
        result = await (await b.session()).run("hello")
        assert result.text, result

asyncio.run(main())
"""


def smoke(wheel: Path, sdist: Path, constraints: Path) -> list[str]:
    """Install the wheel bare, with extras, from the sdist, with uv, and try each; return what failed."""
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="bridle-smoke-") as folder:
        for name, install, checks in (
            ("bare", str(wheel), (_version, _doctor, _run, _library)),
            ("extras", f"{wheel}[tui,http]", (_version, _screen, _page)),
            ("sdist", str(sdist), (_version, _run)),
        ):
            bin_folder = _environment(Path(folder) / name, install, constraints)
            for check in checks:
                problems += _tried(name, check, bin_folder, Path(folder) / f"{name}-home")
        problems += _as_tool(wheel, constraints, Path(folder))
    return problems


def _tried(name: str, check: Callable[[Path, Path], None], bin_folder: Path, home: Path) -> list[str]:
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    title = f"{name}: {check.__name__.strip('_')}"
    try:
        check(bin_folder, home)
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        print(f"failed  {title}")
        return [f"{title}: {error}"]
    print(f"ok      {title}")
    return []


def _environment(folder: Path, install: str, constraints: Path | None = None) -> Path:
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*pip, *(["-c", str(constraints)] if constraints else []), install], check=True)
    return folder / "bin"


def _sources() -> list[str]:
    """Return where pip gets packages, in the words of uv."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    flags = {"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"}
    found: dict[str, list[str]] = {}
    for key, value in re.findall(r"^[^=]*\.([a-z-]+)='(.*)'$", listed.stdout, re.MULTILINE):
        if key in flags:
            found[key] = [word for place in value.split() for word in (flags[key], place)]
    return [*(word for words in found.values() for word in words), "--index-strategy", "unsafe-best-match"]


def _as_tool(wheel: Path, constraints: Path, folder: Path) -> list[str]:
    """Install as `uv tool install` does, where uv is or can be had; pipx asks for the same metadata."""
    uv = shutil.which("uv") or str(_environment(folder / "uv", "uv") / "uv")
    environ = {
        **os.environ,
        "UV_TOOL_DIR": str(folder / "tools"),
        "UV_TOOL_BIN_DIR": str(folder / "tool-bin"),
    }
    command = [uv, "tool", "install", "--quiet", "-c", str(constraints), "--python", sys.executable]
    command += [*_sources(), str(wheel)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"uv tool install: {done.stderr.strip()[-500:]}"]
    return _tried("uv tool", _version, folder / "tool-bin", folder / "tool-home")


# ---------------------------------------------------------------------------- the checks


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
    """With a model that needs nothing all is well; without one the fix is named, which is not tried here."""
    _output(bin_folder, home, "bridle", "config", "set", "model", "scripted/demo")
    said = _output(bin_folder, home, "bridle", "doctor")
    assert re.search(r"^ok +python", said, re.MULTILINE), said
    assert not re.search(r"^fail", said, re.MULTILINE), said


def _run(bin_folder: Path, home: Path) -> None:
    assert _output(bin_folder, home, "bridle", "run", "--model", "scripted/demo", "hello").strip()
    assert "ok" in _output(bin_folder, home, "bridle", "session", "verify")


def _library(bin_folder: Path, home: Path) -> None:
    _output(bin_folder, home, "python", "-c", EXAMPLE)


def _screen(bin_folder: Path, home: Path) -> None:
    """The terminal interface draws itself, and ends with Ctrl-Q or a signal."""
    with _terminal(bin_folder, home, "bridle", "tui", "--model", "scripted/demo") as read:
        shown = ""
        deadline = time.monotonic() + PATIENCE_S
        while "bridle" not in shown.lower() and time.monotonic() < deadline:
            shown += read()
    assert "Traceback" not in shown, shown[-1000:]
    assert "bridle" in shown.lower(), shown[-1000:]


def _page(bin_folder: Path, home: Path) -> None:
    """The daemon serves its page."""
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
