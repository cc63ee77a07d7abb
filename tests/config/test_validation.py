import datetime
import math
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from bridle.config.duration import Delay, Duration
from bridle.config.rules import RuleText
from bridle.config.validation import (
    Problem,
    build,
    is_unicode,
    kind_at,
    known_keys,
    nearest,
    one_line,
    problems,
    value_from_text,
)
from bridle.core.errors import ConfigError

RULE_HINT = '(hint: write tool or tool(pattern), for example "edit_file(src/**)")'

Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")]


class Inner(Struct, frozen=True, forbid_unknown_fields=True):
    count: int = 1
    share: Share | None = None


class Shape(Struct, frozen=True, forbid_unknown_fields=True):
    word: str = ""
    choice: Literal["red", "blue"] = "red"
    wait: Duration = Duration(1)
    pause: Delay = Delay(0)
    rules: tuple[RuleText, ...] = ()
    inner: Inner = Inner()
    named: dict[Annotated[str, Meta(pattern=r"\A[a-z]+\Z", description="a small name")], Inner] = {}
    headers: dict[str, str] = {}
    extra: dict[str, Any] = {}


def messages(tree: dict[str, Any]) -> list[str]:
    return [
        f"{problem.message} (hint: {problem.hint})" if problem.hint else problem.message
        for problem in problems(tree, Shape)
    ]


def test_a_good_tree_has_no_problems_and_becomes_its_struct():
    tree = {
        "word": "w",
        "choice": "blue",
        "wait": "1h",
        "pause": 0,
        "rules": ["edit_file(src/**)"],
        "inner": {"share": 1},
        "named": {"a": {"count": 2}},
        "headers": {"X-Y": "z"},
        "extra": {"deep": {"er": [1, "two", {"three": 3.5}]}},
    }

    assert messages(tree) == []
    assert build(tree, Shape) == Shape(
        word="w",
        choice="blue",
        wait=Duration(3600),
        pause=Delay(0),
        rules=(RuleText("edit_file(src/**)"),),
        inner=Inner(share=1.0),
        named={"a": Inner(2)},
        headers={"X-Y": "z"},
        extra={"deep": {"er": [1, "two", {"three": 3.5}]}},
    )


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"wrod": 1}, "unknown key wrod (hint: did you mean word?)"),
        ({"count": 1}, "unknown key count (hint: did you mean inner.count?)"),
        ({"inner": {"cuont": 1}}, "unknown key inner.cuont (hint: did you mean inner.count?)"),
        ({"inner": {"zzz": 1}}, "unknown key inner.zzz (hint: known here: count, share)"),
        ({"named": {"a": {"x y": 1}}}, 'unknown key named.a."x y" (hint: known here: count, share)'),
        ({"inner": {"\x1b[2J": 1}}, 'unknown key inner."\\u001b[2J" (hint: known here: count, share)'),
        ({"word": 1}, "word must be text, not 1"),
        ({"word": {"a": 1}}, "word must be text, not a table"),
        ({"choice": "green"}, 'choice must be one of red, blue, not "green"'),
        ({"choice": "\x07"}, 'choice must be one of red, blue, not "\\u0007"'),
        ({"inner": 5}, "inner must be a table, not 5"),
        ({"inner": [{"count": 1}]}, "inner must be a table, not [{ count = 1 }]"),
        ({"inner": {"count": True}}, "inner.count must be a whole number, not true"),
        ({"inner": {"count": 1.5}}, "inner.count must be a whole number, not 1.5"),
        ({"inner": {"share": 2}}, "inner.share must be a number from 0 to 1, not 2"),
        ({"inner": {"share": math.nan}}, "inner.share must be a number from 0 to 1, not nan"),
        ({"named": {"A": {}}}, 'named.A must be a small name, not "A"'),
        ({"named": {"a": {"count": "x" * 99}}}, f'named.a.count must be a whole number, not "{"x" * 59}…'),
        ({"rules": "bash"}, 'rules must be a list, not "bash"'),
        ({"rules": ["bash", 5]}, 'rules[1] must be a rule such as "edit_file(src/**)", not 5'),
        (
            {"rules": ["a\nb("]},
            f'rules[0]: malformed rule "a\\nb(" {RULE_HINT}',
        ),
        ({"wait": 0}, 'wait must be a duration such as "30m", longer than zero, not 0'),
        ({"wait": True}, 'wait must be a duration such as "30m", longer than zero, not true'),
        ({"wait": []}, 'wait must be a duration such as "30m", longer than zero, not []'),
        (
            {"pause": "soon"},
            'pause: malformed duration "soon" (hint: for example: 30m, 1h30m, 500ms or 2.5s)',
        ),
        ({"headers": {"X-Key": 5}}, "headers.X-Key must be text"),
        (
            {"extra": {"when": datetime.date(2026, 1, 2)}},
            "extra.when must be text, a number, true, false, a list or a table, not 2026-01-02",
        ),
        (
            {"extra": {"a": {"b": [1, math.inf]}}},
            "extra.a.b[1] must be text, a number, true, false, a list or a table, not inf",
        ),
    ],
)
def test_a_problem_names_the_key_and_what_it_must_be(tree: dict[str, Any], message: str):
    assert messages(tree) == [message]


def test_every_problem_is_found_with_its_path():
    assert list(problems({"word": 1, "rules": ["ok", 2]}, Shape)) == [
        Problem(("word",), "word must be text, not 1"),
        Problem(("rules", 1), 'rules[1] must be a rule such as "edit_file(src/**)", not 2'),
    ]


def test_every_key_can_be_listed():
    assert known_keys(Shape) == [
        "word",
        "choice",
        "wait",
        "pause",
        "rules",
        "inner.count",
        "inner.share",
        "named.NAME.count",
        "named.NAME.share",
        "headers",
        "extra",
    ]


def test_a_path_leads_to_the_kind_of_its_value():
    assert kind_at(Shape, ("inner",)) is Inner
    assert kind_at(Shape, ("inner", "share")) == Share
    assert kind_at(Shape, ("named", "x", "count")) is int
    assert kind_at(Shape, ("extra", "a", "b", "c")) is Any


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (("iner", "count"), "unknown key iner (hint: did you mean inner?)"),
        (("named", "x", "cnt"), "unknown key named.x.cnt (hint: did you mean named.x.count?)"),
        (("word", "x"), "word is not a table"),
        (("headers", "a", "b"), "headers.a is not a table"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(path: tuple[str, ...], message: str):
    with pytest.raises(ConfigError) as caught:
        kind_at(Shape, path)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("5", int, 5),
        ("1_000", int, 1000),
        ("five", int, "five"),
        ("9" * 5000, int, "9" * 5000),
        ("0.5", Share | None, 0.5),
        ("5", str, "5"),
        ("30m", Duration, "30m"),
        ("bash(a, b)", tuple[RuleText, ...], ["bash(a, b)"]),
        ('["a", "b"]', tuple[RuleText, ...], ["a", "b"]),
        ("[broken", tuple[RuleText, ...], "[broken"),
        ("true", bool, True),
        ("false", bool | None, False),
        ("yes", bool, "yes"),
        ("true", Any, True),
        ("{ a = 1 }", Any, {"a": 1}),
        ("plain words", Any, "plain words"),
        ("1\nother = 2", Any, "1\nother = 2"),
        ("[" * 100_000, Any, "[" * 100_000),
    ],
)
def test_what_is_typed_is_read_as_its_kind(text: str, kind: Any, value: Any):
    assert value_from_text(text, kind) == value


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("max_token", "max_tokens"),
        ("maxtokens", "max_tokens"),
        ("model", ""),
        ("max_files", ""),
        ("", ""),
        ("x" * 10_000, ""),
    ],
)
def test_the_nearest_word_is_near(word: str, near: str):
    assert nearest(word, ["max_tokens", "max_turns"]) == near


def test_a_text_is_made_safe_to_print():
    assert [one_line('say "hi"'), one_line('say "\x1b[2J"')] == ['say "hi"', 'say "\\u001b[2J"']


def test_stray_bytes_of_an_argument_are_noticed():
    assert [is_unicode("é"), is_unicode(b"\xff".decode(errors="surrogateescape"))] == [True, False]
