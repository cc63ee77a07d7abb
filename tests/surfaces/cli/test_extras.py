import tomllib
from pathlib import Path

from bridle.surfaces.cli.doctor import EXTRAS, missing_extras

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_they_are_those_of_the_package():
    named = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]

    assert set(EXTRAS) == set(named) - {"all", "dev"}


def test_here_all_are_installed():
    assert list(missing_extras()) == []


def test_one_that_is_missing_is_named():
    extras = {"a": ("x", ("json", "no_such_module")), "b": ("y", ("json",)), "c": ("z", ("no_such.part",))}

    assert list(missing_extras(extras)) == ["a", "c"]
