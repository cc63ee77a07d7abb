"""List every rule that applies to a working directory, with the file and line that defines it."""

from collections.abc import Iterator

from msgspec import Struct

from bridle.config.agents import AgentFile, read_user_agent
from bridle.config.file_names import AGENTS_FOLDER, CONFIG_FILE, PROJECT_FOLDER
from bridle.config.keys import ConfigFile
from bridle.config.layers import Layer, read_layer
from bridle.config.rules import ACTIONS, rule_text
from bridle.config.settings import Settings
from bridle.config.trust_record import trust_state
from bridle.core.permission import Action


class LocatedRule(Struct, frozen=True):
    """A rule as written, and where."""

    action: Action
    rule: str
    place: str
    """File and line."""
    in_effect: bool = True
    """False for an allow rule of a project that is not trusted."""


def list_rules(settings: Settings, agent: str) -> list[LocatedRule]:
    """Return the rules of all files, the strictest first; raises ConfigError."""
    layers = list(_layers(settings, agent))
    return [rule for action in ACTIONS for layer in layers for rule in _of_layer(settings, layer, action)]


def _layers(settings: Settings, agent: str) -> Iterator[Layer]:
    config, own = CONFIG_FILE, f"{AGENTS_FOLDER}/{agent}/{CONFIG_FILE}"
    if layer := read_layer("user", settings.home / config, ConfigFile):
        yield layer
    folder = settings.project and settings.project / PROJECT_FOLDER
    if folder and (layer := read_layer("project", folder / config, ConfigFile, within=settings.project)):
        yield layer
    if layer := read_user_agent(agent, settings):
        yield layer
    if folder and (layer := read_layer("project", folder / own, AgentFile, within=settings.project)):
        yield layer


def _of_layer(settings: Settings, layer: Layer, action: Action) -> Iterator[LocatedRule]:
    items = layer.tree.get("rules", {}).get(action, [])
    needs_trust = items and action == "allow" and layer.source.layer == "project" and settings.project
    in_effect = not needs_trust or trust_state(settings.home, needs_trust, layer) == "trusted"
    for index, item in enumerate(items):
        yield LocatedRule(action, rule_text(item), layer.place(("rules", action, index)), in_effect)
