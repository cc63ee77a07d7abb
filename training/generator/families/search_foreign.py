"""Questions in six languages: which file is about something, and which files are in a folder."""

import re
from random import Random

from training.generator import search_foreign_frames as frames
from training.generator.families.search import evidence, files_of, hits_of
from training.generator.folders import some_folder
from training.generator.frames import ask_foreign, joined, spell
from training.generator.play import Family, Play, Unfit

ARTICLE = re.compile(r"(die|der|das|den|la|el|las|los|le|les|il|i|o|os|a|as|de|het) |l'")


def _split(row: str) -> list[str]:
    return row.split(" | ")


def _lines(rng: Random, language: str, row: list[str]) -> list[str]:
    """Return lines of a file, one of which is about a topic."""
    rows = rng.sample(frames.FILLERS[language], rng.randint(1, 3))
    rows.insert(rng.randint(0, len(rows)), rng.choice(row[3].split(" ; ")))
    mark = rng.choice(("", "", "- ", "* "))
    return [mark + line for line in rows]


def _question(rng: Random, language: str, asked: str) -> str:
    frame = rng.choice([row for row in map(_split, frames.ASKED) if row[0] == language])[1]
    bare = ARTICLE.sub("", asked, count=1) if ARTICLE.match(asked) else asked
    topic = bare if rng.random() < 0.2 else asked
    return ask_foreign(rng, frame, t=topic, T=bare).replace("  ", " ").replace(" :", ":")


def which_file(play: Play) -> None:
    """The file that is about a topic, in the language of the files."""
    rng = play.rng
    wanted = _split(rng.choice(frames.TOPICS if rng.random() < 0.75 else frames.STEMS))
    language, asked, stem, _ = wanted
    others = [row for row in map(_split, frames.TOPICS) if row[0] == language and row[2] != stem]
    count = rng.randint(2, 5)
    chosen = [*rng.sample(others, count), *([wanted] * rng.choice((0, *[1] * 9, 2)))]
    folder = rng.choice(frames.FOLDERS[language])
    end = rng.choice((".txt", ".txt", ".md"))
    names = rng.sample(frames.NAMES[language], len(chosen))
    for name, row in zip(names, chosen, strict=True):
        play.file(f"{folder}{name}{end}", "\n".join(_lines(rng, language, row)) + "\n")
    play.user(_question(rng, language, asked))
    hits = hits_of(play.grep(f"(?i){stem}"))
    if len(files_of(hits)) != chosen.count(wanted):
        raise Unfit("the stem is elsewhere")
    if not hits:
        play.say(frames.NONE[language])
        return
    files = joined(files_of(hits), frames.AND[language])
    play.say(f"{evidence(hits)}\n{spell(rng, frames.FOUND[language], f=files)}")


def folder_files(play: Play) -> None:
    """The files of one folder, listed or counted."""
    rng = play.rng
    folder = some_folder(rng, 5, 14)
    places = [place for place in folder.folders() if "/" not in place]
    if len(places) < 2:
        raise Unfit("too few folders")
    for path, content in folder.files.items():
        play.file(path, content)
    place = rng.choice(places)
    said = rng.choice((place, place, f"{place}/"))
    if rng.random() < 0.25:
        _, frame, closing = _split(rng.choice(frames.COUNTED))
        play.user(ask_foreign(rng, frame, folder=said).replace("  ", " "))
        names = play.glob(f"{place}/**/*").split("\n")
        listed = "\n".join(f"{at}. {name}" for at, name in enumerate(names, 1))
        play.say(f"{listed}\n{closing.replace('{n}', str(len(names)))}")
        return
    _, frame = _split(rng.choice(frames.LISTED))
    play.user(ask_foreign(rng, frame, folder=said).replace("  ", " "))
    play.say(play.glob(f"{place}/**/*"))


FAMILIES = (Family(which_file, 2.4), Family(folder_files, 1.4))
