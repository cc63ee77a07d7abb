"""The catalog's data: small, fast to read, complete, and found under common names."""

import itertools
import time

import pytest

from bridle.core.model import Price
from bridle.providers.model_data import DATA_FILE, KnownModel, KnownModels, known_models

LIST = KnownModels(
    made="2026-11-15",
    sources={},
    vendors={"v": {"big-1": KnownModel(1000, aliases=("big", "large")), "big-1-mini": KnownModel(100)}},
)


def test_it_is_small_and_its_licences_lie_beside_it():
    assert DATA_FILE.stat().st_size < 100_000
    licences = {path.name: path.read_text() for path in DATA_FILE.parent.glob("LICENSE.*")}
    assert sorted(licences) == [f"LICENSE.{source}.txt" for source in known_models().sources]
    assert all("MIT" in text and "Permission is hereby granted" in text for text in licences.values())


def test_it_is_read_within_ten_milliseconds():
    def read() -> float:
        known_models.cache_clear()
        start = time.process_time()
        known_models()
        return time.process_time() - start

    assert min(read() for _ in range(5)) < 0.01


def test_it_is_read_once():
    assert known_models() is known_models()


def test_the_vendors_that_matter_are_in_it():
    assert {vendor: len(models) > 4 for vendor, models in known_models().vendors.items()} == dict.fromkeys(
        ("anthropic", "deepseek", "gemini", "groq", "mistral", "openai", "openrouter", "xai"), True
    )


@pytest.mark.parametrize("vendor", list(known_models().vendors))
def test_the_facts_make_sense(vendor: str):
    for name, model in known_models().vendors[vendor].items():
        assert model.window >= 4096, name
        assert model.output is None or 0 < model.output < model.window, name
        for price in (model.price, *model.later.values()):
            _check_price(price, name)


def _check_price(price: Price | None, name: str) -> None:
    while price:
        assert 0 <= price.cache_read <= price.input < 1000, name
        assert 0 <= price.output < 1000, name
        assert price.cache_write >= 0, name
        assert (price.above is None) == (price.above_tokens == 0), name
        assert price.above is None or price.above.input >= price.input, name
        price = price.above


@pytest.mark.parametrize("vendor", list(known_models().vendors))
def test_a_name_means_one_model(vendor: str):
    models = known_models().vendors[vendor]
    names = [*models, *itertools.chain.from_iterable(model.aliases for model in models.values())]

    assert len(names) == len(set(names))
    assert all(known_models().find(vendor, name) for name in names)


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("big-1", 1000),
        ("big", 1000),
        ("large", 1000),
        ("big-1-20260131", 1000),
        ("big-1-2026-01-31", 1000),
        ("large-latest", 1000),
        ("big-1-mini-latest", 100),
        ("big-1-max", None),
        ("big-1-20260131-x", None),
        ("BIG-1", None),
        ("", None),
    ],
)
def test_a_model_is_found_by_its_names_with_or_without_a_date(name: str, window: int | None):
    found = LIST.find("v", name)

    assert (found.window if found else None) == window


def test_a_vendor_that_is_not_there_has_no_models():
    assert LIST.find("other", "big-1") is None
    assert LIST.near("other", "big-1") == []


def test_near_names_are_offered_nearest_first():
    assert LIST.near("v", "big-1-mni") == ["big-1-mini", "big-1"]
    assert LIST.near("v", "zzz") == []


def test_an_announced_price_holds_from_its_day_on():
    first, second, third = (Price(float(n), float(n)) for n in (1, 2, 3))
    model = KnownModel(1000, price=first, later={"2026-12-01": second, "2027-06-01": third})

    days = ["", "2026-11-30", "2026-12-01", "2027-05-31", "2027-06-01"]
    assert [model.price_on(day) for day in days] == [first, first, second, second, third]
    assert KnownModel(1000).price_on("2026-12-01") is None
