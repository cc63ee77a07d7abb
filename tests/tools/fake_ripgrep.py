"""A fake ripgrep that never ends on its own."""

import asyncio
import os
import select
from pathlib import Path


def fake_ripgrep(folder: Path, commands: str) -> str:
    """Make a program that tells its process id through a FIFO, runs shell commands, and sleeps."""
    os.mkfifo(folder / "pid")
    program = folder / "rg"
    program.write_text(f"#!/bin/sh\necho $$ > '{folder}/pid'\n{commands}\nexec sleep 60\n")
    program.chmod(0o755)
    return str(program)


async def told(folder: Path) -> int:
    """Wait until the program has started; return its process id."""
    return int(await asyncio.to_thread((folder / "pid").read_text))


async def has_ended(pid: int) -> bool:
    """Return whether a killed process ends, even on a busy machine."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        ready, _, _ = await asyncio.to_thread(select.select, [descriptor], [], [], 5)
        return bool(ready)
    finally:
        os.close(descriptor)
