"""Retry policy: when to retry a model call, and how long to wait first."""

from msgspec import Struct

MAX_RETRY_AFTER_S = 300.0  # no retry in this run if a vendor asks for a longer wait


class RetryPolicy(Struct, frozen=True):
    """Exponential backoff with jitter; a vendor's retry-after is a lower bound."""

    max_retries: int = 3
    initial_s: float = 0.5
    max_s: float = 30.0
    multiplier: float = 2.0

    def delay_s(self, attempt: int, jitter: float, retry_after_s: float | None = None) -> float:
        """Return the wait before retry number `attempt` (from 0); `jitter` is between 0.9 and 1.1."""
        try:
            grown = self.initial_s * self.multiplier**attempt
        except OverflowError:
            grown = self.max_s
        return max(min(grown, self.max_s) * jitter, retry_after_s or 0.0)

    def allows(self, attempt: int, retry_after_s: float | None = None) -> bool:
        """Return True if retry number `attempt` (from 0) is allowed."""
        return attempt < self.max_retries and (retry_after_s or 0.0) <= MAX_RETRY_AFTER_S
