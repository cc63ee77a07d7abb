"""Sandbox rules for programs that several sessions share: MCP servers, language servers and hooks."""

from typing import TYPE_CHECKING

from bridle.config.settings import Settings

if TYPE_CHECKING:
    from bridle.core.permission import Rule


def is_sandbox_off(settings: Settings) -> bool:
    """Return True if the user turned the sandbox off; a project cannot turn it off for its own programs."""
    return settings.sandbox.mode == "off" and settings.source("sandbox", "mode")[-1].layer != "project"


def shared_domain_rules(settings: Settings) -> "tuple[Rule, ...]":
    """Return the domain rules for programs that several sessions share."""
    return tuple(rule for rule in settings.rules.rules() if rule.pattern.startswith("domain:"))


def shared_deny_rules(settings: Settings, *, anywhere: bool = False) -> "tuple[Rule, ...]":
    """Return the deny rules for paths that apply to programs that several sessions share.

    Relative patterns refer to the project; with `anywhere` they are left out, because they would mean
    different paths in each folder.
    """
    from msgspec.structs import replace

    from bridle.config.rules import resolve_rules
    from bridle.core.permission import SHELL_TOOL

    found = []
    for rule in settings.rules.rules():
        is_path = rule.pattern and rule.tool != SHELL_TOOL and not rule.pattern.startswith("domain:")
        if rule.action != "deny" or not is_path:
            continue
        if rule.pattern.startswith(("/", "~")):
            found.append(rule)
        elif not anywhere:
            found.append(replace(rule, pattern=f"{str(settings.root).rstrip('/')}/{rule.pattern}"))
    return resolve_rules(dict.fromkeys(found), settings.user_folder, settings.root)
