"""The operation that submits any Bridle command to a session."""

from msgspec.structs import replace
from starlette.responses import Response

from bridle.core.errors import UsageError
from bridle.core.protocol import Command, Prompt, Steer
from bridle.core.session_api import Receipt
from bridle.surfaces.driving import take_up
from bridle.surfaces.problems import (
    DUPLICATE_INPUT,
    HOOK_DENIED,
    PROVIDER_ERROR,
    SESSION_BUSY,
    SESSION_NOT_RUNNING,
)
from bridle.surfaces.rest.operation import Ask, Nothing, Operation, answer
from bridle.surfaces.rest.operations.fields import Traced


async def _command(ask: Ask[Command, Nothing, Traced]) -> Response:
    command = _traced(_keyed(ask.body, ask.headers.idempotency_key), ask.headers.trace)
    receipt = await ask.api.submit(ask.session, command)
    await take_up(ask.api, ask.session, receipt)
    return answer(receipt)


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
