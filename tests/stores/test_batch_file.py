"""Locking and appending to one file while other processes delete or lock it."""

import asyncio
import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from bridle.core.errors import StoreError
from bridle.stores.batch_file import FileEnd, open_locked, replace_file, still_has_end
from bridle.stores.jsonl import JsonlStore
from tests.stores.sample import CountingClock, S, created, said


async def test_an_append_does_not_go_to_a_file_that_was_deleted_while_it_waited(tmp_path: Path):
    """The lock is then on a file that no one will ever read again."""
    store = JsonlStore(tmp_path, CountingClock())
    await store.append(S, 0, [created()])

    with open_locked(tmp_path / f"{S}.jsonl"):
        waiting = asyncio.create_task(store.append(S, 1, [said("lost?")]))
        await asyncio.sleep(0)
        (tmp_path / f"{S}.jsonl").unlink()

    with pytest.raises(StoreError, match="it was deleted, moved or replaced"):
        await waiting
    assert list(tmp_path.iterdir()) == []


async def test_a_new_session_is_not_begun_in_a_file_that_was_deleted(tmp_path: Path):
    path = tmp_path / f"{S}.jsonl"
    store = JsonlStore(tmp_path, CountingClock())

    with open_locked(path, make=True):
        waiting = asyncio.create_task(store.append(S, 0, [created()]))
        await asyncio.sleep(0)
        path.unlink()
    await waiting

    assert len(await store.read(S)) == 1


def test_a_locked_file_is_the_one_with_the_name(tmp_path: Path):
    """A deleter that is quicker between our open and our lock would leave us a file no one can see."""
    path = tmp_path / "file"
    tries = 2_000

    def delete_again_and_again() -> None:
        for _ in range(tries):
            with suppress(BlockingIOError), open_locked(path) as fd:
                if fd is not None:
                    path.unlink()

    deleter = threading.Thread(target=delete_again_and_again)
    deleter.start()
    for _ in range(tries):
        with suppress(BlockingIOError), open_locked(path, make=True) as fd:
            assert fd is not None
            assert os.path.samestat(os.fstat(fd), path.stat())
    deleter.join()


def test_a_second_lock_is_refused_at_once_and_a_closed_one_is_gone(tmp_path: Path):
    path = tmp_path / "file"
    with open_locked(path, make=True) as first:
        with pytest.raises(BlockingIOError), open_locked(path):
            pass
        assert first is not None

    with open_locked(path) as again:
        assert again is not None
    with open_locked(tmp_path / "none") as missing:
        assert missing is None


@pytest.mark.parametrize(
    ("data", "holds"),
    [
        (b"a" * 64 + b'"}\n', True),
        (b"a" * 64 + b'"}\nmore\n', True),
        (b"b" * 64 + b'"}\n', False),
        (b"a" * 64 + b'"}', False),
        (b"", False),
    ],
)
def test_a_file_is_known_by_the_hash_it_once_ended_with(tmp_path: Path, data: bytes, holds: bool):
    path = tmp_path / "file"
    path.write_bytes(data)
    with open_locked(path) as fd:
        assert fd is not None
        assert still_has_end(fd, len(data), FileEnd(67, 1, "a" * 64)) is holds
        assert still_has_end(fd, len(data), FileEnd())


def test_a_replaced_file_is_private_and_leaves_no_draft(tmp_path: Path):
    path = tmp_path / "file"
    for content in (b"old", b"new"):
        replace_file(path, content)

    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["file"]
