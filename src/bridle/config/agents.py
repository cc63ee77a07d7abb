"""Agents: named profiles in `agents/<name>/config.toml` and `agent.md`, a project's over the user's.

```
<project>/.bridle/agents/<name>/    may tighten and add, never loosen (see trust)
BRIDLE_HOME/agents/<name>/          the user's own
library/<name>/ next to this file   built in, like `default`; used only if neither of the two has the name
```

Either file is enough. What an agent leaves out comes from the settings; a flag overrides both.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, structs

from bridle.config.file_names import AGENTS_FOLDER, CONFIG_FILE, PROJECT_FOLDER, PROMPT_FILE
from bridle.config.keys import DEFAULT_AGENT, LimitSettings, RuleLists
from bridle.config.kontekst import convert_agent
from bridle.config.layers import Layer, LayerName, Source, merge, read_layer
from bridle.config.project_keys import AGENT_KEYS
from bridle.config.rules import anchor_rules, resolve_rules
from bridle.config.settings import Settings
from bridle.config.textfile import read_text
from bridle.config.toml_document import literal
from bridle.config.trust_policy import (
    CheckedLayer,
    TrustedKey,
    apply_trust,
    find_withheld,
    warn_untrusted_keys,
)
from bridle.config.trust_record import trust_state
from bridle.config.validation import build
from bridle.core.agent import Agent
from bridle.core.errors import ConfigError
from bridle.core.model import Effort
from bridle.core.permission import Mode
from bridle.core.value_types import AGENT_NAME_PATTERN, Count, CountOrZero, ModelRef

DEFAULT_PROMPT_FILE = Path(__file__).with_name("default_agent.md")
LIBRARY = Path(__file__).with_name("library")
"""The agents that come with Bridle."""

ToolName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{1,128}\Z", description="the name of a tool")]
DisplayName = Annotated[
    str, Meta(pattern=r"\A[^\x00-\x1f\x7f]{1,80}\Z", description="one short line of text")
]


class Sampling(Struct, frozen=True, forbid_unknown_fields=True):
    """`[sampling]`: how the model picks tokens; sent only if set."""

    temperature: Annotated[float, Meta(ge=0, le=2, description="a number from 0 to 2")] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")] | None = None
    top_k: CountOrZero | None = None
    repeat_penalty: Annotated[float, Meta(ge=0, le=2, description="a number from 0 to 2")] | None = None
    max_tokens: Count | None = None


class AgentFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of an agent's `config.toml`."""

    name: DisplayName = ""
    """Display name; the folder's name is the agent's id."""
    model: ModelRef | None = None
    small_model: ModelRef | None = None
    fallbacks: tuple[ModelRef, ...] | None = None
    tools: tuple[ToolName, ...] | None = None
    """None means all of them."""
    mode: Literal["ask", "plan", "accept-edits", "yolo", "code"] | None = None
    """What happens if no rule applies; or "code": the model writes Python that calls the tools."""
    reasoning_effort: Effort | None = None
    tool_role: bool | None = None
    """False sends tool results to a local model as user messages, for models without a tool role."""
    limits: LimitSettings = LimitSettings()
    rules: RuleLists = RuleLists()
    sampling: Sampling = Sampling()


class IgnoredKeys(Struct, frozen=True):
    """What a project says about an agent without being allowed to."""

    trust_keys: tuple[TrustedKey, ...] = ()
    """Keys that need the project to be trusted."""
    keys: tuple[str, ...] = ()
    """The keys that have no effect because the project is not trusted."""
    has_lapsed: bool = False
    """True if the project was trusted and has changed since."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The same as a warning for the user."""
        return warn_untrusted_keys(self.keys, has_lapsed=self.has_lapsed)


class LoadedAgent(Struct, frozen=True):
    """An agent ready to run, and the parts of its files that have no effect."""

    agent: Agent
    left_out: IgnoredKeys = IgnoredKeys()


class AgentParts(Struct, frozen=True):
    """The contents of an agent's files."""

    prompt: str
    prompt_file: Path
    layers: tuple[Layer, ...]
    """Later layers override earlier ones."""
    left_out: IgnoredKeys = IgnoredKeys()


class AgentFolder(Struct, frozen=True):
    """A folder of agents, and the folder that its links must not leave."""

    layer: LayerName
    folder: Path
    within: Path | None = None


def load_agent(name: str, settings: Settings) -> LoadedAgent:
    """Load an agent and fill its gaps from the settings; raises ConfigError with file, line and key."""
    parts = read_agent(name, settings)
    agent = _fill(name, parts.prompt.strip(), build(merge(parts.layers).tree, AgentFile), settings)
    return LoadedAgent(agent, parts.left_out)


def read_agent(name: str, settings: Settings) -> AgentParts:
    """Read the files of an agent; raises ConfigError with file, line and key."""
    if not re.fullmatch(AGENT_NAME_PATTERN, name):
        raise ConfigError(
            f"agent {literal(name)}: not a name", hint="use letters, digits, -, _ and inner dots"
        )
    places = agent_places(settings)
    found = _read_prompt(name, places)
    below = _read_below(name, settings)
    kept = _read_project(name, settings, below)
    layers = [layer for layer in (below, kept.layer if kept else None) if layer]
    if not found and not _is_users(name, settings):
        found = _read_prompt(name, [AgentFolder("default", LIBRARY)])
    if not found and not layers and name != DEFAULT_AGENT:
        raise ConfigError(
            f"no agent named {literal(name)}", hint=f"there are {', '.join(list_agents(settings))}"
        )
    prompt, file = found or (DEFAULT_PROMPT_FILE.read_text(encoding="utf-8"), DEFAULT_PROMPT_FILE)
    return AgentParts(prompt, file, tuple(layers), _left_out(name, kept))


def _left_out(name: str, kept: CheckedLayer | None) -> IgnoredKeys:
    if kept is None:
        return IgnoredKeys()
    keys = tuple(f"{AGENTS_FOLDER}.{name}.{key}" for key in kept.left_out)
    return IgnoredKeys(kept.trust_keys, keys, kept.state == "changed")


def _read_below(name: str, settings: Settings) -> Layer | None:
    """Read an agent without the project's part: the user's own, else the built-in one."""
    if _is_users(name, settings):
        return read_user_agent(name, settings)
    return read_layer("default", LIBRARY / name / CONFIG_FILE, AgentFile)


def _is_users(name: str, settings: Settings) -> bool:
    """Return True if the user has an agent of this name."""
    own = settings.written / AGENTS_FOLDER / name
    return any(os.path.lexists(own / file) for file in (CONFIG_FILE, PROMPT_FILE))


def read_user_agent(name: str, settings: Settings) -> Layer | None:
    """Read an agent's `config.toml` from the user's own files; raises ConfigError."""
    file = settings.written / AGENTS_FOLDER / name / CONFIG_FILE
    if settings.kontekst is None:
        return read_layer("user", file, AgentFile)
    layer = read_layer("user", file, AgentFile, adapt=convert_kontekst_agent)
    if layer is None and os.path.lexists(file.with_name(PROMPT_FILE)):
        return Layer(Source("user", str(file)), convert_kontekst_agent({}))
    return layer


def convert_kontekst_agent(tree: dict[str, Any]) -> dict[str, Any]:
    """Convert a Kontekst agent's settings to Bridle's keys."""
    return convert_agent(tree, AgentFile)


def list_agents(settings: Settings) -> list[str]:
    """Return the names of all agents, sorted; some of them may turn out to be broken."""
    found = {DEFAULT_AGENT}
    for place in (*agent_places(settings), AgentFolder("default", LIBRARY)):
        with suppress(OSError), os.scandir(place.folder) as entries:
            found |= {entry.name for entry in entries if _is_agent(entry)}
    return sorted(found)


def _is_agent(entry: os.DirEntry[str]) -> bool:
    files = [os.path.join(entry.path, name) for name in (CONFIG_FILE, PROMPT_FILE)]
    return bool(re.fullmatch(AGENT_NAME_PATTERN, entry.name)) and any(map(os.path.lexists, files))


def agent_places(settings: Settings) -> list[AgentFolder]:
    """Return the folders that hold agents; earlier ones override later ones."""
    own = AgentFolder("user", settings.written / AGENTS_FOLDER)
    if settings.project is None:
        return [own]
    return [AgentFolder("project", settings.project / PROJECT_FOLDER / AGENTS_FOLDER, settings.project), own]


def _read_prompt(name: str, places: Iterable[AgentFolder]) -> tuple[str, Path] | None:
    for place in places:
        file = place.folder / name / PROMPT_FILE
        text = read_text(file, within=place.within)
        if text is not None:
            return text, file
    return None


def _read_project(name: str, settings: Settings, below: Layer | None) -> CheckedLayer | None:
    """Read a project's settings for an agent, without those that it may not set."""
    project = settings.project
    if project is None:
        return None
    file = project / PROJECT_FOLDER / AGENTS_FOLDER / name / CONFIG_FILE
    layer = read_layer("project", file, AgentFile, within=project)
    if layer is None:
        return None
    yours = build(below.tree if below else {}, AgentFile)
    yours = structs.replace(
        yours, mode=_permission_mode(yours, settings), limits=_over(yours.limits, settings.limits)
    )
    kept = apply_trust(
        layer,
        find_withheld(layer.tree, AgentFile, AGENT_KEYS, yours),
        lambda layer: trust_state(settings.home, project, layer),
    )
    tree = anchor_rules(kept.layer.tree, project, settings.cwd)
    return structs.replace(kept, layer=structs.replace(kept.layer, tree=tree))


def _fill(name: str, prompt: str, file: AgentFile, settings: Settings) -> Agent:
    limits = _over(_chosen_limits(settings, "flag"), _over(file.limits, settings.limits))
    return Agent(
        name=name,
        prompt=prompt,
        model=settings.model if settings.is_flag("model") else file.model or settings.model,
        small_model=settings.small_model if file.small_model is None else file.small_model,
        fallbacks=settings.fallbacks if file.fallbacks is None else file.fallbacks,
        display_name=file.name,
        tools=file.tools,
        mode=settings.rules.mode if settings.is_flag("rules", "mode") else _permission_mode(file, settings),
        code=file.mode == "code",
        rules=resolve_rules(
            (*settings.rules.rules(), *file.rules.rules()), settings.user_folder, settings.cwd
        ),
        limits=limits.limits(),
        params=_params(file),
        effort=file.reasoning_effort or settings.reasoning_effort,
    )


def _params(file: AgentFile) -> dict[str, Any]:
    """Return the request parameters that the agent sets."""
    wanted = {**structs.asdict(file.sampling), "tool_role": file.tool_role}
    return {key: value for key, value in wanted.items() if value is not None}


def _permission_mode(file: AgentFile, settings: Settings) -> Mode:
    return settings.rules.mode if file.mode is None or file.mode == "code" else file.mode


def _chosen_limits(settings: Settings, *layers: str) -> LimitSettings:
    """Return the limits that one of these layers set."""
    return LimitSettings(
        **{
            name: getattr(settings.limits, name)
            for name in LimitSettings.__struct_fields__
            if settings.source("limits", name)[-1].layer in layers
        }
    )


def _over(upper: LimitSettings, lower: LimitSettings) -> LimitSettings:
    return LimitSettings(
        **{
            name: getattr(lower, name) if getattr(upper, name) is None else getattr(upper, name)
            for name in LimitSettings.__struct_fields__
        }
    )
