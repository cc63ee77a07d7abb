"""Reading a path never blocks, follows no link, and reads only what it may."""

import hashlib
import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

from bridle.core.revision import FileState
from bridle.revisions.file_reader import (
    NOTHING,
    FileReader,
    FolderCache,
    PathState,
    find_hard_links,
    is_being_written,
    open_folder,
    open_folder_following_links,
)
from bridle.stores.blobs import MemoryBlobs
from tests.revisions.tree import as_user


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Place:
    """A folder that is looked into."""

    def __init__(self, path: Path, *, max_file_bytes: int = 1000, later_s: float = 0) -> None:
        self.blobs = MemoryBlobs()
        self.path = path
        self.sight = FileReader(self.blobs, max_file_bytes, lambda: time.time_ns() + int(later_s * 1e9))

    def look(self, name: str, known: PathState = NOTHING, max_bytes: int | None = None) -> PathState:
        with FolderCache() as folders:
            folder = folders.at(str(self.path.resolve()))
            assert folder is not None
            return self.sight.look(folder, name, known=known, max_bytes=max_bytes)


def test_each_kind_is_told(tmp_path: Path):
    place = Place(tmp_path)
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(0o2750)
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "fifo", 0o600)
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(tmp_path)  # a socket's path may not be long
        server.bind("socket")
        os.chdir(here)
        (tmp_path / "socket").chmod(0o700)

        states = {name: place.look(name).state for name in sorted(os.listdir(tmp_path))}

    assert states == {
        "fifo": FileState("other", 0o600, kept=False),
        "file": FileState("file", 0o640, digest_of(b"abc"), 3),
        "folder": FileState("folder", 0o2750),
        "link": FileState("link", 0, digest_of(b"/etc/passwd"), 11),
        "socket": FileState("other", 0o700, kept=False),
    }
    assert place.blobs.get(digest_of(b"abc")) == b"abc"
    assert place.look("nothing") == NOTHING


def test_a_file_above_the_limit_is_only_described(tmp_path: Path):
    place = Place(tmp_path)
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "exact").write_bytes(b"x" * 1000)

    mode = stat.S_IMODE((tmp_path / "sparse").stat().st_mode)
    assert place.look("sparse").state == FileState("file", mode, "", 1 << 40, kept=False)
    assert place.look("exact").state == FileState("file", mode, digest_of(b"x" * 1000), 1000)
    assert place.look("exact", max_bytes=999).state == FileState("file", mode, "", 1000, kept=False)


def test_a_file_that_did_not_change_is_not_read_again(tmp_path: Path):
    place = Place(tmp_path, later_s=10)
    (tmp_path / "file").write_bytes(b"abc")
    first = place.look("file")
    again = place.look("file", known=first)
    (tmp_path / "file").write_bytes(b"abcd")
    changed = place.look("file", known=first)

    assert (again is first, first.settled) == (True, True)
    assert changed.state == FileState("file", first.state.mode if first.state else 0, digest_of(b"abcd"), 4)


def test_a_file_that_changed_a_moment_ago_is_read_again(tmp_path: Path):
    """Its next change may carry the same time."""
    place = Place(tmp_path)
    (tmp_path / "file").write_bytes(b"abc")
    first = place.look("file")

    assert not first.settled
    assert place.look("file", known=first) is not first


def test_a_file_with_several_names_says_so(tmp_path: Path):
    place = Place(tmp_path)
    (tmp_path / "one").write_bytes(b"abc")
    alone = place.look("one").shared
    os.link(tmp_path / "one", tmp_path / "two")
    facts = (tmp_path / "one").stat()

    assert (alone, place.look("two").shared) == (None, (facts.st_dev, facts.st_ino))


def test_the_names_of_shared_files_are_found(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "one").write_bytes(b"abc")
    (tmp_path / "single").write_bytes(b"abc")
    (tmp_path / "loop").symlink_to(".")
    os.link(tmp_path / "one", tmp_path / "sub" / "two")
    facts = (tmp_path / "one").stat()

    found = {key: sorted(names) for key, names in find_hard_links(str(tmp_path), 100).items()}
    assert found == {(facts.st_dev, facts.st_ino): [f"{tmp_path}/one", f"{tmp_path}/sub/two"]}
    assert find_hard_links(str(tmp_path / "none"), 100) == {}
    assert find_hard_links(str(tmp_path), 0) == {}


def test_a_folder_is_opened_by_its_real_path_only(tmp_path: Path):
    real = tmp_path.resolve() / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "file").write_text("")
    descriptor, path = open_folder_following_links(str(tmp_path / "link"))
    os.close(descriptor)

    assert path == str(real)
    refused = [
        str(tmp_path / "link"),
        str(real / "none"),
        str(tmp_path / "file"),
        f"{real}/../real",
        f"{real}/",
    ]
    assert [open_folder(path) for path in refused] == [None] * 5


def test_a_writer_is_noticed(tmp_path: Path):
    (tmp_path / "file").write_text("")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        nobody = is_being_written(folder, "file")
        with open(tmp_path / "file", "rb"):
            reader = is_being_written(folder, "file")
        with open(tmp_path / "file", "ab"):
            writer = is_being_written(folder, "file")
        gone = is_being_written(folder, "none")
    finally:
        os.close(folder)

    assert (nobody, reader, writer, gone) == (False, False, True, False)


WRITE_OFTEN = """
import os, sys, threading
from bridle.revisions.file_reader import is_being_written
folder = os.open(sys.argv[1], os.O_RDONLY)
done = threading.Event()
def write():
    while not done.is_set():
        os.close(os.open(sys.argv[1] + "/file", os.O_WRONLY))
writer = threading.Thread(target=write)
writer.start()
seen = {is_being_written(folder, "file") for _ in range(3000)}
done.set()
writer.join()
print("alive")
"""


def test_who_opens_a_file_while_it_is_looked_at_does_no_harm(tmp_path: Path):
    """The usual signal of a broken lease would end the process."""
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", WRITE_OFTEN, tmp_path], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "alive\n")


def test_what_may_not_be_read_is_described():
    said = as_user("""
        from bridle.core.revision import FileState
        from bridle.revisions.file_reader import FolderCache, FileReader
        from bridle.stores.blobs import MemoryBlobs
        (root / "secret").write_bytes(b"abc")
        (root / "secret").chmod(0)
        with FolderCache() as folders:
            found = FileReader(MemoryBlobs()).look(folders.at(str(root)), "secret")
        print(found.state == FileState("file", 0, "", 3, kept=False))
    """)

    assert said == "True\n"
