"""Modes, owners, times and attributes of files under Landlock."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridle.core.permission import parse_rule
from bridle.core.ports import SandboxKind
from tests.environment import folder_outside_tmp
from tests.sandbox.conftest import Run

NOW = 1_700_000_000
RACE = """
import os, sys, threading
inside, outside, name = sys.argv[1:]
def swap():
    while not done.is_set():
        for target in (outside, inside):
            os.symlink(target, name + ".new")
            os.rename(name + ".new", name)
done = threading.Event()
os.symlink(inside, name)
swapper = threading.Thread(target=swap)
swapper.start()
tried = 0
for _ in range(300):
    for change in (lambda: os.chmod(name, 0o777), lambda: os.utime(name, (1, 1))):
        try:
            change()
            tried += 1
        except OSError:
            pass
done.set()
swapper.join()
assert tried, "none of them went through"
"""


@pytest.fixture
def kind() -> SandboxKind:
    """Return a sandbox that does not restrict what a file's owner can do to it."""
    return "landlock"


@pytest.fixture
def outside() -> Iterator[Path]:
    """Yield a file of the user outside of the roots, which a program may read."""
    with folder_outside_tmp("metadata") as folder:
        file = folder / "file"
        file.write_text("mine")
        file.chmod(0o640)
        os.utime(file, (NOW, NOW))
        yield file


def state(path: Path) -> tuple[int, int, int, int, list[str]]:
    found = path.stat()
    return found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, os.listxattr(path)


@pytest.mark.parametrize(
    "command",
    [
        "chmod 700 {file}",
        "chmod 2777 {folder}",
        "chmod g+s {folder}",
        "touch -d 2001-01-01 {file}",
        "ln -s {file} link && chmod 777 link",
        "ln -s {file} link && touch -d 2001-01-01 link",
        "ln -s {folder} way && chmod 777 way/file",
        "cd {folder} && chmod 777 file",
        "chgrp 0 {file}",
        "chmod 777 /proc/self/root{file}",
        "exec 3< {file}; chmod 777 /proc/self/fd/3",
        "exec 3< {file}; chmod 777 /dev/fd/3",
        "exec 3< {file}; python3 -c 'import os; os.fchmod(3, 0o777)'",
        "exec 3< {file}; python3 -c 'import os; os.utime(3, (1, 1))'",
        'exec 3< {file}; python3 -c \'import os; os.setxattr(3, "user.x", b"x")\'',
        'python3 -c \'import os; os.setxattr("{file}", "user.x", b"x")\'',
        "python3 -c 'import os; os.chown(\"{file}\", os.getuid(), os.getgid())'",
        "chattr +d {file}",
    ],
)
async def test_nothing_outside_of_the_roots_gets_another_mode_owner_or_time(
    outside: Path, run: Run, command: str
):
    before = state(outside), state(outside.parent)

    outcome = await run(command.format(file=outside, folder=outside.parent))

    assert (state(outside), state(outside.parent)) == before
    assert outcome.status != 0


async def test_a_path_that_is_swapped_meanwhile_leads_nowhere_else(outside: Path, project: Path, run: Run):
    before = state(outside)
    (project / "own").write_text("")

    outcome = await run(("python3", "-c", RACE, str(project / "own"), str(outside), str(project / "name")))

    assert outcome.status == 0, outcome.output
    assert state(outside) == before


@pytest.mark.parametrize("place", ["file", "folder", "$TMPDIR/file", "deep/er/file"])
async def test_in_the_roots_and_the_temporary_folder_they_change(project: Path, run: Run, place: str):
    (project / "folder").mkdir()
    (project / "deep/er").mkdir(parents=True)
    outcome = await run(
        f'f={place}; [ -d "$f" ] || echo x > "$f"\n'
        'chmod 751 "$f" && touch -d @1700000000 "$f" && chgrp $(id -g) "$f" && chown $(id -u) "$f"\n'
        "stat -c '%a %Y' \"$f\""
    )

    assert (outcome.status, outcome.output) == (0, "751 1700000000\n")


@pytest.mark.parametrize(
    "command",
    [
        "cp -a tree copy",
        "mkdir copy && tar cf - -C tree . | tar xpf - -C copy",
        "cp -r --preserve=all tree copy",
        'python3 -c \'import shutil; shutil.copytree("tree", "copy", symlinks=True)\'',
        "install -d copy && install -m 750 -p tree/run copy/run && ln -s run copy/link",
    ],
)
async def test_copies_keep_modes_and_times(project: Path, run: Run, command: str):
    tree = project / "tree"
    tree.mkdir()
    (tree / "run").write_text("#!/bin/sh\n")
    (tree / "run").chmod(0o750)
    (tree / "link").symlink_to("run")
    os.utime(tree / "run", (NOW, NOW))

    outcome = await run(command)

    assert outcome.status == 0, outcome.output
    copied = (project / "copy/run").stat()
    assert (copied.st_mode & 0o7777, copied.st_mtime) == (0o750, NOW)
    assert (project / "copy/link").is_symlink()


async def test_a_folder_may_give_its_group_and_a_program_may_not(project: Path, run: Run):
    (project / "folder").mkdir()
    (project / "program").touch()

    outcome = await run("chmod 2775 folder && ! chmod 2755 program && ! chmod 4755 program")

    assert outcome.status == 0, outcome.output
    assert (project / "folder").stat().st_mode & 0o7777 == 0o2775
    assert (project / "program").stat().st_mode & 0o6000 == 0


async def test_what_is_denied_in_the_roots_stays_as_it_is(project: Path, run: Run):
    (project / "key").write_text("secret")
    (project / "kept").write_text("")
    before = state(project / "key"), state(project / "kept")
    rules = (parse_rule("deny", "read_file(key)"), parse_rule("deny", "edit_file(kept)"))

    for command in (
        "chmod 777 key",
        "touch -d 2001-01-01 key",
        "rm -f key",
        "mv key other",
        "chmod 777 kept",
    ):
        assert (await run(command, rules=rules)).status != 0, command

    assert (state(project / "key"), state(project / "kept")) == before


async def test_a_mode_is_kept_before_it_changes(project: Path, run: Run):
    (project / "file").touch()
    (project / "folder").mkdir()
    kept: list[str] = []

    outcome = await run("chmod 700 file folder", keep=kept.append)

    assert outcome.status == 0
    assert kept == [str(project / "file"), f"{project}/folder/."]
