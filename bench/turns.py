"""A 50-turn run with tools over loopback HTTP, store included, against a bare loop with the same client."""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from children import child_figures, serving
from measure import report, rounds
from rows import Line, Row, figure, ours

if TYPE_CHECKING:
    from bridle.core.ports import Models
    from bridle.sessions.service import SessionService
    from bridle.telemetry.exporter import Telemetry

TURNS = 50
ROUNDS = 7  # in one process
PROCESSES = rounds(5)
PROMPT = "Look at every file of this project and say what you find."
SYSTEM = "You are a careful assistant."
SCRIPT = {
    "replies": [
        *(
            {
                "text": f"I will look at file number {n} now and tell you what is in it.",
                "calls": [{"name": "look", "args": {"on": f"file{n}.txt"}}],
            }
            for n in range(TURNS - 1)
        ),
        {"text": "All files have been looked at."},
    ]
}


class Look:
    """A tool that costs almost nothing."""

    parallel = True

    def __init__(self) -> None:
        from bridle.core.tool import ToolSpec

        schema = {"type": "object", "properties": {"on": {"type": "string"}}, "required": ["on"]}
        self.spec = ToolSpec("look", "Looks at a file.", schema)

    def access(self, args: dict[str, Any], context: Any) -> Any:
        from bridle.core.tool import Access, Subject

        return Access("look", "read", (Subject("path", args["on"]),))

    async def preview(self, args: dict[str, Any], context: Any) -> str:
        return ""

    async def run(self, args: dict[str, Any], context: Any) -> Any:
        from bridle.core.ports import ToolOutput

        return ToolOutput(f"{args['on']}: 40 lines of text\n" * 5)


class OneModel:
    """Resolves every reference to one provider."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider

    async def resolve(self, ref: str) -> Any:
        from bridle.core.model import Model

        return self._provider, Model("bench", "bench")

    async def aclose(self) -> None:
        await self._provider.aclose()


def open_service(home: Path, url: str, telemetry: "Telemetry | None" = None) -> "SessionService":
    """Build an engine on the default store; `url` is a server's, or "scripted" for a model in the process."""
    from bridle.app.telemetry import with_telemetry
    from bridle.core.agent import Agent
    from bridle.providers.scripted import ScriptedProvider
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.system_clock import SystemChance, SystemClock
    from bridle.stores.claims import FileClaims
    from bridle.stores.sqlite import SqliteStore

    if url == "scripted":
        models: Models = OneModel(ScriptedProvider.of("Hello to you.", repeat=True))
    else:
        from bridle.providers.openai import OpenAIProvider

        models = OneModel(OpenAIProvider.at("bench", url, ""))
    return SessionService(
        Engine(
            store=with_telemetry(SqliteStore(home / "bridle.db", SystemClock()), telemetry),
            observer=telemetry,
            claims=FileClaims(home / "claims"),
            models=models,
            load_agent=lambda name, cwd: Agent(name, SYSTEM, "bench/bench"),
            tools=[Look()],
            clock=SystemClock(),
            chance=SystemChance(),
        )
    )


async def bridle_run(url: str, telemetry: "Telemetry | None" = None) -> list[float]:
    """Return the CPU seconds of each run through the whole engine, after a run that loads its code."""
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt

    with tempfile.TemporaryDirectory() as home:
        service = open_service(Path(home), url, telemetry)
        times = []
        for _ in range(ROUNDS):
            session = await service.create(cwd=home)
            began = time.process_time()
            receipt = await service.submit(session, Prompt(user_message(PROMPT)))
            ended = await service.wait(session, receipt.run_id, after=receipt.seq)
            times.append(time.process_time() - began)
            assert (ended.outcome, ended.turns) == ("completed", TURNS), ended
        await service.aclose()
    return times[1:]


async def bare_run(url: str) -> list[float]:
    """Return the CPU seconds of each bare loop with the same requests."""
    import aiohttp

    spec = Look().spec
    function = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    times = []
    async with aiohttp.ClientSession() as client:
        for _ in range(ROUNDS):
            began = time.process_time()
            messages: list[dict[str, Any]] = [
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": PROMPT},
            ]
            for _ in range(TURNS):
                body = {
                    "model": "bench",
                    "messages": messages,
                    "tools": [{"type": "function", "function": function}],
                    "stream": True,
                    "stream_options": {"include_usage": True},
                }
                text, calls = await bare_turn(client, url, body)
                reply = {"role": "assistant", "content": text}
                messages.append(reply | ({"tool_calls": calls} if calls else {}))
                for call in calls:
                    on = json.loads(call["function"]["arguments"])["on"]
                    output = f"{on}: 40 lines of text\n" * 5
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})
            times.append(time.process_time() - began)
    return times[1:]


async def bare_turn(client: Any, url: str, body: dict[str, Any]) -> tuple[str, Sequence[dict[str, Any]]]:
    """Send one request and collect the streamed reply."""
    text, calls = "", {}
    async with client.post(f"{url}/chat/completions", json=body) as response:
        async for line in response.content:
            if not line.startswith(b"data: {"):
                continue
            for choice in json.loads(line[6:])["choices"]:
                text += choice["delta"].get("content") or ""
                for piece in choice["delta"].get("tool_calls") or ():
                    call = calls.setdefault(
                        piece["index"],
                        {"id": "", "type": "function", "function": {"name": "", "arguments": ""}},
                    )
                    call["id"] += piece.get("id") or ""
                    call["function"]["name"] += piece["function"].get("name") or ""
                    call["function"]["arguments"] += piece["function"].get("arguments") or ""
    return text, list(calls.values())


def main() -> list[Line]:
    """Compare CPU time over the same scripted server; the bar is 2."""
    times: dict[str, list[float]] = {"bare": [], "bridle": []}
    with serving(SCRIPT) as url:
        for _ in range(PROCESSES):
            for kind, found in times.items():
                found += child_figures(__file__, kind, url)
    each, bare = (
        ours(times["bridle"], scale=1e3 / TURNS),
        figure("a bare loop", times["bare"], scale=1e3 / TURNS),
    )
    return report([Row("turns.cpu", f"a turn with a tool, {TURNS} in a run", "ms CPU", each, (bare,), 2.0)])


if __name__ == "__main__":
    chosen, address = sys.argv[1:]
    print(*asyncio.run(bare_run(address) if chosen == "bare" else bridle_run(address)))
