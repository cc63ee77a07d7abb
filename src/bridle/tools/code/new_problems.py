"""Append the problems that language servers newly report after an edit to the edit tool's result.

Rules, previews and hooks are those of the edit tool. Whatever the servers do, the edit stands.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from msgspec.structs import replace

from bridle.core.deferred_tools import is_rarely_used
from bridle.core.errors import ToolError
from bridle.core.language_servers import LanguageServers, PendingEdit, ProblemChanges
from bridle.core.permission import EDITING_TOOLS, READING_TOOL
from bridle.core.ports import Tool, ToolContext, ToolOutput
from bridle.core.tool import Access, AccessClass, ToolSpec
from bridle.tools.code.edit_plans import absolute_path
from bridle.tools.code.formatter import FileFilter, problem_rows
from bridle.tools.paths import printable
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import resolve_path, text_arg

T = TypeVar("T")

MAX_NEWS = 10
WAIT_S = 60.0  # servers have much shorter timeouts themselves


def with_new_problems(tool: Tool, languages: LanguageServers) -> Tool:
    """Return an edit tool that also reports new problems, or a read tool that starts the servers.

    Any other tool is returned unchanged.
    """
    return ProblemReportTool(tool, languages) if tool.spec.name in (READING_TOOL, *EDITING_TOOLS) else tool


class ProblemReportTool:
    """Wraps a tool that reads or edits a file, and informs the language servers."""

    def __init__(self, tool: Tool, languages: LanguageServers) -> None:
        """Take the tool to wrap."""
        self._tool = tool
        self._languages = languages
        self.parallel = tool.parallel
        self.seldom = is_rarely_used(tool)

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return self._tool.spec

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access of the wrapped tool."""
        return self._tool.access(args, context)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return the preview of the wrapped tool."""
        return await self._tool.preview(args, context)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Run the wrapped tool; after an edit, add new problems; after a read, start a server."""
        name = self.spec.name
        path = await run_in_thread(lambda _: _real_path(name, args, context))
        if name != READING_TOOL:
            edit = partial(self._tool.run, args, context)
            return await edit_and_report(self._languages, name, (path,), context, edit)
        output = await self._tool.run(args, context)
        with suppress(Exception):  # a server error must not fail a read that succeeded
            if path and self._languages.serves(path, context.cwd):
                self._languages.touch(path, context.cwd)
        return output


def _real_path(tool: str, args: dict[str, Any], context: ToolContext) -> str:
    """Return the real path of the argument `path`; empty if it may not be used; blocking."""
    access: AccessClass = "read" if tool == READING_TOOL else "write"
    try:
        return absolute_path(resolve_path(tool, access, text_arg(args, "path"), context))
    except ToolError:
        return ""  # the wrapped tool raises the error


async def edit_and_report(
    languages: LanguageServers,
    tool: str,
    paths: tuple[str, ...],
    context: ToolContext,
    edit: Callable[[], Awaitable[ToolOutput]],
) -> ToolOutput:
    """Edit files and append the new problems to the result; nothing is appended to a failed edit."""
    watching = await _in_time(lambda: _watch(languages, paths, context.cwd))
    output = await edit()
    if watching is None or output.is_error:
        return output
    if text := await _in_time(lambda: _news(watching, tool, paths, context)):
        return replace(output, text=f"{output.text}\n\n{text}")
    return output


async def _in_time(ask: Callable[[], Awaitable[T]]) -> T | None:
    try:
        async with asyncio.timeout(WAIT_S):
            return await ask()
    except Exception:  # noqa: BLE001  nothing that servers do may make an edit fail
        return None


async def _watch(languages: LanguageServers, paths: tuple[str, ...], cwd: str) -> PendingEdit | None:
    served = tuple(path for path in paths if path and languages.serves(path, cwd))
    return await languages.before_edit(served, cwd) if served else None


async def _news(watching: PendingEdit, tool: str, paths: tuple[str, ...], context: ToolContext) -> str:
    news = await watching.news()
    return await run_in_thread(lambda _: format_new_problems(news, FileFilter(tool, context, paths)))


def format_new_problems(news: ProblemChanges, sight: FileFilter) -> str:
    """Return the new problems in a few lines, errors first; empty when there are none."""
    rows = problem_rows((problem for problem in news.appeared if problem.severity != "hint"), sight)
    lines = [f"New problems ({len(rows)}):", *rows[:MAX_NEWS]] if rows else []
    if len(rows) > MAX_NEWS:
        lines.append(f"[and {len(rows) - MAX_NEWS} more]")
    if news.late:
        names = ", ".join(printable(name) for name in news.late)
        lines.append(f"[not checked in time by {names}; use diagnostics]")
    return "\n".join(lines)
