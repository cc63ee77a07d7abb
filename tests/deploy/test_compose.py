"""How the script without containers reads a compose file, and which local paths it uses."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from scripts.cluster.compose import ComposeError, Mount, filled_in, read_services
from scripts.cluster.places import Places
from scripts.cluster.postgres import make_reachable, unprivileged

FILE = """
x-node: &node
  configs: [{source: settings, target: /home/bridle/.bridle/config.toml}]
  environment:
    DATABASE: postgresql://me:${PASSWORD:?is missing}@db:5432/x
  restart: unless-stopped
services:
  one:
    <<: *node
    command: [bridle, worker, --advertise, "one:7431"]
    depends_on: {db: {condition: service_healthy}}
    expose: ["7431"]
    healthcheck:
      {test: [CMD, check, "tcp://127.0.0.1:7431"], interval: 10s, start_interval: 500ms, start_period: 1m}
    stop_grace_period: 40s
    volumes: [goods:/goods:ro, kept:/home/bridle/.bridle/kept]
  db:
    image: postgres:18
    command: [postgres]
    ports: ["127.0.0.1:${PORT:-99}:5432"]
    secrets: [password]
    stop_signal: SIGINT
configs: {settings: {file: config.toml}}
secrets: {password: {environment: PASSWORD}}
"""
SETTINGS = (
    'listen = "0.0.0.0:7431"\nother = "/goodsyard"\ncert = "/goods/cert.pem"\nhome = "/home/bridle/.bridle"\n'
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "config.toml").write_text(SETTINGS)
    path = tmp_path / "compose.yaml"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${A}", "one"),
        ("<${A:-two}>", "<one>"),
        ("${MISSING:-two}${MISSING}", "two"),
        ("${EMPTY:-two}", "two"),
        ("$${A} $1", "${A} $1"),
        ("${A:?why}", "one"),
    ],
)
def test_variables_are_filled_in(text: str, filled: str):
    assert filled_in(text, {"A": "one", "EMPTY": ""}) == filled


def test_a_variable_that_is_needed_is_asked_for():
    with pytest.raises(ComposeError, match="MISSING is not set: see there"):
        filled_in("${MISSING:?see there}", {})


def test_services_are_read(file: Path):
    one, db = read_services(file)["one"], read_services(file)["db"]

    assert (one.image, one.needs, one.ports, one.restarts, one.grace_s, one.stop_signal) == (
        "bridle",
        {"db": "service_healthy"},
        ("7431",),
        True,
        40.0,
        "SIGTERM",
    )
    assert one.mounts == (
        Mount("/goods", volume="goods"),
        Mount("/home/bridle/.bridle/kept", volume="kept"),
        Mount("/home/bridle/.bridle/config.toml", file=str(file.parent / "config.toml")),
    )
    assert one.check is not None
    assert one.check._asdict() == {
        "command": ("check", "tcp://127.0.0.1:7431"),
        "start_interval_s": 0.5,
        "interval_s": 10.0,
        "start_period_s": 60.0,
    }
    assert (db.image, db.ports, db.restarts, db.grace_s, db.stop_signal, db.check) == (
        "postgres",
        ("5432",),
        False,
        10.0,
        "SIGINT",
        None,
    )
    assert db.mounts == (Mount("/run/secrets/password", secret="PASSWORD"),)


def test_a_service_finds_its_things_here(file: Path, tmp_path: Path):
    services = read_services(file)
    folder = tmp_path / "cluster"
    places = Places(folder, services, {"PASSWORD": "one:7431 /goods"})

    places.lay_out(services["one"])
    places.lay_out(services["db"])

    mine = folder / "services/one"
    port, other = places.port("one", "7431"), places.port("db", "5432")
    assert port != other
    assert places.here("one", "one:7431 localhost:7431 zone:7431 one:74311") == (
        f"127.0.0.1:{port} localhost:{port} zone:7431 127.0.0.1:{places.port('one', '74311')}"
    )
    assert places.here("one", services["one"].environment["DATABASE"]) == (
        f"postgresql://me:one:7431 /goods@127.0.0.1:{other}/x"
    )
    assert (mine / "home/.bridle/config.toml").read_text() == (
        f'listen = "127.0.0.1:{port}"\nother = "/goodsyard"\ncert = "{folder}/volumes/goods/cert.pem"\n'
        f'home = "{mine}/home/.bridle"\n'
    )
    assert (folder / "volumes/goods").is_dir()
    assert (mine / "home/.bridle/kept").resolve() == folder / "volumes/kept"
    secret = folder / "services/db/mounted/run/secrets/password"
    assert (secret.read_text(), secret.stat().st_mode & 0o777) == ("one:7431 /goods", 0o600)


def test_programs_in_a_folder_that_only_root_can_enter_are_copied(tmp_path: Path):
    program = tmp_path / "private" / "installation" / "bin" / "postgres"
    program.parent.mkdir(parents=True)
    libraries = tmp_path / "private.libs"
    libraries.mkdir()
    (libraries / "libpq").write_text("started")
    program.write_text('#!/bin/sh\ncat "${0%/*}/../../../private.libs/libpq"\n')
    program.chmod(0o755)
    (tmp_path / "private").chmod(0o700)
    reachable = make_reachable(program.parents[1])
    try:
        command = [reachable / "bin" / "postgres"]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=True, **unprivileged())
    finally:
        if reachable != program.parents[1]:
            place = Path(tempfile.gettempdir())
            shutil.rmtree(place / reachable.relative_to(place).parts[0])

    assert done.stdout == "started"
