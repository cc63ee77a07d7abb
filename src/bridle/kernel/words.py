"""What is said of a cell: while it runs to who watches it, in the end to the model."""

from collections.abc import Callable, Sequence
from typing import Protocol

from bridle.kernel.cell import CellResult

_MAX_NAMES = 20


class Live(Protocol):
    """Takes secrets out of a text that comes in pieces."""

    def feed(self, chunk: str) -> str:
        """Take a piece and return what can be shown by now."""
        ...

    def flush(self) -> str:
        """Return what was held back; the text ends here."""
        ...


def masked(
    emit: Callable[[str], None], mask: Callable[[], Live] | None
) -> tuple[Callable[[str], None], Callable[[], None]]:
    """Return what shows output while it comes, free of secrets, and what shows the rest of it."""
    if mask is None:
        return emit, lambda: None
    live = mask()

    def show(text: str) -> None:
        if text:
            emit(text)

    return lambda text: show(live.feed(text)), lambda: show(live.flush())


def ending(result: CellResult, *, is_alive: bool) -> list[str]:
    """Say why a cell did not come to its own end, and what is left of its kernel."""
    if not result.ended:
        return []
    what = {"timeout": "the cell took too long", "died": "the kernel died", "cancelled": "stopped"}
    went_on = (
        "its variables are as the code left them"
        if is_alive
        else "the next cell gets a new kernel with the variables as before this one"
    )
    why = f": {result.why}" if result.why else ""
    return [f"{what[result.ended]}{why}; {went_on}"]


def joined(texts: Sequence[str], notes: Sequence[str]) -> str:
    """Return the result of a cell as the model reads it."""
    parts = [text.rstrip("\n") for text in texts if text.strip("\n")]
    parts += [f"[{note}]" for note in notes]
    return "\n".join(parts) or "[no output]"


def names(found: Sequence[str]) -> str:
    """Return names in one line, not too many of them."""
    more = f" and {len(found) - _MAX_NAMES} more" if len(found) > _MAX_NAMES else ""
    return ", ".join(found[:_MAX_NAMES]) + more
