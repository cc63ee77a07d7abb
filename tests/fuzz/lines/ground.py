"""The test environment: the folder, its two sandboxes, and the effects of a line there."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from msgspec import Struct

from tests.attacks.stage import leaks
from tests.fuzz.lines.cage import Cage, CageError, Outcome, Permit, Walls
from tests.fuzz.lines.folder import LOG, NAME, TOKEN, Folder
from tests.fuzz.lines.repositories import Config, plain_config

Kind = Literal[
    "file changed",
    "program run",
    "read outside",
    "process left",
    "moved outside",
    "not confined",
    "socket reached",
    "cell ended",
    "slow judge",
]
WALLS: tuple[Walls, ...] = ("reading", "writable")
_MAX_DETAIL = 160


class Effect(Struct, frozen=True):
    """An effect of a line that no line may have without approval."""

    kind: Kind
    detail: str


class Ground:
    """Runs lines in both sandboxes and checks what has changed."""

    def __init__(self, world: Path, runner: asyncio.Runner) -> None:
        """Use an empty folder outside /tmp."""
        self.folder = Folder(world)
        self._config = plain_config()
        self._cages = {walls: Cage(self.folder, walls, runner) for walls in WALLS}

    def build(self) -> None:
        """Make the folder again, and cages around it."""
        self.close()
        self.folder.build()
        for cage in self._cages.values():
            cage.open()
        self.folder.configure(self._config)

    def configure(self, config: Config) -> None:
        """Change the settings of the project's repository until the next change."""
        self._config = config
        self.folder.configure(config)

    def close(self) -> None:
        """End the cages."""
        for cage in self._cages.values():
            cage.close()
        self.folder.close()

    def run_all(self, permits: Sequence[Permit]) -> list[Effect]:
        """Run lines in both cages, one beside the other, until one does something; returns what that is."""
        try:
            for permit in permits:
                for cage in self._cages.values():
                    cage.send(permit)
                outcomes = [cage.receive() for cage in self._cages.values()]
                found = [effect for outcome in outcomes for effect in self._of_outcome(outcome)]
                found += _of_permit(permit)
                if found:
                    return found
        except CageError as error:
            return [Effect("cell ended", str(error))]
        return self._of_folder()

    def effects(self, permit: Permit, walls: Walls) -> list[Effect]:
        """Run one line where all is as it was, and leave it so."""
        cage = self._cages[walls]
        try:
            cage.send(permit)
            found = self._of_outcome(cage.receive())
        except CageError as error:
            self.build()
            return [Effect("cell ended", str(error))]
        found += [*self._of_folder(), *_of_permit(permit)]
        if found:
            self.put_back()
        return found

    def put_back(self) -> None:
        """Undo what lines did."""
        if not self.folder.put_back():
            self.build()

    def _of_outcome(self, outcome: Outcome) -> list[Effect]:
        found: list[Effect] = []
        output = outcome.output.decode(errors="replace")
        if leaks(output, TOKEN):
            found.append(Effect("read outside", "printed"))
        if NAME in output:
            found.append(Effect("read outside", "listed"))
        if outcome.left:
            found.append(Effect("process left", _short(outcome.left)))
        if outcome.calls:
            found.append(Effect("socket reached", "TCP"))
        if outcome.cwd and not Path(outcome.cwd).is_relative_to(self.folder.project):
            found.append(Effect("moved outside", outcome.cwd[:_MAX_DETAIL]))
        return found

    def _of_folder(self) -> list[Effect]:
        found = [Effect("socket reached", "Unix")] if self.folder.was_called() else []
        found += [Effect("read outside", path) for path in self.folder.files_read()]
        changed = self.folder.changes()
        if programs := self.folder.programs_run():
            found.append(Effect("program run", programs[:_MAX_DETAIL]))
            changed = [path for path in changed if path not in ("outside", f"outside/{LOG}")]
        if changed:
            found.append(Effect("file changed", _short(changed)))
        return found


@contextmanager
def open_ground(world: Path) -> Iterator[Ground]:
    """Build a ground in an empty folder."""
    with asyncio.Runner() as runner:
        ground = Ground(world, runner)
        try:
            ground.build()
            yield ground
        finally:
            ground.close()


def _of_permit(permit: Permit) -> list[Effect]:
    return [] if permit.reads_only else [Effect("not confined", "it runs where folders can be changed")]


def _short(parts: Sequence[str]) -> str:
    return ", ".join(parts)[:_MAX_DETAIL]
