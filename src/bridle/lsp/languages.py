"""The language servers of all projects; implements `LanguageServers` for the engine."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from threading import Lock
from typing import Any

from bridle.core.errors import BridleError, ToolError
from bridle.core.language_servers import (
    CodeAction,
    CodeLocation,
    CodeProblem,
    FileEdit,
    LookupKind,
    PendingEdit,
    SymbolInfo,
    SymbolQuery,
)
from bridle.core.ports import Sandbox
from bridle.core.server_views import ServerView
from bridle.lsp.code_actions import Fixes
from bridle.lsp.edit_watch import EditWatch, watch
from bridle.lsp.positions import is_inside
from bridle.lsp.project import Project
from bridle.lsp.queries import CodeQueries
from bridle.lsp.settings import FolderLanguages, Timeouts

MAX_TOUCHES = 8
"""How many files are opened in the background at once; further ones are skipped."""
_PACE = Timeouts()

Load = Callable[[str], FolderLanguages]
"""Returns a folder's server settings; blocks, is fast when nothing has changed, raises ConfigError."""


class LocalLanguages:
    """Keeps a project for each root in use; `aclose` ends everything it started."""

    def __init__(self, load: Load, sandbox: Sandbox, *, pace: Timeouts = _PACE) -> None:
        """Take the function that loads a folder's server settings."""
        self._load = load
        self._sandbox = sandbox
        self._pace = pace
        self._projects: dict[str, Project] = {}
        self._retired: list[Project] = []
        """Projects whose settings have changed; they are closed on the event loop."""
        self._making = Lock()  # any thread may call `serves`
        self._tasks: set[asyncio.Task[None]] = set()
        self._touches = 0
        self._is_closed = False

    # ------------------------------------------------------------------ queries

    async def look(self, kind: LookupKind, spot: SymbolQuery, cwd: str) -> tuple[CodeLocation, ...]:
        """Find the definition, the references, the callers or the callees of a symbol; raises ToolError."""
        project = await self._open(cwd, spot.path)
        return await CodeQueries(project, self._pace).look(kind, spot)

    async def symbols(self, path: str, cwd: str) -> tuple[SymbolInfo, ...]:
        """Return the symbols a file defines, in order; raises ToolError."""
        return await CodeQueries(await self._open(cwd, path), self._pace).symbols(path)

    async def find(self, query: str, cwd: str) -> tuple[SymbolInfo, ...]:
        """Return the symbols of the whole project that match a query; raises ToolError."""
        return await CodeQueries(await self._open(cwd, ""), self._pace).find(query)

    async def problems(self, path: str, cwd: str) -> tuple[CodeProblem, ...]:
        """Return the problems of a file, or all known problems in a folder; raises ToolError."""
        return await CodeQueries(await self._open(cwd, path), self._pace).problems(path)

    async def rename(self, spot: SymbolQuery, new_name: str, cwd: str) -> tuple[FileEdit, ...]:
        """Return the edits that renaming a symbol makes; raises ToolError."""
        project = await self._open(cwd, spot.path)
        return await CodeQueries(project, self._pace).rename(spot, new_name)

    async def fixes(self, path: str, line: int, end_line: int, cwd: str) -> tuple[CodeAction, ...]:
        """Return the fixes offered for these lines; raises ToolError."""
        return await Fixes(await self._open(cwd, path), self._pace).offered(path, line, end_line)

    async def fix(self, path: str, line: int, end_line: int, fix: str, cwd: str) -> tuple[FileEdit, ...]:
        """Return the edits that one of the fixes makes; raises ToolError."""
        return await Fixes(await self._open(cwd, path), self._pace).get_edits(path, line, end_line, fix)

    # ------------------------------------------------------------------ files and edits

    def serves(self, path: str, cwd: str) -> bool:
        """Return whether there is a server for a file, or for any file in a folder; never raises."""
        try:
            project = self._project(self._load(cwd))
        except BridleError:
            return False
        return is_inside(path, project.root) and project.serves(path)

    def touch(self, path: str, cwd: str) -> None:
        """Start a file's servers and open the file, in the background."""
        if self._touches < MAX_TOUCHES and not self._is_closed:
            self._touches += 1
            self._spawn(self._warm(path, cwd))

    async def before_edit(self, paths: tuple[str, ...], cwd: str) -> PendingEdit:
        """Record the current problems, to compare them after an edit; never raises."""
        try:
            project = await self._open(cwd, "")
        except BridleError:
            return EditWatch([], [], 0.0, self._pace)
        inside = [path for path in dict.fromkeys(paths) if is_inside(path, project.root)]
        return await watch(project, inside, self._pace)

    async def views(self, cwd: str) -> tuple[ServerView, ...]:
        """Return the servers for a folder's files and their states; raises ConfigError."""
        project = self._project(await asyncio.to_thread(self._load, cwd))
        return await asyncio.to_thread(project.views)

    async def aclose(self) -> None:
        """End every server and every background task."""
        self._is_closed = True
        projects = [*self._projects.values(), *self._retired]
        await asyncio.gather(*(project.close() for project in projects))
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # ------------------------------------------------------------------ projects

    async def _open(self, cwd: str, path: str) -> Project:
        """Return the project of a folder, which must contain the path; raises ToolError, ConfigError."""
        if self._is_closed:
            raise ToolError("language servers have been stopped")
        project = self._project(await asyncio.to_thread(self._load, cwd))
        while self._retired:
            self._spawn(self._retired.pop().close())
        if path and not is_inside(path, project.root):
            raise ToolError(f"{path} is outside the project {project.root}, so no language server covers it")
        return project

    def _project(self, folder: FolderLanguages) -> Project:
        root = os.path.realpath(folder.root)
        with self._making:
            project = self._projects.get(root)
            if project is not None and project.given == folder:
                return project
            if project is not None:
                self._retired.append(project)
            made = self._projects[root] = Project(folder, root, self._sandbox, self._pace, self._spawn)
            return made

    async def _warm(self, path: str, cwd: str) -> None:
        try:
            with suppress(BridleError):
                project = await self._open(cwd, path)
                for instance in await project.use(path):
                    await instance.documents.sync([path])
        finally:
            self._touches -= 1

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
