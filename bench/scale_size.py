"""Machines for 10,000, 100,000 and a million sessions, computed from the results of the other benches.

Nothing is started: `Measured` has the results of `scale_turns`, `scale_watch`, `scale_waiting` and
`scale_many`, `Assumed` has assumptions about users, and `needs` computes the rest. It prints the table of
docs/scale.md. Adapt the assumptions to your own users and run it again.
"""

import math

from msgspec import Struct
from rows import Line


class Measured(Struct, frozen=True):
    """Cost of a turn, a run and a node, on one 2-core virtual machine."""

    worker_turn_s: float = 0.0114
    gateway_turn_s: float = 0.0010
    postgres_turn_s: float = 0.0024
    """CPU, with two engine steps and one tool call in a turn."""
    worker_run_s: float = 0.018
    gateway_run_s: float = 0.009
    postgres_run_s: float = 0.011
    """CPU of a run in addition to its turns: the assignment, its claim, its settings."""
    worker_fragment_s: float = 0.0002
    gateway_fragment_s: float = 0.00012
    """CPU for each streamed fragment with a watcher."""
    worker_idle: float = 0.045
    gateway_idle: float = 0.004
    postgres_idle: float = 0.006
    """Cores of an idle node, and of PostgreSQL for each node."""
    worker_connections: int = 33
    gateway_connections: int = 16
    """After load, with `store.pool = 8`."""
    worker_mb: float = 115.0
    """Resident memory of a worker that has run thousands of sessions, 64 at once."""
    session_bytes: float = 611.0
    """The row of a session with its indexes."""
    turn_bytes: float = 3_700.0
    """The records of a turn with their indexes, a short tool output in each."""
    engine_turn_bytes: float = 1_900.0
    """The engine's account of a turn, kept for `days_of_legs`."""
    wal_turn_bytes: float = 8_750.0
    flushes_turn: float = 4.0
    transactions_turn: float = 14.8
    """PostgreSQL's flushes per turn in runs of 10 turns; a flush of several commits counts once."""


class Assumed(Struct, frozen=True):
    """Assumptions about users and about the use of machines."""

    active: float = 0.05
    """The share of sessions that are active on a day."""
    runs_per_day: float = 10.0
    """For each active session."""
    turns_per_run: float = 10.0
    turn_s: float = 8.0
    """Duration of a model's answer and its tools."""
    fragments_per_turn: float = 100.0
    watched: float = 1.0
    """The share of runs with a live watcher."""
    peak: float = 4.0
    """The busiest hour divided by the mean of the day."""
    turns_per_session: float = 50.0
    """Turns of a session over its lifetime that are stored."""
    days_of_legs: float = 7.0
    utilisation: float = 0.5
    """The planned share of a core at the peak."""
    runs_at_once: float = 64.0
    """`scale.runs` of a worker."""


class Need(Struct, frozen=True):
    """The resources that a number of sessions needs at the peak."""

    sessions: int
    runs_at_once: float
    turns_per_s: float
    workers: int
    workers_gb: float
    gateways: int
    postgres_cores: float
    connections: int
    flushes_per_s: float
    wal_mb_per_s: float
    disk_gb: float


def needs(sessions: int, cost: Measured, people: Assumed) -> Need:
    """Compute the resources for a number of sessions; workers and gateways are processes of one core each."""
    runs_per_s = sessions * people.active * people.runs_per_day / 86_400 * people.peak
    turns_per_s = runs_per_s * people.turns_per_run
    fragments = turns_per_s * people.fragments_per_turn * people.watched
    at_once = turns_per_s * people.turn_s
    worker_cores = (
        runs_per_s * cost.worker_run_s + turns_per_s * cost.worker_turn_s + fragments * cost.worker_fragment_s
    )
    gateway_cores = (
        runs_per_s * cost.gateway_run_s
        + turns_per_s * cost.gateway_turn_s
        + fragments * cost.gateway_fragment_s
    )
    workers = max(
        2,
        math.ceil(worker_cores / (people.utilisation - cost.worker_idle)),
        math.ceil(at_once / people.runs_at_once),
    )
    gateways = max(2, math.ceil(gateway_cores / (people.utilisation - cost.gateway_idle)))
    postgres = runs_per_s * cost.postgres_run_s + turns_per_s * cost.postgres_turn_s
    postgres += (workers + gateways) * cost.postgres_idle
    turns_a_day = sessions * people.active * people.runs_per_day * people.turns_per_run
    disk = sessions * (cost.session_bytes + people.turns_per_session * cost.turn_bytes)
    disk += turns_a_day * people.days_of_legs * cost.engine_turn_bytes
    return Need(
        sessions=sessions,
        runs_at_once=at_once,
        turns_per_s=turns_per_s,
        workers=workers,
        workers_gb=workers * cost.worker_mb / 1e3,
        gateways=gateways,
        postgres_cores=postgres / people.utilisation,
        connections=workers * cost.worker_connections + gateways * cost.gateway_connections,
        flushes_per_s=turns_per_s * cost.flushes_turn,
        wal_mb_per_s=turns_per_s * cost.wal_turn_bytes / 1e6,
        disk_gb=disk / 1e9,
    )


ROWS = (
    ("runs at the same time", "runs_at_once", ",.0f"),
    ("turns a second", "turns_per_s", ",.1f"),
    ("workers (of one core)", "workers", ",d"),
    ("GB of memory of all workers", "workers_gb", ",.1f"),
    ("gateways (of one core)", "gateways", ",d"),
    ("PostgreSQL: cores", "postgres_cores", ",.1f"),
    ("PostgreSQL: connections", "connections", ",d"),
    ("PostgreSQL: flushes a second", "flushes_per_s", ",.0f"),
    ("PostgreSQL: MB of WAL a second", "wal_mb_per_s", ",.2f"),
    ("PostgreSQL: GB on disk", "disk_gb", ",.0f"),
)


def main() -> list[Line]:
    """Print the table; it has no bars."""
    found = [needs(sessions, Measured(), Assumed()) for sessions in (10_000, 100_000, 1_000_000)]
    print("| at the peak | " + " | ".join(f"{need.sessions:,} sessions" for need in found) + " |")
    print("|---|" + "---|" * len(found))
    for title, field, form in ROWS:
        print(f"| {title} | " + " | ".join(format(getattr(need, field), form) for need in found) + " |")
    return []


if __name__ == "__main__":
    main()
