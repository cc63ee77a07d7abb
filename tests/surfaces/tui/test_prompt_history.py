"""Prompts and drafts on disk: private, limited in size, and never a reason to fail."""

import json
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.tui.prompt_history import (
    MAX_DRAFTS,
    MAX_PROMPT_CHARS,
    MAX_PROMPTS,
    History,
    load_drafts,
    save_drafts,
)


def test_prompts_of_a_folder_are_there_again(tmp_path: Path):
    History(tmp_path, "/a").add("one\ntwo")
    History(tmp_path, "/a").add("three")
    History(tmp_path, "/b").add("elsewhere")

    assert History(tmp_path, "/a").prompts == ["one\ntwo", "three"]


def test_what_is_written_is_for_the_user_alone(tmp_path: Path):
    History(tmp_path, "/a").add("one")
    save_drafts(tmp_path, {"s": "draft"})

    files = [tmp_path / "tui", *sorted((tmp_path / "tui").iterdir())]
    assert [oct(file.stat().st_mode & 0o777) for file in files] == ["0o700", "0o600", "0o600"]


def test_some_prompts_are_not_kept(tmp_path: Path):
    history = History(tmp_path, "/a")
    for prompt in ("one", "one", " with a space before it", "  ", "x" * (MAX_PROMPT_CHARS + 1)):
        history.add(prompt)

    assert history.prompts == History(tmp_path, "/a").prompts == ["one"]


def test_going_back_and_forth_keeps_what_was_being_typed(tmp_path: Path):
    history = History(tmp_path, "/a")
    history.add("one")
    history.add("two")

    assert [history.earlier("half"), history.earlier("two"), history.earlier("one")] == ["two", "one", None]
    assert [history.later(), history.later(), history.later()] == ["two", "half", None]


def test_a_very_long_file_is_shortened(tmp_path: Path):
    history = History(tmp_path, "/a")
    for number in range(2 * MAX_PROMPTS + 1):
        history.add(str(number))

    (file,) = (tmp_path / "tui").iterdir()
    assert len(file.read_text().splitlines()) == MAX_PROMPTS
    assert History(tmp_path, "/a").prompts[-1] == str(2 * MAX_PROMPTS)


def test_a_file_that_is_broken_is_done_without(tmp_path: Path):
    history = History(tmp_path, "/a")
    history.add("one")
    (file,) = (tmp_path / "tui").iterdir()
    file.write_bytes(b'"good"\n{"half\n\xff\xfe\n["list"]\n"again"\n')
    (tmp_path / "tui" / "drafts.json").write_text("[]")

    assert History(tmp_path, "/a").prompts == ["good", "again"]
    assert load_drafts(tmp_path) == {}


def test_a_link_or_a_pipe_in_its_place_is_not_followed(tmp_path: Path):
    history = History(tmp_path, "/a")
    history.add("one")
    (file,) = (tmp_path / "tui").iterdir()
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "tui" / "drafts.json")

    history.add("two")
    assert not (tmp_path / "elsewhere").exists()
    assert load_drafts(tmp_path) == {}


def test_drafts_are_kept_and_forgotten(tmp_path: Path):
    save_drafts(tmp_path, {"a": "one", "b": " \n"})
    assert load_drafts(tmp_path) == {"a": "one"}

    save_drafts(tmp_path, {}, {"a": "one"})
    assert load_drafts(tmp_path) == {}
    assert list((tmp_path / "tui").iterdir()) == []


def test_only_the_newest_drafts_are_kept(tmp_path: Path):
    save_drafts(tmp_path, {str(number): "x" for number in range(MAX_DRAFTS + 5)})

    assert next(iter(load_drafts(tmp_path))) == "5"


def test_a_home_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path):
    (tmp_path / "tui").write_text("a file")
    history = History(tmp_path, "/a")

    history.add("one")
    save_drafts(tmp_path, {"a": "b"})
    assert history.prompts == ["one"]


@given(st.lists(st.text(min_size=1), max_size=5))
def test_every_text_comes_back_as_it_was(tmp_path_factory, prompts: list[str]):
    folder = tmp_path_factory.mktemp("home")
    history = History(folder, "/a")
    for prompt in prompts:
        history.add(prompt)

    assert History(folder, "/a").prompts == history.prompts
    assert all(json.dumps(prompt) for prompt in history.prompts)


def test_drafts_of_two_that_are_open_at_once_are_all_kept(tmp_path: Path):
    save_drafts(tmp_path, {"old": "a", "gone": "b"})
    first, second = load_drafts(tmp_path), load_drafts(tmp_path)

    save_drafts(tmp_path, {**second, "new": "of the second"}, second)
    save_drafts(tmp_path, {"old": "changed by the first", "gone": ""}, first)

    assert load_drafts(tmp_path) == {"old": "changed by the first", "new": "of the second"}
