"""An SDK server with a bit of everything: `python plain.py [name]`."""

import asyncio
import base64
import os
import sys

from mcp.server.mcpserver import Context, Image, MCPServer

server = MCPServer(sys.argv[1] if len(sys.argv) > 1 else "plain", instructions="Use these tools with care.")
started: list[str] = []


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(structured_output=False)
def say(text: str) -> str:
    """Say it again."""
    return text


@server.tool()
def pid() -> int:
    """Return which process this is."""
    return os.getpid()


@server.tool(structured_output=False)
async def hang() -> str:
    """Never come back."""
    print("hanging", file=sys.stderr, flush=True)
    try:
        await asyncio.sleep(3600)
    finally:
        print("let go", file=sys.stderr, flush=True)
    return "never"


@server.tool(structured_output=False)
def crash() -> str:
    """End the server."""
    print("what a day", file=sys.stderr, flush=True)
    os._exit(7)


@server.tool(structured_output=False)
async def work(steps: int, context: Context) -> str:
    """Show progress."""
    for step in range(1, steps + 1):
        await context.report_progress(step, steps, f"step {step}")
    return "done"


@server.tool(structured_output=False)
def much(size: int, images: int) -> list[object]:
    """Give back a lot."""
    picture = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    return ["x" * size, *(Image(data=picture, format="png") for _ in range(images))]


@server.tool(structured_output=False)
def fail() -> str:
    """Raise an error."""
    raise ValueError("it went wrong")


@server.tool(structured_output=False)
async def grow(context: Context) -> str:
    """Offer one tool more."""

    def extra() -> str:
        return "extra"

    server.add_tool(extra, name="extra", description="Came later.", structured_output=False)
    await context.notify_tools_changed()
    return "grown"


@server.tool(structured_output=False)
async def touch(context: Context) -> str:
    """Say that a resource has changed."""
    await context.notify_resource_updated("memo://today")
    return "touched"


@server.resource("memo://today", title="Today", mime_type="text/plain")
def today() -> str:
    """What is to be done."""
    return "write tests"


@server.resource("memo://{day}")
def day(day: str) -> str:
    """What is to be done on a day."""
    return f"nothing on {day}"


@server.prompt()
def greet(name: str, mood: str = "calm") -> str:
    """Greet someone."""
    return f"Greet {name} in a {mood} way."


server.run("stdio")
