"""Creates the hooks of one run from their entries; a guardrail that cannot run is an error before the run."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ConfigError, HookError
from bridle.core.hook import (
    CommandRuntime,
    HookEntry,
    HookInvocation,
    HookOverride,
    HttpRuntime,
    InProcessRuntime,
    find_entry_problem,
)
from bridle.core.ports import Clock, HookRound
from bridle.hooks.command_hooks import command_runner, find_program
from bridle.hooks.engine import ReadyHook, RunHooks
from bridle.hooks.function_hooks import Handlers, handler_runner
from bridle.hooks.program_process import RunProgram, run_program
from bridle.hooks.response import RawResponse, Runner
from bridle.hooks.sandboxed_programs import HookSandbox, SandboxedPrograms

if TYPE_CHECKING:
    from bridle.hooks.http_hooks import HttpHookClient

OF_THIS_RUN = "the options of this run"


class HookEnvironment(Struct, frozen=True):
    """The environment and the limits of hooks."""

    cwd: str
    environ: Mapping[str, str]
    clock: Clock
    handlers: Handlers = {}
    default_timeout_ms: int = 5000
    payload_max_bytes: int = 128 * 1024
    background_max_concurrency: int = 32
    places: Mapping[str, str] = {}
    """File and line of each entry in the settings, by hook id, for error messages."""
    walls: HookSandbox | None = None
    """The sandbox for a project's hooks; None if no hook runs in a sandbox."""
    outside: tuple[str, ...] = ()
    """Folders besides `cwd` that agents can write to; a program is never taken from them."""


class HookTrial(Struct, frozen=True):
    """The result of one hook, and the raw bytes of its response."""

    round: HookRound
    raw: bytes


def create_hooks(entries: Sequence[HookEntry], override: HookOverride, site: HookEnvironment) -> RunHooks:
    """Create the hooks of one run; raises ConfigError that names the place, the entry and the key.

    First those of the settings that the run does not disable, then the run's own.
    """
    kept = [entry for entry in entries if entry.id not in override.disable]
    opener = _HookFactory(site, {entry.id: site.places.get(entry.id, "settings") for entry in kept})
    opener.check([*kept, *override.entries])
    return opener.open(opener.ready(entry) for entry in (*kept, *override.entries) if entry.enabled)


async def run_one_hook(entry: HookEntry, invocation: HookInvocation, site: HookEnvironment) -> HookTrial:
    """Run one hook alone, ignoring its mode and its tools; raises ConfigError if it cannot run."""
    opener = _HookFactory(site, site.places)
    ready = opener.ready(replace(entry, point=invocation.point, mode="foreground", tools=()))
    raw = b""

    async def noting(invocation: HookInvocation) -> RawResponse:
        nonlocal raw
        try:
            answered = await ready.run(invocation)
        except HookError as error:
            raw = error.raw
            raise
        raw = answered.raw or msgspec.json.encode(answered.response)
        return answered

    hooks = opener.open([replace(ready, run=noting)])
    try:
        return HookTrial(await hooks.ask(invocation, lambda _: None), raw)
    finally:
        await hooks.aclose()


def hook_problem(entry: HookEntry, site: HookEnvironment) -> str:
    """Return why a hook cannot run on this machine; empty if it can."""
    match entry.runtime:
        case CommandRuntime(command):
            program = find_program(command, site.environ, site.cwd, site.outside)
            return f"{program.path} {program.problem}" if program.problem else ""
        case InProcessRuntime(name):
            return "" if name in site.handlers else f'no function is registered as "{name}"'
        case HttpRuntime():
            return ""


class _HookFactory:
    """Creates hooks from entries."""

    def __init__(self, site: HookEnvironment, places: Mapping[str, str]) -> None:
        self._caller: HttpHookClient | None = None
        self._confined = SandboxedPrograms(site.walls) if site.walls is not None else None
        self._site = site
        self._places = places

    def check(self, entries: Sequence[HookEntry]) -> None:
        """Raise ConfigError for the first invalid entry or duplicate id; independent of this machine."""
        seen: set[str] = set()
        for entry in entries:
            if problem := find_entry_problem(entry):
                raise self._wrong(entry, problem.key, problem.message)
            if entry.id in seen:
                raise self._wrong(entry, "id", "is already used by another hook")
            seen.add(entry.id)

    def open(self, hooks: Iterable[ReadyHook]) -> RunHooks:
        """Return the hooks of a run."""
        hooks = list(hooks)
        return RunHooks(
            hooks,
            self._site.clock,
            max_background=self._site.background_max_concurrency,
            close=self._close,
        )

    async def _close(self) -> None:
        async with AsyncExitStack() as stack:
            for used in (self._caller, self._confined):
                if used is not None:
                    stack.push_async_callback(used.aclose)

    def ready(self, entry: HookEntry) -> ReadyHook:
        """Return a hook that is ready to run; raises ConfigError."""
        timeout_ms = entry.timeout_ms or self._site.default_timeout_ms
        return ReadyHook(entry, self._runner(entry), timeout_ms / 1000, _tools_pattern(entry.tools))

    def _runner(self, entry: HookEntry) -> Runner:
        site = self._site
        match entry.runtime:
            case InProcessRuntime(name):
                if name not in site.handlers:
                    raise self._wrong(entry, "runtime.name", f'no function is registered as "{name}"')
                return handler_runner(site.handlers[name])
            case CommandRuntime() as runtime:
                program = find_program(runtime.command, site.environ, site.cwd, site.outside)
                if program.problem and (entry.capability != "observe" or entry.policy == "fail_closed"):
                    raise self._wrong(entry, "runtime.command", f"{program.path} {program.problem}")
                return command_runner(
                    runtime,
                    program,
                    environ=site.environ,
                    cwd=site.cwd,
                    limit_bytes=site.payload_max_bytes,
                    exchange=self._exchange(entry),
                    outside=site.outside,
                )
            case HttpRuntime() as runtime:
                return self._http().runner(runtime)

    def _http(self) -> "HttpHookClient":
        from bridle.hooks.http_hooks import HttpHookClient  # noqa: PLC0415 - aiohttp costs 0.1 s to import

        if self._caller is None:
            self._caller = HttpHookClient(self._site.payload_max_bytes)
        return self._caller

    def _exchange(self, entry: HookEntry) -> RunProgram:
        walls = self._site.walls
        if walls is None or self._confined is None or entry.id not in walls.hooks:
            return run_program
        return self._confined.exchange

    def _wrong(self, entry: HookEntry, key: str, message: str) -> ConfigError:
        place = self._places.get(entry.id, OF_THIS_RUN)
        return ConfigError(
            f'{place}: hook "{entry.id}": {key}: {message}',
            hint="bridle hooks list" if place != OF_THIS_RUN else "",
        )


def _tools_pattern(tools: Sequence[str]) -> re.Pattern[str] | None:
    """Return the pattern for tool names; `*` matches anything, `?` one character. None matches all."""
    return re.compile("|".join(map(_pattern, tools)), re.DOTALL) if tools else None


def _pattern(glob: str) -> str:
    return "".join(_pieces(glob))


def _pieces(glob: str) -> Iterator[str]:
    for char in re.sub(r"\*+", "*", glob):
        yield ".*" if char == "*" else "." if char == "?" else re.escape(char)
