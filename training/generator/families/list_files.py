"""Orders that list files: all, of a kind, in a folder, how many, is there one, the largest, the newest."""

import posixpath
from collections import Counter
from collections.abc import Callable
from random import Random

from training.generator import listing_frames as frames
from training.generator.folder_words import POOLS
from training.generator.folders import Folder, ending, some_folder
from training.generator.frames import ask, ask_foreign, joined, one_frame, prompt, say, spell
from training.generator.play import Family, Play, Unfit


def _anything(folder: Folder) -> bool:
    return bool(folder.files)


def _lay(
    play: Play, least: int = 3, most: int = 14, wanted: Callable[[Folder], object] = _anything
) -> Folder:
    """Lay out a folder of this number of files for which `wanted` is true."""
    folder = some_folder(play.rng, least, most)
    for _ in range(200):
        if wanted(folder):
            break
        folder = some_folder(play.rng, least, most)
    for path, content in folder.files.items():
        play.file(path, content)
    return folder


def _found(shown: str) -> list[str]:
    return [] if shown == "No files found" else shown.split("\n")


def plural(noun: str) -> str:
    """Return a noun in the plural."""
    if noun.endswith(("ch", "sh", "s")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun: `1 file`, `3 files`."""
    return f"{count} {noun if count == 1 else plural(noun)}"


def numbered(names: list[str]) -> str:
    """Return names as a numbered list."""
    return "\n".join(f"{at}. {name}" for at, name in enumerate(names, 1))


def _say_counted(play: Play, names: list[str], noun: str) -> None:
    verb = "is" if play.rng.random() < 0.8 else "makes"
    play.say(f"{numbered(names)}\nThat {verb} {number_of(len(names), noun)}.")


def _kind_here(rng: Random, folder: Folder) -> str:
    kinds = sorted({ending(path) for path in folder.files} & set(frames.KINDS))
    if not kinds:
        raise Unfit("no kind of file that has a name")
    return rng.choice(kinds)


def _kind_absent(rng: Random, folder: Folder) -> str:
    return rng.choice(sorted(set(frames.KINDS) - {ending(path) for path in folder.files}))


def _none(rng: Random, noun: str) -> str:
    frame = "(There are no {kinds} here.|No {kinds} here.|I found no {kinds} here.|There is no {kind} here.)"
    return spell(rng, frame, kinds=plural(noun), kind=noun)


def list_all(play: Play) -> None:
    """All files, with those in folders."""
    _lay(play, least=1, most=18)
    prompt(play, frames.ALL)
    names = _found(play.glob("**/*"))
    play.say("\n".join(names))


def list_kind(play: Play) -> None:
    """The files of one kind, or that there are none."""
    rng = play.rng
    folder = _lay(play)
    kind = _kind_here(rng, folder) if rng.random() < 0.85 else _kind_absent(rng, folder)
    noun = rng.choice(frames.KINDS[kind])
    prompt(play, frames.OF_KIND, kinds=plural(noun))
    names = _found(play.glob(f"**/*.{kind}"))
    if not names:
        play.say(_none(rng, noun))
        return
    play.say("\n".join(names) + (f"\nThat is {number_of(len(names), noun)}." if rng.random() < 0.3 else ""))


def list_group(play: Play) -> None:
    """The files of a kind that has several endings, such as images; listed or counted."""
    rng = play.rng
    group = rng.choice(sorted(frames.GROUPS))
    endings = set(group.split(","))
    if rng.random() < 0.85:
        _lay(play, wanted=lambda folder: endings & {ending(path) for path in folder.files})
    else:
        _lay(play)
    noun = rng.choice(frames.GROUPS[group])
    counts = rng.random() < 0.4
    prompt(
        play,
        frames.COUNT_KIND if counts else rng.choice((frames.OF_KIND, frames.ANY_KIND)),
        kinds=plural(noun),
    )
    names = _found(play.glob(f"**/*.{{{group}}}"))
    if not names:
        play.say(_none(rng, noun))
    elif counts:
        _say_counted(play, names, noun)
    else:
        play.say("\n".join(names))


def count_kind(play: Play) -> None:
    """How many files of a kind there are."""
    rng = play.rng
    folder = _lay(play, least=5, most=20)
    kind = _kind_here(rng, folder) if rng.random() < 0.9 else _kind_absent(rng, folder)
    noun = rng.choice(frames.KINDS[kind])
    prompt(play, frames.COUNT_KIND, kinds=plural(noun))
    names = _found(play.glob(f"**/*.{kind}"))
    if names:
        _say_counted(play, names, noun)
    else:
        play.say(_none(rng, noun))


def any_kind(play: Play) -> None:
    """Whether there are files of a kind."""
    rng = play.rng
    folder = _lay(play)
    kind = _kind_here(rng, folder) if rng.random() < 0.5 else _kind_absent(rng, folder)
    noun = rng.choice(frames.KINDS[kind])
    prompt(play, frames.ANY_KIND, kinds=plural(noun))
    names = _found(play.glob(f"**/*.{kind}"))
    if names:
        play.say(f"Yes, {number_of(len(names), noun)}:\n" + "\n".join(names))
    else:
        say(
            play,
            "No, (there are no {kinds} here|there is no {kind} in this folder).",
            kinds=plural(noun),
            kind=noun,
        )


def list_folder(play: Play) -> None:
    """The files in one folder, at times with the kind or with their number."""
    rng = play.rng
    folder = _lay(play, least=5, most=18)
    if not folder.folders():
        raise Unfit("no folders")
    below = sorted({posixpath.dirname(path) for path in folder.files} - {""})
    where = rng.choice(folder.folders() if rng.random() < 0.7 else below)
    counts = rng.random() < 0.3
    prompt(play, frames.COUNT_FOLDER if counts else frames.IN_FOLDER, folder=where)
    names = _found(play.glob(f"{where}/**/*"))
    if counts:
        _say_counted(play, names, "file")
    else:
        play.say("\n".join(names))


def kind_in_folder(play: Play) -> None:
    """The files of a kind in one folder only."""
    rng = play.rng
    folder = _lay(play, least=5, most=18)
    pairs = sorted({(path.split("/")[0], ending(path)) for path in folder.files if "/" in path})
    pairs = [pair for pair in pairs if pair[1] in frames.KINDS]
    if not pairs:
        raise Unfit("no files in folders")
    where, kind = rng.choice(pairs)
    noun = rng.choice(frames.KINDS[kind])
    counts = rng.random() < 0.4
    block = frames.COUNT_KIND_IN_FOLDER if counts else frames.KIND_IN_FOLDER
    prompt(play, block, kinds=plural(noun), folder=where)
    names = _found(play.glob(f"{where}/**/*.{kind}"))
    if counts:
        _say_counted(play, names, noun)
    else:
        play.say("\n".join(names))


def count_all(play: Play) -> None:
    """How many files there are."""
    _lay(play, least=2, most=15)
    prompt(play, frames.COUNT_ALL)
    _say_counted(play, _found(play.glob("**/*")), "file")


def folders_here(play: Play) -> None:
    """The folders directly here, listed or counted."""
    rng = play.rng
    folder = _lay(play, least=5, most=20)
    counts = rng.random() < 0.3
    word = rng.choice(("folder", "directory", "subfolder"))
    prompt(play, frames.COUNT_FOLDERS if counts else frames.FOLDERS_HERE, folderword=word)
    shown = play.bash("ls -d */")
    if not folder.folders():
        say(play, "(There are no folders here.|There is no folder here, only files.)")
        return
    names = [name.rstrip("/") for name in shown.split("\n")]
    if counts:
        _say_counted(play, names, "folder")
    else:
        play.say("\n".join(names))


def hidden_files(play: Play) -> None:
    """The files whose name begins with a dot."""
    rng = play.rng
    folder = _lay(play, most=10)
    for name in rng.sample(
        (".env", ".gitignore", ".editorconfig", ".npmrc", ".hidden", ".profile", ".notes"), 2
    ):
        if name not in folder.files and rng.random() < 0.6:
            play.file(name, "# local\n")
    prompt(play, frames.HIDDEN)
    names = _found(play.glob("**/.*"))
    play.say(
        "\n".join(names) if names else spell(rng, "(There are no hidden files here.|No hidden files here.)")
    )


def _has_fullest(folder: Folder) -> bool:
    counts = sorted(Counter(path.split("/")[0] for path in folder.files if "/" in path).values())
    return len(counts) > 1 and counts[-1] > counts[-2]


def fullest_folder(play: Play) -> None:
    """The folder with the most files."""
    rng = play.rng
    folder = _lay(play, 6, 20, _has_fullest)
    name_only = rng.random() < 0.3
    ask_name = (
        rng.choice((" only the name", " just the folder name please", ", name only")) if name_only else ""
    )
    play.user(ask(rng, frames.FULLEST) + ask_name)
    shown = play.bash("find . -mindepth 2 -type f | cut -d/ -f2 | sort | uniq -c | sort -rn")
    rows = [line.split(None, 1) for line in shown.split("\n")]
    if len(folder.folders()) < 2 or rows[0][0] == rows[1][0]:
        raise Unfit("no folder has the most files")
    if name_only:
        play.say(rows[0][1])
        return
    answer = "{name}(, with {count} files.|: {count} files.| has the most files: {count}.)"
    say(play, answer, name=rows[0][1], count=rows[0][0])


def file_by_size(play: Play) -> None:
    """The largest or the smallest file."""
    rng = play.rng
    _lay(play, least=3, most=10)
    is_largest = rng.random() < 0.7
    prompt(play, frames.LARGEST if is_largest else frames.SMALLEST)
    order = "-rn" if is_largest else "-n"
    shown = play.bash(f"find . -type f -printf '%s %P\\n' | sort {order} | head -n 3")
    rows = [line.split(" ", 1) for line in shown.split("\n")]
    if rows[0][0] == rows[1][0]:
        raise Unfit("two of the same size")
    word = "largest" if is_largest else "smallest"
    answer = "({name}, with {size} bytes.|The {word} file is {name}, with {size} bytes.)"
    say(play, answer, name=rows[0][1], size=rows[0][0], word=word)


def file_by_date(play: Play) -> None:
    """The newest or the oldest file."""
    rng = play.rng
    folder = _lay(play, least=3, most=8)
    for at, path in enumerate(folder.paths()):
        day = f"20{rng.randint(19, 25)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        moment = f"{day} {rng.randint(7, 20):02}:{at + 10}"
        play.setup(f"touch -d '{moment}' '{path}'")
    is_newest = rng.random() < 0.75
    prompt(play, frames.NEWEST if is_newest else frames.OLDEST)
    order = "sort -r" if is_newest else "sort"
    shown = play.bash(f"find . -type f -printf '%TF %TH:%TM %P\\n' | {order} | head -n 3")
    day, hour, name = shown.split("\n")[0].split(" ", 2)
    word = "newest" if is_newest else "oldest"
    answer = "({name}, changed {when}.|The {word} file is {name}, last changed {when}.)"
    say(play, answer, name=name, when=f"{day} {hour}", word=word)


def names_like(play: Play) -> None:
    """Files whose name begins with or contains something, or has no ending."""
    rng = play.rng
    folder = _lay(play, least=5, most=14)
    base = posixpath.basename(rng.choice(folder.paths())).strip(".").split(".")[0]
    if len(base) < 4:
        raise Unfit("a short name")
    begins = rng.random() < 0.5
    size = rng.randint(3, min(6, len(base)))
    start = 0 if begins else rng.randint(0, len(base) - size)
    part = base[start : start + size].strip("-_ ")
    if len(part) < 3 or (part.lower() != part and not begins):
        raise Unfit("no part of a name")
    if rng.random() < 0.12:
        part = rng.choice(("zz", "final", "v2", "tmp", "old"))
    quoted = rng.choice((part, f'"{part}"', f"'{part}'"))
    prompt(play, frames.BEGINS if begins else frames.CONTAINS, part=quoted)
    names = _found(play.glob(f"**/{part}*" if begins else f"**/*{part}*"))
    how = f"begins with {part}" if begins else f"has {part} in its name"
    play.say("\n".join(names) if names else f"No file here {how}.")


def _bare(folder: Folder) -> list[str]:
    return [path for path in folder.paths() if "." not in posixpath.basename(path)]


def no_ending(play: Play) -> None:
    """Files without an extension."""
    folder = _lay(play, 4, 10, _bare) if play.rng.random() < 0.8 else _lay(play, 4, 10)
    bare = _bare(folder)
    prompt(play, frames.NO_ENDING)
    play.glob("**/*")
    play.say("\n".join(bare) if bare else "Every file here has an extension.")


def is_there(play: Play) -> None:
    """Whether a file is there, and where."""
    rng = play.rng
    folder = _lay(play)
    bases = [posixpath.basename(path) for path in folder.paths()]
    present = rng.random() < 0.5
    name = rng.choice(bases) if present else rng.choice(frames.MAYBE_FILES)
    if (not present and name in bases) or bases.count(name) > 1:
        raise Unfit("not sure")
    prompt(play, frames.IS_THERE, name=name)
    names = _found(play.glob(f"**/{name}"))
    if names and names[0] == name:
        say(play, "Yes, (there is a {name} here|{name} is here).", name=name)
    elif names:
        say(play, "Yes, (it is {path}|there is one: {path}|here: {path}).", path=names[0])
    else:
        say(
            play,
            "No, (there is no {name} here|{name} is not here|I see no {name} in this folder).",
            name=name,
        )


def where_is(play: Play) -> None:
    """The folder of a file."""
    rng = play.rng
    folder = _lay(play, least=4)
    deep = [path for path in folder.paths() if "/" in path]
    if not deep:
        raise Unfit("no file in a folder")
    path = rng.choice(deep)
    name = posixpath.basename(path)
    prompt(play, frames.WHERE, name=name)
    names = _found(play.glob(f"**/{name}"))
    if len(names) == 1:
        say(
            play,
            "({path}|It is in {where}: {path}|Here: {path})",
            path=path,
            where=posixpath.dirname(path),
        )
    else:
        play.say("\n".join(names) + f"\nThere are {len(names)} of that name.")


def more_of(play: Play) -> None:
    """Of which of two kinds there are more files."""
    rng = play.rng
    folder = _lay(play, least=5, most=16)
    kinds = sorted({ending(path) for path in folder.files} & set(frames.KINDS))
    if len(kinds) < 2:
        raise Unfit("one kind only")
    pair = rng.sample(kinds, 2)
    nouns = [rng.choice(frames.KINDS[kind]) for kind in pair]
    prompt(play, frames.MORE_OF, one=plural(nouns[0]), other=plural(nouns[1]))
    found = [_found(play.glob(f"**/*.{kind}")) for kind in pair]
    counts = [number_of(len(names), noun) for names, noun in zip(found, nouns, strict=True)]
    if len(found[0]) == len(found[1]):
        play.say(f"The same number: {counts[0]} and {counts[1]}.")
        return
    if len(found[0]) < len(found[1]):
        nouns.reverse()
        counts.reverse()
    play.say(f"More {plural(nouns[0])}: {counts[0]} and {counts[1]}.")


def file_types(play: Play) -> None:
    """The endings that occur."""
    _lay(play, least=4, most=12)
    prompt(play, frames.TYPES)
    names = _found(play.glob("**/*"))
    kinds = list(dict.fromkeys(f".{ending(name)}" for name in names if ending(name)))
    if not kinds:
        raise Unfit("no endings")
    play.say(joined(kinds))


def here_only(play: Play) -> None:
    """The files directly here, or what `ls` prints."""
    rng = play.rng
    folder = _lay(play, least=4, most=12)
    if rng.random() < 0.3:
        play.user(one_frame(rng, frames.LS))
        play.say(play.bash("ls"))
        return
    if all("/" in path for path in folder.files):
        raise Unfit("no file directly here")
    prompt(play, frames.HERE_ONLY)
    play.say(play.bash("find . -maxdepth 1 -type f -printf '%P\\n' | sort"))


def empty_places(play: Play) -> None:
    """An empty folder, an empty sub-folder, or empty files."""
    rng = play.rng
    kind = rng.choice(("folder", "here", "files", "files"))
    if kind == "here":
        prompt(play, frames.ALL)
        play.glob("**/*")
        say(play, "(This folder is empty.|There are no files here.|The folder is empty.)")
        return
    folder = _lay(play, most=8)
    if kind == "folder":
        name = rng.choice("drafts build tmp output inbox results backup photos archive uploads".split())
        if name in folder.folders():
            raise Unfit("a folder that is there")
        play.setup(f"mkdir {name}")
        prompt(play, frames.IN_FOLDER, folder=name)
        play.glob(f"{name}/**/*")
        say(play, "(The folder {name} is empty.|{name} is empty.|There are no files in {name}.)", name=name)
        return
    for name in rng.sample(
        ("empty.txt", "log/today.log", "__init__.py", "draft.md", "todo", "new.csv"), rng.randint(0, 3)
    ):
        if name not in folder.files:
            play.file(name, "")
    prompt(play, frames.EMPTY_FILES)
    shown = play.bash("find . -type f -empty -printf '%P\\n' | sort")
    play.say("There are no empty files here." if shown == "(no output)" else shown)


def list_then_more(play: Play) -> None:
    """A list, then its number, another kind, or what one of the files holds."""
    rng = play.rng
    folder = _lay(play, least=6, most=16)
    kinds = sorted({ending(path) for path in folder.files} & set(frames.KINDS))
    if len(kinds) < 2:
        raise Unfit("one kind only")
    first, second = rng.sample(kinds, 2)
    noun, other = rng.choice(frames.KINDS[first]), rng.choice(frames.KINDS[second])
    prompt(play, frames.OF_KIND, kinds=plural(noun))
    names = _found(play.glob(f"**/*.{first}"))
    play.say("\n".join(names))
    if rng.random() < 0.5:
        prompt(play, frames.NUMBERED_MORE)
        _say_counted(play, names, noun)
    if rng.random() < 0.7:
        prompt(play, frames.AND_KIND, kinds=plural(other))
        names = _found(play.glob(f"**/*.{second}"))
        play.say("\n".join(names))
        if rng.random() < 0.4:
            prompt(play, frames.NUMBERED_MORE)
            _say_counted(play, names, other)


def in_other_language(play: Play) -> None:
    """The usual orders in German, French or Spanish."""
    rng = play.rng
    language, kind, frame = rng.choice(frames.FOREIGN.strip().split("\n")).split(" | ")
    folder = _lay(play, least=5, most=12)
    slots = {
        "name": posixpath.basename(rng.choice(folder.paths()))
        if rng.random() < 0.5
        else rng.choice(frames.MAYBE_FILES)
    }
    if kind in ("folder", "dirs"):
        if not folder.folders():
            raise Unfit("no folders")
        slots["folder"] = rng.choice(folder.folders())
    german = frames.GERMAN_KINDS
    ends = sorted({ending(path) for path in folder.files} & set(german))
    if not ends:
        raise Unfit("no kind with a name")
    end = rng.choice(ends)
    slots["kinds"] = german[end] if language == "de" else rng.choice((f".{end}", end.upper()))
    play.user(ask_foreign(rng, frame, **slots))
    match kind:
        case "all":
            play.say(play.glob("**/*"))
        case "folder":
            play.say(play.glob(f"{slots['folder']}/**/*"))
        case "kind":
            play.say(play.glob(f"**/*.{end}"))
        case "count":
            names = _found(play.glob(f"**/*.{end}"))
            play.say(f"{numbered(names)}\n{frames.COUNT_WORDS[language].format(n=len(names))}")
        case "dirs":
            play.say(play.bash("ls -d */").replace("/", ""))
        case _:
            names = _found(play.glob(f"**/{slots['name']}"))
            words = frames.YES_WORDS if names else frames.NO_WORDS
            play.say(words[language].format(path=", ".join(names), **slots))


def _years(folder: Folder) -> list[str]:
    return [year for year in POOLS["year"] if year in folder.folders()]


def of_a_year(play: Play) -> None:
    """The files in the folder or with the name of a year."""
    rng = play.rng
    folder = _lay(play, least=5, most=16, wanted=_years)
    year = rng.choice(_years(folder))
    is_photos = all(ending(path) == "jpg" for path in folder.files if path.startswith(year))
    block = frames.YEARLY if is_photos else frames.YEARLY.split("\n", 2)[2]
    prompt(play, block, year=year)
    play.say("\n".join(_found(play.glob(f"{year}/**/*"))))


FAMILIES = (
    Family(list_all, 0.9),
    Family(list_kind, 1.2),
    Family(list_group, 0.5),
    Family(count_kind, 0.9),
    Family(any_kind, 0.4),
    Family(list_folder, 1.0),
    Family(kind_in_folder, 0.4),
    Family(count_all, 0.3),
    Family(folders_here, 0.5),
    Family(hidden_files, 0.2),
    Family(fullest_folder, 0.3),
    Family(file_by_size, 0.3),
    Family(file_by_date, 0.15),
    Family(names_like, 0.3),
    Family(no_ending, 0.1),
    Family(is_there, 0.6),
    Family(where_is, 0.3),
    Family(more_of, 0.2),
    Family(file_types, 0.15),
    Family(here_only, 0.2),
    Family(empty_places, 0.2),
    Family(list_then_more, 0.4),
    Family(in_other_language, 0.35),
    Family(of_a_year, 0.15),
)
