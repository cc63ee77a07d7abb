"""The texts that explain code mode and the tool `python` to a model."""

from collections.abc import Sequence
from functools import cache
from pkgutil import get_data

from bridle.core.codeact import PYTHON, describe_tools
from bridle.core.tool import ToolSpec
from bridle.kernel.tool_functions import python_name, signature


def code_prompt(specs: Sequence[ToolSpec], more: Sequence[ToolSpec] = ()) -> str:
    """Return the instructions for code mode and the available functions; those of `more` are only named."""
    others = [spec for spec in specs if spec.name != PYTHON]
    tools = describe_tools(others, signature)
    if more:
        tools += f"\n\nAlso, described by `help(name)`: {', '.join(python_name(spec.name) for spec in more)}"
    return _text("code_mode.md").format(tools=tools)


def description() -> str:
    """Return the description of the tool `python`."""
    return _text("python.md")


@cache
def _text(name: str) -> str:
    data = get_data(__name__, name)
    assert data is not None
    return data.decode().strip()
