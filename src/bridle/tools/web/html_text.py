"""Convert HTML to Markdown or plain text in a child process that can be killed."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from bridle.core.errors import ToolError

Form = Literal["markdown", "plain"]

MEMORY_BYTES = 768 * 1024 * 1024  # a normal page of 5 MB takes a quarter of this
CPU_S = 5
_CONVERTER = Path(__file__).with_name("converter.py")


async def convert_html(
    html: str,
    form: Form,
    *,
    base_url: str,
    limit: int,
    memory_bytes: int = MEMORY_BYTES,
    cpu_s: int = CPU_S,
) -> str:
    """Return at most `limit` bytes of a page's text, with absolute links; raises ToolError.

    Menus, forms, scripts and the like are left out. A cancelled call leaves no process behind.
    """
    process = await _start(form, base_url, str(limit), str(memory_bytes), str(cpu_s))
    try:
        out, _ = await process.communicate(html.encode(errors="replace"))
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):  # Process.kill() may take the exit status from asyncio
                os.kill(process.pid, signal.SIGKILL)
            await process.communicate()
    if process.returncode != 0:
        raise ToolError(f"{base_url} is too complex to convert", hint='ask for the format "html"')
    return out.decode(errors="ignore")


async def _start(*args: str) -> Process:
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_CONVERTER), _library_folder(), *args),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={},  # its input is untrusted, and it does not need Bridle's keys
        )
    except OSError as error:
        raise ToolError(
            f"HTML cannot be converted: {error.strerror}", hint='ask for the format "html"'
        ) from error


@cache
def _library_folder() -> str:
    """Return the folder of the library: an isolated interpreter does not search there by default."""
    spec = find_spec("turbohtml")
    if spec is None or spec.origin is None:
        raise ToolError("HTML cannot be converted: turbohtml is missing", hint="reinstall bridle-agent")
    return str(Path(spec.origin).parent.parent)
