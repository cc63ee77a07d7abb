"""A node exits even if threads wait forever."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

STUCK = """
import asyncio, time
from bridle.surfaces.daemon.forced_exit import exit_after

async def main():
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 3600)
    exit_after(75, linger_s=0.1)

asyncio.run(main())
"""


def test_a_thread_that_waits_for_ever_does_not_keep_the_process():
    ended = subprocess.run([sys.executable, "-c", STUCK], timeout=60, check=False, capture_output=True)

    assert (ended.returncode, ended.stderr) == (75, b"")


@pytest.mark.parametrize("role", ["worker", "gateway"])
def test_a_node_that_waits_for_its_database_ends_when_it_is_told_to(role: str, tmp_path: Path):
    (tmp_path / "config.toml").write_text('[store]\nbackend = "postgres"\n')
    database = "postgresql://nobody@127.0.0.1:1/none"
    environ = {**os.environ, "BRIDLE_HOME": str(tmp_path), "BRIDLE_DATABASE_URL": database}
    words = [sys.executable, "-m", "bridle", role]
    with subprocess.Popen(words, env=environ, stderr=subprocess.PIPE, text=True) as node:
        try:
            assert node.stderr is not None
            assert any("is away" in line for line in node.stderr)
            node.send_signal(signal.SIGTERM)
            assert node.wait(PATIENCE_S) != 0
        finally:
            node.kill()
