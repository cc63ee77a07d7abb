"""The pipes of a program."""

import errno
import os

import pytest

from bridle.system.pipes import Pipes


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_what_one_end_takes_the_other_gives():
    pipes = Pipes()
    for into, out in (
        (pipes.to_it, pipes.input),
        (pipes.output, pipes.from_it),
        (pipes.errors, pipes.printed),
    ):
        os.write(into, b"word")
        assert os.read(out, 10) == b"word"
    with pytest.raises(BlockingIOError):
        os.read(pipes.from_it, 1)
    pipes.close()


def test_nothing_is_left_open(monkeypatch: pytest.MonkeyPatch):
    before = open_descriptors()
    pipes = Pipes()
    pipes.close_theirs()
    for descriptor in pipes.ours:
        os.close(descriptor)
    assert open_descriptors() == before

    real, made = os.pipe, []

    def few() -> tuple[int, int]:
        if made:
            raise OSError(errno.EMFILE, "Too many open files")
        made.append(1)
        return real()

    monkeypatch.setattr(os, "pipe", few)
    with pytest.raises(OSError, match="Too many"):
        Pipes()
    assert open_descriptors() == before
