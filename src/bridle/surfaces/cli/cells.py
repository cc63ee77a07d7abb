"""From lines that are typed to cells: code ends where Python's own prompt would run it."""

import ast
import codeop
import re
import warnings

CANNOT_BE_RIGHT = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)

_GOES_ON = re.compile(r"#|(?:else|elif|except|finally|case)\b")
"""How a line begins that belongs to the statement before it."""


class Cells:
    """Collects lines until they make a cell.

    A block ends at an empty line, as everywhere. It also ends before a line that begins a new statement,
    so that text which was pasted or piped needs no empty lines.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._is_block = False
        """Only an empty line or a new statement can end them: those between need not be looked at."""

    @property
    def is_open(self) -> bool:
        """Whether the lines so far want more."""
        return bool(self._lines)

    def feed(self, line: str) -> list[str]:
        """Take a line; returns the cells that are whole now: none, one, or two."""
        cells = []
        if self._begins_anew(line):
            cells.append(self._take())
        self._lines.append(line)
        if not (self._is_block and line[:1].isspace() and line.strip()):
            code = "\n".join(self._lines)
            if _is_whole(code):
                cells.append(self._take())
            else:
                self._is_block = _is_complete(code)
        return [cell for cell in cells if cell.strip()]

    def end(self) -> list[str]:
        """Return what is left when no more lines come."""
        cell = self._take()
        return [cell] if cell.strip() else []

    def drop(self) -> None:
        """Forget the lines so far."""
        self._take()

    def _begins_anew(self, line: str) -> bool:
        if not self._lines or not line[:1].strip() or _GOES_ON.match(line):
            return False
        return _is_complete("\n".join(self._lines))

    def _take(self) -> str:
        cell = "\n".join(self._lines)
        self._lines.clear()
        self._is_block = False
        return cell


def _is_whole(code: str) -> bool:
    """Tell whether code would run now at a prompt; what cannot be right is whole: it is to be told so."""
    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the kernel has them too
        try:
            return compiler(code) is not None
        except CANNOT_BE_RIGHT:
            return True


def _is_complete(code: str) -> bool:
    """Tell whether code could run if nothing came after it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(code, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except CANNOT_BE_RIGHT:
            return False
    return True
