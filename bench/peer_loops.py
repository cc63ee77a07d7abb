"""The run of `turns.py` as each peer's documentation has one write it; run in the peer's own environment.

`python peer_loops.py PEER whole|streamed URL` prints the CPU seconds of each run.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

from turns import PROMPT, ROUNDS, SCRIPT, SYSTEM, TURNS

Run = Callable[[], Awaitable[tuple[int, str]]]
"""Performs one run; returns how many turns it had and its last text."""


async def look(on: str) -> str:
    """Looks at a file."""
    return f"{on}: 40 lines of text\n" * 5


def pydantic_ai(url: str, *, streamed: bool) -> Run:
    """Return a run of pydantic-ai's Agent."""
    from pydantic_ai import Agent, AgentRunResultEvent, UsageLimits
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("bench", provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(model, instructions=SYSTEM, tools=[look])
    limits = UsageLimits(request_limit=None)

    async def whole() -> tuple[int, str]:
        result = await agent.run(PROMPT, usage_limits=limits)
        return result.usage.requests, result.output

    async def stream() -> tuple[int, str]:
        async with agent.run_stream_events(PROMPT, usage_limits=limits) as events:
            async for event in events:
                if isinstance(event, AgentRunResultEvent):
                    result = event.result
        return result.usage.requests, result.output

    return stream if streamed else whole


def langgraph(url: str, *, streamed: bool) -> Run:
    """Return a run of the graph that LangChain's `create_agent` builds."""
    from langchain.agents import create_agent
    from langchain_core.messages import AIMessage
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="bench", base_url=url, api_key="none")
    agent = create_agent(model, [look], system_prompt=SYSTEM)
    asked = {"messages": [{"role": "user", "content": PROMPT}]}
    config = {"recursion_limit": 10 * TURNS}

    async def whole() -> tuple[int, str]:
        return ended((await agent.ainvoke(asked, config))["messages"])

    async def stream() -> tuple[int, str]:
        async for mode, item in agent.astream(asked, config, stream_mode=["messages", "values"]):
            if mode == "values":
                messages = item["messages"]
        return ended(messages)

    def ended(messages: list[object]) -> tuple[int, str]:
        answers = [message for message in messages if isinstance(message, AIMessage)]
        return len(answers), answers[-1].text

    return stream if streamed else whole


def openai_agents(url: str, *, streamed: bool) -> Run:
    """Return a run of the OpenAI Agents SDK's Runner."""
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(disabled=True)
    client = AsyncOpenAI(base_url=url, api_key="none")
    model = OpenAIChatCompletionsModel("bench", client)
    agent = Agent(name="bench", instructions=SYSTEM, tools=[function_tool(look)], model=model)

    async def whole() -> tuple[int, str]:
        result = await Runner.run(agent, PROMPT, max_turns=TURNS)
        return len(result.raw_responses), result.final_output

    async def stream() -> tuple[int, str]:
        result = Runner.run_streamed(agent, PROMPT, max_turns=TURNS)
        async for _ in result.stream_events():
            pass
        return len(result.raw_responses), result.final_output

    return stream if streamed else whole


PEERS = {"pydantic-ai": pydantic_ai, "langgraph": langgraph, "openai-agents": openai_agents}


async def times(run: Run) -> list[float]:
    """Return the CPU seconds of as many runs as ours gets."""
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        ended = await run()
        found.append(time.process_time() - began)
        assert ended == (TURNS, SCRIPT["replies"][-1]["text"]), ended
    return found


if __name__ == "__main__":
    peer, how, address = sys.argv[1:]
    print(*asyncio.run(times(PEERS[peer](address, streamed=how == "streamed"))))
