"""Whatever a program does to a tree, every earlier state can be restored, byte for byte."""

import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridle.core.ports import Blobs
from bridle.stores.blobs import MemoryBlobs
from tests.revisions.tree import Journal, Program, clear, tree_of

QUICK = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where replacing thousands of files does not wait for a disk."""

NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
CONTENTS = st.sampled_from([b"", b"one", b"two", b"three\n" * 20])
MODES = st.sampled_from([0o644, 0o600, 0o444, 0o755, 0o555, 0o500, 0o751])
TARGETS = st.sampled_from(["a", "b/c", "../a", "nowhere", "/", "/etc"])

OPERATIONS: st.SearchStrategy[tuple[Any, ...]] = st.one_of(
    st.tuples(st.just("write"), PATHS, CONTENTS),
    st.tuples(st.just("append"), PATHS, CONTENTS),
    st.tuples(st.just("unlink"), PATHS),
    st.tuples(st.just("remove"), PATHS),
    st.tuples(st.just("mkdir"), PATHS),
    st.tuples(st.just("mkdir"), PATHS),
    st.tuples(st.just("rmdir"), PATHS),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("symlink"), PATHS, TARGETS),
    st.tuples(st.just("link"), PATHS, PATHS),
    st.tuples(st.just("chmod"), PATHS, MODES),
)
BREAKS = st.sampled_from([("collect", True), ("collect", False), ("crash",)])
STORIES = st.lists(st.one_of(OPERATIONS, OPERATIONS, OPERATIONS, BREAKS), max_size=25)
TREES = st.lists(OPERATIONS, max_size=12)


def play(
    root: Path,
    pending: Path,
    blobs: Blobs,
    tree: list[tuple[Any, ...]],
    story: list[tuple[Any, ...]],
) -> Journal:
    """Make a tree without watching, then let a watched program change it."""
    stranger = Program(root, lambda path: None)
    for name, *args in tree:
        getattr(stranger, name)(*args)
    journal = Journal(root, pending, blobs)
    program = Program(root, journal.keep)
    for name, *args in story:
        if name == "collect":
            journal.collect(confirm=args[0])
        elif name == "crash":
            journal.crash()
        else:
            getattr(program, name)(*args)
    journal.collect()
    return journal


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(tree=TREES, story=STORIES, order=st.randoms(use_true_random=False))
def test_every_earlier_moment_comes_back(tree: list[Any], story: list[Any], order: Any):
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        root, pending = Path(folder).resolve() / "root", Path(folder) / "pending"
        root.mkdir()
        journal = play(root, pending, MemoryBlobs(), tree, story)
        points = list(journal.points)
        order.shuffle(points)
        try:
            for seq, wanted in points:
                before, here = tree_of(root), len(journal.changes)

                assert (journal.rewind(seq), tree_of(root)) == ((), wanted)

                assert (journal.rewind(here), tree_of(root)) == ((), before)
                assert (journal.rewind(seq), tree_of(root)) == ((), wanted)
        finally:
            clear(root)


@settings(max_examples=40)
@given(tree=TREES, story=STORIES)
def test_a_change_is_reported_once_and_each_begins_where_the_last_one_ended(
    tree: list[Any], story: list[Any]
):
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        root, pending = Path(folder).resolve() / "root", Path(folder) / "pending"
        root.mkdir()
        journal = play(root, pending, MemoryBlobs(), tree, story)
        try:
            last = dict(journal.keeper.look([change.path for change in journal.changes]))
            for change in reversed(journal.changes):
                assert (change.path, change.after) == (change.path, last[change.path])
                assert change.before != change.after
                last[change.path] = change.before
        finally:
            clear(root)
