"""Convert the flags of `bridle run` to run options, and find every mistake before anything starts."""

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import asdict, replace

from bridle.config.duration import parse_duration
from bridle.config.rules import resolve_rules
from bridle.config.settings import find_user_folder, load_settings
from bridle.core.budget import Limits
from bridle.core.errors import ConfigError, UsageError
from bridle.core.hook import HookOverride
from bridle.core.malformed import MALFORMED
from bridle.core.permission import Action, parse_rule
from bridle.core.protocol import RunOptions, SessionOptions
from bridle.core.tool import SHELL_TOOLS

if TYPE_CHECKING:
    from bridle.core.schema import Compat

Options = TypeVar("Options", bound=SessionOptions)


def run_options(args: argparse.Namespace) -> RunOptions:
    """Build the options of one run; raises UsageError naming the flag."""
    output = _output(args.output_schema, args.structured_output_retries, args.output_schema_compat)
    return RunOptions(**asdict(session_options(args)), **output, until=args.until)


def session_options(args: argparse.Namespace) -> SessionOptions:
    """Build the options that a session keeps; raises UsageError naming the flag."""
    return SessionOptions(
        model=args.model,
        code=args.code,
        mode=args.mode,
        allow=check_rules("allow", args.allow),
        ask=check_rules("ask", args.ask),
        deny=check_rules("deny", args.deny),
        limits=Limits(
            tokens=_whole("--max-tokens", args.max_tokens),
            duration_s=_seconds("--max-duration", args.max_duration),
            tool_calls=_whole("--max-tool-calls", args.max_tool_calls, least=0),
            cost=_dollars("--max-cost", args.max_cost),
            turns=_whole("--max-turns", args.max_turns),
        ),
        hooks=_hooks(args.hooks, args.no_hook),
        effort=args.effort,
        system=args.system,
        without_builtins=SHELL_TOOLS if args.no_shell else (),
    )


def parse_labels(texts: Sequence[str]) -> dict[str, str]:
    """Return labels given as NAME=VALUE; raises UsageError."""
    labels = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"{text!r} is not a label", hint="write it as NAME=VALUE, such as team=red")
        labels[name] = value
    return labels


def resolve_options(options: Options, cwd: str, environ: Mapping[str, str]) -> Options:
    """Return options whose rules apply in a working directory, with `~/` and absolute paths resolved."""

    def local(action: Action, texts: Sequence[str]) -> tuple[str, ...]:
        rules = [parse_rule(action, text) for text in texts]
        return tuple(map(str, resolve_rules(rules, find_user_folder(environ), Path(cwd))))

    return replace(
        options,
        allow=local("allow", options.allow),
        ask=local("ask", options.ask),
        deny=local("deny", options.deny),
    )


def check_disabled_hooks(hooks: Sequence[str], cwd: str, environ: Mapping[str, str]) -> None:
    """Raise UsageError if `--no-hook` names a hook that does not exist."""
    known = [hook.entry.id for hook in load_settings(environ, Path(cwd)).hooks_found] if hooks else []
    for hook in hooks:
        if hook not in known:
            hint = f"there are {', '.join(known)}" if known else "there are none here"
            raise UsageError(f'--no-hook: unknown hook "{hook}"', hint=hint)


def check_rules(action: Action, texts: list[str]) -> tuple[str, ...]:
    """Check the rules given to a flag; raises UsageError naming the flag."""
    for text in texts:
        try:
            parse_rule(action, text)
        except ConfigError as error:
            raise UsageError(f"--{action}: {error.message}", hint=error.hint) from None
    return tuple(texts)


def _hooks(text: str | None, disabled: Sequence[str]) -> HookOverride:
    if text is None:
        return HookOverride(disable=tuple(disabled))
    import msgspec

    try:
        data = text.encode() if text.lstrip().startswith("{") else Path(text).read_bytes()
        given = msgspec.json.decode(data, type=HookOverride)
    except OSError as error:
        raise UsageError(f"--hooks: {text} cannot be read: {error.strerror}") from None
    except MALFORMED as error:
        raise UsageError(f"--hooks: {error}", hint="bridle schema hooks") from None
    return replace(given, disable=(*given.disable, *disabled))


def _output(text: str | None, retries: str | None, compat: "Compat | None") -> dict[str, Any]:
    """Return the output schema and retries if a schema is given; raises UsageError."""
    tries = _whole("--structured-output-retries", retries, least=0)
    if text is None:
        for flag, value in (("--structured-output-retries", tries), ("--output-schema-compat", compat)):
            if value is not None:
                raise UsageError(f"{flag}: needs --output-schema")
        return {}
    tries = RunOptions().output_retries if tries is None else tries
    return {"output_schema": read_schema(text, compat, tries), "output_retries": tries}


def _whole(flag: str, text: str | None, *, least: int = 1) -> int | None:
    if text is None:
        return None
    digits = text.replace("_", "").replace(",", "")
    if not digits.isdecimal() or len(digits) > 15 or int(digits) < least:
        raise UsageError(f'{flag}: "{text}" is not a whole number of at least {least}')
    return int(digits)


def _dollars(flag: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        amount = float(text.removeprefix("$"))
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise UsageError(f'{flag}: "{text}" is not an amount in dollars', hint="write for example 0.50")
    return amount


def _seconds(flag: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = parse_duration(text)
    except ConfigError as error:
        raise UsageError(f"{flag}: {error.message}", hint=error.hint) from None
    if seconds <= 0:
        raise UsageError(f"{flag}: must be longer than zero")
    return seconds


# ---------------------------------------------------------------------------- output schema


MAX_SCHEMA_FILE_BYTES = 1024 * 1024  # four times the largest schema: most of a file may be white space


def read_schema(text: str, compat: "Compat | None", tries: int) -> dict[str, Any]:
    """Read an inline schema or a schema file; raises UsageError if no run could satisfy it."""
    from bridle.core.schema import with_compat  # few runs need these
    from bridle.sessions.structured_output import Extraction, parse

    name, data = _named(text)
    try:
        schema = parse(data)
    except ValueError as error:
        raise UsageError(f"--output-schema: {name} is not JSON: {error}") from None
    if not isinstance(schema, dict):
        raise UsageError(f"--output-schema: {name} is not a JSON object")
    schema = schema if compat is None else with_compat(schema, compat)
    Extraction(schema, tries)  # raises for an invalid schema, before anything starts
    return schema


def _named(text: str) -> tuple[str, str]:
    """Return a schema's name for messages, and its text."""
    if text.lstrip().startswith("{"):
        return "the schema", text
    try:
        with Path(text).open("rb") as file:
            data = file.read(MAX_SCHEMA_FILE_BYTES + 1)
        if len(data) > MAX_SCHEMA_FILE_BYTES:
            raise UsageError(f"--output-schema: {text} is larger than {MAX_SCHEMA_FILE_BYTES // 1024} KiB")
        return text, data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"--output-schema: {text} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--output-schema: {text} is not UTF-8 text") from None
