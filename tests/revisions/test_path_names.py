"""A recorded name is plain text, and maps back to the one path it came from."""

import os

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.revisions.path_names import decode_name, encode_name, escape, printable, unescape

STEPS = st.binary(min_size=1, max_size=8).map(lambda step: step.replace(b"/", b"_").replace(b"\0", b"\\"))
RAW_PATHS = st.lists(STEPS.filter(lambda step: step not in (b".", b"..")), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("path", "cwd", "name"),
    [
        ("/project/src/a.py", "/project", "src/a.py"),
        ("/project", "/project", "."),
        ("/projects/a", "/project", "/projects/a"),
        ("/other/a", "/project", "/other/a"),
        ("/a/b", "/", "a/b"),
        ("/", "/", "."),
        ("/project/a\\b", "/project", "a\\\\b"),
        ("/project/caf\udce9", "/project", "caf\\xe9"),
        ("/project/\\xe9", "/project", "\\\\xe9"),
        ("/project/two\nlines", "/project", "two\nlines"),
    ],
)
def test_a_path_has_a_name_and_the_name_leads_back(path: str, cwd: str, name: str):
    assert (encode_name(path, cwd), decode_name(name, cwd)) == (name, path)


@given(st.lists(RAW_PATHS, max_size=3))
def test_names_can_be_stored_and_lead_back(paths: list[list[bytes]]):
    absolute = [os.fsdecode(b"/" + b"/".join(steps)) for steps in paths]
    stored = msgspec.json.decode(msgspec.json.encode([encode_name(path, "/w") for path in absolute]))

    assert [decode_name(name, "/w") for name in stored] == absolute
    assert [unescape(escape(path)) for path in absolute] == absolute


@pytest.mark.parametrize(
    "name",
    [
        "",
        "..",
        "../a",
        "a/../b",
        "a//b",
        "./a",
        "a/",
        "a/.",
        "//a",
        "/",
        "a\0b",
        "a\\",
        "\\q",
        "\\x2f",
        "\\xE9",
    ],
)
def test_a_name_that_is_never_given_is_refused(name: str):
    with pytest.raises(ValueError, match=r"is not a path that can be recorded|has an invalid backslash"):
        decode_name(name, "/project")


def test_what_is_shown_is_one_line():
    assert printable("a\nb\x1b[2J é") == "a\\nb\\x1b[2J é"
