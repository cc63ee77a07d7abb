"""Runs are recorded for each kind of machine, without naming the machine."""

import getpass
import platform
from pathlib import Path

from report.compare import Change
from report.kept import (
    LATEST,
    Machine,
    Measured,
    Results,
    load_results,
    newest,
    record,
    recorded,
    save_results,
    this_machine,
)
from rows import Curve, Row, cannot, figure, ours

MACHINE = Machine("A CPU (R) of 3 GHz", 2, 4.0, "Linux 6.1", "3.11.7")
ROW = Row("a.b", "a thing", "ms", ours([1.0, 2.0]), (figure("bare", [1.0]), cannot("lame", "no")), 2.0)
CURVE = Curve("c", "a turn", "messages", "ms", ((10.0, 1.0), (100.0, 2.0)), 0.5)


def measured(at: str, *lines: Row | Curve) -> Measured:
    changed = [Change("a.b", "a thing", 1.0, 2.0, worse=True)]
    return Measured(at, "0.1", 3.0, (0.1, 0.2), "It measures.", list(lines), changes=changed)


def test_a_run_comes_back_as_it_was_kept(tmp_path: Path):
    results = Results(MACHINE, {"one": measured("2026-01-02 03:04", ROW, CURVE)})

    save_results(tmp_path / "sub" / "x.json", results)

    assert load_results(tmp_path / "sub" / "x.json") == results
    assert results.lines == [ROW, CURVE]


def test_there_may_be_no_run(tmp_path: Path):
    assert (load_results(tmp_path / "x.json"), recorded(MACHINE, tmp_path), newest(tmp_path)) == (None,) * 3


def test_recording_some_benches_keeps_the_others(tmp_path: Path):
    old, new = measured("2026-01-01 00:00", ROW), measured("2026-01-02 00:00", CURVE)
    path = tmp_path / f"{MACHINE.kind}.json"
    save_results(path, Results(MACHINE, {"turns": old, "a_bench_that_is_gone": old, "store": old}))

    record(Results(MACHINE, {"store": new, "startup": new}), tmp_path)

    found = recorded(MACHINE, tmp_path)
    assert found == Results(MACHINE, {"startup": new, "turns": old, "store": new})
    assert list(found.modules) == ["startup", "turns", "store"]
    assert [path.name for path in tmp_path.iterdir()] == ["a-cpu-r-of-3-ghz-2-cores.json"]


def test_the_newest_recorded_run_is_that_of_any_machine_but_not_the_latest_trial(tmp_path: Path):
    other = Machine("Another", 4, 4.0, "Linux 6.1", "3.11.7")
    record(Results(MACHINE, {"turns": measured("2026-01-03 00:00", ROW)}), tmp_path)
    record(Results(other, {"turns": measured("2026-01-02 00:00", ROW)}), tmp_path)
    save_results(tmp_path / LATEST, Results(other, {"one": measured("2026-01-09 00:00", ROW)}))

    found = newest(tmp_path)

    assert found is not None
    assert found.machine == MACHINE


def test_a_machine_has_no_name_and_no_owner():
    machine = this_machine()

    text = repr(machine)
    assert machine.cores >= 1
    assert machine.system == f"Linux {platform.release().partition('-')[0]}"
    assert platform.node() not in text
    assert f"/{getpass.getuser()}" not in text
