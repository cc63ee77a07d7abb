"""The tool `python`: one kernel per session, restored from its last snapshot when it is gone.

```
take a kernel ─▶ does it hold the session's state? ─ no ─▶ restore the snapshot
      ▼
  run the cell ─▶ its tool calls take the same path as the model's own calls
      ▼
 snapshot ─▶ seal ─▶ blob ─▶ KernelSaved, recorded with the result
```

A session's events name the digest of the state that its kernel must hold. After a rewind, a crash or a fork
that digest differs from the one of the running kernel, and the kernel is reset and restored to match it.
"""

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct
from msgspec.msgpack import decode, encode

from bridle.core.codeact import PYTHON
from bridle.core.errors import StoreError, ToolError
from bridle.core.ids import SessionId
from bridle.core.messages import Media
from bridle.core.permission import EDITING_TOOLS, Rule
from bridle.core.ports import Blobs, Sandbox, ToolContext, ToolOutput
from bridle.core.protocol import KernelSaved
from bridle.core.tool import Access, ToolSpec
from bridle.kernel.cell import StreamMask, describe_end, format_result, join_names, mask_output
from bridle.kernel.host import Kernel
from bridle.kernel.pool import Pool
from bridle.kernel.processes import may_write_files
from bridle.kernel.snapshot import load_key, open_sealed, seal
from bridle.kernel.start import KernelEnvironment, KernelSettings, start_kernel
from bridle.kernel.tool_functions import describe_python, find_tool, to_tool_args

MAX_CODE_BYTES = 1024 * 1024
MAX_MEDIA = 8
_OWNER = "kernel"
_WRITING = frozenset((*EDITING_TOOLS, "download", "rename_symbol", "replace_symbol", "code_action"))
_MAX_TAKEN = 20  # more than there are spares

_PARAMETERS = {
    "type": "object",
    "properties": {"code": {"type": "string"}},
    "required": ["code"],
}


class _SavedState(Struct, frozen=True):
    """The content of a kernel's snapshot blob."""

    data: bytes
    dropped: tuple[str, ...] = ()
    """Names whose values could not be saved."""


class _SessionKernel(Struct):
    """A session's kernel in this process."""

    place: KernelEnvironment
    kernel: Kernel
    rewinds: int = 0
    """The session's number of rewinds when the kernel was last filled."""
    snapshot: str = ""
    """The digest of its state, as in the session's events; an interrupted cell may have changed the state."""
    is_used: bool = False
    tools: tuple[ToolSpec, ...] | None = None
    """The tools it can call; None if unknown."""
    is_running: bool = False


class Python:
    """Runs cells, one after the other, in the session's kernel."""

    parallel = False

    def __init__(
        self,
        sandbox: Sandbox,
        pool: Pool,
        settings: KernelSettings,
        *,
        blobs: Blobs | None,
        load_key: Callable[[], bytes],
        is_walled: Callable[[Kernel], Awaitable[bool]],
        mask: Callable[[], StreamMask] | None,
    ) -> None:
        """Set the pool of kernels, the store for snapshots and the key that seals them.

        `is_walled` checks whether a kernel's sandbox covers everything that must be hidden and fixed now;
        `mask` starts a filter that removes secrets from text shown live.
        """
        self._sandbox = sandbox
        self._pool = pool
        self._settings = settings
        self._blobs = blobs
        self._load_key = load_key
        self._is_walled = is_walled
        self._mask = mask
        self._living: dict[SessionId, _SessionKernel] = {}
        self._owners: WeakKeyDictionary[Kernel, SessionId] = WeakKeyDictionary()

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return ToolSpec(PYTHON, describe_python(), _PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return "execute" access; the sandbox limits the code, and its tool calls are judged separately."""
        _code(args)
        return Access(PYTHON, "execute", doubt=self._doubt(context.rules))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show the code and the sandbox it would run in."""
        return f"{_code(args)}\n({self._guard(context)})"

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Run a cell to its end; an exception, a timeout or the death of the kernel gives an error result."""
        code = _code(args)
        kernel, living, notes = await self._enter(context)
        media: list[Media] = []
        emit, flush = mask_output(context.emit, self._mask)
        await kernel.accept()
        living.is_running = living.is_used = True
        try:
            result = await kernel.run(
                code,
                timeout_s=self._settings.cell_timeout_s,
                call=_caller(context, media, kernel, notes, lambda: not self._goes_on(living)),
                emit=emit,
                say=lambda text, kind: context.emit(f"{text}\n") if kind != "final" else None,
            )
            saved = await self._save(kernel, living, context) if kernel.is_alive else ()
        finally:
            flush()
            living.is_running = False
            notes += await kernel.settle(is_done=not self._goes_on(living))
            await self._leave(kernel, living, context.session)
        notes += describe_end(result, is_alive=kernel.is_alive)
        text = format_result([result.output, result.error], notes)
        is_error = bool(result.error or result.ended)
        return ToolOutput(text, is_error, tuple(media), saved, answer="" if is_error else result.answer)

    def is_busy(self, session: SessionId) -> bool:
        """True while a cell runs, or something it left behind runs or may still write to a file."""
        living = self._living.get(session)
        if living is None or not living.kernel.is_alive:
            return False
        return living.is_running or self._goes_on(living)

    def _goes_on(self, living: _SessionKernel) -> bool:
        """True if cells have left something that runs, or a file that may still be written to."""
        folders = (living.place.cwd, *self._settings.writable)
        return living.kernel.has_leftovers or may_write_files(living.kernel.pid, folders)

    async def end_session(self, session: SessionId) -> None:
        """End a session's kernel; its snapshot can restore it."""
        self._living.pop(session, None)
        await self._pool.destroy(session)

    async def aclose(self) -> None:
        """End all kernels."""
        self._living.clear()
        await self._pool.aclose()

    # ------------------------------------------------------------------ the kernel of a session

    async def _enter(self, context: ToolContext) -> tuple[Kernel, _SessionKernel, list[str]]:
        """Take the session's kernel and bring it to the session's state; return notes for the model.

        A kernel that has died unnoticed is replaced.
        """
        session, place = context.session, _place(context)
        living = self._living.get(session)
        if living is not None and living.place != place:  # what must be hidden has changed
            await self.end_session(session)
            living = None
        kernel, is_same = await self._take(session, place)
        if living is None or not is_same:
            living = _SessionKernel(place, kernel, context.rewinds)
        try:
            notes = await self._fill(kernel, living, context)
        except ToolError:
            await self._leave(kernel, living, session)
            if kernel.is_alive or not is_same:
                raise
            return await self._enter(context)
        except BaseException:
            await self._leave(kernel, living, session)
            raise
        self._living[session] = living
        return kernel, living, notes

    async def _fill(self, kernel: Kernel, living: _SessionKernel, context: ToolContext) -> list[str]:
        kernel.keep = context.keep
        if living.tools != context.tools:
            await kernel.set_tools(_callable(context))
            living.tools = context.tools
        if (living.snapshot, living.rewinds) == (context.snapshot, context.rewinds):
            return []
        living.rewinds = context.rewinds
        return await self._restore(kernel, living, context.snapshot)

    async def _take(self, session: SessionId, place: KernelEnvironment) -> tuple[Kernel, bool]:
        """Take the session's kernel, or a new one, whose sandbox is up to date; end the others.

        A kernel that another session has used is not taken: hostile code may have changed what a reset does.
        """
        for _ in range(_MAX_TAKEN):
            kernel, is_same = await self._pool.take(session, place)
            is_fit = False
            try:
                if self._owners.setdefault(kernel, session) == session:
                    is_fit = not kernel.is_alive or await self._is_walled(kernel)
            finally:
                if not is_fit:
                    await self._pool.destroy(session)
            if is_fit:
                return kernel, is_same
        raise ToolError("no kernel is available: the files to hide from it keep changing")

    async def _restore(self, kernel: Kernel, living: _SessionKernel, snapshot: str) -> list[str]:
        if living.is_used:
            await kernel.reset()
            living.snapshot, living.is_used = "", False
        if not snapshot:
            return []
        try:
            kept = await asyncio.to_thread(self._load, snapshot)
            await kernel.restore(kept.data)
        except (StoreError, ToolError) as error:
            return [f"a new, empty kernel: the variables of the last one cannot be restored: {error}"]
        living.snapshot = snapshot
        lost = f"; not kept: {join_names(kept.dropped)}" if kept.dropped else ""
        return [f"a new kernel, with the variables of the last one{lost}"]

    def _keep(self, blobs: Blobs, kept: _SavedState) -> str:
        return blobs.put(seal(encode(kept), self._load_key(), _OWNER))

    def _load(self, snapshot: str) -> _SavedState:
        if self._blobs is None:
            raise StoreError("nothing is kept here")
        return decode(open_sealed(self._blobs.get(snapshot), self._load_key(), _OWNER), type=_SavedState)

    async def _save(
        self, kernel: Kernel, living: _SessionKernel, context: ToolContext
    ) -> tuple[KernelSaved, ...]:
        """Save the kernel's state if it has changed."""
        if self._blobs is None:
            return ()
        try:
            taken = await kernel.snapshot()
            dropped = tuple(name for name, _ in taken.dropped)
            digest = await asyncio.to_thread(self._keep, self._blobs, _SavedState(taken.data, dropped))
        except (StoreError, ToolError) as error:
            context.emit(f"[the variables were not saved: {error}]\n")
            return ()
        if digest == living.snapshot:
            return ()
        living.snapshot = digest
        return (KernelSaved(digest, dropped),)

    async def _leave(self, kernel: Kernel, living: _SessionKernel, session: SessionId) -> None:
        if kernel.is_alive:
            await self._pool.put(session, living.place, kernel)
        else:
            self._living.pop(session, None)
            await self._pool.destroy(session)

    # ------------------------------------------------------------------ the sandbox

    def _doubt(self, rules: Sequence[Rule]) -> str:
        status = self._sandbox.status
        if self._settings.syd_config:
            broken = next((rule for rule in rules if rule.action != "allow" and rule.pattern), None)
            return f"syd does not enforce rule {broken.action} {broken}" if broken else ""
        if status.kind != "none" or not self._settings.confined:
            return ""
        return f"this code has no sandbox: {status.why or 'none available on this machine'}"

    def _guard(self, context: ToolContext) -> str:
        if self._settings.syd_config:
            return f"sandbox: syd, {self._settings.syd_config}; changes cannot be undone"
        if not self._settings.confined:
            return "no sandbox: turned off in the settings"
        status = self._sandbox.status
        if status.kind == "none":
            return f"no sandbox: {status.why or 'none available on this machine'}"
        domains = [
            rule.pattern.removeprefix("domain:")
            for rule in context.rules
            if rule.action == "allow" and rule.tool == PYTHON and rule.pattern.startswith("domain:")
        ]
        network = f"network to {', '.join(domains)}" if domains else "no network"
        return f"sandbox: {status.kind}, {network}"


def _place(context: ToolContext) -> KernelEnvironment:
    """Return where a kernel may run, without the rules that its sandbox does not depend on."""
    rules = [rule for rule in context.rules if rule.action == "deny" or rule.pattern.startswith("domain:")]
    env = tuple(sorted(context.env.items()))
    return KernelEnvironment(os.path.realpath(context.cwd), tuple(rules), context.mode, env)


def _callable(context: ToolContext) -> list[ToolSpec]:
    """Return the tools that code can call: all except `python` itself."""
    return [spec for spec in context.tools if spec.name != PYTHON]


def _caller(
    context: ToolContext,
    media: list[Media],
    kernel: Kernel,
    notes: list[str],
    is_done: Callable[[], bool],
) -> Callable[..., Any] | None:
    """Return the function that makes a cell's tool calls.

    Files that a tool writes are approved already and must not be taken for traps of the code. So traps of the
    code are moved away before such a call.
    """
    make = context.call
    if make is None:
        return None

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        spec = find_tool(_callable(context), name)
        if spec.name in _WRITING:
            notes.extend(await kernel.settle(is_done=is_done()))
        result = await make(spec.name, to_tool_args(spec, args))
        if spec.name in _WRITING:
            await kernel.accept()
        media.extend(result.media[: MAX_MEDIA - len(media)])
        return not result.is_error, result.output

    return call


def _code(args: dict[str, Any]) -> str:
    code = args.get("code")
    if not isinstance(code, str) or not code.strip():
        raise ToolError("no code to run")
    try:
        size = len(code.encode())
    except UnicodeEncodeError as error:
        raise ToolError(
            f"the code is not valid Unicode: character {error.start + 1} is half of a pair"
        ) from error
    if size > MAX_CODE_BYTES:
        raise ToolError(f"the code is longer than {MAX_CODE_BYTES} bytes", hint="put data into a file")
    return code


def create_python_tool(
    sandbox: Sandbox,
    settings: KernelSettings,
    *,
    blobs: Blobs | None,
    key_file: Path,
    spares: int = 0,
    max_kernels: int = 8,
    idle_s: float = 600.0,
    mask: Callable[[], StreamMask] | None = None,
) -> Python:
    """Create the tool with its own pool; the key that seals snapshots is created when first needed."""
    count = itertools.count(1)
    rooms: WeakKeyDictionary[Kernel, SessionId] = WeakKeyDictionary()

    async def start(place: KernelEnvironment, *, warm: bool) -> Kernel:
        room = SessionId(f"kernel-{next(count)}")
        kernel = await start_kernel(sandbox, settings, place, room, specs=(), warm=warm)
        rooms[kernel] = room
        return kernel

    return Python(
        sandbox,
        Pool(start, spares=spares, max_kernels=max_kernels, idle_s=idle_s),
        settings,
        blobs=blobs,
        load_key=lambda: load_key(key_file),
        is_walled=lambda kernel: sandbox.holds(rooms[kernel]),
        mask=mask,
    )
