"""What an embedding program implements: the shapes of its objects, and hooks made of its functions."""

import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from inspect import isawaitable, iscoroutinefunction, signature
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct

from bridle.core.errors import ToolError, UsageError
from bridle.core.hook import (
    Allow,
    AssistantTextPatch,
    Capability,
    Deny,
    FailurePolicy,
    HookEntry,
    HookInvocation,
    HookPoint,
    HookResponse,
    InProcessRuntime,
    ModelRequestPatch,
    Patch,
    RunResultPatch,
    ToolArgsPatch,
    ToolResultPatch,
)
from bridle.core.ids import SessionId
from bridle.core.ports import MemoryHit

if TYPE_CHECKING:
    from bridle.hooks.function_hooks import Handler

# ---------------------------------------------------------------------------- shapes


def check_shape(what: str, given: object, needed: Sequence[str], example: str) -> None:
    """Raise UsageError for an object that lacks an attribute, or for a class instead of an object."""
    if isinstance(given, type):
        raise UsageError(f"{what}: {given.__name__} is a class", hint=f"make an object: {given.__name__}()")
    if missing := [name for name in needed if getattr(given, name, None) is None]:
        raise UsageError(f"{what}: {type(given).__name__} has no {' and no '.join(missing)}", hint=example)


def check_call(what: str, function: Callable[..., Any], example: str, *args: object, **named: object) -> None:
    """Raise UsageError for a function that cannot be called with these arguments."""
    with suppress(ValueError):  # some functions do not tell their arguments
        try:
            signature(function).bind(*args, **named)
        except TypeError as error:
            name = getattr(function, "__name__", "it")
            raise UsageError(f"{what}: {name} cannot be called: {error}", hint=example) from None


def check_providers(providers: Mapping[str, Any]) -> None:
    """Raise UsageError for a provider that could not be called."""
    example = "async def stream(self, request): yield the deltas and, last, a bridle.ModelReply"
    if not isinstance(providers, Mapping):
        raise UsageError("providers are not named", hint='providers={"name": …}, model="name/any"')
    for name, provider in providers.items():
        check_shape(f"provider {name!r}", provider, ("stream",), example)
        check_call(f"provider {name!r}", provider.stream, example, None)
        if iscoroutinefunction(provider.stream):
            raise UsageError(f"provider {name!r}: stream returns its reply, but must yield it", hint=example)


def check_compactor(compactor: Any) -> None:
    """Raise UsageError for a compactor that could not be called."""
    example = "async def summarise(self, request: bridle.SummaryRequest) -> str"
    check_shape("compactor", compactor, ("summarise",), example)
    check_call("compactor", compactor.summarise, example, None)


def check_store(store: object) -> None:
    """Raise UsageError for a store that lacks a method."""
    needed = ("append", "read", "list", "delete", "aclose")
    check_shape("store", store, needed, "derive it from bridle.RowStore, which asks for five short methods")


class ProgramMemory:
    """The memory of an embedding program, which needs to implement only `search`."""

    def __init__(self, memory: Any) -> None:
        """Take the program's object; raises UsageError for one that cannot be searched."""
        example = "async def search(self, query, *, cwd, limit, session): return bridle.MemoryHit objects"
        check_shape("memory", memory, ("search",), example)
        check_call("memory", memory.search, example, "", cwd="", limit=1, session=None)
        self._memory = memory

    async def search(
        self, query: str, *, cwd: str, limit: int = 5, session: SessionId | None = None
    ) -> list[MemoryHit]:
        """Return the passages that match best, as the program finds them; raises ToolError for others."""
        found = list(await self._memory.search(query, cwd=cwd, limit=limit, session=session))[:limit]
        if not all(isinstance(one, MemoryHit) for one in found):
            raise ToolError("the program's memory returned something else than bridle.MemoryHit objects")
        return found

    def note(self, session: SessionId, cwd: str) -> None:
        """Tell the program that a session has grown; what it raises becomes a warning."""
        try:
            getattr(self._memory, "note", _ignore)(session, cwd)
        except Exception as error:  # noqa: BLE001  the run has nothing to do with it
            warnings.warn(f"memory.note raised {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)

    async def forget(self, session: SessionId) -> None:
        """Tell the program that a session is deleted."""
        if hasattr(self._memory, "forget"):
            await self._memory.forget(session)

    async def aclose(self) -> None:
        """Close the program's memory, if it can be closed."""
        if hasattr(self._memory, "aclose"):
            await self._memory.aclose()


def _ignore(*_: object) -> None:
    """Do nothing."""


# ---------------------------------------------------------------------------- hooks


HookAnswer = Allow | Deny | Patch | HookResponse | None
"""None means no opinion."""
HookFunction = Callable[[HookInvocation], HookAnswer | Awaitable[HookAnswer]]
"""Sync or async; a sync function runs on the event loop and must be quick."""

_PATCHES = (ToolArgsPatch, ToolResultPatch, AssistantTextPatch, ModelRequestPatch, RunResultPatch)


class Hook(Struct, frozen=True):
    """A function and the point at which it is called; made by `@hook`."""

    function: HookFunction
    point: HookPoint
    capability: Capability = "rewrite"
    tools: tuple[str, ...] = ()
    priority: int = 100
    background: bool = False
    timeout_s: float | None = None
    name: str = ""
    failure_policy: FailurePolicy | None = None

    def entry(self, name: str) -> HookEntry:
        """Return the hook as an entry for the engine."""
        policy = self.failure_policy or ("fail_open" if self.background else None)
        return HookEntry(
            InProcessRuntime(name),
            id=name,
            point=self.point,
            mode="background" if self.background else "foreground",
            capability=self.capability,
            priority=self.priority,
            failure_policy=policy,
            timeout_ms=None if self.timeout_s is None else int(self.timeout_s * 1000),
            tools=self.tools,
        )


Hooks = Sequence[Hook] | Mapping[str, HookFunction]
"""Hooks; or functions by name, which entries of the settings with `type = "in_process"` call."""


def hook(
    point: HookPoint,
    *,
    capability: Capability = "rewrite",
    tools: Sequence[str] = (),
    priority: int = 100,
    background: bool = False,
    timeout_s: float | None = None,
    name: str = "",
    failure_policy: FailurePolicy | None = None,
) -> Callable[[HookFunction], Hook]:
    """Make a hook from a function, for `open(hooks=[…])`.

    A "rewrite" hook may deny and change, a "guardrail" hook may deny, an "observe" hook only looks, so that
    the model's streamed output is not held back for it. A hook that raises or is too slow denies
    ("fail_closed"), unless it is an "observe" hook or runs in the background ("fail_open"); `failure_policy`
    changes that. The run does not wait for a hook with `background`. `name`, by default the function's, names
    the hook in the settings and in records. Raises UsageError for an unknown point, capability or policy.

    ```python
    @bridle.hook("pre_tool_execution", tools=["bash"])
    def no_sudo(seen):
        if "sudo" in seen.tool_call.args["command"]:
            return bridle.Deny("no sudo here")
    ```
    """

    for what, value, known in (
        ("point", point, HookPoint),
        ("capability", capability, Capability),
        ("failure_policy", failure_policy, FailurePolicy),
    ):
        if value is not None and value not in get_args(known):
            raise UsageError(f"{what} {value!r} does not exist", hint=", ".join(get_args(known)))

    def made(function: HookFunction) -> Hook:
        return Hook(
            function, point, capability, tuple(tools), priority, background, timeout_s, name, failure_policy
        )

    return made


def convert_hooks(hooks: Hooks) -> "tuple[tuple[HookEntry, ...], dict[str, Handler]]":
    """Return what the engine needs: hook entries, and the functions by the names in the entries.

    Functions by name have no entries: those of the settings call them. Raises UsageError for anything else.
    """
    if isinstance(hooks, Mapping):
        for name, function in hooks.items():
            if not callable(function):
                raise UsageError(f"hook {name!r} is no function", hint="hooks={'name': function}")
        return (), {name: _handler(function) for name, function in hooks.items()}
    for one in hooks:
        if not isinstance(one, Hook):
            raise UsageError(f"{one!r} is not a hook", hint="@bridle.hook(point) makes one of a function")
    entries = tuple(one.entry(name) for one, name in zip(hooks, _names(hooks), strict=True))
    handlers = {entry.id: _handler(one.function) for entry, one in zip(entries, hooks, strict=True)}
    return entries, handlers


def _names(hooks: Sequence[Hook]) -> list[str]:
    """Return a name for each hook; those of functions with the same name get a number."""
    names: list[str] = []
    for one in hooks:
        name = one.name or getattr(one.function, "__name__", "hook")
        if name in names:
            if one.name:
                raise UsageError(f"two hooks are named {name!r}", hint="give one of them another name")
            name = f"{name}#{len(names) + 1}"
        names.append(name)
    return names


def _handler(function: HookFunction) -> "Handler":
    def ask(invocation: HookInvocation) -> HookResponse | Awaitable[HookResponse | None] | None:
        said = function(invocation)
        return _later(said) if isawaitable(said) else _response(said)

    return ask


async def _later(said: Awaitable[HookAnswer]) -> HookResponse | None:
    return _response(await said)


def _response(said: HookAnswer) -> HookResponse | None:
    if isinstance(said, Allow | Deny):
        return HookResponse(said)
    if isinstance(said, _PATCHES):
        return HookResponse(patches=(said,))
    return said  # the caller rejects any other type
