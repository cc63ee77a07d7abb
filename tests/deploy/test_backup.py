"""A back-up of a busy cluster can be restored, and everything continues from there."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bridle.core.protocol import RunEnded, ToolStarted
from bridle.stores.integrity import verify
from scripts.cluster.postgres import find_programs
from tests.deploy.playing import bash, prompted, results, until
from tests.postgres import GUARDED, fresh_database, shared_server
from tests.scale.stage import Cluster

ROOT = Path(__file__).parents[2]
LONG = 200_000  # characters of an output, more than a session keeps in its records

pytestmark = pytest.mark.slow


def backup(*words: str, url: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(find_programs()), os.environ["PATH"]])
    return subprocess.run(
        [sys.executable, "-m", "scripts.backup", *words],
        cwd=ROOT,
        env={"PATH": path, "BRIDLE_DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )


async def blobs_of(cluster: Cluster) -> list[tuple[object, ...]]:
    return await cluster.postgres.rows("SELECT tenant, digest, length(data) FROM bridle.blobs ORDER BY 1, 2")


async def test_a_cluster_goes_on_from_its_back_up(tmp_path: Path):
    saved, mark = tmp_path / "cluster.dump", tmp_path / "mark"
    old_url, name = fresh_database(), f"restored_{os.getpid()}"
    async with Cluster(tmp_path / "old", workers=1, url=old_url) as old:
        api = await old.api()
        long = old.script(bash(f"yes | head -c {LONG}"), {"text": "Bye."})
        ended = await prompted(api, long, tmp_path)
        await until(api, ended, RunEnded)
        open_run = await prompted(
            api, old.script(bash(f"echo x >> {mark}"), bash("sleep 60"), {"text": "Bye."}), tmp_path
        )
        await until(api, open_run, ToolStarted, times=2)
        done = await asyncio.to_thread(backup, "save", str(saved), url=old_url)
        blobs = await blobs_of(old)

        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("saved ")
        assert saved.stat().st_mode & 0o077 == 0
        assert blobs
    shared_server().run(f"CREATE DATABASE {name}")
    try:
        new_url = shared_server().url(name)
        done = backup("restore", str(saved), url=new_url)
        assert (done.returncode, done.stdout, done.stderr) == (0, "restored 2 sessions\n", "")
        again = backup("restore", str(saved), url=new_url)
        assert again.returncode == 1
        assert "restore into an empty one" in again.stderr
        async with Cluster(tmp_path / "new", workers=1, url=new_url) as new:
            api = await new.api()
            records = await until(api, open_run, RunEnded)
            assert results(records) == [("bash", False), ("bash", True)]
            assert mark.read_text() == "x\n"
            await prompted(api, new.script({}, {}, {"text": "I remember."}), tmp_path, ended)
            await until(api, ended, RunEnded, times=2)
            assert [(await verify(new.store, one)).ok for one in (ended, open_run)] == [True, True]
            assert await blobs_of(new) == blobs
    finally:
        shared_server().run(f"DROP DATABASE {name} WITH (FORCE)")


def test_only_the_database_of_a_cluster_is_saved(tmp_path: Path):
    file = tmp_path / "empty.dump"

    done = backup("save", str(file), url=fresh_database())

    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        "backup: the database has no dbos: does it belong to a cluster?\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_a_password_is_not_told(tmp_path: Path):
    user, password = GUARDED
    wrong = shared_server().url("nowhere", user=user, password=password)

    done = backup("save", str(tmp_path / "x.dump"), url=wrong)

    assert done.returncode == 1
    assert done.stderr.startswith("backup: ")
    assert password not in done.stderr
