"""The types of bodies, and their conversion to text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.tools.web.content import decode, detect_kind, pretty_json, title_of


@pytest.mark.parametrize(
    ("media_type", "start", "kind"),
    [
        ("text/html", b"", "html"),
        ("application/xhtml+xml", b"", "html"),
        ("application/json", b"", "json"),
        ("application/problem+json", b"", "json"),
        ("text/plain", b"<html>", "text"),
        ("text/markdown", b"", "text"),
        ("application/xml", b"", "text"),
        ("image/svg+xml", b"", "text"),
        ("application/atom+xml", b"", "text"),
        ("application/javascript", b"", "text"),
        ("application/x-yaml", b"", "text"),
        ("image/png", b"", "binary"),
        ("application/pdf", b"%PDF", "binary"),
        ("application/zip", b"", "binary"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"", "binary"),
        ("video/mp4", b"text", "binary"),
        ("font/woff2", b"", "binary"),
        ("", b"", "text"),
        ("", b"plain", "text"),
        ("", b"\xef\xbb\xbf \n<!DOCTYPE HTML><p>", "html"),
        ("", b"<html lang=de>", "html"),
        ("", b"\x89PNG\r\n", "binary"),
        ("", b"a\0b", "binary"),
        ("application/octet-stream", "ü".encode(), "text"),
        ("application/octet-stream", "ü".encode()[:1], "text"),
        ("application/octet-stream", b"\xff\xfea\0", "text"),
        ("application/octet-stream", b"\x7fELF\x02\x01\x01\0", "binary"),
    ],
)
def test_a_body_is_told_by_its_type_and_its_start(media_type: str, start: bytes, kind: str):
    assert detect_kind(media_type, start) == kind


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("ü".encode(), "", "ü"),
        ("ü".encode(), "UTF-8", "ü"),
        ("ü".encode("latin-1"), "iso-8859-1", "ü"),
        (b"\x80", "latin1", "€"),  # browsers read it as windows-1252
        (b"\x93a\x94", "us-ascii", "“a”"),
        ("日本".encode("shift_jis"), "Shift_JIS", "日本"),
        ("中文".encode("gbk"), "gb2312", "中文"),
        ("Привет".encode("koi8-r"), "KOI8-R", "Привет"),
        ("ü".encode("utf-16"), "", "ü"),
        (b"\xef\xbb\xbf\xc3\xbc", "latin1", "ü"),  # the mark is right where the header is wrong
        (b'<meta charset="windows-1251">\xcf', "", '<meta charset="windows-1251">П'),
        (
            b'<META content="text/html; CHARSET=koi8-r">\xd0',
            "",
            '<META content="text/html; CHARSET=koi8-r">п',
        ),
        (b"<meta charset=utf-16>\xc3\xbc", "", "<meta charset=utf-16>ü"),
        (b"<meta charset=latin1>\xc3\xbc", "utf-8", "<meta charset=latin1>ü"),
        (b"\xfc", "", "\ufffd"),
        (b"\xfc", "no-such-charset", "\ufffd"),
        (b"a\xfcb", "hex", "a\ufffdb"),
        (b"abc-", "punycode", "abc-"),
        (b"\\u0041", "unicode_escape", "\\u0041"),
        (b"+AGE-", "utf-7", "+AGE-"),
        (b"a", "\0", "a"),
        (b"a", "x" * 5000, "a"),
    ],
)
def test_the_charset_is_found(data: bytes, charset: str, text: str):
    assert decode(data, charset, "html") == text


def test_only_a_page_speaks_about_its_own_charset():
    data = b"<meta charset=koi8-r>\xc3\xbc"

    assert decode(data, "", "text") == "<meta charset=koi8-r>ü"


@given(
    st.binary(max_size=300),
    st.text(max_size=20) | st.sampled_from(["utf-16", "gb18030", "iso-2022-jp", "big5"]),
)
def test_everything_becomes_text_that_can_be_stored(data: bytes, charset: str):
    decode(data, charset, "html").encode()


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<html><head><TITLE lang=en>\n A &amp;  B\n</TITLE>", "A & B"),
        ("<title>a\x1b[31mb</title>", "a\ufffd[31mb"),
        (f"<title>{'a' * 300}</title>", f"{'a' * 200}…"),
        ("<title>never closed", "never closed"),
        ("<title", ""),
        ("<p>", ""),
        ("", ""),
    ],
)
def test_the_title_is_one_short_line(html: str, title: str):
    assert title_of(html) == title


@pytest.mark.parametrize(
    ("text", "pretty"),
    [
        (
            '{"b":1.10,"a":[1,"x]"],"a":1e999}',
            '{\n  "b": 1.10,\n  "a": [\n    1,\n    "x]"\n  ],\n  "a": 1e999\n}',
        ),
        ("[]", "[]"),
        ('{"a":', '{"a":'),
        ("", ""),
        ('{\n"a":1}', '{\n"a":1}'),
        ("[" * 40 + "]" * 40, "[" * 40 + "]" * 40),
    ],
)
def test_json_is_indented_unless_that_would_harm(text: str, pretty: str):
    assert pretty_json(text) == pretty


@pytest.mark.parametrize(
    "text", ["[" * 900_000, '"' * 900_000, "[1," * 300_000, '"\\' * 450_000, "<title" * 150_000]
)
def test_hostile_text_costs_little_time(text: str):
    began = time.thread_time()
    assert pretty_json(text) == text
    title_of(text)
    decode(text.encode() + b"\xff", "", "html")

    assert time.thread_time() - began < 5
