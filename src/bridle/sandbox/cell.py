"""A cell: the launcher process of one session in its sandbox, and the programs that run there."""

import asyncio
import contextlib
import marshal
import os
import signal
import socket
import struct
from collections import deque
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bridle.core.errors import ToolError
from bridle.core.ports import ProcessSpec
from bridle.sandbox import launcher
from bridle.sandbox.bubblewrap import MAX_STARTS, is_mount_race
from bridle.sandbox.interpreter import find_interpreter
from bridle.sandbox.syscall_watch import SyscallWatch
from bridle.sandbox.traps import ProgramChanges

_BOOT = (
    "import marshal;code,setup=marshal.load(open({fd},'rb'));own={{'__name__':'launcher'}};"
    "exec(code,own);own['main'](setup)"
)
_OPENING_S = 60.0  # on a busy machine it took more than ten
_CLOSING_S = 0.1  # a cancelled run must have settled after 0.2 s
_SETTLING_S = 10.0  # a busy machine may need seconds to end killed processes
_IDLE_WARDENS = 2  # one for the next program, one for the one right after it
_MAX_DEAD = 8
_REHIRE_S = 0.02  # a fork beside a program that is just starting would slow that down
_MAX_ORDER_BYTES = 8 * 1024 * 1024  # the kernel takes no more than 6 MB of arguments and environment
_MAX_REASON_BYTES = 2000
_CREDENTIALS = struct.Struct("3i")
_KILLED = 128 + 9
_MAX_CARRIED = 2


class SandboxedProgram:
    """A program in a cell; implements the sandbox's `Process`."""

    def __init__(self, cell: "Cell", number: int, watch: SyscallWatch | None) -> None:
        self._cell = cell
        self._number = number
        self.watch = watch
        self.changes = ProgramChanges(watch)
        self.pid = 0
        loop = asyncio.get_running_loop()
        self.started: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[int] = loop.create_future()

    async def wait(self) -> int:
        """Wait until all of its processes have ended; return its exit status, 128 + n after signal n."""
        status = await asyncio.shield(self.ended)
        await self.changes.settle()
        return status

    def interrupt(self) -> None:
        """Ask all of its processes to end (SIGTERM)."""
        if not self.ended.done():
            self._cell.order(b"T", self._number)

    def kill(self) -> None:
        """Kill all of its processes at once."""
        if not self.ended.done():
            if self.watch is not None:
                self.watch.refuse_forks()
            self._cell.order(b"K", self._number)


class Cell:
    """Controls a launcher; created by `open_cell`, ended by `close`."""

    def __init__(
        self, process: asyncio.subprocess.Process, channel: socket.socket, *, has_walls: bool
    ) -> None:
        self._process = process
        self._has_walls = has_walls
        self._channel = channel
        self._programs: dict[int, SandboxedProgram] = {}
        self._idle: deque[tuple[int, socket.socket]] = deque()
        self._waiting: deque[asyncio.Future[tuple[int, socket.socket]]] = deque()
        self._asked = 1  # the first warden comes without a request
        self._loop = asyncio.get_running_loop()
        self._hello: asyncio.Future[list[int]] = self._loop.create_future()
        self.claims = 0
        """How many callers were given this cell and have not started their program yet."""
        self.is_open = True
        self._loop.add_reader(channel.fileno(), self._read)

    @property
    def is_idle(self) -> bool:
        """True if nothing runs in it and no caller is about to start a program."""
        return not self._programs and not self.claims

    async def greet(self) -> list[int]:
        """Wait until the launcher is ready; return the sockets that it has opened; raises ToolError."""
        try:
            async with asyncio.timeout(_OPENING_S):
                return await asyncio.shield(self._hello)
        except TimeoutError:
            raise ToolError(f"the sandbox did not start within {_OPENING_S:.0f} s") from None

    async def start(
        self, spec: ProcessSpec, program_filter: bytes, watch: SyscallWatch | None
    ) -> SandboxedProgram:
        """Start a program; raises ToolError if that fails."""
        order = _describe(spec, program_filter, watch=watch is not None)
        for _ in range(_MAX_DEAD):
            program = self._send_program(await self._take_warden(), spec, order, watch)
            if program is not None:
                break
        else:
            raise ToolError("the program cannot be started: its launcher keeps being killed")
        self._loop.call_later(_REHIRE_S, self._request_spare)
        try:
            await program.started
        except asyncio.CancelledError:
            program.kill()
            raise
        return program

    def _send_program(
        self, hired: tuple[int, socket.socket], spec: ProcessSpec, order: bytes, watch: SyscallWatch | None
    ) -> SandboxedProgram | None:
        """Send a warden its order; None if it was killed from inside while it waited."""
        number, warden = hired
        program = self._programs[number] = SandboxedProgram(self, number, watch)
        descriptor = os.memfd_create("order", os.MFD_CLOEXEC)
        try:
            _fill(descriptor, order)
            carried = [descriptor, spec.output]
            carried += [one for one in (spec.errors, spec.input, spec.extra) if one is not None]
            _send(warden, b"R", number, carried)
        except OSError as error:
            del self._programs[number]
            if not isinstance(error, BrokenPipeError | ConnectionResetError):
                raise ToolError(f"the program cannot be started: {error.strerror}") from error
            return None
        finally:
            warden.close()
            os.close(descriptor)
        return program

    async def _take_warden(self) -> tuple[int, socket.socket]:
        """Take a waiting warden, or request a new one; raises ToolError."""
        if not self.is_open:
            raise ToolError("the sandbox has ended")
        if self._idle:
            return self._idle.popleft()
        waiter: asyncio.Future[tuple[int, socket.socket]] = self._loop.create_future()
        self._waiting.append(waiter)
        if self._asked < len(self._waiting):
            self._ask()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._keep(*waiter.result())  # it came at the same moment
            raise

    def _request_spare(self) -> None:
        """Request a warden for the next program, while no caller waits for one."""
        if self.is_open and len(self._idle) + self._asked < _IDLE_WARDENS:
            self._ask()

    def _ask(self) -> None:
        self._asked += 1
        self.order(b"N", 0)

    def _welcome(self, number: int, warden: socket.socket) -> None:
        self._asked -= 1
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result((number, warden))
                return
        self._keep(number, warden)

    def _keep(self, number: int, warden: socket.socket) -> None:
        """Keep a warden for the next program."""
        if self.is_open:
            self._idle.append((number, warden))
        else:
            warden.close()

    def _remove_warden(self, number: int) -> None:
        """Forget a warden that died while it waited."""
        for one in [one for one in self._idle if one[0] == number]:
            self._idle.remove(one)
            one[1].close()

    def order(self, kind: bytes, number: int) -> None:
        """Send an order to the launcher; close the cell if the launcher does not accept it."""
        try:
            _send(self._channel, kind, number)
        except OSError:
            self._drop("it no longer accepts commands")

    async def close(self) -> None:
        """End everything that runs in it."""
        if self.is_open:
            for program in self._programs.values():
                program.kill()
            self._drop("its session ended")
        await self._wait_for_end(_CLOSING_S)
        if self._process.returncode is None and self._has_walls:
            with contextlib.suppress(ProcessLookupError):
                # The kernel ends the processes of the cell; without bubblewrap the launcher does. Not with
                # `Process.kill`: it may take the exit status away from asyncio, which then complains.
                os.kill(self._process.pid, signal.SIGKILL)
        await self._wait_for_end(_SETTLING_S)

    async def _wait_for_end(self, timeout_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._process.wait()

    def _read(self) -> None:
        space = socket.CMSG_SPACE(4 * _MAX_CARRIED) + socket.CMSG_SPACE(_CREDENTIALS.size)
        while self.is_open:
            try:
                data, ancillary, _, _ = self._channel.recvmsg(4096, space, socket.MSG_CMSG_CLOEXEC)
            except BlockingIOError:
                return
            except OSError:
                data, ancillary = b"", []
            if len(data) < launcher.HEAD.size:
                self._drop("")
                return
            self._take(data, ancillary)

    def _take(self, data: bytes, ancillary: list[tuple[int, int, bytes]]) -> None:
        kind, number, value = launcher.HEAD.unpack_from(data)
        pid = 0
        carried: list[int] = []
        for _, what, raw in ancillary:
            if what == socket.SCM_CREDENTIALS:
                pid = _CREDENTIALS.unpack(raw)[0]  # the kernel has translated it to our PID namespace
            elif what == socket.SCM_RIGHTS:
                carried += struct.unpack(f"={len(raw) // 4}i", raw)
        program = self._programs.get(number)
        if kind == b"H" and not self._hello.done():
            self._hello.set_result(carried)
        elif kind == b"W" and carried:
            self._welcome(number, socket.socket(fileno=carried[0]))
        elif kind == b"L" and program is not None and program.watch is not None and carried:
            program.watch.begin(carried[0], pid)
        elif carried:
            for one in carried:
                os.close(one)
        elif program is None:
            self._remove_warden(number)
        else:
            self._note(program, kind, value, pid, data[launcher.HEAD.size :])

    def _note(self, program: SandboxedProgram, kind: bytes, value: int, pid: int, text: bytes) -> None:
        if kind == b"S" and not program.started.done():
            program.pid = pid
            program.started.set_result(None)
        elif kind == b"F" and not program.started.done():
            what = text.decode(errors="replace")
            program.started.set_exception(ToolError(f"cannot {what}: {os.strerror(value).lower()}"))
        elif kind == b"E":
            self._finish(program, value)
            self._request_spare()

    def _finish(self, program: SandboxedProgram, status: int) -> None:
        self._programs = {number: one for number, one in self._programs.items() if one is not program}
        if not program.started.done():
            program.started.set_exception(ToolError("the program ended before it was started"))
        if not program.started.cancelled():
            program.started.exception()  # retrieved, or asyncio complains when no caller waits any more
        if not program.ended.done():
            program.ended.set_result(status)

    def _drop(self, why: str) -> None:
        """Close the socket, which makes the launcher end everything, and fail what waits on this side."""
        if not self.is_open:
            return
        self.is_open = False
        self._loop.remove_reader(self._channel.fileno())
        self._channel.close()
        error = ToolError(f"the sandbox has ended: {why}" if why else "the sandbox has ended")
        if not self._hello.done():
            self._hello.set_exception(error)
            self._hello.exception()
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_exception(error)
        while self._idle:
            self._idle.popleft()[1].close()
        for program in list(self._programs.values()):
            if not program.started.done():
                program.started.set_exception(error)
            self._finish(program, _KILLED)

    async def reason(self) -> str:
        """Return the last error line of a launcher that failed."""
        assert self._process.stderr is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SETTLING_S):
                said = await self._process.stderr.read(_MAX_REASON_BYTES)
                return said.decode(errors="replace").strip().rpartition("\n")[2]
        return ""


async def open_cell(walls: Sequence[str], args: bytes, setup: dict[str, Any]) -> tuple[Cell, list[int]]:
    """Start a launcher in a sandbox, again if a mount vanished meanwhile; raises ToolError.

    See `_open_once` for the arguments and the result.
    """
    for _ in range(MAX_STARTS - 1):
        try:
            return await _open_once(walls, args, setup)
        except ToolError as error:
            if not is_mount_race(error.message):
                raise
    return await _open_once(walls, args, setup)


async def _open_once(walls: Sequence[str], args: bytes, setup: dict[str, Any]) -> tuple[Cell, list[int]]:
    """Start a launcher in a sandbox; `walls` is the command line prefix that builds it; raises ToolError.

    The sandbox dies with the calling thread, which is that of the event loop. `args` is what the sandbox
    program reads from a descriptor, whose number replaces `{args}`. Also returns the sockets that the
    launcher has opened: one for the proxy to listen on, one that lists other sockets.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    boot = os.memfd_create("launcher", 0)
    more = os.memfd_create("walls", 0)
    try:
        _fill(boot, marshal.dumps((_code(), {**setup, "channel": theirs.fileno()})))
        _fill(more, args)
        process = await asyncio.create_subprocess_exec(
            *(part.format(args=more) for part in walls),
            *(find_interpreter(), "-I", "-S", "-c", _BOOT.format(fd=boot)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(theirs.fileno(), boot, more),
            process_group=0,  # keys such as Ctrl-C are for Bridle alone
            env={"PATH": os.defpath},
        )
    except OSError as error:
        ours.close()
        raise ToolError(f"the sandbox cannot be started: {error.strerror}") from error
    except asyncio.CancelledError:
        ours.close()
        raise
    finally:
        theirs.close()
        os.close(boot)
        os.close(more)
    cell = Cell(process, ours, has_walls=bool(walls))
    try:
        return cell, await cell.greet()
    except ToolError as error:
        said = await cell.reason()
        await cell.close()
        raise ToolError(f"the sandbox cannot be started: {said or error.message}") from error
    except asyncio.CancelledError:
        await cell.close()
        raise


@cache
def _code() -> Any:
    return compile(Path(launcher.__file__).read_bytes(), "launcher", "exec", dont_inherit=True)


def _send(channel: socket.socket, kind: bytes, number: int, carried: Sequence[int] = ()) -> None:
    rights = struct.pack(f"={len(carried)}i", *carried)
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if carried else []
    channel.sendmsg([launcher.ORDER.pack(kind, number)], ancillary)


def _fill(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.lseek(descriptor, 0, os.SEEK_SET)


def _describe(spec: ProcessSpec, program_filter: bytes, *, watch: bool) -> bytes:
    texts = [*spec.argv, spec.cwd, *spec.env, *spec.env.values()]
    if any("\0" in text for text in texts):
        raise ToolError("a command, its folder and its environment cannot contain a NUL character")
    order = marshal.dumps(
        {
            "argv": [os.fsencode(one) for one in spec.argv],
            "env": {os.fsencode(name): os.fsencode(value) for name, value in spec.env.items()},
            "cwd": os.fsencode(spec.cwd),
            "errors": spec.errors is not None,
            "input": spec.input is not None,
            "extra": spec.extra is not None,
            "limits": _limits(spec),
            "filter": program_filter,
            "watch": watch,
        }
    )
    if len(order) > _MAX_ORDER_BYTES:
        raise ToolError(f"the command and its environment are {len(order)} bytes long; put them in a file")
    return order


def _limits(spec: ProcessSpec) -> list[tuple[str, int]]:
    """Return the limits that the kernel enforces for each process.

    Memory is RLIMIT_DATA, the memory that a process can write to: RLIMIT_AS would also count the address
    space that node, Java and Go only reserve, and would kill them at the start.
    """
    wanted = {
        "RLIMIT_CORE": 0,
        "RLIMIT_DATA": spec.memory_bytes,
        "RLIMIT_FSIZE": spec.max_file_bytes,
        "RLIMIT_CPU": spec.cpu_s,
    }
    return [(name, value) for name, value in wanted.items() if value is not None]
