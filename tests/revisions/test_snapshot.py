"""The limits of what one `keep` saves; `test_file_keeper` and `test_history` cover the rest."""

from pathlib import Path

import pytest

from bridle.core.errors import StoreError
from bridle.core.revision import FileState
from bridle.revisions.file_reader import FileReader
from bridle.revisions.snapshot import Snapshot
from bridle.stores.blobs import MemoryBlobs


def gathering(root: Path, *, max_kept: int = 100, max_tree_bytes: int = 100) -> Snapshot:
    return Snapshot(
        {}, str(root), FileReader(MemoryBlobs()), dict, max_kept=max_kept, max_tree_bytes=max_tree_bytes
    )


def make_files(folder: Path, count: int, size: int) -> None:
    folder.mkdir()
    for number in range(count):
        (folder / f"f{number}").write_bytes(b"x" * size)


def test_too_many_paths_are_refused(tmp_path: Path):
    root = tmp_path.resolve()
    make_files(root / "folder", count=4, size=1)
    gathering(root, max_kept=5).gather(f"{root}/folder")

    with pytest.raises(
        StoreError, match=r"cannot be kept: 4 paths were touched already .hint: do it in smaller"
    ):
        gathering(root, max_kept=4).gather(f"{root}/folder")


def test_content_beyond_the_limit_of_a_folder_is_only_described(tmp_path: Path):
    root = tmp_path.resolve()
    make_files(root / "folder", count=4, size=40)
    found = gathering(root)
    found.gather(f"{root}/folder")

    states = [kept.state for kept in found.entries.values()]
    kept = [state.kept for state in states if state is not None and state.kind == "file"]
    assert sorted(kept) == [False, False, True, True]


def test_a_folder_alone_is_one_entry(tmp_path: Path):
    root = tmp_path.resolve()
    make_files(root / "folder", count=4, size=1)
    (root / "folder").chmod(0o755)
    found = gathering(root)
    found.gather(f"{root}/folder/.")

    assert {path: kept.state for path, kept in found.entries.items()} == {
        f"{root}/folder": FileState("folder", 0o755)
    }


def test_a_path_longer_than_the_system_takes_is_refused(tmp_path: Path):
    with pytest.raises(OSError, match="File name too long"):
        gathering(tmp_path).gather("/" + "x" * 300)
    with pytest.raises(OSError, match="File name too long"):
        gathering(tmp_path).gather("/x" * 3000)
