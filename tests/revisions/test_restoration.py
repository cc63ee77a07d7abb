"""Restoring destroys nothing that could not be restored, and one problem does not stop the rest."""

import hashlib
import os
import resource
import stat
from pathlib import Path

import pytest

from bridle.core.errors import StoreFull
from bridle.core.revision import FileState
from bridle.revisions.file_revisions import FileKeeper, FileRevisions
from bridle.stores.blobs import MemoryBlobs
from tests.revisions.tree import Journal, Program, S, Tree, as_user, tree_of

BLOBS = MemoryBlobs()


def file(content: bytes, mode: int = 0o644) -> FileState:
    return FileState("file", mode, BLOBS.put(content), len(content))


def link(target: bytes) -> FileState:
    return FileState("link", 0, BLOBS.put(target), len(target))


FOLDER = FileState("folder", 0o755)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "root"
    place.mkdir(mode=0o755)
    return place


def keeper_of(root: Path, *, max_file_bytes: int = 1000) -> FileKeeper:
    return FileRevisions(root.parent / "pending", BLOBS, max_file_bytes).keeper(S, str(root))


def below(root: Path) -> Tree:
    """Return the tree without the folder itself."""
    return {path: found for path, found in tree_of(root).items() if path != b"."}


def make(root: Path, kind: str) -> None:
    place = root / "x"
    if kind == "file":
        place.write_bytes(b"old")
        place.chmod(0o600)
    elif kind == "link":
        place.symlink_to("/etc/passwd")
    elif kind == "folder":
        place.mkdir(mode=0o700)


@pytest.mark.parametrize("before", ["nothing", "file", "link", "folder"])
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (None, {}),
        (file(b"new", 0o4751), {b"x": ("file", 0o4751, b"new")}),
        (file(b"old", 0o444), {b"x": ("file", 0o444, b"old")}),
        (link(b"../else\xff"), {b"x": ("link", 0, b"../else\xff")}),
        (FileState("folder", 0o1555), {b"x": ("folder", 0o1555, b"")}),
    ],
)
def test_every_kind_becomes_every_other(root: Path, before: str, target: FileState | None, expected: Tree):
    make(root, before)
    was = below(root)
    keeper = keeper_of(root)

    assert (keeper.restore({"x": target}), below(root)) == ((), expected)

    back = {change.path: change.before for change in keeper.collect()}
    assert (keeper.restore(back), below(root)) == ((), was)


def test_nothing_is_touched_that_is_right_already(root: Path):
    (root / "f").write_bytes(b"same")
    (root / "f").chmod(0o644)
    before = (root / "f").stat()

    assert keeper_of(root).restore({"f": file(b"same"), "none": None}) == ()
    assert (root / "f").stat() == before


def test_missing_folders_are_made_and_go_again(root: Path):
    keeper = keeper_of(root)
    problems = keeper.restore({"a/b/f": file(b"1")})
    made = sorted(below(root))
    changes = keeper.collect()
    problems += keeper.restore({change.path: change.before for change in changes})

    assert (problems, made, below(root)) == ((), [b"a", b"a/b", b"a/b/f"], {})


def test_a_folder_with_something_of_others_stays(root: Path):
    (root / "ours").mkdir()
    (root / "ours" / "mine").write_bytes(b"ours")
    (root / "ours" / "theirs").write_bytes(b"theirs")
    (root / "turned").mkdir()
    (root / "turned" / "theirs").write_bytes(b"theirs")
    problems = keeper_of(root).restore(
        {"ours": None, "ours/mine": None, "turned": file(b"1"), "z": file(b"2")}
    )

    assert problems == (
        "ours: the folder is not empty",
        "turned: the folder is not empty",
    )
    assert sorted(below(root)) == [b"ours", b"ours/theirs", b"turned", b"turned/theirs", b"z"]


def test_lost_content_is_reported_and_what_is_there_stays(root: Path):
    (root / "f").write_bytes(b"now")
    lost = FileState("file", 0o644, hashlib.sha256(b"lost").hexdigest(), 4)
    problems = keeper_of(root).restore(
        {
            "f": lost,
            "big": FileState("file", 0o644, "", 1 << 40, kept=False),
            "fifo": FileState("other", 0o600, kept=False),
            "ok": file(b"1"),
        }
    )

    assert problems == (
        "big: its earlier content was too large to save or could not be read",
        f"f: blob {lost.digest[:12]} is no longer stored",
        "fifo: it was not a file, link or folder and cannot be recreated",
    )
    assert {path: content for path, (_, _, content) in below(root).items()} == {b"f": b"now", b"ok": b"1"}


def test_what_cannot_be_kept_is_not_destroyed(root: Path):
    (root / "big").write_bytes(b"x" * 1001)
    (root / "replaced").write_bytes(b"x" * 1001)
    os.mkfifo(root / "fifo")
    before = below(root)
    problems = keeper_of(root).restore({"big": None, "fifo": None, "replaced": file(b"1")})

    assert problems == tuple(
        f"{name}: left alone: its current content cannot be saved, so this could not be undone"
        for name in ("big", "fifo", "replaced")
    )
    assert below(root) == before


def test_a_link_on_the_way_is_not_followed(root: Path):
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"theirs")
    (root / "a").symlink_to(outside)
    problems = keeper_of(root).restore(
        {"a/f": file(b"1"), "a/g": file(b"1"), "a/h/i": file(b"1"), "a/gone": None}
    )

    assert problems == tuple(f"a/{name}: something else is in the way" for name in ("f", "g", "h/i"))
    assert below(outside) == {b"f": ("file", stat.S_IMODE((outside / "f").stat().st_mode), b"theirs")}


def test_a_folder_that_became_a_link_comes_back_with_what_was_in_it(root: Path):
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"theirs")
    (root / "a").symlink_to(outside)
    problems = keeper_of(root).restore({"a": FOLDER, "a/f": file(b"1")})

    assert problems == ()
    assert below(root) == {b"a": ("folder", 0o755, b""), b"a/f": ("file", 0o644, b"1")}
    assert (outside / "f").read_bytes() == b"theirs"


@pytest.mark.parametrize("name", ["../outside", "a/../../outside", "", "a//b", "a\0b", "\\x2e."])
def test_a_name_that_is_never_given_is_refused(root: Path, name: str):
    keeper = keeper_of(root)

    assert len(keeper.restore({name: file(b"1"), "ok": file(b"1")})) == 1
    assert sorted(below(root)) == [b"ok"]
    assert not (root.parent / "outside").exists()
    assert keeper.look([name]) == {name: FileState("other", kept=False)}


def test_names_in_problems_are_one_line(root: Path):
    name = "two\nlines\x1b[2J"

    assert keeper_of(root).restore({name: FileState("other", kept=False)}) == (
        "two\\nlines\\x1b[2J: it was not a file, link or folder and cannot be recreated",
    )


def test_another_root_and_names_that_are_not_utf8(root: Path):
    other = root.parent / "other"
    keeper = keeper_of(root)

    assert (
        keeper.restore({f"{other}/f": file(b"1"), "caf\\xe9": file(b"2"), ".": FileState("folder", 0o711)})
        == ()
    )
    assert (other / "f").read_bytes() == b"1"
    assert tree_of(root) == {b".": ("folder", 0o711, b""), b"caf\xe9": ("file", 0o644, b"2")}


def test_no_temporary_file_stays(root: Path):
    (root / f".bridle-{os.getpid()}-0.tmp").write_bytes(b"of a crash")
    (root / "x").mkdir()
    (root / "x" / "theirs").write_bytes(b"")
    keeper_of(root).restore({"f": file(b"1"), "l": link(b"t"), "x": file(b"2")})

    assert sorted(os.listdir(root)) == [f".bridle-{os.getpid()}-0.tmp", "f", "l", "x"]


def test_a_replaced_file_keeps_its_owner(root: Path):
    (root / "f").write_bytes(b"old")
    owner = (65534, 65534) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(root / "f", *owner)
    keeper_of(root).restore({"f": file(b"new")})
    facts = (root / "f").stat()

    assert ((facts.st_uid, facts.st_gid), (root / "f").read_bytes()) == (owner, b"new")


def test_no_room_for_what_is_there_now_changes_nothing(root: Path):
    class Full(MemoryBlobs):
        def put(self, data: bytes) -> str:
            raise StoreFull("no space is left")

    (root / "a").write_bytes(b"1")
    (root / "b").write_bytes(b"2")
    before = tree_of(root)
    keeper = FileRevisions(None, Full()).keeper(S, str(root))
    with pytest.raises(StoreFull):
        keeper.restore({"a": None, "b": None, "0": FOLDER})

    assert tree_of(root) == before


def test_a_full_disk_is_a_problem_of_the_file(root: Path):
    """A limit on file sizes refuses the write where a full device would."""
    (root / "f").write_bytes(b"now")
    keeper = FileRevisions(None, BLOBS).keeper(S, str(root))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # Python ignores SIGXFSZ
    try:
        problems = keeper.restore({"f": file(b"x" * 200), "g": file(b"y" * 50)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert problems == ("f: File too large",)
    assert {path: content for path, (_, _, content) in below(root).items()} == {b"f": b"now", b"g": b"y" * 50}


def test_a_rewind_that_crashed_half_way_can_be_undone(root: Path):
    """The earlier state is saved before anything changes; the next process finds it."""
    journal = Journal(root, root.parent / "pending", BLOBS)
    program = Program(root, journal.keep)
    for number in range(4):
        program.write(f"f{number}", b"%d" % number)
    journal.collect()
    before = tree_of(root)

    class Stop(Exception):
        pass

    class Failing(MemoryBlobs):
        def put(self, data: bytes) -> str:
            return BLOBS.put(data)

        def get(self, digest: str) -> bytes:
            raise Stop

    crashing = FileRevisions(root.parent / "pending", Failing()).keeper(S, str(root))
    targets: dict[str, FileState | None] = {f"f{n}": None for n in range(3)}
    with pytest.raises(Stop):
        crashing.restore({**targets, "f3": file(b"other")})
    journal.crash()
    half_way = tree_of(root)
    journal.collect()

    assert half_way != before
    assert (journal.rewind(4), tree_of(root)) == ((), before)


READ_ONLY = """
    import os
    from bridle.core.revision import FileState, states_at
    from bridle.stores.blobs import MemoryBlobs
    from tests.revisions.tree import Journal, Program, tree_of
    (root / "locked" / "in").mkdir(parents=True)
    (root / "locked" / "in" / "f").write_bytes(b"1")
    (root / "locked" / "gone").write_bytes(b"2")
    (root / "plain").mkdir()
    for path in ("locked/in", "locked"):
        os.chmod(root / path, 0o555)
    journal = Journal(root, None, MemoryBlobs())
    program = Program(root, journal.keep)
    program.chmod("locked", 0o755)
    program.chmod("locked/in", 0o755)
    program.write("locked/in/f", b"changed")
    program.unlink("locked/gone")
    program.write("locked/new", b"3")
    program.mkdir("plain/deep")
    program.write("plain/deep/f", b"4")
    program.chmod("locked/in", 0o500)
    program.chmod("locked", 0o500)
    program.chmod("plain/deep", 0o500)
    journal.collect()
    for seq, wanted in [*journal.points, *reversed(journal.points)]:
        print(journal.rewind(seq), tree_of(root) == wanted)
"""


def test_read_only_folders_are_no_obstacle():
    assert as_user(READ_ONLY).splitlines() == ["() True"] * 4


def test_folders_that_were_opened_are_closed_again():
    said = as_user("""
        import os
        from bridle.core.errors import StoreFull
        from bridle.core.revision import FileState
        from bridle.revisions.file_revisions import FileRevisions
        from bridle.stores.blobs import MemoryBlobs
        (root / "locked").mkdir()
        (root / "locked" / "f").write_bytes(b"1")
        (root / "locked").chmod(0o111)
        blobs = MemoryBlobs()
        new = FileState("file", 0o644, blobs.put(b"2"), 1)
        print(FileRevisions(None, blobs).keeper("s", str(root)).restore({"locked/f": new}))
        print(oct((root / "locked").stat().st_mode), (root / "locked" / "f").read_bytes())
        class Full(MemoryBlobs):
            def put(self, data):
                raise StoreFull("full")
        try:
            FileRevisions(None, Full()).keeper("s", str(root)).restore({"locked/f": None})
        except StoreFull as error:
            print(error)
        print(oct((root / "locked").stat().st_mode), (root / "locked" / "f").read_bytes())
    """)

    assert said.splitlines() == ["()", "0o40111 b'2'", "full", "0o40111 b'2'"]


def test_a_folder_is_closed_after_those_in_it():
    said = as_user("""
        from bridle.core.revision import FileState
        from bridle.revisions.file_revisions import FileRevisions
        from bridle.stores.blobs import MemoryBlobs
        keeper = FileRevisions(None, MemoryBlobs()).keeper("s", str(root))
        print(keeper.restore({"a": FileState("folder", 0o200), "a/b": FileState("folder", 0o500)}))
        modes = [(root / "a").stat().st_mode]
        (root / "a").chmod(0o700)
        print([oct(mode) for mode in [*modes, (root / "a" / "b").stat().st_mode]])
    """)

    assert said.splitlines() == ["()", "['0o40200', '0o40500']"]


def test_what_the_system_refuses_is_told_and_the_rest_is_done():
    said = as_user("""
        import os
        from bridle.core.revision import FileState
        from bridle.revisions.file_revisions import FileRevisions
        from bridle.stores.blobs import MemoryBlobs
        blobs = MemoryBlobs()
        new = FileState("file", 0o644, blobs.put(b"2"), 1)
        (root / "secret").write_bytes(b"1")
        (root / "secret").chmod(0)
        keeper = FileRevisions(None, blobs).keeper("s", str(root))
        for problem in keeper.restore({"/etc/bridle-test": new, "secret": None, "ok": new}):
            print(problem)
        print((root / "ok").read_bytes())
    """)

    assert said.splitlines() == [
        "/etc/bridle-test: Permission denied",
        "secret: left alone: its current content cannot be saved, so this could not be undone",
        "b'2'",
    ]
