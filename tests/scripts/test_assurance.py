"""Every part of Bridle is known, licensed, pinned and unchanged, and the pages about them are up to date."""

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest
from msgspec.structs import replace

from scripts.assurance import audit, licences, sbom
from scripts.assurance.inventory import ROOT, Component, components, extras, pins
from scripts.assurance.licence_names import licence_of, objection

CYCLONEDX = json.loads(Path(__file__).with_name("cyclonedx-1.6-shape.json").read_text())


@cache
def made_of() -> list[Component]:
    """Return the installed components, read on demand and not while tests are collected."""
    return components()


# ---------------------------------------------------------------------------- what there is


def test_every_dependency_of_every_extra_is_there():
    asked = set()
    text = (ROOT / "pyproject.toml").read_text()
    listed = text[text.index("dependencies = [") : text.index("dev = [")]
    for name in re.findall(r'"([A-Za-z0-9._-]+)(?:\[[a-z]+\])?>=', listed):
        asked.add(name.lower().replace("_", "-"))

    assert asked <= {one.name for one in made_of() if one.kind == "package"}
    assert set(extras()) >= {"", "grpc", "local", "memory", "scale"}
    assert {one.name for one in made_of() if one.kind == "page"} >= {"preact", "dompurify", "marked"}
    assert {one.name for one in made_of() if one.kind == "data"} == {"genai-prices", "litellm"}


def test_each_says_who_wants_it():
    by_name = {one.name: one for one in made_of()}

    assert "" in by_name["msgspec"].wanted_by
    assert by_name["dbos"].wanted_by == ("scale",)
    assert "typing-extensions" in by_name["pydantic"].needs


# ---------------------------------------------------------------------------- licences


def package(expression: str = "", text: str = "", classifiers: tuple[str, ...] = ()) -> Any:
    about = {"License-Expression": expression, "License": text}
    metadata = SimpleNamespace(get=about.get, get_all=lambda name: classifiers)
    return SimpleNamespace(metadata=metadata, files=())


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (package("MIT OR Apache-2.0", "GPL"), "MIT OR Apache-2.0"),
        (package(text="Apache License 2.0"), "Apache-2.0"),
        (package(text="ISC"), "ISC"),
        (package(text="Copyright\n" * 100, classifiers=("License :: OSI Approved :: MIT License",)), "MIT"),
        (package(classifiers=("Topic :: Software",)), ""),
    ],
)
def test_metadata_is_read_in_the_words_of_spdx(found: Any, expected: str):
    assert licence_of(found) == expected


@pytest.mark.parametrize(
    ("licence", "is_fine"),
    [
        ("MIT", True),
        ("MIT AND BSD-3-Clause", True),
        ("(MPL-2.0 OR Apache-2.0)", True),
        ("GPL-3.0-or-later OR MIT", True),
        ("GPL-3.0-only", False),
        ("AGPL-3.0-only AND MIT", False),
        ("LGPL-3.0-only", False),
        ("", False),
        ("Custom licence", False),
    ],
)
def test_copyleft_and_the_unknown_are_refused(licence: str, is_fine: bool):
    assert (objection("some-package", licence) == "") is is_fine


def test_what_was_let_in_is_let_in_under_that_licence_only():
    assert objection("psycopg", "LGPL-3.0-only") == ""
    assert objection("psycopg", "GPL-3.0-only") != ""


def test_all_licences_may_be_used():
    assert licences.objections(made_of()) == []


def test_the_page_of_licences_is_complete():
    """Other versions of Python need other packages: each that is needed here must be there."""
    written = set(licences.PAGE.read_text().splitlines())

    assert set(licences.page(made_of()).splitlines()) <= written


# ---------------------------------------------------------------------------- the audit


def test_everything_is_pinned_and_unchanged():
    named = pins((ROOT / "constraints.txt").read_text())

    assert audit.unpinned(made_of(), named) == []
    assert audit.changed_files(made_of()) == []


def test_what_is_not_pinned_or_not_that_version_is_named():
    here = [Component("a", "1", "MIT"), Component("b", "2", "MIT"), Component("c", "3", "MIT", "page")]

    assert audit.unpinned(here, pins("A==1\nb==2.1\n")) == ["b 2 is installed, constraints.txt says 2.1"]
    assert audit.unpinned(here, {"b": "2"}) == ["a has no pin in constraints.txt"]


def test_a_changed_file_is_named(tmp_path: Path):
    (tmp_path / "x.js").write_bytes(b"as published")
    good = Component(
        "x", "1", "MIT", "page", digests=(("x.js", hashlib.sha256(b"as published").hexdigest()),)
    )

    assert audit.changed_files([good], tmp_path) == []
    (tmp_path / "x.js").write_bytes(b"changed")
    assert audit.changed_files([good], tmp_path) == ["x.js of x is not the published file"]


KNOWN = {"name": "a", "version": "1", "vulns": []}
SKIPPED = {"name": "b", "skip_reason": "Dependency not found"}
FLAWED = {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}


@pytest.mark.parametrize(
    ("answers", "state", "flaws"),
    [
        ([KNOWN, {**KNOWN, "name": "b"}], "looked up", ()),
        ([KNOWN, SKIPPED], "in part", ()),
        ([FLAWED, SKIPPED], "in part", ("a 1: PYSEC-1, fixed in 1.1",)),
        ([SKIPPED, SKIPPED], "not looked up", ()),
        ([], "not looked up", ()),
    ],
)
def test_what_was_skipped_is_not_called_good(answers: list[Any], state: str, flaws: tuple[str, ...]):
    verdict = audit.judge(json.dumps({"dependencies": answers, "fixes": []}).encode(), 2)

    assert (verdict.state, verdict.flaws) == (state, flaws)
    assert ("NOT LOOKED UP" in verdict.text) is (state != "looked up")


def test_an_answer_that_makes_no_sense_is_no_answer():
    assert audit.judge(b"ERROR: no network", 2).state == "not looked up"


# ---------------------------------------------------------------------------- the SBOM


def test_the_sbom_has_the_shape_of_cyclonedx():
    document = sbom.document(made_of())

    jsonschema_rs.validator_for(CYCLONEDX).validate(document)
    references = [one["bom-ref"] for one in (document["metadata"]["component"], *document["components"])]
    assert len(set(references)) == len(references)
    assert {one["ref"] for one in document["dependencies"]} == set(references)
    assert {ref for one in document["dependencies"] for ref in one["dependsOn"]} <= set(references)


@pytest.mark.parametrize("wrong", ["hashes", "scope", "licenses", "dependencies"])
def test_another_shape_is_noticed(wrong: str):
    document = sbom.document(made_of())
    broken: dict[str, Any] = {
        "hashes": [{"alg": "SHA-256", "content": "no digest"}],
        "scope": "perhaps",
        "licenses": [{"license": {}}],
    }
    if wrong == "dependencies":
        document["dependencies"] = [{"dependsOn": []}]
    else:
        document["components"][0][wrong] = broken[wrong]

    assert not jsonschema_rs.validator_for(CYCLONEDX).is_valid(document)


def test_the_same_packages_give_the_same_bytes(tmp_path: Path):
    first, second = tmp_path / "1" / "a.json", tmp_path / "b.json"

    assert [sbom.main([str(first)]), sbom.main([str(second)])] == [0, 0]
    assert first.read_bytes() == second.read_bytes()
    newer = sbom.document([replace(made_of()[0], version="99"), *made_of()[1:]])
    assert newer["serialNumber"] != json.loads(first.read_text())["serialNumber"]
