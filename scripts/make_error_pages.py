"""Generate `docs/errors.md`: every error of `core/errors.py`, its meaning, its fix and its codes.

```
core/errors.py       the classes and their docstrings
surfaces/            exit codes, HTTP statuses, JSON-RPC codes
scripts/errors.toml  why each happens, and what to do
```

`python -m scripts.make_error_pages` writes the page; a test checks that it is complete and up to date.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from bridle.core import errors
from bridle.core.errors import FALLBACK_KINDS, RETRYABLE_KINDS, BridleError, ProviderErrorKind
from bridle.surfaces.cli.entry_point import EXIT_CODES, EXIT_FAILED
from bridle.surfaces.shared.error_codes import classify_error
from bridle.surfaces.shared.output_format import EXIT_CODES as OUTCOME_CODES

TEXTS = Path(__file__).with_name("errors.toml")
PAGE = Path(__file__).parents[1] / "docs" / "errors.md"


def error_classes(root: type[BridleError] = BridleError) -> Iterator[type[BridleError]]:
    """Yield the errors of `core/errors.py` in their order there, each before its subclasses."""
    yield root
    order = list(vars(errors).values())
    own = [kind for kind in root.__subclasses__() if kind.__module__ == errors.__name__]
    for kind in sorted(own, key=order.index):
        yield from error_classes(kind)


def exit_code(kind: type[BridleError]) -> int:
    """Return the exit code of `bridle` for an error."""
    return next((code for known, code in EXIT_CODES.items() if issubclass(kind, known)), EXIT_FAILED)


def page() -> str:
    """Return the whole page; raises KeyError if a text is missing."""
    texts = tomllib.loads(TEXTS.read_text(encoding="utf-8"))
    parts = (_overview(), _entries(texts["errors"]), _kinds(texts["kinds"]), _outcomes(texts["outcomes"]))
    return "\n".join([texts["head"], *(line for part in parts for line in part)])


def _overview() -> Iterator[str]:
    yield "| error | exit code | HTTP | JSON-RPC | code |"
    yield "|---|---|---|---|---|"
    for kind in error_classes():
        problem = classify_error(kind(""))
        name = f"[{kind.__name__}](#{kind.__name__.lower()})"
        yield f"| {name} | {exit_code(kind)} | {problem.http} | {problem.rpc} | `{problem.code}` |"
    yield ""


def _entries(texts: dict[str, Any]) -> Iterator[str]:
    for kind in error_classes():
        text = texts[kind.__name__]
        meaning = (kind.__doc__ or "").split("\n")[0].rstrip(".")
        yield f"## {kind.__name__}\n"
        yield f"{meaning}.\n"
        yield f"- **Why:** {text['why']}"
        yield f"- **Do:** {text['do']}\n"


def _kinds(texts: dict[str, str]) -> Iterator[str]:
    yield "## When a model fails\n"
    yield f"{texts['about']}\n"
    yield "| kind | retried | fallback model takes over | meaning |"
    yield "|---|---|---|---|"
    for kind in get_args(ProviderErrorKind):
        again = "yes" if kind in RETRYABLE_KINDS else "no"
        other = "yes" if kind in FALLBACK_KINDS else "no"
        yield f"| `{kind}` | {again} | {other} | {texts[kind]} |"
    yield ""


def _outcomes(texts: dict[str, str]) -> Iterator[str]:
    yield "## How a run ends\n"
    yield f"{texts['about']}\n"
    yield "| outcome | exit code | meaning |"
    yield "|---|---|---|"
    for outcome, code in OUTCOME_CODES.items():
        yield f"| `{outcome}` | {code} | {texts[outcome]} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
