"""Google's Agent Development Kit."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from peers_play import SYSTEM, TURNS

NAME = "Google ADK"
PACKAGES = ("google-adk", "litellm", "mcp", "aiosqlite", "sqlalchemy")
BEST = (
    "LlmAgent with LiteLlm and sessions in memory, whole answers, SSE mode for fragments; OpenTelemetry off"
)
STORE = "SqliteSessionService"
ENVIRON = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OTEL_SDK_DISABLED": "true",
    "ADK_SUPPRESS_EXPERIMENTAL_FEATURE_WARNINGS": "1",
}
APP = USER = SESSION = "bench"


def run(url: str, tools: Sequence[Callable[..., Any]]) -> Callable[[str], Awaitable[str]]:
    """Make a session for each conversation."""
    runner = _runner(url, tools, _in_memory())

    async def ask(prompt: str) -> str:
        session = await runner.session_service.create_session(app_name=APP, user_id=USER)
        return await _answer(runner, session.id, prompt)

    return ask


def stream(url: str) -> Callable[[str], Awaitable[int]]:
    """Count the partial events."""
    from google.adk.agents.run_config import RunConfig, StreamingMode

    runner, config = _runner(url, (), _in_memory()), RunConfig(streaming_mode=StreamingMode.SSE)

    async def ask(prompt: str) -> int:
        session = await runner.session_service.create_session(app_name=APP, user_id=USER)
        events = runner.run_async(
            user_id=USER, session_id=session.id, new_message=_content("user", prompt), run_config=config
        )
        return sum([bool(event.partial and event.content) async for event in events])

    return ask


async def save(place: Path, said: Sequence[str]) -> None:
    """Append the messages to a session as events."""
    from google.adk.events import Event

    service = _on_disk(place)
    session = await service.create_session(app_name=APP, user_id=USER, session_id=SESSION)
    for number, text in enumerate(said):
        author, role = (APP, "model") if number % 2 else ("user", "user")
        content = _content(role, text)
        await service.append_event(
            session, Event(author=author, content=content, invocation_id=str(number // 2))
        )


def resume(url: str, place: Path) -> Callable[[str], Awaitable[str]]:
    """Continue the session."""
    runner = _runner(url, (), _on_disk(place))

    async def ask(prompt: str) -> str:
        return await _answer(runner, SESSION, prompt)

    return ask


async def _answer(runner: Any, session: str, prompt: str) -> str:
    from google.adk.agents.run_config import RunConfig

    last = ""
    async for event in runner.run_async(
        user_id=USER,
        session_id=session,
        new_message=_content("user", prompt),
        run_config=RunConfig(max_llm_calls=2 * TURNS),
    ):
        if event.content and event.content.parts:
            last = event.content.parts[0].text or last
    return last


def _runner(url: str, tools: Sequence[Callable[..., Any]], service: Any) -> Any:
    from google.adk.agents import LlmAgent
    from google.adk.models.lite_llm import LiteLlm
    from google.adk.runners import Runner

    model = LiteLlm("openai/bench", api_base=url, api_key="none")
    agent = LlmAgent(name=APP, model=model, instruction=SYSTEM, tools=list(tools))
    return Runner(app_name=APP, agent=agent, session_service=service)


def _in_memory() -> Any:
    from google.adk.sessions import InMemorySessionService

    return InMemorySessionService()


def _on_disk(place: Path) -> Any:
    from google.adk.sessions.sqlite_session_service import SqliteSessionService

    return SqliteSessionService(str(place / "adk.db"))


def _content(role: str, text: str) -> Any:
    from google.genai.types import Content, Part

    return Content(role=role, parts=[Part(text=text)])
