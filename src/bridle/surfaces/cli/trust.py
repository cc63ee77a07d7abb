"""`bridle trust`: show what a project would change, and trust it until its files change.

```
/home/ann/site wants to set:
  .bridle/config.toml:2  rules.allow = ["bash(make:*)"]
      a project may not allow anything
trust these settings? [y/N]
```
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from bridle.config.agents import list_agents, load_agent
from bridle.config.settings import Settings, find_home, load_settings
from bridle.config.trust_policy import TrustedKey
from bridle.config.trust_record import fingerprint, read_record, set_trust
from bridle.core.errors import ConfigError, UsageError
from bridle.surfaces.cli.confirm import ask_confirmation
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.shared.terminal import Console, one_line, visible


class TrustedProject(Struct, frozen=True):
    """One line of `trust --list`."""

    project: str
    state: str
    """`as it was`, `changed` or `gone`."""


def trust(args: argparse.Namespace, console: Console) -> int:
    """Trust a project, list the trusted ones, or revoke trust."""
    if args.listing:
        return _list(args, console)
    return _revoke(args, console) if args.revoke else _trust(args, console)


def _trust(args: argparse.Namespace, console: Console) -> int:
    settings = load_settings(console.environ, Path(resolve_directory(args.folder)))
    project = settings.folder
    if settings.project is None and not settings.trust_keys and not (project / ".git").exists():
        raise UsageError(
            f"{settings.cwd} is not in a project",
            hint="a project is a repository, or has a folder .bridle with its settings",
        )
    seen = fingerprint(project)
    held = _held(settings)
    if fingerprint(project) != seen:
        raise ConfigError(f"{project} changed while it was being read", hint="bridle trust")
    if args.json:
        print_json(console.out, held)
    else:
        _show(console, project, held)
    if read_record(settings.home).projects.get(str(project)) == seen:
        console.done("already trusted, unchanged since")
        return 0
    if not held and not args.yes:
        console.hint("bridle trust --yes allows the language servers that are part of it")
        return 0
    hint = "review it, then run bridle trust --yes"
    if not args.yes and not ask_confirmation(
        console, "trust these settings?", without="trusting needs confirmation", hint=hint
    ):
        console.err.line("nothing was changed")
        return 0
    set_trust(settings.home, str(project), seen)
    console.done(f"{project} is trusted until its files change")
    return 0


def _held(settings: Settings) -> list[TrustedKey]:
    """Return everything that the project may set only if trusted, in its settings and in its agents."""
    agents = [load_agent(name, settings).left_out.trust_keys for name in list_agents(settings)]
    return [*settings.trust_keys, *(item for held in agents for item in held)]


def _show(console: Console, project: Path, held: Sequence[TrustedKey]) -> None:
    out = console.out
    if not held:
        console.err.line(f"nothing in {visible(str(project))} needs your trust")
        return
    out.line(f"{out.paint('name', str(project))} wants to set:")
    for item in held:
        place = one_line(os.path.relpath(item.place, project))
        out.line(f"  {out.paint('detail', place)}  {out.paint('warning', f'{item.key} = {item.value}')}")
        out.line(f"      {visible(item.why)}")


def _list(args: argparse.Namespace, console: Console) -> int:
    home = find_home(console.environ, Path(resolve_directory()))
    found = [
        TrustedProject(project, _state(Path(project), known))
        for project, known in read_record(home).projects.items()
    ]
    if args.json:
        print_json(console.out, found)
        return 0
    for item in found:
        note = "" if item.state == "as it was" else console.out.paint("warning", f"  ({item.state})")
        console.out.line(f"{one_line(item.project)}{note}")
    if not found:
        console.err.line("no project is trusted")
    return 0


def _state(project: Path, known: dict[str, str]) -> str:
    if not project.is_dir():
        return "gone"
    try:
        return "as it was" if fingerprint(project) == known else "changed"
    except ConfigError:
        return "changed"


def _revoke(args: argparse.Namespace, console: Console) -> int:
    home = find_home(console.environ, Path(resolve_directory()))
    folder = os.path.realpath(args.folder or resolve_directory())
    known = read_record(home).projects
    # Works from a folder inside the project too, and for a project that no longer exists.
    project = next(
        (str(above) for above in (Path(folder), *Path(folder).parents) if str(above) in known), None
    )
    if project is None:
        raise ConfigError(f"{folder} is not trusted", hint="bridle trust --list")
    set_trust(home, project, None)
    console.done(f"{project} is no longer trusted")
    return 0
