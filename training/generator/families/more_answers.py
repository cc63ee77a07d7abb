"""Answers that take a step: settings by their meaning, numbers behind constants, lists with open items."""

import json
import re
from random import Random

from training.generator import more_answers_data as data
from training.generator.folder_texts import text_for
from training.generator.folder_words import POOLS
from training.generator.folders import distractors
from training.generator.frames import ask, spell
from training.generator.phrases import vary
from training.generator.play import Family, Play, Unfit

_RANGE = re.compile(r"\[(\d+)\.\.(\d+)\]")
SETTINGS_ENDS = (".ini", ".toml", ".yaml", ".yml", ".json", ".env", ".conf", ".cfg")
Values = dict[str, str]


def _filled(rng: Random, text: str) -> str:
    slots = {name: rng.choice(words) for name, words in sorted(data.WORDS.items())}
    slots |= {name: rng.choice(POOLS[name]) for name in ("person", "surname")}
    slots["host"] = rng.choice((f"{slots['word']}.example.org", f"{slots['word']}.local", "127.0.0.1"))
    slots["mail"] = f"{slots['person'].lower()}@{slots['word']}.example"
    text = re.sub(r"\{(\w+)\}", lambda found: slots[found[1]], text)
    return _RANGE.sub(lambda found: str(rng.randint(int(found[1]), int(found[2]))), text)


def _values(rng: Random, pairs: str) -> Values:
    """Return the keys of a concept with values."""
    filled = _filled(rng, pairs)
    return dict(pair.strip().split(" = ") for pair in filled.split(";"))


def _toml_value(value: str) -> str:
    return value if re.fullmatch(r"\d+(\.\d+)?", value) else f'"{value}"'


def _json_value(value: str) -> str | int | float:
    if value.isdigit() and not value.startswith("0"):
        return int(value)
    is_float = re.fullmatch(r"[1-9]\d*\.\d*[1-9]", value)
    return float(value) if is_float else value


def _flat(kind: str, values: Values) -> str:
    """Return the text of a file with settings and no sections."""
    if kind == "json":
        return json.dumps({key: _json_value(value) for key, value in values.items()}, indent=2) + "\n"
    if kind == "env":
        return "\n".join(f"{key.upper()}={value}" for key, value in values.items()) + "\n"
    if kind == "py":
        return "\n".join(f"{key.upper()} = {_toml_value(one)}" for key, one in values.items()) + "\n"
    sign = ": " if kind == "yaml" else " = "
    shown = {key: _toml_value(one) if kind == "toml" else one for key, one in values.items()}
    return "\n".join(f"{key}{sign}{value}" for key, value in shown.items()) + "\n"


def _written(kind: str, sections: dict[str, Values]) -> str:
    """Return the text of a file with sections of settings."""
    if "" in sections:
        return _flat(kind, sections[""])
    if kind == "json":
        typed = {
            name: {key: _json_value(one) for key, one in values.items()} for name, values in sections.items()
        }
        return json.dumps(typed, indent=2) + "\n"
    rows = []
    for name, values in sections.items():
        if kind == "env":
            rows += [f"{name.upper()}_{key.upper()}={value}" for key, value in values.items()]
        elif kind == "yaml":
            rows += [f"{name}:", *(f"  {key}: {value}" for key, value in values.items())]
        else:
            shown = {key: _toml_value(one) if kind == "toml" else one for key, one in values.items()}
            rows += ["", f"[{name}]", *(f"{key} = {value}" for key, value in shown.items())]
    return "\n".join(rows).lstrip("\n") + "\n"


def _sections(rng: Random, names: list[str], concepts: list[list[str]]) -> dict[str, Values]:
    """Return sections that have the same keys with values that differ."""
    made = {}
    for name in names:
        made[name] = {key: value for row in concepts for key, value in _values(rng, row[1]).items()}
    for key in made[names[0]]:
        if len({values[key] for values in made.values()}) < len(names):
            raise Unfit("the same value twice")
    return made


def _evidence(path: str, text: str, section: str, keys: list[str], kind: str, names: list[str]) -> str:
    """Return the lines of a section that have these keys."""
    lines, inside, shown = text.split("\n"), kind == "env" or not section, []
    is_upper = kind in ("env", "py")
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        head = re.fullmatch(r'\[?"?(\w+)"?(\]|:|: \{)', bare)
        if head and head[1] in names:
            inside = head[1] == section
        key = re.match(r'"?(\w+)"?\s*[=:]', bare)
        wanted = [f"{section}_{one}".upper().lstrip("_") for one in keys] if is_upper else keys
        if inside and key and key[1] in wanted:
            shown.append(f"{path}, line {number}: {bare}")
    if len(shown) != len(keys):
        raise Unfit("the lines are not clear")
    return "\n".join(shown)


def _lay_more(play: Play, path: str) -> None:
    """Lay out other files, none of which holds settings."""
    more = distractors(play.rng, play.rng.choice((0, 1, 2, 3)), {path: ""})
    for other, text in sorted(more.items()):
        if not other.endswith(SETTINGS_ENDS):
            play.file(other, text)


def _concepts(rng: Random, count: int) -> list[list[str]]:
    """Return rows of concepts that have no key in common."""
    rows = [[part.strip() for part in row.split(" | ")] for row in data.CONCEPTS]
    chosen = rng.sample(rows, count)
    keys = [key for row in chosen for key in _values(rng, row[1])]
    if len({*keys}) < len(keys) or len({row[0] for row in chosen}) < count:
        raise Unfit("a key twice")
    return chosen


def _asked(rng: Random, concepts: list[list[str]]) -> str:
    """Return a question about one or two concepts."""
    asked = [spell(rng, rng.choice(row[2].split(";")).strip()).rstrip("?") for row in concepts]
    return rng.choice((" and ", ", and ", "? and ")).join(asked) + "?"


def _placed(rng: Random, question: str, section: str, others: list[str]) -> str:
    """Return a question that names its section."""
    if not section:
        return question
    placed = rng.choice(data.PLACED)
    if placed.startswith("{q} (") or placed.endswith("({s})"):
        question, placed = question.rstrip("?"), f"{placed}?"
    other = rng.choice(others)
    return spell(rng, placed).replace("{q}", question).replace("{s}", section).replace("{o}", other)


def _settings_path(rng: Random, kind: str, stems: list[str]) -> str:
    end = rng.choice((kind, "conf")) if kind == "ini" else kind
    return rng.choice(("", "", "config/", "etc/")) + f"{rng.choice(stems)}.{end}"


def _ask_about(play: Play, path: str, order: str) -> None:
    """Ask about a file with or without its name, and read it."""
    is_named = play.rng.random() < 0.45
    if is_named:
        order = play.rng.choice((f"{path}: {order}", f"in {path}, {order}", f"look into {path}: {order}"))
    play.user(vary(play.rng, order))
    if not is_named:
        play.glob()
    play.read(path)


def by_meaning(play: Play) -> None:
    """A setting that is asked for by what it means; other sections have the same keys."""
    rng = play.rng
    chosen = _concepts(rng, rng.randint(2, 4))
    names, stems = (part.split() for part in rng.choice(data.SECTIONS).split(" | "))
    rng.shuffle(names)
    if rng.random() < 0.25:
        names, stems = [""], "settings config app options my setup defaults".split()
    kind = rng.choice(("ini", "toml", "yaml", "json", "env", *(["py"] if names == [""] else [])))
    path = _settings_path(rng, kind, stems)
    sections = _sections(rng, names, chosen)
    text = _written(kind, sections)
    play.file(path, text)
    _lay_more(play, path)
    section = rng.choice(names)
    concepts = rng.sample(chosen, rng.choice((1, 1, 1, 2)))
    others = [name for name in names if name != section]
    _ask_about(play, path, _placed(rng, _asked(rng, concepts), section, others))
    closing = " ".join(row[3] for row in concepts)
    keys = [key for key in sections[section] if f"{{{key}}}" in closing]
    answer = re.sub(r"\{(\w+)\}", lambda found: sections[section][found[1]], closing)
    play.say(f"{_evidence(path, text, section, keys, kind, names)}\n{answer}")


def _constants_file(rng: Random, row: str, functions: list[list[str]], numbers: list[str], way: str) -> str:
    """Return source code with functions that use constants, which stand above or below them."""
    kind, mark, constant, function = row.split(" | ")
    argument = "${a}" if kind == "php" else "{a}"
    wording = {"times": f"{{C}} * {argument}", "compare": f"{argument} > {{C}}"}
    function = function.replace("{C}", wording.get(way, "{C}"))
    tops, bodies = [], []
    for (name, big, given, _), number in zip(functions, numbers, strict=True):
        slots = {"C": big, "v": number, "f": _cased(kind, name), "a": given, "if": ""}
        tops.append(_put(constant, slots))
        bodies.append(_put(function, slots))
    rng.shuffle(tops)
    blocks = ["\n".join(tops), *bodies]
    if rng.random() < 0.2 and kind in ("py", "go", "rs", "kt", "swift"):
        blocks = [*bodies, "\n".join(tops)]
    if rng.random() < 0.3:
        blocks.insert(0, f"{mark} {rng.choice(('numbers of the season', 'agreed in spring', 'all limits'))}")
    return "\n\n".join(blocks) + "\n"


WAYS = {
    "return": (data.RETURNED, "returns"),
    "times": (data.MULTIPLIED, "multiplies {a} by"),
    "compare": (data.COMPARED, "compares {a} with"),
}


def behind_a_constant(play: Play) -> None:
    """What a function returns or multiplies by: a constant that has its value elsewhere in the file."""
    rng = play.rng
    row = rng.choice(data.LANGUAGES)
    kind = row.partition(" | ")[0]
    functions = [one.split(" | ") for one in rng.sample(data.FUNCTIONS, rng.randint(2, 5))]
    numbers = [str(number) for number in rng.sample(range(2, 120), len(functions))]
    untyped = kind in ("py", "js", "rb", "php", "lua")
    way = rng.choice(("return", "return", "return", "times", *(["compare"] * 2 if untyped else [])))
    text = _constants_file(rng, row, functions, numbers, way)
    path = rng.choice(("", "", "src/", "lib/")) + f"{rng.choice(POOLS['mod'])}.{kind}"
    play.file(path, text)
    _lay_more(play, path)
    (name, big, argument, what), number = rng.choice(list(zip(functions, numbers, strict=True)))
    name = _cased(kind, name)
    block, verb = WAYS[way]
    order = ask(rng, block, f=rng.choice((name, f"{name}()")), file=path, what=what, a=argument)
    play.user(order)
    if path not in order:
        play.grep(name)
    play.read(path)
    verb = verb.replace("{a}", argument)
    play.say(f"{_lines_with(path, text, big)}\n{name} {verb} {big}, which is {number}.")


def _lines_with(path: str, text: str, word: str) -> str:
    """Return the line that sets a constant and the one that uses it, as proof."""
    rows = [(at, line) for at, line in enumerate(text.split("\n"), 1) if re.search(rf"\b{word}\b", line)]
    if len(rows) != 2:
        raise Unfit("the constant is used elsewhere")
    return "\n".join(f"{path}, line {at}: {line.strip()}" for at, line in rows)


def _cased(kind: str, name: str) -> str:
    first, *rest = name.split("_")
    is_camel = kind in ("js", "ts", "go", "java", "kt", "swift", "php")
    return first + "".join(word.title() for word in rest) if is_camel else name


def _put(text: str, slots: Values) -> str:
    text = text.replace("¶", "\n").replace("¬", "\t")
    return re.sub(r"\{(C|v|f|a|if)\}", lambda found: slots[found[1]], text)


def _list_file(rng: Random, name: str, title: str, states: dict[str, bool]) -> tuple[str, str]:
    """Return the path and the text of a list with things that are done or not."""
    opened, closed, head, ending = rng.choice(data.MARKS)
    rows = [
        (closed if is_done else opened).replace("{i}", item).replace("{p}", rng.choice(POOLS["person"]))
        for item, is_done in states.items()
    ]
    stem, _, usual = name.rpartition(".")
    path = rng.choice(("", "", "lists/", "notes/")) + f"{stem}.{ending or usual}"
    above = [] if ending == "csv" else [title, *([""] if head or rng.random() < 0.7 else [])]
    return path, "\n".join([*above, *head.split("\n"), *rows] if head else [*above, *rows]) + "\n"


LIST_ORDERS = {
    (False, False): data.OPEN,
    (True, False): data.DONE,
    (False, True): data.HOW_MANY_OPEN,
    (True, True): data.HOW_MANY_DONE,
}


def on_the_list(play: Play) -> None:
    """The open or the done items of a list that is not named by its file."""
    rng = play.rng
    name, title, things = rng.choice(data.LISTS).split(" | ")
    items = rng.sample([item.strip() for item in things.split(";")], rng.randint(3, 7))
    states = {item: rng.random() < 0.5 for item in items}
    if len({*states.values()}) == 1:
        states[items[0]] = not states[items[0]]
    path, text = _list_file(rng, name, title, states)
    play.file(path, text)
    for other in rng.sample(("logo.svg", "main.py", "style.css", "Makefile", "page.html"), rng.randint(0, 3)):
        play.file(other, str(text_for(rng, other)))
    wants_done, counts = rng.random() < 0.45, rng.random() < 0.35
    order = ask(rng, LIST_ORDERS[wants_done, counts])
    if rng.random() < 0.15:
        order = order.replace("the list", path)
    play.user(order)
    if path not in order:
        play.glob()
    play.read(path)
    found = [item for item, is_done in states.items() if is_done == wants_done]
    listed = "\n".join(f"{at}. {item}" for at, item in enumerate(found, 1))
    play.say(f"{listed}\nThat is {len(found)} {'done' if wants_done else 'still open'}.")


FAMILIES = (Family(by_meaning, 5.0), Family(behind_a_constant, 2.5), Family(on_the_list, 3.0))
