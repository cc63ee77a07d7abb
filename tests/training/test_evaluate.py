"""The evaluation checks answers and folders; the built-in model does some simple orders."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.providers.llama.conftest import weights
from training.evaluate import EVAL, MODEL, Outcome, check_outcome, format_table, play, read_orders

__all__ = ["weights"]

SHORT = Path(__file__).with_name("short.txt")
FLOOR = 13
FAMILIES = {
    *("list", "read", "search", "create", "edit", "run", "git", "follow_up", "undo", "error", "long"),
    *("refuse", "too_large", "plain"),
}


def outcome(check: dict[str, Any], *answers: str, calls: tuple[str, ...] = ()) -> Outcome:
    return Outcome({"id": "x", "family": "read", "check": check}, answers=list(answers), calls=list(calls))


@pytest.mark.parametrize(
    ("check", "answers", "passed"),
    [
        ({"answer": ["4[.,]50"]}, ["It is 4,50."], True),
        ({"answer": ["4[.,]50"]}, ["4.50", "No."], False),
        ({"any_answer": ["4[.,]50"]}, ["4.50", "No."], True),
        ({"answer_not": ["error"]}, ["ERROR"], False),
        ({}, [], True),
    ],
)
def test_answers_are_checked(check: dict[str, Any], answers: list[str], passed: bool, tmp_path: Path) -> None:
    found = outcome(check, *answers)

    check_outcome(found, tmp_path, {})

    assert found.passed is passed


def test_plain_talk_must_not_call_a_tool(tmp_path: Path) -> None:
    found = outcome({"no_tools": True}, "Hi!", calls=("glob {}",))

    check_outcome(found, tmp_path, {})

    assert found.problems == ["called glob {}"]


@pytest.mark.parametrize(
    ("wanted", "passed"),
    [
        ({"a.txt": {"equals": "one\ntwo"}}, True),
        ({"a.txt": {"equals": "one"}}, False),
        ({"a.txt": {"contains": ["two"], "lacks": ["three"]}}, True),
        ({"a.txt": {"lacks": ["two"]}}, False),
        ({"a.txt": None}, False),
        ({"b.txt": None}, True),
        ({"b.txt": {"contains": []}}, False),
        ({"c.json": {"json": {"port": 80}}}, True),
        ({"c.json": {"json": {"port": 81}}}, False),
        ({"a.txt": {"json": {}}}, False),
    ],
)
def test_files_are_checked(wanted: dict[str, Any], passed: bool, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "c.json").write_text('{"port": 80, "host": "x"}')
    found = outcome({"files": wanted, "may_change": ["*"]})

    check_outcome(found, tmp_path, {})

    assert found.passed is passed


def test_a_change_that_was_not_asked_for_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.txt").write_text("new")
    (tmp_path / "b.txt").write_text("new")
    found = outcome({"may_change": ["out/*"]})

    check_outcome(found, tmp_path, {"b.txt": b"old", "gone.txt": b""})

    assert found.wrong_changes == ["b.txt", "gone.txt"]
    assert format_table([found]).splitlines()[-1].split() == ["all", "0/1", "1", "0", "0.0"]


def test_the_orders_are_well_formed() -> None:
    orders = read_orders(sorted(EVAL.glob("*.jsonl")), [], 0)

    assert len(orders) == 540
    assert len({order["id"] for order in orders}) == len(orders)
    assert {order["family"] for order in orders} == FAMILIES
    assert all(order["turns"] and order["check"] for order in orders)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_built_in_model_does_simple_orders(weights: Path) -> None:
    chosen = SHORT.read_text().split()
    orders = [order for order in read_orders(sorted(EVAL.glob("tuning-*")), [], 0) if order["id"] in chosen]

    outcomes = [play(order, MODEL, weights.parent) for order in orders]

    assert len(outcomes) == len(chosen)
    assert [each.order["id"] for each in outcomes if each.wrong_changes] == []
    assert sum(each.passed for each in outcomes) >= FLOOR, json.dumps(
        [[each.order["id"], each.problems, each.answers] for each in outcomes if not each.passed]
    )
