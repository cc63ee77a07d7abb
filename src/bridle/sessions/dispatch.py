"""Tool dispatch: checks a call's arguments and access, runs the tool, and caps the output."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import StoreError, ToolError
from bridle.core.ids import SessionId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.permission import judge, suggest_rules
from bridle.core.ports import AccessResolvingTool, Blobs, Tool, ToolContext, ToolOutput, implements
from bridle.core.sub_agent import Children, ChildRequest, ChildStatus
from bridle.core.tool import ToolSpec
from bridle.core.traps import no_trap, with_traps
from bridle.system.tasks import is_cancelled
from bridle.tools.toolbox import Toolbox, cap_output

T = TypeVar("T")

TIMEOUT_GRACE = 1.01
"""A command whose own timeout is as long ends itself first, and its output is kept."""


class CheckedCall(Struct, frozen=True):
    """The verdict on a call before it runs."""

    call: ToolCall
    """The call, with near-miss arguments corrected."""
    action: Literal["allow", "ask", "deny"]
    why: str
    parallel: bool = False
    repeatable: bool = False
    """The call only reads, so it may run again if its end was never recorded."""
    denied: bool = False
    """A rule or the mode refuses the call; otherwise "deny" means that the call itself is invalid."""
    suggestions: tuple[str, ...] = ()


class _UntimedChildren:
    """Wraps `Children` so that waiting for sub-agents does not count against a call's timeout."""

    def __init__(
        self, children: Children, patiently: Callable[[Awaitable[ChildStatus]], Awaitable[ChildStatus]]
    ):
        self._children = children
        self._patiently = patiently
        self.views = children.views
        self.send = children.send

    async def start(self, order: ChildRequest) -> ChildStatus:
        return await self._patiently(self._children.start(order))

    async def wait(self, child: SessionId) -> ChildStatus:
        return await self._patiently(self._children.wait(child))

    async def cancel(self, child: SessionId, reason: str = "") -> ChildStatus:
        return await self._patiently(self._children.cancel(child, reason))


class Outcome(Struct, frozen=True):
    """The result of a call."""

    result: ToolResult
    output: ToolOutput
    """The tool's output; for a failed call only its text."""


class Dispatcher:
    """Checks and runs the calls of one run."""

    def __init__(
        self,
        toolbox: Toolbox,
        *,
        timeout_s: float,
        max_output_bytes: int,
        blobs: Blobs | None = None,
        mask: Callable[[str], str] = str,
        find_trap: Callable[[str, str], str] = no_trap,
    ) -> None:
        self._toolbox = toolbox
        self._timeout_s = timeout_s
        self._max_output_bytes = max_output_bytes
        self._blobs = blobs
        self._mask = mask
        self._find_trap = find_trap

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that requests show to the model, in a fixed order."""
        return self._toolbox.specs

    @property
    def functions(self) -> tuple[ToolSpec, ...]:
        """The tools that the model's Python code can call."""
        return self._toolbox.functions

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all callable tools, including deferred ones."""
        return self._toolbox.names

    @property
    def deferred(self) -> frozenset[str]:
        """The names of the tools that the model must find before it can call them."""
        return self._toolbox.deferred

    def foresees(self, call: ToolCall) -> bool:
        """Return whether the tool must work out what the call would touch before the call is judged."""
        return call.name in self._toolbox.names and implements(self._tool(call), AccessResolvingTool)

    async def foresee(self, call: ToolCall, context: ToolContext) -> None:
        """Work out what a call would touch; raises ToolError if the call is bound to fail."""
        tool, args = self._tool(call), self._toolbox.arguments(call)
        assert implements(tool, AccessResolvingTool)
        try:
            async with asyncio.timeout(self._timeout_s):
                await tool.foresee(args, context)
        except ToolError:
            raise
        except TimeoutError:
            raise ToolError(f"{call.name} was not ready to run within {self._timeout_s:g} s") from None
        except Exception as error:
            raise ToolError(_broken(call, error)) from error

    def check(self, call: ToolCall, context: ToolContext) -> CheckedCall:
        """Judge a call; an invalid call, an unknown tool and a refused access are all "deny"."""
        try:
            call = replace(call, args=self._toolbox.arguments(call))
            tool = self._toolbox.get(call.name)
            access = tool.access(call.args, context)
            if context.mode == "accept-edits":  # the other modes ask about every edit or about none
                access = with_traps(access, lambda path: self._find_trap(context.cwd, path))
        except ToolError as error:
            return CheckedCall(call, "deny", str(error))
        except Exception as error:  # noqa: BLE001  a broken tool must not end the run
            return CheckedCall(call, "deny", _broken(call, error))
        verdict = judge(access, context.rules, context.mode)
        is_question = verdict.action == "ask"
        return CheckedCall(
            call,
            verdict.action,
            f"denied by {verdict.why}" if verdict.action == "deny" else verdict.why,
            parallel=tool.parallel,
            repeatable=access.access == "read" and not access.once,
            denied=verdict.action == "deny",
            suggestions=suggest_rules(access, context.rules, context.mode) if is_question else (),
        )

    async def preview(self, call: ToolCall, context: ToolContext) -> str:
        """Return a preview of what a checked call would change; empty if there is none.

        Raises ToolError if the call is bound to fail.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                preview = await self._tool(call).preview(call.args, context)
        except ToolError:
            raise
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            return ""
        except Exception:  # noqa: BLE001  the question can be asked without it
            return ""
        return self._mask(cap_output(preview, self._max_output_bytes))

    async def run(self, call: ToolCall, context: ToolContext) -> Outcome:
        """Run a checked call; any failure becomes a failed result."""
        tool, timeout_s = self._tool(call), self._timeout_s
        deadline = asyncio.timeout(timeout_s * TIMEOUT_GRACE)
        try:
            async with deadline:
                output = await tool.run(call.args, self._patient(context, deadline, timeout_s))
        except ToolError as error:
            output = ToolOutput(str(error), is_error=True)
        except asyncio.CancelledError as error:
            if is_cancelled():
                raise
            output = ToolOutput(_broken(call, error), is_error=True)
        except Exception as error:  # noqa: BLE001  a broken tool must not end the run
            late = f"{call.name} did not finish within {timeout_s:g} s"
            output = ToolOutput(late if deadline.expired() else _broken(call, error), is_error=True)
        text = await self._capped(self._mask(output.text))
        result = ToolResult(call.id, call.name, text, is_error=output.is_error, media=output.media)
        return Outcome(
            result, replace(output, diff=self._mask(output.diff), answer=self._answer(output.answer))
        )

    def _answer(self, text: str) -> str:
        return cap_output(self._mask(text), self._max_output_bytes)

    def _tool(self, call: ToolCall) -> Tool:
        return self._toolbox.get(call.name)

    def _patient(self, context: ToolContext, deadline: asyncio.Timeout, timeout_s: float) -> ToolContext:
        """Stop the timeout while the tool waits for the user, another call, a sub-agent or the model."""
        waits = 0

        async def patiently(awaited: Awaitable[T]) -> T:
            nonlocal waits
            waits += 1
            deadline.reschedule(None)
            try:
                return await awaited
            finally:
                waits -= 1
                if not waits:
                    with suppress(RuntimeError):  # the tool has ended without waiting for this
                        deadline.reschedule(asyncio.get_running_loop().time() + timeout_s)

        ask, call, children, sample = context.ask, context.call, context.children, context.sample
        return replace(
            context,
            sample=sample and (lambda order: patiently(sample(order))),
            children=children and _UntimedChildren(children, patiently),
            ask=ask and (lambda question: patiently(ask(question))),
            call=call and (lambda name, args: patiently(call(name, args))),
        )

    async def _capped(self, text: str) -> str:
        """Cap a text; the full text goes to the blobs."""
        if self._blobs is None or len(text.encode(errors="backslashreplace")) <= self._max_output_bytes:
            return cap_output(text, self._max_output_bytes)
        try:
            data = text.encode(errors="backslashreplace")
            digest = await asyncio.to_thread(self._blobs.put, data)
        except StoreError:
            return cap_output(text, self._max_output_bytes)
        rest = f'read_file with path "blob:{digest}" shows all of it, in ranges of lines'
        return cap_output(text, self._max_output_bytes, rest=rest)


def _broken(call: ToolCall, error: BaseException) -> str:
    return f"{call.name} failed: {type(error).__name__}: {error}"
