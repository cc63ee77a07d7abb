"""Finds a word in the files of a project: with ripgrep, or by reading them."""

import asyncio
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Event
from time import monotonic

from bridle.core.errors import ToolError
from bridle.lsp.documents import MAX_FILE_BYTES, ChangeKind, Stamp, read_content, stat_stamp
from bridle.lsp.positions import TextSource
from bridle.system.processes import kill_child
from bridle.system.programs import find_program

# ---------------------------------------------------------------------------- file scan
# Scans a project folder: which file extensions it has, and which files changed. Everything here blocks.


IGNORED = frozenset(
    """
    .git .hg .svn .venv venv env .env node_modules __pycache__ .tox .nox .mypy_cache .ruff_cache .pytest_cache
    .cache .idea .vscode .bridle target dist build .next .gradle vendor site-packages
    """.split()
)
MAX_SURVEYED = 2000
MAX_DEPTH = 4
MAX_WATCHED = 20_000
MAX_WATCH_DEPTH = 32
_SCAN_S = 2.0


def walk(root: str, *, most: int, depth: int) -> Iterator[os.DirEntry[str]]:
    """Yield files, folder by folder, without following links; reads at most `most` entries."""
    seen = 0
    folders = [(root, 0)]
    for folder, level in folders:
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in found:
            seen += 1
            if seen > most:
                return
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in IGNORED and level < depth:
                    folders.append((entry.path, level + 1))
            elif entry.is_file(follow_symlinks=False):
                yield entry


def find_extensions(root: str) -> dict[str, str]:
    """Return the file extensions in a folder with one example path each; a short scan that may miss some."""
    found: dict[str, str] = {}
    for entry in walk(root, most=MAX_SURVEYED, depth=MAX_DEPTH):
        found.setdefault(os.path.splitext(entry.name)[1], entry.path)
    return found


class ChangeDetector:
    """Detects which files of a project have changed since the last call."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, Stamp] | None = None

    def changes(self, extensions: Collection[str], names: Collection[str]) -> dict[str, ChangeKind]:
        """Return the changes to files with these extensions or names.

        Returns nothing at the first call, or if the scan takes longer than `_SCAN_S`.
        """
        found: dict[str, Stamp] = {}
        until = monotonic() + _SCAN_S
        for entry in walk(self._root, most=MAX_WATCHED, depth=MAX_WATCH_DEPTH):
            if os.path.splitext(entry.name)[1] in extensions or entry.name in names:
                stamp = stat_stamp(entry.path)
                if stamp is not None:
                    found[entry.path] = stamp
            if monotonic() > until:
                return {}
        known, self._known = self._known, found
        return {} if known is None else _compare(known, found)


def _compare(known: Mapping[str, Stamp], found: Mapping[str, Stamp]) -> dict[str, ChangeKind]:
    changes: dict[str, ChangeKind] = {
        path: "changed" if path in known else "created"
        for path, stamp in found.items()
        if known.get(path) != stamp
    }
    return {**changes, **dict.fromkeys(known.keys() - found.keys(), "deleted")}


# ---------------------------------------------------------------------------- word search


MAX_HITS = 100
SEARCH_S = 3.0
_MAX_IN_FILE = 20

Hit = tuple[str, int]
"""A path and a line, counted from 1."""


def word_pattern(word: str) -> re.Pattern[str]:
    """Return a pattern that matches the word as a whole identifier."""
    return re.compile(rf"(?<![\w$]){re.escape(word)}(?![\w$])")


async def find_word(
    word: str, root: str, extensions: Collection[str], search_path: str, writable: Sequence[str] = ()
) -> list[Hit]:
    """Return where a word occurs in files with these extensions; at most `MAX_HITS`, within `SEARCH_S`."""
    outside = (root, *writable)
    search = await asyncio.to_thread(find_program, "rg", search_path, outside=outside)
    if search is not None:
        return await _search(search, word, root, extensions)
    stop = Event()
    try:
        return await asyncio.to_thread(_read_all, word, root, extensions, stop)
    finally:
        stop.set()


async def _search(search: str, word: str, root: str, extensions: Collection[str]) -> list[Hit]:
    command = [search, "--no-config", "-nH0Fw", "--no-heading", "--color=never", "-m", str(_MAX_IN_FILE)]
    command += ["--max-columns=1", "--max-filesize", str(MAX_FILE_BYTES)]
    command += [part for ending in sorted(extensions) for part in ("-g", f"*{_literal(ending)}")]
    command += [part for name in sorted(IGNORED) for part in ("-g", f"!{name}/")]
    process = await asyncio.create_subprocess_exec(
        *command,
        *("-e", word, "--", root),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.defpath},
    )
    assert process.stdout is not None
    hits: list[Hit] = []
    try:
        with suppress(TimeoutError, ValueError):  # ValueError: a line exceeds the reader's limit
            async with asyncio.timeout(SEARCH_S):
                while len(hits) < MAX_HITS and (line := await process.stdout.readline()):
                    path, _, rest = line.partition(b"\0")
                    number = rest.partition(b":")[0]
                    if number.isdigit():
                        hits.append((os.fsdecode(path), int(number)))
    finally:
        kill_child(process)
        await process.wait()
    return sorted(hits)


def _literal(ending: str) -> str:
    return re.sub(r"([*?\[\]{}!\\])", r"\\\1", ending)


def _read_all(word: str, root: str, extensions: Collection[str], stop: Event) -> list[Hit]:
    pattern = word_pattern(word)
    until = monotonic() + SEARCH_S
    hits: list[Hit] = []
    for entry in walk(root, most=MAX_WATCHED, depth=MAX_WATCH_DEPTH):
        if os.path.splitext(entry.name)[1] in extensions:
            hits += _read_hits(entry.path, pattern)
        if len(hits) >= MAX_HITS or monotonic() > until or stop.is_set():
            break
    return sorted(hits[:MAX_HITS])


def _read_hits(path: str, pattern: re.Pattern[str]) -> list[Hit]:
    try:
        content = read_content(path)
    except ToolError:
        return []
    if content is None or not pattern.search(content.text):
        return []
    source = TextSource(content.text)
    found = [number + 1 for number in range(len(source)) if pattern.search(source.line(number))]
    return [(path, number) for number in found[:_MAX_IN_FILE]]
