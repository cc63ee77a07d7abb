"""`bridle agents`: list, show, check, create and edit agents."""

import argparse
import os
import re
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from bridle.app import open_blobs, open_sandbox, open_tools
from bridle.config.agent_list import (
    AgentProblem,
    AgentSource,
    agent_problems,
    agent_source,
    built_in_files,
    own_folder,
    show_agent,
)
from bridle.config.agents import list_agents, read_agent
from bridle.config.file_names import AGENTS_FOLDER, CONFIG_FILE, PROJECT_FOLDER, PROMPT_FILE
from bridle.config.rule_list import LocatedRule, list_rules
from bridle.config.settings import Settings
from bridle.config.textfile import read_text, write_text
from bridle.config.toml_document import literal
from bridle.core.errors import ConfigError, UsageError
from bridle.core.value_types import AGENT_NAME_PATTERN
from bridle.surfaces.cli.output.data import print_json, write_table
from bridle.surfaces.cli.session_lookup import load_settings_here
from bridle.surfaces.shared.editor import run_editor
from bridle.surfaces.shared.folder_info import AgentRow, agent_rows
from bridle.surfaces.shared.terminal import Console, columns, one_line, visible
from bridle.surfaces.shared.text_format import format_count

HEADINGS = ("AGENT", "NAME", "FROM", "MODE", "MODEL", "TOOLS")

CONFIG_TEMPLATE = """\
name = {name}
# model = "anthropic/claude-sonnet-4-5"   # default: the model of the settings
# mode = "plan"                           # or ask, accept-edits, yolo, code
# tools = ["read_file", "grep", "bash"]   # default: all tools

# [limits]
# max_turns = 50
# max_cost = 1.0

# [rules]
# allow = ["bash(git status:*)"]
# deny = ["edit_file(docs/**)"]

# [sampling]
# temperature = 0.2
"""
PROMPT_TEMPLATE = """\
You are {name}. Describe here what this agent is for, how it works, and what its answers look like.
"""


class AgentView(Struct, frozen=True):
    """The output of `agents show --json`."""

    agent: str
    source: AgentSource
    settings: list[dict[str, str]]
    """Each entry has key, value and source."""
    rules: list[LocatedRule]
    prompt_file: str
    prompt: str


def list_all(args: argparse.Namespace, console: Console) -> int:
    """List the agents available in the working directory."""
    settings = load_settings_here(console)
    rows = agent_rows(settings)
    if args.json:
        print_json(console.out, rows)
        return 0
    write_table(console.out, HEADINGS, [_cells(row) for row in rows])
    return 0


def show(args: argparse.Namespace, console: Console) -> int:
    """Show an agent's effective settings, the source of each, and its prompt."""
    settings = load_settings_here(console)
    parts = read_agent(args.name, settings)
    view = AgentView(
        args.name,
        agent_source(args.name, settings),
        [row._asdict() for row in show_agent(args.name, settings)],
        list_rules(settings, args.name),
        str(parts.prompt_file),
        parts.prompt.strip(),
    )
    for warning in parts.left_out.warnings:
        console.warn(warning)
    if args.json:
        print_json(console.out, view)
    else:
        _write_view(console, view)
    return 0


def check(args: argparse.Namespace, console: Console) -> int:
    """Report problems in the agents available here; exit code 1 if there are any."""
    settings = load_settings_here(console)
    found = _check(settings, console, args.name)
    if args.json:
        print_json(console.out, found)
        return 1 if found else 0
    for problem in found:
        _write_problem(console, problem)
    if not found:
        checked = "agent " + args.name if args.name else format_count(len(list_agents(settings)), "agent")
        console.out.line(console.out.paint("done", f"{visible(checked)}: no problems"))
    return 1 if found else 0


def new(args: argparse.Namespace, console: Console) -> int:
    """Create the files of a new agent from a template or from another agent."""
    settings = load_settings_here(console)
    if args.name in list_agents(settings):
        raise ConfigError(f"agent {args.name} already exists", hint=f"bridle agents edit {args.name}")
    base = (settings.project or settings.root) / PROJECT_FOLDER if args.project else settings.written
    folder = base / AGENTS_FOLDER / args.name
    for file, text in _first_texts(args.name, args.source, settings).items():
        write_text(folder / file, text)
        console.out.line(visible(str(folder / file)))
    return 0


def edit(args: argparse.Namespace, console: Console) -> int:
    """Open an agent's files in an editor; a built-in agent is first copied to the user's own."""
    settings = load_settings_here(console)
    name: str = args.name
    folder = own_folder(name, settings)
    made: dict[str, str] = {}
    if folder is None:
        if name not in list_agents(settings):
            read_agent(name, settings)  # raises: there is no such agent
        folder = settings.written / AGENTS_FOLDER / name
        made = _texts_of(built_in_files(name), name)
        for file, text in made.items():
            write_text(folder / file, text)
    files = [folder / CONFIG_FILE, folder / PROMPT_FILE]
    try:
        run_editor([str(file) for file in files], console.environ, str(settings.cwd))
    finally:
        if made and all(_read_or_none(folder / file) == text for file, text in made.items()):
            _remove(folder, made)
            console.err.line("nothing was changed")
    problems = _check(load_settings_here(console), console, name)
    for problem in problems:
        _write_problem(console, problem)
    return 1 if problems else 0


# ---------------------------------------------------------------------------- files


def _first_texts(name: str, source: str | None, settings: Settings) -> dict[str, str]:
    _check_name(name)
    if source is None:
        return _texts_of({PROMPT_FILE: PROMPT_TEMPLATE.format(name=name)}, name)
    read_agent(source, settings)
    folder = own_folder(source, settings)
    if folder is None:
        return _texts_of(built_in_files(source), name)
    found = {file: read_text(folder / file) for file in (CONFIG_FILE, PROMPT_FILE)}
    return _texts_of({file: text for file, text in found.items() if text is not None}, name)


def _texts_of(texts: dict[str, str], name: str) -> dict[str, str]:
    """Add a template for the config file if it is missing, so that there is something to edit."""
    return {CONFIG_FILE: CONFIG_TEMPLATE.format(name=literal(name))} | texts


def _check_name(name: str) -> None:
    if not re.fullmatch(AGENT_NAME_PATTERN, name):
        raise UsageError(
            f'"{name}" is not a valid name for an agent',
            hint="use letters, digits, -, _ and inner dots, at most 64 characters",
        )


def _read_or_none(file: Path) -> str | None:
    try:
        return read_text(file)
    except ConfigError:
        return None


def _remove(folder: Path, made: dict[str, str]) -> None:
    with suppress(OSError):
        for file in made:
            os.unlink(folder / file)
        os.rmdir(folder)


# ---------------------------------------------------------------------------- output


def _cells(row: AgentRow) -> tuple[str, ...]:
    if row.problem:
        return row.agent, "-", row.source, "broken", "-", row.problem
    tools = "all" if row.tools is None else " ".join(row.tools) or "none"
    return row.agent, row.name or "-", row.source, row.mode, row.model, tools


def _write_view(console: Console, view: AgentView) -> None:
    out = console.out
    keys = max(columns(row["key"]) for row in view.settings)
    out.line(f"{out.paint('strong', view.agent)}  {out.paint('detail', view.source)}")
    for row in view.settings:
        source = "" if row["source"] == "default" else out.paint("detail", f"  # {row['source']}")
        out.line(f"{out.paint('name', row['key'].ljust(keys))} = {one_line(row['value'])}{source}")
    for rule in view.rules:
        note = "" if rule.in_effect else ", no effect"
        place = out.paint("detail", f"  # {rule.place}{note}")
        out.line(f"{out.paint('name', f'rules.{rule.action}'.ljust(keys))} = {one_line(rule.rule)}{place}")
    out.line()
    out.line(out.paint("detail", f"# {view.prompt_file}"))
    out.data(view.prompt + "\n")


def _check(settings: Settings, console: Console, name: str | None) -> list[AgentProblem]:
    tools = open_tools(settings, console.environ, open_blobs(settings), open_sandbox(settings))
    return agent_problems(settings, [tool.spec.name for tool in tools], name)


def _write_problem(console: Console, problem: AgentProblem) -> None:
    out = console.out
    out.line(
        f"{out.paint('failed', 'broken')}  {out.paint('name', problem.agent)}  {visible(problem.message)}"
    )
    if problem.hint:
        out.line(f"{'':8}hint: {visible(problem.hint)}")
