"""The tool that runs a command in the session's shell."""

import os
from collections.abc import Callable
from threading import Event
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.permission import SHELL_TOOL, judge
from bridle.core.ports import Blobs, ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.tools.paths import printable
from bridle.tools.secrets import Masker
from bridle.tools.shell.confinement import Confinement, confine
from bridle.tools.shell.result import format_ending, limit_notes, output_text
from bridle.tools.shell.running_command import LiveOutput, RunningCommand
from bridle.tools.shell.session_shells import CANCEL_GRACE_S, SessionShells, is_below
from bridle.tools.shell.settings import MAX_TIMEOUT_S, MIN_TIMEOUT_S
from bridle.tools.shell.state import MAX_COMMAND_BYTES
from bridle.tools.shell.terminal_text import escape_invisible
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import description, parameters, text_arg

Parse = Callable[[str, str, str], Access]
"""Returns the access of a command, from its text, its folder and the session's folder."""

_START_S = 1.0  # a background command that fails within this time is reported directly
_TIMEOUT_GRACE_S = 2.0
_MAX_DESCRIPTION_CHARS = 200
_MAX_JUDGED = 100  # includes calls that were refused


class _Wanted(Struct, frozen=True):
    command: str
    description: str
    timeout_s: float | None
    is_background: bool


class _CheckedCall(Struct, frozen=True):
    """The access of a call, computed before its approval was decided."""

    args: dict[str, Any]
    access: Access


class Bash:
    """The tool that runs commands, one after the other, in a shell that keeps its state."""

    parallel = False

    def __init__(
        self, shells: SessionShells, parse: Parse | None, masker: Masker, blobs: Blobs | None
    ) -> None:
        """Share the shells with the job tools; without `parse`, the bash grammar is used."""
        self._shells = shells
        self._parse = parse
        self._masker = masker
        self._blobs = blobs
        self._judged: dict[CallId, _CheckedCall] = {}

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec(SHELL_TOOL, description("shell/bash"), _PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return all that the command would run, read and write, and the doubts that no rule can resolve."""
        judged = self._judged.get(context.call_id)
        if judged is not None and judged.args == args:
            return judged.access
        return self._judge(_wanted(args), context)

    async def foresee(self, args: dict[str, Any], context: ToolContext) -> None:
        """Compute the access of the command in a thread, because that may read thousands of files."""
        wanted = _wanted(args)
        access = await run_in_thread(lambda _: self._judge(wanted, context))
        self._judged[context.call_id] = _CheckedCall(args, access)
        while len(self._judged) > _MAX_JUDGED:
            self._judged.pop(next(iter(self._judged)))

    def _judge(self, wanted: _Wanted, context: ToolContext) -> Access:
        access = self._parser()(wanted.command, self._shells.state(context).cwd, context.cwd)
        doubts = [access.doubt, self._unconfined(), self._replaced_program(access, context)]
        return replace(access, doubt="; ".join(filter(None, doubts)))

    async def _confine(self, wanted: _Wanted, args: dict[str, Any], context: ToolContext) -> Confinement:
        """Check the command again right before it runs, and return how it runs; raises ToolError.

        A file or link may have changed since the command was allowed, which may change what it does.
        """
        before = self._judged.pop(context.call_id, None)

        def decide(_: Event) -> tuple[Access, Confinement]:
            access = self._judge(wanted, context)
            root = os.path.realpath(context.cwd)
            return access, confine(access, root, self._shells.home)

        access, confinement = await run_in_thread(decide)
        if before is not None and before.args == args and before.access != access:
            verdict = judge(access, context.rules, context.mode)
            if verdict.action != "allow":
                raise ToolError(
                    f"not run: its effects have changed since it was approved ({verdict.why})",
                    hint="call it again",
                )
        return confinement

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return the command, its folder, and the sandbox that confines it."""
        wanted = _wanted(args)
        where = self._shells.record_cwd(context)
        about = f"{escape_invisible(wanted.description)}\n" if wanted.description else ""
        return f"{about}$ {escape_invisible(wanted.command)}\n(in {where}; {self._guard(context)})"

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Run the command until it ends or becomes a background job; a nonzero exit status is an error."""
        wanted = _wanted(args)
        if wanted.is_background and not self._shells.can_add_job(context.session):
            raise ToolError(
                f"{self._shells.settings.max_running_jobs} background jobs are running already",
                hint="stop one with job_kill",
            )
        self._shells.check_cwd(context)
        confinement = await self._confine(wanted, args, context)
        running, notes = await self._shells.start(wanted.command, context, confinement)
        running.live = live = LiveOutput(context.emit, self._masker)
        try:
            goes_on = await self._goes_on(running, wanted, context.session)
            live.close()
            if goes_on:
                return await self._job_result(running, notes, context)
            if not wanted.is_background and running.ended_by == "itself":
                notes += await self._shells.keep_state(running, context, confinement)
            return await self._result(running, notes)
        finally:
            live.drop()
            await self._let_go(running, context.session)

    def is_busy(self, session: SessionId) -> bool:
        """Return whether a command runs for a session."""
        return self._shells.is_busy(session)

    async def end_session(self, session: SessionId) -> None:
        """End everything that runs for a session."""
        await self._shells.end_session(session)

    async def aclose(self) -> None:
        """End everything that runs for any session."""
        await self._shells.aclose()

    async def _goes_on(self, running: RunningCommand, wanted: _Wanted, session: SessionId) -> bool:
        """Wait for the command; return False if it ended, True if it becomes a background job."""
        if wanted.is_background:
            return not await running.ended(_START_S)
        settings = self._shells.settings
        left_s = running.timeout_s = wanted.timeout_s or settings.timeout_s
        if wanted.timeout_s is None and settings.background_after_s < left_s:
            if await running.ended(settings.background_after_s):
                return False
            if self._shells.can_add_job(session):
                return True
            left_s -= settings.background_after_s
        if not await running.ended(left_s):
            await running.stop(_TIMEOUT_GRACE_S, by="timeout")
        return False

    async def _result(self, running: RunningCommand, notes: list[str]) -> ToolOutput:
        settings = self._shells.settings
        text = await self._output(running)
        notes = [*limit_notes(text, running, settings), *format_ending(running, settings), *notes]
        return ToolOutput(_joined(text, notes), is_error=running.status != 0 or running.ended_by != "itself")

    async def _job_result(
        self, running: RunningCommand, notes: list[str], context: ToolContext
    ) -> ToolOutput:
        await running.settle()
        shown = running.ring.total
        text = await self._output(running)
        notes = [*notes, *running.put_away]
        job = self._shells.add_job(running, context.session)
        job.cursor = shown
        runs_on = (
            f"it continues in the background as job {job.number}: job_output shows what else it prints,"
            " job_kill ends it"
        )
        return ToolOutput(_joined(text, [*notes, runs_on]))

    async def _output(self, running: RunningCommand) -> str:
        limit = self._shells.settings.max_result_bytes
        return await run_in_thread(lambda _: output_text(running.ring, self._masker, limit, self._blobs))

    async def _let_go(self, running: RunningCommand, session: SessionId) -> None:
        """End a command when its call is over, unless it has become a job."""
        if any(job.running is running for job in self._shells.jobs(session)):
            return
        try:
            await running.stop(CANCEL_GRACE_S)
        finally:
            running.ring.close()

    # ------------------------------------------------------------------------ confinement

    def _parser(self) -> Parse:
        if self._parse is None:
            # Loads the grammar of bash, which a program that runs no command never needs.
            from bridle.tools.commands import shell_access  # noqa: PLC0415

            self._parse = shell_access
        return self._parse

    def _unconfined(self) -> str:
        status = self._shells.sandbox.status
        if status.kind != "none" or not self._shells.settings.wants_sandbox:
            return ""
        return f"this command has no sandbox: {status.why or 'none available on this machine'}"

    def _replaced_program(self, access: Access, context: ToolContext) -> str:
        """Return a doubt if a harmless command name resolves to a program that commands may have replaced."""
        roots = self._shells.roots(context)
        cwd, path = self._shells.state(context).cwd, self._shells.environ(context).get("PATH", "")
        for subject in access.subjects:
            name = subject.value.partition(" ")[0]
            if subject.kind != "command" or (subject.access or access.access) != "read" or "/" in name:
                continue
            for folder in path.split(os.pathsep):
                found = os.path.join(cwd, folder, name)
                if os.access(found, os.X_OK) and os.path.isfile(found):
                    if any(is_below(os.path.realpath(os.path.dirname(found)), root) for root in roots):
                        return (
                            f"{name} is a program in {printable(folder)}, a folder that commands may change"
                        )
                    break
        return ""

    def _guard(self, context: ToolContext) -> str:
        if not self._shells.settings.wants_sandbox:
            return "no sandbox: turned off in the settings"
        status = self._shells.sandbox.status
        if status.kind == "none":
            return f"no sandbox: {status.why or 'none available on this machine'}"
        return f"sandbox: {status.kind}, {_network(context)}"


def _network(context: ToolContext) -> str:
    domains = [
        rule.pattern.removeprefix("domain:")
        for rule in context.rules
        if rule.action == "allow" and rule.tool == SHELL_TOOL and rule.pattern.startswith("domain:")
    ]
    return f"network to {', '.join(domains)}" if domains else "no network"


def _joined(text: str, notes: list[str]) -> str:
    body = text.rstrip("\n") or ("" if notes else "[no output]")
    return "\n".join([*([body] if body else []), *(f"[{note}]" for note in notes)])


def _wanted(args: dict[str, Any]) -> _Wanted:
    command = text_arg(args, "command")
    if not command.strip():
        raise ToolError("the command is empty")
    if "\0" in command:
        raise ToolError("a command cannot contain a NUL character")
    if len(command.encode()) > MAX_COMMAND_BYTES:
        raise ToolError(
            f"the command is longer than {MAX_COMMAND_BYTES} bytes",
            hint="write a script with write_file and run that",
        )
    timeout_s = args.get("timeout")
    if timeout_s is not None and not MIN_TIMEOUT_S <= timeout_s <= MAX_TIMEOUT_S:
        raise ToolError(
            f"timeout must be from {MIN_TIMEOUT_S} to {MAX_TIMEOUT_S} seconds",
            hint="start longer work with background=true",
        )
    about = " ".join(str(args.get("description") or "").split())[:_MAX_DESCRIPTION_CHARS]
    return _Wanted(command, about, timeout_s, args.get("background") is True)


_PARAMETERS = parameters(
    1,
    command=("string", ""),
    description=("string", "For the user"),
    timeout=("number", f"Seconds, at most {MAX_TIMEOUT_S}"),
    background=("boolean", ""),
)
