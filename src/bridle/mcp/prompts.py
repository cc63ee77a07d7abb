"""Prompts of MCP servers, called as `/mcp__server__name argument other=value`."""

import shlex
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from bridle.core.errors import UsageError
from bridle.core.server_views import PromptView
from bridle.mcp.names import PREFIX, full_name
from bridle.mcp.offers import OfferedPrompt
from bridle.mcp.server import Server

MAX_ARGUMENT_CHARS = 100_000


def parse_prompt_call(text: str) -> tuple[str, str] | None:
    """Return the name that a text calls and the rest of it; None if it calls no MCP prompt."""
    if not text.startswith(f"/{PREFIX}"):
        return None
    name, *rest = text[1:].split(maxsplit=1)
    return name, "".join(rest).strip()


def prompt_views(servers: Iterable[Server]) -> tuple[PromptView, ...]:
    """Return the prompts of servers under their full names, sorted."""
    found = {
        name: PromptView(
            name,
            prompt.description,
            tuple(one.name if one.is_required else f"{one.name}?" for one in prompt.arguments),
        )
        for server in servers
        for name, prompt in _by_name(server)
    }
    return tuple(found[name] for name in sorted(found))


def find_prompt(servers: Sequence[Server], name: str) -> tuple[Server, OfferedPrompt]:
    """Return the prompt with a name and its server; raises UsageError with similar names."""
    found = {full: (server, prompt) for server in servers for full, prompt in _by_name(server)}
    if name in found:
        return found[name]
    near = get_close_matches(name, found, n=3, cutoff=0.6)
    hint = f"did you mean /{' or /'.join(near)}?" if near else _what_there_is(found)
    raise UsageError(f"no prompt of an MCP server is called /{name[:200]}", hint=hint)


def parse_arguments(prompt: OfferedPrompt, name: str, rest: str) -> dict[str, str]:
    """Parse arguments as a shell would: in order, or as `name=value`; raises UsageError.

    A prompt with a single argument takes the whole text unchanged, unless the argument is named.
    """
    known = [argument.name for argument in prompt.arguments]
    if len(rest) > MAX_ARGUMENT_CHARS:
        raise UsageError(f"/{name}: the arguments have more than {MAX_ARGUMENT_CHARS:,} characters")
    if len(known) == 1 and rest and rest.partition("=")[0] not in known:
        words = [_unquoted(rest)]
    else:
        words = _split(name, rest)
    given: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key in known:
            _give(given, key, value, name)
            continue
        free = next((one for one in known if one not in given), None)
        if free is None:
            raise UsageError(f"/{name}: {word[:80]!r} is an extra argument", hint=_usage(prompt, name))
        given[free] = word
    missing = [one.name for one in prompt.arguments if one.is_required and one.name not in given]
    if missing:
        raise UsageError(f"/{name} needs {' and '.join(missing)}", hint=_usage(prompt, name))
    return given


def _give(given: dict[str, str], key: str, value: str, name: str) -> None:
    if key in given:
        raise UsageError(f"/{name}: {key} is given twice")
    given[key] = value


def _split(name: str, rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"/{name}: {str(error).lower()}", hint="close every quotation mark") from None


def _unquoted(rest: str) -> str:
    try:
        words = shlex.split(rest)
    except ValueError:
        return rest
    return words[0] if len(words) == 1 else rest


def _usage(prompt: OfferedPrompt, name: str) -> str:
    shown = [one.name if one.is_required else f"[{one.name}]" for one in prompt.arguments]
    return " ".join([f"/{name}", *shown])


def _what_there_is(names: Iterable[str]) -> str:
    found = sorted(names)
    return f"available: /{', /'.join(found[:10])}" if found else "no running MCP server has prompts"


def _by_name(server: Server) -> list[tuple[str, OfferedPrompt]]:
    return [(full_name(server.settings.name, one.name), one) for one in server.listing.prompts]
