"""The three standard pipes of a program to start."""

import os


class Pipes:
    """Both ends of standard input, standard output and standard error; this process's ends do not block.

    | ends | used by |
    |---|---|
    | `input`, `output`, `errors` | the program |
    | `to_it`, `from_it`, `printed` | this process: its input, its output, its error output |
    """

    def __init__(self) -> None:
        """Open the pipes; raises OSError if this process has no file descriptors left."""
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
        """This process's ends: to write input, to read output, to read errors."""
        return self.to_it, self.from_it, self.printed

    def close_theirs(self) -> None:
        """Close the program's ends, once it has started or has failed to start."""
        for descriptor in (self.input, self.output, self.errors):
            os.close(descriptor)

    def close(self) -> None:
        """Close all ends, if neither the program nor a reader has taken any."""
        self.close_theirs()
        for descriptor in self.ours:
            os.close(descriptor)
