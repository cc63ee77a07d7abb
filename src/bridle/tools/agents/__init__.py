"""Tools to start sub-agents, inspect and cancel them, and send them messages.

| module | tools |
|---|---|
| `spawn` | `agent_spawn`, `agent_fork` |
| `control` | `agent_status`, `agent_list`, `agent_cancel`, `send_message` |

They only translate between tool calls and `ToolContext.children`.
"""

from bridle.core.ports import Tool
from bridle.tools.agents.control import AgentCancel, AgentList, AgentStatus, SendMessage
from bridle.tools.agents.spawn import AgentFork, AgentSpawn

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
    """Return one instance of each of these tools."""
    return AgentSpawn(), AgentFork(), AgentStatus(), AgentList(), AgentCancel(), SendMessage()
