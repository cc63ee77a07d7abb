"""Download the libraries of the web page into `src/bridle/surfaces/web/vendor/`, byte for byte as published.

```
npm pack NAME@VERSION ─▶ the files of PACKAGES and the licence ─▶ vendor/ and its table, vendor.json
```

Run it after changing PACKAGES; it needs npm and a package registry. Licences are stored next to the files.
"""

import hashlib
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "src/bridle/surfaces/web/vendor"
LANGUAGES = (
    "bash c cpp csharp css diff dockerfile go ini java javascript json kotlin makefile markdown php "
    "plaintext python ruby rust shell sql swift typescript xml yaml"
).split()

# Name, version, and the files by the name under which the page imports them; style sheets are not imported.
PACKAGES: list[tuple[str, str, dict[str, str]]] = [
    ("preact", "11.2.0", {"preact": "dist/preact.mjs", "preact/hooks": "hooks/dist/hooks.mjs"}),
    ("htm", "3.1.1", {"htm": "dist/htm.mjs"}),
    ("@preact/signals", "2.11.4", {"@preact/signals": "dist/signals.mjs"}),
    ("@preact/signals-core", "1.14.5", {"@preact/signals-core": "dist/signals-core.mjs"}),
    ("marked", "18.2.0", {"marked": "lib/marked.esm.js"}),
    ("dompurify", "3.4.17", {"dompurify": "dist/purify.es.mjs"}),
    ("uplot", "1.6.32", {"uplot": "dist/uPlot.esm.js", "uplot.css": "dist/uPlot.min.css"}),
    (
        "@highlightjs/cdn-assets",
        "11.12.0",
        {
            "highlight": "es/core.min.js",
            **{f"highlight/{name}": f"es/languages/{name}.min.js" for name in LANGUAGES},
        },
    ),
]


def main() -> None:
    """Download every package and replace the folder."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    listed = [_bring(*package) for package in PACKAGES]
    (FOLDER / "vendor.json").write_text(json.dumps({"packages": listed}, indent=1) + "\n")
    print(f"{sum(len(package['files']) for package in listed)} files of {len(listed)} packages")


def _bring(name: str, version: str, wanted: dict[str, str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["npm", "pack", "--silent", f"{name}@{version}"],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
        with tarfile.open(Path(folder) / packed.stdout.strip()) as archive:
            about = json.loads(_read(archive, "package.json"))
            licence = f"LICENSE.{_flat(name)}.txt"
            (FOLDER / licence).write_bytes(_read(archive, "LICENSE"))
            files = [_keep(imported, path, _read(archive, path)) for imported, path in wanted.items()]
    assert about["version"] == version
    return {
        "name": name,
        "version": version,
        "licence": about["license"],
        "licence_file": licence,
        "files": files,
    }


def _read(archive: tarfile.TarFile, path: str) -> bytes:
    member = archive.extractfile(f"package/{path}")
    assert member is not None
    return member.read()


def _keep(imported: str, path: str, content: bytes) -> dict[str, str]:
    file = _flat(imported) + ("" if imported.endswith(".css") else ".js")
    (FOLDER / file).write_bytes(content)
    return {
        "import": imported,
        "file": file,
        "published_as": path,
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _flat(name: str) -> str:
    return name.removeprefix("@").replace("/", "-")


if __name__ == "__main__":
    main()
