"""Orders about what is not there: files, keys, names, commands; and two files for one name."""

import posixpath
import re
from collections.abc import Callable
from random import Random

from training.generator import missing_frames as frames
from training.generator.code_projects import code_project, name_in_style
from training.generator.families.list_files import numbered
from training.generator.folder_texts import CODE_VERBS, binary_text, text_for
from training.generator.folder_words import POOLS, entries
from training.generator.folders import BINARY, Folder, distractors, ending, some_folder
from training.generator.frames import ask, ask_foreign, joined, prompt, say, spell
from training.generator.listing_frames import MAYBE_FILES
from training.generator.play import Family, Play, Unfit
from training.generator.settings_files import KEYS, SettingsFile, settings_file, spoken

MAX_NAMED = 6  # files in an answer
NOTHING_CHANGED = "(I changed nothing.|Nothing was changed.|So I changed nothing.)"


def _lay(play: Play, least: int = 2, most: int = 8) -> Folder:
    folder = some_folder(play.rng, least, most)
    for path in folder.paths():
        play.file(path, folder.files[path])
    return folder


def _edit_prompt(play: Play, file: str) -> str:
    rng = play.rng
    old, new = rng.sample(POOLS["tool"] + POOLS["food"] + POOLS["city"], 2)
    return ask(rng, frames.EDIT, file=file, old=old, new=new, n=str(rng.randint(2, 30)), text=f"{old} {new}")


def _misspelt(rng: Random, path: str) -> str:
    """Return a path with a slip in its name: a letter too many, too few or moved, or another ending."""
    folder, name = posixpath.split(path)
    stem, _, end = name.partition(".")
    if len(stem) < 4:
        raise Unfit("a short name")
    at = rng.randint(1, len(stem) - 2)
    stem = rng.choice(
        (
            stem[:at] + stem[at + 1] + stem[at] + stem[at + 2 :],
            stem[:at] + stem[at + 1 :],
            stem[:at] + stem[at] + stem[at:],
            f"{stem}s" if not stem.endswith("s") else stem[:-1],
            stem.replace("-", "_") if "-" in stem else stem.swapcase(),
        )
    )
    return posixpath.join(folder, f"{stem}.{end}" if end else stem)


def _texts(folder: Folder) -> list[str]:
    return [
        path
        for path in folder.paths()
        if ending(path) not in (*BINARY, "") and len(str(folder.files[path])) < 600
    ]


def misspelt_file(play: Play) -> None:
    """A file name with a slip: a question is answered from the similar file, an edit is not made."""
    rng = play.rng
    folder = _lay(play)
    path = rng.choice(_texts(folder) or [""])
    wrong = _misspelt(rng, path)
    if wrong == path or play.exists(wrong):
        raise Unfit("no slip")
    is_edit = rng.random() < 0.45
    plain = "\n".join(frames.SHOW.strip().split("\n")[:7])
    play.user(_edit_prompt(play, wrong) if is_edit else ask(rng, plain, file=wrong))
    shown = play.read(wrong)
    found = re.search(r"did you mean (\S+?)\?", shown)
    if found is None or found[1] != path:
        raise Unfit("nothing similar was found")
    if is_edit:
        answer = "There is no {wrong} here. Did you mean {path}? " + NOTHING_CHANGED
        say(play, answer, wrong=wrong, path=path)
        return
    play.read(path)
    start = spell(
        rng, "There is no {wrong}, (so this is|this is|but here is) {path}:", wrong=wrong, path=path
    )
    play.say(f"{start}\n{play.text(path).rstrip()}")


def no_such_file(play: Play) -> None:
    """A file that is not there, to be shown, edited or run."""
    rng = play.rng
    folder = _lay(play)
    name = (
        rng.choice(MAYBE_FILES)
        if rng.random() < 0.6
        else posixpath.basename(rng.choice(some_folder(rng).paths()))
    )
    if any(posixpath.basename(path).lower() == name.lower() for path in folder.files):
        raise Unfit("it is there")
    order = rng.choice(("show", "show", "edit", "run"))
    if order == "edit" and ending(name) in BINARY:
        raise Unfit("no text")
    if order == "run":
        name = f"{rng.choice(POOLS['mod'])}.py"
        prompt(play, frames.RUN, file=name)
    else:
        play.user(ask(rng, frames.SHOW, file=name) if order == "show" else _edit_prompt(play, name))
    shown = play.read(name) if order != "run" else play.bash(f"python3 {name}")
    if "did you mean" in shown or "o such file" not in shown:
        raise Unfit("something similar is there")
    names = play.glob("**/*").split("\n")
    there = f" Here are {joined(names)}." if len(names) > 1 else f" There is only {names[0]}."
    there = there if len(names) <= MAX_NAMED else ""
    frame = rng.choice(
        ("There is no {name} here.", "{name} does not exist here.", "I find no {name} in this folder.")
    )
    ended = " " + NOTHING_CHANGED if order == "edit" else ""
    say(play, frame + there + ended, name=name)


def delete_missing(play: Play) -> None:
    """A file that is not there, to be deleted, moved or copied."""
    rng = play.rng
    folder = _lay(play)
    name = (
        rng.choice(MAYBE_FILES)
        if rng.random() < 0.5
        else posixpath.basename(rng.choice(some_folder(rng).paths()))
    )
    if any(posixpath.basename(path) == name for path in folder.files) or name == ".env":
        raise Unfit("it is there")
    moves = rng.random() < 0.4
    new = f"{rng.choice(('old', 'new', 'copy'))}-{name.lstrip('.')}"
    prompt(play, frames.MOVE if moves else frames.DELETE, file=name, new=new)
    if play.glob(f"**/{name}") != "No files found":
        raise Unfit("it is there")
    ended = (
        "(so nothing was done|so I did nothing)" if moves else "(so nothing was deleted|so I deleted nothing)"
    )
    say(play, "There is no {name} here, " + ended + ".", name=name)


def no_such_key(play: Play) -> None:
    """A key that a file of settings does not have, asked for or to be set."""
    rng = play.rng
    found = settings_file(rng)
    play.file(found.path, found.text)
    for path, text in distractors(rng, rng.randint(0, 3), {found.path: ""}).items():
        play.file(path, text)
    known = {key.lower() for key in found.values}
    row = rng.choice([row for row in KEYS if row.split(" | ")[0] not in known])
    key, _, values = row.split(" | ")
    word = spoken(rng, key)
    if any(part in known for part in re.split(r"[ _]", word)):
        raise Unfit("a similar key")
    sets = rng.random() < 0.35
    prompt(
        play,
        frames.SET_KEY if sets else frames.KEY,
        key=word,
        file=found.path,
        value=rng.choice(values.split(",")),
    )
    play.read(found.path)
    _say_no_key(play, found, word, sets=sets)


def _say_no_key(play: Play, found: SettingsFile, word: str, *, sets: bool) -> None:
    there = f" It has {joined(found.keys)}."
    frame = "(There is no {word} in {file}.|{file} has no {word}.|{file} does not set the {word}.)"
    ended = f" {spell(play.rng, NOTHING_CHANGED)}" if sets else ""
    play.say(spell(play.rng, frame, word=word, file=found.path) + there + ended)


def no_such_name(play: Play) -> None:
    """A name that is not in a source file, to be renamed, removed or explained."""
    rng = play.rng
    project = code_project(rng, 1, rng.choice(("function", "function", "constant", "class")))
    for path in sorted(project.files):
        play.file(path, project.files[path])
    style = "upper" if project.kind == "constant" else "pascal" if project.kind == "class" else "snake"
    near = rng.random() < 0.5 and "_" in project.name
    name = (
        project.name.replace(project.name.split("_")[0], rng.choice(CODE_VERBS), 1)
        if near
        else name_in_style(rng, style)
    )
    if project.kind == "function" and rng.random() < 0.3:
        name += "()"
    plain = name.removesuffix("()")
    text = play.text(project.home)
    if plain in text or plain.lower() == project.name.lower():
        raise Unfit("it is there")
    edits = rng.random() < 0.6
    new = name_in_style(rng, style)
    prompt(play, frames.RENAME_NAME if edits else frames.WHAT_RETURNS, name=name, new=new, file=project.home)
    play.read(project.home)
    frame = "(There is no {name} in {file}.|{file} has no {name}.|I see no {name} in {file}.)"
    there = " It (has|defines) {known}."
    ended = " " + NOTHING_CHANGED if edits else ""
    say(play, frame + there + ended, name=plain, file=project.home, known=project.name)


def no_such_row(play: Play) -> None:
    """A name that is not in a table."""
    rng = play.rng
    column = rng.choice(
        ("mark", "age", "room", "team", "phone number", "score", "seat", "shift", "grade", "city")
    )
    names = rng.sample(POOLS["person"], rng.randint(4, 9))
    missing, *known = names
    stem = rng.choice(("marks", "members", "guests", "players", "pupils", "staff", "team"))
    file = f"{rng.choice(('', 'data/', 'lists/'))}{stem}.csv"
    values: dict[str, Callable[[], str]] = {
        "city": lambda: rng.choice(POOLS["city"]),
        "team": lambda: rng.choice(POOLS["animal"]),
        "shift": lambda: rng.choice(("early", "late", "night")),
        "phone number": lambda: f"555-0{rng.randint(100, 999)}",
        "mark": lambda: rng.choice(("1", "2+", "2-", "3", "4")),
        "grade": lambda: rng.choice(("A", "B+", "B", "C", "D")),
        "room": lambda: f"B{rng.randint(1, 30)}",
    }
    value = values.get(column, lambda: str(rng.randint(1, 60)))
    sep = rng.choice((",", ",", ";"))
    rows = [f"name{sep}{column}", *(f"{name}{sep}{value()}" for name in known)]
    play.file(file, "\n".join(rows) + "\n")
    others = distractors(rng, rng.randint(0, 3), {file: ""})
    for path, text in others.items():
        if missing not in str(text):
            play.file(path, text)
    question = ask(rng, frames.PERSON, column=column, name=missing, file=file)
    play.user(question)
    if file not in question:
        play.glob("**/*")
    play.read(file)
    frame = "({name} is not in {file}.|There is no {name} in {file}.)"
    there = f" The names there are {joined(known)}." if rng.random() < 0.7 else ""
    play.say(spell(rng, frame, name=missing, file=file) + there)


def no_such_line(play: Play) -> None:
    """A line beyond the end of a file."""
    rng = play.rng
    folder = _lay(play)
    path = rng.choice(_texts(folder) or [""])
    if not path:
        raise Unfit("no text")
    count = len(play.text(path).rstrip("\n").split("\n"))
    question = ask(rng, frames.LINE, n=str(count + rng.choice((1, 2, 5, 10, 30))), file=path)
    play.user(question)
    play.read(path)
    number = f"{count} line{'s' if count > 1 else ''}"
    deletes = "delete" in question.lower()
    ended = " " + NOTHING_CHANGED if deletes else ""
    say(play, f"{{file}} has only {number}.{ended}", file=path)


def empty_file(play: Play) -> None:
    """A file without content."""
    rng = play.rng
    _lay(play, most=5)
    name = rng.choice(
        "ideas.txt todo.md notes.md log.txt data.csv report.md list.txt config.yaml words.txt main.py".split()
    )
    path = rng.choice(("", "", "docs/", "old/")) + name
    play.file(path, "")
    prompt(play, frames.SHOW, file=path)
    play.read(path)
    say(play, rng.choice(frames.EMPTY_LINES.split("\n")), file=path)


def binary_file(play: Play) -> None:
    """A file that is no text."""
    rng = play.rng
    _lay(play, most=5)
    kind = rng.choice(
        ("zip", "pdf", "mp3", "xlsx", "docx", "sqlite", "gz", "ttf", "ico", "wav", "png", "jpg")
    )
    path = f"{rng.choice(('', '', 'files/', 'out/'))}{rng.choice(POOLS['asset'] + POOLS['pkg'])}.{kind}"
    play.file(path, binary_text(rng, kind))
    prompt(play, frames.SHOW, file=path)
    shown = play.read(path)
    if "an image" in shown:
        say(
            play,
            "{file} is an image(, I cannot see it.|. I can only read text.|, which I cannot show.)",
            file=path,
        )
    else:
        say(
            play,
            "{file} is a binary file(, I can only read text.|, no text, so I cannot show it.)",
            file=path,
        )


def folder_for_file(play: Play) -> None:
    """A folder that is named as if it were a file."""
    rng = play.rng
    folder = _lay(play, least=4, most=12)
    if not folder.folders():
        raise Unfit("no folders")
    where = rng.choice(folder.folders())
    prompt(play, frames.FOLDER_FILE, folder=where)
    play.read(where)
    names = play.glob(f"{where}/**/*")
    play.say(f"{where} is a folder. In it:\n{names}")


def no_such_folder(play: Play) -> None:
    """A folder that is not there."""
    rng = play.rng
    folder = _lay(play, least=4, most=10)
    name = rng.choice(
        "assets images lib vendor archive uploads photos backup drafts export scripts private".split()
    )
    if name in folder.folders() or not folder.folders():
        raise Unfit("it is there")
    prompt(play, frames.NO_FOLDER, folder=name)
    play.glob(f"{name}/**/*")
    play.bash("ls -d */")
    there = (
        f" The folders are {joined(folder.folders())}."
        if len(folder.folders()) > 1
        else f" The only folder is {folder.folders()[0]}."
    )
    play.say(spell(rng, "There is no folder {name} here.", name=name) + there)


def no_such_command(play: Play) -> None:
    """A command that is not installed."""
    rng = play.rng
    if rng.random() < 0.5:
        _lay(play, most=4)
    command = rng.choice("|".join(entries(frames.COMMANDS)).split("|"))
    prompt(play, frames.COMMAND, command=command)
    shown = play.bash(command)
    if "command not found" not in shown:
        raise Unfit("it is installed")
    name = command.split()[0]
    say(
        play,
        "({name} is not installed here: command not found.|{name}: command not found, it is not installed.)",
        name=name,
    )


def two_files(play: Play) -> None:
    """An order that fits two files: the answer asks which one; then it is carried out."""
    rng = play.rng
    what, *stems = rng.choice(frames.PAIRS.strip().split("\n")).split(" | ")
    first = settings_file(
        rng, stem=stems[0], ending=rng.choice(("toml", "ini", "yaml", "json", "env", "conf"))
    )
    end, place = ending(first.path), first.path.removesuffix(f"{stems[0]}.{ending(first.path)}")
    text = first.text
    key = rng.choice(first.keys)
    for at, stem in enumerate(stems):
        value = first.values[key]
        other = _other_value(rng, key, value)
        play.file(
            f"{place}{stem}.{end}",
            text if at == 0 else re.sub(rf"(?m)({key}\W+){re.escape(value)}\b", rf"\g<1>{other}", text),
        )
    for path, content in distractors(rng, rng.randint(0, 2), {f"{place}x": ""}).items():
        if ending(path) != end and "config" not in path and "settings" not in path:
            play.file(path, content)
    new = _other_value(rng, key, first.values[key])
    word = spoken(rng, key)
    order = ask(rng, frames.AMBIGUOUS, key=word, what=what, value=new)
    play.user(order)
    play.glob("**/*")
    paths = sorted(f"{place}{stem}.{end}" for stem in stems)
    changes = not re.search(r"\b(what|which)\b", order, re.IGNORECASE)
    frame = "There are two: {one} and {two}. Which one (do you mean|should I {do})?"
    say(play, frame, one=paths[0], two=paths[1], do="change" if changes else "read")
    if rng.random() < 0.5 and not re.search(r"delete|remove|dleete|delte|remvoe", order, re.IGNORECASE):
        _then_one(play, rng.choice(paths), key, new, changes=changes)


def _then_one(play: Play, path: str, key: str, new: str, *, changes: bool) -> None:
    prompt(play, "{path}\nthe one in {path}\n{path} (please|of course|I think)\nI mean {path}", path=path)
    play.read(path)
    rows = play.text(path).split("\n")
    at = next(at for at, row in enumerate(rows, 1) if row.strip().strip('"').startswith(key))
    value = re.sub(rf'^\W*{key}"?\W*[=:] ?', "", rows[at - 1]).strip('", ')
    if not changes:
        play.say(f"{path}, line {at}: {rows[at - 1].strip()}\nThe value of {key} is {value}.")
        return
    if new == value:
        raise Unfit("the same value")
    play.set_lines(path, at, rows[at - 1].replace(value, new))
    play.say(f"Changed {key} from {value} to {new} in {path}.")


def _other_value(rng: Random, key: str, value: str) -> str:
    row = next(row for row in KEYS if row.startswith(f"{key.lower()} |"))
    return rng.choice([one for one in row.split(" | ")[2].split(",") if one != value])


def same_name_twice(play: Play) -> None:
    """A file name that two folders have."""
    rng = play.rng
    folder = _lay(play, least=2, most=5)
    name = rng.choice(
        "notes.txt README.md config.toml index.html main.py list.csv plan.md style.css data.json".split()
    )
    one, two = sorted(
        rng.sample("app backup docs lab shop tests web home old work school garden trip".split(), 2)
    )
    if any(posixpath.basename(path) == name for path in folder.files) or {one, two} & set(folder.folders()):
        raise Unfit("a third one")
    for where in (one, two):
        play.file(f"{where}/{name}", text_for(rng, f"{where}/{name}"))
    prompt(play, frames.SAME_NAME, name=name, n=str(rng.randint(1, 3)), text=rng.choice(POOLS["topic"]))
    shown = play.glob(f"**/{name}").split("\n")
    if len(shown) != 2:
        raise Unfit("not two")
    asks = "There are two files of that name:\n{list}\nWhich one do you mean?"
    say(play, asks, list=numbered(shown))


def text_not_there(play: Play) -> None:
    """An edit of a text that the file does not hold."""
    rng = play.rng
    folder = _lay(play)
    path = rng.choice([path for path in _texts(folder) if ending(path) in ("md", "txt", "csv")] or [""])
    if not path:
        raise Unfit("no text")
    old, new = rng.sample(
        POOLS[rng.choice(("tool", "food", "city", "product", "animal", "plant", "person"))], 2
    )
    if old.lower() in play.text(path).lower():
        raise Unfit("it is there")
    prompt(play, frames.ABSENT_TEXT, old=old, new=new, file=path)
    play.read(path)
    frame = (
        "({old} is not in {file}.|There is no {old} in {file}.|{file} does not mention {old}.) "
        + NOTHING_CHANGED
    )
    say(play, frame, old=old, file=path)


AND_WORDS = {"de": "und", "fr": "et", "es": "y"}


def in_other_language(play: Play) -> None:
    """A file that is not there, asked for in German, French or Spanish."""
    rng = play.rng
    folder = _lay(play, most=6)
    language, frame, answer = rng.choice(frames.FOREIGN.strip().split("\n")).split(" | ")
    name = f"{rng.choice(POOLS[f'word{language}'])}.{rng.choice(('txt', 'md', 'csv'))}"
    if name in folder.files:
        raise Unfit("it is there")
    play.user(ask_foreign(rng, frame, name=name))
    if "did you mean" in play.read(name):
        raise Unfit("something similar is there")
    names = play.glob("**/*").split("\n")
    say(play, answer, name=name, files=joined(names, AND_WORDS[language]))


FAMILIES = (
    Family(misspelt_file, 0.9),
    Family(no_such_file, 1.0),
    Family(delete_missing, 0.6),
    Family(no_such_key, 1.0),
    Family(no_such_name, 0.8),
    Family(no_such_row, 0.6),
    Family(no_such_line, 0.3),
    Family(empty_file, 0.4),
    Family(binary_file, 0.4),
    Family(folder_for_file, 0.2),
    Family(no_such_folder, 0.3),
    Family(no_such_command, 0.3),
    Family(two_files, 0.6),
    Family(same_name_twice, 0.3),
    Family(text_not_there, 0.6),
    Family(in_other_language, 0.2),
)
