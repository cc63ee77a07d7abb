"""The three pipes of a program that is about to be started."""

import os


class Pipes:
    """Both ends of its input, its output and its error stream; ours do not block.

    | end | is for |
    |---|---|
    | `input`, `output`, `errors` | the program |
    | `to_it`, `from_it`, `printed` | us: what it reads, what it writes, what it prints as errors |
    """

    def __init__(self) -> None:
        """Open them; raises OSError when this process has no descriptor left."""
        opened: list[int] = []
        try:
            for _ in range(3):
                opened += os.pipe()
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            raise
        self.input, self.to_it, self.from_it, self.output, self.printed, self.errors = opened
        for descriptor in self.ours:
            os.set_blocking(descriptor, False)

    @property
    def ours(self) -> tuple[int, int, int]:
        """Return our ends: to write to, to read from, to read errors from."""
        return self.to_it, self.from_it, self.printed

    def close_theirs(self) -> None:
        """Let go of the ends of the program: it has them by now, or never will."""
        for descriptor in (self.input, self.output, self.errors):
            os.close(descriptor)

    def close(self) -> None:
        """Close all of them: nobody got any."""
        self.close_theirs()
        for descriptor in self.ours:
            os.close(descriptor)
