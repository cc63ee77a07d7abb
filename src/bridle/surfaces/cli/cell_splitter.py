"""Split typed lines into cells: a cell ends where Python's own prompt would run it."""

import ast
import codeop
import re
import warnings

INVALID_CODE_ERRORS = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)

_GOES_ON = re.compile(r"#|(?:else|elif|except|finally|case)\b")
"""Starts of lines that continue the previous statement."""


class CellSplitter:
    """Collects lines until they form a cell.

    A block ends at an empty line, as in Python's prompt. It also ends before a line that starts a new
    statement, so pasted or piped text needs no empty lines.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._is_block = False
        """True in a block: only an empty line or a new statement ends it; indented lines are not compiled."""

    @property
    def is_open(self) -> bool:
        """True while the lines so far need more input."""
        return bool(self._lines)

    def feed(self, line: str) -> list[str]:
        """Add a line; return the cells that are now complete: none, one, or two."""
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
        """Return the remaining lines as a cell when input ends."""
        cell = self._take()
        return [cell] if cell.strip() else []

    def drop(self) -> None:
        """Discard the lines so far."""
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
    """Return True if a prompt would run this code now; invalid code counts, so that its error is reported."""
    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the kernel reports them when the code runs
        try:
            return compiler(code) is not None
        except INVALID_CODE_ERRORS:
            return True


def _is_complete(code: str) -> bool:
    """Return True if the code compiles as it stands."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(code, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except INVALID_CODE_ERRORS:
            return False
    return True
