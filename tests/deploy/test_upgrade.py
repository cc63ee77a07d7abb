"""Nodes of two versions together: unknown work is left alone, and a stopping node hands over its runs."""

import asyncio
from pathlib import Path

import psycopg
import pytest
from dbos import DBOSClient, DBOSPortableJSONSerializer

from bridle.core.protocol import RunEnded, ToolStarted
from bridle.scale.durable import ASSIGNMENT
from bridle.stores.integrity import verify
from bridle.stores.postgres.schema import SCHEMA_VERSION
from tests.deploy.playing import bash, prompted, results, until
from tests.postgres import fresh_database
from tests.scale.stage import Cluster
from tests.surfaces.command import Bridle

NEWER = "INSERT INTO bridle.migrations (number, name, oldest_reader) VALUES (99, 'of tomorrow', %s)"


@pytest.mark.slow
async def test_a_worker_that_leaves_hands_its_run_on(tmp_path: Path):
    mark = tmp_path / "mark"
    async with Cluster(tmp_path / "cluster", workers=2, url=fresh_database()) as cluster:
        api = await cluster.api()
        model = cluster.script(bash(f"echo x >> {mark}"), bash("sleep 60"), bash("echo on"), {"text": "Bye."})
        session = await prompted(api, model, tmp_path)
        await until(api, session, ToolStarted, times=2)
        first = await cluster.holder(session)
        assert first is not None

        first.drain()
        status = await first.ended()
        records = await until(api, session, RunEnded)

        assert status == 0
        assert results(records) == [("bash", False), ("bash", True), ("bash", False)]
        assert mark.read_text() == "x\n"
        assert (await verify(cluster.store, session)).ok


@pytest.mark.slow
async def test_a_leg_of_another_protocol_is_left_to_those_who_know_it(tmp_path: Path):
    async with Cluster(tmp_path / "cluster", workers=1, url=fresh_database()) as cluster:
        client = DBOSClient(
            system_database_url=cluster.url, serializer=DBOSPortableJSONSerializer(), use_listen_notify=False
        )
        try:
            order = {
                "workflow_name": ASSIGNMENT,
                "queue_name": "bridle",
                "workflow_id": "of-tomorrow",
                "priority": 1,
            }
            await client.enqueue_async({**order, "app_version": "99"}, "what nobody can read yet")
            api = await cluster.api()
            session = await prompted(api, cluster.script({"text": "Bye."}), tmp_path)
            await until(api, session, RunEnded)

            found = await client.list_workflows_async(workflow_ids=["of-tomorrow"])
        finally:
            await asyncio.to_thread(client.destroy)
        assert [one.status for one in found] == ["ENQUEUED"]


@pytest.fixture
def clustered(home: Path, env: dict[str, str], tmp_path: Path) -> Bridle:
    """Return the command line of a node whose database may be of another version."""
    (home / "config.toml").write_text('[store]\nbackend = "postgres"\nurl_env = "BRIDLE_DATABASE_URL"\n')
    project = tmp_path / "project"
    project.mkdir()
    return Bridle(env | {"BRIDLE_DATABASE_URL": fresh_database()}, project)


def with_newer_tables(clustered: Bridle, oldest_reader: int) -> None:
    with psycopg.connect(clustered.env["BRIDLE_DATABASE_URL"], autocommit=True) as connection:
        connection.execute(NEWER, (oldest_reader,))


def test_newer_tables_that_an_old_node_can_use_are_used(clustered: Bridle):
    with_newer_tables(clustered, SCHEMA_VERSION)

    done = clustered("scale", "migrate")

    assert (done.code, done.out, done.err) == (0, "", "")


def test_newer_tables_that_it_cannot_use_are_left_alone(clustered: Bridle):
    with_newer_tables(clustered, SCHEMA_VERSION + 1)

    done = clustered("scale", "migrate")

    assert (done.code, done.out) == (1, "")
    assert "has tables of a newer Bridle (schema 99" in done.err
    assert "upgrade Bridle" in done.err
