"""Attack 12: planted secrets, a broad play on every surface, and a search in every byte that is left."""

import asyncio
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.canaries import Found, kept_in, search
from tests.attacks.leaky_play import HARMLESS, IN_A_FILE, TYPED, Kept, environment, play, secrets
from tests.environment import folder_outside_tmp
from tests.surfaces.command import Bridle

pytestmark = pytest.mark.slow
WRITTEN_BY_THE_USER = "config.toml"
THE_TOKEN = "run/token"


@pytest.fixture(scope="module")
def kept() -> Iterator[Kept]:
    """Yield everything that one play has left."""
    with folder_outside_tmp("attacks") as world:
        home, project = world / "home/.bridle", world / "project"
        home.mkdir(parents=True)
        project.mkdir()
        yield asyncio.run(play(Bridle(environment(home), project), world))


def in_the_home(kept: Kept, wanted: dict[str, str]) -> Found:
    return {found for found in search(kept_in(kept.home), wanted) if found[0] != WRITTEN_BY_THE_USER}


def test_no_secret_is_stored_or_logged(kept: Kept):
    assert in_the_home(kept, secrets()) == set()


def test_no_secret_is_printed_answered_exported_told_to_a_collector_or_in_a_list_of_processes(kept: Kept):
    assert search(kept.told, secrets()) == set()


def test_the_token_of_the_daemon_is_in_its_file_alone(kept: Kept):
    assert in_the_home(kept, {"token": kept.token}) == {(THE_TOKEN, "token")}
    assert search(kept.told, {"token": kept.token}) == set()


def test_what_the_user_types_and_what_lies_in_files_is_kept_and_not_logged(kept: Kept):
    """These are the exceptions of SECURITY.md, and they show that the search finds secrets."""
    found = {where.split("/")[0] for where, _ in in_the_home(kept, {"typed": TYPED, "file": IN_A_FILE})}

    assert found == {"bridle.db", "memory"}


def test_what_nobody_could_know_as_a_secret_is_found_in_all_of_them(kept: Kept):
    """The control: the same play and the same search, with a variable whose name says nothing."""
    stored = {where.split("/")[0] for where, _ in in_the_home(kept, {"it": HARMLESS})}
    told = {where for where, _ in search(kept.told, {"it": HARMLESS})}

    assert stored == {"blobs", "bridle.db", "memory"}
    for speaker in (
        "bridle run",
        "bridle session export",
        "REST env",
        "REST cell",
        "REST child",
        "collector",
    ):
        assert any(where.startswith(speaker) for where in told), speaker
    said = [where for where, data in kept.told if data]
    for speaker in ("bridle doctor", "REST echo", "refusal 5", "process"):
        assert any(where.startswith(speaker) for where in said), speaker


@pytest.mark.parametrize("form", ["plain", "packed", "database", "packed in a database"])
def test_the_search_finds_what_is_there(tmp_path: Path, form: str):
    """The control of the search itself."""
    secret = "canary-5f0c2b7e91"
    data = f"before {secret} after ".encode() * 40
    if form == "packed":
        data = b"mark" + zlib.compress(data)
    if "database" in form:
        with sqlite3.connect(tmp_path / "kept.db") as opened:
            opened.execute("create table kept (data blob)")
            opened.execute(
                "insert into kept values (?)", (zlib.compress(data) if "packed" in form else data,)
            )
        opened.close()
    else:
        (tmp_path / "kept.db").write_bytes(data)

    assert search(kept_in(tmp_path), {"it": secret, "other": "nowhere-1234"}) == {("kept.db", "it")}
