from pathlib import Path

import pytest

from bridle.app import open_blobs, open_sandbox, open_tools
from bridle.config.agent_list import (
    AgentProblem,
    agent_problems,
    agent_source,
    built_in_files,
    own_folder,
    show_agent,
)
from bridle.config.agents import DEFAULT_PROMPT_FILE, LIBRARY, list_agents, load_agent
from bridle.config.edit import SettingRow
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import ConfigError

TOOLS = ("read_file", "grep", "bash")
LIBRARY_NAMES = ["coder", "planner", "researcher", "reviewer"]


@pytest.fixture
def project(home: Path) -> Path:
    path = home.parent / "project"
    (path / ".bridle").mkdir(parents=True)
    return path


def settings(home: Path, cwd: Path, text: str = "") -> Settings:
    (home / "config.toml").write_text(text)
    return load_settings({"HOME": str(home.parent)}, cwd)


def write(folder: Path, name: str, config: str | None = None, prompt: str | None = None) -> Path:
    agent = folder / "agents" / name
    agent.mkdir(parents=True)
    if config is not None:
        (agent / "config.toml").write_text(config)
    if prompt is not None:
        (agent / "agent.md").write_text(prompt)
    return agent


# ---------------------------------------------------------------------------- the library


def test_a_small_library_is_built_in(home: Path):
    assert list_agents(settings(home, home.parent)) == sorted([*LIBRARY_NAMES, "default"])
    assert sorted(folder.name for folder in LIBRARY.iterdir()) == LIBRARY_NAMES


@pytest.mark.parametrize("name", LIBRARY_NAMES)
def test_an_agent_of_the_library_is_sound_and_short(home: Path, name: str):
    here = settings(home, home.parent)
    tools = open_tools(here, {}, open_blobs(here), open_sandbox(here))
    agent = load_agent(name, here).agent

    assert agent_problems(here, [tool.spec.name for tool in tools], name) == []
    assert agent.prompt == (LIBRARY / name / "agent.md").read_text().strip()
    assert agent.display_name == name.capitalize()
    assert len(agent.prompt.encode()) < 1400


def test_who_only_looks_has_the_mode_for_it(home: Path):
    here = settings(home, home.parent, '[rules]\nmode = "yolo"\n')

    assert {name: load_agent(name, here).agent.mode for name in LIBRARY_NAMES} == {
        "coder": "yolo",
        "planner": "plan",
        "researcher": "yolo",
        "reviewer": "plan",
    }


def test_an_agent_of_ones_own_has_nothing_of_the_built_in_one_and_a_projects_has(home: Path, project: Path):
    write(home, "reviewer", prompt="Mine.")
    write(project / ".bridle", "planner", 'name = "P"\n')
    here = settings(home, project)
    reviewer, planner = load_agent("reviewer", here).agent, load_agent("planner", here).agent

    assert (reviewer.prompt, reviewer.mode, reviewer.tools) == ("Mine.", "ask", None)
    built_in = load_agent("planner", settings(home, home.parent)).agent
    assert (planner.prompt, planner.mode, planner.tools) == (built_in.prompt, "plan", built_in.tools)


# ---------------------------------------------------------------------------- where they come from


def test_the_place_that_wins_is_the_source(home: Path, project: Path):
    write(home, "a", "")
    write(home, "b", prompt="B")
    write(project / ".bridle", "b", "")
    here = settings(home, project)

    assert [agent_source(name, here) for name in ("a", "b", "coder", "default")] == [
        "user",
        "project",
        "built in",
        "built in",
    ]
    assert [own_folder(name, here) for name in ("a", "b", "coder")] == [
        home / "agents/a",
        home / "agents/b",
        None,
    ]


def test_the_files_of_a_built_in_agent(home: Path):
    assert built_in_files("default") == {"agent.md": DEFAULT_PROMPT_FILE.read_text()}
    assert sorted(built_in_files("reviewer")) == ["agent.md", "config.toml"]
    assert built_in_files("mine") == {}


# ---------------------------------------------------------------------------- what holds, and why


def test_every_value_has_its_source(home: Path, project: Path):
    write(
        home,
        "a",
        'name = "A"\ntools = ["grep"]\ntool_role = false\n[limits]\nmax_duration = "5m"\n'
        "[sampling]\ntop_k = 3\n",
    )
    write(project / ".bridle", "a", 'mode = "plan"\n')
    here = settings(home, project, 'model = "openai/m"\n[limits]\nmax_cost = 2\n')
    user, own = f"user {home}/config.toml", f"user {home}/agents/a/config.toml"

    assert show_agent("a", here) == [
        SettingRow("name", '"A"', own),
        SettingRow("model", '"openai/m"', user),
        SettingRow("mode", '"plan"', f"project {project}/.bridle/agents/a/config.toml"),
        SettingRow("tools", '["grep"]', own),
        SettingRow("limits.max_duration", '"5m"', own),
        SettingRow("limits.max_cost", "2.0", user),
        SettingRow("limits.max_turns", "100", "default"),
        SettingRow("sampling.top_k", "3", own),
        SettingRow("tool_role", "false", own),
    ]


def test_what_is_built_in_is_called_so(home: Path):
    rows = {row.key: (row.value, row.source) for row in show_agent("planner", settings(home, home.parent))}

    assert (rows["mode"], rows["model"][1]) == (('"plan"', "built in"), "default")
    assert show_agent("default", settings(home, home.parent))[2] == SettingRow("tools", '"all"', "default")


# ---------------------------------------------------------------------------- what is wrong


def test_all_that_is_wrong_is_found(home: Path, project: Path):
    one = write(home, "one", "mode = 'fast'\n\ntools = [1]\ncolour = 'red'\n") / "config.toml"
    two = write(project / ".bridle", "two", "x = [\n") / "config.toml"
    three = write(home, "three", prompt="") / "agent.md"
    three.write_bytes(b"\xff")
    four = write(home, "four", 'model = "opnai/x"\ntools = ["grep", "gerp"]\nfallbacks = ["zz/y"]\n')

    here = settings(home, project)
    found = [agent_problems(here, TOOLS, name) for name in ("four", "one", "three", "two")]

    assert [problem for problems in found for problem in problems] == [
        AgentProblem("four", f"{four}/config.toml:2: unknown tool gerp", "did you mean grep?"),
        AgentProblem("four", f"{four}/config.toml:1: model: unknown provider opnai", "did you mean openai?"),
        AgentProblem(
            "four",
            f"{four}/config.toml:3: fallbacks[0]: unknown provider zz",
            "bridle models list --all",
        ),
        AgentProblem("one", f'{one}:1: mode must be one of ask, plan, accept-edits, yolo, code, not "fast"'),
        AgentProblem("one", f"{one}:3: tools[0] must be the name of a tool, not 1"),
        AgentProblem(
            "one",
            f"{one}:4: unknown key colour",
            (
                "known here: name, model, small_model, fallbacks, tools, mode, reasoning_effort, tool_role, "
                "limits, rules, sampling"
            ),
        ),
        AgentProblem("three", f"{three}:1: is not UTF-8 text (byte 0xff)", "save the file as UTF-8"),
        AgentProblem("two", f"{two}:1: not valid TOML: invalid value"),
    ]


def test_one_agent_can_be_looked_at(home: Path):
    write(home, "good", 'tools = ["grep", "mcp__x__y"]\n')
    write(home, "bad", "x = 1\n")
    here = settings(home, home.parent)

    assert agent_problems(here, TOOLS, "good") == []
    assert {problem.agent for problem in agent_problems(here, TOOLS)} == {
        "bad",
        "planner",  # like the other two it names tools that this test leaves out
        "researcher",
        "reviewer",
    }
    with pytest.raises(ConfigError, match='no agent named "ghost"'):
        agent_problems(here, TOOLS, "ghost")
