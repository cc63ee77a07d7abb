"""`!command`: a command that a person types, run in the session without a model."""

from msgspec.structs import replace

from bridle.core.permission import SHELL_TOOL
from bridle.core.protocol import RunOptions

SIGN = "!"
MODEL = f"direct/{SHELL_TOOL}"
"""No model: the prompt is the command."""


def command_in(text: str) -> str:
    """Return the command of a line that begins with `!`; empty for any other."""
    return text.removeprefix(SIGN).strip() if text.startswith(SIGN) else ""


def shell_options(options: RunOptions) -> RunOptions:
    """Return with what a command runs: who has typed it is not asked about it, but a deny rule holds."""
    return replace(options, model=MODEL, allow=(*options.allow, SHELL_TOOL))
