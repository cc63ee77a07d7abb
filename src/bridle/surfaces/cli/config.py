"""`bridle config`: show the effective settings and their sources, and change one."""

import argparse
import os
from pathlib import Path
from typing import Any

from bridle.config.edit import get_value, set_in_file
from bridle.config.edit import show as list_settings
from bridle.config.file_names import CONFIG_FILE, PROJECT_FOLDER
from bridle.config.settings import Settings, find_home
from bridle.config.toml_document import literal, parse_key
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.cli.session_lookup import load_settings_here, resolve_directory
from bridle.surfaces.daemon.listen_address import check_listener
from bridle.surfaces.shared.terminal import Console, columns, one_line, pad


def show(args: argparse.Namespace, console: Console) -> int:
    """Show every setting and its source."""
    settings = _load(console)
    rows = list_settings(settings)
    if args.json:
        print_json(console.out, [row._asdict() for row in rows])
        return 0
    keys, values = (max(columns(one_line(row[index])) for row in rows) for index in (0, 1))
    out = console.out
    for row in rows:
        source = "" if row.source == "default" else out.paint("detail", f"  # {row.source}")
        value = one_line(row.value)
        padded = pad(value, min(values, 40)) if source else value
        out.line(f"{out.paint('name', row.key)}{' ' * (keys - columns(row.key))} = {padded}{source}")
    return 0


def get(args: argparse.Namespace, console: Console) -> int:
    """Print the value of one setting."""
    value = get_value(_load(console), args.key)
    if args.json:
        print_json(console.out, value)
    elif value is not None:
        console.out.data(f"{_text(value)}\n")
    return 0


def change(args: argparse.Namespace, console: Console) -> int:
    """Set one setting in the user's config file."""
    file = _user_file(console)
    table = parse_key(args.key)[0]
    set_in_file(file, args.key, args.value, lambda config: check_listener(config, table))
    console.done(f"set {args.key} in {file}")
    return 0


def path(args: argparse.Namespace, console: Console) -> int:
    """Print the config files, lowest precedence first."""
    files = [_user_file(console)]
    settings = _load(console)
    if settings.project is not None:
        files.append(settings.project / PROJECT_FOLDER / CONFIG_FILE)
    if args.json:
        found = [{"path": str(file), "exists": file.exists()} for file in files]
        print_json(console.out, found)
        return 0
    for file in files:
        note = "" if file.exists() else console.out.paint("detail", "  (not there)")
        console.out.line(f"{one_line(os.fspath(file))}{note}")
    return 0


def _load(console: Console) -> Settings:
    settings = load_settings_here(console)
    for warning in settings.warnings:
        console.warn(warning)
    return settings


def _user_file(console: Console) -> Path:
    return find_home(console.environ, Path(resolve_directory())) / CONFIG_FILE


def _text(value: Any) -> str:
    """Format a value for scripts: a string bare, anything else as TOML."""
    if isinstance(value, dict):
        return "\n".join(f"{key} = {literal(item)}" for key, item in value.items() if item is not None)
    return value if isinstance(value, str) else literal(value)
