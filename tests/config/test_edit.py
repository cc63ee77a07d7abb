import stat
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.config.edit import SettingRow, add_rules, get_value, remove_rule, set_in_file, set_value, show
from bridle.config.keys import DEFAULTS
from bridle.config.settings import Settings, load_settings
from bridle.config.toml_document import literal
from bridle.core.errors import ConfigError

RULE_HINT = '(hint: write tool or tool(pattern), for example "edit_file(src/**)")'
TOP_HINT = (
    "(hint: known here: model, agent, small_model, fallbacks, limits, warn_at, retry, rules, "
    "sandbox, kernel, daemon, serve, http, grpc, hooks, compaction, memory, children, comms, mcp, lsp, "
    "store, telemetry, scale, tools, tui, providers, models)"
)

TEXT = """\
# my settings

# about limits
[limits] # all of them
max_tokens = 5 # five
  max_cost = 1

# about rules
[rules]
allow = [ # some
  "a",
]
"""


def load(folder: Path, text: str = "", **environ: str) -> Settings:
    (folder / ".bridle").mkdir(exist_ok=True)
    (folder / ".bridle" / "config.toml").write_text(text)
    return load_settings({"HOME": str(folder), **environ}, folder)


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [
        ("limits.max_tokens", "7", "max_tokens = 5 # five", "max_tokens = 7 # five"),
        ("limits.max_duration", "30m", "max_cost = 1\n", 'max_cost = 1\n  max_duration = "30m"\n'),
        ("model", "a/b", "# about limits", 'model = "a/b"\n\n# about limits'),
        ("rules.allow", '["x", "y"]', 'allow = [ # some\n  "a",\n]', 'allow = ["x", "y"]'),
        ("rules.deny", "bash(a, b)", '  "a",\n]\n', '  "a",\n]\ndeny = ["bash(a, b)"]\n'),
        ("store.sync", "full", '  "a",\n]\n', '  "a",\n]\n\n[store]\nsync = "full"\n'),
        ("providers.x.kind", "openai", '"a",\n]\n', '"a",\n]\n\n[providers.x]\nkind = "openai"\n'),
        ("providers.x.params.n", "1", '"a",\n]\n', '"a",\n]\n\n[providers.x.params]\nn = 1\n'),
    ],
)
def test_one_key_is_changed_and_nothing_else(key: str, value: str, before: str, after: str):
    assert set_value(TEXT, key, value) == TEXT.replace(before, after)


@pytest.mark.parametrize(
    ("text", "key", "value", "edited"),
    [
        ("", "model", "a/b", 'model = "a/b"\n'),
        ("", "limits.max_turns", "5", "[limits]\nmax_turns = 5\n"),
        ("# only this", "model", "a/b", '# only this\nmodel = "a/b"\n'),
        ("model = 'a/b'", "agent", "x", "model = 'a/b'\nagent = \"x\"\n"),
        ("[limits]", "limits.max_turns", "5", "[limits]\nmax_turns = 5\n"),
        (
            "limits = { max_turns = 5 } # x",
            "limits.max_cost",
            "2",
            "limits = { max_turns = 5, max_cost = 2.0 } # x",
        ),
        ("limits = {}", "limits.max_cost", "2.5", "limits = { max_cost = 2.5 }"),
        (
            "limits.max_turns = 5\r\n[rules]\r\n",
            "limits.max_cost",
            "2",
            "limits.max_turns = 5\r\nlimits.max_cost = 2.0\r\n[rules]\r\n",
        ),
        (
            "[providers]\nx.kind = 'openai'\n",
            "providers.x.params.a",
            "true",
            "[providers]\nx.kind = 'openai'\nx.params.a = true\n",
        ),
        (
            "[providers]\nx.kind = 'openai'\n",
            "providers.y.kind",
            "scripted",
            "[providers]\nx.kind = 'openai'\n\n[providers.y]\nkind = \"scripted\"\n",
        ),
        (
            "providers.x.kind = 'openai'\n",
            "providers.y.kind",
            "scripted",
            "providers.x.kind = 'openai'\nproviders.y.kind = \"scripted\"\n",
        ),
        (
            "providers.x = { kind = 'openai' }",
            "providers.x.params.a",
            "1",
            "providers.x = { kind = 'openai', params.a = 1 }",
        ),
        ('[providers."x"]\n', "providers.x.kind", "openai", '[providers."x"]\nkind = "openai"\n'),
        ("[limits]\n\n", "limits.max_turns", "5", "[limits]\nmax_turns = 5\n\n"),
        ("[limits]\nmax_turns = 'bad'\n", "limits.max_turns", "5", "[limits]\nmax_turns = 5\n"),
    ],
)
def test_a_key_goes_where_a_person_would_put_it(text: str, key: str, value: str, edited: str):
    assert set_value(text, key, value) == edited


@pytest.mark.parametrize(
    ("text", "key", "value", "message"),
    [
        ("", "limits.max_token", "5", "unknown key limits.max_token (hint: did you mean limits.max_tokens?)"),
        ("", "limits", "5", 'limits must be a table, not "5"'),
        ("", "limits.max_turns", "x", 'limits.max_turns must be a whole number, 1 or more, not "x"'),
        (
            "",
            "limits.max_turns",
            "5\nmodel = 1",
            'limits.max_turns must be a whole number, 1 or more, not "5\\nmodel = 1"',
        ),
        ("", "limits.max_turns.x", "5", "limits.max_turns is not a table"),
        (
            "",
            "limits.max_duration",
            "0s",
            'limits.max_duration must be a duration such as "30m", longer than zero, not "0s"',
        ),
        ("", "rules.deny", "a(", f'rules.deny[0]: malformed rule "a(" {RULE_HINT}'),
        ("", "rules.deny", '["a"', 'rules.deny must be a list, not "[\\"a\\""'),
        (
            "",
            'providers."a b".kind',
            "openai",
            'providers."a b" must be a name of letters, digits, - and _, not "a b"',
        ),
        (
            "",
            "providers.a.api_key_env",
            "sk-12345",
            "providers.a.api_key_env must be the name of an environment variable, not the key itself",
        ),
        ("", "model", "a/\udcff", "model: the value is not UTF-8 text"),
        ("", "a b", "1", 'malformed key "a b" (hint: write section.key, for example "limits.max_turns")'),
        ("x = 1", "model", "a/b", f"f:1: unknown key x {TOP_HINT}"),
        (
            "\n[limits]\nmax_turns = 0",
            "model",
            "a/b",
            "f:3: limits.max_turns must be a whole number, 1 or more, not 0",
        ),
        ("[limits", "model", "a/b", "f:1: not valid TOML: expected ']' at the end of a table declaration"),
        (
            "[providers.x.params.a]\nb = 1",
            "providers.x.params.a",
            "1",
            "f: providers.x.params.a cannot be set automatically (hint: edit the file by hand)",
        ),
    ],
)
def test_what_would_not_be_a_good_config_is_refused(text: str, key: str, value: str, message: str):
    with pytest.raises(ConfigError) as caught:
        set_value(text, key, value, file="f")

    assert str(caught.value) == message


GOOD: dict[str, st.SearchStrategy[Any]] = {
    "model": st.from_regex(r"\A[a-z]{1,4}/[^\x00-\x1f\x7f\ud800-\udfff]{1,6}\Z"),
    "agent": st.sampled_from(["default", "a.b", "coder"]),
    "limits.max_tokens": st.integers(1, 10**12),
    "limits.max_cost": st.floats(0, 10**6),
    "limits.max_duration": st.sampled_from(["1s", "30m", "1h30m"]),
    "rules.mode": st.sampled_from(["ask", "plan", "accept-edits", "yolo"]),
    "rules.deny": st.lists(
        st.sampled_from(["bash", "edit_file(a, b]#)", 'x("q")', "bash(é\\n)"]), min_size=1
    ),
    "store.backend": st.sampled_from(["sqlite", "jsonl"]),
    "providers.x.kind": st.sampled_from(["openai", "scripted"]),
    "providers.x.base_url": st.just("http://127.0.0.1:1/v1"),
    "providers.x.headers.X-A": st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=5),
    "providers.x.params.note": st.text(max_size=9) | st.lists(st.integers(), max_size=2) | st.booleans(),
    "providers.y.window_tokens": st.integers(1, 10**6),
}
PAIRS = st.sampled_from(sorted(GOOD)).flatmap(lambda key: st.tuples(st.just(key), GOOD[key]))


def nested(pairs: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in pairs.items():
        table = tree
        *parents, name = key.split(".")
        for parent in parents:
            table = table.setdefault(parent, {})
        table[name] = value
    return tree


@st.composite
def configs(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """Draw some good settings, and one of the ways to write them."""
    pairs = draw(st.dictionaries(st.sampled_from(sorted(GOOD)), st.none(), max_size=6))
    pairs = {key: draw(GOOD[key]) for key in pairs}
    top: list[str] = []
    tables: list[str] = []
    for count, (section, value) in enumerate(nested(pairs).items()):
        style = draw(st.sampled_from(["inline", "dotted", "table"]))
        if not isinstance(value, dict) or style == "inline":
            top.append(f"{section} = {literal(value)} # note {count}")
        elif style == "dotted":
            top += [
                f"{key} = {literal(pairs[key])} # {key}" for key in pairs if key.startswith(f"{section}.")
            ]
        else:
            inner = {
                key.removeprefix(f"{section}."): pairs[key] for key in pairs if key.startswith(f"{section}.")
            }
            tables += ["", f"# above {section}", f"[{section}]"]
            tables += [f"  {key} = {literal(item)} # {key}" for key, item in inner.items()]
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return nested(pairs), newline.join(["# first line", *top, *tables]) + draw(st.sampled_from(["", newline]))


@given(configs(), PAIRS)
def test_setting_any_key_in_any_text_changes_only_that_key(
    case: tuple[dict[str, Any], str], pair: tuple[str, Any]
):
    tree, text = case
    key, value = pair
    typed = value if isinstance(value, str) and ".params." not in key else literal(value)

    edited = set_value(text, key, typed)

    wanted = tomllib.loads(text)
    table = wanted
    *parents, name = key.split(".")
    for parent in parents:
        table = table.setdefault(parent, {})
    table[name] = value
    assert tomllib.loads(text) == tree
    assert tomllib.loads(edited) == wanted
    comments = [line.partition("# ")[2] for line in edited.splitlines() if "# " in line]
    assert [
        part for line in text.splitlines() if (part := line.partition("# ")[2]) and part not in comments
    ] == []
    assert set_value(edited, key, typed) == edited


LINES = """\
# mine
[rules]
allow = [ # these
    "a", # about a
    { rule = "bash(ls:*)", match = ["ls"] }, # about ls
    # the last
    "b" # about b
] # end
mode = "ask"
"""


@pytest.mark.parametrize(
    ("text", "rules", "edited", "added"),
    [
        ("", ["a"], '[rules]\nallow = ["a"]\n', ("a",)),
        ("[rules]\nallow = []\n", ["a", "b"], '[rules]\nallow = ["a", "b"]\n', ("a", "b")),
        ("rules = {}", ["a"], 'rules = { allow = ["a"] }', ("a",)),
        ("rules = { allow = ['x'] }", ["a"], "rules = { allow = ['x', \"a\"] }", ("a",)),
        ("rules.allow = ['x',] # y", ["a"], "rules.allow = ['x', \"a\",] # y", ("a",)),
        ("rules.allow = [\n  'x', # y\n]", ["a"], "rules.allow = [\n  'x', # y\n  \"a\",\n]", ("a",)),
        ("[rules]\nallow = [ # none\n]", ["a"], '[rules]\nallow = [ # none\n    "a",\n]', ("a",)),
        (
            "[rules]\r\nallow = [\r\n  'x'\r\n]\r\n",
            ["a", "b"],
            '[rules]\r\nallow = [\r\n  \'x\',\r\n  "a",\r\n  "b",\r\n]\r\n',
            ("a", "b"),
        ),
        (
            LINES,
            ["c(d)", "c(d)"],
            LINES.replace('"b" # about b\n', '"b", # about b\n    "c(d)",\n'),
            ("c(d)",),
        ),
        (LINES, ["a", "bash(ls:*)", "b"], LINES, ()),
        (
            "rules.allow = ['edit_file(./src/)']",
            ["edit_file(src/**)"],
            "rules.allow = ['edit_file(./src/)']",
            (),
        ),
        ("[[x]]", [], "[[x]]", None),
    ],
)
def test_rules_are_added_where_a_person_would(
    tmp_path: Path, text: str, rules: list[str], edited: str, added: tuple[str, ...] | None
):
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode())

    if added is None:
        with pytest.raises(ConfigError):
            add_rules(file, "allow", rules)
    else:
        assert add_rules(file, "allow", rules) == added
    assert file.read_bytes().decode() == edited


@pytest.mark.parametrize(
    ("text", "rule", "edited"),
    [
        ("rules.allow = ['a']", "a", "rules.allow = []"),
        ("rules.allow = ['a', 'b']", "a", "rules.allow = ['b']"),
        ("rules.allow = ['a', 'b']", "b", "rules.allow = ['a']"),
        ("rules.allow = ['a', 'b', 'a']", "a", "rules.allow = ['b']"),
        ("rules.allow = [\n  'a', 'b',\n]", "b", "rules.allow = [\n  'a', ]"),
        (LINES, "a", LINES.replace('    "a", # about a\n', "")),
        (LINES, " a ", LINES.replace('    "a", # about a\n', "")),
        (LINES, "b", LINES.replace('    "b" # about b\n', "")),
        (LINES, "bash(ls:*)", LINES.replace('    { rule = "bash(ls:*)", match = ["ls"] }, # about ls\n', "")),
    ],
)
def test_a_rule_is_taken_out_with_what_belongs_to_it(tmp_path: Path, text: str, rule: str, edited: str):
    file = tmp_path / "config.toml"
    file.write_text(text)

    assert remove_rule(file, "allow", rule)
    assert tomllib.loads(file.read_text()) == tomllib.loads(edited)
    assert file.read_text().count("#") == edited.count("#")


def test_a_rule_that_is_not_there_is_not_taken_out(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text(LINES)

    assert [remove_rule(file, "deny", "a"), remove_rule(file, "allow", "c")] == [False, False]
    assert file.read_text() == LINES


def test_a_malformed_rule_is_not_added(tmp_path: Path):
    file = tmp_path / "config.toml"

    with pytest.raises(ConfigError) as caught:
        add_rules(file, "deny", ["a", "b("])

    assert str(caught.value) == f'malformed rule "b(" {RULE_HINT}'
    assert not file.exists()


def test_a_broken_file_gets_no_rules(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("[rules]\nmode = 'no'\n")

    with pytest.raises(ConfigError) as caught:
        add_rules(file, "deny", ["a"])

    assert str(caught.value) == f'{file}:2: rules.mode must be one of ask, plan, accept-edits, yolo, not "no"'


@given(configs(), st.lists(st.sampled_from(["bash", "x(y)", "edit_file(a, b]#)", "z"]), min_size=1))
def test_adding_rules_to_any_text_changes_only_the_list(case: tuple[dict[str, Any], str], rules: list[str]):
    tree, text = case
    with TemporaryDirectory() as folder:
        file = Path(folder) / "config.toml"
        file.write_bytes(text.encode())

        added = add_rules(file, "deny", rules)
        edited = file.read_bytes().decode()
        for rule in added:
            assert remove_rule(file, "deny", rule)
        restored = tomllib.loads(file.read_text())

    had = tree.get("rules", {}).get("deny", [])
    wanted = {**tree, "rules": {**tree.get("rules", {}), "deny": [*had, *added]}} if added else tree
    assert tomllib.loads(edited) == wanted
    assert added == tuple(rule for rule in dict.fromkeys(rules) if rule not in had)
    assert restored.get("rules", {}).get("deny", []) == had


def test_two_processes_that_add_rules_lose_none(tmp_path: Path):
    file = tmp_path / "config.toml"

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: add_rules(file, "allow", [f"tool{n}"]), range(24)))

    assert sorted(tomllib.loads(file.read_text())["rules"]["allow"]) == sorted(f"tool{n}" for n in range(24))


def test_a_file_is_changed_in_place_and_private(tmp_path: Path):
    file = tmp_path / "new" / "config.toml"

    set_in_file(file, "limits.max_turns", "5")
    set_in_file(file, "limits.max_cost", "1.5")

    assert file.read_text() == "[limits]\nmax_turns = 5\nmax_cost = 1.5\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_refused_change_leaves_the_file_alone(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("[limits]\nmax_turns = 'x'\n")

    with pytest.raises(ConfigError) as caught:
        set_in_file(file, "model", "a/b")

    assert str(caught.value) == f'{file}:2: limits.max_turns must be a whole number, 1 or more, not "x"'
    assert file.read_text() == "[limits]\nmax_turns = 'x'\n"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", "embedded/smollm2-135m"),
        ("limits.max_turns", 100),
        ("limits.max_cost", None),
        ("tools.timeout", "10m"),
        ("rules.deny", ["a", "b(c)"]),
        ("store.s3", {"bucket": "", "endpoint": "", "region": "us-east-1", "prefix": "bridle"}),
        ("providers.x.params.deep.er", [1]),
        ("providers.x.headers", {"X-A": "b"}),
        ("providers.x.params", {"deep": {"er": [1]}}),
    ],
)
def test_a_setting_can_be_asked_for(tmp_path: Path, key: str, value: Any):
    text = 'rules.deny = ["a", "b(c)"]\n[providers.x]\nheaders.X-A = "b"\nparams.deep.er = [1]\n'

    assert get_value(load(tmp_path, text), key) == value


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("limits.max_turn", "unknown key limits.max_turn (hint: did you mean limits.max_turns?)"),
        ("warnings", f"unknown key warnings {TOP_HINT}"),
        ("home", f"unknown key home {TOP_HINT}"),
        ("providers.none.kind", "providers.none.kind is not set (hint: bridle config show)"),
        ("", 'malformed key "" (hint: write section.key, for example "limits.max_turns")'),
    ],
)
def test_a_setting_that_is_not_there_is_an_error(tmp_path: Path, key: str, message: str):
    with pytest.raises(ConfigError) as caught:
        get_value(load(tmp_path), key)

    assert str(caught.value) == message


def test_every_setting_is_shown_with_its_source(tmp_path: Path):
    text = (
        '[limits]\nmax_cost = 2\n[rules]\ndeny = ["a"]\n[providers.x]\napi_key_env = "X_KEY"\n'
        'headers.Authorization = "secret"\nparams.deep.er = "\\u001b"\n'
    )
    (tmp_path / "p" / ".bridle").mkdir(parents=True)
    (tmp_path / "p" / ".bridle" / "config.toml").write_text('[rules]\ndeny = ["b"]\n')
    load(tmp_path, text)
    settings = load_settings({"HOME": str(tmp_path), "X_KEY": "sk"}, tmp_path / "p", {"limits.max_turns": 7})

    user, project = f"user {tmp_path}/.bridle/config.toml", f"project {tmp_path}/p/.bridle/config.toml"
    assert show(settings) == [
        SettingRow("model", '"embedded/smollm2-135m"', "default"),
        SettingRow("agent", '"default"', "default"),
        SettingRow("small_model", '""', "default"),
        SettingRow("fallbacks", "[]", "default"),
        SettingRow("limits.max_tokens", "none", "default"),
        SettingRow("limits.max_duration", "none", "default"),
        SettingRow("limits.max_tool_calls", "none", "default"),
        SettingRow("limits.max_cost", "2.0", user),
        SettingRow("limits.max_turns", "7", "flag"),
        SettingRow("warn_at", "0.8", "default"),
        SettingRow("retry.max_retries", "3", "default"),
        SettingRow("retry.initial_delay", '"500ms"', "default"),
        SettingRow("retry.max_delay", '"30s"', "default"),
        SettingRow("retry.multiplier", "2.0", "default"),
        SettingRow("rules.allow", "[]", "default"),
        SettingRow("rules.ask", "[]", "default"),
        SettingRow("rules.deny", '["a", "b"]', f"{user}, {project}"),
        SettingRow("rules.mode", '"ask"', "default"),
        SettingRow("sandbox.mode", '"on"', "default"),
        SettingRow("sandbox.network", '"rules"', "default"),
        SettingRow("sandbox.writable", "[]", "default"),
        SettingRow("sandbox.pass_env", "[]", "default"),
        SettingRow("sandbox.memory_bytes", "4294967296", "default"),
        SettingRow("sandbox.max_processes", "512", "default"),
        SettingRow("sandbox.max_file_bytes", "4294967296", "default"),
        SettingRow("kernel.python", '""', "default"),
        SettingRow("kernel.uv_python", '"3.13"', "default"),
        SettingRow("kernel.syd_config", '""', "default"),
        SettingRow("kernel.timeout", '"2m"', "default"),
        SettingRow("kernel.snapshots", '"json"', "default"),
        SettingRow("kernel.spares", "0", "default"),
        SettingRow("kernel.max_kernels", "8", "default"),
        SettingRow("kernel.idle", '"10m"', "default"),
        SettingRow("daemon", '"running"', "default"),
        SettingRow("serve.tcp", '""', "default"),
        SettingRow("serve.tls.cert", "none", "default"),
        SettingRow("serve.tls.key", "none", "default"),
        SettingRow("serve.tls.client_ca", "none", "default"),
        SettingRow("serve.idle", '"30m"', "default"),
        SettingRow("serve.max_sessions", "200", "default"),
        SettingRow("serve.memory_bytes", "1073741824", "default"),
        SettingRow("serve.shutdown_timeout", '"10s"', "default"),
        SettingRow("http.bind", '""', "default"),
        SettingRow("http.tls.cert", "none", "default"),
        SettingRow("http.tls.key", "none", "default"),
        SettingRow("http.tls.client_ca", "none", "default"),
        SettingRow("http.token", "true", "default"),
        SettingRow("http.hosts", "[]", "default"),
        SettingRow("http.origins", "[]", "default"),
        SettingRow("grpc.bind", '""', "default"),
        SettingRow("grpc.tls.cert", "none", "default"),
        SettingRow("grpc.tls.key", "none", "default"),
        SettingRow("grpc.tls.client_ca", "none", "default"),
        SettingRow("grpc.approvals", '"each"', "default"),
        SettingRow("grpc.token", "true", "default"),
        SettingRow("hooks.default_timeout_ms", "5000", "default"),
        SettingRow("hooks.payload_max_bytes", "131072", "default"),
        SettingRow("hooks.background_max_concurrency", "32", "default"),
        SettingRow("hooks.entries", "[]", "default"),
        SettingRow("compaction.auto", "true", "default"),
        SettingRow("compaction.threshold_tokens", "100000", "default"),
        SettingRow("compaction.window_share", "0.8", "default"),
        SettingRow("compaction.keep_turns", "4", "default"),
        SettingRow("compaction.max_summary_tokens", "4096", "default"),
        SettingRow("compaction.min_turns_between", "3", "default"),
        SettingRow("compaction.clear_outputs", "true", "default"),
        SettingRow("memory.enabled", "true", "default"),
        SettingRow("memory.embedder", '"auto"', "default"),
        SettingRow("memory.base_url", '""', "default"),
        SettingRow("memory.model", '""', "default"),
        SettingRow("memory.api_key_env", '""', "default"),
        SettingRow("memory.min_score", "0.35", "default"),
        SettingRow("memory.exact_up_to", "20000", "default"),
        SettingRow("children.enabled", "true", "default"),
        SettingRow("children.max_depth", "3", "default"),
        SettingRow("children.max_running", "32", "default"),
        SettingRow("children.max_children", "100", "default"),
        SettingRow("children.max_tokens", "none", "default"),
        SettingRow("children.models", "[]", "default"),
        SettingRow("comms.mode", '"off"', "default"),
        SettingRow("comms.name", '"bridle"', "default"),
        SettingRow("comms.address", '""', "default"),
        SettingRow("comms.other_machines", "false", "default"),
        SettingRow("mcp.wait", '"5s"', "default"),
        SettingRow("mcp.share", "0.05", "default"),
        SettingRow("mcp.idle", '"15m"', "default"),
        SettingRow("mcp.servers", "{}", "default"),
        SettingRow("lsp.enabled", "true", "default"),
        SettingRow("lsp.wait", '"3s"', "default"),
        SettingRow("lsp.sandbox", "true", "default"),
        SettingRow("lsp.idle", '"15m"', "default"),
        SettingRow("lsp.servers", "{}", "default"),
        SettingRow("store.backend", '"sqlite"', "default"),
        SettingRow("store.sync", '"normal"', "default"),
        SettingRow("store.url", '""', "default"),
        SettingRow("store.url_env", '"BRIDLE_DATABASE_URL"', "default"),
        SettingRow("store.pool", "8", "default"),
        SettingRow("store.patience", '"5m"', "default"),
        SettingRow("store.blobs", '"files"', "default"),
        SettingRow("store.s3.bucket", '""', "default"),
        SettingRow("store.s3.endpoint", '""', "default"),
        SettingRow("store.s3.region", '"us-east-1"', "default"),
        SettingRow("store.s3.prefix", '"bridle"', "default"),
        SettingRow("store.keep_archived", "none", "default"),
        SettingRow("telemetry.traces", "false", "default"),
        SettingRow("telemetry.metrics", "false", "default"),
        SettingRow("telemetry.logs", "false", "default"),
        SettingRow("telemetry.endpoint", '""', "default"),
        SettingRow("telemetry.content", "false", "default"),
        SettingRow("telemetry.prometheus", "false", "default"),
        SettingRow("telemetry.prometheus_open", "false", "default"),
        SettingRow("scale.enabled", "false", "default"),
        SettingRow("scale.node", '""', "default"),
        SettingRow("scale.listen", '"127.0.0.1:0"', "default"),
        SettingRow("scale.advertise", '""', "default"),
        SettingRow("scale.labels", "[]", "default"),
        SettingRow("scale.only_labels", "false", "default"),
        SettingRow("scale.runs", "64", "default"),
        SettingRow("scale.priority", "100", "default"),
        SettingRow("scale.workspaces", '"shared"', "default"),
        SettingRow("scale.tenant_folders", '""', "default"),
        SettingRow("scale.fetch", "[]", "default"),
        SettingRow("scale.fetch_timeout", '"10m"', "default"),
        SettingRow("scale.rest_after", '"30s"', "default"),
        SettingRow("scale.take_timeout", '"1m"', "default"),
        SettingRow("scale.beat", '"1s"', "default"),
        SettingRow("scale.dead_after", '"15s"', "default"),
        SettingRow("scale.poll", '"100ms"', "default"),
        SettingRow("scale.migrate", "true", "default"),
        SettingRow("scale.tls.cert", "none", "default"),
        SettingRow("scale.tls.key", "none", "default"),
        SettingRow("scale.tls.client_ca", "none", "default"),
        SettingRow("scale.tenants.runs", "none", "default"),
        SettingRow("scale.tenants.starts", "none", "default"),
        SettingRow("scale.tenants.period", '"1m"', "default"),
        SettingRow("scale.models", "{}", "default"),
        SettingRow("scale.placement", "[]", "default"),
        SettingRow("tools.max_file_bytes", "10485760", "default"),
        SettingRow("tools.max_output_bytes", "65536", "default"),
        SettingRow("tools.timeout", '"10m"', "default"),
        SettingRow("tools.max_parallel", "32", "default"),
        SettingRow("tools.bash_timeout", '"2m"', "default"),
        SettingRow("tools.background_after", '"1m"', "default"),
        SettingRow("tools.web_timeout", '"30s"', "default"),
        SettingRow("tools.web_max_bytes", "5242880", "default"),
        SettingRow("tui.theme", '"auto"', "default"),
        SettingRow("tui.diff", '"unified"', "default"),
        SettingRow("tui.notify", '"bell"', "default"),
        SettingRow("tui.mouse", "true", "default"),
        SettingRow("tui.keys", "{}", "default"),
        *(
            SettingRow(
                f"providers.{name}.{key}",
                literal(value),
                "default, which is not set" if key == "api_key_env" else "default",
            )
            for name, provider in DEFAULTS["providers"].items()
            for key, value in provider.items()
        ),
        SettingRow("providers.x.kind", '"openai"', "default"),
        SettingRow("providers.x.api_key_env", '"X_KEY"', f"{user}, which is set"),
        SettingRow("providers.x.headers.Authorization", "(hidden)", user),
        SettingRow("providers.x.params.deep.er", '"\\u001b"', user),
    ]
