"""A state saved before a change is found again after it, whoever made the change."""

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bridle.core.errors import StoreError
from bridle.core.revision import FileChange, FileState
from bridle.revisions.file_revisions import FileKeeper, FileRevisions
from bridle.stores.blobs import MemoryBlobs
from tests.revisions.tree import Program, S, as_user


class Desk:
    """A working directory with its keeper."""

    def __init__(self, place: Path, max_file_bytes: int = 100_000, slow_s: float = 10) -> None:
        """Give the keeper a slow clock: what is done after a `collect` seems to be done much later."""
        self.root = place.resolve() / "root"
        self.root.mkdir()
        self.blobs = MemoryBlobs()
        self.pending = place / "pending"
        self.max_file_bytes = max_file_bytes
        self.slow_s = slow_s
        self.keeper = self.new_keeper()
        self.program = Program(self.root, self.keeper.keep)

    def new_keeper(self) -> FileKeeper:
        """Return the keeper of the next process."""

        def now_ns() -> int:
            return time.time_ns() - int(self.slow_s * 1e9)

        revisions = FileRevisions(self.pending, self.blobs, self.max_file_bytes, now_ns)
        return revisions.keeper(S, str(self.root))

    def keep(self, *paths: str) -> None:
        for path in paths:
            self.keeper.keep(f"{self.root}/{path}")

    def pending_lines(self) -> int:
        path = self.pending / "s.pending"
        return len(path.read_bytes().splitlines()) if path.exists() else 0

    def file(self, path: str, content: bytes, mode: int = 0o644) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(mode)
        return place


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    before = os.umask(0o022)
    yield Desk(tmp_path)
    os.umask(before)


def state(content: bytes, mode: int = 0o644) -> FileState:
    return FileState("file", mode, hashlib.sha256(content).hexdigest(), len(content))


FOLDER = FileState("folder", 0o755)


def test_changes_are_sorted_and_what_did_not_change_is_left_out(desk: Desk):
    desk.file("same", b"x")
    desk.file("mode", b"x")
    desk.file("old", b"1")
    desk.keep("same", "old", "new", "never", "mode")
    desk.file("same", b"x")
    desk.file("old", b"2")
    desk.file("new", b"3")
    (desk.root / "mode").chmod(0o755)

    assert desk.keeper.collect() == (
        FileChange("mode", state(b"x"), state(b"x", 0o755)),
        FileChange("new", None, state(b"3")),
        FileChange("old", state(b"1"), state(b"2")),
    )
    assert (desk.blobs.get(state(b"1").digest), desk.blobs.get(state(b"2").digest)) == (b"1", b"2")


def test_the_first_state_counts(desk: Desk):
    desk.file("f", b"1")
    for content in (b"2", b"3"):
        desk.keep("f")
        desk.file("f", content)

    assert desk.keeper.collect() == (FileChange("f", state(b"1"), state(b"3")),)


def test_only_what_was_kept_is_reported(desk: Desk):
    desk.file("ours", b"1")
    desk.file("theirs", b"1")
    desk.keep("ours")
    desk.file("theirs", b"2")
    changes = [desk.keeper.collect()]
    desk.file("ours", b"by somebody else")
    changes.append(desk.keeper.collect())

    assert changes == [(), ()]


def test_a_known_path_is_not_kept_twice(desk: Desk):
    for path in ("f", "f", "./f", "sub/../f"):
        desk.keep(path)
    (desk.root / "sub").mkdir()
    desk.keep("sub/../f", "f/.", "f/")

    assert desk.pending_lines() == 1


def test_missing_folders_on_the_way_are_kept_too(desk: Desk):
    desk.keep("a/b/f")
    desk.file("a/b/f", b"1")

    assert desk.keeper.collect() == (
        FileChange("a", None, FOLDER),
        FileChange("a/b", None, FOLDER),
        FileChange("a/b/f", None, state(b"1")),
    )


def test_a_path_through_a_link_is_kept_where_it_leads(desk: Desk):
    desk.file("real/f", b"1")
    (desk.root / "link").symlink_to("real")
    desk.keep("link/f")
    desk.file("real/f", b"2")

    assert desk.keeper.collect() == (FileChange("real/f", state(b"1"), state(b"2")),)


def test_a_link_is_kept_as_a_link(desk: Desk):
    (desk.root / "link").symlink_to("/etc/passwd")
    desk.keep("link")
    (desk.root / "link").unlink()
    target = FileState("link", 0, hashlib.sha256(b"/etc/passwd").hexdigest(), 11)

    assert desk.keeper.collect() == (FileChange("link", target, None),)


def test_what_lies_behind_a_new_link_is_not_ours(desk: Desk):
    desk.file("a/f", b"1")
    desk.file("elsewhere/f", b"secret")
    desk.keep("a/f", "a")
    (desk.root / "a/f").unlink()
    (desk.root / "a").rmdir()
    (desk.root / "a").symlink_to("elsewhere")
    target = FileState("link", 0, hashlib.sha256(b"elsewhere").hexdigest(), 9)

    assert desk.keeper.collect() == (FileChange("a", FOLDER, target), FileChange("a/f", state(b"1"), None))


def test_a_renamed_folder_is_reported_entry_by_entry(desk: Desk):
    desk.file("old/sub/f", b"1")
    desk.program.rename("old", "new")

    assert desk.keeper.collect() == (
        FileChange("new", None, FOLDER),
        FileChange("new/sub", None, FOLDER),
        FileChange("new/sub/f", None, state(b"1")),
        FileChange("old", FOLDER, None),
        FileChange("old/sub", FOLDER, None),
        FileChange("old/sub/f", state(b"1"), None),
    )


def test_what_is_changed_after_a_rename_was_not_there_before(desk: Desk):
    desk.file("old/f", b"1")
    desk.program.rename("old", "new")
    desk.program.write("new/f", b"2")
    desk.program.unlink("new/f")
    desk.program.write("new/g", b"3")

    assert desk.keeper.collect() == (
        FileChange("new", None, FOLDER),
        FileChange("new/g", None, state(b"3")),
        FileChange("old", FOLDER, None),
        FileChange("old/f", state(b"1"), None),
    )


def test_folders_that_change_places(desk: Desk):
    desk.file("a/one", b"1")
    desk.file("b/two", b"2")
    desk.program.rename("a", "c")
    desk.program.rename("b", "a")
    desk.program.rename("c", "b")
    desk.program.append("a/two", b"!")

    assert desk.keeper.collect() == (
        FileChange("a/one", state(b"1"), None),
        FileChange("a/two", None, state(b"2!")),
        FileChange("b/one", None, state(b"1")),
        FileChange("b/two", state(b"2"), None),
    )


def test_a_folder_kept_alone_does_not_read_what_is_in_it(desk: Desk):
    desk.file("big/f", b"1")
    desk.keep("big/.")
    (desk.root / "big").chmod(0o700)
    desk.file("big/f", b"not ours")

    assert desk.keeper.collect() == (FileChange("big", FOLDER, FileState("folder", 0o700)),)
    with pytest.raises(StoreError):
        desk.blobs.get(state(b"1").digest)


def test_a_folder_kept_alone_can_be_renamed_later(desk: Desk):
    desk.file("a/f", b"1")
    desk.keep("a/.")
    desk.program.rename("a", "b")

    assert [change.path for change in desk.keeper.collect()] == ["a", "a/f", "b", "b/f"]


def test_the_working_directory_is_kept_alone(desk: Desk):
    desk.file("f", b"1")
    desk.keep(".", "")
    desk.keeper.keep(str(desk.root.parent))
    desk.keeper.keep("/")
    desk.root.chmod(0o700)
    desk.file("f", b"not ours")

    assert desk.keeper.collect() == (FileChange(".", FOLDER, FileState("folder", 0o700)),)


def test_another_root_is_named_by_its_absolute_path(desk: Desk, tmp_path: Path):
    other = tmp_path.resolve() / "other"
    desk.keeper.keep(str(other))
    other.write_bytes(b"1")
    other.chmod(0o644)

    assert desk.keeper.collect() == (FileChange(str(other), None, state(b"1")),)


def test_a_write_through_one_name_changes_all_names_of_a_file(desk: Desk):
    one = desk.file("one", b"1")
    (desk.root / "sub").mkdir()
    os.link(one, desk.root / "sub" / "two")
    desk.program.append("one", b"!")

    assert desk.keeper.collect() == (
        FileChange("one", state(b"1"), state(b"1!")),
        FileChange("sub/two", state(b"1"), state(b"1!")),
    )


def test_a_name_that_is_not_utf8(desk: Desk):
    path = os.fsencode(desk.root) + b"/caf\xe9\\"
    desk.keeper.keep(os.fsdecode(path))
    with open(path, "wb") as file:
        file.write(b"1")
    os.chmod(path, 0o644)

    assert desk.new_keeper().collect() == (FileChange("caf\\xe9\\\\", None, state(b"1")),)
    assert desk.keeper.look(["caf\\xe9\\\\", "cafe"]) == {"caf\\xe9\\\\": state(b"1"), "cafe": None}


@pytest.mark.parametrize("path", ["/a\0b", "/half \ud800"])
def test_what_cannot_be_a_path_is_ignored(desk: Desk, path: str):
    desk.keeper.keep(path)

    assert (desk.keeper.collect(), desk.pending_lines()) == ((), 0)


def test_what_is_no_file_is_told_but_not_read(desk: Desk):
    os.mkfifo(desk.root / "fifo", 0o600)
    desk.keep("fifo", "new")
    (desk.root / "fifo").unlink()
    os.mkfifo(desk.root / "new", 0o600)
    fifo = FileState("other", 0o600, kept=False)

    assert desk.keeper.collect() == (FileChange("fifo", fifo, None), FileChange("new", None, fifo))


def test_a_file_too_large_to_be_kept_is_described_and_its_change_noticed(tmp_path: Path):
    desk = Desk(tmp_path, max_file_bytes=10)
    desk.file("same", b"x" * 11)
    desk.file("other", b"x" * 11)
    desk.keep("same", "other")
    desk.file("other", b"y" * 11)

    described = FileState("file", 0o644, "", 11, kept=False)
    assert desk.keeper.collect() == (FileChange("other", described, described),)


def test_a_path_that_cannot_be_looked_at_waits_until_it_can():
    said = as_user("""
        from bridle.revisions.file_revisions import FileRevisions
        from bridle.stores.blobs import MemoryBlobs
        keeper = FileRevisions(None, MemoryBlobs()).keeper("s", str(root))
        (root / "a").mkdir()
        (root / "a" / "f").write_bytes(b"1")
        keeper.keep(f"{root}/a/f")
        keeper.keep(f"{root}/a/.")
        (root / "a" / "f").write_bytes(b"2")
        (root / "a").chmod(0)
        print([change.path for change in keeper.collect()])
        keeper.confirm()
        try:
            keeper.keep(f"{root}/a/new")
        except Exception as error:
            print(type(error).__name__, error.message.removeprefix(str(root)))
        (root / "a").chmod(0o755)
        print([change.path for change in keeper.collect()])
        keeper.confirm()
        print(keeper.look(["a/f"]) and keeper.collect())
    """)

    assert said.splitlines() == [
        "['a']",
        "StoreError /a/new cannot be kept: Permission denied",
        "['a', 'a/f']",
        "()",
    ]


def test_a_folder_that_may_not_be_entered_can_be_moved():
    said = as_user("""
        from bridle.revisions.file_revisions import FileRevisions
        from bridle.stores.blobs import MemoryBlobs
        keeper = FileRevisions(None, MemoryBlobs()).keeper("s", str(root))
        for name, mode in (("a", 0o600), ("b", 0)):
            (root / name).mkdir()
            (root / name / "f").write_bytes(b"1")
            (root / name).chmod(mode)
            keeper.keep(f"{root}/{name}")
            keeper.keep(f"{root}/{name}2")
            (root / name).rename(root / f"{name}2")
        changes = keeper.collect()
        print([change.path for change in changes])
        for problem in keeper.restore({change.path: change.before for change in changes}):
            print(problem)
        (root / "a2").chmod(0o700)
        print((root / "a2" / "f").read_bytes())
    """)

    assert said.splitlines() == [
        "['a', 'a2', 'b', 'b2']",
        "a2: the folder is not empty",
        "b2: the folder is not empty",
        "b'1'",
    ]


# ---------------------------------------------------------------------------- background writers


def test_a_file_that_is_still_being_written_stays_watched(desk: Desk):
    desk.keep("log", "quiet")
    with open(desk.root / "log", "wb", buffering=0) as log, open(desk.root / "quiet", "wb"):
        log.write(b"1")
        found = [desk.keeper.collect()]
        desk.keeper.confirm()
        log.write(b"2")
        found.append(desk.keeper.collect())
        log.write(b"3")
    desk.keeper.confirm()
    again = desk.new_keeper()
    found.append(again.collect())
    again.confirm()
    (desk.root / "log").write_bytes(b"by somebody else")
    found.append(again.collect())

    assert found == [
        (FileChange("log", None, state(b"1")), FileChange("quiet", None, state(b""))),
        (FileChange("log", state(b"1"), state(b"12")),),
        (FileChange("log", state(b"12"), state(b"123")),),
        (),
    ]


def test_what_a_job_wrote_is_kept_before_the_next_change(desk: Desk):
    """Otherwise no record would have the content in between, and it would be lost."""
    desk.keep("log")
    with open(desk.root / "log", "wb", buffering=0) as log:
        log.write(b"1")
        desk.keeper.collect()
        desk.keeper.confirm()
        log.write(b"2")
    desk.keep("log")
    (desk.root / "log").unlink()
    expected = (FileChange("log", state(b"1"), state(b"12")), FileChange("log", state(b"12"), None))

    assert desk.new_keeper().collect() == expected
    assert desk.blobs.get(state(b"12").digest) == b"12"


# ---------------------------------------------------------------------------- changes on their way


@pytest.mark.parametrize("slow_s", [0, 10])
def test_a_change_that_comes_just_after_collect_is_ours_one_that_comes_later_is_not(
    tmp_path: Path, slow_s: float
):
    desk = Desk(tmp_path, slow_s=slow_s)
    for path in ("changed", "gone", "same", "old/f"):
        desk.file(path, b"1")
    desk.keep("changed", "gone", "same", "new", "old", "moved")
    found = [desk.keeper.collect()]
    desk.file("changed", b"2")
    desk.file("new", b"3")
    (desk.root / "gone").unlink()
    (desk.root / "old").rename(desk.root / "moved")
    found += [desk.new_keeper().collect(), desk.new_keeper().collect()]

    late = (
        FileChange("changed", state(b"1"), state(b"2")),
        FileChange("gone", state(b"1"), None),
        FileChange("moved", None, FOLDER),
        FileChange("moved/f", None, state(b"1")),
        FileChange("new", None, state(b"3")),
        FileChange("old", FOLDER, None),
        FileChange("old/f", state(b"1"), None),
    )
    assert found == ([(), late, late] if slow_s == 0 else [(), (), ()])


@pytest.mark.parametrize("slow_s", [0, 10])
def test_a_change_on_its_way_is_told_from_the_next_one(tmp_path: Path, slow_s: float):
    desk = Desk(tmp_path, slow_s=slow_s)
    desk.file("f", b"1")
    desk.keep("f")
    desk.keeper.collect()
    desk.file("f", b"2")
    desk.keep("f")
    desk.file("f", b"3")

    first = FileChange("f", state(b"1"), state(b"2"))
    second = FileChange("f", state(b"2"), state(b"3"))
    assert desk.new_keeper().collect() == ((first, second) if slow_s == 0 else (second,))


def test_nothing_is_watched_further_when_all_is_over(tmp_path: Path):
    desk = Desk(tmp_path, slow_s=0)
    desk.file("f", b"1")
    desk.keep("f", "log", "new")
    with open(desk.root / "log", "wb", buffering=0) as log:
        desk.file("f", b"2")
        found = [desk.keeper.collect(is_over=True)]
        desk.keeper.confirm()
        log.write(b"by somebody else")
        desk.file("f", b"by somebody else")
        desk.file("new", b"by somebody else")
        found.append(desk.keeper.collect(is_over=True))

    ours = (FileChange("f", state(b"1"), state(b"2")), FileChange("log", None, state(b"")))
    assert (found, desk.new_keeper().collect()) == ([ours, ()], ())


def test_what_others_put_beside_and_below_later_is_theirs(desk: Desk):
    desk.file("f", b"1")
    desk.keep("f", "made")
    (desk.root / "made").mkdir()
    found = [desk.keeper.collect()]
    desk.keeper.confirm()
    desk.file("made/theirs", b"2")
    (desk.root / "f").unlink()
    desk.file("f/theirs", b"3")
    desk.keep("f/theirs")
    desk.file("f/theirs", b"4")
    found.append(desk.keeper.collect())

    assert found == [
        (FileChange("made", None, FOLDER),),
        (FileChange("f/theirs", state(b"3"), state(b"4")),),
    ]


def test_a_path_is_not_watched_for_ever(desk: Desk):
    desk.keep("f")
    desk.keeper.collect()
    lines = [desk.pending_lines()]
    desk.slow_s = 0
    desk.keeper.collect()
    lines.append(desk.pending_lines())

    assert lines == [1, 0]


# ---------------------------------------------------------------------------- crashes


def test_nothing_is_lost_with_the_process(desk: Desk):
    desk.file("f", b"1")
    desk.keep("f", "new")
    desk.file("f", b"2")
    desk.file("new", b"3")
    expected = (FileChange("f", state(b"1"), state(b"2")), FileChange("new", None, state(b"3")))

    assert desk.new_keeper().collect() == expected


def test_a_result_comes_again_until_it_is_confirmed(desk: Desk):
    desk.keep("a")
    desk.file("a", b"1")
    first = desk.keeper.collect()
    desk.keep("b")
    desk.file("b", b"2")
    second = (FileChange("b", None, state(b"2")),)

    assert desk.new_keeper().collect() == (*first, *second)


def test_a_confirmed_result_does_not_come_again(desk: Desk):
    desk.keep("a")
    desk.file("a", b"1")
    desk.keeper.collect()
    desk.keep("b")
    desk.keeper.confirm()
    desk.file("b", b"2")
    again = desk.new_keeper()

    assert again.collect() == (FileChange("b", None, state(b"2")),)
    again.confirm()
    again.confirm()
    assert desk.new_keeper().collect() == ()


def test_a_result_that_nobody_took_comes_again(desk: Desk):
    desk.keep("a")
    desk.file("a", b"1")
    first = desk.keeper.collect()
    desk.keep("b")
    desk.file("b", b"2")
    both = (*first, FileChange("b", None, state(b"2")))

    assert [change.path for change in first] == ["a"]
    assert (desk.keeper.collect(), desk.new_keeper().collect()) == (both, both)
    desk.keeper.confirm()
    assert desk.keeper.collect() == ()


def test_a_failed_collect_forgets_nothing(desk: Desk):
    desk.keep("f")
    desk.file("f", b"1")
    full = MemoryBlobs(max_blob_bytes=0)
    keeper = FileRevisions(desk.pending, full).keeper(S, str(desk.root))
    with pytest.raises(StoreError):
        keeper.collect()

    assert desk.new_keeper().collect() == (FileChange("f", None, state(b"1")),)


def test_what_cannot_be_kept_is_refused(desk: Desk):
    desk.file("f", b"1")
    keeper = FileRevisions(desk.pending, MemoryBlobs(max_blob_bytes=0)).keeper(S, str(desk.root))
    for _ in range(2):
        with pytest.raises(StoreError):
            keeper.keep(f"{desk.root}/f")


# ---------------------------------------------------------------------------- threads


def test_many_threads_keep_at_once(desk: Desk):
    for number in range(40):
        desk.file(f"d{number % 4}/f{number}", b"%d" % number)
    barrier = threading.Barrier(8)

    def work(turn: int) -> None:
        barrier.wait()
        for number in range(40):
            desk.keep(f"d{number % 4}/f{number}", f"d{number % 4}/new{number}", f"d{turn % 4}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    for number in range(40):
        desk.file(f"d{number % 4}/f{number}", b"changed")
    expected = sorted(
        (FileChange(f"d{n % 4}/f{n}", state(b"%d" % n), state(b"changed")) for n in range(40)),
        key=lambda change: change.path,
    )

    assert desk.new_keeper().collect() == tuple(expected)
    assert desk.keeper.collect() == tuple(expected)


def test_keeping_and_collecting_at_once_loses_nothing(tmp_path: Path):
    desk = Desk(tmp_path, slow_s=0)
    done = threading.Event()
    found: list[FileChange] = []

    def collect() -> None:
        while not done.is_set():
            found.extend(desk.keeper.collect())
            desk.keeper.confirm()

    watcher = threading.Thread(target=collect)
    watcher.start()
    for number in range(200):
        desk.program.write(f"f{number % 5}", b"%d" % number)
    done.set()
    watcher.join()
    found += desk.keeper.collect()
    chains = {change.path: [c for c in found if c.path == change.path] for change in found}

    for path, chain in chains.items():
        befores = [change.before for change in chain]
        afters = [change.after for change in chain]
        assert befores[0] is None
        assert befores[1:] == afters[:-1]
        assert afters[-1] == state((desk.root / path).read_bytes())
    assert sorted(chains) == ["f0", "f1", "f2", "f3", "f4"]
