"""The operation that submits any Bridle command to a session."""

from msgspec.structs import replace
from starlette.responses import Response

from bridle.core.errors import UsageError
from bridle.core.protocol import Command, Prompt, Steer
from bridle.core.session_api import Receipt
from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest, json_response
from bridle.surfaces.rest.operations.fields import Traced
from bridle.surfaces.shared.error_codes import (
    DUPLICATE_INPUT,
    HOOK_DENIED,
    PROVIDER_ERROR,
    SESSION_BUSY,
    SESSION_NOT_RUNNING,
)
from bridle.surfaces.shared.run_driver import resume_if_interrupted


async def _command(ask: ValidRequest[Command, Nothing, Traced]) -> Response:
    command = _traced(_keyed(ask.body, ask.headers.idempotency_key), ask.headers.trace)
    receipt = await ask.api.submit(ask.session, command)
    await resume_if_interrupted(ask.api, ask.session, receipt)
    return json_response(receipt)


def _keyed(command: Command, key: str) -> Command:
    if not key:
        return command
    if not isinstance(command, Prompt | Steer):
        raise UsageError("header: idempotency-key: only a prompt and a steer can have one")
    if command.key not in ("", key):
        raise UsageError("header: idempotency-key: the command has another key")
    return replace(command, key=key)


def _traced(command: Command, trace: str) -> Command:
    if not trace or not isinstance(command, Prompt) or command.options.trace:
        return command
    return replace(command, options=replace(command.options, trace=trace))


OPERATIONS = (
    Operation(
        method="POST",
        path="/sessions/{id}/commands",
        name="command",
        summary="Hand a command to a session: prompt, steer, decide, reply, cancel, rewind and all others",
        body=Command,
        headers=Traced,
        answers=Receipt,
        problems=(SESSION_BUSY, SESSION_NOT_RUNNING, DUPLICATE_INPUT, PROVIDER_ERROR, HOOK_DENIED),
        handler=_command,
    ),
)
