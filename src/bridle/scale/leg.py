"""A session that is being driven here, and who hands it commands."""

import asyncio

from bridle.core.protocol import Archive, Command, DropQueued, EditQueued, Pin, Rename

AROUND_RUNS = (Rename, Pin, Archive, EditQueued, DropQueued)
"""Commands for which a run that rests need not be woken."""


class Leg:
    """A session that is being driven here."""

    def __init__(self) -> None:
        self.taking = 0
        self.is_ending = False
        self.quiet = asyncio.Event()
        self.quiet.set()
        self.ready = asyncio.Event()
        """Other commands may follow: a run that was left unfinished goes on by now, or never will."""
        self.is_awake = False
        self.rested: tuple[int, float] | None = None
        """Since when it rests, and after which record."""

    def wake(self) -> None:
        """Say that no run is left unfinished: a prompt would end it."""
        self.is_awake = True
        self.ready.set()

    def takes(self, command: Command) -> bool:
        """Tell whether a command that has waited can be handed in."""
        return not self.is_ending and (self.is_awake or isinstance(command, AROUND_RUNS))

    def hold(self) -> None:
        """Say that a command is being handed in."""
        self.taking += 1
        self.quiet.clear()

    def release(self) -> None:
        """Say that it is in."""
        self.taking -= 1
        if not self.taking:
            self.quiet.set()
