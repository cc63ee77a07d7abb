"""Files that people ask for without dictating them: lists, poems, letters; also in new folders."""

from random import Random

from training.generator import create_texts, sources
from training.generator.families.create import show
from training.generator.frames import one_frame
from training.generator.play import Family, Play
from training.generator.targets import order_text, quoted
from training.generator.word_pools import DAYS, FIRST_NAMES, GOODS, MONTHS, SURNAMES, TOWNS

LIST = """
(create|make|write) {f} with {w}{h}
{f} (with|containing) {w}{h}(, please|)
put {w} (into|in) {f}{h}
I need {w} in (a file |){f}{h}
(please |)write {w} (to|into) {f}{h}
{w} in {f} please{h}
new file {f}: {w}{h}
(can|could) you make {f} with {w}{h}?
save {w} as {f}{h}
{f} should (list|contain) {w}{h}
make me {w} in {f}{h}
for my (class|kids|project|team) I need {f} with {w}{h}
write down {w} for me{h}, file {f}
""".strip()
HOW = {
    "plain": ("", "", ", one per line", ", each on its own line", " (one per line)"),
    "dash": (" as bullets", " as a bullet list", ", as markdown bullets", " with - before each"),
    "number": (" as a numbered list", ", numbered", ", with numbers 1. 2. 3."),
    "box": (" as a checklist", " with checkboxes", " with boxes to tick"),
}
MARKS = {"plain": "", "dash": "- ", "box": "- [ ] "}
POEM = """
write (a|me a) {k} about {t} (into|to|in) {f}
(create|make) {f} with a {k} about {t}
{f} with a {k} about {t} (please|)
I (want|would like) a {k} about {t} in {f}
put a (nice |little |)?{k} about {t} (into|in) {f}
can you write a {k} about {t} and save it (as|in) {f}?
(save|store) a {k} about {t} as {f}
a {k} on {t}, file {f}
{f}: a {k} about {t}
my (teacher|friend|daughter) wants a {k} about {t}. put it in {f}
""".replace("?{k}", "{k}").strip()
JOKE = """
write a joke (into|to) {f}
put a (short|clean|silly|good) joke in {f}
(create|make) {f} with a joke
{f} with a joke please
I need {f} with one joke (for the kids|for the party|)
tell a joke in {f}, not here
""".strip()
DEAR = ("Dear {to},", "Hello {to},", "Dear {to}")
LETTERS = """
apology | (tell|write to) {to} that I am sorry about the {g} | I am sorry about the {g}.
lateness | (tell|write) {to} that I (come|will come) later on {d} | I will come later on {d}.
invitation | invite {to} to (my|our) party on {d} in {c} | You are invited to our party on {d} in {c}.
thanks | thank {to} for the {g} | Thank you very much for the {g}.
absence | (tell|say to) {to} that I am ill and cannot come on {d} | I am ill and cannot come on {d}.
reminder | remind {to} to bring the {g} on {d} | Please remember to bring the {g} on {d}.
question | ask {to} whether the {g} is still for sale | Is the {g} still for sale?
complaint | complain to {to} that the {g} arrived broken | The {g} arrived broken. Please send a new one.
cancellation | cancel the appointment with {to} on {d} | I have to cancel our appointment on {d}.
order | order {n} {g}s from {to} | I would like to order {n} {g}s.
visit | (tell|write) {to} that I will be in {c} on {d} | I will be in {c} on {d}.
return | tell {to} that the {g} comes back on {d} | The {g} comes back on {d}.
moved | tell {to} that we moved to {c} | We moved to {c}.
birthday | wish {to} a happy birthday | Happy birthday and all the best!
congratulation | congratulate {to} on the new job | Congratulations on the new job!
loan | ask {to} to lend me the {g} until {d} | Could you lend me the {g} until {d}?
meeting | ask {to} for a meeting on {d} at {h} | Could we meet on {d} at {h}?
""".strip()
LETTER = """
write a (short |)(letter|note|mail) {f}: {what}(, signed|. Sign it with|, from) {me}
{f}: {what}, signed {me}
(create|make) a (letter|short letter|message) in {f}. {what}, sign (as|with) {me}
I need a letter in {f}, (please |){what}. {me} signs
(draft|write) {f} for me: {what}. My name is {me}
a (polite|short|friendly) note in {f} please: {what}. it is from {me}
""".strip()
SAYING = """
write a (letter|note|mail|message) to {to} saying {c}(, signed| and sign it with|, from) {me}(, file| in) {f}
(create|make) {f}, a (letter|note|message) to {to} that says {c}, signed {me}
{f}: (letter|note|card) to {to}, {c}, signed {me}
I need a (letter|card|note) for {to} in {f}: {c}. (sign it|sign) {me}
put a note to {to} in {f} saying {c}, signed {me}
(draft|write) {f}: dear {to}, {c}, best regards {me}
""".strip()
FOLDERS = """
letters texts poems lists notes docs drafts out data new home school private mail 2025 2026 kids club work
stuff summer archive plans project1 week1 chapter1 shopping texts/new docs/lists home/private school/term2
work/2026
""".split()


def folder_path(rng: Random, name: str) -> str:
    """Return a path, at times in a folder that does not exist yet."""
    return f"{rng.choice(FOLDERS)}/{name}" if rng.random() < 0.35 else name


def _listed(kind: str, items: list[str]) -> str:
    if kind == "number":
        return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))
    return "\n".join(MARKS[kind] + item for item in items)


def _order(play: Play, order: str, path: str) -> None:
    sources.distract(play, path, most=3)
    play.user(order_text(play.rng, order))


NUMBER_WORDS = {3: "three", 4: "four", 5: "five", 6: "six"}


def known_list(play: Play) -> None:
    """A list that everybody knows, such as the days of the week."""
    rng = play.rng
    names, said, listed = rng.choice(create_texts.KNOWN_LISTS.split("\n")).split(" | ")
    items = listed.split(", ")
    said = said.split(", ")[0] if "," in said and rng.random() < 0.5 else rng.choice(said.split(", "))
    _write_list(play, names, said, items)


def short_list(play: Play) -> None:
    """A few items of some kind, at times with their number."""
    rng = play.rng
    names, said, listed = rng.choice(create_texts.OPEN_LISTS.split("\n")).split(" | ")
    items = (
        listed.split("., ")
        if "., " in listed
        else listed.split("?, ")
        if "?, " in listed
        else listed.split(", ")
    )
    mark = "." if "., " in listed else "?" if "?, " in listed else ""
    items = [item if item.endswith(mark) else item + mark for item in items]
    what = rng.choice(said.split(", "))
    if rng.random() < 0.5 and len(items) >= 3:
        count = rng.randint(3, min(6, len(items)))
        items = items[:count]
        number = rng.choice((str(count), NUMBER_WORDS[count]))
        plural = what.removeprefix("some ").removeprefix("a few ")
        is_bare = what.startswith(("some ", "tips", "names", "questions", "ideas")) and plural[0].isalpha()
        what = f"{number} {plural}" if is_bare else f"{what} ({number} things)"
    _write_list(play, names, what, items)


def _write_list(play: Play, names: str, said: str, items: list[str]) -> None:
    rng = play.rng
    path = folder_path(rng, rng.choice(names.split(", ")))
    kind = rng.choice(("plain", "plain", "plain", "dash", "number", "box"))
    order = one_frame(rng, LIST, f=show(rng, path), w=said, h=rng.choice(HOW[kind]))
    if kind == "plain" and path.endswith(".md") and "line" not in order:
        kind = "dash"
    _order(play, order, path)
    play.write(path, _listed(kind, items))
    play.say(f"Created {path} with {sources.count_of(len(items), 'entry').replace('entrys', 'entries')}.")


def poem(play: Play) -> None:
    """A haiku or a poem that is written into the file, not into the answer."""
    rng = play.rng
    is_haiku = rng.random() < 0.6
    kind = "haiku" if is_haiku else rng.choice(("poem", "short poem", "rhyme", "little poem"))
    table = create_texts.HAIKU if is_haiku else create_texts.POEMS
    topics, *texts = rng.choice(table.split("\n")).split(" | ")
    stem = (
        rng.choice(("haiku", "poem", "verse", "text", "lines"))
        if is_haiku
        else rng.choice(("poem", "rhyme", "card"))
    )
    path = folder_path(rng, stem + rng.choice((".txt", ".txt", ".md")))
    topic = rng.choice(topics.split(", "))
    _order(play, one_frame(rng, POEM, f=show(rng, path), k=kind, t=topic), path)
    play.write(path, "\n".join(rng.choice(texts).split(" / ")))
    play.say(f"Created {path} with a {kind} about {topic}.")


def joke(play: Play) -> None:
    """A joke that is written into the file."""
    rng = play.rng
    path = folder_path(rng, rng.choice(("joke.txt", "funny.txt", "fun.md", "jokes.txt", "laugh.txt")))
    _order(play, one_frame(rng, JOKE, f=show(rng, path)), path)
    play.write(path, rng.choice(create_texts.JOKES.split("\n")))
    play.say(f"Created {path} with a joke.")


def letter(play: Play) -> None:
    """A short letter that says something to somebody."""
    rng = play.rng
    kind, what, body = rng.choice(LETTERS.split("\n")).split(" | ")
    to = rng.choice(
        (rng.choice(FIRST_NAMES), f"{rng.choice(('Mr', 'Mrs', 'Ms', 'Dr'))} {rng.choice(SURNAMES)}")
    )
    me = rng.choice((rng.choice(FIRST_NAMES), f"{rng.choice(FIRST_NAMES)} {rng.choice(SURNAMES)}"))
    day = rng.choice((rng.choice(DAYS), f"{rng.randint(1, 28)} {rng.choice(MONTHS)}"))
    slots = {"to": to, "g": rng.choice(GOODS), "d": day, "c": rng.choice(TOWNS), "n": str(rng.randint(2, 40))}
    slots["h"] = f"{rng.randint(8, 19)}:{rng.choice(('00', '15', '30'))}"
    path = folder_path(
        rng,
        rng.choice((kind, "letter", "note", "mail", to.split()[-1].lower())) + rng.choice((".txt", ".md")),
    )
    said = one_frame(rng, what, **slots)
    _order(play, one_frame(rng, LETTER, f=show(rng, path), what=said, me=me), path)
    text = f"Dear {to},\n\n{body.format(**slots)}\n\n{rng.choice(('Best regards', 'Kind regards'))}\n{me}"
    play.write(path, text)
    play.say(f"Created {path} with a letter to {to}, signed {me}.")


def letter_saying(play: Play) -> None:
    """A short letter whose text is in the order."""
    rng = play.rng
    to, me = rng.sample(FIRST_NAMES, 2)
    text = sources.text_line(rng)
    mark = rng.choice((".", "", "")) if text[-1].isalnum() else ""
    text = text[0].upper() + text[1:] + mark
    path = folder_path(
        rng, rng.choice(("letter", "note", "mail", "card", to.lower())) + rng.choice((".txt", ".md"))
    )
    _order(play, one_frame(rng, SAYING, f=show(rng, path), to=to, c=quoted(rng, text, bare=0), me=me), path)
    play.write(path, f"Dear {to},\n\n{text}\n\nBest regards\n{me}")
    play.say(f"Created {path} with a letter to {to}, signed {me}.")


FAMILIES = (
    Family(known_list, 1.0),
    Family(short_list, 1.4),
    Family(poem, 0.9),
    Family(joke, 0.2),
    Family(letter, 1.2),
    Family(letter_saying, 0.6),
)
