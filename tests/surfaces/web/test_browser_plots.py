"""The computations behind plots and charts, tested in the modules themselves in a browser."""

from typing import Any

import pytest
from playwright.async_api import Page

from tests.surfaces.web.stage import Stage

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]


async def of(page: Page, module: str, expression: str, given: Any = None) -> Any:
    """Evaluate an expression with a module as `m` and a value as `v`."""
    return await page.evaluate(
        f"async (v) => {{ const m = await import('bridle/{module}'); return {expression}; }}", given
    )


def used(tokens: int, cost: float = 0.0, unpriced: int = 0) -> dict[str, Any]:
    return {
        "turns": 1,
        "tool_calls": 0,
        "tokens": tokens,
        "cost": cost,
        "unpriced": unpriced,
        "duration_ms": 1,
    }


async def test_use_is_stacked_named_and_priced(stage: Stage):
    page = await stage.open()
    slots = [
        {"at": at, "model": model, "use": used(tokens)}
        for at, model, tokens in [(1, "a", 1), (1, "b", 5), (3, "a", 2), (3, "c", 1), (9, "b", 7)]
    ]

    stacked = await of(page, "plots_data.js", "m.stacks([1, 2, 3], v, (use) => use.tokens)", slots)
    few = await of(page, "plots_data.js", "m.stacks([1, 2, 3], v, (use) => use.tokens, 2)", slots)
    heaped = await of(page, "plots_data.js", "m.heaped(v)", stacked)
    assert stacked == [
        {"name": "b", "values": [5, 0, 0]},
        {"name": "a", "values": [1, 0, 2]},
        {"name": "c", "values": [0, 0, 1]},
    ]
    assert few == [{"name": "b", "values": [5, 0, 0]}, {"name": "2 others", "values": [1, 0, 3]}]
    assert heaped == [[5, 0, 0], [6, 0, 2], [6, 0, 3]]
    ranked = "m.topAndRest(v, (n) => n, (rest) => `${rest.length} more`, 2)"
    assert await of(page, "plots_data.js", ranked, [1, 4, 3, 2]) == [4, 3, "2 more"]
    assert await of(page, "plots_data.js", ranked, [1, 4]) == [4, 1]
    prices = [used(1), used(1, 1.5), used(1, 1.5, 2), used(1, 0, 1)]
    assert await of(page, "plots_data.js", "v.map(m.price)", prices) == [
        "$0",
        "$1.50",
        "$1.50 + 2 requests of unknown price",
        "1 request of unknown price",
    ]
    assert await of(page, "plots_data.js", "m.sumOfUses(v)", prices) == used(4, 3.0, 3) | {
        "turns": 4,
        "duration_ms": 4,
    }


async def test_spans_stand_in_lanes_and_the_view_stays_inside(stage: Stage):
    page = await stage.open()
    spans = [
        {"key": key, "kind": kind, "start": start, "end": end}
        for key, kind, start, end in [
            ("m", "model", 0, 10),
            ("t1", "tool", 10, 30),
            ("t2", "tool", 10, 20),
            ("t3", "tool", 20, 25),
            ("w", "wait", 12, 13),
            ("?", "something new", 1, 2),
        ]
    ]
    whole = {"start": 0, "end": 100}

    layout = await of(page, "flame_layout.js", "m.placed(v)", spans)
    assert {one["span"]["key"]: one["lane"] for one in layout["all"]} == {
        "m": 0,
        "t1": 1,
        "t2": 2,
        "t3": 2,
        "w": 3,
    }
    assert [(row["kind"], row["first"], row["lanes"], row["count"]) for row in layout["rows"]] == [
        ("model", 0, 1, 1),
        ("tool", 1, 2, 3),
        ("wait", 3, 1, 1),
    ]
    many = [{"key": str(n), "kind": "tool", "start": 0, "end": 9} for n in range(500)]
    assert (await of(page, "flame_layout.js", "m.placed(v)", many))["lanes"] == 12
    for expression, expected in [
        ("m.zoomed({start: 0, end: 100}, 0.5, 50, v)", {"start": 25, "end": 75}),
        ("m.zoomed({start: 25, end: 75}, 9, 50, v)", {"start": 0, "end": 100}),
        ("m.moved({start: 10, end: 20}, -50, v)", {"start": 0, "end": 10}),
        ("m.moved({start: 10, end: 20}, 500, v)", {"start": 90, "end": 100}),
        ("m.within({start: 7, end: 7}, v)", {"start": 7, "end": 8}),
        ("m.ticks({start: 3, end: 22}, 4)", [5, 10, 15, 20]),
    ]:
        assert await of(page, "flame_layout.js", expression, whole) == expected


async def test_a_record_is_said_on_one_line_whatever_it_holds(stage: Stage):
    page = await stage.open()
    events = [
        {"type": "tool_started", "call_id": "c", "tool": "bash", "args": {"command": "echo \x1b[31m\u202e"}},
        {
            "type": "model_replied",
            "message": {"parts": [{"type": "text", "text": "a\nb"}, {"type": "tool_call", "name": "x"}]},
        },
        {"type": "files_changed", "changes": [{"path": "a.py"}, {"path": "b.py"}]},
        {"type": "of_tomorrow", "payload": {"deep": []}},
        {"type": "tool_finished", "result": {"name": "bash", "output": "x" * 100_000}},
    ]

    said = await of(
        page, "replay_words.js", "v.map((event) => m.recordWords({seq: 1, at: 0, event}))", events
    )

    assert said[:4] == [
        {"kind": "tool started", "text": "bash · echo \\x1b[31m\\u202e"},
        {"kind": "model replied", "text": "a b · calls x"},
        {"kind": "files changed", "text": "a.py, b.py"},
        {"kind": "of tomorrow", "text": ""},
    ]
    assert (said[4]["kind"], len(said[4]["text"])) == ("tool finished", 160)


async def test_the_context_window_of_a_turn_adds_up(stage: Stage):
    page = await stage.open()
    usage = {"window": 100, "system": 10, "tools": 20, "run": 5, "reserve": 25}

    assert await of(page, "timeline_context.js", "m.partsOf(v)", usage) == [10, 20, 0, 5, 25, 40]
    assert await of(page, "timeline_context.js", "m.partsOf(v)", {"window": 10, "run": 30}) == [
        0,
        0,
        0,
        30,
        0,
        0,
    ]
