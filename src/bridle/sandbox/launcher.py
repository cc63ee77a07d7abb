"""The first process of a cell: starts the programs of a session, tells how they ended, lets none outlive it.

```
Bridle ──socket── launcher ─┬─ warden ── program ── …     a warden is the parent of last resort of all
        (pid 1 of the cell) └─ warden ── program ── …     that its program ever starts
```

It runs inside the walls it guards, in an interpreter of its own without anything of Bridle: the standard
library only. Its code and its orders come by descriptor, so that no path has to be readable.

| message | from | means |
|---|---|---|
| `N` | Bridle | make another warden |
| `R`, descriptors | Bridle, to a warden | run what the first descriptor describes |
| `T` / `K` number | Bridle | ask its program to end / end it |
| `H` | launcher | ready; carries the listening socket of the proxy and one that lists sockets, as wanted |
| `W` number | launcher | carries the socket on which a new warden waits |
| `L` number | warden | carries the descriptor of its watched calls |
| `S` number | warden | its program runs |
| `F` number, errno, text | warden | it could not be started |
| `E` number, status | warden, launcher | it has ended, and nothing of it is left |

The end of the socket, however it came about, ends everything.
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
_LOWEST = 10  # our own descriptors stay clear of the numbers a program is given
_ANY_NUMBER = 2**31 - 1
_MAX_FDS = 5
_ENDING_S = 3.0  # for a program that resists: longer than any honest clean-up, short for who waits
_PAUSE_MS = 2

_libc = ctypes.CDLL(None, use_errno=True)


def main(setup: dict[str, Any]) -> None:
    """Serve until the socket ends."""
    channel = _socket.socket(fileno=fcntl.fcntl(setup["channel"], fcntl.F_DUPFD_CLOEXEC, _LOWEST))
    os.closerange(3, channel.fileno())  # what we were started with is not for programs
    os.closerange(channel.fileno() + 1, _ANY_NUMBER)
    _leave_terminal()
    _prctl(_PR_SET_DUMPABLE, 0)  # nobody inside may look into our memory or take our descriptors
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if setup["landlock"]:
        _drop_capabilities()
        _restrict(setup["landlock"])
    carried = []
    if setup["listen"]:
        door = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        door.bind(("127.0.0.1", 0))
        door.listen(64)
        carried.append(door.fileno())
    if setup["diagnose"]:
        carried.append(_open_diagnosis())
    _send(channel, b"H", 0, 0, carried)
    for number in carried:
        os.close(number)
    Launcher(channel).serve()


def _open_diagnosis() -> int:
    """Return a socket that lists the sockets of this network; something else where the kernel has none."""
    try:
        return _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, _NETLINK_SOCK_DIAG).detach()
    except OSError:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


def _leave_terminal() -> None:
    """Let nobody here reach the user's terminal.

    A session of our own would do that too, but the scheduler gives each session a share of its own
    (autogroup): on a busy machine to start a program there took five times as long.
    """
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
        fcntl.ioctl(terminal, _TIOCNOTTY)
        os.close(terminal)
    except OSError:
        pass


class Launcher:
    """Holds the wardens: those of running programs, and those that wait for one."""

    def __init__(self, channel: _socket.socket) -> None:
        self._channel = channel
        self._last = 0
        self._wardens: dict[int, int] = {}
        self._watched: dict[int, int] = {}
        self._ending: dict[int, float] = {}
        self._poll = select.poll()

    def serve(self) -> None:
        """Take orders and report ends; returns when Bridle is gone and nothing runs any more."""
        self._poll.register(self._channel.fileno(), select.POLLIN)
        self._fork()
        open_ended = True
        while open_ended:
            for descriptor, _ in self._poll.poll(_PAUSE_MS if self._ending else None):
                if descriptor == self._channel.fileno():
                    open_ended = self._obey()
                else:
                    self._report(descriptor)
            for number in list(self._ending):
                self._press(number)
        _end_below_us()

    def _obey(self) -> bool:
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
        """Make a warden ahead of time: a fork is half of what it costs to start a program."""
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
        """Tell how a warden ended; one that ended well has told it by itself, which is quicker."""
        self._poll.unregister(descriptor)
        os.close(descriptor)
        number = self._watched.pop(descriptor)
        _, status = os.waitpid(self._wardens.pop(number), 0)
        self._ending.pop(number, None)
        _end_strangers(set(self._wardens.values()))
        _send(self._channel, b"E", number, _exit_status(status))

    def _press(self, number: int) -> None:
        """Kill everything below a warden; a new process may always slip in between, hence again and again."""
        warden = self._wardens[number]
        for pid in _below(warden):
            _signal(pid, signal.SIGKILL)
        _signal(warden, signal.SIGCONT)  # it may have been stopped from inside
        if time.monotonic() > self._ending[number]:
            if os.getpid() == 1:
                os._exit(1)  # the kernel ends all of the cell at once
            _signal(warden, signal.SIGKILL)


def _as_warden(channel: _socket.socket, orders: _socket.socket, launcher: int) -> None:
    """Start a program, wait for it and end what it leaves behind; exits with its status.

    The program inherits what the warden does to itself: descriptors, folder, limits, filter.
    """
    signal.signal(signal.SIGTERM, _end_as_warden)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != launcher:
        os._exit(128 + signal.SIGKILL)  # it died first: no signal will come
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
    """End with everything below: the launcher is gone."""
    _end_below_us()
    os._exit(128 + signal.SIGKILL)


def _start(channel: _socket.socket, number: int, descriptors: list[int], told: list[str]) -> int:
    """Start what is ordered; leaves in `told` what it was about to do."""
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
    """Put the descriptors where the program looks for them: nothing else reaches it."""
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
    """Keep nothing open that is the program's: whoever reads its output must see that it closed it."""
    os.closerange(0, channel.fileno())
    os.closerange(channel.fileno() + 1, _ANY_NUMBER)


def _find(name: bytes, env: dict[bytes, bytes]) -> bytes:
    """Look a program up in the PATH it is going to have."""
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
    """Install a seccomp filter; returns the descriptor of its watched calls, or 0."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER) if watch else (0,):
        result = _syscall(_SECCOMP[os.uname().machine], _SET_FILTER, flags, header)
        if result >= 0:
            return result
    raise OSError(ctypes.get_errno(), "seccomp")


def _restrict(plan: dict[str, Any]) -> None:
    """Give up every right to files but those in the plan, for ever and for all that is started."""
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
    """Give up what root may do; with no_new_privs nothing that is started gets it back."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    if _libc.capset(header, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _landlock(call: int, *arguments: int | bytes) -> int:
    result = _syscall(call, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"landlock call {call}")
    return result


def _syscall(*arguments: int | bytes) -> int:
    """Make a raw call; every number is passed in full width, as the kernel may read all of it."""
    return int(_libc.syscall(*(ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)))


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                found.update(map(int, (file.read() or b"").split()))
    except OSError:
        return found  # it ended while we looked
    return found


def _below(pid: int) -> list[int]:
    """Return all that descends from a process, parents first."""
    found = [pid]
    for one in found:
        found.extend(_children(one) - set(found))
    return found[1:]


def _end_strangers(wardens: set[int]) -> None:
    """Kill our children that are no wardens: they lost their own to a signal from inside."""
    deadline = time.monotonic() + _ENDING_S
    while (strangers := _children(os.getpid()) - wardens) and time.monotonic() < deadline:
        for stranger in strangers:
            for victim in (*_below(stranger), stranger):
                _signal(victim, signal.SIGKILL)
        for stranger in strangers:
            os.waitpid(stranger, os.WNOHANG)
        select.poll().poll(1)


def _end_below_us() -> None:
    """Kill whatever descends from us until nothing does; gives up on what the kernel does not end."""
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
