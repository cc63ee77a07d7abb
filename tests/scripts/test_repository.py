"""Git contains no secrets and no traces of a machine, and the search for them works."""

import pytest

from scripts.assurance.repository import INVENTED, SHAPES, Finding, look, tracked_lines

# In pieces, so that this file holds none of them.
HOSTILE = {
    "a key of AWS": "AKIA" + "Q7" * 8,
    "a token of GitHub": "token = " + "ghp" + "_" + "a1B2" * 9,
    "a token of Slack": "xox" + "b-2134567890-abcdefgh",
    "a key of Google": "AIza" + "x" * 35,
    "a key of a model's vendor": "OPENAI_API_KEY=" + "sk-" + "proj-" + "Z9" * 12,
    "a token of Bridle": "brdl" + "_0123456789abcdef_" + "f" * 64,
    "a private key": "-----BEGIN" + " RSA PRIVATE KEY-----",
    "a password in a URL": "postgresql" + "://me:hunter2hunter2" + "@db.example.com/x",
    "a path of a private machine": "see " + "/root" + "/project/x",
    "a private package index": "index-url" + " = https://mirror.corp.example/simple",
}
HARMLESS = [
    "cat /proc/1/root/etc/passwd",
    "https://pypi.org/simple",
    "risk-" + "a" * 40,
    "postgresql://bridle:PASSWORD@db/bridle",
    "x" * 5_000 + " AKIA" + "Q7" * 8,
    min(INVENTED),
]


@pytest.mark.parametrize("kind", SHAPES)
def test_what_must_not_be_there_is_found(kind: str):
    line = HOSTILE[kind]

    [found] = look([("a.py:1", line)])
    assert (found.where, found.kind) == ("a.py:1", kind)
    assert len(found.shown) <= 13, "a report is no place for a secret"


@pytest.mark.parametrize("line", HARMLESS)
def test_what_only_looks_like_it_is_left_alone(line: str):
    assert list(look([("a.py:1", line)])) == []


def test_nothing_of_the_kind_is_in_the_tree():
    found: list[Finding] = list(look(tracked_lines()))

    assert found == []
