"""Arguments of the MCP tools: validation, and the schemas that clients read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, cast, get_args

import msgspec
from msgspec import NODEFAULT, Meta, Struct, defstruct
from msgspec.structs import FieldInfo, fields

from bridle.core.budget import Limits
from bridle.core.errors import UsageError
from bridle.core.permission import Mode
from bridle.core.protocol import Answer, RewindScope, RunOptions
from bridle.core.protocol.commands import MAX_KEY_CHARS
from bridle.surfaces.shared.export import Format
from bridle.surfaces.shared.folder_queries import Topic
from bridle.surfaces.shared.session_queries import SESSION_QUERIES, SessionQuery
from bridle.surfaces.shared.validation_error import format_validation_error

ArgsT = TypeVar("ArgsT", bound=Struct)

MAX_RULES = 200
MAX_PAGE = 200
MAX_LABELS = 64
MAX_SAFE_INT = 2**53 - 1  # the largest integer that every JSON client can represent

PromptText = Annotated[str, Meta(min_length=1, max_length=4 * 1024 * 1024)]
Name = Annotated[str, Meta(max_length=200)]
Rules = Annotated[list[Annotated[str, Meta(max_length=4096)]], Meta(max_length=MAX_RULES)]
Count = Annotated[int, Meta(ge=0, le=MAX_SAFE_INT)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]
SessionName = Annotated[str, Meta(min_length=1, max_length=200, description="The id of a session.")]
Folder = Annotated[
    str,
    Meta(
        max_length=4096,
        description="The absolute path of a folder; by default that of this server.",
    ),
]


class Options(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of one run."""

    model: Annotated[Name, Meta(description="The model, as `provider/name`.")] | None = None
    mode: Annotated[Mode, Meta(description="What happens to calls that no rule matches.")] | None = None
    allow: Annotated[
        Rules, Meta(description="Rules such as `bash(git *)`: these calls need no approval.")
    ] = []
    ask: Annotated[Rules, Meta(description="Rules: these calls need an approval.")] = []
    deny: Annotated[Rules, Meta(description="Rules: these calls are refused.")] = []
    max_tokens: Count | None = None
    max_duration_s: Amount | None = None
    max_tool_calls: Count | None = None
    max_cost: Annotated[Amount, Meta(description="In dollars.")] | None = None
    max_turns: Count | None = None
    until: Annotated[
        str, Meta(max_length=10_000, description="A shell command: the run continues until it exits with 0.")
    ] = ""

    def options(self, **more: Any) -> RunOptions:
        """Return them as the run options of a session."""
        return RunOptions(
            model=self.model,
            mode=self.mode,
            allow=tuple(self.allow),
            ask=tuple(self.ask),
            deny=tuple(self.deny),
            limits=Limits(
                tokens=self.max_tokens,
                duration_s=self.max_duration_s,
                tool_calls=self.max_tool_calls,
                cost=self.max_cost,
                turns=self.max_turns,
            ),
            until=self.until,
            **more,
        )


class RunArgs(Options, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of `bridle_run`."""

    prompt: Annotated[PromptText, Meta(description="What the agent should do; `/name …` calls a skill.")]
    session_id: Annotated[
        str, Meta(max_length=200, description="Continue this session instead of creating one.")
    ] = ""
    cwd: Folder = ""
    agent: Annotated[Name, Meta(description="The agent; by default the one of the settings.")] = ""
    labels: Annotated[
        dict[str, str],
        Meta(max_length=MAX_LABELS, description="Labels of a new session, which lists can filter by."),
    ] = {}
    system: (
        Annotated[str, Meta(max_length=1024 * 1024, description="Instructions instead of the agent's own.")]
        | None
    ) = None
    output_schema: (
        Annotated[
            dict[str, Any], Meta(description="A JSON Schema: the run ends with a value that conforms to it.")
        ]
        | None
    ) = None
    output_retries: Annotated[int, Meta(ge=0, le=10)] = 2
    if_busy: Annotated[
        Literal["reject", "queue"],
        Meta(description="What happens while another run of the session is active."),
    ] = "reject"
    key: Annotated[
        str,
        Meta(
            max_length=MAX_KEY_CHARS,
            description="A key for this prompt: sent again with the same key, it does not run again.",
        ),
    ] = ""


class ResumeArgs(Options, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of `bridle_resume`."""

    session_id: SessionName
    prompt: Annotated[
        str,
        Meta(
            max_length=4 * 1024 * 1024,
            description="What to do next; without it, an interrupted run is resumed.",
        ),
    ] = ""


OwnAction = Literal[
    "list",
    "read",
    "history",
    "transcript",
    "export",
    "usage",
    "cancel",
    "steer",
    "queue",
    "push",
    "drop",
    "decide",
    "reply",
    "fork",
    "rewind",
    "compact",
    "rename",
    "label",
    "archive",
    "restore",
    "delete",
]
"""The actions that are not in the table of session queries."""

if TYPE_CHECKING:
    Action: TypeAlias = str
else:
    Action = Literal[(*get_args(OwnAction), *(row.action for row in SESSION_QUERIES))]

PUBLISHED = {"to_seq": "seq", "at": "seq"}
"""The names of arguments that differ from the field of the query."""


def argument_names(row: SessionQuery) -> dict[str, str]:
    """Return the argument for each parameter of a query."""
    return {name: PUBLISHED.get(name, name) for name, _, _ in row.parameters(Count)}


def needed_arguments(row: SessionQuery) -> tuple[str, ...]:
    """Return the arguments that a query cannot do without."""
    names = argument_names(row)
    return tuple(names[name] for name, _, default in row.parameters(Count) if default is NODEFAULT)


def _actions(argument: str, *own: str) -> str:
    """Name the actions that use an argument."""
    return ", ".join(
        [*own, *(row.action for row in SESSION_QUERIES if argument in argument_names(row).values())]
    )


class SessionsArgs(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of `bridle_sessions`; each action uses some of them."""

    action: Action
    session_id: Annotated[str, Meta(max_length=200)] = ""
    archived: Annotated[bool, Meta(description="list: include archived sessions.")] | None = None
    after: Annotated[
        Count,
        Meta(description=f"list: how many to skip; {_actions('after', 'history')}: the last seq you have."),
    ] = 0
    upto: Annotated[Count, Meta(description=f"{_actions('upto')}: up to which record.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] | None = None
    text: Annotated[
        str,
        Meta(max_length=4 * 1024 * 1024, description="steer, queue, push: the message; rename: the title."),
    ] = ""
    labels: Annotated[
        dict[str, str | None],
        Meta(
            max_length=MAX_LABELS,
            description="list: only sessions with these; label: those to set, null removes one.",
        ),
    ] = {}
    item_id: Annotated[Name, Meta(description="drop: the queued prompt to remove.")] = ""
    call_id: Annotated[Name, Meta(description="decide, reply: the id of the call that asked.")] = ""
    answer: Annotated[Answer, Meta(description="decide: the answer.")] | None = None
    answers: Annotated[
        list[Annotated[str, Meta(max_length=10_000)]], Meta(max_length=50, description="reply: the answers.")
    ] = []
    reason: Annotated[str, Meta(max_length=10_000, description="cancel, decide: the reason.")] = ""
    seq: (
        Annotated[Count, Meta(description=f"{_actions('seq', 'fork', 'rewind')}: after which record.")] | None
    ) = None
    messages: Annotated[Count, Meta(description="fork: only this many messages, the oldest.")] | None = None
    scope: Annotated[RewindScope, Meta(description="rewind: what to restore.")] | None = None
    keep: Annotated[str, Meta(max_length=10_000, description="compact: what the summary must keep.")] = ""
    format: (
        Annotated[Format, Meta(description="export: Markdown, everything as JSON, or an HTML page.")] | None
    ) = None


def _more_arguments() -> Iterator[tuple[str, Any, Any]]:
    """Yield the arguments that only queries have; each is optional, because other actions lack it."""
    known = {field.name for field in fields(SessionsArgs)}
    for row in SESSION_QUERIES:
        for name, kind, _ in row.parameters(Count):
            argument = PUBLISHED.get(name, name)
            if argument not in known:
                known.add(argument)
                yield argument, Annotated[kind | None, Meta(description=f"For {_actions(argument)}.")], None


ALL_SESSIONS_ARGS = cast(
    type[SessionsArgs],
    defstruct(
        SessionsArgs.__name__,
        list(_more_arguments()),
        bases=(SessionsArgs,),
        namespace={"__doc__": SessionsArgs.__doc__},
        frozen=True,
        forbid_unknown_fields=True,
        kw_only=True,
    ),
)
"""The arguments of `bridle_sessions`, with those that only queries have."""

QUERY_ARGS: dict[str, type[Struct]] = {
    row.action: defstruct(f"{row.kind.__name__}Args", row.parameters(Count), frozen=True)
    for row in SESSION_QUERIES
}
"""The parameters of each query, by its action."""


class FolderArgs(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of `bridle_folder`."""

    what: Topic
    cwd: Folder = ""


class ConfigArgs(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of `bridle_config`."""

    action: Literal["get", "set", "patch"]
    key: Annotated[
        Name,
        Meta(description="get: only the settings under this key, such as `model`; set: the key to change."),
    ] = ""
    value: Annotated[
        str | bool | int | float | list[Any] | dict[str, Any] | None, Meta(description="set: its new value.")
    ] = None
    config: (
        Annotated[dict[str, Any], Meta(description="set: all settings; replaces the existing ones.")] | None
    ) = None
    patch: (
        Annotated[dict[str, Any], Meta(description="patch: the settings to change; null removes one.")] | None
    ) = None
    expected_generation: (
        Annotated[Count, Meta(description="set, patch: fail unless the settings have this generation.")]
        | None
    ) = None
    cwd: Folder = ""


def read_arguments(given: dict[str, Any] | None, kind: type[ArgsT]) -> ArgsT:
    """Validate a client's arguments; raises UsageError that names the argument."""
    try:
        return msgspec.convert(given or {}, kind)
    except msgspec.ValidationError as error:
        raise UsageError(format_validation_error(error)) from None


def given_fields(args: Struct) -> set[str]:
    """Return the names of the arguments that differ from their defaults."""
    return {one.name for one in fields(type(args)) if getattr(args, one.name) != _default(one)}


def _default(field: FieldInfo) -> Any:
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    return field.default


def object_schema(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a struct with its fields at the root, as MCP clients expect."""
    (root,), definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    name = cast(str, root["$ref"]).rpartition("/")[2]
    schema = definitions.pop(name)
    return {**schema, "$defs": definitions} if definitions else schema
