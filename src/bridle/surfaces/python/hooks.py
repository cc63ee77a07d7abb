"""Hooks of the embedding program: functions called at the eight points of a run."""

from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, get_args

from msgspec import Struct

from bridle.core.errors import UsageError
from bridle.core.hook import (
    Allow,
    AssistantTextPatch,
    Capability,
    Deny,
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

if TYPE_CHECKING:
    from bridle.hooks.function_hooks import Handler

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

    def entry(self, number: int) -> HookEntry:
        """Return the hook as an entry for the engine."""
        name = f"{self.name or getattr(self.function, '__name__', 'hook')}#{number}"
        return HookEntry(
            InProcessRuntime(name),
            id=name,
            point=self.point,
            mode="background" if self.background else "foreground",
            capability=self.capability,
            priority=self.priority,
            timeout_ms=None if self.timeout_s is None else int(self.timeout_s * 1000),
            tools=self.tools,
        )


def hook(
    point: HookPoint,
    *,
    capability: Capability = "rewrite",
    tools: Sequence[str] = (),
    priority: int = 100,
    background: bool = False,
    timeout_s: float | None = None,
    name: str = "",
) -> Callable[[HookFunction], Hook]:
    """Make a hook from a function, for `open(hooks=[…])`.

    A "rewrite" hook may deny and change, a "guardrail" hook may deny, an "observe" hook only looks, so that
    the model's streamed output is not held back for it. A hook that raises denies, unless it is an "observe"
    hook. Raises UsageError for an unknown point or capability.

    ```python
    @bridle.hook("pre_tool_execution", tools=["bash"])
    def no_sudo(seen):
        if "sudo" in seen.tool_call.args["command"]:
            return bridle.Deny("no sudo here")
    ```
    """

    for what, value, known in (("point", point, HookPoint), ("capability", capability, Capability)):
        if value not in get_args(known):
            raise UsageError(f"{what} {value!r} does not exist", hint=", ".join(get_args(known)))

    def made(function: HookFunction) -> Hook:
        return Hook(function, point, capability, tuple(tools), priority, background, timeout_s, name)

    return made


def convert_hooks(hooks: Sequence[Hook]) -> "tuple[tuple[HookEntry, ...], dict[str, Handler]]":
    """Return what the engine needs: hook entries, and the functions by the names in the entries.

    Raises UsageError for anything that is not a hook.
    """
    for one in hooks:
        if not isinstance(one, Hook):
            raise UsageError(f"{one!r} is not a hook", hint="@bridle.hook(point) makes one of a function")
    entries = tuple(one.entry(number) for number, one in enumerate(hooks, 1))
    handlers = {entry.id: _handler(one.function) for entry, one in zip(entries, hooks, strict=True)}
    return entries, handlers


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
