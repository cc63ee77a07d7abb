"""The `initialize` request: our name, the project root and the client capabilities."""

import os
from collections.abc import Sequence
from typing import Any

from bridle.lsp.positions import ENCODINGS, to_uri
from bridle.lsp.settings import LanguageServer

SYMBOL_KINDS: Sequence[str] = (
    "symbol",
    *"file module namespace package class method property field constructor enum interface".split(),
    *"function variable constant string number boolean array object key null".split(),
    *"enum_member struct event operator type_parameter".split(),
)
"""Symbol kind names, indexed by their LSP number."""

_ALL_KINDS = {"valueSet": list(range(1, len(SYMBOL_KINDS)))}

CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": list(ENCODINGS)},
    "window": {"workDoneProgress": True, "showMessage": {}, "showDocument": {"support": False}},
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": False},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "diagnostics": {"refreshSupport": True},
        "executeCommand": {},
        "symbol": {"symbolKind": _ALL_KINDS},
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "failureHandling": "abort",
        },
    },
    "textDocument": {
        "synchronization": {"didSave": True},
        "publishDiagnostics": {
            "versionSupport": True,
            "relatedInformation": True,
            "tagSupport": {"valueSet": [1, 2]},
            "codeDescriptionSupport": True,
            "dataSupport": True,
        },
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": True},
        "definition": {"linkSupport": True},
        "references": {},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True, "symbolKind": _ALL_KINDS},
        "callHierarchy": {},
        "rename": {"prepareSupport": True, "prepareSupportDefaultBehavior": 1},
        "codeAction": {
            "codeActionLiteralSupport": {
                "codeActionKind": {"valueSet": ["", "quickfix", "refactor", "source", "source.fixAll"]}
            },
            "isPreferredSupport": True,
            "disabledSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
        },
    },
}


def initialize_params(server: LanguageServer, root: str) -> dict[str, Any]:
    """Return the parameters of `initialize`.

    They do not name our process id: a server inside the sandbox would not find the process, and exit.
    """
    return {
        "processId": None,
        "clientInfo": {"name": "bridle"},
        "locale": "en",
        "rootPath": _plain(root),
        "rootUri": to_uri(root),
        "workspaceFolders": workspace_folders(root),
        "initializationOptions": server.init_options or None,
        "capabilities": CAPABILITIES,
        "trace": "off",
    }


def workspace_folders(root: str) -> list[dict[str, str]]:
    """Return the project root as the only LSP workspace folder."""
    return [{"uri": to_uri(root), "name": _plain(root).rpartition("/")[2] or "/"}]


def _plain(path: str) -> str:
    """Return a path as text; bytes that are not UTF-8 are replaced."""
    return os.fsencode(path).decode(errors="replace")


def get_section(settings: dict[str, Any], section: str | None) -> Any:
    """Return the part of the settings at a dotted name; None if there is none."""
    found: Any = settings
    for part in (section or "").split("."):
        if part:
            found = found.get(part) if isinstance(found, dict) else None
    return found
