"""Killed at any moment or out of space: acknowledged data is there, and the store works again."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WRITER = Path(__file__).with_name("writer.py")
KINDS = ("sqlite", "jsonl")


def run_writer(*args: str, prefix: tuple[str, ...] = ()) -> str:
    done = subprocess.run(
        [*prefix, sys.executable, str(WRITER), *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_acknowledged_is_lost_or_torn_by_kill_9(kind: str, tmp_path: Path):
    """The writer process checks the whole record after each of the kills."""
    acknowledged = run_writer("crash", kind, str(tmp_path), "30", "1")

    assert int(acknowledged) > 30


@pytest.mark.parametrize("kind", KINDS)
def test_an_append_beyond_the_largest_file_fails_and_the_store_goes_on(kind: str, tmp_path: Path):
    assert run_writer("fill", kind, str(tmp_path), "limited") == "ok"


def private_disk(place: Path, size: str) -> tuple[str, ...]:
    """Return a command prefix that gives a process a small disk of its own at `place`."""
    namespaces = "-m" if os.geteuid() == 0 else "-rm"
    script = f'mount -t tmpfs -o size={size} none "$0" && exec "$@"'
    return ("unshare", namespaces, "sh", "-c", script, str(place))


def can_mount(place: Path) -> bool:
    if not shutil.which("unshare"):
        return False
    return (
        subprocess.run([*private_disk(place, "1m"), "true"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_fails_the_append_and_the_store_goes_on(kind: str, tmp_path: Path):
    if not can_mount(tmp_path):
        pytest.skip("this machine allows no private mounts; the file size limit above stands in for it")

    assert run_writer("fill", kind, str(tmp_path), "full", prefix=private_disk(tmp_path, "1m")) == "ok"


@pytest.mark.parametrize("kind", KINDS)
def test_a_closed_store_can_be_read_on_a_full_disk(kind: str, tmp_path: Path):
    if not can_mount(tmp_path):
        pytest.skip("this machine allows no private mounts")

    assert run_writer("look", kind, str(tmp_path), prefix=private_disk(tmp_path, "1m")) == "ok"
