"""agno's Agent."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from peers_play import MESSAGES, SYSTEM

NAME = "agno"
PACKAGES = ("agno", "openai", "sqlalchemy[asyncio]", "aiosqlite")
BEST = (
    "Agent with OpenAILike, whole answers, stream=True for fragments; no telemetry, a database only to resume"
)
STORE = "AsyncSqliteDb"


def run(url: str, tools: Sequence[Callable[..., Any]]) -> Callable[[str], Awaitable[str]]:
    """Run one agent repeatedly."""
    agent = _agent(url, tools=list(tools))

    async def ask(prompt: str) -> str:
        return _last(await agent.arun(prompt))

    return ask


def stream(url: str) -> Callable[[str], Awaitable[int]]:
    """Count the events with a text."""
    from agno.run.agent import RunContentEvent

    agent = _agent(url)

    async def ask(prompt: str) -> int:
        events = agent.arun(prompt, stream=True)
        return sum([isinstance(event, RunContentEvent) and bool(event.content) async for event in events])

    return ask


async def save(place: Path, said: Sequence[str]) -> None:
    """Store runs with these messages in a session."""
    from agno.models.message import Message
    from agno.run.agent import RunOutput
    from agno.run.base import RunStatus
    from agno.session.agent import AgentSession

    database = _database(place)
    await database.upsert_session(AgentSession("bench", agent_id="bench"))
    for number in range(0, len(said), 2):
        run = RunOutput(
            run_id=f"run-{number}",
            agent_id="bench",
            session_id="bench",
            content=said[number + 1],
            messages=[
                Message(role="user", content=said[number]),
                Message(role="assistant", content=said[number + 1]),
            ],
            status=RunStatus.completed,
        )
        await database.upsert_run(run, "bench", run_index=number // 2)


def resume(url: str, place: Path) -> Callable[[str], Awaitable[str]]:
    """Continue the session."""
    agent = _agent(
        url, db=_database(place), session_id="bench", add_history_to_context=True, num_history_runs=MESSAGES
    )

    async def ask(prompt: str) -> str:
        return _last(await agent.arun(prompt))

    return ask


def _last(output: Any) -> str:
    return str(output.messages[-1].content)  # its `content` covers all turns


def _database(place: Path) -> Any:
    from agno.db.sqlite import AsyncSqliteDb

    return AsyncSqliteDb(db_file=str(place / "agno.db"))


def _agent(url: str, **options: Any) -> Any:
    from agno.agent import Agent
    from agno.models.openai.like import OpenAILike

    model = OpenAILike(id="bench", base_url=url, api_key="none")
    return Agent(model=model, id="bench", instructions=SYSTEM, telemetry=False, **options)
