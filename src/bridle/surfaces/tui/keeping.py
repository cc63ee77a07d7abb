"""What is kept of typing between two uses: the prompts of a folder, and drafts that were not sent.

```
BRIDLE_HOME/tui/history-<digest of the folder>.jsonl   0600, one prompt as JSON per line, oldest first
BRIDLE_HOME/tui/drafts.json                            0600, by session or folder
```
"""

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

FOLDER = "tui"
MAX_PROMPTS = 1_000
MAX_PROMPT_CHARS = 20_000
MAX_DRAFTS = 100
MAX_BYTES = 32 * 1024 * 1024  # what is larger was not written by us

_lines = msgspec.json.Decoder(str)
_drafts = msgspec.json.Decoder(dict[str, str])


class History:
    """The prompts that were given in a folder, newest last; a file that cannot be used is done without."""

    def __init__(self, home: Path, cwd: str) -> None:
        digest = hashlib.sha256(os.fsencode(cwd)).hexdigest()[:16]
        self._file = home / FOLDER / f"history-{digest}.jsonl"
        self._prompts: list[str] | None = None
        self._place = 0
        """How far back the user has gone; 0 is the draft."""
        self._draft = ""

    @property
    def prompts(self) -> list[str]:
        """Return all of them, oldest first."""
        if self._prompts is None:
            self._prompts = _read_prompts(self._file)
        return self._prompts

    def add(self, prompt: str) -> None:
        """Keep a prompt, unless it is the last one again, is very long, or begins with a space."""
        self._place = 0
        if not prompt.strip() or prompt[0] == " " or len(prompt) > MAX_PROMPT_CHARS:
            return
        if self.prompts[-1:] == [prompt]:
            return
        self.prompts.append(prompt)
        with suppress(OSError):
            if len(self.prompts) > 2 * MAX_PROMPTS:
                del self.prompts[:-MAX_PROMPTS]
                _write(self._file, b"".join(map(_line, self.prompts)))
            else:
                _append(self._file, _line(prompt))

    def earlier(self, typed: str) -> str | None:
        """Return the prompt before the one that is shown; None when there is none."""
        if self._place == 0:
            self._draft = typed
        if self._place >= len(self.prompts):
            return None
        self._place += 1
        return self.prompts[-self._place]

    def later(self) -> str | None:
        """Return the prompt after the one that is shown, at last what was being typed; None at the end."""
        if self._place == 0:
            return None
        self._place -= 1
        return self.prompts[-self._place] if self._place else self._draft


def load_drafts(home: Path) -> dict[str, str]:
    """Return the drafts that were not sent, by session or folder."""
    try:
        return _drafts.decode(_read(home / FOLDER / "drafts.json"))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def save_drafts(home: Path, drafts: Mapping[str, str], before: Mapping[str, str] = {}) -> None:
    """Keep drafts for the next time, the newest of them; without them the file goes.

    Those that are as they were `before`, or were not there, are left to others that keep theirs meanwhile.
    """
    file = home / FOLDER / "drafts.json"
    changed = {key for key in {*drafts, *before} if drafts.get(key, "") != before.get(key, "")}
    others = {key: text for key, text in load_drafts(home).items() if key not in changed}
    kept = others | {key: text for key, text in drafts.items() if key in changed and text.strip()}
    with suppress(OSError):
        if kept:
            _write(file, msgspec.json.encode(dict(list(kept.items())[-MAX_DRAFTS:])))
        else:
            file.unlink(missing_ok=True)


def _read_prompts(file: Path) -> list[str]:
    prompts = []
    with suppress(OSError):
        for line in _read(file).splitlines():
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):  # the end of a line that was cut
                prompts.append(_lines.decode(line))
    return prompts[-MAX_PROMPTS:]


def _line(prompt: str) -> bytes:
    return msgspec.json.encode(prompt) + b"\n"


def _read(file: Path) -> bytes:
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as opened:
        return opened.read(MAX_BYTES)


def _append(file: Path, data: bytes) -> None:
    _make_folder(file)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(file, flags, 0o600), "ab") as opened:
        opened.write(data)


def _write(file: Path, data: bytes) -> None:
    _make_folder(file)
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(fresh, flags, 0o600), "wb") as opened:
        opened.write(data)
    fresh.replace(file)


def _make_folder(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
