"""The agents, rules and models that apply in a folder, as data for programs."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from bridle.app import open_models
from bridle.config.agent_list import AgentSource, agent_source
from bridle.config.agents import list_agents, load_agent
from bridle.config.rule_list import LocatedRule, list_rules
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import BridleError, ConfigError, NotAllowed, UsageError
from bridle.core.model import Price
from bridle.core.permission import Mode
from bridle.scale.tenant_folders import is_within

if TYPE_CHECKING:
    from bridle.providers import ModelFacts

MAX_PATH_CHARS = 4096


class AgentRow(Struct, frozen=True):
    """One agent in a list."""

    agent: str
    name: str
    source: AgentSource
    mode: str
    model: str
    tools: tuple[str, ...] | None
    """None means all tools."""
    problem: str = ""
    """Why the agent cannot be used; empty if it can."""


class RuleList(Struct, frozen=True):
    """The mode and rules of an agent."""

    agent: str
    mode: Mode
    rules: list[LocatedRule]


class ModelView(Struct, frozen=True):
    """Facts about a model; null is unknown."""

    ref: str
    kind: str
    window_tokens: int
    max_output_tokens: int
    """The longest answer that Bridle requests."""
    longest_output_tokens: int | None
    """The longest answer that the model supports."""
    images: bool | None
    reasoning: bool | None
    tools: bool | None
    price: Price | None
    """Dollars per million tokens."""
    later_prices: dict[str, Price]
    key_env: str
    has_key: bool
    is_listed: bool
    """True if the built-in catalogue has the model."""


class Folders(Struct, frozen=True):
    """Resolves folders and reads their settings, which is slow and belongs in a thread."""

    environ: Mapping[str, str]
    usual: str
    """The folder used when none is named."""
    flags: Mapping[str, Any] = {}
    """Settings that override all files."""
    within: tuple[str, ...] | None = None
    """The only folders that the caller may name; None for any."""

    def path(self, cwd: str = "") -> str:
        """Return the absolute path of a folder with links resolved; raises UsageError if it is no folder."""
        if not cwd and self.usual:
            return self.usual
        if not cwd:
            raise UsageError("you have no folder", hint="ask the administrator of the service for one")
        if self.within is not None and not is_within(cwd, self.within):  # first: reveals nothing about others
            raise UsageError(f"cwd: {cwd[:200]!r} is not one of your folders", hint=f"use {self.usual}")
        if not os.path.isabs(cwd) or len(cwd) > MAX_PATH_CHARS or not os.path.isdir(cwd):
            raise UsageError(f"cwd: {cwd[:200]!r} is not a folder", hint="give its absolute path")
        return os.path.realpath(cwd)

    def get_user_settings(self) -> tuple[Mapping[str, str], Path]:
        """Return the environment and folder of the user's settings; raises NotAllowed if `within` is set."""
        if self.within is not None:
            raise NotAllowed("the settings belong to the administrator of the service")
        return self.environ, Path(self.usual)

    def settings(self, cwd: str = "") -> Settings:
        """Load the settings of a folder; raises UsageError, ConfigError."""
        return load_settings(self.environ, Path(self.path(cwd)), self.flags)

    def has_comms(self) -> bool:
        """Return whether agents can write to peers; False if the settings cannot be read."""
        try:
            return self.settings().comms.mode != "off"
        except BridleError:
            return False


def agent_rows(settings: Settings) -> list[AgentRow]:
    """List the agents of a folder, including broken ones."""
    return [_agent_row(name, settings) for name in list_agents(settings)]


def _agent_row(name: str, settings: Settings) -> AgentRow:
    source = agent_source(name, settings)
    try:
        agent = load_agent(name, settings).agent
    except ConfigError as error:
        return AgentRow(name, "", source, "", "", (), str(error))
    mode = "code" if agent.code else agent.mode
    return AgentRow(name, agent.display_name, source, mode, agent.model, agent.tools)


def rule_list(settings: Settings, agent: str = "") -> RuleList:
    """List an agent's rules in a folder, strictest first; raises ConfigError."""
    name = agent or settings.agent
    return RuleList(name, load_agent(name, settings).agent.mode, list_rules(settings, name))


def known_models(settings: Settings) -> "list[ModelFacts]":
    """Return the facts about every named model, sorted by name."""
    return [facts for facts in open_models(settings).listed() if facts.kind != "direct"]


def filter_usable(models: "list[ModelFacts]") -> "list[ModelFacts]":
    """Return the models that can be used now."""
    return [facts for facts in models if facts.has_key and facts.kind != "scripted"]


def filter_by_name(models: "list[ModelFacts]", wanted: str) -> "list[ModelFacts]":
    """Return the models whose name contains a text, ignoring case."""
    return [facts for facts in models if wanted.lower() in facts.model.ref.lower()]


def model_view(facts: "ModelFacts") -> ModelView:
    """Return the view of a model."""
    model, known = facts.model, facts.known
    return ModelView(
        ref=model.ref,
        kind=facts.kind,
        window_tokens=model.window_tokens,
        max_output_tokens=model.max_output_tokens,
        longest_output_tokens=known.output if known else None,
        images=model.images,
        reasoning=model.reasoning,
        tools=known.tools if known else None,
        price=model.price,
        later_prices=known.later if known else {},
        key_env=facts.key_env,
        has_key=facts.has_key,
        is_listed=known is not None,
    )
