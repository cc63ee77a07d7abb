"""Stores typed text between uses: the prompt history of a folder, and unsent drafts.

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
MAX_BYTES = 32 * 1024 * 1024  # a larger file was not written by Bridle

_lines = msgspec.json.Decoder(str)
_drafts = msgspec.json.Decoder(dict[str, str])


class History:
    """The prompts of a folder, newest last; an unusable file is ignored."""

    def __init__(self, home: Path, cwd: str) -> None:
        digest = hashlib.sha256(os.fsencode(cwd)).hexdigest()[:16]
        self._file = home / FOLDER / f"history-{digest}.jsonl"
        self._prompts: list[str] | None = None
        self._place = 0
        """How many prompts the user has gone back; 0 is the draft."""
        self._draft = ""

    @property
    def prompts(self) -> list[str]:
        """All prompts, oldest first."""
        if self._prompts is None:
            self._prompts = _read_prompts(self._file)
        return self._prompts

    def add(self, prompt: str) -> None:
        """Add a prompt, unless it repeats the last one, is very long, or starts with a space."""
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
        """Return the prompt before the one shown; None if there is none."""
        if self._place == 0:
            self._draft = typed
        if self._place >= len(self.prompts):
            return None
        self._place += 1
        return self.prompts[-self._place]

    def later(self) -> str | None:
        """Return the prompt after the one shown, and finally the draft; None at the end."""
        if self._place == 0:
            return None
        self._place -= 1
        return self.prompts[-self._place] if self._place else self._draft


def load_drafts(home: Path) -> dict[str, str]:
    """Return the unsent drafts by session or folder."""
    try:
        return _drafts.decode(_read(home / FOLDER / "drafts.json"))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def save_drafts(home: Path, drafts: Mapping[str, str], before: Mapping[str, str] = {}) -> None:
    """Store the newest drafts; delete the file if there are none.

    Drafts that did not change since `before` are not written: another process may have changed them.
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
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):  # an incomplete line
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
