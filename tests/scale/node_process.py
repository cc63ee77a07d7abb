"""Loads the modules of a cluster node and becomes a node for every job: see tests/scale/nodes.py.

As tests/surfaces/warm_process.py, whose part this is, but a node may be put into a separate network, and it
ends with the process that forked it.
"""

import asyncio
import ctypes
import faulthandler
import importlib
import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "surfaces"))
warm_process = importlib.import_module("warm_process")

MODULES = """
    dbos psycopg msgspec anyio
    bridle.app.cluster bridle.scale.node bridle.surfaces.cli.scale bridle.surfaces.daemon.cluster_service
    bridle.surfaces.daemon.process bridle.surfaces.daemon.worker bridle.stores.postgres.blobs
    bridle.stores.postgres.blobs bridle.providers.scripted
""".split()
NETWORK = "NODE_NETWORK"
PR_SET_PDEATHSIG = 1
CLONE_NEWNET = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)


def end_with_parent(parent: int) -> None:
    """Let the kernel end this process when its parent ends."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def enter(network: str) -> None:
    """Move into a network namespace."""
    descriptor = os.open(f"/run/netns/{network}", os.O_RDONLY | os.O_CLOEXEC)
    if libc.setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"cannot enter {network}")
    os.close(descriptor)


def show_tasks(*_: object) -> None:
    """Write what every task and thread of this process is at."""
    for task in asyncio.all_tasks():
        task.print_stack(limit=12)
    faulthandler.dump_traceback()


if __name__ == "__main__":
    for name in MODULES:
        importlib.import_module(name)
    warm_process.load()
    parent = os.getpid()
    job = warm_process.next_job()
    end_with_parent(parent)
    facts = json.loads(os.pread(job.facts, 1 << 20, 0))
    if network := facts["env"].get(NETWORK):
        enter(network)
    signal.signal(signal.SIGUSR2, show_tasks)
    warm_process.become(job)
