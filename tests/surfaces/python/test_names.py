"""`import bridle` is light, exports every name that a program needs, and every name has a type."""

import ast
import re
import subprocess
import sys
from inspect import isfunction
from itertools import pairwise
from pathlib import Path

import pytest

import bridle

PACKAGE = Path(bridle.__file__).parent
SPREAD = sorted((PACKAGE / "core/protocol").glob("*.py"))  # whose names are those of the package
USES = Path(__file__).with_name("uses.py")


def test_every_name_can_be_had():
    assert [name for name in bridle.__all__ if getattr(bridle, name, None) is None] == []
    assert dir(bridle) == sorted(bridle.__all__)
    with pytest.raises(AttributeError, match="module 'bridle' has no attribute 'nothing'"):
        _ = bridle.nothing  # type: ignore[attr-defined]


def test_every_name_has_its_type():
    stub = (PACKAGE / "__init__.pyi").read_text()
    typed = {
        (name, module)
        for module, name, again in re.findall(r"from (\S+) import (\w+) as (\w+)", stub)
        if name == again
    }

    assert typed == {(name, module) for name, module in bridle._HOME.items()}
    assert (PACKAGE / "py.typed").exists()


def test_what_is_public_is_documented():
    assert [name for name in bridle._HOME if not documented(name)] == []


def documented(name: str) -> bool:
    """Return whether a class or function has its own docstring, or a type alias is followed by a text."""
    value = getattr(bridle, name)
    if isinstance(value, type) or isfunction(value):
        return bool(value.__doc__) and not value.__doc__.startswith(f"{name}(")
    module = bridle._HOME[name]
    for source in [PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py"), *SPREAD]:
        body = ast.parse(source.read_text()).body if source.exists() else []
        for one, after in pairwise(body):
            match one, after:
                case ast.Assign(targets=[ast.Name(id=found)]), ast.Expr(value=ast.Constant(value=str())):
                    if found == name:
                        return True
                case _:
                    pass
    return False


@pytest.mark.parametrize("kind", [bridle.Bridle, bridle.Session, bridle.RunStream, bridle.RunResult])
def test_all_that_can_be_called_is_documented(kind: type):
    public = [name for name, value in vars(kind).items() if isfunction(value) or isinstance(value, property)]
    public = [name for name in public if not name.startswith("_")]

    assert public
    assert [name for name in public if not getattr(kind, name).__doc__] == []


def test_importing_it_loads_nothing():
    heavy = "('bridle', 'msgspec', 'asyncio')"
    program = f"import sys, bridle; print(*(name for name in sys.modules if name.startswith({heavy})))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["bridle"]


def test_uses_have_the_types_they_should_have():
    """Lines that end in `# E: text` must be errors that say so, and no others may be."""
    mypy = Path(sys.executable).with_name("mypy")
    root = PACKAGE.parents[1]
    done = subprocess.run(
        [mypy, "--config-file", root / "pyproject.toml", "--no-error-summary", "--no-pretty", USES],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"^\S*uses\.py:(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    wanted = [
        (number, line.partition("# E: ")[2])
        for number, line in enumerate(USES.read_text().splitlines(), 1)
        if "# E: " in line
    ]

    said = {int(number): text for number, text in reversed(found)}  # of two in one line the first
    assert sorted(said) == [number for number, _ in wanted], done.stdout + done.stderr
    assert [text for number, text in wanted if text not in said[number]] == []
