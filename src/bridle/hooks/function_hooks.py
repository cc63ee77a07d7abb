"""In-process hooks: Python functions that the embedding program registered by name."""

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from bridle.core.errors import HookError
from bridle.core.hook import HookInvocation, HookResponse
from bridle.hooks.response import RawResponse, Runner, one_line

Handler = Callable[[HookInvocation], HookResponse | Awaitable[HookResponse | None] | None]
"""A function, sync or async; a sync function runs on the event loop and must be quick."""

Handlers = Mapping[str, Handler]

_NO_OPINION = RawResponse(HookResponse())


def handler_runner(handler: Handler) -> Runner:
    """Return the runner of a function hook."""

    async def ask(invocation: HookInvocation) -> RawResponse:
        said = handler(invocation)
        if said is not None and not isinstance(said, HookResponse):
            if not isinstance(said, Awaitable):
                raise HookError(f"it returned a {type(said).__name__}, not a HookResponse or None")
            said = await said
        if said is None:
            return _NO_OPINION
        if not isinstance(said, HookResponse):
            raise HookError(f"it returned a {type(said).__name__}, not a HookResponse or None")
        return RawResponse(_checked(said))

    return ask


def _checked(said: HookResponse) -> HookResponse:
    """Return the response with its field types checked, because creating it checks nothing."""
    try:
        return msgspec.convert(msgspec.to_builtins(said), HookResponse)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise HookError(f"its answer is invalid: {one_line(str(error))}") from error
