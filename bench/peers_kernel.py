"""Other ways to run cells of Python, each measured in a separate environment."""

from pathlib import Path

from children import child_figures
from peers_setup import environment, version
from rows import Figure, figure

ROUNDS = 2
IPYKERNEL = "ipykernel"
EXECUTOR = "smolagents' executor"
PEERS = {  # environment, packages, measuring program, and how it runs cells
    IPYKERNEL: (
        "ipykernel",
        ("ipykernel", "jupyter-client"),
        "peer_kernel.py",
        "a separate process, no sandbox",
    ),
    EXECUTOR: (
        "smolagents",
        ("smolagents[openai]",),
        "peer_executor.py",
        "interpreted in the caller's process, no separate Python",
    ),
}


class Beside:
    """Another way to run cells."""

    def __init__(self, name: str, python: str) -> None:
        _, packages, self._file, self._how = PEERS[name]
        self._name = name
        self._python = python
        self._version = version(python, packages[0])
        self._starts: list[float] = []
        self._cells: list[float] = []

    @classmethod
    def installed(cls, name: str) -> "Beside | None":
        """Return it, installed on first use; None if it cannot be installed."""
        place, packages, *_ = PEERS[name]
        python = environment(place, packages)
        return None if python is None else cls(name, python)

    def measure(self) -> None:
        """Start it several times, and run cells."""
        for _ in range(ROUNDS):
            start_s, *cells = child_figures(str(Path(__file__).with_name(self._file)), python=self._python)
            self._starts.append(start_s)
            self._cells += cells

    def start(self) -> Figure:
        """Return the time of a start."""
        return figure(self._name, self._starts, scale=1e3, version=self._version, how=self._how)

    def cell(self) -> Figure:
        """Return the time of a cell."""
        return figure(self._name, self._cells, scale=1e6, version=self._version, how=self._how)
