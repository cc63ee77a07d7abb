"""A release contains what it should and nothing else; `make dist` also installs and tests it."""

import tarfile
import zipfile
from pathlib import Path

import pytest

from scripts.dist import IN_A_WHEEL, build, check_sdist, check_wheel

INFO = "bridle_agent-1.dist-info"


@pytest.mark.timeout(600)
def test_a_release_holds_what_it_should(tmp_path: Path):
    wheel, sdist = build(tmp_path)

    assert check_wheel(wheel) == []
    assert check_sdist(sdist) == []
    # What was built from one commit is the same, whoever builds it and when.
    with zipfile.ZipFile(wheel) as archive:
        assert len({one.date_time for one in archive.infolist()}) == 1
    with tarfile.open(sdist) as tar:
        assert {(one.uid, one.gid) for one in tar.getmembers()} == {(0, 0)}
        assert len({one.mtime for one in tar.getmembers()}) == 1


def test_what_does_not_belong_or_is_missing_is_named(tmp_path: Path):
    wheel, sdist = tmp_path / "x.whl", tmp_path / "x.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in (*IN_A_WHEEL[1:], "bridle/tests/test_x.py", "bridle/__pycache__/x.pyc"):
            archive.writestr(name, "")
        archive.writestr(f"{INFO}/METADATA", "Name: bridle-agent\nSummary: x\n")
        archive.writestr(f"{INFO}/entry_points.txt", "[console_scripts]\nbridle = x:y\n")
    with tarfile.open(sdist, "w:gz") as tar:
        tar.add(wheel, "bridle_agent-1/src/__pycache__/x.pyc")

    found = check_wheel(wheel)

    assert [one for one in found if "licence" not in one and "manual page" not in one] == [
        "bridle/tests/test_x.py is in the wheel",
        "bridle/__pycache__/x.pyc is in the wheel",
        f"{IN_A_WHEEL[0]} is missing from the wheel",
        "the metadata has no License-Expression",
        "the metadata has no Requires-Python",
        "the metadata has no Description-Content-Type",
        "the metadata has no Provides-Extra",
        "the program bridle-rpc is missing",
    ]
    assert "the licence LICENSE is missing from the wheel" in found
    assert "the manual page man1/bridle.1 is missing from the wheel" in found
    assert check_sdist(sdist)[-1] == "src/__pycache__/x.pyc is in the sdist"
    assert "LICENSE is missing from the sdist" in check_sdist(sdist)
