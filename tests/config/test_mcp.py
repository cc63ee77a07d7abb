import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.config.duration import Duration
from bridle.config.edit import show
from bridle.config.mcp import (
    FoundServer,
    entry_fault,
    find_server_programs,
    redact_server,
    redact_url,
    resolve,
    url_problem,
)
from bridle.config.server_keys import McpServerSettings, OAuthSettings
from bridle.config.settings import Settings, load_settings
from bridle.config.trust_record import fingerprint, set_trust
from bridle.core.errors import ConfigError


@pytest.fixture
def project(home: Path) -> Path:
    path = home.parent / "project"
    (path / ".bridle").mkdir(parents=True)
    return path


def load(home: Path, cwd: Path) -> Settings:
    return load_settings({"HOME": str(home.parent)}, cwd)


def write_json(file: Path, **servers: Any) -> None:
    file.write_text(json.dumps({"mcpServers": servers}))


def trust(home: Path, project: Path) -> None:
    set_trust(home, str(project), fingerprint(project))


def told(settings: Settings) -> list[tuple[str, str, str, bool]]:
    """Return the name, command or address, file and trust of each server."""
    return [
        (
            one.name,
            one.settings.command or one.settings.url,
            Path(one.place).name.partition(":")[0],
            one.trusted,
        )
        for one in settings.servers_found
    ]


# ---------------------------------------------------------------------------- layers


def test_every_key_of_a_server_is_read(home: Path):
    (home / "config.toml").write_text(
        '[mcp]\nwait = 1\nshare = 0.5\nidle = "1h"\n[mcp.servers.a]\nurl = "https://h"\n'
        'headers = { X = "y" }\ntransport = "sse"\nenabled = false\ntools = ["a*"]\nwithout_tools = ["b"]\n'
        'reads = ["c"]\nscope = "user"\nstart_timeout = 5\ntimeout = "1m"\nsampling = "deny"\n'
        'sandbox = true\n[mcp.servers.a.oauth]\nclient_id = "me"\nclient_secret_env = "S"\n'
        'scopes = ["r"]\ncallback_port = 80\n'
        '[mcp.servers.b]\ncommand = "x"\nargs = ["1"]\nenv = { A = "b" }\ncwd = "/srv"\n'
    )

    settings = load(home, home.parent)

    assert settings.servers_found == (
        FoundServer(
            "a",
            McpServerSettings(
                url="https://h",
                headers={"X": "y"},
                transport="sse",
                enabled=False,
                tools=("a*",),
                without_tools=("b",),
                reads=("c",),
                scope="user",
                start_timeout=Duration(5),
                timeout=Duration(60),
                sampling="deny",
                sandbox=True,
                oauth=OAuthSettings("me", "S", ("r",), 80),
            ),
            f"{home}/config.toml:5",
            "user",
            (str(home),),
        ),
        FoundServer(
            "b",
            McpServerSettings(command="x", args=("1",), env={"A": "b"}, cwd="/srv"),
            f"{home}/config.toml:23",
            "user",
            (str(home),),
        ),
    )


@pytest.mark.parametrize("name", ["a__b", "_a", "a_", "a b", "a.b", "a" * 49])
def test_a_name_that_makes_tools_ambiguous_is_refused(home: Path, name: str):
    (home / "config.toml").write_text(f'[mcp.servers."{name}"]\ncommand = "x"\n')

    with pytest.raises(
        ConfigError, match="must be a name of at most 48 letters, digits, - and single _ inside"
    ):
        load(home, home.parent)


def test_a_server_of_a_project_is_inert_until_it_is_trusted(home: Path, project: Path):
    (home / "config.toml").write_text(
        '[mcp.servers.mine]\ncommand = "m"\n[mcp.servers.both]\ncommand = "m"\n'
    )
    write_json(project / ".mcp.json", both={"command": "shared"}, plain={"url": "https://h"})
    before = load(home, project)
    trust(home, project)
    after = load(home, project)
    write_json(project / ".mcp.json", both={"command": "evil"})
    lapsed = load(home, project)

    mine = ("mine", "m", "config.toml", True)
    assert told(before) == [
        ("both", "m", "config.toml", True),
        mine,
        ("both", "shared", ".mcp.json", False),
        ("plain", "https://h", ".mcp.json", False),
    ]
    [note] = before.warnings
    assert "not trusted: ignored mcp.servers.both, mcp.servers.plain (hint:" in note
    why = "a project may not start or use its own servers"
    assert [one.why for one in before.trust_keys] == [f"{why}; it would change your own of that name", why]
    assert told(after) == [
        ("both", "shared", ".mcp.json", True),
        mine,
        ("plain", "https://h", ".mcp.json", True),
    ]
    assert (after.warnings, [one.key for one in after.trust_keys]) == (
        (),
        ["mcp.servers.both", "mcp.servers.plain"],
    )
    assert told(lapsed) == [("both", "m", "config.toml", True), mine, ("both", "evil", ".mcp.json", False)]
    assert [one.has_lapsed for one in lapsed.servers_found] == [False, False, True]
    assert sorted(before.mcp.servers) == sorted(lapsed.mcp.servers) == ["both", "mine"]


def test_the_files_of_a_project_win_in_order_and_whole(home: Path, project: Path):
    """What was said for one program, such as its secrets, does not go to another."""
    (home / "config.toml").write_text('[mcp.servers.a]\ncommand = "user"\nenv = { KEY = "mine" }\n')
    write_json(project / ".mcp.json", a={"command": "shared", "args": ["1"]}, b={"command": "shared"})
    write_json(project / ".bridle/mcp.json", b={"command": "ours", "cwd": "x"}, c={"command": "ours"})
    (project / ".bridle/config.toml").write_text('[mcp.servers.c]\nurl = "https://h"\n')
    trust(home, project)

    settings = load(home, project)

    assert told(settings) == [
        ("a", "shared", ".mcp.json", True),
        ("b", "ours", "mcp.json", True),
        ("c", "https://h", "config.toml", True),
    ]
    assert settings.mcp.servers == {
        "a": McpServerSettings(command="shared", args=("1",)),
        "b": McpServerSettings(command="ours", cwd="x"),
        "c": McpServerSettings(url="https://h"),
    }
    assert settings.source("mcp", "servers", "a", "env", "KEY")[0].layer == "default"


def test_an_entry_without_command_and_url_changes_the_one_below(home: Path, project: Path):
    (home / "config.toml").write_text('[mcp.servers.a]\ncommand = "user"\n')
    write_json(project / ".mcp.json", b={"command": "shared"})
    (project / ".bridle/config.toml").write_text(
        '[mcp.servers]\na.enabled = false\nb.reads = ["x"]\nnone.enabled = false\n'
    )
    before = load(home, project)
    trust(home, project)
    after = load(home, project)

    file = f"{project}/.mcp.json:1"
    off = FoundServer(
        "a",
        McpServerSettings(command="user", enabled=False),
        f"{home}/config.toml:1",
        "user",
        (str(home),),
    )
    theirs = FoundServer(
        "b",
        McpServerSettings(command="shared", reads=("x",)),
        file,
        "project",
        (str(project),),
        must_confine=True,
    )
    assert before.servers_found == (off, replace(theirs, trusted=False))
    assert after.servers_found == (off, theirs)


def test_a_project_may_switch_its_own_server_off_without_trust(home: Path, project: Path):
    write_json(project / ".mcp.json", b={"command": "shared"})
    (project / ".bridle/config.toml").write_text("mcp.servers.b.enabled = false\n")

    (found,) = load(home, project).servers_found

    assert (found.settings.enabled, found.trusted, found.fault) == (False, False, "")


def test_a_repository_needs_no_folder_of_ours(home: Path):
    repository = home.parent / "repository"
    (repository / ".git").mkdir(parents=True)
    (repository / "deep").mkdir()
    write_json(repository / ".mcp.json", a={"command": "x"})
    before = load(home, repository / "deep")
    trust(home, repository)
    after = load(home, repository / "deep")

    assert (before.folder, before.project) == (repository, None)
    assert (told(before), told(after)) == (
        [("a", "x", ".mcp.json", False)],
        [("a", "x", ".mcp.json", True)],
    )


def test_two_servers_on_one_line_are_two(home: Path, project: Path):
    write_json(project / ".mcp.json", bad={"command": 1}, good={"command": "x"})
    trust(home, project)

    bad, good = load(home, project).servers_found

    assert (bad.fault, good.fault) == ("mcpServers.bad.command must be a program, not 1", "")


def test_a_broken_server_of_a_project_does_not_leave_its_place_to_yours(home: Path, project: Path):
    (home / "config.toml").write_text('[mcp.servers.a]\ncommand = "mine"\n')
    write_json(project / ".mcp.json", a={"command": 1})
    trust(home, project)

    (found,) = load(home, project).servers_found

    assert (found.layer, found.fault) == ("project", "mcpServers.a.command must be a program, not 1")


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        (McpServerSettings(), "it needs a command or a url"),
        (McpServerSettings(command="x", url="https://h"), "it has both a command and a url; use one"),
        (
            McpServerSettings(url="https://h", transport="stdio"),
            "a url is reached by http or sse, not by stdio",
        ),
        (McpServerSettings(command="x", transport="sse"), "a command is reached by stdio, not by sse"),
        (McpServerSettings(command="x", transport="stdio"), ""),
        (McpServerSettings(url="https://h", transport="http"), ""),
    ],
)
def test_an_entry_makes_sense_or_says_why_not(settings: McpServerSettings, fault: str):
    assert entry_fault(settings) == fault


def test_programs_in_a_project_are_named():
    servers = {
        "a": {"command": "./x"},
        "b": {"command": "bin/y"},
        "c": {"command": "z"},
        "d": {"command": "/w"},
    }
    rest: dict[str, Any] = {"e": {"command": "~/v"}, "f": {"command": "${X}/u"}, "g": {"command": 1}, "h": 2}

    more: dict[str, Any] = {
        "i": {"command": "${RUN:-./run}"},
        "j": {
            "command": "node",
            "args": ["--inspect", "dist/main.js", "data.db", "/opt/x.js", 3],
            "cwd": "web",
        },
        "k": {"command": "python", "args": ["${SCRIPT:-serve.py}"]},
    }

    assert list(find_server_programs({"mcp": {"servers": {**servers, **rest, **more}}})) == [
        *("./x", "bin/y", "./run", "dist/main.js", "web/dist/main.js", "serve.py")
    ]
    assert list(find_server_programs({"mcp": {"servers": 1}})) == list(find_server_programs({"mcp": 2})) == []


# ---------------------------------------------------------------------------- variables


AUTHORIZATION = 'Authorization = "Bearer ${TOKEN}"'


def found(**settings: Any) -> FoundServer:
    return FoundServer("s", McpServerSettings(**settings), "f:1", "user", ("/home/me/.bridle",))


def test_variables_are_put_in_everywhere():
    server = found(
        command="${BIN}/x",
        args=("${A}", "-${A}${B:-two}-", "${C:-}", "$A ${1} ${} ${A.b}"),
        env={"K": "pre-${A}", "L": "${EMPTY:-default}", "M": "${EMPTY}"},
        cwd="${BIN}",
    )
    environ = {"BIN": "/opt", "A": "one", "EMPTY": "", "C": ""}

    assert resolve(server, environ, None) == McpServerSettings(
        command="/opt/x",
        args=("one", "-onetwo-", "", "$A ${1} ${} ${A.b}"),
        env={"K": "pre-one", "L": "default", "M": ""},
        cwd="/opt",
        transport="stdio",
    )


def test_variables_of_an_address_are_put_in_and_empty_headers_left_out():
    server = found(url="https://${HOST}/mcp", headers={"A": "Bearer ${T}", "B": "${NONE:-}"})

    assert resolve(server, {"HOST": "h", "T": "secret"}, None) == McpServerSettings(
        url="https://h/mcp", headers={"A": "Bearer secret"}, transport="http"
    )


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"command": "${MISSING}"}, "command"),
        ({"command": "x", "args": ("a", "${MISSING}")}, "args[1]"),
        ({"command": "x", "env": {"K": "${MISSING}"}}, "env.K"),
        ({"command": "x", "cwd": "${MISSING}"}, "cwd"),
        ({"url": "https://${MISSING}"}, "url"),
        ({"url": "https://h", "headers": {"A": "x ${MISSING}"}}, "headers.A"),
        (
            {"url": "https://h", "oauth": OAuthSettings(client_secret_env="MISSING")},
            "oauth.client_secret_env",
        ),
    ],
)
def test_a_missing_variable_is_named(settings: dict[str, Any], key: str):
    with pytest.raises(ConfigError) as caught:
        resolve(found(**settings), {"OTHER": "secret"}, None)

    assert str(caught.value) == (
        f"server s: {key}: the variable MISSING is not set (hint: set it, or write ${{MISSING:-default}})"
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"command": "${V}"}, "server s: command: has control characters"),
        ({"command": "x", "args": ("${N}",)}, "server s: args[0]: has control characters"),
        ({"url": "https://h/${V}"}, "server s: url: has control characters"),
        ({"url": "https://h", "headers": {"A": "${V}"}}, "server s: headers.A: has control characters"),
        ({"command": "${E}"}, "server s: command: it is empty"),
        (
            {"command": "x", "cwd": "sub"},
            "server s: cwd: must be an absolute path, or one below ~/",
        ),
        (
            {"url": "https://${P}@h"},
            f"server s: url: has a user or password in it (hint: put it into headers, as {AUTHORIZATION})",
        ),
    ],
)
def test_what_variables_come_to_is_judged_and_not_shown(settings: dict[str, Any], message: str):
    with pytest.raises(ConfigError) as caught:
        resolve(found(**settings), {"V": "secret\nline", "N": "secret\0", "E": "", "P": "secret"}, None)

    assert str(caught.value) == message


def test_a_server_with_a_fault_is_not_used():
    with pytest.raises(ConfigError) as caught:
        resolve(replace(found(command="x"), fault="it is broken"), {}, None)

    assert str(caught.value) == "server s: f:1: it is broken"


def test_lines_are_fine_where_they_can_stand():
    server = found(command="x", args=("${V}",), env={"K": "${V}"})

    resolved = resolve(server, {"V": "two\nlines"}, None)

    assert (resolved.args, resolved.env) == (("two\nlines",), {"K": "two\nlines"})


@given(st.dictionaries(st.from_regex(r"\A[A-Z]{1,3}\Z"), st.text(st.characters(exclude_characters="\0"))))
def test_a_value_is_never_looked_at_for_variables_again(environ: dict[str, str]):
    text = "|".join(f"${{{name}}}" for name in environ)

    assert resolve(found(command="x", args=(text,)), environ, None).args == ("|".join(environ.values()),)


# ---------------------------------------------------------------------------- paths


def placed(home: Path, command: str, cwd: str = "", *, in_project: bool = False) -> tuple[str, str]:
    folders = (str(home / "p/.bridle"), str(home / "p")) if in_project else (str(home),)
    server = FoundServer(
        "s", McpServerSettings(command=command, cwd=cwd), "f:1", "project" if in_project else "user", folders
    )
    resolved = resolve(server, {}, home)
    return resolved.command, resolved.cwd


def test_a_program_lies_beside_its_file_or_in_the_project(tmp_path: Path):
    (tmp_path / "p/.bridle").mkdir(parents=True)
    (tmp_path / "p/.bridle/ours").touch()

    project = str(tmp_path / "p")
    assert placed(tmp_path, "npx") == ("npx", "")
    assert placed(tmp_path, "./x") == (f"{tmp_path}/x", "")
    assert placed(tmp_path, "~/x", "~/y") == (f"{tmp_path}/x", f"{tmp_path}/y")
    assert placed(tmp_path, "./ours", in_project=True) == (f"{project}/.bridle/ours", project)
    assert placed(tmp_path, "bin/x", in_project=True) == (f"{project}/bin/x", project)
    assert placed(tmp_path, "/x", "sub", in_project=True) == ("/x", f"{project}/sub")


# ---------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    "url",
    ["https://h", "https://h:8443/a?b=c", "http://127.0.0.1:80/x", "http://localhost", "http://[::1]:5/"],
)
def test_an_address_can_be_used(url: str):
    assert url_problem(url, is_secret=True) is None


@pytest.mark.parametrize(
    "url", ["ftp://h", "h/x", "https://", "https://h:99999", "https://[h", "https://h/a b", "https://u:p@h"]
)
def test_an_address_cannot_be_used(url: str):
    assert url_problem(url, is_secret=False) is not None


def test_secrets_go_to_other_hosts_encrypted_only():
    assert url_problem("http://h/x", is_secret=False) is None
    why = "is unencrypted, so headers would be sent to h in the clear"
    assert url_problem("http://h/x", is_secret=True) == (why, "use https")
    assert url_problem("http://127.0.0.1.evil.com/", is_secret=True) is not None


# ---------------------------------------------------------------------------- what people read


def test_what_may_be_a_secret_is_hidden():
    server = McpServerSettings(
        url="https://h/x?key=abc",
        headers={"Authorization": "Bearer ${T}", "X": "abc", "Y": "${T}abc", "Z": "${T:-abc}"},
        env={"MODE": "fast", "TOKEN": "abc", "V": "${V}"},
        timeout=Duration(60),
        oauth=OAuthSettings(scopes=("r",)),
    )

    headers = {"Authorization": "Bearer ${T}", "X": "(hidden)", "Y": "(hidden)", "Z": "(hidden)"}
    rest = {"url": "https://h/x?(hidden)", "headers": headers, "timeout": "1m", "oauth": {"scopes": ["r"]}}
    assert redact_server(server) == {
        "env": {"MODE": "(hidden)", "TOKEN": "(hidden)", "V": "${V}"},
        **rest,
    }
    assert redact_server(server, for_trust=True) == {
        "env": {"MODE": "fast", "TOKEN": "(hidden)", "V": "${V}"},
        **rest,
    }


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://h/a", "https://h/a"),
        ("https://u:p@h/a", "https://(hidden)@h/a"),
        ("https://h/a@b?x=1", "https://h/a@b?(hidden)"),
        ("nonsense", "nonsense"),
    ],
)
def test_an_address_is_shown_without_secrets(url: str, shown: str):
    assert redact_url(url) == shown


def test_the_settings_show_no_secret_of_a_server(home: Path):
    (home / "config.toml").write_text(
        '[mcp.servers.a]\nurl = "https://h?k=abc"\nheaders.X = "abc"\n'
        '[mcp.servers.b]\ncommand = "x"\nenv.A = "abc"\n[lsp.servers.c]\nenv.A = "abc"\n'
    )

    shown = [row for row in show(load(home, home.parent)) if ".servers." in row.key]

    source = f"user {home}/config.toml"
    assert [(row.key, row.value, row.source) for row in shown] == [
        ("mcp.servers.a.url", '"https://h?(hidden)"', source),
        ("mcp.servers.a.headers.X", "(hidden)", source),
        ("mcp.servers.b.command", '"x"', source),
        ("mcp.servers.b.env.A", "(hidden)", source),
        ("lsp.servers.c.env.A", "(hidden)", source),
    ]


def test_who_is_to_trust_a_project_hears_that_it_would_change_a_server_of_theirs(home: Path, project: Path):
    (home / "config.toml").write_text('[mcp.servers.git]\ncommand = "user"\n')
    write_json(project / ".mcp.json", git={"command": "evil"}, other={"command": "x"})
    (project / ".bridle/config.toml").write_text('[mcp.servers.git]\nreads = ["*"]\n')

    said = [(one.key, one.why.partition("; ")[2]) for one in load(home, project).trust_keys]

    assert said == [
        ("mcp.servers.git", "it would change your own of that name"),
        ("mcp.servers.other", ""),
        ("mcp.servers.git", "it would change your own of that name"),
    ]
