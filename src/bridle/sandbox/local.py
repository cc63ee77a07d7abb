"""The sandbox of this machine: detects which kind works, and manages the cells of every session."""

import asyncio
import os
import platform
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Sequence
from functools import cached_property, lru_cache

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import Process, ProcessSpec, SandboxKind, SandboxStatus
from bridle.sandbox import bubblewrap, landlock, syscalls
from bridle.sandbox.cell import Cell, open_cell
from bridle.sandbox.connect_broker import ConnectBroker
from bridle.sandbox.probe import find_status
from bridle.sandbox.protected_paths import ProtectedPaths, build_path_check, find_protected_paths
from bridle.sandbox.proxy import Policy, Proxy, proxy_environment
from bridle.sandbox.syscall_watch import SyscallWatch
from bridle.sandbox.syscalls import assemble, pack
from bridle.sandbox.traps import TrapCheck, Traps
from bridle.sandbox.unix_sockets import Listeners
from bridle.sandbox.visible_paths import find_visible_paths, is_visible
from bridle.system.platform import is_linux
from bridle.system.processes import process_exists

_SCRATCH = re.compile(r"bridle-scratch-(\d+)-\w+")


class CellPlan(Struct, frozen=True):
    """How a cell is built; programs with equal plans share one."""

    kind: SandboxKind
    tool: str = ""
    reads_only: bool = False
    shown: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    """Bubblewrap's arguments."""
    rights: tuple[tuple[str, int], ...] = ()
    """Landlock's rights."""
    open_network: bool = False
    covered: tuple[tuple[str, str, int, int], ...] = ()
    """Each path that is hidden, fixed or writable, with its device and inode.

    A path that was replaced on disk since is not the one that was mounted.
    """


class _OpenCell(Struct, frozen=True):
    """A cell with its proxy, and its folder for temporary files if the sandbox provides none."""

    spec: ProcessSpec
    """The program that it was built for."""
    cell: Cell
    proxy: Proxy | None = None
    scratch: str = ""
    listeners: Listeners | None = None

    def environment(self) -> dict[str, str]:
        """Return the environment variables that programs in it need."""
        found = {"TMPDIR": self.scratch} if self.scratch else {}
        return found if self.proxy is None else found | proxy_environment(self.proxy.port)

    async def close(self) -> None:
        if self.proxy is not None:
            await self.proxy.close()
        await self.cell.close()
        if self.listeners is not None:
            self.listeners.close()
        if self.scratch:
            await asyncio.to_thread(shutil.rmtree, self.scratch, ignore_errors=True)


class _Prepared(Struct, frozen=True):
    """A program to start, with its paths free of links, and the sandbox for it."""

    spec: ProcessSpec
    plan: CellPlan
    shield: ProtectedPaths


class LocalSandbox:
    """Starts programs in the best sandbox that this machine supports; implements the engine's `Sandbox`.

    The programs of a session share a cell: its /tmp, its loopback network, its processes. A new cell is built
    when the hidden paths have changed. Processes that a program leaves behind end with it.
    """

    def __init__(
        self, *, home: str, hidden: Sequence[str] = (), kind: SandboxKind | None = None, away: str = ""
    ) -> None:
        """Set the user's home, whose secrets are hidden, more places to hide, and a required kind, if any.

        Traps that a program leaves for the user are moved to `away`, by default a temporary folder.
        """
        self._home = os.path.realpath(home)
        self._hidden = tuple(hidden)
        self._wanted = kind
        self._rooms: dict[SessionId, dict[CellPlan, _OpenCell]] = {}
        self._locks: dict[SessionId, asyncio.Lock] = {}
        away = away or os.path.join(tempfile.gettempdir(), f"bridle-put-away-{os.getuid()}")
        self._traps = Traps(home=self._home, away=away, hidden=self._hidden)
        self._existing: dict[SessionId, dict[tuple[str, ...], tuple[str, ...]]] = {}
        """Traps that existed when a session first used some folders; those it creates itself are checked."""

    @cached_property
    def status(self) -> SandboxStatus:
        """The active kind of sandbox; tested once per process, which takes about 20 ms."""
        return find_status(self._wanted)

    async def start(self, spec: ProcessSpec, session: SessionId) -> Process:
        """Start a program; raises ToolError if that fails.

        A program that must be confined is not started if no sandbox works.
        """
        if not is_linux():
            raise ToolError(
                f"programs cannot be started on {sys.platform} yet",
                hint="run Bridle on Linux, or in a Linux container",
            )
        if "status" not in self.__dict__:
            await asyncio.to_thread(lambda: self.status)
        if spec.confined and self.status.kind == "none":
            raise ToolError(f"no sandbox is available on this machine: {self.status.why}")
        made, look = await asyncio.to_thread(self._prepare_to_look, spec, session)
        room = await self._enter(made, session, Policy(spec.tool, spec.rules, spec.mode))
        started = replace(made.spec, env={**spec.env, **room.environment()})
        try:
            watch = self._watch(made, room)
            program = await room.cell.start(started, _filter(_cases(started, made.plan.kind)), watch)
            if look is not None and watch is not None:
                look.is_due = watch.may_have_changed
            program.changes.look = look
            return program
        finally:
            room.cell.claims -= 1

    async def end_session(self, session: SessionId) -> None:
        """End everything that was started for a session."""
        lock = self._locks.setdefault(session, asyncio.Lock())
        async with lock:
            rooms = self._rooms.pop(session, {})
            await asyncio.gather(*(room.close() for room in rooms.values()))
            self._locks.pop(session, None)
            self._existing.pop(session, None)

    async def holds(self, session: SessionId) -> bool:
        """True if the cells of running programs already hide and fix everything that a new cell would."""
        rooms = [(plan, room.spec) for plan, room in self._rooms.get(session, {}).items()]

        def holds() -> bool:
            found = ((self._prepare(spec, session).plan, plan) for plan, spec in rooms)
            return all(set(wanted.covered) <= set(plan.covered) for wanted, plan in found)

        return await asyncio.to_thread(holds)

    def _prepare_to_look(self, spec: ProcessSpec, session: SessionId) -> tuple[_Prepared, TrapCheck | None]:
        made = self._prepare(spec, session)
        may_change = spec.confined and spec.writable and not spec.reads_only
        return made, TrapCheck(self._traps, made.spec.writable) if may_change else None

    def _prepare(self, spec: ProcessSpec, session: SessionId) -> _Prepared:
        spec = replace(
            spec, cwd=os.path.realpath(spec.cwd), writable=_real(spec.writable), shown=_real(spec.shown)
        )
        if not spec.confined:
            return _Prepared(spec, CellPlan("none"), ProtectedPaths())
        if spec.reads_only:
            return self._prepare_reading(spec)
        known = self._existing.setdefault(session, {})
        if spec.writable not in known:
            known[spec.writable] = self._traps.existing(spec.writable)
        found = find_protected_paths(
            spec.rules,
            spec.writable,
            spec.cwd,
            home=self._home,
            hidden=self._hidden,
            traps=known[spec.writable],
        )
        covered = {
            "hidden": (*found.hidden_files, *found.hidden_folders),
            "fixed": found.fixed,
            "seen": (*spec.writable, spec.cwd),
        }
        plan = CellPlan(
            self.status.kind,
            spec.tool,
            open_network=spec.open_network,
            covered=tuple((how, path, *_identity(path)) for how, paths in covered.items() for path in paths),
        )
        path = spec.env.get("PATH", "")
        shown = bubblewrap.find_program_paths(spec.argv, path) if spec.shows_program else ()
        if plan.kind == "bubblewrap":
            network = spec.open_network
            arguments = bubblewrap.build_arguments(
                found, spec.writable, spec.cwd, network=network, shown=shown
            )
            return _Prepared(spec, replace(plan, arguments=tuple(arguments)), found)
        rights = landlock.build_rules(found, spec.writable, spec.cwd, landlock.version(), shown=shown)
        return _Prepared(spec, replace(plan, rights=tuple(rights)), found)

    def _prepare_reading(self, spec: ProcessSpec) -> _Prepared:
        """Plan a cell in which nothing can be changed, and only the system and the given folders are seen."""
        bases = (*spec.writable, *spec.shown)
        found = find_protected_paths(
            spec.rules, (), spec.cwd, home=self._home, hidden=self._hidden, shown=bases
        )
        places = find_visible_paths(spec, self._home)
        seen = ProtectedPaths(
            hidden_files=tuple(path for path in found.hidden_files if is_visible(path, places)),
            hidden_folders=tuple(path for path in found.hidden_folders if is_visible(path, places)),
        )
        covered = (*seen.hidden_files, *seen.hidden_folders)
        plan = CellPlan(
            self.status.kind,
            spec.tool,
            reads_only=True,
            shown=spec.shown,
            covered=tuple(("hidden", path, *_identity(path)) for path in covered)
            + tuple(("seen", path, *_identity(path)) for path in bases),
        )
        if plan.kind == "bubblewrap":
            arguments = bubblewrap.build_read_only_arguments(seen, places, spec.cwd)
            return _Prepared(spec, replace(plan, arguments=tuple(arguments)), seen)
        rights = landlock.build_rules(seen, (), spec.cwd, landlock.version(), shown=places, system="/proc")
        return _Prepared(spec, replace(plan, rights=tuple(rights)), seen)

    async def _enter(self, made: _Prepared, session: SessionId, policy: Policy) -> _OpenCell:
        """Return the cell for a plan, a new one if necessary; close idle ones that it replaces."""
        plan = made.plan
        async with self._locks.setdefault(session, asyncio.Lock()):
            rooms = self._rooms.setdefault(session, {})
            room = rooms.get(plan)
            if room is None or not room.cell.is_open:
                for old in [old for old, other in rooms.items() if _is_left(old, other, plan)]:
                    await rooms.pop(old).close()
                room = rooms[plan] = await _build(made, policy)
            if room.proxy is not None:
                room.proxy.policy = policy
            room.cell.claims += 1  # otherwise a caller with another plan could close it before we use it
            return room

    def _watch(self, made: _Prepared, room: _OpenCell) -> SyscallWatch | None:
        spec = made.spec
        is_watched = _is_watched(spec, made.plan.kind)
        needs_deputy = made.plan.kind != "none" and not spec.reads_only
        if not is_watched and not needs_deputy and spec.max_processes is None:
            return None
        unwalled = made.shield if made.plan.kind == "landlock" else None
        return SyscallWatch(
            keep=spec.keep,
            refuses=build_path_check(spec.rules, spec.writable, spec.cwd, self._home, unwalled),
            roots=spec.writable,
            max_processes=spec.max_processes,
            deputy=ConnectBroker(room.listeners) if room.listeners is not None else None,
            sees_changes=is_watched,
            own=(*spec.writable, os.path.realpath(room.scratch)) if unwalled is not None else None,
        )


def _is_watched(spec: ProcessSpec, kind: SandboxKind) -> bool:
    """True if calls that change files are watched: to save the files, or because Landlock is not enough."""
    return not spec.reads_only and (spec.keep is not None or kind == "landlock")


def _is_left(old: CellPlan, room: _OpenCell, plan: CellPlan) -> bool:
    is_replaced = _purpose(old) == _purpose(plan)
    return not room.cell.is_open or (room.cell.is_idle and is_replaced)


def _purpose(plan: CellPlan) -> tuple[object, ...]:
    return plan.kind, plan.tool, plan.reads_only, plan.shown


async def _build(made: _Prepared, policy: Policy) -> _OpenCell:
    plan, spec = made.plan, made.spec
    match plan.kind:
        case "bubblewrap":
            args = b"".join(os.fsencode(one) + b"\0" for one in plan.arguments)
            listen = not plan.open_network and not plan.reads_only
            setup = {"listen": listen, "diagnose": not plan.reads_only, "landlock": None}
            cell, sockets = await open_cell(bubblewrap.build_command_prefix(), args, setup)
            if plan.reads_only:
                return _OpenCell(spec, cell)
            *doors, channel = sockets
            listeners = Listeners(channel, is_shared=plan.open_network)
            if not doors:
                return _OpenCell(spec, cell, listeners=listeners)
            proxy = Proxy(policy)
            room = _OpenCell(spec, cell, proxy, listeners=listeners)
            try:
                await proxy.open(socket.socket(fileno=doors[0]))
            except BaseException:  # also on cancellation: it is not registered yet
                await room.close()
                raise
            return room
        case "landlock":
            scratch = await asyncio.to_thread(_make_scratch, tempfile.gettempdir())
            asked = landlock.build_request(plan.rights, scratch, landlock.version())
            cell, _ = await open_cell([], b"", {"listen": False, "diagnose": False, "landlock": asked})
            return _OpenCell(spec, cell, scratch=scratch)
        case "none":
            cell, _ = await open_cell([], b"", {"listen": False, "diagnose": False, "landlock": None})
            return _OpenCell(spec, cell)


def _make_scratch(folder: str) -> str:
    """Create a folder for temporary files, and remove those of processes that died without cleaning up."""
    with os.scandir(folder) as entries:
        for entry in entries:
            owner = _SCRATCH.fullmatch(entry.name)
            if owner and not process_exists(int(owner[1])):
                shutil.rmtree(entry.path, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"bridle-scratch-{os.getpid()}-", dir=folder)


def _real(folders: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(folder) for folder in folders))


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.lstat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def _cases(spec: ProcessSpec, kind: SandboxKind) -> tuple[syscalls.Case, ...]:
    """Return what happens to which system call; the first case for a call decides, so strict ones lead."""
    watched = _is_watched(spec, kind)
    is_open = spec.open_network and not spec.reads_only
    sockets = syscalls.ONLY_INTERNET if is_open else syscalls.NO_SOCKETS
    return (
        *(sockets if kind == "landlock" or spec.reads_only else ()),
        *(syscalls.NO_METADATA if spec.reads_only else ()),
        *(syscalls.REFUSED if kind != "none" else ()),
        *(syscalls.MADE if kind == "bubblewrap" and not spec.reads_only else ()),
        *(syscalls.METADATA if kind == "landlock" and watched else ()),
        *(syscalls.UNWATCHABLE if kind != "none" or watched else ()),
        *(syscalls.WATCHED if watched else ()),
        *(syscalls.COUNTED if spec.max_processes is not None else ()),
    )


@lru_cache(maxsize=16)
def _filter(cases: tuple[syscalls.Case, ...]) -> bytes:
    machine = platform.machine()
    if machine not in syscalls.NUMBERS or not cases:
        return b""
    return pack(assemble(cases, machine))
