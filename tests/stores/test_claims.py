"""One process runs a session; its claim ends with it and blocks no other process afterwards."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.core.ports import Claims
from bridle.stores.claims import FileClaims, LocalClaims
from bridle.stores.postgres.claims import PostgresClaims
from bridle.stores.postgres.pool import Postgres
from tests.postgres import fresh_database

S = SessionId("s")

HOLD = """
import asyncio, sys, time
from pathlib import Path
from bridle.stores.claims import FileClaims
print(asyncio.run(FileClaims(Path(sys.argv[1])).claim("s")), flush=True)
time.sleep(60)
"""


@pytest.fixture(params=["file", "local", "postgres"])
async def claims(request: pytest.FixtureRequest, tmp_path: Path):
    match request.param:
        case "file":
            yield FileClaims(tmp_path / "claims")
        case "local":
            yield LocalClaims()
        case _:
            postgres = Postgres(fresh_database())
            yield PostgresClaims(postgres, "one")
            await postgres.aclose()


async def test_a_session_is_claimed_once_until_it_is_released(claims: Claims):
    taken = [await claims.claim(S), await claims.claim(S), await claims.claim(SessionId("other"))]
    await claims.release(S)
    taken += [await claims.claim(S)]

    assert taken == [True, False, True, True]


async def test_releasing_what_is_not_held_changes_nothing(claims: Claims):
    await claims.release(S)

    assert await claims.claim(S)


async def test_two_holders_of_one_directory_exclude_each_other(tmp_path: Path):
    here, there = FileClaims(tmp_path), FileClaims(tmp_path)

    assert (await here.claim(S), await there.claim(S)) == (True, False)
    await there.release(S)
    assert not await there.claim(S)
    await here.release(S)
    assert await there.claim(S)


async def test_a_claim_dies_with_its_process(tmp_path: Path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"True\n"
    claims = FileClaims(tmp_path)

    while_it_lives = await claims.claim(S)
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()

    assert (while_it_lives, await claims.claim(S)) == (False, True)


async def test_nothing_is_left_behind(tmp_path: Path):
    claims = FileClaims(tmp_path / "run" / "claims")
    await claims.claim(S)
    descriptors = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else None
    await FileClaims(tmp_path / "run" / "claims").claim(S)
    if descriptors is not None:
        assert len(os.listdir("/proc/self/fd")) == descriptors

    await claims.release(S)

    assert list((tmp_path / "run" / "claims").iterdir()) == []


async def test_only_the_owner_can_look(tmp_path: Path):
    claims = FileClaims(tmp_path / "claims")
    await claims.claim(S)

    modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "claims", tmp_path / "claims" / "s.lock")]

    assert modes == [0o700, 0o600]


async def test_a_directory_that_cannot_be_made_is_a_clear_error(tmp_path: Path):
    (tmp_path / "run").write_text("a file")

    with pytest.raises(StoreError, match=r"run/claims.*[Nn]ot a directory"):
        await FileClaims(tmp_path / "run" / "claims").claim(S)


async def test_a_file_that_cannot_be_removed_keeps_no_session_claimed(tmp_path: Path):
    """The lock counts, and it is given back; the name of its file may stay."""
    claims, lock = FileClaims(tmp_path), tmp_path / "s.lock"
    assert await claims.claim(S)
    lock.unlink()
    lock.mkdir()  # what stands there now can be removed by no one

    await claims.release(S)
    lock.rmdir()

    assert await claims.claim(S)
    await claims.release(S)
    assert open_descriptors(tmp_path) == []


def open_descriptors(folder: Path) -> list[str]:
    """Return what this process has open in a folder."""
    links = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            links.append(os.readlink(f"/proc/self/fd/{name}"))
    return [link for link in links if link.startswith(str(folder))]
