"""Fuzzing: try inputs, keep those that reach new code in a parser, report those that break it."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from msgspec import Struct, json

from tests.fuzz.edges import Edge, edges_of
from tests.fuzz.mutation import Mutator
from tests.fuzz.target import MAX_CPU_S, Target

CORPUS = Path(__file__).parent / "corpus"
HANG_S = 20.0
SHRINK_TRIES = 200
MAX_SHOWN = 300


class TooSlow(Exception):
    """An input took more time than any input of its length should."""


class Input(Struct, frozen=True, omit_defaults=True):
    """One line of a corpus file: UTF-8 as text, all other bytes as Base64."""

    text: str | None = None
    base64: bytes | None = None
    seed: bool = False
    """Added by a person: distilling keeps it."""

    @property
    def data(self) -> bytes:
        return self.base64 if self.text is None else self.text.encode()


class Crash(Struct, frozen=True):
    """An input that breaks a parser."""

    data: bytes
    error: Exception

    def __str__(self) -> str:
        shown = self.data if len(self.data) <= MAX_SHOWN else self.data[:MAX_SHOWN] + b"..."
        what = f"{type(self.error).__name__}: {self.error}"[:MAX_SHOWN]
        return f"{what}\n  input ({len(self.data)} bytes): {shown!r}"


class Hunt(Struct):
    """The result of a hunt."""

    tried: int = 0
    edges: int = 0
    found: int = 0
    """How many inputs reached new code and were kept."""
    slowest_s: float = 0.0
    crashes: list[Crash] = []


# ---------------------------------------------------------------------------- the corpus


def inputs_of(name: str, folder: Path = CORPUS) -> list[Input]:
    """Read the corpus file of a target, in the order of its lines."""
    file = folder / f"{name}.jsonl"
    return [json.decode(line, type=Input) for line in file.read_bytes().splitlines()] if file.exists() else []


def corpus_of(name: str, folder: Path = CORPUS) -> list[bytes]:
    """Return the bytes of every input in the corpus of a target."""
    return [kept.data for kept in inputs_of(name, folder)]


def keep(name: str, data: bytes, folder: Path = CORPUS) -> Path:
    """Add an input to the corpus file of a target, unless the file has it."""
    inputs = inputs_of(name, folder)
    if data not in [kept.data for kept in inputs]:
        inputs.append(input_of(data))
    return write_inputs(name, inputs, folder)


def input_of(data: bytes, seed: bool = False) -> Input:
    """Make the line for some bytes: readable if they are UTF-8."""
    try:
        return Input(text=data.decode(), seed=seed)
    except UnicodeDecodeError:
        return Input(base64=data, seed=seed)


def write_inputs(name: str, inputs: Sequence[Input], folder: Path = CORPUS) -> Path:
    """Write the corpus file of a target."""
    file = folder / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(json.encode(kept) + b"\n" for kept in inputs))
    return file


# ---------------------------------------------------------------------------- trying


def attempt(target: Target, data: bytes, max_cpu_s: float = MAX_CPU_S) -> Crash | None:
    """Feed one input; return the crash, if any."""
    begun = time.thread_time()
    try:
        target.run(data)
    except Exception as error:  # noqa: BLE001  any exception is a finding
        return Crash(data, error)
    taken_s = time.thread_time() - begun
    if taken_s > max_cpu_s:
        return Crash(data, TooSlow(f"{len(data)} bytes took {taken_s:.1f} s"))
    return None


def replay(target: Target, mutations: int, seed: int = 0, folder: Path = CORPUS) -> list[Crash]:
    """Feed the whole corpus and `mutations` changed inputs; return the crashes."""
    known = corpus_of(target.name, folder)
    mutator = Mutator(target, seed)
    made = (mutator.mutated(known) for _ in range(mutations))
    return [crash for data in (*known, *made) if (crash := attempt(target, data)) is not None]


def hunt(
    target: Target, *, seed: int, seconds: float = 600.0, tries: int = 1_000_000_000, folder: Path = CORPUS
) -> Hunt:
    """Search for inputs that reach new code, for a time or a number of tries; shrink and keep them."""
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
        except Exception as error:  # noqa: BLE001  any exception is a finding
            if _is_new(error, kinds):
                report.crashes.append(Crash(_smaller_crash(target, data, error), error))
            return set()
        taken_s = time.thread_time() - begun
        if taken_s > MAX_CPU_S:  # tracing costs more than the parser itself: measure again without it
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
    """Remove pieces of an input while `still` holds for the rest."""
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
    """Return a few of the inputs, small ones first, that reach all the code that all of them reach."""
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
    """Identify a finding by its type and the line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    return f"{type(error).__name__}@{line}"


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise TooSlow if the block uses too much CPU time; main thread only."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"not finished after {seconds:.0f} s")

    before = signal.signal(signal.SIGVTALRM, ring)  # CPU time: other processes may keep the machine busy
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
