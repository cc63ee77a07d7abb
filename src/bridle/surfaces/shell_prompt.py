"""`!command`: a shell command typed by a person, run in the session without a model."""

from msgspec.structs import replace

from bridle.core.permission import SHELL_TOOL
from bridle.core.protocol import RunOptions

SIGN = "!"
MODEL = f"direct/{SHELL_TOOL}"
"""No model: the prompt is the command."""


def command_in(text: str) -> str:
    """Return the command of a line that starts with `!`; empty for any other line."""
    return text.removeprefix(SIGN).strip() if text.startswith(SIGN) else ""


def shell_options(options: RunOptions) -> RunOptions:
    """Return the options of a typed command: it needs no approval, but deny rules apply."""
    return replace(options, model=MODEL, allow=(*options.allow, SHELL_TOOL))
