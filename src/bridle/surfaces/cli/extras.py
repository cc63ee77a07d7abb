"""What is installed with Bridle: extras (`pip install 'bridle-agent[NAME]'`), and a package that collides."""

from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from importlib.util import find_spec

from bridle.surfaces.cli.findings import Finding
from bridle.surfaces.cli.fixes import pip_command, reinstall_command

EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "local": ("models that run in Bridle itself", ("xllamacpp",)),
    "memory": ("recall by meaning", ("numpy", "tokenizers", "usearch", "wordllama")),
    "grpc": ("gRPC", ("grpc", "google.protobuf")),
    "scale": (
        "many machines, and telemetry",
        ("dbos", "obstore", "psycopg", "opentelemetry.sdk", "opentelemetry.exporter"),
    ),
}
"""What each is for, and the modules that say it is there."""

NAMESAKE = "bridle"
"""A distribution that is not ours and installs a folder of the same name."""


def missing_extras(extras: Mapping[str, tuple[str, tuple[str, ...]]] = EXTRAS) -> Iterator[str]:
    """Yield the extras that are not installed."""
    for name, (_, modules) in extras.items():
        if not all(map(_is_here, modules)):
            yield name


def extra_findings(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Name the extras that are installed, and the command that brings each of the others."""
    missing = list(missing_extras())
    here = [name for name in EXTRAS if name not in missing]
    yield Finding("extras", "ok", ", ".join(here) or "none installed")
    for name in missing:
        if name != "local":  # which has a line of its own
            fix = pip_command(f"bridle-agent[{name}]", environ)
            yield Finding("extras", "off", f"{name}: {EXTRAS[name][0]}, not installed", fix=fix)


def namesake_findings(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Warn about another package that installs the folder `bridle` in this environment."""
    for found in distributions(name=NAMESAKE):
        text = (
            f"another package, {NAMESAKE} {found.version}, is installed here: "
            f"it owns the folder {NAMESAKE} as well, and each overwrites files of the other"
        )
        yield Finding("package", "warn", text, fix=reinstall_command(NAMESAKE, environ))


def _is_here(module: str) -> bool:
    """True if a module could be imported; does not import it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package it would lie in is not there
        return False
