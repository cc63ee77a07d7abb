"""`meerkat_run`, `meerkat_resume`, `meerkat_capabilities`: compatible with Meerkat's own server.

```
meerkat_run {prompt, tools} ─▶ {session_id, status: "pending_tool_call", pending_tool_calls: [...]}
meerkat_resume {session_id, tool_results} ─▶ the same again, or {content, session_id, turns, tool_calls, ...}
```

Every failure is a protocol error, as in Meerkat; its data contains the error code.
"""

import asyncio
from typing import Annotated, Any, Literal

import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent
from msgspec import Meta, Struct

from bridle.app import skills_in
from bridle.core.errors import BridleError, SessionBusy, UsageError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, user_message
from bridle.core.ports import ToolOutput
from bridle.core.protocol import Prompt, Resume, RunOptions, Steer
from bridle.core.queries import IsRunning, PreviewContext
from bridle.core.session import RunState
from bridle.core.tool import ToolSpec
from bridle.surfaces.mcp_server.arguments import MAX_PAGE, SessionName, read_arguments
from bridle.surfaces.mcp_server.client import Ended, NeedsAnswers, NeedsResults
from bridle.surfaces.mcp_server.client_tools import ClientTools
from bridle.surfaces.mcp_server.run_tools import (
    begin,
    begin_new,
    find_returning_run,
    find_session,
    follow_and_notify,
)
from bridle.surfaces.mcp_server.runs import ClientRun
from bridle.surfaces.mcp_server.tool_context import Answered, ToolRequest, input_required
from bridle.surfaces.meerkat.contract import DEFAULT_CONTRACT, build_capabilities, parse_contract
from bridle.surfaces.meerkat.requests import (
    CallbackTool,
    OutputTokens,
    Retries,
    RunParams,
    RunRequest,
    to_run_request,
)
from bridle.surfaces.meerkat.results import SchemaWarning, run_result
from bridle.surfaces.meerkat.skills import add_skills
from bridle.surfaces.shared.error_codes import (
    CAPABILITY_UNAVAILABLE,
    Refused,
    classify_error,
    classify_result,
)
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.run_driver import rules_needed
from bridle.surfaces.shared.session_calls import read_session

WAITING = "Agent is waiting for tool results"
MAX_TOOLS = 128
MAX_RESULT_CHARS = 4 * 1024 * 1024


class BuiltinConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Which built-in tools are enabled."""

    enable_shell: bool = False
    shell_timeout_secs: Annotated[int, Meta(ge=0)] | None = None


class Common(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of both tools."""

    model: Annotated[str, Meta(max_length=4200)] | None = None
    max_tokens: OutputTokens | None = None
    provider: Literal["anthropic", "openai", "gemini", "other"] | None = None
    stream: bool = False
    """Ignored, like `verbose`: progress is always sent to clients that want it."""
    verbose: bool = False
    tools: Annotated[list[CallbackTool], Meta(max_length=MAX_TOOLS)] = []
    enable_builtins: bool | None = None
    """False turns them off, as does `builtin_config` for the shell; true turns nothing on that is off."""
    builtin_config: BuiltinConfig | None = None
    host_mode: bool = False
    comms_name: Annotated[str, Meta(max_length=200)] | None = None
    hooks_override: dict[str, Any] | None = None

    def order(self, prompt: str, **more: Any) -> RunRequest:
        """Convert the arguments to an order; raises UsageError, and Refused for what is not supported."""
        config = self.builtin_config
        if config is not None and config.shell_timeout_secs is not None:
            name = "builtin_config.shell_timeout_secs"
            raise Refused(CAPABILITY_UNAVAILABLE, f"{name} is not offered here", hint="leave it out")
        builtins = False if self.enable_builtins is False else None
        shell = False if config is not None and not config.enable_shell else builtins
        params = RunParams(
            prompt=prompt,
            model=self.model,
            provider=self.provider,
            max_tokens=self.max_tokens,
            hooks_override=self.hooks_override,
            external_tools=self.tools,
            enable_builtins=builtins,
            enable_shell=shell,
            enable_subagents=builtins,
            enable_memory=builtins,
            host_mode=self.host_mode,
            comms_name=self.comms_name,
            **more,
        )
        return to_run_request(params)


class MeerkatRunArgs(Common, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `meerkat_run`."""

    prompt: Annotated[str, Meta(min_length=1, max_length=4 * 1024 * 1024)]
    enable_builtins: bool | None = False
    builtin_config: BuiltinConfig | None = BuiltinConfig()
    system_prompt: Annotated[str, Meta(max_length=1024 * 1024)] | None = None
    output_schema: dict[str, Any] | None = None
    structured_output_retries: Retries = 2


class CallbackResult(Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a client tool."""

    tool_use_id: Annotated[str, Meta(max_length=200)]
    content: Annotated[str, Meta(max_length=MAX_RESULT_CHARS)]
    is_error: bool = False


class MeerkatResumeArgs(Common, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `meerkat_resume`."""

    session_id: SessionName
    prompt: Annotated[str, Meta(max_length=4 * 1024 * 1024)] = ""
    """The next prompt; optional with tool_results, and then added to the active run."""
    tool_results: Annotated[list[CallbackResult], Meta(max_length=MAX_PAGE)] = []

    @property
    def results(self) -> dict[CallId, ToolOutput]:
        """The results by call; raises UsageError if a call has two."""
        found = {CallId(one.tool_use_id): ToolOutput(one.content, one.is_error) for one in self.tool_results}
        if len(found) < len(self.tool_results):
            raise UsageError("tool_results: a tool_use_id occurs twice")
        return found


# ---------------------------------------------------------------------------- tools


async def run(call: ToolRequest) -> Answered:
    """Start a session with a prompt."""
    if (client_run := await find_returning_run(call)) is not None:
        return await _follow(call, client_run)
    args = read_arguments(call.params.arguments, MeerkatRunArgs)
    order = args.order(
        args.prompt,
        system_prompt=args.system_prompt,
        output_schema=args.output_schema,
        structured_output_retries=args.structured_output_retries,
    )
    cwd = call.context.folders.usual
    prompt = await _prompt(call, order, cwd)
    callbacks = ClientTools(order.tools) if order.tools else None
    return await _follow(call, await begin_new(call.context, prompt, cwd=cwd, callbacks=callbacks))


async def resume(call: ToolRequest) -> Answered:
    """Continue a session: with tool results, with a prompt, or by resuming a cut-off run."""
    if (client_run := await find_returning_run(call)) is not None:
        return await _follow(call, client_run)
    args = read_arguments(call.params.arguments, MeerkatResumeArgs)
    session, created = await find_session(call.api, args.session_id)
    results = args.results
    client_run = call.context.runs.run_with_tools(session)
    if client_run is not None:
        _check_waiting(client_run, results)
        return await _follow(call, await _give(call, client_run, args.prompt, results))
    cut = await _cut_off(call, session)
    if cut is not None and (results or not args.prompt):
        return await _follow(call, await _go_on(call, session, cut, args, results))
    if results:
        raise UsageError(f"session {session} does not wait for results", hint="leave tool_results out")
    if not args.prompt:
        raise UsageError(f"session {session} has nothing to continue with", hint="give a prompt")
    order = args.order(args.prompt)
    prompt = await _prompt(call, order, created.cwd)
    callbacks = ClientTools(order.tools) if order.tools else None
    return await _follow(call, await begin(call.context, session, prompt, callbacks))


async def list_capabilities(call: ToolRequest) -> Answered:
    """List the supported capabilities of Meerkat."""
    read_arguments(call.params.arguments, NoArgs)
    has_comms = await asyncio.to_thread(call.context.folders.has_comms)
    return json_result(build_capabilities(parse_contract(DEFAULT_CONTRACT), has_comms=has_comms))


class NoArgs(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `meerkat_capabilities`."""


async def _prompt(call: ToolRequest, order: RunRequest, cwd: str) -> Prompt:
    skills = await asyncio.to_thread(lambda: skills_in(call.context.folders.settings(cwd)))
    order = add_skills(order, skills, cwd)
    return Prompt(order.message, order.options, "reject")


# ---------------------------------------------------------------------------- client results


def _check_waiting(client_run: ClientRun, results: dict[CallId, ToolOutput]) -> None:
    """Check that there is exactly one result for every waiting call; raises UsageError, SessionBusy."""
    waiting = set(client_run.waiting)
    if client_run.is_followed or not waiting:
        raise SessionBusy(
            f"session {client_run.session} is running", hint="wait for the call that follows it"
        )
    _check(results, known=waiting, wanted=[call_id for call_id in client_run.announced if call_id in waiting])


async def _give(
    call: ToolRequest, client_run: ClientRun, prompt: str, results: dict[CallId, ToolOutput]
) -> ClientRun:
    """Continue a waiting run; a prompt sent with the results reaches it before its next turn."""
    if prompt and results:
        await call.api.submit(client_run.session, Steer(user_message(prompt)))
    if client_run.callbacks is not None:
        client_run.callbacks.give(results)
    return client_run


def _check(results: dict[CallId, ToolOutput], *, known: set[CallId], wanted: list[CallId]) -> None:
    if unknown := [call_id for call_id in results if call_id not in known]:
        raise UsageError(
            f"tool_results: no call {unknown[0][:80]!r} waits for a result",
            hint=f"waiting: {_listed(wanted)}",
        )
    if missing := [call_id for call_id in wanted if call_id not in results]:
        raise UsageError(f"tool_results: there is none for {_listed(missing)}")


def _listed(calls: list[CallId]) -> str:
    return ", ".join(calls)


# ---------------------------------------------------------------------------- after a restart


async def _cut_off(call: ToolRequest, session: SessionId) -> RunState | None:
    """Return the unfinished run of a session that no process drives; None if there is none."""
    if await call.api.ask(IsRunning(session)):
        return None
    return (await read_session(call.api, session)).run


async def _go_on(
    call: ToolRequest,
    session: SessionId,
    cut: RunState,
    args: MeerkatResumeArgs,
    results: dict[CallId, ToolOutput],
) -> ClientRun:
    """Resume a run: its open calls are repeated with the same ids and get the given results."""
    order = args.order(args.prompt)
    open_calls = _open_calls(cut)
    ours = {tool.name for tool in (await call.api.ask(PreviewContext(session))).tools}
    lent = {tool.name for tool in order.tools}
    theirs = {one.id: one for one in open_calls if one.name in lent or one.name not in ours}
    if results:
        _check(results, known=set(theirs), wanted=list(theirs))
    specs = [*order.tools, *(_spec_of(name) for name in _names(theirs) if name not in lent)]
    callbacks = ClientTools(specs) if specs else None
    options = RunOptions(model=order.options.model, params=order.options.params, hooks=order.options.hooks)
    client_run = await begin(call.context, session, Resume(options), callbacks)
    return await _give(call, client_run, args.prompt, results)


def _open_calls(cut: RunState) -> list[ToolCall]:
    calls = cut.replied.message.calls if cut.replied is not None else ()
    return [one for one in calls if one.id not in cut.finished]


def _names(calls: dict[CallId, ToolCall]) -> list[str]:
    return list(dict.fromkeys(one.name for one in calls.values()))


def _spec_of(name: str) -> ToolSpec:
    """Return a spec for a tool that the client defined in an earlier call but not in this one."""
    return ToolSpec(name, f"Tool: {name}", {"type": "object"})


# ---------------------------------------------------------------------------- results


class PendingCall(Struct, frozen=True):
    """A call that waits for the client's result."""

    tool_name: str
    args: dict[str, Any]
    """Includes the call's id as `tool_use_id`."""


class Pending(Struct, frozen=True):
    """A run that waits for the client's results."""

    content: list[dict[str, str]]
    session_id: str
    status: Literal["pending_tool_call"]
    pending_tool_calls: list[PendingCall]


class Done(Struct, frozen=True):
    """The result of a run."""

    content: list[dict[str, str]]
    session_id: str
    turns: int
    tool_calls: int
    structured_output: Any = None
    schema_warnings: list[SchemaWarning] | None = None


async def _follow(call: ToolRequest, client_run: ClientRun) -> Answered:
    match await follow_and_notify(call, client_run):
        case Ended(result=result):
            return _done(result)
        case NeedsResults(calls=calls):
            pending = [PendingCall(one.name, {**one.args, "tool_use_id": one.id}) for one in calls]
            return json_result(Pending(_text(WAITING), client_run.session, "pending_tool_call", pending))
        case NeedsAnswers() as stop:
            return input_required(client_run, stop)


def _done(result: Result) -> CallToolResult:
    problem = classify_result(result)
    if result.outcome in ("failed", "denied", "cancelled"):
        reason = result.reason or result.outcome
        rules = rules_needed(result)
        hint = f" (to allow it, add the rule allow {', '.join(rules)} in the settings)" if rules else ""
        code = problem.code if problem is not None else result.outcome.upper()
        raise MCPError(INTERNAL_ERROR, f"{reason}{hint}", {"code": code, "session_id": result.session_id})
    shown = run_result(result)
    warnings = None if shown.schema_warnings is msgspec.UNSET else shown.schema_warnings
    value = result.structured_output
    return json_result(
        Done(
            _text(shown.text),
            shown.session_id,
            shown.turns,
            shown.tool_calls,
            value,
            warnings,
        )
    )


def _text(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def json_result(value: Any) -> CallToolResult:
    """Return a value as JSON in the text, where Meerkat's clients read it."""
    data = msgspec.json.encode(value)
    return CallToolResult(
        content=[TextContent(text=data.decode())], structured_content=msgspec.json.decode(data)
    )


def protocol_error(error: BridleError) -> MCPError:
    """Convert an error to a protocol error."""
    code = INVALID_PARAMS if isinstance(error, UsageError) else INTERNAL_ERROR
    return MCPError(code, str(error), {"code": classify_error(error).code})
