"""Kontekst's agents and skills in Bridle's home."""

import os
from pathlib import Path

import pytest

from bridle.config.agents import load_agent
from bridle.config.import_files import MAX_SKILL_FILES, ImportOutcome, import_agents, import_skills
from bridle.config.kontekst import DEFAULT_AGENT_FILES, TOOLS
from bridle.config.settings import load_settings
from bridle.config.skills import load_skills


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "kontekst"
    (folder / "agents").mkdir(parents=True)
    (folder / "skills").mkdir()
    return folder


def write(folder: Path, **texts: str) -> None:
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)


def agents(source: Path, home: Path) -> list[ImportOutcome]:
    return list(import_agents(source, home, dry_run=False))


def skills(source: Path, home: Path) -> list[ImportOutcome]:
    return list(import_skills(source, home, dry_run=False))


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_an_agent_is_as_it_was(source: Path, home: Path):
    write(source / "agents/coder", config_toml='model = "q.gguf"\nfuture = 1\n', agent_md="Code.")

    assert agents(source, home) == [ImportOutcome("agent", "coder")]

    agent = load_agent("coder", load_settings({"HOME": str(home.parent)}, home.parent)).agent
    assert (agent.model, agent.prompt, agent.tools) == ("llama/q", "Code.", TOOLS)
    assert agent.params == {"tool_role": False}
    assert names(home) == ["agents", "agents/coder", "agents/coder/agent.md", "agents/coder/config.toml"]


def test_a_file_that_says_it_in_our_words_is_copied_with_its_comments(source: Path, home: Path):
    text = '# mine\nmodel = "llama/q"\ntool_role = true\ntools = []\n'
    write(source / "agents/coder", config_toml=text)

    agents(source, home)

    assert (home / "agents/coder/config.toml").read_text() == text


def test_the_default_agent_does_not_become_that_of_bridle(source: Path, home: Path):
    write(source / "agents/default")
    for name, text in DEFAULT_AGENT_FILES.items():
        (source / "agents/default" / name).write_text(text)

    assert agents(source, home) == [ImportOutcome("agent", "kontekst")]
    assert (home / "agents/kontekst/config.toml").read_text() == (
        "tool_role = false\n"
        'tools = ["read_file", "write_file", "edit_file", "list_files", "web_fetch", "skill"]\n'
        'name = "Default Assistant"\nmodel = "llama/gpt-oss-20b-Q4_K_M"\n\n'
        "[sampling]\ntemperature = 0.7\ntop_p = 0.9\ntop_k = 40\nrepeat_penalty = 1.1\nmax_tokens = 4096\n"
    )


def test_what_is_there_stays(source: Path, home: Path):
    write(source / "agents/coder", agent_md="Theirs.")
    write(home / "agents/coder", agent_md="Mine.")
    (source / "skills/review.md").write_text("Theirs.")
    write(home / "skills/review", SKILL_md="Mine.")

    assert agents(source, home) == [ImportOutcome("agent", "coder", "already there")]
    assert skills(source, home) == [ImportOutcome("skill", "review", "already there")]
    assert (home / "agents/coder/agent.md").read_text() == "Mine."


def test_an_agent_that_is_broken_is_told_and_the_others_come(source: Path, home: Path):
    write(source / "agents/bad", config_toml="\nmodel = 5\n")
    write(source / "agents/good", agent_md="Good.")
    write(source / "agents/has space", agent_md="x")
    write(source / "agents/nothing")

    assert agents(source, home) == [
        ImportOutcome(
            "agent",
            "bad",
            "left out",
            f"{source}/agents/bad/config.toml:2: model must be a model, written provider/name, not 5",
        ),
        ImportOutcome("agent", "good"),
        ImportOutcome("agent", "has space", "left out", "its name is not valid for an agent"),
    ]
    assert names(home / "agents") == ["good", "good/agent.md", "good/config.toml"]


def test_skills_come_with_their_files_and_without_links(source: Path, home: Path):
    write(source / "skills/review/files", a_txt="A")
    (source / "skills/review/SKILL.md").write_text("Look.")
    os.symlink("/etc/passwd", source / "skills/review/link")
    os.mkfifo(source / "skills/review/pipe")
    (source / "skills/short.md").write_text("Be short.")
    write(source / "skills/no skill", x_txt="x")
    (source / "skills/notes.txt").write_text("x")

    assert skills(source, home) == [ImportOutcome("skill", "review"), ImportOutcome("skill", "short")]

    assert names(home / "skills") == [
        "review",
        "review/SKILL.md",
        "review/files",
        "review/files/a.txt",
        "short.md",
    ]
    found = load_skills(load_settings({"HOME": str(home.parent)}, home.parent))
    assert [skill.name for skill in found.skills] == ["review", "short"]
    assert skills(source, home) == [
        ImportOutcome("skill", "review", "already there"),
        ImportOutcome("skill", "short", "already there"),
    ]


def test_a_skill_with_too_many_files_is_left_out(source: Path, home: Path):
    write(source / "skills/huge", SKILL_md="x")
    for number in range(MAX_SKILL_FILES):
        (source / f"skills/huge/{number}").touch()

    assert skills(source, home) == [
        ImportOutcome("skill", "huge", "left out", "it has more than 1000 files or 16 MiB")
    ]


def test_what_a_crash_left_is_no_hindrance(source: Path, home: Path):
    write(source / "agents/coder", agent_md="Code.")
    write(source / "skills/review", SKILL_md="Look.")
    write(home / "agents/.coder.new", config_toml="half")
    write(home / "skills/.review.new", SKILL_md="half")

    assert agents(source, home) == [ImportOutcome("agent", "coder")]
    assert skills(source, home) == [ImportOutcome("skill", "review")]
    assert names(home) == [
        "agents",
        "agents/coder",
        "agents/coder/agent.md",
        "agents/coder/config.toml",
        "skills",
        "skills/review",
        "skills/review/SKILL.md",
    ]


def test_a_dry_run_changes_nothing(source: Path, home: Path):
    write(source / "agents/coder", agent_md="Code.")
    (source / "skills/short.md").write_text("Be short.")

    told = [
        *import_agents(source, home, dry_run=True),
        *import_skills(source, home, dry_run=True),
    ]

    assert told == [ImportOutcome("agent", "coder"), ImportOutcome("skill", "short")]
    assert names(home) == []
