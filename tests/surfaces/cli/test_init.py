"""`bridle init`: what it finds, asks, writes and tests; in a pipe and on a terminal."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

from bridle.config.starter_config import starter_text
from bridle.surfaces.cli import parser
from bridle.surfaces.cli.init import IMPORTS, PROGRAMS
from tests.surfaces.command import Bridle, Done, Terminal

NOBODY = """\
# mine
[providers]
ollama = { base_url = "http://127.0.0.1:9/v1" }
lmstudio = { base_url = "http://127.0.0.1:9/v1" }
vllm = { base_url = "http://127.0.0.1:9/v1" }
local = { base_url = "http://127.0.0.1:9/v1" }
llama = { base_url = "http://127.0.0.1:9" }
"""
"""Whatever runs on the machine of the tests is not asked."""
LOOKED = "keys     none in the environment\nservers  no model server found on this machine\n\n"
NEXT = """
next:
  bridle run "what does this project do"  # an answer
  bridle                                  # the terminal interface
"""
MODEL_QUESTION = "any PROVIDER/MODEL: "
MODE_QUESTION = "3  plan          only read files\nnumber (Enter for 1): "
KEY = {"ANTHROPIC_API_KEY": "sk-secret"}


def config(bridle: Bridle) -> Path:
    return bridle.home / "config.toml"


def chosen(bridle: Bridle) -> tuple[str, str]:
    tree = tomllib.loads(config(bridle).read_text())
    return tree["model"], tree["rules"]["mode"]


@pytest.fixture
def model(bridle: Bridle) -> str:
    return bridle.script({"text": "Hello."}, repeat=True)


# ---------------------------------------------------------------------------- without a terminal


def test_a_first_setup_says_what_it_chose_and_tries_it(bridle: Bridle, model: str):
    done = bridle("init", "--model", model)

    assert (done.code, done.out) == (0, f"wrote ~/.bridle/config.toml: model {model}, mode ask\n{NEXT}")
    assert done.err.endswith(f"\n\nasking {model} for one word ... it says: Hello.\n")
    assert config(bridle).read_text() == starter_text(model, "ask")


def test_what_is_best_is_taken_and_no_key_is_shown(bridle: Bridle):
    config(bridle).write_text(NOBODY)

    done = bridle("init", "--yes", "--force", "--no-try", "--mode", "accept-edits", **KEY)

    assert done == Done(
        0,
        "wrote ~/.bridle/config.toml: model anthropic/claude-sonnet-5-5, mode accept-edits\n"
        f"the previous file is in ~/.bridle/config.toml.bak\n{NEXT}",
        LOOKED.replace("none in the environment", "ANTHROPIC_API_KEY"),
    )
    assert config(bridle).read_text() == (
        f'model = "anthropic/claude-sonnet-5-5"\n\n{NOBODY}\n[rules]\nmode = "accept-edits"\n'
    )
    assert config(bridle).with_name("config.toml.bak").read_text() == NOBODY


def test_on_an_empty_machine_the_next_command_brings_the_built_in_model(bridle: Bridle):
    config(bridle).write_text(NOBODY)

    done = bridle("init", "--force")

    assert done == Done(
        0,
        "wrote ~/.bridle/config.toml: model embedded/smollm2-135m, mode ask\n"
        "the previous file is in ~/.bridle/config.toml.bak\n"
        "\nnext:\n"
        "  bridle models pull                           # required first\n"
        '  bridle run "What is the capital of France?"  # a first answer\n',
        LOOKED,
    )


def test_settings_that_are_there_are_left_alone(bridle: Bridle, model: str):
    config(bridle).write_text(NOBODY)

    done = bridle("init", "--yes", "--model", model)

    assert done == Done(
        64,
        "",
        "error: ~/.bridle/config.toml already exists\n"
        "hint: bridle init --force changes its model and mode, and keeps a backup\n",
    )
    assert (config(bridle).read_text(), len(list(bridle.home.iterdir()))) == (NOBODY, 1)


def test_a_mode_that_was_chosen_before_stays_where_nobody_is_asked(bridle: Bridle, model: str):
    config(bridle).write_text('rules.mode = "plan"\n')

    bridle("init", "--yes", "--force", "--no-try", "--model", model)

    assert chosen(bridle) == (model, "plan")


def test_a_mode_of_the_project_is_not_taken_for_yours(bridle: Bridle, model: str):
    (bridle.project / ".bridle").mkdir()
    (bridle.project / ".bridle" / "config.toml").write_text('rules.mode = "plan"\n')

    bridle("init", "--yes", "--no-try", "--model", model)

    assert chosen(bridle) == (model, "ask")


def test_broken_settings_are_put_aside_only_by_force(bridle: Bridle, model: str):
    config(bridle).write_text("model = [")

    refused = bridle("init", "--model", model)
    done = bridle("init", "--model", model, "--force")

    assert (refused.code, refused.out) == (1, "")
    assert refused.err.endswith("hint: bridle init --force moves the file aside and starts over\n")
    assert (done.code, config(bridle).read_text()) == (0, starter_text(model, "ask"))
    assert config(bridle).with_name("config.toml.bak").read_text() == "model = ["


@pytest.mark.parametrize("model", ["nowhere/x", "no-slash", "scripted/no-such-script"])
def test_a_model_that_is_none_changes_nothing(bridle: Bridle, model: str):
    done = bridle("init", "--model", model)

    assert (done.code, done.out, done.err.startswith(f'error: model "{model}"')) == (1, "", True)
    assert not config(bridle).exists()


def test_a_model_that_does_not_answer_is_said_and_the_settings_stay(bridle: Bridle):
    model = bridle.script({"fault": {"kind": "http", "reason": "invalid_api_key"}}, repeat=True)

    done = bridle("init", "--model", model)

    assert (done.code, chosen(bridle)) == (1, (model, "ask"))
    assert "error: no answer: " in done.err
    assert done.out.endswith(
        "\nnext:\n  bridle doctor  # show what is missing and how to fix it\n  bridle init    # once more\n"
    )


# ---------------------------------------------------------------------------- on a terminal


def asked(bridle: Bridle, *args: str, **env: str) -> Terminal:
    return bridle.terminal("init", *args, **env)


def test_enter_takes_the_first_of_each(bridle: Bridle):
    config(bridle).write_text(NOBODY)
    with asked(bridle, "--force", "--no-try", **KEY) as terminal:
        terminal.expect(MODEL_QUESTION)
        terminal.send("\n")
        terminal.expect(MODE_QUESTION)
        terminal.send("\n")
        code = terminal.finish()

    assert (code, chosen(bridle)) == (0, ("anthropic/claude-sonnet-5-5", "ask"))
    assert "sk-secret" not in terminal.screen + config(bridle).read_text()
    assert "  1  anthropic/claude-sonnet-5-5  ANTHROPIC_API_KEY is set\n" in terminal.screen


def test_numbers_names_and_typing_errors(bridle: Bridle, model: str):
    config(bridle).write_text(NOBODY)
    with asked(bridle, "--force") as terminal:
        terminal.expect(MODEL_QUESTION)
        terminal.send("7\n")
        terminal.expect("not one of the choices: 7\n")
        terminal.expect(MODEL_QUESTION)
        terminal.send("opnai/gpt-5\n")
        terminal.expect("hint: did you mean openai")
        terminal.expect(MODEL_QUESTION)
        terminal.send(f"{model}\n")
        terminal.expect(MODE_QUESTION)
        terminal.send("3\n")
        terminal.expect("it says: Hello.\n")
        code = terminal.finish()

    assert (code, chosen(bridle)) == (0, (model, "plan"))


def test_settings_that_are_there_are_asked_about_last(bridle: Bridle, model: str):
    config(bridle).write_text(NOBODY)
    question = "config.toml already exists. Change its model and mode? [y/N] "

    def answer(word: str) -> int:
        with asked(bridle, "--model", model, "--mode", "plan") as terminal:
            terminal.expect(question)
            terminal.send(f"{word}\n")
            return terminal.finish()

    assert (answer(""), answer("no"), config(bridle).read_text()) == (0, 0, NOBODY)
    assert (answer("y"), chosen(bridle)) == (0, (model, "plan"))


def test_notes_and_other_programs_are_one_question(bridle: Bridle, model: str):
    (bridle.project / "Makefile").write_text("test:\n")
    agents = bridle.home.parent / ".kontekst" / "agents" / "old"
    agents.mkdir(parents=True)
    (agents / "config.toml").write_text('display_name = "Old"\n')
    (agents / "agent.md").write_text("Help.\n")
    with asked(bridle, "--model", model, "--mode", "ask", "--no-try") as terminal:
        terminal.expect("  2  AGENTS.md  create it in project/")
        terminal.expect("  3  kontekst   import from Kontekst in ~/.kontekst")
        terminal.expect("such as 2,3: ")
        terminal.send("2,3\n")
        code = terminal.finish()

    assert code == 0
    assert "- `make test`\n" in (bridle.project / "AGENTS.md").read_text()
    assert (bridle.home / "agents" / "old" / "agent.md").exists()


def test_a_module_of_the_project_is_not_run_by_an_import(bridle: Bridle, model: str, tmp_path: Path):
    (bridle.project / "bridle.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (bridle.home.parent / ".kontekst" / "agents").mkdir(parents=True)
    words = ["init", "--model", model, "--mode", "ask", "--no-try"]
    env = bridle.env | {"TERM": "xterm"}
    with Terminal([sys.executable, "-P", "-m", "bridle", *words], bridle.project, env) as terminal:
        terminal.expect("2  kontekst  import from Kontekst in")
        terminal.send("2\n")
        terminal.finish()

    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("presses", [0, 1, 2])
@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_who_leaves_leaves_nothing_behind(bridle: Bridle, presses: int, key: str):
    (bridle.project / "Makefile").write_text("test:\n")
    with asked(bridle) as terminal:
        for question in (MODEL_QUESTION, MODE_QUESTION)[:presses]:
            terminal.expect(question)
            terminal.send("\n")
        terminal.expect((MODEL_QUESTION, MODE_QUESTION, "such as 2,3: ")[presses])
        terminal.send(key)
        code = terminal.finish()

    assert (code, list(bridle.home.iterdir())) == (130, [])
    assert [path.name for path in bridle.project.iterdir()] == ["Makefile"]


def test_nobody_is_asked_for_ever(bridle: Bridle):
    with asked(bridle) as terminal:
        for _ in range(5):
            terminal.expect(MODEL_QUESTION)
            terminal.send("what\n")
        code = terminal.finish()

    assert (code, list(bridle.home.iterdir())) == (64, [])


# ---------------------------------------------------------------------------- what it relies on


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_import_that_is_offered_is_a_command(name: str):
    args = parser.parse([*IMPORTS[name], "/folder"])

    assert args.command.endswith(f":import_{name}")


def test_the_doctor_is_content_afterwards(bridle: Bridle, model: str):
    bridle("init", "--model", model, "--no-try")

    found = {one["what"]: one["state"] for one in json.loads(bridle("doctor", "--json").out)}

    assert (found["config"], found["model"]) == ("ok", "warn")
