"""What holds in a folder: its agents, skills, rules and models, as programs are told."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from bridle.app import open_models
from bridle.config.agent_list import AgentSource, agent_source
from bridle.config.agents import list_agents, load_agent
from bridle.config.rule_list import PlacedRule, placed_rules
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import ConfigError, NotAllowed, UsageError
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
    """None means all of them."""
    problem: str = ""
    """Why it cannot be used; empty if it can."""


class RuleList(Struct, frozen=True):
    """What an agent may do."""

    agent: str
    mode: Mode
    rules: list[PlacedRule]


class ModelView(Struct, frozen=True):
    """What is known about a model; null is unknown."""

    ref: str
    kind: str
    window_tokens: int
    max_output_tokens: int
    """How long an answer Bridle asks for."""
    longest_output_tokens: int | None
    """How long an answer the model can give."""
    images: bool | None
    reasoning: bool | None
    tools: bool | None
    price: Price | None
    """Dollars per million tokens."""
    later_prices: dict[str, Price]
    key_env: str
    has_key: bool
    is_listed: bool
    """Whether the catalogue in the package knows it."""


class Folders(Struct, frozen=True):
    """Finds folders and reads their settings, which takes a while and belongs into a thread."""

    environ: Mapping[str, str]
    usual: str
    """The folder that is meant where none is named."""
    flags: Mapping[str, Any] = {}
    """What is set over all files."""
    within: tuple[str, ...] | None = None
    """The only folders that whoever asks may name; None for any."""

    def path(self, cwd: str = "") -> str:
        """Return a folder by its absolute path with links resolved; raises UsageError when it is none."""
        if not cwd and self.usual:
            return self.usual
        if not cwd:
            raise UsageError("there is no folder of yours", hint="ask whoever runs the service for one")
        if self.within is not None and not is_within(cwd, self.within):  # first: nothing is told of others
            raise UsageError(f"cwd: {cwd[:200]!r} is no folder of yours", hint=f"use {self.usual}")
        if not os.path.isabs(cwd) or len(cwd) > MAX_PATH_CHARS or not os.path.isdir(cwd):
            raise UsageError(f"cwd: {cwd[:200]!r} is not a folder", hint="give its absolute path")
        return os.path.realpath(cwd)

    def owners(self) -> tuple[Mapping[str, str], Path]:
        """Return where the settings of the user are; raises NotAllowed for who is held to some folders."""
        if self.within is not None:
            raise NotAllowed("the settings are those of whoever runs the service")
        return self.environ, Path(self.usual)

    def settings(self, cwd: str = "") -> Settings:
        """Read what is set in a folder; raises UsageError, ConfigError."""
        return load_settings(self.environ, Path(self.path(cwd)), self.flags)


def agent_rows(settings: Settings) -> list[AgentRow]:
    """List the agents of a folder, with those that are broken."""
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
    """List the rules that hold in a folder for an agent, the strictest first; raises ConfigError."""
    name = agent or settings.agent
    return RuleList(name, load_agent(name, settings).agent.mode, placed_rules(settings, name))


def known_models(settings: Settings) -> "list[ModelFacts]":
    """Say what is known about every model that has a name, sorted by it."""
    return [facts for facts in open_models(settings).listed() if facts.kind != "direct"]


def usable(models: "list[ModelFacts]") -> "list[ModelFacts]":
    """Leave those that can be asked now."""
    return [facts for facts in models if facts.has_key and facts.kind != "scripted"]


def named(models: "list[ModelFacts]", wanted: str) -> "list[ModelFacts]":
    """Leave those with a text in their name, however it is written."""
    return [facts for facts in models if wanted.lower() in facts.model.ref.lower()]


def model_view(facts: "ModelFacts") -> ModelView:
    """Say what is known about a model."""
    model, known = facts.model, facts.known
    return ModelView(
        ref=model.ref,
        kind=facts.kind,
        window_tokens=model.window_tokens,
        max_output_tokens=model.max_output_tokens,
        longest_output_tokens=known.output if known else None,
        images=known.images if known else None,
        reasoning=known.reasoning if known else None,
        tools=known.tools if known else None,
        price=model.price,
        later_prices=known.later if known else {},
        key_env=facts.key_env,
        has_key=facts.has_key,
        is_listed=known is not None,
    )
