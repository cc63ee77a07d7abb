"""Cost of `bridle` until its first frame, compared with importing Textual and showing an empty app.

Each runs in its own terminal, which this process reads; the clocks are read when the last word of the first
frame has arrived. The daemon does not run yet, and `bridle` does not wait for it. The terminal answers
queries like a real one.
"""

import fcntl
import os
import pty
import struct
import subprocess
import tempfile
import termios
import time
from pathlib import Path

from children import child_env
from measure import PYTHON, report, rounds
from rows import Line, Row, figure, ours

ROUNDS = rounds(7)
TIMEOUT_S = 60.0
SIZE = (24, 80)
_CPUCLOCK_SCHED = 2  # of the kernel's posix-timers.h: the time that all threads of a process ran

EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("the first frame")
Empty().run()
"""
ANSWERS = {b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62c"}


def main() -> list[Line]:
    """Compare CPU and wall time; the bar is 1.5."""
    floors, shown = [], []
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder) / "home", Path(folder) / "work"
        home.mkdir()
        work.mkdir()
        (home / "config.toml").write_text('model = "scripted/demo"\ndaemon = "never"\n')
        env = child_env(BRIDLE_HOME=str(home), TERM="xterm-256color")
        for _ in range(ROUNDS):
            floors.append(until_shown([PYTHON, "-c", EMPTY], b"the first frame", env, work))
            shown.append(until_shown([PYTHON, "-m", "bridle"], b"for help", env, work))
    rows = []
    for place, (name, unit) in enumerate({"cpu": "ms CPU", "time": "ms"}.items()):
        empty = figure("an empty Textual app", [one[place] for one in floors], scale=1e3)
        found = ours([one[place] for one in shown], scale=1e3)
        rows.append(Row(f"tui.start.{name}", "bridle to its first frame", unit, found, (empty,), 1.5))
    return report(rows)


def until_shown(argv: list[str], last: bytes, env: dict[str, str], cwd: Path) -> tuple[float, float]:
    """Run a program in a terminal until it shows a word; return its CPU and wall seconds."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
    start = time.perf_counter()
    with subprocess.Popen(
        argv, env=env, cwd=cwd, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    ) as child:
        os.close(slave)
        shown, answers = b"", dict(ANSWERS)
        while last not in shown:
            shown += os.read(master, 65536)
            for question in [one for one in answers if one in shown]:
                os.write(master, answers.pop(question))
            assert time.perf_counter() - start < TIMEOUT_S, shown[-2000:]
        wall_s = time.perf_counter() - start
        used_s = time.clock_gettime(~child.pid << 3 | _CPUCLOCK_SCHED)
        child.kill()
    os.close(master)
    return used_s, wall_s


if __name__ == "__main__":
    main()
