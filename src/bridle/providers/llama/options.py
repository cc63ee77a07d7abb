"""Options of a managed llama-server, and the command line they produce."""

import os
from pathlib import Path

from msgspec import Struct

from bridle.core.errors import ConfigError
from bridle.providers.llama.gguf import read_header
from bridle.system.programs import SYSTEM_PATH, find_program, why_not_found

DEFAULT_CTX_SIZE = 4096
_OURS = ("--api-key", "--api-key-file", "--host", "--port", "--model", "-m", "--models-dir")
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


class LlamaOptions(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Options of a managed llama-server."""

    model: str = ""
    """A GGUF file, for a server of one model."""
    models_dir: str = ""
    """A folder of GGUF files, for a server that loads them by name (llama-server's router mode)."""
    program: tuple[str, ...] = ("llama-server",)
    """The program, as a path or a name on PATH, and arguments before the options."""
    outside: tuple[str, ...] = ()
    """Folders that agents can write to; a program is never taken from them."""
    host: str = "127.0.0.1"
    port: int = 0
    """0 picks a free port at every start."""
    ctx_size: int = DEFAULT_CTX_SIZE
    """Context in tokens, shared by the slots; 0 means the model's training context."""
    n_gpu_layers: int | None = None
    """None means the server's default."""
    threads: int = 0
    """0 means all cores but one: with other load, the last core costs more than it gains."""
    slots: int = 1
    """The number of requests served at the same time."""
    jinja: bool = True
    extra_args: tuple[str, ...] = ()
    start_timeout_s: float = 180.0
    """Loading a large model from a slow disk takes minutes; a server that dies is noticed at once."""
    stop_timeout_s: float = 5.0

    @property
    def connect_host(self) -> str:
        """The host to connect to; loopback for a server that listens on all addresses."""
        return _EVERYWHERE.get(self.host, self.host)

    @property
    def window_guess(self) -> int:
        """The context of one request in tokens, before the server runs; 0 if unknown."""
        total = self.ctx_size
        if not total and self.model:
            try:
                total = read_header(Path(self.model).expanduser()).context_tokens
            except ConfigError:
                return 0  # starting the server reports what is wrong with the file
        return total // self.slots


def check_options(options: LlamaOptions) -> None:
    """Check the options and the model file's header before a start; raises ConfigError."""
    if bool(options.model) == bool(options.models_dir):
        raise ConfigError("llama-server: exactly one of model and models_dir must be given")
    if options.model:
        read_header(Path(options.model).expanduser())
    elif not Path(options.models_dir).expanduser().is_dir():
        raise ConfigError(f"models_dir {options.models_dir}: folder not found")
    if not 0 <= options.port <= 65535 or options.slots < 1 or options.ctx_size < 0 or options.threads < 0:
        raise ConfigError("llama-server: port, slots, ctx_size or threads is out of range")
    for arg in options.extra_args:
        if arg.partition("=")[0] in _OURS:
            raise ConfigError(
                f"llama-server: extra_args may not contain {arg.partition('=')[0]}: Bridle sets it"
            )


def build_command(options: LlamaOptions, port: int) -> list[str]:
    """Return the command line of the server; raises ConfigError if the program is not found."""
    flags = [
        *("--host", options.host, "--port", str(port)),
        *(_model_flags(Path(options.model).expanduser()) if options.model else ()),
        *(_folder_flags(Path(options.models_dir).expanduser()) if options.models_dir else ()),
        *("--ctx-size", str(options.ctx_size), "--parallel", str(options.slots)),
        *("--threads", str(options.threads or default_threads())),
        *(("--n-gpu-layers", str(options.n_gpu_layers)) if options.n_gpu_layers is not None else ()),
        *(("--jinja",) if options.jinja else ()),
        *("--reasoning-format", "deepseek"),
        *options.extra_args,
    ]
    return [*_program(options), *flags]


def _model_flags(model: Path) -> tuple[str, ...]:
    return "--model", str(model.absolute()), "--alias", model.stem  # else replies contain the user's path


def _folder_flags(folder: Path) -> tuple[str, ...]:
    return "--models-dir", str(folder.absolute())


def default_threads() -> int:
    """Return the number of cores this process may use, minus one, and at least 1."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores - 1)


def _program(options: LlamaOptions) -> list[str]:
    name, *rest = options.program
    named, path = os.path.expanduser(name), os.environ.get("PATH", SYSTEM_PATH)
    found = find_program(named, path, outside=options.outside)
    if found is None:
        raise ConfigError(
            f'llama-server: there is no program "{name}": it {why_not_found(named, path)}',
            hint="install llama.cpp, or name its llama-server by an absolute path in your config.toml",
        )
    return [found, *rest]
