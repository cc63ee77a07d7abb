"""Files of several records with the same keys: one changes, goes or is new; it is meant by its name."""

import json
from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import in_folder
from training.generator.targets import aim, order_text, place
from training.generator.value_files import value_of

CHANGE = """
{r} should have {c} {v}
set the {c} of {r} to {v}
the {c} of {r} (is|should be|must be) {v}
{r}'s {c} is {v} (now|)
give {r} {c} {v}( instead of {o}|)
change {c} of {r} (from {o} |)to {v}
{r}: {c} {v}
for {r}, {c} must be {v}, not {o}
{r} has the wrong {c}, make it {v}
{c} {v} for {r} (please|)
update {r}: {c} is {v}
(can|could) you set {c} to {v} for {r}?
in the entry of {r} put {v} as {c}
""".strip()
DELETE = """
(delete|remove) {r}
(delete|remove) the (entry|whole entry|record) (of |){r}
{r} can go
take {r} out
we don't need {r} any more, remove the entry
get rid of {r}
{r} is gone, delete the whole entry
""".strip()
ADD = """
add {r} with {p}
new entry {r}: {p}
(append|add) an entry for {r}, {p}
{r} is missing: {p}
one more: {r}, {p}
put {r} at the end, {p}
""".strip()
RELATIVE = """
{r} (gets|should get) {d} more {c}
add {d} to the {c} of {r}
raise the {c} of {r} by {d}
increase {r}'s {c} by {d}
the {c} of {r} goes up by {d}
""".strip()
# file names | what the key of the name is called | key=kind, …
SCHEMES = """
enemies, monsters, units, characters | name=good | hp=n, speed=d, color=color
items, shop, weapons, loot | name=good | price=n, weight=d, rarity=pick common/rare/epic
users, accounts, members | name=first | age=n, town=town, role=pick admin/guest/editor
staff, team, employees | name=full | room=n, phone=phone, since=year
products, stock, catalog | title=good | price=n, count=d, shelf=seat
rooms, hotel, bookings | guest=full | room=n, nights=d, arrives=date
patients, ward, beds | name=full | bed=n, pulse=n, nurse=first
courses, lessons, classes | teacher=full | room=seat, pupils=n, day=day
songs, setlist, album | title=good | tempo=n, key=pick C/D/E/F/G/A, length=time
servers, hosts, services | name=word | port=port, memory=n, region=town
sensors, devices, probes | id=code | pin=n, unit=pick C/F/Pa/mm, place=town
recipes, cakes, dishes | name=good | minutes=n, servings=d, oven=n
books, library, loans | title=good | author=full, year=year, pages=n
plants, garden, beds | plant=good | water=d, bed=n, sown=date
trips, stops, route | town=town | day=day, km=n, hotel=word
teams, league, players | player=full | goals=d, number=n, team=town
events, dates, calendar | title=good | day=day, start=time, place=town
pets, animals, zoo | name=first | kind=good, age=d, weight=n
""".strip().split("\n")
STYLES = (
    "json",
    "json",
    "json",
    "rows",
    "rows",
    "rows",
    "yaml",
    "yaml",
    "toml",
    "ini",
    "python",
    "text",
    "md",
)


class Records(Struct):
    """A file of records."""

    path: str
    style: str
    name_key: str
    kinds: dict[str, str]
    rows: list[dict[str, str]]

    @property
    def names(self) -> list[str]:
        """The names of the records."""
        return [row[self.name_key] for row in self.rows]


def value_for(rng: Random, kind: str) -> str:
    """Return a made-up value of a kind."""
    return str(rng.randint(1950, 2026)) if kind == "year" else value_of(rng, kind)


def make_records(rng: Random) -> Records:
    """Make up two to five records."""
    stems, named, keys = rng.choice(SCHEMES).split(" | ")
    name_key, _, name_kind = named.partition("=")
    kinds = dict(pair.split("=") for pair in keys.split(", "))
    chosen = list(kinds)[: rng.choice((2, 3, 3))]
    kinds = {key: kinds[key] for key in chosen}
    rows = [
        {name_key: value_for(rng, name_kind)} | {key: value_for(rng, kind) for key, kind in kinds.items()}
        for _ in range(rng.randint(2, 5))
    ]
    if len({row[name_key] for row in rows}) < len(rows):
        raise Unfit("a name twice")
    style = rng.choice(STYLES)
    ending = {"python": "py", "text": "txt", "rows": "json"}.get(style, style)
    path = in_folder(rng, f"{rng.choice(stems.split(', '))}.{ending}", 0.3)
    return Records(path, style, name_key, {name_key: name_kind} | kinds, rows)


def _typed(text: str) -> object:
    return int(text) if text.isdigit() and (text == "0" or text[0] != "0") else text


def _lines(made: Records, row: dict[str, str]) -> dict[str, str]:
    """Return the line of each key of a record."""
    lines = {}
    for at, (key, text) in enumerate(row.items()):
        literal = json.dumps(_typed(text), ensure_ascii=False)
        comma = "," if at < len(row) - 1 else ""
        lines[key] = {
            "json": f'    "{key}": {literal}{comma}',
            "yaml": f"{'  ' if at else '- '}{key}: {literal if ':' in text or '#' in text else text}",
            "toml": f"{key} = {literal}",
            "ini": f"{key} = {text}",
            "python": f'        "{key}": {literal},',
            "text": f"{key}: {text}",
            "md": f"- {key}: {text}",
        }[made.style]
        if at == 0 and made.style in ("ini", "md"):
            lines[key] = f"[{text}]" if made.style == "ini" else f"## {text}"
    return lines


OPEN = {"json": ["  {"], "toml": ["[[entry]]"], "python": ["    {"]}
CLOSE = {"json": ["  },"], "python": ["    },"]}


def _block(made: Records, row: dict[str, str]) -> list[str]:
    if made.style == "rows":
        typed = {key: _typed(text) for key, text in row.items()}
        return [f"  {json.dumps(typed, ensure_ascii=False)},"]
    return [*OPEN.get(made.style, []), *_lines(made, row).values(), *CLOSE.get(made.style, [])]


def layout(made: Records) -> tuple[list[str], list[int]]:
    """Return the lines of the file, and the first line of each record."""
    lines = {"json": ["["], "rows": ["["], "python": ["DATA = ["]}.get(made.style, [])
    starts: list[int] = []
    for row in made.rows:
        if starts and made.style in ("toml", "ini", "text", "md"):
            lines = [*lines, ""]
        starts.append(len(lines) + 1)
        lines = lines + _block(made, row)
    if made.style in ("json", "rows"):
        lines[-1] = lines[-1].removesuffix(",")
    return lines + ["]"] * (made.style in ("json", "rows", "python")), starts


def _start(play: Play, made: Records, order: str, word: str = "", *, exact_end: bool = False) -> None:
    rng = play.rng
    play.file(made.path, "\n".join(layout(made)[0]) + "\n")
    sources.distract(play, made.path, most=3)
    target = aim(rng, made.path, word if len(word) > 4 else "", named=exact_end)
    if exact_end:
        order = rng.choice((f"in {target.said} {order}", f"{target.said}: {order}"))
    else:
        order = place(rng, order, target)
    play.user(order_text(rng, order, exact_end=exact_end))
    target.find(play)
    play.read(made.path)


def set_value(play: Play, made: Records, at: int, key: str, new: str) -> None:
    """Put a new value into a file that was read."""
    lines, starts = layout(made)
    if made.style == "rows":
        comma = "," * (at < len(made.rows) - 1)
        play.set_lines(
            made.path, starts[at], _block(made, made.rows[at] | {key: new})[0].removesuffix(",") + comma
        )
        return
    old_line = _lines(made, made.rows[at])[key]
    number = starts[at] + len(OPEN.get(made.style, [])) + list(made.rows[at]).index(key)
    assert lines[number - 1] == old_line
    play.set_lines(made.path, number, _lines(made, made.rows[at] | {key: new})[key])


def change(play: Play) -> None:
    """A value of one record."""
    rng = play.rng
    made = make_records(rng)
    at = rng.randrange(len(made.rows))
    key = rng.choice([key for key in made.kinds if key != made.name_key])
    name, old = made.names[at], made.rows[at][key]
    new = value_for(rng, made.kinds[key])
    if new == old:
        raise Unfit("the same value")
    _start(play, made, one_frame(rng, CHANGE, r=name, c=key, v=new, o=old), name)
    set_value(play, made, at, key, new)
    play.say(f"Changed {key} of {name} from {old} to {new} in {made.path}.")


def more(play: Play) -> None:
    """A number that grows by a little."""
    rng = play.rng
    made = make_records(rng)
    at = rng.randrange(len(made.rows))
    keys = [
        key
        for key, kind in made.kinds.items()
        if kind in ("n", "d") and key not in ("room", "bed", "number", "pin")
    ]
    if not keys:
        raise Unfit("no number")
    key, step = rng.choice(keys), rng.choice((1, 1, 2, 3, 5, 10))
    name, old = made.names[at], made.rows[at][key]
    new = str(int(old) + step)
    _start(play, made, one_frame(rng, RELATIVE, r=name, c=key, d=str(step)), name)
    set_value(play, made, at, key, new)
    play.say(f"Changed {key} of {name} from {old} to {new} in {made.path}.")


def delete(play: Play) -> None:
    """A record that goes whole."""
    rng = play.rng
    made = make_records(rng)
    at = rng.randrange(len(made.rows))
    last = at == len(made.rows) - 1
    lines, starts = layout(made)
    first = starts[at]
    end = first + len(_block(made, made.rows[at])) - 1
    if len(made.rows) < 3 or (made.style == "json" and last):
        raise Unfit("too few, or a comma would stay")
    if made.style in ("json", "python", "toml") and not last:
        raise Unfit("the numbers would be those of other, equal lines")
    name = made.names[at]
    _start(play, made, one_frame(rng, DELETE, r=name), name)
    if made.style == "rows" and last:
        play.set_lines(made.path, (first - 1, first), lines[first - 2].removesuffix(","))
        play.say(f"Removed the entry of {name} from {made.path}.")
        return
    if made.style in ("toml", "ini", "text", "md"):
        first, end = (first - 1, end) if last else (first, end + 1)
    assert end <= len(lines)
    play.delete_lines(made.path, (first, end))
    play.say(f"Removed the entry of {name} from {made.path}.")


def add(play: Play) -> None:
    """A new record at the end."""
    rng = play.rng
    made = make_records(rng)
    row = {key: value_for(rng, kind) for key, kind in made.kinds.items()}
    name = row[made.name_key]
    if name in made.names:
        raise Unfit("it is there")
    said = ", ".join(f"{key} {text}" for key, text in row.items() if key != made.name_key)
    _start(play, made, one_frame(rng, ADD, r=name, p=said), exact_end=True)
    lines, _ = layout(made)
    block = _block(made, row)
    if made.style == "rows":
        play.set_lines(made.path, len(lines) - 1, f"{lines[-2]},\n{block[0].removesuffix(',')}")
    elif made.style == "json":
        play.set_lines(made.path, len(lines) - 1, "\n".join(["  },", *block[:-1], "  }"]))
    elif made.style == "python":
        play.insert_after(made.path, len(lines) - 1, "\n".join(block))
    else:
        gap = [""] if made.style in ("toml", "ini", "text", "md") else []
        play.insert_after(made.path, len(lines), "\n".join([*gap, *block]))
    if made.path.endswith("json"):
        json.loads(play.text(made.path))
    play.say(f"Added {name} to {made.path}.")


def not_there(play: Play) -> None:
    """A record that the file does not have."""
    rng = play.rng
    made = make_records(rng)
    name = value_for(rng, made.kinds[made.name_key])
    if any(name.lower() in line.lower() for line in layout(made)[0]):
        raise Unfit("it is there")
    key = rng.choice([key for key in made.kinds if key != made.name_key])
    block = rng.choice((CHANGE, DELETE))
    order = one_frame(rng, block, r=name, c=key, v=value_for(rng, made.kinds[key]), o=made.rows[0][key])
    _start(play, made, order, exact_end=True)
    there = ", ".join(made.names[:-1]) + f" and {made.names[-1]}"
    play.say(f"There is no {name} in {made.path}, only {there}. I changed nothing.")


FAMILIES = (
    Family(change, 2.6),
    Family(more, 0.6),
    Family(delete, 0.9),
    Family(add, 1.1),
    Family(not_there, 0.6),
)
