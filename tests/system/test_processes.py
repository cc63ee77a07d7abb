"""Killing children of asyncio."""

import os
import subprocess
from asyncio.subprocess import Process
from typing import cast

from bridle.system.processes import kill_child


def test_a_child_that_has_ended_keeps_its_exit_status_for_asyncio():
    child = subprocess.Popen(["/bin/sh", "-c", "exit 3"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    kill_child(cast(Process, child))

    assert child.returncode is None
    assert child.wait() == 3


def test_a_child_that_runs_is_killed():
    child = subprocess.Popen(["sleep", "60"])

    kill_child(cast(Process, child))

    assert child.wait() == -9
