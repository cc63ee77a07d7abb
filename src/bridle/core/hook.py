"""The hook contract: eight points of a run where the user's code may observe, deny or rewrite.

| class | points |
|---|---|
| pre  | run_started, pre_llm_request, pre_tool_execution, turn_boundary |
| post | post_llm_response, post_tool_execution, run_completed, run_failed |

A hook answers with a decision and patches. Its capability limits what it may do: `observe` changes nothing,
`guardrail` may deny, `rewrite` may deny and patch. Hooks run by priority, then by registration. The first
deny ends the round; of two patches to one field the later wins. A hook sees the rewrites of the hooks before
it, so that a guardrail judges what would really happen.
"""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.ids import CallId, SessionId
from bridle.core.messages import StopReason, Usage

HookPoint = Literal[
    "run_started",
    "pre_llm_request",
    "post_llm_response",
    "pre_tool_execution",
    "post_tool_execution",
    "turn_boundary",
    "run_completed",
    "run_failed",
]
Capability = Literal["observe", "guardrail", "rewrite"]
HookMode = Literal["foreground", "background"]
FailurePolicy = Literal["fail_open", "fail_closed"]
ReasonCode = Literal["policy_violation", "safety_violation", "schema_violation", "timeout", "runtime_error"]

PRE_POINTS: frozenset[HookPoint] = frozenset(
    {"run_started", "pre_llm_request", "pre_tool_execution", "turn_boundary"}
)

DEFAULT_FAILURE_POLICY: dict[Capability, FailurePolicy] = {
    "observe": "fail_open",
    "guardrail": "fail_closed",
    "rewrite": "fail_closed",
}

MAX_ID_CHARS = 100
MAX_TIMEOUT_MS = 600_000


class ModelRequestView(Struct, frozen=True, omit_defaults=True):
    """What a hook sees of a request before it is sent."""

    max_tokens: int
    message_count: int
    temperature: float | None = None
    provider_params: dict[str, Any] = {}


class ModelReplyView(Struct, frozen=True, omit_defaults=True):
    """What a hook sees of a reply."""

    assistant_text: str
    tool_call_names: tuple[str, ...] = ()
    stop_reason: StopReason | None = None
    usage: Usage | None = None


class ToolCallView(Struct, frozen=True):
    """What a hook sees of a call before the rules judge it and it runs."""

    tool_use_id: CallId
    name: str
    args: dict[str, Any]


class ToolResultView(Struct, frozen=True):
    """What a hook sees of a result before it is recorded."""

    tool_use_id: CallId
    name: str
    content: str
    is_error: bool


class HookInvocation(Struct, frozen=True, omit_defaults=True):
    """The input of a hook, as sent on the wire."""

    point: HookPoint
    session_id: SessionId
    turn_number: int | None = None
    prompt: str | None = None
    error: str | None = None
    llm_request: ModelRequestView | None = None
    llm_response: ModelReplyView | None = None
    tool_call: ToolCallView | None = None
    tool_result: ToolResultView | None = None
    cwd: str = ""
    agent: str = ""
    parent: SessionId | None = None
    """The parent session, if this one is a sub-agent."""
    text: str | None = None
    """The run's answer, at run_completed."""


class Allow(Struct, frozen=True, tag_field="decision", tag="allow"):
    """No objection."""


class Deny(Struct, frozen=True, tag_field="decision", tag="deny"):
    """Refuse what is about to happen or what just happened."""

    message: str
    reason_code: ReasonCode = "policy_violation"
    hook_id: str = ""
    payload: Any = None
    """Any further data; sent to the model when a call is denied."""


class ToolArgsPatch(Struct, frozen=True, tag_field="patch_type", tag="tool_args"):
    """Replace the arguments of a call before it runs."""

    args: dict[str, Any]


class ToolResultPatch(Struct, frozen=True, tag_field="patch_type", tag="tool_result"):
    """Replace the result of a call for the model."""

    content: str
    is_error: bool | None = None


class AssistantTextPatch(Struct, frozen=True, tag_field="patch_type", tag="assistant_text"):
    """Replace the text of the model's answer."""

    text: str


class ModelRequestPatch(Struct, frozen=True, tag_field="patch_type", tag="llm_request"):
    """Replace parameters of a model request."""

    max_tokens: int | None = None
    temperature: float | None = None
    provider_params: dict[str, Any] | None = None


class RunResultPatch(Struct, frozen=True, tag_field="patch_type", tag="run_result"):
    """Replace the final text of a run."""

    text: str


Patch = ToolArgsPatch | ToolResultPatch | AssistantTextPatch | ModelRequestPatch | RunResultPatch

PATCH_POINT: dict[type, HookPoint] = {
    ToolArgsPatch: "pre_tool_execution",
    ToolResultPatch: "post_tool_execution",
    AssistantTextPatch: "post_llm_response",
    ModelRequestPatch: "pre_llm_request",
    RunResultPatch: "run_completed",
}


class HookResponse(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The answer of a hook, as sent on the wire; an empty one means no opinion."""

    decision: Allow | Deny | None = None
    patches: tuple[Patch, ...] = ()


class InProcessRuntime(Struct, frozen=True, tag_field="type", tag="in_process", forbid_unknown_fields=True):
    """A function that the embedding program registered under a name."""

    name: str


class CommandRuntime(Struct, frozen=True, tag_field="type", tag="command", forbid_unknown_fields=True):
    """A program that reads the invocation from standard input and answers on standard output."""

    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    dialect: Literal["bridle", "claude"] = "bridle"
    """"claude" uses the input and output format of Claude Code, for hooks written for it."""


class HttpRuntime(Struct, frozen=True, tag_field="type", tag="http", forbid_unknown_fields=True):
    """A server that gets the invocation as a request body and answers in the response body."""

    url: str
    method: str = "POST"
    headers: dict[str, str] = {}


HookRuntime = InProcessRuntime | CommandRuntime | HttpRuntime


class HookEntry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One hook, as in the settings."""

    runtime: HookRuntime
    id: str = "hook"
    enabled: bool = True
    point: HookPoint = "turn_boundary"
    mode: HookMode = "foreground"
    capability: Capability = "observe"
    priority: int = 100
    failure_policy: FailurePolicy | None = None
    """None for the default of its capability."""
    timeout_ms: int | None = None
    tools: tuple[str, ...] = ()
    """At tool points: run only for tools with these names, which may contain * and ?; empty for all tools."""

    @property
    def policy(self) -> FailurePolicy:
        """What happens if it fails: its own policy, or the default of its capability."""
        return self.failure_policy or DEFAULT_FAILURE_POLICY[self.capability]


class HookOverride(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Hook changes for one run: first leave out those in `disable`, then add `entries` after the others."""

    entries: tuple[HookEntry, ...] = ()
    disable: tuple[str, ...] = ()


class HookAnswer(Struct, frozen=True):
    """The answer of one hook, with its id and capability."""

    hook_id: str
    capability: Capability
    decision: Allow | Deny | None = None
    patches: tuple[Patch, ...] = ()


class HookOutcome(Struct, frozen=True):
    """The combined result of a round of hooks."""

    deny: Deny | None = None
    patches: tuple[Patch, ...] = ()
    ignored: tuple[str, ...] = ()
    """Messages about answers that exceed a hook's capability or do not apply at the point."""


class EntryProblem(Struct, frozen=True):
    """What is wrong with an entry: the key, and the reason."""

    key: str
    message: str


def find_entry_problem(entry: HookEntry) -> EntryProblem | None:
    """Return the first problem of an entry that does not depend on the machine; None if there is none."""
    if not entry.id or len(entry.id) > MAX_ID_CHARS or not entry.id.isprintable():
        return EntryProblem("id", f"must be 1 to {MAX_ID_CHARS} characters on one line")
    if entry.timeout_ms is not None and not 1 <= entry.timeout_ms <= MAX_TIMEOUT_MS:
        return EntryProblem("timeout_ms", f"must be 1 to {MAX_TIMEOUT_MS}")
    if entry.mode == "background" and entry.capability != "observe" and entry.point in PRE_POINTS:
        return EntryProblem("mode", f"a background hook at {entry.point} can only observe")
    if entry.mode == "background" and entry.policy == "fail_closed":
        return EntryProblem("failure_policy", "a background hook cannot fail closed: nothing waits for it")
    return _runtime_problem(entry.runtime)


def _runtime_problem(runtime: HookRuntime) -> EntryProblem | None:
    match runtime:
        case InProcessRuntime(name="") | CommandRuntime(command=""):
            return EntryProblem("runtime", "is empty")
        case CommandRuntime(command, args) if "\0" in "".join((command, *args)):
            return EntryProblem("runtime.command", "contains a zero byte")
        case CommandRuntime(env=env) if any(not name or "=" in name for name in env):
            return EntryProblem("runtime.env", "has an invalid variable name")
        case CommandRuntime(env=env) if "\0" in "".join(map("".join, env.items())):
            return EntryProblem("runtime.env", "contains a zero byte")
        case HttpRuntime(url) if not url.startswith(("http://", "https://")):
            return EntryProblem("runtime.url", "must start with http:// or https://")
        case HttpRuntime(method=method) if not method.isascii() or not method.isalpha():
            return EntryProblem("runtime.method", "must be a method such as POST")
        case HttpRuntime(headers=headers) if not "".join(map("".join, headers.items())).isprintable():
            return EntryProblem("runtime.headers", "must be text on one line")
        case InProcessRuntime() | CommandRuntime() | HttpRuntime():
            return None


def apply_patches(invocation: HookInvocation, patches: Sequence[Patch]) -> HookInvocation:
    """Return the invocation with patches applied; a patch whose part is missing has no effect."""
    for patch in patches:
        match patch:
            case ToolArgsPatch(args) if call := invocation.tool_call:
                invocation = replace(invocation, tool_call=replace(call, args=args))
            case ToolResultPatch(content, is_error) if result := invocation.tool_result:
                is_error = result.is_error if is_error is None else is_error
                result = replace(result, content=content, is_error=is_error)
                invocation = replace(invocation, tool_result=result)
            case AssistantTextPatch(text) if reply := invocation.llm_response:
                invocation = replace(invocation, llm_response=replace(reply, assistant_text=text))
            case ModelRequestPatch() if request := invocation.llm_request:
                params = {**request.provider_params, **(patch.provider_params or {})}
                warmth = request.temperature if patch.temperature is None else patch.temperature
                most = request.max_tokens  # the budget has reserved no more than this
                if patch.max_tokens is not None:
                    most = max(1, min(most, patch.max_tokens))
                request = ModelRequestView(most, request.message_count, warmth, params)
                invocation = replace(invocation, llm_request=request)
            case RunResultPatch(text):
                invocation = replace(invocation, text=text)
            case _:
                pass
    return invocation


def combine_answers(point: HookPoint, answers: Sequence[HookAnswer]) -> HookOutcome:
    """Combine the answers of one round, given in execution order."""
    patches: list[Patch] = []
    ignored: list[str] = []
    for answer in answers:
        if isinstance(answer.decision, Deny):
            if answer.capability != "observe":
                said = answer.decision
                denied = Deny(said.message, said.reason_code, answer.hook_id, said.payload)
                return HookOutcome(denied, (), tuple(ignored))
            ignored.append(f"{answer.hook_id}: an observe hook cannot deny")
        for patch in answer.patches:
            if answer.capability != "rewrite":
                article = "an" if answer.capability == "observe" else "a"
                ignored.append(f"{answer.hook_id}: {article} {answer.capability} hook cannot patch")
            elif PATCH_POINT[type(patch)] != point:
                ignored.append(f"{answer.hook_id}: {type(patch).__name__} does not apply at {point}")
            else:
                patches.append(patch)
    return HookOutcome(None, tuple(patches), tuple(ignored))
