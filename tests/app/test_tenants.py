"""Hidden from the programs of agents: other tenants' files, and the database."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import bridle.sandbox
from bridle.app.cluster import why_not_isolated
from bridle.app.tools import command_environment, open_sandbox
from bridle.config.settings import Settings, load_settings


def settings_with(home: Path, text: str) -> Settings:
    (home / "config.toml").write_text(text)
    return load_settings({"BRIDLE_HOME": str(home)}, home)


def test_the_folders_of_tenants_are_hidden_in_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made: list[tuple[str, ...]] = []
    monkeypatch.setattr(bridle.sandbox, "LocalSandbox", lambda hidden, **more: made.append(tuple(hidden)))

    open_sandbox(settings_with(tmp_path, '[scale]\ntenant_folders = "/srv/tenants"\n'))
    open_sandbox(settings_with(tmp_path, ""))

    assert made == [(str(tmp_path), "/srv/tenants"), (str(tmp_path),)]


async def test_a_worker_knows_when_nothing_holds_programs_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    off = settings_with(tmp_path, '[sandbox]\nmode = "off"\n')
    on = settings_with(tmp_path, "")
    found = {"kind": "none", "why": "no bwrap here"}
    fake = SimpleNamespace(status=SimpleNamespace(**found))
    monkeypatch.setattr(bridle.sandbox, "LocalSandbox", lambda **more: fake)

    assert await why_not_isolated(off) == "sandbox.mode is off"
    assert await why_not_isolated(on) == "none is available: no bwrap here"
    fake.status.kind = "landlock"
    assert await why_not_isolated(on) == ""


def test_programs_do_not_see_where_the_database_is(tmp_path: Path):
    """Not even an address without a password: a network may be all that protects it."""
    settings = settings_with(tmp_path, '[store]\nurl_env = "WHERE"\n')

    assert "WHERE" not in command_environment(settings, {"WHERE": "postgresql://bridle@db/bridle"})
