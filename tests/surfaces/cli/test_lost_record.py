"""A run that cannot be recorded fails: the home was deleted or moved during the run."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.surfaces.command import Bridle
from tests.surfaces.daemon.process import DaemonProcess

WRITE = {"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "a\n"}}]}
GONE = "it was deleted, moved or replaced while in use, so nothing more is recorded"


def move(home: Path) -> None:
    home.rename(home.with_name("elsewhere"))


def replace(home: Path) -> None:
    shutil.copytree(home, home.with_name("backup"), ignore=shutil.ignore_patterns("run"))
    shutil.rmtree(home)
    home.with_name("backup").rename(home)


@pytest.fixture
def daemon(bridle: Bridle) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(bridle.home, bridle.env)
    yield daemon
    daemon.close()


def fails(bridle: Bridle, harm: Callable[[Path], None]) -> None:
    """Let a run wait for a person, harm the home, and answer: the run must end with an error."""
    model = bridle.script(WRITE, {"text": "all done"})
    with bridle.terminal("run", "--model", model, "write it", NO_COLOR="1") as terminal:
        terminal.expect("stop the run\n> ")
        harm(bridle.home)
        terminal.send("y")
        code = terminal.finish()

    assert code == 1
    assert f"error: {bridle.home}" in terminal.screen
    assert GONE in terminal.screen
    assert "all done" not in terminal.screen


@pytest.mark.parametrize("harm", [shutil.rmtree, move])
@pytest.mark.parametrize("backend", ["sqlite", "jsonl"])
def test_a_run_whose_home_is_gone_fails(bridle: Bridle, backend: str, harm: Callable[[Path], None]):
    (bridle.home / "config.toml").write_text(f'[store]\nbackend = "{backend}"\n')

    fails(bridle, harm)


def test_a_run_whose_database_was_replaced_fails(bridle: Bridle):
    fails(bridle, replace)


@pytest.mark.parametrize("backend", ["sqlite", "jsonl"])
async def test_a_client_of_the_daemon_is_told(bridle: Bridle, daemon: DaemonProcess, backend: str):
    (bridle.home / "config.toml").write_text(f'[store]\nbackend = "{backend}"\n')
    await daemon.start()

    fails(bridle, shutil.rmtree)
