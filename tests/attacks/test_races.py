"""Attack 7: the target of a path changes while a tool uses it, or is nothing that a tool should open."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.door import Door
from tests.attacks.stage import OUTSIDE, Stage, rules
from tests.patience import PATIENCE_S

ROUNDS = 400


# In a separate process: a thread would wait for this one and never come in between.
EXCHANGE = """
import ctypes, os
libc = ctypes.CDLL(None)
os.write(1, b"ready" if libc.renameat2(-100, b"swap", -100, b"link", 2) == 0 else b"never")
while True:
    libc.renameat2(-100, b"swap", -100, b"link", 2)
"""


@pytest.fixture
def swapping(stage: Stage) -> Iterator[Path]:
    """Yield a folder that another process keeps swapping for a link to the outside."""
    project = stage.project
    (project / "swap").mkdir()
    (project / "swap/plain.txt").write_text("inside\n")
    (project / "link").symlink_to("../outside")
    with subprocess.Popen([sys.executable, "-ISc", EXCHANGE], cwd=project, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(5) == b"ready"
        yield project / "swap/plain.txt"
        process.kill()


RACED: list[tuple[str, dict[str, Any]]] = [
    ("read_file", {"path": "swap/plain.txt"}),
    ("write_file", {"path": "swap/plain.txt", "content": "evil"}),
    ("write_file", {"path": "swap/new.txt", "content": "evil"}),
    ("edit_file", {"path": "swap/plain.txt", "old_str": "i", "new_str": "e"}),
    ("multi_edit", {"path": "swap/plain.txt", "edits": [{"old_str": "i", "new_str": "e"}]}),
    ("list_files", {"pattern": "swap/*"}),
]

READING = ("read_file", "list_files")


@pytest.mark.parametrize(("tool", "args"), RACED)
async def test_a_folder_that_becomes_a_link_leads_nowhere(
    stage: Stage, swapping: Path, tool: str, args: dict[str, Any]
):
    before = sorted(path.name for path in (stage.world / "outside").rglob("*"))
    seen = ""

    for _ in range(ROUNDS):
        seen += (await stage.call(tool, args)).everything

    assert OUTSIDE not in seen
    assert (stage.world / "outside/plain.txt").read_text() == OUTSIDE
    assert sorted(path.name for path in (stage.world / "outside").rglob("*")) == before


@pytest.mark.parametrize(("tool", "args"), [(tool, args) for tool, args in RACED if tool not in READING])
async def test_a_folder_that_becomes_a_link_just_before_the_change(
    stage: Stage, tool: str, args: dict[str, Any]
):
    """The same race, always won by the attacker: the exchange comes after all that a tool has looked at."""
    project = stage.project
    (project / "swap").mkdir()
    (project / "swap/plain.txt").write_text("inside\n")
    known = await stage.read_all(["swap/plain.txt"])
    moments = []

    def exchange(path: str) -> None:
        moments.append(path)
        if len(moments) == 1:
            os.rename(project / "swap", project / "aside")
            (project / "swap").symlink_to("../outside")

    stage.keep = exchange
    await stage.call(tool, args, knows=known)

    assert moments != []
    assert (stage.world / "outside/plain.txt").read_text() == OUTSIDE
    assert sorted(path.name for path in (stage.world / "outside").iterdir()) == ["folder", "plain.txt"]


@pytest.mark.parametrize(
    "args", [{"pattern": "0uT", "path": "swap"}, {"pattern": "0uT", "path": "swap/plain.txt"}]
)
async def test_a_search_is_not_led_outside_by_a_race(stage: Stage, swapping: Path, args: dict[str, Any]):
    seen = ""

    for _ in range(40):
        seen += (await stage.call("grep", args)).everything

    assert OUTSIDE not in seen


async def test_a_download_is_not_led_outside_by_a_race(stage: Stage, swapping: Path, door: Door):
    opened = rules("allow download(domain:127.0.0.1)")
    args = {"url": f"http://127.0.0.1:{door.port}/", "path": "swap/plain.txt"}

    for attempt in range(2_000):
        await stage.call("download", args, opened)
        if attempt >= 60 and door.visits:  # which of the two it sees at first is a matter of luck
            break

    assert door.visits > 0
    assert (stage.world / "outside/plain.txt").read_text() == OUTSIDE


async def test_who_opens_by_name_loses_that_race(swapping: Path):
    """The control of the tests above."""

    def read() -> bool:
        for _ in range(100_000):
            with suppress(OSError):
                if swapping.read_text() == OUTSIDE:
                    return True
        return False

    assert await asyncio.to_thread(read)


async def test_a_command_that_races_itself_stays_inside(stage: Stage):
    """A process inside exchanges a link while another writes through it."""
    command = (
        "mkdir d; ln -s ../outside l;"
        " (for i in $(seq 25); do mv -T d a; mv -T l d; mv -T d l; mv -T a d; done) &"
        " while kill -0 $! 2> /dev/null; do echo evil > d/plain.txt; done 2> /dev/null; cat d/plain.txt"
    )

    await stage.shell(command)

    assert (stage.world / "outside/plain.txt").read_text() == OUTSIDE


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def bound(path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{folder}/{path.name}")  # the whole path may be too long for a socket
    os.close(folder)


STRANGE = {
    "a FIFO": fifo,
    "a socket": bound,
    "a terabyte of nothing": sparse,
    "a device": link_to("/dev/zero"),
    "another device": link_to("/dev/stdin"),
    "a process": link_to("/proc/self/environ"),
    "a descriptor": link_to("/proc/self/fd/0"),
    "itself": link_to("strange"),
    "the root": link_to("/"),
    "its own folder": link_to("."),
    "a folder": Path.mkdir,
}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("read_file", {"path": "strange"}),
        ("write_file", {"path": "strange", "content": "x"}),
        ("edit_file", {"path": "strange", "old_str": "a", "new_str": "b"}),
        ("multi_edit", {"path": "strange", "edits": [{"old_str": "a", "new_str": "b"}]}),
    ],
)
async def test_what_is_no_plain_file_is_an_error_at_once(
    stage: Stage, tool: str, args: dict[str, Any], kind: str
):
    STRANGE[kind](stage.project / "strange")

    async with asyncio.timeout(PATIENCE_S):
        seen = await stage.call(tool, args)

    assert seen.action == "deny" or seen.is_error


@pytest.mark.parametrize("kind", STRANGE)
async def test_a_search_passes_over_what_is_no_plain_file(stage: Stage, kind: str):
    if kind == "a terabyte of nothing":  # is a plain file, and takes as long as it takes
        return
    STRANGE[kind](stage.project / "strange")

    async with asyncio.timeout(PATIENCE_S):
        texts = [
            (await stage.call(tool, args)).text
            for tool, args in (
                ("grep", {"pattern": "nothing"}),
                ("glob", {"pattern": "**/notes.txt"}),
                ("list_files", {"pattern": "**/notes.txt"}),
            )
        ]

    assert all("notes.txt" in text for text in texts)
