"""Finds lines that run without approval but have an effect: judge, run, shrink, report."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, repeat

from msgspec import Struct, field
from msgspec.structs import replace

from bridle.core.permission import judge
from bridle.tools.commands import shell_access
from bridle.tools.shell.confinement import confine
from tests.fuzz.hunting import TooSlow, alarm, shrunk
from tests.fuzz.lines.cage import Permit, Walls
from tests.fuzz.lines.grammar import Grammar
from tests.fuzz.lines.ground import WALLS, Effect, Ground
from tests.fuzz.lines.repositories import Config, plain_config

NAME = "command_lines"
"""The name of its corpus file."""
LINES = 200_000
MAX_JUDGE_S = 1.0
_HANG_S = 5.0
_BATCH = 25
_SHRINK_S = 20.0
_MAX_ALIKE = 3
_MAX_OF_KIND = 20
"""How many findings are shrunk and shown: with the same effect, and of the same kind."""

Judge = Callable[[str], Permit | None]
"""Returns how a line may run without approval; None if it needs approval."""


class Finding(Struct, frozen=True):
    """A line that had an effect."""

    line: str
    config: str
    """The settings of git."""
    walls: Walls
    effect: Effect

    def __str__(self) -> str:
        how = "with the reading sandbox" if self.walls == "reading" else "judge alone"
        return f"{self.effect.kind} ({how}): {self.effect.detail}\n    {self.line!r} (git: {self.config!r})"


class Report(Struct):
    """The result of a hunt."""

    judged: int = 0
    allowed: int = 0
    run: int = 0
    effects: Counter[Walls] = field(default_factory=Counter)
    """How many lines had an effect, by sandbox."""
    kinds: Counter[tuple[Walls, str]] = field(default_factory=Counter)
    findings: list[Finding] = []
    """Shrunk, each line once."""
    slow: int = 0
    slowest_s: float = 0.0
    slowest: str = ""
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Nothing did anything, and no judgement took too long."""
        return not self.effects.total() and not self.slow

    def __str__(self) -> str:
        share = 100 * self.allowed / max(1, self.judged)
        kinds = [f"{count} {kind} ({walls})" for (walls, kind), count in sorted(self.kinds.items())]
        return (
            f"{self.judged:,} lines judged, {self.allowed:,} allowed ({share:.1f} %), {self.run:,} run"
            f"\neffects with the reading sandbox: {self.effects['reading']:,}"
            f"\neffects without it (judge alone): {self.effects['writable']:,}"
            f"\nkinds of effects: {', '.join(kinds) or 'none'}"
            f"\nslowest judgement: {self.slowest_s * 1000:.0f} ms, {self.slow} above {MAX_JUDGE_S:.0f} s:"
            f" {self.slowest[:60]!r}\ntime: {self.seconds:.0f} s"
        )


def judge_of(ground: Ground) -> Judge:
    """Return the judge of Bridle, for lines of a session in the folder, without any rule."""
    root, home = str(ground.folder.project), str(ground.folder.home)
    environ = ground.folder.environment()

    def judged(line: str) -> Permit | None:
        access = shell_access(line, root, root)
        if judge(access, (), "ask").action != "allow":
            return None
        confinement = confine(access, root, home)
        return Permit(line, confinement.environment(environ), confinement.reads_only)

    return judged


def made_lines(seed: int, count: int) -> Iterator[str]:
    """Return `count` lines of the grammar."""
    grammar = Grammar(seed)
    return (grammar.line() for _ in range(count))


def hunt(
    ground: Ground,
    lines: Iterable[str],
    judged: Judge,
    configs: Iterable[Config] = repeat(plain_config()),
    *,
    shrinks: bool = True,
) -> Report:
    """Judge lines, and run the allowed ones behind both kinds of walls; the repository changes with time."""
    return _Hunt(ground, judged, shrinks=shrinks).go(lines, configs)


class _Hunt:
    def __init__(self, ground: Ground, judged: Judge, *, shrinks: bool) -> None:
        self._ground = ground
        self._judged = judged
        self._shrinks = shrinks
        self._report = Report()
        self._config = plain_config()
        self._known: Counter[Effect | str] = Counter()

    def go(self, lines: Iterable[str], configs: Iterable[Config]) -> Report:
        begun = time.monotonic()
        allowed, configs = self._allowed(lines), iter(configs)
        while batch := self._next(allowed, next(configs)):
            self._report.run += len(batch)
            if found := self._ground.run_all(batch):
                self._ground.put_back()
                self._run_each(batch, found)
        self._report.seconds = time.monotonic() - begun
        return self._report

    def _next(self, allowed: Iterator[Permit], config: Config) -> list[Permit]:
        """Judge lines in a repository with these settings until enough of them are to be run."""
        self._config = config
        self._ground.configure(config)
        return list(islice(allowed, _BATCH))

    def _allowed(self, lines: Iterable[str]) -> Iterator[Permit]:
        for line in lines:
            self._report.judged += 1
            if permit := self._judge(line):
                self._report.allowed += 1
                yield permit

    def _judge(self, line: str) -> Permit | None:
        begun = time.thread_time()
        try:
            with alarm(_HANG_S):
                permit = self._judged(line)
        except TooSlow:
            permit = None
        taken_s = time.thread_time() - begun
        if taken_s > self._report.slowest_s:
            self._report.slowest_s, self._report.slowest = taken_s, line
        if taken_s > MAX_JUDGE_S:
            self._report.slow += 1
            effect = Effect("slow judge", f"{taken_s:.1f} s for {len(line)} characters")
            self._report.findings.append(Finding(line, self._config.name, "writable", effect))
        return permit

    def _run_each(self, batch: Sequence[Permit], found: Sequence[Effect]) -> None:
        """Find the lines that did something; where none does it by itself, all of them together did."""
        before = self._report.effects.total()
        for permit in batch:
            for walls in WALLS:
                self._note(permit.line, walls, self._ground.effects(permit, walls))
        if self._report.effects.total() == before:
            self._note("\n".join(permit.line for permit in batch), "writable", found, shrinks=False)

    def _note(self, line: str, walls: Walls, effects: Sequence[Effect], *, shrinks: bool = True) -> None:
        self._report.effects[walls] += bool(effects)
        for effect in effects:
            self._report.kinds[walls, effect.kind] += 1
            self._keep(Finding(line, self._config.name, walls, effect), shrinks=shrinks)

    def _keep(self, finding: Finding, *, shrinks: bool) -> None:
        """Note a finding that is not like many others, made small."""
        effect = finding.effect
        if self._known[effect] >= _MAX_ALIKE or self._known[effect.kind] >= _MAX_OF_KIND:
            return
        self._known.update([effect, effect.kind])
        if shrinks and self._shrinks:
            finding = self._smaller(finding)
        if finding.line not in [known.line for known in self._report.findings]:
            self._report.findings.append(finding)

    def _smaller(self, finding: Finding) -> Finding:
        def still(data: bytes) -> bool:
            try:
                line = data.decode()
            except UnicodeDecodeError:
                return False
            permit = self._judged(line) if line.strip() else None
            effects = self._ground.effects(permit, finding.walls) if permit else []
            return finding.effect.kind in [effect.kind for effect in effects]

        data, smaller, end = b"", finding.line.encode(), time.monotonic() + _SHRINK_S
        while data != smaller:
            data, smaller = smaller, shrunk(smaller, still, end)
        return replace(finding, line=data.decode())
