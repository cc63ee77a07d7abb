"""The commands that wrappers such as `env` and `xargs` run."""

import shlex

import pytest

from bridle.tools.commands.expansion import Argument
from bridle.tools.commands.wrappers import Argv, CommandText, Inner, UnknownCommand, unwrap


def shown(inner: list[Inner]) -> list[str]:
    lines = []
    for item in inner:
        match item:
            case Argv(fields, has_more, folder):
                where = f" @{folder.source}" if folder is not None else ""
                lines.append(" ".join(field.shown for field in fields) + " …" * has_more + where)
            case CommandText(text):
                lines.append(f"<{text}>")
            case UnknownCommand():
                lines.append("?")
    return lines


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ls", []),
        ("env", []),
        ("env A=1 -", ["-"]),
        ("env -i -u B A=1 C=2 ls -l", ["ls -l"]),
        ("env - ls", ["ls"]),
        ("env --unset=A -C x ls", ["ls @x"]),
        ("env -S 'A=1 ls -l' x", ["ls -l x"]),
        ("env -S \"ls 'a b'\"", ["?"]),
        ("env --weird ls", ["?"]),
        ("nice ls", ["ls"]),
        ("nice -5 ls", ["ls"]),
        ("nice -n 5 ls", ["ls"]),
        ("timeout -k 1 5 ls", ["ls"]),
        ("timeout --signal=KILL 5 ls", ["ls"]),
        ("timeout 5", []),
        ("sudo -n -u bob -- A=1 ls", ["ls"]),
        ("sudo -s ls", ["?"]),
        ("doas -u bob ls", ["ls"]),
        ("time -p A=1 ls", ["ls"]),
        ("command -p ls", ["ls"]),
        ("command -v ls", []),
        ("exec -a x ls", ["ls"]),
        ("exec", []),
        ("chroot / ls", ["ls"]),
        ("taskset 1 ls", ["ls"]),
        ("xargs -0 -I {} ls {}", ["ls {} …"]),
        ("xargs", []),
        ("xargs --weird ls", ["?"]),
        ("find . -name x -exec ls {} ; -ok rm {} +", ["ls {} …", "rm {} …"]),
        ("find . -exec ls", ["ls …"]),
        ("find . -exec", [" …"]),
        ("bash -c ls", ["<ls>"]),
        ("bash -xec ls a", ["<ls>"]),
        ("bash -c -e ls", ["<ls>"]),
        ("bash +B -O extglob --rcfile x -c ls", ["<ls>"]),
        ("bash -eo pipefail -c ls", ["<ls>"]),
        ("bash -c -- ls", ["<ls>"]),
        ("bash x -c ls", []),
        ("bash -c", ["?"]),
        ("bash", []),
        ("eval ls -l", ["<ls -l>"]),
        ("eval", []),
        ("trap ls EXIT", ["<ls>"]),
        ("trap -- ls EXIT", ["<ls>"]),
        ("trap - EXIT", []),
        ("trap '' EXIT", []),
        ("trap -p", []),
        ("watch -n 2 ls -l", ["<ls -l>"]),
        ("script -c ls x", ["<ls>"]),
        ("script x", []),
        ("flock x ls -l", ["ls -l"]),
        ("flock -n x -c ls", ["<ls>"]),
        ("su bob -c ls", ["<ls>"]),
        ("su", []),
        ("parallel ls {} ::: a", ["<ls {}>"]),
        ("parallel ::: ls", ["?"]),
        ("mapfile x", []),
        ("mapfile -C ls x", ["?"]),
        ("uv run --with x pytest -q", ["pytest -q"]),
        ("uv sync", []),
        ("npx -y tsc", ["tsc"]),
        ("bundle exec rake", ["rake"]),
    ],
)
def test_what_is_run(line: str, expected: list[str]):
    name, *words = shlex.split(line)

    assert shown(unwrap(name, [Argument(word, word) for word in words])) == expected


@pytest.mark.parametrize("name", ["env", "timeout", "xargs", "bash", "eval", "watch", "parallel", "sudo"])
def test_a_word_that_is_not_known_may_be_anything(name: str):
    assert shown(unwrap(name, [Argument("$x"), Argument("ls", "ls")])) == ["?"]
