"""The small grammar of lines that may run without approval."""

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.core.permission import judge
from bridle.tools.commands import shell_access
from bridle.tools.commands.expansion import expand
from bridle.tools.commands.parser import parse_script
from bridle.tools.commands.plain_grammar import MAX_WORDS, NotPlain, check_plain, parse_plain
from bridle.tools.commands.script import Block, SimpleCommand, Step

PLAIN = [
    "ls",
    "  ls  ",
    "ls -la src",
    "ls; pwd",
    "ls;",
    "ls\n\npwd\n",
    "ls && pwd || id",
    "ls |\n wc -l",
    "ls |& wc",
    "ls # and why",
    "# first\nls",
    "ls \\\n  -l",
    "cat 'a b' \"c d\" e\\ f",
    'grep "a\\"b\\$c" x',
    "echo ''",
    "echo a#b '#c'",
    "cat $HOME/x ${PWD}/y",
    'cat "$HOME/x"',
    "echo $?",
    "ls ~/x ~",
    "ls *.py [a-c]?.txt",
    "cat a.{txt,md} {1..3}",
    "find . -name '*.py' -not -path './x/*'",
    "cat < a.txt",
    "ls > /dev/null 2>&1",
    "ls 2>/dev/null >&2",
    "ls &>/dev/null",
    "ls > f",
    "ls 2>> 'a b'",
    "ls > /dev/null/../x",
    "[ -f a ] && ls",
    "git log --format='%h %s' -5",
    "echo größe",
    "git log HEAD~1 HEAD^2~3",
    "git show HEAD@{1} @{u}.. main@{1.day.ago}",
    'grep "a\\.b" f',
    'printf "%s\\n" x',
    'echo "a\\tb\\\\"',
    "cat main.c~",
]

NOT_PLAIN = [
    "",
    "'ls'",
    "\\ls",
    "l\\s",
    "A=b ls",
    "a[0]=x",
    "ls $x",
    "ls ${x}",
    "ls ${HOME:-x}",
    "ls $HOMEX",
    "ls $HOME{a,b}",
    'ls "$x"',
    "ls $1",
    "ls $(pwd)",
    "ls `pwd`",
    'ls "`pwd`"',
    "ls $((1))",
    "ls $[1]",
    "ls $'a'",
    'ls $"a"',
    "ls <(pwd)",
    "cat <<END\nEND",
    "cat <<< a",
    "ls >| f",
    "ls &> f",
    "ls &>> f",
    "ls > $x",
    "> f",
    "ls <> f",
    "ls>/dev/null",
    "ls 3>/dev/null",
    "ls 12>/dev/null",
    "ls >&219",
    "ls >&-",
    "ls 0>/dev/null",
    "ls 2<f",
    "ls &",
    "ls & pwd",
    "(ls)",
    "{ ls; }",
    "! ls",
    "time ls",
    "coproc ls",
    "if ls; then pwd; fi",
    "for i in a; do ls; done",
    "while ls; do pwd; done",
    "case a in a) ls;; esac",
    "function f { ls; }",
    "f() { ls; }",
    "[[ -f a ]]",
    "((1))",
    "ls ;; pwd",
    "ls && ; pwd",
    "ls &&",
    "ls |",
    "| ls",
    "; ls",
    "ls 'a",
    'ls "a',
    "ls a\\\nb",
    "echo a\\\n#; touch P",
    "ls \\\n# x",
    "ls \\\n\\\n-l",
    "ls \\",
    "echo !(a|b)",
    "ls {a",
    "ls {a,{b,c}}",
    "ls a{,b}",
    "ls [a",
    "ls [[:alpha:]]",
    "ls ~root",
    "ls ~+",
    "ls a=~/b",
    "ls a:~/b",
    "ls ~'/x'",
    'echo "a\\\nb"',
    "ls {a}{b",
    "ls {a..}",
    "ls \x07",
    "ls a;b\\",
    ": 'a[$(touch P)]'; [[ _ -eq 0 ]]",
]


@pytest.mark.parametrize("line", PLAIN)
def test_what_is_plain_is_proven(line: str):
    assert check_plain(line, parse_script(line)).steps


@pytest.mark.parametrize("line", NOT_PLAIN)
def test_nothing_else_is(line: str):
    with pytest.raises(NotPlain) if line else pytest.raises(AssertionError):
        assert parse_plain(line).steps


def test_more_words_than_a_person_would_read_are_not_plain():
    with pytest.raises(NotPlain, match="more than"):
        parse_plain("echo" + " a" * MAX_WORDS)


def words_of(steps: tuple[Step, ...]) -> list[list[str]]:
    found = []
    for step in steps:
        if isinstance(step, Block):
            found += words_of(step.steps)
        elif isinstance(step, SimpleCommand):
            names = {"HOME": "/home/me", "PWD": "/work", "?": "0"}
            found.append([field.value or "" for word in step.words for field in expand(word, names)])
    return found


WORDS = r"""a|b c|'x y'|"p $HOME q"|\'|\"|\$|\\|#| #|$PWD|-l|=|''|é|{a,b}|@{1}|a~1|"\.x"|"\n"|'|"|$""".split(
    "|"
)
BETWEEN = [
    " ",
    "  ",
    ";",
    "\n",
    " && ",
    " | ",
    " \\\n ",
    "\\\n",
    "&",
    "2>/dev/null ",
    " 2>/dev/null ",
]
BITS = st.sampled_from([*WORDS, *BETWEEN])


@given(st.lists(BITS, max_size=8).map("".join))
@settings(max_examples=300, deadline=None)
def test_bash_reads_the_same_words(line: str):
    """Each command becomes a call of a function that prints its words."""
    try:
        script = parse_plain(f"w {line}")
    except NotPlain:
        return
    expected = words_of(script.steps)
    names = {words[0] for words in expected}
    if any(not name.isidentifier() or not name.isascii() for name in names):
        return
    show = 'printf "%s\\\\0" "$FUNCNAME" "$@" >&3; printf "\\\\1\\\\0" >&3; '
    functions = "".join(f"{name}() {{ {show.replace(chr(92) * 2, chr(92))} }}; " for name in names)
    done = subprocess.run(
        ["/bin/bash", "-c", f"exec 3>&1 >/dev/null\n{functions}\nw {line}"],
        capture_output=True,
        env={"HOME": "/home/me", "PATH": "/nonexistent", "LC_ALL": "C.UTF-8"},
        cwd="/",
        check=False,
    )
    told = [part.split("\0")[:-1] for part in done.stdout.decode().split("\1\0")[:-1]]

    assert sorted(told) == sorted([_in_root(words) for words in expected]), done.stderr


def _in_root(words: list[str]) -> list[str]:
    return [word.replace("/work", "/") for word in words]


# ---------------------------------------------------------------------------- what follows of it


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / "a.txt").touch()
    return str(tmp_path)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("for f in a; do cat a.txt; done", "a loop"),
        ("echo $(cat a.txt)", "a substitution"),
        ("cat <<< a", "a here-string"),
        ("(ls)", "a subshell"),
    ],
)
def test_a_line_that_is_not_plain_is_asked_about_with_its_reason(root: str, line: str, why: str):
    access = shell_access(line, root, root)

    assert not access.reads_only
    assert [judge(access, [], mode).action for mode in ("ask", "plan", "accept-edits", "yolo")] == [
        "ask",
        "ask",
        "ask",
        "allow",
    ]
    assert judge(access, [], "ask").why == f"cannot prove that this command line only reads: it has {why}"


def test_values_that_double_are_soon_given_up(root: str):
    line = "a=x; " + "a=$a$a;" * 64 + " ls $a"
    start = time.thread_time()
    access = shell_access(line, root, root)

    assert time.thread_time() - start < 5
    assert judge(access, [], "ask").action == "ask"


N = 60_000


@pytest.mark.parametrize(
    "line",
    [
        f"printf '%{'0' * N}'",
        f"printf '{'%0' * (N // 2)}'",
        f"printf '%.{'1' * N}'",
        f"<<{'a' * N}",
        f"ls <\u2039{'a' * N}",
        '"' * N,
        "'" * (N - 1),
        f'"{chr(92) * N}',
        f"echo {'{' * N}",
        f"echo {'{a,' * (N // 3)}",
        f"echo {'[' * N}",
        f"echo {'*' * N}",
        f"echo '{'*' * N}'",
        f"cat {'a*' * (N // 2)}",
        f"sed -n '{'1,' * (N // 2)}p' a",
        f"sed 's/{'a' * N}' a",
        f"sed '{'p;' * (N // 2)}x' a",
        f"jq '{'import ' * (N // 7)}'",
        f"curl {'a.' * (N // 2)}",
        f"curl {'a-' * (N // 2)}!",
        f"ls {'../' * (N // 3)}",
        f"ls {'a/' * (N // 2)}",
        f"ls {'~' * N}",
        f"git log --format='{'%' * N}'",
        f"echo {'$HOME' * (N // 5)}",
        f"echo '{'x' * N}'{chr(92)}",
        "ls;" * (N // 3),
        "ls " + "-" * N,
        "# " * (N // 2),
        "a=" + "b=" * (N // 2),
    ],
    ids=lambda line: line[:16],
)
def test_no_line_holds_up_the_judge(root: str, line: str):
    start = time.thread_time()
    shell_access(line, root, root)

    assert time.thread_time() - start < 5
