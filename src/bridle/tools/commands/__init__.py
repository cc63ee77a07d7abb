"""Shell commands: what a bash command line would do, said before it runs."""

from bridle.tools.commands.access import shell_access

__all__ = ["shell_access"]
