"""The program under test, with a separate home and project directory."""

from pathlib import Path

import pytest

from tests.surfaces.command import Bridle


@pytest.fixture
def bridle(env: dict[str, str], tmp_path: Path) -> Bridle:
    """Return the program in an empty project."""
    project = tmp_path / "project"
    project.mkdir()
    return Bridle(env, project)
