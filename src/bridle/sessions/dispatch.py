"""From a call to its result: check the arguments, judge the access, run the tool, cap the output."""

import asyncio
from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.permission import Mode, Rule, judge, suggest_rule
from bridle.core.ports import Tool, ToolContext
from bridle.core.tool import ToolSpec
from bridle.tools.toolbox import Toolbox, cap_output


class Checked(Struct, frozen=True):
    """What is known about a call before it runs."""

    call: ToolCall
    """The call with its arguments put right where they were a near miss."""
    action: Literal["allow", "ask", "deny"]
    why: str
    parallel: bool = False
    repeatable: bool = False
    """It only reads, so it may run again if its end was never recorded."""
    denied: bool = False
    """A rule or the mode refuses it; otherwise "deny" means that the call itself is wrong."""
    suggestion: str = ""


class Dispatcher:
    """Checks and runs the calls of one run."""

    def __init__(
        self,
        toolbox: Toolbox,
        *,
        session: SessionId,
        cwd: str,
        timeout_s: float,
        max_output_bytes: int,
        show_output: Callable[[CallId, str], None],
    ) -> None:
        self._toolbox = toolbox
        self._session = session
        self._cwd = cwd
        self._timeout_s = timeout_s
        self._max_output_bytes = max_output_bytes
        self._show_output = show_output

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what the model sees, in a fixed order."""
        return self._toolbox.specs

    def check(self, call: ToolCall, rules: tuple[Rule, ...], mode: Mode) -> Checked:
        """Judge a call; a malformed one, an unknown tool and a refused access are all "deny"."""
        try:
            call = replace(call, args=self._toolbox.arguments(call))
            tool = self._toolbox.get(call.name)
            access = tool.access(call.args, self._context(call))
        except ToolError as error:
            return Checked(call, "deny", str(error))
        except Exception as error:  # noqa: BLE001  a broken tool must not end the run
            return Checked(call, "deny", _broken(call, error))
        verdict = judge(access, rules, mode)
        return Checked(
            call,
            verdict.action,
            f"denied by {verdict.why}" if verdict.action == "deny" else verdict.why,
            parallel=tool.parallel,
            repeatable=access.access == "read",
            denied=verdict.action == "deny",
            suggestion=suggest_rule(access),
        )

    async def preview(self, call: ToolCall) -> str:
        """Show what a checked call would change; empty when that cannot be said."""
        try:
            async with asyncio.timeout(self._timeout_s):
                preview = await self._tool(call).preview(call.args, self._context(call))
        except Exception:  # noqa: BLE001  the question can be asked without it
            return ""
        return cap_output(preview, self._max_output_bytes)

    async def run(self, call: ToolCall) -> ToolResult:
        """Run a checked call; whatever goes wrong becomes a failed result."""
        deadline = asyncio.timeout(self._timeout_s)
        try:
            async with deadline:
                output = await self._tool(call).run(call.args, self._context(call))
        except ToolError as error:
            return self._result(call, str(error), failed=True)
        except Exception as error:  # noqa: BLE001  a broken tool must not end the run
            if deadline.expired():
                late = f"{call.name} did not finish within {self._timeout_s:g} s"
                return self._result(call, late, failed=True)
            return self._result(call, _broken(call, error), failed=True)
        return self._result(call, output.text, failed=output.is_error)

    def _tool(self, call: ToolCall) -> Tool:
        return self._toolbox.get(call.name)

    def _context(self, call: ToolCall) -> ToolContext:
        return ToolContext(self._session, self._cwd, lambda text: self._show_output(call.id, text))

    def _result(self, call: ToolCall, text: str, *, failed: bool) -> ToolResult:
        return ToolResult(call.id, call.name, cap_output(text, self._max_output_bytes), is_error=failed)


def _broken(call: ToolCall, error: Exception) -> str:
    return f"{call.name} failed: {type(error).__name__}: {error}"
