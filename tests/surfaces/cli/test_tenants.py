"""`bridle tenant`, `bridle token` and `bridle audit` with a real PostgreSQL."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bridle.core.tenancy import parse_token
from tests.postgres import fresh_database
from tests.surfaces.command import Bridle, Done

Command = Callable[..., Done]


@pytest.fixture
def cluster(bridle: Bridle) -> Command:
    """Return the command with a separate database."""
    (bridle.home / "config.toml").write_text('[store]\nbackend = "postgres"\n[scale]\nnode = "here"\n')
    url = fresh_database()
    return lambda *args: bridle(*args, BRIDLE_DATABASE_URL=url)


def good(done: Done) -> str:
    assert done.code == 0, done.err
    return done.out


def test_a_tenant_gets_a_token_and_all_of_it_is_in_the_audit(cluster: Command):
    limits = ("--tokens-per-month", "5000", "--cost-per-day", "2.5", "--deny", "web_fetch", "--yolo", "on")
    good(cluster("tenant", "add", "acme", *limits, "--folder", "/srv/acme"))
    made = json.loads(good(cluster("token", "create", "--tenant", "acme", "--user", "ann", "--json")))
    assert parse_token(made["token"]) is not None
    good(cluster("tenant", "set", "acme", "--cost-per-day", "none", "--clear", "folder", "--yolo", "off"))

    shown = json.loads(good(cluster("tenant", "show", "acme", "--json")))
    shown["tenant"].pop("created_at")
    assert shown == {
        "tenant": {
            "name": "acme",
            "limits": {"day": {}, "month": {"tokens": 5000}, "run": {}},
            "deny": ["web_fetch"],
        },
        "use": [],
    }
    [token] = json.loads(good(cluster("token", "list", "--tenant", "acme", "--json")))
    assert (token["id"], token["scopes"], token["revoked_at"]) == (
        made["id"],
        ["read", "run", "decide"],
        None,
    )
    good(cluster("token", "revoke", made["token"]))
    assert " revoked" in good(cluster("token", "list"))
    good(cluster("tenant", "remove", "acme"))
    assert cluster("tenant", "show", "acme").code == 64

    audit = json.loads(good(cluster("audit", "--json")))
    assert [(one["action"], one["target"], one["outcome"]) for one in audit] == [
        ("tenant add", "acme", "done"),
        ("token create", "acme/ann", "done"),
        ("tenant set", "acme", "done"),
        ("token revoke", made["id"], "done"),
        ("tenant remove", "acme", "done"),
    ]
    assert made["token"].rpartition("_")[2] not in str(audit)
    assert good(cluster("audit", "--tenant", "acme", "--json")) == "[]\n"
    assert "tenant remove" in good(cluster("audit", "--tenant", "_", "--since", "1h"))


def test_what_makes_no_sense_is_said(cluster: Command):
    for args, words in (
        (("tenant", "add", "Acme"), 'error: "Acme" cannot name a tenant'),
        (("tenant", "add", "audit"), 'error: a tenant cannot be called "audit"'),
        (("tenant", "add", "acme", "--tokens-per-day", "many"), '--tokens-per-day: "many" is not an amount'),
        (("tenant", "add", "acme", "--cost-per-day", "-1"), "--cost-per-day"),
        (("tenant", "add", "acme", "--deny", "bash("), 'malformed rule "bash("'),
        (("tenant", "set", "nobody"), 'no tenant "nobody"'),
        (("token", "create", "--user", "a b"), '"a b" cannot name a user'),
        (("token", "create", "--user", "ann", "--scope", "all"), '--scope: "all" is not a scope'),
        (("token", "create", "--user", "ann", "--tenant", "nobody"), 'no tenant "nobody"'),
        (("token", "revoke", "nope"), 'no token "nope"'),
        (("audit", "--since", "yesterday"), "--since"),
    ):
        done = cluster(*args)
        assert words in done.err, args
        assert done.code in (1, 64)
    assert "[]" in good(cluster("tenant", "list", "--json"))


def test_without_postgresql_there_are_no_tenants(bridle: Bridle, tmp_path: Path):
    assert bridle("tenant", "list") == Done(
        1,
        "",
        "error: tenants need the PostgreSQL store, but store.backend is sqlite\n"
        "hint: bridle config set store.backend postgres, and store.url\n",
    )
    (bridle.home / "config.toml").write_text('[store]\nbackend = "postgres"\n')
    assert "but no address is set" in bridle("token", "list").err
    away = bridle("token", "list", BRIDLE_DATABASE_URL=f"postgresql://u:secret@/d?host={tmp_path}")
    assert away.code == 1
    assert "connection refused" in away.err
    assert "secret" not in away.err
