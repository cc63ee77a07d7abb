"""One process runs a session; its claim dies with it and leaves nothing that stands in the way."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.core.ports import Claims
from bridle.stores.claims import FileClaims, LocalClaims

S = SessionId("s")

HOLD = """
import sys, time
from pathlib import Path
from bridle.stores.claims import FileClaims
print(FileClaims(Path(sys.argv[1])).claim("s"), flush=True)
time.sleep(60)
"""


@pytest.fixture(params=["file", "local"])
def claims(request: pytest.FixtureRequest, tmp_path: Path) -> Claims:
    return FileClaims(tmp_path / "claims") if request.param == "file" else LocalClaims()


def test_a_session_is_claimed_once_until_it_is_released(claims: Claims):
    taken = [claims.claim(S), claims.claim(S), claims.claim(SessionId("other"))]
    claims.release(S)
    taken += [claims.claim(S)]

    assert taken == [True, False, True, True]


def test_releasing_what_is_not_held_changes_nothing(claims: Claims):
    claims.release(S)

    assert claims.claim(S)


def test_two_holders_of_one_directory_exclude_each_other(tmp_path: Path):
    here, there = FileClaims(tmp_path), FileClaims(tmp_path)

    assert (here.claim(S), there.claim(S)) == (True, False)
    there.release(S)
    assert not there.claim(S)
    here.release(S)
    assert there.claim(S)


def test_a_claim_dies_with_its_process(tmp_path: Path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"True\n"
    claims = FileClaims(tmp_path)

    while_it_lives = claims.claim(S)
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()

    assert (while_it_lives, claims.claim(S)) == (False, True)


def test_nothing_is_left_behind(tmp_path: Path):
    claims = FileClaims(tmp_path / "run" / "claims")
    claims.claim(S)
    descriptors = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else None
    FileClaims(tmp_path / "run" / "claims").claim(S)
    if descriptors is not None:
        assert len(os.listdir("/proc/self/fd")) == descriptors

    claims.release(S)

    assert list((tmp_path / "run" / "claims").iterdir()) == []


def test_only_the_owner_can_look(tmp_path: Path):
    claims = FileClaims(tmp_path / "claims")
    claims.claim(S)

    modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "claims", tmp_path / "claims" / "s.lock")]

    assert modes == [0o700, 0o600]


def test_a_directory_that_cannot_be_made_is_a_clear_error(tmp_path: Path):
    (tmp_path / "run").write_text("a file")

    with pytest.raises(StoreError, match=r"run/claims.*[Nn]ot a directory"):
        FileClaims(tmp_path / "run" / "claims").claim(S)
