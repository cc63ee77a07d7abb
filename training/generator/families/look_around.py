"""Mixed questions on a folder: what it is, where things are, how two files differ, what files say."""

import posixpath
import re
from random import Random
from shlex import quote

from training.generator import look_around_frames as frames
from training.generator.families.list_files import number_of
from training.generator.folder_texts import title_of
from training.generator.folder_words import POOLS
from training.generator.folders import BINARY, Files, Folder, distractors, ending, some_folder
from training.generator.frames import ask, joined, one_frame, prompt, say, spell
from training.generator.play import Family, Play, Unfit
from training.generator.settings_files import KEYS, SettingsFile, settings_file, spoken, text_of

LANGUAGES = dict(
    pair.split("=")
    for pair in """py=Python js=JavaScript ts=TypeScript tsx=TypeScript go=Go rs=Rust c=C h=C java=Java
    rb=Ruby lua=Lua sh=shell sql=SQL tf=Terraform tex=LaTeX""".split()
)
# what | a pattern of paths | how people call it


_NUMBER = re.compile(r"\d+(\.\d+)?")


def _lay(play: Play, least: int = 4, most: int = 12) -> Folder:
    folder = some_folder(play.rng, least, most)
    for path in folder.paths():
        play.file(path, folder.files[path])
    return folder


def _evidence(path: str, text: str, number: int) -> str:
    return f"{path}, line {number}: {text.split(chr(10))[number - 1].strip()[:100]}"


def about(play: Play) -> None:
    """What a project is, from its README or package file."""
    rng = play.rng
    folder = some_folder(rng, 3, 10)
    name = rng.choice(POOLS["pkg"]).capitalize()
    files = {
        path: content
        for path, content in folder.files.items()
        if "README" not in path and path != "package.json"
    }
    purpose = one_frame(rng, frames.PURPOSES)
    slots = {
        "run": f"./{rng.choice(POOLS['job'])}.sh",
        **{key: rng.choice(POOLS[key]) for key in ("person", "year", "surname")},
    }
    more = [one_frame(rng, frames.SETUPS, **slots) for _ in range(rng.randint(1, 3))]
    path = rng.choice(("README.md", "README.md", "README.md", "README", "README.txt", "readme.md"))
    head = [f"# {name}", ""] if path.endswith("md") else [name, ""]
    text = "\n".join([*head, f"{name} {purpose}.", "", *dict.fromkeys(more)]) + "\n"
    for other in sorted(files):
        play.file(other, files[other])
    play.file(path, text)
    order = ask(rng, frames.ABOUT, name=name)
    play.user(order)
    if "readme" not in order.lower() or path != "README.md":
        play.glob("**/*")
    play.read(path)
    words = spell(rng, "(This is {name}: it|{name}|It) {purpose}.", name=name, purpose=purpose)
    play.say(f"{_evidence(path, text, 3)}\n{words}")


def language(play: Play) -> None:
    """The programming language of the files."""
    rng = play.rng
    for _ in range(60):
        folder = some_folder(rng, 4, 12)
        known = [LANGUAGES[ending(path)] for path in folder.paths() if ending(path) in LANGUAGES]
        ranked = sorted(set(known), key=lambda name: (-known.count(name), name))
        if len(known) > 2 and (len(ranked) == 1 or known.count(ranked[0]) > known.count(ranked[1]) + 1):
            break
    else:
        raise Unfit("no clear language")
    for path in folder.paths():
        play.file(path, folder.files[path])
    prompt(play, frames.LANGUAGE)
    play.glob("**/*")
    count = number_of(known.count(ranked[0]), "file")
    say(
        play,
        "({name}, judging by {count}.|It is written in {name}: {count}.|{name}.)",
        name=ranked[0],
        count=count,
    )


def find_place(play: Play) -> None:
    """Where tests, documentation, images and the like are."""
    rng = play.rng
    what, pattern, names = rng.choice(frames.PLACES).split(" | ")
    for _ in range(60):
        folder = some_folder(rng, 4, 14)
        found = [path for path in folder.paths() if re.search(pattern, path)]
        if 0 < len(found) < 7:
            break
    else:
        raise Unfit(f"no {what}")
    for path in folder.paths():
        play.file(path, folder.files[path])
    prompt(play, frames.FIND_PLACE, what=rng.choice(names.split(", ")))
    play.glob("**/*")
    folders = sorted({posixpath.dirname(path) for path in found})
    listed = "\n".join(found)
    play.say(
        f"{listed}\nThey are in {folders[0]}."
        if len(folders) == 1 and folders[0] and len(found) > 1
        else listed
    )


def show_file(play: Play) -> None:
    """The whole content of a short file; at times of another one after it."""
    rng = play.rng
    folder = _lay(play, 3, 8)
    texts = [
        path for path in folder.paths() if ending(path) not in BINARY and len(str(folder.files[path])) < 700
    ]
    if len(texts) < 2:
        raise Unfit("no texts")
    first, second = rng.sample(texts, 2)
    base = posixpath.basename(first)
    is_short = (
        rng.random() < 0.4
        and "/" in first
        and sum(posixpath.basename(path) == base for path in folder.files) == 1
    )
    called = base if is_short else first
    if (
        rng.random() < 0.25
        and len(title_of(base)) > 3
        and sum(title_of(path) == title_of(base) for path in folder.files) == 1
    ):
        called = f"the {title_of(base)} file"
    prompt(play, frames.SHOW, file=called)
    if called == base and is_short:
        if f"did you mean {first}?" not in play.read(base):
            raise Unfit("the file was not found")
    elif called != first:
        play.glob("**/*")
    play.read(first)
    play.say(play.text(first).rstrip("\n"))
    if rng.random() < 0.3:
        prompt(play, frames.THE_OTHER, file=second)
        play.read(second)
        play.say(play.text(second).rstrip("\n"))


def some_lines(play: Play) -> None:
    """The first or last lines of a short file."""
    rng = play.rng
    folder = _lay(play, 2, 6)
    texts = [
        path
        for path in folder.paths()
        if ending(path) not in BINARY and str(folder.files[path]).count("\n") > 4
    ]
    if not texts:
        raise Unfit("no texts")
    path = rng.choice(texts)
    rows = play.text(path).rstrip("\n").split("\n")
    number = rng.randint(2, min(5, len(rows) - 1))
    is_first = rng.random() < 0.65
    prompt(play, frames.FIRST_LINES if is_first else frames.LAST_LINES, n=str(number), file=path)
    play.read(path)
    play.say("\n".join(rows[:number] if is_first else rows[-number:]).strip("\n"))


def _pair(play: Play, *, changes: int) -> tuple[SettingsFile, SettingsFile, list[str]]:
    """Lay out two files of settings that differ in some values; return them and the keys that differ."""
    rng = play.rng
    stems = rng.choice(frames.PAIRS).split(" | ")
    first = settings_file(rng, stem=stems[0], keys=rng.randint(3, 6))
    end = ending(first.path)
    place = first.path.removesuffix(f"{stems[0]}.{end}")
    keys = rng.sample(first.keys, min(changes, len(first.keys)))
    values = dict(first.values)
    for key in keys:
        row = next(row for row in KEYS if row.startswith(f"{key.lower()} |"))
        values[key] = rng.choice([one for one in row.split(" | ")[2].split(",") if one != values[key]])
    seed = rng.randrange(2**30)
    one = SettingsFile(first.path, text_of(Random(seed), first.values, end), first.values)
    two = SettingsFile(f"{place}{stems[1]}.{end}", text_of(Random(seed), values, end), values)
    for file in (one, two):
        play.file(file.path, file.text)
    taken: Files = {one.path: "", two.path: ""}
    for path, text in distractors(rng, rng.choice((0, 0, 1, 2, 3)), taken).items():
        play.file(path, text)
    return one, two, [key for key in first.keys if key in keys]


def difference(play: Play) -> None:
    """The lines in which two files differ."""
    rng = play.rng
    one, two, keys = _pair(play, changes=rng.choice((1, 1, 2)))
    prompt(play, frames.DIFFERENCE, one=one.path, two=two.path)
    play.bash(f"diff {quote(one.path)} {quote(two.path)}")
    parts = [f"{key} is {one.values[key]} in {one.path} and {two.values[key]} in {two.path}" for key in keys]
    play.say(". ".join(parts) + ".")


def same_content(play: Play) -> None:
    """Whether two files are equal."""
    rng = play.rng
    one, two, keys = _pair(play, changes=rng.choice((0, 0, 1)))
    prompt(play, frames.SAME, one=one.path, two=two.path)
    play.bash(f"diff {quote(one.path)} {quote(two.path)}")
    if not keys:
        say(
            play,
            "Yes, (they are identical|{one} and {two} have the same content).",
            one=one.path,
            two=two.path,
        )
        return
    key = keys[0]
    play.say(f"No: {key} is {one.values[key]} in {one.path} and {two.values[key]} in {two.path}.")


def bigger(play: Play) -> None:
    """Which of two files has more bytes or lines."""
    rng = play.rng
    folder = _lay(play, 3, 9)
    is_lines = rng.random() < 0.45
    paths = [path for path in folder.paths() if not is_lines or ending(path) not in BINARY]
    if len(paths) < 2:
        raise Unfit("no two files")
    pair = rng.sample(paths, 2)
    prompt(play, frames.LONGER if is_lines else frames.BIGGER, one=pair[0], two=pair[1])
    shown = play.bash(f"wc -{'l' if is_lines else 'c'} {quote(pair[0])} {quote(pair[1])}")
    counts = [int(line.split()[0]) for line in shown.split("\n")[:2]]
    unit = "lines" if is_lines else "bytes"
    if counts[0] == counts[1] and rng.random() < 0.7:
        raise Unfit("the same size")
    if counts[0] == counts[1]:
        play.say(f"Both have {counts[0]} {unit}.")
        return
    more, less = (0, 1) if counts[0] > counts[1] else (1, 0)
    answer = (
        "({more} has {count} {unit}, {less} has {fewer}.|{more}: {count} {unit}, against {fewer} in {less}.)"
    )
    slots = {"more": pair[more], "less": pair[less], "count": str(counts[more]), "fewer": str(counts[less])}
    say(play, answer, unit=unit, **slots)


def same_value(play: Play) -> None:
    """One value in two files, compared."""
    rng = play.rng
    one, two, _ = _pair(play, changes=rng.choice((1, 2, 3)))
    key = rng.choice(one.keys)
    order = ask(rng, frames.SAME_VALUE, key=spoken(rng, key.lower()), one=one.path, two=two.path)
    play.user(order)
    for file in (one, two):
        play.read(file.path)
    shown = "\n".join(_evidence(file.path, file.text, file.line_of(key)) for file in (one, two))
    first, second = one.values[key], two.values[key]
    asks = bool(re.match(r"\W*(\w+[,:]? )?(is|do|does)\b", order, re.IGNORECASE)) or ":" in order
    same = "Yes, it is {a} in both." if asks and "differ" not in order else "It is {a} in both."
    other = (
        "No, it is {a} in {one} and {b} in {two}."
        if asks and "differ" not in order
        else "It is {a} in {one} and {b} in {two}."
    )
    words = spell(rng, same if first == second else other, a=first, b=second, one=one.path, two=two.path)
    play.say(f"{shown}\n{words}")


def _same_keys(play: Play, *, numeric: bool = False) -> tuple[list[SettingsFile], str]:
    """Lay out three to five files with the same keys; return them and a key with different values."""
    rng = play.rng
    stems = rng.sample(
        POOLS[rng.choice(("room", "host", "city", "animal", "month", "game", "mod"))], rng.randint(3, 5)
    )
    first = settings_file(rng, stem=stems[0], keys=rng.randint(2, 4))
    if numeric and not any(_NUMBER.fullmatch(value) for value in first.values.values()):
        raise Unfit("no numbers")
    end, place = ending(first.path), first.path.removesuffix(f"{stems[0]}.{ending(first.path)}")
    rows = {row.split(" | ")[0]: row.split(" | ")[2].split(",") for row in KEYS}
    files = []
    seed = rng.randrange(2**30)
    for stem in stems:
        values = {key: rng.choice(rows[key.lower()]) for key in first.keys}
        files.append(SettingsFile(f"{place}{stem.lower()}.{end}", text_of(Random(seed), values, end), values))
        play.file(files[-1].path, files[-1].text)
    keys = [key for key in first.keys if not numeric or _NUMBER.fullmatch(first.values[key])]
    return sorted(files, key=lambda file: file.path), rng.choice(keys)


def on_where(play: Play) -> None:
    """In which of several files a key has a value."""
    rng = play.rng
    files, key = _same_keys(play)
    value = rng.choice(files).values[key]
    found = [file for file in files if file.values[key] == value]
    prompt(play, frames.ON_WHERE, key=key, value=value)
    if "No matches" in play.grep(key):
        raise Unfit("the key is not found")
    shown = "\n".join(_evidence(file.path, file.text, file.line_of(key)) for file in found)
    play.say(f"{shown}\nThat is {joined([file.path for file in found])}.")


def highest(play: Play) -> None:
    """Which of several files has the highest value of a key."""
    rng = play.rng
    files, key = _same_keys(play, numeric=True)
    values = [file.values[key] for file in files]
    best = max(files, key=lambda file: float(file.values[key]))
    if values.count(best.values[key]) > 1:
        raise Unfit("two are the highest")
    prompt(play, frames.MOST, key=spoken(rng, key.lower()) if "_" not in key else key)
    if f"{key}" not in play.grep(key):
        raise Unfit("the key is not found")
    shown = _evidence(best.path, best.text, best.line_of(key))
    play.say(f"{shown}\nThe highest is {best.values[key]}, in {best.path}.")


# first file | its line | second file | its line | question


def two_steps(play: Play) -> None:
    """An answer for which two files have to be read."""
    rng = play.rng
    first, line, second, other, question = rng.choice(frames.CHAINS).split(" | ")
    count = rng.randint(3, 6)
    names = sorted(set(re.findall(r"\{(\w+)\}", line + other)))
    columns = {name: _values(rng, name, count) for name in names}
    rows = [{name: columns[name][at] for name in names} for at in range(count)]
    texts = [[spell(rng, shape, **row) for row in rows] for shape in (line, other)]
    places = list(range(count))
    rng.shuffle(places)
    play.file(first, "\n".join(texts[0]) + "\n")
    play.file(second, "\n".join(texts[1][at] for at in places) + "\n")
    for path, text in distractors(rng, rng.randint(0, 2), {first: "", second: ""}).items():
        play.file(path, text)
    at = rng.randrange(count)
    prompt(play, question, **rows[at])
    play.glob("**/*")
    play.read(first)
    play.read(second)
    link = next(name for name in names if name in line and f"{{{name}}}" in other and f"{{{name}}}" in line)
    value = next(rows[at][name] for name in names if f"{{{name}}}" in other and f"{{{name}}}" not in line)
    shown = f"{first}, line {at + 1}: {texts[0][at]}\n{second}, line {places.index(at) + 1}: {texts[1][at]}"
    play.say(f"{shown}\nIt is {value} ({rows[at][link]}).")


def _values(rng: Random, name: str, count: int) -> list[str]:
    """Return different values for a column."""
    make = {
        "phone": lambda: f"0{rng.randint(30, 99)} {rng.randint(1000, 9999)}",
        "price": lambda: f"{rng.randint(2, 90)}.{rng.choice(('00', '50', '90'))}",
        "clock": lambda: f"{rng.randint(6, 22)}:{rng.randint(10, 59)}",
        "litres": lambda: str(rng.randint(2, 40)),
        "num": lambda: str(rng.randint(11, 240)),
        "mail": lambda: f"{rng.choice(POOLS['mod'])}{rng.randint(1, 99)}@{rng.choice(POOLS['pkg'])}.example",
    }
    if name not in make:
        return rng.sample(list(dict.fromkeys(POOLS[name])), count)
    values: list[str] = []
    while len(values) < count:
        value = make[name]()
        if value not in values:
            values.append(value)
    return values


FAMILIES = (
    Family(about, 0.6),
    Family(language, 0.25),
    Family(find_place, 0.5),
    Family(show_file, 1.0),
    Family(some_lines, 0.4),
    Family(difference, 0.5),
    Family(same_content, 0.25),
    Family(bigger, 0.3),
    Family(same_value, 0.5),
    Family(on_where, 0.35),
    Family(highest, 0.25),
    Family(two_steps, 0.5),
)
