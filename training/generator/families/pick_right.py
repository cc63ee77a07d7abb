"""The right one among the like: cells, blocks, defaults, files by kind, places of a text."""

from collections.abc import Callable, Sequence
from random import Random

from training.generator.dictated_words import LISTS, distinct, exact, identifier, made_up, plain, word
from training.generator.folder_words import POOLS, entries, table
from training.generator.folders import distractors
from training.generator.frames import ask, one_frame
from training.generator.play import Family, Play, Unfit

HEADS = table("""
day: morning, evening, night, late shift, kitchen, bar, reception, desk, on call, driver
person: maths, english, history, phone, room, shoe size, points, group, seat, instrument, height, grade
item: price, stock, shelf, colour, weight, supplier, size, unit, code, discount, ordered, sold
city: high, low, population, distance, country, hotel, arrival, departure, gate, ticket
food: grams, calories, price, shelf, allergens, origin, temperature, minutes
""")
NUMERIC = frozenset(
    "phone room points height grade price stock weight size discount sold high low distance grams calories "
    "minutes temperature seat population ordered ticket".split()
)
PEOPLE = frozenset(
    ("morning", "evening", "night", "late shift", "kitchen", "bar", "reception", "desk", "on call", "driver")
)
CELL = """
(what is|what's) the {c} (of|for) {r}( in {f}|)?
{c} (of|for) {r}?
(which|what) {c} does {r} have( in {f}|)?
{r}: what (is|was) the {c}?
(tell|show) me the {c} of {r} please
I need the {c} (for|of) {r}(, see {f}| from {f}|)
look up {r} in {f}, (the column |){c}
(do you know|can you see) the {c} (of|for) {r}?
""".strip()
SHIFT = """
who (has|does|is on|is doing) (the |){c} on {r}?
who (is|works) {c} (on |){r}( in {f}|)?
{r} {c}: who?
on {r}, who (is|is down|is written down) for {c}?
""".strip()
BLOCK = """
(what is|what's) the {k} of (the |){b}( {w}|)( in {f}|)?
{k} of {b} in {f}?
(which|what) {k} does {b} (use|have)( in {f}|)?
{k} for {b} please, it is in {f}
I need the {k} that {b} (uses|has)
(tell me|show me) the {k} of the {b} {w}
""".strip()
BLOCK_EDIT = """
(set|change) the {k} of {b} to {v}( in {f}|)
{b} (should|must) (have|use) {k} {v}( in {f}|)
in {f}, the {b} {w}: {k} (is now|should be|->) {v}
give {b} the {k} {v}, (the others stay|only there|leave the rest)
the {k} of {b} (is wrong|changed), (make it|it is now) {v}
""".strip()
BLOCK_NAMES = tuple(
    "staging live test dev prod api web db worker mail admin shop blog cache queue login media search "
    "backup proxy billing chat office home guest kitchen garage server1 server2 left right main".split()
)
KEYS: dict[str, Callable[[Random], str]] = {
    "port": lambda rng: str(rng.randint(1024, 65000)),
    "timeout": lambda rng: str(rng.randint(1, 600)),
    "user": plain,
    "root": lambda rng: f"/srv/{plain(rng)}/{plain(rng)}",
    "image": lambda rng: f"{plain(rng)}:{rng.randint(1, 20)}.{rng.randint(0, 20)}",
    "host": lambda rng: f"{plain(rng)}.example.org",
    "level": lambda rng: rng.choice(("debug", "info", "warning", "error")),
    "workers": lambda rng: str(rng.randint(1, 64)),
    "region": lambda rng: f"{plain(rng)[:4]}-{rng.randint(1, 4)}",
    "memory": lambda rng: f"{rng.randint(64, 4096)}m",
    "price": lambda rng: f"{rng.randint(1, 99)}.{rng.randint(0, 99):02}",
    "colour": lambda rng: f"#{rng.randrange(16**6):06x}",
    "speed": lambda rng: str(rng.randint(1, 300)),
    "owner": lambda rng: rng.choice(POOLS["person"]),
}
KINDS = {
    "photos": "jpg jpeg heic",
    "pictures": "png jpg gif",
    "images": "png svg jpg webp",
    "midi files": "mid",
    "songs": "mp3 flac ogg",
    "sound files": "wav mp3",
    "videos": "mp4 mov mkv",
    "spreadsheets": "xlsx ods",
    "slides": "pptx odp",
    "Word documents": "docx",
    "web pages": "html htm",
    "style sheets": "css scss",
    "archives": "zip tar.gz 7z",
    "shell scripts": "sh",
    "Python scripts": "py",
    "notes in Markdown": "md",
    "tables": "csv tsv",
    "databases": "db sqlite",
    "fonts": "ttf woff2",
    "subtitles": "srt vtt",
    "e-books": "epub",
    "C sources": "c h",
    "JavaScript files": "js mjs",
    "calendars": "ics",
    "backups": "bak",
}
OF_KIND = """
(which|what) (of these |)(are|is there in) {k}?
which of these are {k}?
(show|list|name) me (all |)(the |my |){k}( here|)
(do I have|are there) (any |){k} (here|in this folder)? (name them|which)
what {k} (do I have|are here|are there)?
(list|give me) the {k}
""".strip()
COUNT_KIND = """
how many {k} (are here|do I have|are there|are in this folder)?
(count|number of) (the |)(my |){k}
how many {k}, (all folders|subfolders too)?
""".strip()
MOST = """
which folder (has|contains|holds) the most files( and how many|)?
in which folder are (the |)most files?
(what is|what's) the fullest folder?
where (are|do I have) the most files, (which folder|and how many)?
""".strip()
SOMEWHERE = """
somewhere (in here|here) is (my |the |){t}. (what is the file called|where is it)?
where (is|did I put) (my |the |){t}?
(which file|what) is the {t}?
I (can't find|lost|am looking for) (my |the |){t}, (where is it|what is the path)?
(find|locate) (my |the |){t} please
(what is|what's) the name of the file with (my |the |){t}? (only the path|)
""".strip()
THINGS = entries("""
    tax form
    contract
    report
    invoice
    holiday photos
    budget
    certificate
    plan
    lease
    letter
    timetable
    price list
    speech
    minutes
    insurance policy
    recipe
    exam
    interview
    guest list
    manual
""")
LITERAL = """
(find|list|show) (all |)(the |)files that (still |)(use|have|contain|mention) {x}
(which|what) files (still |)(use|have|contain|mention) {x}?
where (is|do we have|does) {x}( used| appear| stand|)?
(who|what) still (uses|refers to) {x}? (name the files|)
in which files (is|stands|do I find) {x}?
I need every file with {x} in it
search for {x}
(is there|do we have) (a file|anything) with {x}? which
""".strip()
TOPIC = """
which (note|file|text|document|page)s? (talk|speak|is|are) (of|about) {x}?
where did I write about {x}?
(which|what) (file|note) (mentions|has something about) {x}?
I lost track, which files (talk of|mention) {x}?
in (which|what) (notes|files) (is|comes) {x}?
(any|are there) notes about {x}?
""".strip()
OCCURS = """
how (often|many times) does (the word |){x} (occur|appear|come up|stand) in {f}?
count (how often |)(the word |){x} (occurs |)in {f}( please|)
how many times is {x} in {f}?
number of {x} in {f}?
""".strip()
DEFAULT = """
(what|which) {p} does {f} use (by default|if I give none)?
what is the default {p}( of {n}|)( in {f}|)?
if I (call|use) {n} without {p}, (what is it|which one do I get) ({f})?
default (value |)of {p} in {f}?
{f}: which {p} (is taken|do I get) when (nothing|none) is given?
""".strip()
RUN = """
run {f} with {a}
(start|execute|call) {f} with {a}, (what comes out|what does it say)?
{f} with {a} please
what (does|will) {f} (say|print) (for|with) {a}?
python3 {f} {a} - (what comes out|what do I get|result)?
try {f} for {a}
""".strip()
AGAIN = """
(same|the same|once more|and|now) (again |)with {a}
and (for|with) {a}?
again, (but |){a}
what about {a}?
""".strip()
SWAP = """
swap (line |lines |){a} and {b} in {f}
in {f} (exchange|swap) lines {a} and {b}
{f}: line {a} and line {b} (should change places|the other way round)
(switch|swap) the {x} and the {y} (line|entry|one) (in|of) {f}
""".strip()
FIRST_TWO = """
swap the first two (lines|entries|ones) (in|of|on) {f}
the first two (lines|entries) of {f} (should swap|change places)
(exchange|switch) the first two (lines|entries) (in|of) {f}
""".strip()
ORDINALS = ("first", "second", "third", "fourth", "fifth")


def _table(rng: Random) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the rows of a table; a row begins with its name."""
    first = rng.choice(sorted(HEADS))
    columns = rng.sample(HEADS[first], rng.randint(3, 5))
    people = any(column in PEOPLE for column in columns)
    names = LISTS["days"] if first == "day" else POOLS[{"item": "tool"}.get(first, first)]
    rows = []
    for name in rng.sample(names, rng.randint(3, min(7, len(names)))):
        if people:
            cells = rng.sample(POOLS["surname"], len(columns))
        else:
            cells = [str(rng.randint(1, 400)) if one in NUMERIC else word(rng) for one in columns]
        rows.append([name, *cells])
    return [first, *columns], rows


def _table_lines(rng: Random, ending: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if ending == "md":
        lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
        return ["# " + word(rng).capitalize(), "", lines[0], "|" + " --- |" * len(head), *lines[1:]]
    mark = "," if rng.random() < 0.8 else ";"
    return [mark.join(row) for row in (head, *rows)]


def _others(play: Play, path: str) -> None:
    for name, text in sorted(distractors(play.rng, play.rng.choice((0, 0, 1, 2, 4)), {path: ""}).items()):
        play.file(name, text)


def cell(play: Play) -> None:
    """A cell of a table: the header shows which column it is."""
    rng = play.rng
    head, rows = _table(rng)
    ending = rng.choice(("csv", "csv", "md"))
    stem = rng.choice(("roster", "plan", "list", "table", "data", "week", "stock", "overview", plain(rng)))
    path = rng.choice(("", "", f"{plain(rng)}/")) + f"{stem}.{ending}"
    lines = _table_lines(rng, ending, head, rows)
    row, at = rng.choice(rows), rng.randrange(1, len(head))
    play.file(path, "\n".join(lines) + "\n")
    _others(play, path)
    said = ask(rng, SHIFT if head[at] in PEOPLE else CELL, c=head[at], r=row[0], f=path)
    play.user(said)
    if path not in said:
        play.glob("**/*")
    play.read(path)
    top = 2 if ending == "md" else 0
    here = top + rows.index(row) + (2 if ending == "md" else 1)
    evidence = [f"{path}, line {number + 1}: {lines[number]}" for number in (top, here)]
    answer = f"{row[at]} has {head[at]} on {row[0]}." if head[at] in PEOPLE else ""
    play.say("\n".join([*evidence, answer or f"The {head[at]} of {row[0]} is {row[at]}."]))


def _blocks(rng: Random) -> tuple[str, str, list[str], dict[str, dict[str, str]], dict[tuple[str, str], int]]:
    """Return path, word for a block, lines, blocks with keys, and the line of each key."""
    style = rng.choice(("nginx", "yaml", "ini", "toml", "json", "ssh", "xml"))
    names = [*{plain(rng): 0 for _ in range(rng.randint(0, 2))}, *rng.sample(BLOCK_NAMES, rng.randint(2, 3))]
    names = list(dict.fromkeys(names))
    rng.shuffle(names)
    keys = rng.sample(sorted(KEYS), rng.randint(2, 4))
    blocks = {name: {key: KEYS[key](rng) for key in keys} for name in names}
    lines: list[str] = []
    places: dict[tuple[str, str], int] = {}
    start = {"nginx": "server {{", "yaml": "{0}:", "ini": "[{0}]", "toml": "[{0}]", "ssh": "Host {0}"}
    shape = {
        "nginx": "    {0} {1};",
        "yaml": "  {0}: {1}",
        "ini": "{0} = {1}",
        "toml": '{0} = "{1}"',
        "ssh": "    {0} {1}",
    }
    if style in ("json", "xml"):
        start[style] = {"json": '  "{0}": {{', "xml": '  <entry name="{0}">'}[style]
        shape[style] = {"json": '    "{0}": "{1}",', "xml": "    <{0}>{1}</{0}>"}[style]
        lines.append({"json": "{", "xml": "<list>"}[style])
    for number, (name, values) in enumerate(blocks.items()):
        lines.append(start[style].format(name))
        if style == "nginx":
            lines.append(f"    server_name {name};")
        places[name, ""] = len(lines)
        for key, value in values.items():
            lines.append(shape[style].format(key, value))
            places[name, key] = len(lines)
        if style == "json":
            lines[-1] = lines[-1].removesuffix(",")
            lines.append("  }" if number == len(blocks) - 1 else "  },")
        lines += {"nginx": ["}", ""], "xml": ["  </entry>"], "json": []}.get(style, [""])
    lines += {"json": ["}"], "xml": ["</list>"]}.get(style, [])
    while not lines[-1]:
        lines.pop()
    ending = {"nginx": "conf", "ssh": "config"}.get(style, style)
    what = {"nginx": "server", "ssh": "host", "xml": "entry", "ini": "section", "toml": "section"}
    return f"{plain(rng)}.{ending}", what.get(style, "block"), lines, blocks, places


def block_value(play: Play) -> None:
    """A key that several blocks have."""
    rng = play.rng
    path, what, lines, blocks, places = _blocks(rng)
    name = rng.choice(list(blocks))
    key = rng.choice(list(blocks[name]))
    play.file(path, "\n".join(lines) + "\n")
    _others(play, path)
    said = ask(rng, BLOCK, k=key, b=name, f=path, w=what)
    play.user(said)
    if path not in said:
        play.glob("**/*")
    play.read(path)
    evidence = [f"{path}, line {at}: {lines[at - 1].strip()}" for at in (places[name, ""], places[name, key])]
    play.say("\n".join([*evidence, f"The {key} of {name} is {blocks[name][key]}."]))


def block_edit(play: Play) -> None:
    """A new value for a key in one of several blocks."""
    rng = play.rng
    path, what, lines, blocks, places = _blocks(rng)
    name = rng.choice(list(blocks))
    key = rng.choice(list(blocks[name]))
    old, new = blocks[name][key], KEYS[key](rng)
    if old == new:
        raise Unfit("nothing changes")
    play.file(path, "\n".join(lines) + "\n")
    _others(play, path)
    said = ask(rng, BLOCK_EDIT, k=key, b=name, f=path, w=what, v=new)
    play.user(said)
    if path not in said:
        play.glob("**/*")
    play.read(path)
    at = places[name, key]
    head, _, tail = lines[at - 1].rpartition(old)
    play.set_lines(path, at, head + new + tail)
    play.say(f"Changed the {key} of {name} from {old} to {new} in {path}.")


def _stem(rng: Random) -> str:
    return rng.choice((plain(rng), f"{plain(rng)}_{rng.randint(1, 30):02}", f"{plain(rng)}-{plain(rng)}"))


def _tree(rng: Random, endings: Sequence[str], hits: int) -> tuple[list[str], list[str]]:
    """Return files with these endings, and others."""
    folders = ["", *{plain(rng) + "/": 0 for _ in range(rng.randint(0, 3))}]
    wanted = {f"{rng.choice(folders)}{_stem(rng)}.{rng.choice(endings)}": 0 for _ in range(hits)}
    rest = [one for kinds in KINDS.values() for one in kinds.split() if one not in endings] + ["txt", "json"]
    others = {f"{rng.choice(folders)}{_stem(rng)}.{rng.choice(rest)}": 0 for _ in range(rng.randint(2, 7))}
    return sorted(wanted), sorted(others)


def _content(rng: Random, path: str) -> str:
    return f"{word(rng)} {word(rng)}\n" if path else ""


def _alike(kind: str) -> set[str]:
    """Return the endings that may count as this kind too, and must not be among the others."""
    found = set(KINDS[kind].split())
    for endings in KINDS.values():
        if found & set(endings.split()):
            found |= set(endings.split())
    return found


def files_of_kind(play: Play) -> None:
    """The files of a kind, which the user does not call by their ending."""
    rng = play.rng
    kind = rng.choice(sorted(KINDS))
    wanted, others = _tree(rng, KINDS[kind].split(), rng.choice((0, 1, 2, 3, 4, 6)))
    others = [path for path in others if path.partition(".")[2] not in _alike(kind)]
    for path in (*wanted, *others):
        play.file(path, _content(rng, path))
    counted = rng.random() < 0.35
    play.user(ask(rng, COUNT_KIND if counted else OF_KIND, k=kind))
    play.glob("**/*")
    if not wanted:
        play.say(f"There are no {kind} here.")
        return
    rows = [f"{at}. {path}" for at, path in enumerate(wanted, 1)] if counted else wanted
    play.say("\n".join([*rows, f"That is {len(wanted)}."] if counted else rows))


def fullest_folder(play: Play) -> None:
    """The folder with the most files."""
    rng = play.rng
    names = list({plain(rng): 0 for _ in range(rng.randint(2, 4))})
    most = rng.randint(3, 6)
    counts = {name: most if not at else rng.randint(1, most - 1) for at, name in enumerate(names)}
    for name, count in counts.items():
        for at in range(count):
            play.file(
                f"{name}/{plain(rng)}{at}.{rng.choice(('txt', 'jpg', 'md', 'csv'))}", _content(rng, name)
            )
    play.user(ask(rng, MOST))
    shown = play.glob("**/*")
    best = [path for path in shown.split("\n") if path.startswith(f"{names[0]}/")]
    rows = [f"{at}. {path}" for at, path in enumerate(best, 1)]
    play.say("\n".join([*rows, f"The folder {names[0]} has the most files: {most}."]))


def by_path(play: Play) -> None:
    """A file that its path tells: nothing needs to be read."""
    rng = play.rng
    years = [str(year) for year in rng.sample(range(2015, 2031), 3)]
    things = rng.sample(THINGS, 2)
    paths = {}
    for thing in things:
        for year in years:
            slug = thing.replace(" ", rng.choice("_-"))
            shape = rng.choice(("{y}/{s}_{t}.{e}", "{s}/{y}-{t}.{e}", "papers/{y}/{s}.{e}", "{s}-{y}.{e}"))
            ending = rng.choice(("txt", "md", "pdf", "docx"))
            paths[f"{thing} (for the year|for|of|from) {year}"] = shape.format(
                y=year, s=slug, t=plain(rng), e=ending
            )
    if len(set(paths.values())) < len(paths):
        raise Unfit("a path twice")
    for path in paths.values():
        play.file(path, _content(rng, path))
    wanted = rng.choice(sorted(paths))
    play.user(ask(rng, SOMEWHERE.replace("{t}", wanted)))
    play.glob("**/*")
    play.say(f"It is {paths[wanted]}.")


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in ".+*?()[]{}|^$" else letter for letter in text)


def _notes(rng: Random, texts: Sequence[str], others: int) -> dict[str, list[str]]:
    """Return files: one for each of the texts, which stands in a line of it, and others."""
    shapes = ("{a}.txt", "notes/{a}.md", "{a}/{b}.txt", "src/{a}.py", "{a}.conf", "docs/{a}-{b}.md")
    files: dict[str, list[str]] = {}
    for at in range(len(texts) + others):
        path = rng.choice(shapes).format(a=plain(rng), b=plain(rng))
        lines = [f"{word(rng)} {word(rng)} {word(rng)}" for _ in range(rng.randint(1, 5))]
        if at < len(texts):
            line = rng.choice(
                (f"{word(rng)} {texts[at]} {word(rng)}", f"{word(rng)} = {texts[at]}", texts[at])
            )
            lines.insert(rng.randint(0, len(lines)), line)
        files[path] = lines
    return files


def literal(play: Play) -> None:
    """The files that contain a text."""
    rng = play.rng
    text = rng.choice(
        (exact(rng), identifier(rng), f"{plain(rng)}.example.org", f"{plain(rng)}-v1.example.com")
    )
    if len(text) < 4:
        raise Unfit("too short")
    hits = rng.choice((0, 1, 2, 2, 3, 4))
    _search(play, LITERAL, text, [text] * hits)


def topic(play: Play) -> None:
    """The notes that talk of something."""
    rng = play.rng
    text = rng.choice((word(rng), made_up(rng), rng.choice(POOLS["animal"]), rng.choice(POOLS["instrument"])))
    hits = rng.choice((0, 1, 1, 2, 3))
    _search(play, TOPIC, text, [rng.choice((text, text, text.capitalize())) for _ in range(hits)])


def _search(play: Play, frames: str, text: str, texts: Sequence[str]) -> None:
    rng = play.rng
    files = _notes(rng, texts, rng.randint(1, 4))
    for path, lines in files.items():
        play.file(path, "\n".join(lines) + "\n")
    play.user(one_frame(rng, frames, x=text) if rng.random() < 0.6 else ask(rng, frames, x=text))
    folded = frames is TOPIC
    found = play.grep(("(?i)" if folded else "") + _escaped(text))
    if found == "No matches found":
        play.say(f"{text} is in none of the files.")
        return
    paths = list(dict.fromkeys(line.split(":")[0] for line in found.split("\n")))
    if len(paths) != len(texts):
        raise Unfit("chance has put it elsewhere")
    lead = f"{text} is in " + (paths[0] + "." if len(paths) == 1 else f"{len(paths)} files:")
    play.say("\n".join([lead, *paths] if len(paths) > 1 else [found, lead]))


def occurrences(play: Play) -> None:
    """How often a word is in a text."""
    rng = play.rng
    wanted, path = plain(rng), f"{plain(rng)}.{rng.choice(('txt', 'md'))}"
    lines = []
    for _ in range(rng.randint(2, 6)):
        words = [plain(rng) for _ in range(rng.randint(4, 9))]
        for at in range(rng.choice((0, 1, 1, 2))):
            words.insert(
                rng.randint(0, len(words)), wanted if at or rng.random() < 0.8 else wanted.capitalize()
            )
        lines.append(" ".join(words))
    play.file(path, "\n".join(lines) + "\n")
    said = rng.choice((wanted, f'"{wanted}"', f"'{wanted}'"))
    play.user(ask(rng, OCCURS, x=said, f=path))
    count = play.bash(f"grep -o -i -w '{wanted}' {path} | wc -l")
    play.say(f"“{wanted}” is in {path} {count.strip()} time{'' if count.strip() == '1' else 's'}.")


DEFAULTS = {
    "py": 'def {n}({a}, {p}={v}):\n    """{w}"""\n    return {a}, {p}\n\n\nprint({n}("{x}", {u}))\n',
    "js": "function {n}({a}, {p} = {v}) {{\n  return [{a}, {p}];\n}}\n\nconsole.log({n}('{x}', {u}));\n",
    "ts": "export function {n}({a}: string, {p} = {v}) {{\n  return [{a}, {p}];\n}}\n\n{n}('{x}', {u});\n",
    "rb": "def {n}({a}, {p} = {v})\n  [{a}, {p}]\nend\n\nputs {n}('{x}', {u})\n",
    "php": "<?php\nfunction {n}(${a}, ${p} = {v}) {{\n    return [${a}, ${p}];\n}}\n\n{n}('{x}', {u});\n",
    "sh": '#!/bin/sh\n# {w}\n{a}="$1"\n{p}="${{2:-{v}}}"\necho "{n} ${a} ${p}"\n\n# sh {n}.sh {x} {u}\n',
    "go": "package main\n\nconst default{P} = {v}\n\n// {n}: {w}\nfunc {n}({a} string, {p} int) {{\n"
    '\tif {p} == 0 {{\n\t\t{p} = default{P}\n\t}}\n}}\n\nfunc main() {{\n\t{n}("{x}", {u})\n}}\n',
}
MARKS = {"sh": "{2:-", "go": "const default"}


def default_value(play: Play) -> None:
    """The default of a parameter, not what a call gives."""
    rng = play.rng
    kind = rng.choice(sorted(DEFAULTS))
    name, first, param = (plain(rng) for _ in range(3))
    param = rng.choice(
        ("timeout", "size", "limit", "width", "port", "retries", "delay", "count", "page", param)
    )
    value, used = rng.sample(range(1, 9000), 2)
    if len({name, first, param}) < 3:
        raise Unfit("a name twice")
    slots = {"n": name, "a": first, "p": param, "P": param.capitalize(), "v": value, "u": used}
    text = DEFAULTS[kind].format(**slots, x=plain(rng), w=f"{word(rng)} {word(rng)}")
    path = f"{rng.choice((name, plain(rng)))}.{kind}"
    play.file(path, text)
    _others(play, path)
    said = ask(rng, DEFAULT, p=param, f=path, n=name)
    play.user(said)
    if path not in said:
        play.grep(param)
    play.read(path)
    lines = text.split("\n")
    mark = MARKS.get(kind, name)
    at = next(number for number, line in enumerate(lines, 1) if mark in line and str(value) in line)
    play.say(f"{path}, line {at}: {lines[at - 1].strip()}\nThe default of {param} is {value}.")


JOINED = {
    "sh": ("{a}={x}", '{b}="${a}/{y}"'),
    "py": ('{a} = "{x}"', '{b} = f"{{{a}}}/{y}"'),
    "js": ("const {a} = '{x}';", "const {b} = `${{{a}}}/{y}`;"),
    "mk": ("{a} := {x}", "{b} := $({a})/{y}"),
}
STORES = """
where does {f} (store|save|put|write) (the |its |){w}?
(which|what) folder does {f} use for (the |){w}?
{f}: where (do|are) the {w} (go|kept|stored|saved)?
(tell me |)where the {w} (of|from) {f} end up
to which path does {f} write (the |){w}?
""".strip()


def joined_path(play: Play) -> None:
    """A path that two lines make."""
    rng = play.rng
    kind = rng.choice(sorted(JOINED))
    what = rng.choice(
        "backups archives logs reports uploads exports photos downloads results invoices".split()
    )
    base, name = rng.choice(("BASE", "ROOT", "DATA", "HOME_DIR", "MOUNT")), what.upper()
    one, two = f"/{plain(rng)}/{plain(rng)}", rng.choice((what, plain(rng)))
    first, second = (line.format(a=base, b=name, x=one, y=two) for line in JOINED[kind])
    lines = [
        first,
        *([f"KEEP{' ' * (kind != 'sh')}={' ' * (kind != 'sh')}{rng.randint(1, 40)}"] * rng.randint(0, 1)),
        second,
    ]
    mark = {"js": "//"}.get(kind, "#")
    lines.insert(0, f"{mark} {word(rng)} {word(rng)}")
    path = f"{plain(rng)}.{kind}"
    play.file(path, "\n".join(lines) + "\n")
    _others(play, path)
    play.user(ask(rng, STORES, f=path, w=what))
    play.read(path)
    evidence = [f"{path}, line {lines.index(line) + 1}: {line}" for line in (first, second)]
    play.say("\n".join([*evidence, f"The {what} go to {one}/{two}."]))


def run_with(play: Play) -> None:
    """A program with arguments in words, and once more with others."""
    rng = play.rng
    unit = rng.choice(("kilos", "people", "km", "nights", "hours", "tickets", "pages", "litres"))
    places = rng.sample(("DE", "CH", "AT", "FR", "IT", "PL", "NL", "SE"), 4)
    prices = {one: rng.randint(2, 90) for one in places}
    path = rng.choice(("ship", "price", "cost", "quote", "fee", plain(rng))) + ".py"
    play.file(
        path,
        f"import sys\n\nPRICES = {prices}\ncount, place = int(sys.argv[1]), sys.argv[2]\n"
        f'print(count * PRICES[place], "EUR")\n',
    )
    _others(play, path)
    place, counts = rng.choice(places), rng.sample(range(2, 40), 2)
    said = one_frame(
        rng, "{c} {u} to {p}\n{c} {u} (and|,) {p}\n{c} {p}\n{c} and {p}", c=str(counts[0]), u=unit, p=place
    )
    play.user(ask(rng, RUN, f=path, a=said))
    _run(play, path, counts[0], place)
    if rng.random() < 0.6:
        other = rng.choice((place, rng.choice(places)))
        words = f"{counts[1]} {unit}" if other == place else f"{counts[1]} {unit} to {other}"
        play.user(ask(rng, AGAIN, a=words))
        _run(play, path, counts[1], other)


def _run(play: Play, path: str, count: int, place: str) -> None:
    shown = play.bash(f"python3 {path} {count} {place}")
    play.say(f"{path} printed: {shown.strip()}")


def swap(play: Play) -> None:
    """Two lines change places."""
    rng = play.rng
    items = distinct(rng, rng.randint(3, 8))
    if len(items) < 3:
        raise Unfit("too few")
    one, two = sorted(rng.sample(range(min(5, len(items))), 2))
    path = f"{plain(rng)}.{rng.choice(('txt', 'md'))}"
    play.file(path, "".join(f"{item}\n" for item in items))
    _others(play, path)
    frames = FIRST_TWO if one == 0 and two == 1 and rng.random() < 0.6 else SWAP
    slots = {"a": str(one + 1), "b": str(two + 1), "x": ORDINALS[one], "y": ORDINALS[two]}
    play.user(ask(rng, frames, f=path, **slots))
    play.read(path)
    if two == one + 1:
        play.set_lines(path, (one + 1, two + 1), f"{items[two]}\n{items[one]}")
    else:
        play.set_lines(path, one + 1, items[two])
        play.set_lines(path, two + 1, items[one])
    play.say(f"Swapped “{items[one]}” and “{items[two]}” in {path}.")


FAMILIES = [
    Family(cell, 7.0),
    Family(block_value, 4.5),
    Family(block_edit, 3.5),
    Family(files_of_kind, 3.5),
    Family(fullest_folder, 1.0),
    Family(by_path, 2.0),
    Family(literal, 3.5),
    Family(topic, 3.0),
    Family(occurrences, 1.5),
    Family(default_value, 3.0),
    Family(joined_path, 1.5),
    Family(run_with, 2.0),
    Family(swap, 1.5),
]
