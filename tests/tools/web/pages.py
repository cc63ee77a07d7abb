"""Responses of a server, and what a tool makes of them."""

from typing import Any

import pytest

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext
from bridle.tools.web import WebFetch


def answer(body: bytes, *headers: str, status: str = "200 OK", kind: str = "text/plain") -> bytes:
    lines = [f"HTTP/1.1 {status}", *([f"Content-Type: {kind}"] if kind else []), *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(b"", f"Location: {location}", status=status)


async def fetch(context: ToolContext, url: str, tool: WebFetch | None = None, **args: Any) -> str:
    return (await (tool or WebFetch()).run({"url": url, **args}, context)).text


async def refusal(context: ToolContext, url: str, tool: WebFetch | None = None, **args: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await fetch(context, url, tool, **args)
    return str(caught.value)
