"""Words and their expansions: the same as in bash, however they are quoted."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bridle.tools.commands.expansion import MAX_FIELDS, MAX_GUESSES, Argument, StepLimit, Variables, expand
from bridle.tools.commands.parser import parse_script
from bridle.tools.commands.script import SimpleCommand
from tests.tools.commands.bash_oracle import bash_words

texts = st.text(st.sampled_from("ab1 -_./$`\"'\\{},*?[]~#!;&|()<>=\n\té"), max_size=8)


def fields(source: str, names: dict[str, str] | None = None) -> list[Argument]:
    """Return the expansion of the words after the program."""
    script = parse_script(f"p {source}")
    assert script.doubts == ()
    step = script.steps[-1]
    assert isinstance(step, SimpleCommand)
    return [field for word in step.words[1:] for field in expand(word, names or {})]


def values(source: str) -> list[str | None]:
    return [field.value for field in fields(source)]


@st.composite
def quoted(draw: st.DrawFn, text: str) -> str:
    """Write a text as one word, each stretch of it in some kind of quotes."""
    source = ""
    while text:
        size = draw(st.integers(1, len(text)))
        stretch, text = text[:size], text[size:]
        style = draw(st.sampled_from(["single", "double", "backslash", "ansi"]))
        if style == "single":
            source += "'" + stretch.replace("'", "'\\''") + "'"
        elif style == "double":
            source += '"' + "".join("\\" + char if char in '$`"\\' else char for char in stretch) + '"'
        elif style == "backslash" and "\n" not in stretch:
            source += "".join("\\" + char for char in stretch)
        else:
            source += "$'" + "".join(_ansi(char) for char in stretch) + "'"
    return source or "''"


def _ansi(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode())


@given(st.data(), texts)
@settings(max_examples=60, deadline=None)
def test_a_text_is_the_same_in_all_quotes(data: st.DataObject, text: str):
    source = data.draw(quoted(text))
    script = parse_script(f"p {source}")
    assume(not script.doubts)  # the grammar stumbles over some of them, and says so

    step = script.steps[-1]
    assert isinstance(step, SimpleCommand)
    assert [field.value for word in step.words for field in expand(word, {})] == ["p", text]


@given(
    st.lists(
        st.sampled_from(
            ["a", "{", "}", ",", "..", "1", "'b c'", '"d"', "\\e", "$'f\\n'", "{x,y}", " ", "~", "=", "-"]
        ),
        max_size=8,
    )
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_words_are_those_of_bash(tmp_path: Path, parts: list[str]):
    source = "".join(parts)
    script = parse_script(f"p {source}")
    assume(not script.doubts and source.strip())
    step = script.steps[-1]
    assert isinstance(step, SimpleCommand)
    found = [field for word in step.words[1:] for field in expand(word, {})]
    assume(all(field.value is not None for field in found))

    assert [field.value for field in found] == bash_words(source, tmp_path)


WORDS = r"""
{a,b}{c,d}
x{a,{b,c}}y
{a}
{}
{,}
a{,b}
{a,b
a,b}
{{a,b}}
{a{b,c}
'{a,b}'
{'a',b}
\{a,b}
{1..4}
{4..1}
{a..e}
{-1..1}
a{b,c}'d e'
{a,b}=x
''
""
'a''b'
\a
"\a\$\"\\"
$'\t\101\x41\u0041\cA\e\?\q'
$"a b"
a$
"$"
a=b
--x='y z'
a#b
\#
+x
^
%
!
"""


@pytest.mark.parametrize("source", WORDS.strip().splitlines())
def test_a_word_is_what_bash_makes_of_it(tmp_path: Path, source: str):
    assert values(source) == bash_words(source, tmp_path)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("$x", Argument("$x", is_harmless=True)),
        ("a/$x", Argument("a/$x", prefix="a/", is_harmless=True)),
        ("a/$(b)", Argument("a/$(b)", prefix="a/", is_harmless=True)),
        ("${x:-b}", Argument("${x:-b}")),
        ("a/*.py", Argument("a/*.py", pattern="a/*.py", prefix="a/", is_harmless=True)),
        ("'*'/*", Argument("'*'/*", pattern="\\*/*", prefix="*/", is_harmless=True)),
        ("$'\\xff'", Argument("$'\\xff'")),
        ("$'a\\0b'", Argument("$'a\\0b'")),
        ("{01..3}", Argument("{01..3}")),
        ("~+/a", Argument("~+/a")),
        ("é", Argument("é", "é")),
    ],
)
def test_what_is_not_known_says_what_it_can(source: str, expected: Argument):
    assert fields(source) == [expected]


def test_home_is_known():
    home = os.path.expanduser("~")

    assert values("~ ~/a a~ '~' ~/'b c' x=~/d --x=~/d ~nobody-at-all") == [
        home,
        f"{home}/a",
        "a~",
        "~",
        f"{home}/b c",
        f"x={home}/d",
        "--x=~/d",
        "~nobody-at-all",
    ]


def test_known_names_are_put_in_but_not_where_they_would_be_split():
    names = {"A": "one", "B": "two words"}

    found = [field.value for field in fields('$A "$B" ${A}x $B \'$A\' \\$A "$A$C"', names)]
    assert found == ["one", "two words", "onex", None, "$A", "$A", None]


def test_too_many_words_are_not_known():
    (field,) = fields("{0..9}{0..9}{0..9}{0,1}")

    assert (field.value, MAX_FIELDS) == (None, 1_000)


@pytest.mark.parametrize(
    ("value", "shown"), [("a", "a"), ("a b", "'a b'"), ("", "''"), ("[", "["), ("{}", "{}"), ("*", "'*'")]
)
def test_an_argument_is_shown_as_it_could_be_typed(value: str, shown: str):
    assert Argument("?", value).shown == shown


def guesses(text: str, cwd: str | None = "/place") -> list[tuple[str | None, tuple[str, ...]]]:
    """Return what is known of the words of the last command."""
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
