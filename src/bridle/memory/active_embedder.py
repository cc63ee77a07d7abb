"""The embedder in use: opened on first use, and paused for a while after a failure."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from bridle.core.errors import BridleError, StoreError
from bridle.core.ports import Clock
from bridle.memory.storage import MemoryStorage, has_numpy
from bridle.memory.tables import Calibration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bridle.memory.embedders import Embedder


# ---------------------------------------------------------------------------- calibration
# Calibrates an embedder: measures how similar it rates unrelated texts, which its scores are read against.
#
# Some embedders give unrelated texts a cosine of 0, others of 0.7. A dozen short texts on different subjects
# are compared with each other, once for each embedder.


MIN_SPREAD = 0.02

UNRELATED = (
    "The parser skips comments before it reads a token.",
    "She watered the tomatoes on the balcony every evening.",
    "Interest rates were raised by a quarter of a point.",
    "Deploy the release branch to the staging cluster on Friday.",
    "The violin needs new strings before the concert.",
    "A glacier carved this valley thousands of years ago.",
    "Passwords are hashed with a salt and never stored.",
    "Knead the dough until it no longer sticks to the bowl.",
    "The goalkeeper was injured in the second half.",
    "Your appointment with the dentist is at nine.",
    "The query planner ignores the index on that column.",
    "Two whales were seen near the lighthouse.",
    "Please keep the answers short and in German.",
    "The museum shows paintings from the seventeenth century.",
)


async def calibrate(embedder: "Embedder") -> Calibration:
    """Measure how an embedder rates unrelated texts; raises BridleError if it fails."""
    rows = await embedder.embed(UNRELATED)
    pairs = [float(rows[i] @ rows[j]) for i in range(len(rows)) for j in range(i)]
    mean = sum(pairs) / len(pairs)
    spread = (sum((value - mean) ** 2 for value in pairs) / len(pairs)) ** 0.5
    return Calibration(mean, max(spread, MIN_SPREAD))


# ---------------------------------------------------------------------------- worker
# The single thread that owns memory's file.


P = ParamSpec("P")
T = TypeVar("T")


class Worker:
    """Runs blocking functions in one thread, one after the other."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="bridle-memory")
        self._is_closed = False

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function and return its result; cancelling the wait does not stop the function.

        Raises StoreError after `aclose`.
        """
        if self._is_closed:
            raise StoreError("memory is closed")
        return await asyncio.wrap_future(self._pool.submit(work, *args, **kwargs))

    async def aclose(self, last: Callable[[], None]) -> None:
        """Run a last function after the pending ones, and end the thread."""
        if not self._is_closed:
            self._is_closed = True
            future = self._pool.submit(last)
            self._pool.shutdown(wait=False)
            await asyncio.wrap_future(future)


# ---------------------------------------------------------------------------- active embedder


BATCH_PASSAGES = 16
PAUSE_S = 60.0
QUERY_TIMEOUT_S = 10.0
KEYWORDS_ONLY = (
    "memory uses keyword search only: no embedder is installed (hint: pip install 'bridle-agent[memory]')"
)


class ActiveEmbedder:
    """Computes the vectors of passages and queries."""

    def __init__(
        self,
        open_embedder: "Callable[[], Embedder | None]",
        storage: MemoryStorage,
        worker: Worker,
        clock: Clock,
    ) -> None:
        self._open_embedder = open_embedder
        self._storage = storage
        self._worker = worker
        self._clock = clock
        self._opening = asyncio.Lock()  # invariant: the embedder is opened once
        self._embedder: Embedder | None = None
        self._is_opened = False
        self._paused_until_s = 0.0
        self.used_at_s = 0.0
        """When the embedder was last used, by the event loop's clock."""
        self._at_work = asyncio.Lock()  # invariant: each passage is embedded once

    @property
    def is_busy(self) -> bool:
        """True while vectors are being computed."""
        return self._at_work.locked()

    async def embedder(self) -> "Embedder | None":
        """Return the embedder; None if none is available. Raises ConfigError."""
        async with self._opening:
            if not self._is_opened:
                self._embedder = await self._worker.run(self._open_embedder) if has_numpy() else None
                self._is_opened = True
                if self._embedder is None:
                    self._storage.tell(KEYWORDS_ONLY)
        return self._embedder

    async def embed_missing(self, project: int, on_done: Callable[[int], None] = lambda count: None) -> None:
        """Compute a project's missing vectors, in batches; raises BridleError if the embedder fails."""
        embedder = await self.embedder()
        if embedder is None or self._is_paused():
            return
        if await self._worker.run(self._storage.embedder_of, project) not in ("", embedder.id):
            await self._worker.run(self._storage.use_embedder, project, embedder.id, 0)
        while True:
            async with self._at_work:
                batch = await self._worker.run(self._storage.pending, project, BATCH_PASSAGES)
                if not batch:
                    return
                rows = await self._embed(embedder, [text for _, text in batch])
                ids = [number for number, _ in batch]
                await self._worker.run(self._storage.add_vectors, project, embedder.id, ids, rows)
            on_done(len(batch))

    async def embed_query(self, project: int, text: str) -> "tuple[str, NDArray[np.float32] | None]":
        """Return the embedder's id and the query's vector.

        The vector is None if the project has no vectors of this embedder, or if the embedder fails.
        """
        embedder = await self.embedder()
        if embedder is None or self._is_paused():
            return "", None
        if await self._worker.run(self._storage.embedder_of, project) != embedder.id:
            return embedder.id, None
        try:
            async with asyncio.timeout(QUERY_TIMEOUT_S):
                return embedder.id, (await self._embed(embedder, [text]))[0]
        except (BridleError, TimeoutError):
            return embedder.id, None

    async def aclose(self) -> None:
        """Release the embedder's resources; they are loaded again when needed."""
        if self._embedder is not None:
            await self._embedder.aclose()

    def _is_paused(self) -> bool:
        return self._clock.monotonic_s() < self._paused_until_s

    async def _embed(self, embedder: "Embedder", texts: Sequence[str]) -> "NDArray[np.float32]":
        self.used_at_s = asyncio.get_running_loop().time()
        try:
            if await self._worker.run(self._storage.calibration, embedder.id) is None:
                judged = await calibrate(embedder)
                await self._worker.run(self._storage.put_calibration, embedder.id, judged)
            return await embedder.embed(texts)
        except BridleError as error:
            self._paused_until_s = self._clock.monotonic_s() + PAUSE_S
            self._storage.tell(f"{error.message}; until then memory uses keyword search")
            raise
