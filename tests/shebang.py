"""First lines that make a text a program for a Python, also for one whose path has spaces."""

import sys


def shebang(python: str = sys.executable, options: str = "") -> str:
    """Return the first lines; the kernel splits a path at spaces, so that a shell is started for those.

    Python reads the two lines for the shell as a text that is not used, as pip writes them.
    """
    if " " not in python:
        return f"#!{python} {options}".rstrip() + "\n"
    return f"#!/bin/sh\n'''exec' \"{python}\" {options} \"$0\" \"$@\"\n' '''\n"
