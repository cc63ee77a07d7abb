"""The language servers of every project; the `Languages` of the engine."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from threading import Lock
from typing import Any

from bridle.core.errors import BridleError, ToolError
from bridle.core.languages import (
    FileEdit,
    Fix,
    Found,
    LookKind,
    Problem,
    Spot,
    SymbolInfo,
    Watching,
)
from bridle.core.ports import Sandbox
from bridle.core.server_views import ServerView
from bridle.lsp.fixes import Fixes
from bridle.lsp.news import Watch, watch
from bridle.lsp.places import is_inside
from bridle.lsp.project import Project
from bridle.lsp.questions import Questions
from bridle.lsp.settings import FolderLanguages, Pace

MAX_TOUCHES = 8
"""How many files are opened in the background at once; more are not worth it."""
_PACE = Pace()

Load = Callable[[str], FolderLanguages]
"""Returns which servers a folder has; blocking, quick when nothing has changed, raises ConfigError."""


class LocalLanguages:
    """Keeps a project for each root that is asked about; what it starts ends at `aclose`."""

    def __init__(self, load: Load, sandbox: Sandbox, *, pace: Pace = _PACE) -> None:
        """Take what says which servers a folder has."""
        self._load = load
        self._sandbox = sandbox
        self._pace = pace
        self._projects: dict[str, Project] = {}
        self._retired: list[Project] = []
        """Projects whose settings have changed since; they are closed on the loop."""
        self._making = Lock()  # `serves` may be asked in any thread
        self._tasks: set[asyncio.Task[None]] = set()
        self._touches = 0
        self._is_closed = False

    # ------------------------------------------------------------------ questions

    async def look(self, kind: LookKind, spot: Spot, cwd: str) -> tuple[Found, ...]:
        """Find where something is defined, used, or who calls it and what it calls; raises ToolError."""
        project = await self._open(cwd, spot.path)
        return await Questions(project, self._pace).look(kind, spot)

    async def symbols(self, path: str, cwd: str) -> tuple[SymbolInfo, ...]:
        """Return what a file defines, in order; raises ToolError."""
        return await Questions(await self._open(cwd, path), self._pace).symbols(path)

    async def find(self, query: str, cwd: str) -> tuple[SymbolInfo, ...]:
        """Return symbols of the whole project whose names fit; raises ToolError."""
        return await Questions(await self._open(cwd, ""), self._pace).find(query)

    async def problems(self, path: str, cwd: str) -> tuple[Problem, ...]:
        """Return what is wrong with a file, or all that is known of a folder; raises ToolError."""
        return await Questions(await self._open(cwd, path), self._pace).problems(path)

    async def rename(self, spot: Spot, new_name: str, cwd: str) -> tuple[FileEdit, ...]:
        """Work out what renaming a symbol changes; raises ToolError."""
        project = await self._open(cwd, spot.path)
        return await Questions(project, self._pace).rename(spot, new_name)

    async def fixes(self, path: str, line: int, end_line: int, cwd: str) -> tuple[Fix, ...]:
        """Return what could be done about these lines; raises ToolError."""
        return await Fixes(await self._open(cwd, path), self._pace).offered(path, line, end_line)

    async def fix(self, path: str, line: int, end_line: int, fix: str, cwd: str) -> tuple[FileEdit, ...]:
        """Work out what one of the fixes changes; raises ToolError."""
        return await Fixes(await self._open(cwd, path), self._pace).work_out(path, line, end_line, fix)

    # ------------------------------------------------------------------ files and edits

    def serves(self, path: str, cwd: str) -> bool:
        """Tell whether there is a server for a file, or for any file of a folder; never raises."""
        try:
            project = self._project(self._load(cwd))
        except BridleError:
            return False
        return is_inside(path, project.root) and project.serves(path)

    def touch(self, path: str, cwd: str) -> None:
        """Have the servers of a file started, and the file read, in the background."""
        if self._touches < MAX_TOUCHES and not self._is_closed:
            self._touches += 1
            self._spawn(self._warm(path, cwd))

    async def before_edit(self, paths: tuple[str, ...], cwd: str) -> Watching:
        """Note what is wrong now, so that it can be told what an edit has brought; never raises."""
        try:
            project = await self._open(cwd, "")
        except BridleError:
            return Watch([], [], 0.0, self._pace)
        inside = [path for path in dict.fromkeys(paths) if is_inside(path, project.root)]
        return await watch(project, inside, self._pace)

    async def views(self, cwd: str) -> tuple[ServerView, ...]:
        """Say which servers the files of a folder would have, and how they are; raises ConfigError."""
        project = self._project(await asyncio.to_thread(self._load, cwd))
        return await asyncio.to_thread(project.views)

    async def aclose(self) -> None:
        """End every server and all that it has started."""
        self._is_closed = True
        projects = [*self._projects.values(), *self._retired]
        await asyncio.gather(*(project.close() for project in projects))
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # ------------------------------------------------------------------ projects

    async def _open(self, cwd: str, path: str) -> Project:
        """Return the project of a folder, which the path must lie in; raises ToolError, ConfigError."""
        if self._is_closed:
            raise ToolError("language servers have been ended")
        project = self._project(await asyncio.to_thread(self._load, cwd))
        while self._retired:
            self._spawn(self._retired.pop().close())
        if path and not is_inside(path, project.root):
            raise ToolError(f"{path} is outside of the project {project.root}: no language server knows it")
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
