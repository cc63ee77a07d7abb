"""Why a text was not found: the text that is there instead, at limited cost."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.tools.hints import closest_region, explain_not_found, show_indentation, similar_paths
from bridle.tools.paths import resolve

CODE = """\
class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance

    def deposit(self, amount):
        self.balance += amount
        return self.balance

    def withdraw(self, amount):
        self.balance -= amount
        return self.balance
"""


def lines_of(text: str) -> list[str]:
    return text.split("\n")


@pytest.mark.parametrize(
    ("old", "first", "lines"),
    [
        ("def deposit(self, sum):\n    self.balance += sum\n    return self.balance", 6, 3),
        ("    def withdraw(self, amount):\n        self.balance = amount\n", 10, 2),
        ("self.owner = the_owner", 3, 1),
        ("def __init__(self, owner, balance):\n        self.owner = owner\n", 2, 2),
        ("def deposit(self, amount):\n        print(amount)\n        self.balance += amount\n", 6, 3),
    ],
)
def test_the_closest_region_is_found(old: str, first: int, lines: int):
    region = closest_region(CODE, lines_of(old.rstrip("\n")))

    assert region is not None
    assert (CODE.count("\n", 0, region.start) + 1, len(region.lines)) == (first, lines)


def test_a_place_far_inside_a_line_is_where_it_starts():
    region = closest_region("x" * 20_000 + " some_word = 1", ["some_word = 2"])

    assert region is not None
    assert (region.start, region.lines) == (20_001, ("some_word = 1",))


def test_nothing_is_said_where_nothing_is_like_it():
    for old in ("import numpy as np", "zzz", "x", "", "\n", "balance", "    return None\n\n\n"):
        assert explain_not_found(CODE, old, "") == ""
    assert explain_not_found("", "something here", "") == ""


def test_the_difference_is_shown_with_visible_indentation():
    assert explain_not_found(
        "\tdef total(a):\n\t    return sum(a)\n", "def total(a):\n  return sum(b)", ""
    ) == (
        "the closest text is at lines 1-2 (with · for a space and → for a tab before a line):\n"
        "1: →def total(a):\n"
        "2: →····return sum(a)\n"
        "line 1 is in old_str: def total(a):"
    )


def test_a_long_region_is_cut_around_the_difference():
    lines = [f"value_number_{number} = {number}" for number in range(100)]
    old = [*lines[10:30], "value_number_30 = 31", *lines[31:40]]

    reason = explain_not_found("\n".join(lines), "\n".join(old), "").split("\n")

    assert reason[0].startswith("the closest text is at lines 11-40 (")
    assert [int(line.partition(":")[0]) for line in reason[1:-1]] == list(range(25, 37))
    assert reason[-1] == "line 31 is in old_str: value_number_30 = 31"


def test_an_edit_made_before_is_recognised():
    assert explain_not_found(CODE, "    self.balance += sum", "self.balance += amount\n") == (
        "new_str is already at line 7: was the edit made before?"
    )


def test_a_new_text_that_is_part_of_the_old_one_tells_nothing():
    assert "made before" not in explain_not_found(CODE, "return self.balance + 1", "return self.balance")
    assert "made before" not in explain_not_found(CODE, "nothing like it", "def")


def test_line_numbers_are_recognised():
    message = "old_str contains the line numbers that read_file shows; leave them out"

    assert (
        explain_not_found(CODE, "3:         self.owner = owner\n4:         self.balance = balance", "")
        == message
    )
    assert explain_not_found(CODE, "3: nothing like it", "") == ""


def test_what_cannot_be_printed_is_shown_as_escapes():
    assert show_indentation("  \ta\x1b[0m\tb" + "x" * 200) == "··→a\\x1b[0m\\tb" + "x" * 113 + "…"


@given(
    text=st.text("ab \n\t0:", max_size=60),
    old=st.text("ab \n\t0:", max_size=20),
    new=st.text("ab ", max_size=12),
)
def test_any_text_gets_an_answer(text: str, old: str, new: str):
    assert isinstance(explain_not_found(text, old, new), str)


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 5_000_000,
        "some_word another_word " * 200_000,
        "some_word another_word\n" * 200_000,
        "some_word = another_word + 1\n" * 150_000,
    ],
    ids=["empty lines", "one line", "the same line", "similar lines"],
)
def test_a_large_file_costs_little(text: str):
    old = "".join(f"some_word = another_word + {number}\n" for number in range(2, 500))

    assert isinstance(explain_not_found(text, old, "new"), str)


def near(cwd: Path, path: str, *hidden: str) -> list[str]:
    return similar_paths(resolve(str(cwd), path), lambda found: found not in hidden)


def make(cwd: Path, *paths: str) -> None:
    for path in paths:
        (cwd / path).parent.mkdir(parents=True, exist_ok=True)
        (cwd / path).touch()


def test_a_name_is_compared_with_those_beside_it(cwd: Path):
    make(cwd, "src/parser.py", "src/parsers.py", "src/lexer.py", "README.md")

    assert near(cwd, "src/parsr.py") == ["src/parser.py", "src/parsers.py"]
    assert near(cwd, "readme.md") == ["README.md"]
    assert near(cwd, "src/unrelated") == []


def test_a_folder_may_be_misspelt(cwd: Path):
    make(cwd, "source/deep/parser.py")

    assert near(cwd, "sources/deep/parser.py") == ["source/deep/parser.py"]


def test_the_same_name_elsewhere_is_found(cwd: Path):
    make(cwd, "a/utils.py", "a/b/utils.py", ".git/utils.py", "node_modules/utils.py")
    (cwd / "ring").symlink_to(".")

    assert near(cwd, "utils.py") == ["a/utils.py", "a/b/utils.py"]
    assert near(cwd, "src/utils.py") == ["a/utils.py", "a/b/utils.py"]


def test_three_are_enough_and_only_files_count(cwd: Path):
    make(cwd, *(f"name{number}" for number in range(9)))
    (cwd / "name").mkdir()
    os.mkfifo(cwd / "namee")

    assert len(near(cwd, "namex")) == 3
    assert not {"name", "namee"} & set(near(cwd, "namex"))


def test_what_is_hidden_is_not_suggested(cwd: Path):
    make(cwd, "secret.txt", "sub/secrets.txt")

    assert near(cwd, "secrets.txt", "secret.txt", "sub/secrets.txt") == []


def test_links_are_not_followed(cwd: Path, outside: Path):
    (cwd / "lnk").symlink_to(outside)
    (cwd / "secret").symlink_to(outside / "secret.txt")

    assert near(cwd, "secret.txt") == []
