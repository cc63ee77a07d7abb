"""Orders that search: which file mentions something, where a name is defined or used, how often."""

import posixpath
import re
from random import Random

from training.generator import search_frames as frames
from training.generator.code_projects import CodeProject, code_project
from training.generator.families.list_files import number_of
from training.generator.folder_texts import text_for
from training.generator.folder_words import POOLS, entries
from training.generator.folders import Collection, Files, collection, distractors, ending
from training.generator.frames import ask_foreign, joined, one_frame, prompt, say, spell
from training.generator.play import Family, Play, Unfit

MAX_LINE = 100
MAX_SHOWN = 12
Hit = tuple[str, str, str]  # file, line number, line

THIRD = {"have": "has", "are about": "is about", "are from": "is from", "go to": "goes to"}


def third_person(verb: str) -> str:
    """Return a verb for one thing: `uses` for `use`, `passes through` for `pass through`."""
    if verb in THIRD:
        return THIRD[verb]
    first, space, rest = verb.partition(" ")
    return f"{first}{'es' if first.endswith(('ss', 'ch')) else 's'}{space}{rest}"


def hits_of(shown: str) -> list[Hit]:
    """Return the matches of a search as file, line number and line."""
    if shown == "No matches found":
        return []
    found: list[Hit] = []
    for line in shown.split("\n"):
        match = re.fullmatch(r"(.+?):(\d+): (.*)", line)
        if match is None:
            raise Unfit("a shortened result")
        found.append((match[1], match[2], match[3]))
    return found


def evidence(hits: list[Hit]) -> str:
    """Return a line for each match: file, line number and the line itself."""
    return "\n".join(f"{file}, line {number}: {line.strip()[:MAX_LINE]}" for file, number, line in hits)


def files_of(hits: list[Hit]) -> list[str]:
    """Return the files of matches, each once."""
    return list(dict.fromkeys(file for file, _, _ in hits))


def _lay(play: Play, files: Files, others: int = 0) -> None:
    more = distractors(play.rng, others, files) if others else {}
    for path in sorted([*files, *more]):
        play.file(path, files[path] if path in files else more[path])


def _words(found: Collection, item: str = "") -> dict[str, str]:
    return {
        "item": item or found.item,
        "noun": found.noun,
        "plural": found.plural,
        "verb": found.verb,
        "does": third_person(found.verb),
        "folder": found.folder,
        "upper": (item or found.item).upper(),
    }


def exact_pattern(item: str) -> str:
    """Return a regular expression that finds a text as it is written."""
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", item)


def pattern_of(item: str) -> str:
    """Return a regular expression that finds a text; in upper or lower case if it is made of plain words."""
    return f"(?i){item}" if re.fullmatch(r"\w[^\W\d_A-Z]*( [^\W\d_A-Z]+)*", item) else exact_pattern(item)


def tell(play: Play, hits: list[Hit], name: str) -> None:
    """Answer with the lines and the files of matches, or that there are none."""
    if not hits:
        play.say(_none(play.rng, name))
        return
    if len(hits) > MAX_SHOWN:
        raise Unfit("too many matches")
    files = files_of(hits)
    closing = "({name} is in {files}.|So it is in {files}.|That is {files}.|It is in {files}.)"
    if len(files) > 1:
        closing = (
            "({name} is in {files}.|So it is in {files}.|That is {count} files: {files}.|These are {files}.)"
        )
    words = spell(play.rng, closing, name=name, files=joined(files), count=str(len(files)))
    play.say(f"{evidence(hits)}\n{words}")


def _none(rng: Random, name: str) -> str:
    return spell(
        rng,
        "(No file here mentions {name}.|{name} is in none of the files.|I found no {name} here.)",
        name=name,
    )


def which_file(play: Play) -> None:
    """Which files of a collection mention a thing."""
    rng = play.rng
    found = collection(rng, hits=rng.choice((1, 1, 2, 3, 4)), others=rng.randint(1, 4))
    _lay(play, found.files, rng.randint(0, 4))
    absent = rng.random() < 0.1
    item = found.absent if absent else found.item
    if rng.random() < 0.3 and pattern_of(item.lower()).startswith("(?i)"):
        item = item.lower()
    if rng.random() < 0.05 and pattern_of(item).startswith("(?i)"):
        item = item[0].upper() + item[1:]
    prompt(play, frames.WHICH, **_words(found, item))
    tell(play, hits_of(play.grep(pattern_of(item))), item)


def is_it_there(play: Play) -> None:
    """Whether a thing is mentioned at all."""
    rng = play.rng
    found = collection(rng, hits=rng.choice((1, 2)), others=rng.randint(1, 4))
    _lay(play, found.files, rng.randint(0, 3))
    item = found.item if rng.random() < 0.5 else found.absent
    prompt(play, frames.IS_IT, **_words(found, item))
    hits = hits_of(play.grep(pattern_of(item)))
    if hits:
        play.say(f"{evidence(hits)}\nYes, in {joined(files_of(hits))}.")
    else:
        say(play, "No, ({item} is in none of the files.|no file here mentions {item}.)", item=item)


def line_in_file(play: Play) -> None:
    """The line of a named file that mentions a thing."""
    rng = play.rng
    found = collection(rng, hits=2, others=rng.randint(1, 3))
    _lay(play, found.files, rng.randint(0, 2))
    file = found.hits[0]
    if rng.random() < 0.3:
        file = posixpath.basename(file)
    item = found.absent if rng.random() < 0.1 else found.item
    prompt(play, frames.WHERE_LINE, file=file, **_words(found, item))
    hits = hits_of(play.grep(pattern_of(item), file))
    if not hits:
        say(play, "({item} is not in {file}.|{file} does not mention {item}.)", item=item, file=file)
        return
    if len(hits) != 1:
        raise Unfit("several lines")
    line = hits[0][1]
    closing = spell(
        rng, "({item} is on line {line} of {file}.|That is line {line}.)", item=item, line=line, file=file
    )
    play.say(f"{evidence(hits)}\n{closing}")


def names_only(play: Play) -> None:
    """Only the names of the files that mention a thing."""
    rng = play.rng
    found = collection(rng, hits=rng.choice((1, 2, 3)), others=rng.randint(1, 4), each=2)
    _lay(play, found.files, rng.randint(0, 3))
    prompt(play, frames.FILES_ONLY, **_words(found))
    play.say("\n".join(files_of(hits_of(play.grep(pattern_of(found.item))))))


def how_often(play: Play) -> None:
    """How many lines, or how many files, mention a thing."""
    rng = play.rng
    found = collection(rng, hits=rng.choice((1, 2, 3, 4)), others=rng.randint(1, 3), each=3)
    _lay(play, found.files, rng.randint(0, 2))
    of_files = rng.random() < 0.4
    prompt(play, frames.HOW_MANY_FILES if of_files else frames.HOW_OFTEN, **_words(found))
    hits = hits_of(play.grep(pattern_of(found.item)))
    if of_files:
        files = files_of(hits)
        listed = "\n".join(f"{at}. {file}" for at, file in enumerate(files, 1))
        play.say(f"{listed}\nThat is {len(files)}.")
        return
    listed = "\n".join(f"{at}. {line}" for at, line in enumerate(evidence(hits).split("\n"), 1))
    play.say(f"{listed}\nThat is {len(hits)}.")


def first_hit(play: Play) -> None:
    """The first place that mentions a thing."""
    rng = play.rng
    found = collection(rng, hits=rng.choice((2, 3)), others=rng.randint(1, 3))
    _lay(play, found.files)
    prompt(play, frames.FIRST, **_words(found))
    hits = hits_of(play.grep(pattern_of(found.item)))
    play.say(f"{evidence(hits[:1])}\nThe first one is in {hits[0][0]}.")


def in_one_folder(play: Play) -> None:
    """A search in one folder, while other folders mention the thing too."""
    rng = play.rng
    found = collection(rng, hits=rng.choice((1, 2)), others=rng.randint(1, 3), in_folder=True)
    other = rng.choice(("archive", "old", "backup", "drafts", "2019", "misc"))
    _lay(play, found.files, rng.randint(0, 2))
    copied = found.hits[0]
    play.file(f"{other}/{posixpath.basename(copied)}", found.files[copied])
    prompt(play, frames.IN_FOLDER, **_words(found))
    tell(play, hits_of(play.grep(pattern_of(found.item), f"{found.folder}/**")), found.item)


def any_case(play: Play) -> None:
    """A search in which upper and lower case count as the same."""
    rng = play.rng
    found = collection(rng, hits=2, others=rng.randint(1, 3))
    item = found.item.lower()
    if not pattern_of(item).startswith("(?i)"):
        raise Unfit("a code")
    files = dict(found.files)
    for path, change in zip(found.hits, rng.sample((str.upper, str.title, str.lower), 2), strict=True):
        text = files[path]
        assert isinstance(text, str)
        files[path] = text.replace(found.item, change(found.item))
    _lay(play, files, rng.randint(0, 2))
    prompt(play, frames.ANY_CASE, **_words(found, item))
    tell(play, hits_of(play.grep(pattern_of(item))), item)


def then_another(play: Play) -> None:
    """A search, then one for another thing, or the file that was found."""
    rng = play.rng
    found = collection(rng, hits=1, others=rng.randint(2, 4))
    _lay(play, found.files, rng.randint(0, 2))
    prompt(play, frames.WHICH, **_words(found))
    tell(play, hits_of(play.grep(pattern_of(found.item))), found.item)
    if rng.random() < 0.5:
        pool = next(words for words in POOLS.values() if found.item in words)
        item = rng.choice([word for word in pool if word != found.item])
        prompt(play, frames.AND_OTHER, item=item)
        tell(play, hits_of(play.grep(pattern_of(item))), item)
    else:
        prompt(play, frames.SHOW_IT)
        play.read(found.hits[0])
        play.say(play.text(found.hits[0]).rstrip("\n"))


def _project(play: Play, users: int, kind: str = "") -> CodeProject:
    project = code_project(play.rng, users, kind, others=play.rng.randint(1, 3))
    _lay(play, project.files)
    return project


def _ask_code(play: Play, block: str, project: CodeProject) -> None:
    name = project.name
    if project.kind == "function" and play.rng.random() < 0.25:
        name = f"{name}()"
    name = play.rng.choice((name, name, name, f"`{name}`"))
    prompt(play, block, name=name, kind=project.kind)


def _search_code(play: Play, project: CodeProject) -> tuple[list[Hit], list[Hit], list[Hit]]:
    """Search for the name and return the definition, the imports and the uses."""
    hits = hits_of(play.grep(project.name))
    definition = [hit for hit in hits if hit[0] == project.home and hit[2].strip() == project.defined.strip()]
    imports = [
        hit for hit in hits if re.match(r"(from|import|use|const \{.*require|#include)\b", hit[2].strip())
    ]
    uses = [hit for hit in hits if hit not in definition and hit not in imports and hit[0] != project.home]
    if len(definition) != 1:
        raise Unfit("defined more than once")
    return definition, imports, uses


def where_defined(play: Play) -> None:
    """The place of a definition, not the uses."""
    rng = play.rng
    project = _project(play, rng.choice((1, 2, 3)))
    is_value = bool(project.value)
    _ask_code(play, frames.SET_WHERE if is_value and rng.random() < 0.7 else frames.DEFINED, project)
    [hit], _, _ = _search_code(play, project)
    word = "set" if is_value else "defined"
    closing = "({name} is {word} in {file}, line {line}.|It is {word} in {file}, line {line}.)"
    play.say(
        f"{evidence([hit])}\n{spell(rng, closing, name=project.name, word=word, file=hit[0], line=hit[1])}"
    )


def where_called(play: Play) -> None:
    """The calls of a function, without its definition and imports."""
    rng = play.rng
    project = _project(play, rng.choice((1, 2, 2, 3)), "function")
    _ask_code(play, frames.CALLED, project)
    _, _, uses = _search_code(play, project)
    if not uses or len(uses) > MAX_SHOWN:
        raise Unfit("no calls")
    closing = "({name} is called in {files}.|So it is called in {files}.)"
    play.say(f"{evidence(uses)}\n{spell(rng, closing, name=project.name, files=joined(files_of(uses)))}")


def where_used(play: Play) -> None:
    """The uses of a name; imports count as uses."""
    rng = play.rng
    project = _project(play, rng.choice((1, 2, 2, 3)))
    _ask_code(play, frames.USED, project)
    _, imports, uses = _search_code(play, project)
    found = sorted({*imports, *uses}, key=lambda hit: (hit[0], int(hit[1])))
    if not found or len(found) > MAX_SHOWN:
        raise Unfit("no uses")
    closing = "({name} is used in {files}.|So it is used in {files}.)"
    play.say(f"{evidence(found)}\n{spell(rng, closing, name=project.name, files=joined(files_of(found)))}")


def is_used(play: Play) -> None:
    """Whether a name is used at all."""
    rng = play.rng
    project = _project(play, rng.choice((0, 0, 1, 2)))
    _ask_code(play, frames.IS_USED, project)
    [hit], imports, uses = _search_code(play, project)
    found = sorted({*imports, *uses}, key=lambda hit: (hit[0], int(hit[1])))
    if found:
        play.say(f"{evidence(found)}\nYes, {project.name} is used in {joined(files_of(found))}.")
    else:
        play.say(f"{evidence([hit])}\nNo, {project.name} is only defined there and used nowhere.")


def from_message(play: Play) -> None:
    """The place in the code that prints a text."""
    rng = play.rng
    kind, *shapes = rng.choice(entries(frames.MESSAGE_LINES)).split(" = ")
    slots = {"city": rng.choice(POOLS["city"])}
    texts = list(dict.fromkeys(one_frame(rng, frames.MESSAGES, **slots) for _ in range(rng.randint(3, 6))))
    texts = [text[0].upper() + text[1:] if rng.random() < 0.6 else text for text in texts]
    where = rng.choice(("", "src/", "app/", "web/"))
    for text, stem in zip(texts, rng.sample(POOLS["mod"], len(texts)), strict=True):
        path = f"{where}{stem}.{kind}"
        before = "" if kind in ("json", "java") else str(text_for(rng, path)).rstrip("\n") + "\n\n"
        play.file(path, before + rng.choice(shapes).replace("{text}", text) + "\n")
    wanted = rng.choice(texts)
    prompt(play, frames.MESSAGE, text=wanted)
    hits = hits_of(play.grep(exact_pattern(wanted)))
    if len(hits) != 1:
        raise Unfit("not one place")
    closing = "(It comes from {file}, line {line}.|That is {file}, line {line}.)"
    play.say(f"{evidence(hits)}\n{spell(rng, closing, file=hits[0][0], line=hits[0][1])}")


def value_by_search(play: Play) -> None:
    """The value of a constant, found by its name."""
    rng = play.rng
    project = _project(
        play, rng.choice((1, 2)), rng.choice(("constant", "constant", "setting", "environment variable"))
    )
    asked = """
    what is (the value of|) {name} (in this project|here|set to|)?
    how (large|big|high) is {name}?
    (tell me|look up) the value of {name}
    {name} = ?
    which value does {name} have?
    """
    prompt(play, asked.replace("    ", ""), name=project.name)
    [hit], _, _ = _search_code(play, project)
    if project.value not in hit[2]:
        raise Unfit("the value is on another line")
    play.say(f"{evidence([hit])}\n{project.name} is {project.value}.")


MODULES = {
    "py": "import {m}|from {m} import *",
    "go": 'import "{m}"',
    "rs": "use {m}::*;",
    "js": "import {m} from '{m}';|const {m} = require('{m}');",
    "rb": "require '{m}'",
    "java": "import {m}.*;",
    "c": "#include <{m}.h>",
}
MODULE_NAMES = {
    "py": "json os sqlite3 random logging csv requests numpy asyncio datetime pathlib",
    "go": "fmt os strings time errors net/http sort",
    "rs": "serde rand chrono regex tokio",
    "js": "express lodash axios moment chalk dayjs",
    "rb": "json csv date optparse yaml",
    "java": "java.util java.io java.time java.net",
    "c": "math string stdlib time errno",
}


def who_imports(play: Play) -> None:
    """The files that import a module."""
    rng = play.rng
    kind = rng.choice(sorted(MODULES))
    module, *rest = rng.sample(MODULE_NAMES[kind].split(), 3)
    stems = rng.sample(POOLS["mod"], rng.randint(3, 5))
    users = rng.sample(stems, rng.choice((1, 2, 2, 3)))
    where = rng.choice(("", "src/", "lib/"))
    for stem in sorted(stems):
        names = [module, rng.choice(rest)] if stem in users else [rng.choice(rest)]
        form = rng.choice(MODULES[kind].split("|"))
        first = "\n".join(form.replace("{m}", name) for name in names)
        play.file(f"{where}{stem}.{kind}", f"{first}\n\n{_source_text(rng, kind)}")
    prompt(play, frames.IMPORTS, module=module)
    hits = hits_of(play.grep(pattern_of(module)))
    if not hits or any(not re.search(r"import|use |require|include", line) for _, _, line in hits):
        raise Unfit("the name is used elsewhere")
    closing = spell(
        rng,
        "({module} is imported in {files}.|So it is imported in {files}.)",
        module=module,
        files=joined(files_of(hits)),
    )
    play.say(f"{evidence(hits)}\n{closing}")


def _source_text(rng: Random, kind: str) -> str:
    """Return a source file of a kind."""
    text = text_for(rng, f"{rng.choice(POOLS['mod'])}.{kind}")
    assert isinstance(text, str)
    return text


COMMENTS = {
    "py": "# ",
    "sh": "# ",
    "rb": "# ",
    "yaml": "# ",
    "js": "// ",
    "ts": "// ",
    "go": "// ",
    "rs": "// ",
    "c": "// ",
}
COMMENTS |= {
    "java": "// ",
    "sql": "-- ",
    "lua": "-- ",
    "html": "<!-- ",
    "css": "/* ",
    "toml": "# ",
    "tex": "% ",
}
CLOSINGS = {"html": " -->", "css": " */"}


def _tag_line(rng: Random, kind: str, tag: str) -> str:
    slots = {name: rng.choice(words) for name, words in sorted(POOLS.items())}
    text = one_frame(rng, frames.TAG_TEXTS, **slots)
    mark = rng.choice((f"{tag}: ", f"{tag} ", f"{tag}({slots['person'].lower()}): "))
    return f"{COMMENTS[kind]}{mark}{text}{CLOSINGS.get(kind, '')}"


def tags(play: Play) -> None:
    """The TODO, FIXME or other comments, listed or counted."""
    rng = play.rng
    tag = rng.choice(("TODO", "TODO", "TODO", "FIXME", "HACK", "XXX", "BUG"))
    project = code_project(rng, rng.randint(1, 3))
    files = dict(project.files)
    marked = [path for path in sorted(files) if ending(path) in COMMENTS]
    for path in rng.sample(marked, min(len(marked), rng.randint(0, 3))):
        rows = str(files[path]).rstrip("\n").split("\n")
        for _ in range(rng.choice((1, 1, 2))):
            rows.insert(rng.choice((0, len(rows))), _tag_line(rng, ending(path), tag))
        files[path] = "\n".join(rows) + "\n"
    for path in rng.sample(marked, min(1, len(marked))):
        if rng.random() < 0.3:
            files[path] = _tag_line(rng, ending(path), "NOTE") + "\n" + str(files[path])
    if rng.random() < 0.4:
        files["notes.md"] = "All done for this week.\nNothing to do but wait.\n"
    _lay(play, files)
    counts = rng.random() < 0.25
    prompt(play, frames.COUNT_TAGS if counts else frames.TAGS, tag=tag)
    hits = hits_of(play.grep(tag))
    if not hits:
        say(play, "(There are no {tag}s here.|No file has a {tag}.|I found no {tag}.)", tag=tag)
    elif counts:
        listed = "\n".join(f"{at}. {line}" for at, line in enumerate(evidence(hits).split("\n"), 1))
        play.say(f"{listed}\nThat is {len(hits)}.")
    else:
        files_now = files_of(hits)
        play.say(f"{evidence(hits)}\n{'They are' if len(hits) > 1 else 'It is'} in {joined(files_now)}.")


def _code(rng: Random, shape: str) -> str:
    if shape == "#c#f#b#":
        return "#" + "".join(rng.choice("0123456789abcdef") for _ in range(6))
    return "".join(str(rng.randint(0, 9)) if char == "#" else char for char in shape)


def by_number(play: Play) -> None:
    """The file and the line of a number or code, in one of several tables or logs."""
    rng = play.rng
    what, name, head, line, shape = rng.choice(frames.CODES).split(" | ")

    def put(text: str, code: str = "") -> str:
        slots = {key: rng.choice(words) for key, words in sorted(POOLS.items())}
        slots |= {"code": code, "price": f"{rng.randint(3, 90)}.50", "digit": str(rng.randint(0, 9))}
        slots |= {"city2": slots["city"], "tool1": slots["tool"].split()[-1]}
        return re.sub(r"\{(\w+)\}", lambda found: slots.get(found[1], found[0]), text)

    files: Files = {}
    codes: list[str] = []
    for _ in range(rng.randint(2, 5)):
        rows = []
        for _ in range(rng.randint(2, 7)):
            codes.append(_code(rng, shape))
            rows.append(put(line, codes[-1]))
        files.setdefault(put(name), "\n".join([put(head), *rows]) + "\n")
    text = "\n".join(str(content) for content in files.values())
    code = rng.choice(codes)
    if text.count(code) != 1:
        raise Unfit("a code in several places")
    if rng.random() < 0.1:
        code = _code(rng, shape)
    _lay(play, files, rng.randint(0, 3))
    prompt(play, frames.NUMBERS, what=what, code=code)
    tell(play, hits_of(play.grep(pattern_of(code))), code)


def links_and_mails(play: Play) -> None:
    """The web or mail addresses in the files."""
    rng = play.rng
    is_mail = rng.random() < 0.4
    found = collection(rng, hits=1, others=rng.randint(2, 4))
    files = dict(found.files)
    for path in rng.sample(sorted(files), rng.randint(0, 2)):
        word = rng.choice(POOLS["pkg"])
        address = (
            f"{rng.choice(POOLS['person']).lower()}@{word}.example"
            if is_mail
            else f"https://{word}.example/{rng.choice(POOLS['doc'])}"
        )
        files[path] = str(files[path]) + rng.choice(("see ", "", "from ", "- ")) + address + "\n"
    _lay(play, files)
    prompt(play, frames.MAILS if is_mail else frames.LINKS)
    hits = hits_of(play.grep("@" if is_mail else "https?://"))
    if any("{" in line for _, _, line in hits):
        raise Unfit("a line of another kind")
    kind = "mail address" if is_mail else "link"
    if hits:
        play.say(f"{evidence(hits)}\nThat is {number_of(len(hits), kind)}.")
    else:
        play.say(f"There is no {kind} in these files.")


def in_other_language(play: Play) -> None:
    """A search in texts in German, French or Spanish."""
    rng = play.rng
    language, folder, names, head, line, items = rng.choice(entries(frames.FOREIGN)).split(" | ")
    asked = [row for row in entries(frames.FOREIGN_ASK) if row.startswith(language)]
    words = items.split(",")
    item = rng.choice(words)
    stems = rng.sample(names.split(","), 4 if len(names.split(",")) > 3 else 3)
    holders = rng.sample(stems, rng.choice((0, 1, 1, 1, 2)))
    for stem in sorted(stems):
        lines = [
            line.replace("{item}", word) for word in rng.sample([word for word in words if word != item], 3)
        ]
        if stem in holders:
            lines.insert(rng.randint(0, 3), line.replace("{item}", item))
        play.file(f"{folder}/{stem}.txt", "\n".join([head, *lines]) + "\n")
    article = re.match(r"(?i)(der|die|das|den|le|la|el|las|los) ", item)
    bare = item[article.end() :] if article else item
    said = item[0].lower() + item[1:] if article else item
    play.user(ask_foreign(rng, rng.choice(asked).split(" | ")[1], item=rng.choice((bare, said))))
    hits = hits_of(play.grep(pattern_of(bare)))
    if hits:
        files = joined(files_of(hits), frames.FOREIGN_AND[language])
        play.say(f"{evidence(hits)}\n{frames.FOREIGN_FOUND[language].format(files=files)}")
    else:
        play.say(frames.FOREIGN_NONE[language].format(item=bare))


FAMILIES = (
    Family(which_file, 2.4),
    Family(is_it_there, 0.5),
    Family(line_in_file, 0.6),
    Family(names_only, 0.4),
    Family(how_often, 0.8),
    Family(first_hit, 0.2),
    Family(in_one_folder, 0.5),
    Family(any_case, 0.8),
    Family(then_another, 0.5),
    Family(where_defined, 1.4),
    Family(where_called, 0.8),
    Family(where_used, 0.8),
    Family(is_used, 0.4),
    Family(value_by_search, 0.4),
    Family(from_message, 0.6),
    Family(who_imports, 0.4),
    Family(tags, 0.7),
    Family(by_number, 1.0),
    Family(links_and_mails, 0.2),
    Family(in_other_language, 0.5),
)
