"""The settings of kernels, the place in which one runs, and its owner."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from bridle.core.permission import Mode, Rule
from bridle.kernel.frames import Codec


class KernelSettings(Struct, frozen=True):
    """How kernels run, and how much they may use."""

    python: str = ""
    """The interpreter, a path or a name; empty to find one."""
    uv_python: str = "3.13"
    """The version to ask uv for."""
    syd_config: str = ""
    """A configuration file for syd, which then replaces Bridle's own sandbox."""
    syd: str = "syd"
    environ: Mapping[str, str] = {}
    """The environment variables that cells get, free of secrets."""
    writable: tuple[str, ...] = ()
    """Folders besides the working directory that cells may change, as absolute paths."""
    confined: bool = True
    """False if the user has turned the sandbox off for kernels."""
    open_network: bool = False
    memory_bytes: int | None = None
    max_processes: int | None = None
    max_file_bytes: int | None = None
    start_timeout_s: float = 20.0
    cell_timeout_s: float = 120.0
    """Time in which a tool runs does not count."""
    interrupt_grace_s: float = 1.0
    max_output_bytes: int = 10 * 1024 * 1024
    max_calls: int = 32
    """How many tools a cell may run at once."""
    max_waiting_calls: int = 1000
    snapshot_codec: Codec = "json"
    max_snapshot_bytes: int = 16 * 1024 * 1024


class KernelEnvironment(Struct, frozen=True):
    """Where and under which rules a kernel runs; kernels with equal places are interchangeable."""

    cwd: str
    rules: tuple[Rule, ...] = ()
    mode: Mode = "ask"
    env: tuple[tuple[str, str], ...] = ()
    """Environment variables in addition to those of the settings."""


class Owner(Struct):
    """The owner of a kernel, as its sandbox sees it."""

    keep: Callable[[str], None] | None = None

    def keep_path(self, path: str) -> None:
        """Save the file or folder at a path before it is changed."""
        if self.keep is not None:
            self.keep(path)
