"""Finds a word in the files of a project: with ripgrep, or by reading them."""

import asyncio
import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from threading import Event
from time import monotonic

from bridle.core.errors import ToolError
from bridle.lsp import files
from bridle.lsp.file_scan import IGNORED, MAX_WATCH_DEPTH, MAX_WATCHED, walk
from bridle.lsp.positions import TextSource
from bridle.system.programs import find_program

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
    command += ["--max-columns=1", "--max-filesize", str(files.MAX_FILE_BYTES)]
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
        with suppress(ProcessLookupError):
            process.kill()
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
        content = files.read(path)
    except ToolError:
        return []
    if content is None or not pattern.search(content.text):
        return []
    source = TextSource(content.text)
    found = [number + 1 for number in range(len(source)) if pattern.search(source.line(number))]
    return [(path, number) for number in found[:_MAX_IN_FILE]]
