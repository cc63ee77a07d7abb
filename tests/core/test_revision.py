"""The earlier state of files, from the recorded changes."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.revision import FileChange, FileState, conflicts, last_states, net_changes, states_at

paths = st.sampled_from(["a", "b", "c/d"])
states = st.none() | st.builds(
    FileState,
    st.sampled_from(["file", "link", "folder"]),
    st.sampled_from([0o644, 0o755]),
    st.sampled_from("123"),
)


@st.composite
def timelines(draw: st.DrawFn) -> list[FileChange]:
    """Changes that follow from each other, as a disk makes them."""
    now: dict[str, FileState | None] = {}
    changes = []
    for _ in range(draw(st.integers(0, 12))):
        path, after = draw(paths), draw(states)
        changes.append(FileChange(path, now.get(path), after))
        now[path] = after
    return changes


def disk_after(changes: list[FileChange]) -> dict[str, FileState | None]:
    return {path: state for path, state in last_states(changes).items() if state is not None}


@given(timelines(), st.data())
def test_going_back_by_first_states_gives_the_disk_of_then(changes: list[FileChange], data: st.DataObject):
    cut = data.draw(st.integers(0, len(changes)))
    disk = disk_after(changes) | states_at(changes[cut:])

    assert {path: state for path, state in disk.items() if state is not None} == disk_after(changes[:cut])


@given(timelines())
def test_net_changes_take_the_first_disk_to_the_last(changes: list[FileChange]):
    net = net_changes(changes)

    assert disk_after(net) == disk_after(changes)
    assert [change.path for change in net] == sorted({change.path for change in net})
    assert all(change.before != change.after for change in net)


def test_a_conflict_is_a_path_that_is_not_as_it_was_left():
    was = FileState("file", 0o644, "1", 5)
    expected = {"same": was, "edited": was, "mode": was, "gone": was, "new": None, "absent": None}
    found = {
        "same": FileState("file", 0o644, "1", 5, kept=False),
        "edited": FileState("file", 0o644, "2", 5),
        "mode": FileState("file", 0o600, "1", 5),
        "gone": None,
        "new": was,
    }

    assert conflicts(expected, found) == ["edited", "gone", "mode", "new"]
