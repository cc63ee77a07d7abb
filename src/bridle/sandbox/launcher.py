"""The first process of a cell: starts a session's programs, reports how they end, and leaves none behind.

```
Bridle ──socket── launcher ─┬─ warden ── program ── …     a warden adopts every orphan
        (pid 1 of the cell) └─ warden ── program ── …     among its program's descendants
```

It runs inside the sandbox, in a separate interpreter without any Bridle code: standard library only. Its code
and its orders come through descriptors, so that no path has to be readable.

| message | from | meaning |
|---|---|---|
| `N` | Bridle | create another warden |
| `R`, descriptors | Bridle, to a warden | run what the first descriptor describes |
| `T` / `K` number | Bridle | ask the warden's program to end / kill it |
| `H` | launcher | ready; carries the proxy's listening socket and the one that lists sockets, if requested |
| `W` number | launcher | carries the socket on which a new warden waits |
| `L` number | warden | carries the descriptor for watched system calls |
| `S` number | warden | its program runs |
| `F` number, errno, text | warden | its program could not be started |
| `E` number, status | warden, launcher | its program has ended, with all its processes |

The end of the socket, for whatever reason, ends everything.
"""

# ruff: noqa: SIM105 - to load `contextlib` takes longer than all else that we load
from __future__ import annotations

import _socket
import ctypes
import errno
import fcntl
import marshal
import os
import resource
import select
import struct
import time

TYPE_CHECKING = False  # each cell waits for us: without `typing`, and enums of `signal`, 10 ms less
if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal

HEAD = struct.Struct("<cIi")
ORDER = struct.Struct("<cI")

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_CHILD_SUBREAPER = 1, 4, 38, 36
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 1 << 3, 1 << 5
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_TIOCNOTTY = 0x5422
_NETLINK_SOCK_DIAG = 4
_CAPABILITY_VERSION = 0x20080522
_LOWEST = 10  # our own descriptors stay clear of the numbers that a program gets
_ANY_NUMBER = 2**31 - 1
_MAX_FDS = 5
_ENDING_S = 3.0  # for a program that resists: longer than a normal clean-up, short for the caller
_PAUSE_MS = 2

_libc = ctypes.CDLL(None, use_errno=True)


def main(setup: dict[str, Any]) -> None:
    """Serve until the socket ends."""
    channel = _socket.socket(fileno=fcntl.fcntl(setup["channel"], fcntl.F_DUPFD_CLOEXEC, _LOWEST))
    os.closerange(3, channel.fileno())  # programs must not inherit our own descriptors
    os.closerange(channel.fileno() + 1, _ANY_NUMBER)
    _leave_terminal()
    _prctl(_PR_SET_DUMPABLE, 0)  # no process inside may read our memory or take our descriptors
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if setup["landlock"]:
        _drop_capabilities()
        _restrict(setup["landlock"])
    carried = []
    if setup["listen"]:
        relay = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        relay.bind(("127.0.0.1", 0))
        relay.listen(64)
        carried.append(relay.fileno())
    if setup["diagnose"]:
        carried.append(_open_diagnosis())
    _send(channel, b"H", 0, 0, carried)
    for number in carried:
        os.close(number)
    Launcher(channel).serve()


def _open_diagnosis() -> int:
    """Return a socket that lists this network's sockets; /dev/null if the kernel does not support it."""
    try:
        return _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, _NETLINK_SOCK_DIAG).detach()
    except OSError:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


def _leave_terminal() -> None:
    """Detach from the user's terminal, so that no program here can access it.

    A new session would do that too, but the scheduler gives each session its own share of CPU time
    (autogroup): on a busy machine, starting a program there took five times as long.
    """
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
        fcntl.ioctl(terminal, _TIOCNOTTY)
        os.close(terminal)
    except OSError:
        pass


class Launcher:
    """Manages the wardens: those with a running program, and those that wait for one."""

    def __init__(self, channel: _socket.socket) -> None:
        self._channel = channel
        self._last = 0
        self._wardens: dict[int, int] = {}
        self._watched: dict[int, int] = {}
        self._ending: dict[int, float] = {}
        self._poll = select.poll()

    def serve(self) -> None:
        """Handle orders and report exits; returns when Bridle is gone and nothing runs any more."""
        self._poll.register(self._channel.fileno(), select.POLLIN)
        self._fork()
        open_ended = True
        while open_ended:
            for descriptor, _ in self._poll.poll(_PAUSE_MS if self._ending else None):
                if descriptor == self._channel.fileno():
                    open_ended = self._handle_order()
                else:
                    self._report(descriptor)
            for number in list(self._ending):
                self._press(number)
        _end_below_us()

    def _handle_order(self) -> bool:
        data, _ = _receive(self._channel)
        if not data:
            return False
        order, number = ORDER.unpack(data)
        if order == b"N":
            self._fork()
        elif number in self._wardens:
            if order == b"T":
                for pid in _below(self._wardens[number]):
                    _signal(pid, signal.SIGTERM)
            else:
                self._ending.setdefault(number, time.monotonic() + _ENDING_S)
        return True

    def _fork(self) -> None:
        """Create a warden ahead of time: a fork is half the cost of starting a program."""
        self._last += 1
        theirs, ours = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        launcher = os.getpid()
        pid = os.fork()
        if pid == 0:
            ours.close()
            _as_warden(self._channel, theirs, launcher)
        theirs.close()
        self._wardens[self._last] = pid
        watched = os.pidfd_open(pid)
        self._watched[watched] = self._last
        self._poll.register(watched, select.POLLIN)
        _send(self._channel, b"W", self._last, 0, [ours.fileno()])
        ours.close()

    def _report(self, descriptor: int) -> None:
        """Report how a warden ended; one that ended normally has reported it itself, which is faster."""
        self._poll.unregister(descriptor)
        os.close(descriptor)
        number = self._watched.pop(descriptor)
        _, status = os.waitpid(self._wardens.pop(number), 0)
        self._ending.pop(number, None)
        _end_strangers(set(self._wardens.values()))
        _send(self._channel, b"E", number, _exit_status(status))

    def _press(self, number: int) -> None:
        """Kill everything below a warden; repeated, because a new process may always slip through."""
        warden = self._wardens[number]
        for pid in _below(warden):
            _signal(pid, signal.SIGKILL)
        _signal(warden, signal.SIGCONT)  # it may have been stopped from inside
        if time.monotonic() > self._ending[number]:
            if os.getpid() == 1:
                os._exit(1)  # the kernel ends the whole cell at once
            _signal(warden, signal.SIGKILL)


def _as_warden(channel: _socket.socket, orders: _socket.socket, launcher: int) -> None:
    """Start a program, wait for it and kill what it leaves behind; exits with its status.

    The program inherits what the warden does to itself: descriptors, folder, limits, filter.
    """
    signal.signal(signal.SIGTERM, _end_as_warden)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != launcher:
        os._exit(128 + signal.SIGKILL)  # the launcher died first: no signal will come
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    data, descriptors = _receive(orders)
    if not data:
        os._exit(0)
    _, number = ORDER.unpack(data)
    told = [""]
    try:
        program = _start(channel, number, descriptors, told)
    except OSError as error:
        _send(channel, b"F", number, error.errno or 0, text=told[0].encode()[:1024])
        os._exit(127)
    _let_go(channel)
    _send(channel, b"S", number, 0)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == program:
            break
    _end_below_us()
    _send(channel, b"E", number, _exit_status(status))
    os._exit(_exit_status(status))


def _end_as_warden(number: int, frame: object) -> None:
    """Exit and kill everything below: the launcher is gone."""
    _end_below_us()
    os._exit(128 + signal.SIGKILL)


def _start(channel: _socket.socket, number: int, descriptors: list[int], told: list[str]) -> int:
    """Start the ordered program; `told` holds the current step, for error messages."""
    with open(descriptors[0], "rb") as file:
        order = marshal.load(file)
    _arrange(descriptors[1:], order)
    told[0] = "enter " + order["cwd"].decode(errors="replace")
    os.chdir(order["cwd"])
    told[0] = "find " + order["argv"][0].decode(errors="replace")
    path = _find(order["argv"][0], order["env"])
    told[0] = "limit and guard its system calls"
    for name, limit in order["limits"]:
        _limit(name, limit)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if order["filter"]:
        listener = _filter(order["filter"], order["watch"])
        if order["watch"]:
            _send(channel, b"L", number, 0, [listener])
            os.close(listener)
    told[0] = "run " + order["argv"][0].decode(errors="replace")
    ours = (signal.SIGPIPE, signal.SIGXFSZ)  # which Python ignores
    return os.posix_spawn(path, order["argv"], order["env"], setpgroup=0, setsigdef=ours)


def _receive(channel: _socket.socket) -> tuple[bytes, list[int]]:
    data, ancillary, _, _ = channel.recvmsg(64, _socket.CMSG_SPACE(4 * _MAX_FDS), _socket.MSG_CMSG_CLOEXEC)
    return data, [fd for _, _, raw in ancillary for fd in struct.unpack(f"={len(raw) // 4}i", raw)]


def _arrange(given: list[int], order: dict[str, Any]) -> None:
    """Move the descriptors to the program's numbers; it gets no others."""
    given = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _LOWEST) for fd in given]
    output = given.pop(0)
    errors = given.pop(0) if order["errors"] else output
    entry = given.pop(0) if order["input"] else os.open(os.devnull, os.O_RDONLY)
    os.dup2(entry, 0)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    if order["extra"]:
        os.dup2(given.pop(0), 3)


def _let_go(channel: _socket.socket) -> None:
    """Close the program's descriptors here, so that a reader sees when the program closes its output."""
    os.closerange(0, channel.fileno())
    os.closerange(channel.fileno() + 1, _ANY_NUMBER)


def _find(name: bytes, env: dict[bytes, bytes]) -> bytes:
    """Find a program in its own PATH."""
    if b"/" in name:
        return name
    for folder in env.get(b"PATH", os.defpath.encode()).split(b":"):
        path = os.path.join(folder or b".", name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    raise FileNotFoundError(errno.ENOENT, "")


def _limit(name: str, value: int) -> None:
    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _filter(program: bytes, watch: bool) -> int:  # noqa: FBT001 - as it came
    """Install a seccomp filter; return the descriptor for watched calls, or 0."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER) if watch else (0,):
        result = _syscall(_SECCOMP[os.uname().machine], _SET_FILTER, flags, header)
        if result >= 0:
            return result
    raise OSError(ctypes.get_errno(), "seccomp")


def _restrict(plan: dict[str, Any]) -> None:
    """Give up all file rights except those in the plan, permanently and for all child processes."""
    attributes = struct.pack("<QQQ", plan["handled"], 0, plan["scoped"])[: plan["size"]]
    ruleset = _landlock(_LANDLOCK_CREATE, attributes, len(attributes), 0)
    for path, rights in plan["rules"]:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        _landlock(_LANDLOCK_ADD, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
        os.close(descriptor)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _landlock(_LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _drop_capabilities() -> None:
    """Give up root's capabilities; with no_new_privs, no child process can regain them."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    if _libc.capset(header, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _landlock(call: int, *arguments: int | bytes) -> int:
    result = _syscall(call, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"landlock call {call}")
    return result


def _syscall(*arguments: int | bytes) -> int:
    """Make a raw system call; each number is passed in full width, because the kernel may read all of it."""
    return int(_libc.syscall(*(ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)))


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                found.update(map(int, (file.read() or b"").split()))
    except OSError:
        return found  # it ended meanwhile
    return found


def _below(pid: int) -> list[int]:
    """Return all descendants of a process, parents first."""
    found = [pid]
    for one in found:
        found.extend(_children(one) - set(found))
    return found[1:]


def _end_strangers(wardens: set[int]) -> None:
    """Kill our children that are not wardens: a signal from inside killed their warden."""
    deadline = time.monotonic() + _ENDING_S
    while (strangers := _children(os.getpid()) - wardens) and time.monotonic() < deadline:
        for stranger in strangers:
            for victim in (*_below(stranger), stranger):
                _signal(victim, signal.SIGKILL)
        for stranger in strangers:
            os.waitpid(stranger, os.WNOHANG)
        select.poll().poll(1)


def _end_below_us() -> None:
    """Kill all our descendants until there are none; give up on those that the kernel does not end."""
    deadline = time.monotonic() + _ENDING_S
    while time.monotonic() < deadline:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for victim in _below(os.getpid()):
            _signal(victim, signal.SIGKILL)
        select.poll().poll(1)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def _exit_status(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _send(
    channel: _socket.socket,
    kind: bytes,
    number: int,
    value: int,
    carried: list[int] | None = None,
    *,
    text: bytes = b"",
) -> None:
    rights = struct.pack(f"={len(carried)}i", *carried) if carried else b""
    ancillary = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)] if rights else []
    try:
        channel.sendmsg([HEAD.pack(kind, number, value) + text], ancillary)
    except (BrokenPipeError, ConnectionResetError):
        pass  # Bridle is gone; the end of the socket is handled where it is read


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")
