"""Find the environment variables that hold secrets, and mask their values in texts.

```
environ --find_secrets--> {name: value} --Masker--> mask(text)              a whole text
                                              \\----> stream(): feed, flush  a text in pieces
```

A value is also found in the forms that programs often print: URL-encoded, in JSON, in base64. One
expression matches all forms. It is a tree of their common prefixes, so hundreds cost little more than one.
"""

import base64
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from urllib.parse import quote, quote_plus

MIN_SECRET_CHARS = 8  # shorter values also occur in harmless texts

_MAX_PIECE = 4096  # longer values, such as keys, are searched for piece by piece
_MAX_VALUE = 16 * 1024
_STEP = 64 * 1024  # one search blocks all threads; this size takes some milliseconds

_SECRET_WORDS = frozenset(
    """
    APIKEY AUTH COOKIE COOKIES CREDENTIAL CREDENTIALS CREDS KEY KEYS PASSPHRASE PASSWD PASSWORD PASSWORDS
    PRIVATE PWD SECRET SECRETS SESSION TOKEN TOKENS
    """.split()
)
_SECRET_ENDINGS = ("APIKEY", "COOKIE", "CREDENTIALS", "PASSPHRASE", "PASSWD", "PASSWORD", "SECRET", "TOKEN")
_HARMLESS_NAMES = frozenset({"DESKTOP_SESSION", "OLDPWD", "PWD", "SESSION_MANAGER"})

_URL_PASSWORD = re.compile(r"[A-Za-z][\w+.-]{0,30}://[^\s/:@]{0,500}:([^\s/@]{1,4096})@")
_DSN_PASSWORD = re.compile(r"\b(?:password|passwd|pwd)\s{0,9}=\s{0,9}'?([^\s;&']{1,4096})", re.IGNORECASE)
_PATH = re.compile(r"(?:~|\.{1,2})?/(?:[a-z]+|Users|Library|Applications)(?:/.*)?", re.DOTALL)
_NUMBER = re.compile(r"[\d.,:+-]+")
_WORD = re.compile(r"[A-Za-z][a-z]{0,10}")  # "disabled", "postgres": masking them would garble every text


def is_secret_name(name: str) -> bool:
    """Return whether a variable with this name is likely to hold a secret."""
    upper = name.upper()
    if upper in _HARMLESS_NAMES or upper.startswith("XDG_"):
        return False
    words = re.split(r"[^A-Z0-9]+", upper)
    return any(word in _SECRET_WORDS or word.endswith(_SECRET_ENDINGS) for word in words)


def password_within(value: str) -> str:
    """Return the password inside a URL or a list of connection settings; empty when there is none."""
    found = _URL_PASSWORD.search(value) or _DSN_PASSWORD.search(value)
    return found[1] if found else ""


def find_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that hold secrets, each with the secret part of its value.

    Paths, numbers, plain words and values under eight characters are not secrets, whatever their name.
    """
    found = {}
    for name, value in environ.items():
        secret = password_within(value)
        if not secret and is_secret_name(name) and not _is_plain(value):
            secret = value
        if len(secret) >= MIN_SECRET_CHARS:
            found[name] = secret
    return found


def _is_plain(value: str) -> bool:
    return any(plain.fullmatch(value) for plain in (_NUMBER, _WORD, _PATH))


class Masker:
    """Replaces secrets in texts with their names."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """Take secrets by name; values under eight characters are not masked."""
        self._names: dict[bytes, str] = {}
        for name, value in secrets.items():
            for form in _forms(value):
                self._names.setdefault(form, name)
        self._forms = sorted(self._names)
        self.longest = max(map(len, self._forms), default=0)
        """The size of the longest form in bytes."""

    def mask(self, text: str) -> str:
        """Return the text with `[secret NAME]` in place of each secret."""
        if not self._forms:
            return text
        stream = self.stream()
        pieces = (text[start : start + _STEP] for start in range(0, len(text), _STEP))
        return "".join([*map(stream.feed, pieces), stream.flush()])

    def stream(self) -> "MaskedStream":
        """Start masking a text that arrives in pieces."""
        return MaskedStream(self)

    def spans(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """Yield the start and end of each secret, in order, and the label that replaces it."""
        if self._forms:
            for found in self._pattern.finditer(data):
                label = f"[secret {self._names[found[0]]}]"
                yield found.start(), found.end(), label.encode(errors="backslashreplace")

    def find_partial(self, data: bytes, start: int) -> int:
        """Return where a form starts, at `start` or later, that the end of the data cuts off."""
        for position in range(max(start, len(data) - self.longest + 1), len(data)):
            if data[position] in self._first_bytes:
                rest = data[position:]
                longer = bisect_right(self._forms, rest)
                if longer < len(self._forms) and self._forms[longer].startswith(rest):
                    return position
        return len(data)

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        return re.compile(_expression(self._forms, 0), re.DOTALL)

    @cached_property
    def _first_bytes(self) -> frozenset[int]:
        return frozenset(form[0] for form in self._forms)


class MaskedStream:
    """Masks a text that arrives in pieces; holds back what may be the start of a secret."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._held = b""

    def feed(self, chunk: str) -> str:
        """Add a piece and return the masked text that can be shown now."""
        self._held += chunk.encode(errors="surrogatepass")
        return self._show(self._masker.find_partial(self._held, 0))

    def flush(self) -> str:
        """Return what was held back; the text ends here."""
        return self._show(len(self._held))

    def _show(self, cut: int) -> str:
        """Mask and release the held text up to a position, or further if a secret extends beyond it."""
        data, shown, position = self._held, [], 0
        for start, end, label in self._masker.spans(data):
            if start >= cut:
                break
            shown += [data[position:start], label]
            position = end
            if position > cut:
                cut = self._masker.find_partial(data, position)
        self._held = data[cut:]
        return b"".join([*shown, data[position:cut]]).decode(errors="surrogatepass")


# ---------------------------------------------------------------------------- forms of a secret


def _forms(value: str) -> Iterator[bytes]:
    value = value[:_MAX_VALUE]
    for start in range(0, len(value), _MAX_PIECE):
        piece = value[start : start + _MAX_PIECE]
        if len(piece) < MIN_SECRET_CHARS:
            continue
        texts = {piece, json.dumps(piece)[1:-1], json.dumps(piece, ensure_ascii=False)[1:-1]}
        texts |= {text.replace("/", "\\/") for text in texts}
        data = piece.encode(errors="surrogatepass")
        for encoded in (quote(data, safe=""), quote_plus(data), quote(data)):
            texts |= {encoded, re.sub("%..", lambda found: found[0].lower(), encoded)}
        yield from (text.encode(errors="surrogatepass") for text in texts)
        yield from _base64_forms(data)


def _base64_forms(data: bytes) -> Iterator[bytes]:
    """Yield the base64 characters that encode only these bytes, for each offset in an encoded text."""
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).rstrip(b"=")
        start = (before * 8 + 5) // 6
        end = len(encoded) if (before + len(data)) % 3 == 0 else len(encoded) - 1
        core = encoded[start:end]
        yield core
        yield core.translate(bytes.maketrans(b"+/", b"-_"))


def _expression(forms: Sequence[bytes], depth: int) -> bytes:
    """Return sorted forms, equal up to `depth`, as a tree expression that prefers the longest one."""
    first, last = forms[0], forms[-1]
    differing = (index for index, (left, right) in enumerate(zip(first, last, strict=False)) if left != right)
    shared = next(differing, len(first))
    literal = re.escape(first[depth:shared])
    is_end = len(first) == shared
    groups = groupby(forms[is_end:], key=lambda form: form[shared])
    branches = [_expression(list(group), shared) for _, group in groups]
    if not branches:
        return literal
    return literal + b"(?:" + b"|".join(branches) + (b")?" if is_end else b")")
