"""The files of deploy/ pass public linters, and Bridle accepts their settings.

No container engine is needed, and none is used: that the image can be built is not shown here.
"""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from bridle.config.settings import load_settings
from bridle.surfaces.cli.parser import parse
from bridle.surfaces.daemon.listen_address import parse_listen_address
from scripts.cluster.compose import OURS, read_services
from scripts.cluster.places import Places
from tests.node_servers import node, script

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
BRIDLE_SERVICES = [
    (name, one) for name, one in read_services(DEPLOY / "compose.yaml").items() if one.image == OURS
]


def lint(package: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [node(), script(package), *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False
    )


def lint_containerfile(path: Path) -> subprocess.CompletedProcess[str]:
    return lint("dockerfile-utils", "lint", path)


def lint_compose(path: Path) -> subprocess.CompletedProcess[str]:
    return lint("dclint", "--config", DEPLOY / "dclint.yaml", "--max-warnings", 0, path)


@pytest.mark.slow
def test_the_container_file_is_in_order(tmp_path: Path):
    bad = tmp_path / "Containerfile"
    bad.write_text((DEPLOY / "Containerfile").read_text().replace("\nUSER", "\nUSR"))

    good, broken = lint_containerfile(DEPLOY / "Containerfile"), lint_containerfile(bad)

    assert (good.returncode, good.stdout, good.stderr) == (0, "", "")
    assert broken.returncode == 1
    assert "Unknown instruction: USR" in broken.stdout + broken.stderr


@pytest.mark.slow
def test_the_compose_file_is_in_order(tmp_path: Path):
    bad = tmp_path / "compose.yaml"
    bad.write_text((DEPLOY / "compose.yaml").read_text().replace("depends_on:", "depend_on:"))

    good, broken = lint_compose(DEPLOY / "compose.yaml"), lint_compose(bad)

    assert (good.returncode, good.stdout.strip(), good.stderr) == (0, "", "")
    assert broken.returncode == 1
    assert "invalid-schema" in broken.stdout + broken.stderr


@pytest.mark.slow
def test_the_load_balancer_takes_its_settings(tmp_path: Path):
    services = read_services(DEPLOY / "compose.yaml")
    places = Places(tmp_path, services, {})
    made = ["sh", DEPLOY / "certificates.sh", places.path("certificates", "/certificates")]
    subprocess.run(made, check=True, capture_output=True)
    places.lay_out(services["load-balancer"])
    program = shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    assert program is not None, "no haproxy (hint: make packages)"

    settings = places.path("load-balancer", "/usr/local/etc/haproxy/haproxy.cfg")
    done = subprocess.run([program, "-c", "-f", settings], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_settings_are_taken(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(DEPLOY / "config.toml", home / "config.toml")

    settings = load_settings(
        {"BRIDLE_HOME": str(home), "BRIDLE_DATABASE_URL": "postgresql://x@y/z"}, tmp_path
    )

    assert settings.database_url is not None
    scale, http = settings.scale, settings.http
    assert parse_listen_address(scale.listen, "scale.listen", tls=scale.tls.files("scale.tls")) == (
        "0.0.0.0",
        7431,
    )
    assert parse_listen_address(http.bind, "http.bind", tls=http.tls.files("http.tls")) == ("0.0.0.0", 7417)


@pytest.mark.parametrize(("name", "service"), BRIDLE_SERVICES, ids=[name for name, _ in BRIDLE_SERVICES])
def test_commands_are_those_of_the_command_line(name: str, service):
    program, *words = service.command
    if program != "bridle":
        assert program in (DEPLOY / "Containerfile").read_text()
        return

    parse(words)


def test_the_image_has_extras_that_there_are():
    extras = re.search(r'"\.\[([a-z,]+)\]"', (DEPLOY / "Containerfile").read_text())
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    assert extras is not None
    assert set(extras[1].split(",")) <= set(known)


def test_a_process_gets_longer_to_end_than_its_runs():
    """A worker that is killed while it hands its runs on loses time, not runs; but it need not be."""
    timeout = tomllib.loads((DEPLOY / "config.toml").read_text())["serve"]["shutdown_timeout"]
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]

    graces = {
        one["stop_grace_period"] for name, one in services.items() if name.startswith(("worker", "gateway"))
    }
    units = {
        path.name: re.search(r"TimeoutStopSec=(\d+)", path.read_text()) for path in DEPLOY.glob("systemd/*")
    }

    assert {int(grace.rstrip("s")) > int(timeout.rstrip("s")) for grace in graces} == {True}
    assert len(units) == 2
    assert all(found is not None and int(found[1]) > int(timeout.rstrip("s")) for found in units.values())


def test_units_start_what_there_is():
    for path in DEPLOY.glob("systemd/*.service"):
        (line,) = re.findall(r"ExecStart=(.+)", path.read_text())
        _, *words = line.split()
        parse(words)
