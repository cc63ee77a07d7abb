"""Provider and model settings that the catalog reads, and the model facts that it returns."""

from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ConfigError
from bridle.core.model import Effort, Model, Price, ProviderKind
from bridle.providers.llama import LlamaOptions
from bridle.providers.model_data import KnownModel

CloudAuth = Literal["key", "azure", "aws", "google"]
"""How requests prove who sends them: a key (for Azure in its own header), or a signature for a cloud."""


class ProviderEntry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of one provider."""

    kind: ProviderKind = "openai"
    base_url: str = ""
    api_key_env: str = ""
    """The environment variable that holds the API key; empty if no key is needed."""
    window_tokens: int | None = None
    max_output_tokens: int | None = None
    headers: dict[str, str] = {}
    params: dict[str, Any] = {}
    """Parameters of every request; those of an agent or a request override them."""
    auth: CloudAuth = "key"
    region: str = ""
    """The region that AWS signatures are for."""
    system_prefix: str = ""
    """Text before the instructions of every request."""
    connect_timeout_s: float = 15.0
    idle_timeout_s: float = 300.0
    server: LlamaOptions = LlamaOptions()
    """How Bridle starts a local server."""
    tools: Literal["auto", "native", "constrained"] = "auto"
    tool_role: bool | None = None

    @property
    def is_ours(self) -> bool:
        """True if Bridle starts the server itself."""
        return self.kind == "embedded" or (
            self.kind == "llama" and bool(self.server.model or self.server.models_dir)
        )


class ModelEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """User settings of one model; None keeps the known value."""

    window_tokens: int | None = None
    max_output_tokens: int | None = None
    price: Price | None = None
    images: bool | None = None
    reasoning: bool | None = None
    params: dict[str, Any] = {}
    effort: Effort | None = None

    def over(self, facts: Model) -> Model:
        """Return the facts of a model with these settings applied."""
        said = {name: getattr(self, name) for name in self.__struct_fields__}
        return replace(facts, **{name: value for name, value in said.items() if value is not None})


class ModelFacts(Struct, frozen=True):
    """Facts of a model that need no request."""

    model: Model
    kind: ProviderKind
    known: KnownModel | None
    """The entry in the packaged data, if any."""
    key_env: str
    """The environment variable that holds its API key; empty if no key is needed."""
    has_key: bool
    """True if that variable is set or not needed."""
    near: tuple[str, ...] = ()
    """Similar model names of the same vendor, if the data lacks this one."""


def validate_entry(name: str, entry: ProviderEntry, key: str) -> None:
    """Check the address, headers and key before they are sent; raises ConfigError if one is unusable."""
    try:
        address = urlsplit(entry.base_url)
        usable = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            f'provider "{name}": base_url {entry.base_url!r} is not an address',
            hint="it looks like https://host/v1",
        )
    for header, value in entry.headers.items():
        if not header or not (header + value).isprintable() or not header.isascii():
            raise ConfigError(f'provider "{name}": the header {header!r} cannot be sent')
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f'provider "{name}": {entry.api_key_env} contains characters that are not valid in a key'
        )
