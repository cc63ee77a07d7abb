"""What a server offers, as plain values that do not depend on the SDK."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from bridle.core.errors import ToolError

# ---------------------------------------------------------------------------- pagination
# Fetches all pages of a list, or raises an error if the list has no end.


MAX_ITEMS = 10_000
MAX_PAGES = 100
MAX_LIST_BYTES = 8 * 1024 * 1024


async def fetch_all(fetch: Callable[..., Awaitable[Any]], key: str) -> list[Any]:
    """Return the items of all pages; raises ToolError if there are too many, or if a page repeats."""
    found: list[Any] = []
    seen: set[str] = set()
    cursor: str | None = None
    size = 0
    for _ in range(MAX_PAGES):
        page = await fetch(cursor=cursor)
        items = getattr(page, key)
        size += sum(len(one.model_dump_json()) for one in items)
        found += items
        if len(found) > MAX_ITEMS:
            raise _endless(key, f"it offers more than {MAX_ITEMS:,}")
        if size > MAX_LIST_BYTES:
            raise _endless(key, f"they take more than {MAX_LIST_BYTES // 2**20} MiB")
        cursor = page.next_cursor
        if not cursor:
            return found
        if cursor in seen:
            raise _endless(key, "a page refers back to an earlier one")
        seen.add(cursor)
    raise _endless(key, f"there are more than {MAX_PAGES} pages")


def _endless(key: str, why: str) -> ToolError:
    return ToolError(f"its list of {key.replace('_', ' ')} has no end: {why}")


# ---------------------------------------------------------------------------- offers


class OfferedTool(Struct, frozen=True):
    """A tool, by the server's own name."""

    name: str
    description: str
    schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None


class OfferedArgument(Struct, frozen=True):
    """An argument of a prompt."""

    name: str
    is_required: bool = False


class OfferedPrompt(Struct, frozen=True):
    """A prompt, by the server's own name."""

    name: str
    description: str = ""
    arguments: tuple[OfferedArgument, ...] = ()


class OfferedResource(Struct, frozen=True):
    """A resource: an address, or for a template a pattern of addresses."""

    uri: str
    name: str
    description: str = ""
    mime: str = ""
    is_template: bool = False


class Offers(Struct, frozen=True):
    """Everything that a server offered at the last request."""

    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    resources: tuple[OfferedResource, ...] = ()
    """Templates come last."""
    instructions: str = ""
    about: str = ""
    """Its name, version and protocol revision."""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""
