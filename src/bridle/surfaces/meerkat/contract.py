"""Versions of Meerkat's contract: clients of different versions read different shapes."""

import re

from msgspec import Struct

from bridle.core.errors import UsageError

DEFAULT_CONTRACT = "0.5.2"

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})")


class Contract(Struct, frozen=True):
    """A version that compares with others: `contract.since(0, 8, 1)`."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    def since(self, major: int, minor: int, patch: int = 0) -> bool:
        """Return True if this is the given version or a later one."""
        return (self.major, self.minor, self.patch) >= (major, minor, patch)

    @property
    def enveloped(self) -> bool:
        """True if a session's events come in envelopes."""
        return self.since(0, 8, 1)

    @property
    def max_line_bytes(self) -> int:
        """The longest line that clients read; those before 0.6 hang at 64 KiB."""
        return 16 * 1024 * 1024 if self.since(0, 6) else 60_000


def parse_contract(text: str) -> Contract:
    """Parse a version such as `0.5.2`; raises UsageError."""
    found = _VERSION.fullmatch(text)
    if found is None:
        raise UsageError(f'"{text[:40]}" is not a version of the contract', hint=f"write {DEFAULT_CONTRACT}")
    return Contract(*map(int, found.groups()))
