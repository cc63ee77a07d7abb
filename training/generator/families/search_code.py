"""Searches in code with several kinds of hits: only calls, only the definition, only imports, any case."""

import re
from dataclasses import dataclass, field
from random import Random

from training.generator import search_code_frames as frames
from training.generator.code_projects import SHAPES, name_in_style
from training.generator.families.search import COMMENTS, Hit, evidence, exact_pattern, files_of, hits_of
from training.generator.folder_texts import CODE_NOUNS, text_for
from training.generator.folder_words import POOLS
from training.generator.frames import joined, prompt, spell
from training.generator.play import Family, Play, Unfit

MAX_HITS = 11
MORE_COMMENTS = {"php": "// ", "kt": "// ", "swift": "// ", "cs": "// ", "R": "# ", "jl": "# ", "h": "// "}
MORE_COMMENTS |= {"scss": "// ", "tf": "# ", "tsx": "// ", "env": "# ", "ini": "; ", "Makefile": "# "}


@dataclass
class Project:
    """A project in which one name is defined, imported, used and mentioned."""

    name: str
    kind: str
    home: str
    value: str
    lines: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """For each file: its lines, each with its role: def, import, use, remark or none."""

    def add(self, path: str, text: str, role: str = "") -> None:
        """Put lines below those of a file; the role is that of the lines with the name."""
        rows = self.lines.setdefault(path, [])
        if rows and role not in ("import", "remark"):
            rows.append(("", ""))
        if rows and rows[-1][1] == "import" and role == "":
            rows.append(("", ""))
        for line in text.split("\n"):
            rows.append((line, role if self.name in line else ""))

    def of(self, hits: list[Hit], *roles: str) -> list[Hit]:
        """Return the hits of these roles."""
        return [hit for hit in hits if self.lines[hit[0]][int(hit[1]) - 1][1] in roles]


class Builder:
    """Fills the slots of a shape."""

    def __init__(self, rng: Random, shape: list[str]) -> None:
        self.rng = rng
        self.kind, self.home, self.other, style, self.definition, self.imported, *self.uses = shape
        self.stems = rng.sample(sorted(set(POOLS["mod"])), 12)
        value = str(rng.choice((rng.randint(2, 99), rng.randint(2, 60) * 50, rng.randint(100, 999))))
        a, b = rng.sample(CODE_NOUNS, 2)
        self.slots = {"N": _name(rng, style), "h": self.stems[0], "H": self.stems[0].title()}
        self.slots |= {"a": a, "b": b, "n": value, "v": value}

    def put(self, text: str, **more: str) -> str:
        """Return a text with its slots filled in."""
        slots = self.slots | {"k": str(self.rng.randint(2, 9))} | more
        text = text.replace("¶", "\n").replace("¬", "\t").replace("N0", slots["N"])
        return re.sub(r"\{(\w)\}", lambda found: slots.get(found[1], found[0]), text)

    def use(self, path: str, stem: str) -> str:
        """Return lines that use the name."""
        more = frames.MORE_CALLS.get(_ending(path), []) if self.kind == "function" else []
        self.slots["a"], self.slots["b"] = self.rng.sample(CODE_NOUNS, 2)
        text = self.rng.choice([*self.uses, *more])
        return self.put(text.strip(" ") if "\n" not in text else text, M=stem.title())


THINGS = """
volume page login session upload tile wave reef kiln cart bed seat lap goal shift token batch chunk grid
cache draft zoom map pump valve lamp fan door queue worker thumb font line row cell mail poll ping
""".split()
MEASURES = (
    "size width height limit count rate delay seconds hours days step gap speed weight level ratio".split()
)


def _name(rng: Random, style: str) -> str:
    """Return a name for a value or for what the style says."""
    thing, measure = rng.choice(THINGS), rng.choice(MEASURES)
    if style == "noun":
        return rng.choice((thing + measure.title(), f"max{thing.title()}s", f"{thing}{measure.title()}"))
    if style == "upper" and rng.random() < 0.75:
        before = rng.choice(("", "", "MAX_", "MIN_", "DEFAULT_", "RETRY_", "FIRST_"))
        return f"{before}{thing}_{measure}".upper()
    if style == "key" and rng.random() < 0.6:
        return f"{thing}_{measure}"
    return name_in_style(rng, style)


def _ending(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2]


def _remark(builder: Builder, path: str) -> str:
    marks = {**COMMENTS, **MORE_COMMENTS}
    if _ending(path) not in marks:
        raise Unfit("no comments")
    start = marks[_ending(path)]
    end = {"css": " */", "html": " -->"}.get(_ending(path), "")
    return f"{start}{builder.put(builder.rng.choice(frames.REMARKS))}{end}"


def project_of(rng: Random, shapes: list[str], users: int, kinds: tuple[str, ...] = ()) -> Project:
    """Return a project with this number of files that use the name, and some that only mention it."""
    rows = [[part.removeprefix(" ") for part in shape.split(" |")] for shape in shapes]
    rows = [row for row in rows if not kinds or row[0] in kinds]
    builder = Builder(rng, rng.choice(rows))
    home = builder.put(builder.home)
    project = Project(builder.slots["N"], builder.kind, home, builder.slots["v"])
    if rng.random() < 0.4 and home.endswith((".py", ".js", ".ts", ".go", ".rs", ".rb", ".sh")):
        project.add(home, str(text_for(rng, f"zz/{home}")).rstrip("\n"))
    project.add(home, builder.put(builder.definition), "def")
    for stem in builder.stems[1 : users + 1]:
        _add_user(builder, project, builder.put(builder.other, m=stem, M=stem.title()), stem)
    if builder.kind == "function" and rng.random() < 0.2:
        project.add(home, builder.use(home, builder.stems[0]), "use")
    _add_others(builder, project, builder.stems[users + 1 :])
    return project


def _add_user(builder: Builder, project: Project, path: str, stem: str) -> None:
    if path in project.lines:
        raise Unfit("the same file twice")
    if builder.imported:
        project.add(path, builder.put(builder.imported), "import")
    if builder.rng.random() < 0.15:
        project.add(path, _remark(builder, path), "remark")
    for _ in range(builder.rng.choice((1, 1, 1, 2))):
        project.add(path, builder.use(path, stem), "use")


def _add_others(builder: Builder, project: Project, stems: list[str]) -> None:
    """Add files that import the name in vain, or have it in a comment or a text, or not at all."""
    rng = builder.rng
    ways = rng.choices(("import", "remark", "page", "none"), k=rng.choice((0, 1, 2, 2, 3)))
    for way, stem in zip(ways, stems, strict=False):
        path = builder.put(builder.other, m=stem, M=stem.title())
        if way == "page":
            path, text = (builder.put(part, M=stem.title()) for part in rng.choice(frames.PAGES).split(" | "))
        if path in project.lines:
            raise Unfit("the same file twice")
        if way == "page":
            project.add(path, text, "remark")
            continue
        if way == "import" and builder.imported:
            project.add(path, builder.put(builder.imported), "import")
        elif way == "remark":
            project.add(path, _remark(builder, path), "remark")
        project.add(path, str(text_for(rng, path)).rstrip("\n"))


def _lay(play: Play, project: Project) -> None:
    for path in sorted(project.lines):
        play.file(path, "\n".join(line for line, _ in project.lines[path]) + "\n")


def _search(play: Play, project: Project, block: str) -> list[Hit]:
    """Ask about the name and search for it."""
    _lay(play, project)
    name = project.name
    if project.kind == "function" and play.rng.random() < 0.2:
        name = f"{name}()"
    prompt(play, block, name=play.rng.choice((name, name, name, f"`{name}`")), kind=project.kind)
    hits = hits_of(play.grep(exact_pattern(project.name)))
    if len(hits) > MAX_HITS or len(project.of(hits, "def")) != 1:
        raise Unfit("too many hits, or no clear definition")
    if any(file not in project.lines for file, _, _ in hits):
        raise Unfit("a hit in another file")
    return hits


def _told(play: Play, hits: list[Hit], closing: str, name: str) -> None:
    files = files_of(hits)
    words = spell(play.rng, closing, name=name, files=joined(files), count=str(len(files)))
    play.say(f"{evidence(hits)}\n{words}")


def callers(play: Play) -> None:
    """The calls of a function among its definition, imports and mentions."""
    rng = play.rng
    project = project_of(rng, SHAPES, rng.choice((0, 1, 2, 2, 3, 3, 4, 5)), ("function",))
    hits = _search(play, project, frames.CALLED)
    calls = project.of(hits, "use")
    if calls:
        _told(play, calls, "({name} is called in {files}.|So it is called in {files}.)", project.name)
        return
    [hit] = project.of(hits, "def")
    play.say(f"{evidence([hit])}\nNo file calls {project.name}; it is only defined in {hit[0]}.")


def counted_calls(play: Play) -> None:
    """How many calls there are."""
    rng = play.rng
    project = project_of(rng, SHAPES, rng.choice((1, 2, 2, 3, 4)), ("function",))
    calls = project.of(_search(play, project, frames.COUNT_CALLS), "use")
    listed = "\n".join(f"{at}. {line}" for at, line in enumerate(evidence(calls).split("\n"), 1))
    play.say(f"{listed}\nThat is {len(calls)}.")


def importers(play: Play) -> None:
    """The imports of a name, without its uses."""
    rng = play.rng
    project = project_of(rng, SHAPES, rng.choice((1, 2, 3)))
    found = project.of(_search(play, project, frames.IMPORTED), "import")
    if not found:
        raise Unfit("no imports")
    _told(play, found, "({name} is imported in {files}.|So it is imported in {files}.)", project.name)


def set_where(play: Play) -> None:
    """The line that sets a value, among imports, uses and mentions."""
    project = project_of(play.rng, frames.VALUES, play.rng.choice((1, 2, 3, 4, 5)))
    [hit] = project.of(_search(play, project, frames.SET), "def")
    closing = "({name} is set in {file}, line {line}.|It is set in {file}, line {line}.)"
    words = spell(play.rng, closing, name=project.name, file=hit[0], line=hit[1])
    play.say(f"{evidence([hit])}\n{words}")


def defined_where(play: Play) -> None:
    """The definition of a function, class or other name, among its uses."""
    rng = play.rng
    project = project_of(rng, SHAPES, rng.choice((1, 2, 3, 3, 4)))
    if project.kind in ("setting", "variable", "environment variable", "constant"):
        raise Unfit("a value is set")
    [hit] = project.of(_search(play, project, frames.DEFINE), "def")
    closing = "({name} is defined in {file}, line {line}.|It is defined in {file}, line {line}.)"
    words = spell(rng, closing, name=project.name, file=hit[0], line=hit[1])
    play.say(f"{evidence([hit])}\n{words}")


def value_of(play: Play) -> None:
    """The value of a constant, among its uses."""
    project = project_of(play.rng, frames.VALUES, play.rng.choice((1, 2, 3)))
    [hit] = project.of(_search(play, project, frames.VALUE), "def")
    play.say(f"{evidence([hit])}\n{project.name} is {project.value}.")


def _case_file(rng: Random, stem: str, word: str, other: str) -> tuple[str, str]:
    """Return the path and the text of a file with a word, at times with another word beside it."""
    path, row = rng.choice(frames.CASE_LINES).split(" | ")
    slots = {"x": stem, "d": rng.choice(POOLS["day"]), "r": rng.choice(POOLS["room"])}
    slots |= {"k": str(rng.randint(1, 9)), "n": str(rng.randint(10, 99)), "a": rng.choice(CODE_NOUNS)}
    rows = [row.replace("{W}", word)]
    if rng.random() < 0.7:
        more = rng.choice(frames.CASE_LINES).split(" | ")[1]
        rows.insert(rng.randint(0, 1), more.replace("{W}", other))

    def put(text: str) -> str:
        return re.sub(r"\{(\w)\}", lambda found: slots[found[1]], text)

    return put(path), put("\n".join(rows)) + "\n"


def any_case(play: Play) -> None:
    """A word in any case: every hit is named."""
    rng = play.rng
    pools = ("person", "surname", "city", "tool", "product", "topic", "food", "animal", "errcode", "pkg")
    pool = POOLS[rng.choice(pools)]
    word, other = rng.sample(pool, 2)
    stems = rng.sample(sorted(set(POOLS["mod"])), rng.randint(3, 6))
    hits = rng.randint(1, len(stems) - 1)
    for number, stem in enumerate(stems):
        shown = rng.choice((str.upper, str.lower, str.title))(word) if number < hits else other
        play.file(*_case_file(rng, stem, shown, other))
    item = rng.choice((str, str, str.lower, str.upper))(word)
    prompt(play, frames.ANY_CASE, item=item)
    found = hits_of(play.grep(f"(?i){exact_pattern(item)}"))
    if len(found) != hits:
        raise Unfit("other hits")
    _told(play, found, "({name} is in {files}.|So it is in {files}.)", item)


FAMILIES = (
    Family(callers, 3.2),
    Family(counted_calls, 0.6),
    Family(importers, 0.6),
    Family(set_where, 2.8),
    Family(defined_where, 1.6),
    Family(value_of, 0.6),
    Family(any_case, 1.4),
)
