"""Opening and replacing files: no link is followed, nothing blocks, no file is half written."""

import errno
import fcntl
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.tools.filesystem import (
    check_unprotected,
    error_reason,
    file_mode,
    open_file,
    open_folder,
    open_replacement,
    remove_file,
    replace_file,
    version_of,
)
from bridle.tools.paths import resolve
from tests.tools.conftest import Swapping

GO = threading.Event()
"""An event that is never set: no one stops the work."""


def read(cwd: Path, path: str) -> bytes:
    with open_file(resolve(str(cwd), path)) as file:
        return file.read()


def write(cwd: Path, path: str, data: bytes) -> None:
    replace_file(resolve(str(cwd), path), data, stop=GO)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


# ---------------------------------------------------------------------------- what is opened


def test_a_file_is_read(cwd: Path):
    (cwd / "a").mkdir()
    (cwd / "a" / "f").write_bytes(b"data")

    assert read(cwd, "a/f") == b"data"


def test_a_missing_file_is_an_error(cwd: Path):
    with pytest.raises(FileNotFoundError) as caught:
        read(cwd, "a/f")

    assert error_reason(caught.value) == "no such file or directory"


@pytest.mark.parametrize("path", [".", "sub"])
def test_a_folder_is_no_file(cwd: Path, path: str):
    (cwd / "sub").mkdir()

    with pytest.raises(IsADirectoryError):
        read(cwd, path)
    with pytest.raises(IsADirectoryError):
        write(cwd, path, b"")


def test_a_ring_of_links_is_refused(cwd: Path):
    (cwd / "a").symlink_to("b")
    (cwd / "b").symlink_to("a")

    for path in ("a", "a/f"):
        message = f"cannot follow the symbolic links of {path}: they loop or changed just now"
        for act in (lambda path: read(cwd, path), lambda path: write(cwd, path, b"")):
            with pytest.raises(ToolError) as caught:
                act(path)
            assert str(caught.value) == message


@pytest.fixture
def special(cwd: Path) -> Iterator[dict[str, str]]:
    """Put one of each into the working directory: a FIFO, a socket, a device."""
    os.mkfifo(cwd / "fifo")
    kinds = {"fifo": "a FIFO", "sock": "a socket"}
    try:
        os.mknod(cwd / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        kinds["null"] = "a device"
    except PermissionError:
        pass  # only root makes devices
    with socket.socket(socket.AF_UNIX) as server, in_folder(cwd):
        server.bind("sock")  # a socket's path may only be short
        yield kinds


@contextmanager
def in_folder(path: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


def test_what_is_no_file_is_refused_without_blocking(cwd: Path, special: dict[str, str]):
    for name, kind in special.items():
        for act in (lambda name: read(cwd, name), lambda name: write(cwd, name, b"x")):
            with pytest.raises(ToolError) as caught:
                act(name)
            assert str(caught.value) == f"{name} is {kind}, not a file"
    assert names(cwd) == sorted(special)


def test_a_path_through_a_file_is_refused(cwd: Path):
    (cwd / "f").touch()

    with pytest.raises(NotADirectoryError):
        read(cwd, "f/x")
    with pytest.raises(ToolError) as caught:
        write(cwd, "f/x/y", b"")
    assert str(caught.value) == f"failed to create directory: mkdir {cwd}/f/x: not a directory"


def test_what_lies_at_a_place(cwd: Path):
    (cwd / "f").touch()
    (cwd / "lnk").symlink_to("f")

    assert [stat.S_IFMT(file_mode(resolve(str(cwd), path))) for path in (".", "f", "lnk")] == [
        stat.S_IFDIR,
        stat.S_IFREG,
        stat.S_IFREG,
    ]


# ---------------------------------------------------------------------------- races


def test_a_parent_swapped_for_a_link_after_the_check_is_not_followed(cwd: Path, outside: Path):
    (cwd / "sub").mkdir()
    (cwd / "sub" / "secret.txt").write_text("mine")
    place = resolve(str(cwd), "sub/secret.txt")
    folder = resolve(str(cwd), "sub")
    (cwd / "sub").rename(cwd / "moved")
    (cwd / "sub").symlink_to(outside)

    with pytest.raises(ToolError, match="they loop or changed just now"):
        open_file(place)
    with pytest.raises(ToolError, match="they loop or changed just now"):
        replace_file(place, b"stolen", stop=GO)
    with pytest.raises(ToolError, match="they loop or changed just now"), open_folder(folder):
        pass
    with pytest.raises(ToolError, match="they loop or changed just now"):
        file_mode(place)
    assert (outside / "secret.txt").read_text() == "secret\n"
    assert names(outside) == ["secret.txt"]


def test_a_file_swapped_for_a_link_after_the_check_is_not_followed(cwd: Path, outside: Path):
    place = resolve(str(cwd), "f")
    (cwd / "f").symlink_to(outside / "secret.txt")

    with pytest.raises(ToolError, match="they loop or changed just now"):
        open_file(place)
    with pytest.raises(ToolError, match="they loop or changed just now"):
        replace_file(place, b"stolen", stop=GO)
    assert (outside / "secret.txt").read_text() == "secret\n"


def test_a_race_of_links_never_reaches_the_outside(cwd: Path, outside: Path, swapping: Swapping):
    (cwd / "sub").mkdir()
    (cwd / "sub" / "secret.txt").write_bytes(b"mine 0")
    (outside / "theirs").touch()
    answers: list[bytes] = []
    written = refused = 0

    with swapping():
        for number in range(1000):
            with suppress(ToolError, OSError):
                answers.append(read(cwd, "sub/secret.txt"))
            with suppress(ToolError, OSError):
                write(cwd, "sub/secret.txt", b"mine %d" % number)
                written += 1
            try:
                with open_folder(resolve(str(cwd), "sub")) as folder:
                    assert "theirs" not in os.listdir(folder)
            except (ToolError, OSError):
                refused += 1

    assert all(answer.startswith(b"mine") for answer in answers)
    assert min(len(answers), written, refused) > 0
    assert names(outside) == ["secret.txt", "theirs"]
    assert (outside / "secret.txt").read_text() == "secret\n"


def test_a_race_that_makes_folders_never_reaches_the_outside(cwd: Path, outside: Path, swapping: Swapping):
    """A write that has to make folders may make them in the working directory only."""
    (cwd / "sub").mkdir()

    with swapping():
        for number in range(500):
            with suppress(ToolError, OSError):
                write(cwd, f"sub/deep{number}/er/f", b"x")

    assert names(outside) == ["secret.txt"]


@given(steps=st.lists(st.sampled_from(["a", "b", "in", "out", "up", "loop", "f", "secret.txt"]), min_size=1))
def test_no_path_reads_or_writes_outside(steps: list[str]):
    with tempfile.TemporaryDirectory() as folder:
        root, path = Path(folder, "work"), "/".join(steps)
        (root / "a" / "b").mkdir(parents=True)
        Path(folder, "secret.txt").write_text("secret")
        for place in (root, root / "a", root / "a" / "b"):
            (place / "f").write_text("mine")
            (place / "in").symlink_to(root / "a")
            (place / "out").symlink_to(folder)
            (place / "up").symlink_to("..")
            (place / "loop").symlink_to("loop")
        with suppress(ToolError, OSError):
            assert read(root, path) == b"mine"
        with suppress(ToolError, OSError):
            write(root, path, b"stolen")

        assert names(Path(folder)) == ["secret.txt", "work"]
        assert Path(folder, "secret.txt").read_text() == "secret"


# ---------------------------------------------------------------------------- replacing


def test_a_new_file_gets_its_folders_and_the_usual_modes(cwd: Path):
    umask = os.umask(0o022)
    try:
        write(cwd, "a/b/f", b"data")
    finally:
        os.umask(umask)

    assert (cwd / "a/b/f").read_bytes() == b"data"
    assert [stat.S_IMODE((cwd / path).stat().st_mode) for path in ("a", "a/b", "a/b/f")] == [
        0o755,
        0o755,
        0o644,
    ]
    assert names(cwd / "a" / "b") == ["f"]


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o666, 0o777])
def test_a_replaced_file_keeps_its_mode(cwd: Path, mode: int):
    (cwd / "f").write_text("old")
    (cwd / "f").chmod(mode)

    write(cwd, "f", b"new")

    assert (cwd / "f").read_text() == "new"
    assert stat.S_IMODE((cwd / "f").stat().st_mode) == mode


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_replaced_file_keeps_its_owner(cwd: Path):
    (cwd / "f").write_text("old")
    os.chown(cwd / "f", 1234, 5678)

    write(cwd, "f", b"new")

    found = (cwd / "f").stat()
    assert (found.st_uid, found.st_gid) == (1234, 5678)


def test_a_link_stays_a_link_and_its_target_is_replaced(cwd: Path):
    (cwd / "data").mkdir()
    (cwd / "lnk").symlink_to("data/f")

    write(cwd, "lnk", b"new")
    write(cwd, "lnk", b"newer")

    assert (cwd / "lnk").is_symlink()
    assert (cwd / "data" / "f").read_text() == "newer"


def test_a_hard_link_outside_keeps_its_content(cwd: Path, outside: Path):
    os.link(outside / "secret.txt", cwd / "f")

    write(cwd, "f", b"new")

    assert (outside / "secret.txt").read_text() == "secret\n"


def test_git_and_settings_are_protected(cwd: Path):
    for path in (".git/config", "a/.git", ".bridle/config.toml", "/home/x/.Bridle/agents", ".GIT/hooks/x"):
        with pytest.raises(ToolError) as caught:
            check_unprotected(path)
        assert str(caught.value) == f"{path} is protected; ask the user to change it"
    with pytest.raises(ToolError, match="is protected"):
        write(cwd, ".git/hooks/post-checkout", b"")
    for path in (".gitignore", "git/config", "x.git/y", "a/.bridle-1", "."):
        check_unprotected(path)

    assert names(cwd) == []


def test_a_stopped_write_makes_no_folders(cwd: Path):
    stop = threading.Event()
    stop.set()

    with pytest.raises(ToolError, match="stopped before a/b/f was changed"):
        replace_file(resolve(str(cwd), "a/b/f"), b"new", stop=stop)

    assert names(cwd) == []


def test_a_write_that_fails_takes_its_folders_away_again(cwd: Path):
    (cwd / "a").mkdir()
    place = resolve(str(cwd), "a/b/c/f")

    def fail(path: str) -> None:
        if path.endswith("f"):
            raise ZeroDivisionError

    def fail_beside_theirs(path: str) -> None:
        (cwd / "a" / "b" / "theirs").touch() if path.endswith("c") else fail(path)

    left = []
    for keep in (fail, fail_beside_theirs):
        with pytest.raises(ZeroDivisionError):
            replace_file(place, b"new", stop=GO, keep=keep)
        left.append(sorted(str(path.relative_to(cwd)) for path in cwd.rglob("*")))

    assert left == [["a"], ["a", "a/b", "a/b/theirs"]]


def test_a_stream_that_breaks_leaves_the_old_file(cwd: Path):
    (cwd / "f").write_text("old")
    place = resolve(str(cwd), "f")

    with (
        suppress(ZeroDivisionError),
        open_replacement(place, stop=GO, expected="any", keep=lambda _: None) as file,
    ):
        os.write(file, b"half")
        raise ZeroDivisionError

    assert names(cwd) == ["f"]
    assert (cwd / "f").read_text() == "old"


def test_all_that_changes_is_kept_before(cwd: Path):
    (cwd / "a").mkdir()
    (cwd / "lnk").symlink_to("a")
    kept: list[tuple[str, bool]] = []

    for path in ("lnk/b/f", "lnk/b/f", "lnk/b/g"):
        replace_file(
            resolve(str(cwd), path),
            b"",
            stop=GO,
            keep=lambda path: kept.append((os.path.relpath(path, cwd), os.path.exists(path))),
        )

    assert kept == [("a/b", False), ("a/b/f", False), ("a/b/f", True), ("a/b/g", False)]


def test_a_stopped_write_changes_nothing(cwd: Path):
    (cwd / "f").write_text("old")
    stop = threading.Event()
    stop.set()

    with pytest.raises(ToolError, match="stopped before f was changed"):
        replace_file(resolve(str(cwd), "f"), b"new", stop=stop)

    assert (cwd / "f").read_text() == "old"
    assert names(cwd) == ["f"]


def test_a_file_that_changed_meanwhile_is_left_alone(cwd: Path):
    (cwd / "f").write_text("old")
    seen = version_of((cwd / "f").stat())
    (cwd / "f").write_text("theirs")

    with pytest.raises(ToolError, match="f was changed by another program just now; read it again"):
        replace_file(resolve(str(cwd), "f"), b"new", stop=GO, expected=seen)
    (cwd / "f").unlink()
    with pytest.raises(ToolError, match="f was changed by another program just now; read it again"):
        replace_file(resolve(str(cwd), "f"), b"new", stop=GO, expected=seen)

    assert names(cwd) == []


def test_a_file_that_must_be_new_never_takes_the_place_of_another(cwd: Path):
    place = resolve(str(cwd), "a/f")

    replace_file(place, b"mine", stop=GO, expected=None)
    with pytest.raises(ToolError, match="a/f was created by another program just now; read it again"):
        replace_file(place, b"theirs", stop=GO, expected=None)

    assert names(cwd / "a") == ["f"]
    assert (cwd / "a" / "f").read_bytes() == b"mine"
    assert (cwd / "a" / "f").stat().st_nlink == 1


def test_a_file_that_appears_at_the_last_moment_is_left_alone(cwd: Path):
    """`keep` is called between writing and naming the new file."""
    place = resolve(str(cwd), "f")

    for act in (lambda: (cwd / "f").write_text("theirs"), lambda: (cwd / "f").symlink_to("nowhere")):
        (cwd / "f").unlink(missing_ok=True)
        with pytest.raises(ToolError, match="f was created by another program just now; read it again"):
            replace_file(place, b"mine", stop=GO, expected=None, keep=lambda _, act=act: act())
        assert names(cwd) == ["f"]
    assert (cwd / "f").is_symlink()


def test_of_many_that_make_a_file_at_once_only_one_does(cwd: Path):
    barrier = threading.Barrier(8)
    made: list[int] = []

    def make(number: int) -> None:
        place = resolve(str(cwd), "f")
        with suppress(ToolError):
            replace_file(place, b"%d" % number, stop=GO, expected=None, keep=lambda _: wait_for(barrier))
            made.append(number)

    run_at_once([lambda number=number: make(number) for number in range(8)])

    assert (cwd / "f").read_bytes() == b"%d" % made[0]
    assert len(made) == 1
    assert names(cwd) == ["f"]


def test_of_many_that_replace_a_version_at_once_only_one_does(cwd: Path):
    (cwd / "f").write_text("old")
    seen = version_of((cwd / "f").stat())
    barrier = threading.Barrier(8)
    made: list[int] = []

    def replace(number: int) -> None:
        wait_for(barrier)
        with suppress(ToolError):
            replace_file(resolve(str(cwd), "f"), b"%d" % number, stop=GO, expected=seen)
            made.append(number)

    run_at_once([lambda number=number: replace(number) for number in range(8)])

    assert (cwd / "f").read_bytes() == b"%d" % made[0]
    assert len(made) == 1
    assert names(cwd) == ["f"]


def wait_for(barrier: threading.Barrier) -> None:
    with suppress(threading.BrokenBarrierError):
        barrier.wait(1)


def run_at_once(acts: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=act) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_file_that_somebody_holds_is_left_alone(cwd: Path):
    (cwd / "f").write_text("old")

    with (cwd / "f").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ToolError, match="f is being changed by another program; read it again"):
            write(cwd, "f", b"new")
    write(cwd, "f", b"newer")

    assert (cwd / "f").read_text() == "newer"


WITHOUT_LINKS = """
    import ctypes, os, platform, struct, sys, threading
    from bridle.core.errors import ToolError
    from bridle.tools.filesystem import replace_file
    from bridle.tools.paths import resolve
    linkat = {"x86_64": 265, "aarch64": 37}[platform.machine()]
    code = b"".join(struct.pack("HBBI", *step) for step in (
        (0x20, 0, 0, 0), (0x15, 0, 1, linkat), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)))
    program = ctypes.create_string_buffer(code, len(code))
    filters = struct.pack("HxxxxxxP", 4, ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filters, 0, 0) == 0
    try:
        os.link("a", "b", follow_symlinks=False)
    except PermissionError:
        print("no links")
    for data in (b"mine", b"theirs"):
        try:
            replace_file(resolve(sys.argv[1], "f"), data, stop=threading.Event(), expected=None)
        except ToolError as error:
            print(error)
"""


def test_a_new_file_is_made_where_there_are_no_hard_links(cwd: Path):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WITHOUT_LINKS), cwd],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "no links\nf was created by another program just now; read it again\n"
    assert (cwd / "f").read_text() == "mine"
    assert names(cwd) == ["f"]


def test_leftovers_of_dead_processes_are_removed_once_they_are_old(cwd: Path):
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        dead = process.pid
    minute, day = time.time() - 120, time.time() - 90_000
    for name, changed in {
        f".bridle-{dead}-0.tmp": minute,
        f".bridle-{dead}-1.tmp": time.time(),
        f".bridle-{os.getpid()}-7.tmp": minute,
        f".bridle-{os.getpid()}-8.tmp": day,
        ".bridle-999999999-0.tmp": minute,
        f".bridle-{dead}-0.tmp.txt": day,
        "bridle-1-0.tmp": day,
    }.items():
        (cwd / name).touch()
        os.utime(cwd / name, (changed, changed))
    (cwd / f".bridle-{dead}-2.tmp").mkdir()
    os.utime(cwd / f".bridle-{dead}-2.tmp", (day, day))

    write(cwd, "f", b"new")

    assert names(cwd) == sorted(
        [
            f".bridle-{dead}-1.tmp",
            f".bridle-{os.getpid()}-7.tmp",
            f".bridle-{dead}-0.tmp.txt",
            "bridle-1-0.tmp",
            f".bridle-{dead}-2.tmp",
            "f",
        ]
    )


def test_a_leftover_of_a_crash_is_in_nobodys_way(cwd: Path):
    leftover = f".bridle-{os.getpid()}-0.tmp"
    (cwd / leftover).write_text("half")

    write(cwd, "f", b"new")

    assert (cwd / "f").read_text() == "new"
    assert names(cwd) == [leftover, "f"]


UNPRIVILEGED = """
    import errno, os, sys, threading
    from bridle.tools.filesystem import open_file, replace_file
    from bridle.tools.paths import resolve
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    for act in (
        lambda: replace_file(resolve(sys.argv[1], "readonly"), b"new", stop=threading.Event()),
        lambda: replace_file(resolve(sys.argv[1], "locked/f"), b"new", stop=threading.Event()),
        lambda: open_file(resolve(sys.argv[1], "private")),
        lambda: print(open_file(resolve(sys.argv[1], "passage/f")).read()),
    ):
        try:
            act()
        except OSError as error:
            print(errno.errorcode[error.errno])
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs another user to be refused")
def test_rights_are_respected():
    """A read-only file is not replaced behind its back; a folder that only may be passed is passed."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        cwd = Path(folder)
        cwd.chmod(0o777)
        for path, mode in {
            "readonly": 0o444,
            "private": 0o600,
            "locked/f": 0o666,
            "passage/f": 0o644,
        }.items():
            (cwd / path).parent.mkdir(exist_ok=True)
            (cwd / path).write_text("old")
            (cwd / path).chmod(mode)
        (cwd / "locked").chmod(0o755)
        (cwd / "passage").chmod(0o711)
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(UNPRIVILEGED), folder],
            capture_output=True,
            text=True,
            check=False,
        )

        assert (done.stdout.split(), done.stderr) == (["EACCES", "EACCES", "EACCES", "b'old'"], "")
        assert {(cwd / path).read_text() for path in ("readonly", "private", "locked/f")} == {"old"}


FULL_DISK = """
    import resource, signal, sys, threading
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    from bridle.tools.filesystem import replace_file
    from bridle.tools.paths import resolve
    try:
        replace_file(resolve(sys.argv[1], "f"), bytes(100_000), stop=threading.Event())
    except OSError as error:
        print(error.errno)
"""


def test_a_write_that_the_system_ends_leaves_the_old_file(cwd: Path):
    (cwd / "f").write_text("old")

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL_DISK), cwd], capture_output=True, text=True, check=True
    )

    assert int(done.stdout) == errno.EFBIG
    assert (cwd / "f").read_text() == "old"
    assert names(cwd) == ["f"]


WRITER = """
    import sys, threading
    from bridle.tools.filesystem import replace_file
    from bridle.tools.paths import resolve
    go = threading.Event()
    for number in range(1_000_000):
        replace_file(resolve(sys.argv[1], "f"), b"%07d" % number * 200_000, stop=go)
        print(number, flush=True)
"""


def test_a_killed_write_leaves_the_old_or_the_new_file(cwd: Path):
    chance = random.Random(20)
    for _ in range(12):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITER), cwd], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            with suppress(subprocess.TimeoutExpired):
                writer.wait(chance.uniform(0, 0.03))
            writer.send_signal(signal.SIGKILL)
            acknowledged = [int(line) for line in writer.stdout.read().split()] or [0]

        data = (cwd / "f").read_bytes()
        assert data == data[:7] * 200_000
        assert int(data[:7]) in (acknowledged[-1], acknowledged[-1] + 1)
    assert all(name == "f" or name.startswith(".bridle-") for name in names(cwd))


# ---------------------------------------------------------------------------- removed


def remove(cwd: Path, path: str, *, stop: threading.Event = GO, change: bytes = b"") -> list[str]:
    """Remove a file that another process may change just before; return what was kept."""
    kept: list[str] = []

    def keep(absolute: str) -> None:
        kept.append(absolute)
        if change:
            (cwd / path).write_bytes(change)

    place = resolve(str(cwd), path)
    remove_file(place, stop=stop, expected=version_of((cwd / path).lstat()), keep=keep)
    return kept


def test_a_file_is_removed_after_it_was_kept(cwd: Path):
    (cwd / "a").mkdir()
    (cwd / "a/f").write_bytes(b"x")

    kept = remove(cwd, "a/f")

    assert (kept, names(cwd / "a")) == ([str(cwd / "a/f")], [])


def test_a_file_that_is_another_one_by_now_is_not_removed(cwd: Path):
    stop = threading.Event()
    stop.set()
    (cwd / "f").write_bytes(b"x")
    (cwd / ".git").mkdir()
    (cwd / ".git/f").write_bytes(b"x")
    (cwd / "d").mkdir()

    with pytest.raises(ToolError, match="was changed by another program just now"):
        remove(cwd, "f", change=b"longer")
    with pytest.raises(ToolError, match="stopped before f was changed"):
        remove(cwd, "f", stop=stop)
    with pytest.raises(ToolError, match="is protected"):
        remove(cwd, ".git/f")
    with pytest.raises(IsADirectoryError):
        remove(cwd, "d")

    assert (cwd / "f").read_bytes() == b"longer"
