"""What the user has chosen: settings in layers, agents, and the files that give every agent its context."""

from bridle.config.agents import AgentFile, LoadedAgent, Sampling, list_agents, load_agent
from bridle.config.context_files import ContextText, read_context_files
from bridle.config.duration import Delay, Duration, format_duration, parse_duration
from bridle.config.edit import Shown, get_value, set_in_file, set_value, show
from bridle.config.keys import (
    DEFAULT_AGENT,
    DEFAULT_MODEL,
    ConfigFile,
    LimitSettings,
    ModelSettings,
    PriceSettings,
    ProviderSettings,
    RetrySettings,
    RuleLists,
    RuleSettings,
    SandboxSettings,
    StoreSettings,
    ToolSettings,
)
from bridle.config.layers import Source
from bridle.config.places import CONFIG_FILE
from bridle.config.settings import Secret, Settings, find_home, load_settings

__all__ = [
    "CONFIG_FILE",
    "DEFAULT_AGENT",
    "DEFAULT_MODEL",
    "AgentFile",
    "ConfigFile",
    "ContextText",
    "Delay",
    "Duration",
    "LimitSettings",
    "LoadedAgent",
    "ModelSettings",
    "PriceSettings",
    "ProviderSettings",
    "RetrySettings",
    "RuleLists",
    "RuleSettings",
    "Sampling",
    "SandboxSettings",
    "Secret",
    "Settings",
    "Shown",
    "Source",
    "StoreSettings",
    "ToolSettings",
    "find_home",
    "format_duration",
    "get_value",
    "list_agents",
    "load_agent",
    "load_settings",
    "parse_duration",
    "read_context_files",
    "set_in_file",
    "set_value",
    "show",
]
