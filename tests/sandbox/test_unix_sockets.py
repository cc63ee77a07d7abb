"""Unix sockets that a program may connect to, in a private network and in the system's."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridle.sandbox.interpreter import find_interpreter
from bridle.sandbox.unix_sockets import Listeners
from tests.sandbox.conftest import Run

PYTHON = f"'{find_interpreter()}' -I -S"
CODE = """
import _socket as s, sys
own = s.socket(s.AF_UNIX, s.SOCK_STREAM)
own.bind(sys.argv[1].replace("@", chr(0)))
own.listen()
for name in sys.argv[1:]:
    client = s.socket(s.AF_UNIX, s.SOCK_STREAM)
    try:
        client.connect(name.replace("@", chr(0)))
        print("connected")
    except OSError as error:
        print(error.errno)
"""
NOWHERE, REFUSED = "2", "111"


@pytest.fixture
def service(project: Path) -> Iterator[None]:
    """Listen outside the sandbox: in the project, and under a name without a file."""
    here = os.open(project, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as made, socket.socket(socket.AF_UNIX) as named:
        made.bind(f"/proc/self/fd/{here}/theirs")
        made.listen()
        named.bind(f"\0bridle-test-{os.getpid()}")
        named.listen()
        os.rename(project / "theirs", project / "renamed")
        yield
    os.close(here)


@pytest.mark.parametrize("is_open", [False, True])
async def test_a_program_reaches_what_it_has_bound_and_nothing_of_the_system(
    run: Run, project: Path, service: None, is_open: bool
):
    (project / "code.py").write_text(CODE)
    theirs = f"renamed @bridle-test-{os.getpid()} nothing"

    outcome = await run(
        f"{PYTHON} code.py mine {theirs}; {PYTHON} code.py @mine mine",
        open_network=is_open,
        keep=lambda _: None,
    )

    assert outcome.output.split() == ["connected", REFUSED, REFUSED, NOWHERE, "connected", REFUSED]


async def test_programs_that_nothing_watches_are_held_as_well(run: Run, project: Path, service: None):
    (project / "code.py").write_text(CODE)

    assert (await run(f"{PYTHON} code.py mine renamed")).output.split() == ["connected", REFUSED]


def test_where_the_kernel_does_not_tell_nothing_is_the_cells(tmp_path: Path):
    listeners = Listeners(os.open(os.devnull, os.O_RDONLY), is_shared=False)

    assert not listeners.has_name(b"\0x", os.getpid())
    listeners.close()
