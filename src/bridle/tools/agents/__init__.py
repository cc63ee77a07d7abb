"""Tools to start sub-agents, to look after them and to talk with them.

| module | tools |
|---|---|
| `starting` | `agent_spawn`, `agent_fork` |
| `tending` | `agent_status`, `agent_list`, `agent_cancel`, `send_message` |

They only put into words what `ToolContext.children` does.
"""

from bridle.core.ports import Tool
from bridle.tools.agents.starting import AgentFork, AgentSpawn
from bridle.tools.agents.tending import AgentCancel, AgentList, AgentStatus, SendMessage

__all__ = [
    "AgentCancel",
    "AgentFork",
    "AgentList",
    "AgentSpawn",
    "AgentStatus",
    "SendMessage",
    "agent_tools",
]


def agent_tools() -> tuple[Tool, ...]:
    """Make all of these tools."""
    return AgentSpawn(), AgentFork(), AgentStatus(), AgentList(), AgentCancel(), SendMessage()
