"""Load the settings: every layer is read, checked and merged over the one below.

```
defaults < user      BRIDLE_HOME/config.toml, by default ~/.bridle/config.toml
                     (over Kontekst's own, if that home belongs to a Kontekst installation)
         < project   .bridle/config.toml in the working directory or the nearest folder above it
                     (over the MCP servers in its .mcp.json and .bridle/mcp.json)
         < environment   secrets only, by the names in providers.NAME.api_key_env
         < flags     the command line
```

Environment variables come only from the mapping that the caller passes, never from `os.environ`.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.config.file_names import CONFIG_FILE, PROJECT_FOLDER, TRUST_FILE
from bridle.config.hooks import FoundHook, find_hooks, resolve_programs
from bridle.config.keys import DEFAULTS, KINDS_OF_KEY, ConfigFile
from bridle.config.kontekst import KontekstConfig, find_kontekst, kontekst_layer
from bridle.config.layers import Layer, Merged, Source, check, merge, read_layer
from bridle.config.mcp import Faults, FoundServer, find_servers
from bridle.config.mcp_files import read_mcp_files
from bridle.config.project_keys import PROJECT_KEYS
from bridle.config.rules import anchor_rules
from bridle.config.toml_document import KeyPath, key_text, parse_key
from bridle.config.trust_policy import (
    TrustedKey,
    TrustState,
    apply_trust,
    find_withheld,
    warn_own_keys,
    warn_untrusted_keys,
    without_own_keys,
)
from bridle.config.trust_record import file_stamp, project_stamp, trust_state
from bridle.config.validation import build, kind_at, value_from_text
from bridle.core.errors import ConfigError
from bridle.core.trace import TRACE, parse_trace


class Secret:
    """A string that is not shown in logs or tracebacks."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, for the one place that needs it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(...)"


class Settings(ConfigFile, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The effective settings for one working directory, and the origin of each value."""

    home: Path
    """BRIDLE_HOME: the user's own folder."""
    project: Path | None
    """The folder that has a `.bridle` folder; None outside any project."""
    root: Path
    """The root of the project: its repository, its `project` folder, or the working directory."""
    cwd: Path
    user_folder: Path | None
    """The folder that `~/` means in a rule."""
    trust_keys: tuple[TrustedKey, ...]
    """Keys that the project sets and that need it to be trusted."""
    left_out: tuple[str, ...]
    """The project's keys that have no effect because it is not trusted."""
    has_lapsed: bool
    """True if the project was trusted and has changed since."""
    own_only: tuple[str, ...]
    """The project's keys that only the user's own settings may have, even if the project is trusted."""
    sources: dict[KeyPath, tuple[Source, ...]]
    """The origin of each value; values that no layer sets are absent."""
    api_keys: dict[str, Secret]
    """The keys found in the environment, by provider."""
    database_url: Secret | None = None
    """The PostgreSQL URL, with its password; None if it is not set."""
    kontekst: KontekstConfig | None = None
    """The Kontekst installation that `home` belongs to."""
    hooks_found: tuple[FoundHook, ...] = ()
    """The hooks and where each is defined, including those of an untrusted project."""
    servers_found: tuple[FoundServer, ...] = ()
    """The MCP servers and where each is defined, including those of an untrusted project."""
    server_files_broken: tuple[str, ...] = ()
    """Warnings about files of MCP servers that are left out."""
    flags: Mapping[str, Any] = {}
    """The flags, for any folder: the settings of another folder are loaded with them too."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about settings that have no effect."""
        left_out = warn_untrusted_keys(self.left_out, has_lapsed=self.has_lapsed)
        return (*self.server_files_broken, *left_out, *warn_own_keys(self.own_only))

    @property
    def written(self) -> Path:
        """The folder of the user's own agents and skills."""
        return self.home if self.kontekst is None else self.kontekst.data_dir

    @property
    def folder(self) -> Path:
        """The folder that is trusted as a whole: the project, or its root if there is no `.bridle` folder."""
        return self.project or self.root

    @property
    def user_file(self) -> Path:
        """The user's own `config.toml`, whether or not it exists."""
        return self.home / CONFIG_FILE

    def source(self, *path: str | int) -> tuple[Source, ...]:
        """Return the origin of a value; more than one place for concatenated lists."""
        return self.sources.get(path, (Source("default"),))

    def is_flag(self, *path: str) -> bool:
        """Return True if the command line set the value."""
        return self.source(*path)[-1].layer == "flag"


def load_settings(environ: Mapping[str, str], cwd: Path, flags: Mapping[str, Any] = {}) -> Settings:
    """Read every layer for a working directory; raises ConfigError with file, line and key.

    A flag is a dotted key with a text as the user typed it, a value, or a list; None means not given.
    """
    cwd = _real(cwd)
    home = find_home(environ, cwd)
    user_folder = find_user_folder(environ)
    project = _find_up(cwd, user_folder, lambda folder: _is_project(folder, home))
    root = _find_root(cwd, project, user_folder)
    layers = [Layer(Source("default"), DEFAULTS)]
    if kontekst := find_kontekst(home, environ):
        layers.append(kontekst_layer(kontekst))
    if user := read_layer("user", home / CONFIG_FILE, ConfigFile):
        layers.append(resolve_programs(user, home))
    theirs = _read_project(home, project, root, merge(layers))
    layers += [replace(kept, tree=anchor_rules(kept.tree, project or root, cwd)) for kept in theirs.layers]
    if flags:
        layers.append(_flag_layer(flags))
    merged = merge(layers)
    config = build(merged.tree, ConfigFile)
    _check_kinds(config, layers)
    return Settings(
        **{name: getattr(config, name) for name in ConfigFile.__struct_fields__},
        home=home,
        project=project,
        root=root,
        cwd=cwd,
        user_folder=user_folder,
        trust_keys=theirs.trust_keys,
        left_out=theirs.left_out,
        has_lapsed=theirs.has_lapsed,
        own_only=theirs.own_only,
        sources=merged.sources,
        api_keys=dict(_api_keys(config, environ)),
        database_url=_database_url(config, environ),
        kontekst=kontekst,
        hooks_found=find_hooks(layers, theirs.untrusted, has_lapsed=theirs.has_lapsed),
        servers_found=find_servers(
            layers, theirs.servers_withheld, theirs.faults, has_lapsed=theirs.has_lapsed
        ),
        server_files_broken=theirs.server_files_broken,
        flags=flags,
    )


def find_home(environ: Mapping[str, str], cwd: Path) -> Path:
    """Return BRIDLE_HOME, by default `~/.bridle`; raises ConfigError if there is no home at all."""
    chosen, user_folder = environ.get("BRIDLE_HOME", ""), environ.get("HOME", "")
    if chosen.startswith("~/") and user_folder:
        chosen = f"{user_folder}/{chosen[2:]}"
    if chosen:
        return _real(cwd / chosen)
    if not user_folder:
        raise ConfigError("no home folder: neither BRIDLE_HOME nor HOME is set", hint="set BRIDLE_HOME")
    return _real(cwd / user_folder / PROJECT_FOLDER)


def find_user_folder(environ: Mapping[str, str]) -> Path | None:
    """Return the user's home folder, which `~/` means in a rule; None if there is none."""
    return _real(Path(environ["HOME"])) if environ.get("HOME") else None


def find_trace(environ: Mapping[str, str]) -> str:
    """Return the W3C traceparent in the environment; empty if there is none or it is invalid."""
    named = environ.get(TRACE, "")
    return named if parse_trace(named) is not None else ""


class _Project(Struct, frozen=True):
    """The settings in a project's files, and which of them take effect."""

    layers: tuple[Layer, ...]
    """The layers that take effect."""
    trust_keys: tuple[TrustedKey, ...]
    left_out: tuple[str, ...]
    own_only: tuple[str, ...]
    untrusted: Layer | None
    """Its settings as read, if some of them do not take effect."""
    has_lapsed: bool
    servers_withheld: tuple[Layer, ...]
    """The same for all files that name servers."""
    faults: Faults
    server_files_broken: tuple[str, ...]


def _read_project(home: Path, project: Path | None, root: Path, below: Merged) -> _Project:
    folder = project or root
    servers = read_mcp_files(folder, home)
    files = servers.files

    def look(layer: Layer) -> TrustState:
        return trust_state(home, folder, layer)

    yours = build(below.tree, ConfigFile)
    settings, own_only = _read_project_layer(project) if project else (None, ())
    read = [*(file.layer for file in files), *([settings] if settings is not None else ())]
    kept = [
        apply_trust(layer, find_withheld(layer.tree, ConfigFile, PROJECT_KEYS, yours), look) for layer in read
    ]
    left_out = tuple(key for one in kept for key in one.left_out)
    return _Project(
        layers=tuple(one.layer for one in kept),
        trust_keys=tuple(item for one in kept for item in one.trust_keys),
        left_out=left_out,
        own_only=own_only,
        untrusted=settings if settings is not None and kept[-1].left_out else None,
        has_lapsed=any(one.state == "changed" for one in kept),
        servers_withheld=tuple(read) if left_out else (),
        faults={(file.layer.source.file, name): why for file in files for name, why in file.faults.items()},
        server_files_broken=servers.broken,
    )


def _read_project_layer(project: Path) -> tuple[Layer | None, tuple[str, ...]]:
    folder = project / PROJECT_FOLDER
    layer = read_layer("project", folder / CONFIG_FILE, ConfigFile, within=project)
    return without_own_keys(resolve_programs(layer, folder, project)) if layer else (None, ())


def _flag_layer(flags: Mapping[str, Any]) -> Layer:
    tree: dict[str, Any] = {}
    for key, value in flags.items():
        if value is None:
            continue
        path = parse_key(key)
        kind = kind_at(ConfigFile, path)
        if isinstance(value, str):
            value = value_from_text(value, kind)
        table = tree
        for part in path[:-1]:
            table = table.setdefault(part, {})
        table[path[-1]] = list(value) if isinstance(value, tuple) else value
    layer = Layer(Source("flag"), tree)
    check(layer, ConfigFile)
    return layer


def _check_kinds(config: ConfigFile, layers: list[Layer]) -> None:
    """Raise ConfigError for a key that a provider of this kind does not have."""
    for layer in layers[1:]:
        for name, tree in layer.tree.get("providers", {}).items():
            kind = config.providers[name].kind
            for key in tree:
                kinds = KINDS_OF_KEY.get(key, (kind,))
                if kind not in kinds:
                    path = ("providers", name, key)
                    raise ConfigError(
                        f"{layer.place(path)}: {key_text(path)} does not apply to a provider of kind {kind}",
                        hint=f"it applies to kind {' and '.join(kinds)}",
                    )


def _api_keys(config: ConfigFile, environ: Mapping[str, str]) -> Iterator[tuple[str, Secret]]:
    for name, provider in config.providers.items():
        if key := environ.get(provider.api_key_env, "").strip():
            yield name, Secret(key)


def _database_url(config: ConfigFile, environ: Mapping[str, str]) -> Secret | None:
    url = environ.get(config.store.url_env, "").strip() or config.store.url
    return Secret(url) if url else None


def _is_project(folder: Path, home: Path) -> bool:
    return os.path.isdir(folder / PROJECT_FOLDER) and _real(folder / PROJECT_FOLDER) != home


def project_root(environ: Mapping[str, str], cwd: Path) -> Path:
    """Return the root of a folder's project, without reading settings; raises ConfigError."""
    cwd = _real(cwd)
    home, user_folder = find_home(environ, cwd), find_user_folder(environ)
    project = _find_up(cwd, user_folder, lambda folder: _is_project(folder, home))
    return _find_root(cwd, project, user_folder)


def settings_stamp(environ: Mapping[str, str], cwd: Path) -> tuple[object, ...]:
    """Return a value that stays equal while all files behind a folder's settings are unchanged.

    It takes some tenths of a millisecond. Raises ConfigError.
    """
    cwd = _real(cwd)
    home, user_folder = find_home(environ, cwd), find_user_folder(environ)
    project = _find_up(cwd, user_folder, lambda folder: _is_project(folder, home))
    folder = project or _find_root(cwd, project, user_folder)
    return folder, file_stamp(home / CONFIG_FILE), file_stamp(home / TRUST_FILE), *project_stamp(folder)


def _find_root(cwd: Path, project: Path | None, user_folder: Path | None) -> Path:
    repository = _find_up(cwd, user_folder, lambda folder: os.path.exists(folder / ".git"))
    found = [folder for folder in (project, repository) if folder]
    return min(found, key=lambda folder: len(folder.parts), default=cwd)


def _find_up(cwd: Path, stop: Path | None, found: Callable[[Path], bool]) -> Path | None:
    """Return the nearest folder from `cwd` upwards that `found` accepts; the search ends before `stop`."""
    for folder in (cwd, *cwd.parents):
        if folder == stop:
            return None
        if found(folder):
            return folder
    return None


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
