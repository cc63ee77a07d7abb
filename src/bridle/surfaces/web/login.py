"""Who a browser belongs to: a link that works once, and the cookie that it brings.

```
bridle web ─▶ daemon: a code, 5 minutes ─▶ /login?code=… ─▶ cookie, 7 days ─▶ every request of the page
```

The cookie is signed with a key that is made of the daemon's token: it outlives the daemon, and dies with the
token. One that was logged out is refused as long as the daemon lives, whoever has kept a copy. Cookies are
shared by all ports of a host, so its name tells one daemon from another.
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
"""Cookies of the same name: a page at another port can add some, and must not lock us out by that."""
MAX_DIGITS = 15
MAX_ENDED = 1_000
"""Logins that were ended and are remembered; only who has a good one can add to them."""
BEST_FIRST: tuple[Login, ...] = ("good", "expired", "wrong")


class Logins:
    """Makes codes and cookies, and knows them again."""

    def __init__(
        self,
        token: str,
        *,
        now: Callable[[], float] = time.time,
        passed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the daemon's token, a clock for cookies and one for codes."""
        self._key = _derived(token, "web login")
        self._now = now
        self._passed = passed
        self._codes: dict[bytes, float] = {}
        self._ended: dict[str, None] = {}
        self.cookie = f"bridle-{_derived(token, 'web cookie').hex()[:16]}"

    # ------------------------------------------------------------------ codes

    def new_code(self) -> str:
        """Return a code that works once; of too many open ones the oldest stops to."""
        code = secrets.token_urlsafe(32)
        self._codes[_digest(code)] = self._passed() + CODE_S
        for oldest in list(self._codes)[:-MAX_CODES]:
            del self._codes[oldest]
        return code

    def take_code(self, code: str) -> bool:
        """Tell whether a code is good; it is not any more then."""
        until = self._codes.pop(_digest(code), 0.0)
        return self._passed() < until

    # ------------------------------------------------------------------ cookies

    def new_cookie(self) -> str:
        """Return the header that gives a browser its login."""
        text = f"{int(self._now()) + COOKIE_S}-{secrets.token_hex(8)}"
        return self._header(f"{text}.{self._sign(text)}", COOKIE_S)

    def end(self, headers: Headers) -> None:
        """End the logins of a request: their cookies are good no more, also elsewhere."""
        self._ended |= dict.fromkeys(value for value in self._values(headers) if self._judge(value) == "good")
        for oldest in list(self._ended)[:-MAX_ENDED]:
            del self._ended[oldest]

    def no_cookie(self) -> str:
        """Return the header that takes it away."""
        return self._header("", 0)

    def of(self, headers: Headers) -> Login:
        """Say what the cookies of a request tell."""
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
    """Return what a code is kept as: how long a comparison takes tells nothing about it then."""
    return hashlib.sha256(code.encode("utf-8", "surrogateescape")).digest()
