import os
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import SessionNotFound, UsageError
from bridle.core.ids import SessionId
from bridle.core.summary import SessionSummary
from bridle.surfaces.cli.session_lookup import find_newest_session, find_session, resolve_directory


def session(name: str, cwd: str = "/a", at: int = 0, *, archived: bool = False) -> SessionSummary:
    return SessionSummary(SessionId(name), f"title of {name}", cwd, "default", at, at, 1, archived)


SESSIONS = [session("abc"), session("abcd"), session("xyz")]


@pytest.mark.parametrize(("wanted", "found"), [("abc", "abc"), ("abcd", "abcd"), ("x", "xyz")])
def test_an_id_or_its_start(wanted: str, found: str):
    assert find_session(SESSIONS, wanted).id == found


@pytest.mark.parametrize("wanted", ["", "q", "xyzz", "../etc"])
def test_an_unknown_session(wanted: str):
    with pytest.raises(SessionNotFound, match=re.escape(f'no session "{wanted}"')):
        find_session(SESSIONS, wanted)


def test_several_matches_are_listed():
    with pytest.raises(UsageError) as error:
        find_session(SESSIONS, "ab")

    assert error.value.message == '"ab" could mean 2 sessions:\n  abc  title of abc\n  abcd  title of abcd'


def test_a_long_list_of_matches_is_cut():
    with pytest.raises(UsageError) as error:
        find_session([session(f"s{number:02}") for number in range(15)], "s")

    assert error.value.message.splitlines()[-1] == "  and 5 more"


def test_the_newest_session_of_a_directory():
    sessions = [
        session("a", at=1),
        session("b", at=3, archived=True),
        session("c", "/b", 5),
        session("d", at=2),
    ]

    assert find_newest_session(sessions, "/a").id == "d"
    with pytest.raises(SessionNotFound, match="no session was started in /nowhere"):
        find_newest_session(sessions, "/nowhere")


def test_a_sub_agent_is_not_what_somebody_wants_to_go_on_with():
    sessions = [session("a", at=1), replace(session("b", at=2), parent=SessionId("a"), sub_agent=True)]

    assert find_newest_session(sessions, "/a").id == "a"


def test_a_working_directory_has_no_links_in_it(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    assert resolve_directory(str(tmp_path / "link")) == str(tmp_path / "real")
    with pytest.raises(UsageError, match="is not a directory"):
        resolve_directory(str(tmp_path / "missing"))


def test_a_directory_whose_name_is_no_text_is_refused(tmp_path: Path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)

    with pytest.raises(UsageError, match="not UTF-8"):
        resolve_directory(os.fsdecode(folder))
