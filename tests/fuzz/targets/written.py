"""Targets: files and settings that people write."""

import tempfile
from contextlib import suppress
from pathlib import Path

from bridle.config.duration import format_duration, parse_duration
from bridle.config.edit import set_value
from bridle.config.keys import ConfigFile
from bridle.config.kontekst import kontekst_layer, read_kontekst
from bridle.config.layers import Layer, Source, check, merge
from bridle.config.mcp_files import json_lines, parse_json, read_mcp_file
from bridle.config.skill_file import SkillFile, parse_skill
from bridle.config.toml_document import parse_toml, scan
from bridle.config.validation import build
from bridle.core.errors import BridleError, ConfigError
from bridle.core.permission import MODE_TABLE, judge, parse_rule, suggest_rules
from bridle.core.skill import fill_in, read_front_matter, render, split_front_matter
from bridle.core.tenancy import format_token, parse_token
from bridle.core.tool import Access, Subject
from tests.fuzz.target import Target, parts_of, text_of


def run_config(data: bytes) -> None:
    """Read a config.toml: ConfigError with its name, or settings; every place in it is found again."""
    text = text_of(data)
    try:
        tree = parse_toml(text, "config.toml")
        document = scan(text)
        for path, line in document.lines.items():
            assert 1 <= line <= text.count("\n") + 1, path
        layer = Layer(Source("user", "config.toml"), tree, text)
        check(layer, ConfigFile)
        merged = merge([layer, layer])
        build(merged.tree, ConfigFile)
    except ConfigError as error:
        if "config.toml" not in error.message:
            raise AssertionError("the error does not name its file") from error


def run_set_value(data: bytes) -> None:
    """Change one key of a text: only that changes, and what others wrote stays."""
    text, key, value = parts_of(data, 3)
    try:
        edited = set_value(text, key, value)
    except ConfigError:
        return
    parse_toml(edited, "config.toml")
    assert set_value(edited, key, value) == edited


def run_kontekst_config(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.toml"
        file.write_bytes(data)
        with suppress(ConfigError):
            config = read_kontekst(file, {"HOME": folder})
            assert config.data_dir.is_absolute()
            kontekst_layer(config)


def run_json_config(data: bytes) -> None:
    text = text_of(data)
    with suppress(ConfigError):
        parse_json(text, ".mcp.json")
        for line in json_lines(text).values():
            assert 1 <= line <= text.count("\n") + 1
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / ".mcp.json"
        file.write_bytes(data)
        with suppress(ConfigError):
            read_mcp_file(file, Path(folder))


def run_skill(data: bytes) -> None:
    """Read a skill: problems are reported, never raised; rendering inserts arguments once."""
    text = text_of(data)
    parts = read_front_matter(text)
    assert text.endswith(parts.body) or parts.syntax == "toml"
    split_front_matter(text)
    parsed = parse_skill(text, SkillFile("/s/a/SKILL.md", "a", "project", has_folder=True))
    assert parsed.skill is not None or parsed.problems
    if parsed.skill is not None:
        render(parsed.skill, text[:200], "/s")
    fill_in(text[:2_000], text[:2_000])


def run_rule(data: bytes) -> None:
    """Read a rule: one that is read is written and read again the same; matching takes bounded time."""
    first, second = parts_of(data, 2)
    try:
        rule = parse_rule("allow", first)
    except ConfigError:
        return
    assert parse_rule("allow", str(rule)) == rule
    subjects = tuple(
        Subject(kind, second[:4_000])
        for kind in ("path", "command", "domain", "text")  # type: ignore[arg-type]
    )
    access = Access(rule.tool, "write", subjects)
    for mode in MODE_TABLE:
        judge(access, (rule, parse_rule("deny", "bash")), mode)
        for suggested in suggest_rules(access, (rule,), mode):
            with suppress(ConfigError):
                parse_rule("allow", suggested)


def run_token(data: bytes) -> None:
    text = text_of(data)
    found = parse_token(text)
    if found is not None:
        assert format_token(*found) == text


def run_duration(data: bytes) -> None:
    with suppress(ValueError, BridleError):
        seconds = parse_duration(text_of(data))
        assert seconds >= 0
        assert abs(parse_duration(format_duration(seconds)) - seconds) <= seconds * 1e-6


_TOML = (
    b"[",
    b"]",
    b"[[",
    b"]]",
    b" = ",
    b'"""',
    b"'''",
    b"{ a = 1 }",
    b"#",
    b"a.b.c",
    b"0x1f",
    b"1979-05-27",
    b"inf",
)
TARGETS = (
    Target(
        name="config",
        run=run_config,
        modules=("bridle.config.toml_document", "bridle.config.validation", "bridle.config.layers"),
        tokens=(*_TOML, b"rules", b"limits", b"providers", b"hooks", b"allow", b"mcp.servers"),
    ),
    Target(
        name="set_value",
        run=run_set_value,
        modules=("bridle.config.edit", "bridle.config.toml_document"),
        tokens=(*_TOML, b"\n%%\n", b"limits.max_turns"),
    ),
    Target(
        name="kontekst_config",
        run=run_kontekst_config,
        modules=("bridle.config.kontekst",),
        tokens=(*_TOML, b"bind", b"endpoint", b"data_dir", b"~/", b"127.0.0.1:80"),
    ),
    Target(
        name="json_config",
        run=run_json_config,
        modules=("bridle.config.mcp_files", "bridle.config.mcp_files", "bridle.config.mcp"),
        tokens=(b'"mcpServers":{', b'"command":"', b'"url":"', b'"env":{', b"//", b'\\"'),
        is_json=True,
    ),
    Target(
        name="skill",
        run=run_skill,
        modules=("bridle.core.skill", "bridle.config.skill_file"),
        tokens=(
            b"+++\n",
            b"---\n",
            b"name: ",
            b'name = "a"\n',
            b"$ARGUMENTS",
            b"$1",
            b"description: |",
            b"&a *a",
            b"!!x",
        ),
    ),
    Target(
        name="rule",
        run=run_rule,
        modules=("bridle.core.permission",),
        tokens=(
            b"bash(",
            b":*)",
            b"read_file(",
            b"**/",
            b"*",
            b"domain:",
            b"mcp__a__*",
            b"\n%%\n",
            b"{a,b}",
            b"[a-z]",
        ),
    ),
    Target(
        name="token",
        run=run_token,
        modules=("bridle.core.tenancy",),
        tokens=(b"brdl_", b"0" * 16, b"0" * 64, b"_"),
    ),
    Target(
        name="duration",
        run=run_duration,
        modules=("bridle.config.duration",),
        tokens=(b"h", b"m", b"s", b"ms", b"1.5", b"e9"),
    ),
)
