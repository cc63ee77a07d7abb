"""The real clock and the real dice."""

import os
import random
import time


class SystemClock:
    """Tells the machine's time."""

    def now_ms(self) -> int:
        """Return the wall clock, for dates."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Return a clock that never goes back, for durations."""
        return time.monotonic()


class SystemChance:
    """Draws from the operating system."""

    def entropy(self, size: int) -> bytes:
        """Return unpredictable bytes."""
        return os.urandom(size)

    def jitter(self) -> float:
        """Return a factor between 0.9 and 1.1."""
        return random.uniform(0.9, 1.1)
