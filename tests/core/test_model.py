import msgspec
import pytest

from bridle.core.messages import Usage
from bridle.core.model import Model, Price, cost_of

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)


def test_a_model_is_named_by_provider_and_model():
    assert Model("openai", "org/gpt-9").ref == "openai/org/gpt-9"


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(), 0.0),
        (Usage(input=1_000_000), 3.0),
        (Usage(output=1_000_000), 15.0),
        (Usage(cache_read=1_000_000), 0.3),
        (Usage(cache_write=1_000_000), 3.75),
        (Usage(input=1000, output=200, cache_read=10_000, cache_write=400), 0.0105),
    ],
)
def test_cost_is_dollars_per_million_tokens_of_each_kind(usage: Usage, dollars: float):
    assert cost_of(usage, PRICE) == pytest.approx(dollars)


def test_reasoning_is_not_paid_twice():
    assert cost_of(Usage(output=100, reasoning=90), PRICE) == cost_of(Usage(output=100), PRICE)


def test_an_unknown_price_is_unknown_and_not_zero():
    assert cost_of(Usage(input=5), None) is None


def test_a_free_model_costs_nothing():
    assert cost_of(Usage(input=5, output=5), Price(0.0, 0.0)) == 0.0


LONG = Price(
    1.0, 10.0, above_tokens=1000, above=Price(2.0, 20.0, 0.2, above_tokens=5000, above=Price(3.0, 30.0))
)


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(input=1000, output=9000), 0.091),
        (Usage(input=1001, output=9000), 0.182002),
        (Usage(input=1, cache_read=900, cache_write=100, output=9000), 0.180182),
        (Usage(input=5001), 0.015003),
    ],
)
def test_a_long_context_costs_more_from_its_first_token_on(usage: Usage, dollars: float):
    assert cost_of(usage, LONG) == pytest.approx(dollars)


def test_a_price_with_tiers_can_be_stored():
    assert msgspec.json.decode(msgspec.json.encode(LONG), type=Price) == LONG
