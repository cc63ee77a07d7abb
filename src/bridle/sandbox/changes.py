"""What one program has changed: what was refused to it, and what it left that had to be put away."""

import asyncio

from bridle.sandbox.traps import Look
from bridle.sandbox.watch import Watch


class ProgramChanges:
    """The `Changes` of a program in a cell."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch
        self.look: Look | None = None
        """Finds the traps that it leaves."""
        self.put_away: tuple[str, ...] = ()
        self._settling = asyncio.Lock()

    @property
    def kept_error(self) -> str:
        """Why changes of files were refused because they could not be kept; empty if none was."""
        return self._watch.error if self._watch is not None else ""

    async def settle(self, *, is_done: bool = True) -> None:
        """Put away the traps that it has left by now; `put_away` says which.

        With `is_done` false it may go on to write to what it has open, without a call that is seen.
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
        """Take changes since it was last settled as those of others, unless it has made some itself."""
        if self.look is None or self._watch is None or not self._watch.is_quiet:
            return
        async with self._settling:
            await asyncio.to_thread(self.look.renew)
