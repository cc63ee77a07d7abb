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
from bridle.config.keys import DEFAULTS, ConfigFile
from bridle.config.settings import Settings, load_settings
from bridle.config.toml_document import literal, parse_toml
from bridle.config.validation import build
from bridle.core.errors import ConfigError
from tests.config.page import page_table

RULE_HINT = '(hint: write tool or tool(pattern), for example "edit_file(src/**)")'
TOP_HINT = f"(hint: known here: {', '.join(ConfigFile.__struct_fields__)})"

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


def test_every_setting_is_shown_as_the_page_tells_it(tmp_path: Path):
    rows = [row for row in show(load(tmp_path)) if not row.key.startswith("providers.")]
    told = {
        key.split(".NAME.")[0]: "{}" if ".NAME." in key else cells[0].strip("`")
        for key, cells in page_table("Every key").items()
        if not key.startswith(("providers.NAME.", "models.NAME."))
    }

    assert [(row.key, row.value) for row in rows] == list(told.items())
    assert {row.source for row in rows} == {"default"}


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
    rows = show(settings)
    assert [row for row in rows if row.source != "default" and not row.key.startswith("providers.")] == [
        SettingRow("limits.max_cost", "2.0", user),
        SettingRow("limits.max_turns", "7", "flag"),
        SettingRow("rules.deny", '["a", "b"]', f"{user}, {project}"),
    ]
    assert [row for row in rows if row.key.startswith("providers.")] == [
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


def test_every_key_that_is_empty_by_default_can_be_set_to_that():
    empty = [key.replace("NAME", "x") for key, cells in page_table("Every key").items() if cells[0] == '`""`']
    text = ""
    for key in empty:
        text = set_value(text, key, "")

    settings = build(parse_toml(text, ""), ConfigFile)

    assert len(empty) > 20
    assert (settings.small_model, settings.http.bind, settings.kernel.python) == ("", "", "")


def test_an_empty_text_switches_off_what_a_lower_layer_says(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('small_model = "a/b"\n[http]\nbind = "127.0.0.1:1"\n')

    settings = load_settings({"BRIDLE_HOME": str(home)}, tmp_path, {"small_model": "", "http.bind": ""})

    assert (settings.small_model, settings.http.bind) == ("", "")
