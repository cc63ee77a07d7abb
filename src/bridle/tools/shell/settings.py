"""What may be set for commands."""

from collections.abc import Mapping

from msgspec import Struct

MIN_TIMEOUT_S = 1
MAX_TIMEOUT_S = 600


class ShellSettings(Struct, frozen=True):
    """How commands run, and how much they may use."""

    environ: Mapping[str, str] = {}
    """The variables of this process; commands get those that are no secrets."""
    pass_env: tuple[str, ...] = ()
    """Patterns of variables that commands get although they look like secrets."""
    secret_env: tuple[str, ...] = ()
    """Names of further variables that commands never get, such as the keys of providers."""
    writable: tuple[str, ...] = ()
    """Folders besides the working directory that commands may change, by absolute path."""
    wants_sandbox: bool = True
    """False runs commands without a sandbox: the user said so."""
    open_network: bool = False
    """True lets commands reach every host, not only those that rules allow."""
    timeout_s: float = 120
    """For a command that cannot go on in the background."""
    background_after_s: float = 60
    max_result_bytes: int = 30_000
    max_output_bytes: int = 4 * 1024**3
    """A command that prints more is ended."""
    max_running_jobs: int = 20
    max_jobs: int = 50
    """How many jobs of a session are remembered."""
    memory_bytes: int | None = None
    max_processes: int | None = None
    max_file_bytes: int | None = None
    cpu_s: int | None = None
