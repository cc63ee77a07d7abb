"""The contract of hooks: eight named points where the user's code may look, refuse or rewrite.

| class | points |
|---|---|
| pre  | run_started, pre_llm_request, pre_tool_execution, turn_boundary |
| post | post_llm_response, post_tool_execution, run_completed, run_failed |

A hook answers with a decision and patches. What it may do is its capability: `observe` only looks,
`guardrail` may deny, `rewrite` may deny and patch. Hooks run by priority, then registration; the
first deny ends the round; of two patches to one field the later wins. A hook sees what those before it
have rewritten, so that a guardrail judges what would really happen.
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


class ModelRequestSeen(Struct, frozen=True, omit_defaults=True):
    """What a hook is told of a request that is about to be sent."""

    max_tokens: int
    message_count: int
    temperature: float | None = None
    provider_params: dict[str, Any] = {}


class ModelReplySeen(Struct, frozen=True, omit_defaults=True):
    """What a hook is told of a reply."""

    assistant_text: str
    tool_call_names: tuple[str, ...] = ()
    stop_reason: StopReason | None = None
    usage: Usage | None = None


class ToolCallSeen(Struct, frozen=True):
    """What a hook is told of a call that is about to be judged and made."""

    tool_use_id: CallId
    name: str
    args: dict[str, Any]


class ToolResultSeen(Struct, frozen=True):
    """What a hook is told of a result that is about to be recorded."""

    tool_use_id: CallId
    name: str
    content: str
    is_error: bool


class HookInvocation(Struct, frozen=True, omit_defaults=True):
    """What a hook is told, in the words of the wire."""

    point: HookPoint
    session_id: SessionId
    turn_number: int | None = None
    prompt: str | None = None
    error: str | None = None
    llm_request: ModelRequestSeen | None = None
    llm_response: ModelReplySeen | None = None
    tool_call: ToolCallSeen | None = None
    tool_result: ToolResultSeen | None = None
    cwd: str = ""
    agent: str = ""
    parent: SessionId | None = None
    """The session whose sub-agent this one is."""
    text: str | None = None
    """What the run would answer, at run_completed."""


class Allow(Struct, frozen=True, tag_field="decision", tag="allow"):
    """No objection."""


class Deny(Struct, frozen=True, tag_field="decision", tag="deny"):
    """Refuse what is about to happen or has just happened."""

    message: str
    reason_code: ReasonCode = "policy_violation"
    hook_id: str = ""
    payload: Any = None
    """Whatever else the hook wants to say; goes to the model with the refusal of a call."""


class ToolArgsPatch(Struct, frozen=True, tag_field="patch_type", tag="tool_args"):
    """Other arguments for a call that is about to be made."""

    args: dict[str, Any]


class ToolResultPatch(Struct, frozen=True, tag_field="patch_type", tag="tool_result"):
    """Another result of a call, for the model."""

    content: str
    is_error: bool | None = None


class AssistantTextPatch(Struct, frozen=True, tag_field="patch_type", tag="assistant_text"):
    """Another text of the model's answer."""

    text: str


class ModelRequestPatch(Struct, frozen=True, tag_field="patch_type", tag="llm_request"):
    """Other parameters for a request to the model."""

    max_tokens: int | None = None
    temperature: float | None = None
    provider_params: dict[str, Any] | None = None


class RunResultPatch(Struct, frozen=True, tag_field="patch_type", tag="run_result"):
    """Another text for a run to end with."""

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
    """What a hook says, in the words of the wire; all of it may be left out, for no opinion."""

    decision: Allow | Deny | None = None
    patches: tuple[Patch, ...] = ()


class InProcessRuntime(Struct, frozen=True, tag_field="type", tag="in_process", forbid_unknown_fields=True):
    """A function that the embedding program has registered under a name."""

    name: str


class CommandRuntime(Struct, frozen=True, tag_field="type", tag="command", forbid_unknown_fields=True):
    """A program that reads the invocation from its standard input and answers on its standard output."""

    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    dialect: Literal["bridle", "claude"] = "bridle"
    """"claude" speaks to it as Claude Code does, for a hook that was written for that."""


class HttpRuntime(Struct, frozen=True, tag_field="type", tag="http", forbid_unknown_fields=True):
    """A server that gets the invocation as the body of a request and answers in the body of its response."""

    url: str
    method: str = "POST"
    headers: dict[str, str] = {}


HookRuntime = InProcessRuntime | CommandRuntime | HttpRuntime


class HookEntry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One hook, as settings name it."""

    runtime: HookRuntime
    id: str = "hook"
    enabled: bool = True
    point: HookPoint = "turn_boundary"
    mode: HookMode = "foreground"
    capability: Capability = "observe"
    priority: int = 100
    failure_policy: FailurePolicy | None = None
    """None for the one of its capability."""
    timeout_ms: int | None = None
    tools: tuple[str, ...] = ()
    """At the points of tools: names, with * and ?, of those it is asked about; none for all."""

    @property
    def policy(self) -> FailurePolicy:
        """What its failure means."""
        return self.failure_policy or DEFAULT_FAILURE_POLICY[self.capability]


class HookOverride(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one run does differently: hooks left out, then others added behind those that stay."""

    entries: tuple[HookEntry, ...] = ()
    disable: tuple[str, ...] = ()


class HookAnswer(Struct, frozen=True):
    """What one hook said."""

    hook_id: str
    capability: Capability
    decision: Allow | Deny | None = None
    patches: tuple[Patch, ...] = ()


class HookOutcome(Struct, frozen=True):
    """What a round of hooks amounts to."""

    deny: Deny | None = None
    patches: tuple[Patch, ...] = ()
    ignored: tuple[str, ...] = ()
    """What was said beyond a hook's capability or at the wrong point, in words."""


class EntryProblem(Struct, frozen=True):
    """What is wrong with an entry: the key and the reason."""

    key: str
    message: str


def entry_problem(entry: HookEntry) -> EntryProblem | None:
    """Find what an entry cannot say, whatever machine it is on."""
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
            return EntryProblem("runtime", "names nothing to run")
        case CommandRuntime(command, args) if "\0" in "".join((command, *args)):
            return EntryProblem("runtime.command", "has a zero byte in it")
        case CommandRuntime(env=env) if any(not name or "=" in name for name in env):
            return EntryProblem("runtime.env", "has a name that no variable can have")
        case CommandRuntime(env=env) if "\0" in "".join(map("".join, env.items())):
            return EntryProblem("runtime.env", "has a zero byte in it")
        case HttpRuntime(url) if not url.startswith(("http://", "https://")):
            return EntryProblem("runtime.url", "must start with http:// or https://")
        case HttpRuntime(method=method) if not method.isascii() or not method.isalpha():
            return EntryProblem("runtime.method", "must be a method such as POST")
        case HttpRuntime(headers=headers) if not "".join(map("".join, headers.items())).isprintable():
            return EntryProblem("runtime.headers", "must each be text on one line")
        case InProcessRuntime() | CommandRuntime() | HttpRuntime():
            return None


def rewritten(invocation: HookInvocation, patches: Sequence[Patch]) -> HookInvocation:
    """Return what there is to judge once these patches hold; one without its part does nothing."""
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
                most = request.max_tokens  # more than this is not paid for
                if patch.max_tokens is not None:
                    most = max(1, min(most, patch.max_tokens))
                request = ModelRequestSeen(most, request.message_count, warmth, params)
                invocation = replace(invocation, llm_request=request)
            case RunResultPatch(text):
                invocation = replace(invocation, text=text)
            case _:
                pass
    return invocation


def combine(point: HookPoint, answers: Sequence[HookAnswer]) -> HookOutcome:
    """Fold the answers of one round, given in execution order."""
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
