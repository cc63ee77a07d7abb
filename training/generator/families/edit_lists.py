"""Changing lists and tables: items, prices, check boxes, rows and cells."""

from random import Random

from training.generator import sources
from training.generator.families.edit_config import CHANGE
from training.generator.frames import joined, one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import Listing, Table, make_list, make_table, other_value
from training.generator.targets import Target, aim, order_text, place

ADD = """
add {i}
(add|append|put|write) {i} (at the end|at the bottom|as the last entry|to the list|on the list)
(append|add) {i}
{i} is missing, (add it|put it at the end|please add)
we (also|still) need {i}, (add it|put it on the list)
I forgot {i}, (add it|append it|put it at the end)
(can|could|would) you (add|append|put down) {i}?
one more: {i}
another entry: {i}
{i} (must|should|has to) be (on|in) the list too
also {i} (please|)
new at the end: {i}
don't forget {i}, put it on the list
extend the list with {i}
please to add {i}
{i} should be the last entry
""".strip()
INSERT = """
(add|insert|put) {i} (after|below|right after|behind) {a} | after
(add|insert|put) {i} (before|above|in front of) {a} | before
{i} (comes|should come|goes) (after|right after) {a} | after
{i} (comes|should come|goes) (before|just before) {a} | before
between {a} and the next one there should be {i} | after
I want {i} (before|above) {a} | before
(after|below) {a} (add|put|insert) {i} | after
new entry {i}, (directly|right) (above|before) {a} | before
new entry {i}, (directly|right) (below|after) {a} | after
""".strip()
REMOVE = """
(remove|delete|drop|erase) {i}
take {i} off (the list|)
take (out|away) {i}
{i} is (done|no longer needed|out|gone), (remove it|delete it|take it off)
we (have|got) {i} already, (delete it|take it off)
(nobody|no one) needs {i} any more, (remove it|out with it)
(can|could) you (remove|delete) {i}?
{i} can go
get rid of {i}
no {i} any more (please|)
cross {i} off, I mean delete the line
the line with {i} should go
I (don't|do not) want {i} (in the list|) any more
scratch {i}
{i} has to go
remove the entry {i}
""".strip()
CHECK = """
(check|tick) off {i}
(check|tick) {i}
mark {i} as done
{i} is done(, tick it|, check it off|, mark it|)
I (did|finished) this one: {i}(, tick it|)
set the (check|box) for {i}
put an x (at|in the box of) {i}
{i}: done!
can you (tick|check) the box of {i}?
I have done {i}, (please check it|update the list)
""".strip()
UNCHECK = """
uncheck {i}
{i} is not done yet, (take the check away|uncheck it|open it again)
(reopen|re-open) {i}
mark {i} as (not done|open) (again|)
remove the (tick|check|x) (at|from) {i}
""".strip()
SWAP_ITEM = """
replace {i} (by|with) {n}
{n} instead of {i}
(change|turn) {i} (to|into) {n}
not {i} but {n}
{i} should be {n}
it's {n}, not {i}
I meant {n}, not {i}
(swap|exchange) {i} for {n}
make {n} out of {i}
we take {n} instead of {i}
{i} -> {n}
""".strip()
EXCHANGE = """
swap {i} and {n}
(exchange|switch) (the lines|the places of|) {i} and {n}
{i} and {n} are in the wrong order, swap them
let {i} and {n} change places
{i} and {n} should be the other way round
""".strip()
SORT = """
sort (the list|it|the entries|the lines) (alphabetically|by name|from a to z|a-z)
put (the list|the entries|the items) in alphabetical order
(alphabetical order|sorted by alphabet) please
can you (sort|order) the (entries|items) by name?
the (entries|items) should be sorted
order it by name
""".strip()
PRICE = """
(the|) {i} (costs|should cost|is|will cost) {v} now
the price (of|for) {i} (is|should be|goes to|went to) {v} (now|)
{i} is {v} from today, not {o}
{i} got more expensive or cheaper, anyway it is {v} now
we charge {v} for {i}
(set|change|put) the price of {i} to {v}
{i} {v} instead of {o}
new price for {i}: {v}
""".strip()
CELL = """
(set|change|update) the {c} of {r} to {v}
{r}: {c} is {v} now
the {c} of {r} (is|should be|must be) {v}(, not {o}|)
{c} of {r} -> {v}
(change|set) {c} (for|in the row of|at) {r} to {v}
for {r} the {c} (is|should be) {v}
{r} has a new {c}: {v}
{r} now has {v} as {c}
{r}'s {c} is {v} (now|)
correct the {c} of {r}, it is {v}
the {c} in the row of {r} is wrong, (make it|should be) {v}
{r} got the wrong {c}, {v} is right
can you put {v} as {c} for {r}?
""".strip()
ADD_ROW = """
add (a|the|another) {w}: {v}
(new|another) {w} (at the end|): {v}
(add|append) a (row|line) (with|for the {w}) {v}
(append|add) the {w} {v}
we have a new {w}, {v}
put (this|a new) {w} at the end: {v}
one more {w} for the table: {v}
(please |)enter a new {w}: {v}
""".strip()
DROP_ROW = """
(remove|delete|drop) (the row of|the {w}|the line with|) {r}
{r} (left|is gone|is out|has cancelled), (delete the row|remove it|take it out)
take {r} out of the table
we don't need {r} any more, delete the row
the {w} {r} can be deleted
(can|could) you delete the row of {r}?
no {r} any more, remove the line
""".strip()
FOREIGN = {
    "de": (
        "(schreib|setz) noch {i} (auf die Liste|dazu)|{i} (fehlt noch|hinzufügen)|bitte {i} ergänzen",
        "{i} in {f} ergänzt.",
        "(streich|lösch|entferne) {i}|{i} kann weg|{i} haben wir schon, bitte löschen",
        "{i} aus {f} gelöscht.",
        "in {f}",
    ),
    "fr": (
        "ajoute {i} à la fin|(il manque|ajoute aussi) {i}|peux-tu ajouter {i} ?",
        "{i} est ajouté à {f}.",
        "(enlève|supprime|retire) {i}|on n'a plus besoin de {i}, supprime la ligne",
        "{i} est supprimé de {f}.",
        "dans {f}",
    ),
    "es": (
        "(añade|agrega) {i} al final|falta {i}, añádelo|¿puedes añadir {i}?",
        "He añadido {i} a {f}.",
        "(quita|borra|elimina) {i}|ya tenemos {i}, bórralo",
        "He quitado {i} de {f}.",
        "en {f}",
    ),
}


def listed_target(rng: Random, listing: Listing | Table, word: str = "") -> Target:
    """How an order names a list or table."""
    return aim(rng, listing.path, word if rng.random() < 0.5 else "")


def _order(
    play: Play, listing: Listing | Table, order: str, word: str = "", *, exact_end: bool = False
) -> None:
    """Lay out the files, say the order, find the file and read it."""
    rng = play.rng
    play.file(listing.path, listing.text)
    sources.distract(play, listing.path)
    target = listed_target(rng, listing, word)
    if exact_end and target.said:
        order = rng.choice((f"in {target.said} {order}", f"{target.said}: {order}"))
    else:
        order = place(rng, order, target)
    play.user(order_text(rng, order, exact_end=exact_end))
    target.find(play)
    play.read(listing.path)


def new_item(rng: Random, listing: Listing) -> str:
    """An item of the same topic that is not on the list."""
    return rng.choice([item for item in listing.topic.items if item not in listing.items])


def _with_value(rng: Random, listing: Listing, item: str, value: str) -> str:
    if listing.style != "value":
        return item
    if rng.random() < 0.3:
        return listing.write(item, 0, value).strip("|- ")
    return one_frame(rng, "{i} (with|:) {v}|{i}, {v}|{i} {v}".replace("|{", "\n{"), i=item, v=value)


def append_lines(play: Play, listing: Listing, items: list[str], values: list[str]) -> None:
    """Put new items below the last one of a list that was read."""
    count = len(listing.items)
    new = [
        listing.write(item, count + at + 1, value)
        for at, (item, value) in enumerate(zip(items, values, strict=True))
    ]
    if listing.style == "json":
        play.set_lines(listing.path, listing.last, ",\n".join([listing.line(count - 1), *new]))
    else:
        tail = "," if listing.style == "python" else ""
        new = [line + tail if tail and not line.endswith(",") else line for line in new]
        play.insert_after(listing.path, listing.last, "\n".join(new))


def add_item(play: Play) -> None:
    """One, two or three new items at the end."""
    rng = play.rng
    listing = make_list(rng)
    free = [item for item in listing.topic.items if item not in listing.items]
    items = rng.sample(free, min(len(free), rng.choice((1, 1, 1, 2, 2, 3))))
    values = [sources.value(rng, listing.topic.kind) for _ in items]
    said = joined([_with_value(rng, listing, item, value) for item, value in zip(items, values, strict=True)])
    frames = (
        ADD
        if len(items) == 1
        else """
            add {i}
            append {i}
            put {i} on the list too
            {i} are missing
            also {i}
            we need {i} too, add them
        """
    )
    _order(play, listing, one_frame(rng, frames, i=said))
    append_lines(play, listing, items, values)
    play.say(f"Added {joined(items)} to {listing.path}.")


def insert_item(play: Play) -> None:
    """A new item before or after another."""
    rng = play.rng
    listing = make_list(rng, ("plain", "heading", "dash", "star", "boxes", "value", "yaml", "html"))
    at = rng.randrange(len(listing.items))
    item, value = new_item(rng, listing), sources.value(rng, listing.topic.kind)
    frame, _, where = rng.choice(INSERT.split("\n")).rpartition(" | ")
    said = _with_value(rng, listing, item, value)
    _order(play, listing, one_frame(rng, frame, i=said, a=listing.items[at]), listing.items[at])
    below = listing.number(at) - (where == "before")
    play.insert_after(listing.path, below, listing.write(item, at + 1, value))
    play.say(f"Added {item} {where} {listing.items[at]} in {listing.path}.")


def remove_item(play: Play) -> None:
    """An item that goes; a numbered list is numbered anew."""
    rng = play.rng
    listing = make_list(rng)
    at = rng.randrange(len(listing.items))
    item = listing.items[at]
    said = f"the {item}" if rng.random() < 0.1 and item[0].islower() else item
    _order(play, listing, one_frame(rng, REMOVE, i=said), item)
    delete_item(play, listing, at)
    play.say(f"Removed {item} from {listing.path}.")


def delete_item(play: Play, listing: Listing, at: int) -> None:
    """Take an item out of a list that was read."""
    number, last = listing.number(at), len(listing.items) - 1
    if listing.style == "json" and at == last:
        play.set_lines(listing.path, (number - 1, number), listing.line(at - 1).removesuffix(","))
    elif listing.style == "numbered" and at < last:
        rest = [listing.write(item, at + 1 + step) for step, item in enumerate(listing.items[at + 1 :])]
        play.set_lines(listing.path, (number, listing.last), "\n".join(rest))
    else:
        play.delete_lines(listing.path, number)


def check_box(play: Play) -> None:
    """A box that is ticked, or one that is opened again."""
    rng = play.rng
    listing = make_list(rng, ("boxes",))
    at = rng.randrange(len(listing.items))
    done = listing.checked[at]
    if done and rng.random() < 0.5:
        raise Unfit("ticking is asked for more often")
    item = listing.items[at]
    _order(play, listing, one_frame(rng, UNCHECK if done else CHECK, i=item), item)
    play.set_lines(listing.path, listing.number(at), listing.write(item, at + 1, done=not done))
    play.say(f"“{item}” is {'open again' if done else 'ticked off'} in {listing.path}.")


def remove_done(play: Play) -> None:
    """All ticked items go."""
    rng = play.rng
    listing = make_list(rng, ("boxes",))
    done = [at for at, checked in enumerate(listing.checked) if checked]
    if not 1 <= len(done) <= 3:
        raise Unfit("nothing done")
    frames = """
(remove|delete) (all|the) (done|finished|checked|ticked) (items|tasks|entries)
throw out what is (done|ticked|finished)
only the open (items|points) should stay
clean up: (everything ticked|whatever is done) can go
delete the lines with an x
"""
    _order(play, listing, one_frame(rng, frames))
    for at in done:
        play.delete_lines(listing.path, listing.number(at))
    play.say(f"Removed {joined([listing.items[at] for at in done])} from {listing.path}.")


def replace_item(play: Play) -> None:
    """An item that becomes another."""
    rng = play.rng
    listing = make_list(rng)
    at = rng.randrange(len(listing.items))
    old, new = listing.items[at], new_item(rng, listing)
    _order(play, listing, one_frame(rng, SWAP_ITEM, i=old, n=new), old)
    play.set_lines(listing.path, listing.number(at), listing.line(at).replace(old, new))
    play.say(f"Replaced {old} by {new} in {listing.path}.")


def change_number(play: Play) -> None:
    """The price, count or time beside an item."""
    rng = play.rng
    listing = make_list(rng, ("value",))
    at = rng.randrange(len(listing.items))
    item, old = listing.items[at], listing.values[at]
    new = other_value(rng, listing.topic.kind, old)
    frames = PRICE if listing.topic.kind == "money" and rng.random() < 0.7 else CHANGE
    _order(play, listing, one_frame(rng, frames, k=item, i=item, v=new, o=old), item)
    play.set_lines(listing.path, listing.number(at), listing.write(item, at + 1, new))
    play.say(f"Changed {item} from {old} to {new} in {listing.path}.")


def change_numbers(play: Play) -> None:
    """Two values of a list in one order."""
    rng = play.rng
    listing = make_list(rng, ("value",))
    first, second = rng.sample(range(len(listing.items)), 2)
    news = [other_value(rng, listing.topic.kind, listing.values[at]) for at in (first, second)]
    frames = """
{a} {v} and {b} {w}
{a} is {v} now and {b} {w}
set {a} to {v} and {b} to {w}
two (changes|new values): {a} {v}, {b} {w}
{a} should be {v}, {b} {w}
update {a} ({v}) and {b} ({w})
"""
    frame = rng.choice(frames.strip().split("\n")).replace("({v})", "to {v}").replace("({w})", "to {w}")
    names = listing.items[first], listing.items[second]
    _order(play, listing, one_frame(rng, frame, a=names[0], b=names[1], v=news[0], w=news[1]))
    told = []
    for at, new in zip((first, second), news, strict=True):
        play.set_lines(listing.path, listing.number(at), listing.write(listing.items[at], at + 1, new))
        told.append(f"{listing.items[at]} from {listing.values[at]} to {new}")
    play.say(f"Changed {joined(told)} in {listing.path}.")


def exchange(play: Play) -> None:
    """Two items that change places."""
    rng = play.rng
    listing = make_list(rng, ("plain", "heading", "dash", "star", "value", "numbered"))
    first, second = sorted(rng.sample(range(len(listing.items)), 2))
    names = [listing.items[first], listing.items[second]]
    order = one_frame(rng, EXCHANGE, i=names[0], n=names[1])
    _order(play, listing, order)
    lines = [
        listing.write(listing.items[source], place + 1, listing.values[source])
        for place, source in ((first, second), (second, first))
    ]
    if second == first + 1:
        play.set_lines(listing.path, (listing.number(first), listing.number(second)), "\n".join(lines))
    else:
        play.set_lines(listing.path, listing.number(first), lines[0])
        play.set_lines(listing.path, listing.number(second), lines[1])
    play.say(f"Swapped {names[0]} and {names[1]} in {listing.path}.")


def sort_list(play: Play) -> None:
    """A short list in alphabetical order."""
    rng = play.rng
    listing = make_list(rng, ("plain", "heading", "dash", "star", "numbered", "value"))
    ordered = sorted(range(len(listing.items)), key=lambda at: listing.items[at].lower())
    if ordered == list(range(len(ordered))) or len(ordered) > 6:
        raise Unfit("sorted already, or too long")
    _order(play, listing, one_frame(rng, SORT))
    lines = [
        listing.write(listing.items[at], place + 1, listing.values[at]) for place, at in enumerate(ordered)
    ]
    play.set_lines(listing.path, (listing.first, listing.last), "\n".join(lines))
    play.say(f"Sorted the {len(ordered)} entries of {listing.path} by name.")


def foreign(play: Play) -> None:
    """An item added or removed in German, French or Spanish."""
    rng = play.rng
    listing = make_list(rng, ("plain", "dash", "heading", "star"))
    adds, added, removes, removed, where = FOREIGN[rng.choice(list(FOREIGN))]
    is_new = rng.random() < 0.6
    at = rng.randrange(len(listing.items))
    item = new_item(rng, listing) if is_new else listing.items[at]
    frames = adds if is_new else removes
    play.file(listing.path, listing.text)
    sources.distract(play, listing.path)
    order = one_frame(rng, "\n".join(_frames(frames)), i=item)
    named = rng.random() < 0.7
    if named:
        order = rng.choice((f"{listing.path}: {order}", f"{where.format(f=listing.path)} {order}"))
    play.user(order)
    if not named:
        play.glob("**/*")
    play.read(listing.path)
    if is_new:
        append_lines(play, listing, [item], [""])
    else:
        delete_item(play, listing, at)
    play.say((added if is_new else removed).format(i=item, f=listing.path))


def _frames(block: str) -> list[str]:
    """Split frames at the bars that are not inside a group."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(block):
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and not depth:
            parts.append(block[start:at])
            start = at + 1
    return [*parts, block[start:]]


def _row_name(rng: Random, table: Table, row: list[str]) -> str:
    at = table.kinds.index("person") if "person" in table.kinds[:2] and rng.random() < 0.7 else 0
    return row[at]


def change_cell(play: Play) -> None:
    """One cell, or two of the same row."""
    rng = play.rng
    table = make_table(rng)
    number = rng.randrange(len(table.rows))
    row = table.rows[number]
    name = _row_name(rng, table, row)
    columns = [at for at in range(1, len(row)) if row[at] != name]
    at = rng.choice(columns)
    new = other_value(rng, table.kinds[at], row[at])
    column = table.columns[at].replace("_", " ")
    _order(play, table, one_frame(rng, CELL, r=name, c=column, v=new, o=row[at]), name)
    play.set_lines(table.path, number + 2, table.row_text([*row[:at], new, *row[at + 1 :]]))
    play.say(f"Changed the {column} of {name} from {row[at]} to {new} in {table.path}.")


def add_row(play: Play) -> None:
    """A new row; the order gives its cells in words or as a line."""
    rng = play.rng
    table = make_table(rng)
    row = table.rows.pop()
    chance = rng.random()
    if chance < 0.35:
        said = table.row_text(row)
    elif chance < 0.7:
        said = ", ".join(row)
    else:
        named = [
            f"{column.replace('_', ' ')} {cell}" for column, cell in zip(table.columns, row, strict=True)
        ]
        said = ", ".join(named)
    _order(play, table, one_frame(rng, ADD_ROW, w=table.what, v=said), exact_end=True)
    play.insert_after(table.path, len(table.rows) + 1, table.row_text(row))
    play.say(f"Added the {table.what} {row[0]} to {table.path}.")


def remove_row(play: Play) -> None:
    """A row that goes, named by one of its cells."""
    rng = play.rng
    table = make_table(rng)
    number = rng.randrange(len(table.rows))
    name = _row_name(rng, table, table.rows[number])
    _order(play, table, one_frame(rng, DROP_ROW, r=name, w=table.what), name)
    play.delete_lines(table.path, number + 2)
    play.say(f"Removed the row of {name} from {table.path}.")


def remove_rows(play: Play) -> None:
    """All rows with some value."""
    rng = play.rng
    table = make_table(rng)
    picks = [at for at, kind in enumerate(table.kinds) if kind.startswith("pick")]
    if not picks:
        raise Unfit("nothing to choose by")
    at = rng.choice(picks)
    cell = rng.choice(table.rows)[at]
    found = [number for number, row in enumerate(table.rows) if row[at] == cell]
    if len(found) > 3 or len(found) == len(table.rows):
        raise Unfit("too many")
    column = table.columns[at]
    frames = """
(remove|delete) (all|the) rows (with|where the) {c} (is |){v}
delete every {w} with {c} {v}
we don't need the {w} rows with {c} {v}, delete them
all with {c} {v} can go
"""
    _order(play, table, one_frame(rng, frames, c=column, v=cell, w=table.what))
    for number in found:
        play.delete_lines(table.path, number + 2)
    rows = "1 row" if len(found) == 1 else f"{len(found)} rows"
    play.say(f"Removed {rows} with {column} {cell} from {table.path}.")


def rename_column(play: Play) -> None:
    """A column with a new name."""
    rng = play.rng
    table = make_table(rng)
    at = rng.randrange(len(table.columns))
    old = table.columns[at]
    new = rng.choice(
        (f"{old}_2", f"new_{old}", f"{old}_name", old.upper(), f"{table.what}_{old}", f"{old} (new)")
    )
    frames = """
rename the column {o} to {n}
the column {o} should be called {n}
(change|rename) the header {o} (to|into) {n}
in the first line {n} instead of {o}
call the {o} column {n}
"""
    _order(play, table, one_frame(rng, frames, o=old, n=new))
    play.set_lines(table.path, 1, table.row_text([*table.columns[:at], new, *table.columns[at + 1 :]]))
    play.say(f"Renamed the column {old} to {new} in {table.path}.")


FAMILIES = (
    Family(add_item, 1.5),
    Family(insert_item, 0.8),
    Family(remove_item, 1.0),
    Family(check_box, 0.6),
    Family(remove_done, 0.2),
    Family(replace_item, 0.6),
    Family(change_number, 1.0),
    Family(change_numbers, 0.4),
    Family(exchange, 0.3),
    Family(sort_list, 0.3),
    Family(foreign, 0.4),
    Family(change_cell, 1.2),
    Family(add_row, 0.8),
    Family(remove_row, 0.6),
    Family(remove_rows, 0.15),
    Family(rename_column, 0.15),
)
