"""`bridle_config`, `meerkat_config` and `bridle_folder`: the user's settings, and what a folder offers."""

import asyncio
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from bridle.config.edit import show
from bridle.config.toml_document import parse_key
from bridle.core.errors import ConfigError, UsageError
from bridle.surfaces.mcp_server.arguments import (
    MAX_SAFE_INT,
    ConfigArgs,
    FolderArgs,
    given_fields,
    read_arguments,
)
from bridle.surfaces.mcp_server.meerkat_tools import json_result
from bridle.surfaces.mcp_server.sessions import MAX_TEXT_CHARS
from bridle.surfaces.mcp_server.tool_context import Answered, ToolRequest, require_trust, tool_result
from bridle.surfaces.meerkat.config import ConfigEnvelope, UserConfig
from bridle.surfaces.shared.truncation import truncate_to

CHANGING = "changing the settings"
MEANT = {
    "get": ({"key", "cwd"}, {"cwd"}),
    "set": ({"key", "value", "expected_generation"}, {"config", "expected_generation"}),
    "patch": ({"patch", "expected_generation"},),
}
"""The combinations of arguments that each action accepts."""


class Setting(Struct, frozen=True):
    """One setting that applies in a folder."""

    key: str
    value: str
    """In TOML syntax."""
    source: str
    """Where it is set."""


class ConfigAnswer(Struct, frozen=True, omit_defaults=True):
    """The user's settings file, or the settings that apply."""

    config: dict[str, Any] | None = None
    generation: int | None = None
    """A number that differs for every content of the file."""
    config_path: str | None = None
    settings: list[Setting] | None = None
    left_out: dict[str, str] = {}
    """The given keys that have no place here, and why."""


async def config(call: ToolRequest) -> Answered:
    """Read or change the settings, in Bridle's format."""
    args = read_arguments(call.params.arguments, ConfigArgs)
    given = given_fields(args) - {"action"}
    if not any(given <= meant for meant in MEANT[args.action]):
        raise UsageError(f"{args.action}: {', '.join(sorted(given))}cannot be combined")
    if args.action == "get" and args.key:
        found = ConfigAnswer(settings=await asyncio.to_thread(_settings, call, args))
        lines = [f"{one.key} = {one.value}  # {one.source}" for one in found.settings or ()]
        return tool_result("\n".join(lines), found)
    announced = await asyncio.to_thread(_changed, call, args)
    value = ConfigAnswer(
        announced.config, announced.generation, announced.config_path, left_out=announced.left_out
    )
    lines = [f"{'settings' if args.action == 'get' else 'written'}: {announced.config_path}"]
    lines += [f"{key} was left out: {why}" for key, why in announced.left_out.items()]
    return tool_result("\n".join(lines), value)


def _settings(call: ToolRequest, args: ConfigArgs) -> list[Setting]:
    rows = show(call.context.folders.settings(args.cwd))
    found = [Setting(*row) for row in rows if row.key == args.key or row.key.startswith(f"{args.key}.")]
    if not found:
        raise ConfigError(f"there is no setting {args.key[:80]!r}", hint="bridle config show")
    return found


def _changed(call: ToolRequest, args: ConfigArgs) -> ConfigEnvelope:
    settings = _user_config(call)
    if args.action != "get":
        require_trust(call.context, CHANGING)
    match args.action:
        case "get":
            return settings.read()
        case "patch":
            return settings.patch(_object(args.patch, "patch"), args.expected_generation)
        case "set" if args.key:
            if args.value is None:
                raise UsageError("set: value is missing")
            patch: Any = args.value
            for part in reversed(parse_key(args.key)):
                patch = {part: patch}
            return settings.patch(patch, args.expected_generation)
        case "set":
            return settings.replace(_object(args.config, "key"), args.expected_generation)


def _user_config(call: ToolRequest) -> UserConfig:
    return UserConfig(*call.context.folders.get_user_settings())


def _object(given: dict[str, Any] | None, name: str) -> dict[str, Any]:
    if given is None:
        raise UsageError(f"{name} is missing")
    return given


class MeerkatConfigArgs(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `meerkat_config`."""

    action: Literal["get", "set", "patch"]
    config: dict[str, Any] | None = None
    patch: dict[str, Any] | None = None
    expected_generation: Annotated[int, Meta(ge=0, le=MAX_SAFE_INT)] | None = None


class MeerkatConfig(Struct, frozen=True, omit_defaults=True):
    """The result of `meerkat_config`."""

    config: dict[str, Any]
    left_out: dict[str, str] = {}
    """The given keys that have no place here, and why."""


async def meerkat_config(call: ToolRequest) -> Answered:
    """Read or change the settings, in Meerkat's format."""
    args = read_arguments(call.params.arguments, MeerkatConfigArgs)

    def announced() -> ConfigEnvelope:
        settings = _user_config(call)
        if args.action != "get":
            require_trust(call.context, CHANGING)
        match args.action:
            case "get":
                return settings.read()
            case "set":
                return settings.replace(_object(args.config, "config"), args.expected_generation)
            case "patch":
                return settings.patch(_object(args.patch, "patch"), args.expected_generation)

    answer = await asyncio.to_thread(announced)
    return json_result(MeerkatConfig(answer.config, answer.left_out))


# ---------------------------------------------------------------------------- folder tool


async def folder(call: ToolRequest) -> Answered:
    """Return the requested topic of a folder."""
    args = read_arguments(call.params.arguments, FolderArgs)
    found = await call.context.about_folders.folder(args.what, args.cwd)
    view = await asyncio.to_thread(truncate_to, found, MAX_TEXT_CHARS)
    return tool_result(msgspec.json.encode(view[args.what]).decode(), view)
