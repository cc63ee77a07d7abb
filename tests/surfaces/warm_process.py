"""Loads `bridle` and becomes it for every job: see tests/surfaces/warm.py."""

import atexit
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import socket
import sys
import termios
import threading
import time
from contextlib import suppress
from typing import NamedTuple, NoReturn

ROOMS = """
    app core config hooks kernel lsp mcp memory providers revisions sandbox sessions stores system tools
    surfaces.cli surfaces.remote
""".split()
"""What nearly every command needs; the rest is left to the command that needs it."""


class Job(NamedTuple):
    """A command: its streams, the pipe for its exit code, and a file with the rest."""

    stdin: int
    stdout: int
    stderr: int
    status: int
    facts: int


def load() -> None:
    """Import the modules of the rooms."""
    for room in ROOMS:
        package = importlib.import_module(f"bridle.{room}")
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
    importlib.import_module("bridle.surfaces.daemon.process")  # not all: gRPC does not like forks
    gc.collect()
    gc.freeze()


def next_job() -> Job:
    """Fork for every job that comes, and return in the child; the parent ends when no more can come."""
    control = socket.socket(fileno=0)
    children: dict[int, tuple[int, int]] = {}
    while True:
        ready, _, _ = select.select([control, *children], [], [])
        for handle in ready:
            if handle is not control:
                pid, status = children.pop(handle)
                with suppress(BrokenPipeError):  # the one who asked was killed
                    os.write(status, b"%d\n" % os.waitpid(pid, 0)[1])
                os.close(status)
                os.close(handle)
        if control not in ready:
            continue
        descriptors = socket.recv_fds(control, 1, len(Job._fields))[1]
        if not descriptors:
            os._exit(0)
        job = Job(*descriptors)
        pid = os.fork()
        if not pid:
            control.detach()
            for handle, (_, status) in children.items():
                os.close(handle)
                os.close(status)
            return job
        children[os.pidfd_open(pid)] = pid, job.status
        os.write(job.status, b"%d\n" % pid)
        for descriptor in {*job} - {job.status}:
            os.close(descriptor)


def become(job: Job) -> NoReturn:
    """Be what `python -m bridle` is, to the end."""
    os.setsid()
    os.lseek(job.facts, 0, os.SEEK_SET)
    with os.fdopen(job.facts, "rb") as file:
        facts = json.load(file)
    os.close(job.status)
    for number, stream in enumerate((job.stdin, job.stdout, job.stderr)):
        os.dup2(stream, number)
        os.close(stream)
    if facts["on_terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(facts["cwd"])
    os.environ.clear()
    os.environ.update(facts["env"])
    time.tzset()
    sys.argv = ["bridle", *facts["args"]]
    sys.path.insert(0, facts["cwd"])
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", errors="surrogateescape")  # noqa: SIM115  to the end
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(  # noqa: SIM115
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace"
    )
    try:
        runpy.run_module("bridle", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    leave(code)


def leave(code: int) -> NoReturn:
    """End as the interpreter does, but for taking apart all that was loaded: that costs half of a command."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    load()
    become(next_job())
