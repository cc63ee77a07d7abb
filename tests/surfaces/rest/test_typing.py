"""Help for typing a prompt: files, commands, skills; and the list of live sessions."""

from pathlib import Path

from tests.surfaces.rest.client import events_of
from tests.surfaces.rest.house import opened

HELLO = [{"text": "Hello."}]


def skill(project: Path, name: str, text: str, **head: str) -> None:
    folder = project / ".bridle" / "skills" / name
    folder.mkdir(parents=True)
    lines = "".join(f"{key.replace('_', '-')}: {value}\n" for key, value in head.items())
    (folder / "SKILL.md").write_text(f"---\nname: {name}\n{lines}---\n{text}\n")


async def test_files_of_a_folder_are_found_by_letters(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        for name in ("alpha.py", "beta.py"):
            (house.project / name).touch()
        here = await house.get("/files", params={"q": "alp"})
        there = await house.get("/files", params={"cwd": str(house.project), "limit": 1})
        wrong = [
            (await house.get("/files", params=params)).status_code
            for params in ({"limit": 0}, {"limit": 201}, {"cwd": "relative"}, {"q": "x" * 201}, {"p": "1"})
        ]

    assert here.json() == {"paths": ["alpha.py"], "more": False}
    assert there.json() == {"paths": ["beta.py"], "more": True}
    assert wrong == [400] * 5


async def test_commands_are_those_that_a_person_may_call(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        skill(house.project, "review", "Look at $ARGUMENTS.", description="looks", argument_hint="FILE")
        skill(house.project, "inner", "For the model.", description="inner", user_invocable="false")
        listed = (await house.get("/commands")).json()
        meant = await house.post("/commands/expand", {"text": "/review src", "cwd": str(house.project)})
        plain = await house.post("/commands/expand", {"text": "what / is it"})
        unknown = await house.post("/commands/expand", {"text": "/reviw x", "cwd": str(house.project)})

    assert [one for one in listed if one["source"] == "skill" and one["name"] in ("review", "inner")] == [
        {"name": "review", "description": "looks", "arguments": "FILE", "source": "skill"}
    ]
    assert meant.json()["text"].startswith("[Skill: review]\n")
    assert meant.json()["text"].endswith("\nLook at src.")
    assert plain.json() == {"text": "what / is it"}
    assert (unknown.status_code, unknown.json()["hint"]) == (400, "did you mean /review?")


async def test_news_of_now_end_by_themselves(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        session = await house.session("hi")
        told = await house.get("/news", params={"live": "false"})

    names = [(name, session in data) for _, name, data in events_of(told.content)]
    assert names == [("news", True), ("done", False)]
    assert told.headers["content-type"].startswith("text/event-stream")
