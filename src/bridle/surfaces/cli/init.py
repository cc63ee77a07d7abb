"""`bridle init`: detect models, ask up to three questions, write a commented `config.toml`, try the model.

```
detect ─▶ which model? ─▶ what without asking? ─▶ what else? ─▶ write ─▶ do the rest ─▶ try the model
```

Nothing is written before the last answer, and the file is written atomically.
"""

import argparse
import asyncio
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from bridle.app import open_models
from bridle.app.discovery import Choice, Discovered, discover
from bridle.app.models import check_model
from bridle.config.settings import Settings, find_home, load_settings
from bridle.config.starter_config import NOTES_FILE, WrittenSettings, wants_notes, write_notes, write_settings
from bridle.core.errors import BridleError, ConfigError, UsageError
from bridle.core.permission import Mode
from bridle.surfaces.cli.output.data import short_path
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.shared.terminal import Console, cut, one_line, pad, visible
from bridle.surfaces.shared.text_format import format_count

# ---------------------------------------------------------------------------- questions
# Questions with numbered answers on a terminal; Enter takes the default.


MAX_TRIES = 5


def can_ask(console: Console) -> bool:
    """Return True if stdin and stderr are terminals, so that a user can read a question and answer it."""
    return console.err.is_terminal and sys.stdin is not None and sys.stdin.isatty()


def choose(
    console: Console,
    question: str,
    options: Sequence[tuple[str, str]],
    *,
    other: str = "",
    several: bool = False,
) -> list[str]:
    """Ask for one of the options (returned value, shown text); Enter takes the first.

    `other` names what may be typed instead of a number; `several` allows numbers joined by commas.
    Raises KeyboardInterrupt if input ends, UsageError after too many invalid answers.
    """
    err = console.err
    width = max(len(name) for name, _ in options)
    err.line(err.paint("strong", question))
    for number, (name, meaning) in enumerate(options, 1):
        err.line(f"  {number}  {err.paint('name', pad(visible(name), width))}  {visible(meaning)}".rstrip())
    choices = {str(number): name for number, (name, _) in enumerate(options, 1)}
    how = "number (Enter for 1)"
    if several:
        how += ", or several, such as 2,3"
    if other:
        how += f", or any {other}"
    for _ in range(MAX_TRIES):
        typed = _line(console, f"{how}: ")
        numbers = [part.strip() for part in typed.split(",")]
        if not typed:
            return [options[0][0]]
        if all(part in choices for part in numbers):
            if several or len(numbers) == 1:
                return list(dict.fromkeys(choices[part] for part in numbers))
        elif other and "/" in typed:
            return [typed]
        err.line(f"not one of the choices: {visible(typed[:60])}")
    raise UsageError(f"no answer to: {question}", hint="bridle init --help")


def ask_yes_no(console: Console, question: str) -> bool:
    """Ask for a yes; anything else is a no. Raises KeyboardInterrupt if input ends."""
    return _line(console, f"{console.err.paint('strong', question)} [y/N] ").lower() in ("y", "yes")


def _line(console: Console, prompt: str) -> str:
    """Read one line; Ctrl-C and the end of input both raise KeyboardInterrupt."""
    # With the event loop's handler, Ctrl-C would only request a cancel, and the read would go on.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        console.err.write(prompt)
        console.err.flush()
        typed = sys.stdin.readline()
    except KeyboardInterrupt:
        console.err.line()
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if not typed:
        console.err.line()
        raise KeyboardInterrupt
    return typed.strip()


# ---------------------------------------------------------------------------- init


MODES: tuple[tuple[Mode, str], ...] = (
    ("ask", "read files; everything else needs approval, and edits show their diff"),
    ("accept-edits", "read and edit files of the project; commands need approval"),
    ("plan", "only read files"),
)
NOTHING = "nothing"
PROGRAMS = {"claude": "Claude Code", "codex": "Codex", "crush": "Crush", "kontekst": "Kontekst"}
IMPORTS = {
    "claude": ("import", "claude", "--yes"),
    "codex": ("import", "codex", "--yes"),
    "crush": ("import", "crush", "--yes"),
    "kontekst": ("import", "kontekst"),
}
"""The command that imports from each program; the program's folder is appended."""
FIRST_ANSWER = 'bridle run "What is the capital of France?"'
FIRST_PROMPT = 'bridle run "what does this project do"'
LABEL_WIDTH = 9
MAX_ANSWER_CELLS = 60


class InitPlan(Struct, frozen=True):
    """What `bridle init` is going to do."""

    model: str
    mode: Mode
    extras: tuple[str, ...] = ()
    """AGENTS.md, and the programs to import from."""


def init(args: argparse.Namespace, console: Console) -> int:
    """Configure Bridle for first use."""
    cwd = Path(resolve_directory())
    asks = not args.yes and can_ask(console)
    settings, is_broken = _settings(console, cwd, force=args.force)
    is_there = os.path.lexists(settings.user_file)
    if is_there and not asks and not args.force:
        raise UsageError(
            f"{short_path(str(settings.user_file), settings)} already exists",
            hint="bridle init --force changes its model and mode, and keeps a backup",
        )
    if args.model:
        open_models(settings).facts(args.model)  # raises if the name is wrong
    found = asyncio.run(discover(settings, console.environ))
    _tell_found(console, found)
    plan = _plan(args, console, settings, found, asks=asks, is_there=is_there)
    if is_there and asks and not args.force:
        file = short_path(str(settings.user_file), settings)
        if not ask_yes_no(console, f"{file} already exists. Change its model and mode?"):
            console.err.line("nothing was changed")
            return 0
    written = write_settings(settings.user_file, plan.model, plan.mode, anew=is_broken)
    _tell_written(console, settings, written, plan)
    return _finish(args, console, cwd, found, plan)


def _settings(console: Console, cwd: Path, *, force: bool) -> tuple[Settings, bool]:
    """Load the settings, and True if a broken file is to be replaced; its settings are ignored.

    Raises ConfigError for a broken file without `force`.
    """
    try:
        return load_settings(console.environ, cwd), False
    except ConfigError as error:
        home = find_home(console.environ, cwd)
        if not force:
            hint = error.hint or "bridle init --force moves the file aside and starts over"
            raise ConfigError(error.message, hint=hint) from error
        nowhere = {**console.environ, "BRIDLE_HOME": str(home / ".none")}
        return replace(load_settings(nowhere, cwd), home=home), True


def _plan(
    args: argparse.Namespace,
    console: Console,
    settings: Settings,
    found: Discovered,
    *,
    asks: bool,
    is_there: bool,
) -> InitPlan:
    """Decide what to do: from flags, by asking, or from the best choice detected."""
    model = args.model or _chosen(console, settings, found, asks=asks)
    is_said = settings.source("rules", "mode")[-1].layer == "user"  # a mode that the user has set stays
    mode: Mode = args.mode or (settings.rules.mode if is_said else MODES[0][0])
    if asks and not args.mode:
        (answer,) = choose(console, "What may it do without asking you?", MODES)
        mode = next(mode for mode in get_args(Mode) if mode == answer)
        console.err.line()
    extras = _extras(console, settings, found) if asks and not is_there else []
    return InitPlan(model, mode, tuple(extras))


def _chosen(console: Console, settings: Settings, found: Discovered, *, asks: bool) -> str:
    if not asks:
        return found.choices[0].ref
    options = [(choice.ref, choice.why) for choice in found.choices]
    models = open_models(settings)
    while True:
        (ref,) = choose(console, "Which model should answer?", options, other="PROVIDER/MODEL")
        try:
            models.facts(ref)
        except BridleError as error:
            console.fail(error.message, error.hint)
        else:
            console.err.line()
            return ref


def _extras(console: Console, settings: Settings, found: Discovered) -> list[str]:
    """Ask what else to do; ask nothing if there is nothing to offer."""
    options = [(NOTHING, "")]
    if wants_notes(settings.root, settings.user_folder):
        options.append(
            (NOTES_FILE, f"create it in {settings.root.name}/: what agents should know about the project")
        )
    for name, folder in found.programs.items():
        where = short_path(str(folder), settings)
        options.append((name, f"import from {PROGRAMS[name]} in {where} (bridle import {name})"))
    if len(options) == 1:
        return []
    wanted = choose(console, "What else should be set up?", options, several=True)
    console.err.line()
    return [name for name in wanted if name != NOTHING]


# ---------------------------------------------------------------------------- output


def _tell_found(console: Console, found: Discovered) -> None:
    lines = [("keys", ", ".join(found.keys) or "none in the environment")]
    served = [f"{name} ({format_count(len(models), 'model')})" for name, models in found.servers.items()]
    lines.append(("servers", ", ".join(served) or "no model server found on this machine"))
    if found.has_ollama_models and "ollama" not in found.servers:
        lines.append(("", "Ollama has models here but is not running: ollama serve"))
    if found.files:
        lines.append(("files", f"{format_count(len(found.files), 'model file')} (GGUF)"))
    for label, text in lines:
        console.err.line(f"{console.err.paint('detail', pad(label, LABEL_WIDTH))}{one_line(text)}")
    console.err.line()


def _tell_written(console: Console, settings: Settings, written: WrittenSettings, plan: InitPlan) -> None:
    out = console.out
    file = short_path(str(written.file), settings)
    out.line(f"wrote {one_line(file)}: model {one_line(plan.model)}, mode {plan.mode}")
    if written.copy is not None:
        out.line(f"the previous file is in {one_line(short_path(str(written.copy), settings))}")


def _finish(args: argparse.Namespace, console: Console, cwd: Path, found: Discovered, plan: InitPlan) -> int:
    """Do the extra tasks, try the model, and print the next commands."""
    settings = load_settings(console.environ, cwd)
    code = 0
    for name in plan.extras:
        if name == NOTES_FILE:
            _make_notes(console, settings)
        else:
            code |= _import(console, [*IMPORTS[name], str(found.programs[name])])
    known = {choice.ref: choice for choice in found.choices}
    choice = known.get(plan.model, Choice(plan.model, ""))
    if choice.needs:
        _tell_next(console, {choice.needs: "required first", FIRST_ANSWER: "a first answer"})
        return code
    if not args.no_try:
        code |= _try(console, settings, plan.model)
    if code:
        _tell_next(
            console, {"bridle doctor": "show what is missing and how to fix it", "bridle init": "once more"}
        )
    else:
        _tell_next(console, {FIRST_PROMPT: "an answer", "bridle": "the terminal interface"})
    return code


def _make_notes(console: Console, settings: Settings) -> None:
    file = write_notes(settings.root)
    console.out.line(f"wrote {one_line(short_path(str(file), settings))}: review it and add what is missing")


def _import(console: Console, words: list[str]) -> int:
    """Run `bridle import` as a separate process, so that its output is the same as when a user runs it."""
    console.out.line(f"bridle {' '.join(map(shlex.quote, words))}")
    console.out.flush()
    done = subprocess.run([sys.executable, "-P", "-m", "bridle", *words], env=console.environ, check=False)
    return 1 if done.returncode else 0


def _try(console: Console, settings: Settings, ref: str) -> int:
    err = console.err
    err.write(f"asking {one_line(ref)} for one word ... ")
    err.flush()
    try:
        answer = asyncio.run(check_model(settings, ref))
    except BridleError as error:
        err.line()
        console.fail(f"no answer: {error.message}", error.hint)
        return 1
    err.line(f"it says: {cut(one_line(answer), MAX_ANSWER_CELLS) or '(nothing)'}")
    return 0


def _tell_next(console: Console, commands: dict[str, str]) -> None:
    width = max(map(len, commands))
    console.out.line()
    console.out.line("next:")
    for command, meaning in commands.items():
        console.out.line(f"  {pad(command, width)}  {console.out.paint('detail', f'# {meaning}')}")
