"""Read Kontekst's `config.toml` and data directory as Bridle settings.

```
<data_dir>/config.toml, agents/, skills/, sessions/, active_session     Kontekst's, used in place
<data_dir>/bridle/                                                      a BRIDLE_HOME next to them
<data_dir>/bridle/kontekst                                              marks it, and points to the config
```

Kontekst never looks into `bridle/`. Its `config.toml` is a layer below the `config.toml` in `bridle/`.
Unknown keys are ignored, as Kontekst does.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import fields, replace

from bridle.config.file_names import AGENTS_FOLDER, CONFIG_FILE, POINTER_FILE, PROMPT_FILE, SKILLS_FOLDER
from bridle.config.keys import ConfigFile
from bridle.config.layers import Layer, Source, check
from bridle.config.textfile import read_text, write_text
from bridle.config.toml_document import KeyPath, key_text, literal, parse_toml
from bridle.config.validation import build
from bridle.core.errors import ConfigError
from bridle.core.value_types import Count, CountOrZero

HOME_FOLDER = "bridle"
SESSIONS_FOLDER = "sessions"
ANY_HOST = ("", "0.0.0.0", "::")
DEFAULT_BIND = ":50051"
DEFAULT_PORT = 8080
PROVIDER = "llama"
WEIGHTS = ".gguf"
TOOLS = ("read_file", "write_file", "edit_file", "list_files", "web_fetch", "skill")
"""The tools that Kontekst gives its agents; an agent gets others if its `tools` names them."""

_ENDPOINT = re.compile(
    r"https?://(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/@?#:\[\]]+)(?::(?P<port>[0-9]{1,5}))?(?:/[^\s@?#]*)?"
)
_LOOPBACK = re.compile(r"localhost|::1|127(?:\.[0-9]{1,3}){3}")

DEFAULT_CONFIG = f"""\
bind = "{DEFAULT_BIND}"
endpoint = "http://127.0.0.1:{DEFAULT_PORT}"
model_dir = "~/models"
context_size = 4096
gpu_layers = 0
data_dir = "~/.kontekst"

[tools]
working_dir = ""
[tools.file]
max_size_bytes = 10485760
[tools.web]
timeout_seconds = 30
max_response_bytes = 5242880
"""

DEFAULT_AGENT_FILES = {
    CONFIG_FILE: """\
name = "Default Assistant"
model = "gpt-oss-20b-Q4_K_M.gguf"
tool_role = false

[sampling]
temperature = 0.7
top_p = 0.9
top_k = 40
repeat_penalty = 1.1
max_tokens = 4096
""",
    PROMPT_FILE: """\
You are a helpful assistant that works on the files of its user.

- Read a file before you change it, and change only what is asked for.
- Use tools to find things out; do not guess what a file holds.
- When a tool fails, read its message and try another way.
- Answer shortly, in the language of the user.
- Say so when you do not know something.
""",
}


class _FileTools(Struct, frozen=True):
    max_size_bytes: Count = 10 * 1024 * 1024


class _WebTools(Struct, frozen=True):
    timeout_seconds: Count = 30
    max_response_bytes: Count = 5 * 1024 * 1024


class _Tools(Struct, frozen=True):
    working_dir: str = ""
    """Kontekst reads it and never uses it."""
    file: _FileTools = _FileTools()
    web: _WebTools = _WebTools()


class _Debug(Struct, frozen=True):
    log_requests: bool = False
    log_responses: bool = False
    log_directory: str = ""
    validate_roles: bool = True


class _File(Struct, frozen=True):
    bind: str = DEFAULT_BIND
    endpoint: str = f"http://127.0.0.1:{DEFAULT_PORT}"
    model_dir: str = "~/models"
    context_size: CountOrZero = 4096
    gpu_layers: int = 0
    data_dir: str = "~/.kontekst"
    tools: _Tools = _Tools()
    debug: _Debug = _Debug()


class KontekstConfig(Struct, frozen=True):
    """The configuration of a Kontekst installation."""

    file: Path
    bind: str
    endpoint: str
    model_dir: Path | None
    """None if the file sets it to empty."""
    context_size: int
    gpu_layers: int
    data_dir: Path
    tools: _Tools
    debug: _Debug

    @property
    def home(self) -> Path:
        """The BRIDLE_HOME next to its files."""
        return self.data_dir / HOME_FOLDER

    @property
    def sessions(self) -> Path:
        """The folder of its sessions."""
        return self.data_dir / SESSIONS_FOLDER

    @property
    def address(self) -> str:
        """The address where its clients connect to Bridle, on this machine only."""
        host, _, port = self.bind.rpartition(":")
        host = host.strip("[]")
        return f"[::1]:{port}" if host == "::1" else f"127.0.0.1:{port}"

    @property
    def starts_server(self) -> bool:
        """True if Bridle should start the model server: it is local, and there is a folder of models."""
        host, _ = self.server
        is_here = bool(_LOOPBACK.fullmatch(host)) and self.endpoint.startswith("http:")
        return is_here and self.model_dir is not None and os.path.isdir(self.model_dir)  # is_dir can raise

    @property
    def server(self) -> tuple[str, int]:
        """Host and port of the model server, as seen from this machine."""
        parts = _ENDPOINT.fullmatch(self.endpoint)
        assert parts is not None  # `read_kontekst` checked it
        host = parts["host"].strip("[]")
        return "127.0.0.1" if host in ANY_HOST else host, int(parts["port"] or DEFAULT_PORT)

    def notes(self) -> list[str]:
        """Return what differs from Kontekst's behavior, for the log."""
        said = [f"Kontekst's installation in {self.data_dir}, as {self.file} says"]
        host = self.bind.rpartition(":")[0].strip("[]")
        if host in ANY_HOST:
            said.append(
                f'bind = "{self.bind}" would accept every machine; gRPC listens at {self.address} only'
            )
        elif not _LOOPBACK.fullmatch(host):
            said.append(f'bind = "{self.bind}" can be reached from other machines: gRPC uses {self.address}')
        if self.debug.log_requests or self.debug.log_responses:
            said.append(
                "debug.log_requests and debug.log_responses have no effect: all of it is in the events"
            )
        if not self.debug.validate_roles:
            said.append("debug.validate_roles has no effect: messages are always sent in a valid order")
        return said


def create_config(file: Path) -> None:
    """Write Kontekst's default `config.toml` if the file does not exist, as Kontekst does."""
    if not os.path.lexists(file):
        write_text(file, DEFAULT_CONFIG)


def read_kontekst(file: Path, environ: Mapping[str, str]) -> KontekstConfig:
    """Read Kontekst's `config.toml`; raises ConfigError with file, line and key."""
    text = read_text(file)
    if text is None:
        raise ConfigError(f"{file}: file not found", hint="name the config.toml of Kontekst")
    layer = Layer(Source("user", str(file)), _known(parse_toml(text, str(file)), _File), text)
    check(layer, _File)
    found = build(layer.tree, _File)
    endpoint = found.endpoint.strip().rstrip("/")
    _check_endpoint(layer, endpoint)
    bind = found.bind.strip() or DEFAULT_BIND
    _check_bind(layer, bind)
    data_dir = _expanded(found.data_dir, environ)
    if data_dir is None:
        raise ConfigError(f"{layer.place(('data_dir',))}: data_dir must be the path of a folder")
    return KontekstConfig(
        file=Path(os.path.abspath(file)),
        bind=bind,
        endpoint=endpoint,
        model_dir=_expanded(found.model_dir, environ),
        context_size=found.context_size,
        gpu_layers=found.gpu_layers,
        data_dir=data_dir,
        tools=found.tools,
        debug=_debug(found.debug, data_dir, environ),
    )


def kontekst_layer(config: KontekstConfig) -> Layer:
    """Return the equivalent settings as a Bridle layer; raises ConfigError."""
    layer = Layer(Source("user", str(config.file)), _settings_tree(config))
    check(layer, ConfigFile)
    return layer


def _settings_tree(config: KontekstConfig) -> dict[str, Any]:
    provider: dict[str, Any] = {"kind": PROVIDER, "base_url": config.endpoint}
    if config.context_size:
        provider["window_tokens"] = config.context_size
    if config.starts_server:
        host, port = config.server
        provider |= {
            "models_dir": str(config.model_dir),
            "host": host,
            "port": port,
            "ctx_size": config.context_size,
        }
        if config.gpu_layers >= 0:  # a negative number leaves it to the server
            provider["n_gpu_layers"] = config.gpu_layers
    return {
        "model": f"{PROVIDER}/default",
        "providers": {PROVIDER: provider},
        "grpc": {"bind": config.address, "token": False},
        "tools": {
            "max_file_bytes": config.tools.file.max_size_bytes,
            "web_timeout": config.tools.web.timeout_seconds,
            "web_max_bytes": config.tools.web.max_response_bytes,
        },
    }


def convert_agent(tree: dict[str, Any], shape: type[Struct]) -> dict[str, Any]:
    """Convert an agent's `config.toml` to `shape`, the format of Bridle's agents.

    Its model is a file in the model folder, tool results are sent as user messages unless it says otherwise,
    and it has Kontekst's tools.
    """
    known = _known(tree, shape)
    model = known.get("model")
    if isinstance(model, str):
        known["model"] = _model_ref(model)
        if not model:
            del known["model"]
    if not known.get("name", True):
        del known["name"]
    return {"tool_role": False, "tools": list(TOOLS)} | known


def make_home(config: KontekstConfig) -> Path:
    """Create the BRIDLE_HOME next to its files, and what Kontekst creates at its first start.

    Raises ConfigError.
    """
    for folder in (AGENTS_FOLDER, SKILLS_FOLDER, SESSIONS_FOLDER):
        path = config.data_dir / folder
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be made: {error.strerror}") from error
    default = config.data_dir / AGENTS_FOLDER / "default"
    if not os.path.lexists(default):
        for name, text in DEFAULT_AGENT_FILES.items():
            write_text(default / name, text)
    write_text(config.home / POINTER_FILE, f"{config.file}\n")
    return config.home


def find_kontekst(home: Path, environ: Mapping[str, str]) -> KontekstConfig | None:
    """Return the installation that a BRIDLE_HOME belongs to, or None; raises ConfigError."""
    pointer = read_text(home / POINTER_FILE)
    return None if pointer is None else read_kontekst(Path(pointer.strip()), environ)


def _known(tree: dict[str, Any], shape: type[Struct]) -> dict[str, Any]:
    """Return the tree without the keys that a shape does not have."""
    kinds = {field.name: field.type for field in fields(shape)}
    kept = {}
    for key, value in tree.items():
        kind = kinds.get(key)
        is_table = isinstance(kind, type) and issubclass(kind, Struct) and isinstance(value, dict)
        if key in kinds:
            # `is_table` implies that `kind` is a Struct type.
            kept[key] = _known(value, kind) if is_table else value  # type: ignore[arg-type]
    return kept


def _check_endpoint(layer: Layer, endpoint: str) -> None:
    path: KeyPath = ("endpoint",)
    if not endpoint:
        raise ConfigError(f"{layer.place(path)}: endpoint is required")
    parts = _ENDPOINT.fullmatch(endpoint)
    if parts is None or int(parts["port"] or 1) not in range(1, 65536):
        raise ConfigError(
            f"{layer.place(path)}: endpoint must be an http:// or https:// address without a password"
        )


def _check_bind(layer: Layer, bind: str) -> None:
    host, colon, port = bind.rpartition(":")
    is_bare = ":" in host and not (host.startswith("[") and host.endswith("]"))
    if not colon or is_bare or not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise ConfigError(
            f"{layer.place(('bind',))}: {key_text(('bind',))} must be an address, written HOST:PORT, "
            f"not {literal(bind[:80])}"
        )


def _expanded(path: str, environ: Mapping[str, str]) -> Path | None:
    """Expand `~` to the user's home folder; None for an empty path."""
    home = environ.get("HOME", "")
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    return Path(os.path.abspath(path)) if path and "\0" not in path else None


def _debug(debug: _Debug, data_dir: Path, environ: Mapping[str, str]) -> _Debug:
    return replace(
        debug,
        log_requests=debug.log_requests or environ.get("KONTEKST_DEBUG_LOG_REQUESTS") == "1",
        log_responses=debug.log_responses or environ.get("KONTEKST_DEBUG_LOG_RESPONSES") == "1",
        log_directory=debug.log_directory or str(data_dir / "debug"),
        validate_roles=debug.validate_roles and environ.get("KONTEKST_DEBUG_VALIDATE_ROLES") != "0",
    )


def _model_ref(model: str) -> str:
    """Return Bridle's reference for a model; one of another provider is already a reference."""
    if "/" in model and not model.endswith(WEIGHTS):
        return model
    return f"{PROVIDER}/{model.removesuffix(WEIGHTS)}"
