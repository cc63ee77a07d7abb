"""Skills as Kontekst reads them, by its recorded answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.skill import fill_in, split_arguments, split_front_matter

VECTORS = Path(__file__).parent / "vectors"

# Kontekst replaces again inside what it has just put in, and takes `$:` for the eleventh argument.
BETTER = {
    "$1 x": "A=$1 x|0=$1|1=x|2=$2|10=x0|c=$:",
    "1 2 3 4 5 6 7 8 9 10 11 12": "A=1 2 3 4 5 6 7 8 9 10 11 12|0=1|1=2|2=3|10=20|c=$:",
}


def vectors(name: str) -> list[dict[str, Any]]:
    return json.loads((VECTORS / f"kontekst-{name}.json").read_text())


@pytest.mark.parametrize("vector", vectors("frontmatter"), ids=lambda vector: repr(vector["in"]))
def test_front_matter(vector: dict[str, str]):
    assert split_front_matter(vector["in"]) == (vector["fm"], vector["body"])


@pytest.mark.parametrize("vector", vectors("skill_args"), ids=lambda vector: repr(vector["args"]))
def test_arguments(vector: dict[str, Any]):
    args = vector["args"]

    assert split_arguments(args) == (vector["argv"] or [])
    assert fill_in(vector["template"], args) == BETTER.get(args, vector["rendered"])


@given(st.text(), st.text())
def test_a_body_without_places_is_left_alone(body: str, args: str):
    body = body.replace("$", "")

    assert fill_in(body, args) == body


@given(st.lists(st.text(st.characters(exclude_characters=" '\"", exclude_categories=["Cs"]), min_size=1)))
def test_words_are_split_and_joined_again(words: list[str]):
    assert split_arguments(" ".join(words)) == words
    assert split_arguments(" ".join(f"'{word}'" for word in words)) == words
