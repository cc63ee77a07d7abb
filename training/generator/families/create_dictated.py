"""Files dictated in a sentence or two: tables, settings, cards, recipes, pages, rules, jobs, build files."""

import json
from collections.abc import Callable
from random import Random

from training.generator import sources
from training.generator.create_shapes import SHAPES, TABLE_SHAPES, cell
from training.generator.families.create import show
from training.generator.families.create_loose import folder_path
from training.generator.frames import joined, one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import fill, value
from training.generator.targets import order_text, quoted
from training.generator.word_pools import FIRST_NAMES, GOODS, STREETS, SURNAMES, TOWNS

ASK = """
create {f} with {d}
make {f} with {d}
(please |)write {f}: {d}
{f}: {d}
new file {f} with {d}
I need {f} with {d}
(set up|start) {f} with {d}
{f} should (have|contain) {d}
put {d} (in|into) {f}
can you make {f}? {d}
we need a {f}, it has {d}
(save|write) {d} (as|to) {f}
""".strip()


def person(rng: Random) -> str:
    """Return a made-up name."""
    return f"{rng.choice(FIRST_NAMES)} {rng.choice(SURNAMES)}"


def address(rng: Random) -> str:
    """Return a made-up address."""
    return f"{rng.choice(STREETS)} {rng.randint(1, 99)}"


def words(rng: Random, text: str) -> str:
    """Fill the slots of this module and those of `sources.fill`."""
    own: dict[str, Callable[[Random], str]] = {
        "@person": person,
        "@first": lambda one: one.choice(FIRST_NAMES),
        "@town": lambda one: one.choice(TOWNS),
        "@good": lambda one: one.choice(GOODS),
        "@good2": lambda one: one.choice(GOODS),
        "@street": address,
    }
    for name in sorted(own, key=len, reverse=True):
        if name in text:
            text = text.replace(name, own[name](rng))
    return fill(rng, text)


def _start(play: Play, path: str, order: str, *, exact_end: bool = True) -> None:
    sources.distract(play, path, most=3)
    play.user(order_text(play.rng, order, exact_end=exact_end))


def shape(play: Play) -> None:
    """A small file of a known kind, its values in the order."""
    rng = play.rng
    head, text = rng.choice(SHAPES).split("\n---\n")
    both = words(rng, f"{head}\x00{text}").split("\x00")
    names, *said = both[0].split("\n")
    path = rng.choice(names.split(", "))
    path = path if path[0] in ".MDcV" and "." not in path[1:] else folder_path(rng, path)
    one = rng.choice(said)
    order = (
        one_frame(rng, one, f=show(rng, path))
        if "{f}" in one
        else one_frame(rng, ASK, f=show(rng, path), d=one)
    )
    _start(play, path, order, exact_end=not order.endswith("?"))
    play.write(path, both[1])
    play.say(f"Created {path}.")


HEADS = """
the columns {h}
columns {h}
the header {h}
the header line {h}
{h} as header
header: {h}
""".strip()
TABLE_ASK = """
(create|make) {f} with {h} and {w}
{f} with {h}. rows: {r}
new table {f}, {h}. {r}
(write|make) me {f}: {h}, rows {r}
I need {f}. {h}, then {r}
{f}: {h}; {r}
please a csv {f}, {h} and {w}
""".strip()


def table(play: Play) -> None:
    """A CSV file or a Markdown table, its columns and rows in the order."""
    rng = play.rng
    stems, columns, kinds = rng.choice(TABLE_SHAPES)
    count = rng.choice((1, 2, 2, 3, 3, 4))
    rows = [[cell(rng, kind) for kind in kinds] for _ in range(count)]
    if len({row[0] for row in rows}) < count or any("," in text for row in rows for text in row):
        raise Unfit("the same row twice, or a comma")
    ending = rng.choice(("csv", "csv", "csv", "md", "tsv"))
    path = folder_path(rng, f"{rng.choice(stems)}.{ending}")
    header = rng.choice((", ".join(columns), joined(list(columns)), ",".join(columns)))
    inner = rng.choice((" ", ", ", ","))
    if inner == " " and any(" " in text for row in rows for text in row):
        inner = ", "
    listed = rng.choice(("; ", " / ", " and ")).join(inner.join(row) for row in rows)
    many = f"the row{'s' if count > 1 else ''} {listed}"
    order = one_frame(rng, TABLE_ASK, f=show(rng, path), h=one_frame(rng, HEADS, h=header), r=listed, w=many)
    if ending == "md":
        order = order.replace("csv", "table").replace("with", "with a markdown table,", 1)
        if "markdown table" not in order:
            order = f"a markdown table. {order}"
    if rng.random() < 0.25:
        block = "\n".join(",".join(row) for row in rows)
        start = one_frame(rng, HEADS, h=",".join(columns))
        order = f"{start} and these rows, save as {show(rng, path)}:\n{block}"
    _start(play, path, order)
    play.write(path, _written(ending, columns, rows))
    play.say(f"Created {path} with {sources.count_of(count, 'row')}.")


def _written(ending: str, columns: tuple[str, ...], rows: list[list[str]]) -> str:
    if ending == "md":
        lines = [f"| {' | '.join(row)} |" for row in (list(columns), *rows)]
        return "\n".join([lines[0], "|" + "---|" * len(columns), *lines[1:]])
    mark = "\t" if ending == "tsv" else ","
    return "\n".join(mark.join(row) for row in (list(columns), *rows))


SECTION_FRAMES = (
    "a section {s} with {p}",
    "[{s}] with {p}",
    "{s}: {p}",
    "in {s} {p}",
    "under {s}: {p}",
)


def sections(play: Play) -> None:
    """Two sections with keys and values, in TOML, INI, YAML or JSON."""
    rng = play.rng
    domain = rng.choice(sources.DOMAINS)
    names = [name for name in domain.sections if " " not in name]
    if len(names) < 2:
        raise Unfit("one section")
    kind = rng.choice(("toml", "ini", "yaml", "json"))
    data: dict[str, dict[str, str]] = {}
    for name in rng.sample(names, 2):
        settings = rng.sample(domain.sections[name], min(2, len(domain.sections[name])))
        data[name] = {item.key: value(rng, item.kind) for item in settings}
    if any(mark in text for pairs in data.values() for text in pairs.values() for mark in ",:#"):
        raise Unfit("a mark in a value")
    path = folder_path(rng, f"{rng.choice(domain.stems)}.{kind}")
    pair = rng.choice(("{k} {v}", "{k} = {v}", "{k}={v}", "{k} set to {v}", "{k}: {v}"))
    frame = rng.choice(SECTION_FRAMES[:2] if ":" in pair else SECTION_FRAMES)
    parts = [
        frame.format(s=name, p=joined([pair.format(k=key, v=text) for key, text in pairs.items()]))
        for name, pairs in data.items()
    ]
    said = rng.choice((", ", "; ", ", and ")).join(parts)
    _start(play, path, one_frame(rng, ASK, f=show(rng, path), d=said))
    play.write(path, _data_text(kind, data))
    play.say(f"Created {path} with the sections {joined(list(data))}.")


def _typed(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if text.isdigit() and (text == "0" or text[0] != "0") else float(text)
    except ValueError:
        return text


def _data_text(kind: str, data: dict[str, dict[str, str]]) -> str:
    typed = {name: {key: _typed(text) for key, text in pairs.items()} for name, pairs in data.items()}
    if kind == "json":
        return json.dumps(typed, indent=2, ensure_ascii=False)
    lines: list[str] = []
    for name, pairs in data.items():
        lines += [""] * bool(lines and kind != "yaml") + [f"{name}:" if kind == "yaml" else f"[{name}]"]
        for key, text in pairs.items():
            bare = kind == "ini" or not isinstance(typed[name][key], str)
            shown = text if bare or kind == "yaml" else f'"{text}"'
            lines.append(f"  {key}: {shown}" if kind == "yaml" else f"{key} = {shown}")
    return "\n".join(lines)


SENTENCES = """
first {a}, then {b}, last {c}
{a}. After that {b}. At the end {c}
line one {a}, line two {b}, line three {c}
three lines: {a}, {b}, {c}
{a} on the first line, {b} on the second and {c} on the third
the lines {a}, {b} and {c}
""".strip()


def three_lines(play: Play) -> None:
    """Three lines, dictated one after the other in quotation marks."""
    rng = play.rng
    lines = [sources.text_line(rng) for _ in range(3)]
    shown = [quoted(rng, line, bare=0) for line in lines]
    path = folder_path(rng, f"{rng.choice(GOODS)}.{rng.choice(('txt', 'md', 'log'))}")
    said = one_frame(rng, SENTENCES, a=shown[0], b=shown[1], c=shown[2])
    _start(play, path, one_frame(rng, ASK, f=show(rng, path), d=said))
    play.write(path, "\n".join(lines))
    play.say(f"Created {path} with 3 lines.")


ODD_LINES = (
    "Hello @first, see you in @town!",
    "@town – ~date~",
    "WARNING: @good @good2 ~n~%",
    "@first & @person",
    "~email~",
    "tel. ~phone~",
    "@street, @town",
    "v~version~-beta",
    "Où est @first ?",
    "¿Dónde está el @good?",
    "Grüße aus @town!",
    "C'est la vie, @first.",
    "@good #~n~ (@town)",
    "~time~-~time2~ @good",
    "iPhone, eBay & @good",
    "DO NOT TOUCH THE @good",
    "@first's @good",
    "Re: @good",
    "~money~ € / ~n~ kg",
    "50% off every @good!",
    "x = ~n~; y = ~m~",
    "To be, or not to be @good",
    "~url~",
    "Tschüss, @first … bis morgen",
    "smörgåsbord in @town",
    "naïve café, ~n~th floor",
    "«@good», @person",
    "@person, @person",
    "#@good",
    "a-b_c.@good",
    "100 ~word~ = 1 ~thing~",
    "Yes/No?",
    "~code~ -> ~code2~",
    "no @good today :-(",
    "N° ~n~, rue du @good",
    "São Paulo, ~date~",
    "Łódź @town Kraków",
    "50/50",
    "@good; @good2; ~word~",
    "Hi!",
    "OK",
    "~n~",
    "TODO",
    "@first",
)
"""Texts whose spelling is unusual."""
EXACT = """
(create|make) {f} with exactly this: {c}
write exactly {c} (into|to) {f}
{f} must (contain|say) exactly {c}, nothing else
(save|put) {c} in {f}, letter by letter
{f}: {c} (spelled like that|with the dot|with all marks|just like that)
in the new file {f} (should stand|I want) {c}
""".strip()


def exact(play: Play) -> None:
    """A text with marks, accents and odd spelling that must be kept."""
    rng = play.rng
    text = words(rng, rng.choice(ODD_LINES))
    path = folder_path(rng, f"{rng.choice(GOODS)}.{rng.choice(('txt', 'txt', 'md', 'log', 'cfg'))}")
    frame = EXACT if rng.random() < 0.5 else ASK.replace("{d}", "{c}")
    order = one_frame(rng, frame, f=show(rng, path), c=quoted(rng, text, bare=0))
    _start(play, path, order)
    play.write(path, text)
    play.say(f"Created {path}.")


FAMILIES = (
    Family(shape, 2.4),
    Family(table, 1.2),
    Family(sections, 0.8),
    Family(three_lines, 0.4),
    Family(exact, 1.0),
)
