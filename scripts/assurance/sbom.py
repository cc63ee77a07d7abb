"""Write an SBOM: all parts of Bridle as a CycloneDX 1.6 document, for vulnerability scanners.

`python -m scripts.assurance.sbom [FILE]` writes `build/sbom.json` from the installed packages' metadata.
The same packages give the same bytes: the serial number is computed from the content, and there is no date.
"""

import json
import re
import sys
import uuid
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from scripts.assurance.inventory import OWN, ROOT, Component, components, direct_needs

FILE = ROOT / "build" / "sbom.json"
SCHEMA = "http://cyclonedx.org/schema/bom-1.6.schema.json"
NAMESPACE = uuid.UUID("5d0f7c0a-6c1e-5b52-9f0b-2f6f5c1e8a16")
"""Bridle's namespace, so that its serial numbers never equal those of other projects."""
NOT_SPDX = {"any-OSI"}


def main(argv: Sequence[str] | None = None) -> int:
    """Write the document; return the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    target = Path(given[0]) if given else FILE
    found = components()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(document(found), indent=1) + "\n", encoding="utf-8")
    print(f"{target}: {len(found)} components")
    return 0


def document(found: Sequence[Component]) -> dict[str, Any]:
    """Return the document."""
    version = metadata.version(OWN)
    root = {
        "type": "application",
        "bom-ref": f"pkg:pypi/{OWN}@{version}",
        "name": OWN,
        "version": version,
        "purl": f"pkg:pypi/{OWN}@{version}",
        "licenses": [{"license": {"id": "MIT"}}],
    }
    listed = [_component(one) for one in found]
    content: dict[str, Any] = {
        "metadata": {"component": root},
        "components": listed,
        "dependencies": _dependencies(str(root["bom-ref"]), found),
    }
    serial = uuid.uuid5(NAMESPACE, json.dumps(content, sort_keys=True))
    head = {
        "$schema": SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
    }
    return head | content


def _component(one: Component) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "data" if one.kind == "data" else "library",
        "bom-ref": _reference(one),
        "name": one.name,
        "version": one.version,
        "scope": "required" if "" in one.wanted_by else "optional",
        "purl": one.purl,
    }
    if one.licence:
        made["licenses"] = [_licence(one.licence)]
    if one.digests:
        made["components"] = [_file(one, name, digest) for name, digest in one.digests]
    extras = [extra for extra in one.wanted_by if extra]
    if extras and "" not in one.wanted_by:
        made["properties"] = [{"name": "bridle:extra", "value": extra} for extra in extras]
    return made


def _file(one: Component, name: str, digest: str) -> dict[str, Any]:
    reference = f"{_reference(one)}#{name}"
    hashes = [{"alg": "SHA-256", "content": digest}]
    return {"type": "file", "bom-ref": reference, "name": name, "hashes": hashes}


def _licence(licence: str) -> dict[str, Any]:
    if licence in NOT_SPDX:
        return {"license": {"name": licence}}
    if re.search(r"\s(AND|OR|WITH)\s", licence):
        return {"expression": licence}
    return {"license": {"id": licence}}


def _dependencies(root: str, found: Sequence[Component]) -> list[dict[str, Any]]:
    known = {one.name: _reference(one) for one in found if one.kind == "package"}
    in_the_tree = [_reference(one) for one in found if one.kind != "package"]
    own = [known[name] for name in direct_needs() if name in known]
    others = [{"ref": _reference(one), "dependsOn": [known[name] for name in one.needs]} for one in found]
    return [{"ref": root, "dependsOn": sorted([*own, *in_the_tree])}, *others]


def _reference(one: Component) -> str:
    return one.purl if one.kind != "data" else f"{one.purl}#data"


if __name__ == "__main__":
    sys.exit(main())
