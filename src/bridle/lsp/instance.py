"""One running language server process, from `initialize` to its exit."""

import asyncio
import os
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import Process, ProcessSpec, Sandbox, SandboxKind
from bridle.lsp.connection import (
    Connection,
    RequestRefused,
    ServerExited,
    UnsupportedRequest,
    decode,
    open_connection,
)
from bridle.lsp.diagnostics import Diagnostics, Signal
from bridle.lsp.display_text import clean_line
from bridle.lsp.documents import Document, Documents
from bridle.lsp.initialize import get_section, initialize_params, workspace_folders
from bridle.lsp.positions import ENCODINGS, Encoding, is_inside
from bridle.lsp.protocol import (
    ApplyAsked,
    Capabilities,
    ConfigurationAsked,
    Initialized,
    Published,
    Registrations,
    Report,
    Shown,
    WorkProgress,
    WorkspaceEdit,
)
from bridle.lsp.settings import FolderLanguages, LanguageServer, Timeouts
from bridle.system.pipes import Pipes

TOOL = "lsp"
"""The tool name of the rules that open domains to language servers."""
MAX_REGISTRATIONS = 1000
MAX_TOKENS = 100
MAX_CAPTURED = 100
FORGOTTEN_S = 300.0
"""A progress report this old counts as finished: the server forgot to send its end."""
_MAX_WORDS = 20
_MAX_SHOWN = 300
_CONTENT_MODIFIED = -32801
_SERVER_CANCELLED = -32802
_TRIES = 5

_PROVIDERS = {
    "textDocument/definition": "definition_provider",
    "textDocument/references": "references_provider",
    "textDocument/documentSymbol": "document_symbol_provider",
    "workspace/symbol": "workspace_symbol_provider",
    "textDocument/prepareCallHierarchy": "call_hierarchy_provider",
    "textDocument/rename": "rename_provider",
    "textDocument/codeAction": "code_action_provider",
    "textDocument/diagnostic": "diagnostic_provider",
}
_REFRESHES = frozenset(
    f"workspace/{part}/refresh"
    for part in ("diagnostic", "semanticTokens", "inlayHint", "codeLens", "inlineValue", "foldingRange")
)

_CACHE = "/tmp/cache"  # bubblewrap gives each sandbox its own /tmp
_VERSION = re.compile(r"\d+(\.\d+)+[\w.+-]*")

T = TypeVar("T")


class Launch(Struct, frozen=True):
    """Everything needed to start a server."""

    server: LanguageServer
    folder: FolderLanguages
    root: str
    """The root of its project: the folder's root, or a folder below it."""
    program: str
    walls: SandboxKind
    room: SessionId
    """A sandbox session used by this server only."""


class _Work(Struct, frozen=True):
    """A task in progress on the server."""

    title: str
    percentage: int | None
    at_s: float


class Instance:
    """A running server, made by `start_instance`, ended by `close`. It is the listener of its connection."""

    def __init__(self, launch: Launch, pace: Timeouts) -> None:
        self.launch = launch
        self.name = launch.server.name
        self.capabilities = Capabilities()
        self.version = ""
        self.silences = 0
        """How often in a row it reported nothing about an edit in time."""
        self.words: deque[str] = deque(maxlen=_MAX_WORDS)
        """Messages it wanted to show to the user."""
        self.bell = Signal()
        self._pace = pace
        self._registered: dict[str, tuple[str, Any]] = {}
        self._progress: dict[int | str, _Work] = {}
        self._captured: list[WorkspaceEdit] | None = None
        self._capturing = asyncio.Lock()  # keeps the edits of two fixes apart
        root = launch.folder.root
        self.diagnostics = Diagnostics(self.name, lambda path: is_inside(path, root), self.bell)
        self.connection: Connection
        self.documents: Documents

    @property
    def encoding(self) -> Encoding:
        """The unit of its columns."""
        return self.diagnostics.encoding

    @property
    def is_alive(self) -> bool:
        """True while it can take requests."""
        return not self.connection.why_gone

    @property
    def progress(self) -> str:
        """The indexing progress; empty once the project is indexed."""
        for work in self._progress.values():
            is_forgotten = monotonic() - work.at_s > FORGOTTEN_S
            if "check" not in work.title.lower() and not is_forgotten:  # some check after each edit
                return "indexing" if work.percentage is None else f"indexing {work.percentage} %"
        return ""

    @property
    def pulls(self) -> bool:
        """True if the client must request diagnostics."""
        return self.supports("textDocument/diagnostic")

    def supports(self, method: str) -> bool:
        """Return whether the server supports a request."""
        ability = getattr(self.capabilities, _PROVIDERS[method])
        return (ability is not None and ability is not False) or any(
            method == registered for registered, _ in self._registered.values()
        )

    def get_options(self, method: str) -> dict[str, Any]:
        """Return the server's options for a request; empty if it gives none."""
        found = getattr(self.capabilities, _PROVIDERS[method])
        more = [options for name, options in self._registered.values() if name == method]
        return next((one for one in (found, *more) if isinstance(one, dict)), {})

    @property
    def watches(self) -> bool:
        """True if the server wants to be notified of file changes on disk."""
        return any(method == "workspace/didChangeWatchedFiles" for method, _ in self._registered.values())

    async def ask(self, method: str, params: Any, kind: type[T], timeout_s: float) -> T | None:
        """Send a request; retry if the content changed or the server cancelled it. Raises ToolError."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        for tries in range(_TRIES):
            left = deadline - asyncio.get_running_loop().time()
            try:
                return await self.connection.ask(method, params, kind, max(left, 0.001))
            except RequestRefused as error:
                if error.code not in (_CONTENT_MODIFIED, _SERVER_CANCELLED) or tries == _TRIES - 1:
                    raise
                await self.bell.wait(min(0.1 * 2**tries, max(left, 0)))
        raise AssertionError

    async def pull(self, document: Document, timeout_s: float) -> None:
        """Request the diagnostics of a file; raises ToolError."""
        options = self.get_options("textDocument/diagnostic")
        params = {
            "textDocument": {"uri": document.uri},
            "identifier": options.get("identifier"),
            "previousResultId": self.diagnostics.result_id(document.path),
        }
        given = {name: value for name, value in params.items() if value is not None}
        raw = await self.ask("textDocument/diagnostic", given, Raw, timeout_s)
        try:
            report = await decode(raw or b"", Report)
        except msgspec.MsgspecError as error:
            raise ToolError(f"{self.name} sent an invalid answer") from error
        if raw is not None and self.documents.get(document.path) == document:
            self.silences = 0
            await self.diagnostics.take_report(document.path, report, len(memoryview(raw)))

    async def execute(self, command: str, arguments: Sequence[Raw], timeout_s: float) -> list[WorkspaceEdit]:
        """Have the server run a command and return the edits it asks for; raises ToolError."""
        async with self._capturing:
            with self._capture() as captured:
                params = {"command": command, "arguments": list(arguments)}
                try:
                    await self.ask("workspace/executeCommand", params, Raw, timeout_s)
                except RequestRefused:  # some want to continue in an editor after the edit
                    if not captured:
                        raise
            return captured

    async def close(self) -> None:
        """Shut the server down, then kill it if needed; takes a few `ending_s` at most."""
        with suppress(ToolError):
            await self.connection.ask("shutdown", None, Raw, self._pace.ending_s)
            self.connection.tell("exit", None)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace.ending_s):
                    await self.connection.process.wait()
        await self.connection.close()

    # ------------------------------------------------------------------ messages from the server

    async def on_notification(self, method: str, params: Raw) -> None:
        """Handle a notification."""
        match method:
            case "textDocument/publishDiagnostics":
                said = await decode(params, Published)
                self.silences = 0
                await self.diagnostics.publish(said, len(memoryview(params)))
            case "$/progress":
                self._note_progress(await decode(params, WorkProgress))
            case "window/showMessage":
                shown = await decode(params, Shown)
                if shown.type <= 2:  # errors and warnings
                    self.words.append(clean_line(shown.message, _MAX_SHOWN))
            case _:
                pass

    def asked(self, method: str, params: Raw) -> Any:
        """Answer a request; raises Unknown."""
        match method:
            case "workspace/configuration":
                asked = msgspec.json.decode(params, type=ConfigurationAsked)
                return [get_section(self.launch.server.settings, one.section) for one in asked.items]
            case "client/registerCapability" | "client/unregisterCapability":
                self._register(msgspec.json.decode(params, type=Registrations))
            case "workspace/workspaceFolders":
                return workspace_folders(self.launch.root)
            case "workspace/applyEdit":
                return self._apply(params)
            case "window/showDocument":
                return {"success": False}
            case "window/workDoneProgress/create" | "window/showMessageRequest":
                pass
            case _ if method in _REFRESHES:
                self.bell.ring()
            case _:
                raise UnsupportedRequest
        return None

    def on_closed(self) -> None:
        """Wake all waiters."""
        self.bell.ring()

    def _register(self, said: Registrations) -> None:
        for one in said.registrations:
            if len(self._registered) < MAX_REGISTRATIONS:
                self._registered[one.id] = (one.method, one.register_options)
        for one in said.unregisterations:
            self._registered.pop(one.id, None)
        self.bell.ring()

    def _apply(self, params: Raw) -> dict[str, Any]:
        asked = msgspec.json.decode(params, type=ApplyAsked)
        if self._captured is None or len(self._captured) >= MAX_CAPTURED:
            return {"applied": False, "failureReason": "nothing asked for it"}
        self._captured.append(asked.edit)
        return {"applied": True}

    @contextmanager
    def _capture(self) -> Iterator[list[WorkspaceEdit]]:
        self._captured = []
        try:
            yield self._captured
        finally:
            self._captured = None

    def _note_progress(self, said: WorkProgress) -> None:
        value = said.value if isinstance(said.value, dict) else {}
        percentage = value.get("percentage")
        percentage = percentage if isinstance(percentage, int) and 0 <= percentage <= 100 else None
        match value.get("kind"):
            case "begin" if len(self._progress) < MAX_TOKENS:
                title = f"{value.get('title')} {said.token}"[:200]
                self._progress[said.token] = _Work(title, percentage, monotonic())
            case "report" if said.token in self._progress:
                known = self._progress[said.token]
                newest = known.percentage if percentage is None else percentage
                self._progress[said.token] = _Work(known.title, newest, monotonic())
            case "end":
                self._progress.pop(said.token, None)
            case _:
                pass
        self.bell.ring()


async def start_instance(launch: Launch, sandbox: Sandbox, pace: Timeouts) -> Instance:
    """Start a server and initialize it; raises ToolError."""
    instance = Instance(launch, pace)
    server = launch.server
    instance.connection = await open_connection(
        server.name, lambda pipes: _start(launch, sandbox, pipes), instance
    )
    try:
        await _greet(instance, server)
    except BaseException:
        await instance.connection.close()
        raise
    return instance


async def _greet(instance: Instance, server: LanguageServer) -> None:
    connection = instance.connection
    hello = initialize_params(server, instance.launch.root)
    try:
        answer = await connection.ask("initialize", hello, Initialized, server.start_timeout_s)
    except RequestRefused as error:
        raise ServerExited(error.message) from error
    if answer is None:
        raise ServerExited(f"{server.name} sent no answer to initialize")
    instance.capabilities = answer.capabilities
    agreed = answer.capabilities.position_encoding or "utf-16"
    if agreed not in ENCODINGS:
        raise ServerExited(
            f"{server.name} counts positions in an encoding that was not offered: {agreed[:20]!a}"
        )
    instance.diagnostics.encoding = next(one for one in ENCODINGS if one == agreed)
    if answer.server_info is not None:
        said = answer.server_info.version or ""
        found = _VERSION.search(said)
        instance.version = clean_line(found[0] if found else said, 40)
    sync = answer.capabilities.text_document_sync
    saves = not isinstance(sync, int | None) and sync.save not in (None, False)
    instance.documents = Documents(server, connection, instance.diagnostics, saves=saves)
    connection.tell("initialized", {})
    connection.tell("workspace/didChangeConfiguration", {"settings": server.settings})


async def _start(launch: Launch, sandbox: Sandbox, pipes: Pipes) -> Process:
    folder, server = launch.folder, launch.server
    env = _environment(launch)
    own = [os.path.join(launch.root, name) for name in server.writes if folder.trusted]
    writable = [path for path in own if await asyncio.to_thread(_is_true_folder, path)]
    return await sandbox.start(
        ProcessSpec(
            argv=(launch.program, *server.command[1:]),
            cwd=folder.root,
            env=env,
            input=pipes.input,
            output=pipes.output,
            errors=pipes.errors,
            writable=(*writable, *folder.writable),
            # A server runs what the project names (toolchains, plugins, build scripts) and needs no approval.
            reads_only=not folder.trusted,
            shown=tuple(_installation(server, env)),
            rules=folder.denied,
            tool=TOOL,
            confined=launch.walls != "none",
            shows_program=True,
        ),
        launch.room,
    )


def _is_true_folder(path: str) -> bool:
    """Return whether a path is a folder reached without links: the project could point a link anywhere."""
    return os.path.isdir(path) and os.path.realpath(path) == path


def _installation(server: LanguageServer, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the folders that a server needs of its installation; none that contains the home folder."""
    home = env.get("HOME", "")
    for variable, usual in server.reads:
        place = os.path.realpath(env.get(variable) or os.path.join(home, usual))
        if os.path.isabs(home) and not is_inside(os.path.realpath(home), place):
            yield place


def _environment(launch: Launch) -> dict[str, str]:
    """Return a server's environment, with a cache folder that it can write to."""
    env = {**launch.folder.environ, **launch.server.env}
    usual = os.path.join(env.get("HOME", "/"), ".cache")
    is_writable = launch.folder.trusted and any(is_inside(usual, one) for one in launch.folder.writable)
    if launch.walls == "bubblewrap" and not is_writable:
        env.setdefault("XDG_CACHE_HOME", _CACHE)
    if not launch.folder.trusted:
        env.pop("TMPDIR", None)  # it would name a folder that does not exist there
    return env
