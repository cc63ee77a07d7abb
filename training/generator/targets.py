"""How an order names a file, or does not, and how the file is then found."""

import re
from random import Random

from msgspec import Struct

from training.generator.frames import one_frame
from training.generator.phrases import POLITE_BEFORE, vary
from training.generator.play import Play, Unfit

WELL_KNOWN = {
    "Dockerfile": ("the dockerfile", "our docker file", "Dockerfile"),
    "Makefile": ("the makefile", "our Makefile", "the make file"),
    "README.md": ("the readme", "our README", "the read me"),
    "CHANGELOG.md": ("the changelog", "our change log"),
    "LICENSE": ("the license", "the licence file"),
    "package.json": ("the package file", "package.json", "the npm package"),
    "pyproject.toml": ("the pyproject", "the project file", "pyproject"),
    "Cargo.toml": ("the cargo file", "the cargo manifest"),
    "requirements.txt": ("the requirements", "our requirements file"),
    "compose.yaml": ("the compose file", "docker compose"),
    "refs.bib": ("my bib file", "the bibliography"),
    "crontab.txt": ("the crontab", "my cron table"),
    "letter.txt": ("the letter", "my letter"),
    "minutes.md": ("the minutes", "the meeting minutes"),
    "diary.txt": ("my diary", "the diary"),
    "poem.txt": ("the poem", "my poem"),
    "invitation.txt": ("the invitation",),
    "rules.md": ("the house rules", "the rules"),
    "subtitles.srt": ("the subtitles", "the subtitle file"),
    "faq.md": ("the FAQ", "the faq page"),
    "story.txt": ("the story", "my story"),
    "menu.txt": ("the menu", "our menu"),
    "report.tex": ("the report", "my latex report"),
    "index.html": ("the web page", "the start page", "the html page"),
}
BY_ENDING = {
    "toml": "(the|our|my) (config|config file|toml|toml file|{s} config|settings)",
    "ini": "(the|our|my) (config|ini file|{s} ini|{s} settings|settings)",
    "cfg": "(the|our) (config|cfg|cfg file|{s} config)",
    "conf": "(the|our) (config|conf file|{s} conf|{s} config)",
    "yaml": "(the|our|my) (config|yaml|yaml file|{s} yaml|{s} settings)",
    "yml": "(the|our) (config|yml|yaml file|{s} config)",
    "json": "(the|our|my) (json|json file|{s} json|{s} file)",
    "properties": "(the|our) (properties|properties file|{s} properties)",
    "csv": "(the|our|my) ({s} csv|{s} table|{s} list|{s} file)",
    "tsv": "(the|my) ({s} table|{s} list)",
    "txt": "(the|my|our) ({s} list|{s} file|{s} text|{s} notes)",
    "md": "(the|my|our) ({s} list|{s} page|{s} notes|{s} file|markdown file)",
    "html": "(the|our) ({s} page|html|web page)",
    "css": "(the|our) (stylesheet|css|{s} css)",
    "sql": "(the|our) (sql file|{s} sql|sql script)",
    "sh": "(the|my) ({s} script|shell script)",
    "py": "(the|my) ({s} script|python file|{s} program|{s} module)",
    "js": "(the|my) ({s} script|js file|javascript)",
    "h": "the (header|header file|{s} header)",
}


class Target(Struct, frozen=True):
    """The file of an order."""

    path: str
    said: str
    """How the order names it; empty if it does not."""
    how: str
    """`path`, `name` (without the folder), `kind` (what it is), or empty."""
    word: str
    """A distinctive word of the order that is in the file."""

    def find(self, play: Play) -> None:
        """Call what is needed to know the path."""
        if self.how == "name":
            play.glob(f"**/{self.path.rpartition('/')[2]}")
        elif self.how == "" and self.word:
            shown = play.grep(re.sub(r"([.+*?()\[\]{}|^$\\])", r"\\\1", self.word))
            if any(not line.startswith(f"{self.path}:") for line in shown.strip().split("\n")):
                raise Unfit("the word is in another file too")
        elif self.how != "path":
            play.glob("**/*")


def aim(rng: Random, path: str, word: str = "", *, named: bool = False, vague: bool = False) -> Target:
    """Decide how an order names a file; a vague order does not fit one file only, so it must name it."""
    name = path.rpartition("/")[2]
    if vague:
        said = _kind(rng, name) if rng.random() < 0.25 else ""
        return Target(path, said, "kind", "") if said else aim(rng, path, named=True)
    if named or name.startswith(".") or rng.random() < 0.55:
        if name != path and not named and rng.random() < 0.4:
            return Target(path, _quoted(rng, name), "name", word)
        return Target(path, _quoted(rng, path), "path", word)
    if rng.random() < 0.4:
        said = _kind(rng, name)
        if said:
            return Target(path, said, "kind", word)
    return Target(path, "", "", word)


def _quoted(rng: Random, path: str) -> str:
    mark = rng.choice(("", "", "", "", "", "", "`", '"', "'"))
    return f"{mark}{path}{mark}"


def _kind(rng: Random, name: str) -> str:
    if name in WELL_KNOWN:
        return rng.choice(WELL_KNOWN[name])
    stem, _, ending = name.rpartition(".")
    frame = BY_ENDING.get(ending, "")
    return one_frame(rng, frame, s=stem.replace("_", " ")) if frame else ""


PLACES = """
{o} in {f}
{o} in {f}
{o} (in the file|in file|inside|over in) {f}
{o} ({f})
{o}, (file|it is in|that is in|see|this is about) {f}
in {f} {o}
in {f}, {o}
in {f}: {o}
{f}: {o}
{f} - {o}
(about|regarding|for) {f}: {o}
(there is|I have) {f} here, {o}
(look at|take|open|go to|it is about) {f}: {o}
"""


def place(rng: Random, order: str, target: Target) -> str:
    """Name the file in an order, before or after it."""
    if not target.said:
        return order
    mark = order[-1] if order[-1] in "?" else ""
    frame = rng.choice(PLACES.strip().split("\n"))
    order = order.removesuffix(mark)
    if frame.startswith("{o}"):
        frame += mark
    return one_frame(rng, frame.replace("({f})", "\x01"), o=order, f=target.said).replace(
        "\x01", f"({target.said})"
    )


CONTEXT = """
(it|this) broke again yesterday.
I (talked|spoke) to (the team|my sister|the customer|my boss) today.
(small|one|another) (change|thing|correction).
we decided (something|that) (today|yesterday|in the meeting).
I (always forget|cannot find|never remember) where that is.
sorry, (I am new here|my English is not good|quick question).
(new day, new plan|change of plans).
I made a mistake (yesterday|there|last week).
(the customer|my teacher|our neighbour) complained.
""".strip()


def order_text(rng: Random, order: str, *, exact_end: bool = False) -> str:
    """An order as someone types it; with `exact_end` its end is content that stays as it is."""
    if rng.random() < 0.06:
        order = f"{one_frame(rng, CONTEXT)} {order}"
    if not exact_end:
        return typed(rng, order)
    if re.match(r"[a-z]+ ", order) and rng.random() < 0.3:
        order = order[0].upper() + order[1:]
    if rng.random() < 0.12:
        order = f"{rng.choice(POLITE_BEFORE)} {order}"
    return order


def typed(rng: Random, order: str) -> str:
    """Vary an order that begins in lower case, unless it begins with a name or value."""
    if re.match(r"[a-zäöüéà¿]+[ ,]", order):
        return vary(rng, order[0].upper() + order[1:] if rng.random() < 0.6 else order)
    return vary(rng, f"\x02{order}").replace("\x02", "")


def quoted(rng: Random, text: str, *, bare: float = 0.3) -> str:
    """Put a text into quotation marks of some kind, or into none."""
    if rng.random() < bare:
        return text
    marks = [
        pair
        for pair in ("``", '""', '""', "''", "“”", "«»", "„“")
        if pair[0] not in text and pair[1] not in text
    ]
    return text.join(rng.choice(marks or ["``"]))
