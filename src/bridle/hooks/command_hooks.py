"""Hooks that are programs: they get the invocation on stdin and print the response on stdout."""

import os
import stat
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from bridle.core.claude_code import EVENT_AT, from_claude_arguments, to_claude_arguments, to_claude_tool
from bridle.core.errors import HookError
from bridle.core.hook import Allow, CommandRuntime, Deny, HookInvocation, HookResponse, Patch, ToolArgsPatch
from bridle.core.malformed import MALFORMED
from bridle.hooks.program_process import ProgramResult, RunProgram, run_program
from bridle.hooks.response import RawResponse, Runner, one_line, parse_response
from bridle.system import programs
from bridle.system.programs import SYSTEM_PATH

# ---------------------------------------------------------------------------- claude format
# Claude Code's format for command hooks: the input of such a program, and the meaning of its result.
#
# | exit status | output | meaning |
# |---|---|---|
# | 2 | the reason, on stderr | deny |
# | 0 | nothing, or plain text | no decision |
# | 0 | `{"decision": "block", "reason": …}`, or `{"continue": false, "stopReason": …}` | deny |
# | 0 | `{"hookSpecificOutput": {"permissionDecision": "deny"}}`, or `"ask"` | deny |
# | 0 | the same with `"allow"`, optionally `updatedInput` | allow, with the new arguments |
# | other | | the hook failed |
#
# "ask" means deny because a hook cannot request an approval in Bridle; a rule can. Output for the model is
# ignored.


DENIED = 2
_NO_REASON = "the hook gave no reason"


class ClaudeInput(Struct, frozen=True, omit_defaults=True):
    """The input of such a hook."""

    session_id: str
    cwd: str
    hook_event_name: str
    transcript_path: str | None = None
    tool_name: str | None = None
    tool_input: dict[str, Any] | None = None
    tool_response: dict[str, Any] | None = None
    tool_use_id: str | None = None
    prompt: str | None = None


class _Specific(Struct, frozen=True):
    permission: Literal["allow", "deny", "ask", "defer"] | None = field(
        default=None, name="permissionDecision"
    )
    reason: str | None = field(default=None, name="permissionDecisionReason")
    updated_input: dict[str, Any] | None = field(default=None, name="updatedInput")


class _ClaudeOutput(Struct, frozen=True):
    goes_on: bool = field(default=True, name="continue")
    stop_reason: str | None = field(default=None, name="stopReason")
    decision: Literal["approve", "block"] | None = None
    reason: str | None = None
    specific: _Specific = field(default_factory=_Specific, name="hookSpecificOutput")


def encode_claude_input(invocation: HookInvocation) -> bytes:
    """Return an invocation as JSON in Claude Code's format."""
    call, result = invocation.tool_call, invocation.tool_result
    about = call or result
    return msgspec.json.encode(
        ClaudeInput(
            session_id=invocation.session_id,
            cwd=invocation.cwd,
            hook_event_name=EVENT_AT.get(invocation.point, invocation.point),
            tool_name=to_claude_tool(about.name) if about else None,
            tool_input=to_claude_arguments(call.name, call.args, invocation.cwd) if call else None,
            tool_response={"content": result.content, "is_error": result.is_error} if result else None,
            tool_use_id=about.tool_use_id if about else None,
            prompt=invocation.prompt,
        )
    )


def parse_claude_output(
    status: int, output: bytes, errors: bytes, invocation: HookInvocation
) -> HookResponse:
    """Return the response of such a program; raises HookError if its output is invalid."""
    if status == DENIED:
        return HookResponse(Deny(errors.decode(errors="replace").strip() or _NO_REASON))
    if not output.lstrip().startswith(b"{"):
        return HookResponse()
    try:
        answer = msgspec.json.decode(output, type=_ClaudeOutput)
    except MALFORMED as error:
        raise HookError(f"its answer is invalid: {one_line(str(error))}", raw=output) from error
    specific = answer.specific
    if not answer.goes_on:
        return HookResponse(Deny(answer.stop_reason or answer.reason or _NO_REASON))
    if answer.decision == "block" or specific.permission == "deny":
        return HookResponse(Deny(specific.reason or answer.reason or _NO_REASON))
    if specific.permission == "ask":
        why = specific.reason or _NO_REASON
        return HookResponse(Deny(f"the hook asked for confirmation, which hooks cannot do: {why}"))
    patches: tuple[Patch, ...] = ()
    if specific.updated_input is not None and (call := invocation.tool_call):
        patches = (ToolArgsPatch(from_claude_arguments(call.name, specific.updated_input)),)
    is_allowed = answer.decision == "approve" or specific.permission == "allow"
    return HookResponse(Allow() if is_allowed else None, patches)


# ---------------------------------------------------------------------------- command hooks


PASSED = ("PATH", "HOME", "LANG")
"""The environment variables a program gets besides its `env`: none that could hold a key."""

_DEFAULTS = {"PATH": SYSTEM_PATH, "LANG": "C.UTF-8"}


class FileVersion(Struct, frozen=True):
    """Identifies one version of a file."""

    device: int
    inode: int
    size_bytes: int
    changed_ns: int


class HookProgram(Struct, frozen=True):
    """The program of a command on this machine."""

    path: str
    problem: str = ""
    """Why it cannot run; empty if it can."""
    seal: FileVersion | None = None
    """Its version, if the command is a path: an agent may be able to change such a script."""


def find_program(
    command: str, environ: Mapping[str, str], cwd: str, outside: Sequence[str] = ()
) -> HookProgram:
    """Find the program of a command, by its path or by its name on PATH; blocks on disk I/O.

    A name only finds programs outside the working directory and the `outside` folders.
    """
    if "/" not in command:
        path = environ.get("PATH") or SYSTEM_PATH
        found = programs.find_program(command, path, outside=(cwd, *outside))
        return HookProgram(found) if found else HookProgram(command, programs.why_not_found(command, path))
    path = os.path.expanduser(command) if command.startswith("~/") else os.path.join(cwd, command)
    try:
        status = os.stat(path)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        return HookProgram(path, "is missing" if is_missing else f"cannot be read: {error.strerror}")
    if not stat.S_ISREG(status.st_mode):
        return HookProgram(path, "is not a file")
    if not os.access(path, os.X_OK):
        return HookProgram(path, "is not executable")
    return HookProgram(path, seal=_file_version(status))


def command_runner(
    runtime: CommandRuntime,
    program: HookProgram,
    *,
    environ: Mapping[str, str],
    cwd: str,
    limit_bytes: int,
    exchange: RunProgram = run_program,
    outside: Sequence[str] = (),
) -> Runner:
    """Return the runner of a program hook; `program_process` runs the program."""
    is_claude = runtime.dialect == "claude"
    own = {"CLAUDE_PROJECT_DIR": cwd} if is_claude else {}
    passed = {name: environ[name] for name in PASSED if environ.get(name)}
    env = {**_DEFAULTS, **programs.unsandboxed_environment(passed, (cwd, *outside)), **own, **runtime.env}
    argv = (program.path, *runtime.args)

    async def ask(invocation: HookInvocation) -> RawResponse:
        _check_unchanged(program)
        data = encode_claude_input(invocation) if is_claude else msgspec.json.encode(invocation)
        ended = await exchange(argv, data, env=env, cwd=cwd, limit_bytes=limit_bytes)
        if ended.status != 0 and not (is_claude and ended.status == DENIED):
            raise HookError(_failure(ended), raw=ended.output)
        if is_claude:
            response = parse_claude_output(ended.status, ended.output, ended.errors, invocation)
        else:
            response = parse_response(ended.output)
        return RawResponse(response, ended.output)

    return ask


def _check_unchanged(program: HookProgram) -> None:
    """Raise HookError if the program has changed since the run started."""
    if program.seal is None:
        return
    try:
        is_same = _file_version(os.stat(program.path)) == program.seal
    except OSError as error:
        raise HookError(f"{program.path} cannot be started: {error.strerror}") from error
    if not is_same:
        raise HookError(f"{program.path} was changed since the run started; a new run uses the changed file")


def _file_version(status: os.stat_result) -> FileVersion:
    return FileVersion(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _failure(ended: ProgramResult) -> str:
    how = f"exit status {ended.status}" if ended.status > 0 else f"killed by signal {-ended.status}"
    said = one_line(ended.errors.decode(errors="replace"))
    return f"{how}: {said}" if said else how
