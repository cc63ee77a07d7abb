"""Programs in a real sandbox: what they can and cannot reach, and that they leave nothing behind.

No test writes to anything that is not its own, even if the walls had a hole: what may not be changed is
only opened.
"""

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bridle.core.errors import ToolError
from bridle.core.permission import Rule
from bridle.core.ports import ProcessSpec
from bridle.sandbox import LocalSandbox
from bridle.sandbox.cell import Cell, SandboxedProgram, open_cell
from bridle.sandbox.interpreter import find_interpreter
from bridle.sandbox.proxy import Proxy
from bridle.sandbox.syscalls import NUMBERS
from tests.patience import PATIENCE_S
from tests.sandbox.conftest import SECRET, SESSION, Outcome, Run

Start = Callable[..., Awaitable[tuple[SandboxedProgram, int]]]

BOTH = pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
ALL = pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "none"])
HIDING = (Rule("deny", "read_file", "secrets/**"), Rule("deny", "read_file", "**/.env"))
PYTHON = f"'{find_interpreter()}' -I -S -c"
NAP = "sleep 1000"


@pytest.fixture
def tree(project: Path) -> Path:
    """Make a project with something to hide in it."""
    for name in ("secrets/key", "sub/deep/.env"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(SECRET)
    (project / "plain").write_text("plain\n")
    (project / "link").symlink_to("secrets/key")
    (project / "dirlink").symlink_to("secrets")
    os.link(project / "sub/deep/.env", project / "hard")
    return project


def is_gone(pid: int, within_s: float = 2.0) -> bool:
    """Wait for the end of a process."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], within_s)[0])
    finally:
        os.close(descriptor)


def family(pid: int) -> list[int]:
    """Return a process and all that descends from it."""
    found = [pid]
    for one in found:
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            found += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
    return found


def is_sleeper(pid: int) -> bool:
    """Return whether a process is one of those that programs here start."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/comm").read_text() == "sleep\n"
    return False


def parent(pid: int) -> int:
    """Return the process that a process was started by."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def printed(reader: int) -> str:
    """Read what a program prints first."""
    with os.fdopen(reader, "rb", buffering=0) as file:
        return (await asyncio.to_thread(file.read, 1000)).decode().strip()


# ---------------------------------------------------------------------------- ordinary work


@ALL
async def test_a_program_runs_in_its_folder_and_gives_back_its_status(run: Run, project: Path):
    assert await run("pwd; echo shown >&2; exit 7") == Outcome(7, f"{project}\nshown\n")


@ALL
async def test_a_program_that_a_signal_ended_has_the_status_of_a_shell(run: Run):
    assert await run("kill -TERM $$") == Outcome(128 + 15, "")


@ALL
async def test_files_in_a_writable_folder_are_made_and_changed(run: Run, project: Path):
    outcome = await run("mkdir -p a/b && echo one > a/b/f && mv a/b/f a/g && cat a/g")

    assert outcome == Outcome(0, "one\n")
    assert (project / "a/g").read_text() == "one\n"


@ALL
async def test_input_is_empty_unless_it_is_given(run: Run):
    reader, writer = os.pipe()
    os.write(writer, b"given\n")
    os.close(writer)

    outcomes = [await run("cat"), await run("cat", input=reader)]
    os.close(reader)

    assert outcomes == [Outcome(0, ""), Outcome(0, "given\n")]


@ALL
async def test_an_extra_descriptor_is_number_three_and_no_other_is_there(run: Run):
    reader, writer = os.pipe()

    outcome = await run("echo told >&3; ls /proc/$$/fd; :", extra=writer)
    os.close(writer)
    told = os.read(reader, 100)
    os.close(reader)

    assert (outcome, told) == (Outcome(0, "0\n1\n2\n3\n"), b"told\n")


@BOTH
async def test_what_a_program_prints_is_not_read_as_a_signal_of_ours(run: Run):
    """SIGPIPE is as a shell expects it, although Python ignores it."""
    assert await run("yes | head -1; echo ${PIPESTATUS[0]}") == Outcome(0, "y\n141\n")


async def test_programs_of_a_session_share_a_temporary_folder_that_is_their_own(run: Run, tmp_path: Path):
    (tmp_path / "beside").write_text("x")

    made = await run("echo kept > /tmp/mine; ls -d /tmp/mine*")
    seen = await run(f"cat /tmp/mine; ls {tmp_path}")

    assert (made, seen) == (Outcome(0, "/tmp/mine\n"), Outcome(0, "kept\nproject\nuser\n"))
    assert not Path("/tmp/mine").exists()


@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize("base", ["/tmp", "/var/tmp", "/dev/shm"])
async def test_a_project_is_there_where_the_sandbox_has_an_empty_folder(run: Run, base: str, writable: bool):
    with tempfile.TemporaryDirectory(dir=base) as folder, tempfile.TemporaryDirectory(dir=base) as other:
        command = f"pwd; [ -w . ] && echo writable; [ -e {other} ] || echo hidden"
        outcome = await run(command, cwd=folder, writable=(folder,) if writable else ())

    shown = (folder, "writable", "hidden") if writable else (folder, "hidden")
    assert outcome == Outcome(0, "".join(f"{line}\n" for line in shown))


@pytest.mark.parametrize("kind", ["landlock"])
async def test_temporary_files_have_a_place_under_landlock_too(run: Run):
    outcome = await run("echo x > $TMPDIR/f && echo $TMPDIR")
    folder = Path(outcome.output.strip())

    assert outcome.status == 0
    assert (folder / "f").read_text() == "x\n"


@pytest.mark.parametrize("kind", ["landlock"])
async def test_temporary_files_of_a_process_that_died_are_removed(run: Run, project: Path):
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = Path(tempfile.mkdtemp(prefix=f"bridle-scratch-{dead.pid}-"))
    (left / "f").write_text("x")

    await run("true")

    assert not left.exists()


async def test_programs_of_a_session_reach_each_other(start: Start, run: Run):
    code = (
        "import _socket; door = _socket.socket(); door.bind(('127.0.0.1', 0)); door.listen();"
        " print(door.getsockname()[1], flush=True); door._accept()"
    )
    _, reader = await start(f'{PYTHON} "{code}"')
    port = await printed(reader)

    assert await run(f"exec 5<>/dev/tcp/127.0.0.1/{port} && echo connected") == Outcome(0, "connected\n")


@ALL
@pytest.mark.parametrize(
    ("argv", "more", "text"),
    [
        (("no-such-program",), {}, "cannot find no-such-program: no such file or directory"),
        (("/etc/passwd",), {}, "cannot run /etc/passwd: permission denied"),
        (("true",), {"cwd": "/nowhere"}, "cannot enter /nowhere: no such file or directory"),
        (("a\0b",), {}, "a command, its folder and its environment cannot contain a NUL character"),
        (("true", "x" * 9_000_000), {}, "put them in a file"),
        (("true", "x" * 200_000), {}, "cannot run true: argument list too long"),
    ],
)
async def test_what_cannot_be_started_says_why(start: Start, argv: tuple[str, ...], more: dict, text: str):
    with pytest.raises(ToolError, match=text.replace("\0", "")):
        await start(argv, **more)


async def test_without_any_sandbox_a_program_that_needs_one_is_not_started(user_home: Path, project: Path):
    sandbox = LocalSandbox(home=str(user_home), kind="none")

    with pytest.raises(ToolError, match="no sandbox is available on this machine: the sandbox is turned off"):
        await sandbox.start(ProcessSpec(argv=("true",), cwd=str(project), env={}, output=1), SESSION)


# ---------------------------------------------------------------------------- reading

READS = [
    "cat secrets/key",
    "cat sub/deep/.env",
    "cat link",
    "cat dirlink/key",
    "cat hard",
    "cat ./sub/../secrets/./key",
    'cat "$PWD/secrets/key"',
    "cat /proc/self/root/$PWD/secrets/key",
    "cat /proc/self/cwd/secrets/key",
    "cat /proc/1/root/$PWD/secrets/key",
    "cat < secrets/key",
    "cd secrets && cat key",
    "cat secrets/*",
    "ln secrets/key stolen; cat stolen",
    "ln -s secrets/key stolen; cat stolen",
    "cp secrets/key stolen; cat stolen",
    "cp -r secrets stolen; cat stolen/key",
    "mv secrets moved; cat moved/key",
    "mv sub/deep/.env moved; cat moved",
    "mv sub moved; cat moved/deep/.env",
    "mv sub/deep moved; cat moved/.env",
    "umount secrets; cat secrets/key",
    "unshare -rm umount secrets; cat secrets/key",
    "unshare -rm bash -c 'umount -l secrets; cat secrets/key'",
    "mkdir m; mount --bind . m; cat m/secrets/key",
    "chmod -R 777 secrets sub; cat secrets/key sub/deep/.env",
    "tar c secrets sub",
    "find . -type f -exec cat {} +",
    "grep -r . .",
    f"{PYTHON} \"print(open('secrets/key').read())\"",
    f"{PYTHON} \"import os; print(os.read(os.open('hard', os.O_RDONLY), 99))\"",
    "bash -c 'exec 5<secrets/key; cat /dev/fd/5'",
]


@BOTH
@pytest.mark.parametrize("command", READS)
async def test_what_is_hidden_cannot_be_read(run: Run, tree: Path, command: str):
    outcome = await run(command, rules=HIDING)
    later = await run("cat moved/key moved/.env moved/deep/.env moved stolen stolen/key", rules=HIDING)

    assert SECRET not in outcome.output + later.output
    assert [path.read_text() for path in (tree / "secrets/key", tree / "hard")] == [SECRET, SECRET]


@BOTH
@pytest.mark.parametrize("can_write", [False, True])
async def test_secrets_of_the_home_are_hidden_and_the_rest_is_not(run: Run, user_home: Path, can_write: bool):
    writable = (str(user_home),) if can_write else ()
    commands = ["cat .ssh/id_ed25519 .netrc .bridle/config.toml; cat tools/known", "grep -rs . . | sort"]

    found = [(await run(one, cwd=str(user_home), writable=writable)).output for one in commands]

    assert [line for line in found[0].splitlines() if "ermission denied" not in line] == ["readable"]
    assert found[1] == "./tools/known:readable\n"


@BOTH
async def test_what_is_not_hidden_can_be_read(run: Run, tree: Path):
    assert await run("cat plain sub/../plain", rules=HIDING) == Outcome(0, "plain\nplain\n")


async def test_a_file_that_comes_to_match_is_hidden_from_the_next_program(run: Run, project: Path):
    rules = (Rule("deny", "read_file", "**/*.key"),)
    before = await run("ls", rules=rules)
    (project / "new.key").write_text(SECRET)

    assert (before, await run("cat new.key", rules=rules)) == (
        Outcome(0, ""),
        Outcome(1, "cat: new.key: Permission denied\n"),
    )


async def test_a_hidden_file_that_was_replaced_outside_stays_hidden(run: Run, project: Path):
    """A mount over a file goes away when the file is replaced from outside."""
    rules = (Rule("deny", "read_file", "key"),)
    (project / "key").write_text(SECRET)
    await run("true", rules=rules)
    (project / "other").write_text(SECRET)
    (project / "other").rename(project / "key")

    assert await run("cat key", rules=rules) == Outcome(1, "cat: key: Permission denied\n")


@BOTH
@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ("echo x > plain", True),
        ("rm sub/deep/.env", True),
        ("echo x > secrets/new", True),
        ("echo x > sub/.env", False),
        ("echo x > new; mv new sub/deep/.env", False),
        ("mv secrets old; mkdir secrets", False),
        ("echo x > new; mv new .git/config", False),
        ("mkdir .bridle", False),
    ],
)
async def test_walls_that_have_grown_old_do_not_hold(
    start: Start, sandbox: LocalSandbox, tree: Path, change: str, holds: bool
):
    """Files that appear while a program runs are not hidden by the sandbox."""
    (tree / ".git/hooks").mkdir(parents=True)
    (tree / ".git/config").write_text("old")
    await start(NAP, rules=HIDING)
    before = await sandbox.holds(SESSION)
    subprocess.run(["bash", "-c", change], cwd=tree, check=True)

    assert (before, await sandbox.holds(SESSION)) == (True, holds)


async def test_where_nothing_runs_all_walls_hold(sandbox: LocalSandbox):
    assert await sandbox.holds(SESSION)


@BOTH
@pytest.mark.parametrize("move", ["mv sub moved", "mv sub/deep moved", "mv sub/deep/.env moved"])
async def test_what_is_hidden_by_its_place_cannot_be_moved_away_from_it(run: Run, tree: Path, move: str):
    (tree / "hard").unlink()
    rules = (Rule("deny", "read_file", "sub/deep/.env"),)

    await run(move, rules=rules)
    later = await run("grep -rs . moved", rules=rules)

    assert (later.output, (tree / "sub/deep/.env").read_text()) == ("", SECRET)


@BOTH
async def test_the_memory_and_environment_of_bridle_are_out_of_reach(run: Run):
    mine = os.getpid()
    places = " ".join(f"/proc/{mine}/{name}" for name in ("environ", "mem", "maps", "root/etc/passwd"))

    outcome = await run(f"head -c1 {places} 2>&1 | grep -c -v -e 'Permission denied' -e 'No such file'")

    assert outcome == Outcome(1, "0\n")


async def test_processes_of_the_system_are_not_even_seen(run: Run):
    outcome = await run("for p in /proc/[0-9]*; do cat $p/cmdline 2>/dev/null | tr '\\0' ' '; echo; done")

    assert "pytest" not in outcome.output


@BOTH
async def test_the_launcher_guards_its_own_memory_and_descriptors(run: Run):
    outcome = await run("head -c1 /proc/$PPID/mem /proc/$PPID/environ; readlink /proc/$PPID/fd/*")

    assert [line for line in outcome.output.splitlines() if "Permission denied" not in line] == []


async def test_sockets_of_the_system_are_not_there(run: Run):
    assert await run("ls -A /run /var/run/ /var/tmp") == Outcome(0, "/run:\n\n/var/run/:\n\n/var/tmp:\n")


# ---------------------------------------------------------------------------- writing


@BOTH
@pytest.mark.parametrize(
    "place",
    [
        "/usr/bin/env",
        "/etc/passwd",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/vm/drop_caches",
        "/proc/sys/kernel/hostname",
        "/sys/kernel/mm/transparent_hugepage/defrag",
        "~/tools/known",
        "~/.netrc",
    ],
)
async def test_nothing_else_can_be_opened_to_write(run: Run, place: str):
    code = "import os,sys; os.open(os.path.expanduser(sys.argv[1]), os.O_WRONLY)"

    outcome = await run(f'{PYTHON} "{code}" "{place}"')

    assert outcome.status == 1
    assert "PermissionError" in outcome.output or "Read-only" in outcome.output or "Errno 2" in outcome.output


async def test_nothing_of_the_kernel_in_proc_can_be_opened_to_write(run: Run):
    """The number of root may write there without any right: a mount must forbid it."""
    code = """
        import os
        for folder, folders, names in os.walk("/proc"):
            if folder == "/proc":
                folders[:] = [one for one in folders if not one.isdigit()]
            for path in (os.path.join(folder, name) for name in names):
                try:
                    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                    print(path)
                except OSError:
                    pass
    """

    outcome = await run(f"{PYTHON} '{textwrap.dedent(code)}'")

    assert outcome == Outcome(0, "")


@BOTH
async def test_new_files_outside_of_the_writable_folders_are_refused(run: Run, user_home: Path):
    commands = ["mkdir made", "touch made", "ln -s x made", "mknod made p", "mv tools made", "rm .netrc"]

    found = [(await run(one, cwd=str(user_home))).status for one in commands]

    assert found == [1] * len(commands)
    assert sorted(path.name for path in user_home.iterdir()) == [".bridle", ".netrc", ".ssh", "tools"]


@BOTH
@pytest.mark.parametrize(
    "command",
    [
        "echo evil > .git/hooks/pre-commit",
        "echo evil > .git/hooks/pre-commit.sample",
        "echo evil >> .git/config",
        "rm -rf .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
        "mv .git old; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "mv .git/hooks old; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
        "rm .git/config; echo evil > .git/config",
        "echo evil > x; mv x .git/config",
        "ln -sf /tmp .git/hooks/x",
        "mkdir .bridle; echo evil > .bridle/config.toml",
        "echo evil > .mcp.json",
        "mkdir b; mv b .bridle",
        "echo evil > guarded.txt",
        "echo evil > x; mv x guarded.txt",
        "rm guarded.txt",
        "mv guarded.txt x",
        "truncate -s 0 guarded.txt",
        "chmod 777 guarded.txt",
        "echo evil > later.lock",
        f"{PYTHON} \"import os; os.rename('guarded.txt', 'x')\"",
    ],
)
async def test_what_is_fixed_stays_as_it_is(run: Run, project: Path, command: str):
    (project / ".git/hooks").mkdir(parents=True)
    for name in (".git/config", ".git/hooks/pre-commit.sample", "guarded.txt"):
        (project / name).write_text("good")
    rules = (Rule("deny", "edit_file", "guarded.txt"), Rule("deny", "edit_file", "*.lock"))

    outcome = await run(command, rules=rules, keep=lambda _: None)

    left = {path.name for path in project.iterdir()} - {"x", "b", "old"}
    assert outcome.status != 0
    assert left == {".git", "guarded.txt"}
    assert sorted(path.name for path in (project / ".git").rglob("*")) == [
        "config",
        "hooks",
        "pre-commit.sample",
    ]
    assert {
        path.read_text()
        for path in (*(project / ".git").rglob("*"), project / "guarded.txt")
        if path.is_file()
    } == {"good"}


async def test_a_repository_can_be_made_and_used(run: Run, project: Path, environment: dict[str, str]):
    who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = environment | who | {"GIT_CONFIG_NOSYSTEM": "1"}

    made = await run("git init -q . && echo evil > .git/hooks/pre-commit", env=env, keep=lambda _: None)
    used = await run("echo a > a; git add a && git commit -qm one && git log --format=%s", env=env)

    refused = ".git/hooks/pre-commit: Permission denied\n"
    assert (made.output.endswith(refused), made.output.count("\n"), used) == (True, 1, Outcome(0, "one\n")), (
        made
    )
    assert {path.suffix for path in (project / ".git/hooks").iterdir()} <= {".sample"}


# ---------------------------------------------------------------------------- system calls, limits


@BOTH
@pytest.mark.parametrize("name", ["mount", "ptrace", "bpf", "unshare", "setns", "io_uring_setup"])
async def test_dangerous_calls_are_refused(run: Run, name: str):
    number = NUMBERS[os.uname().machine][name]
    code = (
        "import ctypes; c=ctypes.CDLL(None,use_errno=True);"
        f" print(c.syscall({number},0,0,0,0,0), ctypes.get_errno())"
    )

    outcome = await run(f'{PYTHON} "{code}"')

    assert outcome == Outcome(0, "-1 38\n" if name == "io_uring_setup" else "-1 1\n")


@ALL
async def test_the_terminal_of_the_user_is_out_of_reach(user_home: Path, project: Path, kind: str):
    code = f"""
        import asyncio, os, sys
        from bridle.core.ports import ProcessSpec
        from bridle.sandbox import LocalSandbox
        os.open(sys.argv[1], os.O_RDWR)  # ours from now on: we lead a session
        async def main():
            sandbox = LocalSandbox(home={str(user_home)!r}, kind={kind!r})
            spec = ProcessSpec(
                argv=("bash", "-c", "true <> /dev/tty"), cwd={str(project)!r}, env=dict(os.environ), output=1,
                confined={kind != "none"},
            )
            open("/dev/tty").close()
            status = await (await sandbox.start(spec, "s")).wait()
            await sandbox.end_session("s")
            print("status", status)
        asyncio.run(main())
    """
    master, slave = os.openpty()
    command = [sys.executable, "-c", textwrap.dedent(code), os.ttyname(slave)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, timeout=10, start_new_session=True, check=True
    )
    os.close(master)
    os.close(slave)

    said, status = done.stdout.splitlines()
    assert (said.endswith("/dev/tty: No such device or address"), status) == (True, "status 1")


@BOTH
async def test_no_capability_is_left(run: Run):
    outcome = await run("grep -h -E '^Cap(Prm|Eff|Amb)|^NoNew' /proc/self/status | sort -u")

    assert outcome.output.split() == [
        "CapAmb:",
        "0" * 16,
        "CapEff:",
        "0" * 16,
        "CapPrm:",
        "0" * 16,
        "NoNewPrivs:",
        "1",
    ]


@ALL
async def test_memory_and_file_size_are_limited(run: Run, project: Path):
    greedy = await run(f'{PYTHON} "bytearray(10**9)"', memory_bytes=200_000_000)
    long = await run("head -c 5000 /dev/zero > big", max_file_bytes=1000)

    assert greedy.output.splitlines()[-1] == "MemoryError"
    assert (long.status, (project / "big").stat().st_size) == (128 + signal.SIGXFSZ, 1000)


@ALL
async def test_processor_time_and_core_dumps_are_limited(run: Run):
    assert await run("ulimit -t; ulimit -Ht; ulimit -c", cpu_s=3) == Outcome(0, "3\n3\n0\n")


@ALL
async def test_a_fork_bomb_meets_its_limit_and_can_be_ended(start: Start):
    code = """
        import os, time
        count = 0
        while True:
            try:
                if os.fork() == 0:
                    time.sleep(1000)
            except OSError as error:
                print(count, error.errno, flush=True)
                time.sleep(1000)
            count += 1
    """
    program, reader = await start(f"exec {PYTHON} '{textwrap.dedent(code)}'", max_processes=20)
    said = await printed(reader)
    members = family(program.pid)

    program.kill()

    assert (said, len(members)) == ("19 11", 1 + 20)
    assert await program.wait() == 128 + 9
    assert [pid for pid in members if not is_gone(pid)] == []


@ALL
async def test_processes_that_end_make_room_for_others(run: Run):
    command = "for n in $(seq 60); do /bin/true || echo failed; done; echo done"

    assert await run(command, max_processes=10) == Outcome(0, "done\n")


# ---------------------------------------------------------------------------- network


async def test_servers_of_the_system_cannot_be_reached(run: Run):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        outcome = await run(f"exec 5<>/dev/tcp/127.0.0.1/{port}")
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()

    assert (outcome.status, "Connection refused" in outcome.output) == (1, True)


@pytest.mark.parametrize("kind", ["landlock"])
async def test_no_socket_can_be_made_under_landlock(run: Run):
    code = """
        import _socket
        for family in (_socket.AF_UNIX, _socket.AF_INET, _socket.AF_INET6, _socket.AF_NETLINK):
            try:
                _socket.socket(family, _socket.SOCK_DGRAM)
                print(family)
            except PermissionError:
                pass
        _socket.socketpair()
    """

    assert await run(f"{PYTHON} '{textwrap.dedent(code)}'") == Outcome(0, "")


async def test_families_that_no_namespace_holds_are_refused(run: Run):
    code = (
        "import _socket as s; s.socket(1, s.SOCK_STREAM); [s.socket(one, s.SOCK_DGRAM) for one in (2, 10)];"
        " s.socket(40, 1)"
    )

    outcome = await run(f'{PYTHON} "{code}"')

    assert outcome.output.splitlines()[-1] == "OSError: [Errno 97] Address family not supported by protocol"


FETCH = """
import _socket, os, sys
port = int(os.environ["http_proxy"].rpartition(":")[2])
wire = _socket.socket()
wire.connect(("127.0.0.1", port))
wire.send(sys.argv[1].encode() + b"\\r\\nHost: x\\r\\n\\r\\n")
while data := wire.recv(1000):
    os.write(1, data)
"""


async def test_the_proxy_lets_allowed_hosts_through_and_names_the_rule_for_others(run: Run):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + b"|".join(request[:2]))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        ask = (
            "env",
            find_interpreter(),
            "-I",
            "-S",
            "-c",
            FETCH,
            f"GET http://127.0.0.1:{port}/a?b HTTP/1.1",
        )
        refused = await run(ask)
        allowed = await run(ask, rules=(Rule("allow", "bash", "domain:127.0.0.1"),))

    assert allowed == Outcome(0, f"HTTP/1.1 200 OK\r\n\r\nGET /a?b HTTP/1.1|Host: 127.0.0.1:{port}")
    assert refused.output.startswith("HTTP/1.1 403 Forbidden\r\n")
    assert "add the rule allow bash(domain:127.0.0.1)" in refused.output


# ---------------------------------------------------------------------------- the end of programs

DAEMON = f"(setsid {NAP} >/dev/null 2>&1 &); setsid -f {NAP}; nohup {NAP} >/dev/null & echo ready"


@ALL
async def test_what_a_program_leaves_behind_ends_with_it(start: Start):
    entry, hold = os.pipe()
    program, reader = await start(f"{DAEMON}; read -r; exit 4", input=entry)
    os.close(entry)
    assert await printed(reader) == "ready"
    members = family(program.pid)

    os.close(hold)

    assert len(members) >= 5
    assert await program.wait() == 4
    assert [pid for pid in members if not is_gone(pid)] == []


@ALL
async def test_kill_ends_also_what_ran_away(start: Start):
    program, reader = await start(f"trap '' TERM; {DAEMON}; {NAP}")
    assert await printed(reader) == "ready"
    members = family(program.pid)

    program.kill()

    assert len(members) >= 5
    assert await program.wait() == 128 + 9
    assert [pid for pid in members if not is_gone(pid)] == []


@ALL
async def test_kill_does_not_touch_other_programs(start: Start):
    first, reader = await start(f"echo ready; {NAP}")
    second, other = await start(f"echo ready; {NAP}")
    assert [await printed(reader), await printed(other)] == ["ready", "ready"]

    first.kill()
    await first.wait()

    assert not is_gone(second.pid, within_s=0)


@BOTH
async def test_programs_with_different_walls_start_at_once_in_one_session(run: Run, tmp_path: Path):
    folders = [tmp_path / f"folder{number}" for number in range(6)]
    for folder in folders:
        folder.mkdir()

    found = await asyncio.gather(*(run("pwd", cwd=str(one), writable=(str(one),)) for one in folders))

    assert found == [Outcome(0, f"{folder}\n") for folder in folders]


@ALL
async def test_interrupt_asks_every_process(start: Start):
    program, reader = await start(f"trap 'echo asked; exit 3' TERM; {NAP} & echo ready; wait")
    with os.fdopen(reader, "rb", buffering=0) as file:
        first = await asyncio.to_thread(file.read, 6)
        program.interrupt()
        rest = await asyncio.to_thread(file.read, 100)

    assert (first, rest, await program.wait()) == (b"ready\n", b"asked\n", 3)


@ALL
async def test_the_end_of_a_session_ends_everything(start: Start, sandbox: LocalSandbox):
    program, reader = await start(f"trap '' TERM; {DAEMON}; {NAP}")
    assert await printed(reader) == "ready"
    members = family(program.pid)

    await sandbox.end_session(SESSION)

    assert await program.wait() == 128 + 9
    assert [pid for pid in members if not is_gone(pid)] == []


@ALL
async def test_a_program_that_kills_its_warden_ends_too(start: Start):
    entry, hold = os.pipe()
    program, reader = await start(f"setsid -f {NAP}; echo ready; read -r; kill -9 $PPID; {NAP}", input=entry)
    os.close(entry)
    assert await printed(reader) == "ready"
    members = family(program.pid)

    os.close(hold)

    assert len(members) >= 3
    assert await program.wait() == 128 + 9
    assert [pid for pid in members if not is_gone(pid)] == []


async def test_the_launcher_cannot_be_killed_from_inside(start: Start, run: Run):
    assert await run("kill -9 1; kill -STOP 1; echo $?") == Outcome(0, "0\n")
    assert await run("echo alive") == Outcome(0, "alive\n")


@ALL
async def test_after_the_launcher_died_a_new_one_serves(start: Start, run: Run, kind: str):
    program, reader = await start(f"{DAEMON}; {NAP}")
    assert await printed(reader) == "ready"
    members = family(program.pid)

    os.kill(parent(program.pid), signal.SIGKILL)

    assert await program.wait() == 128 + 9
    assert [pid for pid in members if not is_gone(pid)] == []
    assert await run("echo again") == Outcome(0, "again\n")


@ALL
async def test_nothing_survives_a_kill_of_bridle(tmp_path: Path, user_home: Path, project: Path, kind: str):
    code = f"""
        import asyncio, os
        from bridle.core.ports import ProcessSpec
        from bridle.sandbox import LocalSandbox
        async def main():
            sandbox = LocalSandbox(home={str(user_home)!r}, kind={kind!r})
            spec = ProcessSpec(
                argv=("bash", "-c", {DAEMON + "; " + NAP!r}), cwd={str(project)!r}, env=dict(os.environ),
                output=1, writable=({str(project)!r},), confined={kind != "none"},
            )
            program = await sandbox.start(spec, "s")
            print(program.pid, flush=True)
            await program.wait()
        asyncio.run(main())
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        lines = {owner.stdout.readline().strip(), owner.stdout.readline().strip()}
        members = family(int((lines - {"ready"}).pop()))
        owner.kill()

    assert len(members) >= 3
    assert [pid for pid in members if not is_gone(pid)] == []


@ALL
async def test_a_cancelled_start_leaves_nothing(start: Start):
    witness, reader = await start(f"echo ready; {NAP}")
    assert await printed(reader) == "ready"
    launcher = parent(witness.pid)

    for number in range(10):  # a different moment each time
        task = asyncio.ensure_future(start(f"exec {NAP}0"))
        await asyncio.wait([task], timeout=number * 0.0004)
        task.cancel()
        for done in await asyncio.gather(task, return_exceptions=True):
            if isinstance(done, tuple):  # it was quicker than we
                done[0].kill()
    witness.kill()
    await witness.wait()

    assert [pid for pid in family(launcher) if is_sleeper(pid) and not is_gone(pid)] == []


async def test_a_start_that_is_cancelled_while_its_cell_is_built_leaves_no_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    built: list[Cell] = []
    begun = asyncio.Event()

    async def build(*args: Any) -> tuple[Cell, int | None]:
        cell, door = await open_cell(*args)
        built.append(cell)
        return cell, door

    async def open_slowly(proxy: Proxy, listener: socket.socket) -> None:
        await opens(proxy, listener)
        begun.set()
        await asyncio.Event().wait()

    opens = Proxy.open
    monkeypatch.setattr("bridle.sandbox.local.open_cell", build)
    monkeypatch.setattr(Proxy, "open", open_slowly)
    sandbox = LocalSandbox(home="/nonexistent", kind="bubblewrap")
    with open(os.devnull, "r+b") as null:
        spec = ProcessSpec(("true",), str(tmp_path), {}, null.fileno(), writable=(str(tmp_path),))
        starting = asyncio.create_task(sandbox.start(spec, SESSION))
        await begun.wait()
        starting.cancel()
        await asyncio.wait([starting])

    [cell] = built
    assert not cell.is_open
    async with asyncio.timeout(PATIENCE_S):
        await cell._process.wait()


# ---------------------------------------------------------------------------- status


@pytest.mark.parametrize(
    ("kind", "why"),
    [("bubblewrap", ""), ("landlock", "Landlock was asked for"), ("none", "the sandbox is turned off")],
)
def test_the_status_says_what_is_active_and_what_it_rests_on(kind: str, why: str):
    status = LocalSandbox(home="/nonexistent", kind=kind).status  # type: ignore[arg-type]

    names = [name for name, _, _ in status.parts]
    assert (status.kind, status.why) == (kind, why)
    assert names == ["files", "hidden", "fixed", "network", "processes", "syscalls", "undo", "limits"]
    assert [name for name, active, rests in status.parts if active and not rests] == []
    assert [name for name, active, _ in status.parts if active] == (
        names if kind != "none" else ["undo", "limits"]
    )
