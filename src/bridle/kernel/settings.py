"""What may be set for kernels, where one may live, and for whom it works."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from bridle.core.permission import Mode, Rule
from bridle.kernel.frames import Codec


class KernelSettings(Struct, frozen=True):
    """How kernels run, and how much they may use."""

    python: str = ""
    """The interpreter, a path or a name; empty takes one that is found."""
    uv_python: str = "3.13"
    """The version that uv is asked for."""
    syd_config: str = ""
    """A configuration of syd, which then guards kernels instead of our own sandbox."""
    syd: str = "syd"
    environ: Mapping[str, str] = {}
    """The variables that cells get, free of secrets."""
    writable: tuple[str, ...] = ()
    """Folders besides the working directory that cells may change, by absolute path."""
    confined: bool = True
    """False runs kernels without a sandbox: the user said so."""
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
    """How many tools a cell may have running at once."""
    max_waiting_calls: int = 1000
    snapshot_codec: Codec = "json"
    max_snapshot_bytes: int = 16 * 1024 * 1024


class Place(Struct, frozen=True):
    """Where a kernel may live; two kernels with equal places are interchangeable."""

    cwd: str
    rules: tuple[Rule, ...] = ()
    mode: Mode = "ask"
    env: tuple[tuple[str, str], ...] = ()
    """Variables beside the usual ones."""


class Owner(Struct):
    """Whoever a kernel works for, as its sandbox sees it."""

    keep: Callable[[str], None] | None = None

    def keep_path(self, path: str) -> None:
        """Keep what lies at a path before it is changed."""
        if self.keep is not None:
            self.keep(path)
