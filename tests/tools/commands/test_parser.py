"""The walk over the syntax tree finds every command that bash would run."""

import shlex
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridle.tools.commands.access import shell_access
from bridle.tools.commands.parser import parse_script
from bridle.tools.commands.script import Block, Construct, SimpleCommand, Step
from tests.tools.commands.bash_oracle import commands_run

ODD = ["if", "then", "do", "}", "{", "!", "time", "in", "[", "]", "#", "-", "=", "EOF", "[[", "esac"]
NOISE = [
    *"p0 p1 p2 ; | & ( ) < > $ ` \" ' \\ { } # ! = [ ] * ~ - $( ${ x do done if then fi for in".split(),
    *'case esac (( )) @ , time function && || ;; <<< $\' + ? : f() "$( )" <<EOF EOF'.split(),
    *("\\\n", " ", "\n", "\t"),
]

programs = st.sampled_from(["p0", "p1", "p2", "'p3'", 'p"4"', "\\p5"])
plain_words = st.sampled_from(
    ["a", "-f", "--x=y", "'b c'", '"d e"', "\\ f", "$'\\x67'", "a'b'\\ c", "{h,i}", *ODD]
)


@st.composite
def scripts(draw: st.DrawFn, depth: int = 0) -> str:
    """Write a script, mostly one that bash takes."""
    parts = [draw(statements(depth)) for _ in range(draw(st.integers(1, 3)))]
    glue = st.sampled_from(
        ["; ", " | ", " && ", " || ", " & ", "\n", " |\n", ";", "|", " # c\n", " |& ", "\\\n; "]
    )
    return parts[0] + "".join(draw(glue) + part for part in parts[1:])


@st.composite
def statements(draw: st.DrawFn, depth: int) -> str:
    if depth > 2 or draw(st.booleans()):
        return draw(simple_commands(depth))
    inner, other = draw(scripts(depth + 1)), draw(scripts(depth + 1))
    shape = draw(
        st.sampled_from(
            "( {0} )|{{ {0}; }}|{{ {0}\n}}|if {0}; then {1}; fi|for i in a b; do {0}; done|! {0}|time {0}"
            "|case a in a) {0};; *) {1};; esac|eval {2}|bash() {{ {0}; }}|p6 <<EOF\nx $({0})\nEOF\n{1}"
            "|p6 <<'EOF' | p7\nx $({0})\nEOF\n{1}|p6 <<-EOF && p7 `p8`\n\t`p9`\n\tEOF|[[ -n $({0}) ]]"
            "|coproc {0}|{0} > f1|{0} 2>&1 | p7".split("|")
        )
    )
    return shape.format(inner, other, shlex.quote(inner))


@st.composite
def simple_commands(draw: st.DrawFn, depth: int) -> str:
    words = [draw(st.sampled_from(["", "", "A=1 ", "B='x y' ", "C=$(p9) ", "D=(1 2) "])) + draw(programs)]
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.integers(0, 9))
        if kind == 0 and depth < 3:
            form = draw(st.sampled_from(["$({})", '"$({})"', "<({})", ">({})", "${{x:-$({})}}"]))
            words.append(form.format(draw(scripts(depth + 2))))
        elif kind == 1:
            words.append(
                draw(st.sampled_from(["`p9 z`", '"`p9 \\"z\\"`"', "`p9 \\`p8\\``", "$((1+1))", "$x"]))
            )
        elif kind == 2:
            words.append(
                draw(st.sampled_from(["> f1", "2>f2", "<<< 'h h'", "3< f1", "&> f3", ">&2", "2>&-"]))
            )
        else:
            words.append(draw(plain_words))
    return " ".join(words)


@st.composite
def damaged_scripts(draw: st.DrawFn) -> str:
    """Write a script, and then change it here and there."""
    text = draw(scripts())
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(NOISE)) + text[place + draw(st.integers(0, 2)) :]
    return text


def missed(script: str, cwd: Path) -> list[list[str]]:
    """Return the commands that bash runs and that were not told; none where there is a doubt."""
    if "while" in script or "until" in script:
        return []
    access = shell_access(script, str(cwd), str(cwd))
    if access.doubt:
        return []
    found = [subject.value for subject in access.subjects if subject.kind == "command"]
    return [argv for argv in commands_run(script, cwd) if not is_told(argv, found) and argv[0] != "COPROC"]


def is_told(argv: list[str], found: list[str]) -> bool:
    shown = [word if word in ("[", "]", "{}") else shlex.quote(word) for word in argv]
    if " ".join(shown) in found:
        return True
    beginning = [told for told in found if told == shown[0] or told.startswith(shown[0] + " ")]
    return any(set("$`*?[<>{~") & set(told) for told in beginning)


QUICK = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
LONG = settings(QUICK, max_examples=100)


@given(scripts())
@QUICK
def test_whatever_bash_runs_was_found(tmp_path: Path, script: str):
    assert missed(script, tmp_path) == []


@given(damaged_scripts())
@QUICK
def test_whatever_bash_makes_of_a_broken_script_was_found(tmp_path: Path, script: str):
    assert missed(script, tmp_path) == []


@pytest.mark.slow
@given(scripts() | damaged_scripts())
@LONG
def test_whatever_bash_runs_was_found_in_the_long_run(tmp_path: Path, script: str):
    assert missed(script, tmp_path) == []


@pytest.mark.parametrize(
    "script",
    [
        # Where the grammar sees something else than bash does.
        "p1 'a'\\ b",
        "p1 `p2 \\`p3\\``",
        "p1 <<EOF\n`p2`\nEOF",
        "p1 > f1 a b",
        "time A=1 p1",
        "coproc A=1 p1",
        "! p1 a 2> f1 b",
        "p1 -2> f1",
        "p1 >&-2",
        "p1 <<EOF a b\nx\nEOF",
        "![[ -n a ]]",
        "[[a -n b ]]",
        "{'p1' a; }",
        "true ||{}",
        "time *a=b",
        "time 'p1'= a",
        "A\\\n=1 'p1'",
        "for i in `p1 a` `p2 b`; do p3; done",
        "p1 $(p2 <<E\nx\nE\np3;p4)",
        "p1 {a,,b} {c,}",
        "coproc a[[ -n x ]]",
        "cd sub 2>f1 && p1 > f2",
        "p1 <<EOF\nx\\\nEOF\np2 '$(p3)'\nEOF",
        "p1 \"${x:-'$(p2)'}\"",
    ],
)
def test_where_the_grammar_errs_nothing_is_lost(tmp_path: Path, script: str):
    assert missed(script, tmp_path) == []


@pytest.mark.parametrize(
    "script",
    [
        "echo $(($(a)))",
        "echo ${x:$(a)}",
        "(($(a)))",
        "[[ $(a) -eq 1 ]]",
        "for ((i=$(a); i<1; i++)); do b; done",
        "x=$(a); echo $((x))",
        "x='y[$(a)]'; ((x))",
        "read x < f; echo $((x))",
        "for i in *; do echo $((i)); done",
        "for i in `a` `b`; do c; done",
        "echo ${x@P}",
    ],
)
def test_a_calculation_with_what_is_not_written_down_is_a_doubt(script: str):
    assert parse_script(script).doubts


@pytest.mark.parametrize(
    "script", ["i=1; ((i++))", "[[ -n $(a) ]]", "x=$(a); echo $x", "echo $((1 + 2)) ${x:-1}"]
)
def test_other_calculations_are_none(script: str):
    assert parse_script(script).doubts == ()


def simple_sources(steps: tuple[Step, ...]) -> list[str]:
    """Write steps down, nested ones in brackets."""
    lines: list[str] = []
    for step in steps:
        match step:
            case SimpleCommand():
                lines.append(" ".join(word.source for word in step.words))
            case Construct():
                lines.append(step.source)
            case Block():
                marks = (
                    "own" * step.is_own_shell,
                    "maybe" * (not step.is_certain),
                    "again" * step.is_repeated,
                )
                lines += [" ".join(filter(None, marks)) + "(", *simple_sources(step.steps), ")"]
    return lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a; b", ["a", "b"]),
        ("a && b || c", ["a", "maybe(", "b", ")", "maybe(", "c", ")"]),
        ("a | b", ["own(", "a", ")", "own(", "b", ")"]),
        ("(a) & b", ["own(", "own(", "a", ")", ")", "b"]),
        ("x $(a)", ["own(", "a", ")", "x $(a)"]),
        ("while a; do b; done", ["maybe again(", "a", "maybe(", "b", ")", ")"]),
        ("f() { a; }", ["f()", "maybe(", "(", "a", ")", ")"]),
    ],
)
def test_steps_keep_their_order_and_surroundings(text: str, expected: list[str]):
    assert simple_sources(parse_script(text).steps) == expected


def test_values_and_functions_are_noted_wherever_they_stand():
    script = parse_script("a=1; export b=2; (a=3); for c in x y; do :; done; f() { d=`e=4`; }")

    values = {name: [word.source for word in words] for name, words in script.values.items()}
    assert (values, script.functions) == (
        {"a": ["1", "3"], "b": ["2"], "c": ["x", "y"], "d": ["`e=4`"], "e": ["4"]},
        frozenset({"f"}),
    )


def test_a_text_fed_to_a_command_is_kept():
    (step,) = parse_script("sh <<-'E'\n\tone\n\t\ttwo\n\tE").steps

    assert isinstance(step, SimpleCommand)
    assert (step.feed, step.text and step.text.source) == ("text", "one\ntwo\n")
