from pathlib import Path

import pytest

from bridle.app import hooks_in, open_sandbox
from bridle.config.edit import get_value, show
from bridle.config.hooks import FoundHook, find_hook_programs, redact_entry
from bridle.config.settings import Settings, load_settings
from bridle.config.toml_document import parse_toml
from bridle.config.trust_record import fingerprint, set_trust
from bridle.core.errors import ConfigError
from bridle.core.hook import CommandRuntime, HookEntry, HookOverride, HttpRuntime, InProcessRuntime


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home/.bridle"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    (path / ".bridle").mkdir(parents=True)
    return path


def load(home: Path, cwd: Path) -> Settings:
    return load_settings({"HOME": str(home.parent)}, cwd)


def write(folder: Path, text: str) -> Path:
    file = folder / "config.toml"
    file.write_text(text)
    return file


def named(name: str, more: str = "") -> str:
    return f'[[hooks.entries]]\nid = "{name}"\nruntime = {{ type = "in_process", name = "f" }}\n{more}'


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_every_key_of_an_entry_is_read(home: Path, project: Path):
    file = write(
        home,
        """
        [[hooks.entries]]
        id = "a"
        enabled = false
        point = "run_failed"
        mode = "background"
        capability = "rewrite"
        priority = -3
        failure_policy = "fail_open"
        timeout_ms = 10
        tools = ["bash", "mcp__*"]
        [hooks.entries.runtime]
        type = "command"
        command = "ls"
        args = ["-l"]
        env = { A = "b" }

        [[hooks.entries]]
        runtime = { type = "http", url = "http://x", method = "PUT", headers = { A = "b" } }
        """,
    )
    first = HookEntry(
        CommandRuntime("ls", ("-l",), {"A": "b"}),
        "a",
        False,
        "run_failed",
        "background",
        "rewrite",
        -3,
        "fail_open",
        10,
        ("bash", "mcp__*"),
    )
    second = HookEntry(HttpRuntime("http://x", "PUT", {"A": "b"}))

    settings = load(home, project)

    assert settings.hooks.entries == (first, second)
    assert settings.hooks_found == (
        FoundHook(first, f"{file}:2", "user"),
        FoundHook(second, f"{file}:18", "user"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hooks.entries = 5", "1: hooks.entries must be a list, not 5"),
        ("hooks.entries = [5]", "1: hooks.entries[0] must be a table, not 5"),
        ("[[hooks.entries]]\nid = 'a'", "1: hooks.entries[0] has no runtime"),
        ("[[hooks.entries]]\nruntime = 'ls'", '2: hooks.entries[0].runtime must be a table, not "ls"'),
        (
            "[[hooks.entries]]\nruntime.command = 'ls'",
            "2: hooks.entries[0].runtime has no type (hint: one of in_process, command, http)",
        ),
        (
            "[[hooks.entries]]\nruntime.type = 'wasm'",
            '2: hooks.entries[0].runtime.type must be one of in_process, command, http, not "wasm"',
        ),
        (
            "[[hooks.entries]]\nruntime.type = ['http']",
            '2: hooks.entries[0].runtime.type must be one of in_process, command, http, not ["http"]',
        ),
        ("[[hooks.entries]]\nruntime.type = 'http'", "2: hooks.entries[0].runtime has no url"),
        (
            "[[hooks.entries]]\nruntime = { type = 'http', url = 'http://x', name = 'a' }",
            "2: unknown key hooks.entries[0].runtime.name (hint: known here: url, method, headers)",
        ),
        (
            "[[hooks.entries]]\n[hooks.entries.runtime]\ntype='command'\ncommand='ls'\nenv.A = 5",
            "5: hooks.entries[0].runtime.env.A must be text",
        ),
        (named("a", "point = 'pre_tool'"), "4: hooks.entries[0].point must be one of run_started, "),
        (named("a", "prioriti = 1"), "4: unknown key hooks.entries[0].prioriti (hint: did you mean "),
        (named(""), '2: hook "": id: must be 1 to 100 characters on one line'),
        (named("a", "timeout_ms = 0"), '4: hook "a": timeout_ms: must be 1 to 600000'),
        (
            named("a") + named("a"),
            '4: hook "a": id: is already used by another hook (hint: the other one is at ',
        ),
        (
            named("a", "mode = 'background'\ncapability = 'guardrail'"),
            '4: hook "a": mode: a background hook at turn_boundary can only observe',
        ),
        (
            "[[hooks.entries]]\nruntime = { type = 'http', url = 'gopher://x' }",
            '2: hook "hook": runtime.url: must start with http:// or https://',
        ),
    ],
)
def test_what_is_wrong_is_told_with_file_line_and_key(home: Path, project: Path, text: str, message: str):
    file = write(home, text)

    with pytest.raises(ConfigError) as caught:
        load(home, project)

    assert str(caught.value).startswith(f"{file}:{message}")


def test_a_secret_is_not_repeated_in_a_message(home: Path, project: Path):
    write(home, "[[hooks.entries]]\nruntime = { type = 'command', command = 'ls', env = { KEY = ['hush'] } }")

    with pytest.raises(ConfigError) as caught:
        load(home, project)

    assert "hush" not in str(caught.value)


def command(name: str, path: str) -> str:
    return f'[[hooks.entries]]\nid = "{name}"\nruntime = {{ type = "command", command = "{path}" }}\n'


def commands(settings: Settings) -> dict[str, str]:
    return {
        hook.entry.id: hook.entry.runtime.command
        for hook in settings.hooks_found
        if isinstance(hook.entry.runtime, CommandRuntime)
    }


def test_a_program_of_yours_lies_beside_your_settings(home: Path, project: Path):
    write(
        home,
        command("a", "hooks/a")
        + command("b", "./b")
        + command("c", "/c")
        + command("d", "~/d")
        + command("e", "e"),
    )

    assert commands(load(home, project)) == {
        "a": f"{home}/hooks/a",
        "b": f"{home}/b",
        "c": "/c",
        "d": "~/d",
        "e": "e",
    }


def test_a_program_of_a_project_lies_beside_its_settings_or_in_it(home: Path, project: Path):
    write(project / ".bridle", command("a", "hooks/a") + command("b", "tools/b") + command("c", "tools/c"))
    program(project / "hooks/a")
    first = program(project / ".bridle/hooks/a")
    second = program(project / "tools/b")

    assert commands(load(home, project)) == {
        "a": str(first),
        "b": str(second),
        "c": f"{project}/.bridle/tools/c",
    }


# ---------------------------------------------------------------------------- trust


def trust(home: Path, project: Path) -> None:
    set_trust(home, str(project), fingerprint(project))


def states(settings: Settings) -> list[tuple[str, bool]]:
    return [(hook.entry.id, hook.trusted) for hook in settings.hooks_found]


def test_hooks_of_a_project_have_no_effect_until_it_is_trusted(home: Path, project: Path):
    write(home, named("mine"))
    file = write(project / ".bridle", "[hooks]\ndefault_timeout_ms = 1\n" + named("a") + named("b"))

    before = load(home, project)
    trust(home, project)
    after = load(home, project)

    [note] = before.warnings
    assert note.endswith(
        "ignored hooks.default_timeout_ms, hooks.entries[0], hooks.entries[1] "
        "(hint: review and allow them with bridle trust)"
    )
    assert [one.place for one in before.trust_keys] == [f"{file}:{line}" for line in (2, 3, 6)]
    assert [entry.id for entry in before.hooks.entries] == ["mine"]
    assert before.hooks.default_timeout_ms == 5000
    assert states(before) == [("mine", True), ("a", False), ("b", False)]
    assert after.warnings == ()
    assert [entry.id for entry in after.hooks.entries] == ["mine", "a", "b"]
    assert after.hooks.default_timeout_ms == 1
    assert states(after) == [("mine", True), ("a", True), ("b", True)]
    assert after.trust_keys[1].value == ('{ id = "a", runtime = { type = "in_process", name = "f" } }')


def test_a_hook_of_a_trusted_project_may_not_have_the_id_of_one_of_yours(home: Path, project: Path):
    mine = write(home, named("a"))
    theirs = write(project / ".bridle", named("a"))

    assert states(load(home, project)) == [("a", True), ("a", False)]
    trust(home, project)
    with pytest.raises(ConfigError) as caught:
        load(home, project)

    assert str(caught.value) == (
        f'{theirs}:1: hook "a": id: is already used by another hook '
        f"(hint: the other one is at {mine}:1; a hook without an id is called hook)"
    )


@pytest.mark.parametrize("place", [".bridle/hooks/a", "tools/a", ".bridle/hooks/lib/deep.py"])
def test_trust_ends_when_a_program_of_a_hook_changes(home: Path, project: Path, place: str):
    write(project / ".bridle", command("a", "hooks/a") + command("b", "tools/a"))
    for path in (".bridle/hooks/a", "tools/a", ".bridle/hooks/lib/deep.py"):
        program(project / path)
    trust(home, project)
    trusted = load(home, project)
    (project / place).write_text("#!/bin/sh\nexit 0\n")
    changed = load(home, project)

    assert states(trusted) == [("a", True), ("b", True)]
    assert states(changed) == [("a", False), ("b", False)]
    assert "has changed since you trusted it" in changed.warnings[0]


@pytest.mark.parametrize("capability", ["guardrail", "rewrite", "observe"])
def test_a_guardrail_that_is_trusted_no_longer_does_not_just_fall_away(
    home: Path, project: Path, capability: str
):
    file = write(project / ".bridle", command("a", "tools/a") + f'capability = "{capability}"\n')
    program(project / "tools/a")
    never_trusted = load(home, project)
    trust(home, project)
    (project / "tools/a").write_text("#!/bin/sh\nexit 0\n")
    changed = load(home, project)

    assert hooks_in(never_trusted, {}, HookOverride(), open_sandbox(changed)).points == frozenset()
    if capability == "observe":
        assert hooks_in(changed, {}, HookOverride(), open_sandbox(changed)).points == frozenset()
        return
    with pytest.raises(ConfigError) as caught:
        hooks_in(changed, {}, HookOverride(), open_sandbox(changed))
    assert str(caught.value) == (
        f'{file}:1: hook "a" is inactive: the project has changed since you trusted it '
        "(hint: review it: bridle trust)"
    )


def test_trust_ends_when_a_program_comes_that_would_be_taken_first(home: Path, project: Path):
    write(project / ".bridle", command("a", "tools/a"))
    program(project / "tools/a")
    trust(home, project)
    program(project / ".bridle/tools/a")

    assert states(load(home, project)) == [("a", False)]


def test_a_program_outside_of_the_project_is_not_part_of_its_trust(home: Path, project: Path):
    outside = program(project.parent / "x")
    write(project / ".bridle", command("a", "../../x"))
    trust(home, project)
    outside.write_text("#!/bin/sh\nexit 1\n")

    assert states(load(home, project)) == [("a", True)]


@pytest.mark.parametrize(
    "text", ["hooks = 5", "hooks.entries = 5", "hooks.entries = [5]", "[[hooks.entries]]\nruntime = 5", ""]
)
def test_files_are_found_in_a_text_that_nobody_has_judged(text: str):
    assert list(find_hook_programs(parse_toml(text, ""))) == []


# ---------------------------------------------------------------------------- showing


def test_what_may_be_a_secret_is_not_shown(home: Path, project: Path):
    file = write(
        home, "[[hooks.entries]]\nruntime = { type = 'http', url = 'http://x', headers = { Auth = 'hush' } }"
    )
    settings = load(home, project)

    (row,) = [row for row in show(settings) if row.key == "hooks.entries"]

    assert row.source == f"user {file}"
    runtime = '{ type = "http", url = "http://x", method = "POST", headers = { Auth = "(hidden)" } }'
    assert row.value == f"[{{ runtime = {runtime} }}]"
    assert redact_entry(HookEntry(CommandRuntime("ls", env={"KEY": "hush"})))["runtime"]["env"] == {
        "KEY": "(hidden)"
    }


def test_entries_can_be_asked_for(home: Path, project: Path):
    write(home, named("a"))

    assert get_value(load(home, project), "hooks.entries") == [
        {"id": "a", "runtime": {"type": "in_process", "name": "f"}}
    ]
    assert load(home, project).hooks.entries == (HookEntry(InProcessRuntime("f"), "a"),)
