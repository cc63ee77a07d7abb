"""Finds the programs of language servers: in a project only if the user trusts it."""

import os

from msgspec import Struct

from bridle.lsp.settings import FolderLanguages, LanguageServer
from bridle.system.programs import is_program, is_within

OWN_FOLDERS = (".venv/bin", "venv/bin", "node_modules/.bin")
"""Where projects keep their own programs."""


class Program(Struct, frozen=True):
    """The path of a program, or why it cannot be used."""

    path: str = ""
    is_untrusted: bool = False
    """True if it lies in the project, which the user does not trust."""


def find_program(server: LanguageServer, folder: FolderLanguages) -> Program:
    """Find the program of a server; blocks, never raises."""
    name = server.command[0] if server.command else ""
    if not name or "\0" in name:
        return Program()
    if "/" in name:
        places = [os.path.join(folder.root, os.path.expanduser(name))]
    else:
        own = [os.path.join(folder.root, part, name) for part in OWN_FOLDERS]
        path = folder.environ.get("PATH", os.defpath).split(os.pathsep)
        # a relative entry would mean a different program in each project
        places = own + [os.path.join(part, name) for part in path if os.path.isabs(part)]
    is_untrusted = False
    for place in places:
        if not is_program(place):
            continue
        if folder.trusted or not is_within(place, (folder.root, *folder.writable)):
            return Program(place)
        is_untrusted = True
    return Program(is_untrusted=is_untrusted)
