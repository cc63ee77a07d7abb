"""All third-party parts of Bridle: the packages it needs with each extra, and the files in its own tree.

```
pyproject.toml ─▶ installed metadata ─▶ indirect dependencies ─┐
surfaces/web/vendor/vendor.json  (libraries of the page) ──────┼─▶ Component …
providers/data/models.json       (facts about models) ─────────┘
```
"""

import json
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Literal

from msgspec import Struct
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.assurance.licence_names import licence_of

ROOT = Path(__file__).parents[2]
VENDOR = ROOT / "src/bridle/surfaces/web/vendor"
MODEL_DATA = ROOT / "src/bridle/providers/data"
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>\S+)")
OWN = "bridle-agent"


class Component(Struct, frozen=True, order=True):
    """One third-party part that Bridle needs or contains."""

    name: str
    version: str
    licence: str
    """An SPDX expression, or "" if unknown."""
    kind: Literal["package", "page", "data"] = "package"
    """A Python package, a library of the page, or data in the tree."""
    wanted_by: tuple[str, ...] = ()
    """The extras that need it; "" is Bridle without extras."""
    needs: tuple[str, ...] = ()
    digests: tuple[tuple[str, str], ...] = ()
    """Files in the tree with their SHA-256."""

    @property
    def purl(self) -> str:
        """Return its package URL."""
        if self.kind == "page":
            return f"pkg:npm/{self.name.replace('@', '%40')}@{self.version}"
        return f"pkg:pypi/{self.name}@{self.version}"


def components() -> list[Component]:
    """Return all components; raises PackageNotFoundError if a package of an extra is not installed."""
    return [*sorted(packages()), *sorted(page_libraries()), *sorted(model_data())]


def extras() -> tuple[str, ...]:
    """Return the extras that users can install, "" first."""
    named = metadata.distribution(OWN).metadata.get_all("Provides-Extra") or []
    return ("", *sorted(set(named) - {"all", "dev"}))


def packages() -> Iterator[Component]:
    """Yield every package that Bridle needs with any of its extras, directly or not."""
    wanted: dict[str, list[str]] = {}
    for extra in extras():
        for name in _closure(OWN, frozenset({extra})) - {OWN}:
            wanted.setdefault(name, []).append(extra)
    for name, by in wanted.items():
        found = metadata.distribution(name)
        needs = sorted(
            {canonicalize_name(needed.name) for needed in _needs(name, frozenset({""}))} & set(wanted)
        )
        yield Component(name, found.version, licence_of(found), wanted_by=tuple(by), needs=tuple(needs))


def direct_needs() -> list[str]:
    """Return Bridle's direct dependencies, with all extras."""
    return sorted({canonicalize_name(one.name) for one in _needs(OWN, frozenset(extras()))} - {OWN})


def page_libraries() -> Iterator[Component]:
    """Yield the libraries of the page in the tree."""
    for one in json.loads((VENDOR / "vendor.json").read_text())["packages"]:
        digests = tuple((file["file"], file["sha256"]) for file in one["files"])
        licence = one["licence"].removeprefix("(").removesuffix(")")
        yield Component(one["name"], one["version"], licence, "page", ("",), digests=digests)


def model_data() -> Iterator[Component]:
    """Yield the sources of the model data; their licence texts must be next to it."""
    for name, version in json.loads((MODEL_DATA / "models.json").read_text())["sources"].items():
        text = (MODEL_DATA / f"LICENSE.{name}.txt").read_text()
        licence = "MIT" if "MIT" in text and "free of charge, to any person" in text else ""
        yield Component(name, version, licence, "data", ("",))


def pins(text: str) -> dict[str, str]:
    """Return the version of each package in a constraints file."""
    found = (PIN.match(line) for line in text.splitlines())
    return {canonicalize_name(match["name"]): match["version"] for match in found if match}


def _closure(name: str, wanted: frozenset[str]) -> set[str]:
    done: set[tuple[str, frozenset[str]]] = set()
    waiting = [(name, wanted)]
    while waiting:
        here = waiting.pop()
        if here in done:
            continue
        done.add(here)
        waiting += [(canonicalize_name(one.name), frozenset(one.extras or {""})) for one in _needs(*here)]
    return {known for known, _ in done}


def _needs(name: str, wanted: frozenset[str]) -> Iterator[Requirement]:
    for line in metadata.distribution(name).requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *wanted}):
            yield requirement
