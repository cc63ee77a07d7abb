"""The files of the web page, ours and third-party, each at a URL that contains a digest of its content.

```
static/app.js        ─▶  /web/4f0c…/app.js        imported as "bridle/app.js"
vendor/preact.js     ─▶  /web/91aa…/preact.js     imported as "preact", as vendor/vendor.json says
```

The content at a URL never changes, so browsers may cache it.
"""

import gzip
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, field

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
VENDOR = FOLDER / "vendor"
PREFIX = "/web/"
START = "app.js"
BOOT = "boot.js"
"""Runs before everything else, so it is not a module."""
MEDIA = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}

_STATIC_IMPORT = re.compile(r"""\b(?:from|import)\s*["']([\w@./-]+)["']""")
_LATE_IMPORT = re.compile(r"""\bimport\(\s*["']([\w@./-]+)["']""")
_COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.DOTALL | re.MULTILINE)


class VendoredFile(Struct, frozen=True):
    """A file of a third-party package."""

    imported_as: str = field(name="import")
    file: str
    published_as: str
    sha256: str


class Vendored(Struct, frozen=True):
    """A third-party package."""

    name: str
    version: str
    licence: str
    licence_file: str
    files: tuple[VendoredFile, ...]


class VendorTable(Struct, frozen=True):
    """The content of `vendor.json`."""

    packages: tuple[Vendored, ...]


class Asset(Struct, frozen=True):
    """A served file."""

    name: str
    media: str
    content: bytes
    packed: bytes
    """The content, compressed with gzip."""
    address: str


class Assets(Struct, frozen=True):
    """Every file of the page."""

    modules: dict[str, Asset]
    """By import name."""
    styles: tuple[Asset, ...]
    """In order of precedence."""
    others: dict[str, Asset]
    """By file name."""

    def by_address(self) -> dict[str, Asset]:
        """Return every file by its URL path."""
        return {
            asset.address: asset for asset in (*self.modules.values(), *self.styles, *self.others.values())
        }


def vendor_table() -> VendorTable:
    """Read the table of third-party packages."""
    return msgspec.json.decode((VENDOR / "vendor.json").read_bytes(), type=VendorTable)


def load_assets() -> Assets:
    """Read and compress every file; takes about 100 ms, so call it in a thread."""
    vendored = [file for package in vendor_table().packages for file in package.files]
    modules = {file.imported_as: _asset(VENDOR / file.file) for file in vendored if _is_module(file.file)}
    styles = [_asset(VENDOR / file.file) for file in vendored if not _is_module(file.file)]
    others = {}
    for path in sorted(STATIC.iterdir()):
        if path.suffix == ".css":
            styles.append(_asset(path))
        elif path.suffix == ".js" and path.name != BOOT:
            modules[f"bridle/{path.name}"] = _asset(path)
        elif path.suffix in MEDIA:
            others[path.name] = _asset(path)
    return Assets(modules, tuple(styles), others)


def find_static_imports(asset: Asset) -> Iterator[str]:
    """Yield the static imports of a module."""
    yield from _STATIC_IMPORT.findall(_without_comments(asset))


def find_dynamic_imports(asset: Asset) -> Iterator[str]:
    """Yield the dynamic imports of a module that are string literals."""
    yield from _LATE_IMPORT.findall(_without_comments(asset))


def needed_by(name: str, modules: dict[str, Asset]) -> Iterable[Asset]:
    """Return a module and all its static imports, recursively, each once."""
    found: dict[str, Asset] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop(0)
        if one in modules and one not in found:
            found[one] = modules[one]
            waiting += find_static_imports(modules[one])
    return found.values()


def _without_comments(asset: Asset) -> str:
    return _COMMENT.sub("", asset.content.decode())


def _is_module(file: str) -> bool:
    return file.endswith(".js")


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:16]
    packed = gzip.compress(content, 9, mtime=0)
    return Asset(path.name, MEDIA[path.suffix], content, packed, f"{PREFIX}{digest}/{path.name}")
