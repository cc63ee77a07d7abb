import pytest

from bridle.core.errors import UsageError
from bridle.surfaces.cli.parser import build_parser, parse


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["fix", "the", "bug"], ["fix", "the", "bug"]),
        (["fix", "--plan", "the", "bug"], ["fix", "the", "bug"]),
        (["--plan", "fix", "--max-turns", "3", "it"], ["fix", "it"]),
        (["--plan", "- a list item"], ["- a list item"]),
        (["fix", "--plan", "--", "--this", "-x"], ["fix", "--this", "-x"]),
        (["--", "-x"], ["-x"]),
        ([], []),
    ],
)
def test_words_of_a_prompt_may_stand_between_flags(argv: list[str], words: list[str]):
    args = parse(["run", *argv])

    assert args.prompt == words
    assert args.command == "run:run"


@pytest.mark.parametrize("argv", [["x", "--plna"], ["--mod", "a/b", "x"], ["x", "--plan", "-q"]])
def test_flags_are_not_guessed(argv: list[str]):
    with pytest.raises(UsageError, match="unknown flag"):
        parse(["run", *argv])


def test_a_session_and_continue_exclude_each_other():
    with pytest.raises(UsageError, match="not allowed with"):
        parse(["run", "--continue", "--session", "abc", "x"])


def test_a_command_alone_is_read_as_among_all_others():
    """Only the command that is wanted is built: the whole takes longer than many a command."""
    [every] = [action for action in build_parser()._actions if action.dest == "==SUPPRESS=="]
    assert every.choices is not None
    for name, command in every.choices.items():
        assert build_parser(name)._actions[-1].choices[name].format_help() == command.format_help()
