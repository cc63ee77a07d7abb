"""The hunt: try inputs, keep those that find new ways through a parser, report those that break it."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from types import FrameType

from msgspec import Struct

from tests.fuzz.edges import Edge, edges_of
from tests.fuzz.mutation import Mutator
from tests.fuzz.target import MAX_CPU_S, Target

CORPUS = Path(__file__).parent / "corpus"
HANG_S = 20.0
SHRINK_TRIES = 200
MAX_SHOWN = 300


class TooSlow(Exception):
    """An input has taken more time than any of its length should."""


class Crash(Struct, frozen=True):
    """An input that a parser does not stand."""

    data: bytes
    error: Exception

    def __str__(self) -> str:
        shown = self.data if len(self.data) <= MAX_SHOWN else self.data[:MAX_SHOWN] + b"..."
        what = f"{type(self.error).__name__}: {self.error}"[:MAX_SHOWN]
        return f"{what}\n  input ({len(self.data)} bytes): {shown!r}"


class Hunt(Struct):
    """What a hunt has come to."""

    tried: int = 0
    edges: int = 0
    found: int = 0
    """How many inputs were new and are kept now."""
    slowest_s: float = 0.0
    crashes: list[Crash] = []


# ---------------------------------------------------------------------------- the corpus


def corpus_of(name: str, folder: Path = CORPUS) -> list[bytes]:
    """Return the inputs that are kept under a name, in a fixed order."""
    return [file.read_bytes() for file in sorted((folder / name).glob("*"))]


def keep(name: str, data: bytes, folder: Path = CORPUS) -> Path:
    """Write an input to the corpus, into a file whose name its bytes give."""
    file = folder / name / sha256(data).hexdigest()[:16]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


# ---------------------------------------------------------------------------- trying


def attempt(target: Target, data: bytes, max_cpu_s: float = MAX_CPU_S) -> Crash | None:
    """Feed one input; return how it went wrong."""
    begun = time.thread_time()
    try:
        target.run(data)
    except Exception as error:  # noqa: BLE001  whatever it is, it is a finding
        return Crash(data, error)
    taken_s = time.thread_time() - begun
    if taken_s > max_cpu_s:
        return Crash(data, TooSlow(f"{len(data)} bytes took {taken_s:.1f} s"))
    return None


def replay(target: Target, mutations: int, seed: int = 0, folder: Path = CORPUS) -> list[Crash]:
    """Feed the whole corpus and so many changed inputs; return what went wrong."""
    known = corpus_of(target.name, folder)
    mutator = Mutator(target, seed)
    made = (mutator.mutated(known) for _ in range(mutations))
    return [crash for data in (*known, *made) if (crash := attempt(target, data)) is not None]


def hunt(
    target: Target, *, seed: int, seconds: float = 600.0, tries: int = 1_000_000_000, folder: Path = CORPUS
) -> Hunt:
    """Look for new ways through a target for some time or tries; new inputs are made small and kept."""
    report = Hunt()
    files = target.files()
    mutator = Mutator(target, seed)
    seen: set[Edge] = set()
    known: list[bytes] = []
    kinds: set[str] = set()
    end = time.monotonic() + seconds

    def look(data: bytes) -> set[Edge]:
        report.tried += 1
        begun = time.thread_time()
        edges: set[Edge] = set()
        try:
            with alarm(HANG_S):
                edges = edges_of(files, lambda: target.run(data))
        except Exception as error:  # noqa: BLE001  whatever it is, it is a finding
            if _is_new(error, kinds):
                report.crashes.append(Crash(_smaller_crash(target, data, error), error))
            return set()
        taken_s = time.thread_time() - begun
        if taken_s > MAX_CPU_S:  # watching costs more than the work itself
            crash = attempt(target, data)
            if crash is not None and _is_new(crash.error, kinds):
                report.crashes.append(crash)
        report.slowest_s = max(report.slowest_s, taken_s)
        return edges

    for data in corpus_of(target.name, folder):
        seen |= look(data)
        known.append(data)
    while time.monotonic() < end and report.tried < tries:
        data = mutator.mutated(known)
        new = look(data) - seen
        if new:
            small = shrunk(data, lambda tried, new=new: new <= look(tried), end)
            seen |= new | look(small)
            known.append(small)
            keep(target.name, small, folder)
            report.found += 1
    report.edges = len(seen)
    return report


def shrunk(data: bytes, still: Callable[[bytes], bool], end: float) -> bytes:
    """Take pieces away as long as what makes the input worth keeping still holds."""
    size, tries = max(1, len(data) // 2), SHRINK_TRIES
    while size and tries:
        at = 0
        while at < len(data) and tries and time.monotonic() < end:
            tries -= 1
            without = data[:at] + data[at + size :]
            if still(without):
                data = without
            else:
                at += size
        if time.monotonic() >= end:
            break
        size //= 2
    return data


def distilled(target: Target, inputs: Sequence[bytes]) -> list[bytes]:
    """Return few of the inputs, small ones first, that together find all that all of them find."""
    seen: set[Edge] = set()
    kept = []
    for data in sorted(set(inputs), key=lambda data: (len(data), data)):
        with suppress(Exception):
            edges = edges_of(target.files(), lambda data=data: target.run(data))
            if edges - seen:
                seen |= edges
                kept.append(data)
    return kept


def _smaller_crash(target: Target, data: bytes, error: Exception) -> bytes:
    if isinstance(error, TooSlow):
        return data
    where = _where(error)

    def still(tried: bytes) -> bool:
        crash = attempt(target, tried)
        return crash is not None and _where(crash.error) == where

    return shrunk(data, still, time.monotonic() + HANG_S)


def _is_new(error: Exception, kinds: set[str]) -> bool:
    where = _where(error)
    if where in kinds:
        return False
    kinds.add(where)
    return True


def _where(error: Exception) -> str:
    """Tell one finding from another: its type and the line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    return f"{type(error).__name__}@{line}"


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise TooSlow in what never comes to an end; for the main thread."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"no end after {seconds:.0f} s")

    before = signal.signal(signal.SIGVTALRM, ring)  # of time on the processor: others may use it, too
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
