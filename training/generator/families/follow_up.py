"""Conversations of two to four turns in which later orders lean on earlier ones."""

from collections.abc import Callable
from random import Random

from training.generator import sources
from training.generator.families.create_code import PYTHON_SCRIPTS
from training.generator.families.edit_code import replace_name
from training.generator.families.edit_config import (
    answer_name,
    change_order,
    lay_out,
    name_of,
    new_value,
    pick,
    set_entry,
)
from training.generator.families.edit_lists import ADD, REMOVE, append_lines, delete_item, new_item
from training.generator.frames import joined, one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.programs import CodeEdit, Program, make_program
from training.generator.sources import (
    Entry,
    Listing,
    Sheet,
    fill,
    make_list,
    make_sheet,
    make_table,
    other_value,
    value,
)
from training.generator.targets import aim, order_text, place, typed

ASK = """
what is {k}?
what's {k}
{k}?
(which|what) value has {k}
tell me {k}
how is {k} set
look up {k}
I need to know {k}
was ist {k}?
""".strip()
ASK_MORE = """
and {k}?
what about {k}?
and what is {k}
ok, {k}?
and how is {k} set
also tell me {k}
same question for {k}
""".strip()
CHANGE_IT = """
(now |)(change|set) it to {v}
make it {v}
set it to {v} (then|please|)
it should be {v}
(ok, |)make that {v}
(put|use) {v} instead
that should be {v}
then change it to {v}
I want {v} there
{v} would be better
please change that to {v}
too (high|low|much), make it {v}
let's go with {v}
ändere das auf {v}
""".strip()
AGAIN = """
(no|hmm|sorry|oh), {v} instead
actually {v}
no, I meant {v}
sorry, wrong value. {v}
make that {v} (after all|instead)
(hmm|wait), better {v}
now change it to {v}
on second thought {v}
I was wrong, it's {v}
change it once more, to {v}
not {o}, {v} please
""".strip()
BACK = """
put it back
(change|set) it back (to what it was|to the old value|again|)
put the old value back
(the old value was better|it was better before), put it back
I want the old value again
make it as it was before
that was wrong, back to the old value please
""".strip()
OTHER = """
and {k} to {v}
(now|also) set {k} to {v}
and (change|set) {k} to {v} (too|as well|)
{k} should be {v} then
next: {k} {v}
and make {k} {v}
good. now {k} -> {v}
in the same file: {k} is {v}
""".strip()
WHAT = """
what did you (just |)(change|do)?
what (exactly |)did you change
which (line|value) did you change?
tell me again what you changed
summarize what you did
what was it before?
""".strip()
WHERE = """
(in |)which file (was|is) that(in|)?
where (was|is) that?
what file was that in?
which file did you (change|use)?
remind me, which file?
""".strip()
THANKS = """
thanks
thank you!
thx
(great|perfect|super|nice), (thanks|thank you)
that's all, thanks
merci
danke dir
cool
ok thanks a lot
""".strip()
WELCOME = {"merci": "Je vous en prie.", "danke dir": "Gern geschehen."}
SAME = """
(do |)the same in {f}
same (change |)(for|in) {f} (please|)
(now|and) also in {f}
{f} too
and do that in {f} as well
{f} needs the same change
now the same for {f}
""".strip()


class _Settings:
    """A conversation about a file of settings."""

    def __init__(self, play: Play, *, twin: bool = False) -> None:
        self.play, self.rng = play, play.rng
        self.sheet = make_sheet(self.rng)
        if len(self.sheet.entries) < 3:
            raise Unfit("too few settings")
        self.entry = pick(self.rng, self.sheet)
        self.old = self.new = ""
        self.is_asked = False
        if not twin:
            lay_out(play, self.sheet)

    def name(self, entry: Entry) -> str:
        """How an order names a setting."""
        return name_of(self.rng, self.sheet, entry)[0]

    def start_with_change(self) -> None:
        """The first turn: a change."""
        name, word = name_of(self.rng, self.sheet, self.entry)
        new = new_value(self.rng, self.sheet, self.entry)
        target = aim(self.rng, self.sheet.path, word)
        self.play.user(
            order_text(self.rng, place(self.rng, change_order(self.rng, name, self.entry.value, new), target))
        )
        target.find(self.play)
        self.change(new)

    def start_with_question(self) -> None:
        """The first turn: a question."""
        name, word = name_of(self.rng, self.sheet, self.entry)
        target = aim(self.rng, self.sheet.path, word)
        self.play.user(typed(self.rng, place(self.rng, one_frame(self.rng, ASK, k=name), target)))
        target.find(self.play)
        self.answer(self.entry)

    def change(self, new: str) -> None:
        """Set the present setting to a new value and tell it."""
        self.old, self.new = self.entry.value, new
        self.play.say(set_entry(self.play, self.sheet, self.entry, new))

    def answer(self, entry: Entry) -> None:
        """Read the file and answer what a setting is."""
        self.play.read(self.sheet.path)
        line = entry.line().strip()
        self.play.say(
            f"{self.sheet.path}, line {entry.number}: {line}\n"
            f"{answer_name(self.sheet, entry)} is {entry.value}."
        )
        self.entry = entry

    def other(self) -> Entry:
        """Another setting of the same file."""
        return self.rng.choice([entry for entry in self.sheet.entries if entry is not self.entry])

    def change_it(self) -> None:
        """Change the setting that was spoken of."""
        new = new_value(self.rng, self.sheet, self.entry)
        self.play.user(
            typed(self.rng, one_frame(self.rng, AGAIN if self.old else CHANGE_IT, v=new, o=self.entry.value))
        )
        self.change(new)

    def put_back(self) -> None:
        """Give it the value it had."""
        if not self.old:
            raise Unfit("nothing was changed")
        self.play.user(typed(self.rng, one_frame(self.rng, BACK)))
        self.change(self.old)

    def change_other(self) -> None:
        """Change another setting."""
        entry = self.other()
        new = new_value(self.rng, self.sheet, entry)
        self.play.user(typed(self.rng, one_frame(self.rng, OTHER, k=self.name(entry), v=new)))
        self.entry = entry
        self.change(new)

    def ask_other(self) -> None:
        """Ask for another setting."""
        entry = self.other()
        self.play.user(typed(self.rng, one_frame(self.rng, ASK_MORE, k=self.name(entry))))
        self.old = ""
        self.answer(entry)

    def what(self) -> None:
        """Ask what was changed: the conversation knows."""
        if not self.old:
            raise Unfit("nothing was changed")
        self.play.user(typed(self.rng, one_frame(self.rng, WHAT)))
        name = answer_name(self.sheet, self.entry)
        self.play.say(
            f"I changed {name} from {self.old} to {self.new} in {self.sheet.path}, line {self.entry.number}."
        )

    def where(self) -> None:
        """Ask for the file: the conversation knows."""
        if self.is_asked:
            raise Unfit("asked already")
        self.is_asked = True
        self.play.user(typed(self.rng, one_frame(self.rng, WHERE)))
        self.play.say(f"In {self.sheet.path}, line {self.entry.number}.")


def thanks(play: Play) -> None:
    """A plain thanks."""
    text = one_frame(play.rng, THANKS)
    play.user(text)
    play.say(WELCOME.get(text, play.rng.choice(("You are welcome.", "You are welcome.", "Gladly."))))


def _continue(play: Play, steps: tuple[Callable[[], None], ...], turns: int) -> None:
    last: Callable[[], None] | None = None
    for _ in range(turns):
        step = play.rng.choice([step for step in steps if step != last])
        step()
        last = step
    if play.rng.random() < 0.12:
        thanks(play)


def settings(play: Play) -> None:
    """Changes and questions about one file of settings."""
    talk = _Settings(play)
    if play.rng.random() < 0.5:
        talk.start_with_question()
    else:
        talk.start_with_change()
    change, ask = talk.change_it, talk.ask_other
    steps = (
        change,
        change,
        change,
        talk.change_other,
        talk.change_other,
        ask,
        ask,
        talk.put_back,
        talk.what,
        talk.where,
    )
    _continue(play, steps, play.rng.choice((1, 1, 1, 2, 2, 3)))


def same_elsewhere(play: Play) -> None:
    """The same change in a second file; sometimes with another value."""
    rng = play.rng
    talk = _Settings(play, twin=True)
    sheet = talk.sheet
    folder, slash, name = sheet.path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not stem:
        raise Unfit("a name without ending")
    new_stem = rng.choice((f"{stem}.dev", f"{stem}-test", f"{stem}_2", f"{stem}.prod", value(rng, "word")))
    second_name = f"{folder}{slash}{new_stem}{dot}{ending}"
    second = Sheet(second_name, "", [], sheet.notation, sheet.domain)
    second.entries = [
        Entry(entry.setting, entry.shown, entry.value, entry.number, entry.notation, entry.comma)
        for entry in sheet.entries
    ]
    lines = list(sheet.lines)
    for entry in second.entries:
        if rng.random() < 0.6 and entry.setting.kind != "bool":
            entry.value = other_value(rng, entry.setting.kind, entry.value)
        lines[entry.number - 1] = entry.line()
    play.file(sheet.path, sheet.text)
    play.file(second.path, "\n".join(lines) + "\n")
    sources.distract(play, sheet.path, second.path, most=2)
    name, _ = name_of(rng, sheet, talk.entry)
    new = new_value(rng, sheet, talk.entry)
    target = aim(rng, sheet.path, named=True)
    play.user(order_text(rng, place(rng, change_order(rng, name, talk.entry.value, new), target)))
    talk.change(new)
    twin = second.entries[sheet.entries.index(talk.entry)]
    order = one_frame(rng, SAME, f=second.path)
    if rng.random() < 0.3:
        new = new_value(rng, second, twin)
        order = one_frame(
            rng,
            """
                (now|and) in {f} (make it|set it to|it should be) {v}
                {f}: there (it is|it should be|set it to) {v}
            """,
            f=second.path,
            v=new,
        )
    if new == twin.value:
        raise Unfit("it has that value")
    play.user(typed(rng, order))
    play.say(set_entry(play, second, twin, new))
    if rng.random() < 0.15:
        thanks(play)


class _Items:
    """A conversation about a list."""

    def __init__(self, play: Play) -> None:
        self.play, self.rng = play, play.rng
        self.list: Listing = make_list(self.rng, ("plain", "heading", "dash", "star", "boxes", "numbered"))
        play.file(self.list.path, self.list.text)
        sources.distract(play, self.list.path)
        self.last = ""

    def _renumber(self) -> None:
        self.list.values = [""] * len(self.list.items)
        self.list.checked += [False] * (len(self.list.items) - len(self.list.checked))

    def _add(self, item: str) -> None:
        self.play.read(self.list.path)
        append_lines(self.play, self.list, [item], [""])
        self.list.items.append(item)
        self._renumber()
        self.last = item
        self.play.say(f"Added {item} to {self.list.path}.")

    def _remove(self, item: str) -> None:
        at = self.list.items.index(item)
        self.play.read(self.list.path)
        delete_item(self.play, self.list, at)
        del self.list.items[at], self.list.checked[at]
        self._renumber()
        self.last = ""
        self.play.say(f"Removed {item} from {self.list.path}.")

    def start(self) -> None:
        """The first turn: an item is added."""
        item = new_item(self.rng, self.list)
        target = aim(self.rng, self.list.path)
        self.play.user(typed(self.rng, place(self.rng, one_frame(self.rng, ADD, i=item), target)))
        target.find(self.play)
        self._add(item)

    def add(self) -> None:
        """Another item."""
        item = new_item(self.rng, self.list)
        frames = """
            (add |)another one: {i}
            and {i}
            {i} too
            also {i} please
            (and |)one more: {i}
            oh and {i}
            now {i} as well
            add {i} too
        """
        self.play.user(order_text(self.rng, one_frame(self.rng, frames, i=item), exact_end=True))
        self._add(item)

    def undo_add(self) -> None:
        """The added line goes again."""
        if not self.last:
            raise Unfit("nothing was added")
        frames = """
            (delete|remove) that (line |)again
            (take|throw) it out again
            (no|hmm), delete it again
            remove that one again
            actually not, delete that line
            I changed my mind, take it off again
        """
        self.play.user(typed(self.rng, one_frame(self.rng, frames)))
        self._remove(self.last)

    def remove(self) -> None:
        """Some other item goes."""
        if len(self.list.items) < 3:
            raise Unfit("too few")
        item = self.rng.choice([item for item in self.list.items if item != self.last])
        self.play.user(
            typed(self.rng, one_frame(self.rng, f"and {{i}} can go\nnow remove {{i}}\n{REMOVE}", i=item))
        )
        self._remove(item)

    def instead(self) -> None:
        """The added item was meant to be another."""
        if not self.last:
            raise Unfit("nothing was added")
        item = new_item(self.rng, self.list)
        frames = """
            no, I meant {i}
            sorry, {i} instead
            make that {i}
            not {o}, {i}
            change it to {i}
            {i} instead of that
        """
        self.play.user(typed(self.rng, one_frame(self.rng, frames, i=item, o=self.last)))
        at = self.list.items.index(self.last)
        self.play.read(self.list.path)
        old = self.list.line(at)
        self.play.set_lines(self.list.path, self.list.number(at), old.replace(self.last, item))
        self.play.say(f"Replaced {self.last} by {item} in {self.list.path}.")
        self.list.items[at] = self.last = item

    def count(self) -> None:
        """How many there are now."""
        if len(self.list.items) > 12:
            raise Unfit("too many")
        self.play.user(
            typed(
                self.rng,
                one_frame(
                    self.rng,
                    """
                        how many (are there|are on it|do we have) now?
                        how many entries is that (now|)?
                        so how many is that
                    """,
                ),
            )
        )
        self.play.read(self.list.path)
        numbered = "\n".join(f"{number}. {item}" for number, item in enumerate(self.list.items, 1))
        self.play.say(f"{numbered}\nThat is {len(self.list.items)}.")

    def upper(self) -> None:
        """The added item in capitals."""
        if not self.last or self.last.upper() == self.last:
            raise Unfit("nothing to change")
        self.play.user(
            typed(
                self.rng,
                one_frame(
                    self.rng,
                    "(make|write) it (in |)upper case\nin capitals please\nwrite it in capital letters",
                ),
            )
        )
        at = self.list.items.index(self.last)
        self.play.read(self.list.path)
        item = self.last.upper()
        self.play.set_lines(self.list.path, self.list.number(at), self.list.line(at).replace(self.last, item))
        self.play.say(f"It is {item} now in {self.list.path}.")
        self.list.items[at] = self.last = item

    def what(self) -> None:
        """What was added, and where."""
        if not self.last:
            raise Unfit("nothing was added")
        self.play.user(typed(self.rng, one_frame(self.rng, WHERE)))
        self.play.say(f"In {self.list.path}, line {self.list.number(self.list.items.index(self.last))}.")


def items(play: Play) -> None:
    """Items added, removed and replaced."""
    talk = _Items(play)
    talk.start()
    steps = (
        talk.add,
        talk.add,
        talk.undo_add,
        talk.undo_add,
        talk.remove,
        talk.instead,
        talk.count,
        talk.upper,
        talk.what,
    )
    _continue(play, steps, play.rng.choice((1, 1, 2, 2, 3)))


def table_questions(play: Play) -> None:
    """Questions about rows, then a change of the row that was spoken of."""
    rng = play.rng
    table = make_table(rng, rng.randint(4, 7))
    play.file(table.path, table.text)
    sources.distract(play, table.path)
    columns = [at for at in range(1, len(table.columns)) if not table.kinds[at].startswith("pick yes")]
    at = rng.choice(columns)
    column = table.columns[at].replace("_", " ")
    first, second = rng.sample(range(len(table.rows)), 2)
    target = aim(rng, table.path, table.rows[first][0] if rng.random() < 0.5 else "")
    frames = """
        what is the {c} of {r}?
        {c} of {r}?
        which {c} (has|is given for) {r}
        tell me the {c} for {r}
        I need {r}'s {c}
    """
    play.user(typed(rng, place(rng, one_frame(rng, frames, c=column, r=table.rows[first][0]), target)))
    target.find(play)

    def answer(number: int, at: int) -> None:
        play.read(table.path)
        row = table.rows[number]
        line = f"{table.path}, line {number + 2}: {table.row_text(row)}"
        play.say(f"{line}\nThe {table.columns[at].replace('_', ' ')} of {row[0]} is {row[at]}.")

    answer(first, at)
    current = first
    for _ in range(rng.choice((1, 1, 2))):
        step = rng.randrange(3)
        if step == 0:
            play.user(
                typed(
                    rng,
                    one_frame(
                        rng,
                        "and of {r}?\nwhat about {r}?\nand {r}\nthe same for {r}?\nand for {r}?",
                        r=table.rows[second][0],
                    ),
                )
            )
            answer(second, at)
            current = second
        elif step == 1 and len(columns) > 1:
            other = rng.choice([column for column in columns if column != at])
            name = table.columns[other].replace("_", " ")
            play.user(
                typed(
                    rng,
                    one_frame(rng, "and the {c}?\nwhat about the {c}\nwhich {c}?\nand (its|the) {c}", c=name),
                )
            )
            answer(current, other)
            at = other
        else:
            row = table.rows[current]
            new = other_value(rng, table.kinds[at], row[at])
            play.user(typed(rng, one_frame(rng, CHANGE_IT, v=new)))
            play.read(table.path)
            old, row[at] = row[at], new
            play.set_lines(table.path, current + 2, table.row_text(row))
            column = table.columns[at].replace("_", " ")
            play.say(f"Changed the {column} of {row[0]} from {old} to {new} in {table.path}.")
    if rng.random() < 0.12:
        thanks(play)


def reverse_rows(play: Play) -> None:
    """Who has some value, and who another."""
    rng = play.rng
    table = make_table(rng, rng.randint(4, 7))
    at = rng.randrange(1, len(table.columns))
    cells = [row[at] for row in table.rows]
    single = [number for number, cell in enumerate(cells) if cells.count(cell) == 1]
    if len(single) < 2:
        raise Unfit("no single cells")
    play.file(table.path, table.text)
    sources.distract(play, table.path)
    first, second = rng.sample(single, 2)
    target = aim(rng, table.path, cells[first])
    column = table.columns[at].replace("_", " ")
    frames = """
        which {w} has the {c} {v}?
        (who|which one) has {v} as {c}
        find the {w} with {c} {v}
        {c} {v}, which {w} is that?
    """
    play.user(typed(rng, place(rng, one_frame(rng, frames, w=table.what, c=column, v=cells[first]), target)))
    target.find(play)
    for number in (first, second):
        if number == second:
            play.user(
                typed(
                    rng,
                    one_frame(
                        rng, "and {v}?\nand who has {v}\nwhat about {v}?\nand with {v}?", v=cells[second]
                    ),
                )
            )
        play.read(table.path)
        row = table.rows[number]
        play.say(
            f"{table.path}, line {number + 2}: {table.row_text(row)}\n"
            f"The {table.what} with the {column} {row[at]} is {row[0]}."
        )


def created_file(play: Play) -> None:
    """A new file, then corrections of it."""
    rng = play.rng
    kind = rng.choice(("json", "text", "toml", "env"))
    key, number = (
        rng.choice("count size limit pages seats width rows level boxes days".split()),
        value(rng, "int 2 90"),
    )
    stem = value(rng, rng.choice(("thing", "word")))
    path = f"{stem}.{'txt' if kind == 'text' else kind}"
    template = {"json": '{{\n  "{k}": {v}\n}}', "toml": "{k} = {v}", "env": "{k}={v}", "text": "{k}: {v}"}[
        kind
    ]
    sources.distract(play, path)
    shown = key.upper() if kind == "env" else key

    def write(text: str) -> str:
        return template.format(k=shown, v=text)

    frames = """
        create {f} with the key {k} set to {v}
        make {f} with {k} {v}
        new file {f}: {k} = {v}
        I need {f} with {k} {v}
    """
    if kind == "text":
        frames = """
            create {f} with the line {k}: {v}
            write "{k}: {v}" into a new file {f}
            new file {f} that says {k}: {v}
        """
    play.user(typed(rng, one_frame(rng, frames, f=path, k=shown, v=number)))
    play.write(path, write(number))
    play.say(f"Created {path} with {shown} {number}.")
    for _ in range(rng.choice((1, 1, 2))):
        step = rng.choice(("again", "again", "rename", "delete", "show", "copy"))
        if step == "again":
            new = other_value(rng, "int 2 90", number)
            play.user(
                typed(rng, one_frame(rng, f"{AGAIN}\nsorry, wrong number. {{v}} instead", v=new, o=number))
            )
            play.read(path)
            line = 2 if kind == "json" else 1
            play.set_lines(path, line, write(new).split("\n")[line - 1])
            play.say(f"Changed {shown} from {number} to {new} in {path}.")
            number = new
        elif step == "show":
            play.user(
                typed(
                    rng,
                    one_frame(
                        rng, "show it to me\nwhat's in it now?\nprint it\nhow does it look now?\ncat it"
                    ),
                )
            )
            play.read(path)
            play.say(write(number))
        else:
            path = _file_step(play, path, step)
            if not path:
                return
    if rng.random() < 0.15:
        thanks(play)


def _file_step(play: Play, path: str, step: str) -> str:
    """Rename, copy or delete the file that was spoken of; return its path, empty if it is gone."""
    rng = play.rng
    _stem, dot, ending = path.rpartition(".")
    new = f"{value(rng, 'word')}{dot}{ending}"
    if step == "delete":
        play.user(
            typed(
                rng,
                one_frame(
                    rng,
                    """
                        (delete|remove) it again
                        no, delete that file again
                        I don't need it any more, delete it
                        delete it
                    """,
                ),
            )
        )
        play.bash(f"rm {path}")
        play.say(f"Deleted {path}.")
        return ""
    if step == "rename":
        play.user(
            typed(
                rng,
                one_frame(
                    rng,
                    """
                        (now |)rename it to {b}
                        (please |)call it {b} instead
                        the name should be {b}
                        it should be called {b}
                    """,
                    b=new,
                ),
            )
        )
        play.bash(f"mv {path} {new}")
        play.say(f"Renamed {path} to {new}.")
        return new
    play.user(
        typed(
            rng,
            one_frame(
                rng,
                """
                    (make|now) a copy of it (called|named) {b}
                    copy it to {b}
                    and the same again as {b}
                    also save it as {b}
                """,
                b=new,
            ),
        )
    )
    play.bash(f"cp {path} {new}")
    play.say(f"Copied {path} to {new}.")
    return path


def script(play: Play) -> None:
    """A script is written, run, renamed, run again."""
    rng = play.rng
    names = (
        "hello.py",
        "morning.py",
        "sum.py",
        "names.py",
        "shopping.py",
        "stars.py",
        "times.py",
        "prices.py",
        "count.py",
        "powers.py",
    )
    spec = rng.choice([spec for spec in PYTHON_SCRIPTS if spec.name in names])
    name, does, code = fill(rng, f"{spec.name}\x00{rng.choice(spec.does)}\x00{spec.code}").split("\x00")
    path = rng.choice((name, f"{value(rng, 'word')}.py"))
    if len(code.split("\n")) > 8:
        raise Unfit("long")
    sources.distract(play, path, most=2)
    play.user(
        order_text(
            rng,
            one_frame(
                rng, "write (a script |){f} that {d}\nmake {f}, it {d}\n{f} please, it {d}", f=path, d=does
            ),
            exact_end=True,
        )
    )
    play.write(path, code)
    play.say(f"Created {path}.")
    for step in rng.choice(
        (("run",), ("run", "rename"), ("rename", "run"), ("run", "where"), ("run", "delete"))
    ):
        if step == "run":
            play.user(
                typed(
                    rng,
                    one_frame(
                        rng,
                        """
                            (now |)run it
                            run that
                            start it
                            let me see it run
                            and what does it print?
                            execute it
                            try it out
                        """,
                    ),
                )
            )
            shown = play.bash(f"python3 {path}").strip()
            if shown.count("\n") > 12:
                raise Unfit("a long output")
            play.say(f"It prints:\n{shown}")
        elif step == "where":
            play.user(
                typed(
                    rng,
                    one_frame(
                        rng,
                        """
                            what was the file called again?
                            which file was that?
                            what's the name of that script
                        """,
                    ),
                )
            )
            play.say(f"It is {path}.")
        else:
            path = _file_step(play, path, step)


def code_edits(play: Play) -> None:
    """Two renames or changes in one program, the second with few words."""
    rng = play.rng
    program = make_program(rng, kind="rename")
    renames = [edit for edit in program.edits if edit.kind == "rename"]
    if len(renames) < 2:
        raise Unfit("one name")
    play.file(program.path, program.text)
    sources.distract(play, program.path, most=2)
    first, second = rng.sample(renames, 2)
    target = aim(rng, program.path, first.left)
    new = _free_name(rng, first, program)
    order = one_frame(
        rng,
        "rename (the {w} |){k} to {n}\nthe {w} {k} should be called {n}\ncall {k} {n}",
        k=first.left,
        n=new,
        w=first.right,
    )
    play.user(typed(rng, place(rng, order, target)))
    target.find(play)
    _rename(play, program, first, new)
    chance = rng.random()
    if chance < 0.6:
        new = _free_name(rng, second, program)
        frames = """
            (good|ok|nice), and (the {w} |){k} should be {n}
            and {k} to {n}
            now (rename |){k} -> {n}
            the same with {k}: {n}
            {k} should be called {n} (now|too)
            the {w} {k} should be called {n} now
            (also|then) call {k} {n}
            {k} is now {n}, (everywhere|in the whole file|please)
            one more rename: {k} becomes {n}
            (thanks|great), next: {k} to {n}
            I also want {n} instead of {k}
            and what about {k}? make it {n}
        """
        play.user(typed(rng, one_frame(rng, frames, k=second.left, n=new, w=second.right)))
        _rename(play, program, second, new)
    elif chance < 0.8:
        third = rng.choice([name for name in first.new.split(", ") if name != new] or [f"{new}_2"])
        if third in program.text:
            raise Unfit("taken")
        play.user(
            typed(
                rng,
                one_frame(
                    rng, "no, {n} is better\nhmm, call it {n} instead\nactually {n}\nmake that {n}", n=third
                ),
            )
        )
        renamed = CodeEdit("rename", new, first.right)
        _rename(play, program, renamed, third)
    else:
        play.user(typed(rng, one_frame(rng, WHERE)))
        play.say(f"In {program.path}.")


def _free_name(rng: Random, edit: CodeEdit, program: Program) -> str:
    new = rng.choice(edit.new.split(", "))
    if new in program.text:
        raise Unfit("the new name is taken")
    return new


def _rename(play: Play, program: Program, edit: CodeEdit, new: str) -> None:
    play.read(program.path)
    play.say(replace_name(play, program.path, edit.left, new, edit.right))


def run_and_change(play: Play) -> None:
    """A small program is run, a number in it is changed, and it is run again."""
    rng = play.rng
    name = value(rng, "thing")
    numbers = [rng.randint(2, 40) for _ in range(rng.randint(3, 5))]
    if len(set(numbers)) < len(numbers):
        raise Unfit("a number twice")
    upper = name.upper() + "S"
    verb = rng.choice(("sum", "max", "min", "len", "sorted"))
    path = sources.in_folder(rng, f"{rng.choice(('total', 'stats', value(rng, 'word'), name))}.py", 0.2)
    line = f"{upper} = {numbers}"
    play.file(path, f"{line}\n\nprint({verb}({upper}))\n")
    sources.distract(play, path, most=2)
    play.user(
        typed(
            rng,
            one_frame(
                rng,
                "run {f}\nstart {f} (and tell me what it prints|)\nwhat does {f} print?\nexecute {f}",
                f=path,
            ),
        )
    )
    play.say(f"{path} prints: {play.bash(f'python3 {path}').strip()}")
    at = rng.randrange(len(numbers))
    new = rng.choice([number for number in range(2, 60) if number not in numbers])
    frames = """
        (turn|change) the {o} (into|to) {n} and run it (again|once more)
        make the {o} a {n}, then run it again
        {n} instead of {o}, and run again
        what does it print with {n} instead of {o}? change it
        {o} should have been {n}. correct it and (start|run) it again
    """
    play.user(typed(rng, one_frame(rng, frames, o=str(numbers[at]), n=str(new))))
    play.read(path)
    old, numbers[at] = numbers[at], new
    play.set_lines(path, 1, f"{upper} = {numbers}")
    shown = play.bash(f"python3 {path}").strip()
    play.say(f"Changed {old} to {new} in {path}. Now it prints: {shown}")


def second_file(play: Play) -> None:
    """Line questions about a text, then about another line or the other file."""
    rng = play.rng
    first, second = make_list(rng, ("plain",)), make_list(rng, ("plain",))
    if first.path.rpartition("/")[2] == second.path.rpartition("/")[2] or first.first > 1 or second.first > 1:
        raise Unfit("not two plain lists")
    play.file(first.path, first.text)
    play.file(second.path, second.text)
    ordinals = ("first", "second", "third", "last")
    word = rng.choice(ordinals)

    def answer(listing: Listing, word: str) -> None:
        at = len(listing.items) - 1 if word == "last" else ordinals.index(word)
        play.read(listing.path)
        play.say(
            f"{listing.path}, line {at + 1}: {listing.items[at]}\nThe {word} line is {listing.items[at]}."
        )

    play.user(
        typed(
            rng,
            one_frame(
                rng,
                """
                    what is the {w} line of {f}?
                    {w} line of {f}?
                    read me the {w} line in {f}
                    what stands in the {w} line of {f}
                """,
                w=word,
                f=first.path,
            ),
        )
    )
    answer(first, word)
    for _ in range(rng.choice((1, 2))):
        if rng.random() < 0.5:
            word = rng.choice([other for other in ordinals if other != word])
            play.user(
                typed(
                    rng,
                    one_frame(
                        rng,
                        "and the {w} one?\nand the {w}\nno, I meant the {w}\nwhat about the {w} line?",
                        w=word,
                    ),
                )
            )
        else:
            first, second = second, first
            play.user(
                typed(
                    rng,
                    one_frame(
                        rng,
                        "and in {f}?\nand the same line in {f}?\nwhat about {f}?\nnow for {f}",
                        f=first.path,
                    ),
                )
            )
        answer(first, word)


def grep_then_change(play: Play) -> None:
    """Where is it, and then a change there."""
    rng = play.rng
    program = make_program(rng, kind="rename")
    edit = rng.choice([edit for edit in program.edits if edit.kind == "rename"])
    new = _free_name(rng, edit, program)
    lines = [(number, line) for number, line in enumerate(program.lines, 1) if edit.left in line]
    if len(edit.left) < 4 or len(lines) > 6:
        raise Unfit("too short or too often")
    play.file(program.path, program.text)
    sources.distract(play, program.path, most=3)
    play.user(
        typed(
            rng,
            one_frame(
                rng,
                """
                    where is {k} used?
                    which file has {k} in it?
                    find {k}
                    in which file is {k}?
                    where do I find {k}
                """,
                k=edit.left,
            ),
        )
    )
    shown = play.grep(edit.left)
    if program.path not in shown or any(program.path not in line for line in shown.strip().split("\n")):
        raise Unfit("found elsewhere")
    told = [f"{program.path}, line {number}: {line.strip()}" for number, line in lines]
    play.say("\n".join(told) + f"\n{edit.left} is in {program.path}.")
    play.user(
        typed(
            rng,
            one_frame(
                rng,
                """
                    (ok, |)rename it to {n} (there|)
                    call it {n} there
                    it should be {n} instead
                    change it to {n}, everywhere in that file
                """,
                n=new,
            ),
        )
    )
    _rename(play, program, edit, new)


def two_places(play: Play) -> None:
    """A second change of another kind in the file of the first."""
    rng = play.rng
    talk = _Settings(play)
    talk.start_with_change()
    done = [f"{answer_name(talk.sheet, talk.entry)} from {talk.old} to {talk.new}"]
    first = talk.entry
    talk.change_other()
    if talk.entry is first:
        raise Unfit("the same")
    done.append(f"{answer_name(talk.sheet, talk.entry)} from {talk.old} to {talk.new}")
    play.user(
        typed(
            rng,
            one_frame(
                rng,
                """
                    what (all |)did you change (so far|until now|)?
                    list your changes
                    sum up (all|the) changes
                    what is different now?
                """,
            ),
        )
    )
    play.say(f"I changed {joined(done)} in {talk.sheet.path}.")


FAMILIES = (
    Family(settings, 3.6),
    Family(same_elsewhere, 1.2),
    Family(items, 2.6),
    Family(table_questions, 1.2),
    Family(reverse_rows, 0.6),
    Family(created_file, 1.4),
    Family(script, 0.9),
    Family(code_edits, 1.0),
    Family(run_and_change, 0.5),
    Family(second_file, 0.6),
    Family(grep_then_change, 0.7),
    Family(two_places, 0.4),
)
