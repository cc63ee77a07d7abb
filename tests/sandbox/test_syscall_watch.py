"""Bridle saves a file before every change, and a change that it cannot save does not happen."""

import asyncio
import ctypes
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bridle.core.ports import SandboxKind
from bridle.sandbox.cell import SandboxedProgram
from bridle.sandbox.interpreter import find_interpreter
from bridle.sandbox.process_paths import read_memory, read_path, resolve_path
from tests.patience import PATIENCE_S
from tests.sandbox.conftest import Outcome, Run

Start = Callable[..., Awaitable[tuple[SandboxedProgram, int]]]

ALL = pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "none"])
PYTHON = f"'{find_interpreter()}' -I -S -c"

BEFORE = {
    "a": "one\n",
    "b": "two\n",
    "d/e": "three\n",
    "d/f/g": "four\n",
}


@pytest.fixture
def tree(project: Path) -> Path:
    """Make a project with files, a link to one of them and one to a folder."""
    for name, text in BEFORE.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    (project / "link").symlink_to("d/e")
    (project / "folder").symlink_to(project / "d/f")
    return project


class Kept:
    """Records its messages, and the files at that moment."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self.found: dict[str, str | None] = {}

    def keep(self, path: str) -> None:
        place = Path(path)
        text: str | None = None
        if place.is_symlink():
            text = f"link to {os.readlink(place)}"
        elif place.is_dir():
            text = "folder"
        elif place.exists():
            text = place.read_text()
        self.found.setdefault(str(place.relative_to(self._project)), text)


@pytest.fixture
def kept(project: Path) -> Kept:
    return Kept(project)


def py(code: str) -> str:
    return f'{PYTHON} "import os, socket; {code}"'


CHANGES = [
    ("echo x > a", {"a": "one\n"}),
    ("echo x >> a", {"a": "one\n"}),
    ("echo x > new", {"new": None}),
    ("cat a > /dev/null; cat < b > /dev/null", {}),
    ("ls -la; cat a b; grep -r one .", {}),
    (": > link", {"d/e": "three\n"}),
    ("echo x > folder/g", {"d/f/g": "four\n"}),
    ("echo x > d/../d/./f/../e", {"d/e": "three\n"}),
    ('echo x > "$PWD/a"', {"a": "one\n"}),
    ("cd d/f && echo x > ../../a", {"a": "one\n"}),
    ("cd folder && echo x > g", {"d/f/g": "four\n"}),
    ("mv a c", {"a": "one\n", "c": None}),
    ("mv a b", {"a": "one\n", "b": "two\n"}),
    ("mv d k", {"d": "folder", "k": None}),
    ("rm a", {"a": "one\n"}),
    ("rm link", {"link": "link to d/e"}),
    ("rmdir d 2>/dev/null; rm -r d/f", {"d": "folder", "d/f": "folder", "d/f/g": "four\n"}),
    ("rm -rf d", {"d": "folder", "d/e": "three\n", "d/f": "folder", "d/f/g": "four\n"}),
    ("mkdir n", {"n": None}),
    ("mkdir -p n/m", {"n": None, "n/m": None}),
    ("mkdir -p d/f", {}),
    ("ln -s a s", {"s": None}),
    ("ln a h", {"a": "one\n", "h": None}),
    ("ln a h; echo x > h", {"a": "one\n", "h": None}),
    ("chmod 600 a", {"a": "one\n"}),
    ("chmod 600 link", {"d/e": "three\n"}),
    ("truncate -s 1 a", {"a": "one\n"}),
    ("mkfifo p", {"p": None}),
    ("cp a c", {"c": None}),
    ("tee a < b > /dev/null", {"a": "one\n"}),
    ("echo x > /dev/null; echo x > /dev/stderr; echo x > /dev/stdout", {}),
    ("exec 5<a; echo x > /dev/fd/5", {"a": "one\n"}),
    ("exec 5<a; echo x > /proc/self/fd/5", {"a": "one\n"}),
    ("exec 5<a; echo x > /proc/$$/fd/5", {"a": "one\n"}),
    ("echo x > /proc/self/cwd/a", {"a": "one\n"}),
    ("echo x > /proc/self/root/$PWD/a", {"a": "one\n"}),
    ("echo x > /proc/thread-self/cwd/a", {"a": "one\n"}),
    (py("open('a', 'r+').close()"), {"a": "one\n"}),
    (py("os.unlink('a')"), {"a": "one\n"}),
    (py("os.rename('a', 'c')"), {"a": "one\n", "c": None}),
    (py("os.replace('a', 'b')"), {"a": "one\n", "b": "two\n"}),
    (py("os.truncate('a', 0)"), {"a": "one\n"}),
    (py("os.close(os.open('new', os.O_CREAT | os.O_EXCL | os.O_WRONLY))"), {"new": None}),
    (py("d = os.open('d', os.O_RDONLY); os.close(os.open('e', os.O_WRONLY, dir_fd=d))"), {"d/e": "three\n"}),
    (py("d = os.open('d', os.O_RDONLY); os.unlink('e', dir_fd=d)"), {"d/e": "three\n"}),
    (py("f = os.open('a', os.O_RDONLY); os.fchmod(f, 0o600)"), {"a": "one\n"}),
    (py("os.mkdir('n'); os.rmdir('n')"), {"n": None}),
]


@ALL
@pytest.mark.parametrize(("command", "wanted"), CHANGES)
async def test_exactly_what_changes_is_kept_as_it_was_before(
    run: Run, tree: Path, kept: Kept, command: str, wanted: dict[str, str | None]
):
    await run(command, keep=kept.keep)

    assert kept.found == wanted


async def test_in_place_editing_keeps_the_file(run: Run, tree: Path, kept: Kept):
    outcome = await run("sed -i s/one/1/ a && cat a", keep=kept.keep)

    named = {name: text for name, text in kept.found.items() if not name.startswith("sed")}
    assert (outcome, named) == (Outcome(0, "1\n"), {"a": "one\n"})


async def test_a_socket_that_gets_a_name_is_kept(run: Run, kept: Kept):
    code = "import _socket; _socket.socket(_socket.AF_UNIX).bind('door')"

    outcome = await run(f'{PYTHON} "{code}"', keep=kept.keep)

    assert (outcome, kept.found) == (Outcome(0, ""), {"door": None})


async def test_a_nameless_file_is_kept_when_it_gets_a_name(run: Run, kept: Kept):
    code = (
        "import os; f = os.open('.', os.O_TMPFILE | os.O_WRONLY);"
        " os.link(f'/proc/self/fd/{f}', 'named', src_dir_fd=0, follow_symlinks=True)"
    )

    outcome = await run(f'{PYTHON} "{code}"', keep=kept.keep)

    assert (outcome, kept.found) == (Outcome(0, ""), {"named": None})


@ALL
async def test_what_cannot_be_kept_is_not_changed(start: Start, run: Run, tree: Path):
    def fail(path: str) -> None:
        raise FileNotFoundError("no space for it")

    program, reader = await start("echo x > a; rm b; mv d k; mkdir n", keep=fail)
    status = await program.wait()
    output = os.read(reader, 10_000).decode()
    os.close(reader)

    assert (status, program.changes.kept_error) == (1, f"{tree}/a: no space for it")
    assert output.count("Input/output error") == 4
    assert {name: (tree / name).read_text() for name in BEFORE} == BEFORE


@ALL
async def test_changes_outside_of_the_writable_folders_are_not_our_business(
    run: Run, kept: Kept, kind: SandboxKind
):
    folder = "/tmp" if kind == "bubblewrap" else "$TMPDIR" if kind == "landlock" else "$(mktemp -d)"

    outcome = await run(f"cd {folder} && echo x > f && rm f && echo done", keep=kept.keep)

    assert (outcome, kept.found) == (Outcome(0, "done\n"), {})


async def test_a_bad_path_fails_as_it_would_have(run: Run, kept: Kept):
    code = (
        "import ctypes; c = ctypes.CDLL(None, use_errno=True); codes = [];"
        " [codes.append((c.mkdir(one, 0), ctypes.get_errno())) for one in (ctypes.c_void_p(1), b'x' * 5000)];"
        " print(codes)"
    )

    outcome = await run(f'{PYTHON} "{code}"', keep=kept.keep)

    assert (outcome, kept.found) == (Outcome(0, "[(-1, 14), (-1, 36)]\n"), {})


async def test_many_processes_at_once_are_all_kept(run: Run, kept: Kept):
    outcome = await run("for n in $(seq 40); do (echo $n > f$n) & done; wait; ls | wc -l", keep=kept.keep)

    assert outcome == Outcome(0, "40\n")
    assert kept.found == {f"f{number}": None for number in range(1, 41)}


async def test_a_program_that_is_killed_while_something_is_kept_ends_at_once(start: Start):
    entered, leave = threading.Event(), threading.Event()

    def keep(path: str) -> None:
        entered.set()
        leave.wait(2 * PATIENCE_S)

    program, reader = await start("echo x > a", keep=keep)
    os.close(reader)
    await asyncio.to_thread(entered.wait, PATIENCE_S)
    program.kill()
    async with asyncio.timeout(PATIENCE_S):
        status = await program.wait()
    leave.set()

    assert status == 128 + 9


# ---------------------------------------------------------------------------- how a path is found


def test_memory_is_read_up_to_the_end_of_a_text():
    text = b"some/path\0rest"
    buffer = ctypes.create_string_buffer(text)

    assert read_memory(os.getpid(), ctypes.addressof(buffer), 4) == b"some"
    assert read_path(os.getpid(), ctypes.addressof(buffer)) == "some/path"
    with pytest.raises(OSError, match="memory of process"):
        read_path(os.getpid(), 1)


def test_a_path_is_followed_as_the_kernel_does(tmp_path: Path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_text("")
    (tmp_path / "l").symlink_to("d")
    (tmp_path / "up").symlink_to("../" + tmp_path.name)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "last").symlink_to("d/f")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    here = os.getpid()

    def find(path: str, *, follow: bool = True) -> str | None:
        found = resolve_path(here, descriptor, path, [], follow=follow)
        return found if found is None else found.removeprefix(str(tmp_path))

    found = {
        path: find(path)
        for path in (
            "d/f",
            "l/f",
            "l/../x",
            "up/l/f",
            "loop/x",
            "new",
            f"{tmp_path}/l/f",
            "/proc/self/cwd",
            "last",
        )
    }
    os.close(descriptor)

    assert found == {
        "d/f": "/d/f",
        "l/f": "/d/f",
        "l/../x": "/x",
        "up/l/f": "/d/f",
        "loop/x": None,
        "new": "/new",
        f"{tmp_path}/l/f": "/d/f",
        "/proc/self/cwd": os.getcwd(),
        "last": "/d/f",
    }
    assert resolve_path(here, -100, f"{tmp_path}/last", [str(tmp_path)], follow=False) == f"{tmp_path}/last"
    assert resolve_path(here, -100, f"{tmp_path}/l/", [str(tmp_path)], follow=False) == f"{tmp_path}/d"
