"""The system calls that the sandbox handles: their numbers, and what happens to each.

The main lists are these. `REFUSED` are calls that a confined program must not make: they access the
kernel or other processes, bypass the other protections, or leave a program with its owner's rights.
`WATCHED` are calls that change what lies at a path: they wait until it was saved. `MADE` are calls that
Bridle makes on behalf of the program.
"""

import errno
import os
import struct
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

Machine = Literal["x86_64", "aarch64"]
Reply = Literal["refuse", "watch"]
Test = Literal["always", "any", "none", "in", "not in"]

_X86_64 = """
open=2 creat=85 openat=257 openat2=437 truncate=76 unlink=87 unlinkat=263 rmdir=84 rename=82 renameat=264
renameat2=316 link=86 linkat=265 symlink=88 symlinkat=266 mkdir=83 mkdirat=258 mknod=133 mknodat=259
chmod=90 fchmod=91 fchmodat=268 fchmodat2=452 bind=49 connect=42 fork=57 vfork=58 clone=56 clone3=435
socket=41 socketpair=53 ioctl=16 personality=135 mount=165 umount2=166 pivot_root=155 chroot=161
unshare=272 setns=308
open_tree=428 move_mount=429 fsopen=430 fsconfig=431 fsmount=432 fspick=433 mount_setattr=442 ptrace=101
process_vm_readv=310 process_vm_writev=311 process_madvise=440 pidfd_getfd=438 kcmp=312 kexec_load=246
kexec_file_load=320 init_module=175 finit_module=313 delete_module=176 bpf=321 perf_event_open=298
userfaultfd=323 io_uring_setup=425 io_uring_enter=426 io_uring_register=427 keyctl=250 add_key=248
request_key=249 open_by_handle_at=304 name_to_handle_at=303 swapon=167 swapoff=168 reboot=169
settimeofday=164 clock_settime=227 clock_adjtime=305 adjtimex=159 quotactl=179 quotactl_fd=443
nfsservctl=180 fanotify_init=300 lookup_dcookie=212 iopl=172 ioperm=173 acct=163 sethostname=170
setdomainname=171 vhangup=153 uselib=134 chown=92 fchown=93 lchown=94 fchownat=260 utime=132 utimes=235
utimensat=280 futimesat=261 setxattr=188 lsetxattr=189 fsetxattr=190 setxattrat=463 removexattr=197
lremovexattr=198 fremovexattr=199 removexattrat=466 file_setattr=469
"""
_AARCH64 = """
openat=56 openat2=437 truncate=45 unlinkat=35 renameat=38 renameat2=276 linkat=37 symlinkat=36 mkdirat=34
mknodat=33 fchmod=52 fchmodat=53 fchmodat2=452 bind=200 connect=203 clone=220 clone3=435 socket=198
socketpair=199 ioctl=29 personality=92 mount=40 umount2=39 pivot_root=41 chroot=51 unshare=97 setns=268
open_tree=428
move_mount=429 fsopen=430 fsconfig=431 fsmount=432 fspick=433 mount_setattr=442 ptrace=117
process_vm_readv=270 process_vm_writev=271 process_madvise=440 pidfd_getfd=438 kcmp=272 kexec_load=104
kexec_file_load=294 init_module=105 finit_module=273 delete_module=106 bpf=280 perf_event_open=241
userfaultfd=282 io_uring_setup=425 io_uring_enter=426 io_uring_register=427 keyctl=219 add_key=217
request_key=218 open_by_handle_at=265 name_to_handle_at=264 swapon=224 swapoff=225 reboot=142
settimeofday=170 clock_settime=112 clock_adjtime=266 adjtimex=171 quotactl=60 quotactl_fd=443
nfsservctl=42 fanotify_init=262 lookup_dcookie=18 acct=89 sethostname=161 setdomainname=162 vhangup=58
fchown=55 fchownat=54 utimensat=88 setxattr=5 lsetxattr=6 fsetxattr=7 setxattrat=463 removexattr=14
lremovexattr=15 fremovexattr=16 removexattrat=466 file_setattr=469
"""


def _table(text: str) -> dict[str, int]:
    return {name: int(number) for name, number in (item.split("=") for item in text.split())}


NUMBERS: dict[Machine, dict[str, int]] = {"x86_64": _table(_X86_64), "aarch64": _table(_AARCH64)}
"""Each machine has only the calls that exist there."""

AUDIT_ARCH: dict[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000  # marks the calls of the x32 interface, which have other numbers


class Case(Struct, frozen=True):
    """What happens to a call whose argument passes a test; the first case that matches decides."""

    call: str
    reply: Reply
    errno: int = 0
    """The error number that a refused call returns."""
    argument: int = 0
    """Which argument is tested; only its lower 32 bits count, as in the kernel for these calls."""
    test: Test = "always"
    values: tuple[int, ...] = ()
    """A bit mask for `any` and `none`, otherwise the values."""
    given: tuple[int, int] | None = None
    """Another argument and a mask: the case applies only if the argument has one of its bits."""


CLONE_THREAD = 0x00010000
_CLONE_NEW = 0x02000000 | 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink: a network namespace does not confine the others
_TERMINAL = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX type into a terminal
_QUERY_PERSONALITY = (0, 0xFFFFFFFF)

_SET_USER_ID, _SET_GROUP_ID = 0o4000, 0o2000
_MODES = (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2))
_MAKING = (  # the calls that create a file, the position of its mode, and the flags with which they do
    ("open", 2, (1, os.O_CREAT | 0o20000000)),
    ("openat", 3, (2, os.O_CREAT | 0o20000000)),
    ("creat", 1, None),
    ("mknod", 1, None),
    ("mknodat", 2, None),
)
_UNIX_FAMILY = (0, 1)  # of the families that are not refused, only this one is odd
_DATAGRAM = 2  # a bit that SOCK_DGRAM and SOCK_RAW have, SOCK_STREAM and SOCK_SEQPACKET have not

_NEVER = """
mount umount2 pivot_root chroot unshare setns open_tree move_mount fsopen fsconfig fsmount fspick
mount_setattr ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp kexec_load
kexec_file_load init_module finit_module delete_module bpf perf_event_open userfaultfd keyctl add_key
request_key name_to_handle_at swapon swapoff reboot settimeofday clock_settime clock_adjtime adjtimex
quotactl quotactl_fd nfsservctl fanotify_init lookup_dcookie iopl ioperm acct sethostname setdomainname
vhangup uselib
""".split()

REFUSED = (
    *(Case(call, "refuse", errno.EPERM) for call in _NEVER),
    Case("clone", "refuse", errno.EPERM, 0, "any", (_CLONE_NEW,)),
    Case("socket", "refuse", errno.EAFNOSUPPORT, 0, "not in", _FAMILIES),
    Case("ioctl", "refuse", errno.EPERM, 1, "in", _TERMINAL),
    Case("personality", "refuse", errno.EPERM, 0, "not in", _QUERY_PERSONALITY),
    # Its flags lie in memory, where a filter cannot look; every libc then falls back to `clone`.
    Case("clone3", "refuse", errno.ENOSYS),
    Case("openat2", "refuse", errno.ENOSYS),
    # Such a program would later run with its owner's rights.
    *(Case(call, "refuse", errno.EPERM, at, "any", (_SET_USER_ID,)) for call, at in _MODES),
    *(
        Case(call, "refuse", errno.EPERM, at, "any", (_SET_USER_ID | _SET_GROUP_ID,), given)
        for call, at, given in _MAKING
    ),
    # Each datagram may go to another socket, without a call that could be checked.
    Case("socket", "refuse", errno.EACCES, 1, "any", (_DATAGRAM,), _UNIX_FAMILY),
    Case("socketpair", "refuse", errno.EACCES, 1, "any", (_DATAGRAM,)),
)

UNWATCHABLE = (
    # These open or change files without one of the watched calls.
    *(Case(f"io_uring_{part}", "refuse", errno.ENOSYS) for part in ("setup", "enter", "register")),
    Case("open_by_handle_at", "refuse", errno.EPERM),
)

MADE = (
    Case("connect", "watch"),
    *(Case(call, "watch", 0, at, "any", (_SET_GROUP_ID,)) for call, at in _MODES),
)

NO_SOCKETS = (Case("socket", "refuse", errno.EACCES),)
# For sandboxes that do not hide the system's sockets: its services would do anything for a program.
ONLY_INTERNET = (Case("socket", "refuse", errno.EACCES, 0, "not in", (2, 10)),)

# Landlock does not restrict what a file's owner can do to its mode, owner, times and attributes.
_MODES_AND_TIMES = """
chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat
""".split()
_ATTRIBUTES = """
setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr
""".split()
_SET_FLAGS = (0x40086602, 0x40046602, 0x40087602, 0x40047602, 0x401C5820)  # FS_IOC_SETFLAGS and the like
NO_METADATA = (
    *(Case(call, "refuse", errno.EROFS) for call in (*_MODES_AND_TIMES, *_ATTRIBUTES)),
    Case("ioctl", "refuse", errno.EROFS, 1, "in", _SET_FLAGS),
)
METADATA = (
    *(Case(call, "watch") for call in _MODES_AND_TIMES),
    # Programs that copy files work without these, because some file systems lack them.
    *(Case(call, "refuse", errno.EOPNOTSUPP) for call in _ATTRIBUTES),
    Case("ioctl", "refuse", errno.EOPNOTSUPP, 1, "in", _SET_FLAGS),
)

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

WATCHED = (
    Case("open", "watch", 0, 1, "any", (_WRITING,)),
    Case("openat", "watch", 0, 2, "any", (_WRITING,)),
    *(
        Case(call, "watch")
        for call in (
            "creat truncate unlink unlinkat rmdir rename renameat renameat2 link linkat symlink"
            " symlinkat mkdir mkdirat mknod mknodat chmod fchmod fchmodat fchmodat2 bind"
        ).split()
    ),
)

COUNTED = (
    Case("fork", "watch"),
    Case("vfork", "watch"),
    Case("clone", "watch", 0, 0, "none", (CLONE_THREAD,)),
    Case("clone3", "refuse", errno.ENOSYS),
)


# ---------------------------------------------------------------------------- seccomp filter
# Compiles cases into a seccomp filter: a small program that the kernel runs before every system call.
#
# ```
# arch is not ours, or an x32 call   -> ENOSYS
# number of a listed call            -> its cases in order, each: load argument, test, return
# anything else                      -> allow
# ```


LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, WATCH, REFUSE = 0x7FFF0000, 0x7FC00000, 0x00050000
_ENOSYS = 38
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16

Instruction = tuple[int, int, int, int]
"""The operation, the jump distances if true and if false, and the operand."""


def assemble(cases: Sequence[Case], machine: Machine) -> list[Instruction]:
    """Return the filter for these cases, without system calls that the machine does not have."""
    numbers = NUMBERS[machine]
    by_number: dict[int, list[Case]] = {}
    for case in cases:
        if case.call in numbers:
            by_number.setdefault(numbers[case.call], []).append(case)
    foreign: Instruction = (RETURN, 0, 0, REFUSE | _ENOSYS)
    program: list[Instruction] = [
        (LOAD, 0, 0, _ARCH_AT),
        (EQUAL, 1, 0, AUDIT_ARCH[machine]),
        foreign,
        (LOAD, 0, 0, _NUMBER_AT),
    ]
    if machine == "x86_64":
        program += [(AT_LEAST, 0, 1, X32_BIT), foreign]
    for number, listed in sorted(by_number.items()):
        body = [step for case in listed for step in _case(case)]
        body.append((RETURN, 0, 0, ALLOW))
        program += [(EQUAL, 0, len(body), number), *body]
    return [*program, (RETURN, 0, 0, ALLOW)]


def pack(program: Sequence[Instruction]) -> bytes:
    """Return the filter in the kernel's binary format."""
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _case(case: Case) -> list[Instruction]:
    if case.given is None:
        return _test(case)
    argument, mask = case.given
    body = _test(case)
    return [(LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument), (ANY_BIT, 0, len(body), mask), *body]


def _test(case: Case) -> list[Instruction]:
    hit: Instruction = (RETURN, 0, 0, WATCH if case.reply == "watch" else REFUSE | case.errno)
    load: Instruction = (LOAD, 0, 0, _ARGUMENTS_AT + 8 * case.argument)
    match case.test:
        case "always":
            return [hit]
        case "any":
            return [load, (ANY_BIT, 0, 1, case.values[0]), hit]
        case "none":
            return [load, (ANY_BIT, 1, 0, case.values[0]), hit]
        case "in":
            return [load, *(step for value in case.values for step in ((EQUAL, 0, 1, value), hit))]
        case "not in":
            past = range(len(case.values), 0, -1)
            return [
                load,
                *((EQUAL, far, 0, value) for far, value in zip(past, case.values, strict=True)),
                hit,
            ]
