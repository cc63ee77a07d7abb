"""Settings files in many formats, with sections that share keys."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from training.generator.documents.page import Page, joined, spin, unfolded, upper_first
from training.generator.documents.setting_data import SETTINGS, SWITCHES
from training.generator.documents.words import CITIES, clock, coined, identifier, money, person

__all__ = ["settings"]


@dataclass(frozen=True)
class Key:
    """A setting that a section may have."""

    names: tuple[str, ...]
    kind: str
    noun: str
    words: str


@dataclass(frozen=True)
class Section:
    """A section that a file may have."""

    names: tuple[str, ...]
    called: str
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class Entry:
    """A setting as it stands in a file."""

    name: str
    value: str
    noun: str
    words: str
    is_switch: bool = False


def parsed(block: str) -> Section:
    """A section from its block of text."""
    first, *rest = block.split("\n")
    names, _, called = first[1:].partition("] ")
    keys = []
    for line in rest:
        name, kind, noun, words = line.split(" ; ")
        keys.append(Key(tuple(name.split(",")), kind, noun, words))
    return Section(tuple(names.split(",")), called, tuple(keys))


SECTIONS = tuple(parsed(block) for block in unfolded(SETTINGS).split("\n\n"))
SWITCH_KEYS = [line.split(" ; ") for line in SWITCHES.strip().split("\n")]


def value_of(rng: random.Random, kind: str) -> str:
    """A value of this kind."""
    word, _, more = kind.partition(" ")
    match word:
        case "int":
            least, most = map(int, more.split())
            return str(
                rng.randint(least, most)
                if rng.random() < 0.5
                else round(rng.randint(least, most), -1) or least
            )
        case "dec":
            least, most, digits = map(int, more.split())
            return f"{rng.uniform(least, most):.{digits}f}"
        case "pick":
            return rng.choice(more.split(","))
        case "url":
            return f"https://{coined(rng).lower()}.example/{identifier(rng, 1)}"
        case "dburl":
            return f"postgres://{identifier(rng, 1)}@db.{coined(rng).lower()}.example/{identifier(rng, 1)}"
        case "mail":
            return f"{identifier(rng, 1)}@{coined(rng).lower()}.example"
        case "path":
            return f"/{rng.choice(['var', 'srv', 'mnt', 'data'])}/{identifier(rng, 1)}/{identifier(rng, 1)}"
        case _:
            pass
    makers: dict[str, Callable[[random.Random], str]] = {
        "word": identifier,
        "coined": coined,
        "time": clock,
        "money": money,
        "person": person,
        "city": lambda chance: chance.choice(CITIES),
    }
    return makers[word](rng)


def entries(rng: random.Random, section: Section, called: str, count: int) -> list[Entry]:
    """The settings of a section."""
    keys = rng.sample(section.keys, min(count, len(section.keys)))
    found = [
        Entry(rng.choice(key.names), value_of(rng, key.kind), key.noun, key.words.replace("{s}", called))
        for key in keys
    ]
    if rng.random() < 0.4:
        names, called = rng.choice(SWITCH_KEYS)
        found.insert(
            rng.randint(0, len(found)),
            Entry(
                rng.choice(names.split(",")),
                rng.choice(["true", "false"]),
                "",
                rng.choice(called.split("|")),
                is_switch=True,
            ),
        )
    return found


def sections(rng: random.Random) -> list[tuple[str, str, list[Entry]]]:
    """Some sections with their settings; often one key stands in two of them."""
    chosen = rng.sample(SECTIONS, rng.choice([1, 2, 2, 3, 3, 4]))
    found = []
    for section in chosen:
        called = rng.choice(section.called.split("|"))
        found.append((rng.choice(section.names), called, entries(rng, section, called, rng.randint(2, 5))))
    if len(chosen) > 1 and rng.random() < 0.5:
        one, two = rng.sample(range(len(found)), 2)
        entry = rng.choice(found[one][2])
        if entry.name not in {each.name for each in found[two][2]} and not entry.is_switch:
            other = str(int(entry.value) + rng.randint(1, 50)) if entry.value.isdigit() else f"{entry.value}2"
            found[two][2].append(Entry(entry.name, other, entry.noun, ""))
    names = [name for name, _, _ in found]
    return found if len({*names}) == len(names) else sections(rng)


def quoted(value: str) -> str:
    """A value as TOML and JSON write it."""
    try:
        json.loads(value)
        return value
    except ValueError:
        return f'"{value}"'


Rows = Iterator[tuple[int, str, Entry]]
Parts = list[tuple[str, str, list[Entry]]]


def write_toml(rng: random.Random, page: Page, parts: Parts) -> Rows:
    """TOML or INI."""
    ini = page.path.endswith((".ini", ".cfg", ".conf"))
    equals = rng.choice([" = ", "="]) if ini else " = "
    comment = rng.random() < 0.3
    if comment:
        page.add(
            f"{rng.choice('#;') if ini else '#'} "
            f"{rng.choice(['do not commit', 'local copy', 'see the wiki', 'checked in spring'])}"
        )
    for at, (name, _, rows) in enumerate(parts):
        if at:
            page.add("")
        page.add(f"[{name}]")
        for entry in rows:
            yield page.add(f"{entry.name}{equals}{entry.value if ini else quoted(entry.value)}"), name, entry


def write_yaml(rng: random.Random, page: Page, parts: Parts) -> Rows:
    """YAML."""
    if rng.random() < 0.2:
        page.add("---")
    indent = rng.choice(["  ", "  ", "    "])
    for name, _, rows in parts:
        page.add(f"{name}:")
        for entry in rows:
            yield page.add(f"{indent}{entry.name}: {entry.value}"), name, entry


def write_json(rng: random.Random, page: Page, parts: Parts) -> Rows:
    """JSON."""
    indent = rng.choice(["  ", "    "])
    page.add("{")
    for at, (name, _, rows) in enumerate(parts):
        page.add(f'{indent}"{name}": {{')
        for entry in rows:
            comma = "" if entry is rows[-1] else ","
            yield page.add(f'{indent * 2}"{entry.name}": {quoted(entry.value)}{comma}'), name, entry
        page.add(f"{indent}}}{'' if at == len(parts) - 1 else ','}")
    page.add("}")


def write_flat(rng: random.Random, page: Page, parts: Parts) -> Rows:
    """Properties, .env, or constants of a program: the section is part of each name."""
    for at, (name, _, rows) in enumerate(parts):
        if at and rng.random() < 0.6:
            page.add("")
        for entry in rows:
            flat = (
                f"{name}.{entry.name}"
                if page.path.endswith(".properties")
                else f"{name}_{entry.name}".upper()
            )
            value, line = entry.value, f"{flat}={entry.value}"
            if page.path.endswith((".py", ".rb")):
                value = value.title() if entry.is_switch and page.path.endswith(".py") else quoted(value)
                line = f"{flat} = {value}"
            elif page.path.endswith((".js", ".ts")):
                line = f"export const {flat} = {quoted(value)};"
            elif page.path.endswith(".sh"):
                line = f'export {flat}="{value}"'
            elif page.path.endswith(".h"):
                line = f"#define {flat} {quoted(value)}"
            elif page.path.endswith(".lua"):
                line = f"{name}.{entry.name} = {quoted(value)}"
            yield page.add(line), name, entry


def write_xml(rng: random.Random, page: Page, parts: Parts) -> Rows:
    """XML."""
    root = rng.choice(["config", "settings", "preferences"])
    page.add('<?xml version="1.0"?>', f"<{root}>")
    for name, _, rows in parts:
        page.add(f"  <{name}>")
        for entry in rows:
            yield page.add(f"    <{entry.name}>{entry.value}</{entry.name}>"), name, entry
        page.add(f"  </{name}>")
    page.add(f"</{root}>")


WRITERS: dict[str, Callable[[random.Random, Page, Parts], Rows]] = {
    "toml": write_toml,
    "ini": write_toml,
    "cfg": write_toml,
    "conf": write_toml,
    "yaml": write_yaml,
    "yml": write_yaml,
    "json": write_json,
    "properties": write_flat,
    "env": write_flat,
    "py": write_flat,
    "js": write_flat,
    "ts": write_flat,
    "sh": write_flat,
    "h": write_flat,
    "rb": write_flat,
    "xml": write_xml,
    "lua": write_flat,
}
KINDS = """toml toml toml ini ini yaml yaml yml json json json properties env py js cfg conf xml sh h ts rb
lua""".split()


def named(rng: random.Random, parts: Parts, kind: str) -> str:
    """A file name."""
    if kind == "env":
        return rng.choice([".env", ".env.local", "app.env", "prod.env", ".env.example"])
    own = [name for name, _, _ in parts]
    stems = [
        "config",
        "config",
        "settings",
        "settings",
        "app",
        "defaults",
        "options",
        "local",
        "prod",
        own[0],
        own[0],
        "setup",
    ]
    stem = rng.choice(stems) if kind != "py" else rng.choice(["config", "settings", "constants", own[0]])
    return f"{stem}.{kind}"


def settings(rng: random.Random) -> Page:
    """A settings file of one to four sections."""
    parts = sections(rng)
    kind = rng.choice(KINDS)
    path = named(rng, parts, kind)
    stem = path.strip(".").split(".")[0]
    words = (
        "config|configuration|settings|config file|settings file|options"
        if kind != "env"
        else "env file|environment file"
    )
    if stem in {name for name, _, _ in parts}:
        words += f"|{stem} config|{stem} settings|{stem} file"
    page = Page(path, f"[the|our|my] [{words}]", f"settings of {joined([name for name, _, _ in parts])}")
    rows = list(WRITERS[kind](rng, page, parts))
    for line, name, entry in rows:
        called = next(called for own, called, _ in parts if own == name)
        ask_entry(page, rows, line, name, called, entry)
    ask_whole(rng, page, rows, parts)
    return page


def ask_entry(
    page: Page, rows: list[tuple[int, str, Entry]], line: int, name: str, called: str, entry: Entry
) -> None:
    """The questions about one setting."""
    alone = sum(entry.name == other.name or entry.noun == other.noun != "" for _, _, other in rows) == 1
    shown = written(page, line, entry)
    if entry.is_switch:
        thing = entry.words if entry.words != "it" else f"the {called}"
        ask_switch(page, line, thing, name, entry, alone=alone)
        return
    of = f"of [the|] {called}|in the {name} section|under {name}|for [the|] {called}|in {name}"
    words = [
        (
            f"what is [the|] {entry.name} [{of}]|{name} {entry.name}|which {entry.name} [is set"
            f"|do we have] [{of}]"
        ),
        f"[value of|look up] {entry.name} [{of}]|the {entry.name} [{of}], [what is it|please]",
    ]
    if entry.words:
        words += [entry.words] * 3
    if alone:
        words += [
            (
                f"what is [the|] {entry.name} [set to|]|which {entry.noun} is [set|configured]|{entry.noun}"
                f"|{entry.name}"
            )
        ]
    answer = f"The {entry.noun} of {name} is {shown}."
    page.fact(
        f"the {entry.noun} of the {called}", shown, line, "|".join(f"[{each}]" for each in words), answer
    )
    if entry.value.isdigit() and alone:
        other = str(int(entry.value) + 1) if int(entry.value) % 2 else entry.value
        sure = (
            f"is the {entry.noun} of the {called} {other}"
            f"|do we have {other} as {entry.noun} of the {called}|{name} {entry.name} is {other}, right"
        )
        said = (
            f"Yes, the {entry.noun} of {name} is {shown}."
            if other == entry.value
            else f"No, the {entry.noun} of {name} is {shown}."
        )
        page.ask("check", sure, said, [line])


def written(page: Page, line: int, entry: Entry) -> str:
    """The value as it stands in the file."""
    if entry.is_switch and page.path.endswith(".py"):
        return entry.value.title()
    assert entry.value in page.lines[line - 1], line
    return entry.value


def ask_switch(page: Page, line: int, thing: str, name: str, entry: Entry, *, alone: bool) -> None:
    """Ask whether a switch is on."""
    where = "" if alone and thing != "it" else f" [in the {name} section|for {name}]"
    state = "on" if entry.value == "true" else "off"
    words = (
        f"is {thing} [on|enabled|active|switched on|turned on]{where}|{thing}{where}: on or off"
        f"|do we have {thing} on{where}"
        f"|is {thing} off{where}|did i switch {thing} on{where}|is {thing} [on|off] at the moment{where}"
    )
    said = f"{upper_first(thing)} is {state} ({entry.name} is {written(page, line, entry)})."
    page.ask("switch", words, said, [line])
    page.fact(
        f"{entry.name} of {name}",
        written(page, line, entry),
        line,
        f"what is {entry.name}{where} set to|{name} {entry.name}",
        f"{entry.name} is {written(page, line, entry)}.",
    )


def ask_whole(rng: random.Random, page: Page, rows: list[tuple[int, str, Entry]], parts: Parts) -> None:
    """Questions about sections and keys, and about what is not there."""
    names = [name for name, _, _ in parts]
    if len(names) > 1 and not page.path.endswith(
        ("py", "js", "sh", "h", "ts", "rb", "lua", "env", "properties")
    ):
        page.listed(
            "count", "how many sections are there|number of sections|how many sections does it have", names
        )
        page.listed("list", "which sections are there|what sections does it have|list the sections", names)
    name, called, own = rng.choice(parts)
    page.listed(
        "list",
        f"which keys are [set|there] [in|under|for] {name}|what can be set for {name}"
        f"|list the settings of the {called}|what is in the {name} section",
        [f"{entry.name}: {entry.value}" for entry in own],
    )
    every = [key for section in SECTIONS for key in section.keys]
    there = {each.name for _, _, each in rows} | {each.noun for _, _, each in rows}
    gone = [key for key in every if not there & {*key.names, key.noun}]
    key = rng.choice(gone)
    mine = joined([entry.name for entry in own])
    page.missing(
        spin(
            rng,
            f"what is the {key.noun} of the {called}|which {key.names[0]} is set [for|in] {name}"
            f"|{key.noun} of {name}|value of {key.names[0]} in the {name} section",
        ),
        f"There is no {key.names[0]} for {name} in {{file}}. It has {mine}.",
    )
