"""Compiles cases into a seccomp filter: a small program that the kernel runs before every system call.

```
arch is not ours, or an x32 call   -> ENOSYS
number of a listed call            -> its cases in order, each: load argument, test, return
anything else                      -> allow
```
"""

import struct
from collections.abc import Sequence

from bridle.sandbox.syscalls import AUDIT_ARCH, NUMBERS, X32_BIT, Case, Machine

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
