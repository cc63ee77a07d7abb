"""What a catalogue is told about providers and models, and what it tells about a model."""

from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from bridle.core.errors import ConfigError
from bridle.core.model import Model, Price
from bridle.providers.known import KnownModel
from bridle.providers.llama import LlamaOptions

ProviderKind = Literal[
    "openai", "openai-responses", "anthropic", "gemini", "llama", "embedded", "scripted", "direct"
]


class ProviderEntry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How to reach one provider."""

    kind: ProviderKind = "openai"
    base_url: str = ""
    api_key_env: str = ""
    """The environment variable that holds the key; empty where no key is needed."""
    window_tokens: int | None = None
    max_output_tokens: int | None = None
    headers: dict[str, str] = {}
    params: dict[str, Any] = {}
    """Sent with every request, unless an agent or a request says otherwise."""
    connect_timeout_s: float = 15.0
    idle_timeout_s: float = 300.0
    server: LlamaOptions = LlamaOptions()
    """How a local server is started."""
    tools: Literal["auto", "native", "constrained"] = "auto"
    tool_role: bool | None = None

    @property
    def is_ours(self) -> bool:
        """Tell whether Bridle starts the server itself."""
        return self.kind == "embedded" or (
            self.kind == "llama" and bool(self.server.model or self.server.models_dir)
        )


class ModelEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """What the user says about one model."""

    window_tokens: int | None = None
    max_output_tokens: int | None = None
    price: Price | None = None


class ModelFacts(Struct, frozen=True):
    """What is known about a model without asking anybody."""

    model: Model
    kind: ProviderKind
    known: KnownModel | None
    """What the data in the package says."""
    key_env: str
    """The variable that holds its key; empty where no key is needed."""
    has_key: bool
    """Whether that variable is set, or not needed."""
    near: tuple[str, ...] = ()
    """Models of the same vendor with a name like this one, if the data does not have it."""


def check_entry(name: str, entry: ProviderEntry, key: str) -> None:
    """Find what would only fail, or leak, once it is sent; raises ConfigError."""
    try:
        address = urlsplit(entry.base_url)
        usable = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            f'provider "{name}": base_url {entry.base_url!r} is no address',
            hint="it looks like https://host/v1",
        )
    for header, value in entry.headers.items():
        if not header or not (header + value).isprintable() or not header.isascii():
            raise ConfigError(f'provider "{name}": the header {header!r} cannot be sent')
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f'provider "{name}": {entry.api_key_env} holds characters that no key has')
