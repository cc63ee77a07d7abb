"""The MCP servers in the settings: where each is defined, its variables resolved, and what is wrong with it.

```
layers --find_servers--> FoundServer --resolve--> McpServerSettings with all variables substituted
```

An entry with a `command` or a `url` completely replaces one of that name in the layers below: what belongs
to one address or program must not go to another. An entry with neither changes the one below.
A server that cannot be used fails alone; the others are unaffected.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from bridle.config.duration import Duration
from bridle.config.file_names import PROJECT_FOLDER
from bridle.config.hooks import HIDDEN
from bridle.config.layers import SERVERS, Layer, LayerName, is_complete_server
from bridle.config.server_keys import McpServerSettings
from bridle.config.validation import build
from bridle.core.errors import ConfigError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")
_ONLY_VARIABLES = re.compile(r"(?:(?:Bearer|Basic|Token) )?(?:\$\{[A-Za-z_][A-Za-z0-9_]*\})+", re.IGNORECASE)
_SECRET_NAME = re.compile(r"key|token|secret|passw|auth|cookie|cred|private", re.IGNORECASE)
_SCRIPTS = (".cjs", ".js", ".lua", ".mjs", ".php", ".pl", ".py", ".rb", ".sh", ".ts")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

Faults = Mapping[tuple[str, str], str]
"""Errors of individual entries, by file and name."""


class FoundServer(Struct, frozen=True):
    """A server of the settings, as written."""

    name: str
    settings: McpServerSettings
    place: str
    """File and line."""
    layer: LayerName
    folders: tuple[str, ...] = ()
    """Folders in which to look for a program with a relative path."""
    trusted: bool = True
    """False for a project's server that has no effect."""
    has_lapsed: bool = False
    """True if it had an effect until the project changed."""
    fault: str = ""
    """Why it cannot be used, if the entry alone shows that."""
    must_confine: bool = False
    """True if a project defines or changes it, and the user's own settings do not lift the sandbox."""

    @property
    def transport(self) -> Literal["stdio", "http", "sse"]:
        """How to connect to it."""
        if self.settings.transport != "auto":
            return self.settings.transport
        return "http" if self.settings.url else "stdio"


def find_servers(
    layers: Sequence[Layer],
    untrusted: Sequence[Layer],
    faults: Faults,
    *,
    has_lapsed: bool = False,
) -> tuple[FoundServer, ...]:
    """Return the servers of all layers by name, those in effect first.

    `untrusted` are layers that have no effect, as they were read.
    """
    found = list(_found(layers, faults))
    places = {(server.name, server.place) for server in found}
    inert = [
        replace(server, trusted=False, has_lapsed=has_lapsed)
        for server in _found(untrusted, faults)
        if (server.name, server.place) not in places
    ]
    return (*found, *inert)


def _found(layers: Iterable[Layer], faults: Faults) -> Iterator[FoundServer]:
    entries: dict[str, tuple[dict[str, Any], Layer]] = {}
    confined: set[str] = set()
    freed: set[str] = set()
    for layer in layers:
        for name, entry in layer.tree.get("mcp", {}).get("servers", {}).items():
            if layer.source.layer == "project" and entry != {"enabled": False}:
                confined.add(name)
            elif entry.get("sandbox") is False and not is_complete_server(entry):
                freed.add(name)
            below = entries.get(name)
            if below is None or is_complete_server(entry) or (layer.source.file, name) in faults:
                entries[name] = (entry, layer)
            else:
                entries[name] = ({**below[0], **entry}, below[1])
    for name, (entry, layer) in sorted(entries.items()):
        if _names_nothing(entry):
            continue
        place = layer.place((*SERVERS, name))
        settings = build(entry, McpServerSettings)
        fault = faults.get((layer.source.file, name)) or entry_fault(settings)
        yield FoundServer(
            name,
            settings,
            place,
            layer.source.layer,
            _folders(layer),
            fault=fault,
            must_confine=name in confined - freed,
        )


def _names_nothing(entry: dict[str, Any]) -> bool:
    """Return True for an entry that only switches off something of a server that is not defined."""
    return bool(entry) and entry.keys() <= {"enabled", "sandbox"} and not any(entry.values())


def find_server_programs(tree: dict[str, Any]) -> Iterator[str]:
    """Yield the project files that its servers may run, as paths in the project; they need not exist."""
    servers = _table(_table(tree, "mcp"), "servers")
    for name in servers:
        entry = _table(servers, name)
        command, args, cwd = (_with_defaults(entry.get(key)) for key in ("command", "args", "cwd"))
        named = [text for text in command if "/" in text]
        for text in args:
            if text.endswith(_SCRIPTS):  # as in `node server.js`
                named += [text, *(os.path.join(folder, text) for folder in cwd)]
        yield from (text for text in named if not text.startswith(("/", "~", "$")))


def _with_defaults(value: Any) -> list[str]:
    """Return the strings of an unvalidated value, with variables replaced by their defaults."""
    texts = value if isinstance(value, list) else [value]
    return [
        _VARIABLE.sub(lambda found: found[2] or found[0], text) for text in texts if isinstance(text, str)
    ]


def _table(tree: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a table of an unvalidated tree; empty if there is none."""
    found = tree.get(key)
    return found if isinstance(found, dict) else {}


def _folders(layer: Layer) -> tuple[str, ...]:
    folder = os.path.dirname(layer.source.file)
    if layer.source.layer == "project" and os.path.basename(folder) == PROJECT_FOLDER:
        return folder, os.path.dirname(folder)
    return (folder,) if folder else ()


def entry_fault(settings: McpServerSettings) -> str:
    """Return what is wrong with an entry, whatever its variables are; empty if nothing."""
    if bool(settings.command) == bool(settings.url):
        return (
            "it needs a command or a url"
            if not settings.command
            else "it has both a command and a url; use one"
        )
    if settings.url and settings.transport == "stdio":
        return "a url is reached by http or sse, not by stdio"
    if settings.command and settings.transport in ("http", "sse"):
        return f"a command is reached by stdio, not by {settings.transport}"
    return ""


# ---------------------------------------------------------------------------- variables


def resolve(found: FoundServer, environ: Mapping[str, str], user_folder: Path | None) -> McpServerSettings:
    """Return a server's settings with all variables substituted and all paths absolute.

    Raises ConfigError, which names the server, the key and the variable, but shows no value.
    """
    if found.fault:
        raise ConfigError(f"server {found.name}: {found.place}: {found.fault}")
    said = found.settings
    values = _Values(found.name, environ)
    headers = {name: values.of(f"headers.{name}", text) for name, text in said.headers.items()}
    settings = replace(
        said,
        command=values.of("command", said.command),
        args=tuple(values.of(f"args[{index}]", text, lines=True) for index, text in enumerate(said.args)),
        env={name: values.of(f"env.{name}", text, lines=True) for name, text in said.env.items()},
        cwd=values.of("cwd", said.cwd),
        url=values.of("url", said.url),
        headers={name: text for name, text in headers.items() if text},
        transport=found.transport,
    )
    if said.oauth.client_secret_env:
        values.of("oauth.client_secret_env", f"${{{said.oauth.client_secret_env}}}")
    if settings.url and (problem := url_problem(settings.url, is_secret=bool(settings.headers))):
        raise ConfigError(f"server {found.name}: url: {problem[0]}", hint=problem[1])
    if said.command and not settings.command:
        raise ConfigError(f"server {found.name}: command: it is empty")
    return _with_paths(settings, found, user_folder)


class _Values:
    """Substitutes variables in the texts of one server."""

    def __init__(self, server: str, environ: Mapping[str, str]) -> None:
        self._server = server
        self._environ = environ

    def of(self, key: str, text: str, *, lines: bool = False) -> str:
        """Return a text with its variables substituted; with `lines`, it may have more than one line."""

        def value(match: re.Match[str]) -> str:
            name, default = match.groups()
            found = self._environ.get(name)
            if default is not None:
                return found or default
            if found is None:
                raise ConfigError(
                    f"server {self._server}: {key}: the variable {name} is not set",
                    hint=f"set it, or write ${{{name}:-default}}",
                )
            return found

        whole = _VARIABLE.sub(value, text) if "${" in text else text
        if "\0" in whole or (not lines and _CONTROL.search(whole)):
            raise ConfigError(f"server {self._server}: {key}: has control characters")
        return whole


def _with_paths(
    settings: McpServerSettings, found: FoundServer, user_folder: Path | None
) -> McpServerSettings:
    command, cwd = _at_home(settings.command, user_folder), _at_home(settings.cwd, user_folder)
    if "/" in command and not os.path.isabs(command) and found.folders:
        places = [os.path.normpath(os.path.join(folder, command)) for folder in found.folders]
        command = next((place for place in places if os.path.lexists(place)), places[-1])
    # A project's server runs in the project folder, wherever in the project the session is.
    if found.layer == "project":
        cwd = os.path.normpath(os.path.join(found.folders[-1], cwd))
    elif cwd and not os.path.isabs(cwd):
        raise ConfigError(f"server {found.name}: cwd: must be an absolute path, or one below ~/")
    return replace(settings, command=command, cwd=cwd)


def _at_home(path: str, user_folder: Path | None) -> str:
    if path.startswith("~/") and user_folder is not None:
        return str(user_folder / path[2:])
    return path


def url_problem(url: str, *, is_secret: bool) -> tuple[str, str] | None:
    """Return what is wrong with an address and a hint; None if it can be used.

    `is_secret` says that the request carries something that must not be sent unencrypted.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not an address", "write https://host/path"
    if parts.scheme not in ("http", "https") or not host or re.search(r"\s", url):
        return "must be an http:// or https:// address", "write https://host/path"
    if "@" in parts.netloc:
        return "has a user or password in it", 'put it into headers, as Authorization = "Bearer ${TOKEN}"'
    if parts.scheme == "http" and is_secret and not _is_loopback(host):
        return f"is unencrypted, so headers would be sent to {host} in the clear", "use https"
    return None


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


# ---------------------------------------------------------------------------- display


def redact_server(entry: McpServerSettings | dict[str, Any], *, for_trust: bool = False) -> dict[str, Any]:
    """Return an entry as TOML values, without what may be a secret.

    With `for_trust`, show the program's environment, except variables whose names suggest a secret.
    """
    said: dict[str, Any] = dict(entry) if isinstance(entry, dict) else _said(entry)
    for key in ("env", "headers"):
        if key in said:
            is_open = for_trust and key == "env"
            said[key] = {name: _shown(name, text, is_open=is_open) for name, text in said[key].items()}
    if "url" in said:
        said["url"] = redact_url(said["url"])
    return said


def redact_url(url: str) -> str:
    """Return an address without what may be a secret: a password, and everything after a question mark."""
    address, mark, _ = url.partition("?")
    scheme, slashes, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    host = f"{HIDDEN}@{host.rpartition('@')[2]}" if "@" in host else host
    return f"{scheme}{slashes}{host}{slash}{path}{mark}{HIDDEN if mark else ''}"


def _shown(name: str, text: str, *, is_open: bool) -> str:
    if _ONLY_VARIABLES.fullmatch(text) or (is_open and not _SECRET_NAME.search(name)):
        return text
    return HIDDEN


def _said(settings: Struct) -> dict[str, Any]:
    """Return the fields that differ from the defaults, as TOML values."""
    usual = type(settings)()
    fields = {name: getattr(settings, name) for name in settings.__struct_fields__}
    return {name: _plain(value) for name, value in fields.items() if value != getattr(usual, name)}


def _plain(value: Any) -> Any:
    match value:
        case Struct():
            return _said(value)
        case tuple():
            return list(value)
        case Duration():
            return str(value)
        case _:
            return value
