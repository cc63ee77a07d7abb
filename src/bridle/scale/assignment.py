"""The state of a session that this worker drives."""

import asyncio

from bridle.core.protocol import Archive, Command, DropQueued, EditQueued, Pin, Rename

AROUND_RUNS = (Rename, Pin, Archive, EditQueued, DropQueued)
"""Commands that do not need a resting run to be resumed."""


class DrivenSession:
    """A session that this worker drives."""

    def __init__(self) -> None:
        self.taking = 0
        self.is_ending = False
        self.quiet = asyncio.Event()
        self.quiet.set()
        self.ready = asyncio.Event()
        """Set once other commands may follow: an unfinished run has resumed by now, or never will."""
        self.is_awake = False
        self.rested: tuple[int, float] | None = None
        """The record after which it rests, and since when."""

    def wake(self) -> None:
        """Allow all commands: no unfinished run is left, which a prompt would end."""
        self.is_awake = True
        self.ready.set()

    def takes(self, command: Command) -> bool:
        """Return whether a command that has waited can be submitted."""
        return not self.is_ending and (self.is_awake or isinstance(command, AROUND_RUNS))

    def hold(self) -> None:
        """Note that a command is being submitted."""
        self.taking += 1
        self.quiet.clear()

    def release(self) -> None:
        """Note that a command was submitted."""
        self.taking -= 1
        if not self.taking:
            self.quiet.set()
