"""`bridle_run` and `bridle_resume`: run a prompt, or resume a cut-off run, to its end."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp_types import ElicitResult
from msgspec.structs import replace

from bridle.config.rules import resolve_rules
from bridle.config.settings import find_user_folder
from bridle.core.errors import BridleError, SessionNotFound, UsageError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.messages import user_message
from bridle.core.permission import Action, parse_rule
from bridle.core.protocol import Delete, Prompt, Resume, RunOptions, SessionCreated
from bridle.core.queries import Status
from bridle.core.session_api import SessionApi
from bridle.core.summary import title_from
from bridle.surfaces.mcp_server.arguments import ResumeArgs, RunArgs, read_arguments
from bridle.surfaces.mcp_server.client import Ended, NeedsAnswers, NeedsResults, Stop, follow, submit_answer
from bridle.surfaces.mcp_server.client_tools import ClientTools
from bridle.surfaces.mcp_server.elicitation import answer_of
from bridle.surfaces.mcp_server.runs import ClientRun
from bridle.surfaces.mcp_server.tool_context import (
    Answered,
    ServerContext,
    ToolRequest,
    check_options,
    input_required,
    tool_result,
)
from bridle.surfaces.mcp_server.uris import LIST, session_uri
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.run_driver import rules_needed
from bridle.surfaces.shared.session_calls import origin
from bridle.surfaces.shared.skill_prompt import expand_in


async def run(call: ToolRequest) -> Answered:
    """Run a prompt in a new or an existing session."""
    if (client_run := await find_returning_run(call)) is not None:
        return await _follow(call, client_run)
    args = read_arguments(call.params.arguments, RunArgs)
    more = {
        "system": args.system,
        "output_schema": args.output_schema,
        "output_retries": args.output_retries,
    }
    options = args.options(**more)
    if args.session_id:
        if args.labels:
            raise UsageError("labels are for a new session", hint="bridle_sessions with action label")
        session, created = await find_session(call.api, args.session_id)
        options = replace(options, agent=args.agent if args.agent not in ("", created.agent) else None)
        where = await asyncio.to_thread(call.context.folders.path, args.cwd) if args.cwd else created.cwd
        options = replace(options, cwd=where if where != created.cwd else None)
        prompt = await make_prompt(
            call.context, args.prompt, options, where, if_busy=args.if_busy, key=args.key
        )
        client_run = await begin(call.context, session, prompt)
    else:
        where = await asyncio.to_thread(call.context.folders.path, args.cwd)
        prompt = await make_prompt(call.context, args.prompt, options, where, key=args.key)
        title = title_from(args.prompt) if args.prompt != prompt.message.text else ""
        client_run = await begin_new(
            call.context, prompt, cwd=where, agent=args.agent, title=title, labels=args.labels
        )
    return await _follow(call, client_run)


async def resume(call: ToolRequest) -> Answered:
    """Continue a session with a prompt, or resume its cut-off run."""
    if (client_run := await find_returning_run(call)) is not None:
        return await _follow(call, client_run)
    args = read_arguments(call.params.arguments, ResumeArgs)
    session, created = await find_session(call.api, args.session_id)
    command: Prompt | Resume
    if args.prompt:
        command = await make_prompt(call.context, args.prompt, args.options(), created.cwd)
    else:
        options = args.options()
        command = Resume(await asyncio.to_thread(_in_folder, options, created.cwd, call.context))
    return await _follow(call, await begin(call.context, session, command))


async def _follow(call: ToolRequest, client_run: ClientRun) -> Answered:
    match await follow_and_notify(call, client_run):
        case Ended(result=result):
            text = describe_result(result, trusts_caller=call.context.trusts_caller)
            return tool_result(text, result, is_error=not result.has_answer)
        case NeedsAnswers() as stop:
            return input_required(client_run, stop)
        case NeedsResults():
            raise AssertionError("a run without client tools cannot wait for results")


# ---------------------------------------------------------------------------- shared by tools that run


async def follow_and_notify(call: ToolRequest, client_run: ClientRun) -> Stop:
    """Follow a run for a call, and notify subscribers of its resource."""
    stop = await follow(call.context.runs, client_run, call.client)
    await call.context.bus.publish(ResourceUpdated(uri=session_uri(client_run.session)))
    return stop


async def find_returning_run(call: ToolRequest) -> ClientRun | None:
    """Return the run that a client returns to with answers; raises UsageError if it no longer waits."""
    state = call.params.request_state
    if state is None:
        return None
    client_run = call.context.runs.by_token(state)
    if client_run is None:
        raise UsageError(
            "the run no longer waits for this answer", hint="bridle_sessions shows the state of its session"
        )
    for call_id, given in (call.params.input_responses or {}).items():
        asked = {str(known): one for known, one in client_run.asked.items()}.get(call_id)
        if asked is not None and isinstance(given, ElicitResult):
            client_run.settle(asked.call_id)
            await submit_answer(call.api, client_run.session, answer_of(asked, given))
    return client_run


async def find_session(api: SessionApi, wanted: str) -> tuple[SessionId, SessionCreated]:
    """Return a session id and its creation event; raises SessionNotFound."""
    if not is_session_id(wanted):
        raise SessionNotFound(f"no session {wanted[:80]!r}")
    session = SessionId(wanted)
    return session, await origin(api, session)


async def make_prompt(
    context: ServerContext,
    text: str,
    options: RunOptions,
    cwd: str,
    *,
    if_busy: str = "reject",
    key: str = "",
) -> Prompt:
    """Create a prompt: expand skills, resolve rules in its folder; raises BridleError."""

    def prepared() -> tuple[str, RunOptions]:
        words = expand_in(text, cwd, context.folders.environ) if text.startswith("/") else text
        return words, _in_folder(options, cwd, context)

    words, local = await asyncio.to_thread(prepared)
    return Prompt(user_message(words), local, "queue" if if_busy == "queue" else "reject", key)


def _in_folder(options: RunOptions, cwd: str, context: ServerContext) -> RunOptions:
    """Return options whose rules are resolved in a folder: with `~/` and absolute paths expanded."""

    def local(action: Action, texts: Sequence[str]) -> tuple[str, ...]:
        rules = [parse_rule(action, text) for text in texts]
        return tuple(map(str, resolve_rules(rules, find_user_folder(context.folders.environ), Path(cwd))))

    return replace(
        options,
        allow=local("allow", options.allow),
        ask=local("ask", options.ask),
        deny=local("deny", options.deny),
    )


async def begin_new(
    context: ServerContext,
    prompt: Prompt,
    *,
    cwd: str,
    agent: str = "",
    title: str = "",
    labels: Mapping[str, str] = {},
    callbacks: ClientTools | None = None,
) -> ClientRun:
    """Create a session with a run; delete the session if the prompt is rejected."""
    options = prompt.options
    await check_options(context, options, cwd=cwd, agent=agent)
    session = await context.api.create(
        cwd=cwd, agent=agent, title=title, options=options.of_session, labels=labels
    )
    try:
        first = replace(prompt, options=options.of_run)
        client_run = await context.runs.begin(session, first, callbacks)
    except BridleError:
        await context.api.submit(session, Delete())
        raise
    await context.bus.publish(ResourcesListChanged())
    await context.bus.publish(ResourceUpdated(uri=LIST))
    return client_run


async def begin(
    context: ServerContext, session: SessionId, command: Prompt | Resume, callbacks: ClientTools | None = None
) -> ClientRun:
    """Start a run of a session; raises Refused for options its caller may not use."""
    facts = (await context.api.ask(Status(session))).facts
    cwd, agent = facts.created.cwd, facts.created.agent
    await check_options(context, command.options, cwd=cwd, agent=agent, made=facts.options)
    return await context.runs.begin(session, command, callbacks)


def describe_result(result: Result, *, trusts_caller: bool) -> str:
    """Describe the result of a run, for people and models."""
    lines = [result.text] if result.text else []
    if result.outcome != "completed":
        lines.append(f"The run ended {result.outcome}: {result.reason or result.outcome}")
    rules = rules_needed(result)
    if rules and trusts_caller:
        lines.append(f"To allow it, run it again with allow: {', '.join(rules)}")
    elif rules:
        lines.append(f"The user can allow it in the settings, with allow: {', '.join(rules)}")
    lines += result.schema_warnings
    return "\n\n".join(lines)
