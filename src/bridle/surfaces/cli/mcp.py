"""`bridle mcp list`, `get` and `test`: list the MCP servers, show one, and check that it works."""

import argparse
import asyncio
import os
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from bridle.app import open_sandbox
from bridle.app.mcp import ServerCheck, check_server, server_settings
from bridle.app.tools import command_environment
from bridle.config.mcp import FoundServer, redact_server, redact_url
from bridle.config.settings import Settings
from bridle.config.toml_document import literal
from bridle.config.validation import nearest
from bridle.core.errors import ConfigError
from bridle.mcp.settings import ServerSettings
from bridle.surfaces.cli.output.data import print_json, short_path, write_table
from bridle.surfaces.cli.session_lookup import load_settings_here
from bridle.surfaces.shared.terminal import Console, cut, one_line, visible
from bridle.surfaces.shared.text_format import format_count
from bridle.system.programs import find_program

HEADINGS = ("SERVER", "STATE", "TRANSPORT", "WHERE", "COMMAND OR ADDRESS")
MAX_SHOWN = 20
MAX_LINE_CHARS = 100
PATIENCE_S = 3.0

State = Literal["on", "off", "untrusted", "failed", "missing"]


class ServerRow(Struct, frozen=True):
    """One server in `mcp list --json`."""

    name: str
    state: State
    transport: str
    target: str
    """The command or URL, with possible secrets removed."""
    where: str
    layer: str
    problem: str = ""
    hint: str = ""


def list_servers(args: argparse.Namespace, console: Console) -> int:
    """List the MCP servers of this directory; starts none."""
    settings = load_settings_here(console)
    listed = list_server_states(settings, console.environ)
    for warning in settings.server_files_broken:
        console.warn(warning)
    if args.json:
        print_json(console.out, listed)
        return 0
    if not listed:
        console.err.line("no MCP servers yet")
        console.hint("bridle mcp add --help")
        return 0
    rows = [
        (one.name, one.state, one.transport, _short_place(one.where, settings), one.target) for one in listed
    ]
    write_table(console.out, HEADINGS, rows)
    for one in listed:
        if one.problem and one.state != "untrusted":
            console.warn(one.problem + (f" (hint: {one.hint})" if one.hint else ""))
    if any(one.state == "untrusted" for one in listed):
        console.hint("run bridle trust to activate those of the project")
    return 0


def get(args: argparse.Namespace, console: Console) -> int:
    """Show a server's settings; possible secrets are hidden."""
    settings = load_settings_here(console)
    found = find_server(args.name, settings)
    listed = _listed(found, settings, console.environ)
    said = redact_server(found.settings)
    if args.json:
        view = {"name": found.name, "state": listed.state, "where": found.place, **said}
        print_json(console.out, view)
        return 0
    out = console.out
    out.line(f"{out.paint('name', found.name)}  {listed.state}  {out.paint('detail', found.place)}")
    for key, value in said.items():
        out.line(f"  {key} = {literal(value)}")
    if listed.problem:
        console.warn(listed.problem)
    if listed.hint:
        console.hint(listed.hint)
    return 0


def test(args: argparse.Namespace, console: Console) -> int:
    """Start one server on its own and show what it offers."""
    settings = load_settings_here(console)
    found = find_server(args.name, settings)
    require_trust(found)
    chosen = server_settings(found, settings, console.environ)
    trial = asyncio.run(_try(chosen, settings, console))
    is_ready = trial.view.state == "ready"
    if args.json:
        print_json(console.out, trial)
        return 0 if is_ready else 1
    if is_ready:
        _show(console, found.name, trial)
        return 0
    first, _, words = trial.view.detail.partition("\n")
    console.fail(f"{found.name}: {one_line(first)}")
    for line in words.splitlines():
        console.err.line(f"  {visible(line)}")
    console.hint(_advice(found, trial))
    return 1


# ---------------------------------------------------------------------------- shared with the other commands


def list_server_states(settings: Settings, environ: Mapping[str, str]) -> list[ServerRow]:
    """Return the expected state of each server of a folder, without starting any."""
    return [_listed(found, settings, environ) for found in settings.servers_found]


def find_server(name: str, settings: Settings) -> FoundServer:
    """Return a server by name, preferring one that takes effect; raises ConfigError."""
    known = {found.name: found for found in reversed(settings.servers_found)}
    if name in known:
        return known[name]
    near = nearest(name, known)
    raise ConfigError(
        f"unknown MCP server {name}", hint=f"did you mean {near}?" if near else "bridle mcp list"
    )


def require_trust(found: FoundServer) -> None:
    """Raise ConfigError for a server of a project that is not trusted."""
    if not found.trusted:
        raise ConfigError(
            f"{found.name} belongs to a project that is not trusted", hint="bridle trust shows it"
        )


def describe_target(found: FoundServer) -> str:
    """Return the command or URL of a server as configured."""
    said = found.settings
    return redact_url(said.url) if said.url else " ".join((said.command, *said.args))


def _listed(found: FoundServer, settings: Settings, environ: Mapping[str, str]) -> ServerRow:
    state, problem, hint = _state(found, settings, environ)
    return ServerRow(
        found.name, state, found.transport, describe_target(found), found.place, found.layer, problem, hint
    )


def _state(found: FoundServer, settings: Settings, environ: Mapping[str, str]) -> tuple[State, str, str]:
    if not found.settings.enabled:
        return "off", "", ""
    if not found.trusted:
        why = (
            "the project has changed since you trusted it" if found.has_lapsed else "it belongs to a project"
        )
        return "untrusted", why, "bridle trust shows it"
    try:
        chosen = server_settings(found, settings, environ)
    except ConfigError as error:
        return "failed", error.message, error.hint
    if chosen.argv and not find_server_program(chosen.argv[0], settings, environ):
        why = f"server {found.name}: program not found: {chosen.argv[0]}"
        return "missing", why, "install it, or change the command"
    return "on", "", ""


def find_server_program(name: str, settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the path of a server's program; empty if it is not found."""
    path = command_environment(settings, environ).get("PATH", os.defpath)
    return find_program(name, path, outside=()) or ""


def _short_place(place: str, settings: Settings) -> str:
    file, _, line = place.rpartition(":")
    return f"{short_path(file, settings)}:{line}" if file else place


# ---------------------------------------------------------------------------- test output


async def _try(chosen: ServerSettings, settings: Settings, console: Console) -> ServerCheck:
    """Start a server; on a terminal, say after a while what is being waited for."""
    text = f"waiting for {chosen.name} to answer, for {chosen.start_timeout_s:g} s and once more"
    wait = asyncio.get_running_loop().call_later(PATIENCE_S, console.err.line, text)
    if not console.err.is_terminal:
        wait.cancel()
    try:
        return await check_server(chosen, settings, open_sandbox(settings))
    finally:
        wait.cancel()


def _show(console: Console, name: str, trial: ServerCheck) -> None:
    out, offered = console.out, trial.offered
    about = one_line(offered.about)
    out.line(f"{out.paint('done', 'ok')}  {out.paint('name', name)}  {about}  {trial.duration_ms} ms")
    for what, items in (
        ("tool", [(item.name, item.description) for item in offered.tools]),
        ("prompt", [(item.name, item.description) for item in offered.prompts]),
        ("resource", [(item.uri, item.description or item.name) for item in offered.resources]),
    ):
        if not items:
            continue
        out.line(out.paint("detail", format_count(len(items), what)))
        for shown, text in items[:MAX_SHOWN]:
            first = cut(one_line(text.strip().partition("\n")[0]), MAX_LINE_CHARS)
            left_out = "  (excluded by the settings)" if what == "tool" and shown in trial.unused else ""
            out.line(f"  {out.paint('name', one_line(shown))}{left_out}  {first}".rstrip())
        if len(items) > MAX_SHOWN:
            out.line(f"  and {len(items) - MAX_SHOWN} more")
    for note in offered.notes:
        console.warn(one_line(note))


def _advice(found: FoundServer, trial: ServerCheck) -> str:
    if trial.view.state == "login":
        return f"bridle mcp login {found.name}"
    if found.transport == "stdio":
        return "run its command directly to see more; bridle mcp get shows it"
    old = "" if found.transport == "sse" else ", or -t sse like old ones"
    return f"is the address right, and does it need a login or a header{old}? bridle mcp get shows it"
