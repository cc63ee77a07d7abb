"""Packaged model data: context windows, capabilities and prices.

`scripts/make_model_data.py` (`make models-data`) writes `data/models.json`, which is read at the first
lookup. A model that is not in it still works, but its price is unknown.
"""

import difflib
import re
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from bridle.core.model import Price

DATA_FILE = Path(__file__).with_name("data") / "models.json"
_DATED = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d|latest)$")


class KnownModel(Struct, frozen=True):
    """The facts of one model; None means unknown."""

    window: int
    """Tokens of prompt and reply together."""
    output: int | None = None
    """The longest reply in tokens."""
    images: bool | None = None
    reasoning: bool | None = None
    tools: bool | None = None
    price: Price | None = None
    later: dict[str, Price] = {}
    """Announced future prices, by the date they start (such as 2027-01-31)."""
    aliases: tuple[str, ...] = ()

    def price_on(self, day: str) -> Price | None:
        """Return the price on a day; an empty day means the day the data was made."""
        begun = [start for start in self.later if start <= day]
        return self.later[max(begun)] if begun else self.price


class KnownModels(Struct, frozen=True):
    """All packaged model data."""

    made: str
    """The day the data was made."""
    sources: dict[str, str]
    """The packages the data comes from, with their versions."""
    vendors: dict[str, dict[str, KnownModel]]
    """Models by vendor, then by name."""

    def find(self, vendor: str, name: str) -> KnownModel | None:
        """Return a model by its name or an alias, either with an optional date suffix; None if unknown."""
        models = self.vendors.get(vendor, {})
        names = (name, _DATED.sub("", name))
        if found := next((models[each] for each in names if each in models), None):
            return found
        return next(
            (model for model in models.values() if any(each in model.aliases for each in names)), None
        )

    def near(self, vendor: str, name: str) -> list[str]:
        """Return up to three similar model names of a vendor, the closest first."""
        return difflib.get_close_matches(name, self.vendors.get(vendor, ()), n=3, cutoff=0.6)


@cache
def known_models() -> KnownModels:
    """Return the packaged data; the file is read once."""
    return msgspec.json.decode(DATA_FILE.read_bytes(), type=KnownModels)
