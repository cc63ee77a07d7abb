"""`bridle.open`: open Bridle in a program, with a home or without, with its own engine or the daemon's."""

import asyncio
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from msgspec import Struct

from bridle.app import open_blobs, open_sandbox, open_tools
from bridle.app.lsp import open_languages
from bridle.config.settings import Settings, find_home, load_settings
from bridle.core.errors import ConfigError, SessionConflict, SessionNotFound, UsageError
from bridle.core.ids import SessionId
from bridle.core.ports import Compactor, Memory, Provider, Store, Tool
from bridle.core.protocol import SessionCreated
from bridle.core.protocol.commands import CLIENT_VARIABLES
from bridle.core.queries import ListSessions
from bridle.core.server_views import ServerView
from bridle.core.session_api import SessionApi
from bridle.core.skill import Skill
from bridle.core.summary import SessionSummary
from bridle.surfaces.python.extensions import (
    Hooks,
    ProgramMemory,
    check_compactor,
    check_providers,
    check_store,
    convert_hooks,
)
from bridle.surfaces.python.host import Host
from bridle.surfaces.python.options import RunKeywords, merge_options, options_left, options_of_session
from bridle.surfaces.python.prompts import PromptLike, to_messages
from bridle.surfaces.python.session import Session
from bridle.surfaces.python.tools import ToolLike, to_tools
from bridle.surfaces.shared.folder_info import AgentRow, Folders, ModelView, RuleList
from bridle.surfaces.shared.folder_queries import FolderQueries
from bridle.surfaces.shared.session_calls import origin
from bridle.surfaces.shared.usage import AllStats, time_before


class OpenArguments(Struct, frozen=True):
    """The arguments of `bridle.open`."""

    home: str
    ephemeral: bool
    daemon: bool
    cwd: str
    agent: str
    tools: Sequence[Tool]
    providers: Mapping[str, Provider]
    store: Store | None
    compactor: Compactor | None
    memory: ProgramMemory | None
    hooks: Hooks
    settings: Mapping[str, Any]
    environ: Mapping[str, str]

    def check(self) -> None:
        """Raise UsageError for objects of the wrong shape, and for arguments that cannot be combined."""
        check_providers(self.providers)
        if self.store is not None:
            check_store(self.store)
        if self.compactor is not None:
            check_compactor(self.compactor)
        if not self.daemon:
            return
        for name in ("ephemeral", "providers", "store", "compactor", "memory", "hooks", "settings"):
            if getattr(self, name):
                raise UsageError(
                    f"{name}: not available with the daemon, which has its own engine",
                    hint="leave out daemon=True",
                )


class Bridle:
    """An open Bridle and its sessions; made by `bridle.open`.

    Leaving the context cancels the runs of this process and records their ends; runs of the daemon continue.
    """

    def __init__(self, opening: OpenArguments, options: RunKeywords) -> None:
        self._opening = opening
        self._options = options
        self._host: Host | None = None
        self._flags: Mapping[str, Any] = {}
        self._own_home: str = ""
        self.warnings: tuple[str, ...] = ()
        """Settings that have no effect, as sentences."""

    async def __aenter__(self) -> Self:
        if self._host is not None or self._own_home:
            raise UsageError("this Bridle is open already", hint="call bridle.open for each")
        try:
            environ = await self._environ()
            settings = await self._load_settings(environ)
            api = await self._open_api(settings, environ)
            self._host = Host(api, environ, self._opening.tools, lambda: _builtin_names(settings, environ))
        except BaseException:
            await self._remove_home()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel the runs of this process, record their ends and release everything."""
        host, self._host = self._host, None
        try:
            if host is not None:
                await host.aclose()
        finally:
            await self._remove_home()

    @property
    def api(self) -> SessionApi:
        """The session API, for what has no shorter name here; raises UsageError."""
        return self._opened().api

    @property
    def door(self) -> SessionApi:
        """The old name of `api`; it goes away with the next release."""
        warnings.warn("Bridle.door is now Bridle.api", DeprecationWarning, stacklevel=2)
        return self.api

    # ------------------------------------------------------------------ sessions

    async def session(
        self,
        session_id: str | None = None,
        *,
        newest: bool = False,
        cwd: str | Path | None = None,
        agent: str = "",
        title: str = "",
        labels: Mapping[str, str] = {},
        messages: Sequence[PromptLike] = (),
        tools: Sequence[ToolLike] = (),
        **options: Unpack[RunKeywords],
    ) -> Session:
        """Start a session, or continue one: that with the id, or the `newest` of the folder.

        A new session keeps its options, those of `open` included: all its runs start with them, in any
        process. For a session that exists, they are those of the runs that this object starts. `labels`,
        which `sessions` lists, and `messages`, which it begins with, are for a new session only.
        An unknown id starts a session with that id. `tools` are for this session only: typed functions and
        dispatchers, which cannot ask questions or show output. Raises ConfigError for an unknown agent.
        """
        host = self._opened()
        for name, text in (("session_id", session_id or ""), ("agent", agent), ("title", title)):
            if not isinstance(text, str):
                raise UsageError(f"{name} is a text, not {text!r}")
        own, merged = to_tools(tools), merge_options(self._options, **options)
        folder = self._opening.cwd if cwd is None else _folder(cwd)
        named = None if session_id is None else SessionId(session_id)
        if newest:
            if named is not None:
                raise UsageError("use either newest or an id, not both")
            named = next((one.id for one in await host.api.ask(ListSessions()) if _is_own(one, folder)), None)
        found = None if named is None else await self._find(host, named)
        if found is None:
            agent = agent or self._opening.agent
            made = options_of_session(merged, folder, host.environ)
            first = await to_messages(messages)
            try:
                named = await host.api.create(
                    cwd=folder,
                    agent=agent,
                    title=title,
                    session_id=named,
                    options=made,
                    labels=labels,
                    messages=first,
                )
                merged = options_left(merged)
            except SessionConflict:  # another client has just created it
                if named is None or (found := await self._find(host, named)) is None:
                    raise
        if found is not None:
            _check_fits(found, cwd=None if cwd is None else folder, agent=agent)
            folder = found.cwd
        assert named is not None
        return await Session.opened(host, named, folder, own, merged)

    async def sessions(self, *, archived: bool = False) -> Sequence[SessionSummary]:
        """Return a summary of every session, newest first; archived ones only with `archived`."""
        return await self.api.ask(ListSessions(archived=archived))

    async def _find(self, host: Host, session: SessionId) -> SessionCreated | None:
        try:
            return await origin(host.api, session)
        except SessionNotFound:
            return None

    # ------------------------------------------------------------------ agents, skills, models and more

    async def agents(self, cwd: str | Path | None = None) -> list[AgentRow]:
        """List the agents of a folder, including broken ones."""
        return await self._folders().agents(_named(cwd))

    async def skills(self, cwd: str | Path | None = None) -> list[Skill]:
        """List the skills of a folder, by name."""
        return await self._folders().skills(_named(cwd))

    async def models(self, cwd: str | Path | None = None, *, every: bool = False) -> list[ModelView]:
        """List the models that can be used, with `every` also those without a key.

        Models of providers passed to `bridle.open` are not included.
        """
        return await self._folders().models(_named(cwd), every=every)

    async def rules(self, cwd: str | Path | None = None, *, agent: str = "") -> RuleList:
        """List the rules from files that apply to an agent in a folder, strictest first."""
        return await self._folders().rules(_named(cwd), agent or self._opening.agent)

    async def servers(self, cwd: str | Path | None = None) -> list[ServerView]:
        """Return the state of a folder's MCP servers and language servers, without starting any."""
        return await self._folders().servers(_named(cwd))

    async def stats(self, *, since: str = "", archived: bool = False) -> AllStats:
        """Return the usage of all sessions, for all time or `since` a time ago, such as "7d" or "12h"."""
        return await self._folders().stats(time_before(since) if since else 0, archived=archived)

    def _folders(self) -> FolderQueries:
        return FolderQueries(self.api, Folders(self._opened().environ, self._opening.cwd, self._flags))

    # ------------------------------------------------------------------ opening

    def _opened(self) -> Host:
        if self._host is None:
            raise UsageError("this Bridle is not open", hint="async with bridle.open() as b: …")
        return self._host

    async def _environ(self) -> dict[str, str]:
        """Return the environment with the home set; `ephemeral` creates a temporary home."""
        environ = dict(self._opening.environ)
        if self._opening.ephemeral:
            self._own_home = await asyncio.to_thread(tempfile.mkdtemp, prefix="bridle-")
            return {**environ, "BRIDLE_HOME": self._own_home}
        return {**environ, "BRIDLE_HOME": self._opening.home} if self._opening.home else environ

    async def _load_settings(self, environ: Mapping[str, str]) -> Settings:
        opening = self._opening
        flags = {**_ephemeral_flags(opening), **opening.settings} if opening.ephemeral else opening.settings
        if "model" in self._options:  # for sub-agents and titles, too
            flags = {**flags, "model": self._options["model"]}
        settings = await asyncio.to_thread(load_settings, environ, Path(opening.cwd), flags)
        self.warnings, self._flags = settings.warnings, settings.flags
        return settings

    async def _open_api(self, settings: Settings, environ: Mapping[str, str]) -> SessionApi:
        opening = self._opening
        if opening.daemon:
            return await _daemon(settings, environ)
        from bridle.app import Extensions, open_service

        entries, handlers = convert_hooks(opening.hooks)
        brought = Extensions(
            tools=opening.tools,
            providers=opening.providers,
            store=opening.store,
            compactor=opening.compactor,
            memory=opening.memory,
            hooks=entries,
            handlers=handlers,
        )
        return open_service(settings, environ, None, brought)

    async def _remove_home(self) -> None:
        home, self._own_home = self._own_home, ""
        if home:
            await asyncio.to_thread(shutil.rmtree, home, ignore_errors=True)


def open(  # noqa: A001  it is called bridle.open
    *,
    home: str | Path | None = None,
    ephemeral: bool = False,
    daemon: bool = False,
    cwd: str | Path | None = None,
    agent: str = "",
    tools: Sequence[ToolLike] = (),
    providers: Mapping[str, Provider] = {},
    store: Store | None = None,
    compactor: Compactor | None = None,
    memory: Memory | None = None,
    hooks: Hooks = (),
    settings: Mapping[str, Any] = {},
    environ: Mapping[str, str] | None = None,
    **options: Unpack[RunKeywords],
) -> Bridle:
    """Open Bridle in this program.

    ```python
    async with bridle.open(model="anthropic/claude-sonnet-5", tools=[stock]) as b:
        session = await b.session()
        print(await session.run("how many A-17 are left"))
    ```

    `home` is the folder of the user's settings and sessions, by default BRIDLE_HOME or `~/.bridle`. With
    `ephemeral` there is none: the user's settings do not apply, and nothing is kept. With `daemon` the
    sessions are those of the daemon that runs for the home. `cwd` is the folder in which sessions work, by
    default the current one, and `agent` is their agent.

    A program may pass `tools` (typed functions, tools, dispatchers), `providers` by the name that prefixes
    their models, a `store` for sessions, a `compactor` that writes summaries, a `memory` for
    the tool `memory_search`, and `hooks`, or functions by name that hooks of the settings call. Providers,
    store and memory are closed with Bridle. `settings`
    are keys of the [configuration](configuration.md) that override those of files, such as
    `{"retry.max_retries": 0}`; `environ` replaces the environment of the process, including its API keys.

    The other options apply to every run, see RunKeywords. Raises UsageError, and ConfigError on entering.
    """
    opening = OpenArguments(
        home=str(home or ""),
        ephemeral=ephemeral,
        daemon=daemon,
        cwd=_folder(cwd or "."),
        agent=agent,
        tools=to_tools(tools),
        providers=providers,
        store=store,
        compactor=compactor,
        memory=None if memory is None else ProgramMemory(memory),
        hooks=hooks,
        settings=settings,
        environ=os.environ if environ is None else environ,
    )
    opening.check()
    return Bridle(opening, merge_options({}, **options))


def _folder(path: str | Path) -> str:
    folder = os.path.realpath(os.path.expanduser(path))
    if not os.path.isdir(folder):
        raise UsageError(f"{folder} is not a folder")
    return folder


def _named(cwd: str | Path | None) -> str:
    """Return the resolved path of a folder; empty if none is given."""
    return "" if cwd is None else _folder(cwd)


def _ephemeral_flags(opening: OpenArguments) -> dict[str, Any]:
    """Return the settings that keep nothing; weights that the user has downloaded are still used."""
    flags: dict[str, Any] = {"store.backend": "ephemeral", "daemon": "never"}
    try:
        home = find_home(opening.environ, Path(opening.cwd))
    except ConfigError:  # there is no user home
        return flags
    return {**flags, "providers.embedded.models_dir": str(home / "models")}


async def _daemon(settings: Settings, environ: Mapping[str, str]) -> SessionApi:
    from bridle.surfaces.daemon.daemon_files import DaemonFiles
    from bridle.surfaces.daemon.launcher import connect_if_running

    daemon = await connect_if_running(DaemonFiles(settings.home))
    if daemon is None:
        raise UsageError(f"no daemon is running for {settings.home}", hint="bridle daemon start")
    daemon.env = {name: environ[name] for name in CLIENT_VARIABLES if name in environ}
    return daemon


def _builtin_names(settings: Settings, environ: Mapping[str, str]) -> list[str]:
    """Return the names of all built-in tools, including those that only some runs have."""
    from bridle.tools.tool_search import ToolCaller, ToolSearch

    sandbox = open_sandbox(settings)
    languages = open_languages(settings, environ, sandbox)
    tools = open_tools(settings, environ, open_blobs(settings), sandbox, languages=languages)
    return [tool.spec.name for tool in (*tools, ToolSearch(()), ToolCaller())]


def _is_own(summary: SessionSummary, cwd: str) -> bool:
    return summary.cwd == cwd and not summary.sub_agent


def _check_fits(created: SessionCreated, *, cwd: str | None, agent: str) -> None:
    """Raise UsageError for arguments that contradict the session."""
    if cwd is not None and created.cwd != cwd:
        raise UsageError(f"session {created.session_id} works in {created.cwd}, not in {cwd}")
    if agent and created.agent != agent:
        raise UsageError(f"session {created.session_id} has the agent {created.agent}, not {agent}")
