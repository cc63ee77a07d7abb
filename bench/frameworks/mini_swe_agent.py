"""mini-swe-agent."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from peers_play import ANSWER, OUTPUT, SYSTEM

NAME = "mini-swe-agent"
PACKAGES = ("mini-swe-agent", "mcp")
BEST = (
    "DefaultAgent with LitellmModel, whole answers, commands answered in the process without a shell; threads"
)
STORE = "a trajectory file whose messages are restored: it cannot resume on its own"
THREADS = True
TOOL = ("bash", "command")
FINAL = {"calls": [{"name": "bash", "args": {"command": "submit"}}]}
CANNOT = {
    "deltas": "it does not stream",
    "parallel": "it runs the calls of a turn one after the other, as shell commands",
}
ENVIRON = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_COST_TRACKING": "ignore_errors",
}


class _Answering:
    """An environment that answers commands itself."""

    config: Any = None

    def execute(self, action: dict[str, Any], cwd: str = "") -> dict[str, Any]:
        from minisweagent.exceptions import Submitted

        if action["command"] == "submit":
            raise Submitted({"role": "exit", "content": ANSWER, "extra": {"submission": ANSWER}})
        return {"output": action["command"] + OUTPUT, "returncode": 0, "exception_info": ""}

    def get_template_vars(self, **_: Any) -> dict[str, Any]:
        return {}

    def serialize(self) -> dict[str, Any]:
        return {}


def run(url: str, tools: Sequence[Callable[..., Any]]) -> Callable[[str], str]:
    """Make an agent for each conversation, because an agent holds one conversation."""
    model = _model(url)

    def ask(prompt: str) -> str:
        return str(_agent(model).run(prompt)["submission"])

    return ask


def save(place: Path, said: Sequence[str]) -> None:
    """Save the trajectory of an agent with these messages."""
    agent = _agent(_model(""))
    roles = ("user", "assistant")
    agent.add_messages(*({"role": roles[number % 2], "content": text} for number, text in enumerate(said)))
    agent.save(place / "trajectory.json")


def resume(url: str, place: Path) -> Callable[[str], str]:
    """Restore the messages of the trajectory and take the next step."""

    def ask(prompt: str) -> str:
        from minisweagent.exceptions import Submitted

        agent = _agent(_model(url))
        agent.messages = json.loads((place / "trajectory.json").read_text())["messages"]
        agent.add_messages({"role": "user", "content": prompt})
        try:
            agent.step()
        except Submitted as submitted:
            return str(submitted.messages[0]["content"])
        return ""

    return ask


def _model(url: str) -> Any:
    from minisweagent.models.litellm_model import LitellmModel

    return LitellmModel(model_name="openai/bench", model_kwargs={"api_base": url, "api_key": "none"})


def _agent(model: Any) -> Any:
    from minisweagent.agents.default import DefaultAgent

    return DefaultAgent(
        model, _Answering(), system_template=SYSTEM, instance_template="{{task}}", cost_limit=0
    )
