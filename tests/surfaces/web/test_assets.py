"""The files of the page: unchanged libraries, their size, and valid imports."""

import gzip
import hashlib
import re

import pytest

from bridle.surfaces.web.assets import (
    STATIC,
    VENDOR,
    Assets,
    find_dynamic_imports,
    find_static_imports,
    load_assets,
    needed_by,
    vendor_table,
)

MAX_PACKED_BYTES = 300_000
MAX_LINES = 300


@pytest.fixture(scope="module")
def assets() -> Assets:
    return load_assets()


def test_others_files_are_as_they_were_published():
    listed = {"vendor.json"}
    for package in vendor_table().packages:
        listed |= {package.licence_file, *(file.file for file in package.files)}
        licence = (VENDOR / package.licence_file).read_text()
        assert package.version, package.name
        assert re.search(r"copyright|licen[sc]e", licence, re.IGNORECASE), package.name
        for file in package.files:
            assert hashlib.sha256((VENDOR / file.file).read_bytes()).hexdigest() == file.sha256, file.file

    assert {path.name for path in VENDOR.iterdir()} == listed


def test_licences_let_us_pass_the_files_on():
    known = {"MIT", "Apache-2.0", "BSD-3-Clause", "(MPL-2.0 OR Apache-2.0)"}

    assert {package.licence for package in vendor_table().packages} <= known


def test_all_files_together_are_small(assets: Assets):
    sizes = {asset.address: len(asset.packed) for asset in assets.by_address().values()}

    assert sum(sizes.values()) < MAX_PACKED_BYTES, sorted(sizes.items(), key=lambda item: -item[1])[:10]


def test_a_file_has_an_address_of_its_content(assets: Assets):
    for asset in assets.by_address().values():
        digest = hashlib.sha256(asset.content).hexdigest()[:16]
        assert asset.address == f"/web/{digest}/{asset.name}"
        assert gzip.decompress(asset.packed) == asset.content

    assert load_assets() == assets, "the same files have the same addresses, and are packed alike"


def test_every_import_leads_somewhere(assets: Assets):
    for name, asset in assets.modules.items():
        if name.startswith("bridle/"):
            found = {*find_static_imports(asset), *find_dynamic_imports(asset)}
            assert found <= set(assets.modules), f"{name} imports {found - set(assets.modules)}"


def test_vendored_modules_need_nothing_that_is_not_there(assets: Assets):
    for name, asset in assets.modules.items():
        if not name.startswith("bridle/") and "/" in name:
            assert set(find_static_imports(asset)) <= set(assets.modules), name

    assert set(find_static_imports(assets.modules["@preact/signals"])) == {
        "preact",
        "preact/hooks",
        "@preact/signals-core",
    }


def test_what_the_start_needs_is_known_and_plots_are_not_part_of_it(assets: Assets):
    needed = [asset.name for asset in needed_by("bridle/app.js", assets.modules)]

    assert needed[0] == "app.js"
    assert {"preact.js", "htm.js", "preact-signals.js", "preact-signals-core.js"} <= set(needed)
    assert len(needed) == len(set(needed))
    assert "uplot.js" not in needed


def test_our_modules_are_small_and_plain():
    for path in sorted(STATIC.glob("*.js")):
        text = path.read_text()
        assert text.count("\n") <= MAX_LINES, path.name
        assert "sourceMappingURL" not in text, path.name
        assert not re.search(r"https?://(?!127\.0\.0\.1|www\.w3\.org)[a-z0-9-]+\.", text), (
            f"{path.name} names a host"
        )
    for path in sorted(STATIC.glob("*.css")):
        assert not re.search(r"@import|url\(\s*[\"']?(?!data:|#)", path.read_text()), path.name


def test_nothing_lies_there_that_is_not_served():
    kinds = {path.suffix for path in STATIC.iterdir()}

    assert kinds <= {".js", ".css", ".svg", ".md"}
