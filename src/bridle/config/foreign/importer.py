"""Write imported settings into the user's own files, without overwriting anything."""

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bridle.config.agents import LIBRARY, AgentFile
from bridle.config.claude_hooks import add_hooks, read_claude_hooks
from bridle.config.edit import add_rules, set_in_file
from bridle.config.edit_tables import add_table, has_key
from bridle.config.file_names import AGENTS_FOLDER, CONFIG_FILE, PROMPT_FILE, SKILLS_FOLDER
from bridle.config.foreign.findings import (
    Finding,
    FoundAgent,
    FoundRule,
    FoundServer,
    FoundSetting,
    FoundSkill,
    NotImported,
    get_table,
    read_json,
)
from bridle.config.import_files import ImportOutcome, check_skill_size, copy_skill, toml_text, write_folder
from bridle.config.keys import DEFAULT_AGENT, ConfigFile
from bridle.config.layers import SERVERS, Layer, Source, check, read_layer
from bridle.config.settings import Settings
from bridle.config.skills import SHARED_FOLDERS
from bridle.config.textfile import locked, read_text, write_text
from bridle.config.toml_document import key_text, literal
from bridle.config.validation import one_line
from bridle.core.errors import ConfigError
from bridle.core.hook import CommandRuntime, HookEntry
from bridle.core.skill import SKILL_NAME

# ---------------------------------------------------------------------------- import record
# The import record: what was imported from which program, so that nothing is imported twice.
#
# `BRIDLE_HOME/imported.json` holds `{"claude": {"session 84a7…": "12", "rule allow Bash(make)": "", …}}`.
# What is in it is not imported again even if the user has removed it since: that was a decision.


RECORD_FILE = "imported.json"

_decoder = msgspec.json.Decoder(dict[str, dict[str, str]])


class ImportRecord:
    """What was imported from one program. Blocks; methods raise ConfigError."""

    def __init__(self, home: Path, program: str) -> None:
        self._file = home / RECORD_FILE
        self._program = program
        self._known = self._read().get(program, {})
        self._new: dict[str, str] = {}

    def get_note(self, key: str) -> str | None:
        """Return the note stored when an item was imported; None if it never was."""
        return self._new.get(key, self._known.get(key))

    def add(self, key: str, note: str = "") -> None:
        """Note that an item was imported."""
        self._new[key] = note

    def keep(self) -> None:
        """Write the new notes to the file."""
        if not self._new:
            return
        with locked(self._file):
            whole = self._read()
            whole[self._program] = whole.get(self._program, {}) | self._new
            text = msgspec.json.format(msgspec.json.encode(whole, order="sorted"), indent=1)
            write_text(self._file, text.decode() + "\n")

    def _read(self) -> dict[str, dict[str, str]]:
        text = read_text(self._file)
        try:
            return _decoder.decode(text) if text else {}
        except msgspec.DecodeError as error:
            raise ConfigError(
                f"{self._file}: is not a valid import record: {error}", hint="remove the file"
            ) from error


# ---------------------------------------------------------------------------- the importer


BEFORE = "already imported"
MODEL_KEYS = (("model",), ("small_model",))


class Importer:
    """Imports the findings of one program into a user's files. Blocks."""

    def __init__(
        self, settings: Settings, record: ImportRecord, variables: Collection[str] = (), *, dry_run: bool
    ) -> None:
        self._settings = settings
        self._variables = variables
        """The variables that are already set."""
        self._record = record
        self._dry_run = dry_run

    def bring(self, findings: Iterable[Finding]) -> Iterator[ImportOutcome]:
        """Import each finding and yield its outcome; one that fails is left out, and the others continue."""
        for finding in findings:
            try:
                yield self._one(finding)
            except ConfigError as error:
                yield _named(finding, "left out", error.message)

    def _one(self, finding: Finding) -> ImportOutcome:
        match finding:
            case NotImported(kind, name, why):
                return ImportOutcome(kind, name, "left out", why)
            case FoundRule():
                return self._rule(finding)
            case FoundServer():
                return self._server(finding)
            case FoundSkill():
                return self._skill(finding)
            case FoundAgent():
                return self._agent(finding)
            case FoundSetting():
                return self._setting(finding)

    def _rule(self, found: FoundRule) -> ImportOutcome:
        key = f"rule {found.action} {found.written}"
        if self._record.get_note(key) is not None:
            return _named(found, "already there", BEFORE)
        if not self._dry_run:
            if not add_rules(self._settings.user_file, found.action, found.rules):
                return _named(found, "already there")
            self._record.add(key)
        elif found.action in self._written_actions(found.rules):
            return _named(found, "already there")
        return _named(found)

    def _written_actions(self, rules: tuple[str, ...]) -> set[str]:
        written = _tree(self._settings).get("rules", {})
        return {
            action
            for action, listed in written.items()
            if isinstance(listed, list) and {*rules} <= {*map(str, listed)}
        }

    def _server(self, found: FoundServer) -> ImportOutcome:
        key = f"server {found.name}"
        if found.name in _tree(self._settings).get("mcp", {}).get("servers", {}):
            return _named(found, "already there")
        if self._record.get_note(key) is not None:
            return _named(found, "already there", BEFORE)
        if not self._dry_run:
            add_table(self._settings.user_file, (*SERVERS, found.name), found.entry)
            self._record.add(key)
        needs = [name for name in found.needs if name not in self._variables]
        return _named(found, why=f"set {', '.join(needs)}" if needs else "")

    def _skill(self, found: FoundSkill) -> ImportOutcome:
        home, key = self._settings.written / SKILLS_FOLDER, f"skill {found.name}"
        if not SKILL_NAME.fullmatch(found.name):
            return _named(found, "left out", "its name is not valid for a skill")
        if found.folder is not None and self._is_read_there(found.folder):
            return _named(found, "already there", "it is used in place")
        if any(os.path.lexists(home / name) for name in (found.name, f"{found.name}.md")):
            return _named(found, "already there")
        if self._record.get_note(key) is not None:
            return _named(found, "already there", BEFORE)
        if found.folder is not None and (why := check_skill_size(found.folder)):
            return _named(found, "left out", why)
        if not self._dry_run:
            if found.folder is not None:
                copy_skill(found.folder, home / found.name)
            else:
                write_text(home / f"{found.name}.md", found.text)
            self._record.add(key)
        return _named(found, why=found.note)

    def _is_read_there(self, folder: Path) -> bool:
        user = self._settings.user_folder
        shared = [user / name / SKILLS_FOLDER for name in SHARED_FOLDERS] if user else []
        return any(os.path.realpath(folder.parent) == os.path.realpath(one) for one in shared)

    def _agent(self, found: FoundAgent) -> ImportOutcome:
        folder, key = self._settings.written / AGENTS_FOLDER / found.name, f"agent {found.name}"
        if os.path.lexists(folder):
            return _named(found, "already there")
        if found.name == DEFAULT_AGENT or (LIBRARY / found.name).is_dir():
            return _named(found, "left out", "Bridle has an agent with that name")
        if self._record.get_note(key) is not None:
            return _named(found, "already there", BEFORE)
        check(Layer(Source("user", found.name), found.tree), AgentFile)
        if not self._dry_run:
            texts = {PROMPT_FILE: found.prompt}
            if found.tree:
                texts[CONFIG_FILE] = toml_text(found.tree)
            write_folder(folder, texts)
            self._record.add(key)
        return _named(found, why=found.note)

    def _setting(self, found: FoundSetting) -> ImportOutcome:
        name = key_text(found.path)
        if has_key(_tree(self._settings), found.path):
            return _named(found, "already there")
        if self._record.get_note(f"setting {name}") is not None:
            return _named(found, "already there", BEFORE)
        provider = str(found.value).partition("/")[0]
        if found.path in MODEL_KEYS and provider not in self._settings.providers:
            why = f"no provider is named {provider}; set providers.{provider}, then: bridle config set {name}"
            return _named(found, "left out", f"{found.value}: {why}")
        if not self._dry_run:
            file = self._settings.user_file
            if isinstance(found.value, dict):
                add_table(file, found.path, found.value)
            else:
                set_in_file(file, name, found.value if isinstance(found.value, str) else literal(found.value))
            self._record.add(f"setting {name}")
        return _named(found, why=found.note)


def _tree(settings: Settings) -> dict[str, Any]:
    layer = read_layer("user", settings.user_file, ConfigFile)
    return layer.tree if layer else {}


def _named(finding: Finding, outcome: Any = "imported", why: str = "") -> ImportOutcome:
    match finding:
        case NotImported(kind, name, _):
            return ImportOutcome(kind, name, outcome, why)
        case FoundRule(action, written, rules):
            shown = ", ".join(rules)
            return ImportOutcome(
                "rule", one_line(f"{action} {shown if len(shown) < 200 else written}"), outcome, why
            )
        case FoundServer(name):
            return ImportOutcome("server", name, outcome, why)
        case FoundSkill(name):
            return ImportOutcome("skill", one_line(name), outcome, why)
        case FoundAgent(name):
            return ImportOutcome("agent", name, outcome, why)
        case FoundSetting(path):
            return ImportOutcome("setting", key_text(path), outcome, why)


# ---------------------------------------------------------------------------- hooks
# Import the hooks of Claude Code, like `bridle hooks import`, and report them as import outcomes.


def import_hooks(file: Path, settings: Settings, *, dry_run: bool) -> Iterator[ImportOutcome]:
    """Add the hooks of a `settings.json` that are not there yet. Blocks."""
    try:
        if not get_table(read_json(file, file.parent), "hooks"):
            return
        found = read_claude_hooks(file)
        known = {hook.entry.id for hook in settings.hooks_found}
        there = [_command(hook.entry) for hook in settings.hooks_found]
        new = [entry for entry in found.entries if _command(entry) not in there]
        if not dry_run:
            add_hooks(settings.user_file, new, known)
    except ConfigError as error:
        yield ImportOutcome("hook", file.name, "left out", error.message)
        return
    for entry in found.entries:
        yield ImportOutcome(
            "hook", one_line(_command(entry)[-1]), "imported" if entry in new else "already there"
        )
    for why in found.left_out:
        event, _, reason = why.partition(": ")
        yield ImportOutcome("hook", one_line(event), "left out", one_line(reason))


def _command(entry: HookEntry) -> tuple[str, ...]:
    """Return what identifies a hook: its point and its command."""
    runtime = entry.runtime
    return (entry.point, *(runtime.args if isinstance(runtime, CommandRuntime) else (entry.id,)))
