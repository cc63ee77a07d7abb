"""LangGraph, as the graph that LangChain's `create_agent` builds."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

NAME = "LangGraph"
PACKAGES = ("langgraph", "langchain", "langchain-openai", "langgraph-checkpoint-sqlite")
BEST = "create_agent with ChatOpenAI, whole answers, astream for fragments; a checkpointer only to resume"
STORE = "AsyncSqliteSaver"
CONFIG = {"recursion_limit": 1_000, "configurable": {"thread_id": "bench"}}


def run(url: str, tools: Sequence[Callable[..., Any]]) -> Callable[[str], Awaitable[str]]:
    """Run one graph repeatedly."""
    agent = _agent(url, tools)

    async def ask(prompt: str) -> str:
        return await _answer(agent, prompt)

    return ask


def stream(url: str) -> Callable[[str], Awaitable[int]]:
    """Count the chunks with a text."""
    agent = _agent(url, (), streaming=True)

    async def ask(prompt: str) -> int:
        seen = 0
        async for chunk, _ in agent.astream(_asked(prompt), CONFIG, stream_mode="messages"):
            seen += bool(chunk.content)
        return seen

    return ask


async def save(place: Path, said: Sequence[str]) -> None:
    """Put the messages into the state of a thread."""
    from langchain_core.messages import AIMessage, HumanMessage

    messages = [AIMessage(text) if number % 2 else HumanMessage(text) for number, text in enumerate(said)]
    async with _saver(place) as saver:
        await _agent("http://127.0.0.1", (), saver=saver).aupdate_state(
            CONFIG, {"messages": messages}, "model"
        )


def resume(url: str, place: Path) -> Callable[[str], Awaitable[str]]:
    """Continue the thread."""

    async def ask(prompt: str) -> str:
        async with _saver(place) as saver:
            return await _answer(_agent(url, (), saver=saver), prompt)

    return ask


async def _answer(agent: Any, prompt: str) -> str:
    return str((await agent.ainvoke(_asked(prompt), CONFIG))["messages"][-1].text)


def _asked(prompt: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": prompt}]}


def _agent(
    url: str, tools: Sequence[Callable[..., Any]], *, saver: Any = None, streaming: bool = False
) -> Any:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
    from peers_play import SYSTEM

    model = ChatOpenAI(model="bench", base_url=url, api_key="none", streaming=streaming)
    return create_agent(model, list(tools), system_prompt=SYSTEM, checkpointer=saver)


def _saver(place: Path) -> Any:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    return AsyncSqliteSaver.from_conn_string(str(place / "threads.db"))
