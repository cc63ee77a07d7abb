"""Each session has one keeper, and nothing remains of a deleted session."""

import os
from pathlib import Path
from weakref import ref

import pytest

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.core.ports import FileTracker, Revisions
from bridle.revisions.file_revisions import FileRevisions
from bridle.stores.blobs import MemoryBlobs

ONE, TWO = SessionId("one"), SessionId("two")


def test_a_session_has_one_keeper(tmp_path: Path):
    revisions: Revisions = FileRevisions(tmp_path / "kept", MemoryBlobs())
    keeper: FileTracker = revisions.keeper(ONE, str(tmp_path))

    assert revisions.keeper(ONE, str(tmp_path)) is keeper
    assert revisions.keeper(TWO, str(tmp_path)) is not keeper


def test_a_keeper_that_nobody_uses_is_let_go_and_found_again_in_its_file(tmp_path: Path):
    revisions = FileRevisions(tmp_path / "kept", MemoryBlobs())
    used, unused = revisions.keeper(ONE, str(tmp_path)), ref(revisions.keeper(TWO, str(tmp_path)))
    (tmp_path / "f").write_text("before")
    revisions.keeper(TWO, str(tmp_path)).keep(f"{tmp_path}/f")
    (tmp_path / "f").write_text("after")
    [change] = revisions.keeper(TWO, str(tmp_path)).collect()

    assert (unused(), revisions.keeper(ONE, str(tmp_path)) is used, change.path) == (None, True, "f")


def test_what_has_no_file_is_held_by_its_keeper(tmp_path: Path):
    revisions = FileRevisions(None, MemoryBlobs())
    revisions.keeper(ONE, str(tmp_path)).keep(f"{tmp_path}/f")
    (tmp_path / "f").write_text("made")
    [change] = revisions.keeper(ONE, str(tmp_path)).collect()

    assert change.path == "f"


def test_nothing_is_written_until_something_is_kept(tmp_path: Path):
    keeper = FileRevisions(tmp_path / "kept", MemoryBlobs()).keeper(ONE, str(tmp_path))

    assert (keeper.collect(), keeper.look([]), keeper.restore({})) == ((), {}, ())
    assert os.listdir(tmp_path) == []


def test_a_forgotten_session_leaves_nothing(tmp_path: Path):
    revisions = FileRevisions(tmp_path / "kept", MemoryBlobs())
    first = revisions.keeper(ONE, str(tmp_path))
    for session in (ONE, TWO):
        revisions.keeper(session, str(tmp_path)).keep(f"{tmp_path}/f")
    revisions.forget(ONE)
    revisions.forget(SessionId("never"))

    assert os.listdir(tmp_path / "kept") == ["two.pending"]
    assert revisions.keeper(ONE, str(tmp_path)) is not first


@pytest.mark.parametrize("session", ["../x", "", "a/b", ".hidden"])
def test_an_id_is_never_a_path(tmp_path: Path, session: str):
    revisions = FileRevisions(tmp_path, MemoryBlobs())

    with pytest.raises(StoreError, match="cannot be the id of a session"):
        revisions.keeper(SessionId(session), str(tmp_path))
    with pytest.raises(StoreError, match="cannot be the id of a session"):
        revisions.forget(SessionId(session))


def test_without_a_folder_only_this_process_knows(tmp_path: Path):
    (tmp_path / "f").write_text("old")
    blobs = MemoryBlobs()
    keeper = FileRevisions(None, blobs).keeper(ONE, str(tmp_path))
    keeper.keep(f"{tmp_path}/f")
    (tmp_path / "f").write_text("new")
    changes = keeper.collect()

    assert keeper.restore({change.path: change.before for change in changes}) == ()
    assert (tmp_path / "f").read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]
