"""The store waits for a lock of another process without blocking anything else."""

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from bridle.core.errors import StoreError
from bridle.stores.lock_retry import retry_while_locked
from tests.stores.sample import S, created, make_store, said

KINDS = ("sqlite", "jsonl")


class Busy(Exception):
    """The lock is held."""


def free_after(failures: int) -> Callable[[], str]:
    left = iter(range(failures))

    def attempt() -> str:
        if next(left, None) is not None:
            raise Busy
        return "done"

    return attempt


@pytest.mark.parametrize("failures", [0, 1, 5])
async def test_an_attempt_is_repeated_until_it_succeeds(failures: int):
    assert await retry_while_locked(free_after(failures), Busy, "it") == "done"


async def test_patience_ends():
    with pytest.raises(StoreError, match=r"it was locked by another process for 0\.05 s"):
        await retry_while_locked(free_after(1_000_000), Busy, "it", patience_s=0.05)


async def test_another_error_is_not_repeated():
    with pytest.raises(ZeroDivisionError):
        await retry_while_locked(lambda: 1 // 0, Busy, "it")


@contextmanager
def held(kind: str, place: Path) -> Iterator[None]:
    """Lock the store as another process would."""
    if kind == "sqlite":
        other = apsw.Connection(str(place / "bridle.db"))
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
        other.close()
    else:
        fd = os.open(place / "sessions" / f"{S}.jsonl", os.O_RDWR)
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
        os.close(fd)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_append_waits_for_the_lock_without_stopping_the_loop(kind: str, tmp_path: Path):
    store = make_store(kind, tmp_path)
    await store.append(S, 0, [created()])

    with held(kind, tmp_path):
        waiting = asyncio.create_task(store.append(S, 1, [said("patient")]))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not waiting.done()
        assert len(await store.read(S)) == 1

    assert [record.seq for record in await waiting] == [2]
    await store.aclose()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_lock_that_is_never_released_is_an_error(kind: str, tmp_path: Path):
    store = make_store(kind, tmp_path, patience_s=0.05)
    await store.append(S, 0, [created()])

    with held(kind, tmp_path), pytest.raises(StoreError, match="locked by another process"):
        await store.append(S, 1, [said("impatient")])

    assert len(await store.append(S, 1, [said("then")])) == 1
    await store.aclose()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_cancelled_wait_has_appended_nothing(kind: str, tmp_path: Path):
    store = make_store(kind, tmp_path)
    await store.append(S, 0, [created()])

    with held(kind, tmp_path):
        waiting = asyncio.create_task(store.append(S, 1, [said("never")]))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    assert len(await store.read(S)) == 1
    assert len(await store.append(S, 1, [said("then")])) == 1
    await store.aclose()
