"""Tools that query and edit code through language servers.

| module | content |
|---|---|
| `queries` | `diagnostics`, `references`, `definition`, `symbols`, `call_hierarchy` |
| `edits` | `rename_symbol`, `replace_symbol`, `code_action` |
| `edit_plans` | edits of several files: planned, then made in all of them or in none |
| `symbol_edits` | one symbol in the text of its file |
| `new_problems` | new problems in a project after an edit |
| `formatter` | answers as lines of text, without denied files |
"""

from bridle.core.language_servers import LanguageServers
from bridle.core.ports import Tool
from bridle.tools.code.edits import edit_tools
from bridle.tools.code.new_problems import with_new_problems
from bridle.tools.code.queries import query_tools

__all__ = ["code_tools", "edit_tools", "query_tools", "with_new_problems"]


def code_tools(languages: LanguageServers) -> tuple[Tool, ...]:
    """Return one instance of each of these tools."""
    return (*query_tools(languages), *edit_tools(languages))
