"""Lists in pages."""

from collections.abc import Callable
from typing import Any

import pytest
from mcp_types import ListToolsResult, Tool

from bridle.core.errors import ToolError
from bridle.mcp.offers import MAX_ITEMS, MAX_PAGES, fetch_all


def tool(name: str, **more: Any) -> Tool:
    return Tool(name=name, input_schema={"type": "object"}, **more)


def pages(make: Callable[[int], ListToolsResult]) -> Any:
    async def fetch(cursor: str | None) -> ListToolsResult:
        return make(int(cursor or 0))

    return fetch


async def test_all_pages_are_put_together():
    def page(at: int) -> ListToolsResult:
        return ListToolsResult(tools=[tool(f"t{at}")], next_cursor=str(at + 1) if at < 9 else None)

    assert [one.name for one in await fetch_all(pages(page), "tools")] == [
        f"t{number}" for number in range(10)
    ]


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (
            lambda at: ListToolsResult(tools=[], next_cursor=str(at + 1)),
            f"there are more than {MAX_PAGES} pages",
        ),
        (lambda at: ListToolsResult(tools=[], next_cursor="3"), "a page refers back to an earlier one"),
        (
            lambda at: ListToolsResult(tools=[tool("x")] * 2000, next_cursor=str(at + 1)),
            f"it offers more than {MAX_ITEMS:,}",
        ),
        (
            lambda at: ListToolsResult(
                tools=[tool("x", description="y" * 1_000_000)], next_cursor=str(at + 1)
            ),
            "they take more than 8 MiB",
        ),
    ],
)
async def test_a_list_without_end_is_an_error(page: Callable[[int], ListToolsResult], why: str):
    with pytest.raises(ToolError) as raised:
        await fetch_all(pages(page), "tools")

    assert str(raised.value) == f"its list of tools has no end: {why}"
