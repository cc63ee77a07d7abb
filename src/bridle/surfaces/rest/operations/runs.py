"""Operations that run prompts in Meerkat's format: create a session, send a message, interrupt a run."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from bridle.app import skills_in
from bridle.core.errors import BridleError, SessionNotRunning, UsageError
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import Message, Text
from bridle.core.protocol import Cancel, Delete, Prompt, RunOptions
from bridle.surfaces.meerkat.requests import CreateParams, RunParams, RunRequest, TurnParams, to_run_request
from bridle.surfaces.meerkat.results import RunResult, run_result
from bridle.surfaces.meerkat.skills import add_skills
from bridle.surfaces.rest.operation import (
    Nothing,
    PlainRequest,
    ServiceContext,
    ValidRequest,
    json_response,
    operation,
)
from bridle.surfaces.rest.operations.fields import Traced
from bridle.surfaces.rest.problem_document import ProblemResponse, document
from bridle.surfaces.shared.error_codes import (
    AGENT_ERROR,
    APPROVAL_DENIED,
    BUDGET_EXHAUSTED,
    CAPABILITY_UNAVAILABLE,
    DUPLICATE_INPUT,
    HOOK_DENIED,
    PROVIDER_ERROR,
    SESSION_BUSY,
    SKILL_NOT_FOUND,
    STORE_FULL,
    Refused,
    classify_result,
)
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.run_driver import (
    answer_unattended,
    leave_to_others,
    resume_if_interrupted,
    rules_needed,
    run_to_end,
)
from bridle.surfaces.shared.session_calls import open_session, origin

Approvals = Literal["deny", "wait"]
RUN_PROBLEMS = (
    APPROVAL_DENIED,
    HOOK_DENIED,
    SKILL_NOT_FOUND,
    SESSION_BUSY,
    DUPLICATE_INPUT,
    BUDGET_EXHAUSTED,
    AGENT_ERROR,
    CAPABILITY_UNAVAILABLE,
    PROVIDER_ERROR,
    STORE_FULL,
)


class NewSession(CreateParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new session and its first prompt."""

    verbose: bool = False
    approvals: Approvals = "deny"
    """`deny` stops the run when a call needs approval; `wait` waits until another client decides."""


class NewMessage(TurnParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A further prompt of a session."""

    verbose: bool = False
    approvals: Approvals = "deny"


OF_FIRST_RUN = (
    "output_schema structured_output_retries shell_env turn_tool_overlay flow_tool_overlay session_events "
    "approvals"
).split()
"""Fields of a new session that only its first run has."""


class Preferring(Traced, frozen=True, rename="kebab"):
    """The headers of requests that start a run."""

    prefer: Annotated[str, Meta(description="`respond-async`: respond at once and let the run continue.")] = (
        ""
    )


class Accepted(Struct, frozen=True):
    """A run that continues after the response."""

    session_id: SessionId
    run_id: RunId | None


class Opened(Struct, frozen=True):
    """A session that has no prompt yet."""

    session_id: SessionId


class Interrupted(Struct, frozen=True):
    """The response to an interrupt, also if no run was active."""

    session_id: SessionId
    interrupted: bool = True


# ---------------------------------------------------------------------------- operations


@operation(
    "POST",
    "/sessions",
    "create_session",
    "Create a session, run its first prompt and respond when the run ends",
    RunResult,
    also={201: Opened, 202: Accepted},
    problems=RUN_PROBLEMS,
)
async def _create(request: ValidRequest[NewSession, Nothing, Preferring]) -> Response:
    body = request.body
    cwd = await asyncio.to_thread(request.context.folders.path, body.cwd)
    if body.initial_turn == "deferred":
        _check_deferred(body)
        known = await _to_run_request(request.context, body, cwd)
        prompt = (known.message,) if known.message.parts else ()
        session, _ = await _open(request, cwd, known.options, prompt)
        return json_response(Opened(session), 201, {"location": f"/sessions/{session}"})
    run_request = await _to_run_request(request.context, body, cwd)
    session, is_new = await _open(request, cwd, run_request.options)
    try:
        return await _run(request, session, replace(run_request, options=run_request.options.of_run))
    except BridleError:
        if is_new:  # the client never received its id
            with suppress(BridleError):
                await request.api.submit(session, Delete())
        raise


@operation(
    "POST",
    "/sessions/{id}/messages",
    "send_message",
    "Run another prompt of a session and respond when the run ends",
    RunResult,
    also={202: Accepted},
    problems=RUN_PROBLEMS,
)
async def _message(request: ValidRequest[NewMessage, Nothing, Preferring]) -> Response:
    if request.body.session_id != request.session:
        raise UsageError(f"Session ID mismatch: path={request.session} body={request.body.session_id[:128]}")
    created = await origin(request.api, request.session)
    return await _run(
        request, request.session, await _to_run_request(request.context, request.body, created.cwd)
    )


@operation(
    "POST",
    "/sessions/{id}/interrupt",
    "interrupt",
    "Cancel the active run of a session, if there is one",
    Interrupted,
)
async def _interrupt(request: PlainRequest) -> Response:
    with suppress(SessionNotRunning):
        await request.api.submit(request.session, Cancel())
    return json_response(Interrupted(request.session))


# ---------------------------------------------------------------------------- request


async def _to_run_request(context: ServiceContext, params: NewSession | NewMessage, cwd: str) -> RunRequest:
    run_request = to_run_request(params)
    if run_request.tools:
        raise Refused(CAPABILITY_UNAVAILABLE, "external_tools: not available over REST")
    if params.verbose:
        raise Refused(CAPABILITY_UNAVAILABLE, "verbose is not offered here", hint="stream the events")
    starts_with_slash = any(
        isinstance(part, Text) and part.text.startswith("/") for part in run_request.message.parts
    )
    if not run_request.skills and not starts_with_slash:
        return run_request
    return await asyncio.to_thread(
        lambda: add_skills(run_request, skills_in(context.folders.settings(cwd)), cwd)
    )


def _check_deferred(body: NewSession) -> None:
    """Reject fields that would be lost: they are about one run, and only the first message starts it."""
    usual = NewSession(prompt="")
    for name in OF_FIRST_RUN:
        if getattr(body, name) != getattr(usual, name):
            raise UsageError(
                f"body: {name}: a deferred session cannot keep it", hint="send it with the first message"
            )


def _key(request: ValidRequest[Any, Nothing, Preferring]) -> str:
    params: RunParams = request.body
    header = request.headers.idempotency_key
    if header and params.idempotency_key not in ("", header):
        raise UsageError("header: idempotency-key: the body has another key")
    return header or params.idempotency_key


async def _open(
    request: ValidRequest[NewSession, Nothing, Preferring],
    cwd: str,
    options: RunOptions,
    prompt: Sequence[Message] = (),
) -> tuple[SessionId, bool]:
    body = request.body
    return await open_session(
        request.api,
        cwd=cwd,
        agent=body.agent,
        title=body.title,
        key=_key(request),
        options=options.of_session,
        messages=(*body.first_messages, *prompt),
        labels=body.labels or {},
    )


# ---------------------------------------------------------------------------- run


async def _run(
    request: ValidRequest[Any, Nothing, Preferring], session: SessionId, run_request: RunRequest
) -> Response:
    options = replace(run_request.options, trace=request.headers.trace)
    prompt = Prompt(run_request.message, options, if_busy="reject", key=_key(request))
    if "respond-async" in (word.strip().lower() for word in request.headers.prefer.split(",")):
        receipt = await request.api.submit(session, prompt)
        await resume_if_interrupted(request.api, session, receipt)
        headers = {"location": f"/sessions/{session}", "preference-applied": "respond-async"}
        return json_response(Accepted(session, receipt.run_id), 202, headers)
    answerer = leave_to_others if request.body.approvals == "wait" else answer_unattended
    return _ended(await run_to_end(request.api, session, prompt, answerer))


def _ended(result: Result) -> Response:
    problem = classify_result(result)
    if problem is None:
        return json_response(run_result(result))
    about = {"session_id": result.session_id, "run_id": result.run_id, "outcome": result.outcome}
    if result.has_answer:
        about["text"] = result.text
    rules = rules_needed(result)
    hint = f"to allow it, add the rule allow {', '.join(rules)}" if rules else ""
    return ProblemResponse(document(problem, result.reason, hint=hint, **about))


OPERATIONS = (
    _create,
    _message,
    _interrupt,
)
