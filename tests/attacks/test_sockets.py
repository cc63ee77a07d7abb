"""Attack 5: services of the machine that listen on Unix sockets, and special bits left on files.

A socket is bound by a name that does not tell where it lies, or renamed since: its place cannot be looked up.
"""

import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.attacks.stage import Stage

SERVE = """
import os, socket, sys
how, kind = sys.argv[1:]
made = socket.socket(socket.AF_UNIX, getattr(socket, kind))
made.bind("door")
if kind != "SOCK_DGRAM":
    made.listen()
if how == "renamed":
    os.rename("door", "moved")
    os.symlink("moved", "door")
if how == "linked":
    os.link("door", "other")
    os.unlink("door")
    os.rename("other", "door")
print("ready", flush=True)
while True:
    if kind == "SOCK_DGRAM":
        got = made.recv(100)
    else:
        peer, _ = made.accept()
        got = b"reached"
    open("reached", "a").write("x")
"""
CONNECT = (
    "import socket; s = socket.socket(socket.AF_UNIX, socket.{kind}); s.settimeout(3); s.connect('{path}'); "
    "s.send(b'x'); print('CON' + 'NECTED')"
)


@pytest.fixture(params=["relative", "renamed", "linked"])
def service(request: pytest.FixtureRequest, stage: Stage) -> Iterator[Path]:
    """Yield the folder of a service of the system that listens on a socket in the project."""
    with serve(stage.project, request.param, "SOCK_STREAM"):
        yield stage.project


@contextmanager
def serve(folder: Path, how: str, kind: str) -> Iterator[None]:
    argv = [sys.executable, "-ISc", SERVE, how, kind]
    with subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            yield
        finally:
            process.kill()


def connect(path: str, kind: str = "SOCK_STREAM") -> str:
    return CONNECT.format(kind=kind, path=path)


WAYS = ["door", "./src/../door", "link", "/proc/self/cwd/door"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_service_of_the_system_is_not_reached_from_the_shell(stage: Stage, service: Path, way: str):
    seen = await stage.shell(f'ln -s door link; python3 -c "{connect(way)}"')

    assert "CONNECTED" not in seen.text
    assert not (service / "reached").exists()


async def test_a_service_that_begins_while_a_program_runs_is_not_reached(stage: Stage):
    """The files at the start of a program are not all."""
    await stage.shell("true")
    with serve(stage.project, "relative", "SOCK_STREAM"):
        seen = await stage.shell(
            f'mv door d 2> /dev/null; python3 -c "{connect("d")}"; python3 -c "{connect("door")}"'
        )

    assert "CONNECTED" not in seen.text
    assert not (stage.project / "reached").exists()


async def test_a_service_of_the_system_is_not_reached_from_a_cell(stage: Stage, service: Path):
    seen = await stage.cell(connect("door"))

    assert "CONNECTED" not in seen.text
    assert not (service / "reached").exists()


@pytest.mark.parametrize(
    "code",
    [
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b'x', 'door')",
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_RAW); s.sendto(b'x', 'door')",
        "s, t = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b'x', 'door')",
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendmsg([b'x'], [], 0, 'door')",
    ],
)
async def test_no_datagram_reaches_a_service_of_the_system(stage: Stage, code: str):
    with serve(stage.project, "relative", "SOCK_DGRAM"):
        seen = await stage.shell(f"python3 -c \"import socket; {code}; print('SE' + 'NT')\"")

    assert "SENT" not in seen.text
    assert not (stage.project / "reached").exists()


# One thread connects to a separate socket, the other exchanges the address and the descriptor meanwhile.
RACE = """
import ctypes, os, socket, struct, threading
libc = ctypes.CDLL(None)
own = socket.socket(socket.AF_UNIX); own.bind("own"); own.listen(1000)
inet = socket.socket(); inet.bind(("127.0.0.1", 0)); inet.listen(1000)
names = [struct.pack("=H", 1) + name + bytes(20) for name in (b"own", b"door")]
web = struct.pack("=HH4s8x", 2, socket.htons(inet.getsockname()[1]), socket.inet_aton("127.0.0.1"))
address = ctypes.create_string_buffer(names[0], 64)
over = threading.Event()
spare = [-1, -1]
def swap():
    turn = 0
    while not over.is_set():
        turn = (turn + 1) % 3
        text = (*names, web)[turn]
        ctypes.memmove(address, text, len(text))
        if spare[0] >= 0:
            libc.dup2(spare[turn % 2], 100)
thread = threading.Thread(target=swap); thread.start()
for attempt in range(300):
    with socket.socket(socket.AF_UNIX) as one, socket.socket() as two:
        spare[:] = one.fileno(), two.fileno()
        libc.connect(100, address, 16)
        spare[:] = -1, -1
over.set(); thread.join()
print("TRIED")
"""


async def test_no_race_reaches_a_service_of_the_system(stage: Stage, service: Path):
    (stage.project / "race.py").write_text(RACE)

    seen = await stage.shell("python3 race.py")

    assert "TRIED" in seen.text
    assert not (service / "reached").exists()


TALK = """
import os, socket, threading
name = {name!r}
server = socket.socket(socket.AF_UNIX); server.bind(name); server.listen()
{between}
threading.Thread(target=lambda: server.accept()[0].sendall(b'hello'), daemon=True).start()
client = socket.socket(socket.AF_UNIX); client.settimeout(5); client.connect({to!r})
print(client.recv(10))
"""


@pytest.mark.parametrize(
    ("name", "between", "to"),
    [
        ("own", "", "own"),
        ("/tmp/own", "", "/tmp/own"),
        ("own", "os.rename('own', 'src/o')", "src/o"),
        ("own", "os.symlink('own', 'l')", "l"),
        ("\0abstract", "", "\0abstract"),
    ],
)
async def test_what_a_program_binds_itself_it_can_reach(stage: Stage, name: str, between: str, to: str):
    (stage.project / "talk.py").write_text(TALK.format(name=name, between=between, to=to))

    assert (await stage.shell("python3 talk.py")).text.strip() == "b'hello'"
    (stage.project / "own").unlink(missing_ok=True)


SERVER = (
    "import socket; s = socket.socket(socket.AF_UNIX); s.bind('own'); s.listen();"
    " print('up', flush=True); [s.accept()[0].sendall(b'hello') for _ in range(9)]"
)
CLIENT = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('own'); print(s.recv(9))"


async def test_one_command_reaches_the_server_of_another(stage: Stage):
    seen = await stage.shell(f'python3 -c "{SERVER}"', background=True)
    while "up" not in seen.text:
        seen = await stage.force("job_output", {"job": 1, "cursor": 0, "wait": 9})

    with socket.socket(socket.AF_UNIX) as service:  # a service of the system that appears meanwhile
        service.bind(str(stage.project.parent / "service"))
        service.listen()
        seen = await stage.shell(f'python3 -c "{CLIENT}"')

    assert seen.text.strip() == "b'hello'"


async def test_internet_sockets_inside_connect_as_ever(stage: Stage):
    code = """
import asyncio, socket
with socket.create_server(("127.0.0.1", 0)) as server:
    where = server.getsockname()
    blocking = socket.create_connection(where)
    patient = socket.socket(); patient.settimeout(3); patient.connect(where)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.connect(where)
    print(asyncio.run(asyncio.open_connection(*where)) and "ALL")
closed = socket.socket()
print(closed.connect_ex(where))
"""
    (stage.project / "net.py").write_text(code)

    assert (await stage.shell("python3 net.py")).text.split() == ["ALL", "111"]


# ------------------------------------------------------------------------------------------------ rights

SETS = [
    "chmod 4755 own",
    "chmod 2755 own",
    "chmod 6755 own",
    "chmod u+s own",
    "chmod g+s own",
    "install -m 4755 own other",
    "python3 -c \"import os; os.fchmod(os.open('own', 0), 0o4755)\"",
    "python3 -c \"import os; os.fchmod(os.open('own', 0), 0o2755)\"",
    "python3 -c \"import os; os.chmod('own', 0o4755, dir_fd=os.open('.', 0))\"",
    "python3 -c \"import os; os.umask(0); os.open('other', os.O_CREAT | os.O_WRONLY, 0o4755)\"",
    "python3 -c \"import os; os.umask(0); os.open('other', os.O_CREAT | os.O_WRONLY, 0o2755)\"",
    "python3 -c \"import os; os.umask(0); os.mknod('other', 0o104755)\"",
    "python3 -c \"import ctypes; ctypes.CDLL(None).creat(b'other', 0o4755)\"",
    "python3 -c \"import ctypes; ctypes.CDLL(None).syscall(452, -100, b'own', 0o4755, 0)\"",
]
OPENAT2 = (
    "python3 -c \"import ctypes, struct; ctypes.CDLL(None).syscall(437, -100, b'other',"
    " struct.pack('QQQ', 0o101, 0o4755, 0), 24)\""
)


@pytest.mark.parametrize("command", [*SETS, OPENAT2])
async def test_no_program_is_left_with_the_rights_of_its_owner(stage: Stage, command: str):
    (stage.project / "own").write_bytes(b"#!/bin/sh\n")

    await stage.shell(command)

    modes = [stat.S_IMODE(path.lstat().st_mode) for path in stage.project.iterdir() if path.is_file()]
    assert [mode for mode in modes if mode & 0o6000] == []


async def test_no_race_leaves_such_a_program(stage: Stage):
    """A folder is exchanged for a file between the look and the change of its mode."""
    code = """
import ctypes, os, threading
libc = ctypes.CDLL(None)
os.mkdir("a"); open("b", "w").close()
over = threading.Event()
def swap():
    while not over.is_set():
        libc.renameat2(-100, b"a", -100, b"b", 2)
thread = threading.Thread(target=swap); thread.start()
for _ in range(300):
    libc.chmod(b"a", 0o2755)
over.set(); thread.join()
print("TRIED")
"""
    (stage.project / "race.py").write_text(code)

    seen = await stage.shell("python3 race.py")

    files = [path for path in (stage.project / "a", stage.project / "b") if path.is_file()]
    assert "TRIED" in seen.text
    assert [path for path in files if path.stat().st_mode & 0o6000] == []


async def test_a_folder_may_say_which_group_its_files_get(stage: Stage):
    seen = await stage.shell(
        "mkdir d && chmod 2775 d && install -d -m 2770 e && chmod g+w d && stat -c %a d e"
    )

    assert seen.text.split() == ["2775", "2770"]


async def test_a_folder_that_is_read_only_stays_as_it_is(stage: Stage):
    before = (stage.world / "outside").stat().st_mode

    seen = await stage.shell("chmod 2775 ../outside .git/hooks")

    assert seen.text.count("Read-only file system") + seen.text.count("No such file") == 2
    assert (stage.world / "outside").stat().st_mode == before
