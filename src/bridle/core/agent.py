"""An agent: a named profile of prompt, model, tools, rules and limits."""

from typing import Any

from msgspec import Struct

from bridle.core.budget import Limits
from bridle.core.model import Effort
from bridle.core.permission import Mode, Rule


class Agent(Struct, frozen=True):
    """The profile that a session runs with."""

    name: str
    prompt: str
    model: str
    small_model: str = ""
    """A fast, cheap model for titles, summaries and web pages; without one, the prompt is the title."""
    fallbacks: tuple[str, ...] = ()
    """Models to try, in order, when the one before cannot be reached."""
    display_name: str = ""
    tools: tuple[str, ...] | None = None
    """Names of the tools the agent may use; None means all of them."""
    mode: Mode = "ask"
    code: bool = False
    """The model writes Python that calls the tools, instead of calling them one by one."""
    rules: tuple[Rule, ...] = ()
    limits: Limits = Limits()
    params: dict[str, Any] = {}
    effort: Effort | None = None
    notes: tuple[str, ...] = ()
    """Notes for the user before a run: settings that have no effect."""
