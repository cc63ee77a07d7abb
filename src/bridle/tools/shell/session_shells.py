"""The shells of all sessions: their state, their running commands and their background jobs."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Event

from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.ports import ProcessSpec, Sandbox, ToolContext
from bridle.system.programs import find_program, why_not_found
from bridle.tools.paths import printable
from bridle.tools.shell.confinement import Confinement
from bridle.tools.shell.output_buffer import OutputBuffer
from bridle.tools.shell.running_command import RunningCommand
from bridle.tools.shell.settings import FORCED, ShellSettings, command_environment
from bridle.tools.shell.state import ShellState, StateFiles, apply_state, is_small, read_report, shell_argv
from bridle.tools.threads import run_in_thread

CANCEL_GRACE_S = 0.1
_MAX_SHOWN = 100  # includes calls that were refused
_BASH_FOLDERS = ("/bin", "/usr/bin", "/usr/local/bin")


class Job:
    """A background command, running or ended."""

    def __init__(self, number: int, running: RunningCommand) -> None:
        self.number = number
        self.running = running
        self.cursor = 0
        """The position where the last read of its output ended."""


class _Shell:
    """The shell of one session."""

    def __init__(self) -> None:
        self.state: ShellState | None = None
        """None until it is loaded on first use."""
        self.commands: set[RunningCommand] = set()
        """The running commands, in the foreground and in the background."""
        self.jobs: dict[int, Job] = {}
        self.last_number = 0
        self.shown: dict[CallId, str] = {}
        """The folder that the user was shown for each call that has not run yet."""


class SessionShells:
    """Starts commands and keeps the state that outlives them; belongs to one event loop."""

    def __init__(self, sandbox: Sandbox, folder: Path, settings: ShellSettings) -> None:
        """Take a folder for states and outputs that nothing else uses."""
        self.sandbox = sandbox
        self.settings = settings
        self._folder = folder
        self._files = StateFiles(folder)
        self._shells: dict[SessionId, _Shell] = {}
        self._environ = command_environment(
            settings.environ, secret=settings.secret_env, kept=settings.pass_env
        )
        self._bash = ""
        self.home = os.path.realpath(self._environ.get("HOME", "/nonexistent"))

    # ------------------------------------------------------------------------ shell state

    def state(self, context: ToolContext) -> ShellState:
        """Return the state in which the next command starts."""
        shell = self._shell(context.session)
        if shell.state is None:
            shell.state = self._files.load(context.session)
        return shell.state or ShellState(os.path.realpath(context.cwd))

    def environ(self, context: ToolContext) -> Mapping[str, str]:
        """Return the variables of the next command."""
        return apply_state({**self._environ, **context.env}, self.state(context))

    def roots(self, context: ToolContext) -> tuple[str, ...]:
        """Return the folders that commands may change, with links resolved."""
        return tuple(os.path.realpath(path) for path in (context.cwd, *self.settings.writable))

    def record_cwd(self, context: ToolContext) -> str:
        """Return the folder of a call for its approval prompt; the call then runs there or not at all."""
        shown = self._shell(context.session).shown
        shown[context.call_id] = where = shown_cwd(self.state(context).cwd, context.cwd)
        while len(shown) > _MAX_SHOWN:
            shown.pop(next(iter(shown)))
        return where

    def check_cwd(self, context: ToolContext) -> None:
        """Raise ToolError if a call would run in a folder other than the one the user was shown."""
        now = shown_cwd(self.state(context).cwd, context.cwd)
        was = self._shell(context.session).shown.pop(context.call_id, now)
        if was != now:
            raise ToolError(
                f"not run: it was approved for {was}, but the shell is now in {now}",
                hint="call it again",
            )

    async def keep_state(
        self, running: RunningCommand, context: ToolContext, confinement: Confinement
    ) -> list[str]:
        """Keep the state in which a command ended; return notes for the model."""
        before = self.state(context)
        after = read_report(running.report, before, FORCED)
        if after is None or running.ended_by != "itself" or not confinement.moves:
            return []
        if confinement.reads_only:
            after = replace(before, cwd=after.cwd)
        notes = []
        if not is_small(after):
            after = replace(before, cwd=after.cwd)
            notes.append("too many exported variables to keep for the next command")

        def keep(stop: Event) -> ShellState:
            settled = self._settle(after, context)
            if settled != before:
                self._files.save(context.session, settled)
            return settled

        settled = await run_in_thread(keep)
        self._shell(context.session).state = settled
        if settled.cwd != after.cwd:
            notes.append(_moved_back(after.cwd))
        elif settled.cwd != before.cwd:
            notes.append(f"working directory: {shown_cwd(settled.cwd, context.cwd)}")
        return notes

    def _settle(self, state: ShellState, context: ToolContext) -> ShellState:
        """Move back to the session's folder if the shell's folder is gone or not one of `roots`."""
        is_inside = any(is_below(state.cwd, root) for root in self.roots(context))
        if is_inside and os.path.isdir(state.cwd):
            return state
        return replace(state, cwd=os.path.realpath(context.cwd))

    # ------------------------------------------------------------------------ commands

    async def start(
        self, command: str, context: ToolContext, confinement: Confinement
    ) -> tuple[RunningCommand, list[str]]:
        """Start a command in the current state; return it with notes; raises ToolError."""
        before = self.state(context)

        def prepare(stop: Event) -> tuple[str, ShellState]:
            return self._find_bash(context), self._settle(before, context)

        self._bash, state = await run_in_thread(prepare)
        spec = ProcessSpec(
            argv=shell_argv(self._bash, command),
            cwd=state.cwd,
            env=confinement.environment(apply_state({**self._environ, **context.env}, state)),
            output=-1,
            writable=self.roots(context),
            reads_only=confinement.reads_only,
            shown=confinement.shown,
            rules=context.rules,
            mode=context.mode,
            keep=context.keep,
            # If there is no sandbox, `access` reported that as a doubt, so a person has approved the command.
            confined=self.settings.wants_sandbox and self.sandbox.status.kind != "none",
            open_network=self.settings.open_network,
            memory_bytes=self.settings.memory_bytes,
            max_processes=self.settings.max_processes,
            max_file_bytes=self.settings.max_file_bytes,
            cpu_s=self.settings.cpu_s,
        )
        running = RunningCommand(
            command, OutputBuffer(self._folder), max_bytes=self.settings.max_output_bytes
        )
        await running.start(self.sandbox, spec, context.session)
        shell = self._shell(context.session)
        shell.state = state
        shell.commands = {other for other in shell.commands if other.status is None} | {running}
        return running, [_moved_back(before.cwd)] if state.cwd != before.cwd else []

    def is_busy(self, session: SessionId) -> bool:
        """Return whether a command of a session is still running."""
        shell = self._shells.get(session)
        return shell is not None and any(running.status is None for running in shell.commands)

    def _find_bash(self, context: ToolContext) -> str:
        if self._bash and os.access(self._bash, os.X_OK):
            return self._bash
        search_path = os.pathsep.join([*_BASH_FOLDERS, self._environ["PATH"]])
        found = find_program("bash", search_path, outside=self.roots(context))
        if found is None:
            raise ToolError(f"no command can be run: bash {why_not_found('bash', search_path)}")
        return found

    # ------------------------------------------------------------------------ jobs

    def can_add_job(self, session: SessionId) -> bool:
        """Return whether one more job may run."""
        running = [job for job in self.jobs(session) if job.running.status is None]
        return len(running) < self.settings.max_running_jobs

    def add_job(self, running: RunningCommand, session: SessionId) -> Job:
        """Make a command a job; if there are too many jobs, drop the oldest one that has ended."""
        shell = self._shell(session)
        shell.last_number += 1
        job = shell.jobs[shell.last_number] = Job(shell.last_number, running)
        while len(shell.jobs) > self.settings.max_jobs:
            oldest = next(number for number, old in shell.jobs.items() if old.running.status is not None)
            shell.jobs.pop(oldest).running.ring.close()
        return job

    def jobs(self, session: SessionId) -> list[Job]:
        """Return the jobs of a session, oldest first."""
        return list(self._shells[session].jobs.values()) if session in self._shells else []

    def job(self, number: int | None, session: SessionId) -> Job:
        """Return a job by its number; raises ToolError that lists the existing ones."""
        jobs = {job.number: job for job in self.jobs(session)}
        if number in jobs:
            return jobs[number]
        known = f"jobs: {', '.join(map(str, jobs))}" if jobs else "no jobs"
        raise ToolError(f"no job {number}" if number is not None else "missing job", hint=known)

    # ------------------------------------------------------------------------ shutdown

    async def end_session(self, session: SessionId) -> None:
        """End all commands of a session and drop its jobs; its shell state stays on disk."""
        shell = self._shells.pop(session, None)
        if shell is None:
            return
        try:
            await asyncio.gather(*(running.stop(CANCEL_GRACE_S) for running in shell.commands))
        finally:
            for job in shell.jobs.values():
                job.running.ring.close()
            await self.sandbox.end_session(session)

    async def aclose(self) -> None:
        """End the commands of all sessions."""
        await asyncio.gather(*map(self.end_session, list(self._shells)))

    def _shell(self, session: SessionId) -> _Shell:
        return self._shells.setdefault(session, _Shell())


def is_below(path: str, root: str) -> bool:
    """Return whether an absolute path is `root` or inside it; both must have links resolved."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def shown_cwd(cwd: str, session_cwd: str) -> str:
    """Return a folder as the model sees it: relative to the session's folder if it is inside."""
    root = os.path.realpath(session_cwd)
    return printable(os.path.relpath(cwd, root) if is_below(cwd, root) else cwd)


def _moved_back(cwd: str) -> str:
    what = (
        f"{printable(cwd)} is gone or not a folder that commands may use" if cwd else "the last one is gone"
    )
    return f"working directory: back to . because {what}"
