"""Starts kernels: chooses the interpreter and the sandbox, and loads the guest.

```
python -S -B -c BOOT      fd 0 frames in   fd 1 frames out   fd 2 printed text   fd 3 the guest's code
```

The guest's code comes through a descriptor, so that no file of Bridle has to be readable in the sandbox. It
comes compiled if the interpreter has our version, which saves a good part of the start.
"""

import asyncio
import importlib.util
import marshal
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from pkgutil import get_data

from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import ProcessSpec, Sandbox, SandboxKind
from bridle.core.tool import ToolSpec
from bridle.kernel.channel import open_pipes
from bridle.kernel.host import Kernel
from bridle.kernel.interpreter import HINT, find_python
from bridle.kernel.settings import KernelEnvironment, KernelSettings, Owner
from bridle.system.processes import process_exists
from bridle.system.programs import find_program, why_not_found

__all__ = ["KernelEnvironment", "KernelSettings", "start_kernel"]

TOOL = "python"
BOOT = """\
import sys
if sys.version_info < (3, 9): sys.exit("Python %d.%d is too old, a kernel needs 3.9" % sys.version_info[:2])
import marshal, _frozen_importlib_external as own
with open(3, "rb") as file: magic, code, source = marshal.load(file)
code = marshal.loads(code) if magic == own.MAGIC_NUMBER else compile(source, "<guest>", "exec")
exec(code, {"__name__": "__main__"})
"""
_MARSHAL = 2  # which every version reads
_PASSED = frozenset({"PYTHONHASHSEED", "PYTHONNOUSERSITE", "PYTHONPATH", "PYTHONUSERBASE", "PYTHONWARNINGS"})
"""Interpreter variables that a user may have good reason to set; others could break the guest."""
_TMP = "/tmp"  # where bubblewrap gives each cell its own empty folder
_SCRATCH = re.compile(r"bridle-kernel-(\d+)-\w+")


async def start_kernel(
    sandbox: Sandbox,
    settings: KernelSettings,
    place: KernelEnvironment,
    room: SessionId,
    *,
    specs: Sequence[ToolSpec],
    warm: bool = False,
) -> Kernel:
    """Start a kernel that can call these tools; raises ToolError.

    `room` is a sandbox session for this kernel alone; it ends when the kernel is closed. A warm kernel loads
    more before it is ready; spares are started this way.
    """
    settings = replace(settings, environ={**settings.environ, **dict(place.env)})
    status = await asyncio.to_thread(lambda: sandbox.status)
    walls: SandboxKind = status.kind if settings.confined and not settings.syd_config else "none"
    settings = await asyncio.to_thread(_with_syd, settings, place.cwd)
    chosen = replace(settings, confined=walls != "none" or bool(settings.syd_config))
    python = await asyncio.to_thread(find_python, chosen, place.cwd)
    made = await asyncio.to_thread(_make_scratch) if _needs_scratch(walls, settings, place) else ""

    async def let_go() -> None:
        await sandbox.end_session(room)
        if made:
            await asyncio.to_thread(shutil.rmtree, made, ignore_errors=True)

    spec = _spec(python, walls, settings, place, made)
    try:
        kernel = await _launch(sandbox, spec, room, settings, let_go)
    except ToolError as error:
        await let_go()
        raise _failure(python, error.message) from error
    except BaseException:
        await let_go()
        raise
    try:
        await kernel.set_tools(specs, warm=warm)
        await kernel.settle()  # whatever changes from now on is the work of cells, or of others
    except ToolError as error:
        await kernel.close()
        raise _failure(python, kernel.last_words() or kernel.why_dead) from error
    except BaseException:
        await kernel.close()
        raise
    return kernel


def _failure(python: str, why: str) -> ToolError:
    return ToolError(f"the Python kernel cannot be started with {python}: {why}", hint=HINT)


async def _launch(
    sandbox: Sandbox,
    spec: ProcessSpec,
    room: SessionId,
    settings: KernelSettings,
    let_go: Callable[[], Awaitable[None]],
) -> Kernel:
    """Start the process with our own pipes."""
    owner = Owner()
    pipes = open_pipes()
    code = _open_code()
    try:
        process = await sandbox.start(
            replace(
                spec,
                input=pipes.input,
                output=pipes.output,
                errors=pipes.errors,
                extra=code,
                keep=None if settings.syd_config else owner.keep_path,
            ),
            room,
        )
    except BaseException:
        pipes.close()
        raise
    finally:
        os.close(code)
    pipes.close_theirs()
    return Kernel(process, pipes, settings, owner=owner, let_go=let_go)


def _with_syd(settings: KernelSettings, cwd: str) -> KernelSettings:
    """Find syd, if configured, outside the folders that cells may change; raises ToolError."""
    if not settings.syd_config:
        return settings
    search = settings.environ.get("PATH", os.defpath)
    found = find_program(settings.syd, search, outside=(cwd, *settings.writable))
    if found is None:
        raise ToolError(f"{settings.syd} {why_not_found(settings.syd, search)}", hint="install syd")
    return replace(settings, syd=found)


def _spec(
    python: str, walls: SandboxKind, settings: KernelSettings, place: KernelEnvironment, made: str
) -> ProcessSpec:
    argv: tuple[str, ...] = (python, "-S", "-B", "-c", BOOT)
    if settings.syd_config:
        argv = (settings.syd, "-c", settings.syd_config, "--", *argv)
    env = kernel_environment(settings.environ)
    if walls != "landlock":  # with Landlock the guest creates one in the folder that the sandbox gives it
        env["SCRATCH_DIR"] = made or f"{_TMP}/kernel-{secrets.token_hex(8)}"
    return ProcessSpec(
        argv=argv,
        cwd=place.cwd,
        env=env,
        output=-1,
        writable=(place.cwd, *settings.writable),
        rules=place.rules,
        mode=place.mode,
        tool=TOOL,
        confined=walls != "none",
        open_network=settings.open_network,
        memory_bytes=settings.memory_bytes,
        max_processes=settings.max_processes,
        max_file_bytes=settings.max_file_bytes,
    )


def kernel_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a kernel, without variables that could change how its guest starts."""
    return {
        name: value for name, value in environ.items() if not name.startswith("PYTHON") or name in _PASSED
    }


def _needs_scratch(walls: SandboxKind, settings: KernelSettings, place: KernelEnvironment) -> bool:
    """True if the sandbox gives the kernel no private folder for temporary files."""
    if walls == "bubblewrap":
        return any(os.path.realpath(root) in ("/", _TMP) for root in (place.cwd, *settings.writable))
    return walls == "none"


def _make_scratch() -> str:
    """Create a folder for a kernel, and remove those of processes that died without cleaning up."""
    folder = tempfile.gettempdir()
    with os.scandir(folder) as entries:
        for entry in entries:
            maker = _SCRATCH.fullmatch(entry.name)
            if maker and not process_exists(int(maker[1])):
                shutil.rmtree(entry.path, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"bridle-kernel-{os.getpid()}-", dir=folder)


def _open_code() -> int:
    """Return a descriptor from which a kernel reads the guest's code."""
    if not hasattr(os, "memfd_create"):
        raise ToolError(f"a kernel cannot be started on {sys.platform} yet", hint="run Bridle on Linux")
    descriptor = os.memfd_create("guest", os.MFD_CLOEXEC)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(_code())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@cache
def _code() -> bytes:
    source = get_data(__package__, "guest.py")
    assert source is not None
    code = compile(source, "<guest>", "exec", dont_inherit=True)
    return marshal.dumps((importlib.util.MAGIC_NUMBER, marshal.dumps(code), source), _MARSHAL)
