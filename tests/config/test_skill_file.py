import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.config.skill_file import ParsedSkill, SkillFile, SkillProblem, parse_skill
from bridle.core.skill import Skill

PATH = "/s/review/SKILL.md"
FILE = SkillFile(PATH, "review", "user", has_folder=True)


def parsed(text: str, file: SkillFile = FILE) -> ParsedSkill:
    return parse_skill(text, file)


def refusal(text: str) -> str:
    """Return the one problem of a skill that cannot be used, with its hint."""
    result = parsed(text)
    assert result.skill is None
    [problem] = result.problems
    assert problem.is_left_out
    return f"{problem} ({problem.hint})" if problem.hint else str(problem)


# ---------------------------------------------------------------------------- what is read


def test_yaml_says_all_there_is_to_say():
    text = (
        "---\nname: review\ndescription: >\n  Looks at\n  a change.\nargument-hint: [file] \n"
        "user-invocable: false\ndisable-model-invocation: yes\nlicense: MIT\nallowed-tools: Bash(git:*)\n"
        "metadata:\n  version: '1'\n---\n\nLook at $0.\n\n"
    )

    assert parsed(text) == ParsedSkill(
        Skill(
            name="review",
            body="Look at $0.",
            file=PATH,
            level="user",
            description="Looks at a change.",
            argument_hint="[file]",
            user_invocable=False,
            disable_model_invocation=True,
            has_folder=True,
        )
    )


def test_toml_says_the_same_and_may_give_another_name():
    text = (
        '+++\r\nname = "look"\r\ndescription = "Looks."\r\nuser_invocable = false\r\n'
        "disable_model_invocation = true\r\n+++\r\nLook.\r\nAgain.\r\n"
    )

    assert parsed(text) == ParsedSkill(
        Skill("look", "Look.\nAgain.", PATH, "user", "Looks.", "", False, True, True)
    )


def test_without_front_matter_the_file_gives_the_name():
    assert parsed("Look.\n") == ParsedSkill(Skill("review", "Look.", PATH, "user", has_folder=True))


# ---------------------------------------------------------------------------- what is unwise


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        (
            "name: look\ndescription: d",
            SkillProblem(
                f"{PATH}:2",
                'its name "look" differs from its folder\'s',
                "rename one of them; until then it is called review",
                is_left_out=False,
            ),
        ),
        (
            "name: review",
            SkillProblem(
                f"{PATH}:2", "it has no description, so the model cannot choose it", is_left_out=False
            ),
        ),
        (
            f"name: review\ndescription: {'d' * 1025}",
            SkillProblem(f"{PATH}:3", "its description has more than 1,024 characters", is_left_out=False),
        ),
    ],
)
def test_what_is_only_unwise_is_told_and_the_skill_loads(head: str, problem: SkillProblem):
    result = parsed(f"---\n{head}\n---\nLook.")

    assert result.problems == (problem,)
    assert result.skill is not None
    assert result.skill.name == "review"


def test_a_name_that_others_would_refuse_is_told():
    result = parsed("---\ndescription: d\n---\nLook.", SkillFile(PATH, "My_Review", "user", has_folder=True))

    assert [problem.message for problem in result.problems] == [
        "My_Review should have only lowercase letters, digits and single dashes"
    ]


# ---------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("---\nname: [\n---\nx", ":3: not valid YAML: did not find expected node content"),
        (
            "---\nname: a\ndescription: use it: now\n---\nx",
            (
                ":3: not valid YAML: mapping values are not allowed in this context "
                '(quote text that contains a colon: "…")'
            ),
        ),
        ("---\na: 2024-99-99\n---\nx", ":2: not valid YAML: month must be in 1..12"),
        ("---\na: !!python/name:os.system\n---\nx", ":2: not valid YAML: could not determine a constructor"),
        ("---\na: \x00\n---\nx", ":2: not valid YAML: it contains characters that YAML does not allow"),
        ("---\n- a\n---\nx", ":2: its front matter is not a list of keys and values (write key: value)"),
        ("---\n1: a\n---\nx", ":2: its front matter is not a list of keys and values (write key: value)"),
        ("---\na: &a 1\nb: *a\n---\nx", ":2: not valid front matter: aliases (*a) are not allowed"),
        (f"---\na: {'[' * 9000}\n---\nx", ":2: not valid front matter: nested too deeply"),
        (f"---\na: {'b' * 17_000}\n---\nx", ":2: its front matter has more than 16,384 characters"),
        ("---\nname: 5\n---\nx", ":2: name must be text, not 5"),
        ("---\ndescription: {a: b}\n---\nx", ":2: description must be text, not a table"),
        ("\n\n+++\na = 1\nb =\n+++\nx", ":5: not valid TOML: invalid value"),
        ("\n+++\n\nuser_invocable = 0\n+++\nx", ":4: user_invocable must be true or false, not 0"),
        ("+++\nname = ''\n+++\n", ": it has no text"),
        (
            "+++\nname = '../x'\n+++\nx",
            ':2: "../x" is not a name (use letters, digits, -, _ and inner dots, at most 64 characters)',
        ),
        (
            "---\nuser-invokable: false\n---\nx",
            ":2: unknown key user-invokable (did you mean user_invocable?)",
        ),
        ("+++\ndescripton = 'd'\n+++\nx", ":2: unknown key descripton (did you mean description?)"),
        ("+++\na = 1\n", ":1: its front matter is not closed (close it with a line like the first)"),
        ("---\ndisable-model-invocation: true\n\nx", ":1: its front matter is not closed"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, message: str):
    assert refusal(text).startswith(f"{PATH}{message}")


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a b", "a/b", "x" * 65, "-rf"])
def test_a_name_that_cannot_be_typed_is_refused(name: str):
    result = parse_skill("x", SkillFile(PATH, name, "user", has_folder=True))

    assert result.skill is None
    assert "is not a name" in result.problems[0].message


@given(st.text(st.sampled_from("-+:=[]{}&*!|>'\"# \nabn0\t\x00\ud800é,?%@`~"), max_size=80))
def test_no_front_matter_is_too_strange(head: str):
    for text in (f"---\n{head}\n---\nx", f"+++\n{head}\n+++\nx"):
        result = parsed(text)

        assert (result.skill is None) == any(problem.is_left_out for problem in result.problems)


def test_merged_keys_cannot_grow_without_bound():
    lines = ["a0: &a0 {k: v}", *(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 40))]

    assert "aliases (*a0) are not allowed" in refusal("---\n" + "\n".join(lines) + "\n---\nx")
