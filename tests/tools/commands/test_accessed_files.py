"""Files and hosts among arguments."""

import shlex

import pytest

from bridle.tools.commands.accessed_files import find_hosts, find_paths, path_guesses
from bridle.tools.commands.expansion import Argument


def split(line: str) -> tuple[str, list[Argument]]:
    name, *words = shlex.split(line)
    return name, [Argument(word, word) for word in words]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cat a b", "<a <b"),
        ("echo a", ""),
        ("head -n 5 a", "<a"),
        ("sort -o x -T y a", ">x >y <a"),
        ("grep x a b", "<a <b"),
        ("grep -e x a", "<a"),
        ("grep -f p a", "<p <a"),
        ("rg --files a", "<a"),
        ("sed p a", "<a"),
        ("sed -i.bak p a", ">a"),
        ("sed -e p -i a", ">a"),
        ("cp a b c", "<a <b >c"),
        ("cp -t c a b", ">c <a <b"),
        ("mv a b", ">a >b"),
        ("ln -s a b", "<a >b"),
        ("ln a", "<a"),
        ("chmod 644 a b", ">a >b"),
        ("chmod --reference=r a", "<r >a"),
        ("uniq a b", "<a >b"),
        ("dd if=a of=b bs=1", "<a >b"),
        ("tar czf x a", ">x <a?"),
        ("tar -xf x", "<x"),
        ("tar -c -f x a", ">x <a?"),
        ("find a b -name x", "<a <b"),
        ("find a -delete", ">a"),
        ("find -name x", "<."),
        ("find a -newer b -fprint c", "<a <b >c"),
        ("ls", "<."),
        ("ls -l a", "<a"),
        ("foo -x a --y=b", "<-x? <b? <a?"),
        ("git checkout a", ">checkout? >a?"),
        ("curl -o x -K k u", "<k >x <u?"),
        ("tee -a x y", ">x >y"),
    ],
)
def test_paths_and_what_is_done_to_them(line: str, expected: str):
    touches = find_paths(*split(line))

    marks = {"read": "<", "write": ">"}
    assert " ".join(f"{marks[t.access]}{t.path.source}{'?' * t.is_guess}" for t in touches) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", ["a"]),
        ("--x=a/b", ["a/b"]),
        ("-xa", ["a"]),
        ("@a", ["@a", "a"]),
        ("x=@a", ["@a", "a"]),
        ("A=a:b", ["a:b", "b"]),
        ("HEAD:a", ["HEAD:a", "a"]),
        ("a,b", ["a,b", "a", "b"]),
        ("--", []),
    ],
)
def test_a_path_may_be_a_part_of_an_argument(value: str, expected: list[str]):
    assert path_guesses(value) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("curl https://A.example:1/x?y", ["a.example"]),
        ("curl -sSL a.example b.example/x", ["a.example", "b.example"]),
        ("curl -H 'Host: evil' https://a.example", ["a.example"]),
        ("curl https://good@evil.example/", ["evil.example"]),
        ("curl --url=https://a.example", ["a.example"]),
        ("curl localhost:80", ["localhost"]),
        ("ssh -p 2 bob@host ls x.y", ["x.y", "host"]),
        ("scp a.txt bob@host:/x", ["host"]),
        ("rsync -a a.b host:x", ["host"]),
        ("git clone git@host.example:a/b", ["host.example"]),
        ("git fetch https://host.example/x", ["host.example"]),
        ("git log https://host.example/x", []),
        ("pip install https://host.example/x", ["host.example"]),
        ("foo https://host.example/x", ["host.example"]),
        ("echo https://host.example", []),
        ("grep https://host.example a", []),
        ("nc host 80", ["host"]),
        ("curl 'https://[::1'", []),
    ],
)
def test_hosts(line: str, expected: list[str]):
    assert find_hosts(*split(line)) == expected
