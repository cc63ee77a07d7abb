"""`bridle lsp list`: the language servers for the files here, and how to install missing ones."""

import argparse
import asyncio
from collections.abc import Mapping, Sequence

from bridle.app import open_sandbox
from bridle.app.lsp import language_faults, open_languages
from bridle.config.settings import Settings
from bridle.core.server_views import ServerState, ServerView
from bridle.surfaces.cli.output.data import print_json, write_table
from bridle.surfaces.cli.session_lookup import load_settings_here
from bridle.surfaces.shared.terminal import Console

HEADINGS = ("SERVER", "STATE", "DETAIL")
STATES: dict[ServerState, str] = {"idle": "found", "off": "missing"}
"""How states are shown here, where no server is started."""


def list_servers(args: argparse.Namespace, console: Console) -> int:
    """List the language servers for the files here; starts none."""
    settings = load_settings_here(console)
    views = find_language_servers(settings, console.environ)
    faults = language_faults(settings)
    if args.json:
        print_json(console.out, views)
        return 0
    if views:
        write_table(console.out, HEADINGS, [_row(view) for view in views])
    elif not settings.lsp.enabled:
        console.err.line("language servers are turned off")
        console.hint("bridle config set lsp.enabled true")
    else:
        console.err.line("no language server is known for the files here")
        console.hint("docs/language-servers.md shows how to add one")
    for name, why in faults.items():
        console.warn(f"{name}: {why}")
    return 0


def _row(view: ServerView) -> tuple[str, str, str]:
    return view.name, STATES.get(view.state, view.state), view.detail


def find_language_servers(settings: Settings, environ: Mapping[str, str]) -> Sequence[ServerView]:
    """Return the language servers that the files of a folder would use; starts none."""

    async def find() -> Sequence[ServerView]:
        languages = open_languages(settings, environ, open_sandbox(settings))
        if languages is None:
            return ()
        try:
            return await languages.views(str(settings.cwd))
        finally:
            await languages.aclose()

    return asyncio.run(find())
