"""Every limit of `bridle run`, from its flag to the exit code, with the text so far."""

import json

import pytest

from tests.surfaces.command import Bridle

READ = {"text": "I look.", "calls": [{"name": "read_file", "args": {"path": "a.txt"}}]}
DONE = {"text": "All done."}
PRICE = {"input": 1000.0, "output": 1000.0}
HINT = 'hint: bridle run --continue "…" continues with fresh limits\n'


@pytest.fixture(autouse=True)
def note(bridle: Bridle) -> None:
    (bridle.project / "a.txt").write_text("one\n")


@pytest.mark.parametrize(
    ("flags", "said", "why"),
    [
        (["--max-turns", "1"], "I look.\n", "the turns limit is reached: 1 of 1 used"),
        (["--max-tool-calls", "0"], "I look.\n", "the tool_calls limit is reached: 0 of 0 used"),
        (["--max-tool-calls", "1"], "I look.\n", "the tool_calls limit is reached: 1 of 1 used"),
    ],
)
def test_a_run_that_is_out_of_budget_exits_with_2_and_keeps_what_was_said(
    bridle: Bridle, flags: list[str], said: str, why: str
):
    done = bridle("run", "-p", *flags, "--model", bridle.script(READ, DONE), "look")

    assert done == (2, said, f"error: {why}\n{HINT}")


@pytest.mark.parametrize("price", [None, {"input": 0.0, "output": 0.0}, PRICE])
def test_without_a_cent_nothing_is_asked(bridle: Bridle, price: dict[str, float] | None):
    model = bridle.script(DONE, price=price)

    done = bridle("run", "-p", "--max-cost", "0", "--model", model, "look")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: the ")
    assert "0 of 0 used" in done.err


def test_without_tokens_nothing_is_asked(bridle: Bridle):
    done = bridle("run", "-p", "--max-tokens", "1", "--model", bridle.script(DONE), "look")

    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"tokens, more than are left (0 of 1 used)\n{HINT}")


def test_an_answer_is_as_long_as_the_rest_of_the_money_allows(bridle: Bridle):
    """At 1,000 dollars for a million tokens, 5 dollars pay for 5,000."""
    model = bridle.script(DONE, price=PRICE)

    done = bridle("run", "-p", "--max-cost", "5", "--model", model, "look")

    assert (done.code, done.out) == (0, "All done.\n")


def test_a_run_out_of_time_exits_with_2_and_keeps_what_was_said(bridle: Bridle):
    model = bridle.script(READ, {"delay_ms": 60_000, "text": "late"})

    done = bridle("run", "-p", "--max-duration", "1s", "--model", model, "look")

    assert (done.code, done.out) == (2, "I look.\n")
    assert done.err.startswith("error: the duration limit is reached: 1")


def test_the_budget_of_a_run_that_was_limited_is_in_its_result(bridle: Bridle):
    model = bridle.script(READ, DONE)

    done = bridle("run", "--output", "json", "--max-turns", "1", "--model", model, "look")

    result = json.loads(done.out)
    assert (done.code, result["outcome"], result["text"]) == (2, "budget_exhausted", "I look.")
    assert result["blame"]["own"]["turns"] == 1
    assert result["blame"]["tools"]["read_file"]["calls"] == 1


def test_a_model_whose_calls_all_fail_is_stopped(bridle: Bridle):
    calls = [{"calls": [{"name": "read_file", "args": {"path": f"no{n}.txt"}}]} for n in range(20)]

    done = bridle("run", "-p", "--model", bridle.script(*calls), "look")

    assert (done.code, done.out) == (1, "")
    assert done.err == f"error: every call of the last 8 turns failed\n{HINT}"
