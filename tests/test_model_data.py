"""`make models-data`: the data that the script makes from its sources."""

from datetime import date
from typing import Any

from scripts.make_model_data import _prices, models_of, written

TODAY = date(2026, 11, 15)


def listed(name: str, **fields: Any) -> dict[str, Any]:
    given = {"id": name, "names": [], "window": 1000, "deprecated": False, "prices": []}
    return given | fields


def rates(dollars: float, above: dict[int, float] | None = None) -> dict[str, Any]:
    tiers = [[0, dollars], *([start, price] for start, price in (above or {}).items())]
    return {"input": tiers, "output": tiers}


def price(dollars: float) -> dict[str, Any]:
    return dict.fromkeys(("input", "output", "cache_read", "cache_write"), dollars)


def chosen(vendor: str, *models: dict[str, Any], **facts: dict[str, Any]) -> dict[str, Any]:
    return dict(models_of(vendor, list(models), facts, TODAY))


def test_a_model_is_joined_from_both_sources():
    model = listed("big-1", names=["big", "big-1-20260101"], prices=[{"hours": False, "rates": rates(2.0)}])
    facts = {"mode": "chat", "max_output_tokens": 100, "supports_vision": True, "supports_reasoning": False}

    assert chosen("openai", model, big=facts) == {
        "big-1": {
            "window": 1000,
            "output": 100,
            "images": True,
            "reasoning": False,
            "price": price(2.0),
            "aliases": ["big"],
        }
    }


def test_only_current_models_that_chat_are_taken():
    models = [
        listed("old", deprecated=True),
        listed("gone"),
        listed("painter"),
        listed("text-embedding-3"),
        listed("gpt-3.5-turbo"),
        listed("nobody-knows", window=None),
        listed("keeps", window=None),
    ]
    facts = {
        "gone": {"deprecation_date": "2026-11-14"},
        "painter": {"mode": "image_generation"},
        "keeps": {"mode": "responses", "max_input_tokens": 5000, "max_output_tokens": 5000},
    }

    assert chosen("openai", *models, **facts) == {"keeps": {"window": 5000}}


def test_what_other_makers_sell_through_a_vendor_is_left_out():
    assert list(chosen("gemini", listed("claude-opus-9"), listed("gemini-9"))) == ["gemini-9"]
    assert list(chosen("openrouter", listed("nobody/x"), listed("qwen/y"), listed("qwen/y:free"))) == [
        "qwen/y"
    ]


def test_a_price_may_depend_on_the_context_the_day_and_the_hour():
    listed_prices = [
        {"hours": False, "rates": rates(1.0)},
        {"from": "2026-01-01", "rates": rates(2.0, {200: 4.0, 500: 8.0})},
        {"from": "2026-12-01", "rates": rates(3.0)},
        {"hours": True, "rates": rates(1.5)},
    ]
    tiered = {**price(4.0), "above_tokens": 500, "above": price(8.0)}

    assert _prices(listed_prices, TODAY) == (
        {**price(2.0), "above_tokens": 200, "above": tiered},
        {"2026-12-01": price(3.0)},
    )


def test_the_dearest_hour_counts():
    hours = [{"hours": False, "rates": rates(1.0)}, {"hours": True, "rates": rates(2.0)}]

    assert _prices(hours, TODAY) == (price(2.0), {})


def test_half_a_price_is_none():
    assert _prices([{"hours": False, "rates": {"input": [[0, 1.0]]}}], TODAY) == (None, {})
    assert _prices([], TODAY) == (None, {})


def test_each_model_is_a_line():
    assert written(TODAY, {"a": "1"}, {"v": {"x": {"window": 1}, "y": {"window": 2}}, "w": {}}) == (
        '{\n "made": "2026-11-15",\n "sources": {"a": "1"},\n "vendors": {\n'
        '   "v": {\n    "x": {"window": 1},\n    "y": {"window": 2}\n   },\n   "w": {\n\n   }\n }\n}\n'
    )
