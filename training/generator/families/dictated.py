"""Dictated content: lists, tables, sequences and lines that must be copied letter by letter."""

import json
from collections.abc import Sequence
from random import Random

from training.generator import sources
from training.generator.dictated_words import (
    LISTS,
    PATTERNS,
    distinct,
    exact,
    identifier,
    made_up,
    path_for,
    plain,
    word,
)
from training.generator.folder_words import POOLS
from training.generator.frames import joined, one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.targets import order_text, quoted

ONE_PER_LINE = """
(make|create|write) a file {f} with {i}, one (thing|item|entry|word|name|) per line
(make|create) {f} with {i}, each on (a line of its own|its own line)
{f}: {i} (one per line|each in a new line)
(put|write|save) {i} (into|to) a new file {f}, one per line
can you (make|set up) {f} for me? {i}, (every|each) one on a line
I need a (file|list) {f}, one per line: {i}
new file {f} with these lines: {i}
(please |)note down in {f}: {i} (a line for each|one in each line)
write these to {f}, (a line each|line by line): {i}
jot down {i} in {f}, one line each
save my list as {f}: {i}
Please write {i} into {f}, one below the other
""".strip()
SHAPED = {
    "bullets": """
{f} as a (markdown |)bullet list: {i}
make {f}, a list with dashes: {i}
(put|write) {i} (into|in) {f} as bullet points
new file {f} with bullets for {i}
I want {i} as a bullet list in {f}
""".strip(),
    "numbers": """
{f} as a numbered list: {i}
make a numbered list {f}: {i}
(put|write) {i} (into|in) {f}, numbered
new file {f}, numbered 1 2 3: {i}
number these and save them in {f}: {i}
""".strip(),
    "boxes": """
{f} as a (markdown |)checklist(|, nothing ticked yet|, all open): {i}
make a todo list {f} with (checkboxes|empty boxes): {i}
(put|write) {i} (into|in) {f} as (a checklist|checkboxes|things to tick off)
new {f} with a checkbox for (each|every one): {i}
checklist {f}: {i}
a tick box list in {f} please: {i}
""".strip(),
}
COLUMNS = """
(make|create) {f} with the columns {h} and (the rows |){r}
{f}: header {h}, (then|rows|below) {r}
can you set up {f} for me? columns {h} and then {r}
I need a csv {f} with {h} as (the header|columns|first line), (rows|data|lines): {r}
new table {f}, columns {h}, (rows|entries): {r}
write {f} with header {h} and (these rows|{n} rows): {r}
(put|save) this in {f}, columns {h}: {r}
{f} should have the columns {h}. (Rows|Data|Entries): {r}
start {f} (with|having) {h}; first rows {r}
""".strip()
SEQUENCE = """
(save|write|put) {s} (to|into|in) {f}, (one per line|each on a line of its own|every one on its own line)
(make|create) {f} with {s}, one (per|on each) line
I need a file {f} with {s}, (a line each|one below the other)
{f} with {s} please, one per line
new file {f}: {s}, one per line
fill a new file {f} with {s}, line by line
""".strip()
NEW_FOLDER = """
(put|make|create) an empty {n} in a new folder (named|called|) {d}
(make|create) a folder {d} with an empty {n} in it
new folder {d}, inside an empty file {n}
I need a folder {d} with (nothing but|only) an empty {n}
(add|create) {d} and in it a blank {n}
the folder {d} should exist with an empty {n}
create an empty {n} inside {d}(, the folder is not there yet|)
""".strip()
IGNORE = """
(gimme|make|write|create) a {f} (that ignores|for|with|which leaves out) {i}
{f} please: {i}
(add|set up) a {f} (for|with) {i}
I need a {f}, it should ignore {i}
we have no {f}, (make|write) one that (ignores|skips|excludes) {i}
new {f} (with|for|ignoring) {i}
ignore {i} (in|with) a new {f}
""".strip()
VALUES = """
create {f} with {v}
new file {f} (with|:) {v}
need a {f}: {v}
{f} with {v}
write {f}, (keys|content|inside): {v}
(set up|start) {f} (with|where) {v}
""".strip()
TWO_FILES = """
(make|create) two files: {a} with (the text|) {x} and {b} with (the text|) {y}
{a} should (say|contain) {x}, and {b} {y} (both are new|)
write {x} (into|to) {a} and {y} (into|to) {b}
two new files please, {a}: {x} - {b}: {y}
put {x} in a new file {a}, and {y} in {b}
""".strip()
SCRIPT = """
(I want|write|make) a {k} {f}(, it| that| which) takes a (name|word) as (first |)argument and prints {g}
{f}: a (tiny |small |){k} that greets the (name given|person named) as argument with {g}
(make|write) {f}, (so that|it) prints {g} for the name it (gets|is given)
(I need |){f}, a {k}. first argument is a name, (output|it prints): {g}
""".strip()
GREETINGS = (
    "Hello|Hi|Good morning|Welcome|Ahoy|Hey there|Bonjour|Hallo|Ciao|Hola|Good evening|Greetings|Moin|Servus"
)
APPEND = """
(add|append) {i} (at|to) the end of {f}
(add|append) (these lines|this) to {f}: {i}
put {i} (at the bottom|at the end) of {f}
{f}: add {i} (below|at the end)
in {f} (add|append) {i}(, one per line| as new lines|)
also {i} (should go|go) (into|on) {f}, at the end
""".strip()
CHANGE = """
(set|change) {k} to {v} in {f}
in {f} {k} (should be|must be|is now|becomes) {v}
{k} = {v} ({f})
{f}: {k} (->|is now|should be) {v}
(make|let) {k} (be|to) {v} in {f}
the {k} in {f} is wrong, it (is|should be) {v}
please (put|write) {v} as {k} in {f}
""".strip()
LOOK_UP = """
what is {k} (set to |)in {f}?
(which|what) (value|) has {k} in {f}?
{f}: what (is|does it say for) {k}?
(tell|show) me (the value of |){k} (from|in) {f}
{k} (from|in) {f}?
how is {k} set in {f}?
""".strip()
LINE = """
what (does|is in|stands in) line {n} of {f}(| say)?
(read|show|tell) me line {n} (of|from|in) {f}
line {n} of {f}?
{f}, line {n}: what (is|does it say) there?
(quote|give me) line {n} of {f}
""".strip()


def _created(path: str, count: int, what: str) -> str:
    counted = sources.count_of(count, what).replace("entrys", "entries")
    return f"Created {path} with {counted}."


def _said(rng: Random, items: Sequence[str]) -> str:
    """Name the items in a row."""
    kind = rng.randrange(4)
    if kind == 0:
        return ", ".join(items)
    if kind == 1 and len(items) > 2:
        return f"{', '.join(items[:-1])}, and {items[-1]}"
    if kind == 2:
        return "; ".join(items)
    return joined(list(items))


def _ask(play: Play, block: str, **slots: str) -> None:
    play.user(order_text(play.rng, one_frame(play.rng, block, **slots), exact_end=True))


def _items(rng: Random, most: int = 8) -> list[str]:
    items = distinct(rng, rng.randint(2, most))
    if len(items) < 2:
        raise Unfit("too few items")
    return items


def one_per_line(play: Play) -> None:
    """A list with an entry on each line."""
    rng = play.rng
    items, path = _items(rng), path_for(rng, "txt txt txt md csv lst list")
    sources.distract(play, path)
    _ask(play, ONE_PER_LINE, f=path, i=_said(rng, items))
    play.write(path, "\n".join(items))
    play.say(_created(path, len(items), "entry"))


def shaped_list(play: Play) -> None:
    """A list with bullets, numbers or boxes."""
    rng = play.rng
    shape, frames = rng.choice(sorted(SHAPED.items()))
    items, path = _items(rng), path_for(rng, "md md txt")
    rows = {
        "bullets": [f"- {item}" for item in items],
        "numbers": [f"{at}. {item}" for at, item in enumerate(items, 1)],
        "boxes": [f"- [ ] {item}" for item in items],
    }[shape]
    sources.distract(play, path)
    _ask(play, frames, f=path, i=_said(rng, items))
    play.write(path, "\n".join(rows))
    play.say(_created(path, len(items), "entry"))


def block(play: Play) -> None:
    """Lines that the user pastes."""
    rng = play.rng
    items, path = _items(rng, 6), path_for(rng, "txt md log conf")
    if rng.random() < 0.3:
        items.insert(rng.randrange(1, len(items)), "")
    lead = one_frame(rng, "(save|put) this as {f}:\n{f}:\n(create|make) {f} with:\nnew file {f}:", f=path)
    play.user(f"{lead}\n" + "\n".join(items))
    play.write(path, "\n".join(items))
    play.say(_created(path, len(items), "line"))


def _column(rng: Random) -> tuple[str, list[str]]:
    """Return a name of a column and values for it."""
    kind = rng.randrange(6)
    if kind < 2:
        name = rng.choice("age count price points year room km minutes stock weight size page level".split())
        return name, [str(rng.randint(1, 2040)) for _ in range(8)]
    if kind == 2:
        name = rng.choice("day city animal colour plant instrument".split())
        pool = {"day": LISTS["days"], "colour": LISTS["colours of the rainbow"]}.get(name) or POOLS[name]
        return name, [rng.choice(pool) for _ in range(8)]
    if kind == 3:
        return rng.choice("price cost share rate".split()), [
            f"{rng.randint(0, 99)}.{rng.randint(0, 99):02}" for _ in range(8)
        ]
    if kind == 4:
        return rng.choice("code key label mark".split()), [made_up(rng) for _ in range(8)]
    return plain(rng), [word(rng) for _ in range(8)]


def columns(play: Play) -> None:
    """A table from a sentence."""
    rng = play.rng
    named = (rng.choice("name item who title word".split()), distinct(rng, 8))
    wanted = [named, *(_column(rng) for _ in range(rng.choice((1, 1, 2, 3))))]
    count = min(rng.randint(2, 5), len(named[1]))
    rows = [[values[at] for _, values in wanted] for at in range(count)]
    heads = [name for name, _ in wanted]
    if len(set(heads)) < len(heads) or any(";" in cell for row in rows for cell in row):
        raise Unfit("columns of one name")
    mark = "," if rng.random() < 0.85 else ";"
    one_word = all(" " not in cell for row in rows for cell in row)
    within = rng.choice((" ", " ", ",")) if one_word else rng.choice((",", ", "))
    between = ", " if within == " " else rng.choice((" / ", "; ", " and "))
    path = path_for(rng, "csv")
    said = between.join(within.join(row) for row in rows)
    tail = f" (separated by {mark})" if mark == ";" else ""
    header = rng.choice((", ".join(heads), ",".join(heads), joined(heads), " ".join(heads)))
    sources.distract(play, path)
    _ask(play, COLUMNS, f=path, h=header, r=said + tail, n=str(count))
    play.write(path, "\n".join(mark.join(row) for row in [heads, *rows]))
    play.say(_created(path, count, "row"))


def _sequence(rng: Random) -> tuple[str, list[str]]:
    """Return a sequence in words, and its members."""
    kind = rng.randrange(9)
    first, count = rng.choice((0, 1, 1, 1, 2, 5, 10, rng.randint(1, 60))), rng.randint(4, 25)
    if kind < 3:
        last = first + count
        said = f"(all |)(the |)numbers (from {first} to {last}|{first} to {last}|{first}-{last})"
        return said, [str(at) for at in range(first, last + 1)]
    if kind == 3:
        start = rng.choice((5, 10, 10, 12, 15, 20))
        return f"a countdown from {start} to {first % 2}", [str(at) for at in range(start, first % 2 - 1, -1)]
    if kind == 4:
        rest, name = rng.choice(((0, "even"), (1, "odd")))
        last = rng.randint(9, 40)
        return f"the {name} numbers (from 1 to|up to) {last}", [
            str(at) for at in range(1, last + 1) if at % 2 == rest
        ]
    if kind == 5:
        by = rng.choice((2, 3, 4, 5, 6, 7, 8, 9, 10, 25, 50, 100))
        return f"the first {count} multiples of {by}", [str(by * at) for at in range(1, count + 1)]
    if kind == 6:
        count = rng.randint(4, 15)
        return f"the squares (of|from) 1 to {count}", [str(at * at) for at in range(1, count + 1)]
    if kind == 7:
        end = rng.randint(3, 25)
        start = rng.choice((0, 0, 0, rng.randrange(end)))
        letters = [chr(97 + at) for at in range(start, end + 1)]
        return f"the letters (from |){letters[0]} to {letters[-1]}", letters
    name = rng.choice(sorted(LISTS))
    return f"the {name}", LISTS[name]


def sequence(play: Play) -> None:
    """A row of numbers, letters or names that everybody knows."""
    rng = play.rng
    said, members = _sequence(rng)
    path = path_for(rng, "txt txt csv md")
    sources.distract(play, path)
    _ask(play, SEQUENCE, f=path, s=one_frame(rng, said))
    play.write(path, "\n".join(members))
    play.say(_created(path, len(members), "entry"))


def new_folder(play: Play) -> None:
    """An empty file in a folder that is new."""
    rng = play.rng
    folder = rng.choice((plain(rng), f"{plain(rng)}/{plain(rng)}", rng.choice(PATTERNS["folder"]).strip(".")))
    name = rng.choice(
        (".gitkeep", ".keep", "__init__.py", "README.md", "index.html", f"{plain(rng)}.txt", ".env")
    )
    sources.distract(play, f"{folder}/{name}")
    if play.exists(folder):
        raise Unfit("the folder is there")
    _ask(play, NEW_FOLDER, d=folder + rng.choice(("", "", "/")), n=name)
    play.bash(f"mkdir -p {folder} && touch {folder}/{name}")
    play.say(f"Created the empty file {folder}/{name}.")


def _pattern(rng: Random) -> tuple[str, str]:
    """Return what is to be ignored, in words and as a pattern."""
    kind = rng.randrange(6)
    if kind == 0:
        ending = rng.choice(PATTERNS["ending"])
        said = one_frame(rng, "(all |)(the |).{e} files\n*.{e}\n(every|any) .{e} file\n{e} files", e=ending)
        return said, f"*.{ending}"
    if kind < 4:
        folder = rng.choice((*PATTERNS["folder"], plain(rng)))
        if rng.random() < 0.5:
            return folder, folder
        said = one_frame(rng, "{d}/\nthe {d} folder\nthe folder {d}\n(everything in |){d}/", d=folder)
        return said, f"{folder}/"
    name = rng.choice((*PATTERNS["file"], identifier(rng) + rng.choice((".txt", ".json", ".cfg"))))
    return name, name


def ignored(play: Play) -> None:
    """A file with patterns to ignore."""
    rng = play.rng
    name = rng.choice(
        (".gitignore",) * 5 + (".dockerignore", ".npmignore", ".prettierignore", ".eslintignore")
    )
    found = dict(_pattern(rng) for _ in range(rng.randint(2, 6)))
    patterns = list(dict.fromkeys(found.values()))
    if len(patterns) < len(found):
        raise Unfit("a pattern twice")
    sources.distract(play, name)
    _ask(play, IGNORE, f=name, i=joined(list(found)) if rng.random() < 0.7 else ", ".join(found))
    play.write(name, "\n".join(patterns))
    play.say(f"Created {name} with {joined(patterns)}.")


def _typed(text: str) -> object:
    if text.isdigit() and not (text.startswith("0") and text != "0"):
        return int(text)
    return text == "true" if text in ("true", "false") else text


def _values(rng: Random) -> dict[str, str]:
    keys = {identifier(rng).strip("_").replace(".", "_").replace("-", "_") for _ in range(1)}
    named: dict[str, str] = dict.fromkeys(keys, "")
    while len(named) < 4:
        named.setdefault(rng.choice((plain(rng), f"{plain(rng)}_{plain(rng)}")), "")
    chosen = list(named)[: rng.randint(1, 4)]
    makers = (
        lambda: exact(rng),
        lambda: word(rng),
        lambda: made_up(rng),
        lambda: rng.choice(("true", "false")),
        lambda: str(rng.randint(0, 9999)),
    )
    return {key: rng.choice(makers)() for key in chosen}


def _quote(value: str) -> str:
    kind = _typed(value)
    return json.dumps(kind, ensure_ascii=False)


def values(play: Play) -> None:
    """Settings with values that cannot be guessed."""
    rng = play.rng
    kind = rng.choice(("env", "toml", "ini", "json", "yaml", "conf"))
    found = _values(rng)
    path = rng.choice((".env", "app.env", ".env.local")) if kind == "env" else path_for(rng, kind)
    if kind == "env":
        found = {key.upper(): one for key, one in found.items()}
    said = rng.choice((" = ", "=", " ", " is ", ": ") if kind != "env" else ("=", "=", " = "))
    text = {
        "json": json.dumps({key: _typed(one) for key, one in found.items()}, indent=2, ensure_ascii=False),
        "env": "\n".join(f"{key}={one}" for key, one in found.items()),
        "yaml": "\n".join(f"{key}: {one}" for key, one in found.items()),
        "toml": "\n".join(f"{key} = {_quote(one)}" for key, one in found.items()),
    }.get(kind) or "\n".join(f"{key} = {one}" for key, one in found.items())
    sources.distract(play, path)
    _ask(play, VALUES, f=path, v=_said(rng, [f"{key}{said}{one}" for key, one in found.items()]))
    play.write(path, text)
    play.say(f"Created {path} with {joined(list(found))}.")


def two_files(play: Play) -> None:
    """Two files in one order."""
    rng = play.rng
    one, two = path_for(rng, "txt md"), path_for(rng, "txt md")
    texts = distinct(rng, 2)
    if one == two or len(texts) < 2:
        raise Unfit("the same file twice")
    first, second = (f"{text} {word(rng)}" for text in texts)
    _ask(play, TWO_FILES, a=one, b=two, x=quoted(rng, first, bare=0.5), y=quoted(rng, second, bare=0.5))
    play.write(one, first)
    play.write(two, second)
    play.say(f"Created {one} and {two}.")


def greeting_script(play: Play) -> None:
    """A script that greets who is named as its argument."""
    rng = play.rng
    kind = rng.choice(("shell script", "bash script", "Python script", "Python program"))
    path = (
        f"{rng.choice(('hello', 'greet', 'hi', 'welcome', plain(rng)))}.{'py' if 'Python' in kind else 'sh'}"
    )
    greeting, mark = rng.choice(GREETINGS.split("|")), rng.choice("!!.?")
    name = rng.choice((*POOLS["person"], "NAME", "<name>", "name", "$NAME"))
    shown = quoted(rng, f"{greeting}, {name}{mark}", bare=0.7)
    example = (
        rng.choice(("", "", "for example ", "e.g. ", "something like ")) if name in POOLS["person"] else ""
    )
    _ask(play, SCRIPT, f=path, k=kind, g=example + shown)
    if "Python" in kind:
        play.write(path, f'import sys\n\nprint(f"{greeting}, {{sys.argv[1]}}{mark}")')
    else:
        play.write(path, f'#!/bin/sh\necho "{greeting}, $1{mark}"')
    play.say(f"Created {path}; it prints “{greeting}” and the name that it is given.")


def append(play: Play) -> None:
    """More lines at the end of a list."""
    rng = play.rng
    items = _items(rng, 7)
    path = path_for(rng, "txt md")
    bullet = rng.choice(("", "", "- ", "* ", "- [ ] "))
    new = [one for one in distinct(rng, rng.randint(1, 3)) if one not in items]
    if not new:
        raise Unfit("nothing new")
    play.file(path, "".join(f"{bullet}{item}\n" for item in items))
    _ask(play, APPEND, f=path, i=_said(rng, new))
    play.read(path)
    play.insert_after(path, len(items), "\n".join(bullet + one for one in new))
    play.say(f"Added {joined(new)} at the end of {path}.")


def _settings(rng: Random) -> tuple[str, dict[str, str], str]:
    """Return a path, keys with values, and the sign between them."""
    sign, ending = rng.choice(
        ((" = ", "ini conf toml cfg"), (": ", "yaml yml txt"), ("=", "env conf properties"))
    )
    found: dict[str, str] = {}
    for _ in range(rng.randint(3, 9)):
        found |= _values(rng)
    if len(set(found.values())) < len(found):
        raise Unfit("a value twice")
    return path_for(rng, ending), found, sign


def change(play: Play) -> None:
    """A new value for a key."""
    rng = play.rng
    path, found, sign = _settings(rng)
    key = rng.choice(list(found))
    new = rng.choice((exact(rng), made_up(rng), word(rng)))
    if new in found.values():
        raise Unfit("the value is there")
    play.file(path, "".join(f"{one}{sign}{value}\n" for one, value in found.items()))
    _ask(play, CHANGE, f=path, k=key, v=new)
    play.read(path)
    play.set_lines(path, list(found).index(key) + 1, f"{key}{sign}{new}")
    play.say(f"Changed {key} from {found[key]} to {new} in {path}.")


def look_up(play: Play) -> None:
    """The value of a key."""
    rng = play.rng
    path, found, sign = _settings(rng)
    key = rng.choice(list(found))
    play.file(path, "".join(f"{one}{sign}{value}\n" for one, value in found.items()))
    _ask(play, LOOK_UP, f=path, k=key)
    play.read(path)
    at = list(found).index(key) + 1
    play.say(f"{path}, line {at}: {key}{sign}{found[key]}\n{key} is {found[key]}.")


def line_by_number(play: Play) -> None:
    """What a line says."""
    rng = play.rng
    items, path = _items(rng, 12), path_for(rng, "txt md log csv")
    at = rng.randint(1, len(items))
    play.file(path, "".join(f"{item}\n" for item in items))
    _ask(play, LINE, f=path, n=str(at))
    play.read(path)
    play.say(f"{path}, line {at}: {items[at - 1]}")


FAMILIES = [
    Family(one_per_line, 6.0),
    Family(shaped_list, 5.0),
    Family(block, 1.5),
    Family(columns, 5.0),
    Family(sequence, 4.5),
    Family(new_folder, 1.5),
    Family(ignored, 2.5),
    Family(values, 4.0),
    Family(two_files, 1.0),
    Family(greeting_script, 1.5),
    Family(append, 3.0),
    Family(change, 4.0),
    Family(look_up, 2.5),
    Family(line_by_number, 1.5),
]
