"""The settings: every layer read, judged and laid over the one below.

```
defaults < user      BRIDLE_HOME/config.toml, by default ~/.bridle/config.toml
                     (over Kontekst's own, if that home lies beside it)
         < project   .bridle/config.toml in the working directory or the nearest folder above it
                     (over the tool servers in its .mcp.json and .bridle/mcp.json)
         < environment   secrets only, by the names in providers.NAME.api_key_env
         < flags     what the command line says
```

This is the only module that looks at environment variables, in the mapping it is given.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.config.document import KeyPath, key_text, parse_key
from bridle.config.hooks import FoundHook, find_hooks, with_programs
from bridle.config.keys import DEFAULTS, KINDS_OF_KEY, ConfigFile
from bridle.config.kontekst import KontekstConfig, kontekst_layer, kontekst_of
from bridle.config.layers import Layer, Merged, Source, check, merge, read_layer
from bridle.config.mcp import Faults, FoundServer, find_servers
from bridle.config.mcp_files import read_mcp_files
from bridle.config.places import CONFIG_FILE, PROJECT_FOLDER, TRUST_FILE
from bridle.config.project_keys import PROJECT_KEYS
from bridle.config.rules import in_project
from bridle.config.schema import build, kind_at, value_from_text
from bridle.config.trust import (
    Held,
    TrustState,
    left_out_note,
    own_keys_note,
    withheld,
    withhold,
    without_own_keys,
)
from bridle.config.trusted import file_stamp, stamp, trust_state
from bridle.core.errors import ConfigError
from bridle.core.trace import TRACE, parse_trace


class Secret:
    """A text that does not show itself in a log or a traceback."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, for the one place that needs it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(...)"


class Settings(ConfigFile, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What holds for one working directory, and where each value came from."""

    home: Path
    """BRIDLE_HOME: the user's own folder."""
    project: Path | None
    """The folder that has a `.bridle` folder; None outside of any project."""
    root: Path
    """Where the project starts: its repository, its `project` folder, or the working directory."""
    cwd: Path
    user_folder: Path | None
    """What `~/` stands for in a rule."""
    held: tuple[Held, ...]
    """What the project says and may only say when it is trusted."""
    left_out: tuple[str, ...]
    """The keys of the project that have no effect, as it is not trusted."""
    has_lapsed: bool
    """The project was trusted, and has changed since."""
    own_only: tuple[str, ...]
    """The keys of the project that only the user's own settings may have, which trust does not change."""
    sources: dict[KeyPath, tuple[Source, ...]]
    """Where each value came from; a value that nobody set is not in it."""
    api_keys: dict[str, Secret]
    """The keys found in the environment, by provider."""
    database_url: Secret | None = None
    """Where the PostgreSQL is, with its password; None when nobody says so."""
    kontekst: KontekstConfig | None = None
    """The Kontekst installation that `home` lies beside."""
    hooks_found: tuple[FoundHook, ...] = ()
    """The hooks with where each stands; also those of a project that is not trusted."""
    servers_found: tuple[FoundServer, ...] = ()
    """The tool servers with where each stands; also those of a project that is not trusted."""
    server_files_broken: tuple[str, ...] = ()
    """The warnings about files of tool servers that are left out."""
    flags: Mapping[str, Any] = {}
    """What was given on top, for whichever folder: settings of another one are read with it too."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was said and has no effect, for the user to read."""
        left_out = left_out_note(self.left_out, has_lapsed=self.has_lapsed)
        return (*self.server_files_broken, *left_out, *own_keys_note(self.own_only))

    @property
    def written(self) -> Path:
        """The folder that the user's own agents and skills are written in."""
        return self.home if self.kontekst is None else self.kontekst.data_dir

    @property
    def folder(self) -> Path:
        """What is trusted as a whole: the project, or where it starts for want of a `.bridle` folder."""
        return self.project or self.root

    @property
    def user_file(self) -> Path:
        """The user's own `config.toml`, whether or not it exists."""
        return self.home / CONFIG_FILE

    @property
    def project_file(self) -> Path | None:
        """The project's `config.toml`, whether or not it exists; None outside of any project."""
        return self.project / PROJECT_FOLDER / CONFIG_FILE if self.project else None

    def source(self, *path: str | int) -> tuple[Source, ...]:
        """Return where a value came from; more than one place for joined lists."""
        return self.sources.get(path, (Source("default"),))

    def is_flag(self, *path: str) -> bool:
        """Tell whether the command line set a value."""
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
    if kontekst := kontekst_of(home, environ):
        layers.append(kontekst_layer(kontekst))
    if user := read_layer("user", home / CONFIG_FILE, ConfigFile):
        layers.append(with_programs(user, home))
    theirs = _read_project(home, project, root, merge(layers))
    layers += [replace(kept, tree=in_project(kept.tree, project or root, cwd)) for kept in theirs.layers]
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
        held=theirs.held,
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
    """Return BRIDLE_HOME, by default `~/.bridle`; raises ConfigError when there is no home at all."""
    chosen, user_folder = environ.get("BRIDLE_HOME", ""), environ.get("HOME", "")
    if chosen.startswith("~/") and user_folder:
        chosen = f"{user_folder}/{chosen[2:]}"
    if chosen:
        return _real(cwd / chosen)
    if not user_folder:
        raise ConfigError("no home folder: neither BRIDLE_HOME nor HOME is set", hint="set BRIDLE_HOME")
    return _real(cwd / user_folder / PROJECT_FOLDER)


def find_user_folder(environ: Mapping[str, str]) -> Path | None:
    """Return the user's own folder, which `~/` stands for in a rule; None when there is none."""
    return _real(Path(environ["HOME"])) if environ.get("HOME") else None


def find_trace(environ: Mapping[str, str]) -> str:
    """Return what this process is a part of, as a W3C traceparent; empty when its environment names none."""
    named = environ.get(TRACE, "")
    return named if parse_trace(named) is not None else ""


class _Project(Struct, frozen=True):
    """What the files of a project say, and how much of it takes effect."""

    layers: tuple[Layer, ...]
    """What takes effect."""
    held: tuple[Held, ...]
    left_out: tuple[str, ...]
    own_only: tuple[str, ...]
    untrusted: Layer | None
    """Its settings as they were read, if some of them do not take effect."""
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
    kept = [withhold(layer, withheld(layer.tree, ConfigFile, PROJECT_KEYS, yours), look) for layer in read]
    left_out = tuple(key for one in kept for key in one.left_out)
    return _Project(
        layers=tuple(one.layer for one in kept),
        held=tuple(item for one in kept for item in one.held),
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
    return without_own_keys(with_programs(layer, folder, project)) if layer else (None, ())


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
                        f"{layer.place(path)}: {key_text(path)} means nothing for a provider of kind {kind}",
                        hint=f"it is a key of kind {' and '.join(kinds)}",
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
    """Return where the project of a folder starts, whatever its settings say; raises ConfigError."""
    cwd = _real(cwd)
    home, user_folder = find_home(environ, cwd), find_user_folder(environ)
    project = _find_up(cwd, user_folder, lambda folder: _is_project(folder, home))
    return _find_root(cwd, project, user_folder)


def settings_stamp(environ: Mapping[str, str], cwd: Path) -> tuple[object, ...]:
    """Return something that is the same as long as all that the settings of a folder are read from is.

    It takes some tenths of a millisecond. Raises ConfigError.
    """
    cwd = _real(cwd)
    home, user_folder = find_home(environ, cwd), find_user_folder(environ)
    project = _find_up(cwd, user_folder, lambda folder: _is_project(folder, home))
    folder = project or _find_root(cwd, project, user_folder)
    return folder, file_stamp(home / CONFIG_FILE), file_stamp(home / TRUST_FILE), *stamp(folder)


def _find_root(cwd: Path, project: Path | None, user_folder: Path | None) -> Path:
    repository = _find_up(cwd, user_folder, lambda folder: os.path.exists(folder / ".git"))
    found = [folder for folder in (project, repository) if folder]
    return min(found, key=lambda folder: len(folder.parts), default=cwd)


def _find_up(cwd: Path, stop: Path | None, found: Callable[[Path], bool]) -> Path | None:
    """Return the nearest folder from `cwd` upwards that is one; the search ends below `stop`."""
    for folder in (cwd, *cwd.parents):
        if folder == stop:
            return None
        if found(folder):
            return folder
    return None


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
