"""What a model is told in code mode."""

from collections.abc import Sequence
from functools import cache
from pkgutil import get_data

from bridle.core.codeact import PYTHON, describe_tools
from bridle.core.tool import ToolSpec
from bridle.kernel.definitions import signature


def code_prompt(specs: Sequence[ToolSpec]) -> str:
    """Say how to act by writing Python, and which functions there are."""
    others = [spec for spec in specs if spec.name != PYTHON]
    return _text("code_mode.md").format(tools=describe_tools(others, signature))


def description() -> str:
    """Return what the tool `python` says of itself."""
    return _text("python.md")


@cache
def _text(name: str) -> str:
    data = get_data(__name__, name)
    assert data is not None
    return data.decode().strip()
