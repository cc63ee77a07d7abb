"""The import contracts hold, and each of them fails when it is broken."""

import importlib
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bridle

ROOT = Path(__file__).parents[1]
PACKAGE = Path(bridle.__file__).parent

HEAVY = frozenset(
    """
    acp aiohttp anthropic anyio baml_py dbos fastapi google grpc httpx jsonschema_rs mcp numpy openai
    opentelemetry prompt_toolkit psycopg pydantic rich sqlalchemy starlette structlog textual tree_sitter
    uvicorn wordllama xllamacpp yaml
    """.split()
)
"""Libraries that must not be loaded on the start-up path; aiohttp is one because it costs start-up time."""

START_UP = [("--help",), ("--version",), ("session", "list")]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the package, to be broken; the directory it lies in is returned."""
    place = tmp_path / "copy"
    shutil.copytree(PACKAGE, place / "bridle", ignore=shutil.ignore_patterns("__pycache__"))
    return place


def append(path: Path, line: str) -> None:
    path.write_text(f"{path.read_text()}\n{line}\n")


def lint_imports(place: Path) -> subprocess.CompletedProcess[str]:
    """Run the project's contracts on the package in `place`."""
    lint = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [lint, "--config", ROOT / "pyproject.toml", "--no-cache", "--no-logo"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )


def heavy_imports(args: tuple[str, ...], env: dict[str, str]) -> set[str]:
    """Run `bridle ARGS` and return the heavy libraries that it loaded."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bridle", *args],
        env=env,
        cwd=env["HOME"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    loaded = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    }

    assert done.returncode == 0, done.stderr[-2000:]
    assert "bridle" in loaded
    return loaded & HEAVY


def test_the_contracts_are_kept(copy: Path):
    done = lint_imports(copy)

    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract", "chain"),
    [
        ("core/__init__.py", "import asyncio", "Core imports only", "bridle.core -> asyncio"),
        ("core/errors.py", "from time import time", "Core imports only", "bridle.core.errors -> time"),
        ("core/errors.py", "import aiohttp", "Core imports only", "bridle.core.errors -> aiohttp"),
        (
            "core/errors.py",
            "import bridle.stores",
            "Layers point down",
            "bridle.core.errors -> bridle.stores",
        ),
        ("tools/__init__.py", "import bridle.stores", "Layers point down", "bridle.tools -> bridle.stores"),
        ("stores/__init__.py", "import bridle.config", "Layers point down", "bridle.stores -> bridle.config"),
        ("config/__init__.py", "import bridle.app", "Layers point down", "bridle.config -> bridle.app"),
        ("sessions/__init__.py", "import textual", "Heavy libraries", "bridle.sessions -> textual"),
    ],
)
def test_a_forbidden_import_breaks_its_contract(
    copy: Path, module: str, line: str, contract: str, chain: str
):
    append(copy / "bridle" / module, line)

    done = lint_imports(copy)

    assert done.returncode == 1, done.stdout
    broken = [text for text in done.stdout.splitlines() if text.endswith("BROKEN")]
    assert any(text.startswith(contract) for text in broken), done.stdout
    assert chain in done.stdout


def test_an_import_cycle_breaks_the_contract(copy: Path):
    (copy / "bridle/core/chicken.py").write_text("import bridle.core.egg\n")
    (copy / "bridle/core/egg.py").write_text("import bridle.core.chicken\n")

    done = lint_imports(copy)

    assert done.returncode == 1
    assert "No import cycles BROKEN" in done.stdout


def test_a_new_package_must_be_given_a_layer(copy: Path):
    (copy / "bridle/utils.py").touch()

    done = lint_imports(copy)

    assert done.returncode == 1
    assert "utils" in done.stdout


@pytest.mark.parametrize("target", ["check", "test"])
def test_make_runs_the_contracts_and_these_tests(target: str, env: dict[str, str]):
    plan = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )

    assert "bin/lint-imports" in plan.stdout
    assert "bin/pytest" in plan.stdout


@pytest.mark.parametrize("args", START_UP, ids=" ".join)
def test_start_up_loads_no_heavy_library(args: tuple[str, ...], env: dict[str, str]):
    assert heavy_imports(args, env) == set()


@pytest.mark.parametrize("args", START_UP, ids=" ".join)
def test_a_heavy_library_on_the_start_up_path_is_noticed(
    args: tuple[str, ...], copy: Path, env: dict[str, str]
):
    (copy / "textual.py").touch()
    append(copy / "bridle/surfaces/__init__.py", "import textual")

    assert heavy_imports(args, env | {"PYTHONPATH": str(copy)}) == {"textual"}


def packages() -> list[str]:
    found = pkgutil.walk_packages([str(PACKAGE)], "bridle.")
    return ["bridle", *(module.name for module in found if module.ispkg)]


@pytest.mark.parametrize("name", packages())
def test_a_package_lists_its_public_names(name: str):
    package = importlib.import_module(name)
    listed = list(getattr(package, "__all__", []))
    offered = {
        key
        for key, value in vars(package).items()
        if not key.startswith("_") and str(getattr(value, "__module__", "")).startswith(name)
    }

    assert len(set(listed)) == len(listed)
    assert [public for public in listed if not hasattr(package, public)] == []
    assert offered - set(listed) == set()


def test_public_names_are_sorted():
    """Ruff decides what sorted means (constants, classes, the rest), so that `make format` can do it."""
    ruff = Path(sys.executable).with_name("ruff")
    done = subprocess.run(
        [ruff, "check", "--isolated", "--no-cache", "--select", "RUF022", PACKAGE],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
