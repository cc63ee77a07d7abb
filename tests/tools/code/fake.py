"""Fake language servers with prepared answers, and a project for them."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import CallId
from bridle.core.language_servers import (
    CodeAction,
    CodeLocation,
    CodeProblem,
    FileEdit,
    LookupKind,
    ProblemChanges,
    Severity,
    Span,
    SymbolInfo,
    SymbolQuery,
)
from bridle.core.permission import Mode, Rule, judge, parse_rule
from bridle.core.ports import AccessResolvingTool, Tool, ToolContext, ToolOutput, implements
from bridle.core.server_views import ServerView


class FakeWatching:
    """Tells the news that a test has made up."""

    def __init__(self, languages: "FakeLanguages") -> None:
        self._languages = languages

    async def news(self) -> ProblemChanges:
        self._languages.asked.append(("news",))
        if self._languages.news_error is not None:
            raise self._languages.news_error
        return self._languages.news


class FakeLanguages:
    """Serves Python files, and records its requests."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.found: tuple[CodeLocation, ...] = ()
        self.symbols_of: dict[str, tuple[SymbolInfo, ...]] = {}
        self.project_symbols: tuple[SymbolInfo, ...] = ()
        self.known_problems: tuple[CodeProblem, ...] = ()
        self.edits: Callable[[str], tuple[FileEdit, ...]] = lambda new: ()
        self.offered: tuple[CodeAction, ...] = ()
        self.refusal: ToolError | None = None
        """What `look` and `rename` say instead."""
        self.news = ProblemChanges()
        self.before_error: Exception | None = None
        self.news_error: Exception | None = None

    async def look(self, kind: LookupKind, spot: SymbolQuery, cwd: str) -> tuple[CodeLocation, ...]:
        self.asked.append((kind, spot, cwd))
        if self.refusal is not None:
            raise self.refusal
        return self.found

    async def symbols(self, path: str, cwd: str) -> tuple[SymbolInfo, ...]:
        self.asked.append(("symbols", path, cwd))
        return self.symbols_of.get(Path(path).name, ())

    async def find(self, query: str, cwd: str) -> tuple[SymbolInfo, ...]:
        self.asked.append(("find", query, cwd))
        return self.project_symbols

    async def problems(self, path: str, cwd: str) -> tuple[CodeProblem, ...]:
        self.asked.append(("problems", path, cwd))
        return self.known_problems

    async def rename(self, spot: SymbolQuery, new_name: str, cwd: str) -> tuple[FileEdit, ...]:
        self.asked.append(("rename", spot, new_name, cwd))
        if self.refusal is not None:
            raise self.refusal
        return self.edits(new_name)

    async def fixes(self, path: str, line: int, end_line: int, cwd: str) -> tuple[CodeAction, ...]:
        self.asked.append(("fixes", path, line, end_line, cwd))
        return self.offered

    async def fix(self, path: str, line: int, end_line: int, fix: str, cwd: str) -> tuple[FileEdit, ...]:
        self.asked.append(("fix", path, line, end_line, fix, cwd))
        if fix not in {offered.id for offered in self.offered}:
            raise ToolError(f"no fix {fix}")
        return self.edits(fix)

    def serves(self, path: str, cwd: str) -> bool:
        return path.endswith(".py")

    def touch(self, path: str, cwd: str) -> None:
        self.asked.append(("touch", path, cwd))

    async def before_edit(self, paths: tuple[str, ...], cwd: str) -> FakeWatching:
        self.asked.append(("before_edit", paths, cwd))
        if self.before_error is not None:
            raise self.before_error
        return FakeWatching(self)

    async def views(self, cwd: str) -> tuple[ServerView, ...]:
        return ()

    async def aclose(self) -> None:
        pass


def span(path: Path | str, line: int = 1, column: int = 1, end_line: int = 0, end_column: int = 0) -> Span:
    return Span(str(path), line, column, end_line or line, end_column or column)


def problem(path: Path | str, message: str, severity: Severity = "error", line: int = 1) -> CodeProblem:
    return CodeProblem(span(path, line), severity, message, "fake", "E1")


def renamed(cwd: Path, old: str, *, names: tuple[str, ...]) -> Callable[[str], tuple[FileEdit, ...]]:
    """Return what renaming a word changes in these files as they are when asked."""

    def edits(new: str) -> tuple[FileEdit, ...]:
        texts = {name: (cwd / name).read_bytes().decode() for name in names}
        return tuple(
            FileEdit(str(cwd / name), text, re.sub(rf"\b{old}\b", new, text)) for name, text in texts.items()
        )

    return edits


def rules(*texts: str) -> tuple[Rule, ...]:
    """Read rules such as `deny read_file(secrets/**)`."""
    return tuple(parse_rule(*text.split(" ", 1)) for text in texts)  # type: ignore[arg-type]


def in_call(
    context: ToolContext, call: str = "c1", *given: str, mode: Mode = "ask", **more: Any
) -> ToolContext:
    """Return the context of a call under some rules."""
    return replace(context, call_id=CallId(call), rules=rules(*given), mode=mode, **more)


async def call(tool: Tool, args: dict[str, Any], context: ToolContext) -> ToolOutput:
    """Do what a session does with a call when its user says yes; raises ToolError when it is denied."""
    if implements(tool, AccessResolvingTool):
        await tool.foresee(args, context)
    verdict = judge(tool.access(args, context), context.rules, context.mode)
    if verdict.action == "deny":
        raise ToolError(f"denied by {verdict.why}")
    await tool.preview(args, context)
    return await tool.run(args, context)
