"""Tool calls that run in the background and are polled (a "task" in revision 2025-11-25).

Bridle waits for the result all the same: to the model such a call is like any other. A cancelled wait also
cancels the task on the server.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import mcp_types as types
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError

MAX_S = 24 * 3600
_FIRST_S, _LEAST_S, _LONGEST_S = 0.5, 0.1, 10.0  # between two polls
_GOODBYE_S = 2.0

Tell = Callable[[str], Awaitable[None]]


async def call_in_background(
    session: ClientSession, tool: str, args: dict[str, Any], tell: Tell
) -> types.CallToolResult:
    """Start a tool, poll it until it is done, and return its result; raises MCPError.

    `tell` gets the task's status after each poll, as a sign of progress.
    """
    metadata = types.TaskMetadata(ttl=MAX_S * 1000)
    asked = types.CallToolRequest(
        params=types.CallToolRequestParams(name=tool, arguments=args, task=metadata)
    )
    task = (await session.send_request(asked, types.CreateTaskResult)).task
    try:
        return await _result(session, task, tell)
    except asyncio.CancelledError:
        goodbye = asyncio.create_task(_cancel(session, task.task_id))
        goodbye.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


async def _result(session: ClientSession, task: types.Task, tell: Tell) -> types.CallToolResult:
    while task.status == "working":
        await tell(task.status_message or task.status)
        every_s = _FIRST_S if task.poll_interval is None else task.poll_interval / 1000
        await asyncio.sleep(min(max(every_s, _LEAST_S), _LONGEST_S))
        look = types.GetTaskRequest(params=types.GetTaskRequestParams(task_id=task.task_id))
        task = await session.send_request(look, types.GetTaskResult)
    # A task that needs input asks for it while its result is awaited.
    want = types.GetTaskPayloadRequest(params=types.GetTaskPayloadRequestParams(task_id=task.task_id))
    return await session.send_request(want, types.CallToolResult)


async def _cancel(session: ClientSession, task_id: str) -> None:
    stop = types.CancelTaskRequest(params=types.CancelTaskRequestParams(task_id=task_id))
    with suppress(MCPError, TimeoutError):
        async with asyncio.timeout(_GOODBYE_S):
            await session.send_request(stop, types.CancelTaskResult)
