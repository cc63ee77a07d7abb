"""Shared by the tests of code tools."""

from pathlib import Path

import pytest

from bridle.core.ports import Tool
from bridle.tools.code import code_tools
from tests.tools.code.fake import FakeLanguages


@pytest.fixture
def languages() -> FakeLanguages:
    return FakeLanguages()


@pytest.fixture
def tools(languages: FakeLanguages) -> dict[str, Tool]:
    return {tool.spec.name: tool for tool in code_tools(languages)}


@pytest.fixture
def project(cwd: Path) -> Path:
    """Return three files that share a name, one of them below a folder, and one that is denied at times."""
    files = {
        "a.py": "def price():\n    return 1\n",
        "b.py": "from a import price\n\nprint(price())\n",
        "pkg/c.py": "import a\r\n\r\na.price()\r\n",
        "secrets/key.py": "KEY = 'tOp-sEcRet'\n",
    }
    for name, text in files.items():
        (cwd / name).parent.mkdir(exist_ok=True)
        (cwd / name).write_bytes(text.encode())
    return cwd
