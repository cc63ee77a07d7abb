"""The settings of shell commands."""

from collections.abc import Mapping

from msgspec import Struct

MIN_TIMEOUT_S = 1
MAX_TIMEOUT_S = 600


class ShellSettings(Struct, frozen=True):
    """How commands run, and the limits of what they may use."""

    environ: Mapping[str, str] = {}
    """The variables of this process; commands get those that are not secrets."""
    pass_env: tuple[str, ...] = ()
    """Patterns of variables that commands get even if they look like secrets."""
    secret_env: tuple[str, ...] = ()
    """Names of more variables that commands never get, such as API keys of providers."""
    writable: tuple[str, ...] = ()
    """Folders besides the working directory that commands may change, by absolute path."""
    wants_sandbox: bool = True
    """False if the user chose to run commands without a sandbox."""
    open_network: bool = False
    """True if commands may connect to every host, not only those that rules allow."""
    timeout_s: float = 120
    """The timeout of a command that cannot continue in the background."""
    background_after_s: float = 60
    max_result_bytes: int = 30_000
    max_output_bytes: int = 4 * 1024**3
    """A command that prints more is killed."""
    max_running_jobs: int = 20
    max_jobs: int = 50
    """How many jobs per session are kept, including ended ones."""
    memory_bytes: int | None = None
    max_processes: int | None = None
    max_file_bytes: int | None = None
    cpu_s: int | None = None
