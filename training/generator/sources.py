"""Small files that can be edited: settings in many notations, lists, tables and prose, with their parts."""

import re
from collections.abc import Callable, Sequence
from random import Random
from string import Template

from msgspec import Struct, field

from training.generator import sources_data as data
from training.generator.play import Play


def _entries(table: str) -> list[str]:
    """The entries of a table, whose long lines are continued with an indentation."""
    return re.sub(r"  +", " ", table).split("\n")


_NAMES = {kind: _entries(names)[0].split(", ") for kind, names in data.NAMES.items()}
_PERSONS = data.PERSONS.split("\n")
_ITEMS = data.ITEMS.split("\n")
_SYLLABLES = (
    "ka lo mi ren tas vo qu el ban dor fi gru hy jo pel sim tor ux wex zan bri cle dra mon nex".split()
)


def unwrap(table: str) -> str:
    """A table whose long lines are continued after a backslash, with each entry on one line."""
    return re.sub(r" \\\n *", " ", table)


# ------------------------------------------------------------------------------------- values


def value(rng: Random, kind: str) -> str:
    """Make up a value of a kind such as `int 1 9`, `pick a/b`, `person` or `money`."""
    name, _, rest = kind.partition(" ")
    return _VALUES[name](rng, rest)


def _int(rng: Random, rest: str) -> str:
    low, high = map(int, rest.split())
    number = rng.randint(low, high)
    if number > 500 and rng.random() < 0.5:
        number = max(low, round(number, -2))
    return str(number)


def _float(rng: Random, rest: str) -> str:
    low, high = map(float, rest.split())
    return str(round(rng.uniform(low, high), 2 if high < 10 and rng.random() < 0.5 else 1))


def _unit(rng: Random, rest: str) -> str:
    low, high, unit = rest.split(" ", 2)
    return f"{rng.randint(int(low), int(high))} {unit}"


def _word(rng: Random, _: str = "") -> str:
    return "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(2, 3)))


def _date(rng: Random, _: str = "") -> str:
    return f"{rng.randint(2023, 2027)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def _email(rng: Random, _: str = "") -> str:
    names = "office info mail hello team shop ann ben support booking".split()
    return f"{rng.choice(names)}@{_word(rng)}.{rng.choice('org net com de example'.split())}"


_VALUES: dict[str, Callable[[Random, str], str]] = {
    "int": _int,
    "float": _float,
    "unit": _unit,
    "pick": lambda rng, rest: rng.choice(rest.split("/")),
    "name": lambda rng, rest: rng.choice(_NAMES[rest]),
    "bool": lambda rng, _: rng.choice(("true", "false")),
    "port": lambda rng, _: str(
        rng.choice((rng.randint(1024, 9999), rng.choice((80, 8080, 3000, 5432, 9000))))
    ),
    "host": lambda rng, _: rng.choice(("localhost", "0.0.0.0", f"{_word(rng)}.lan", f"db.{_word(rng)}.org")),
    "ip": lambda rng, _: f"10.{rng.randint(0, 9)}.{rng.randint(0, 40)}.{rng.randint(2, 250)}",
    "path": lambda rng, rest: (
        f"{rng.choice(('/var', '/srv', 'data', './out'))}/{_word(rng)}{rest and '.' + rest}"
    ),
    "url": lambda rng, _: f"https://{_word(rng)}.example/{rng.choice(('feed', 'rss.xml', 'news', 'v2'))}",
    "email": _email,
    "person": lambda rng, _: rng.choice(_PERSONS),
    "city": lambda rng, _: rng.choice(data.CITIES),
    "thing": lambda rng, _: rng.choice(data.THINGS),
    "item": lambda rng, _: rng.choice(_ITEMS),
    "word": _word,
    "date": _date,
    "time": lambda rng, _: f"{rng.randint(6, 23):02}:{rng.choice((0, 0, 15, 30, 45, 10, 50)):02}",
    "money": lambda rng, _: f"{rng.randint(1, 90)}.{rng.choice(('00', '50', '90', '20', '75', '95'))}",
    "version": lambda rng, _: f"{rng.randint(0, 6)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}",
    "color": lambda rng, _: rng.choice((f"#{rng.randint(0, 0xFFFFFF):06x}", rng.choice(data.COLORS))),
    "phone": lambda rng, _: f"0{rng.randint(20, 89)} {rng.randint(1000, 9999)}{rng.randint(10, 99)}",
    "code": lambda rng, _: f"{rng.choice('ABCEGHKLMRSTX')}{rng.choice('ACEINRTX')}-{rng.randint(10, 999)}",
    "n": lambda rng, _: str(rng.randint(2, 99)),
    "m": lambda rng, _: str(rng.randint(2, 59)),
    "d": lambda rng, _: str(rng.randint(2, 5)),
    "shop": lambda rng, _: rng.choice(_NAMES["shop"]),
    "place": lambda rng, _: rng.choice(_NAMES["place"]),
}


def other_value(rng: Random, kind: str, old: str, taken: Sequence[str] = ()) -> str:
    """Make up a value that differs from the old one and all taken ones."""
    if kind == "bool":
        return {"true": "false", "false": "true"}[old]
    for _ in range(30):
        new = value(rng, kind)
        if new != old and new not in taken:
            return new
    return f"{old}2"


def fill(rng: Random, text: str) -> str:
    """Put made-up values in place of `~kind~`; the same name gives the same value."""
    known: dict[str, str] = {}

    def put(match: re.Match[str]) -> str:
        name = match[1]
        if name not in known:
            known[name] = other_value(rng, name.rstrip("0123456789"), "", tuple(known.values()))
        return known[name]

    return re.sub(r"~([a-z]+(?: [a-z]+)?\d?)~", put, text)


def text_line(rng: Random) -> str:
    """One line for a note, a log or a letter."""
    return fill(rng, rng.choice(_TEXT_LINES))


_TEXT_LINES = data.TEXT_LINES.split("\n")


def count_of(number: int, noun: str) -> str:
    """A number with its noun, such as `1 row` or `3 rows`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def in_folder(rng: Random, name: str, share: float = 0.4) -> str:
    """Put a file name into a folder, in some cases."""
    return rng.choice(_FOLDERS) + name if rng.random() < share else name


_FOLDERS = [folder for folder in data.FOLDERS.split("\n") if " " not in folder]


# ------------------------------------------------------------------------------------- settings


class Setting(Struct, frozen=True):
    """A setting as the tables have it."""

    section: str
    key: str
    kind: str
    names: tuple[str, ...]


class Domain(Struct, frozen=True):
    """What a file of settings is about."""

    name: str
    stems: tuple[str, ...]
    sections: dict[str, list[Setting]]


def _domains() -> list[Domain]:
    found: list[Domain] = []
    section = ""
    for line in data.SETTINGS.split("\n"):
        if line.startswith("# "):
            name, stems = line[2:].split("; ")
            found.append(Domain(name, tuple(stems.split(", ")), {}))
        elif line.startswith("["):
            section = line[1:-1]
            found[-1].sections[section] = []
        else:
            key, kind, *names = line.split("; ")
            spoken = tuple(names[0].split(" | ")) if names else (key.replace("_", " "),)
            found[-1].sections[section].append(Setting(section, key, kind, spoken))
    return found


DOMAINS = _domains()


class Notation(Struct, frozen=True):
    """How settings are written down; `$q` is the value as a literal of the language, `$v` the bare value."""

    name: str
    ending: str
    line: str
    head: str = ""
    foot: str = ""
    top: str = ""
    bottom: str = ""
    comment: str = ""
    """What a comment starts with."""
    shown: str = "$key"
    """How the name of a setting looks to a reader."""
    yes_no: tuple[str, str] = ("true", "false")
    commas: bool = False
    """Each line but the last of a section ends with a comma."""
    blank: bool = True
    """A blank line stands between sections."""


_UPPER = "${SECTION}_$KEY"
_TRUE_FALSE, _YES_NO = ("True", "False"), ("yes", "no")
_TABLE_TOP = "| part | what | value |\n|---|---|---|"
NOTATIONS = (
    Notation("toml", ".toml", "$key = $q", "[$section]", comment="# "),
    Notation("toml", ".toml", "$key = $q", "[$section]", comment="# "),
    Notation("ini", ".ini", "$key = $v", "[$section]", comment="; ", yes_no=_YES_NO),
    Notation("ini", ".cfg", "$key=$v", "[$section]", comment="; "),
    Notation("conf", ".conf", "$key $v", "# $section", comment="# ", yes_no=("on", "off")),
    Notation("yaml", ".yaml", "  $key: $v", "$section:", comment="# ", blank=False),
    Notation("yaml", ".yml", "  $key: $v", "$section:", comment="# "),
    Notation("json", ".json", '    "$key": $q', '  "$section": {', "  }", "{", "}", commas=True, blank=False),
    Notation("json", ".json", '    "$key": $q', '  "$section": {', "  }", "{", "}", commas=True, blank=False),
    Notation("env", ".env", f"{_UPPER}=$v", comment="# ", shown=_UPPER),
    Notation("properties", ".properties", "$tag.$key=$v", comment="# ", shown="$tag.$key", blank=False),
    Notation("python", ".py", f"{_UPPER} = $q", comment="# ", shown=_UPPER, yes_no=_TRUE_FALSE),
    Notation("javascript", ".js", f"const {_UPPER} = $q;", comment="// ", shown=_UPPER),
    Notation(
        "object", ".js", "    $key: $q,", "  $tag: {", "  },", "module.exports = {", "};", "// ", blank=False
    ),
    Notation("typescript", ".ts", "export const $sectionCamel = $q;", comment="// ", shown="$sectionCamel"),
    Notation("rust", ".rs", f"pub const {_UPPER}: $rust = $q;", comment="// ", shown=_UPPER),
    Notation(
        "go", ".go", "\t$SectionCamel = $q", "", "", "package main\n\nconst (", ")", "// ", "$SectionCamel"
    ),
    Notation("c", ".h", f"#define {_UPPER} $q", comment="// ", shown=_UPPER, yes_no=("1", "0")),
    Notation(
        "java",
        ".java",
        f"    static final $java {_UPPER} = $q;",
        "",
        "",
        "class Settings {",
        "}",
        "// ",
        _UPPER,
    ),
    Notation("ruby", ".rb", f"{_UPPER} = $q", comment="# ", shown=_UPPER),
    Notation("shell", ".sh", f'{_UPPER}="$v"', top="#!/bin/sh", comment="# ", shown=_UPPER),
    Notation("make", "Makefile", f"{_UPPER} = $v", comment="# ", shown=_UPPER),
    Notation("docker", "Dockerfile", f"ENV {_UPPER}=$v", top="FROM debian:12", comment="# ", shown=_UPPER),
    Notation("text", ".txt", "$Label: $v", "$Section", shown="$label", yes_no=_YES_NO),
    Notation("text", ".txt", "$Aligned $v", "* $Section", shown="$label", yes_no=_YES_NO),
    Notation("markdown", ".md", "- $Label: $v", "## $Section\n", shown="$label", yes_no=_YES_NO),
    Notation("markdown", ".md", "- **$Label:** $v", "### $Section\n", shown="$label", yes_no=_YES_NO),
    Notation("table", ".md", "| $Section | $Label | $v |", top=_TABLE_TOP, shown="$label", blank=False),
    Notation(
        "html", ".html", "  <dt>$Label</dt><dd>$v</dd>", "<h2>$Section</h2>\n<dl>", "</dl>", shown="$label"
    ),
    Notation("xml", ".xml", "    <$key>$v</$key>", "  <$tag>", "  </$tag>", "<set>", "</set>", blank=False),
    Notation("css", ".css", "  --$dashed: $v;", ".$tag {", "}", shown="--$dashed"),
    Notation(
        "sql", ".sql", "INSERT INTO settings VALUES ('$tag.$key', '$v');", shown="$tag.$key", blank=False
    ),
    Notation("csv", ".csv", "$section,$label,$v", top="section,name,value", shown="$label", blank=False),
    Notation(
        "tex", ".tex", "\\newcommand{\\$sectionCamel}{$v}", comment="% ", shown="$sectionCamel", blank=False
    ),
)


class Entry(Struct):
    """A setting in a file."""

    setting: Setting
    shown: str
    """Its name as the file has it."""
    value: str
    """Its value as the file has it, without quotation marks."""
    number: int
    notation: Notation
    comma: str = ""

    def line(self, new: str | None = None) -> str:
        """The whole line, with a new value if one is given."""
        return write_line(self.notation, self.setting, self.value if new is None else new) + self.comma


class Sheet(Struct):
    """A file of settings."""

    path: str
    text: str
    entries: list[Entry]
    notation: Notation
    domain: Domain
    lines: list[str] = field(default_factory=list)

    def ambiguous(self, entry: Entry) -> bool:
        """True if another entry could be meant by the same words."""
        words = {entry.setting.key, entry.shown.lower(), *entry.setting.names}
        return any(
            words & {other.setting.key, other.shown.lower(), *other.setting.names}
            for other in self.entries
            if other is not entry
        )


def _camel(*parts: str) -> str:
    words = [word for part in parts for word in re.split(r"[ _]", part)]
    return words[0] + "".join(word.capitalize() for word in words[1:])


def _literal(notation: Notation, kind: str, value: str) -> str:
    if kind == "bool" or re.fullmatch(r"-?\d+(\.\d+)?", value):
        return value
    return f'"{value}"'


def _typed(value: str, kind: str, types: tuple[str, str, str, str]) -> str:
    if kind == "bool" or value in ("true", "false"):
        return types[0]
    if re.fullmatch(r"\d+", value):
        return types[1]
    return types[2] if re.fullmatch(r"\d+\.\d+", value) else types[3]


def write_line(notation: Notation, setting: Setting, value: str) -> str:
    """Write the line of a setting."""
    return Template(notation.line).substitute(_parts(notation, setting, value))


def _parts(notation: Notation, setting: Setting, value: str) -> dict[str, str]:
    label = setting.key.replace("_", " ")
    section = setting.section.replace(" ", "_")
    return {
        "key": setting.key,
        "KEY": setting.key.upper(),
        "section": setting.section,
        "SECTION": section.upper(),
        "Section": setting.section.capitalize(),
        "tag": section,
        "dashed": setting.key.replace("_", "-"),
        "label": label,
        "Label": label.capitalize(),
        "Aligned": f"{label.capitalize():<20}",
        "sectionCamel": _camel(setting.section, setting.key),
        "SectionCamel": _camel("", setting.section, setting.key),
        "v": value,
        "q": _literal(notation, setting.kind, value),
        "rust": _typed(value, setting.kind, ("bool", "u32", "f64", "&str")),
        "java": _typed(value, setting.kind, ("boolean", "int", "double", "String")),
    }


def make_sheet(
    rng: Random, domain: Domain | None = None, notation: Notation | None = None, path: str = ""
) -> Sheet:
    """Make a file of settings."""
    domain = domain or rng.choice(DOMAINS)
    notation = notation or rng.choice(NOTATIONS)
    sections = [name for name in domain.sections if rng.random() < 0.75] or [
        rng.choice(list(domain.sections))
    ]
    if notation.name in ("ini", "toml", "python", "properties") and any(" " in name for name in sections):
        notation = next(item for item in NOTATIONS if item.name == "text")
    sheet = Sheet(path or _sheet_path(rng, domain, notation), "", [], notation, domain)
    lines = notation.top.split("\n") if notation.top else []
    for name in sections:
        _add_section(rng, sheet, lines, name, is_last=name == sections[-1])
    if notation.bottom:
        lines.append(notation.bottom)
    sheet.lines = lines
    sheet.text = "\n".join(lines) + "\n"
    return sheet


def _add_section(rng: Random, sheet: Sheet, lines: list[str], name: str, *, is_last: bool) -> None:
    notation = sheet.notation
    settings = [item for item in sheet.domain.sections[name] if rng.random() < 0.85]
    settings = settings or sheet.domain.sections[name][:1]
    if lines and notation.blank and (lines[-1] and not lines[-1].endswith(("{", "("))):
        lines.append("")
    if notation.head:
        lines += Template(notation.head).substitute(_parts(notation, settings[0], "")).split("\n")
    elif notation.comment and rng.random() < 0.2:
        lines.append(f"{notation.comment}{name}")
    for setting in settings:
        content = value(rng, setting.kind)
        if setting.kind == "bool":
            content = notation.yes_no[content == "false"]
        comma = "," if notation.commas and setting is not settings[-1] else ""
        shown = Template(notation.shown).substitute(_parts(notation, setting, content))
        entry = Entry(setting, shown, content, len(lines) + 1, notation, comma)
        sheet.entries.append(entry)
        lines.append(entry.line())
    if notation.foot:
        foot = Template(notation.foot).substitute(_parts(notation, settings[0], ""))
        lines += (foot + ("," if notation.commas and not is_last else "")).split("\n")


def _sheet_path(rng: Random, domain: Domain, notation: Notation) -> str:
    if notation.name == "docker":
        return "Dockerfile"
    if notation.name == "make":
        return "Makefile"
    if notation.name == "env":
        return rng.choice((".env", ".env", "app.env", f"{domain.stems[0]}.env"))
    if notation.name == "java":
        return in_folder(rng, "Settings.java")
    return in_folder(rng, rng.choice(domain.stems) + notation.ending)


# ------------------------------------------------------------------------------------- lists


class Topic(Struct, frozen=True):
    """What a list is about."""

    name: str
    stems: tuple[str, ...]
    heading: str
    kind: str
    items: tuple[str, ...]


def _topics() -> list[Topic]:
    found = []
    for line in _entries(data.TOPICS):
        left, items = line.split(" | ")
        name, stems, heading, kind = left.split("; ")
        found.append(Topic(name, tuple(stems.split(", ")), heading, kind, tuple(items.split(", "))))
    return found


TOPICS = _topics()

# name; ending; first lines; line; `%i` the item, `%v` its value, `%n` its number, `%x` a check mark
LIST_STYLES = """
plain; .txt; ; %i
plain; .txt; ; %i
heading; .txt; %H\\n; %i
dash; .md; # %H\\n; - %i
dash; .txt; ; - %i
star; .md; ## %H\\n; * %i
numbered; .md; # %H\\n; %n. %i
numbered; .txt; ; %n. %i
boxes; .md; # %H\\n; - [%x] %i
boxes; .md; ; - [%x] %i
value; .txt; %H\\n; %i %v
value; .txt; ; %i: %v
value; .md; # %H\\n; - %i: %v
value; .md; | name | value |\\n|---|---|; | %i | %v |
value; .csv; name,value; %i,%v
value; .txt; ; %i - %v
value; .tsv; name\\tvalue; %i\\t%v
value; .txt; ; %v %i
json; .json; [;   "%i"
yaml; .yaml; %t:;   - %i
python; .py; %T = [;     "%i",
html; .html; <h1>%H</h1>\\n<ul>;   <li>%i</li>
value; .yaml; %t:;   %i: %v
""".strip().split("\n")


class Listing(Struct):
    """A file with a list."""

    path: str
    text: str
    topic: Topic
    style: str
    pattern: str
    items: list[str]
    values: list[str]
    checked: list[bool]
    first: int
    """The line of the first item."""

    def number(self, index: int) -> int:
        """The line of an item."""
        return self.first + index

    def line(self, index: int) -> str:
        """The line of an item that is there."""
        last = self.style == "json" and index == len(self.items) - 1
        text = self.write(self.items[index], index + 1, self.values[index], done=self.checked[index])
        return text + ("," if self.style == "json" and not last else "")

    def write(self, item: str, number: int, value: str = "", *, done: bool = False) -> str:
        """The line of an item, without the comma of a JSON list."""
        parts = {"%i": item, "%v": value, "%n": str(number), "%x": "x" if done else " "}
        return re.sub("%[ivnx]", lambda match: parts[match[0]], self.pattern)

    @property
    def last(self) -> int:
        """The line of the last item."""
        return self.first + len(self.items) - 1


def make_list(rng: Random, styles: Sequence[str] = (), topic: Topic | None = None) -> Listing:
    """Make a file with a list, in one of the named styles or in any."""
    topic = topic or rng.choice(TOPICS)
    name, ending, head, pattern = rng.choice(
        [line for line in LIST_STYLES if not styles or line.split(";")[0] in styles]
    ).split("; ", 3)
    top = head.replace("\\n", "\n").replace("\\t", "\t").replace("%H", topic.heading)
    top = top.replace("%t", topic.name).replace("%T", topic.name.upper())
    lines = top.split("\n") if head.strip() else []
    items = rng.sample(topic.items, rng.randint(3, min(8, len(topic.items) - 2)))
    listing = Listing(
        in_folder(rng, rng.choice(topic.stems) + ending, 0.3),
        "",
        topic,
        name,
        pattern.replace("\\t", "\t"),
        items,
        [value(rng, topic.kind) for _ in items],
        [rng.random() < 0.35 for _ in items],
        len(lines) + 1,
    )
    bottom = {"json": ["]"], "python": ["]"], "html": ["</ul>"]}.get(name, [])
    lines += [listing.line(index) for index in range(len(items))] + bottom
    listing.text = "\n".join(lines) + "\n"
    return listing


# ------------------------------------------------------------------------------------- tables


_TABLES = _entries(data.TABLES)


class Table(Struct):
    """A CSV file."""

    path: str
    what: str
    stems: tuple[str, ...]
    separator: str
    columns: list[str]
    kinds: list[str]
    rows: list[list[str]]

    @property
    def text(self) -> str:
        """The file's content."""
        return "\n".join(self.separator.join(row) for row in (self.columns, *self.rows)) + "\n"

    def row_text(self, row: Sequence[str]) -> str:
        """The line of a row."""
        return self.separator.join(row)


def make_table(rng: Random, count: int = 0) -> Table:
    """Make a CSV file in which no cell of the first two columns occurs twice."""
    left, right = rng.choice(_TABLES).split(" | ")
    what, stems, separator = left.split("; ", 2)
    pairs = [column.split("=", 1) for column in right.split(", ")]
    columns, kinds = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rows: list[list[str]] = []
    for _ in range(count or rng.randint(3, 7)):
        rows.append(
            [
                other_value(rng, kind, "", [row[at] for row in rows] if at < 2 and kind[:4] != "pick" else ())
                for at, kind in enumerate(kinds)
            ]
        )
    path = in_folder(rng, rng.choice(stems.split(", ")) + ".csv", 0.3)
    return Table(path, what, tuple(stems.split(", ")), separator.strip() or ",", columns, kinds, rows)


# ------------------------------------------------------------------------------------- prose and distractors

PROSE = [text.split("\n", 1) for text in data.PROSE.split("\n\n\n")]


def make_prose(rng: Random) -> tuple[str, str]:
    """A short text: its path and content."""
    name, text = rng.choice(PROSE)
    return in_folder(rng, name, 0.3), fill(rng, text.replace("\\\\", "\\")) + "\n"


def distract(play: Play, *taken: str, most: int = 4) -> None:
    """Lay out a few files that do not matter; they are about other things than those that do."""
    rng = play.rng
    stems = {path.rpartition("/")[2].partition(".")[0] for path in taken}
    for _ in range(rng.randint(0, most)):
        path, text, about = rng.choice((_other_list, _other_prose, _other_table))(rng)
        if not stems.intersection(about) and not play.exists(path):
            play.file(path, text)
            stems.update(about)


def _other_list(rng: Random) -> tuple[str, str, tuple[str, ...]]:
    listing = make_list(rng)
    return listing.path, listing.text, listing.topic.stems


def _other_prose(rng: Random) -> tuple[str, str, tuple[str, ...]]:
    path, text = make_prose(rng)
    return path, text, (path.rpartition("/")[2].partition(".")[0],)


def _other_table(rng: Random) -> tuple[str, str, tuple[str, ...]]:
    table = make_table(rng)
    return table.path, table.text, table.stems
