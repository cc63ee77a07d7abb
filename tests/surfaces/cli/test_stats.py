import json
import time

import apsw
import pytest
from msgspec import to_builtins

from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolResult, Usage
from bridle.core.ports import Clock
from bridle.core.protocol import (
    ChildEnded,
    ChildStarted,
    CompactionFailed,
    Event,
    HookCompleted,
    ModelReplied,
    ModelSwitched,
    RunEnded,
    RunStarted,
    SessionArchived,
    SessionCreated,
    ToolFinished,
    ToolStarted,
)
from bridle.core.usage import CompactionStats, HookStats, ToolStats, UsageCounts
from bridle.stores.sqlite import SqliteStore
from bridle.surfaces.cli.stats import Stats
from tests.surfaces.command import Bridle, Done

RUN = RunId("run")
DAY_MS = 86_400_000
NOW_MS = int(time.time() * 1000)


class Then:
    """A clock that shows the time it was set to."""

    def __init__(self, at_ms: int) -> None:
        self.at_ms = at_ms

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic_s(self) -> float:
        return self.at_ms / 1000


def spends(tokens: int, cost: float | None = None) -> ModelReplied:
    return ModelReplied(RUN, 1, Message("assistant", (Text("hi"),)), "end_turn", Usage(tokens), cost)


async def record(
    bridle: Bridle, name: str, *events: Event, agent: str = "default", days_ago: int = 0
) -> None:
    clock: Clock = Then(NOW_MS - days_ago * DAY_MS)
    store = SqliteStore(bridle.home / "bridle.db", clock)
    session = SessionId(name)
    await store.append(session, 0, [SessionCreated(session, "/p", agent), RunStarted(RUN, "m/x"), *events])
    await store.aclose()


def read(bridle: Bridle, *args: str) -> dict[str, object]:
    done = bridle("stats", "--json", *args)
    assert (done.code, done.err) == (0, "")
    found: dict[str, object] = json.loads(done.out)
    return found


async def record_two(bridle: Bridle) -> None:
    """Keep a session of today with a price, and one of ten days ago without."""
    call = CallId("call")
    await record(
        bridle,
        "new",
        spends(1000, 0.5),
        ToolStarted(call, "bash", {}),
        ToolFinished(ToolResult(call, "bash", "no", is_error=True), 61_000, 7),
        ToolFinished(ToolResult(call, "edit_file", "denied", is_error=True), 0, 9, denied=True),
        HookCompleted("guard", "turn_boundary", 12),
        CompactionFailed("empty", Usage(5), 0.25),
        spends(500, 0.25),
        RunEnded(RUN, "completed"),
    )
    await record(bridle, "old", spends(2000), RunEnded(RUN, "budget_exhausted"), agent="scout", days_ago=10)


async def test_everybody_is_blamed_in_a_table(bridle: Bridle):
    await record_two(bridle)
    today, then = (time.strftime("%Y-%m-%d", time.localtime(NOW_MS / 1000 - age)) for age in (0, 864_000))

    assert bridle("stats") == Done(
        0,
        "2 sessions · 2 runs · 3 turns · 1 tool call · 3,505 tokens · ≥ $1.00\n"
        "\n"
        "RUNS           COUNT\n"
        "done               1\n"
        "out of budget      1\n"
        "\n"
        "MODEL  TURNS  TOKENS       COST  TIME\n"
        "m/x        3   3,500  ≥ $0.7500     -\n"
        "\n"
        "AGENT    TURNS  TOKENS     COST  TIME\n"
        "default      2   1,505    $1.00     -\n"
        "scout        1   2,000  unknown     -\n"
        "\n"
        "TOOL       CALLS  FAILED  DENIED  TOKENS  TIME\n"
        "bash           1       1       -       7  1m1s\n"
        "edit_file      1       -       1       9     -\n"
        "\n"
        "HOOK   ASKED  DENIED  FAILED   TIME\n"
        "guard      1       -       -  12 ms\n"
        "\n"
        "COMPACTION  MADE  FAILED  TOKENS     COST\n"
        "summaries      -       1       5  $0.2500\n"
        "\n"
        "DAY         TURNS  TOKENS     COST  TIME\n"
        f"{today}      2   1,505    $1.00     -\n"
        f"{then}      1   2,000  unknown     -\n",
        "",
    )


async def test_programs_get_the_numbers(bridle: Bridle):
    await record_two(bridle)
    today = time.strftime("%Y-%m-%d", time.localtime(NOW_MS / 1000))
    mine = UsageCounts(turns=2, tool_calls=1, tokens=1505, cost=1.0)

    found = read(bridle, "new")

    assert found == to_builtins(
        Stats(
            sessions=1,
            runs={"completed": 1},
            total=mine,
            models={"m/x": UsageCounts(turns=2, tokens=1500, cost=0.75)},
            agents={"default": mine},
            tools={
                "bash": ToolStats(calls=1, failed=1, duration_ms=61_000, tokens=7),
                "edit_file": ToolStats(calls=1, denied=1, tokens=9),
            },
            hooks={"guard": HookStats(asked=1, duration_ms=12)},
            compaction=CompactionStats(failed=1, tokens=5, cost=0.25),
            days={today: mine},
        )
    )


async def test_a_time_leaves_out_what_is_older(bridle: Bridle):
    await record_two(bridle)

    assert [read(bridle, "--since", time)["sessions"] for time in ("9d", "11d")] == [1, 2]


async def test_an_archived_session_counts_only_if_asked(bridle: Bridle):
    await record(bridle, "kept", spends(1))
    await record(bridle, "away", spends(2), SessionArchived(archived=True))

    assert [read(bridle, *flags)["sessions"] for flags in ((), ("--all",))] == [1, 2]
    assert read(bridle, "away")["sessions"] == 1


async def test_a_session_is_shown_with_all_below_it_and_nothing_twice(bridle: Bridle):
    child, grandchild, gone = (SessionId(name) for name in ("child", "grandchild", "gone"))
    await record(
        bridle,
        "top",
        spends(100, 0.25),
        ChildStarted(child, "scout", "look"),
        ChildStarted(gone, "lost", "look"),
        ChildEnded(child, "completed", "", 2, 0, Usage(1020), 0.75),
    )
    await record(
        bridle,
        "child",
        spends(20, 0.25),
        ChildStarted(grandchild, "digger", "dig"),
        ChildStarted(SessionId("top"), "a loop", "look"),
        ChildEnded(grandchild, "completed", "", 1, 0, Usage(1000), 0.5),
    )
    await record(bridle, "grandchild", spends(1000, 0.5))
    await record(bridle, "other", spends(5))

    found = read(bridle, "top")

    assert (found["sessions"], found["total"]) == (
        3,
        to_builtins(UsageCounts(turns=3, tokens=1120, cost=1.0)),
    )
    assert found["agents"] == to_builtins(
        {
            "digger": UsageCounts(turns=1, tokens=1000, cost=0.5),
            "default": UsageCounts(turns=1, tokens=100, cost=0.25),
            "scout": UsageCounts(turns=1, tokens=20, cost=0.25),
        }
    )


async def test_a_session_that_cannot_be_read_is_named_and_left_out(bridle: Bridle):
    await record(bridle, "good", spends(5))
    await record(bridle, "bad", spends(7))
    connection = apsw.Connection(str(bridle.home / "bridle.db"))
    connection.execute("UPDATE records SET line = CAST('garbage' AS BLOB) WHERE session = 'bad' AND seq = 2")
    connection.close()

    done = bridle("stats", "--json")

    assert (done.code, json.loads(done.out)["total"]["tokens"]) == (0, 5)
    assert done.err.startswith("warning: session bad is left out: ")


def test_without_sessions_there_is_nothing_to_show(bridle: Bridle):
    assert bridle("stats") == Done(0, "", "")
    assert read(bridle)["sessions"] == 0
    with bridle.terminal("stats") as terminal:
        terminal.finish()
    assert terminal.screen == "no sessions yet\n"


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (
            ["--since", "soon"],
            64,
            '--since: malformed duration "soon"\nhint: write for example 7d, 12h or 30m',
        ),
        (["nope"], 1, 'no session "nope"\nhint: bridle session list --all'),
    ],
)
def test_what_makes_no_sense_is_refused(bridle: Bridle, args: list[str], code: int, message: str):
    assert bridle("stats", *args) == Done(code, "", f"error: {message}\n")


async def test_a_long_table_ends_with_how_much_is_left_out_and_a_long_name_with_its_end(bridle: Bridle):
    path = "folder/" * 10 + "script.json"
    calls = [ToolFinished(ToolResult(CallId("c"), f"tool{n:02}", "x")) for n in range(25)]
    await record(bridle, "long", ModelSwitched(RUN, 1, f"scripted/{path}", "x"), spends(1, 0.0), *calls)

    out = bridle("stats").out

    assert "… 5 more, see --json\n" in out
    [row] = [line for line in out.splitlines() if "script.json" in line]
    assert row == f"…{path[-47:]}      1       1  $0.0000     -"
