"""Questions with numbered answers on a terminal; Enter takes the default."""

import signal
import sys
from collections.abc import Sequence

from bridle.core.errors import UsageError
from bridle.surfaces.terminal import Console, pad, visible

MAX_TRIES = 5


def can_ask(console: Console) -> bool:
    """Return True if stdin and stderr are terminals, so that a user can read a question and answer it."""
    return console.err.is_terminal and sys.stdin is not None and sys.stdin.isatty()


def choose(
    console: Console,
    question: str,
    options: Sequence[tuple[str, str]],
    *,
    other: str = "",
    several: bool = False,
) -> list[str]:
    """Ask for one of the options (returned value, shown text); Enter takes the first.

    `other` names what may be typed instead of a number; `several` allows numbers joined by commas.
    Raises KeyboardInterrupt if input ends, UsageError after too many invalid answers.
    """
    err = console.err
    width = max(len(name) for name, _ in options)
    err.line(err.paint("strong", question))
    for number, (name, meaning) in enumerate(options, 1):
        err.line(f"  {number}  {err.paint('name', pad(visible(name), width))}  {visible(meaning)}".rstrip())
    choices = {str(number): name for number, (name, _) in enumerate(options, 1)}
    how = "number (Enter for 1)"
    if several:
        how += ", or several, such as 2,3"
    if other:
        how += f", or any {other}"
    for _ in range(MAX_TRIES):
        typed = _line(console, f"{how}: ")
        numbers = [part.strip() for part in typed.split(",")]
        if not typed:
            return [options[0][0]]
        if all(part in choices for part in numbers):
            if several or len(numbers) == 1:
                return list(dict.fromkeys(choices[part] for part in numbers))
        elif other and "/" in typed:
            return [typed]
        err.line(f"not one of the choices: {visible(typed[:60])}")
    raise UsageError(f"no answer to: {question}", hint="bridle init --help")


def ask_yes_no(console: Console, question: str) -> bool:
    """Ask for a yes; anything else is a no. Raises KeyboardInterrupt if input ends."""
    return _line(console, f"{console.err.paint('strong', question)} [y/N] ").lower() in ("y", "yes")


def _line(console: Console, prompt: str) -> str:
    """Read one line; Ctrl-C and the end of input both raise KeyboardInterrupt."""
    # With the event loop's handler, Ctrl-C would only request a cancel, and the read would go on.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        console.err.write(prompt)
        console.err.flush()
        typed = sys.stdin.readline()
    except KeyboardInterrupt:
        console.err.line()
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if not typed:
        console.err.line()
        raise KeyboardInterrupt
    return typed.strip()
