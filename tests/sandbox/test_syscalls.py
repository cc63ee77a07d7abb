"""The seccomp filter decides as specified: it runs in a small interpreter next to a plain reading."""

import platform

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.sandbox import syscalls
from bridle.sandbox.syscalls import (
    ALLOW,
    ANY_BIT,
    AT_LEAST,
    AUDIT_ARCH,
    EQUAL,
    LOAD,
    NUMBERS,
    REFUSE,
    RETURN,
    WATCH,
    X32_BIT,
    Case,
    Machine,
    assemble,
    pack,
)

LISTS = {
    "refused": syscalls.REFUSED,
    "all": (*syscalls.REFUSED, *syscalls.MADE, *syscalls.UNWATCHABLE, *syscalls.WATCHED, *syscalls.COUNTED),
    "no sockets": (*syscalls.NO_SOCKETS, *syscalls.REFUSED),
    "counted": syscalls.COUNTED,
}
ENOSYS = 38


def simulate(program: list[tuple[int, int, int, int]], arch: int, number: int, args: list[int]) -> int:
    """Run a filter as the kernel does."""
    words = {0: number, 4: arch}
    for at, value in enumerate(args):
        words[16 + 8 * at] = value & 0xFFFFFFFF
        words[20 + 8 * at] = value >> 32
    accumulator = position = 0
    for _ in range(len(program)):
        operation, if_true, if_false, operand = program[position]
        position += 1
        match operation:
            case _ if operation == LOAD:
                accumulator = words[operand]
            case _ if operation == RETURN:
                return operand
            case _ if operation == EQUAL:
                position += if_true if accumulator == operand else if_false
            case _ if operation == AT_LEAST:
                position += if_true if accumulator >= operand else if_false
            case _ if operation == ANY_BIT:
                position += if_true if accumulator & operand else if_false
    raise AssertionError("the filter does not end")


def expected(cases: tuple[Case, ...], machine: Machine, number: int, args: list[int]) -> int:
    """Read the cases one by one."""
    names = {number: name for name, number in NUMBERS[machine].items()}
    for case in cases:
        value = args[case.argument] & 0xFFFFFFFF
        holds = {
            "always": True,
            "any": bool(case.values and value & case.values[0]),
            "none": bool(case.values and not value & case.values[0]),
            "in": value in case.values,
            "not in": value not in case.values,
        }[case.test]
        if case.given is not None:
            holds = holds and bool(args[case.given[0]] & case.given[1])
        if names.get(number) == case.call and holds:
            return WATCH if case.reply == "watch" else REFUSE | case.errno
    return ALLOW


interesting = st.sampled_from(
    [0, 1, 2, 10, 16, 40, 0x40, 0x10000, 0x10000000, 0x5412, 0o4755, 0o102755, 0xFFFFFFFF]
)
arguments = st.lists(st.one_of(interesting, st.integers(0, 2**64 - 1)), min_size=6, max_size=6)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("name", LISTS)
@given(data=st.data(), args=arguments)
def test_the_filter_agrees_with_its_cases(machine: Machine, name: str, data: st.DataObject, args: list[int]):
    known = st.sampled_from(sorted(NUMBERS[machine].values()))
    number = data.draw(st.one_of(known, st.integers(0, X32_BIT - 1)))

    found = simulate(assemble(LISTS[name], machine), AUDIT_ARCH[machine], number, args)

    assert found == expected(LISTS[name], machine, number, args)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@given(number=st.integers(0, 2**32 - 1), arch=st.integers(0, 2**32 - 1))
def test_calls_of_another_interface_do_not_exist(machine: Machine, number: int, arch: int):
    program = assemble(LISTS["all"], machine)

    if arch != AUDIT_ARCH[machine]:
        assert simulate(program, arch, number, [0] * 6) == REFUSE | ENOSYS
    if machine == "x86_64":
        assert simulate(program, AUDIT_ARCH[machine], number | X32_BIT, [0] * 6) == REFUSE | ENOSYS


def test_opening_to_read_is_not_watched_and_opening_to_write_is():
    program = assemble(syscalls.WATCHED, "x86_64")
    arch = AUDIT_ARCH["x86_64"]

    reading, cloexec, writing, making = (
        simulate(program, arch, 257, [0, 0, flags, 0, 0, 0]) for flags in (0, 0o2000000, 1, 0o100)
    )

    assert (reading, cloexec, writing, making) == (ALLOW, ALLOW, WATCH, WATCH)


def test_a_filter_is_eight_bytes_an_instruction_and_short_enough_for_the_kernel():
    program = assemble(LISTS["all"], "x86_64")

    assert len(pack(program)) == 8 * len(program)
    assert len(program) < 4096


def test_the_numbers_of_this_machine_are_known():
    assert platform.machine() in NUMBERS
