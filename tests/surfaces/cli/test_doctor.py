import json
import platform

from tests.surfaces.command import Bridle


def states(bridle: Bridle) -> dict[str, str]:
    return {finding["what"]: finding["state"] for finding in json.loads(bridle("doctor", "--json").out)}


def test_all_is_well(bridle: Bridle):
    bridle("config", "set", "model", bridle.script({"text": "one"}))
    bridle("run", "x")

    done = bridle("doctor")

    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert [line.split()[:2] for line in lines if "hint:" not in line] == [
        ["ok", "python"],
        ["ok", "sqlite"],
        ["ok", "home"],
        ["ok", "config"],
        ["ok", "store"],
        ["warn", "model"],
        ["ok", "terminal"],
    ]
    assert lines[0].split()[2] == platform.python_version()
    assert "ok    store     sqlite, 1 session" in lines
    assert "                hint: bridle config set model PROVIDER/MODEL" in lines


def test_a_store_that_is_damaged(bridle: Bridle):
    (bridle.home / "bridle.db").write_text("not a database" * 1000)

    done = bridle("doctor")

    assert done.code == 1
    assert f"fail  store     {bridle.home}/bridle.db: it is not a SQLite database" in done.out


def test_a_config_that_is_wrong(bridle: Bridle):
    (bridle.home / "config.toml").write_text("[limits]\nmax_turns = 0\n")

    done = bridle("doctor")

    assert done.code == 1
    assert f"fail  config    {bridle.home}/config.toml:2: limits.max_turns must be" in done.out


def test_a_home_that_cannot_be_used(bridle: Bridle):
    (bridle.project / "file").write_text("")

    done = bridle("doctor", BRIDLE_HOME=str(bridle.project / "file"))

    assert done.code == 1
    assert f"fail  home      {bridle.project}/file is not a directory" in done.out


def test_a_model_that_is_unknown(bridle: Bridle):
    bridle("config", "set", "model", "nowhere/x")

    assert states(bridle)["model"] == "fail"


def test_on_a_terminal_the_states_are_coloured(bridle: Bridle):
    with bridle.terminal("doctor", NO_COLOR="") as terminal:
        terminal.finish()

    assert "\x1b[32mok  \x1b[0m  terminal  xterm, colour" in terminal.screen
