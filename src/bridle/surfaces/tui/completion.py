"""Completions in a prompt: `@` completes a file name; `/` at the start, a skill, prompt or command."""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from bridle.core.errors import BridleError
from bridle.core.queries import ServerPrompts
from bridle.core.session_api import SessionApi
from bridle.surfaces.shared.terminal import one_line

if TYPE_CHECKING:
    from bridle.surfaces.shared.file_names import FileFinder

MAX_COMPLETIONS = 50
KEPT_S = 10.0  # skills are read again after this time

_FILE = re.compile(r"(?:^|(?<=[\s(\[\"']))@([^\s@]{0,200})$")
_NAME = re.compile(r"^/([A-Za-z0-9_:.-]{0,100})$")


class Fragment(Struct, frozen=True):
    """The text before the cursor that can be completed."""

    kind: Literal["file", "name"]
    start: int
    """The column where it starts, including `@` or `/`."""
    text: str
    """Without the `@` or `/`."""


class Completion(Struct, frozen=True):
    """One completion."""

    text: str
    """The text that replaces the fragment."""
    help: str = ""


def fragment_at(before: str, *, is_first_line: bool) -> Fragment | None:
    """Return the fragment at the end of `before`, the text before the cursor on its line."""
    if is_first_line and (found := _NAME.search(before)):
        return Fragment("name", 0, found[1])
    if found := _FILE.search(before):
        return Fragment("file", found.start(), found[1])
    return None


class Completer:
    """Finds completions; caches skills and MCP prompts for `KEPT_S` seconds."""

    def __init__(
        self,
        environ: Mapping[str, str],
        commands: Mapping[str, str],
        api: Callable[[], SessionApi],
    ) -> None:
        """`commands` are ours, by name with a help text; `api` raises BridleError while there is none."""
        self._environ = environ
        self._commands = commands
        self._api = api
        self._files: FileFinder | None = None
        self._names: dict[str, tuple[float, dict[str, str]]] = {}

    async def find(self, fragment: Fragment, cwd: str) -> list[Completion]:
        """Return the completions, best first; raises BridleError."""
        from bridle.surfaces.shared.file_names import (  # the first frame needs no search
            FileFinder,
            rank_paths,
        )

        if fragment.kind == "file":
            self._files = self._files or FileFinder()
            found = await self._files.find(cwd, fragment.text, MAX_COMPLETIONS)
            return [Completion(f"@{path}") for path in found.paths]
        names = {**await self._known_names(cwd), **self._commands}
        best = rank_paths(names, fragment.text, MAX_COMPLETIONS)
        return [Completion(f"/{name}", one_line(names[name])) for name in best]

    async def _known_names(self, cwd: str) -> dict[str, str]:
        at, names = self._names.get(cwd, (0.0, {}))
        if not names or time.monotonic() - at > KEPT_S:
            names = await asyncio.to_thread(_skills, self._environ, cwd) | await self._prompts(cwd)
            self._names = {cwd: (time.monotonic(), names)}
        return names

    async def _prompts(self, cwd: str) -> dict[str, str]:
        try:
            return {prompt.name: prompt.description for prompt in await self._api().ask(ServerPrompts(cwd))}
        except BridleError:  # skills work without a daemon
            return {}


def _skills(environ: Mapping[str, str], cwd: str) -> dict[str, str]:
    from bridle.app import skills_in
    from bridle.config.settings import load_settings

    try:
        skills = skills_in(load_settings(environ, Path(cwd)))
    except BridleError:
        return {}
    return {skill.name: skill.description for skill in skills if skill.user_invocable}
