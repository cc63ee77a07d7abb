"""The real program in a real terminal: tmux, which shows what a person would see."""

import shlex
import subprocess
import time
import uuid
from pathlib import Path
from typing import Self

from tests.patience import PATIENCE_S


class Tmux:
    """A program in a tmux terminal: tests can wait for output and send keys."""

    def __init__(
        self, argv: list[str], cwd: Path, env: dict[str, str], width: int = 80, height: int = 24
    ) -> None:
        self._server = f"bridle-{uuid.uuid4().hex[:12]}"
        words = ["env", "-i", *(f"{name}={value}" for name, value in env.items()), *argv]
        command = f"{shlex.join(words)}; echo ended with $?; read -r rest"
        self._call(
            *("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(cwd)),
            f"sh -c {shlex.quote(command)}",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._call("kill-server")

    @property
    def screen(self) -> str:
        """Return the current screen."""
        return self._call("capture-pane", "-p")

    @property
    def processes(self) -> list[int]:
        """Return the programs that run in it."""
        shell = int(self._call("list-panes", "-F", "#{pane_pid}"))
        return [int(pid) for pid in Path(f"/proc/{shell}/task/{shell}/children").read_text().split()]

    def expect(self, *texts: str) -> str:
        """Wait until texts are shown together, and return the screen."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            screen = self.screen
            if all(text in screen for text in texts):
                return screen
            assert time.monotonic() < deadline, f"{texts} did not come:\n{screen}"
            time.sleep(0.02)

    def press(self, *keys: str) -> None:
        """Press keys by the names that tmux has for them."""
        self._call("send-keys", *keys)

    def insist(self, key: str, *texts: str) -> str:
        """Press a key until texts are shown: what is asked takes no key in its first moments."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            self.press(key)
            for _ in range(20):
                screen = self.screen
                if all(text in screen for text in texts):
                    return screen
                time.sleep(0.02)
            assert time.monotonic() < deadline, f"{texts} did not come:\n{screen}"

    def type(self, text: str) -> None:
        """Type a text."""
        self._call("send-keys", "-l", text)

    def resize(self, width: int, height: int) -> None:
        """Change the size of the terminal."""
        self._call("resize-window", "-x", str(width), "-y", str(height))

    def _call(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._server, *words],
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        return done.stdout
