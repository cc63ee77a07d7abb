"""Creating files with given content: texts, lists, data, letters, copies and files made from others."""

import json
from collections.abc import Callable
from random import Random

from training.generator import sources
from training.generator.frames import joined, one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import Topic, fill, make_list, make_prose, make_table, text_line, value
from training.generator.targets import aim, order_text, place, quoted

TEXT = """
create {f} with the (text|content|line) {c}
create (a file|the file|a new file) {f} (with|containing|that contains) {c}
(make|add) a (new |)file {f}(,| with the) content: {c}
(make|write) (me |)a file (called|named) {f} (with|that says|saying) {c}
new file {f}, (content|inside|text|with the text): {c}
new file {f} with one line: {c}
{f} should (be a new file and |)contain (only|just) {c}
write {f} with (only|just|nothing but) {c}
I need (a file |){f} (with|containing|that says|saying) {c}
(start|open) a new file {f} and write {c}
(can|could|would) you create {f} with {c}
set up {f}, (one line|it says): {c}
put this in a new file {f}: {c}
into a new {f}: {c}
save this as {f}: {c}
please do a file {f} in which stands {c}
there is no {f} yet, make one (that says|with) {c}
we need {f}, (it has to say|content|text): {c}
generate {f} (with|containing) {c}
file {f} with content {c}
(touch|make) {f} and put {c} in it
""".strip()
TEXT_LEFT = """
write {c} (to|into) (a new file |){f}
put {c} (in|into) a (new |)file (called |named |){f}
save {c} (as|in|to) {f}
store the (line|text) {c} in a new file {f}
(echo|dump) {c} into {f}
I want {c} in a new file called {f}
a file {f} please, just {c} in it
add a {f} file, just {c} in it
{c} should be the content of a new file {f}
""".strip()
TEXT_FOREIGN = """
(erstelle|leg|mach) (eine Datei |){f} (an |)mit dem (Inhalt|Text): {c} | {f} ist angelegt.
bitte eine neue Datei {f}, Inhalt: {c} | {f} ist angelegt.
schreib {q} in eine neue Datei {f} | {f} ist angelegt.
crée (le fichier |un fichier |){f} avec (le texte|le contenu) : {c} | {f} est créé.
fais un fichier {f} qui contient {q} | {f} est créé.
crea (el archivo |un archivo |){f} con (el texto|el contenido): {c} | {f} está creado.
escribe {q} en un archivo nuevo {f} | {f} está creado.
""".strip()
TWO_LINES = """
create {f} with two lines: {a} and {b}
{f} with two lines, first {a}, second {b}
new file {f}. line 1: {a}, line 2: {b}
write {f}: (the|) first line {a}, (the|) second line {b}
I need {f}, first line {a}, below it {b}
make {f}, it says {a} and on the next line {b}
put {a} and under it {b} into a new file {f}
""".strip()
BLOCK = """
create {f} with this content:
make {f} with the following (text|lines):
write this (to|into) {f}:
save (the following|this) as {f}:
new file {f}:
{f} should contain:
please put these lines into a new file {f}:
""".strip()
ITEMS = """
create {f} with {k}: {i}
make (me |)(a file |){f} with {k}: {i}
{f} with {k}: {i}
write {i} (to|into) {f}, as {k}
put {i} in a new file {f} as {k}
new file {f}, {k}: {i}
I need {f}: {k} with {i}
{i} - (please make|make) {f} from that, {k}
(start|write) {f} for me with {i} as {k}
can you (make|write) {f}? {k}: {i}
save {k} in {f}: {i}
{k} in a new file {f}: {i}
""".strip()
DATA = """
create {f} with {d}
make (a |){f} (with|containing|that has) {d}
new (file|config) {f}: {d}
write {f}, it (has|contains|should have) {d}
I need (a file |){f} with {d}
{f} with {d} (please|)
set up {f} with {d}
please create {f}. (content|inside|keys): {d}
(generate|write) {f} with {d}
there should be a {f} with {d}
put {d} into a new {f}
can you make {f} with {d}?
""".strip()
EMPTY = """
create an empty file (called |named |){f}
(make|add) (an empty|a blank) {f}
(touch|please touch) {f}
new empty file {f}
I need {f}, (empty|nothing in it)
{f} should exist, but empty
put an empty {f} (here|there)
an empty file {f} please
""".strip()
IGNORE = """
create a .gitignore (for|with|that ignores) {i}
add a .gitignore (with|for) {i}
git should ignore {i}, make a .gitignore
.gitignore with {i} please
make git ignore {i} (new .gitignore|)
I need a .gitignore: {i}
write a .gitignore, ignore {i}
""".strip()
README = """
create a README.md with the title {t} and the sentence {s}
(write|make) a readme (README.md), title {t}, (then|below it) {s}
README.md please: heading {t}, text {s}
add a README.md: # {t} and below {s}
start a README.md, title {t}, one sentence: {s}
I need a README.md for {t}. It should say {s}
""".strip()
COPY = """
copy {a} to {b}
make a copy of {a} (called|named|with the name) {b}
(duplicate|clone) {a} as {b}
I need a copy of {a}, (name|call) it {b}
save {a} under the name {b} too
{b} should be a copy of {a}
cp {a} {b}
make {b} out of {a}, (same content|nothing changed)
back up {a} (as|to) {b}
{a} again as {b}, (leave|keep) the (old|first) one
""".strip()
LETTERS = """
thank-you note; thanks.txt, thank_you.txt, note.txt
write a thank-you note to ~person~ for the ~item~, from ~person2~, as {f}
{f}: a short thank you to ~person~ for the ~item~, signed ~person2~
thank ~person~ for the ~item~ in a short letter ({f}), signed ~person2~
---
Dear ~person~,

thank you very much for the ~item~.

Best regards
~person2~
===
invitation; invitation.txt, invite.txt, party.md
write an invitation to ~person~ for ~date~, ~time~, at the ~place~, from ~person2~, as {f}
{f} with an invitation: ~person~, ~date~ at ~time~, place ~place~, signed ~person2~
invite ~person~ in a text {f}: ~date~, ~time~, ~place~. sign it ~person2~
---
Dear ~person~,

you are invited on ~date~ at ~time~.
Place: ~place~

Best regards
~person2~
===
sick note; sick.txt, absence.txt, school.txt
a note to the school that ~person~ is ill until ~date~, signed ~person2~, file {f}
write {f}: ~person~ is ill and comes back on ~date~. sign with ~person2~
---
Dear Sir or Madam,

~person~ is ill and comes back on ~date~.

Kind regards
~person2~
===
reminder; reminder.txt, payment.txt, mail.txt
write a payment reminder to ~person~ over ~money~ until ~date~, from ~person2~, as {f}
{f}: remind ~person~ to pay ~money~ by ~date~, signed ~person2~
---
Dear ~person~,

please pay ~money~ by ~date~.

Kind regards
~person2~
===
birthday card; birthday.txt, card.txt
a birthday card for ~person~ from ~person2~ in {f}
write happy birthday to ~person~ in {f}, signed ~person2~
---
Dear ~person~,

happy birthday and all the best!

~person2~
===
cancellation; cancel.txt, gym.txt
cancel my membership at ~shop~ for ~date~ with a letter {f}, my name is ~person~
{f}: a letter to ~shop~ that I cancel my contract on ~date~, ~person~
---
Dear Sir or Madam,

I cancel my contract on ~date~.

Kind regards
~person~
""".strip()
NAMES = """
note.txt memo.txt hello.txt info.txt message.txt a.txt test.txt status.txt sign.txt label.txt quote.txt
greeting.md idea.md text.md today.md log.txt result.txt address.txt key.txt name.txt entry.txt slogan.txt
protokoll.txt notiz.txt motto.txt title.txt answer.txt place.txt draft.md first.txt door.txt comment.txt
""".split()


IGNORED = (
    "*.log __pycache__/ node_modules/ .env build/ dist/ *.tmp .venv/ *.pyc target/ out/ *.bak *.zip".split()
)


def new_path(rng: Random, name: str) -> str:
    """A path that may be in a folder, also in a new one."""
    return sources.in_folder(rng, name, 0.3)


def show(rng: Random, path: str) -> str:
    """A path as an order writes it."""
    mark = rng.choice(("", "", "", "", "", "`", '"', "'"))
    return f"{mark}{path}{mark}"


def created(path: str, what: str = "") -> str:
    """The sentence that tells of a new file."""
    return f"Created {path}{' with ' + what if what else ''}."


def with_text(play: Play) -> None:
    """A file with a text that the order gives."""
    rng = play.rng
    content = text_line(rng)
    if rng.random() < 0.15:
        content = value(
            rng, rng.choice(("version", "n", "word", "date", "code", "email", "url", "person", "city"))
        )
    path = new_path(rng, _name(rng))
    sources.distract(play, path)
    if rng.random() < 0.65:
        order = one_frame(rng, TEXT, f=show(rng, path), c=quoted(rng, content, bare=0.55))
        play.user(order_text(rng, order, exact_end=True))
    else:
        order = one_frame(rng, TEXT_LEFT, f=show(rng, path), c=quoted(rng, content, bare=0.15))
        play.user(order_text(rng, order, exact_end=True))
    play.write(path, content)
    play.say(created(path))


def _name(rng: Random) -> str:
    if rng.random() < 0.35:
        stem = rng.choice(
            (value(rng, "thing"), value(rng, "word"), f"{value(rng, 'thing')}_{rng.randint(1, 40)}")
        )
        return stem + rng.choice((".txt", ".txt", ".md", ".log", ".dat", ".rst", ""))
    return rng.choice(NAMES)


def with_text_foreign(play: Play) -> None:
    """A file with a given text, asked for in German, French or Spanish."""
    rng = play.rng
    content = text_line(rng)
    path = new_path(rng, _name(rng))
    sources.distract(play, path)
    frame, _, answer = rng.choice(TEXT_FOREIGN.split("\n")).rpartition(" | ")
    play.user(one_frame(rng, frame, f=path, c=quoted(rng, content, bare=0.6), q=quoted(rng, content, bare=0)))
    play.write(path, content)
    play.say(answer.format(f=path))


def with_lines(play: Play) -> None:
    """Several lines, in the sentence or below it."""
    rng = play.rng
    count = rng.choice((2, 2, 2, 3, 4))
    content = [text_line(rng) for _ in range(count)]
    path = new_path(rng, _name(rng))
    sources.distract(play, path)
    if count == 2 and rng.random() < 0.6:
        first, second = (quoted(rng, line, bare=0) for line in content)
        order = order_text(
            rng, one_frame(rng, TWO_LINES, f=show(rng, path), a=first, b=second), exact_end=True
        )
    else:
        order = one_frame(rng, BLOCK, f=show(rng, path)) + "\n" + "\n".join(content)
    play.user(order)
    play.write(path, "\n".join(content))
    play.say(created(path, f"{count} lines"))


def _json_list(items: list[str]) -> str:
    return json.dumps(items, indent=2, ensure_ascii=False)


KINDS: dict[str, tuple[str, str, Callable[[list[str]], str]]] = {
    "lines": ("txt", "one per line|each on its own line|each in a line|a line for each", "\n".join),
    "bullets": (
        "md",
        "a bullet list|bullet points|a markdown list|bullets",
        lambda items: "\n".join(f"- {item}" for item in items),
    ),
    "boxes": (
        "md",
        "checkboxes|markdown checkboxes|a checklist (markdown)|a todo list with boxes|tick boxes",
        lambda items: "\n".join(f"- [ ] {item}" for item in items),
    ),
    "numbers": (
        "md txt",
        "a numbered list|numbered lines|numbers before them (1. 2. 3.)|a list numbered from 1",
        lambda items: "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1)),
    ),
    "json": ("json", "a JSON array|a json list|an array|a JSON array of strings", _json_list),
    "csv": (
        "csv",
        "one column with the header name|the header name and one row each",
        lambda items: "\n".join(["name", *items]),
    ),
    "comma": ("txt csv", "one line, separated by commas|all in one line with commas", ",".join),
    "yaml": (
        "yaml",
        "a yaml list|a plain YAML list",
        lambda items: "\n".join(f"- {item}" for item in items),
    ),
    "python": (
        "py",
        "a Python list called ITEMS|a list ITEMS",
        lambda items: "ITEMS = [\n" + "\n".join(f'    "{item}",' for item in items) + "\n]",
    ),
    "html": (
        "html",
        "an html list (ul)|an unordered HTML list",
        lambda items: "<ul>\n" + "\n".join(f"  <li>{item}</li>" for item in items) + "\n</ul>",
    ),
}


def with_items(play: Play) -> None:
    """A list in some form, its items given in the sentence."""
    rng = play.rng
    topic: Topic = rng.choice(sources.TOPICS)
    items = rng.sample(topic.items, rng.randint(2, 6))
    kind = rng.choice(("lines", "lines", "bullets", "bullets", "boxes", "boxes", "numbers", *KINDS))
    endings, words, write = KINDS[kind]
    if any("," in item for item in items):
        raise Unfit("a comma in an item")
    path = new_path(rng, f"{rng.choice(topic.stems)}.{rng.choice(endings.split())}")
    sources.distract(play, path)
    said = rng.choice((", ".join(items), joined(items), ", ".join(items)))
    plain = kind == "lines" and rng.random() < 0.3
    order = (
        one_frame(rng, "create {f} with these lines: {i}\n{f} with {i}, one per line", f=path, i=said)
        if plain
        else one_frame(rng, ITEMS, f=show(rng, path), i=said, k=rng.choice(words.split("|")))
    )
    play.user(order_text(rng, order, exact_end=order.endswith(said)))
    play.write(path, write(items))
    play.say(created(path, f"{len(items)} entries"))


def _typed(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    try:
        number = float(text)
    except ValueError:
        return text
    return int(text) if text.isdigit() else number


def _toml_value(text: str) -> str:
    return text if not isinstance(_typed(text), str) else f'"{text}"'


def _write_data(kind: str, section: str, pairs: dict[str, str]) -> str:
    typed: object = {key: _typed(text) for key, text in pairs.items()}
    if kind == "json":
        return json.dumps({section: typed} if section else typed, indent=2, ensure_ascii=False)
    if kind == "toml":
        lines = [f"{key} = {_toml_value(text)}" for key, text in pairs.items()]
    elif kind == "ini":
        lines = [f"{key} = {text}" for key, text in pairs.items()]
    elif kind == "yaml":
        indent = "  " if section else ""
        lines = [f"{section}:"] * bool(section)
        return "\n".join([*lines, *(f"{indent}{key}: {_yaml_value(text)}" for key, text in pairs.items())])
    elif kind == "csv":
        return ",".join(pairs) + "\n" + ",".join(pairs.values())
    else:
        return "\n".join(f"{key.upper()}={text}" for key, text in pairs.items())
    return "\n".join([f"[{section}]"] * bool(section) + lines)


def _yaml_value(text: str) -> str:
    return f'"{text}"' if text[0] in "#[]{}&*!|>'\"%@`" or ":" in text else text


def with_data(play: Play) -> None:
    """Keys and values in JSON, TOML, YAML, INI, CSV or an env file."""
    rng = play.rng
    kind = rng.choice(("json", "json", "json", "toml", "toml", "yaml", "ini", "env", "csv"))
    domain = rng.choice(sources.DOMAINS)
    section = rng.choice(list(domain.sections))
    settings = domain.sections[section]
    settings = rng.sample(settings, min(len(settings), rng.choice((1, 2, 2, 3, 4))))
    pairs = {item.key: value(rng, item.kind) for item in settings}
    name = f".{kind}" if kind == "env" else f"{rng.choice(domain.stems)}.{kind}"
    path = name if kind == "env" else new_path(rng, name)
    named = " " not in section and (
        kind == "ini" or (kind in ("json", "toml", "yaml") and rng.random() < 0.45)
    )
    if (kind == "ini" and not named) or (kind == "csv" and any("," in text for text in pairs.values())):
        raise Unfit("no section name")
    sources.distract(play, path)
    said = _say_pairs(rng, kind, pairs, section if named else "")
    order = one_frame(rng, DATA, f=show(rng, path), d=said)
    play.user(order_text(rng, order, exact_end=order.endswith(said)))
    play.write(path, _write_data(kind, section if named else "", pairs))
    play.say(created(path, joined([key.upper() if kind == "env" else key for key in pairs])))


def _say_pairs(rng: Random, kind: str, pairs: dict[str, str], section: str) -> str:
    if kind == "csv":
        return f"the columns {joined(list(pairs))} and one row: {', '.join(pairs.values())}"
    frame = rng.choice(
        ("{k} {v}", "{k} = {v}", "{k}: {v}", "{k} set to {v}", "{k}={v}", "the key {k} set to {v}")
    )
    if kind in ("json", "toml") and rng.random() < 0.4:
        pairs = {key: _toml_value(text) for key, text in pairs.items()}
    keys = [key.upper() if kind == "env" else key for key in pairs]
    said = [frame.format(k=key, v=text) for key, text in zip(keys, pairs.values(), strict=True)]
    text = rng.choice((", ".join(said), joined(said)))
    if not section:
        return text
    if kind in ("toml", "ini"):
        return one_frame(
            rng, "(a|the) (section|table) [{s}] (with|that has|containing) {t}", s=section, t=text
        )
    return one_frame(
        rng, "(a key|an object|) {s} (with|that has|containing) {t}\n{t}, all under {s}", s=section, t=text
    )


def with_rows(play: Play) -> None:
    """A CSV file with a header and rows."""
    rng = play.rng
    table = make_table(rng, rng.choice((1, 2, 2, 3)))
    if any("," in cell for row in table.rows for cell in row):
        raise Unfit("a comma in a cell")
    table.separator = ","
    sources.distract(play, table.path)
    header = rng.choice((", ".join(table.columns), ",".join(table.columns), joined(table.columns)))
    rows = rng.choice(("; ", " / ", " and then ", "\n")).join(
        rng.choice((", ", ",")).join(row) for row in table.rows
    )
    frames = """
create {f} with the columns {h} and the (rows|entries): {r}
{f} with header {h} and these rows: {r}
make a csv {f}, columns {h}, rows: {r}
a table {f} ({w}s) please: columns {h}. rows: {r}
new csv file {f}: header {h}; data: {r}
I need {f} as csv. first line {h}, then {r}
"""
    play.user(
        order_text(rng, one_frame(rng, frames, f=table.path, h=header, r=rows, w=table.what), exact_end=True)
    )
    play.write(table.path, table.text)
    play.say(created(table.path, sources.count_of(len(table.rows), "row")))


def empty(play: Play) -> None:
    """An empty file."""
    rng = play.rng
    path = new_path(
        rng, rng.choice((_name(rng), "__init__.py", ".gitkeep", "index.html", "main.py", "todo.md"))
    )
    sources.distract(play, path)
    play.user(order_text(rng, one_frame(rng, EMPTY, f=path)))
    folder = path.rpartition("/")[0]
    play.bash(f"mkdir -p {folder} && touch {path}" if folder and not play.exists(folder) else f"touch {path}")
    play.say(f"Created the empty file {path}.")


def gitignore(play: Play) -> None:
    """A .gitignore with some patterns."""
    rng = play.rng
    items = rng.sample(IGNORED, rng.randint(1, 4))
    sources.distract(play)
    play.user(order_text(rng, one_frame(rng, IGNORE, i=joined(items))))
    play.write(".gitignore", "\n".join(items))
    play.say(created(".gitignore", joined(items)))


def version_or_license(play: Play) -> None:
    """VERSION, LICENSE, AUTHORS: a well-known file with one line."""
    rng = play.rng
    name, content = rng.choice(
        (
            ("VERSION", value(rng, "version")),
            ("AUTHORS", value(rng, "person")),
            ("LICENSE", f"Copyright (c) {rng.randint(2019, 2027)} {value(rng, 'person')}"),
            ("CNAME", f"www.{value(rng, 'word')}.org"),
            ("requirements.txt", f"{value(rng, 'word')}=={value(rng, 'version')}"),
            (".python-version", f"3.{rng.randint(9, 14)}"),
            (".nvmrc", str(rng.randint(16, 24))),
            ("runtime.txt", f"python-3.{rng.randint(9, 14)}.{rng.randint(0, 9)}"),
        )
    )
    frames = """
(add|create|make) a {n} file (with|, just|that says) {c}
{n} file with {c} please
put {c} in a {n} file
we need a {n} file: {c}
new {n}, content {c}
"""
    sources.distract(play, name)
    play.user(order_text(rng, one_frame(rng, frames, n=name, c=content), exact_end=True))
    play.write(name, content)
    play.say(created(name, content))


def readme(play: Play) -> None:
    """A README with a title and a sentence."""
    rng = play.rng
    title = rng.choice(
        (value(rng, "word").capitalize(), f"{value(rng, 'thing').capitalize()} tools", value(rng, "shop"))
    )
    sentence = fill(
        rng,
        rng.choice(
            ("Sorts ~thing~ files by date.", "Notes on the ~item~.", "A page for ~city~.", "Counts ~thing~s.")
        ),
    )
    sources.distract(play, "README.md")
    order = one_frame(rng, README, t=title, s=quoted(rng, sentence, bare=0.5))
    play.user(order_text(rng, order, exact_end=True))
    play.write("README.md", f"# {title}\n\n{sentence}")
    play.say(f"Created README.md with the title {title}.")


def letter(play: Play) -> None:
    """A short letter or note."""
    rng = play.rng
    words, _, content = rng.choice(LETTERS.split("\n===\n")).partition("\n---\n")
    left, *orders = words.split("\n")
    what, names = left.split("; ")
    path = new_path(rng, rng.choice(names.split(", ")))
    text = fill(rng, f"{rng.choice(orders)}\x00{content}")
    order, _, content = text.partition("\x00")
    sources.distract(play, path)
    play.user(order_text(rng, order.format(f=path), exact_end=True))
    play.write(path, content)
    play.say(f"Created {path} with the {what}.")


def copy(play: Play) -> None:
    """A copy of a file under another name."""
    rng = play.rng
    path, text = rng.choice((make_prose(rng), (lambda item: (item.path, item.text))(make_list(rng))))
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.partition(".")
    new = rng.choice(
        (
            f"{stem}_2",
            f"{stem}_copy",
            f"{stem}.bak",
            f"old_{stem}",
            f"{stem}_{rng.randint(10, 99)}",
            value(rng, "word"),
        )
    )
    target = f"{folder}{slash}{new}{dot}{ending}"
    play.file(path, text)
    sources.distract(play, path)
    known = rng.random() < 0.75 or not slash
    play.user(order_text(rng, one_frame(rng, COPY, a=path if known else name, b=target)))
    if not known:
        play.glob(f"**/{name}")
    play.bash(f"cp {path} {target}")
    play.say(f"Copied {path} to {target}.")


def from_list(play: Play) -> None:
    """A new file made from a list: sorted, turned round, in capitals, only the open items."""
    rng = play.rng
    listing = make_list(rng, rng.choice((("plain",), ("boxes",), ("dash",))))
    if listing.first > 1:
        raise Unfit("a heading")
    items = listing.items
    frames = {
        "sorted": (
            """
                make a (sorted|alphabetical) copy of {a} (called|named) {b}
                sort {a} and save it as {b}
                {b} should be {a} in alphabetical order
            """,
            sorted(range(len(items)), key=lambda at: items[at].lower()),
        ),
        "reversed": (
            "turn {a} around, last line first, and save that as {b}\n{b}: the lines of {a} in reverse order",
            list(range(len(items)))[::-1],
        ),
    }
    if listing.style == "boxes":
        frames["open"] = (
            """
                put only the open items of {a} into {b}
                make {b} with what is not done yet in {a}
                {b} should be the open ones from {a}
            """,
            [at for at, done in enumerate(listing.checked) if not done],
        )
    kind = rng.choice(list(frames))
    order, chosen = frames[kind]
    if not chosen or chosen == list(range(len(items))):
        raise Unfit("the same list")
    path = f"{kind}{listing.path[listing.path.rindex('.') :]}"
    play.file(listing.path, listing.text)
    sources.distract(play, listing.path, path)
    play.user(order_text(rng, one_frame(rng, order, a=listing.path, b=path)))
    play.read(listing.path)
    lines = [listing.line(at) for at in chosen]
    play.write(path, "\n".join(lines))
    play.say(f"Created {path} with {sources.count_of(len(lines), 'line')} from {listing.path}.")


def from_table(play: Play) -> None:
    """A new file with one column of a CSV file, or with the rows that fit."""
    rng = play.rng
    table = make_table(rng)
    at = rng.randrange(len(table.columns))
    column = table.columns[at]
    path = f"{column}s.txt"
    play.file(table.path, table.text)
    sources.distract(play, table.path, path)
    target = aim(rng, table.path, named=rng.random() < 0.6)
    frames = """
(write|put|save) (only |)the {c} column (without the header|, no header,) (into|to) {b}
make {b} with (only |)the {c} of every row, one per line
I need all values of {c} in {b}, (one per line|each on a line)
{b}: just the column {c}, without header
"""
    play.user(order_text(rng, place(rng, one_frame(rng, frames, c=column, b=path), target)))
    target.find(play)
    play.read(table.path)
    play.write(path, "\n".join(row[at] for row in table.rows))
    play.say(
        f"Created {path} with the {sources.count_of(len(table.rows), 'value')} of {column} from {table.path}."
    )


FAMILIES = (
    Family(with_text, 2.6),
    Family(with_text_foreign, 0.5),
    Family(with_lines, 1.0),
    Family(with_items, 1.9),
    Family(with_data, 1.9),
    Family(with_rows, 0.6),
    Family(empty, 0.3),
    Family(gitignore, 0.3),
    Family(version_or_license, 0.4),
    Family(readme, 0.3),
    Family(letter, 0.4),
    Family(copy, 0.6),
    Family(from_list, 0.3),
    Family(from_table, 0.3),
)
