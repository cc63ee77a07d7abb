"""Tools: what a model can do, and the box that finds them and checks calls."""

from bridle.tools.diff import new_file_diff, unified_diff
from bridle.tools.files import EditFile, ListFiles, ReadFile, WriteFile, file_tools
from bridle.tools.toolbox import Toolbox, cap_output

__all__ = [
    "EditFile",
    "ListFiles",
    "ReadFile",
    "Toolbox",
    "WriteFile",
    "cap_output",
    "file_tools",
    "new_file_diff",
    "unified_diff",
]
