"""Several different changes in one order, and names that are wrong in several places."""

import re
from random import Random

from msgspec import Struct

from training.generator import sources, sources_data
from training.generator.families.edit_code import split_mark
from training.generator.frames import joined, one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.programs import make_program
from training.generator.sources import in_folder, make_prose, other_value, value
from training.generator.targets import Target, aim, order_text, place

FILES = """
contact.txt contact.md shop.txt info.txt imprint.html opening.txt practice.txt about.md office.txt door.txt
visitors.md library.txt cafe.txt studio.txt club.md poster.txt flyer.txt sign.txt footer.html notice.txt
""".split()
PLAIN = """
Phone | phone | the phone (is now|number is|must be) {n} / new phone number: {n} / our phone changed to {n}
E-mail | email | the (mail|e-mail) (address |)is {n} (now|) / write {n} as (mail|e-mail) / e-mail should be {n}
City | city | the city is {n} (now|) / we moved to {n} / city: {n}
Owner | person | the owner is {n} now / {n} is the new owner / owner: {n}
Contact | person | the contact is {n} / {n} is the contact now / contact should be {n}
Entry | money | the entry costs {n} (now|) / entry is {n} / entry goes up to {n}
Room | int 1 40 | the room is {n} (now|) / we are in room {n} / room: {n}
Seats | int 10 90 | there are {n} seats (now|) / seats should be {n} / we have {n} seats
Deposit | int 5 95 | the deposit is {n} (now|) / deposit: {n} / put the deposit to {n}
Web | url | the web address is {n} / our site is {n} now / web: {n}
Next meeting | date | the next meeting is on {n} / next meeting: {n} / the meeting moves to {n}
Code | code | the code is {n} now / new code: {n} / code must be {n}
Host | person | {n} is the host (now|) / the host is {n} / host: {n}
"""  # noqa: E501
RANGES = """
Monday | on Monday / Mondays / Monday
Tuesday | on Tuesday / Tuesdays / Tuesday
Wednesday | on Wednesday / Wednesdays / Wednesday
Thursday | on Thursday / Thursdays / on Thursdays
Friday | on Friday / Fridays / Friday
Saturday | on Saturday / Saturdays / on Saturdays
Sunday | on Sunday / Sundays / Sunday
Lunch | at lunch / for lunch / lunch
Training | the training / training
Holidays | on holidays / in the holidays
"""
FROM = """
{d} we open at {n}
{d} starts at {n} (now|)
{d} from {n} (on|)
{d} begins at {n}
""".strip()
UNTIL = """
{d} we close at {n}
{d} only until {n}
{d} ends at {n} (now|)
{d} till {n}
{d} we go on until {n}
""".strip()
ROW = ("{k}: {v}", "{k}: {v}", "- {k}: {v}", "{k} = {v}", "{k}   {v}", "* {k}: {v}", "{k} - {v}")
HTML_ROW = "  <p>{k}: {v}</p>"
SPANS = ("{a} - {b}", "{a}-{b}", "{a} – {b}", "{a} to {b}", "{a} till {b}", "from {a} to {b}")
OTHER_LINES = (
    "Please ring twice.",
    "Dogs are welcome.",
    "No cards, cash only.",
    "Parking behind the house.",
    "Closed in August.",
    "Ask for the key.",
    "Wheelchair access at the back.",
)
SEVERAL = """
two things in {f}: {a}, and {b} | 2
two changes in {f}: {a} and {b} | 2
in {f} {a}, and {b} | 0
in {f}: {a}, also {b} | 0
{f}: {a}; {b} | 0
{f}: {a}. {b} | 0
{f} needs two corrections: {a} and {b} | 2
please correct {f}: {a}, and {b} | 0
three things in {f}: {a}, and {b} | 3
three changes for {f}: {a} and {b} | 3
{a} and {b}, please change that in {f} | 0
{a}, {b} - correct {f} please | 0
update {f}, {a} and {b} | 0
there are news for {f}: {a}, and {b} | 0
can you fix {f}? {a} and {b} | 0
""".strip()
MISSPELLED = """
I misspelled {r}, I wrote {w}. correct (it everywhere|both|all places)
I misspelled the name {w}, it is {r}, correct (it everywhere|all places)
the name is {r}, not {w}, (correct|fix) it everywhere
{w} is spelled {r}, fix all of them
I always wrote {w}, but it is {r}
{w} is wrong, the right spelling is {r} (everywhere|in all places)
it's {r} with the right letters, not {w}. please correct every place
oh no, I spelled {r} wrong ({w}), in all places
correct {w} to {r} wherever it (is|stands)
all {w} should be {r}, I misspelled it
the name {w} has a typo, it must be {r}, (each time|everywhere)
I wrote {w} instead of {r}, please correct (all|every one)
""".strip()
NAMED = """
Dear {p}, | Thanks to {p} for the help. | {p} will bring the {t}. | Call {p} on {d}. | {p}
Captain: {p} | Goals: {p} {m}, Omar {m} | Next match on {d}, {p} drives. | Keys: {p}
# Plan | - {p}: paint the {t} | - ask {p} about the {t} | - Nadia: book the room | - {p} checks the bill
Guests: {p}, Jonas, Ines | {p} is vegetarian. | The table of {p} is near the window. | Bill to {p}
Minutes of {d} | Present: {p}, Ines Keller | {p} reports on the {t}. | Next time: cake by {p}
The {t} belongs to {p}. | {p} paid {m} euros for it. | It was sold on {d}.
Story | {p} opened the door. | Nobody saw {p} that night. | In the morning the {t} was gone. | "Good day", said {p}.
Phone list | {p} 0{m}1 44{m} | Ines 0{m}7 31{m} | If nobody answers, call {p} again.
Programme | {t} solo: {p} | Break | Duet: {p} and Omar | Poem, read by {p}
""".strip()  # noqa: E501
NAMES = """
Marchetti Fitzgerald Kowalska Bergström Rodriguez Annika Matthias Philippa Guillaume Catherine Giovanni Isabella
Wojciech Siobhan Szymanski Thibault Frederik Mohammed Yevgeniy Henrietta Leontine Sebastian Jacqueline Katharina
Schneider Vasquez Petersen Lindgren Okonkwo Abernathy Theodora Anneliese Gabriella Johansson Niamh Stephanie
""".split()  # noqa: E501


class Fact(Struct):
    """A line of a notice: what it is called, what it says, and how a change of it is said."""

    key: str
    old: str
    kind: str
    frames: str
    span: str = ""
    end: str = ""
    """The second part of a range; the first is `old`."""

    def shown(self, old: str, end: str) -> str:
        """Return what stands behind the key."""
        return self.span.format(a=old, b=end) if self.span else old


def _facts(rng: Random) -> list[Fact]:
    plain = [row.split(" | ") for row in rng.sample(PLAIN.strip().split("\n"), rng.randint(2, 4))]
    facts = [Fact(key, value(rng, kind), kind, " | ".join(rest)) for key, kind, *rest in plain]
    span = rng.choice(SPANS)
    for row in rng.sample(RANGES.strip().split("\n"), rng.randint(1, 4)):
        key, said = row.split(" | ")
        start, end = rng.randint(7, 11), rng.randint(13, 21)
        minutes = rng.choice(("00", "00", "30", "15"))
        facts.append(
            Fact(key, f"{start:02}:{minutes}", "span", said, span, f"{end}:{rng.choice(('00', '30'))}")
        )
    return rng.sample(facts, len(facts))


def _change(rng: Random, fact: Fact) -> tuple[str, str, str, str]:
    """Return how the change is said, the new content of the line, the old value and the new one."""
    if not fact.span:
        new = other_value(rng, fact.kind, fact.old)
        frame = rng.choice(fact.frames.split(" / "))
        return one_frame(rng, frame, n=new), new, fact.old, new
    day = rng.choice(fact.frames.split(" / "))
    if rng.random() < 0.6:
        new = f"{rng.randint(12, 22)}:{rng.choice(('00', '30', '15'))}"
        said, shown, old = one_frame(rng, UNTIL, d=day, n=new), fact.shown(fact.old, new), fact.end
    else:
        new = f"{rng.randint(6, 11):02}:{rng.choice(('00', '30', '45'))}"
        said, shown, old = one_frame(rng, FROM, d=day, n=new), fact.shown(new, fact.end), fact.old
    if new == old:
        raise Unfit("no change")
    return said, shown, old, new


def _order(play: Play, path: str, said: list[str]) -> None:
    """Say the order of all changes, find the file and read it."""
    target = aim(play.rng, path)
    target = target if target.said else aim(play.rng, path, named=True)
    play.user(order_text(play.rng, _combined(play.rng, target, said)))
    target.find(play)
    play.read(path)


def _combined(rng: Random, target: Target, said: list[str]) -> str:
    frames = [frame.rsplit(" | ", 1) for frame in SEVERAL.split("\n")]
    fitting = [frame for frame, count in frames if count in ("0", str(len(said)))]
    text = one_frame(rng, rng.choice(fitting), f=target.said, a=", ".join(said[:-1]), b=said[-1])
    return re.sub(r"([.?] )([a-z])", lambda found: found[1] + rng.choice((found[2], found[2].upper())), text)


def notice(play: Play) -> None:
    """Two or three lines of a notice, some of them hours of which one end changes."""
    rng = play.rng
    path, facts = in_folder(rng, rng.choice(FILES), 0.25), _facts(rng)
    row = HTML_ROW if path.endswith("html") else rng.choice(ROW)
    head = rng.choice(([], ["# " + value(rng, "shop"), ""], [value(rng, "shop")]))
    rows = [row.format(k=fact.key, v=fact.shown(fact.old, fact.end)) for fact in facts]
    lines = [*head, *rows, *rng.sample(OTHER_LINES, rng.randint(0, 2))]
    play.file(path, "\n".join(lines) + "\n")
    sources.distract(play, path)
    changed = rng.sample(range(len(facts)), min(len(facts), rng.choice((2, 2, 2, 2, 3))))
    changes = [_change(rng, facts[at]) for at in changed]
    _order(play, path, [said for said, *_ in changes])
    told = []
    for at, (_, shown, old, new) in zip(changed, changes, strict=True):
        play.set_lines(path, len(head) + at + 1, row.format(k=facts[at].key, v=shown))
        told.append(f"{facts[at].key} from {old} to {new}")
    play.say(f"Changed {joined(told)} in {path}.")


def code(play: Play) -> None:
    """Two different values or texts of a program."""
    rng = play.rng
    program = make_program(rng, kind="value")
    edits = [edit for edit in program.edits if edit.kind == "value"]
    if len(edits) < 2:
        raise Unfit("one value")
    play.file(program.path, program.text)
    sources.distract(play, program.path, most=3)
    said, changes = [], []
    for edit in rng.sample(edits, 2):
        before, old, after = split_mark(edit.left)
        new = other_value(rng, edit.new, old).strip()
        name = rng.choice(edit.right.split(", "))
        name = name if re.fullmatch(r"\w+", name) and name in program.text else f"the {name}"
        frame = "{k} should be {n}\n{k} is {n} now\nset {k} to {n}\nmake {k} {n}\n{k} must become {n}"
        said.append(one_frame(rng, frame, k=name, n=new))
        changes.append((program.line_with(before + old + after), before, old, after, new, name))
    if changes[0][0] == changes[1][0]:
        raise Unfit("one line")
    _order(play, program.path, said)
    for number, before, old, after, new, _ in changes:
        line = program.lines[number - 1].replace(before + old + after, before + new + after)
        play.set_lines(program.path, number, line)
    told = [f"{name} from {old} to {new}" for _, _, old, _, new, name in changes]
    play.say(f"Changed {joined(told)} in {program.path}.")


def _misspell(rng: Random, name: str) -> str:
    at = rng.randrange(1, len(name) - 1)
    ways = (
        name[:at] + name[at + 1 :],
        name[:at] + name[at] + name[at:],
        name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :] if at > 1 else name,
        name.replace("i", "y", 1),
        name.replace("tt", "t").replace("ll", "l").replace("nn", "n"),
        name.replace("k", "c", 1).replace("th", "t", 1),
    )
    return rng.choice([wrong for wrong in ways if wrong != name])


def _with_wrong_name(rng: Random) -> tuple[str, str, str, str]:
    """Return a path and a text, with the wrong name in it and the right one."""
    if rng.random() < 0.25:
        path, text = make_prose(rng)
        persons = [person for person in sources_data.PERSONS.split("\n") if text.count(person) > 1]
        if not persons:
            raise Unfit("nobody twice")
        right = rng.choice(persons).split()[-1]
        wrong = _misspell(rng, right)
        return path, text.replace(right, wrong), wrong, right
    right = rng.choice(NAMES)
    wrong = _misspell(rng, right)
    slots = {"t": value(rng, "thing"), "d": value(rng, "date"), "m": value(rng, "m")}
    name = rng.choice(("", "", "", "Dr ")) + wrong
    text = rng.choice(NAMED.split("\n")).format(p="\0", **slots)
    text = text.replace("\0", name).replace(" | ", "\n") + "\n"
    names = "notes.txt plan.md letter.txt story.txt team.txt guests.md minutes.md list.txt programme.txt"
    return in_folder(rng, rng.choice(names.split()), 0.3), text, wrong, right


def misspelled(play: Play) -> None:
    """A name that is wrong in two or more places."""
    rng = play.rng
    path, text, wrong, right = _with_wrong_name(rng)
    count = text.count(wrong)
    if count < 2 or right in text or right in wrong:
        raise Unfit("not twice")
    play.file(path, text)
    sources.distract(play, path)
    target = aim(rng, path, wrong)
    order = one_frame(rng, MISSPELLED, w=wrong, r=right)
    order = order if count == 2 else order.replace("correct both", "correct all of them")
    play.user(order_text(rng, place(rng, order, target)))
    target.find(play)
    play.read(path)
    play.replace_all(path, wrong, right)
    play.say(f"Corrected {wrong} to {right} in {path} ({count} places).")


FAMILIES = (
    Family(notice, 5.0),
    Family(code, 2.4),
    Family(misspelled, 2.4),
)
