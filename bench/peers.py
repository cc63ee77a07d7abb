"""The run of `turns.py` beside other agent frameworks: the same server, tool and turns, in the same rounds.

Each peer lives in an environment of its own under `.cache/bench/`, made on first use from the package index;
delete the folder to get newer versions. A peer runs as it does by default and streamed, and the cheaper of
the two counts, though ours always streams, and stores every step in SQLite besides.
"""

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import peer_loops
import turns
from children import child_env, child_figures, serving
from measure import PYTHON, report

ROUNDS = 2
LEAST_PEERS = 2
CACHE = Path(__file__).parents[1] / ".cache"
PACKAGES = {
    "pydantic-ai": ("pydantic-ai-slim[openai]",),
    "langgraph": ("langgraph", "langchain", "langchain-openai"),
    "openai-agents": ("openai-agents",),
}
_VERSIONS = (
    "import sys, importlib.metadata as m; print(*(f'{n} {m.version(n)}' for n in sys.argv[1:]), sep=', ')"
)


def main() -> list[tuple[str, float, float]]:
    """Compare CPU time with the best of them; the bar is a tenth."""
    pythons = dict(filter(None, map(environment, PACKAGES, PACKAGES.values())))
    times: dict[tuple[str, str], list[float]] = {}
    with serving(turns.SCRIPT) as url:
        ours = []
        for _ in range(ROUNDS):
            ours += child_figures(turns.__file__, "bridle", url)
            for peer, python in list(pythons.items()):
                try:
                    for how in ("whole", "streamed"):
                        found = child_figures(peer_loops.__file__, peer, how, url, python=python)
                        times.setdefault((peer, how), []).extend(found)
                except subprocess.CalledProcessError:
                    leave_out(peer, "its run failed, see above")
                    del pythons[peer]
    best = {key: min(found) for key, found in times.items() if key[0] in pythons}
    if len(pythons) < LEAST_PEERS:
        raise SystemExit(f"peers: {len(pythons)} could be measured, {LEAST_PEERS} are needed")
    print(f"CPU per turn: bridle {version('bridle')} {per_turn(min(ours))}")
    for (peer, how), seconds in sorted(best.items(), key=lambda item: item[1]):
        print(f"CPU per turn: {peer}, {how} {per_turn(seconds)}")
    return report([("50-turn run / the best peer's (CPU)", min(ours) / min(best.values()), 0.1)])


def per_turn(seconds: float) -> str:
    """Write the share of one turn."""
    return f"{seconds / turns.TURNS * 1000:.2f} ms"


def environment(peer: str, packages: Sequence[str]) -> tuple[str, str] | None:
    """Return a peer and its interpreter, making its environment if need be; None if that fails."""
    place = CACHE / "bench" / peer
    python = str(place / "bin" / "python")
    done = place / ".installed"
    if not done.exists():
        print(f"installing {peer} into {place}", file=sys.stderr, flush=True)
        try:
            run(PYTHON, "-m", "venv", "--clear", str(place))
            (CACHE / ".gitignore").write_text("*\n")
            run(python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *packages)
        except subprocess.CalledProcessError:
            leave_out(peer, "it cannot be installed, see above")
            return None
        done.touch()
    names = [package.partition("[")[0] for package in packages]
    print(run(python, "-c", _VERSIONS, *names).strip(), flush=True)
    return peer, python


def run(*argv: str) -> str:
    """Run a program, and return what it prints; its errors are shown."""
    return subprocess.run(argv, env=child_env(), check=True, stdout=subprocess.PIPE, text=True).stdout


def leave_out(peer: str, reason: str) -> None:
    """Say that a peer is not measured."""
    print(f"{peer} is left out: {reason}", flush=True)


if __name__ == "__main__":
    main()
