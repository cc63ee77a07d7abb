"""How much work a command line is worth: a line that takes more steps to judge is a doubt."""

from bridle.core.errors import ToolError

MAX_STEPS = 20_000
"""Some 50 ms of work."""


class TooMuch(ToolError):
    """There is more in a command line than a person would look through."""


class Effort:
    """Counts the steps that one command line takes."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Count so many more; raises TooMuch when there are none left."""
        self._left -= steps
        if self._left < 0:
            raise TooMuch("it takes too many steps to judge")
