"""The HTML document of the web page and its content security policy."""

import gzip
import hashlib
from base64 import b64encode
from html import escape

from msgspec import Struct, json

from bridle.surfaces.web.assets import BOOT, START, Asset, Assets, load_assets, needed_by

ICON = "icon.svg"
POLICY = (
    "default-src 'none'; script-src 'self' {map_hash}; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify"
)
NO_SCRIPT = "This page needs JavaScript. Without it: bridle run, bridle session list."


class Page(Struct, frozen=True):
    """The served document."""

    html: bytes
    packed: bytes
    """The document, compressed with gzip."""
    policy: str
    """The content security policy."""
    files: dict[str, Asset]
    """The files of the page by URL path."""


def make_page(assets: Assets | None = None) -> Page:
    """Read all files and create the document; takes about 100 ms, so call it in a thread."""
    assets = assets or load_assets()
    names = {name: asset.address for name, asset in sorted(assets.modules.items())}
    import_map = json.encode({"imports": names}).decode().replace("<", "\\u003c")
    html = _document(assets, import_map).encode()
    policy = POLICY.format(map_hash=hash_of(import_map))
    return Page(html, gzip.compress(html, 9, mtime=0), policy, assets.by_address())


def hash_of(text: str) -> str:
    """Return the hash source of an inline text for a content security policy."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _document(assets: Assets, import_map: str) -> str:
    start = f"bridle/{START}"
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        "<title>Bridle</title>",
        f'<link rel="icon" type="image/svg+xml" href="{assets.others[ICON].address}">',
        *(
            f'<script src="{assets.others[name].address}"></script>'
            for name in (BOOT,)
            if name in assets.others
        ),
        f'<script type="importmap">{import_map}</script>',
        *(f'<link rel="stylesheet" href="{asset.address}">' for asset in assets.styles),
        *(f'<link rel="modulepreload" href="{asset.address}">' for asset in needed_by(start, assets.modules)),
        f'<script type="module" src="{assets.modules[start].address}"></script>',
        "</head>",
        "<body>",
        '<div id="app"></div>',
        f"<noscript><p>{escape(NO_SCRIPT)}</p></noscript>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(lines)
