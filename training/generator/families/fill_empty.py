"""Filling in what is empty: translations, keys without a value, cells, empty texts and placeholders."""

from random import Random

from training.generator import sources
from training.generator.frames import one_frame
from training.generator.knowledge import load
from training.generator.play import Family, Play, Unfit
from training.generator.sources import in_folder, make_table, value
from training.generator.targets import aim, order_text, place, quoted

WORDS = load("translations")[0].rows
LANGUAGES = (("de", 1, "German"), ("fr", 2, "French"), ("es", 3, "Spanish"))
HEAD = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
TRANSLATE = """
the (translation|text) (of|for) {k} is missing, it is {v}
{k} is {v} in {l}, (fill it in|add that|put it in)
translate {k} (by|with|as) {v}
{k} has no translation yet: {v}
(fill in|add|put in) the translation (of|for) {k}: {v}
(put|write) {v} as the translation of {k}
{k} should be translated as {v}
the empty translation of {k} (is|should be) {v}
{k} -> {v}
{l} for {k} is {v}, please add it
the msgstr of {k} must be {v}
""".strip()
FILL = """
fill in the {k}: {v}
the {k} is empty, (it should be|put in|it is) {v}
the {k} is (missing|still empty|not filled in), it is {v}
(set|change) the {k} to {v}
the {k} is {v}
there is no {k} yet, (write|put) {v}
(put|write|enter) {v} (as|for) the {k}
I forgot the {k}: {v}
{k} has no value, should be {v}
(can|could) you enter {v} as {k}?
{k}: {v}
""".strip()
CELL = """
the {c} of {r} is (missing|empty), it is {v}
(fill in|enter|add) the {c} of {r}: {v}
{r} has no {c} yet, (put|it's) {v}
{c} for {r}: {v}
the {c} of {r} is {v}, (fill it in|that is still empty)
(put|write) {v} as the {c} of {r}
the empty {c} of {r} should be {v}
{r}'s {c} is {v}
""".strip()
TODO = """
replace the TODO (for|behind|at) {k} (by|with) {v}
the TODO (for|at|behind) {k} (is|should be|becomes) {v}
the {k} is known now: {v}
{k} still says {t}, it is {v}
we know the {k} (now|at last): {v}
fill in the {k} instead of {t}: {v}
{k} is {v}, no {t} any more
""".strip()
KEYS = """
name word / title word / author person / owner person / city city / phone phone / email email / version version
start date / deadline date / price money / code code / host host / color color / url url / contact person
opening time / room int 1 60 / seats int 10 300 / shop shop / venue place / budget int 100 9000 / teacher person
"""  # noqa: E501
STYLES = {
    ".yaml": ("{k}:", "{k}: {v}", ("config", "event", "club", "profile", "course")),
    ".yml": ("{k}: ", "{k}: {v}", ("site", "data", "course", "meta")),
    ".ini": ("{k} =", "{k} = {v}", ("app", "settings", "club", "device")),
    ".conf": ("{k} = ", "{k} = {v}", ("site", "server", "desk")),
    ".properties": ("{k}=", "{k}={v}", ("app", "project", "build")),
    ".env": ("{u}=", "{u}={v}", ("dev", "prod", "test")),
    ".toml": ('{k} = ""', '{k} = "{v}"', ("project", "settings", "book")),
    ".txt": ("{K}:", "{K}: {v}", ("form", "card", "booking", "application", "event")),
    ".md": ("- {K}:", "- {K}: {v}", ("event", "meeting", "profile", "form")),
    ".py": ('{u} = ""', '{u} = "{v}"', ("settings", "config", "constants")),
    ".sh": ('{u}=""', '{u}="{v}"', ("vars", "deploy", "config")),
    ".json": ('  "{k}": ""', '  "{k}": "{v}"', ("profile", "event", "data", "card", "book")),
    ".js": ('  {k}: "",', '  {k}: "{v}",', ("config", "options")),
    ".xml": ("  <{k}></{k}>", "  <{k}>{v}</{k}>", ("event", "book", "profile")),
}
AROUND = {".json": ("{", "}"), ".js": ("module.exports = {", "};"), ".xml": ("<data>", "</data>")}
PLACEHOLDERS = "TODO TODO TODO TBD ??? XXX ... tba".split()


def translation(play: Play) -> None:
    """The empty `msgstr` below a `msgid`."""
    rng = play.rng
    code, column, language = rng.choice(LANGUAGES)
    words = rng.sample([row for row in WORDS if row[0] != row[column]], rng.randint(3, 7))
    empty = rng.sample(range(len(words)), min(len(words), rng.choice((1, 1, 2, 3))))
    at = empty[0]
    text, number = HEAD if rng.random() < 0.6 else "", 0
    for place_of, row in enumerate(words):
        text += "\n" * bool(text)
        text += rng.choice(("", "", "", f"#: src/{value(rng, 'word')}.py:{rng.randint(2, 90)}\n"))
        text += f'msgid "{_capital(row[0])}"\nmsgstr "{"" if place_of in empty else _capital(row[column])}"\n'
        number = text.count("\n") if place_of == at else number
    said, new = _capital(words[at][0]), _capital(words[at][column])
    folder = rng.choice(("", "po/", "locale/", f"locale/{code}/LC_MESSAGES/", "translations/"))
    path = f"{folder}{rng.choice((code, code, 'messages', 'app'))}.po"
    mark = rng.choice(('"{}"', '"{}"', "'{}'", "{}"))
    if "'" in said + new:
        mark = '"{}"'
    order = one_frame(rng, TRANSLATE, k=mark.format(said), v=mark.format(new), l=language)
    _start(play, path, text, order, said)
    play.set_lines(path, number, f'msgstr "{new}"')
    play.say(f'Changed the translation of "{said}" to "{new}" in {path}, line {number}.')


def _capital(text: str) -> str:
    text = text.removeprefix("to ")
    return text[0].upper() + text[1:]


def _start(play: Play, path: str, text: str, order: str, word: str) -> None:
    """Lay out the files, say the order, find the file, by a word if it is not named, and read it."""
    rng = play.rng
    play.file(path, text)
    sources.distract(play, path)
    target = aim(rng, path, word, named=not word)
    play.user(order_text(rng, place(rng, order, target), exact_end=True))
    target.find(play)
    play.read(path)


def _written(frame: str, key: str, text: str = "") -> str:
    return frame.format(k=key, u=key.upper(), K=key.capitalize(), v=text)


def _form(rng: Random, empty: str) -> tuple[str, list[str], int, str, str, str]:
    """Make a file with a few keys: its path and lines, and of the empty one number, key, kind and frame."""
    ending = rng.choice(list(STYLES))
    blank, full, stems = STYLES[ending]
    pairs = [pair.strip().partition(" ") for pair in KEYS.replace("\n", " / ").split(" / ") if pair.strip()]
    chosen = rng.sample(pairs, rng.randint(3, 7))
    at = rng.randrange(len(chosen))
    lines = [_written(full, key, value(rng, kind)) for key, _, kind in chosen]
    for other in range(len(lines)):
        if other == at or rng.random() < 0.12:
            key = chosen[other][0]
            lines[other] = _written(full, key, empty) if empty else _written(blank, key)
    if ending == ".json":
        lines = [line + "," * (number < len(lines)) for number, line in enumerate(lines, 1)]
    start, end = AROUND.get(ending, ("", ""))
    lines = [start, *lines, end] if start else lines
    path = in_folder(rng, rng.choice(stems) + ending, 0.3)
    return path, lines, at + 1 + bool(start), chosen[at][0], chosen[at][2], full


def key(play: Play) -> None:
    """A key with nothing behind it."""
    rng = play.rng
    path, lines, number, name, kind, full = _form(rng, "")
    new = value(rng, kind)
    order = one_frame(rng, FILL, k=name, v=quoted(rng, new, bare=0.7))
    _start(play, path, "\n".join(lines) + "\n", order, name if name in lines[number - 1] else "")
    comma = "," if lines[number - 1].endswith(",") and not full.endswith(",") else ""
    play.set_lines(path, number, _written(full, name, new) + comma)
    play.say(f"Set {name} to {new} in {path}.")


def todo(play: Play) -> None:
    """A placeholder that gets its value."""
    rng = play.rng
    mark = rng.choice(PLACEHOLDERS)
    path, lines, number, name, kind, _ = _form(rng, mark)
    new = value(rng, kind)
    frames = TODO if mark == "TODO" else "\n".join(TODO.split("\n")[2:])
    order = one_frame(rng, frames, k=name, v=quoted(rng, new, bare=0.8), t=mark)
    _start(play, path, "\n".join(lines) + "\n", order, name if name in lines[number - 1] else "")
    play.set_lines(path, number, lines[number - 1].replace(mark, new))
    play.say(f"Changed {name} from {mark} to {new} in {path}.")


def cell(play: Play) -> None:
    """An empty cell of a table."""
    rng = play.rng
    table = make_table(rng, rng.randint(3, 6))
    row = rng.randrange(len(table.rows))
    column = rng.randrange(1, len(table.columns))
    new, table.rows[row][column] = table.rows[row][column], ""
    name, who = table.columns[column].replace("_", " "), table.rows[row][0]
    if not new or [cells[0] for cells in table.rows].count(who) != 1:
        raise Unfit("two rows of that name")
    order = one_frame(rng, CELL, c=name, r=who, v=quoted(rng, new, bare=0.8))
    _start(play, table.path, table.text, order, who)
    number = row + 2
    if play.text(table.path).split("\n")[number - 1] != table.row_text(table.rows[row]):
        raise Unfit("no plain table")
    table.rows[row][column] = new
    play.set_lines(table.path, number, table.row_text(table.rows[row]))
    play.say(f"Set the {name} of {who} to {new} in {table.path}.")


FAMILIES = (
    Family(translation, 1.5),
    Family(key, 2.0),
    Family(todo, 0.7),
    Family(cell, 0.9),
)
