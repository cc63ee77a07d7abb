"""Finds files and folders by a part of their path, for `@` in a prompt; files ignored by git are left out."""

import asyncio
import heapq
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from threading import Event

from msgspec import Struct

from bridle.tools.paths import ResolvedPath
from bridle.tools.ripgrep import run_ripgrep

MAX_LIMIT = 200
MAX_TEXT_CHARS = 200
MAX_LISTED = 100_000
MAX_LISTED_BYTES = 16 * 1024 * 1024
LIST_S = 3.0  # files found by then are used
KEPT_S = 10.0  # typing causes several searches per second
MAX_KEPT = 4  # folders


class FoundFiles(Struct, frozen=True):
    """The matching paths, best first."""

    paths: tuple[str, ...]
    """Relative to the searched folder; a folder ends with a slash."""
    more: bool = False
    """True if there are more matches, or more files than were listed."""


class _Listing(Struct, frozen=True):
    paths: tuple[str, ...]
    is_cut: bool
    at: float


class FileFinder:
    """Searches files; listings of folders are cached for a few seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: dict[str, _Listing] = {}
        self._listing = asyncio.Lock()  # one listing at a time: concurrent requests share it

    async def find(self, folder: str, text: str = "", limit: int = 20) -> FoundFiles:
        """Return paths below a folder that contain the letters of the text in order; raises ToolError.

        Links are not followed. Names that are not text or not printable are left out.
        """
        root = await asyncio.to_thread(os.path.realpath, folder)
        async with self._listing:
            listing = self._kept.get(root)
            if listing is None or self._now() - listing.at > KEPT_S:
                listing = await self._list(root)
                self._kept.pop(root, None)
                self._kept[root] = listing
                for oldest in list(self._kept)[:-MAX_KEPT]:
                    del self._kept[oldest]
        limit = max(1, min(limit, MAX_LIMIT))
        best = await asyncio.to_thread(rank_paths, listing.paths, text[:MAX_TEXT_CHARS], limit + 1)
        return FoundFiles(tuple(best[:limit]), len(best) > limit or listing.is_cut)

    async def _list(self, root: str) -> _Listing:
        place = ResolvedPath(root=root, name=".", real=".", shown=root)
        files, is_cut = await run_ripgrep(
            ["--files", "--null"], place, _read, outside=(root,), deadline_s=LIST_S
        )
        paths = await asyncio.to_thread(lambda: tuple(_with_folders(files)))
        return _Listing(paths, is_cut, self._now())


def rank_paths(paths: Iterable[str], text: str, count: int) -> list[str]:
    """Return the paths that match best: name prefix first, then substring, then letters in order."""
    wanted = "".join(text.lower().split())
    expression = re.compile("".join(f"[^{re.escape(one)}]*{re.escape(one)}" for one in wanted), re.DOTALL)
    fitting = (path for path in paths if expression.match(path.lower()))
    return heapq.nsmallest(count, fitting, key=lambda path: _distance(path, wanted))


def _distance(path: str, wanted: str) -> tuple[int, int, int, str]:
    lower = path.lower()
    name = lower.rstrip("/").rpartition("/")[2]
    if "/" in wanted:
        kind = 0 if lower.startswith(wanted) else 2 if wanted in lower else 4
    else:
        kind = 0 if name.startswith(wanted) else 1 if wanted in name else 3 if wanted in lower else 4
    return kind, lower.rstrip("/").count("/"), len(path), path


def _read(chunks: Iterator[bytes], stop: Event) -> tuple[list[str], bool]:
    """Return the paths that ripgrep lists, and whether there are more."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_LISTED_BYTES:
            break
    *names, _ = os.fsdecode(b"".join(parts)).split("\0")
    is_cut = size > MAX_LISTED_BYTES or stop.is_set() or len(names) > MAX_LISTED
    return [name[2:] for name in names[:MAX_LISTED] if name.isprintable()], is_cut


def _with_folders(files: Iterable[str]) -> Iterator[str]:
    """Yield the files, and each of their folders once."""
    folders = set()
    for path in files:
        yield path
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            yield f"{folder}/"
            folder = folder.rpartition("/")[0]
