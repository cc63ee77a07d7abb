"""The distribution is `bridle-agent`: the name `bridle` belongs to another project on the registry."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OTHER_NAME = re.compile(
    r"(?<![\w./-])bridle\[[a-z{N]"  # an extra
    r"|\b(?:pip3?|pipx|uv|uv tool|uv pip)\s+(?:install|add|inject|upgrade|run)\s+"
    r"(?:-\S+\s+)*['\"]?bridle(?![\w-])"
)
LEFT_OUT = (
    "tests/test_distribution.py",
    "tests/surfaces/tui/__snapshots__/",
    "src/bridle/surfaces/web/vendor/",
)
EXTRAS = {"grpc", "local", "memory", "scale"}
NAMED = re.compile(r"bridle-agent\[([a-z,]+)\]")


def tracked() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file that git knows; what is not text is left out."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if not name.startswith(LEFT_OUT) and (ROOT / name).is_file():
            try:
                yield name, (ROOT / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


TEXTS = dict(tracked())


def test_no_file_says_to_install_the_package_of_others():
    wrong = [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in TEXTS.items()
        for number, line in enumerate(text.splitlines(), 1)
        if OTHER_NAME.search(line)
    ]

    assert wrong == []


def test_extras_that_are_named_are_there():
    project = tomllib.loads(TEXTS["pyproject.toml"])["project"]
    named = {extra for text in TEXTS.values() for found in NAMED.findall(text) for extra in found.split(",")}

    assert project["name"] == "bridle-agent"
    assert set(project["optional-dependencies"]) == EXTRAS | {"all", "dev"}
    assert named <= EXTRAS | {"all"}


@pytest.mark.parametrize(
    "line",
    [
        "pip install bridle",
        "`pip install 'bridle[tui]'`",
        "python -m pip install --upgrade bridle",
        'uv tool install "bridle"',
        "pipx install bridle",
        'f"bridle[{name}]"',
        "pipx inject bridle apsw",
    ],
)
def test_the_name_of_others_is_noticed(line: str):
    assert OTHER_NAME.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install bridle-agent",
        "pip install 'bridle-agent[local]'",
        "/opt/bridle/bin/pip install .",
        "bridle run",
    ],
)
def test_ours_is_not(line: str):
    assert not OTHER_NAME.search(line)
