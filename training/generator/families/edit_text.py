"""Changing notes, letters, pages and other prose: words, names, lines, titles and signs."""

import re
from random import Random

from training.generator import sources, sources_data
from training.generator.families.edit_code import TOP
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import make_prose, text_line, value
from training.generator.targets import aim, order_text, place, quoted

REPLACE = """
replace {o} (by|with) {n}
change {o} (to|into) {n}
(it|the text|there it) says {o}, (should be|must be|make it|correct is) {n}
{o} (should be|must be|has to be|is now) {n}
{n} instead of {o}
not {o} but {n}
{o} is wrong, (it's|it is|correct is) {n}
(put|write) {n} (instead of|in place of|for) {o}
{o} -> {n}
I wrote {o}, I meant {n}
where it says {o} (it should say|please write|put) {n}
(can|could) you (change|turn) {o} (to|into) {n}?
it's {n}, not {o}
{o} must become {n}
(make|let) {o} (to |){n}
we don't say {o} any more, (it is|use) {n}
""".strip()
TYPO = """
(there is a|I made a|a small) typo: {o} should be {n}
typo! {o} -> {n}
fix the typo {o}, it is {n}
{o} is misspelled, (it's|correct is|should be) {n}
correct {o} to {n}
I misspelled {n}, I wrote {o}
it says {o}, should be {n}
{o} is spelled wrong, right is {n}
spelling: {n}, not {o}
please correct the word {o} ({n})
(the word|there it says) {o} should read {n}
""".strip()
EVERYWHERE = """
replace {o} (by|with) {n} everywhere
replace every {o} (by|with) {n}
change all {o} to {n}
{o} is called {n} now, (everywhere|in all places|change it everywhere)
(all|every) {o} should be {n}
rename {o} to {n} in the whole (text|file)
everywhere it says {o}, put {n}
{n} instead of {o}, everywhere
{o} -> {n}, all of them
""".strip()
APPEND = """
add (a line|this line|one line|the line|) {v} at the end
(append|add) {v}
(append|add) (to the end|a last line|a line at the bottom): {v}
(write|put) {v} (at the end|below everything|at the bottom|as last line)
the last line should be {v}, below the others
new line at the end: {v}
add this to the end: {v}
one more (line|note): {v}
(please |)note down: {v}
I want to add {v}
""".strip()
ABOVE_BELOW = """
(insert|add|put) {v} (after|below|under) the line {a} | below
(insert|add|put) {v} (before|above) the line {a} | above
(after|below) {a} (add|write|put) {v} | below
(before|above) {a} (add|write|put) {v} | above
between {a} and the line after it I want {v} | below
""".strip()
DELETE_LINE = """
(delete|remove) the line {v}
(delete|remove) the line (with|that says|about|that contains) {v}
take out {v}
the line {v} can go
(drop|erase|cut) the line (with|containing) {v}
I don't need the line {v} any more
{v} should not be in there, delete the line
(can|could) you remove the line with {v}?
""".strip()
BY_NUMBER = """
(delete|remove|drop) line {n}
line {n} (can go|should go|is wrong, delete it|is too much)
take out line {n}
(delete|remove) the {w} line
the {w} line (can go|should be deleted|is not needed)
(can|could) you delete the {w} line?
""".strip()
SET_LINE = """
line {n} should (be|read|say): {v}
(change|replace) line {n} (to|by|with): {v}
make the {w} line: {v}
the {w} line (should be|must be|should read): {v}
write this (in|into) line {n}: {v}
replace the {w} line (by|with) {v}
""".strip()
UPPER = """
(write|put|make) the {w} line in (upper case|capitals|capital letters)
the {w} line (should be|must be) in (capitals|upper case|big letters)
line {n} in (upper case|capitals) please
all capitals for line {n}
""".strip()
FOREIGN = {
    "de": (
        """
            ersetze {o} durch {n}
            ändere {o} in {n}
            da steht {o}, es muss {n} heißen
            {n} statt {o}
            bitte {o} zu {n} korrigieren
        """,
        "{o} in {f} durch {n} ersetzt.",
        "in {f}",
    ),
    "fr": (
        "remplace {o} par {n}\nmets {n} au lieu de {o}\nc'est {n}, pas {o}\nchange {o} en {n}",
        "{o} est remplacé par {n} dans {f}.",
        "dans {f}",
    ),
    "es": (
        "cambia {o} por {n}\nreemplaza {o} por {n}\npon {n} en vez de {o}\ndebe decir {n}, no {o}",
        "He cambiado {o} por {n} en {f}.",
        "en {f}",
    ),
}
ORDINALS = "first second third fourth fifth sixth seventh".split()
PATTERNS = {
    "date": r"\b20\d\d-\d\d-\d\d\b",
    "time": r"\b\d\d:\d\d\b",
    "money": r"\b\d+\.\d\d\b",
    "person": "|".join(map(re.escape, sources_data.PERSONS.split("\n"))),
    "city": "|".join(map(re.escape, sources_data.CITIES)),
    "item": "|".join(map(re.escape, sources_data.ITEMS.split("\n"))),
    "thing": rf"\b(?:{'|'.join(sources_data.THINGS)})\b",
    "n": r"(?<![\d:.-])\d{1,2}(?![\d:.,-])",
}


class _Text:
    """A text in the folder, and the order about it."""

    def __init__(self, play: Play, lines: int = 0) -> None:
        self.play = play
        self.rng = play.rng
        self.path, self.content = _notes(self.rng, lines) if lines else make_prose(self.rng)
        self.lines = self.content.removesuffix("\n").split("\n")

    def order(self, order: str, word: str = "", *, exact_end: bool = False) -> None:
        """Lay out the files, say the order, find the file and read it."""
        self.play.file(self.path, self.content)
        sources.distract(self.play, self.path)
        target = aim(self.rng, self.path, word if len(word) > 4 and self.rng.random() < 0.6 else "")
        if exact_end and target.said:
            order = self.rng.choice((f"in {target.said} {order}", f"{target.said}: {order}"))
        else:
            order = place(self.rng, order, target)
        self.play.user(order_text(self.rng, order, exact_end=exact_end))
        target.find(self.play)
        self.play.read(self.path)

    def number_of(self, part: str) -> int:
        """The number of the only line that holds a text."""
        found = [number for number, line in enumerate(self.lines, 1) if part in line]
        if len(found) != 1 or self.lines[found[0] - 1].count(part) != 1:
            raise Unfit("not in one place")
        return found[0]


def _notes(rng: Random, count: int) -> tuple[str, str]:
    names = "notes.txt todo.txt log.txt labbook.txt journal.md ideas.md memo.txt scratch.txt messages.txt"
    lines: list[str] = []
    while len(lines) < count:
        if (line := text_line(rng)) not in lines:
            lines.append(line)
    if rng.random() < 0.3:
        mark = rng.choice(("- ", "* ", "> ", f"{value(rng, 'date')} "))
        lines = [mark + line for line in lines]
    if rng.random() < 0.25:
        lines = ["# " + rng.choice(("Notes", "Log", "Ideas", "This week", "Lab")), "", *lines]
    return sources.in_folder(rng, rng.choice(names.split()), 0.3), "\n".join(lines) + "\n"


def _some_text(play: Play) -> _Text:
    return _Text(play, play.rng.choice((0, 0, 0, 3, 4, 5, 6, 7)))


def _part(rng: Random, text: _Text) -> tuple[str, str]:
    """A value in the text, and a new one of its kind."""
    found = [
        (match[0], kind) for kind, pattern in PATTERNS.items() for match in re.finditer(pattern, text.content)
    ]
    found = [(old, kind) for old, kind in found if text.content.count(old) == 1]
    if not found:
        raise Unfit("nothing to replace")
    old, kind = rng.choice(found)
    new = sources.other_value(rng, kind, old)
    if new in text.content:
        raise Unfit("it is there already")
    return old, new


def _replace(text: _Text, old: str, new: str) -> int:
    number = text.number_of(old)
    text.play.set_lines(text.path, number, text.lines[number - 1].replace(old, new))
    return number


def replace_part(play: Play) -> None:
    """A name, date, number or thing that becomes another."""
    rng = play.rng
    text = _some_text(play)
    old, new = _part(rng, text)
    mark = rng.choice(("{}", "{}", '"{}"', "'{}'"))
    text.order(one_frame(rng, REPLACE, o=mark.format(old), n=mark.format(new)), old)
    _replace(text, old, new)
    play.say(f"Changed {old} to {new} in {text.path}.")


def replace_two(play: Play) -> None:
    """Two values in one order."""
    rng = play.rng
    text = _some_text(play)
    pairs = [_part(rng, text), _part(rng, text)]
    if pairs[0][0] in pairs[1][0] or pairs[1][0] in pairs[0][0]:
        raise Unfit("the same")
    frames = """
{o} should be {n} and {p} should be {m}
replace {o} by {n} and {p} by {m}
two (things|corrections): {n} instead of {o}, {m} instead of {p}
it's {n}, not {o}, and {m}, not {p}
change {o} to {n}, {p} to {m}
"""
    (old, new), (other_old, other_new) = pairs
    text.order(one_frame(rng, frames, o=old, n=new, p=other_old, m=other_new), old)
    numbers = [text.number_of(old), text.number_of(other_old)]
    if numbers[0] == numbers[1]:
        line = text.lines[numbers[0] - 1].replace(old, new).replace(other_old, other_new)
        play.set_lines(text.path, numbers[0], line)
    else:
        _replace(text, old, new)
        _replace(text, other_old, other_new)
    play.say(f"Changed {old} to {new} and {other_old} to {other_new} in {text.path}.")


def typo(play: Play) -> None:
    """A misspelled word."""
    rng = play.rng
    text = _some_text(play)
    words = [word for word in re.findall(r"[A-Za-zÀ-ž]{5,}", text.content) if text.content.count(word) == 1]
    if not words:
        raise Unfit("no word")
    right = rng.choice(words)
    at = rng.randrange(1, len(right) - 2)
    wrong = rng.choice((right[:at] + right[at + 1 :], right[:at] + right[at] + right[at:], right[:-1]))
    if wrong == right or wrong in text.content.replace(right, ""):
        raise Unfit("no typo")
    text.content = text.content.replace(right, wrong)
    text.lines = text.content.removesuffix("\n").split("\n")
    mark = rng.choice(("{}", "{}", '"{}"', "'{}'"))
    text.order(one_frame(rng, TYPO, o=mark.format(wrong), n=mark.format(right)), wrong)
    if right in text.content:
        text.content = text.content.replace(wrong, right)
    _replace(text, wrong, right)
    play.say(f"Corrected {wrong} to {right} in {text.path}.")


def everywhere(play: Play) -> None:
    """A word that is in the text several times."""
    rng = play.rng
    text = _some_text(play)
    words = re.findall(r"\b[A-Za-zÀ-ž]{4,}\b", text.content)
    often = sorted(
        {word for word in words if words.count(word) > 1 and text.content.count(word) == words.count(word)}
    )
    if not often:
        raise Unfit("nothing twice")
    old = rng.choice(often)
    new = rng.choice((value(rng, "word"), value(rng, "thing"), value(rng, "word").capitalize()))
    text.order(one_frame(rng, EVERYWHERE, o=old, n=new), old)
    play.replace_all(text.path, old, new)
    play.say(f"Replaced {old} by {new} in {text.path} ({words.count(old)} places).")


def append(play: Play) -> None:
    """A line at the end."""
    rng = play.rng
    text = _some_text(play)
    new = text_line(rng)
    text.order(one_frame(rng, APPEND, v=quoted(rng, new, bare=0.6)), exact_end=True)
    play.insert_after(text.path, len(text.lines), new)
    play.say(f"Added “{new}” at the end of {text.path}.")


def at_top(play: Play) -> None:
    """A line at the top: a title, a date, a note."""
    rng = play.rng
    text = _some_text(play)
    title = f"# {value(rng, 'thing').capitalize()}s"
    version = f"Version {value(rng, 'version')}"
    new = rng.choice((title, "Draft", value(rng, "date"), "CONFIDENTIAL", version, text_line(rng)))
    if new in text.lines:
        raise Unfit("it is there")
    text.order(one_frame(rng, TOP, v=quoted(rng, new, bare=0.5)), exact_end=True)
    play.insert_after(text.path, 0, new)
    play.say(f"Added “{new}” at the top of {text.path}.")


def _short(rng: Random, line: str) -> str:
    """What a person says to mean a line: the whole of it or some words."""
    words = line.lstrip("#-*> 0123456789.").split()
    if len(words) < 4 or rng.random() < 0.3:
        return line
    start = rng.randrange(len(words) - 2)
    return " ".join(words[start : start + rng.randint(2, 3)]).strip(".,:;")


def _unique_line(rng: Random, text: _Text) -> tuple[int, str]:
    """A line and words that only this line has."""
    candidates = [number for number, line in enumerate(text.lines, 1) if len(line) > 6]
    number = rng.choice(candidates)
    said = _short(rng, text.lines[number - 1])
    if text.number_of(said) != number:
        raise Unfit("not in one place")
    return number, said


def beside(play: Play) -> None:
    """A line above or below another."""
    rng = play.rng
    text = _Text(play, rng.randint(3, 7))
    number, anchor = _unique_line(rng, text)
    new = text_line(rng)
    frame, _, where = rng.choice(ABOVE_BELOW.split("\n")).rpartition(" | ")
    order = one_frame(rng, frame, v=quoted(rng, new, bare=0.0), a=quoted(rng, anchor, bare=0.0))
    text.order(order, exact_end=True)
    play.insert_after(text.path, number - (where == "above"), new)
    play.say(f"Added “{new}” {where} “{text.lines[number - 1]}” in {text.path}.")


def delete_line(play: Play) -> None:
    """A line that goes, named by some of its words."""
    rng = play.rng
    text = _some_text(play)
    number, said = _unique_line(rng, text)
    text.order(one_frame(rng, DELETE_LINE, v=quoted(rng, said, bare=0.4)), said.split()[-1] if said else "")
    play.delete_lines(text.path, number)
    play.say(f"Removed the line “{text.lines[number - 1].strip()}” from {text.path}.")


def _numbered_line(rng: Random, text: _Text) -> tuple[int, str]:
    number = rng.randint(1, min(len(ORDINALS), len(text.lines)))
    word = ORDINALS[number - 1]
    if rng.random() < 0.35:
        number, word = len(text.lines), "last"
    if not text.lines[number - 1].strip():
        raise Unfit("an empty line")
    return number, word


def delete_by_number(play: Play) -> None:
    """A line that goes, named by its number."""
    rng = play.rng
    text = _some_text(play)
    number, word = _numbered_line(rng, text)
    text.order(one_frame(rng, BY_NUMBER, n=str(number), w=word))
    play.delete_lines(text.path, number)
    play.say(f"Removed line {number} from {text.path}: “{text.lines[number - 1].strip()}”.")


def set_by_number(play: Play) -> None:
    """A line with a new text, named by its number."""
    rng = play.rng
    text = _Text(play, rng.randint(3, 7))
    number, word = _numbered_line(rng, text)
    new = text_line(rng)
    order = one_frame(rng, SET_LINE, n=str(number), w=word, v=quoted(rng, new, bare=0.6))
    text.order(order, exact_end=True)
    play.set_lines(text.path, number, new)
    play.say(f"Line {number} of {text.path} is now “{new}”.")


def upper(play: Play) -> None:
    """A line in capitals."""
    rng = play.rng
    text = _some_text(play)
    number, word = _numbered_line(rng, text)
    text.order(one_frame(rng, UPPER, n=str(number), w=word))
    play.set_lines(text.path, number, text.lines[number - 1].upper())
    play.say(f"Line {number} of {text.path} is now in upper case: {text.lines[number - 1].upper()}")


def under_heading(play: Play) -> None:
    """A line below a Markdown heading."""
    rng = play.rng
    heads = rng.sample(
        ("Ideas", "Open", "Done", "Food", "People", "Usage", "Links", "Next week", "Music", "Bugs"), 3
    )
    path = sources.in_folder(
        rng, rng.choice(("plan.md", "notes.md", "wiki.md", "project.md", "trip.md")), 0.3
    )
    lines, ends = ["# " + value(rng, "thing").capitalize(), ""], {}
    for head in heads:
        lines += [f"## {head}", ""] + [f"- {text_line(rng)}" for _ in range(rng.randint(1, 3))]
        ends[head] = len(lines)
        lines.append("")
    text = _Text(play, 3)
    text.path, text.content, text.lines = path, "\n".join(lines[:-1]) + "\n", lines[:-1]
    head, new = rng.choice(heads), text_line(rng)
    frames = """
add {v} under {h}
(put|write) {v} (under|below|into) (the heading|the section|) {h}
under {h} (add|put|I want) {v}
{h} needs another point: {v}
new point in {h}: {v}
"""
    order = one_frame(rng, frames, v=quoted(rng, new, bare=0.3), h=head)
    text.order(order, exact_end=True)
    play.insert_after(path, ends[head], f"- {new}")
    play.say(f"Added “{new}” under {head} in {path}.")


def foreign(play: Play) -> None:
    """A replacement asked for in German, French or Spanish."""
    rng = play.rng
    text = _some_text(play)
    old, new = _part(rng, text)
    frames, answer, where = FOREIGN[rng.choice(list(FOREIGN))]
    order = one_frame(rng, frames, o=old, n=new)
    play.file(text.path, text.content)
    sources.distract(play, text.path)
    named = rng.random() < 0.75
    if named:
        order = rng.choice((f"{text.path}: {order}", f"{where.format(f=text.path)} {order}"))
    play.user(order)
    if not named:
        play.grep(old)
    play.read(text.path)
    _replace(text, old, new)
    play.say(answer.format(o=old, n=new, f=text.path))


FAMILIES = (
    Family(replace_part, 1.6),
    Family(replace_two, 1.0),
    Family(typo, 0.9),
    Family(everywhere, 0.5),
    Family(append, 1.1),
    Family(at_top, 0.5),
    Family(beside, 0.6),
    Family(delete_line, 0.8),
    Family(delete_by_number, 0.5),
    Family(set_by_number, 0.4),
    Family(upper, 0.2),
    Family(under_heading, 0.5),
    Family(foreign, 0.5),
)
