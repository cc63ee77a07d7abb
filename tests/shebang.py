"""Shebang lines that make a script run with a Python, also if its path has spaces."""

import sys


def shebang(python: str = sys.executable, options: str = "") -> str:
    """Return the first line; the kernel splits a path at spaces, `env -S` reads it in quotes."""
    start = f'/usr/bin/env -S "{python}"' if " " in python else python
    return f"#!{start} {options}".rstrip() + "\n"
