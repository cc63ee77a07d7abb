"""The results of a soak test in figures."""

from msgspec import Struct


class Part(Struct):
    """The figures of one part, and what is wrong."""

    name: str
    figures: dict[str, int | float] = {}
    wrong: list[str] = []


class Report(Struct):
    """The figures of all parts."""

    seed: int
    seconds: float
    parts: list[Part]
    wrong: list[str] = []
    """Of no part alone."""

    @property
    def faults(self) -> list[str]:
        """Return all that is wrong."""
        return [*(f"{part.name}: {line}" for part in self.parts for line in part.wrong), *self.wrong]

    @property
    def text(self) -> str:
        """Return all of it in words."""
        lines = [f"soak: {self.seconds:g} s, seed {self.seed}"]
        for part in self.parts:
            figures = ", ".join(f"{name} {value:,}" for name, value in part.figures.items())
            lines.append(f"{part.name}: {figures}")
        lines += [f"wrong: {line}" for line in self.faults]
        lines.append("soak: passed" if not self.faults else f"soak: failed with seed {self.seed}")
        return "\n".join(lines)
