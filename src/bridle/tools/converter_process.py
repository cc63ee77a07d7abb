"""Convert HTML and PDF files to text in a child process that can be killed."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from bridle.core.errors import ToolError
from bridle.system.processes import kill_child
from bridle.tools.converter import REFUSED

Form = Literal["markdown", "plain"]

MEMORY_BYTES = 768 * 1024 * 1024  # a normal page of 5 MB takes a quarter of this
CPU_S = 5
PDF_CPU_S = 20
MAX_PDF_TEXT_BYTES = 2 * 1024 * 1024
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
    folder = _library_folder("turbohtml")
    limits = (str(limit), str(memory_bytes), str(cpu_s))
    try:
        status, out = await _convert(html.encode(errors="replace"), folder, form, base_url, *limits)
    except OSError as error:
        raise ToolError(
            f"HTML cannot be converted: {error.strerror}", hint='ask for the format "html"'
        ) from error
    if status != 0:
        raise ToolError(f"{base_url} is too complex to convert", hint='ask for the format "html"')
    return out.decode(errors="ignore")


async def convert_pdf(
    data: bytes,
    name: str,
    first: int,
    last: int,
    *,
    memory_bytes: int = MEMORY_BYTES,
    cpu_s: int = PDF_CPU_S,
) -> str:
    """Return the text of some pages of a PDF, each below a line with its number; raises ToolError.

    Pages that were converted before the process reached its limits are returned, with a note.
    """
    folder = _library_folder("pypdf")
    limits = (str(MAX_PDF_TEXT_BYTES), str(memory_bytes), str(cpu_s))
    try:
        status, out = await _convert(data, folder, "pdf", f"{first}-{last}", *limits)
    except OSError as error:
        raise ToolError(f"{name} cannot be converted: {error.strerror}") from error
    text = out.decode(errors="replace")
    if status == REFUSED:
        raise ToolError(f"{name}: {text}")
    if status != 0 and not text:
        raise ToolError(f"{name} is damaged, or too complex to convert")
    return text if status == 0 else f"{text}[the next page is damaged, or too complex to convert]"


async def _convert(data: bytes, *args: str) -> tuple[int | None, bytes]:
    """Return the exit status and the output of the converter; raises OSError."""
    process = await _start(*args)
    try:
        out, _ = await process.communicate(data)
    finally:
        if process.returncode is None:
            kill_child(process)
            await process.communicate()
    return process.returncode, out


async def _start(*args: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", str(_CONVERTER), *args),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={},  # its input is untrusted, and it does not need Bridle's keys
    )


@cache
def _library_folder(name: str) -> str:
    """Return the folder of a library: an isolated interpreter does not search there by default.

    Raises ToolError if it is missing: the interpreter would take a file of the working directory instead.
    """
    spec = find_spec(name)
    if spec is None or not spec.origin:
        raise ToolError(f"the library {name} is missing", hint="reinstall bridle-agent")
    return str(Path(spec.origin).parent.parent)
