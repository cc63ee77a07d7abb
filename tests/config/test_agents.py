from pathlib import Path
from typing import Any

import pytest

from bridle.config.agents import DEFAULT_PROMPT_FILE, LoadedAgent, list_agents, load_agent
from bridle.config.keys import DEFAULT_MODEL
from bridle.config.settings import Settings, load_settings
from bridle.config.trust_record import fingerprint, set_trust
from bridle.core.agent import Agent
from bridle.core.budget import Limits
from bridle.core.context import estimate_tokens
from bridle.core.errors import ConfigError
from bridle.core.permission import Rule

NOTE = "this project is not trusted: ignored {} (hint: review and allow them with bridle trust)"
DEFAULT_PROMPT = DEFAULT_PROMPT_FILE.read_text().strip()


@pytest.fixture
def project(home: Path) -> Path:
    path = home.parent / "project"
    (path / ".bridle").mkdir(parents=True)
    return path


def write(folder: Path, name: str, config: str | None = None, prompt: str | None = None) -> Path:
    """Write an agent into BRIDLE_HOME or a project's `.bridle`; its config file is returned."""
    agent = folder / "agents" / name
    agent.mkdir(parents=True)
    if config is not None:
        (agent / "config.toml").write_text(config)
    if prompt is not None:
        (agent / "agent.md").write_text(prompt)
    return agent / "config.toml"


def settings(home: Path, cwd: Path, text: str = "", flags: dict[str, Any] | None = None) -> Settings:
    (home / "config.toml").write_text(text)
    return load_settings({"HOME": str(home.parent)}, cwd, flags or {})


def refusal(name: str, given: Settings) -> str:
    with pytest.raises(ConfigError) as caught:
        load_agent(name, given)
    return str(caught.value)


def test_the_default_agent_is_built_in(home: Path):
    assert load_agent("default", settings(home, home.parent)) == LoadedAgent(
        Agent(name="default", prompt=DEFAULT_PROMPT, model=DEFAULT_MODEL, limits=Limits(turns=100))
    )


def test_the_built_in_prompt_is_short():
    assert estimate_tokens(DEFAULT_PROMPT) < 300


def test_an_agent_says_what_it_is(home: Path):
    write(
        home,
        "coder",
        'name = "The Coder"\nmodel = "openai/gpt"\ntools = ["read_file"]\nmode = "accept-edits"\n'
        '[limits]\nmax_cost = 2\nmax_duration = "1h"\n[rules]\nallow = ["bash"]\ndeny = ["edit_file(x)"]\n'
        "[sampling]\ntemperature = 0.5\ntop_p = 1\ntop_k = 40\nrepeat_penalty = 1.1\nmax_tokens = 99\n",
        "\n  You write code.\n\n",
    )

    assert load_agent("coder", settings(home, home.parent)).agent == Agent(
        name="coder",
        prompt="You write code.",
        model="openai/gpt",
        display_name="The Coder",
        tools=("read_file",),
        mode="accept-edits",
        rules=(Rule("deny", "edit_file", "x"), Rule("allow", "bash")),
        limits=Limits(cost=2.0, duration_s=3600.0, turns=100),
        params={
            "temperature": 0.5,
            "top_p": 1.0,
            "top_k": 40,
            "repeat_penalty": 1.1,
            "max_tokens": 99,
        },
    )


def test_either_file_is_enough(home: Path):
    write(home, "only-config", "tools = []\n")
    write(home, "only-prompt", prompt="Hello.")
    given = settings(home, home.parent)

    config, prompt = load_agent("only-config", given).agent, load_agent("only-prompt", given).agent

    assert [(config.prompt, config.tools), (prompt.prompt, prompt.tools)] == [
        (DEFAULT_PROMPT, ()),
        ("Hello.", None),
    ]


def test_gaps_are_filled_from_the_settings(home: Path):
    write(home, "coder", '[limits]\nmax_turns = 5\n[rules]\nask = ["b"]\n')
    text = 'model = "local/m"\n[limits]\nmax_turns = 50\nmax_cost = 3\n[rules]\nmode = "plan"\ndeny = ["a"]\n'

    agent = load_agent("coder", settings(home, home.parent, text)).agent

    assert [agent.model, agent.mode, agent.limits, agent.rules] == [
        "local/m",
        "plan",
        Limits(turns=5, cost=3.0),
        (Rule("deny", "a"), Rule("ask", "b")),
    ]


def test_a_flag_is_above_the_agent(home: Path):
    write(home, "coder", 'model = "local/m"\nmode = "yolo"\n[limits]\nmax_turns = 5\nmax_cost = 1\n')
    flags = {"model": "openai/gpt", "rules.mode": "plan", "limits.max_turns": 9}

    agent = load_agent("coder", settings(home, home.parent, flags=flags)).agent

    assert [agent.model, agent.mode, agent.limits] == ["openai/gpt", "plan", Limits(turns=9, cost=1.0)]


def test_a_projects_agent_is_laid_over_the_users(home: Path, project: Path):
    write(home, "coder", 'name = "Mine"\nmodel = "a/b"\n[rules]\ndeny = ["x"]\n', "Mine.")
    write(project / ".bridle", "coder", 'model = "c/d"\n[rules]\ndeny = ["y"]\n', "Theirs.")
    set_trust(home, str(project), fingerprint(project))

    loaded = load_agent("coder", settings(home, project))

    assert loaded == LoadedAgent(
        Agent(
            name="coder",
            prompt="Theirs.",
            model="c/d",
            display_name="Mine",
            rules=(Rule("deny", "x"), Rule("deny", "y")),
            limits=Limits(turns=100),
        ),
        loaded.left_out,
    )
    assert loaded.left_out.warnings == ()
    assert load_agent("coder", settings(home, home.parent)).agent.prompt == "Mine."


def test_a_project_may_have_its_own_default(home: Path, project: Path):
    write(project / ".bridle", "default", prompt="Ours.")

    assert load_agent("default", settings(home, project)).agent.prompt == "Ours."


def test_a_hostile_agent_loosens_nothing_and_is_reported(home: Path, project: Path):
    """Naming an agent like the user's own must not drop the user's rules, limits and tools."""
    write(home, "coder", 'tools = ["read_file"]\n[limits]\nmax_cost = 1\n[rules]\ndeny = ["bash"]\n')
    file = write(
        project / ".bridle",
        "coder",
        'mode = "yolo"\ntools = ["read_file", "bash"]\n[limits]\nmax_cost = 50\nmax_tokens = 50\n'
        '[rules]\nallow = ["bash"]\ndeny = []\n',
    )

    loaded = load_agent("coder", settings(home, project, "[limits]\nmax_tokens = 5\n"))

    assert loaded == LoadedAgent(
        Agent(
            name="coder",
            prompt=DEFAULT_PROMPT,
            model=DEFAULT_MODEL,
            tools=("read_file",),
            mode="ask",
            rules=(Rule("deny", "bash"),),
            limits=Limits(turns=100, cost=1.0, tokens=5),
        ),
        loaded.left_out,
    )
    keys = ("mode", "tools", "limits.max_cost", "limits.max_tokens", "rules.allow")
    assert loaded.left_out.warnings == (NOTE.format(", ".join(f"agents.coder.{key}" for key in keys)),)
    assert [one.place for one in loaded.left_out.trust_keys] == [f"{file}:{line}" for line in (1, 2, 4, 5, 7)]


def test_a_project_cannot_raise_a_limit_in_two_steps(home: Path, project: Path):
    """Its config lowers the user's limit, its agent raises the lowered one."""
    (project / ".bridle" / "config.toml").write_text("[limits]\nmax_cost = 1\n")
    write(project / ".bridle", "x", "[limits]\nmax_cost = 100\n")

    loaded = load_agent("x", settings(home, project, "[limits]\nmax_cost = 5\n"))

    assert [loaded.agent.limits.cost, len(loaded.left_out.warnings)] == [1.0, 1]


def test_a_projects_agent_may_tighten(home: Path, project: Path):
    write(home, "coder", 'tools = ["a", "b"]\nmode = "accept-edits"\n')
    write(project / ".bridle", "coder", 'tools = ["a"]\nmode = "plan"\n[limits]\nmax_turns = 50\n')

    loaded = load_agent("coder", settings(home, project))

    assert [loaded.agent.tools, loaded.agent.mode, loaded.agent.limits.turns] == [("a",), "plan", 50]
    assert loaded.left_out.warnings == ()


def test_an_unknown_agent_is_refused_with_those_there_are(home: Path, project: Path):
    write(home, "mine", prompt="x")
    write(project / ".bridle", "theirs", "mode = 'plan'")
    (home / "agents" / "empty").mkdir()
    (home / "agents" / ".hidden").mkdir()
    (home / "agents" / ".hidden" / "agent.md").touch()

    given = settings(home, project)

    names = ["coder", "default", "mine", "planner", "researcher", "reviewer", "theirs"]
    assert list_agents(given) == names
    assert refusal("mien", given) == f'no agent named "mien" (hint: there are {", ".join(names)})'


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "a/b", "/etc", ".hidden", "a\x00b", "a\nb", "x" * 65, "é"]
)
def test_a_name_is_not_a_path(home: Path, name: str):
    shown = {"a\x00b": "a\\u0000b", "a\nb": "a\\nb"}.get(name, name)

    assert refusal(name, settings(home, home.parent)) == (
        f'agent "{shown}": not a name (hint: use letters, digits, -, _ and inner dots)'
    )


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("\nmodle = 'a/b'\n", ":2: unknown key modle (hint: did you mean model?)"),
        ("model = 'b'\n", ':1: model must be a model, written provider/name, not "b"'),
        ("tools = ['a', 'b c']\n", ':1: tools[1] must be the name of a tool, not "b c"'),
        ("[sampling]\n\ntemperature = 3\n", ":3: sampling.temperature must be a number from 0 to 2, not 3"),
        ("[sampling]\ntop_p = nan\n", ":2: sampling.top_p must be a number from 0 to 1, not nan"),
        ("[sampling]\ntop_k = -1\n", ":2: sampling.top_k must be a whole number, 0 or more, not -1"),
        ("name = 'a\tb'\n", ':1: name must be one short line of text, not "a\\tb"'),
        ("temperature = 1\n", ":1: unknown key temperature (hint: did you mean sampling.temperature?)"),
        (
            "[providers.x]\nkind = 'openai'\n",
            (
                ":1: unknown key providers (hint: known here: name, model, small_model, fallbacks, tools, "
                "mode, reasoning_effort, tool_role, limits, rules, sampling)"
            ),
        ),
    ],
)
def test_a_wrong_config_is_refused_with_file_line_and_key(home: Path, config: str, message: str):
    file = write(home, "x", config)

    assert refusal("x", settings(home, home.parent)) == f"{file}{message}"


def test_a_prompt_that_is_no_text_is_refused(home: Path):
    file = write(home, "x", "").with_name("agent.md")
    file.write_bytes(b"one\n\xff")

    assert refusal("x", settings(home, home.parent)) == (
        f"{file}:2: is not UTF-8 text (byte 0xff) (hint: save the file as UTF-8)"
    )


def test_a_projects_prompt_is_not_read_through_a_link_to_elsewhere(home: Path, project: Path, tmp_path: Path):
    """Or a clone could send the user's private key to a model."""
    (tmp_path / "id_rsa").write_text("PRIVATE")
    file = write(project / ".bridle", "x").with_name("agent.md")
    file.symlink_to(tmp_path / "id_rsa")

    assert refusal("x", settings(home, project)) == (
        f"{file}: points outside the project, to {tmp_path}/id_rsa (hint: replace the link with a file)"
    )


def test_a_projects_agents_are_not_found_through_a_link_to_elsewhere(
    home: Path, project: Path, tmp_path: Path
):
    write(tmp_path / "other", "x", "mode = 'plan'")
    (project / ".bridle" / "agents").symlink_to(tmp_path / "other" / "agents")

    assert "points outside the project" in refusal("x", settings(home, project))


def test_models_of_an_agent_come_before_those_of_the_settings(home: Path):
    text = 'small_model = "a/small"\nfallbacks = ["a/1", "a/2"]\n'
    write(home, "own", 'small_model = "b/small"\nfallbacks = []\n')
    write(home, "plain", "")

    agents = [load_agent(name, settings(home, home.parent, text)).agent for name in ("own", "plain")]

    assert [(agent.small_model, agent.fallbacks) for agent in agents] == [
        ("b/small", ()),
        ("a/small", ("a/1", "a/2")),
    ]


def test_a_projects_agent_does_not_choose_who_answers(home: Path, project: Path):
    write(
        project / ".bridle",
        "coder",
        'model = "openai/evil"\nsmall_model = "openai/evil"\nfallbacks = ["openai/evil"]\ntool_role = false\n'
        'mode = "code"\n[sampling]\nmax_tokens = 100000\n[limits]\nmax_turns = 101\n',
    )

    loaded = load_agent("coder", settings(home, project))

    plain = load_agent("coder", settings(home, home.parent)).agent
    assert loaded.agent == plain
    keys = (
        "model",
        "small_model",
        "fallbacks",
        "tool_role",
        "mode",
        "sampling.max_tokens",
        "limits.max_turns",
    )
    assert loaded.left_out.warnings == (NOTE.format(", ".join(f"agents.coder.{key}" for key in keys)),)


def test_a_projects_agent_keeps_the_bounds_of_the_built_in_one(home: Path, project: Path):
    """Or a file `agent.md` alone would give the planner, which only reads, every tool."""
    write(project / ".bridle", "planner", prompt="Write what you like.")
    write(project / ".bridle", "reviewer", 'tools = ["write_file", "bash"]\nmode = "ask"\n')
    planner, reviewer = (
        load_agent(name, settings(home, home.parent)).agent for name in ("planner", "reviewer")
    )

    theirs = [load_agent(name, settings(home, project)).agent for name in ("planner", "reviewer")]

    assert [(one.tools, one.mode) for one in theirs] == [(one.tools, one.mode) for one in (planner, reviewer)]
    assert theirs[0].prompt == "Write what you like."


def test_an_agent_may_write_code_and_leaves_the_mode_to_the_settings(home: Path):
    write(home, "x", 'mode = "code"\n')

    agent = load_agent("x", settings(home, home.parent, '[rules]\nmode = "plan"\n')).agent

    assert (agent.code, agent.mode) == (True, "plan")


def test_how_results_are_told_is_sent_along(home: Path):
    write(home, "x", "tool_role = false\n")

    assert load_agent("x", settings(home, home.parent)).agent.params == {"tool_role": False}
