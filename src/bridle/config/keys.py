"""Every key of `config.toml`: its name, type and default."""

from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct

from bridle.config.daemon_keys import (
    CommsSettings,
    GrpcSettings,
    HttpSettings,
    ServeSettings,
    TelemetrySettings,
)
from bridle.config.duration import Delay, Duration
from bridle.config.rules import AllowText, AskText, DenyText
from bridle.config.scale_keys import ScaleSettings, StoreSettings
from bridle.config.server_keys import LspSettings, McpSettings
from bridle.core.budget import Limits
from bridle.core.context import CompactionPolicy
from bridle.core.errors import ConfigError
from bridle.core.hook import HookEntry
from bridle.core.model import ApiKind, Effort, Price, ProviderKind
from bridle.core.permission import Mode, Rule, parse_rule
from bridle.core.retry import RetryPolicy
from bridle.core.value_types import (
    AgentName,
    BaseUrl,
    Count,
    CountOrZero,
    Dollars,
    HeaderName,
    HeaderText,
    HostName,
    ModelRef,
    Name,
    PathText,
    Port,
    Share,
    VariableName,
)

# ---------------------------------------------------------------------------- tui keys
# The keys of `[tui]`: the look of the terminal interface and its key bindings.


KeyText = Annotated[
    str,
    Meta(
        pattern=r"\A([a-z]+\+)*([a-z0-9_]+|[!-~])\Z",
        max_length=40,
        description="a key such as f2, ctrl+s or alt+enter",
    ),
]


class TuiSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[tui]`: the terminal interface."""

    theme: Literal["auto", "dark", "light", "high-contrast"] = "auto"
    """Color theme; "auto" follows the terminal's background."""
    diff: Literal["unified", "side-by-side"] = "unified"
    """How a change is shown if the screen is wide enough for both."""
    notify: Literal["off", "bell", "osc9", "osc777"] = "bell"
    """How you are notified that a run ended or waits while the terminal is not focused."""
    mouse: bool = True
    """Whether the interface captures the mouse."""
    keys: dict[Name, tuple[KeyText, ...]] = {}
    """Other keys for an action, by its name; an empty list for none."""


# ---------------------------------------------------------------------------- keys


DEFAULT_MODEL = "embedded/smollm2-135m"
"""A very small model that needs no key and, once downloaded, no network."""
DEFAULT_AGENT = "default"


class LimitSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[limits]`: what one run may use; without a value there is no limit."""

    max_tokens: Count | None = None
    max_duration: Duration | None = None
    max_tool_calls: CountOrZero | None = None
    max_cost: Dollars | None = None
    max_turns: Count | None = None

    def limits(self) -> Limits:
        """Return the limits as core's type."""
        return Limits(
            tokens=self.max_tokens,
            duration_s=None if self.max_duration is None else float(self.max_duration),
            tool_calls=self.max_tool_calls,
            cost=self.max_cost,
            turns=self.max_turns,
        )


class RetrySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[retry]`: how a failed model call is retried."""

    max_retries: Annotated[int, Meta(ge=0, le=100, description="a whole number from 0 to 100")] = 3
    initial_delay: Delay = Delay(0.5)
    max_delay: Delay = Delay(30)
    multiplier: Annotated[float, Meta(ge=1, le=100, description="a number from 1 to 100")] = 2.0

    def policy(self) -> RetryPolicy:
        """Return the policy as core's type."""
        return RetryPolicy(
            self.max_retries, float(self.initial_delay), float(self.max_delay), self.multiplier
        )


class RuleLists(Struct, frozen=True, forbid_unknown_fields=True):
    """Permission rules as the user wrote them; the rules of all layers apply together."""

    allow: tuple[AllowText, ...] = ()
    ask: tuple[AskText, ...] = ()
    deny: tuple[DenyText, ...] = ()

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules as core's type, the strictest first."""
        return (
            *(parse_rule("deny", text) for text in self.deny),
            *(parse_rule("ask", text) for text in self.ask),
            *(parse_rule("allow", text) for text in self.allow),
        )


class RuleSettings(RuleLists, frozen=True, forbid_unknown_fields=True):
    """`[rules]`: permission rules, and what happens if none applies."""

    mode: Mode = "ask"


class SandboxSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[sandbox]`: what the programs that `bash` starts may access and use."""

    mode: Literal["on", "off"] = "on"
    network: Literal["rules", "open"] = "rules"
    """"rules" allows only the domains that rules allow; "open" allows everything."""
    writable: tuple[PathText, ...] = ()
    """Folders that may be changed besides the working directory."""
    pass_env: tuple[VariableName, ...] = ()
    """Variables to pass on although they look like secrets."""
    memory_bytes: Count = 4 * 1024**3
    max_processes: Count = 512
    max_file_bytes: Count = 4 * 1024**3


class KernelSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[kernel]`: the interpreter in which the tool `python` runs code."""

    python: PathText = ""
    """The interpreter; empty for the one that uv has for `uv_python`, or else python3."""
    uv_python: Annotated[
        str, Meta(pattern=r"\A[A-Za-z0-9.+_@-]{1,40}\Z", description="a Python version such as 3.13")
    ] = "3.13"
    syd_config: PathText = ""
    """If set, syd confines the interpreter instead of Bridle's own sandbox."""
    timeout: Duration = Duration(120)
    """Time limit of one cell, not counting the tools it calls."""
    snapshots: Literal["json", "rich"] = "json"
    """What a snapshot keeps: plain data, or also functions, classes, imports and what can be pickled."""
    spares: Annotated[int, Meta(ge=0, le=16, description="a whole number from 0 to 16")] = 0
    """Kernels started in advance."""
    max_kernels: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 8
    idle: Duration = Duration(600)
    """An unused kernel is stopped after this time; its next cell restores it from its snapshot."""


class HookSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[hooks]`: the user's code at eight points of a run; the hooks of all layers apply together."""

    default_timeout_ms: Annotated[int, Meta(ge=1, le=600_000, description="milliseconds, 1 to 600000")] = 5000
    payload_max_bytes: Count = 128 * 1024
    background_max_concurrency: Annotated[int, Meta(ge=1, le=1000, description="1 to 1000")] = 32
    entries: tuple[HookEntry, ...] = ()


class MemorySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[memory]`: recall over what was said in the sessions of a project."""

    enabled: bool = True
    embedder: Literal["auto", "minilm", "wordllama", "server"] = "auto"
    """"auto" is minilm if its weights are installed, else wordllama; "server" uses `base_url`."""
    base_url: BaseUrl = ""
    """An OpenAI-compatible server, or a llama-server, with embeddings."""
    model: Annotated[str, Meta(max_length=200, description="the name of a model")] = ""
    api_key_env: VariableName = ""
    min_score: Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")] = 0.35
    """Results with a lower score are not shown."""
    exact_up_to: CountOrZero = 20_000
    """Up to this many passages are compared one by one; beyond that an index is used."""


class ChildSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[children]`: the sub-agents that a run may start."""

    enabled: bool = True
    max_depth: Annotated[int, Meta(ge=0, le=16, description="a whole number from 0 to 16")] = 3
    max_running: Annotated[int, Meta(ge=1, le=256, description="a whole number from 1 to 256")] = 32
    """At the same time, in one tree; others wait for their turn."""
    max_children: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 100
    """Per run, in total."""
    max_tokens: Count | None = None
    """Token limit of a sub-agent whose spawn call sets none."""
    models: tuple[ModelRef, ...] = ()
    """The only models that a sub-agent may be given by name; empty for any."""


class ToolSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[tools]`: limits for every tool call, and the servers that tools ask."""

    max_file_bytes: Count = 10 * 1024 * 1024
    max_output_bytes: Count = 64 * 1024
    timeout: Duration = Duration(600)
    max_parallel: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 32
    bash_timeout: Duration = Duration(120)
    background_after: Duration = Duration(60)
    web_timeout: Duration = Duration(30)
    web_max_bytes: Count = 5 * 1024 * 1024
    search_url: BaseUrl = ""
    """A SearXNG server that answers `web_search`; empty for no web search."""
    code_search_url: BaseUrl = "https://sourcegraph.com"
    """A Sourcegraph server that answers `code_search`; empty for no code search."""
    code_search_token_env: VariableName = ""


class ProviderSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[providers.NAME]`: a service that serves models; None means the best value for its kind."""

    kind: ProviderKind = "openai"
    base_url: BaseUrl = ""
    api_key_env: VariableName = ""
    """The environment variable that holds the key; empty for a server that needs none."""
    auth: Literal["key", "azure", "aws", "google"] | None = None
    """How requests prove who sends them: a key (for Azure in its own header), or a signature for a cloud."""
    region: Annotated[str, Meta(pattern=r"\A[a-z0-9-]{0,40}\Z", description="a region such as us-east-1")] = (
        ""
    )
    window_tokens: Count | None = None
    max_output_tokens: Count | None = None
    headers: dict[HeaderName, HeaderText] = {}
    params: dict[str, Any] = {}
    """Sent with every request."""
    system_prompt_prefix: Annotated[str, Meta(max_length=4096)] = ""
    """Text before the instructions of every request."""
    connect_timeout: Duration | None = None
    idle_timeout: Duration | None = None
    model_file: PathText | None = None
    """A GGUF file; with this or `models_dir`, Bridle starts the server itself."""
    models_dir: PathText | None = None
    executable: PathText | None = None
    host: HostName | None = None
    port: Port | None = None
    ctx_size: CountOrZero | None = None
    n_gpu_layers: CountOrZero | None = None
    threads: CountOrZero | None = None
    slots: Count | None = None
    jinja: bool | None = None
    tool_role: bool | None = None
    tools: Literal["auto", "native", "constrained"] | None = None
    extra_args: tuple[str, ...] = ()
    start_timeout: Duration | None = None


KINDS_OF_KEY: dict[str, tuple[ProviderKind, ...]] = {
    **dict.fromkeys("model_file executable host port jinja tool_role extra_args".split(), ("llama",)),
    **dict.fromkeys("auth region system_prompt_prefix".split(), get_args(ApiKind)),
    **dict.fromkeys(
        "models_dir ctx_size n_gpu_layers threads slots tools start_timeout".split(), ("llama", "embedded")
    ),
}
"""Provider keys that only some kinds have."""


class PriceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[models.NAME.price]`: dollars per million tokens."""

    input: Dollars | None = None
    output: Dollars | None = None
    cache_read: Dollars | None = None
    """Defaults to `input`."""
    cache_write: Dollars | None = None
    """Defaults to `input`."""

    def price(self, name: str) -> Price | None:
        """Return the price as core's type; None if nothing is set. Raises ConfigError."""
        if self == PriceSettings():
            return None
        if self.input is None or self.output is None:
            raise ConfigError(f'models."{name}".price: input and output are both needed')
        return Price(
            self.input,
            self.output,
            self.input if self.cache_read is None else self.cache_read,
            self.input if self.cache_write is None else self.cache_write,
        )


class ModelSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[models."provider/name"]`: facts about one model, which override those that Bridle has."""

    window_tokens: Count | None = None
    max_output_tokens: Count | None = None
    price: PriceSettings = PriceSettings()
    images: bool | None = None
    """Whether it accepts images."""
    reasoning: bool | None = None
    """Whether it can reason."""
    params: dict[str, Any] = {}
    """Sent in runs, merged over those of the provider; titles and summaries do not get them."""
    reasoning_effort: Effort | None = None
    """How much it reasons in runs; overrides those of the agent and of the settings."""


class ConfigFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of a `config.toml`."""

    model: ModelRef = DEFAULT_MODEL
    agent: AgentName = DEFAULT_AGENT
    small_model: ModelRef = ""
    """A fast, cheap model for titles and summaries; empty for none."""
    reasoning_effort: Effort | None = None
    """How much models reason in runs; None leaves it to the vendors."""
    fallbacks: tuple[ModelRef, ...] = ()
    """Models to continue with, in order, when the previous one cannot be reached."""
    max_output_tokens: Count | None = None
    """The longest answer of any model, in tokens; a run or an agent may set another limit."""
    limits: LimitSettings = LimitSettings()
    warn_at: Share = 0.8
    """The part of a limit at which you are warned, once, how much of it is used."""
    retry: RetrySettings = RetrySettings()
    rules: RuleSettings = RuleSettings()
    sandbox: SandboxSettings = SandboxSettings()
    kernel: KernelSettings = KernelSettings()
    daemon: Literal["auto", "running", "never"] = "running"
    """Whether commands use the daemon: started if needed, only if it is running, or never."""
    serve: ServeSettings = ServeSettings()
    http: HttpSettings = HttpSettings()
    grpc: GrpcSettings = GrpcSettings()
    hooks: HookSettings = HookSettings()
    compaction: CompactionPolicy = CompactionPolicy()
    memory: MemorySettings = MemorySettings()
    children: ChildSettings = ChildSettings()
    comms: CommsSettings = CommsSettings()
    mcp: McpSettings = McpSettings()
    lsp: LspSettings = LspSettings()
    store: StoreSettings = StoreSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    scale: ScaleSettings = ScaleSettings()
    tools: ToolSettings = ToolSettings()
    tui: TuiSettings = TuiSettings()
    providers: dict[Name, ProviderSettings] = {}
    models: dict[ModelRef, ModelSettings] = {}


DEFAULTS: dict[str, Any] = {
    "limits": {"max_turns": 100},
    "providers": {
        "embedded": {"kind": "embedded"},
        "anthropic": {
            "kind": "anthropic",
            "base_url": "https://api.anthropic.com",
            "api_key_env": "ANTHROPIC_API_KEY",
        },
        "openai": {
            "kind": "openai-responses",
            "base_url": "https://api.openai.com/v1",
            "api_key_env": "OPENAI_API_KEY",
        },
        "gemini": {
            "kind": "gemini",
            "base_url": "https://generativelanguage.googleapis.com",
            "api_key_env": "GEMINI_API_KEY",
        },
        "openrouter": {
            "kind": "openai",
            "base_url": "https://openrouter.ai/api/v1",
            "api_key_env": "OPENROUTER_API_KEY",
        },
        "deepseek": {
            "kind": "openai",
            "base_url": "https://api.deepseek.com",
            "api_key_env": "DEEPSEEK_API_KEY",
        },
        "mistral": {
            "kind": "openai",
            "base_url": "https://api.mistral.ai/v1",
            "api_key_env": "MISTRAL_API_KEY",
        },
        "groq": {
            "kind": "openai",
            "base_url": "https://api.groq.com/openai/v1",
            "api_key_env": "GROQ_API_KEY",
        },
        "xai": {"kind": "openai", "base_url": "https://api.x.ai/v1", "api_key_env": "XAI_API_KEY"},
        # These two load a model with a 4k context unless configured otherwise, and cut what is longer.
        "ollama": {"kind": "openai", "base_url": "http://127.0.0.1:11434/v1", "window_tokens": 4096},
        "lmstudio": {"kind": "openai", "base_url": "http://127.0.0.1:1234/v1", "window_tokens": 4096},
        "vllm": {"kind": "openai", "base_url": "http://127.0.0.1:8000/v1"},
        "local": {"kind": "openai", "base_url": "http://127.0.0.1:8080/v1"},
        "llama": {"kind": "llama", "base_url": "http://127.0.0.1:8080"},
        "scripted": {"kind": "scripted"},
        "direct": {"kind": "direct"},
    },
}
"""The lowest layer, for defaults that are more than the value of one key."""
