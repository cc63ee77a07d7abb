"""`bridle skills`: list, show, check and create skills."""

import argparse
import os
import sys
from collections.abc import Sequence

from bridle.config.file_names import PROJECT_FOLDER, SKILL_FILE, SKILLS_FOLDER
from bridle.config.settings import Settings
from bridle.config.skill_file import SkillProblem
from bridle.config.skills import load_skills
from bridle.config.textfile import write_text
from bridle.core.errors import ConfigError, UsageError
from bridle.core.skill import CONVENTIONAL_NAME, MAX_NAME_CHARS, Skill, join_arguments, near_names, render
from bridle.surfaces.cli.output.data import print_json, short_path, write_table
from bridle.surfaces.cli.session_lookup import load_settings_here
from bridle.surfaces.shared.terminal import Console, visible
from bridle.surfaces.shared.text_format import format_count

HEADINGS = ("SKILL", "FOR", "WHERE", "DESCRIPTION")

TEMPLATE = """\
---
name: {name}
description: What this does and when to use it. The model chooses the skill by this line.
argument-hint: "[what]"
---

Describe here, step by step, what to do with $ARGUMENTS.

Files next to this one belong to the skill: mention them, and the model reads them when needed.
"""


def list_skills(args: argparse.Namespace, console: Console) -> int:
    """List the skills available in this directory."""
    settings = load_settings_here(console)
    loaded = load_skills(settings)
    if args.json:
        print_json(console.out, loaded.skills)
    elif loaded.skills:
        rows = [_row(skill, settings) for skill in loaded.skills]
        write_table(console.out, HEADINGS, rows)
    else:
        console.err.line("no skills yet")
        console.hint("bridle skills new NAME")
    left_out = [problem for problem in loaded.problems if problem.is_left_out]
    if left_out:
        console.warn(f"{format_count(len(left_out), 'skill')} cannot be used")
        console.hint("bridle skills check")
    return 0


def show(args: argparse.Namespace, console: Console) -> int:
    """Print a skill as a model reads it, with these arguments."""
    settings = load_settings_here(console)
    skill = _find(args.name.removeprefix("/"), load_skills(settings).skills)
    if args.json:
        print_json(console.out, skill)
    else:
        text = render(skill, join_arguments(args.arguments), str(settings.cwd))
        console.out.data(text.removesuffix("\n\n---\n\n") + "\n")
    return 0


def check(args: argparse.Namespace, console: Console) -> int:
    """Report problems in the skills of this directory; exit code 1 if there are any."""
    loaded = load_skills(load_settings_here(console))
    if args.json:
        print_json(console.out, loaded.problems)
    else:
        for problem in loaded.problems:
            _write_problem(console, problem)
        if not loaded.problems:
            console.out.line(
                console.out.paint("done", f"{format_count(len(loaded.skills), 'skill')}, no problems")
            )
    return 1 if loaded.problems else 0


def new(args: argparse.Namespace, console: Console) -> int:
    """Create the folder of a new skill from a template."""
    name = args.name
    if not CONVENTIONAL_NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        raise UsageError(
            f'"{name}" is not a valid name for a skill', hint="lowercase letters, digits and single dashes"
        )
    settings = load_settings_here(console)
    base = (settings.project or settings.root) / PROJECT_FOLDER if args.project else settings.written
    folder = base / SKILLS_FOLDER / name
    if os.path.lexists(folder) or os.path.lexists(folder.with_name(f"{name}.md")):
        raise ConfigError(f"{folder} is already there", hint=f"bridle skills show {name}")
    write_text(folder / SKILL_FILE, TEMPLATE.format(name=name))
    console.out.line(visible(str(folder / SKILL_FILE)))
    if sys.stdin is not None and sys.stdin.isatty():
        console.hint(f"edit it, then: bridle run /{name}")
    return 0


def _find(name: str, skills: Sequence[Skill]) -> Skill:
    for skill in skills:
        if skill.name == name:
            return skill
    near = near_names(name, skills)
    raise ConfigError(
        f"no skill is named {name}",
        hint=f"did you mean {' or '.join(near)}?" if near else "bridle skills list",
    )


def _row(skill: Skill, settings: Settings) -> tuple[str, ...]:
    who = [word for word, may in (("you", skill.user_invocable), ("model", _is_for_model(skill))) if may]
    hint = f" {skill.argument_hint}" if skill.argument_hint else ""
    return (
        f"{skill.name}{hint}",
        ", ".join(who) or "nobody",
        short_path(skill.file, settings),
        skill.description,
    )


def _is_for_model(skill: Skill) -> bool:
    return not skill.disable_model_invocation


def _write_problem(console: Console, problem: SkillProblem) -> None:
    out = console.out
    state = out.paint("failed", "broken ") if problem.is_left_out else out.paint("warning", "warning")
    out.line(f"{state}  {visible(str(problem))}")
    if problem.hint:
        out.line(f"{'':9}hint: {visible(problem.hint)}")
