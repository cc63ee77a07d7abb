"""The system clock and random source."""

import os
import random
import time


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return the wall clock in milliseconds since the epoch, for dates."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Return a clock in seconds that never goes back, for durations."""
        return time.monotonic()


class SystemChance:
    """Random numbers from the operating system."""

    def entropy(self, size: int) -> bytes:
        """Return `size` unpredictable bytes."""
        return os.urandom(size)

    def jitter(self) -> float:
        """Return a random factor between 0.9 and 1.1."""
        return random.uniform(0.9, 1.1)
