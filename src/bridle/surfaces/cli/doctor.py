"""`bridle doctor`: report what works, what is missing, and the command that fixes it.

It changes nothing and contacts nothing outside this machine. The exit code is 1 if something required is
missing.
"""

import argparse
import asyncio
import os
import platform
import shlex
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import apsw

from bridle.app import models_dir, open_models, open_sandbox, open_store
from bridle.config.settings import Settings, find_home, load_settings
from bridle.core.errors import BridleError
from bridle.stores.record_lines import REPAIRABLE, LineStore
from bridle.surfaces.cli.doctor_checks import (
    Finding,
    State,
    check_bash,
    check_kernel,
    check_language_servers,
    check_mcp_servers,
    check_ripgrep,
    check_sandbox,
    check_undo,
    edit_command,
    pip_command,
    reinstall_command,
)
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.shared.terminal import Colour, Console, visible
from bridle.surfaces.shared.text_format import format_count
from bridle.system.programs import find_program

if TYPE_CHECKING:
    from bridle.app.discovery import Discovered
    from bridle.core.model import Model
    from bridle.providers import ModelCatalog

# ---------------------------------------------------------------------------- extras
# Installed extras (`pip install 'bridle-agent[NAME]'`), and a check for a package with a colliding name.


EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "local": ("models that run inside Bridle", ("xllamacpp",)),
    "memory": ("memory search by meaning", ("numpy", "tokenizers", "usearch", "wordllama")),
    "grpc": ("gRPC", ("grpc", "google.protobuf")),
    "scale": (
        "clusters and telemetry",
        ("dbos", "obstore", "psycopg", "opentelemetry.sdk", "opentelemetry.exporter"),
    ),
}
"""For each extra: what it is for, and the modules whose presence shows that it is installed."""

NAMESAKE = "bridle"
"""An unrelated distribution that installs a folder of the same name."""


def missing_extras(extras: Mapping[str, tuple[str, tuple[str, ...]]] = EXTRAS) -> Iterator[str]:
    """Yield the extras that are not installed."""
    for name, (_, modules) in extras.items():
        if not all(map(_is_here, modules)):
            yield name


def check_extras(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Report the installed extras, and for each missing one the command that installs it."""
    missing = list(missing_extras())
    here = [name for name in EXTRAS if name not in missing]
    yield Finding("extras", "ok", ", ".join(here) or "none installed")
    for name in missing:
        if name != "local":  # `bridle doctor` reports it separately
            fix = pip_command(f"bridle-agent[{name}]", environ)
            yield Finding("extras", "off", f"{name}: {EXTRAS[name][0]}, not installed", fix=fix)


def check_name_collision(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Warn about another package that installs the folder `bridle` in this environment."""
    for found in distributions(name=NAMESAKE):
        text = (
            f"another package, {NAMESAKE} {found.version}, is installed here: "
            f"it uses the same folder {NAMESAKE}, and each overwrites files of the other"
        )
        yield Finding("package", "warn", text, fix=reinstall_command(NAMESAKE, environ))


def _is_here(module: str) -> bool:
    """Return True if a module could be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


# ---------------------------------------------------------------------------- doctor


BASH_FOLDERS = "/bin:/usr/bin:/usr/local/bin"
OLDEST_SQLITE = (3, 51, 3)  # older versions can corrupt a WAL file when they reset it
FSCK = "bridle session fsck"
CHOOSE = "bridle init"
"""Detects the available models and asks which to use."""

STARTS = {"ollama": "ollama serve", "lmstudio": "lms server start"}
"""Commands that start a model server, for servers with such a command."""

COLOURS: dict[State, Colour] = {"ok": "done", "off": "detail", "warn": "warning", "fail": "failed"}


def doctor(args: argparse.Namespace, console: Console) -> int:
    """Run every check; exit code 1 if any fails."""
    findings = list(_findings(console))
    if args.json:
        print_json(console.out, findings)
    else:
        for finding in findings:
            _write(console, finding)
        _sum_up(console, findings)
    return 1 if any(finding.state == "fail" for finding in findings) else 0


def _write(console: Console, finding: Finding) -> None:
    out = console.out
    state = out.paint(COLOURS[finding.state], f"{finding.state:<4}")
    out.line(f"{state}  {finding.what:<9} {visible(finding.text)}")
    if finding.hint:
        out.line(f"{'':16}hint: {visible(finding.hint)}")
    if finding.fix:
        out.line(f"{'':16}fix: {visible(finding.fix)}")


def _sum_up(console: Console, findings: list[Finding]) -> None:
    """Print a one-line summary if stderr is a terminal."""
    if not console.err.is_terminal:
        return
    failed, warned = (sum(one.state == state for one in findings) for state in ("fail", "warn"))
    if failed:
        text = f"{format_count(failed, 'problem')} to fix first"
        console.err.line(console.err.paint("failed", text))
    elif warned:
        console.err.line(f"Bridle works, with {format_count(warned, 'warning')}")
    else:
        console.done("no problems found")


def _findings(console: Console) -> Iterator[Finding]:
    environ = console.environ
    yield Finding("python", "ok", f"{platform.python_version()} in {sys.prefix}")
    yield from check_name_collision(environ)
    yield _sqlite(environ)
    cwd = Path(resolve_directory())
    try:
        yield _home(find_home(environ, cwd))
        settings = load_settings(environ, cwd)
    except BridleError as error:
        yield Finding("config", "fail", error.message, error.hint, edit_command(error.message))
    else:
        yield from _configured(settings, environ)
    path = f"{BASH_FOLDERS}:{environ.get('PATH', '')}"
    yield check_bash(find_program("bash", path, outside=(str(cwd),)), environ)
    yield check_ripgrep(environ)
    yield from check_extras(environ)
    yield _terminal(console)


def _configured(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    for warning in settings.warnings:
        is_broken = warning in settings.server_files_broken
        yield Finding("config", "warn", warning, fix=edit_command(warning) if is_broken else "bridle trust")
    if not settings.warnings:
        yield _config(settings)
    yield asyncio.run(_store(settings))
    yield from asyncio.run(_models(settings, environ))
    sandbox = open_sandbox(settings)
    yield check_sandbox(sandbox.status, environ, is_off=settings.sandbox.mode == "off")
    yield check_undo(sandbox.status, is_kept=settings.store.backend != "ephemeral")
    yield asyncio.run(check_kernel(settings, environ, sandbox))
    yield from check_mcp_servers(settings, environ)
    yield from check_language_servers(settings, environ)


def _config(settings: Settings) -> Finding:
    if settings.user_file.exists():
        return Finding("config", "ok", f"{settings.user_file}, read for {settings.cwd}")
    return Finding("config", "ok", f"none yet; defaults apply in {settings.cwd}", fix="bridle init")


def _sqlite(environ: Mapping[str, str]) -> Finding:
    version = apsw.sqlite_lib_version()
    is_old = tuple(map(int, version.split("."))) < OLDEST_SQLITE
    fix = pip_command("apsw>=3.51.3", environ) if is_old else ""
    return Finding("sqlite", "fail" if is_old else "ok", version, fix=fix)


def _home(home: Path) -> Finding:
    nearest = next(folder for folder in (home, *home.parents) if folder.exists())
    hint, fix = "Bridle keeps its settings and sessions there", "export BRIDLE_HOME=$HOME/.bridle-home"
    if not nearest.is_dir():
        return Finding("home", "fail", f"{nearest} is not a directory", hint, fix)
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Finding("home", "fail", f"{nearest} cannot be written", hint, fix)
    return Finding("home", "ok", f"{home}{'' if nearest == home else ' (created when needed)'}")


async def _store(settings: Settings) -> Finding:
    try:
        store = open_store(settings)
    except BridleError as error:
        return Finding("store", "fail", error.message, error.hint, "bridle config set store.backend sqlite")
    try:
        sessions = await store.list(archived=True)
        in_files = settings.store.backend in ("sqlite", "jsonl")  # never a shared database
        flaws = await cast(LineStore, store).flaws() if in_files else []
        lost = [flaw for flaw in flaws if flaw.kind not in REPAIRABLE]
    except BridleError as error:
        return Finding("store", "fail", error.message, error.hint, FSCK)
    finally:
        await store.aclose()
    if lost:
        whose = f"session {lost[0].session}: " if lost[0].session else ""
        more = f", and {format_count(len(lost) - 1, 'more problem')}" if len(lost) > 1 else ""
        return Finding("store", "fail", f"{whose}{lost[0].text}{more}", "restore it from a backup", FSCK)
    unfinished = sum(session.unfinished for session in sessions)
    text = f"{settings.store.backend}, {format_count(len(sessions), 'session')}"
    return Finding("store", "ok", f"{text}, {unfinished} unfinished" if unfinished else text)


# ---------------------------------------------------------------------------- models


async def _models(settings: Settings, environ: Mapping[str, str]) -> list[Finding]:
    from bridle.app.discovery import discover

    found = await discover(settings, environ)
    models = open_models(settings)
    try:
        return [
            _model(settings, models, found),
            _keys(found),
            *_servers(found),
            *_files(found),
            _embedded(settings, environ),
        ]
    finally:
        await models.aclose()


def _model(settings: Settings, models: "ModelCatalog", found: "Discovered") -> Finding:
    try:
        facts = models.facts(settings.model)
    except BridleError as error:
        return Finding("model", "fail", error.message, error.hint, CHOOSE)
    model = facts.model
    if facts.kind == "scripted":
        text = f"{model.ref} is a scripted model, not a language model"
        return Finding("model", "warn", text, fix=CHOOSE)
    if not facts.has_key:
        text = f"{model.ref} needs a key: {facts.key_env} is not set"
        return Finding("model", "fail", text, f"export {facts.key_env}=…, or choose another model", CHOOSE)
    if facts.near:
        near = " or ".join(f"{model.provider}/{name}" for name in facts.near)
        fix = f"bridle config set model {model.provider}/{facts.near[0]}"
        return Finding("model", "warn", f"{model.ref} is not in the catalogue", f"did you mean {near}?", fix)
    if fault := _server_fault(settings, model, found):
        return fault
    return Finding("model", "ok", f"{model.ref}, window of {format_count(model.window_tokens, 'token')}")


def _server_fault(settings: Settings, model: "Model", found: "Discovered") -> Finding | None:
    """Return the visible problem with a model that a server on this machine provides, if there is one."""
    from bridle.providers.llama.server_client import is_loopback

    provider = settings.providers[model.provider]
    if provider.kind not in ("openai", "llama") or provider.model_file or provider.models_dir:
        return None
    if not is_loopback(provider.base_url):
        return None
    if urlsplit(provider.base_url).netloc not in found.places:
        text = f"{model.ref}: no model server answers at {provider.base_url}"
        return Finding("model", "fail", text, fix=STARTS.get(model.provider, CHOOSE))
    names = found.servers.get(model.provider, [])
    if names and not {model.name, f"{model.name}:latest"} & set(names):
        fix = f"ollama pull {shlex.quote(model.name)}" if model.provider == "ollama" else CHOOSE
        return Finding("model", "warn", f"{model.ref}: the server has no such model", fix=fix)
    return None


def _keys(found: "Discovered") -> Finding:
    return Finding("keys", "ok", ", ".join(found.keys) or "none set; only local models can be used")


def _servers(found: "Discovered") -> Iterator[Finding]:
    texts = [
        f"{name} answers with {format_count(len(names), 'model')}" for name, names in found.servers.items()
    ]
    yield Finding("servers", "ok", ", ".join(texts) or "no local model server found")
    if found.has_ollama_models and "ollama" not in found.servers:
        yield Finding("servers", "off", "Ollama has models here but is not running", fix="ollama serve")


def _files(found: "Discovered") -> Iterator[Finding]:
    if found.files:
        names = ", ".join(file.path.name for file in found.files[:3])
        more = ", …" if len(found.files) > 3 else ""
        yield Finding("files", "ok", f"{format_count(len(found.files), 'model file')}: {names}{more}")


def _embedded(settings: Settings, environ: Mapping[str, str]) -> Finding:
    from bridle.providers.embedded import DEFAULT_WEIGHTS, is_available, is_present

    provider = settings.providers.get(settings.model.partition("/")[0])
    is_used = provider is not None and provider.kind == "embedded"
    if not is_available():
        state: State = "fail" if is_used else "off"
        return Finding(
            "embedded", state, "runtime not installed", fix=pip_command("bridle-agent[local]", environ)
        )
    if not is_present(models_dir(settings)):
        text = f"runtime installed, weights of {DEFAULT_WEIGHTS.name} missing"
        return Finding("embedded", "warn" if is_used else "off", text, fix="bridle models pull")
    return Finding("embedded", "ok", f"runtime and weights of {DEFAULT_WEIGHTS.name} installed")


# ---------------------------------------------------------------------------- terminal


def _terminal(console: Console) -> Finding:
    if not console.out.is_terminal:
        return Finding("terminal", "ok", "none: output goes to a pipe or file")
    colour = "colour" if console.out.coloured else "no colour"
    return Finding("terminal", "ok", f"{console.environ.get('TERM', 'unknown')}, {colour}")
