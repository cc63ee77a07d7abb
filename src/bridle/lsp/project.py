"""The language servers of one project: which serve a file, the root of each, and their states."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable
from threading import Lock
from time import monotonic
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ports import Sandbox
from bridle.core.server_views import ServerState, ServerView
from bridle.lsp.instance import Instance
from bridle.lsp.positions import is_inside
from bridle.lsp.server import Server
from bridle.lsp.settings import FolderLanguages, LanguageServer, Timeouts
from bridle.lsp.word_search import ChangeDetector, find_extensions
from bridle.system.programs import is_program, is_within

# ---------------------------------------------------------------------------- programs
# Finds the programs of language servers: in a project only if the user trusts it.


OWN_FOLDERS = (".venv/bin", "venv/bin", "node_modules/.bin")
"""Where projects keep their own programs."""


class Program(Struct, frozen=True):
    """The path of a program, or why it cannot be used."""

    path: str = ""
    is_untrusted: bool = False
    """True if it lies in the project, which the user does not trust."""


def find_program(server: LanguageServer, folder: FolderLanguages) -> Program:
    """Find the program of a server; blocks, never raises."""
    name = server.command[0] if server.command else ""
    if not name or "\0" in name:
        return Program()
    if "/" in name:
        places = [os.path.join(folder.root, os.path.expanduser(name))]
    else:
        own = [os.path.join(folder.root, part, name) for part in OWN_FOLDERS]
        path = folder.environ.get("PATH", os.defpath).split(os.pathsep)
        # a relative entry would mean a different program in each project
        places = own + [os.path.join(part, name) for part in path if os.path.isabs(part)]
    is_untrusted = False
    for place in places:
        if not is_program(place):
            continue
        if folder.trusted or not is_within(place, (folder.root, *folder.writable)):
            return Program(place)
        is_untrusted = True
    return Program(is_untrusted=is_untrusted)


# ---------------------------------------------------------------------------- project


MAX_ROOTS = 4
"""How many instances of one kind of server may run in a project; further subprojects share the first."""
_SCAN_PAUSE_S = 1.0

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class _Looked(Struct, frozen=True):
    """A found program and when it was looked up."""

    program: Program
    at_s: float


class Project:
    """Starts servers when a file needs them; `close` ends them all."""

    def __init__(
        self, folder: FolderLanguages, root: str, sandbox: Sandbox, pace: Timeouts, spawn: Spawn
    ) -> None:
        """Take a folder and its root with links resolved."""
        self.given = folder
        self.folder = replace(folder, root=root)
        self.root = root
        self._sandbox = sandbox
        self._pace = pace
        self._spawn = spawn
        self._servers: dict[tuple[str, str], Server] = {}
        self._looked: dict[str, _Looked] = {}
        self._making = Lock()  # several threads look for servers; each must be made once
        self._endings: tuple[float, dict[str, str]] | None = None
        self._tree = ChangeDetector(root)
        self._scanned_s = 0.0
        self._scanning = asyncio.Lock()  # concurrent scans would hide changes from each other

    # ------------------------------------------------------------------ choosing servers

    def serving(self, extension: str) -> list[LanguageServer]:
        """Return the installed servers for a file extension, in order; blocks, mostly fast."""
        if not extension or self.get_refusal():
            return []
        return [one for one in self._choose(extension) if self._program(one).path]

    def serves(self, path: str) -> bool:
        """Return whether there is a server for a file, or for any file in a folder; blocks."""
        if os.path.isdir(path):
            return any(self.serving(extension) for extension in self._survey())
        return bool(self.serving(os.path.splitext(path)[1]))

    def get_refusal(self) -> str:
        """Return why no server may run here at all; empty if servers may run."""
        if not self.folder.confined:
            without = "it would run without a sandbox: trust the project first (bridle trust)"
            return "" if self.folder.trusted else without
        status = self._sandbox.status
        if status.kind == "none":
            return (
                f"no sandbox is available on this machine ({status.why}): "
                "set lsp.sandbox = false in your own "
                "settings, and trust the project (bridle trust)"
            )
        return ""

    def _choose(self, extension: str) -> list[LanguageServer]:
        """Return the servers for an extension; of each family the first installed one, else the first."""
        chosen: list[LanguageServer] = []
        for server in self.folder.servers:
            if extension not in server.extensions:
                continue
            rival = next((one for one in chosen if server.family and one.family == server.family), None)
            if rival is None:
                chosen.append(server)
            elif not self._program(rival).path and self._program(server).path:
                chosen[chosen.index(rival)] = server
        return chosen

    def _program(self, server: LanguageServer) -> Program:
        looked = self._looked.get(server.name)
        if looked is None or monotonic() - looked.at_s > self._pace.look_again_s:
            looked = self._looked[server.name] = _Looked(find_program(server, self.folder), monotonic())
        return looked.program

    def _survey(self) -> dict[str, str]:
        if self._endings is None or monotonic() - self._endings[0] > self._pace.look_again_s:
            self._endings = (monotonic(), find_extensions(self.root))
        return self._endings[1]

    # ------------------------------------------------------------------ using servers

    async def use(self, path: str) -> list[Instance]:
        """Return the servers of a file, starting them if needed; raises ToolError if there is none."""
        servers = await asyncio.to_thread(self._servers_for, path)
        return await self._use_all(servers)

    async def use_everything(self) -> list[Instance]:
        """Return the servers for all kinds of files in the project; raises ToolError if there is none."""

        def find() -> list[Server]:
            examples = [path for ending, path in self._survey().items() if self.serving(ending)]
            return list(dict.fromkeys(one for path in examples for one in self._servers_for(path)))

        if not (servers := await asyncio.to_thread(find)):
            raise ToolError(f"no language server covers the files in {self.root}")
        return await self._use_all(servers)

    def servers(self, path: str) -> list[Server]:
        """Return the servers of a file without starting any; empty if none serves it; blocks."""
        try:
            return self._servers_for(path)
        except ToolError:
            return []

    def example(self, server: LanguageServer) -> str:
        """Return a file that a server supports; empty if none was seen."""
        endings = self._endings[1] if self._endings else {}
        return next((path for ending, path in endings.items() if ending in server.extensions), "")

    def running(self) -> list[Instance]:
        """Return the instances that run now."""
        return [one.instance for one in list(self._servers.values()) if one.instance is not None]

    async def _use_all(self, servers: Iterable[Server]) -> list[Instance]:
        results = await asyncio.gather(*(server.use() for server in servers), return_exceptions=True)
        found = [one for one in results if isinstance(one, Instance)]
        for one in results:
            if isinstance(one, BaseException) and not (found and isinstance(one, ToolError)):
                raise one
        return found

    def _servers_for(self, path: str) -> list[Server]:
        extension = os.path.splitext(path)[1]
        found = self.serving(extension)
        if not found:
            raise ToolError(self._why_not_served(path, extension))
        return [self._server(one, path) for one in found]

    def _why_not_served(self, path: str, extension: str) -> str:
        chosen = self._choose(extension)
        if not chosen:
            return f"no known language server for files like {os.path.basename(path)}"
        if why := self.get_refusal():
            return f"{chosen[0].name} is not started: {why}"
        return f"{chosen[0].name} is {self._missing(chosen[0])}"

    def _missing(self, server: LanguageServer) -> str:
        if self._program(server).is_untrusted:
            return "part of the project and not started: trust the project first (bridle trust)"
        return f"not found: {server.install}" if server.install else f"not found: {server.command[0]}"

    def _server(self, server: LanguageServer, path: str) -> Server:
        root = self._root_of(server, path)
        with self._making:
            if found := self._servers.get((server.name, root)):
                found.program = self._program(server).path
                return found
            if len(others := self._of_kind(server)) >= MAX_ROOTS:
                return others[0]
            made = self._servers[server.name, root] = Server(
                server,
                self.folder,
                root,
                program=self._program(server).path,
                sandbox=self._sandbox,
                pace=self._pace,
                spawn=self._spawn,
            )
            return made

    def _of_kind(self, server: LanguageServer) -> list[Server]:
        return [one for (name, _), one in list(self._servers.items()) if name == server.name]

    def _root_of(self, server: LanguageServer, path: str) -> str:
        """Return the root of a file's project: the topmost folder with a marker, or our root."""
        below = os.path.relpath(os.path.dirname(path), self.root).split(os.sep)
        folder = self.root
        for part in ("", *below):
            folder = os.path.normpath(os.path.join(folder, part))
            if not is_inside(folder, self.root):
                break
            if any(os.path.exists(os.path.join(folder, marker)) for marker in server.root_markers):
                return folder
        return self.root

    # ------------------------------------------------------------------ file changes

    async def notice_changes(self) -> None:
        """Notify servers that watch files of changes on disk; scans at most once per `_SCAN_PAUSE_S`."""
        async with self._scanning:
            if monotonic() - self._scanned_s < _SCAN_PAUSE_S:
                return
            listeners = [one for one in self.running() if one.watches]
            if not listeners:
                return
            extensions = {ending for one in self.folder.servers for ending in one.extensions}
            names = {marker for one in self.folder.servers for marker in one.root_markers}
            changes = await asyncio.to_thread(self._tree.changes, extensions, names)
            self._scanned_s = monotonic()
        for instance in listeners:
            instance.documents.notify_changes(changes)

    # ------------------------------------------------------------------ status

    def views(self) -> tuple[ServerView, ...]:
        """Return the states of the servers for the project's files; blocks."""
        endings = self._survey()
        chosen = {one.name: one for ending in sorted(endings) for one in self._choose(ending)}
        ordered = [one for one in self.folder.servers if one.name in chosen]
        return tuple(view for server in ordered for view in self._views_of(server))

    def _views_of(self, server: LanguageServer) -> list[ServerView]:
        if living := self._of_kind(server):
            return [_view(one) for one in living]
        if why := self.get_refusal():
            return [ServerView("lsp", server.name, "untrusted", why, self.root)]
        program = self._program(server)
        if program.path:
            return [ServerView("lsp", server.name, "idle", program.path, self.root)]
        state: ServerState = "untrusted" if program.is_untrusted else "off"
        return [ServerView("lsp", server.name, state, self._missing(server), self.root)]

    async def close(self) -> None:
        """End every server."""
        await asyncio.gather(*(server.close() for server in self._servers.values()))


def _view(server: Server) -> ServerView:
    state, detail = server.state()
    instance = server.instance
    pid = instance.connection.process.pid if instance is not None else 0
    return ServerView("lsp", server.server.name, state, detail, server.root, pid=pid)
