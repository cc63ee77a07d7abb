"""Describe agents: where each comes from, its effective settings and their origin, and its problems."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from bridle.config.agents import (
    DEFAULT_PROMPT_FILE,
    LIBRARY,
    AgentFile,
    AgentParts,
    agent_places,
    convert_kontekst_agent,
    list_agents,
    load_agent,
    read_agent,
)
from bridle.config.duration import Duration
from bridle.config.edit import SettingRow
from bridle.config.file_names import CONFIG_FILE, PROMPT_FILE
from bridle.config.keys import LimitSettings
from bridle.config.layers import Layer, Source, merge
from bridle.config.settings import Settings
from bridle.config.textfile import read_text
from bridle.config.toml_document import KeyPath, key_text, literal, parse_toml
from bridle.config.validation import nearest, problems
from bridle.core.errors import ConfigError

AgentSource = Literal["project", "user", "built in"]

_FROM_SETTINGS = {"model": ("model",), "small_model": ("small_model",), "fallbacks": ("fallbacks",)}
_LIMITS = tuple(f"limits.{name}" for name in LimitSettings.__struct_fields__)


class AgentProblem(Struct, frozen=True):
    """Something wrong with an agent."""

    agent: str
    message: str
    """Begins with the file, and the line if it is known."""
    hint: str = ""


def agent_source(name: str, settings: Settings) -> AgentSource:
    """Return where an agent comes from; if two places have it, the one that wins."""
    for place in agent_places(settings):
        if any(os.path.lexists(place.folder / name / file) for file in (CONFIG_FILE, PROMPT_FILE)):
            return "project" if place.layer == "project" else "user"
    return "built in"


def built_in_files(name: str) -> dict[str, str]:
    """Return the files of a built-in agent by name; empty for any other agent."""
    if name == "default":
        return {PROMPT_FILE: DEFAULT_PROMPT_FILE.read_text(encoding="utf-8")}
    found = {file: read_text(LIBRARY / name / file) for file in (CONFIG_FILE, PROMPT_FILE)}
    return {file: text for file, text in found.items() if text is not None}


def show_agent(name: str, settings: Settings) -> list[SettingRow]:
    """Return an agent's effective settings as TOML, and where each was set; raises ConfigError."""
    parts = read_agent(name, settings)
    agent = load_agent(name, settings).agent
    merged = merge(parts.layers)
    rows: list[tuple[str, Any]] = [("name", agent.display_name or None), ("model", agent.model)]
    rows += [("small_model", agent.small_model or None), ("fallbacks", agent.fallbacks or None)]
    rows += [
        ("mode", "code" if agent.code else agent.mode),
        ("tools", "all" if agent.tools is None else agent.tools),
        ("reasoning_effort", agent.effort),
    ]
    limits = {name: _limit(name, merged.tree, settings) for name in LimitSettings.__struct_fields__}
    rows += [(f"limits.{name}", value) for name, value in limits.items()]
    rows += [(_param_key(name), value) for name, value in agent.params.items()]
    return [
        SettingRow(key, literal(_plain(value)), _source(key, merged.sources, settings))
        for key, value in rows
        if value is not None
    ]


def agent_problems(settings: Settings, tools: Collection[str], only: str | None = None) -> list[AgentProblem]:
    """Return all problems of every agent, or of one; `tools` are the names of the existing tools.

    Raises ConfigError for an agent that does not exist.
    """
    if only is not None and only not in list_agents(settings):
        read_agent(only, settings)
    names = list_agents(settings) if only is None else [only]
    return [problem for name in names for problem in _problems(name, settings, tools)]


def _problems(name: str, settings: Settings, tools: Collection[str]) -> Iterator[AgentProblem]:
    found = list(_file_problems(name, settings))
    if not found:
        try:
            parts = read_agent(name, settings)
            load_agent(name, settings)
        except ConfigError as error:
            found.append(error)
        else:
            found += _reference_problems(parts, settings, tools)
    yield from (AgentProblem(name, error.message, error.hint) for error in found)


def _file_problems(name: str, settings: Settings) -> Iterator[ConfigError]:
    for place in agent_places(settings):
        try:
            read_text(place.folder / name / PROMPT_FILE, within=place.within)
        except ConfigError as error:
            yield error
        file = place.folder / name / CONFIG_FILE
        try:
            text = read_text(file, within=place.within)
            if text is None:
                continue
            tree = parse_toml(text, str(file))
            if settings.kontekst is not None and place.layer == "user":
                tree = convert_kontekst_agent(tree)
            layer = Layer(Source(place.layer, str(file)), tree, text)
            for problem in problems(layer.tree, AgentFile):
                yield ConfigError(f"{layer.place(problem.path)}: {problem.message}", hint=problem.hint)
        except ConfigError as error:
            yield error


def _reference_problems(
    parts: AgentParts, settings: Settings, tools: Collection[str]
) -> Iterator[ConfigError]:
    """Find references to tools or providers that do not exist."""
    for layer in parts.layers:
        for index, tool in enumerate(layer.tree.get("tools", ())):
            if tool not in tools and not tool.startswith("mcp__"):
                near = nearest(tool, tools)
                hint = f"did you mean {near}?" if near else f"tools: {', '.join(sorted(tools))}"
                yield ConfigError(f"{layer.place(('tools', index))}: unknown tool {tool}", hint=hint)
        for path, ref in _models(layer.tree):
            provider = ref.partition("/")[0]
            if provider not in settings.providers:
                near = nearest(provider, settings.providers)
                hint = f"did you mean {near}?" if near else "bridle models list --all"
                yield ConfigError(
                    f"{layer.place(path)}: {key_text(path)}: unknown provider {provider}", hint=hint
                )


def _models(tree: dict[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    for key in ("model", "small_model"):
        if key in tree:
            yield (key,), tree[key]
    for index, ref in enumerate(tree.get("fallbacks", ())):
        yield ("fallbacks", index), ref


def _limit(name: str, tree: dict[str, Any], settings: Settings) -> Any:
    own = tree.get("limits", {}).get(name)
    return getattr(settings.limits, name) if own is None else own


def _param_key(name: str) -> str:
    return name if name == "tool_role" else f"sampling.{name}"


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Duration) else value


def _source(key: str, said: dict[KeyPath, tuple[Source, ...]], settings: Settings) -> str:
    path: KeyPath = tuple(key.split("."))
    if path in said:
        return ", ".join(_place(source) for source in said[path])
    elsewhere = (
        ("rules", "mode") if key == "mode" else _FROM_SETTINGS.get(key, path if key in _LIMITS else ())
    )
    return ", ".join(_place(source) for source in settings.source(*elsewhere)) if elsewhere else "default"


def _place(source: Source) -> str:
    if source.layer == "default" and source.file:
        return "built in"
    return str(source)


def own_folder(name: str, settings: Settings) -> Path | None:
    """Return the folder where an agent's files are edited; None for one that is only built in."""
    for place in reversed(agent_places(settings)):
        if any(os.path.lexists(place.folder / name / file) for file in (CONFIG_FILE, PROMPT_FILE)):
            return place.folder / name
    return None
