"""A check before the sandbox: a program is started only while its folder's settings still want it.

A server that fails is started again. By then its program may have changed, because it can lie in a project,
and the user has trusted the project only in its earlier state.
"""

from collections.abc import Awaitable, Callable

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import Process, ProcessSpec, Sandbox, SandboxStatus


class CheckedSandbox:
    """Implements `Sandbox` for one server."""

    def __init__(self, sandbox: Sandbox, is_wanted: Callable[[], Awaitable[bool]]) -> None:
        self._sandbox = sandbox
        self._is_wanted = is_wanted

    @property
    def status(self) -> SandboxStatus:
        """The active kind of sandbox."""
        return self._sandbox.status

    async def start(self, spec: ProcessSpec, session: SessionId) -> Process:
        """Start a program; raises ToolError, also if the settings no longer want it."""
        if not await self._is_wanted():
            raise ToolError(
                "it is not restarted because its settings or project have changed",
                hint="send another prompt to see more",
            )
        return await self._sandbox.start(spec, session)

    async def holds(self, session: SessionId) -> bool:
        """True if everything that must be hidden is hidden; raises ToolError."""
        return await self._sandbox.holds(session)

    async def end_session(self, session: SessionId) -> None:
        """End everything that was started for a session."""
        await self._sandbox.end_session(session)
