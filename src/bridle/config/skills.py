"""Load skills from these folders; earlier ones override later ones, and a broken skill is only reported.

```
<project>/.bridle/skills     NAME.md, or NAME/SKILL.md with files next to it
<folder>/.agents/skills      NAME/SKILL.md, from the working directory up to the project's root
<folder>/.claude/skills      the same
BRIDLE_HOME/skills           NAME.md or NAME/SKILL.md
~/.agents/skills             NAME/SKILL.md
~/.claude/skills             the same
```

A link in a project may not lead out of it. Links in the user's own folders are not restricted.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from bridle.config.file_names import PROJECT_FOLDER, SKILL_FILE, SKILLS_FOLDER
from bridle.config.settings import Settings
from bridle.config.skill_file import SkillFile, SkillProblem, parse_skill
from bridle.config.textfile import read_head
from bridle.config.validation import is_unicode
from bridle.core.errors import ConfigError
from bridle.core.permission import READING_TOOL, Rule
from bridle.core.skill import Level, Skill

MAX_SKILLS = 200
MAX_SKILL_BYTES = 128 * 1024  # some 30,000 tokens
MAX_ENTRIES = 1000  # per folder
SHARED_FOLDERS = (".agents", ".claude")
"""Folders with skills that several programs share."""

_MARKDOWN = ".md"


class LoadedSkills(Struct, frozen=True):
    """The skills of a working directory by name, and what is wrong with those left out."""

    skills: tuple[Skill, ...] = ()
    problems: tuple[SkillProblem, ...] = ()


class _Root(Struct, frozen=True):
    """A folder of skills."""

    folder: Path
    level: Level
    within: Path | None = None
    """The folder that its links must not leave."""
    takes_files: bool = False
    """True if a skill may also be a single file."""


def load_skills(settings: Settings) -> LoadedSkills:
    """Find and read every skill. Blocks; raises nothing."""
    found: dict[str, Skill] = {}
    problems: list[SkillProblem] = []
    for root in _roots(settings):
        here: dict[str, Skill] = {}
        for skill in _read_root(root, problems):
            if skill.name in here:
                known = here[skill.name].file
                problems.append(SkillProblem(skill.file, f"{skill.name} is already the name of {known}"))
            here.setdefault(skill.name, skill)
        found = {**here, **found}
    names = sorted(found)
    if len(names) > MAX_SKILLS:
        problems.append(SkillProblem(found[names[MAX_SKILLS]].file, f"more than {MAX_SKILLS} skills"))
    return LoadedSkills(tuple(found[name] for name in names[:MAX_SKILLS]), tuple(problems))


def allow_skill_folders(skills: Sequence[Skill], settings: Settings) -> tuple[Rule, ...]:
    """Return the rules that let tools read the folders of skills outside the working directory.

    A rule opens the real path of a skill's folder, for reading; never a folder that contains the user's home
    folder or the working directory, nor one whose name a rule would take for a pattern.
    """
    rules = []
    for skill in skills:
        folder = Path(os.path.realpath(skill.folder))
        kept = [place for place in (settings.user_folder, settings.cwd) if place is not None]
        is_wide = any(place.is_relative_to(folder) for place in kept)
        is_literal = not set("*?\\") & set(str(folder)) and is_unicode(str(folder))
        if skill.has_folder and not folder.is_relative_to(settings.cwd) and is_literal and not is_wide:
            rules.append(Rule("allow", READING_TOOL, f"{folder}/**"))
    return tuple(rules)


def _roots(settings: Settings) -> Iterator[_Root]:
    """Yield the folders of skills; earlier ones override later ones."""
    home, user = settings.written / SKILLS_FOLDER, settings.user_folder
    shared = [user / name / SKILLS_FOLDER for name in SHARED_FOLDERS] if user else []
    if project := settings.project:
        yield _Root(project / PROJECT_FOLDER / SKILLS_FOLDER, "project", project, takes_files=True)
    for name in SHARED_FOLDERS:
        for folder in (settings.cwd, *settings.cwd.parents):
            if not folder.is_relative_to(settings.root):
                break
            if (root := folder / name / SKILLS_FOLDER) not in shared:
                yield _Root(root, "project", settings.root)
    yield _Root(home, "user", takes_files=True)
    for root in shared:
        yield _Root(root, "user")


def _read_root(root: _Root, problems: list[SkillProblem]) -> Iterator[Skill]:
    for file in _files(root, problems):
        try:
            head = read_head(Path(file.path), MAX_SKILL_BYTES, within=root.within)
        except ConfigError as error:
            problems.append(SkillProblem(file.path, error.message.removeprefix(f"{file.path}: "), error.hint))
            continue
        if head is None:
            continue
        if head.size_bytes > MAX_SKILL_BYTES:
            problems.append(SkillProblem(file.path, f"it is larger than {MAX_SKILL_BYTES // 1024} KiB"))
            continue
        try:
            text = head.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = head.data.count(b"\n", 0, error.start) + 1
            problems.append(SkillProblem(f"{file.path}:{line}", "it is not UTF-8 text"))
            continue
        parsed = parse_skill(text, file)
        problems.extend(parsed.problems)
        if parsed.skill is not None:
            yield parsed.skill


def _files(root: _Root, problems: list[SkillProblem]) -> list[SkillFile]:
    """Return what may be a skill, by name; hidden files and folders without SKILL.md do not count."""
    real = Path(os.path.realpath(root.folder))
    if root.within is not None and not real.is_relative_to(os.path.realpath(root.within)):
        if os.path.lexists(real):
            problems.append(SkillProblem(str(root.folder), f"it points outside the project, to {real}"))
        return []
    try:
        with os.scandir(real) as entries:
            names = sorted(entry.name for entry in islice(entries, MAX_ENTRIES + 1))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(SkillProblem(str(root.folder), f"it cannot be read: {error.strerror}"))
        return []
    if len(names) > MAX_ENTRIES:
        problems.append(SkillProblem(str(root.folder), f"it has more than {MAX_ENTRIES:,} entries"))
    if not is_unicode(str(root.folder)):
        problems.append(SkillProblem(ascii(str(root.folder)), "its path is not UTF-8 text"))
        return []
    shown = [name for name in names[:MAX_ENTRIES] if not name.startswith(".") and is_unicode(name)]
    return [file for name in shown if (file := _file(root, name)) is not None]


def _file(root: _Root, name: str) -> SkillFile | None:
    inner = root.folder / name / SKILL_FILE
    if os.path.lexists(inner):
        return SkillFile(str(inner), name, root.level, has_folder=True)
    if root.takes_files and name.endswith(_MARKDOWN) and not os.path.isdir(root.folder / name):
        return SkillFile(str(root.folder / name), name.removesuffix(_MARKDOWN), root.level, has_folder=False)
    return None
