"""Detect the kind of a response body from its type and first bytes, and convert it to text."""

import codecs
import re
from html import unescape
from itertools import accumulate
from typing import Literal

import msgspec

from bridle.core.malformed import MALFORMED
from bridle.tools.web.urls import shorten

Kind = Literal["html", "json", "text", "binary"]

MAX_TITLE_SEARCH = 256 * 1024
MAX_PRETTY_BYTES = 1024 * 1024
MAX_PRETTY_DEPTH = 32  # each level indents all lines below it: hostile nesting would fill the memory

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_JSON = frozenset({"application/json", "text/json", "application/manifest+json"})
_UNCERTAIN = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown"})
_TEXTUAL = re.compile(r"text/.+|.+\+(xml|yaml)|.*(xml|javascript|ecmascript|typescript|yaml|toml|sql|json)")
_TEXTUAL_OTHERS = frozenset(
    "application/graphql application/pgp-signature application/rtf application/x-ndjson application/x-sh"
    " application/x-httpd-php application/x-tex application/x-www-form-urlencoded application/x-perl"
    " application/x-subrip application/mbox message/rfc822".split()
)

_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([a-zA-Z0-9_:.-]{1,40})")
_META_BYTES = 4096
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

# The encodings that browsers support. Python has more, some of which take hours for a few bytes.
_CHARSETS = frozenset(
    "utf-8 utf-16-le utf-16-be cp866 koi8-r koi8-u mac-roman mac-cyrillic gb18030 big5hkscs euc_jp iso2022_jp"
    " cp932 cp949 cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859-2 iso8859-3"
    " iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14 iso8859-15"
    " iso8859-16".split()
)
# Labels that stand for a larger encoding, as listed at https://encoding.spec.whatwg.org.
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-16-le",
    "utf_8_sig": "utf-8",
}


def detect_kind(media_type: str, start: bytes) -> Kind:
    """Return the kind of a body; its first bytes decide when the media type is not specific."""
    if media_type in _HTML:
        return "html"
    if media_type in _JSON or media_type.endswith("+json"):
        return "json"
    if _TEXTUAL.fullmatch(media_type) or media_type in _TEXTUAL_OTHERS:
        return "text"
    if media_type not in _UNCERTAIN:
        return "binary"
    return _sniffed(start)


def _sniffed(start: bytes) -> Kind:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "text"
    try:
        # Incremental, because the last character may be cut in two.
        text = codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "binary"
    if "\0" in text:
        return "binary"
    head = text[:1024].lstrip("\ufeff \t\r\n").lower()
    return "html" if head.startswith(("<!doctype html", "<html")) else "text"


def decode(data: bytes, charset: str, kind: Kind) -> str:
    """Decode a body by its byte order mark, HTTP header or HTML meta tag, otherwise as UTF-8.

    Invalid bytes become U+FFFD.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, errors="replace")
    found = _codec(charset)
    if not found and kind == "html" and (match := _META_CHARSET.search(data[:_META_BYTES].lower())):
        found = _codec(match[1].decode())
        if found.startswith("utf-16"):  # the tag itself would not be readable in UTF-16
            found = "utf-8"
    return data.decode(found or "utf-8", errors="replace")


def _codec(label: str) -> str:
    """Return the codec for the label of a page or server; empty for one that browsers do not support."""
    try:
        name = codecs.lookup(label.strip(" \"'")).name
    except (LookupError, ValueError):
        return ""
    name = _WIDER.get(name, name)
    return name if name in _CHARSETS else ""


def title_of(html: str) -> str:
    """Return the title of a page on one line; empty when it has none."""
    head = html[:MAX_TITLE_SEARCH]
    opening = head.lower().find("<title")
    start = head.find(">", opening) + 1
    if opening < 0 or not start:
        return ""
    end = head.find("<", start)
    return shorten(" ".join(unescape(head[start : end if end >= 0 else start + 1000]).split()))


def pretty_json(text: str) -> str:
    """Indent JSON that has few line breaks; return anything else unchanged."""
    data = text.encode(errors="replace")
    if len(data) > MAX_PRETTY_BYTES or data.count(b"\n") * 100 > len(data) or _depth(data) > MAX_PRETTY_DEPTH:
        return text
    try:
        return msgspec.json.format(data, indent=2).decode()
    except MALFORMED:
        return text


# An unterminated string extends to the end of the text, so that nothing is scanned twice.
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def _depth(data: bytes) -> int:
    brackets = (_STEPS[byte] for byte in _STRINGS.sub(b"", data) if byte in _STEPS)
    return max(accumulate(brackets), default=0)
