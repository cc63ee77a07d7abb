"""Time of a run with 32 tools, or 32 sub-agents, of 100 ms each at once, on the default store."""

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from measure import report, rounds
from rows import Line, Row, figure, ours

COUNT = 32
EACH_S = 0.1
ROUNDS = rounds(5)


class Slow:
    """A tool that takes 100 ms."""

    parallel = True

    def __init__(self) -> None:
        from bridle.core.tool import ToolSpec

        self.spec = ToolSpec("slow", "Takes its time.", {"type": "object", "properties": {}, "required": []})

    def access(self, args: dict[str, Any], context: Any) -> Any:
        from bridle.core.tool import Access

        return Access("slow", "read", ())

    async def preview(self, args: dict[str, Any], context: Any) -> str:
        return ""

    async def run(self, args: dict[str, Any], context: Any) -> Any:
        from bridle.core.ports import ToolOutput

        await asyncio.sleep(EACH_S)
        return ToolOutput("done")


class Caller:
    """A model that makes 32 calls at once, and answers every other prompt after 100 ms."""

    def __init__(self, name: str, args: dict[str, Any]) -> None:
        self._name = name
        self._args = args

    async def stream(self, request: Any) -> AsyncGenerator[Any, None]:
        from bridle.core.messages import Message, Text, ToolCall
        from bridle.core.model import ModelReply

        said = request.messages[-1]
        if said.role == "tool":
            yield ModelReply(Message("assistant", (Text("all done"),)), "end_turn")
        elif said.text == "go":
            calls = tuple(ToolCall(f"c{n}", self._name, self._args) for n in range(COUNT))
            yield ModelReply(Message("assistant", calls), "tool_use")
        else:
            await asyncio.sleep(EACH_S)
            yield ModelReply(Message("assistant", (Text("done"),)), "end_turn")

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""


async def run_all(home: Path, provider: Caller, tools: Sequence[Any]) -> list[float]:
    """Return the wall seconds of each run from its prompt to its recorded end."""
    from turns import OneModel

    from bridle.config.keys import ConfigFile, ToolSettings
    from bridle.core.agent import Agent
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt
    from bridle.sessions.agent_tree import ChildPolicy
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.system_clock import SystemChance, SystemClock
    from bridle.stores.claims import FileClaims
    from bridle.stores.sqlite import SqliteStore

    service = SessionService(
        Engine(
            store=SqliteStore(home / "bridle.db", SystemClock()),
            claims=FileClaims(home / "claims"),
            models=OneModel(provider),
            load_agent=lambda name, cwd: Agent(name, "You are busy.", "bench/bench"),
            tools=tools,
            clock=SystemClock(),
            chance=SystemChance(),
            children=ChildPolicy(max_running=COUNT, max_children=COUNT),
            settings=ConfigFile(tools=ToolSettings(max_parallel=COUNT)),
        )
    )
    times = []
    for _ in range(ROUNDS):
        session = await service.create(cwd=str(home))
        began = time.perf_counter()
        receipt = await service.submit(session, Prompt(user_message("go")))
        ended = await service.wait(session, receipt.run_id, after=receipt.seq)
        times.append(time.perf_counter() - began)
        assert (ended.outcome, ended.text, ended.tool_calls >= COUNT) == ("completed", "all done", True), (
            ended
        )
    await service.aclose()
    return times


def main() -> list[Line]:
    """Measure both."""
    from bridle.tools.agents import agent_tools

    plays = {
        "tools": (Caller("slow", {}), [Slow()]),
        "sub-agents": (Caller("agent_spawn", {"prompt": "think"}), list(agent_tools())),
    }
    rows = []
    for what, (provider, tools) in plays.items():
        with tempfile.TemporaryDirectory() as home:
            took = ours(asyncio.run(run_all(Path(home), provider, tools)), scale=1e3)
        name = f"{COUNT} {what} of {EACH_S * 1000:.0f} ms at once"
        rows.append(Row(f"parallel.{what}", name, "ms", took, (figure("one alone", [EACH_S * 1e3]),), 1.6))
    return report(rows)


if __name__ == "__main__":
    main()
