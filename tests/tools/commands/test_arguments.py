"""Arguments, sorted into flags and others."""

import shlex

import pytest

from bridle.tools.commands.arguments import sort_arguments
from bridle.tools.commands.expansion import Argument
from bridle.tools.commands.program_tables import program

KNOWN = program("read", "ab # n: f< o> w? --all --name: --from< --to> --maybe?")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x -ab y", "x y | -a -b | | | | ok"),
        ("-n 1 -n2 x", "x | -n=1,2 | | | | ok"),
        ("-an1", "| -a -n=1 | | | | ok"),
        ("-f x -oy", "| -f=x -o=y | x | y | | ok"),
        ("-w x", "x | -w | | | | ok"),
        ("-wx", "| -w=x | | | | ok"),
        ("--all --name=1 --name 2", "| --all --name=1,2 | | | | ok"),
        ("--from x --to=y", "| --from=x --to=y | x | y | | ok"),
        ("--maybe x --maybe=y", "x | --maybe=y | | | | ok"),
        ("-5 x", "x | | | | | ok"),
        ("-a -- -b", "-b | -a | | | | ok"),
        ("- x", "- x | | | | | ok"),
        ("-c x", "x | | | | -c | no"),
        ("-ac", "| -a | | | -ac | no"),
        ("--al", "| | | | --al | no"),
        ("--all=x", "| | | | x | no"),
        ("--other=x", "| | | | x | no"),
        ("-n -a", "| -n=-a | | | | no"),
        ("-n -1", "| -n=-1 | | | | ok"),
        ("-n", "| -n | | | | ok"),
    ],
)
def test_arguments_are_sorted(line: str, expected: str):
    sorted_ = sort_arguments([Argument(word, word) for word in shlex.split(line)], KNOWN)

    flags = [name + "=" * bool(vs) + ",".join(v.source for v in vs) for name, vs in sorted_.flags.items()]
    groups = (sorted_.operands, sorted_.reads, sorted_.writes, sorted_.guesses)
    operands, reads, writes, guesses = (" ".join(field.source for field in group) for group in groups)
    parts = [operands, " ".join(flags), reads, writes, guesses, "ok" if sorted_.is_understood else "no"]
    assert " | ".join(parts).replace("  ", " ").strip() == expected


def test_a_word_that_may_be_a_flag_is_not_understood():
    sorted_ = sort_arguments([Argument("-$x", prefix="-"), Argument("$y")], KNOWN)

    assert (sorted_.operands, sorted_.is_understood) == ((Argument("$y"),), False)
