"""Run requests in Meerkat's fields, and their conversion to run options.

An unknown field is rejected, and so is a field of Meerkat that would have no effect here: a client that
relies on it must learn of that at once.
"""

import base64
import binascii
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from bridle.config.duration import parse_duration
from bridle.config.foreign.meerkat import VENDORS, with_provider
from bridle.core.budget import Limits
from bridle.core.errors import ConfigError, UsageError
from bridle.core.hook import HookOverride
from bridle.core.messages import Media, Message, Part, Text
from bridle.core.permission import Mode
from bridle.core.protocol import RunOptions
from bridle.core.server_views import PeerMessage
from bridle.core.tool import SHELL_TOOLS, ToolSpec
from bridle.surfaces.shared.error_codes import CAPABILITY_UNAVAILABLE, Refused
from bridle.surfaces.shared.validation_error import format_validation_error

MAX_BLOCKS = 1_000
MAX_MODEL_CHARS = 4_200  # a scripted model is named by a path

WEB_TOOLS = ("web_fetch", "download", "web_search", "code_search")
CHILD_TOOLS = ("agent_spawn", "agent_fork", "agent_status", "agent_list", "agent_cancel", "send_message")
MEMORY_TOOLS = ("memory_search",)
OTHER_TOOLS = (
    "read_file edit_file write_file list_files ls multi_edit python grep glob skill ask_user datetime todos "
    "wait diagnostics references definition symbols call_hierarchy rename_symbol replace_symbol code_action"
).split()

Retries = Annotated[int, Meta(ge=0, le=100)]
OutputTokens = Annotated[int, Meta(ge=1, le=10_000_000)]
Texts = Annotated[list[str], Meta(max_length=MAX_BLOCKS)]


class TextBlock(Struct, frozen=True, tag="text", forbid_unknown_fields=True):
    """Text."""

    text: str


class ImageBlock(Struct, frozen=True, tag="image", forbid_unknown_fields=True):
    """An image, as base64."""

    media_type: str
    data: str = ""
    source: Literal["inline", "blob"] = "inline"
    blob_id: str = ""


class VideoBlock(Struct, frozen=True, tag="video", forbid_unknown_fields=True):
    """A video, as base64."""

    media_type: str
    data: str = ""
    duration_ms: int = 0
    source: Literal["inline", "uri"] = "inline"
    uri: str = ""


Block = TextBlock | ImageBlock | VideoBlock
Content = str | Annotated[list[Block], Meta(max_length=MAX_BLOCKS)]


class SkillKey(Struct, frozen=True, forbid_unknown_fields=True):
    """A skill by its name and its source; there is only one source here."""

    skill_name: str
    source_uuid: str = ""


SkillRefs = Annotated[list[SkillKey | str], Meta(max_length=100)]


class Duration(Struct, frozen=True, forbid_unknown_fields=True):
    """A duration in seconds and nanoseconds."""

    secs: Annotated[int, Meta(ge=0)]
    nanos: Annotated[int, Meta(ge=0)] = 0


class BudgetLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of a run."""

    max_tokens: Annotated[int, Meta(ge=0)] | None = None
    max_duration: Duration | float | str | None = None
    """Seconds, or a text such as `90s`."""
    max_tool_calls: Annotated[int, Meta(ge=0)] | None = None
    max_cost: Annotated[float, Meta(ge=0)] | None = None
    """Dollars."""
    max_turns: Annotated[int, Meta(ge=0)] | None = None


class ToolOverlay(Struct, frozen=True, forbid_unknown_fields=True):
    """Which tools a run may use."""

    allowed_tools: Texts | None = None
    blocked_tools: Texts | None = None


class SystemPromptDisable(Struct, frozen=True, forbid_unknown_fields=True):
    """Turns the system prompt off."""

    action: Literal["disable"]


class CallbackTool(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool that the client runs."""

    name: str
    description: str = ""
    input_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    handler: str = "callback"

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return ToolSpec(self.name, self.description or f"Tool: {self.name}", self.input_schema)


class RunParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one run does and how; a field left out has the value of the session's agent."""

    prompt: Content
    model: Annotated[str, Meta(max_length=MAX_MODEL_CHARS)] | None = None
    """`provider/model`, or the provider's own name of the model."""
    provider: Annotated[str, Meta(max_length=100)] | None = None
    max_tokens: OutputTokens | None = None
    """Per answer."""
    system_prompt: str | SystemPromptDisable | None = None
    output_schema: dict[str, Any] | None = None
    structured_output_retries: Retries | None = None
    hooks_override: dict[str, Any] | None = None
    provider_params: dict[str, Any] | None = None
    budget_limits: BudgetLimits | None = None
    preload_skills: SkillRefs | None = None
    skill_refs: SkillRefs | None = None
    skill_references: SkillRefs | None = None
    additional_instructions: Texts | None = None
    injected_context: Annotated[list[Content], Meta(max_length=100)] | None = None
    shell_env: dict[str, str] | None = None
    turn_tool_overlay: ToolOverlay | None = None
    flow_tool_overlay: ToolOverlay | None = None
    external_tools: Annotated[list[CallbackTool], Meta(max_length=128)] | None = None
    enable_builtins: bool | None = None
    """False removes these tools, any other value has no effect; the same holds for the next fields."""
    enable_shell: bool | None = None
    enable_subagents: bool | None = None
    enable_memory: bool | None = None
    enable_web_search: bool | None = None
    enable_mob: bool | None = None
    enable_schedule: bool | None = None
    enable_workgraph: bool | None = None
    host_mode: bool | None = None
    keep_alive: bool | None = None
    comms_name: str | None = None
    peer_meta: Any = None
    labels: dict[str, str] | None = None
    """Only for a new session."""
    app_context: Any = None
    auth_binding: Any = None
    self_hosted_server_id: str | None = None
    transient_turn_context: str | None = None
    idempotency_key: Annotated[str, Meta(max_length=255)] = ""
    """A prompt with the same key is not accepted a second time."""
    session_events: bool = True
    """True to send the events of the run."""
    mode: Mode | None = None
    """What happens if no rule matches. Bridle's own field, like all that follow."""
    allow: Texts = field(default_factory=list)
    deny: Texts = field(default_factory=list)
    code: bool | None = None


UNOFFERED = (
    "enable_mob enable_schedule enable_workgraph host_mode keep_alive comms_name peer_meta "
    "app_context auth_binding self_hosted_server_id transient_turn_context"
).split()
"""Fields that Meerkat has and Bridle does not offer by request: rejected if set."""


class FirstMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """A message that a new session begins with, before its prompt."""

    role: Literal["user", "assistant"]
    content: Content


class CreateParams(RunParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new session and its first run."""

    initial_turn: Literal["run_immediately", "deferred"] = "run_immediately"
    cwd: str = ""
    """The working directory. Bridle's own field, like all that follow."""
    agent: str = ""
    title: Annotated[str, Meta(max_length=1_000)] = ""
    messages: Annotated[list[FirstMessage], Meta(max_length=MAX_BLOCKS)] = field(default_factory=list)

    @property
    def first_messages(self) -> tuple[Message, ...]:
        """The messages before the prompt; raises UsageError, and Refused for media that is not inline."""
        return tuple(Message(one.role, tuple(to_parts(one.content))) for one in self.messages)


class TurnParams(RunParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another run of a session."""

    session_id: str


class RunRequest(Struct, frozen=True):
    """A request, converted to Bridle's types."""

    message: Message
    options: RunOptions
    skills: tuple[str, ...] = ()
    """Skills whose texts go before the message."""
    tools: tuple[ToolSpec, ...] = ()
    """The client's tools for this session."""
    key: str = ""
    wants_events: bool = True


def to_run_request(params: RunParams) -> RunRequest:
    """Convert a request; raises UsageError, and Refused for what is not offered."""
    _refuse_unoffered(params)
    before = [Text(text) for text in params.additional_instructions or ()]
    context = [part for content in params.injected_context or () for part in to_parts(content)]
    return RunRequest(
        message=Message("user", (*before, *context, *to_parts(params.prompt))),
        options=_options(params),
        skills=_skill_names(params),
        tools=tuple(tool.spec for tool in params.external_tools or ()),
        key=params.idempotency_key,
        wants_events=params.session_events,
    )


def to_parts(content: Content) -> list[Part]:
    """Convert a prompt to message parts; raises UsageError, and Refused for media that is not inline."""
    if isinstance(content, str):
        return [Text(content)] if content else []
    return [_part(block) for block in content]


def _part(block: Block) -> Part:
    if isinstance(block, TextBlock):
        return Text(block.text)
    if block.source != "inline":
        raise Refused(CAPABILITY_UNAVAILABLE, f"remote content ({block.source}) is not fetched")
    try:
        base64.b64decode(block.data, validate=True)
    except (binascii.Error, ValueError):
        raise UsageError(f"the data of the {block.media_type[:80]} block is not base64") from None
    return Media(block.media_type, block.data)


def _refuse_unoffered(params: RunParams) -> None:
    for name in UNOFFERED:
        if getattr(params, name):
            raise Refused(CAPABILITY_UNAVAILABLE, f"{name} is not offered here", hint="leave it out")
    if params.labels and not isinstance(params, CreateParams):
        raise UsageError("labels: a turn has none", hint="the command label changes those of the session")


def _options(params: RunParams) -> RunOptions:
    extra = dict(params.provider_params or {})
    if params.max_tokens is not None:
        extra["max_tokens"] = params.max_tokens
    overlay = params.turn_tool_overlay or params.flow_tool_overlay or ToolOverlay()
    system = params.system_prompt
    retries = params.structured_output_retries
    return RunOptions(
        model=to_model_ref(params.model, params.provider),
        mode=params.mode,
        allow=tuple(params.allow),
        deny=tuple(params.deny),
        limits=_limits(params.budget_limits or BudgetLimits()),
        params=extra,
        code=params.code,
        env=params.shell_env or {},
        system="" if isinstance(system, SystemPromptDisable) else system,
        tools=None if overlay.allowed_tools is None else tuple(overlay.allowed_tools),
        without_builtins=tuple(_left_out(params)),
        without_tools=tuple(overlay.blocked_tools or ()),
        hooks=read_hook_override(params.hooks_override or {}),
        output_schema=params.output_schema,
        output_retries=RunOptions().output_retries if retries is None else retries,
    )


def to_model_ref(model: str | None, provider: str | None) -> str | None:
    """Return a model as Bridle names it, None if none is given; raises UsageError for a provider alone."""
    vendor = VENDORS.get(provider or "", provider or "")
    if not model:
        if vendor:
            raise UsageError("provider: needs a model")
        return None
    if vendor and vendor != "other":
        return model if model.startswith(f"{vendor}/") else f"{vendor}/{model}"
    return with_provider(model)


def _left_out(params: RunParams) -> list[str]:
    """Return the names of the tools that a request turns off."""
    groups = (
        (params.enable_builtins, (*OTHER_TOOLS, *WEB_TOOLS, *SHELL_TOOLS)),
        (params.enable_shell, SHELL_TOOLS),
        (params.enable_web_search, WEB_TOOLS),
        (params.enable_subagents, CHILD_TOOLS),
        (params.enable_memory, MEMORY_TOOLS),
    )
    return list(dict.fromkeys(name for wanted, names in groups if wanted is False for name in names))


def _limits(given: BudgetLimits) -> Limits:
    match given.max_duration:
        case Duration(secs=secs, nanos=nanos):
            duration: float | None = secs + nanos / 1e9
        case str() as text:
            try:
                duration = parse_duration(text)
            except ConfigError as error:
                raise UsageError(f"budget_limits.max_duration: {error.message}", hint=error.hint) from None
        case seconds:
            duration = seconds
    return Limits(given.max_tokens, duration, given.max_tool_calls, given.max_cost, given.max_turns)


def read_hook_override(given: dict[str, Any]) -> HookOverride:
    """Read a run's hooks, also with a runtime written as `{type, config: {…}}`; raises UsageError."""
    entries = given.get("entries")
    if isinstance(entries, list):
        given = {**given, "entries": [_flat_entry(entry) for entry in entries]}
    try:
        return msgspec.convert(given, HookOverride)
    except msgspec.ValidationError as error:
        raise UsageError(
            format_validation_error(error, "hooks_override"), hint="bridle schema hooks"
        ) from None


def _flat_entry(entry: Any) -> Any:
    runtime = entry.get("runtime") if isinstance(entry, dict) else None
    if not isinstance(runtime, dict) or not isinstance(runtime.get("config"), dict):
        return entry
    others = {key: value for key, value in runtime.items() if key != "config"}
    return {**entry, "runtime": {**runtime["config"], **others}}


def _skill_names(params: RunParams) -> tuple[str, ...]:
    refs = (*(params.preload_skills or ()), *(params.skill_refs or ()), *(params.skill_references or ()))
    names = (ref.skill_name if isinstance(ref, SkillKey) else ref.rpartition("/")[2] for ref in refs)
    return tuple(dict.fromkeys(names))


# ---------------------------------------------------------------------------- messages to peers

CommsKind = Literal["input", "peer_message", "peer_lifecycle", "peer_request", "peer_response"]


class CommsParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message from a session to a peer, or to the session itself (`input`)."""

    session_id: Annotated[str, Meta(max_length=255)]
    kind: CommsKind
    to: Annotated[str, Meta(max_length=100)] = ""
    body: str = ""
    intent: str = ""
    params: Any = None
    in_reply_to: Annotated[str, Meta(max_length=100)] = ""
    status: Literal["accepted", "completed", "failed"] = "completed"
    result: Any = None
    source: Literal["tcp", "uds", "stdin", "webhook", "rpc"] = "rpc"
    stream: Literal["none", "reserve_interaction"] = "none"
    allow_self_session: bool = False
    handling_mode: Literal["queue", "steer"] = "queue"

    @property
    def message(self) -> PeerMessage:
        """The message to the peer; raises Refused for what has no counterpart here."""
        match self.kind:
            case "peer_message":
                return PeerMessage(self.to, "message", self.body)
            case "peer_request":
                return PeerMessage(self.to, "request", self.intent, self.params)
            case "peer_response":
                return PeerMessage(self.to, "response", "", self.result, self.in_reply_to, self.status)
            case "input" | "peer_lifecycle":
                raise Refused(CAPABILITY_UNAVAILABLE, f"{self.kind}: is not a message to a peer")

    def receipt(self, envelope_id: str) -> dict[str, Any]:
        """Return the answer once the message is sent; responses are not acknowledged."""
        sent = {"kind": f"{self.kind}_sent", "envelope_id": envelope_id}
        match self.kind:
            case "peer_request":
                ids = {"interaction_id": envelope_id, "request_id": envelope_id}
                return {**sent, **ids, "stream_reserved": False, "delivery": "acked"}
            case "peer_response":
                return {**sent, "in_reply_to": self.in_reply_to, "delivery": "volatile_handed_off"}
            case _:
                return {**sent, "delivery": "acked"}
