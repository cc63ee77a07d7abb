"""Skills as Kontekst reads them, compared with its recorded answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.skill import (
    FrontMatter,
    Skill,
    fill_in,
    join_arguments,
    near_names,
    read_front_matter,
    render,
    split_arguments,
    split_front_matter,
)

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


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=2))
def test_words_of_a_command_line_stay_one_argument_each(words: list[str]):
    assert split_arguments(join_arguments(words)) == words


def test_a_single_word_may_hold_several_arguments():
    assert split_arguments(join_arguments(["one 'two three'"])) == ["one", "two three"]


@given(st.lists(st.text(st.characters(exclude_characters=" '\"", exclude_categories=["Cs"]), min_size=1)))
def test_words_are_split_and_joined_again(words: list[str]):
    assert split_arguments(" ".join(words)) == words
    assert split_arguments(" ".join(f"'{word}'" for word in words)) == words


# ---------------------------------------------------------------------------- front matter of both kinds


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("x\n---\n", FrontMatter("none", "", "x\n---\n")),
        ("+++\na = 1\n+++\nB", FrontMatter("toml", "a = 1", "\nB", 2)),
        ("\n\n+++\n\na = 1\n+++\nB", FrontMatter("toml", "a = 1", "\nB", 5)),
        ("+++\n+++\nB", FrontMatter("toml", "", "\nB", 1)),
        ("---\na: 1\n---\nB\n---\n", FrontMatter("yaml", "a: 1\n", "\nB\n---\n", 2)),
        ("\n---  \na: 1\n--- \nB", FrontMatter("yaml", "a: 1\n", "\nB", 3)),
        ("---\n---", FrontMatter("yaml", "", "", 2)),
        ("---\na: ---\n----\n---\nB", FrontMatter("yaml", "a: ---\n----\n", "\nB", 2)),
        ("+++\na = 1\n", FrontMatter("none", "", "+++\na = 1\n", is_open=True)),
        ("---\na: 1\n", FrontMatter("none", "", "---\na: 1\n", is_open=True)),
        ("--- a\n---\n", FrontMatter("none", "", "--- a\n---\n")),
        (" ---\n---\n", FrontMatter("none", "", " ---\n---\n")),
    ],
)
def test_front_matter_is_told_by_its_first_line(text: str, parts: FrontMatter):
    assert read_front_matter(text) == parts


@given(st.text(st.sampled_from("+-\n a:=1"), max_size=60))
def test_a_text_is_parted_and_nothing_of_the_body_is_lost(text: str):
    parts = read_front_matter(text)

    assert text.strip().endswith(parts.body.strip())
    assert parts.head.strip() in text
    assert text.split("\n")[parts.line - 1].strip().endswith(parts.head.split("\n")[0].strip())


# ---------------------------------------------------------------------------- what a model reads


REVIEW = Skill("review", "Look at $0.", "/home/ann/p/.bridle/skills/review/SKILL.md", "project")


@pytest.mark.parametrize(
    ("cwd", "path"),
    [
        ("/home/ann/p", ".bridle/skills/review"),
        ("/", "home/ann/p/.bridle/skills/review"),
        ("/home/ann/p/.bridle/skills/review", "."),
        ("/home/ann/p/sub", "/home/ann/p/.bridle/skills/review"),
        ("/home/an", "/home/ann/p/.bridle/skills/review"),
    ],
)
def test_a_skill_says_where_its_files_lie(cwd: str, path: str):
    assert render(REVIEW, "a.py", cwd) == f"[Skill: review]\nBase path: {path}\n\nLook at a.py.\n\n---\n\n"


def test_arguments_without_a_place_follow_the_body():
    skill = Skill("x", "Do it.", "/x.md", "user")

    assert [render(skill, text, "/w") for text in ("now ", " ")] == [
        "[Skill: x]\nBase path: /\n\nDo it.\n\nArguments: now\n\n---\n\n",
        "[Skill: x]\nBase path: /\n\nDo it.\n\n---\n\n",
    ]


def test_near_names_are_those_somebody_may_have_meant():
    skills = [Skill(name, "x", "/x.md", "user") for name in ("review", "Release-Notes", "pdf")]

    assert near_names("reveiw", skills) == ["review"]
    assert near_names("release_notes", skills) == ["Release-Notes"]
    assert near_names("q" * 10_000, skills) == []
