"""Hooks that are programs: they get the invocation on stdin and print the response on stdout."""

import os
import stat
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from bridle.core.errors import HookError
from bridle.core.hook import CommandRuntime, HookInvocation
from bridle.hooks.claude_format import DENIED, encode_claude_input, parse_claude_output
from bridle.hooks.program_process import ProgramResult, RunProgram, run_program
from bridle.hooks.response import RawResponse, Runner, one_line, parse_response
from bridle.system import programs
from bridle.system.programs import SYSTEM_PATH

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
