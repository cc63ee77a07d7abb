"""`bridle` alone and `bridle tui` as commands: where they do not work, they say why."""

from tests.surfaces.command import Bridle, Done

NO_TERMINAL = """\
error: the terminal interface needs a terminal
hint: bridle run "…" works without one
"""


def test_without_a_terminal_it_is_refused(bridle: Bridle):
    assert bridle("tui") == Done(64, "", NO_TERMINAL)


def test_a_terminal_that_is_dumb_is_refused(bridle: Bridle):
    with bridle.terminal(TERM="dumb") as terminal:
        terminal.expect(
            "error: the terminal interface needs a terminal that can move the cursor, but TERM is dumb"
        )
        terminal.expect('hint: set TERM, or use bridle run "…"')
        assert terminal.finish() == 64


def test_keys_that_cannot_be_are_told_before_anything_is_shown(bridle: Bridle):
    bridle.home.mkdir(exist_ok=True)
    (bridle.home / "config.toml").write_text('tui.theme = "dark"\ntui.keys.leve = ["f12"]\n')
    with bridle.terminal() as terminal:
        terminal.expect("error: tui.keys.leve: unknown action")
        terminal.expect("hint: did you mean leave")
        assert terminal.finish() == 1


def test_a_session_that_does_not_exist_is_refused(bridle: Bridle):
    with bridle.terminal("tui", "--session", "nowhere") as terminal:
        terminal.expect('error: no session "nowhere"')
        assert terminal.finish() == 1
    with bridle.terminal("tui", "--continue") as terminal:
        terminal.expect("error: no session was started in")
        assert terminal.finish() == 1
