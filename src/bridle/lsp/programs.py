"""Where the programs of language servers lie: never in a project, unless the user trusts it."""

import os

from msgspec import Struct

from bridle.lsp.settings import FolderLanguages, LanguageServer
from bridle.system.programs import is_program, is_within

OWN_FOLDERS = (".venv/bin", "venv/bin", "node_modules/.bin")
"""Where projects keep programs of their own."""


class Program(Struct, frozen=True):
    """Where a program lies, or why it cannot be used."""

    path: str = ""
    is_untrusted: bool = False
    """It lies in the project, which the user does not trust."""


def find_program(server: LanguageServer, folder: FolderLanguages) -> Program:
    """Look for the program of a server; blocking, never raises."""
    name = server.command[0] if server.command else ""
    if not name or "\0" in name:
        return Program()
    if "/" in name:
        places = [os.path.join(folder.root, os.path.expanduser(name))]
    else:
        own = [os.path.join(folder.root, part, name) for part in OWN_FOLDERS]
        path = folder.environ.get("PATH", os.defpath).split(os.pathsep)
        # a relative entry would mean another program in each project
        places = own + [os.path.join(part, name) for part in path if os.path.isabs(part)]
    is_untrusted = False
    for place in places:
        if not is_program(place):
            continue
        if folder.trusted or not is_within(place, (folder.root, *folder.writable)):
            return Program(place)
        is_untrusted = True
    return Program(is_untrusted=is_untrusted)
