"""Results say how a run ended, and errors carry them."""

from pathlib import Path
from typing import Any

import pytest

import bridle
from bridle.core.errors import ProviderError
from bridle.providers import Call, ScriptedProvider
from bridle.surfaces.python.results import RunError
from tests.sessions.stage import Play, says
from tests.surfaces.python.opened import opened


@bridle.tool(access="write")
def pay(amount: int = 1) -> str:
    """Pay."""
    return "paid"


async def failing(tmp_path: Path, provider: Any, **keywords: Any) -> RunError:
    async with opened(provider, tmp_path, tools=[pay], **keywords) as b:
        session = await b.session()
        with pytest.raises(RunError) as raised:
            await session.run("go")
        again = await session.run("go", check=False)
        assert again.outcome == raised.value.result.outcome
    return raised.value


async def test_a_result_is_all_that_is_known_of_a_run(tmp_path: Path):
    async with opened(Play(says("hello")), tmp_path) as b:
        session = await b.session()
        result = await session.run("hi")

    assert (result.text, str(result), result.outcome, result.completed, result.value) == (
        "hello",
        "hello",
        "completed",
        True,
        None,
    )
    assert (result.usage, result.cost, result.turns, result.tool_calls) == (
        bridle.Usage(input=10, output=5),
        None,
        1,
        0,
    )
    assert (result.session_id, result.denied, result.error, result.reason) == (session.id, [], None, "")


async def test_nobody_to_ask_is_a_denial_that_names_the_rule(tmp_path: Path):
    error = await failing(tmp_path, ScriptedProvider.of(Call("pay"), repeat=True))

    assert type(error) is bridle.RunDenied
    assert str(error) == 'pay: nobody is there to approve it (hint: to allow it: allow=["pay"])'
    assert [call.rules for call in error.result.denied] == [("pay",)]


async def test_a_model_that_fails_is_a_failure(tmp_path: Path):
    broken = ProviderError("no such key", kind="invalid_api_key", hint="get one")
    error = await failing(tmp_path, Play([broken]), settings={"retry.max_retries": 0})

    assert type(error) is bridle.RunFailed
    assert (error.message, error.hint, error.result.error) == ("no such key", "get one", "invalid_api_key")


async def test_a_limit_is_a_limit(tmp_path: Path):
    provider = ScriptedProvider.of(Call("pay"), repeat=True)
    error = await failing(tmp_path, provider, mode="yolo", limits=bridle.Limits(turns=1))

    assert type(error) is bridle.RunLimited
    assert error.result.outcome in ("limit", "budget_exhausted")


async def test_a_callback_that_raised_is_the_cause(tmp_path: Path):
    def approve(asked: bridle.ApprovalRequested) -> bool:
        raise ZeroDivisionError("oh")

    error = await failing(tmp_path, ScriptedProvider.of(Call("pay"), repeat=True), approve=approve)

    assert type(error) is bridle.RunDenied
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert error.message == "pay: the callback failed: ZeroDivisionError: oh"
