"""The launcher alone, for timing that a test of the whole sandbox cannot control."""

import subprocess
import sys
from textwrap import dedent

from bridle.sandbox import launcher
from bridle.sandbox.interpreter import find_interpreter

BEGIN = """
    import os, socket
    from bridle.sandbox import launcher
    ours, channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    orders, held = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        launcher._as_warden(channel, orders, os.getppid() + 1)
    channel.close()
    print(ours.recv(1), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_warden_whose_launcher_died_before_it_began_ends_at_once():
    """It would hold the socket of the cell open: its programs would never be said to have ended."""
    done = subprocess.run(
        [sys.executable, "-c", dedent(BEGIN)], capture_output=True, text=True, timeout=90, check=True
    )

    assert done.stdout == "b'' 137\n"


def test_it_loads_nothing_that_takes_long():
    """Every cell waits for it."""
    program = "import sys; exec(open(sys.argv[1]).read(), {'__name__': 'launcher'}); print(*sys.modules)"
    done = subprocess.run(
        [find_interpreter(), "-I", "-S", "-c", program, launcher.__file__],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )

    assert {"contextlib", "enum", "re", "typing"} & set(done.stdout.split()) == set()
