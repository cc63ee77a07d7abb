"""The blobs that events name exist, complete and unchanged."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bridle.core.ids import CallId
from bridle.core.messages import ToolResult
from bridle.core.protocol import Event, FilesChanged, KernelSaved, ToolFinished
from bridle.core.revision import FileChange, FileState
from bridle.stores.blob_check import BlobCheck
from bridle.stores.blobs import FileBlobs
from bridle.stores.integrity import fsck, verify
from bridle.stores.sqlite import SqliteStore
from tests.stores.sample import CountingClock, S, created

CONTENT = b"what the file was before\n" * 500


def changed(digest: str) -> Event:
    return FilesChanged((FileChange("a.txt", FileState("file", 0o644, digest, len(CONTENT))),))


def saved(digest: str) -> Event:
    return KernelSaved(digest)


def finished(digest: str) -> Event:
    note = f'[9 of 12 bytes left out here; read_file with path "blob:{digest}" shows it, in ranges of lines]'
    return ToolFinished(ToolResult(CallId("c"), "bash", f"head\n{note}\ntail"))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def alter(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def exchange(path: Path) -> None:
    path.write_bytes(b"\0another content")


@pytest.mark.parametrize("naming", [changed, saved, finished])
@pytest.mark.parametrize(
    ("harm", "kind"),
    [
        (truncate, "damaged_blob"),
        (empty, "damaged_blob"),
        (alter, "damaged_blob"),
        (exchange, "damaged_blob"),
        (Path.unlink, "missing_blob"),
    ],
)
async def test_a_blob_that_is_not_what_was_kept_is_named(
    tmp_path: Path, naming: Callable[[str], Event], harm: Callable[[Path], None], kind: str
):
    blobs = FileBlobs(tmp_path / "blobs")
    digest = blobs.put(CONTENT)
    store = SqliteStore(tmp_path / "bridle.db", CountingClock())
    await store.append(S, 0, [created(), naming(digest)])

    assert (await verify(store, S, BlobCheck(blobs))).ok
    harm(tmp_path / "blobs" / digest[:2] / digest[2:])

    audit = await verify(store, S, BlobCheck(blobs))
    assert (audit.ok, audit.flaw, audit.records) == (False, None, 2)
    [flaw] = audit.blobs
    assert (flaw.kind, flaw.seq) == (kind, 2)
    assert digest in flaw.text
    assert await fsck(store, BlobCheck(blobs)) == [flaw]
    await store.aclose()


async def test_what_was_too_large_to_keep_is_not_missed(tmp_path: Path):
    store = SqliteStore(tmp_path / "bridle.db", CountingClock())
    state = FileState("file", 0o644, "0" * 64, 10**9, kept=False)
    await store.append(S, 0, [created(), FilesChanged((FileChange("a", state, FileState("folder")),))])

    assert (await verify(store, S, BlobCheck(FileBlobs(tmp_path / "blobs")))).ok
    await store.aclose()
