"""A limit on the work to analyze a command line: a line that takes more steps counts as a doubt."""

from bridle.core.errors import ToolError

MAX_STEPS = 20_000
"""About 50 ms of work."""


class TooComplex(ToolError):
    """A command line has more in it than a person would read."""


class StepLimit:
    """Counts the steps of analyzing one command line."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Count more steps; raises TooMuch when none are left."""
        self._left -= steps
        if self._left < 0:
            raise TooComplex("it takes too many steps to analyse")
