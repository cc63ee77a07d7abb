"""The promises of SECURITY.md, and the tests that attack them.

```
| `walls` | Commands cannot change … |     a line of a table in SECURITY.md
walls ─▶ tests/attacks/suites.py ─▶ modules ─▶ test functions ─▶ sentences
```
"""

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from scripts.assurance.inventory import ROOT
from tests.attacks.suites import SUITES

PAGE = ROOT / "SECURITY.md"
PROMISE = re.compile(r"^\| `(?P<name>[a-z][a-z-]*)` \| (?P<text>.+?) \|$", re.MULTILINE)


class Promise(Struct, frozen=True):
    """One promise: a line of a table in SECURITY.md."""

    name: str
    text: str


class Attack(Struct, frozen=True, order=True):
    """One test function, which may try many tricks."""

    place: str
    """Its pytest id, without parameters."""
    sentence: str


def promises(text: str) -> list[Promise]:
    """Read the promises in a page."""
    return [Promise(match["name"], match["text"]) for match in PROMISE.finditer(text)]


def attacks_of(name: str) -> list[Attack]:
    """Return the attacks on a promise, in the order of SUITES; raises FileNotFoundError, LookupError."""
    return [attack for place in SUITES[name] for attack in _attacks_in(place)]


def _attacks_in(place: str) -> Iterator[Attack]:
    module, _, only = place.partition("::")
    tree = ast.parse((ROOT / "tests" / module).read_text(encoding="utf-8"))
    names = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]
    wanted = [name for name in names if only in ("", name)]
    if not wanted:
        raise LookupError(f"tests/{place} is listed as an attack, and there is no such test")
    for name in wanted:
        yield Attack(f"tests/{module}::{name}", name.removeprefix("test_").replace("_", " "))
