"""Bridle and nine agent frameworks: the same server, prompts, tools and answers, in the same rounds.

Each framework has a separate environment (`peers_setup.py`) and one small file (`frameworks/`) that sets it
up; `peers_child.py` measures inside it. Bridle always streams, and stores every step in SQLite. A framework
that takes long for a row is measured fewer times; each figure has its number of rounds.
"""

import importlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import peers_child
from children import child_env, serving
from measure import PYTHON, report, rounds
from peers_play import CALL_S, CALLS, DELTAS, MESSAGES, SESSIONS, SHORT_TURNS, TURNS, final, script
from peers_request import TIMEOUT_S, until_request
from peers_setup import environment, version
from rows import US, Figure, Line, Row, cannot, figure

PEERS = (
    "pydantic_ai",
    "langgraph",
    "openai_agents",
    "smolagents",
    "google_adk",
    "strands",
    "agno",
    "llm",
    "mini_swe_agent",
)
LEAST_PEERS = 2
ROUNDS = 3
PATIENCE_S = 15.0  # a framework that needs longer for a row is not measured again
MAX_ROW_S = 600.0
MAX_WHY = 100
FIRST = 1.0  # the bar of every row


@dataclass
class Entrant:
    """A framework in the comparison."""

    name: str
    """The name of its file."""
    peer: ModuleType
    python: str
    version: str
    samples: dict[str, list[float]] = field(default_factory=dict)
    """Samples by row and quantity."""
    failed: dict[str, str] = field(default_factory=dict)
    """Rows that it cannot do, with the reason."""
    spent_s: dict[str, float] = field(default_factory=dict)

    def argv(self, row: str, *rest: str) -> list[str]:
        """Return the command that measures a row."""
        return [self.python, peers_child.__file__, self.name, row, *rest]

    def add(self, **found: float | list[float]) -> None:
        """Add samples."""
        for what, values in found.items():
            self.samples.setdefault(what, []).extend(values if isinstance(values, list) else [values])

    def figure(self, row: str, what: str, scale: float) -> Figure:
        """Return the figure, or the reason why there is none."""
        name = US if self.name == "ours" else self.peer.NAME
        if not self.samples.get(what):
            return cannot(name, self.failed.get(row, "its run failed"), version=self.version)
        how = self.peer.STORE if row == "resume" else self.peer.BEST
        return figure(name, self.samples[what], scale=scale, version=self.version, how=how)


def main() -> list[Line]:
    """Measure every row; the bar is to be the first in it."""
    entrants = [found for name in ("ours", *PEERS) if (found := _entrant(name))]
    if len(entrants) <= LEAST_PEERS:
        raise SystemExit(f"peers: only {len(entrants) - 1} could be installed, {LEAST_PEERS} are needed")
    with tempfile.TemporaryDirectory() as folder:
        places = Path(folder)
        _in_rounds("cold", entrants, lambda one: _cold(one, places))
        for row in ("turns", "deltas", "parallel", "many"):
            _in_rounds(row, entrants, lambda one, row=row: _inside(one, row, places))
        _save(entrants, places)
        _in_rounds("resume", entrants, lambda one: _resume(one, places))
    return report(_rows(entrants))


def _entrant(name: str) -> Entrant | None:
    peer = importlib.import_module(f"frameworks.{name}")
    python = PYTHON if name == "ours" else environment(name.replace("_", "-"), peer.PACKAGES)
    if python is None:
        return None
    found = Entrant(name, peer, python, version(python, peer.PACKAGES[0]))
    found.failed |= getattr(peer, "CANNOT", {})
    print(f"{peer.NAME} {found.version}: {peer.BEST}", flush=True)
    return found


def _in_rounds(row: str, entrants: Sequence[Entrant], measure: Callable[[Entrant], None]) -> None:
    """Measure a row of all frameworks in turn, so that noise affects all equally."""
    for _ in range(rounds(ROUNDS)):
        for one in entrants:
            if row in one.failed or one.spent_s.get(row, 0.0) > PATIENCE_S:
                continue
            began = time.monotonic()
            try:
                measure(one)
            except (OSError, subprocess.SubprocessError, AssertionError) as error:
                one.failed[row] = f"its run failed: {_why(error)}"
                print(f"{one.peer.NAME} is skipped in {row}: {one.failed[row]}", flush=True)
            one.spent_s[row] = max(one.spent_s.get(row, 0.0), time.monotonic() - began)


def _why(error: Exception) -> str:
    """Return the last line of a failed program's output, or its error."""
    written = str(getattr(error, "stderr", None) or error).strip()
    return written.rpartition("\n")[2][:MAX_WHY]


# ---------------------------------------------------------------------------- the rows


def _cold(one: Entrant, places: Path) -> None:
    with _listening() as (server, url):
        sent = until_request(server, one.argv("cold", url), _env(one, places), final(one.peer))
    one.add(cold_cpu=sent.cpu_s, cold_wall=sent.wall_s, idle=sent.printed)


def _inside(one: Entrant, row: str, places: Path) -> None:
    with serving(script(one.peer, row)) as url:
        done = subprocess.run(
            one.argv(row, url),
            env=_env(one, places),
            check=True,
            capture_output=True,
            text=True,
            timeout=MAX_ROW_S,
        )
    found = [float(word) for word in done.stdout.split()]
    if row == "many":
        one.add(many_wall=found[0], many_cpu=found[1], many_peak=found[2])
    else:
        one.add(**{row: found})


def _save(entrants: Sequence[Entrant], places: Path) -> None:
    for one in entrants:
        (places / one.name).mkdir()
        try:
            subprocess.run(
                one.argv("save", str(places / one.name)),
                env=_env(one, places),
                check=True,
                capture_output=True,
                text=True,
                timeout=MAX_ROW_S,
            )
        except subprocess.SubprocessError as error:
            one.failed["resume"] = f"its history could not be written: {_why(error)}"
            print(f"{one.peer.NAME} is skipped in resume: {one.failed['resume']}", flush=True)


def _resume(one: Entrant, places: Path) -> None:
    with _listening() as (server, url):
        argv = one.argv("resume", url, str(places / one.name))
        sent = until_request(server, argv, _env(one, places), final(one.peer))
    assert sent.messages > MESSAGES, f"its request holds {sent.messages} messages"
    one.add(resume_cpu=sent.cpu_s, resume_wall=sent.wall_s)


@contextmanager
def _listening() -> Iterator[tuple[socket.socket, str]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT_S)
        yield server, f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def _env(one: Entrant, places: Path) -> dict[str, str]:
    """Return an environment in which a framework finds no settings and leaves no files behind."""
    home = places / "home"
    home.mkdir(exist_ok=True)
    clean = {key: value for key, value in child_env().items() if not key.startswith(("BRIDLE_", "XDG_"))}
    own = {"HOME": str(home), "TMPDIR": str(home), "PATH": os.environ.get("PATH", "")}
    return clean | own | getattr(one.peer, "ENVIRON", {})


def _rows(entrants: Sequence[Entrant]) -> list[Line]:
    """Return the table rows of all measurements."""
    each_delta = 1e3 / DELTAS * 1e3
    made = [
        ("cold", "cold_cpu", "process start until the first request", "ms CPU", 1e3),
        ("cold", "cold_wall", "process start until the first request, time", "ms", 1e3),
        ("turns", "turns", f"a turn with a tool, {TURNS} in a run", "ms CPU", 1e3 / TURNS),
        ("deltas", "deltas", f"1,000 fragments of an answer of {DELTAS:,}", "ms CPU", each_delta),
        ("parallel", "parallel", f"{CALLS} calls of {CALL_S * 1e3:.0f} ms in one turn", "ms", 1e3),
        ("many", "many_cpu", f"{SESSIONS} sessions of {SHORT_TURNS} turns at once", "s CPU", 1.0),
        ("many", "many_wall", f"{SESSIONS} sessions of {SHORT_TURNS} turns at once, time", "s", 1.0),
        ("many", "many_peak", f"{SESSIONS} sessions of {SHORT_TURNS} turns at once, peak", "MB", 1e-6),
        ("resume", "resume_cpu", f"process start until {MESSAGES:,} kept messages are sent", "ms CPU", 1e3),
        (
            "resume",
            "resume_wall",
            f"process start until {MESSAGES:,} kept messages are sent, time",
            "ms",
            1e3,
        ),
        ("cold", "idle", "memory at rest after one run", "MB", 1e-6),
    ]
    ours, *others = entrants
    return [
        Row(
            f"peers.{what}",
            name,
            unit,
            ours.figure(row, what, scale),
            tuple(one.figure(row, what, scale) for one in others),
            FIRST,
        )
        for row, what, name, unit, scale in made
    ]


if __name__ == "__main__":
    main()
