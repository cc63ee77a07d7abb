"""A 50-turn tool run over loopback HTTP, store included, against a bare loop with the same client."""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure import PYTHON, report

if TYPE_CHECKING:
    from bridle.core.ports import Models
    from bridle.sessions.service import SessionService
    from bridle.telemetry.opening import Telemetry

TURNS = 50
ROUNDS = 7
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
    """A tool that costs next to nothing."""

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
    """Build an engine on the default store; `url` is a server's, or "scripted" for one in the process."""
    from bridle.app.telemetry import watched
    from bridle.core.agent import Agent
    from bridle.providers.scripted import ScriptedProvider
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.world import SystemChance, SystemClock
    from bridle.stores.claims import FileClaims
    from bridle.stores.sqlite import SqliteStore

    if url == "scripted":
        models: Models = OneModel(ScriptedProvider.of("Hello to you.", repeat=True))
    else:
        from bridle.providers.openai import OpenAIProvider

        models = OneModel(OpenAIProvider.at("bench", url, ""))
    return SessionService(
        Engine(
            store=watched(SqliteStore(home / "bridle.db", SystemClock()), telemetry),
            observer=telemetry,
            claims=FileClaims(home / "claims"),
            models=models,
            load_agent=lambda name, cwd: Agent(name, SYSTEM, "bench/bench"),
            tools=[Look()],
            clock=SystemClock(),
            chance=SystemChance(),
        )
    )


async def bridle_run(url: str, telemetry: "Telemetry | None" = None) -> float:
    """Return the CPU seconds of one run through the whole engine."""
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt

    with tempfile.TemporaryDirectory() as home:
        service = open_service(Path(home), url, telemetry)
        session = await service.create(cwd=home)
        best = 1e9
        for _ in range(ROUNDS):
            session = await service.create(cwd=home)
            began = time.process_time()
            receipt = await service.submit(session, Prompt(user_message(PROMPT)))
            ended = await service.wait(session, receipt.run_id, after=receipt.seq)
            best = min(best, time.process_time() - began)
            assert (ended.outcome, ended.turns) == ("completed", TURNS), ended
        await service.aclose()
    return best


async def bare_run(url: str) -> float:
    """Return the CPU seconds of a loop with nothing around the same requests."""
    import aiohttp

    spec = Look().spec
    function = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    best = 1e9
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
            best = min(best, time.process_time() - began)
    return best


async def bare_turn(client: Any, url: str, body: dict[str, Any]) -> tuple[str, Sequence[dict[str, Any]]]:
    """Send one request and gather the streamed reply."""
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


def main() -> list[tuple[str, float, float]]:
    """Compare CPU time over the same scripted server; the bar is 2.5."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps(SCRIPT))
        server = subprocess.Popen(
            [PYTHON, "-m", "bridle.providers.scripted_server", str(script)], stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        url = server.stdout.readline().strip() + "/v1"
        try:
            times = {
                kind: float(subprocess.check_output([PYTHON, __file__, kind, url]))
                for kind in ("bare", "bridle")
            }
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()
    each = {kind: seconds / TURNS * 1000 for kind, seconds in times.items()}
    print(f"CPU per turn: bare {each['bare']:.2f} ms, bridle {each['bridle']:.2f} ms")
    return report([("50-turn run / bare loop (CPU)", times["bridle"] / times["bare"], 2.5)])


if __name__ == "__main__":
    kind, address = sys.argv[1:]
    sys.stdout.write(str(asyncio.run(bare_run(address) if kind == "bare" else bridle_run(address))))
