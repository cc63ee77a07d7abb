"""docs/errors.md is complete and up to date: every error, kind, code and command."""

import re
import tomllib
from typing import get_args

import pytest

from bridle.core.errors import BridleError, ProviderErrorKind, SessionTaken, StoreFull, UsageError
from bridle.surfaces.cli import parser
from bridle.surfaces.shared.output_format import EXIT_CODES
from scripts.make_error_pages import PAGE, TEXTS, error_classes, exit_code, page

COMMAND = re.compile(r"`(bridle [^`]*)`")


def test_the_page_is_what_the_code_says():
    """After a change: python -m scripts.make_error_pages."""
    assert PAGE.read_text() == page()


def test_no_error_is_left_out_and_none_is_made_up():
    texts = tomllib.loads(TEXTS.read_text())

    assert list(texts["errors"]) == [kind.__name__ for kind in error_classes()]
    assert list(texts["kinds"]) == ["about", *get_args(ProviderErrorKind)]
    assert list(texts["outcomes"]) == ["about", *EXIT_CODES]
    assert {BridleError, UsageError, SessionTaken, StoreFull} <= set(error_classes())


def test_exit_codes_are_those_of_the_command_line():
    assert {kind.__name__: exit_code(kind) for kind in error_classes() if exit_code(kind) != 1} == {
        "UsageError": 64,
        "NotAllowed": 77,
        "BudgetSpent": 2,
    }


@pytest.mark.parametrize("command", sorted(set(COMMAND.findall(page())) - {"bridle COMMAND --help"}))
def test_every_command_that_helps_exists(command: str):
    words = command.split()[1:]
    below = known_commands()[words[0]]

    assert below is None or words[1] in below


def known_commands() -> dict[str, set[str] | None]:
    """Return every command with those below it; None for one that is no group."""
    whole = parser.build_parser()
    return {
        name: set(inner._subparsers._group_actions[0].choices) if inner._subparsers else None
        for name, inner in whole._subparsers._group_actions[0].choices.items()
    }
