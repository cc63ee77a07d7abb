"""Changing settings: values, switches, new and old keys, in all notations of `training.generator.sources`."""

import re
from random import Random

from training.generator import sources
from training.generator.frames import joined, one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import Entry, Sheet, make_sheet, other_value
from training.generator.targets import Target, aim, order_text, place, typed

CHANGE = """
(set|change|put|switch|update) {k} to {v}
(set|change) {k} to {v}
change {k} from {o} to {v}
make {k} {v}
let {k} be {v}
use {v} (as|for) {k}
(take|use|put) {v} instead of {o} for {k}
replace the {o} of {k} (by|with) {v}
(give|assign) {k} the value {v}
(can|could|would) you (set|change|make|switch) {k} to {v}?
can {k} be (set|changed) to {v}?
I (need|want|would like|'d like) {k} (set to|to be|at|changed to) {v}
I want {v} as {k}
{k} (should be|must be|has to be|needs to be|is now|shall be|ought to be) {v}
{k} should be {v} (now|from today|from now on|again)
{k} (should be|is|must be) {v}, not {o}
{k} is {v} now, no longer {o}
{k} (is wrong|is not right|was a mistake), (it should be|make it|correct is) {v}
{k} (is|says) {o}, (should be|make it|make that|better) {v}
{o} is (wrong|not good|outdated) for {k}, (take|use|make it) {v}
we (agreed on|settled on|need|now use|switched to) {v} for {k}
from now on {k} is {v}
why is {k} {o}? (make it|it should be|set it to) {v}
(the boss|my teacher|the customer|she|he) wants {v} for {k}
{k} is still {o}, (set it to|change it to|make it|it should be) {v}
{k} -> {v}
{k} = {v}
{k}: {v}
{k} {v} (instead of|not) {o}
{k} to {v}
new value for {k}: {v}
correct {k}, it is {v}
let's try {v} for {k}
(please |)adjust {k} to {v}
you must to put {k} at {v}
{k} must become {v}
""".strip()
MORE = """
(raise|increase|bump|turn up|push) {k} to {v}
{k} is too (low|small), (make it|take|use|go to|raise it to) {v}
{o} is not enough for {k}, (make it|take|I need) {v}
{k} up to {v}
we need more: {k} {v}
""".strip()
LESS = """
(lower|reduce|decrease|turn down|cut|drop) {k} to {v}
{k} is too (high|big|much), (make it|take|use|go down to|lower it to) {v}
{o} is too much for {k}, (make it|take|I only need) {v}
{k} down to {v}
""".strip()
FOREIGN = {
    "de": (
        """
(setz|setze|stell|stelle) {k} auf {v}
(bitte |){k} (auf|in) {v} ändern
ändere {k} (auf|zu) {v}
{k} soll {v} sein(, nicht {o}|)
kannst du {k} auf {v} setzen?
""",
        "{k} in {f} von {o} auf {v} geändert.",
        "in {f}",
    ),
    "fr": (
        """
(mets|passe|change) {k} à {v}
{k} doit être {v}(, pas {o}|)
remplace {o} par {v} pour {k}
peux-tu mettre {k} à {v} ?
""",
        "{k} est passé de {o} à {v} dans {f}.",
        "dans {f}",
    ),
    "es": (
        """
(cambia|pon|actualiza) {k} a {v}
{k} tiene que ser {v}(, no {o}|)
¿puedes poner {k} en {v}?
""",
        "He cambiado {k} de {o} a {v} en {f}.",
        "en {f}",
    ),
}
TURN_ON = """
(turn|switch) {k} on
(turn|switch) on {k}
(enable|activate) {k}
{k} (should be|must be|has to be) (on|enabled|active)
I (want|need) {k} (on|switched on|enabled)
can you (enable|turn on|activate) {k}?
set {k} to {v}
{k} is off, (turn it on|it should be on|enable it)
{k} on
please use {k} again, switch it on
""".strip()
TURN_OFF = """
(turn|switch) {k} off
(turn|switch) off {k}
(disable|deactivate) {k}
{k} (should be|must be|has to be) (off|disabled)
I (do not|don't) (want|need) {k}, (turn|switch) it off
can you (disable|turn off|deactivate) {k}?
set {k} to {v}
{k} is on, (turn it off|it should be off|disable it)
{k} off
we (do not|don't) need {k} any more, switch it off
""".strip()
ADD = """
add {k} (=|with the value|with|:) {v} (to|under|in) {s}
add (a|the) (key|setting|entry|line) {k} with (the value|value|) {v} (to|under|in) {s}
{s} needs (a|another) {k}, (value|set it to) {v}
there is no {k} in {s} yet, add it with {v}
put {k} (=|with) {v} at the end of {s}
(insert|append) {k} {v} (in|into) {s}
new (setting|entry) in {s}: {k} is {v}
can you add {k} to {s}? value {v}
I need a {k} in {s}, it should be {v}
in {s} (I|we) forgot {k}, it is {v}
""".strip()
DELETE = """
(remove|delete|drop|erase) {k}
(take out|throw out|kick out) {k}
take {k} out
(remove|delete) the (line|setting|entry) (with|for|of) {k}
{k} is (not used|not needed|unused|obsolete), (delete it|remove it|take it out)
(nobody|no one) (uses|needs) {k} any more, (take it out|remove it|delete it)
we (do not|don't) need {k} any more(, remove it|, please delete|, out with it)
(can|could) you (remove|delete) {k}?
{k} can go
get rid of {k}
""".strip()
COMMENT = """
comment out {k}
comment {k} out
(please |)comment the {k} line
put a comment sign before {k}
{k} should be commented out (for now|for testing|)
(disable|deactivate) the line with {k} by a comment
make a comment of the {k} line, I am testing
""".strip()
RENAME = """
rename {k} to {n}
(change|rename) the (key|name|setting) {k} (to|into) {n}
{k} should be called {n}
call {k} {n} instead
the (key|name) {k} is wrong, it is {n}
the name of {k} has changed to {n}
""".strip()


def name_of(rng: Random, sheet: Sheet, entry: Entry, *, spoken: float = 0.5) -> tuple[str, str]:
    """How an order names a setting, and a word of it to search for (empty if there is none)."""
    setting = entry.setting
    plain = rng.random() < spoken
    word = entry.shown if re.search(r"[_A-Z.]", entry.shown) and " " not in entry.shown else ""
    unique_shown = sum(other.shown.lower() == entry.shown.lower() for other in sheet.entries) == 1
    if plain and not (sheet.ambiguous(entry) and setting.names[0] in _names_of_others(sheet, entry)):
        free = [name for name in setting.names if name not in _names_of_others(sheet, entry)]
        name = rng.choice(free or list(setting.names))
        article = "" if name[0].isdigit() or rng.random() < 0.25 else "the "
        if name in ("phone", "mail", "place") or name.startswith(("how ", "hours ", "minutes ", "litres ")):
            article = ""
        return article + name, ""
    mark = rng.choice(("", "", "", "`", '"'))
    if unique_shown and (not sheet.ambiguous(entry) or rng.random() < 0.3):
        return f"{mark}{entry.shown}{mark}", word
    section = setting.section
    frame = "{k} in (the section|section|) {s}|{k} (under|of) {s}|the {k} of the {s} section|the {k} of {s}"
    if sheet.notation.head.startswith("["):
        frame = "{k} in [{s}]|{k} under [{s}]|the {k} of the {s} section|{s}.{k}|the {s} {k}"
    return one_frame(rng, rng.choice(_split(frame)), k=f"{mark}{setting.key}{mark}", s=section), ""


def _split(frame: str) -> list[str]:
    return re.split(r"\|(?![^(]*\))", frame)


def _names_of_others(sheet: Sheet, entry: Entry) -> set[str]:
    return {name for other in sheet.entries if other is not entry for name in other.setting.names}


def answer_name(sheet: Sheet, entry: Entry) -> str:
    """How an answer names a setting."""
    same = sum(other.shown == entry.shown for other in sheet.entries) > 1
    return f"{entry.shown} ({entry.setting.section})" if same else entry.shown


def changed(sheet: Sheet, entry: Entry, old: str, new: str) -> str:
    """The sentence that tells of a change."""
    return f"Changed {answer_name(sheet, entry)} from {old} to {new} in {sheet.path}."


def lay_out(play: Play, sheet: Sheet, *, twin: bool = False) -> None:
    """Put a sheet and other files into the folder; a twin has the same keys."""
    play.file(sheet.path, sheet.text)
    if twin:
        folder, _, name = sheet.path.rpartition("/")
        stem, dot, ending = name.rpartition(".")
        if not stem:
            return
        other = make_sheet(play.rng, sheet.domain, sheet.notation)
        name = play.rng.choice(
            (f"{stem}.dev{dot}{ending}", f"{stem}_old{dot}{ending}", f"{stem}.example{dot}{ending}")
        )
        play.file(f"{folder}/{name}" if folder else name, other.text)
    sources.distract(play, sheet.path)


def pick(rng: Random, sheet: Sheet, *, switch: bool = False) -> Entry:
    """Choose a setting: a switch, or one that is none."""
    fitting = [entry for entry in sheet.entries if (entry.setting.kind == "bool") is switch and entry.value]
    if not fitting:
        raise Unfit("no such setting")
    return rng.choice(fitting)


def new_value(rng: Random, sheet: Sheet, entry: Entry) -> str:
    """Make up a new value for a setting."""
    if entry.setting.kind == "bool":
        yes, no = sheet.notation.yes_no
        return no if entry.value == yes else yes
    return other_value(rng, entry.setting.kind, entry.value)


def change_order(rng: Random, name: str, old: str, new: str) -> str:
    """Word the wish for a new value."""
    block = CHANGE
    if (
        rng.random() < 0.3
        and re.fullmatch(r"[\d.]+", old)
        and re.fullmatch(r"[\d.]+", new)
        and old.count(".") < 2
    ):
        block = MORE if float(new) > float(old) else LESS
    said = f'"{new}"' if not new[0].isdigit() and rng.random() < 0.15 else new
    return one_frame(rng, block, k=name, v=said, o=old)


def set_entry(play: Play, sheet: Sheet, entry: Entry, new: str) -> str:
    """Read the file, put a new value into it and return the sentence that tells it."""
    old = entry.value
    play.read(sheet.path)
    play.set_lines(sheet.path, entry.number, entry.line(new))
    entry.value = new
    return changed(sheet, entry, old, new)


def _aim(play: Play, sheet: Sheet, word: str, *, twin: bool) -> Target:
    return aim(play.rng, sheet.path, word, named=twin)


def change_value(play: Play) -> None:
    """One value, named by its key or described."""
    rng = play.rng
    sheet = make_sheet(rng)
    entry = pick(rng, sheet)
    twin = rng.random() < 0.25
    lay_out(play, sheet, twin=twin)
    name, word = name_of(rng, sheet, entry)
    new = new_value(rng, sheet, entry)
    target = _aim(play, sheet, word, twin=twin)
    play.user(order_text(rng, place(rng, change_order(rng, name, entry.value, new), target)))
    target.find(play)
    play.say(set_entry(play, sheet, entry, new))


def right_section(play: Play) -> None:
    """A value whose key is in two sections."""
    rng = play.rng
    sheet = make_sheet(rng)
    keys = [entry.setting.key for entry in sheet.entries]
    fitting = [
        entry for entry in sheet.entries if keys.count(entry.setting.key) > 1 and entry.setting.kind != "bool"
    ]
    if not fitting:
        raise Unfit("no key twice")
    entry = rng.choice(fitting)
    lay_out(play, sheet)
    name, word = name_of(rng, sheet, entry, spoken=0.3)
    new = new_value(rng, sheet, entry)
    target = aim(rng, sheet.path, word)
    play.user(order_text(rng, place(rng, change_order(rng, name, entry.value, new), target)))
    target.find(play)
    play.say(set_entry(play, sheet, entry, new))


def change_foreign(play: Play) -> None:
    """One value, asked for in German, French or Spanish."""
    rng = play.rng
    sheet = make_sheet(rng)
    entry = pick(rng, sheet)
    if sheet.ambiguous(entry):
        raise Unfit("not a clear name")
    lay_out(play, sheet)
    frames, answer, where = FOREIGN[rng.choice(list(FOREIGN))]
    new, old = new_value(rng, sheet, entry), entry.value
    order = one_frame(rng, frames, k=entry.shown, v=new, o=old)
    target = aim(rng, sheet.path, entry.shown)
    if target.how in ("path", "name"):
        order = f"{target.said}: {order}" if rng.random() < 0.3 else f"{where.format(f=target.said)} {order}"
    else:
        target = Target(sheet.path, "", "", entry.shown if " " not in entry.shown else "")
    play.user(order[0].upper() + order[1:] if rng.random() < 0.5 else order)
    target.find(play)
    set_entry(play, sheet, entry, new)
    play.say(answer.format(k=entry.shown, o=old, v=new, f=sheet.path))


SEVERAL = """
{a} and {b}
(two|some|a few) (changes|things|values): {a}, {b}
{a}, (and also|and then|also) {b}
{a}. (And|Also|Then) {b}
{a}; {b}
first {a}, then {b}
two or three things: {a}, and {b}
(several|more than one) (things|values) changed: {a} and {b}
{a}, and {b}, (both|all) please
""".strip()
PAIRS = """
set {k} to {v} | {k} to {v}
change {k} to {v} | {k} to {v}
{k} should be {v} | {k} {v}
{k} = {v} | {k} = {v}
{k}={v} | {k}={v}
{k} is {v} now | {k} is {v}
make {k} {v} | {k} {v}
{k} -> {v} | {k} -> {v}
{k} must be {v} | {k} must be {v}
update {k} to {v} | {k} to {v}
""".strip()


def change_several(play: Play) -> None:
    """Two or three values in one order: one read, one edit each."""
    rng = play.rng
    sheet = make_sheet(rng)
    if len(sheet.entries) < 3:
        raise Unfit("too few settings")
    lay_out(play, sheet)
    entries = rng.sample(sheet.entries, rng.choice((2, 2, 2, 3)))
    news = [new_value(rng, sheet, entry) for entry in entries]
    names = [name_of(rng, sheet, entry) for entry in entries]
    first, later = rng.choice(PAIRS.split("\n")).split(" | ")
    parts = [
        one_frame(rng, later if at else first, k=name, v=new)
        for at, ((name, _), new) in enumerate(zip(names, news, strict=True))
    ]
    order = one_frame(rng, SEVERAL, a=", ".join(parts[:-1]), b=parts[-1])
    target = aim(rng, sheet.path, names[0][1])
    play.user(order_text(rng, place(rng, order, target)))
    target.find(play)
    play.read(sheet.path)
    told = []
    for entry, new in zip(entries, news, strict=True):
        play.set_lines(sheet.path, entry.number, entry.line(new))
        told.append(f"{answer_name(sheet, entry)} from {entry.value} to {new}")
    play.say(f"Changed {joined(told)} in {sheet.path}.")


def toggle(play: Play) -> None:
    """A switch, turned on or off."""
    rng = play.rng
    sheet = make_sheet(rng)
    entry = pick(rng, sheet, switch=True)
    lay_out(play, sheet)
    name, word = name_of(rng, sheet, entry, spoken=0.65)
    new = new_value(rng, sheet, entry)
    frames = TURN_ON if new == sheet.notation.yes_no[0] else TURN_OFF
    target = aim(rng, sheet.path, word)
    play.user(typed(rng, place(rng, one_frame(rng, frames, k=name, v=new), target)))
    target.find(play)
    play.say(set_entry(play, sheet, entry, new))


def already_so(play: Play) -> None:
    """A value that the file has already: nothing is changed."""
    rng = play.rng
    sheet = make_sheet(rng)
    entry = pick(rng, sheet)
    lay_out(play, sheet)
    name, word = name_of(rng, sheet, entry)
    target = aim(rng, sheet.path, word)
    order = one_frame(rng, "set {k} to {v}\n{k} should be {v}\nchange {k} to {v}", k=name, v=entry.value)
    play.user(order_text(rng, place(rng, order, target)))
    target.find(play)
    play.read(sheet.path)
    line = f"{sheet.path}, line {entry.number}: {sheet.lines[entry.number - 1].strip()}"
    play.say(f"{line}\n{answer_name(sheet, entry)} is {entry.value} already; I changed nothing.")


def _section_words(rng: Random, sheet: Sheet, section: str) -> str:
    if sheet.notation.head.startswith("["):
        return one_frame(rng, "[{s}]\nthe {s} section\nthe section {s}\n{s}", s=section)
    return one_frame(rng, "the {s} (section|part|block)\n{s}", s=section)


def add_setting(play: Play) -> None:
    """A new setting at the end of its section."""
    rng = play.rng
    sheet = make_sheet(rng)
    if not (sheet.notation.head and "$" in sheet.notation.head):
        raise Unfit("no sections")
    held_out = rng.choice(sheet.entries)
    section = held_out.setting.section
    rest = [entry for entry in sheet.entries if entry.setting.section == section and entry is not held_out]
    if not rest or (held_out.setting.kind == "bool" and sheet.notation.name in ("text", "markdown")):
        raise Unfit("nothing to put it below")
    is_last = held_out.number > rest[-1].number
    _take_out(sheet, held_out, rest, is_last=is_last)
    play.file(sheet.path, sheet.text)
    sources.distract(play, sheet.path)
    target = aim(rng, sheet.path)
    order = one_frame(rng, ADD, k=held_out.shown, v=held_out.value, s=_section_words(rng, sheet, section))
    play.user(order_text(rng, place(rng, order, target)))
    target.find(play)
    play.read(sheet.path)
    last = rest[-1]
    if sheet.notation.commas:
        held_out.comma = ""
        play.set_lines(sheet.path, last.number, f"{last.line()},\n{held_out.line()}")
    else:
        play.insert_after(sheet.path, last.number, held_out.line())
    play.say(f"Added {held_out.shown} with the value {held_out.value} to {section} in {sheet.path}.")


def _take_out(sheet: Sheet, entry: Entry, rest: list[Entry], *, is_last: bool) -> None:
    """Remove a setting from a sheet that is not laid out yet."""
    del sheet.lines[entry.number - 1]
    for other in sheet.entries:
        other.number -= other.number > entry.number
    if sheet.notation.commas and is_last:
        rest[-1].comma = ""
        sheet.lines[rest[-1].number - 1] = rest[-1].line()
    sheet.entries.remove(entry)
    sheet.text = "\n".join(sheet.lines) + "\n"


def delete_setting(play: Play) -> None:
    """A setting that is taken out; in JSON the comma before it goes with it."""
    rng = play.rng
    sheet = make_sheet(rng)
    entry = rng.choice(sheet.entries)
    others = [other for other in sheet.entries if other.setting.section == entry.setting.section]
    if len(others) < 2:
        raise Unfit("the only one")
    lay_out(play, sheet)
    name, word = name_of(rng, sheet, entry, spoken=0.4)
    target = aim(rng, sheet.path, word)
    play.user(order_text(rng, place(rng, one_frame(rng, DELETE, k=name), target)))
    target.find(play)
    play.read(sheet.path)
    if sheet.notation.commas and entry is others[-1]:
        before = others[-2]
        play.set_lines(sheet.path, (before.number, entry.number), before.line().removesuffix(","))
    else:
        play.delete_lines(sheet.path, entry.number)
    play.say(f"Removed the line “{entry.line().strip()}” from {sheet.path}.")


def comment_out(play: Play) -> None:
    """A setting that becomes a comment, or is none any longer."""
    rng = play.rng
    sheet = make_sheet(rng)
    sign = sheet.notation.comment
    if not sign:
        raise Unfit("no comments in this notation")
    entry = rng.choice(sheet.entries)
    live = entry.line()
    indent = live[: len(live) - len(live.lstrip())]
    dead = f"{indent}{sign}{live.lstrip()}"
    back = rng.random() < 0.3
    name, word = name_of(rng, sheet, entry, spoken=0.2)
    if back:
        sheet.lines[entry.number - 1] = dead
        sheet.text = "\n".join(sheet.lines) + "\n"
    lay_out(play, sheet)
    target = aim(rng, sheet.path, word)
    frames = "uncomment {k}\ncomment {k} in again\nremove the comment sign before {k}\nmake {k} active again"
    order = one_frame(rng, frames if back else COMMENT, k=name)
    play.user(order_text(rng, place(rng, order, target)))
    target.find(play)
    play.read(sheet.path)
    play.set_lines(sheet.path, entry.number, live if back else dead)
    done = "is active again" if back else "is a comment now"
    play.say(f"The line “{live.strip()}” {done} in {sheet.path}.")


def rename_key(play: Play) -> None:
    """A key with a new name and the same value."""
    rng = play.rng
    sheet = make_sheet(rng)
    entry = rng.choice(sheet.entries)
    if entry.notation.shown == "$label" or sheet.ambiguous(entry) or "_" in entry.notation.shown:
        raise Unfit("no key")
    key = entry.setting.key
    new_key = one_frame(rng, "{k}_value\nmy_{k}\n{k}2\ndefault_{k}\n{k}_setting\nold_{k}\nmain_{k}", k=key)
    new_shown = entry.shown.replace(key, new_key)
    line = entry.line().replace(key, new_key, 1)
    if entry.shown == new_shown or key not in entry.line():
        raise Unfit("the key is written otherwise")
    lay_out(play, sheet)
    target = aim(rng, sheet.path, key if "_" in key else "")
    play.user(order_text(rng, place(rng, one_frame(rng, RENAME, k=entry.shown, n=new_shown), target)))
    target.find(play)
    play.read(sheet.path)
    play.set_lines(sheet.path, entry.number, line)
    play.say(f"Renamed {entry.shown} to {new_shown} in {sheet.path}.")


FAMILIES = (
    Family(change_value, 5.0),
    Family(right_section, 1.0),
    Family(change_several, 1.6),
    Family(toggle, 0.8),
    Family(change_foreign, 0.5),
    Family(add_setting, 1.0),
    Family(delete_setting, 0.9),
    Family(comment_out, 0.5),
    Family(rename_key, 0.3),
    Family(already_so, 0.3),
)
