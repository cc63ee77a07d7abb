"""The vendors Bridle knows by their address: where a key is made, and where their wire differs from the rest.

A configured provider is one of these if its address is on the same host, whatever it is called.
"""

from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

LimitKey = Literal["max_tokens", "max_completion_tokens"]


class Quirks(Struct, frozen=True):
    """How a Chat Completions server differs from most others."""

    limit_key: LimitKey = "max_tokens"
    """What the longest answer is called."""
    has_stream_options: bool = True
    """Whether it takes `stream_options`; one that does not reports the tokens anyway."""
    reasoning_key: str = ""
    """The field in which a turn with tool calls has to bring its reasoning back."""
    call_id_chars: int = 0
    """The exact length of a call's id, of letters and digits; 0 takes any."""
    takes_temperature: bool = True
    """Whether every model of it does."""
    takes_any_schema: bool = True
    """Whether an answer may be held to a schema of something other than an object."""


class Vendor(Struct, frozen=True):
    """One vendor of models."""

    name: str
    """What it is called in the catalogue's data."""
    key_page: str
    quirks: Quirks = Quirks()


VENDORS: dict[str, Vendor] = {
    "api.anthropic.com": Vendor("anthropic", "https://platform.claude.com/settings/keys"),
    # Its thinking mode refuses a turn with calls that lacks the field; an empty one will do.
    "api.deepseek.com": Vendor(
        "deepseek", "https://platform.deepseek.com/api_keys", Quirks(reasoning_key="reasoning_content")
    ),
    "api.groq.com": Vendor("groq", "https://console.groq.com/keys"),
    # Its request type (mistralai 3.7) has no stream_options, and what it does not know it answers with 422;
    # its error 3280 says that an id is a-z, A-Z, 0-9 with a length of 9.
    "api.mistral.ai": Vendor(
        "mistral",
        "https://console.mistral.ai/api-keys",
        Quirks(has_stream_options=False, call_id_chars=9),
    ),
    # Its reasoning models refuse max_tokens, and any temperature but 1.
    "api.openai.com": Vendor(
        "openai",
        "https://platform.openai.com/api-keys",
        Quirks(limit_key="max_completion_tokens", takes_temperature=False, takes_any_schema=False),
    ),
    "api.x.ai": Vendor("xai", "https://console.x.ai"),
    "generativelanguage.googleapis.com": Vendor("gemini", "https://aistudio.google.com/apikey"),
    "openrouter.ai": Vendor("openrouter", "https://openrouter.ai/settings/keys"),
}


def vendor_at(base_url: str) -> Vendor | None:
    """Return the vendor behind an address; None for one that is not known."""
    try:
        return VENDORS.get(urlsplit(base_url).hostname or "")
    except ValueError:  # half of an IPv6 address
        return None
