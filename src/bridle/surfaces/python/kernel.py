"""`bridle.Kernel`: a Python process that calls the program's functions, without a model or a session."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack

from msgspec.structs import replace

from bridle.app import kernel_settings, open_sandbox
from bridle.config.rules import resolve_rules
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import BridleError, UsageError
from bridle.core.ids import SessionId
from bridle.core.permission import parse_rule
from bridle.core.ports import Sandbox, ToolContext
from bridle.kernel import host
from bridle.kernel.cell import CellResult
from bridle.kernel.pool import IDLE_S, MAX_KERNELS, Pool
from bridle.kernel.processes import may_write_files
from bridle.kernel.settings import KernelEnvironment, KernelSettings
from bridle.kernel.snapshot import TakenSnapshot
from bridle.kernel.start import start_kernel
from bridle.kernel.tool_functions import find_tool, to_tool_args
from bridle.surfaces.python.tools import ToolLike, to_tools


class KernelOptions(TypedDict, total=False):
    """How kernels run: the keyword arguments of `Kernel` and `KernelPool`."""

    cwd: str | Path
    """The folder that the code works in and may change; by default the current one."""
    tools: Sequence[ToolLike]
    """Functions that the code can call. They run in the program, without rules and approvals."""
    allow: Sequence[str]
    """Rules such as `python(domain:pypi.org)`, which let the code reach a host."""
    deny: Sequence[str]
    """Rules such as `read_file(secrets/**)`, which hide files from the code."""
    sandbox: bool
    """False to run the code without a sandbox; by default it is an error if there is none."""
    settings: Mapping[str, Any]
    """Configuration keys that override those of files, such as `{"kernel.timeout": "10s"}`."""
    environ: Mapping[str, str]
    """Replaces the environment of the process; the code gets it without secrets."""


class _Starter:
    """Starts kernels with the same options."""

    def __init__(self, options: KernelOptions) -> None:
        self.cwd = os.path.realpath(os.path.expanduser(options.get("cwd", ".")))
        self.tools = {tool.spec.name: tool for tool in to_tools(options.get("tools", ()))}
        self.specs = [tool.spec for tool in self.tools.values()]
        self.writable: tuple[str, ...] = ()
        self._rules = [parse_rule("allow", text) for text in options.get("allow", ())]
        self._rules += [parse_rule("deny", text) for text in options.get("deny", ())]
        self._options = options
        self._opened: tuple[Sandbox, KernelSettings, KernelEnvironment] | None = None
        self._count = itertools.count(1)

    async def open(self) -> KernelEnvironment:
        """Read the settings, once; raises ConfigError, and UsageError if there is no sandbox."""
        if self._opened is None:
            self._opened = await asyncio.to_thread(self._open)
        return self._opened[2]

    async def start(self, place: KernelEnvironment, *, warm: bool = False) -> host.Kernel:
        """Start a kernel; raises ToolError."""
        assert self._opened is not None
        sandbox, settings, _ = self._opened
        self.writable = (self.cwd, *settings.writable)
        room = SessionId(f"kernel-{next(self._count)}")
        return await start_kernel(sandbox, settings, place, room, specs=self.specs, warm=warm)

    def _open(self) -> tuple[Sandbox, KernelSettings, KernelEnvironment]:
        environ, cwd = self._options.get("environ", os.environ), Path(self.cwd)
        settings = load_settings(environ, cwd, self._options.get("settings", {}))
        rules = resolve_rules((*settings.rules.rules(), *self._rules), settings.user_folder, cwd)
        place = KernelEnvironment(self.cwd, rules)
        return *self._walls(settings, environ), place

    def _walls(self, settings: Settings, environ: Mapping[str, str]) -> tuple[Sandbox, KernelSettings]:
        sandbox, kernel = open_sandbox(settings), kernel_settings(settings, environ)
        if not self._options.get("sandbox", True):
            return sandbox, replace(kernel, confined=False)
        if kernel.confined and not kernel.syd_config and sandbox.status.kind == "none":
            why = sandbox.status.why or "none is available on this machine"
            raise UsageError(f"a kernel needs a sandbox: {why}", hint="sandbox=False runs it without one")
        return sandbox, kernel


class Kernel:
    """A Python process whose variables persist between cells, in a sandbox.

    ```python
    async with bridle.Kernel(tools=[stock]) as kernel:
        result = await kernel.run("sum(range(10)), await stock('A-17')")
        print(result.output)
    ```
    """

    def __init__(self, **options: Unpack[KernelOptions]) -> None:
        """Take the options, see KernelOptions; the process starts with `async with`. Raises UsageError."""
        self._starter = _Starter(options)
        self._process: host.Kernel | None = None

    async def __aenter__(self) -> Self:
        if self._process is not None:
            raise UsageError("this kernel is open already", hint="make a Kernel for each")
        self._process = await self._starter.start(await self._starter.open())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            await self._process.close()

    @property
    def is_alive(self) -> bool:
        """True while it can run cells; it can die if the code ends or blocks its process."""
        return self._process is not None and self._process.is_alive

    async def run(
        self,
        code: str,
        *,
        timeout_s: float | None = None,
        on_output: Callable[[str], None] = lambda text: None,
        on_message: Callable[[str, str], None] = lambda text, kind: None,
    ) -> CellResult:
        """Run a cell and return its output, its error and what ended it; raises ToolError for a dead kernel.

        `on_output` gets what the cell prints while it runs, `on_message` the text and kind of each `message`.
        Cancelling interrupts the cell.
        """
        process = self._opened()
        await process.accept()
        try:
            result = await process.run(
                code, timeout_s=timeout_s, call=self._call, emit=on_output, say=on_message
            )
        finally:
            notes = await self._settle(process)
        return replace(result, notes=notes)

    async def interrupt(self) -> None:
        """Stop the cell that runs, if there is one; its variables stay."""
        await self._opened().interrupt()

    async def snapshot(self) -> TakenSnapshot:
        """Return the variables as bytes, and the names of those that cannot be saved; raises ToolError."""
        return await self._opened().snapshot()

    async def restore(self, data: bytes) -> None:
        """Set the variables of a snapshot; raises ToolError.

        With `kernel.snapshots = "rich"`, a snapshot contains code: restore only those that you took yourself.
        """
        await self._opened().restore(data)

    def _opened(self) -> host.Kernel:
        if self._process is None:
            raise UsageError("this kernel is not open", hint="async with bridle.Kernel() as kernel: …")
        return self._process

    async def _settle(self, process: host.Kernel) -> tuple[str, ...]:
        goes_on = process.has_leftovers or may_write_files(process.pid, self._starter.writable)
        return await process.settle(is_done=not goes_on)

    async def _call(self, name: str, args: dict[str, Any]) -> tuple[bool, str]:
        """Run a tool for the code; files that it writes do not count as changes of the code."""
        spec = find_tool(self._starter.specs, name)
        tool, process = self._starter.tools[spec.name], self._opened()
        context = ToolContext(SessionId("kernel"), self._starter.cwd, lambda text: None)
        if not tool.parallel:
            await self._settle(process)
        try:
            output = await tool.run(to_tool_args(spec, args), context)
        except BridleError as error:
            return False, str(error)
        except Exception as error:  # noqa: BLE001  the code sees what a function raises
            return False, f"{type(error).__name__}: {error}"
        finally:
            if not tool.parallel:
                await process.accept()
        return not output.is_error, output.text


class _PooledKernel(Kernel):
    """A kernel that belongs to a pool."""

    def __init__(self, starter: _Starter, process: host.Kernel) -> None:
        self._starter, self._process = starter, process


class KernelPool:
    """Kernels by the name of their owner; a kernel that is given back keeps its variables for a while.

    ```python
    async with bridle.KernelPool(max_kernels=4, spares=1) as pool:
        async with pool.kernel("ada") as kernel:
            await kernel.run("x = 1")
    ```
    """

    def __init__(
        self,
        *,
        max_kernels: int = MAX_KERNELS,
        idle_s: float = IDLE_S,
        spares: int = 0,
        **options: Unpack[KernelOptions],
    ) -> None:
        """Set how many kernels there are at most, how long an unused one is kept, and how many wait ready."""
        self._starter = _Starter(options)
        self._pool = Pool(self._starter.start, spares=spares, max_kernels=max_kernels, idle_s=idle_s)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pool.aclose()

    @asynccontextmanager
    async def kernel(self, owner: str) -> AsyncIterator[Kernel]:
        """Use an owner's kernel, with its variables, or a new one; raises ToolError if all are in use."""
        place = await self._starter.open()
        process, _ = await self._pool.take(owner, place)
        try:
            yield _PooledKernel(self._starter, process)
        finally:
            await self._pool.put(owner, place, process)

    async def end(self, owner: str) -> None:
        """End an owner's kernel; its variables are lost."""
        await self._pool.destroy(owner)
