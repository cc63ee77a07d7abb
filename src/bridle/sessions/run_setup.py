"""Prepares a run: checks its folder, and finds its model, rules and tools."""

import asyncio

from bridle.core.errors import SessionNotRunning
from bridle.core.protocol import Notice, RunOptions
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.run_children import SubAgents
from bridle.sessions.setup import Setup, set_up


class RunSetup:
    """Sets up the runs of one session; a setup can be cancelled."""

    def __init__(self, engine: Engine, journal: Journal, family: SubAgents) -> None:
        self._engine = engine
        self._journal = journal
        self._family = family
        self._task: asyncio.Task[Setup] | None = None
        self._warned: set[str] = set()

    async def check_folder(self, cwd: str | None = None) -> None:
        """Refuse a folder (default: the session's) where the session may not work; raises UsageError.

        Checked before every run: a program in the folder may have replaced it with a link.
        """
        places = self._engine.workplaces
        if places is not None and not self._family.is_child(self._journal.id):  # a sub-agent's folder is ours
            await places.check_session(self._journal.id, cwd or self._journal.session.known.created.cwd)

    async def set_up(self, options: RunOptions) -> Setup:
        """Resolve a run's setup; raises SessionNotRunning if cancelled, otherwise like `setup.set_up`."""
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
        """Cancel a run that is being set up: a model or tool server may take long to start."""
        task, self._task = self._task, None
        return task is not None and task.cancel()

    def _warn(self, text: str) -> None:
        """Show a notice once per session."""
        if text not in self._warned:
            self._warned.add(text)
            self._journal.show(Notice(text))

    def _tell_wait(self, text: str) -> None:
        self._journal.show(Notice(text, is_wait=True))
