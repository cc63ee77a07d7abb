from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.config.edit_tables import add_table, remove_table
from bridle.config.toml_document import parse_toml
from bridle.core.errors import ConfigError

A = ("mcp", "servers", "a")


def added(file: Path, text: str) -> str:
    file.write_text(text)
    add_table(file, A, {"command": "x", "args": ["1"], "env": {"K": "v"}})
    return file.read_text()


def removed(file: Path, text: str) -> str:
    file.write_bytes(text.encode())
    assert remove_table(file, A)
    return file.read_bytes().decode()


NEW = '[mcp.servers.a]\ncommand = "x"\nargs = ["1"]\nenv = { K = "v" }\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", NEW),
        ("# mine\n", f"# mine\n\n{NEW}"),
        ('model = "a/b"', f'model = "a/b"\n\n{NEW}'),
        ('[mcp.servers.b]\ncommand = "y" # why\n', f'[mcp.servers.b]\ncommand = "y" # why\n\n{NEW}'),
    ],
)
def test_a_table_is_added_at_the_end(tmp_path: Path, before: str, after: str):
    assert added(tmp_path / "config.toml", before) == after


def test_lines_end_as_the_others_do(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_bytes(b'model = "a/b"\r\n')

    add_table(file, A, {"command": "x"})

    assert file.read_bytes() == b'model = "a/b"\r\n\r\n[mcp.servers.a]\r\ncommand = "x"\r\n'


def test_the_file_is_made_if_need_be(tmp_path: Path):
    file = tmp_path / "new" / "config.toml"

    add_table(file, A, {"command": "x"})

    assert file.read_text() == '[mcp.servers.a]\ncommand = "x"\n'
    assert not remove_table(tmp_path / "none.toml", A)


@pytest.mark.parametrize(
    ("text", "table", "message"),
    [
        ('[mcp.servers.a]\ncommand = "y"\n', {"command": "x"}, "mcp.servers.a already exists"),
        ("mcp.servers.a = {}\n", {"command": "x"}, "mcp.servers.a already exists"),
        (
            'mcp = { servers = { b = { command = "y" } } }\n',
            {"command": "x"},
            "cannot be changed automatically",
        ),
        ("", {"command": 1}, "mcp.servers.a.command must be a program, not 1"),
        ("nonsense = 1\n", {"command": "x"}, "unknown key nonsense"),
        ("not toml", {"command": "x"}, "not valid TOML"),
    ],
)
def test_what_cannot_be_added_changes_nothing(
    tmp_path: Path, text: str, table: dict[str, object], message: str
):
    file = tmp_path / "config.toml"
    file.write_text(text)

    with pytest.raises(ConfigError, match=message):
        add_table(file, A, table)
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (NEW, ""),
        (
            f"# top\n\n{NEW}\n# about limits\n[limits]\nmax_turns = 1\n",
            "# top\n\n# about limits\n[limits]\nmax_turns = 1\n",
        ),
        (f"{NEW}# inside\n\n[mcp.servers.a.oauth]\nclient_id = 'q'\n", ""),
        (f"[mcp.servers.b]\ncommand = 'y'\n\n{NEW}", "[mcp.servers.b]\ncommand = 'y'\n"),
        ("[mcp.servers]\na = { command = 'x' } # why\nb.command = 'y'\n", "[mcp.servers]\nb.command = 'y'\n"),
        ("[mcp.servers]\na.command = 'x'\na.args = []\n", "[mcp.servers]\n"),
        ("mcp.servers.a.command = 'x'\nmodel = 'a/b'\n", "model = 'a/b'\n"),
        ("mcp.servers = { a = { command = 'x' }, b = {} }\n", "mcp.servers = { b = {} }\n"),
        ("mcp.servers = { b = {}, a = { command = 'x' } }\n", "mcp.servers = { b = {} }\n"),
        ("mcp.servers = { a = {} }\n", "mcp.servers = {  }\n"),
        (
            "[limits]\r\nmax_turns = 1\r\n[mcp.servers.a]\r\ncommand = 'x'\r\n",
            "[limits]\r\nmax_turns = 1\r\n",
        ),
    ],
)
def test_a_table_is_taken_out_and_the_rest_stays(tmp_path: Path, before: str, after: str):
    assert removed(tmp_path / "config.toml", before) == after


def test_a_text_of_several_lines_is_not_touched(tmp_path: Path):
    text = "[providers.p.params]\nx = '''\n\n\n\n[mcp.servers.a]\n'''\n"

    assert removed(tmp_path / "config.toml", f"{text}\n{NEW}") == text


PIECES = st.sampled_from(
    [
        '[mcp.servers.a]\ncommand = "x"\n',
        '[mcp.servers.a.oauth]\nclient_id = "x"\n',
        "# a comment\n[mcp.servers.b]\n# inner\ncommand = 'y'\n\n",
        "[limits]\nmax_turns = 3 # three\n\n\n",
        "[rules]\nallow = [\n  'a', # one\n]\n",
        "\n# end\n",
    ]
)


@given(st.lists(PIECES, unique=True))
def test_whatever_stands_around_it_stays(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]):
    file = tmp_path_factory.mktemp("edit") / "config.toml"
    file.write_text("".join(pieces))
    kept = [piece for piece in pieces if "servers.a" not in piece]

    was_there = remove_table(file, A)

    assert was_there == (kept != pieces)
    assert parse_toml(file.read_text(), "") == parse_toml("".join(kept), "")
    comments = [line for line in file.read_text().splitlines() if "#" in line]
    assert comments == [line for line in "".join(kept).splitlines() if "#" in line]
