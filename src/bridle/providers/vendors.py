"""Known model vendors, by host name: where to create an API key, and how their API differs from the others.

A configured provider belongs to a vendor if its address has the same host; its name does not matter.
"""

from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

LimitKey = Literal["max_tokens", "max_completion_tokens"]


class Quirks(Struct, frozen=True):
    """How a Chat Completions server differs from most others."""

    limit_key: LimitKey = "max_tokens"
    """The name of the parameter that limits the reply length."""
    has_stream_options: bool = True
    """True if the server accepts `stream_options`; a server that does not still reports the tokens."""
    reasoning_key: str = ""
    """The field that must carry the reasoning of an assistant message with tool calls."""
    call_id_chars: int = 0
    """The exact length of a call's id, letters and digits only; 0 allows any id."""
    takes_temperature: bool = True
    """True if all models of the server accept a temperature."""
    effort_key: Literal["reasoning_effort", "reasoning", "thinking"] = "reasoning_effort"
    """The parameter for the effort; `reasoning` is a table, and `thinking` a switch besides the usual one."""
    reports_cost: bool = False
    """True if the usage that it reports has the cost in dollars."""
    takes_any_schema: bool = True
    """True if the root of an output schema may be something other than an object."""


class Vendor(Struct, frozen=True):
    """A model vendor."""

    name: str
    """The vendor's name in the packaged model data."""
    key_page: str
    quirks: Quirks = Quirks()
    headers: dict[str, str] = {}
    """Headers of every request; those of the settings override them."""
    params: dict[str, Any] = {}
    """Parameters of every request; those of the settings are merged over them."""


VENDORS: dict[str, Vendor] = {
    "api.anthropic.com": Vendor("anthropic", "https://platform.claude.com/settings/keys"),
    # Its thinking mode rejects a turn with calls that lacks the field; an empty value is accepted.
    "api.deepseek.com": Vendor(
        "deepseek",
        "https://platform.deepseek.com/api_keys",
        Quirks(reasoning_key="reasoning_content", effort_key="thinking"),
    ),
    "api.groq.com": Vendor("groq", "https://console.groq.com/keys"),
    # Its request type (mistralai 3.7) has no stream_options, and it rejects unknown fields with 422.
    # Its error 3280 says that an id must be a-z, A-Z, 0-9 with a length of 9.
    "api.mistral.ai": Vendor(
        "mistral",
        "https://console.mistral.ai/api-keys",
        Quirks(has_stream_options=False, call_id_chars=9),
    ),
    # Its reasoning models reject max_tokens, and any temperature but 1.
    "api.openai.com": Vendor(
        "openai",
        "https://platform.openai.com/api-keys",
        Quirks(limit_key="max_completion_tokens", takes_temperature=False, takes_any_schema=False),
    ),
    "api.x.ai": Vendor("xai", "https://console.x.ai"),
    "generativelanguage.googleapis.com": Vendor("gemini", "https://aistudio.google.com/apikey"),
    "openrouter.ai": Vendor(
        "openrouter",
        "https://openrouter.ai/settings/keys",
        Quirks(effort_key="reasoning", reports_cost=True),
        headers={"X-Title": "Bridle"},
        params={"usage": {"include": True}},
    ),
}


AZURE_HOSTS = ".openai.azure.com"
AZURE = Vendor("openai", "https://ai.azure.com", VENDORS["api.openai.com"].quirks)
"""OpenAI's models at Azure: a deployment with the name of its model is known."""


def vendor_at(base_url: str) -> Vendor | None:
    """Return the vendor at an address; None if unknown."""
    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:  # an invalid IPv6 address
        return None
    return AZURE if host.endswith(AZURE_HOSTS) else VENDORS.get(host)
