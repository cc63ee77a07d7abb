"""Fetches all pages of a list, or raises an error if the list has no end."""

from collections.abc import Awaitable, Callable
from typing import Any

from bridle.core.errors import ToolError

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
