"""Memory in a local file: indexes sessions from the store, and finds passages again.

```
note ──▶ a queue ──▶ one task: passages, vectors, index files     │ everything that touches the file
search ──▶ index what has grown (3 s at most) ──▶ answer          │ runs in one separate thread
```

What is not indexed yet is never lost: the store has it, and the file records how far indexing got.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.ports import Clock, MemoryHit, Store
from bridle.core.protocol import Record, Rewound
from bridle.memory.active_embedder import ActiveEmbedder, Worker
from bridle.memory.storage import MemoryStorage, ProjectStats, Query

if TYPE_CHECKING:
    from bridle.memory.embedders import Embedder

# ---------------------------------------------------------------------------- secret filter
# Removes text that looks like a secret, whatever its value, before it is indexed.
#
# Secrets from the environment are known by value; the mask passed to memory hides those first. The
# expressions are compiled on first use: most commands have no text to check.


HIDDEN = "[secret]"

_KEY_BLOCK = (
    r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
_SHAPES = r"""(?x)
    \bsk-[A-Za-z0-9_-]{16,200}    # OpenAI, Anthropic and their likes
    | \b[sr]k_(?:live|test)_[A-Za-z0-9]{10,200}    # Stripe
    | \bgh[pousr]_[A-Za-z0-9]{20,255} | \bgithub_pat_[A-Za-z0-9_]{20,255}
    | \bglpat-[A-Za-z0-9_-]{16,200}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,60}
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,300}
    | \bhf_[A-Za-z0-9]{20,100}
    | \bnpm_[A-Za-z0-9]{30,60} | \bpypi-[A-Za-z0-9_-]{30,300}
    | \bya29\.[A-Za-z0-9_-]{20,600}
    | \beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}    # JSON web tokens
    | \bAGE-SECRET-KEY-1[A-Z0-9]{40,80}
"""
_BEARER = r"(?i)\b(authorization\s{0,5}[:=]\s{0,5}|bearer\s{1,5}|basic\s{1,5})[A-Za-z0-9+/=._~-]{16,4000}"
_URL = r"(://[^\s/:@]{0,200}:)[^\s/@]{1,500}(?=@)"
_NAMED = r"""(?ix)
    ( (?: passwd | password | passphrase | secret | api[_-]?key | access[_-]?key | private[_-]?key
        | auth[_-]?token | access[_-]?token | client[_-]?secret | credentials? )
      ["']? )
    ( \s{0,5} (?: => | := | [:=] ) \s{0,5} )
    (?: "([^"\n]{6,500})" | '([^'\n]{6,500})' | ([^\s"',;)}\]]{6,500}) )
"""
_HARMLESS = r"(?i)\$.*|<.*|\{.*|\[secret.*|os\..*|env.*|none|null|true|false"  # a placeholder, not a value
_WORD = r"[A-Za-z]{1,12}"


def hide_secrets(text: str) -> str:
    """Return the text with `[secret]` in place of keys, tokens and passwords."""
    text = re.sub(_KEY_BLOCK, HIDDEN, text)
    text = re.sub(_SHAPES, HIDDEN, text)
    text = re.sub(_BEARER, rf"\1{HIDDEN}", text)
    text = re.sub(_URL, rf"\1{HIDDEN}", text)
    return re.sub(_NAMED, _without_value, text)


def _without_value(found: re.Match[str]) -> str:
    name, between, quoted, also_quoted, bare = found.groups()
    value = quoted or also_quoted or bare
    if re.fullmatch(_HARMLESS, value):
        return found[0]
    # `password: required` is a sentence or a type; `PASSWORD=required` is not.
    if bare and between != "=" and re.fullmatch(_WORD, bare):
        return found[0]
    return f"{name}{between}{HIDDEN}"


# ---------------------------------------------------------------------------- local


MAX_LIMIT = 20
MAX_QUERY_CHARS = 2_000
PAGE_RECORDS = 200
FEW_PASSAGES = 64
MAX_ROOTS = 1_000  # folders whose project is cached
CATCH_UP_S = 3.0
DELAY_S = 1.0
"""The delay before indexing: a process that ends right after a run does not start it in vain."""
IDLE_S = 300.0
"""The embedder releases its resources after this long without use."""

OnProgress = Callable[[Literal["sessions", "vectors"], int, int], None]
"""Called with the phase, the number done and the total."""


class MemoryStats(Struct, frozen=True):
    """What memory holds, and what is not indexed yet."""

    passages: int
    sessions: int
    projects: tuple[ProjectStats, ...]
    size_bytes: int
    embedder: str
    """The embedder's id; empty if only keywords are searched."""
    left_sessions: int
    """Stored sessions that have changed since they were indexed."""
    left_vectors: int
    """Passages that have no vector yet."""
    notices: tuple[str, ...]


def _ignore_progress(phase: str, done: int, whole: int) -> None:
    """Ignore progress."""


class LocalMemory:
    """Semantic recall over the sessions of a store."""

    def __init__(
        self,
        folder: Path,
        store: Store,
        clock: Clock,
        *,
        root_of: Callable[[str], str],
        mask: Callable[[str], str],
        open_embedder: "Callable[[], Embedder | None]",
        min_score: float = 0.35,
        exact_up_to: int = 20_000,
        catch_up_s: float = CATCH_UP_S,
        delay_s: float = DELAY_S,
        idle_s: float = IDLE_S,
    ) -> None:
        """Create with the folder of its file and a store, which the caller still owns.

        `root_of` returns the project of a working directory and may block; `mask` hides known secrets.
        `open_embedder` is called in a thread when vectors are first needed.
        """
        self._store = store
        self._root_of = root_of
        self._min_score = min_score
        self._catch_up_s = catch_up_s
        self._delay_s = delay_s
        self._idle_s = idle_s
        self._worker = Worker()
        self._storage = MemoryStorage(
            folder, clock, lambda text: hide_secrets(mask(text)), exact_up_to=exact_up_to
        )
        self._embedding = ActiveEmbedder(open_embedder, self._storage, self._worker, clock)
        self._roots: dict[str, str] = {}
        self._noted: dict[SessionId, str] = {}
        self._taking = asyncio.Lock()  # invariant: one task at a time indexes sessions
        self._woken = asyncio.Event()
        self._rests = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    # ------------------------------------------------------------------ the Memory port

    async def search(
        self, query: str, *, cwd: str, limit: int = 5, session: SessionId | None = None
    ) -> list[MemoryHit]:
        """Return this project's passages that match best, best first; raises BridleError.

        Leave out what `session`, which searches, has said since its run or its last compaction started.
        """
        text = "".join(c if c.isprintable() else " " for c in query[:MAX_QUERY_CHARS]).strip()
        if limit <= 0 or not text:
            return []
        root = await self._root(cwd)
        is_idle = self._task is None or self._task.done()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._catch_up_s):
                is_idle |= await self._catch_up(root)
        if is_idle or self._noted:
            self._wake()  # for the rest
        project = await self._worker.run(self._storage.project, root)
        embedder, vector = await self._embedding.embed_query(project.id, text)
        question = Query(
            text=text,
            project=project.id,
            limit=min(limit, MAX_LIMIT),
            min_score=self._min_score,
            session=session,
            embedder=embedder,
            vector=vector,
        )
        return await self._worker.run(self._storage.search, question)

    def note(self, session: SessionId, cwd: str) -> None:
        """Index a session that has grown, soon and in the background."""
        self._noted[session] = cwd
        self._wake()

    async def forget(self, session: SessionId) -> None:
        """Remove a session from memory."""
        await self.forget_all([session])

    async def aclose(self) -> None:
        """Stop indexing; the rest is indexed another time."""
        self._is_closed = True
        try:
            if self._task is not None:
                self._task.cancel()
                await asyncio.wait([self._task])
            await self._embedding.aclose()
        finally:
            await self._worker.aclose(self._storage.close)

    # ------------------------------------------------------------------ commands for the user

    @property
    def notices(self) -> tuple[str, ...]:
        """Messages for the user."""
        return tuple(self._storage.notices)

    async def settled(self) -> None:
        """Wait until every noted session is indexed or has failed."""
        if self._task is not None:
            await self._rests.wait()

    async def forget_all(self, sessions: Sequence[SessionId]) -> None:
        """Remove sessions; their current content stays forgotten, even after a rebuild."""
        async with self._taking:
            upto = {}
            for session in sessions:
                self._noted.pop(session, None)
                newest = await self._store.read(session, limit=1, newest=True)
                upto[session] = newest[-1].seq if newest else 0
            await self._worker.run(self._storage.forget, upto)

    async def sessions(self, cwd: str | None = None) -> list[SessionId]:
        """Return the stored or indexed sessions, of one project or all."""
        known = await self._worker.run(self._storage.roots)
        known |= {session: root for session, (root, _) in (await self._stored()).items()}
        root = None if cwd is None else await self._root(cwd)
        return [session for session, at in known.items() if root is None or at == root]

    async def rebuild(self, on_progress: OnProgress = _ignore_progress) -> None:
        """Drop everything and index it again; raises BridleError. An interrupted one continues by itself."""
        async with self._taking:
            await self._worker.run(self._storage.reset)
        await self.catch_up(on_progress)

    async def catch_up(self, on_progress: OnProgress = _ignore_progress) -> None:
        """Index everything that is missing, with vectors and index files; raises BridleError."""
        async with self._taking:
            changed = await self._changed()
            for done, (session, root) in enumerate(changed.items()):
                on_progress("sessions", done, len(changed))
                await self._take_in(session, root)
        whole, done = await self._worker.run(self._storage.pending_count), 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            on_progress("vectors", done, whole)

        for project in await self._worker.run(self._storage.pending_projects):
            await self._embedding.embed_missing(project, count)
        await self._build_indexes()

    async def stats(self) -> MemoryStats:
        """Return what memory holds and what is missing; raises BridleError."""
        held = await self._worker.run(self._storage.stats)
        embedder = await self._embedding.embedder()
        left = await self._changed()
        return MemoryStats(
            passages=sum(project.passages for project in held.projects),
            sessions=sum(project.sessions for project in held.projects),
            projects=tuple(project for project in held.projects if project.sessions or project.passages),
            size_bytes=held.size_bytes,
            embedder=embedder.id if embedder else "",
            left_sessions=len(left),
            left_vectors=held.pending if embedder else 0,
            notices=self.notices,
        )

    # ------------------------------------------------------------------ indexing

    async def _catch_up(self, root: str) -> bool:
        """Index the changed sessions of a project; return whether there were any."""
        changed = {session: at for session, at in (await self._changed()).items() if at == root}
        self._noted |= changed  # what is not done in time continues in the background
        async with self._taking:
            for session in changed:
                await self._take_in(session, root)
                self._noted.pop(session, None)
        project = await self._worker.run(self._storage.project, root)
        left = await self._worker.run(self._storage.pending, project.id, FEW_PASSAGES)
        if len(left) < FEW_PASSAGES or not self._embedding.is_busy:  # otherwise slow, and already running
            with suppress(BridleError):  # already reported; keywords find passages without vectors
                await self._embedding.embed_missing(project.id)
        return bool(changed)

    async def _changed(self) -> dict[SessionId, str]:
        """Return the sessions that changed since they were indexed, newest first, each with its project."""
        known = await self._worker.run(self._storage.seqs)
        stored = await self._stored()
        return {session: root for session, (root, seq) in stored.items() if seq != known.get(session, 0)}

    async def _stored(self) -> dict[SessionId, tuple[str, int]]:
        summaries = await self._store.list(archived=True)
        return {summary.id: (await self._root(summary.cwd), summary.last_seq) for summary in summaries}

    async def _take_in(self, session: SessionId, root: str) -> None:
        """Index a session's new records; all of it again if it was rewound."""
        while True:
            before = await self._worker.run(self._storage.cursor, session)
            records = await self._store.read(session, after=max(before.seq - 1, 0), limit=PAGE_RECORDS)
            new = records[1:] if before.seq else records
            if (before.seq and not _continues(records, before.seq, before.hash)) or any(map(_goes_back, new)):
                records = await self._store.read(session)
                await self._worker.run(self._storage.take_whole, session, root, records)
                return
            if not new:
                return
            await self._worker.run(self._storage.take_in, session, root, before, new)

    async def _build_indexes(self) -> None:
        for project in await self._worker.run(self._storage.unindexed):
            build = await self._worker.run(self._storage.begin_index, project)
            if build is not None:
                while await self._worker.run(self._storage.grow_index, build):
                    pass
                await self._worker.run(self._storage.save_index, build)

    async def _root(self, cwd: str) -> str:
        root = self._roots.get(cwd)
        if root is None:
            root = await self._worker.run(self._root_of, cwd)
            if len(self._roots) >= MAX_ROOTS:  # the worktrees of sub-agents come and go
                self._roots.clear()
            self._roots[cwd] = root
        return root

    # ------------------------------------------------------------------ in the background

    def _wake(self) -> None:
        if self._is_closed:
            return
        self._woken.set()
        self._rests.clear()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        """Index whenever there is something to do; when idle for long, release the embedder and end."""
        while self._woken.is_set():
            await asyncio.sleep(self._delay_s)
            self._woken.clear()
            try:
                await self._work_off()
            except BridleError as error:
                self._storage.tell(str(error))  # the next wake retries
            if not self._woken.is_set():
                self._rests.set()
            await self._rest()

    async def _rest(self) -> None:
        """Wait for more to do, or until the embedder has been idle for long."""
        while (
            not self._woken.is_set() and (left_s := self._embedding.used_at_s + self._idle_s - _now_s()) > 0
        ):
            with suppress(TimeoutError):
                async with asyncio.timeout(left_s):
                    await self._woken.wait()
        if not self._woken.is_set():
            await self._embedding.aclose()

    async def _work_off(self) -> None:
        while self._noted:
            session, cwd = self._noted.popitem()
            async with self._taking:
                await self._take_in(session, await self._root(cwd))
        for project in await self._worker.run(self._storage.pending_projects):
            await self._embedding.embed_missing(project)
        await self._build_indexes()
        await self._worker.run(self._storage.rest)


def _now_s() -> float:
    return asyncio.get_running_loop().time()


def _continues(records: Sequence[Record], seq: int, expected_hash: str) -> bool:
    """Return whether the store still has the record that was indexed last."""
    return bool(records) and (records[0].seq, records[0].hash) == (seq, expected_hash)


def _goes_back(record: Record) -> bool:
    return isinstance(record.event, Rewound) and record.event.scope != "files"
