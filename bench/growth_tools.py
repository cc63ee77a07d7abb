"""Cost of a turn, and size of its request, with more and more tools from MCP servers.

If there are many tools, requests do not contain their schemas: the model finds them by search.
"""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from growth_stage import curve, open_service, run_cpu_s, take_turns
from measure import report, rounds
from rows import Line
from turns import Look

SIZES = (10, 30, 100, 1_000)
ROUNDS = rounds(40)
BAR_CPU = 0.4
BAR_BYTES = 0.2


class Lenders:
    """MCP servers with many similar tools."""

    def __init__(self, count: int) -> None:
        from bridle.core.mcp_servers import ToolOffer
        from bridle.core.tool import ToolSpec

        tools = []
        for number in range(count):
            tool = Look()
            text = f"Looks at things of kind {number} and says what there is to see, with all of its details."
            name = f"mcp__server{number // 20}__look_at_{number}"
            tool.spec = ToolSpec(name, text, tool.spec.parameters)
            tools.append(tool)
        self._offer = ToolOffer(tuple(tools))

    async def offer(self, session: Any, cwd: str) -> Any:
        """Return all tools."""
        return self._offer

    async def expand(self, session: Any, cwd: str, text: str) -> None:
        """Return no prompts."""

    async def views(self, cwd: str) -> tuple[Any, ...]:
        """Return no servers."""
        return ()

    async def prompts(self, cwd: str) -> tuple[Any, ...]:
        """Return no prompts."""
        return ()

    async def end_session(self, session: Any) -> None:
        """Do nothing: there is nothing to close."""

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


class Weighing:
    """A model that answers at once, and records the size of its request."""

    def __init__(self) -> None:
        self.shown_bytes = 0

    async def stream(self, request: Any) -> AsyncGenerator[Any, None]:
        """Answer."""
        from msgspec.json import encode

        from bridle.core.messages import Message, Text
        from bridle.core.model import ModelReply

        self.shown_bytes = self.shown_bytes or len(encode(request))
        yield ModelReply(Message("assistant", (Text("Hello."),)), "end_turn")

    async def aclose(self) -> None:
        """Hold nothing."""


async def measure(folder: Path) -> list[Line]:
    """Measure services with different numbers of tools in turn."""
    models, services, works = {}, {}, {}
    for size in SIZES:
        home = folder / str(size)
        home.mkdir()
        models[size] = Weighing()
        services[size] = open_service(home, models[size], servers=Lenders(size))

        async def turn(size: int = size, home: Path = home) -> float:
            return await run_cpu_s(services[size], await services[size].create(cwd=str(home)))

        works[size] = turn
    found = await take_turns(works, ROUNDS)
    for service in services.values():
        await service.aclose()
    shown = {size: [float(model.shown_bytes)] for size, model in models.items()}
    against = "tools from servers"
    return [
        curve("growth.tools.cpu", "the first turn of a session", against, found, BAR_CPU),
        curve("growth.tools.bytes", "the first request", against, shown, BAR_BYTES, unit="bytes", scale=1.0),
    ]


def main() -> list[Line]:
    """Fit a power of the number of tools."""
    with tempfile.TemporaryDirectory() as folder:
        return report(asyncio.run(measure(Path(folder))))


if __name__ == "__main__":
    main()
