"""The effects of one program: refused changes of files, and traps that it left and that were moved away."""

import asyncio

from bridle.sandbox.syscall_watch import SyscallWatch
from bridle.sandbox.traps import TrapCheck


class ProgramChanges:
    """Implements `Changes` for a program in a cell."""

    def __init__(self, watch: SyscallWatch | None) -> None:
        self._watch = watch
        self.look: TrapCheck | None = None
        """Finds the traps that it leaves."""
        self.put_away: tuple[str, ...] = ()
        self._settling = asyncio.Lock()

    @property
    def kept_error(self) -> str:
        """Why changes of files were refused because they could not be saved for undo; empty if none was."""
        return self._watch.error if self._watch is not None else ""

    async def settle(self, *, is_done: bool = True) -> None:
        """Move the traps that it has left so far out of the project, and list them in `put_away`.

        Pass `is_done=False` if it may still write to files it has open, without a system call that is
        watched.
        """
        if self.look is None:
            return
        async with self._settling:
            is_due = self.look.is_due()
            if is_done and self._watch is not None:
                self._watch.mark()
            if is_due:
                found = await asyncio.to_thread(self.look.finish)
                self.put_away += tuple(found)

    async def accept(self) -> None:
        """Treat changes since the last `settle` as made by others, unless the program has made some."""
        if self.look is None or self._watch is None or not self._watch.is_quiet:
            return
        async with self._settling:
            await asyncio.to_thread(self.look.renew)
