"""Tools that query and edit code through language servers.

| module | content |
|---|---|
| `asking` | `diagnostics`, `references`, `definition`, `symbols`, `call_hierarchy` |
| `editing` | `rename_symbol`, `replace_symbol`, `code_action` |
| `plans` | edits of several files: planned, then made in all of them or in none |
| `pieces` | one symbol in the text of its file |
| `news` | new problems in a project after an edit |
| `showing` | answers as lines of text, without denied files |
"""

from bridle.core.languages import Languages
from bridle.core.ports import Tool
from bridle.tools.code.asking import question_tools
from bridle.tools.code.editing import edit_tools
from bridle.tools.code.news import with_news

__all__ = ["code_tools", "edit_tools", "question_tools", "with_news"]


def code_tools(languages: Languages) -> tuple[Tool, ...]:
    """Return one instance of each of these tools."""
    return (*question_tools(languages), *edit_tools(languages))
