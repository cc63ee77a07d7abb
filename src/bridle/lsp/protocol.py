"""LSP messages from servers, limited to the fields that we use.

Where the protocol allows several shapes, one struct has the fields of all of them.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct

Number = Annotated[int, Meta(ge=0)]
NOTHING = Raw(b"null")


class LspStruct(Struct, frozen=True, rename="camel"):
    """A struct with camelCase field names, as in the protocol."""


class JsonRpcMessage(LspStruct, frozen=True):
    """Any message: a request has a method and an id, a notification no id, a response no method."""

    id: int | str | None = None
    method: str | None = None
    params: Raw = NOTHING
    result: Raw = NOTHING
    error: Any = None


class Position(LspStruct, frozen=True, order=True):
    """A line counted from 0, and an offset into it in units of the negotiated encoding."""

    line: Number
    character: Number


class Range(LspStruct, frozen=True, order=True):
    start: Position
    end: Position


class LspLocation(LspStruct, frozen=True):
    """A Location or a LocationLink."""

    uri: str = ""
    range: Range | None = None
    target_uri: str = ""
    target_selection_range: Range | None = None


class Diagnostic(LspStruct, frozen=True):
    range: Range
    message: Any = ""
    severity: int | None = None
    code: Any = None
    source: str | None = None
    tags: list[int] | None = None


class Published(LspStruct, frozen=True):
    """The parameters of `textDocument/publishDiagnostics`."""

    uri: str
    diagnostics: list[Raw]
    version: int | None = None


class Report(LspStruct, frozen=True):
    """A response to `textDocument/diagnostic`."""

    kind: str = "full"
    items: list[Raw] = []
    result_id: str | None = None
    related_documents: dict[str, "Report"] | None = None


class Symbol(LspStruct, frozen=True):
    """A DocumentSymbol, a SymbolInformation or a WorkspaceSymbol."""

    name: str
    kind: int = 0
    range: Range | None = None
    selection_range: Range | None = None
    children: list["Symbol"] | None = None
    location: LspLocation | None = None
    container_name: str | None = None


class CallItem(LspStruct, frozen=True):
    """A CallHierarchyItem."""

    name: str
    uri: str
    selection_range: Range


class IncomingCall(LspStruct, frozen=True, rename="camel"):
    from_: CallItem = msgspec.field(name="from")
    from_ranges: list[Range] = []


class OutgoingCall(LspStruct, frozen=True):
    to: CallItem


class TextEdit(LspStruct, frozen=True):
    """A TextEdit."""

    range: Range
    new_text: str


class VersionedDocument(LspStruct, frozen=True):
    uri: str
    version: int | None = None


class ChangeOptions(LspStruct, frozen=True):
    overwrite: bool = False
    ignore_if_exists: bool = False
    ignore_if_not_exists: bool = False


class Change(LspStruct, frozen=True):
    """A TextDocumentEdit, or a CreateFile, RenameFile or DeleteFile, which have a kind."""

    kind: str = ""
    text_document: VersionedDocument | None = None
    edits: list[TextEdit] = []
    uri: str = ""
    old_uri: str = ""
    new_uri: str = ""
    options: ChangeOptions | None = None


class WorkspaceEdit(LspStruct, frozen=True):
    changes: dict[str, list[TextEdit]] | None = None
    document_changes: list[Change] | None = None


class Disabled(LspStruct, frozen=True):
    reason: str = ""


class Command(LspStruct, frozen=True):
    command: str
    arguments: list[Raw] | None = None


class Action(LspStruct, frozen=True):
    """A CodeAction, or a bare Command, whose `command` field is a string."""

    title: str
    kind: str | None = None
    is_preferred: bool | None = None
    disabled: Disabled | None = None
    edit: WorkspaceEdit | None = None
    command: Command | str | None = None
    arguments: list[Raw] | None = None


class SyncOptions(LspStruct, frozen=True):
    save: bool | dict[str, Any] | None = None


Ability = bool | dict[str, Any] | None


class Capabilities(LspStruct, frozen=True):
    """The capabilities of a server."""

    position_encoding: str | None = None
    text_document_sync: SyncOptions | int | None = None
    definition_provider: Ability = None
    references_provider: Ability = None
    document_symbol_provider: Ability = None
    workspace_symbol_provider: Ability = None
    call_hierarchy_provider: Ability = None
    rename_provider: Ability = None
    code_action_provider: Ability = None
    diagnostic_provider: Ability = None
    execute_command_provider: dict[str, Any] | None = None


class ServerInfo(LspStruct, frozen=True):
    """The name and version of a server."""

    name: str = ""
    version: str | None = None


class Initialized(LspStruct, frozen=True):
    """The response to `initialize`."""

    capabilities: Capabilities = Capabilities()
    server_info: ServerInfo | None = None


class Registration(LspStruct, frozen=True):
    id: str
    method: str
    register_options: Any = None


class Registrations(LspStruct, frozen=True):
    """The parameters of `client/registerCapability` and of its opposite, which the protocol misspells."""

    registrations: list[Registration] = []
    unregisterations: list[Registration] = []


class ConfigurationItem(LspStruct, frozen=True):
    section: str | None = None


class ConfigurationAsked(LspStruct, frozen=True):
    items: list[ConfigurationItem] = []


class WorkProgress(LspStruct, frozen=True):
    """The parameters of `$/progress`."""

    token: int | str
    value: Any = None


class Shown(LspStruct, frozen=True):
    """The parameters of `window/showMessage`."""

    message: str = ""
    type: int = 4


class ApplyAsked(LspStruct, frozen=True):
    edit: WorkspaceEdit
