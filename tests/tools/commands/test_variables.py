"""Variables: known values, and guesses at the others."""

import pytest

from bridle.tools.commands.parser import parse_script
from bridle.tools.commands.script import SimpleCommand
from bridle.tools.commands.step_limit import StepLimit
from bridle.tools.commands.variables import MAX_GUESSES, Variables


def guesses(text: str, cwd: str | None = "/place") -> list[tuple[str | None, tuple[str, ...]]]:
    """Return the known words of the last command."""
    script = parse_script(text)
    variables = Variables(StepLimit())
    variables.assign(script.values)
    step = script.steps[-1]
    assert isinstance(step, SimpleCommand)
    return [(field.value, field.guesses) for field in variables.fields(step.words[1:], cwd)]


@pytest.mark.usefixtures("plain_home")
def test_home_and_the_folder_are_certain():
    assert guesses('p $HOME "$PWD/x" $OTHER') == [("/home/user", ()), ("/place/x", ()), (None, ())]


def test_a_home_with_a_blank_is_certain_only_in_quotes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/a user")

    assert [value for value, _ in guesses('p "$HOME" $HOME')] == ["/home/a user", None]


def test_not_when_they_are_assigned_or_the_folder_is_not_known():
    assert [guesses("HOME=/x; p $HOME"), guesses("p $PWD", None), guesses("IFS=/; p $PWD")] == [
        [(None, ("/x",))],
        [(None, ())],
        [(None, ())],
    ]


def test_every_assigned_value_is_a_guess():
    assert guesses("a=1; a=2; b=$a/x; p $b $a$a") == [
        (None, ("1/x", "2/x")),
        (None, ("11", "22")),
    ]


def test_a_variable_that_takes_from_itself_ends_somewhere():
    ((value, found),) = guesses("a=x$a; p $a")

    assert (value, set(found) <= {"x" * count for count in range(1, 9)}) == (None, True)


def test_guesses_are_bounded():
    text = "".join(f"a={number};" for number in range(100)) + 'p "$a$a"'

    ((_, found),) = guesses(text)
    assert len(found) == MAX_GUESSES
