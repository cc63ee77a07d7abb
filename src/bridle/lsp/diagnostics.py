"""The diagnostics of one server per file, pushed or pulled, with the version they refer to."""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

import msgspec
from msgspec import Raw, Struct

from bridle.core.language_servers import CodeProblem, Severity
from bridle.core.malformed import MALFORMED
from bridle.lsp.connection import LARGE_BYTES
from bridle.lsp.display_text import clean_line, clean_lines
from bridle.lsp.positions import Encoding, TextSource, span_as_ascii, to_path
from bridle.lsp.protocol import Diagnostic, Published, Report

MAX_PROBLEMS = 10_000
MAX_FILES = 2000
MAX_BYTES = 64 * 1024 * 1024
_MAX_MESSAGE = 2000
_MAX_SOURCE = 100
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "information", "hint")
_TAGS = {1: "unnecessary", 2: "deprecated"}
_DIAGNOSTIC = msgspec.json.Decoder(Diagnostic, strict=False)


_Problems = tuple[tuple[CodeProblem, ...], tuple[Raw, ...]]


class Signal:
    """Wakes tasks that wait for an event."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        """Wake all tasks that wait now."""
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, timeout_s: float) -> bool:
        """Wait for the next ring; False on timeout."""
        event = self._event
        try:
            async with asyncio.timeout(max(timeout_s, 0)):
                await event.wait()
        except TimeoutError:
            return False
        return True


class FileReport(Struct, frozen=True):
    """The diagnostics of one file from one report."""

    problems: tuple[CodeProblem, ...]
    raws: tuple[Raw, ...]
    """The server's original diagnostics: it needs them back in a request for fixes."""
    version: int | None = None
    serial: int = 0
    size_bytes: int = 0
    result_id: str | None = None


class _Expected(Struct, frozen=True):
    """The file version last sent to the server."""

    version: int
    serial: int
    source: TextSource
    at_s: float


class Diagnostics:
    """The problems of all files, from one server."""

    def __init__(self, name: str, accepts: Callable[[str], bool], bell: Signal) -> None:
        """Take the server's name, a filter for paths, and the bell that rings at each report."""
        self.encoding: Encoding = "utf-16"
        self._name = name
        self._accepts = accepts
        self._pushed: dict[str, FileReport] = {}
        self._pulled: dict[str, FileReport] = {}
        self._expected: dict[str, _Expected] = {}
        self._bytes = 0
        self._serial = 0
        self._bell = bell
        self.last_s = 0.0
        """When a file last changed or a report last arrived."""
        self.delay_s = 0.0
        """How long the server last took from a change of a file to its first report on it."""

    def expect(self, path: str, version: int, source: TextSource) -> None:
        """Note that a new version of a file is about to be sent to the server."""
        self.last_s = monotonic()
        self._expected[path] = _Expected(version, self._serial, source, self.last_s)

    def forget(self, path: str) -> None:
        """Note that a file was closed."""
        self._expected.pop(path, None)
        self._drop(self._pulled, path)

    async def publish(self, said: Published, size_bytes: int) -> None:
        """Store diagnostics that the server pushed; a report on an outdated version is ignored."""
        path = to_path(said.uri)
        if path is None or not self._accepts(path):
            return
        self.last_s = monotonic()
        self._serial += 1
        serial = self._serial
        expected = self._expected.get(path)
        if expected is not None and not self.has_report(path):
            self.delay_s = self.last_s - expected.at_s
        problems, raws = await self._read(path, said.diagnostics, size_bytes)
        expected = self._expected.get(path)
        if said.version is None or expected is None or said.version == expected.version:
            listing = FileReport(problems, raws, said.version, serial, size_bytes)
            self._keep(self._pushed, path, listing)
            self._bell.ring()

    async def take_report(self, path: str, report: Report, size_bytes: int) -> None:
        """Store the response to a request for a file's diagnostics."""
        await self._take_one(path, report, size_bytes)
        for uri, other in list((report.related_documents or {}).items())[:MAX_FILES]:
            found = to_path(uri)
            if found is not None and self._accepts(found):
                await self._take_one(found, other, 0)
        self._bell.ring()

    def result_id(self, path: str) -> str | None:
        """Return the id of the last response for a file."""
        listing = self._pulled.get(path)
        return listing.result_id if listing else None

    def has_report(self, path: str) -> bool:
        """Return whether diagnostics for the newest version of a file have been published."""
        listing, expected = self._pushed.get(path), self._expected.get(path)
        if listing is None or expected is None:
            return listing is not None
        if listing.version is not None:
            return listing.version == expected.version
        return listing.serial > expected.serial

    def may_stay_silent(self, path: str) -> bool:
        """Return whether silence may mean that a file still has no problems, as with some servers."""
        listing = self._pushed.get(path)
        return listing is not None and listing.version is None and not listing.problems

    def has_versions(self, path: str) -> bool:
        """Return whether the published diagnostics of a file name its version."""
        listing = self._pushed.get(path)
        return listing is not None and listing.version is not None

    def of(self, path: str) -> tuple[CodeProblem, ...]:
        """Return the known problems of a file, in order."""
        listings = [one for one in (self._pushed.get(path), self._pulled.get(path)) if one]
        if len(listings) == 1:
            return listings[0].problems
        return tuple(sorted({one for listing in listings for one in listing.problems}, key=_order))

    def raws(self, path: str) -> list[tuple[CodeProblem, Raw]]:
        """Return the known problems of a file, each with the server's original diagnostic."""
        listings = [one for one in (self._pushed.get(path), self._pulled.get(path)) if one]
        return [pair for one in listings for pair in zip(one.problems, one.raws, strict=True)]

    def all(self) -> dict[str, tuple[CodeProblem, ...]]:
        """Return all known problems by path."""
        return {path: self.of(path) for path in {**self._pushed, **self._pulled}}

    async def _take_one(self, path: str, report: Report, size_bytes: int) -> None:
        if report.kind != "unchanged":
            problems, raws = await self._read(path, report.items, size_bytes)
            listing = FileReport(problems, raws, size_bytes=size_bytes, result_id=report.result_id)
            self._keep(self._pulled, path, listing)

    async def _read(self, path: str, items: Sequence[Raw], size_bytes: int) -> _Problems:
        """Decode diagnostics, in a thread if they are long."""
        if size_bytes < LARGE_BYTES:
            return self._convert(path, items)
        return await asyncio.to_thread(self._convert, path, items)

    def _convert(self, path: str, items: Sequence[Raw]) -> _Problems:
        expected = self._expected.get(path)
        found: list[tuple[CodeProblem, Raw]] = []
        for raw in items[:MAX_PROBLEMS]:
            try:
                said = _DIAGNOSTIC.decode(raw)
            except MALFORMED:
                continue
            found.append((self._problem(path, said, expected.source if expected else None), raw.copy()))
        found.sort(key=lambda pair: _order(pair[0]))
        return tuple(problem for problem, _ in found), tuple(raw for _, raw in found)

    def _problem(self, path: str, said: Diagnostic, source: TextSource | None) -> CodeProblem:
        span = source.span(path, said.range, self.encoding) if source else span_as_ascii(path, said.range)
        severity = said.severity if said.severity in (1, 2, 3, 4) else 1
        code = said.code.get("value", "") if isinstance(said.code, dict) else said.code
        message = said.message.get("value", "") if isinstance(said.message, dict) else said.message
        tags = [_TAGS[tag] for tag in (said.tags or [])[:10] if tag in _TAGS]
        return CodeProblem(
            span,
            _SEVERITIES[severity - 1],
            clean_lines(str(message), _MAX_MESSAGE),
            clean_line(said.source or self._name, _MAX_SOURCE),
            "" if code is None else clean_line(str(code), _MAX_SOURCE),
            tuple(tags),
        )

    def _keep(self, listings: dict[str, FileReport], path: str, listing: FileReport) -> None:
        self._drop(listings, path)
        listings[path] = listing
        self._bytes += listing.size_bytes
        while len(listings) > MAX_FILES or (self._bytes > MAX_BYTES and len(listings) > 1):
            self._drop(listings, next(iter(listings)))

    def _drop(self, listings: dict[str, FileReport], path: str) -> None:
        if (old := listings.pop(path, None)) is not None:
            self._bytes -= old.size_bytes


def _order(problem: CodeProblem) -> tuple[Any, ...]:
    return problem.span, _SEVERITIES.index(problem.severity), problem.message, problem.source, problem.code
