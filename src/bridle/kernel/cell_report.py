"""The texts about a cell: live output without secrets for the user, and the result for the model."""

from collections.abc import Callable, Sequence
from typing import Protocol

from bridle.kernel.cell import CellResult

_MAX_NAMES = 20


class StreamMask(Protocol):
    """Removes secrets from text that comes in chunks."""

    def feed(self, chunk: str) -> str:
        """Add a chunk and return the text that can be shown now."""
        ...

    def flush(self) -> str:
        """Return the text held back; the text ends here."""
        ...


def mask_output(
    emit: Callable[[str], None], mask: Callable[[], StreamMask] | None
) -> tuple[Callable[[str], None], Callable[[], None]]:
    """Return a function that shows live output without secrets, and one that shows the rest of it."""
    if mask is None:
        return emit, lambda: None
    live = mask()

    def show(text: str) -> None:
        if text:
            emit(text)

    return lambda text: show(live.feed(text)), lambda: show(live.flush())


def describe_end(result: CellResult, *, is_alive: bool) -> list[str]:
    """Return why a cell was stopped and what is left of its kernel; empty if it ran to its end."""
    if not result.ended:
        return []
    what = {"timeout": "the cell took too long", "died": "the kernel died", "cancelled": "stopped"}
    went_on = (
        "its variables are kept as the code left them"
        if is_alive
        else "the next cell gets a new kernel with the variables from before this cell"
    )
    why = f": {result.why}" if result.why else ""
    return [f"{what[result.ended]}{why}; {went_on}"]


def format_result(texts: Sequence[str], notes: Sequence[str]) -> str:
    """Return the result of a cell as the model reads it."""
    parts = [text.rstrip("\n") for text in texts if text.strip("\n")]
    parts += [f"[{note}]" for note in notes]
    return "\n".join(parts) or "[no output]"


def join_names(found: Sequence[str]) -> str:
    """Return names in one line, at most 20 of them."""
    more = f" and {len(found) - _MAX_NAMES} more" if len(found) > _MAX_NAMES else ""
    return ", ".join(found[:_MAX_NAMES]) + more
