"""What every test may use: repeatable examples and a private home."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Repeatable by default; `pytest --hypothesis-profile=explore` looks for new examples.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("ci")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Give an empty `BRIDLE_HOME`; a subprocess gets it through `env`."""
    path = tmp_path / "home" / ".bridle"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def env(home: Path) -> dict[str, str]:
    """Give the whole environment of a subprocess: this interpreter first on PATH, no keys, nobody's home."""
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "HOME": str(home.parent),
        "BRIDLE_HOME": str(home),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
    }
