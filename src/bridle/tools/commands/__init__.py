"""Static analysis of bash command lines: what a command would do, before it runs."""

from bridle.tools.commands.access import shell_access

__all__ = ["shell_access"]
