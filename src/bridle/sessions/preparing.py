"""What comes before a run: its folder is looked at, and what it works with is found."""

import asyncio

from bridle.core.errors import SessionNotRunning
from bridle.core.protocol import Notice, RunOptions
from bridle.sessions.children import Family
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.setup import Setup, set_up


class Preparing:
    """Sets up the runs of one session, unless somebody calls that off."""

    def __init__(self, engine: Engine, journal: Journal, family: Family) -> None:
        self._engine = engine
        self._journal = journal
        self._family = family
        self._task: asyncio.Task[Setup] | None = None
        self._warned: set[str] = set()

    async def check_folder(self, cwd: str | None = None) -> None:
        """Refuse a folder, its own if none is named, where the session may not work; raises UsageError.

        It may lead elsewhere by now: whoever works in a folder can put a link in its place.
        """
        places = self._engine.workplaces
        if places is not None and not self._family.is_child(self._journal.id):  # whose folder we have chosen
            await places.check_session(self._journal.id, cwd or self._journal.session.known.created.cwd)

    async def set_up(self, options: RunOptions) -> Setup:
        """Find what a run works with; raises SessionNotRunning when that is called off, else as `set_up`."""
        await self.check_folder(options.cwd)
        journal, hooks = self._journal, self._family.hooks_of(self._journal.id)
        self._task = asyncio.create_task(
            set_up(self._engine, journal.id, journal.session, options, hooks, self._tell_wait, self._warn)
        )
        try:
            setup = await self._task
        except asyncio.CancelledError:
            if self._task is not None:
                raise
            raise SessionNotRunning(f"session {journal.id}: cancelled before the run began") from None
        finally:
            self._task = None
        for note in setup.notes:
            journal.show(Notice(note))
        return setup

    def call_off(self) -> bool:
        """Cancel a run that is about to begin: a model or a tool server may take long to start."""
        task, self._task = self._task, None
        return task is not None and task.cancel()

    def _warn(self, text: str) -> None:
        """Say something once in the life of the session."""
        if text not in self._warned:
            self._warned.add(text)
            self._journal.show(Notice(text))

    def _tell_wait(self, text: str) -> None:
        self._journal.show(Notice(text, is_wait=True))
