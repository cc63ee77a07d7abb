import json
from pathlib import Path

import pytest

from bridle.config.agents import DEFAULT_PROMPT_FILE, LIBRARY
from tests.surfaces.command import Bridle, Done

EDITING = 'sh -c \'echo "mode = 1" >> "$0"\''


def write(bridle: Bridle, name: str, config: str, prompt: str = "Hello.") -> Path:
    folder = bridle.home / "agents" / name
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(config)
    (folder / "agent.md").write_text(prompt)
    return folder


def test_every_agent_is_listed(bridle: Bridle):
    (bridle.home / "config.toml").write_text('model = "openai/m"\n')
    write(bridle, "mine", 'name = "My own"\ntools = []\nmode = "code"\n')
    broken = write(bridle, "broken", "x = 1\n")

    assert bridle("agents", "list") == Done(
        0,
        "AGENT       NAME        FROM      MODE    MODEL     TOOLS\n"
        f"broken      -           user      broken  -         {broken}/config.toml:1: unknown key x"
        " (hint: known here: name, model, small_model, fallbacks, tools, mode, reasoning_effort, tool_role, "
        "limits, rules,"
        " sampling)\n"
        "coder       Coder       built in  ask     openai/m  all\n"
        "default     -           built in  ask     openai/m  all\n"
        "mine        My own      user      code    openai/m  none\n"
        "planner     Planner     built in  plan    openai/m  read_file list_files glob grep bash web_fetch"
        " skill todos ask_user\n"
        "researcher  Researcher  built in  ask     openai/m  web_fetch read_file list_files glob grep skill"
        " todos ask_user datetime\n"
        "reviewer    Reviewer    built in  plan    openai/m  read_file list_files glob grep bash skill\n",
        "",
    )


def test_the_list_is_also_json(bridle: Bridle):
    listed = {row["agent"]: row for row in json.loads(bridle("agents", "list", "--json").out)}

    assert listed["reviewer"] == {
        "agent": "reviewer",
        "name": "Reviewer",
        "source": "built in",
        "mode": "plan",
        "model": "embedded/smollm2-135m",
        "tools": ["read_file", "list_files", "glob", "grep", "bash", "skill"],
        "problem": "",
    }
    assert listed["default"]["tools"] is None


def test_an_agent_is_shown_with_the_source_of_each_value(bridle: Bridle):
    folder = write(bridle, "mine", 'tools = ["grep"]\n[rules]\ndeny = ["edit_file(docs/**)"]\n', "Look.\n")
    (bridle.home / "config.toml").write_text('model = "openai/m"\n')

    assert bridle("agents", "show", "mine") == Done(
        0,
        "mine  user\n"
        f'model            = "openai/m"  # user {bridle.home}/config.toml\n'
        'mode             = "ask"\n'
        f'tools            = ["grep"]  # user {folder}/config.toml\n'
        "limits.max_turns = 100\n"
        f"rules.deny       = edit_file(docs/**)  # {folder}/config.toml:3\n"
        "\n"
        f"# {folder}/agent.md\n"
        "Look.\n",
        "",
    )
    shown = json.loads(bridle("agents", "show", "mine", "--json").out)
    assert (shown["source"], shown["prompt"]) == ("user", "Look.")
    assert shown["settings"][1] == {"key": "mode", "value": '"ask"', "source": "default"}


def test_an_agent_that_does_not_exist_is_an_error(bridle: Bridle):
    hint = "hint: there are coder, default, planner, researcher, reviewer\n"

    for command in ("show", "check", "edit"):
        assert bridle("agents", command, "ghost") == Done(1, "", f'error: no agent named "ghost"\n{hint}')


def test_what_is_wrong_is_told_and_the_exit_code_says_it(bridle: Bridle):
    good = bridle("agents", "check")
    folder = write(bridle, "mine", 'tools = ["gerp"]\n')

    assert good == Done(0, "5 agents: no problems\n", "")
    assert bridle("agents", "check") == Done(
        1,
        f"broken  mine  {folder}/config.toml:1: unknown tool gerp\n        hint: did you mean grep?\n",
        "",
    )
    assert bridle("agents", "check", "coder") == Done(0, "agent coder: no problems\n", "")
    assert json.loads(bridle("agents", "check", "--json").out) == [
        {
            "agent": "mine",
            "message": f"{folder}/config.toml:1: unknown tool gerp",
            "hint": "did you mean grep?",
        }
    ]


@pytest.mark.parametrize("flags", [(), ("--project",)])
def test_a_new_agent_is_in_order(bridle: Bridle, flags: tuple[str, ...]):
    folder = (bridle.project / ".bridle" if flags else bridle.home) / "agents/mine"

    made = bridle("agents", "new", "mine", *flags)

    assert made == Done(0, f"{folder}/config.toml\n{folder}/agent.md\n", "")
    assert bridle("agents", "check").code == 0
    assert bridle("agents", "new", "mine", *flags) == Done(
        1, "", "error: agent mine already exists\nhint: bridle agents edit mine\n"
    )


def test_a_new_agent_can_begin_as_another_one(bridle: Bridle):
    mine = write(bridle, "mine", 'mode = "plan"\n', "Mine.\n")

    bridle("agents", "new", "a", "--from", "reviewer")
    bridle("agents", "new", "b", "--from", "mine")

    texts = {
        name: [(bridle.home / "agents" / name / file).read_text() for file in ("config.toml", "agent.md")]
        for name in "ab"
    }
    assert texts["a"] == [(LIBRARY / "reviewer" / file).read_text() for file in ("config.toml", "agent.md")]
    assert texts["b"] == [(mine / file).read_text() for file in ("config.toml", "agent.md")]


@pytest.mark.parametrize("name", ["../x", ".x", "a b", "x" * 65, ""])
def test_a_new_agent_needs_a_name(bridle: Bridle, name: str):
    done = bridle("agents", "new", name)

    assert (done.code, list(bridle.home.iterdir())) == (64, [])


def test_a_built_in_agent_becomes_ones_own_when_it_is_edited(bridle: Bridle):
    done = bridle("agents", "edit", "default", EDITOR="sh -c 'echo Be brief. >> \"$1\"'")
    folder = bridle.home / "agents/default"

    assert done == Done(0, "", "")
    assert (folder / "agent.md").read_text() == DEFAULT_PROMPT_FILE.read_text() + "Be brief.\n"
    assert bridle("agents", "show", "default").out.endswith("Be brief.\n")


def test_an_edit_that_changes_nothing_leaves_nothing_behind(bridle: Bridle):
    assert bridle("agents", "edit", "coder", EDITOR="true") == Done(0, "", "nothing was changed\n")
    assert list((bridle.home / "agents").iterdir()) == []


def test_a_mistake_made_in_the_editor_is_told_at_once(bridle: Bridle):
    done = bridle("agents", "edit", "coder", VISUAL=EDITING, EDITOR="false")
    file = bridle.home / "agents/coder/config.toml"

    assert done == Done(
        1,
        f"broken  coder  {file}:2: mode must be one of ask, plan, accept-edits, yolo, code, not 1\n",
        "",
    )


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("/nowhere/ed", "error: the editor /nowhere/ed does not exist\n"),
        ("false", "error: the editor /usr/bin/false ended with 1\n"),
        ("'", "error: $EDITOR cannot be read: No closing quotation\n"),
    ],
)
def test_an_editor_that_fails_leaves_nothing_behind(bridle: Bridle, editor: str, message: str):
    done = bridle("agents", "edit", "coder", EDITOR=editor)

    assert done.code == 1
    assert message in done.err
    assert list((bridle.home / "agents").iterdir()) == []
