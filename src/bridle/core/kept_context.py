"""What a compaction keeps word for word next to its summary.

```
pins ─▶ the user's corrections ─▶ the active run's prompt ─▶ to-do list ─▶ known files
```

In this order each takes its space from one token budget. What does not fit is listed as left out, never
dropped silently.
"""

from collections.abc import Sequence

from msgspec import Struct

from bridle.core.context import estimate_tokens
from bridle.core.messages import Media, Message
from bridle.core.protocol import SessionFacts, Todo

CORRECTIONS_SHARE = 3  # corrections get at most 1/3 of the budget
PROMPT_SHARE = 0.75  # of what pins and corrections leave
MAX_FILES = 50
DIGEST_CHARS = 12
NAME_CHARS = 60
MAX_NAMED = 20
FRAME_TOKENS = 20  # for the tags around a text

FILES = (
    "Files you know, the newest first, with the beginning of their SHA-256. "
    "While a file has not changed you may edit it without reading it again:"
)

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


class VerbatimText(Struct, frozen=True):
    """The text below the summary, and what did not fit into it."""

    text: str = ""
    corrections: tuple[str, ...] = ()
    """The corrections that `text` contains."""
    fallen: tuple[str, ...] = ()
    """Older corrections that no longer fit: the summary has to include them."""
    left_out: tuple[str, ...] = ()
    """What did not fit, described for the model."""


class _Bag:
    """Collect texts up to a number of tokens."""

    def __init__(self, tokens: int) -> None:
        self.left = tokens
        self.blocks: list[str] = []
        self.left_out: list[str] = []

    def takes(self, text: str) -> bool:
        """Reserve the tokens of a text; return False if it does not fit."""
        size = estimate_tokens(text) + FRAME_TOKENS
        if size > self.left:
            return False
        self.left -= size
        return True

    def add(self, title: str, lines: Sequence[str]) -> None:
        if lines:
            self.blocks.append("\n".join((title, *lines)))


def select_verbatim(
    facts: SessionFacts,
    pins: Sequence[str],
    corrections: Sequence[str],
    prompt: Message | None,
    tokens: int,
) -> VerbatimText:
    """Choose what to keep within `tokens`; corrections are given oldest first, and the newest win."""
    bag = _Bag(max(0, tokens))
    _add_pins(bag, pins)
    kept = _add_corrections(bag, corrections, tokens // CORRECTIONS_SHARE)
    if prompt is not None:
        _add_prompt(bag, prompt)
    _add_todos(bag, facts.todos)
    _add_files(bag, facts.seen)
    fallen = tuple(corrections[: len(corrections) - len(kept)])
    return VerbatimText("\n\n".join(bag.blocks), kept, fallen, tuple(bag.left_out[:MAX_NAMED]))


def shorten_middle(text: str, tokens: int) -> str:
    """Replace the middle of a text longer than `tokens` with a note of how much is left out."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= tokens * 4:
        return text
    most = max(0, tokens - FRAME_TOKENS) * 4
    head = data[: most - most // 3].decode("utf-8", "ignore")
    tail = data[len(data) - most // 3 :].decode("utf-8", "ignore")
    return f"{head}[… {len(text) - len(head) - len(tail):,} characters left out …]{tail}"


def shorten_to_line(text: str) -> str:
    """Return the start of a text on one line, to name it by."""
    line = " ".join(text.split())
    return line if len(line) <= NAME_CHARS else line[: NAME_CHARS - 1] + "…"


def _add_pins(bag: _Bag, pins: Sequence[str]) -> None:
    fitting = []
    for text in pins:
        if bag.takes(text):
            fitting.append(f"<pinned>\n{text}\n</pinned>")
        else:
            bag.left_out.append(f'pinned: "{shorten_to_line(text)}"')
    bag.add("Pinned by the user, word for word. Keep to it:", fitting)


def _add_corrections(bag: _Bag, corrections: Sequence[str], tokens: int) -> tuple[str, ...]:
    kept: list[str] = []
    for text in reversed(corrections):
        tokens -= estimate_tokens(text) + FRAME_TOKENS
        if tokens < 0 or not bag.takes(text):
            break
        kept.append(text)
    kept.reverse()
    if more := len(corrections) - len(kept):
        bag.left_out.append(f"{more} of {len(corrections)} things said during runs, now part of the summary")
    bag.add(
        "Said by the user while you were working, word for word, the oldest first:",
        [f"<said>\n{text}\n</said>" for text in kept],
    )
    return tuple(kept)


def _add_prompt(bag: _Bag, prompt: Message) -> None:
    text = prompt.text
    shown = shorten_middle(text, int(bag.left * PROMPT_SHARE) - FRAME_TOKENS)
    media = sum(isinstance(part, Media) for part in prompt.parts)
    if media:
        bag.left_out.append(f"{media} of the prompt's images or files")
    if not bag.takes(shown):
        bag.left_out.append("the prompt")
        return
    if shown != text:
        bag.left_out.append("the middle of the prompt")
    bag.add("What you are working on, in the user's words:", [f"<prompt>\n{shown}\n</prompt>"])


def _add_todos(bag: _Bag, todos: Sequence[Todo]) -> None:
    lines = [f"{_MARKS[todo.status]} {todo.text}" for todo in todos]
    if bag.takes("\n".join(lines)):
        bag.add("To do:", lines)
    elif lines:
        bag.left_out.append("the to-do list")


def _add_files(bag: _Bag, seen: dict[str, str]) -> None:
    newest = list(seen.items())[-MAX_FILES:]
    lines: list[str] = []
    left = bag.left - estimate_tokens(FILES) - 1
    for path, digest in reversed(newest):
        line = f"{digest[:DIGEST_CHARS]} {path if path.isprintable() else repr(path)}"
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        lines.append(line)
    if more := len(seen) - len(lines):
        bag.left_out.append(f"{more} of {len(seen)} files known")
    bag.add(FILES, lines)
