"""Existing tests attack every promise of SECURITY.md, and the report lists them."""

from scripts.assurance.attack import REPORT, Tried, counts, page, read_results, section, summary
from scripts.assurance.promises import PAGE, attacks_of, promises
from tests.attacks.suites import SUITES, places, suites_of

PROMISED = promises(PAGE.read_text())


def test_every_promise_is_attacked_and_every_attack_is_on_a_promise():
    assert sorted(one.name for one in PROMISED) == sorted(SUITES)
    assert all(attacks_of(name) for name in SUITES), "each names tests, and all of them exist"


def test_a_test_knows_which_promise_it_attacks():
    assert suites_of("tests/attacks/test_ssrf.py::test_anything[x]") == ["web-tools"]
    [one] = [place for place in places() if place.endswith("::test_a_key_is_never_in_an_error")]
    assert suites_of(f"{one}[a-b]") == ["keys"]
    assert suites_of("tests/providers/test_http.py::test_nobody_listens") == []
    assert suites_of("tests/core/test_loop.py::test_x") == []


def test_the_page_of_security_is_short_enough_to_be_read():
    assert len(PAGE.read_text().splitlines()) < 140


def test_the_report_says_what_is_tried_now():
    """The numbers are those of the last run; promises and sentences are compared."""
    written = REPORT.read_text()

    for one in PROMISED:
        assert section(one) in written, (
            f"{one.name}: make attack, or python -m scripts.assurance.attack --page"
        )


RESULTS = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" timestamp="2026-11-16T07:00:00" time="12.6">
<testcase classname="tests.system.test_tls" name="test_old_versions_are_refused[a]"/>
<testcase classname="tests.system.test_tls" name="test_old_versions_are_refused[b]"><failure/></testcase>
<testcase classname="tests.system.test_tls" name="test_the_clock_decides"><skipped/></testcase>
<testcase classname="tests.system.test_other" name="test_other"/>
</testsuite></testsuites>"""


def test_what_a_run_has_shown_is_counted():
    tried = read_results(RESULTS)
    old = "tests/system/test_tls.py::test_old_versions_are_refused"

    assert tried == Tried("2026-11-16", 13, {old: 1, "tests/system/test_other.py::test_other": 1}, {old: 1})
    assert counts("tls", tried) == (2, 1)
    assert summary(["tls"], tried) == [
        "tls                1 of     2 held  <-- NOT ALL",
        f"did not hold: {old} (1)",
    ]


def test_the_report_has_a_line_and_a_part_for_each_promise():
    [tls] = [one for one in PROMISED if one.name == "tls"]
    text = page([tls], read_results(RESULTS))

    assert "Last run on 2026-11-16: 3 cases, 2 held, in 13 s." in text
    assert "| [tls](#tls) | 2 | 1 |" in text
    assert "- `tests/system/test_tls.py`: a client that trusts the authority is served; old versions" in text
