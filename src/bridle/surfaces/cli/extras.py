"""Installed extras (`pip install 'bridle-agent[NAME]'`), and a check for a package with a colliding name."""

from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from importlib.util import find_spec

from bridle.surfaces.cli.doctor_checks import Finding
from bridle.surfaces.cli.fix_commands import pip_command, reinstall_command

EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "local": ("models that run inside Bridle", ("xllamacpp",)),
    "memory": ("memory search by meaning", ("numpy", "tokenizers", "usearch", "wordllama")),
    "grpc": ("gRPC", ("grpc", "google.protobuf")),
    "scale": (
        "clusters and telemetry",
        ("dbos", "obstore", "psycopg", "opentelemetry.sdk", "opentelemetry.exporter"),
    ),
}
"""For each extra: what it is for, and the modules whose presence shows that it is installed."""

NAMESAKE = "bridle"
"""An unrelated distribution that installs a folder of the same name."""


def missing_extras(extras: Mapping[str, tuple[str, tuple[str, ...]]] = EXTRAS) -> Iterator[str]:
    """Yield the extras that are not installed."""
    for name, (_, modules) in extras.items():
        if not all(map(_is_here, modules)):
            yield name


def check_extras(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Report the installed extras, and for each missing one the command that installs it."""
    missing = list(missing_extras())
    here = [name for name in EXTRAS if name not in missing]
    yield Finding("extras", "ok", ", ".join(here) or "none installed")
    for name in missing:
        if name != "local":  # `bridle doctor` reports it separately
            fix = pip_command(f"bridle-agent[{name}]", environ)
            yield Finding("extras", "off", f"{name}: {EXTRAS[name][0]}, not installed", fix=fix)


def check_name_collision(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Warn about another package that installs the folder `bridle` in this environment."""
    for found in distributions(name=NAMESAKE):
        text = (
            f"another package, {NAMESAKE} {found.version}, is installed here: "
            f"it uses the same folder {NAMESAKE}, and each overwrites files of the other"
        )
        yield Finding("package", "warn", text, fix=reinstall_command(NAMESAKE, environ))


def _is_here(module: str) -> bool:
    """Return True if a module could be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False
