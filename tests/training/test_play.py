"""Conversations of the training data are performed with real tools, and the same seed gives the same one."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridle.providers.embedded.trained_messages import TITLE_SYSTEM
from training.generate import load_families, render
from training.generator.phrases import lower_start, mistype, vary
from training.generator.play import HOME, Family, Play, Unfit, Workshop, perform

CONFIG = 'title = "x"\nport = 80\n\n[db]\nport = 80\n'


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    workshop = Workshop(tmp_path)
    yield workshop
    workshop.close()


def set_port(play: Play) -> None:
    port = str(play.rng.randrange(1000, 9999))
    play.file("app.toml", CONFIG)
    play.user(f"set the db port to {port}")
    play.read("app.toml")
    play.set_lines("app.toml", 5, f"port = {port}")
    play.insert_after("app.toml", 1, "debug = true")
    assert play.text("app.toml").endswith(f"[db]\nport = {port}\n")
    play.say("Done, at " + play.bash("pwd"))


def test_calls_have_real_effects_and_are_shown_as_the_model_sees_them(workshop: Workshop) -> None:
    play = perform(Family(set_port, 1.0), 7, workshop)

    assert play is not None
    texts = [text for text, _ in render(play)]
    assert '<tool_response>\n1: title = "x"\n2: port = 80\n3: \n4: [db]\n5: port = 80\n</tool_response>' in (
        "".join(texts)
    )
    trained = [text for text, is_trained in render(play) if is_trained]
    assert trained[0] == "<tool_call>read_file\napp.toml\n</tool_call><|im_end|>"
    assert trained[1].startswith("<tool_call>set_lines\napp.toml\n5\nport = ")
    assert trained[2] == "<tool_call>insert_after\napp.toml\n1\ndebug = true\n</tool_call><|im_end|>"
    assert f"Done, at {HOME}/" in trained[-1]


def test_the_same_seed_gives_the_same_conversation(workshop: Workshop, tmp_path: Path) -> None:
    other = Workshop(tmp_path / "other")
    first, second, third = (
        perform(Family(set_port, 1.0), seed, place)
        for seed, place in ((7, workshop), (7, other), (8, workshop))
    )
    other.close()

    assert first
    assert second
    assert third
    assert render(first) == render(second) != render(third)


def test_a_file_is_read_in_the_turn_in_which_it_is_edited(workshop: Workshop) -> None:
    play = Play(1, workshop)
    play.file("app.toml", CONFIG)
    play.user("what is the port?")
    play.read("app.toml")
    play.say("80")
    play.user("set it to 90")

    with pytest.raises(AssertionError, match="not read"):
        play.set_lines("app.toml", 2, "port = 90")


def test_what_makes_no_sense_is_drawn_again(workshop: Workshop) -> None:
    def change_nothing(play: Play) -> None:
        play.file("app.toml", CONFIG)
        play.user("set the port to 80")
        play.read("app.toml")
        play.set_lines("app.toml", 2, "port = 80")

    assert perform(Family(change_nothing, 1.0), 1, workshop) is None
    play = Play(1, workshop)
    play.file("a", "x")
    with pytest.raises(Unfit):
        play.file("a/b", "x")


def test_a_title_has_a_system_text_of_its_own(workshop: Workshop) -> None:
    play = Play(1, workshop)
    play.title("why does the build fail?", "Failing build")

    pieces = render(play)

    assert pieces[0] == (f"<|im_start|>system\n{TITLE_SYSTEM}<|im_end|>\n", False)
    assert [text for text, is_trained in pieces if is_trained] == ["Failing build<|im_end|>"]


def test_every_family_performs(workshop: Workshop) -> None:
    families = load_families()
    assert len({family.name for family in families}) == len(families)

    for family in families:
        assert any(perform(family, seed, workshop) for seed in range(40)), family.name


@pytest.mark.parametrize(
    ("sentence", "lower"),
    [
        ("Open it", "open it"),
        ("README.md is old", "README.md is old"),
        ("I want tea", "I want tea"),
        ("", ""),
    ],
)
def test_only_ordinary_words_begin_in_lower_case(sentence: str, lower: str) -> None:
    assert lower_start(sentence) == lower


def test_names_and_quoted_texts_are_never_mistyped() -> None:
    for seed in range(50):
        rng = random.Random(seed)
        for sentence in ("write `the file` now", "set_line-count to file.list", "file_list is the_list"):
            assert all(word in mistype(rng, sentence) for word in sentence.split() if len(word) > 5)
        assert "Ordner_7.txt" in vary(rng, "What is the value in Ordner_7.txt")
