"""Short names for the events of a run in tests."""

from typing import Any

from bridle.core.ids import SessionId
from bridle.core.messages import ToolResult
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import SmallTool, Stage
from tests.surfaces.grpc.client import Told

SESSION = "00000000-03e8-7000-8000-000000000001"
RUN = "00000000-03e8-7000-8000-000000000002"
RUN_IN_PLAY = "00000000-03e8-7000-8000-000000000001"
"""The run of a session that was there before."""

STARTED: Told = ("started", {"run_id": RUN, "session_id": SESSION, "agent_name": "default"})
STARTED_IN_PLAY: Told = (
    "started",
    {"run_id": RUN_IN_PLAY, "session_id": "play", "agent_name": "default"},
)
SNAPSHOT: Told = ("context_snapshot", {})
TOOLS_COMPLETED: Told = ("tools_completed", {})


def turn(text: str) -> list[Told]:
    """The events of a text reply."""
    return [("token", {"text": text}), ("turn_completed", {"content": text}), SNAPSHOT]


def proposed(*calls: tuple[str, str], name: str = "look") -> Told:
    shown = [
        {
            "call_id": call_id,
            "name": name,
            "arguments_json": f'{{"on":"{on}"}}',
            "preview": f"would {name} {on}",
        }
        for call_id, on in calls
    ]
    return "tools_proposed", {"calls": shown}


def ran(call_id: str, output: str) -> list[Told]:
    return [
        ("tool_started", {"call_id": call_id}),
        ("tool_completed", {"call_id": call_id, "output": output}),
    ]


def broke(call_id: str, error: str) -> list[Told]:
    return [("tool_started", {"call_id": call_id}), ("tool_failed", {"call_id": call_id, "error": error})]


def completed(content: str = "", run_id: str = RUN) -> Told:
    return "completed", {"run_id": run_id} | ({"content": content} if content else {})


def refused(error: str) -> Told:
    return "failed", {"error": error}


def look(work: Any = lambda on: f"saw {on}") -> SmallTool:
    return SmallTool("look", work)


async def results(stage: Stage, session: str) -> list[ToolResult]:
    """Return the results that the session has."""
    folded = await read_session(stage.service, SessionId(session))
    return [part for item in folded.messages for part in item.message.parts if isinstance(part, ToolResult)]
