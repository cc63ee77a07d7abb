"""Whether a folder has code that a server is there for: a short look, seldom."""

import os
from pathlib import Path

from bridle.tools.code.useful import LOOK_AGAIN_S, MAX_ENTRIES, Usefulness
from tests.tools.code.fake import FakeLanguages


class Clock:
    now = 5.0

    def __call__(self) -> float:
        return self.now


def is_useful(folder: Path) -> bool:
    return Usefulness(FakeLanguages())(str(folder))


def test_code_is_found_some_way_down_but_not_in_what_others_have_made(cwd: Path):
    found = {}
    for number, place in enumerate(
        (".", "a", "a/b/c", "a/b/c/d", ".git", ".venv/lib", "node_modules/x", "src/__pycache__", "venv")
    ):
        folder = cwd / str(number)
        (folder / place).mkdir(parents=True)
        (folder / place / "x.py").write_text("")
        found[place] = is_useful(folder)

    assert found == {
        ".": True,
        "a": True,
        "a/b/c": True,
        "a/b/c/d": False,
        ".git": False,
        ".venv/lib": False,
        "node_modules/x": False,
        "src/__pycache__": False,
        "venv": False,
    }


def test_a_link_to_a_folder_is_not_followed(cwd: Path, outside: Path):
    (outside / "x.py").write_text("")
    (cwd / "link").symlink_to(outside)
    (cwd / "loop").symlink_to(cwd)

    assert not is_useful(cwd)


def test_a_large_folder_is_not_looked_through(cwd: Path):
    asked = []

    class Counting(FakeLanguages):
        def serves(self, path: str, cwd: str) -> bool:
            asked.append(path)
            return False

    for number in range(MAX_ENTRIES + 10):
        os.close(os.open(cwd / f"a.{number}", os.O_CREAT))

    assert not Usefulness(Counting())(str(cwd))
    assert len(asked) == MAX_ENTRIES


def test_a_missing_folder_is_of_no_use(cwd: Path):
    assert not is_useful(cwd / "none")


def test_a_server_is_asked_once_for_each_ending(cwd: Path):
    asked = []

    class Counting(FakeLanguages):
        def serves(self, path: str, cwd: str) -> bool:
            asked.append(Path(path).suffix or Path(path).name)
            return False

    for name in ("a.txt", "b.txt", "Makefile", "c.md"):
        (cwd / name).write_text("")

    assert not Usefulness(Counting())(str(cwd))
    assert sorted(asked) == [".md", ".txt", "Makefile"]


def test_a_no_holds_for_a_while_and_a_yes_for_good(cwd: Path):
    clock = Clock()
    look = Usefulness(FakeLanguages(), clock)
    said = [look(str(cwd))]
    (cwd / "x.py").write_text("")
    said.append(look(str(cwd)))
    clock.now += LOOK_AGAIN_S
    said.append(look(str(cwd)))
    (cwd / "x.py").unlink()
    clock.now += LOOK_AGAIN_S
    said.append(look(str(cwd)))

    assert said == [False, False, True, True]
