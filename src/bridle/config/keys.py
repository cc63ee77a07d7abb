"""Every key of `config.toml`: its name, what it accepts and what it is when nobody says anything."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from bridle.config.duration import Delay, Duration
from bridle.config.schema import RuleText
from bridle.core.budget import Limits
from bridle.core.permission import Mode, Rule, parse_rule
from bridle.core.retry import RetryPolicy

DEFAULT_MODEL = "scripted/demo"
DEFAULT_AGENT = "default"

AGENT_NAME_PATTERN = r"\A[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}\Z"

_MOST = 10**12  # far beyond any use, and safe to calculate with

Count = Annotated[int, Meta(ge=1, le=_MOST, description="a whole number, 1 or more")]
CountOrZero = Annotated[int, Meta(ge=0, le=_MOST, description="a whole number, 0 or more")]
Dollars = Annotated[float, Meta(ge=0, le=_MOST, description="a number of dollars, 0 or more")]
Name = Annotated[
    str, Meta(pattern=r"\A[A-Za-z0-9_-]{1,64}\Z", description="a name of letters, digits, - and _")
]
AgentName = Annotated[
    str,
    Meta(
        pattern=AGENT_NAME_PATTERN,
        description="the name of an agent: letters, digits, -, _ and dots inside",
    ),
]
ModelRef = Annotated[
    str,
    Meta(
        pattern=r"\A[A-Za-z0-9_-]{1,64}/[^\x00-\x1f\x7f\ud800-\udfff]{1,500}\Z",
        description="a model as provider/name",
    ),
]
BaseUrl = Annotated[
    str,
    Meta(
        # No user:password@ in it: an address is shown, a secret is not.
        pattern=r"\Ahttps?://[^\s/@?#]+(/[^\s@?#]*)?\Z",
        description="an http:// or https:// address without a password",
    ),
]
VariableName = Annotated[
    str,
    Meta(
        pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z",
        description="the name of an environment variable, not the key itself",
    ),
]
HeaderName = Annotated[
    str, Meta(pattern=r"\A[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z", description="the name of an HTTP header")
]
HeaderText = Annotated[str, Meta(pattern=r"\A[^\x00-\x1f\x7f]*\Z", description="text on one line")]


class LimitSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[limits]`: what one run may use; without a value there is no limit."""

    max_tokens: Count | None = None
    max_duration: Duration | None = None
    max_tool_calls: CountOrZero | None = None
    max_cost: Dollars | None = None
    max_turns: Count | None = None

    def limits(self) -> Limits:
        """Return them as the core knows them."""
        return Limits(
            tokens=self.max_tokens,
            duration_s=None if self.max_duration is None else float(self.max_duration),
            tool_calls=self.max_tool_calls,
            cost=self.max_cost,
            turns=self.max_turns,
        )


class RetrySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[retry]`: how a failed model call is tried again."""

    max_retries: Annotated[int, Meta(ge=0, le=100, description="a whole number from 0 to 100")] = 3
    initial_delay: Delay = Delay(0.5)
    max_delay: Delay = Delay(30)
    multiplier: Annotated[float, Meta(ge=1, le=100, description="a number from 1 to 100")] = 2.0

    def policy(self) -> RetryPolicy:
        """Return it as the core knows it."""
        return RetryPolicy(
            self.max_retries, float(self.initial_delay), float(self.max_delay), self.multiplier
        )


class RuleLists(Struct, frozen=True, forbid_unknown_fields=True):
    """Standing permissions, as the user wrote them; those of all layers hold together."""

    allow: tuple[RuleText, ...] = ()
    ask: tuple[RuleText, ...] = ()
    deny: tuple[RuleText, ...] = ()

    def rules(self) -> tuple[Rule, ...]:
        """Return them as the core knows them, the strictest first."""
        return (
            *(parse_rule("deny", text) for text in self.deny),
            *(parse_rule("ask", text) for text in self.ask),
            *(parse_rule("allow", text) for text in self.allow),
        )


class RuleSettings(RuleLists, frozen=True, forbid_unknown_fields=True):
    """`[rules]`: standing permissions, and what happens where none speaks."""

    mode: Mode = "ask"


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[store]`: where sessions are kept."""

    backend: Literal["sqlite", "jsonl", "ephemeral"] = "sqlite"
    sync: Literal["normal", "full"] = "normal"


class ToolSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[tools]`: bounds for every tool call."""

    max_file_bytes: Count = 10 * 1024 * 1024
    max_output_bytes: Count = 64 * 1024
    timeout: Duration = Duration(600)
    max_parallel: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 10


class ProviderSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[providers.NAME]`: one place that serves models."""

    kind: Literal["openai", "scripted"] = "openai"
    base_url: BaseUrl = ""
    api_key_env: VariableName = ""
    """The environment variable that holds the key; empty for a server that wants none."""
    window_tokens: Count | None = None
    """None means what is known about the model."""
    max_output_tokens: Count | None = None
    headers: dict[HeaderName, HeaderText] = {}
    params: dict[str, Any] = {}
    """Sent along with every request."""


class ConfigFile(Struct, frozen=True, forbid_unknown_fields=True):
    """What a `config.toml` can say."""

    model: ModelRef = DEFAULT_MODEL
    agent: AgentName = DEFAULT_AGENT
    limits: LimitSettings = LimitSettings()
    retry: RetrySettings = RetrySettings()
    rules: RuleSettings = RuleSettings()
    store: StoreSettings = StoreSettings()
    tools: ToolSettings = ToolSettings()
    providers: dict[Name, ProviderSettings] = {}


DEFAULTS: dict[str, Any] = {
    "limits": {"max_turns": 100},
    "providers": {
        "scripted": {"kind": "scripted"},
        "local": {"kind": "openai", "base_url": "http://127.0.0.1:8080/v1"},
        "openai": {
            "kind": "openai",
            "base_url": "https://api.openai.com/v1",
            "api_key_env": "OPENAI_API_KEY",
        },
    },
}
"""The lowest layer, where a default is more than the value of one key."""
