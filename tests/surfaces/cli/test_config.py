import json

from tests.surfaces.command import Bridle, Done


def test_every_setting_and_where_it_comes_from(bridle: Bridle):
    (bridle.home / "config.toml").write_text('model = "openai/gpt-5"\n')

    done = bridle("config", "show")
    rows = json.loads(bridle("config", "show", "--json").out)

    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()[:2]
    assert first.split(maxsplit=2) == ["model", "=", f'"openai/gpt-5"{first.partition("gpt-5" + chr(34))[2]}']
    assert first.endswith(f"  # user {bridle.home}/config.toml")
    assert second.split() == ["agent", "=", '"default"']
    assert rows[0] == {"key": "model", "value": '"openai/gpt-5"', "source": f"user {bridle.home}/config.toml"}
    assert len(rows) == len(done.out.splitlines())


def test_getting_and_setting_one(bridle: Bridle):
    before = bridle("config", "get", "limits.max_turns")
    changed = bridle("config", "set", "limits.max_turns", "7")

    assert (before, changed) == (Done(0, "100\n", ""), Done(0, "", ""))
    assert bridle("config", "get", "limits.max_turns") == Done(0, "7\n", "")
    assert bridle("config", "get", "limits", "--json").out == bridle("config", "get", "limits", "--json").out
    assert (bridle.home / "config.toml").read_text() == "[limits]\nmax_turns = 7\n"


def test_values_are_bare_for_scripts(bridle: Bridle):
    bridle("config", "set", "model", "openai/gpt-5")
    bridle("config", "set", "rules.allow", '["read_file", "bash(git status:*)"]')

    assert bridle("config", "get", "model").out == "openai/gpt-5\n"
    assert bridle("config", "get", "rules.allow").out == '["read_file", "bash(git status:*)"]\n'
    assert bridle("config", "get", "limits.max_cost") == Done(0, "", "")
    assert json.loads(bridle("config", "get", "rules.allow", "--json").out) == [
        "read_file",
        "bash(git status:*)",
    ]


def test_mistakes_name_the_key_and_change_nothing(bridle: Bridle):
    unknown = bridle("config", "set", "modle", "a/b")
    wrong = bridle("config", "set", "limits.max_turns", "many")

    assert unknown == Done(1, "", "error: unknown key modle\nhint: did you mean model?\n")
    assert (wrong.code, wrong.out) == (1, "")
    assert wrong.err.startswith("error: limits.max_turns must be a whole number, 1 or more")
    assert not (bridle.home / "config.toml").exists()


def test_an_address_that_the_daemon_would_refuse_is_refused_at_once(bridle: Bridle):
    refused = bridle("config", "set", "http.bind", "0.0.0.0:7417")
    bridle("config", "set", "http.tls.cert", "/cert.pem")
    taken = bridle("config", "set", "http.bind", "0.0.0.0:7417")
    bare = bridle("config", "set", "http.token", "false")
    other = bridle("config", "set", "grpc.bind", "[::]:1")

    assert refused == Done(
        1,
        "",
        'error: http.bind: "0.0.0.0:7417" can be reached from other machines, '
        "but is not protected by TLS\n"
        'hint: use "127.0.0.1:7417", or set cert and key in [http.tls] and leave the token on\n',
    )
    assert taken == Done(0, "", "")
    assert [(done.code, "is not protected by" in done.err) for done in (bare, other)] == [(1, True)] * 2
    assert "token" not in (bridle.home / "config.toml").read_text()


def test_the_files_that_are_read(bridle: Bridle):
    user = bridle.home / "config.toml"
    (bridle.project / ".bridle").mkdir()
    project = bridle.project / ".bridle" / "config.toml"
    project.write_text("")

    assert bridle("config", "path") == Done(0, f"{user}  (not there)\n{project}\n", "")
    assert json.loads(bridle("config", "path", "--json").out) == [
        {"path": str(user), "exists": False},
        {"path": str(project), "exists": True},
    ]
