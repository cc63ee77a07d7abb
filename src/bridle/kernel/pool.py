"""The kernels of this process: each belongs to one owner; some wait for their owner, some are spares.

```
            take(id) ── it was put back ──▶ that one, with its state
               │
               ├─────── a spare for its place ──▶ that one ──▶ another spare is started
               └─────── neither ──▶ room is made if necessary, then one is started

  put(id) ──▶ it waits `idle_s` ──▶ it is closed
```

To make room, spares are closed first, because they hold no state, then the kernels that have waited longest.
A waiting kernel of the right place is reused instead if a reset leaves nothing of its owner.
"""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, Protocol

from msgspec import Struct, field

from bridle.core.errors import ToolError
from bridle.kernel.host import Kernel
from bridle.kernel.settings import KernelEnvironment

MAX_KERNELS = 8
IDLE_S = 600.0


class StartKernel(Protocol):
    """Starts a kernel in a place; raises ToolError. A warm one is a spare, and may take longer to start."""

    def __call__(self, place: KernelEnvironment, *, warm: bool) -> Awaitable[Kernel]: ...


class _Taken(Struct, eq=False):
    """An owner that uses a kernel, or waits for one to start."""

    kernel: Kernel | None = None
    is_void: bool = False
    """True if the kernel was given up while it was starting."""


class _Idle(Struct, frozen=True, eq=False):
    """A kernel that waits for its owner."""

    place: KernelEnvironment
    kernel: Kernel
    timer: asyncio.TimerHandle


class _Spares(Struct, eq=False):
    """The spares of a place."""

    timer: asyncio.TimerHandle
    ready: list[Kernel] = field(default_factory=list)
    starting: set[asyncio.Task[None]] = field(default_factory=set)


class Pool:
    """Assigns kernels to owners, on one event loop; ended by `aclose`."""

    def __init__(
        self,
        start: StartKernel,
        *,
        spares: int = 0,
        max_kernels: int = MAX_KERNELS,
        idle_s: float = IDLE_S,
    ) -> None:
        """Set how kernels start, how many spares each place has, and how long an unused kernel is kept."""
        self._start = start
        self._spares = spares
        self._max_kernels = max_kernels
        self._idle_s = idle_s
        self._taken: dict[str, _Taken] = {}
        self._idle: dict[str, _Idle] = {}
        """The one that has waited longest comes first."""
        self._spares_by_place: dict[KernelEnvironment, _Spares] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    async def take(self, owner: str, place: KernelEnvironment) -> tuple[Kernel, bool]:
        """Return the owner's kernel until it is put back, and whether it is the one that was put back.

        Raises ToolError if the owner has it already, if all kernels are taken, or if none can be started.
        """
        if self._is_closed:
            raise ToolError("no kernel is available: Bridle is closing")
        if owner in self._taken:
            raise ToolError("the kernel is in use: one cell runs at a time", hint="wait for its end")
        taken = self._taken[owner] = _Taken()
        try:
            kernel, is_same = await self._find(owner, place)
            if taken.is_void:
                await self._close(kernel)
                raise ToolError("the kernel was stopped while it was starting")
        except BaseException:
            del self._taken[owner]
            raise
        taken.kernel = kernel
        self._refill(place)
        return kernel, is_same

    async def put(self, owner: str, place: KernelEnvironment, kernel: Kernel) -> None:
        """Keep a kernel with its state for its owner; close any other kernel of that owner."""
        taken = self._taken.get(owner)
        unwanted = []
        if taken is not None and taken.kernel is not None:
            del self._taken[owner]
            if taken.kernel is not kernel:
                unwanted.append(taken.kernel)
        if owner in self._idle and self._idle[owner].kernel is not kernel:
            unwanted.append(self._forget(owner))
        if self._is_closed or not kernel.is_alive:
            unwanted.append(kernel)
        else:
            self._keep(owner, place, kernel)
            while self._living() > self._max_kernels and self._idle:
                unwanted.append(self._forget(next(iter(self._idle))))
        await self._close(*unwanted)

    async def destroy(self, owner: str) -> None:
        """Close an owner's kernel, even if it is in use or still starting."""
        unwanted = [self._forget(owner)] if owner in self._idle else []
        if taken := self._taken.get(owner):
            taken.is_void = True
            if taken.kernel is not None:
                del self._taken[owner]
                unwanted.append(taken.kernel)
        await self._close(*unwanted)

    async def aclose(self) -> None:
        """Close all kernels, including those in use."""
        self._is_closed = True
        for place in list(self._spares_by_place):
            self._clear(place)
        for owner in [*self._taken, *self._idle]:
            self._spawn(self.destroy(owner))
        while self._tasks:
            await asyncio.wait(self._tasks)

    # ------------------------------------------------------------------ finding a kernel

    async def _find(self, owner: str, place: KernelEnvironment) -> tuple[Kernel, bool]:
        if owner in self._idle:
            is_right = self._idle[owner].place == place
            kernel = self._forget(owner)
            if is_right and kernel.is_alive:
                return kernel, True
            await self._close(kernel)
        spares = self._spares_by_place.get(place)
        while spares is not None and spares.ready:
            kernel = spares.ready.pop(0)
            if kernel.is_alive:
                return kernel, False
            await self._close(kernel)
        handed_on = await self._make_room(place)
        return handed_on or await self._start(place, warm=False), False

    async def _make_room(self, place: KernelEnvironment) -> Kernel | None:
        """Close the least needed kernels while there are too many; return one that can be reused, if any."""
        while self._living() > self._max_kernels:
            if spares := next((one for one in self._spares_by_place.values() if one.ready), None):
                await self._close(spares.ready.pop(0))
            elif spares := next((one for one in self._spares_by_place.values() if one.starting), None):
                task = spares.starting.pop()
                task.cancel()
                await asyncio.wait([task])
            elif self._idle:
                oldest = next(iter(self._idle))
                is_right = self._idle[oldest].place == place
                kernel = self._forget(oldest)
                if is_right and await self._reset(kernel):
                    return kernel
                await self._close(kernel)
            else:
                raise ToolError(
                    f"all {self._max_kernels} kernels are in use",
                    hint="try again when another cell has ended",
                )
        return None

    async def _reset(self, kernel: Kernel) -> bool:
        """Clear a kernel for another owner; False if something of its owner is left, or if it has died."""
        try:
            return await kernel.reset()
        except ToolError:
            return False
        except asyncio.CancelledError:
            await self._close(kernel)
            raise

    def _living(self) -> int:
        count = sum(len(spares.ready) + len(spares.starting) for spares in self._spares_by_place.values())
        return len(self._taken) + len(self._idle) + count

    # ------------------------------------------------------------------ keeping a kernel

    def _keep(self, owner: str, place: KernelEnvironment, kernel: Kernel) -> None:
        if owner in self._idle:  # the same kernel: its idle time starts again
            self._forget(owner)
        timer = asyncio.get_running_loop().call_later(self._idle_s, self._expire, owner)
        self._idle[owner] = _Idle(place, kernel, timer)
        if place in self._spares_by_place:
            self._touch(place)

    def _forget(self, owner: str) -> Kernel:
        idle = self._idle.pop(owner)
        idle.timer.cancel()
        return idle.kernel

    def _expire(self, owner: str) -> None:
        self._spawn(self._forget(owner).close())

    # ------------------------------------------------------------------ spares

    def _refill(self, place: KernelEnvironment) -> None:
        """Start the missing spares of a place, if there is room for them."""
        if not self._spares or self._is_closed:
            return
        spares = self._touch(place)
        wanted = self._spares - len(spares.ready) - len(spares.starting)
        for _ in range(min(wanted, self._max_kernels - self._living())):
            task = self._spawn(self._start_spare(place, spares))
            spares.starting.add(task)
            task.add_done_callback(spares.starting.discard)

    async def _start_spare(self, place: KernelEnvironment, spares: _Spares) -> None:
        try:
            kernel = await self._start(place, warm=True)
        except ToolError:  # the next `take` reports why
            return
        task = asyncio.current_task()
        if task in spares.starting:
            spares.starting.discard(task)
            spares.ready.append(kernel)
        else:
            await kernel.close()

    def _touch(self, place: KernelEnvironment) -> _Spares:
        """Return the spare kernels of an environment, and restart its idle timer."""
        timer = asyncio.get_running_loop().call_later(self._idle_s, self._clear, place)
        spares = self._spares_by_place.setdefault(place, _Spares(timer))
        if spares.timer is not timer:
            spares.timer.cancel()
            spares.timer = timer
        return spares

    def _clear(self, place: KernelEnvironment) -> None:
        spares = self._spares_by_place.pop(place)
        spares.timer.cancel()
        while spares.starting:
            spares.starting.pop().cancel()
        for kernel in spares.ready:
            self._spawn(kernel.close())

    # ------------------------------------------------------------------ closing

    async def _close(self, *kernels: Kernel) -> None:
        """Close kernels, and finish doing so even if the caller is cancelled."""
        for task in [self._spawn(kernel.close()) for kernel in kernels]:
            await asyncio.shield(task)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
