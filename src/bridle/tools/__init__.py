"""The built-in tools, and the toolbox that finds a tool by name and checks its arguments."""

from bridle.tools.diff import new_file_diff, unified_diff
from bridle.tools.file_tools import EditFile, WriteFile, file_tools
from bridle.tools.glob import Glob, Ls
from bridle.tools.grep import Grep
from bridle.tools.list_files import ListFiles
from bridle.tools.read_file import ReadFile
from bridle.tools.toolbox import Toolbox, cap_output

__all__ = [
    "EditFile",
    "Glob",
    "Grep",
    "ListFiles",
    "Ls",
    "ReadFile",
    "Toolbox",
    "WriteFile",
    "cap_output",
    "file_tools",
    "new_file_diff",
    "unified_diff",
]
