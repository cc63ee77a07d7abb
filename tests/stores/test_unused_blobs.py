"""Which blobs are still in use."""

from pathlib import Path

from bridle.core.ids import CallId
from bridle.core.messages import ToolResult
from bridle.core.protocol import FilesChanged, ToolFinished
from bridle.core.revision import FileChange, FileState
from bridle.stores.blob_check import prune_blobs
from bridle.stores.blobs import FileBlobs
from bridle.stores.sqlite import SqliteStore
from tests.sessions.stage import FixedClock
from tests.stores.sample import S, created


async def test_what_nobody_speaks_of_is_removed_and_nothing_else(tmp_path: Path):
    blobs = FileBlobs(tmp_path / "blobs")
    state, spilled, aside, unused = (blobs.put(text) for text in (b"state", b"spilled", b"aside", b"unused"))
    changed = FilesChanged((FileChange("a", FileState("file", 0o644, state, 5)),))
    result = ToolResult(CallId("c"), "bash", f'[read_file with path "blob:{spilled}" shows all of it]')
    store = SqliteStore(tmp_path / "db", FixedClock())
    await store.append(S, 0, [created(), changed, ToolFinished(result)])
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside" / "gone.pending").symlink_to("nothing")
    (tmp_path / "aside" / "s.pending").write_text(f'{{"digest":"{aside}"}}\n')

    young = await prune_blobs(store, blobs, tmp_path / "aside")
    removed = await prune_blobs(store, blobs, tmp_path / "aside", older_than_s=-1)
    await store.aclose()

    assert (young, removed) == (0, 1)
    assert blobs.digests() == {state, spilled, aside}
    assert unused not in blobs.digests()
