"""Wiring for the built-in tools, and for what the programs they start may touch and see."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bridle.app.folders import settings_in, skills_in, writable_folders
from bridle.app.stores import store_folder
from bridle.config.settings import Settings

if TYPE_CHECKING:
    from bridle.comms.hub import Comms
    from bridle.core.language_servers import LanguageServers
    from bridle.core.ports import Blobs, Memory, Sandbox, Tool
    from bridle.kernel.settings import KernelSettings
    from bridle.sandbox.traps import Traps
    from bridle.tools.secrets import Masker
    from bridle.tools.shell import ShellSettings


def open_tools(
    settings: Settings,
    environ: Mapping[str, str],
    blobs: "Blobs",
    sandbox: "Sandbox",
    memory: "Memory | None" = None,
    languages: "LanguageServers | None" = None,
    comms: "Comms | None" = None,
) -> "tuple[Tool, ...]":
    """Create the built-in tools, most useful first, because not all of them fit into a small window."""
    from bridle.memory.tool import MemorySearch
    from bridle.sessions.system_clock import SystemClock
    from bridle.tools.agents import agent_tools
    from bridle.tools.basic_tools import basic_tools
    from bridle.tools.file_tools import file_tools
    from bridle.tools.glob import Glob, Ls
    from bridle.tools.grep import Grep
    from bridle.tools.shell import shell_tools
    from bridle.tools.web.download import Download
    from bridle.tools.web.fetch import WebFetch

    tools, secrets = settings.tools, masker(settings, environ)
    writable = writable_folders(settings)
    bash, *jobs = shell_tools(
        sandbox,
        settings.home / "run" / "shells",
        settings=_shell_settings(settings, environ),
        masker=secrets,
        blobs=blobs,
    )
    files: Sequence[Tool] = file_tools(tools.max_file_bytes, blobs)
    code: Sequence[Tool] = ()
    if languages is not None:
        from bridle.tools.code import code_tools, with_new_problems

        files = [with_new_problems(tool, languages) for tool in files]
        code = code_tools(languages)
    return (
        *files,
        bash,
        _python_tool(settings, environ, blobs, sandbox, secrets),
        Grep(writable=writable),
        Glob(writable=writable),
        WebFetch(max_body_bytes=tools.web_max_bytes, timeout_s=float(tools.web_timeout)),
        *jobs,
        *code,
        MemorySearch(memory),
        *basic_tools(SystemClock(), lambda cwd: skills_in(settings_in(cwd, settings, environ))),
        Ls(writable=writable),
        Download(),
        *_search_tools(settings, environ),
        *(agent_tools() if settings.children.enabled and settings.children.max_depth else ()),
        *_peer_tools(comms),
    )


def _peer_tools(comms: "Comms | None") -> "Sequence[Tool]":
    if comms is None:
        return ()
    from bridle.comms.tools import peer_tools

    return peer_tools(comms)


def _search_tools(settings: Settings, environ: Mapping[str, str]) -> "Iterator[Tool]":
    from bridle.tools.web.search import CodeSearch, SearchServer, WebSearch

    tools = settings.tools
    if tools.search_url:
        yield WebSearch(SearchServer(tools.search_url, float(tools.web_timeout)))
    if tools.code_search_url:
        token = environ.get(tools.code_search_token_env, "").strip()
        authorization = f"token {token}" if token else ""
        yield CodeSearch(SearchServer(tools.code_search_url, float(tools.web_timeout), authorization))


def _shell_settings(settings: Settings, environ: Mapping[str, str]) -> "ShellSettings":
    from bridle.tools.shell import ShellSettings

    tools, guard = settings.tools, settings.sandbox
    return ShellSettings(
        environ=environ,
        pass_env=guard.pass_env,
        secret_env=secret_env(settings),
        writable=writable_folders(settings),
        wants_sandbox=guard.mode == "on",
        open_network=guard.network == "open",
        timeout_s=float(tools.bash_timeout),
        background_after_s=float(tools.background_after),
        memory_bytes=guard.memory_bytes,
        max_processes=guard.max_processes,
        max_file_bytes=guard.max_file_bytes,
    )


def _python_tool(
    settings: Settings, environ: Mapping[str, str], blobs: "Blobs", sandbox: "Sandbox", secrets: "Masker"
) -> "Tool":
    from bridle.kernel.tool import create_python_tool

    kernel = settings.kernel
    return create_python_tool(
        sandbox,
        kernel_settings(settings, environ),
        blobs=blobs,
        key_file=settings.home / "kernel.key",
        spares=kernel.spares,
        max_kernels=kernel.max_kernels,
        idle_s=float(kernel.idle),
        mask=secrets.stream,
    )


def open_sandbox(settings: Settings) -> "Sandbox":
    """Create the sandbox for programs; it hides Bridle's own files and those of tenants."""
    from bridle.sandbox import LocalSandbox

    return LocalSandbox(
        home=str(settings.user_folder or "/"), hidden=_hidden(settings), away=str(settings.home / "put-away")
    )


def open_traps(settings: Settings) -> "Traps":
    """Create the detector for traps: files that the user's programs run by themselves."""
    from bridle.sandbox.traps import Traps

    home = os.path.realpath(settings.user_folder or "/")
    return Traps(home=home, hidden=_hidden(settings), away=str(settings.home / "put-away"))


def _hidden(settings: Settings) -> tuple[str, ...]:
    places = (
        str(settings.home),
        str(store_folder(settings)),
        settings.scale.tenant_folders,  # a run still sees its own tenant folder
    )
    return tuple(dict.fromkeys(filter(None, places)))


def kernel_settings(settings: Settings, environ: Mapping[str, str]) -> "KernelSettings":
    """Return the settings for kernels; their code gets the same environment as commands."""
    from bridle.kernel.settings import KernelSettings

    kernel, guard = settings.kernel, settings.sandbox
    return KernelSettings(
        environ=command_environment(settings, environ),
        python=kernel.python,
        uv_python=kernel.uv_python,
        syd_config=kernel.syd_config,
        writable=writable_folders(settings),
        confined=guard.mode == "on",
        open_network=guard.network == "open",
        memory_bytes=guard.memory_bytes,
        max_processes=guard.max_processes,
        max_file_bytes=guard.max_file_bytes,
        cell_timeout_s=float(kernel.timeout),
        snapshot_codec=kernel.snapshots,
    )


def command_environment(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for programs, without API keys and other secrets."""
    from bridle.tools.shell.settings import command_environment

    return command_environment(environ, secret=secret_env(settings), kept=settings.sandbox.pass_env)


def secret_env(settings: Settings) -> tuple[str, ...]:
    names = (provider.api_key_env for provider in settings.providers.values())
    logins = (server.oauth.client_secret_env for server in settings.mcp.servers.values())
    others = settings.memory.api_key_env, settings.store.url_env, settings.tools.code_search_token_env
    return tuple(filter(None, (*names, *logins, *others)))


def masker(settings: Settings, environ: Mapping[str, str]) -> "Masker":
    from bridle.tools.secrets import Masker, find_secrets

    keys = {settings.providers[name].api_key_env: key.reveal() for name, key in settings.api_keys.items()}
    servers = server_secrets(settings, environ)
    search = settings.tools.code_search_token_env
    keys |= {search: environ[search].strip()} if environ.get(search, "").strip() else {}
    return Masker({**find_secrets(environ), **servers, **daemon_token(settings), **keys})


# ---------------------------------------------------------------------------- secrets
# Secrets to mask in output: the daemon's token, and the variables and headers of MCP servers.


def daemon_token(settings: Settings) -> dict[str, str]:
    """Return the daemon's token, if there is one: a model that read it could approve its own calls."""
    from bridle.config.file_names import TOKEN_FILE

    try:
        return {"daemon token": (settings.home / TOKEN_FILE).read_text().strip()}
    except (OSError, ValueError):
        return {}


def server_secrets(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets of the enabled, trusted MCP servers, by variable or header name."""
    from bridle.config.mcp import resolve
    from bridle.core.errors import ConfigError
    from bridle.tools.secrets import find_secrets

    found: dict[str, str] = {}
    for server in settings.servers_found:
        if not server.trusted or not server.settings.enabled:
            continue
        try:
            said = resolve(server, environ, settings.user_folder)
        except ConfigError:  # such a server never starts and gets no secrets
            continue
        found.update(find_secrets(said.env))
        for name, text in said.headers.items():  # "Bearer abc": the last word; "X-Team: dev": no secret
            for secret in find_secrets({_named(name): text.rpartition(" ")[2]}).values():
                found[name] = secret
        if name := said.oauth.client_secret_env:
            found[name] = environ[name]
    return found


def _named(header: str) -> str:
    """Convert a header name to the form of a variable name, for `find_secrets`."""
    return header.upper().replace("AUTHORIZATION", "AUTH").replace("-", "_")
