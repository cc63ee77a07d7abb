from pathlib import Path

import pytest

from bridle.core.errors import UsageError
from bridle.core.messages import Media
from bridle.core.skill import Skill
from bridle.surfaces.shared.skill_prompt import expand, expand_in, mention_images, read_image, read_images

SKILLS = (
    Skill("inner", "Think.", "/w/inner.md", "user", user_invocable=False),
    Skill("review", "Look at $0|$ARGUMENTS", "/w/review/SKILL.md", "user"),
)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("/review", "Look at $0|"),
        ("/review a b", "Look at a|a b"),
        ("/review  'a b' c", "Look at a b| 'a b' c"),
        ("/review a\n\nmore", "Look at a\n\nmore|a\n\nmore"),
        ("/review\n\nfrom a pipe", "Look at from|from a pipe"),
    ],
)
def test_a_skill_takes_the_place_of_its_name(text: str, body: str):
    assert expand(text, SKILLS, "/w") == f"[Skill: review]\nBase path: review\n\n{body}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "review this",
        " /review",
        "// a comment",
        "/usr/bin is full",
        "/tmp is full",
        "/-x",
        "/" + "x" * 65,
        "/été",
        "/mcp__server__prompt argument",
    ],
)
def test_any_other_prompt_is_left_alone(text: str):
    assert expand(text, SKILLS, "/w") == text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("/reveiw a", "no skill is named reveiw (hint: did you mean /review?)"),
        (
            "/qqq",
            "no skill is named qqq (hint: bridle skills list; a space before the slash makes it text)",
        ),
        ("/inner", "the skill inner is for the model only (hint: /w/inner.md says so)"),
        (
            "/iner",
            "no skill is named iner (hint: bridle skills list; a space before the slash makes it text)",
        ),
    ],
)
def test_a_name_that_leads_nowhere_is_an_error(text: str, error: str):
    with pytest.raises(UsageError) as caught:
        expand(text, SKILLS, "/w")

    assert str(caught.value) == error


def test_skills_are_those_of_the_working_directory(home: Path, tmp_path: Path):
    folder = tmp_path / "w/.bridle/skills"
    folder.mkdir(parents=True)
    (folder / "hi.md").write_text("Hello, $0.")
    environ = {"HOME": str(home.parent), "BRIDLE_HOME": str(home)}

    assert expand_in("/hi Ann", str(tmp_path / "w"), environ) == (
        "[Skill: hi]\nBase path: .bridle/skills\n\nHello, Ann."
    )
    with pytest.raises(UsageError, match="bridle skills new hi"):
        expand_in("/hi Ann", str(tmp_path), environ)


def test_a_plain_prompt_reads_no_settings(tmp_path: Path):
    assert expand_in("hello", str(tmp_path / "nowhere"), {}) == "hello"


# ---------------------------------------------------------------------------- images

PNG = b"\x89PNG\r\n\x1a\n"


def test_images_that_a_prompt_names_are_read_once_each(tmp_path: Path):
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "my cat.PNG").write_bytes(PNG)
    prompt = f'compare @a.png, (@"my cat.PNG") and @a.png with @b.py, me@c.png @{tmp_path}/a.png?'

    assert [one.name for one in read_images(prompt, str(tmp_path))] == ["a.png", "my cat.PNG", "a.png"]
    assert read_images("@a.png", str(tmp_path)) == (Media("image/png", "iVBORw0KGgo=", "a.png"),)
    assert read_images("no image", "/nowhere") == ()


def test_an_image_that_cannot_be_read_is_an_error(tmp_path: Path):
    (tmp_path / "text.png").write_text("hello")
    (tmp_path / "folder.png").mkdir()
    for name, problem in [
        ("none.png", "@none.png cannot be read: No such file or directory (hint: without the @"),
        ("folder.png", "@folder.png is not a file (hint: without the @ it is only a name)"),
        ("text.png", "@text.png is not an image (hint: use image/png, "),
    ]:
        with pytest.raises(UsageError) as caught:
            read_images(f"see @{name}", str(tmp_path))
        assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("link", ["logo.png", "pictures"])
def test_a_link_of_a_project_sends_no_image_from_elsewhere(tmp_path: Path, link: str):
    project, private = tmp_path / "project", tmp_path / "private"
    project.mkdir()
    private.mkdir()
    (private / "logo.png").write_bytes(PNG)
    (project / "own.png").write_bytes(PNG)
    (project / "again.png").symlink_to("own.png")
    (project / link).symlink_to(private if link == "pictures" else private / "logo.png")
    name = "pictures/logo.png" if link == "pictures" else link

    with pytest.raises(UsageError, match="leads out of the folder"):
        read_images(f"@{name}", str(project))
    with pytest.raises(UsageError, match="leads out of the folder"):
        read_image(str(project / name), str(project))
    assert len(read_images(f"@again.png @{private}/logo.png @../private/logo.png", str(project))) == 3


def test_dropped_images_are_mentioned(tmp_path: Path):
    first, second = tmp_path / "a.png", tmp_path / "my cat.jpg"
    for path in (first, second):
        path.write_bytes(PNG)
    spaced = str(second).replace(" ", "\\ ")

    assert mention_images(f"{first}") == f"@{first} "
    assert mention_images(f"'{second}'\n") == f'@"{second}" '
    assert mention_images(f"{first} {spaced}") == f'@{first} @"{second}" '
    assert mention_images(f"file://{str(second).replace(' ', '%20')}") == f'@"{second}" '
    for text in ("a.png", f"see {first}", f"{tmp_path}/none.png", f"{first} a.txt", "it's a.png", ""):
        assert mention_images(text) == ""
