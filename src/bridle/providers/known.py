"""What is known about models without asking anybody: windows, abilities and prices, as data in the package.

`data/models.json` is made by `scripts/make_model_data.py` (`make models-data`) and read when the first model
is looked up. A model that is not in it can be used all the same; then its price is unknown.
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
    """The facts about one model; None is unknown."""

    window: int
    """Tokens of question and answer together."""
    output: int | None = None
    """The longest answer."""
    images: bool | None = None
    reasoning: bool | None = None
    tools: bool | None = None
    price: Price | None = None
    later: dict[str, Price] = {}
    """Prices that are announced, by the day (as 2027-01-31) from which they hold."""
    aliases: tuple[str, ...] = ()

    def price_on(self, day: str) -> Price | None:
        """Return the price on a day; an empty day is the one the data was made on."""
        begun = [start for start in self.later if start <= day]
        return self.later[max(begun)] if begun else self.price


class KnownModels(Struct, frozen=True):
    """The whole list."""

    made: str
    """The day it was made on."""
    sources: dict[str, str]
    """The packages it was made from, with their versions."""
    vendors: dict[str, dict[str, KnownModel]]
    """The models by name, by vendor."""

    def find(self, vendor: str, name: str) -> KnownModel | None:
        """Look a model up by its name, another name, or either with a date behind it."""
        models = self.vendors.get(vendor, {})
        names = (name, _DATED.sub("", name))
        if found := next((models[each] for each in names if each in models), None):
            return found
        return next(
            (model for model in models.values() if any(each in model.aliases for each in names)), None
        )

    def near(self, vendor: str, name: str) -> list[str]:
        """Return up to three names of a vendor's models that resemble a name, the nearest first."""
        return difflib.get_close_matches(name, self.vendors.get(vendor, ()), n=3, cutoff=0.6)


@cache
def known_models() -> KnownModels:
    """Read the list, once."""
    return msgspec.json.decode(DATA_FILE.read_bytes(), type=KnownModels)
