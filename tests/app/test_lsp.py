import os
from pathlib import Path

import pytest

from bridle.app import open_sandbox
from bridle.app.lsp import folder_languages, language_faults, language_servers, open_languages
from bridle.app.tools import command_environment
from bridle.config.settings import Settings, load_settings
from bridle.config.trust_record import fingerprint, set_trust
from bridle.core.server_views import ServerView
from bridle.lsp.catalogue import KNOWN
from bridle.lsp.settings import FolderLanguages, LanguageServer


@pytest.fixture
def project(home: Path) -> Path:
    path = home.parent / "project"
    (path / ".git").mkdir(parents=True)
    return path


def settings_of(env: dict[str, str], project: Path, text: str = "") -> Settings:
    (Path(env["BRIDLE_HOME"]) / "config.toml").write_text(text)
    return load_settings(env, project)


def test_a_folder_has_the_known_servers(env: dict[str, str], project: Path):
    settings = settings_of(env, project, "[lsp]\nwait = 1\nidle = 60\n")

    assert folder_languages(settings, env) == FolderLanguages(
        root=str(project),
        servers=KNOWN,
        environ=command_environment(settings, env),
        confined=True,
        trusted=False,
        wait_s=1.0,
        idle_s=60.0,
    )


def test_trust_and_walls_are_told(env: dict[str, str], project: Path):
    settings = settings_of(env, project)
    set_trust(settings.home, str(project), fingerprint(project))
    confined = [
        folder_languages(settings_of(env, project, text), env).confined
        for text in ("", "lsp.sandbox = false\n", 'sandbox.mode = "off"\n')
    ]

    assert folder_languages(settings, env).trusted
    assert confined == [True, False, False]


def test_a_trusted_project_does_not_take_the_sandbox_away(env: dict[str, str], project: Path):
    """Its language servers would run code that changed after the user trusted it."""
    (project / ".bridle").mkdir(exist_ok=True)
    confined = []
    for text in ("lsp.sandbox = false\n", 'sandbox.mode = "off"\n'):
        (project / ".bridle" / "config.toml").write_text(text)
        home = settings_of(env, project).home
        set_trust(home, str(project), fingerprint(project))
        confined.append(folder_languages(settings_of(env, project), env).confined)

    assert confined == [True, True]


def test_settings_change_known_servers_and_add_others(env: dict[str, str], project: Path):
    settings = settings_of(
        env,
        project,
        '[lsp.servers.basedpyright]\nstart_timeout = 5\nenv = { A = "b" }\ninit_options = { x = 1 }\n'
        '[lsp.servers.basedpyright.settings.basedpyright.analysis]\ntypeCheckingMode = "strict"\n'
        "[lsp.servers.ruff]\nenabled = false\n"
        '[lsp.servers.nim]\ncommand = ["nim", "-x"]\nextensions = [".nim"]\nlanguage = "nim"\n'
        'root_markers = ["nim.cfg"]\n'
        "[lsp.servers.half]\ncommand = ['x']\n",
    )

    servers = {server.name: server for server in language_servers(settings)}

    known = {server.name: server for server in KNOWN}
    usual = known["basedpyright"]
    analysis = usual.settings["basedpyright"]["analysis"]
    assert list(servers) == ["nim", *(name for name in known if name != "ruff")]
    assert servers["nim"] == LanguageServer(
        "nim", ("nim", "-x"), (".nim",), language="nim", root_markers=("nim.cfg",)
    )
    assert servers["basedpyright"] == LanguageServer(
        "basedpyright",
        usual.command,
        usual.extensions,
        root_markers=usual.root_markers,
        env={"A": "b"},
        init_options={"x": 1},
        settings={"basedpyright": {"analysis": {**analysis, "typeCheckingMode": "strict"}}},
        start_timeout_s=5.0,
        install=usual.install,
        family=usual.family,
    )
    assert {name: servers[name] for name in known if name in servers and name != "basedpyright"} == {
        name: server for name, server in known.items() if name not in ("basedpyright", "ruff")
    }
    assert language_faults(settings) == {
        "half": "Bridle does not know it, so it needs a command and extensions"
    }
    assert usual.settings["basedpyright"]["analysis"]["typeCheckingMode"] == "standard"


def test_who_wants_none_has_none(env: dict[str, str], project: Path):
    off = settings_of(env, project, "lsp.enabled = false\n")

    assert open_languages(off, env, open_sandbox(off)) is None
    assert folder_languages(off, env).servers == ()


async def test_a_project_that_wants_none_does_not_decide_for_others(env: dict[str, str], project: Path):
    (project / ".bridle").mkdir()
    (project / ".bridle" / "config.toml").write_text("lsp.enabled = false\n")
    other = project.parent / "other"
    (other / ".git").mkdir(parents=True)
    for folder in (project, other):
        (folder / "a.py").write_text("x = 1\n")
    program = project.parent / "bin" / "ruff"
    program.parent.mkdir()
    program.touch(mode=0o755)
    env["PATH"] = f"{program.parent}:{env['PATH']}"
    settings = settings_of(env, project)
    languages = open_languages(settings, env, open_sandbox(settings))
    assert languages is not None
    try:
        here, there = await languages.views(str(project)), await languages.views(str(other))
    finally:
        await languages.aclose()

    assert here == ()
    assert ServerView("lsp", "ruff", "idle", str(program), str(other)) in there


def test_what_rules_deny_is_hidden_from_servers_wherever_in_the_project_we_are(
    env: dict[str, str], project: Path
):
    text = 'rules.deny = ["read_file(secrets/**)", "read_file(~/.keys)", "bash(rm:*)", "web_fetch"]\n'
    (project / "deep").mkdir()
    here, deeper = (
        folder_languages(settings_of(env, folder, text), env).denied for folder in (project, project / "deep")
    )

    assert [str(rule) for rule in here] == [
        f"read_file({project}/secrets/**)",
        "read_file(secrets/**)",
        f"read_file({env['HOME']}/.keys)",
    ]
    assert deeper == here


def test_a_repository_around_the_home_is_not_shown_before_it_is_trusted(env: dict[str, str], project: Path):
    above = Path(os.path.realpath(env["HOME"])).parent
    here = above / "elsewhere"
    here.mkdir()
    (above / ".git").mkdir()

    settings = settings_of(env, here)
    before = folder_languages(settings, env).root
    set_trust(settings.home, str(above), fingerprint(above))

    assert settings.root == above
    assert (before, folder_languages(settings, env).root) == (str(here), str(above))
