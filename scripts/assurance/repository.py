"""Search git for secrets and traces of a machine: in every tracked file and in every line of the history.

`python -m scripts.assurance.repository [--history]` prints its findings, and exits with 1 if there are any.
Tests contain examples that look like keys. Each is listed here, so that a person has to check every new one.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from scripts.assurance.inventory import ROOT

SHAPES = {
    "a key of AWS": r"\bAKIA[0-9A-Z]{16}\b",
    "a token of GitHub": r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}",
    "a token of Slack": r"\bxox[baprs]-[0-9A-Za-z-]{10,}",
    "a key of Google": r"\bAIza[0-9A-Za-z_-]{35}",
    "a key of a model's vendor": r"\bsk-[A-Za-z0-9_-]{20,}",
    "a token of Bridle": r"\bbrdl_[0-9a-f]{16}_[A-Za-z0-9_-]{30,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----",
    "a password in a URL": r"\b[a-z][a-z0-9+]{2,12}://[^\s/:@\"'{}<>]{1,64}:[^\s/@\"'{}<>$]{8,}@[a-z0-9.-]+\.[a-z]{2,}",
    "a path of a private machine": r"(?<![\w/$}.])/(?:root|work/(?:main|shared))/[\w.]",
    "a private package index": (
        r"(?:index-url|registry)\s*[= ]\s*[\"']?https?://(?!pypi\.org|registry\.npmjs\.org)[\w.-]+"
    ),
}
LOOKS_FOR = {kind: re.compile(shape) for kind, shape in SHAPES.items()}
ANY = re.compile("|".join(SHAPES.values()))
INVENTED = frozenset(
    (
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrst0123456789abcdef",
        "brdl_aaaaaaaaaaaaaaaa_" + "0" * 64,
        "sk-live-0123456789abcdefABCDEF",
        "sk-live-9f8e7d6c5b4a39281706",
        "sk-proj-abcdefghijklmnop1234",
        "sk-very-secret-0123456789",
        "xoxb-123456789012-abcdef",
    )
)
"""Invented keys that tests use to check that keys are recognised."""
CANARY = "canary"
"""Part of every secret that tests plant and search for."""
INVENTED_IN = {
    "a private key": ("tests/memory/test_secret_filter.py", "tests/scripts/test_repository.py"),
}
"""Files that may contain these words, which alone are not a secret."""
MAX_LINE = 4_000
"""Longer lines come from minified files, such as the libraries of the page."""


class Finding(Struct, frozen=True):
    """A secret or a trace of a machine."""

    where: str
    kind: str
    shown: str
    """Its beginning: a report must not contain a whole secret."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the findings; return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="repository", description="look for secrets in what git keeps")
    parser.add_argument("--history", action="store_true", help="also search every line of the history")
    args = parser.parse_args(argv)
    lines = list(tracked_lines())
    found = list(look(lines))
    said = f"{len(lines)} lines of tracked files"
    if args.history:
        past = list(past_lines())
        found += look(past)
        said += f", {len(past)} lines of the history"
    for one in found:
        print(f"{one.where}: {one.kind}: {one.shown}")
    print(f"{said}: {len(found)} findings")
    return int(bool(found))


def look(lines: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """Yield the findings in lines, each with its place."""
    for where, line in lines:
        if len(line) > MAX_LINE or not ANY.search(line):
            continue
        for kind, shape in LOOKS_FOR.items():
            match = shape.search(line)
            if match and not _is_known(where, kind, match[0]):
                yield Finding(where, kind, f"{match[0][:12]}…")


def tracked_lines() -> Iterator[tuple[str, str]]:
    """Yield every line of text that git tracks or would track, with its file and number."""
    listed = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
    for name in sorted({raw.decode() for raw in listed if raw}):
        path = ROOT / name
        if not path.is_file() or path.is_symlink():
            continue
        content = path.read_bytes()
        if b"\0" in content[:8_000]:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            yield f"{name}:{number}", line


def past_lines() -> Iterator[tuple[str, str]]:
    """Yield every line that a commit added, with its file."""
    name = ""
    for raw in _git("log", "-p", "--all", "--no-color", "--unified=0", "--format=%H").splitlines():
        line = raw.decode("utf-8", "replace")
        if line.startswith("+++ b/"):
            name = line.removeprefix("+++ b/")
        elif line.startswith("+"):
            yield name, line[1:]


def _is_known(where: str, kind: str, text: str) -> bool:
    return text in INVENTED or CANARY in text or where.partition(":")[0] in INVENTED_IN.get(kind, ())


def _git(*args: str) -> bytes:
    return subprocess.run(["git", *args], cwd=ROOT, check=True, capture_output=True).stdout


if __name__ == "__main__":
    sys.exit(main())
