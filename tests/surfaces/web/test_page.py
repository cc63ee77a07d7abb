"""The document that names every file, and its content security policy."""

import gzip
import hashlib
import json
import re
from base64 import b64encode

import pytest

from bridle.surfaces.web.assets import load_assets
from bridle.surfaces.web.page import Page, hash_of, make_page


@pytest.fixture(scope="module")
def page() -> Page:
    return make_page()


def test_the_import_map_names_every_module(page: Page):
    [text] = re.findall(r'<script type="importmap">(.*?)</script>', page.html.decode(), re.DOTALL)
    imports = json.loads(text)["imports"]

    assert imports == {name: asset.address for name, asset in load_assets().modules.items()}
    assert {
        "preact",
        "preact/hooks",
        "htm",
        "@preact/signals",
        "marked",
        "dompurify",
        "uplot",
        "highlight",
    } <= set(imports)
    assert imports["bridle/app.js"].endswith("/app.js")
    digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in page.policy


def test_the_policy_lets_nothing_in_and_nothing_out(page: Page):
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))

    assert {name: value for name, value in rules.items() if name != "script-src"} == {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "connect-src": "'self'",
        "font-src": "'self'",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "dompurify",
    }
    assert "unsafe" not in page.policy


def test_the_document_is_small_and_all_that_it_names_is_there(page: Page):
    html = page.html.decode()
    named = set(re.findall(r'(?:src|href)="([^"]+)"', html))

    assert named <= set(page.files)
    assert gzip.decompress(page.packed) == page.html
    assert len(page.packed) < 10_000
    assert not re.search(r"\bon\w+=|style=|https?://", html)
    assert '<html lang="en">' in html
    assert "<noscript>" in html


def test_a_policy_names_a_text_by_its_hash():
    assert hash_of("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
