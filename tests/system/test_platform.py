"""Where Bridle cannot run, or only in part, it says so in one sentence.

Windows and macOS are played by a Python that lacks the modules and calls which those systems lack.
"""

import ast
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bridle.core.errors import UsageError
from bridle.system import platform, processes
from bridle.system.unix_socket import MAX_SOCKET_PATH, short_path

SOURCES = Path(platform.__file__).parents[1]
WINDOWS = """
import sys

GONE = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}

class Gone:
    def find_spec(self, name, path=None, target=None):
        if name in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Gone())
for name in GONE:
    sys.modules.pop(name, None)
sys.platform = "win32"
"""
LINUX_ONLY = {
    "O_PATH": "O_PATH",
    "O_TMPFILE": "O_TMPFILE",
    "epoll": "epoll",
    "eventfd": "eventfd",
    "fdatasync": "fdatasync",
    "memfd_create": "memfd_create",
    "MFD_ALLOW_SEALING": "memfd_create",
    "MFD_CLOEXEC": "memfd_create",
    "pidfd_open": "pidfd_open",
    "pipe2": "pipe2",
    "posix_fadvise": "posix_fadvise",
    "sched_getaffinity": "sched_getaffinity",
    "F_ADD_SEALS": "memfd_create",
    "F_SETLEASE": "F_SETLEASE",
    "F_SETPIPE_SZ": "F_SETPIPE_SZ",
    "F_SETSIG": "F_SETLEASE",
    "AF_NETLINK": "AF_NETLINK",
    "MSG_CMSG_CLOEXEC": "MSG_CMSG_CLOEXEC",
    "SO_PASSCRED": "SO_PASSCRED",
    "SO_PEERCRED": "SO_PEERCRED",
}
"""Names that macOS lacks, with the name that a guard asks for."""
MACOS = f"""
import asyncio, concurrent.futures, ctypes.util, fcntl, os, select, socket, subprocess, sys, sysconfig
import urllib.request

sysconfig.get_config_vars()
for module in (os, sys.modules["posix"], fcntl, socket, sys.modules["_socket"], select):
    for name in {sorted(LINUX_ONLY)!r}:
        if hasattr(module, name):
            delattr(module, name)
os.process_cpu_count = os.cpu_count
sys.platform = "darwin"
"""


def play(system: str, program: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a program on another system."""
    command = [sys.executable, "-c", f"{system}\n{program}", *arguments]
    return subprocess.run(
        command, env={**os.environ, **environ}, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    "program",
    [
        "from bridle.surfaces.cli import main; sys.exit(main(['--help']))",
        "from bridle.surfaces.cli import main; sys.exit(main(['run', 'hello']))",
        "from bridle.surfaces.cli import serve_rpc; sys.exit(serve_rpc())",
        "import runpy; runpy.run_module('bridle', run_name='__main__')",
    ],
)
def test_every_command_says_that_it_does_not_run_on_windows(program: str):
    done = play(WINDOWS, program)

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "error: Bridle does not run natively on Windows\nhint: run it in WSL, on Linux or on macOS\n"
    )


def test_the_library_says_that_it_does_not_run_on_windows():
    done = play(WINDOWS, "import bridle; print(bridle.__version__); bridle.open")

    assert done.stdout
    assert done.stderr.splitlines()[-1].endswith(
        "UsageError: Bridle does not run natively on Windows (hint: run it in WSL, on Linux or on macOS)"
    )


def test_programs_of_the_package_start_where_the_refusal_is():
    scripts = (SOURCES.parents[1] / "pyproject.toml").read_text().partition("[project.scripts]\n")[2]

    targets = [line.split('"')[1] for line in scripts.partition("\n\n")[0].splitlines()]

    assert {target.partition(":")[0] for target in targets} == {"bridle.surfaces.cli"}


def test_other_systems_are_not_refused(monkeypatch: pytest.MonkeyPatch):
    for name in ("linux", "darwin"):
        monkeypatch.setattr(sys, "platform", name)
        platform.require_posix()
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(UsageError, match="Windows"):
        platform.require_posix()


@pytest.mark.slow
def test_every_module_can_be_loaded_on_macos():
    done = play(
        MACOS,
        """
import importlib, pkgutil, bridle
for module in pkgutil.walk_packages(bridle.__path__, "bridle."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
""",
    )

    assert done.returncode == 0, done.stderr[-2000:]


def test_a_prompt_is_answered_on_macos(home: Path):
    program = "from bridle.surfaces.cli import main; sys.exit(main(sys.argv[1:]))"

    done = play(MACOS, program, "run", "--model", "scripted/demo", "hello", BRIDLE_HOME=str(home))

    assert done.returncode == 0, done.stderr
    assert "You said: hello" in done.stdout


def test_programs_are_refused_on_macos_with_a_sentence(tmp_path: Path):
    program = """
from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.ports import ProcessSpec
from bridle.hooks.program_process import run_program
from bridle.kernel import start
from bridle.sandbox import LocalSandbox

async def main():
    sandbox = LocalSandbox(home=sys.argv[1])
    print(sandbox.status.kind, sandbox.status.why)
    spec = ProcessSpec(argv=("true",), cwd=sys.argv[1], env={}, output=1)
    for attempt in (
        sandbox.start(spec, SessionId("s")),
        run_program(["true"], b"", env={}, cwd="/", limit_bytes=9),
        asyncio.to_thread(start._open_code),
    ):
        try:
            await attempt
        except BridleError as error:
            print(error)

asyncio.run(main())
"""
    done = play(MACOS, program, str(tmp_path))

    assert done.stdout.splitlines() == [
        "none no sandbox for darwin yet",
        "programs cannot be started on darwin yet (hint: run Bridle on Linux, or in a Linux container)",
        "true cannot be started: hooks need Linux, this is darwin",
        "a kernel cannot be started on darwin yet (hint: run Bridle on Linux)",
    ], done.stderr


def test_what_linux_alone_has_is_asked_for_before_it_is_used():
    """The sandbox is left out: nothing of it is reached but by `start`, which refuses."""
    unguarded = []
    for path in SOURCES.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.parent.name == "sandbox" or not any(name in text for name in LINUX_ONLY):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and node.attr in LINUX_ONLY:
                guards = (
                    f', "{LINUX_ONLY[node.attr]}"',
                    "suppress(AttributeError",
                    "supports_follow_symlinks",
                )
                if not any(guard in text for guard in guards):
                    unguarded.append(f"{path}:{node.lineno}: {node.attr}")

    assert unguarded == []


def test_a_long_path_of_a_socket_is_refused_where_it_cannot_be_shortened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / ("x" * MAX_SOCKET_PATH)).mkdir()
    path = str(tmp_path / ("x" * MAX_SOCKET_PATH) / "socket")
    with short_path(path) as short:
        assert len(os.fsencode(short)) < MAX_SOCKET_PATH
    monkeypatch.delattr(os, "O_PATH")

    with pytest.raises(OSError, match="at most 100 bytes") as caught, short_path(path):
        pass

    assert caught.value.errno == errno.ENAMETOOLONG
    with short_path("/short.sock") as same:
        assert same == "/short.sock"


def test_a_process_is_there_until_it_has_been_reaped():
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert processes.process_exists(child.pid)
    finally:
        child.kill()
        child.wait()

    assert not processes.process_exists(child.pid)
    assert processes.process_exists(1)  # of another user, unless root runs the tests
    assert processes.process_exists(os.getpid())
