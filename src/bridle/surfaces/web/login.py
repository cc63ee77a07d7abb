"""Browser logins: a link that works once, and the cookie it sets.

```
bridle web ─▶ daemon: a code, 5 minutes ─▶ /login?code=… ─▶ cookie, 7 days ─▶ every request of the page
```

The cookie is signed with a key derived from the daemon's token: it outlives the daemon, and becomes invalid
with the token. After a logout all copies of the cookie are refused as long as the daemon lives. Cookies are
shared by all ports of a host, so the cookie's name differs between daemons.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

from starlette.datastructures import Headers

from bridle.surfaces.rest.guard import Login

CODE_S = 300.0
MAX_CODES = 32
COOKIE_S = 7 * 24 * 3600
MAX_LOOKED_AT = 8
"""Cookies checked per request: a page at another port can add some, and must not lock us out."""
MAX_DIGITS = 15
MAX_ENDED = 1_000
"""Ended logins that are remembered; only the holder of a valid login can add one."""
BEST_FIRST: tuple[Login, ...] = ("good", "expired", "wrong")


class Logins:
    """Creates and checks codes and cookies."""

    def __init__(
        self,
        token: str,
        *,
        now: Callable[[], float] = time.time,
        passed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the daemon's token, a wall clock for cookies and a monotonic clock for codes."""
        self._key = _derived(token, "web login")
        self._now = now
        self._passed = passed
        self._codes: dict[bytes, float] = {}
        self._ended: dict[str, None] = {}
        self.cookie = f"bridle-{_derived(token, 'web cookie').hex()[:16]}"

    # ------------------------------------------------------------------ codes

    def new_code(self) -> str:
        """Return a code that works once; with too many open codes, the oldest becomes invalid."""
        code = secrets.token_urlsafe(32)
        self._codes[_digest(code)] = self._passed() + CODE_S
        for oldest in list(self._codes)[:-MAX_CODES]:
            del self._codes[oldest]
        return code

    def take_code(self, code: str) -> bool:
        """Return whether a code is valid, and invalidate it."""
        until = self._codes.pop(_digest(code), 0.0)
        return self._passed() < until

    # ------------------------------------------------------------------ cookies

    def new_cookie(self) -> str:
        """Return the header that sets a browser's login cookie."""
        text = f"{int(self._now()) + COOKIE_S}-{secrets.token_hex(8)}"
        return self._header(f"{text}.{self._sign(text)}", COOKIE_S)

    def end(self, headers: Headers) -> None:
        """End the logins of a request: all copies of their cookies become invalid."""
        self._ended |= dict.fromkeys(value for value in self._values(headers) if self._judge(value) == "good")
        for oldest in list(self._ended)[:-MAX_ENDED]:
            del self._ended[oldest]

    def no_cookie(self) -> str:
        """Return the header that deletes the cookie."""
        return self._header("", 0)

    def of(self, headers: Headers) -> Login:
        """Return the login state of a request's cookies, the best one if there are several."""
        found = [self._judge(value) for value in self._values(headers)]
        return min(found, key=BEST_FIRST.index, default="none")

    def _values(self, headers: Headers) -> list[str]:
        pairs = (
            pair.strip().partition("=") for line in headers.getlist("cookie") for pair in line.split(";")
        )
        return [value for name, _, value in pairs if name == self.cookie][:MAX_LOOKED_AT]

    def _judge(self, value: str) -> Login:
        text, _, signature = value.partition(".")
        expires = text.partition("-")[0]
        if not (text.isascii() and expires.isdecimal() and len(expires) <= MAX_DIGITS):
            return "wrong"
        if not hmac.compare_digest(signature.encode(), self._sign(text).encode()):
            return "wrong"
        return "good" if self._now() < int(expires) and value not in self._ended else "expired"

    def _sign(self, text: str) -> str:
        return hmac.digest(self._key, text.encode(), "sha256").hex()

    def _header(self, value: str, age_s: int) -> str:
        return f"{self.cookie}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age_s}"


def _derived(token: str, purpose: str) -> bytes:
    return hmac.digest(token.encode(), f"bridle {purpose}".encode(), "sha256")


def _digest(code: str) -> bytes:
    """Return the digest under which a code is stored, so that timing reveals nothing about the code."""
    return hashlib.sha256(code.encode("utf-8", "surrogateescape")).digest()
