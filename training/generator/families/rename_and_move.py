"""Renaming, moving, copying and deleting files, and making folders."""

from random import Random

from training.generator import sources
from training.generator.frames import joined, one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.programs import make_program
from training.generator.sources import make_list, make_prose, make_sheet, make_table, value
from training.generator.targets import typed

RENAME = """
rename {a} to {b}
rename the file {a} (to|into) {b}
{a} should be (called|named) {b}
(call|name) {a} {b} (from now on|instead|)
change the name of {a} to {b}
(can|could) you rename {a} to {b}?
{a} has the wrong name, it (is|should be) {b}
give {a} the name {b}
{a} -> {b}
mv {a} {b}
I want {a} to be {b}
the file {a} is now {b}, rename it
please call the file {b} and not {a}
{a} needs a better name: {b}
benenne {a} in {b} um
renomme {a} en {b}
cambia el nombre de {a} a {b}
""".strip()
MOVE = """
move {a} (to|into) {d}
move {a} (to|into) the folder {d}
put {a} (into|in) (the folder |){d}
{a} (belongs|should go|goes) (into|in) {d}
{a} should be in {d}
(can|could) you move {a} to {d}?
(shift|drag) {a} over to {d}
I want {a} in (the folder |){d}
{a} is in the wrong place, (move it to|it belongs in) {d}
mv {a} {d}/
verschieb {a} (nach|in den Ordner) {d}
déplace {a} dans {d}
mueve {a} a {d}
""".strip()
NEW_FOLDER = """
make a folder {d} and (move|put) {a} (into it|in there)
create (the folder|a directory) {d} and move {a} there
{a} should go into a new folder {d}
new folder {d}, with {a} in it
put {a} in a new folder called {d}
""".strip()
DELETE = """
delete {a}
(remove|erase) {a}
delete the file {a}
{a} (can go|can be deleted|is not needed any more, delete it|is obsolete, remove it)
(throw|kick) {a} out
get rid of {a}
I (don't|do not) need {a} any more, (delete it|remove it)
(can|could) you delete {a}?
rm {a}
{a} weg damit, bitte löschen
supprime {a}
borra el archivo {a}
""".strip()
FOLDER = """
(make|create) (a|the) (new |)folder {d}
(make|create) (a|the) (directory|dir) {d}
mkdir {d}
I need a folder (called|named) {d}
new folder {d} (please|)
(add|set up) an empty folder {d}
can you make a folder named {d}?
there should be a folder {d}
leg einen Ordner {d} an
crée un dossier {d}
crea una carpeta {d}
""".strip()
COPY = """
copy {a} (to|into) {d}
put a copy of {a} (into|in) {d}
(I need|make) a copy of {a} in the folder {d}
copy the file {a} to the folder {d}
{a} should be in {d} too, copy it
""".strip()
DIRECTORIES = (
    "archive old docs backup notes data drafts done photos2024 lib assets letters bin misc music".split()
)


def _some_file(rng: Random) -> tuple[str, str]:
    kind = rng.randrange(5)
    if kind == 0:
        return make_prose(rng)
    if kind == 1:
        program = make_program(rng)
        return program.path, program.text
    made = (make_list, make_table, make_sheet)[kind - 2](rng)
    return made.path, made.text


def _start(play: Play) -> tuple[str, str]:
    """Lay out files; return a path and how the order names it."""
    rng = play.rng
    path, text = _some_file(rng)
    if path.startswith((".", "Makefile", "Dockerfile")):
        raise Unfit("a name that is rarely changed")
    play.file(path, text)
    sources.distract(play, path)
    name = path.rpartition("/")[2]
    return path, name if name != path and rng.random() < 0.35 else path


def _ask(play: Play, frames: str, path: str, said: str, **slots: str) -> None:
    rng = play.rng
    mark = rng.choice(("", "", "", "", "`", '"', "'"))
    play.user(typed(rng, one_frame(rng, frames, a=f"{mark}{said}{mark}", **slots)))
    if said != path:
        play.glob(f"**/{said}")


def rename(play: Play) -> None:
    """A file with another name in the same folder."""
    rng = play.rng
    path, said = _start(play)
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    new = rng.choice(
        (
            value(rng, "word"),
            value(rng, "thing"),
            f"{stem}_{rng.randint(2, 30)}",
            f"old_{stem}",
            f"{stem}-{value(rng, 'city').lower()}",
        )
    )
    if rng.random() < 0.15:
        new, ending = stem, rng.choice(("txt", "md", "bak", "old", "text", "markdown"))
    target = f"{folder}{slash}{new}{dot}{ending}"
    if target == path or play.exists(target):
        raise Unfit("the name is taken")
    _ask(play, RENAME, path, said, b=target if said == path else f"{new}{dot}{ending}")
    play.bash(f"mv {path} {target}")
    play.say(f"Renamed {path} to {target}.")


def _folder(play: Play, path: str) -> str:
    folder = play.rng.choice(DIRECTORIES)
    if path.startswith(f"{folder}/"):
        raise Unfit("it is there")
    return folder


def move(play: Play) -> None:
    """A file into a folder that is there."""
    rng = play.rng
    folder = rng.choice(DIRECTORIES)
    play.file(f"{folder}/{value(rng, 'word')}.txt", "x\n")
    path, said = _start(play)
    if path.startswith(f"{folder}/"):
        raise Unfit("it is there")
    _ask(play, MOVE, path, said, d=folder)
    play.bash(f"mv {path} {folder}/")
    play.say(f"Moved {path} to {folder}/.")


def move_to_new(play: Play) -> None:
    """A file into a new folder."""
    path, said = _start(play)
    folder = _folder(play, path)
    if play.exists(folder):
        raise Unfit("the folder is there")
    _ask(play, NEW_FOLDER, path, said, d=folder)
    play.bash(f"mkdir -p {folder} && mv {path} {folder}/")
    play.say(f"Made the folder {folder} and moved {path} into it.")


def copy(play: Play) -> None:
    """A copy in a folder that is there."""
    rng = play.rng
    folder = rng.choice(DIRECTORIES)
    play.file(f"{folder}/{value(rng, 'word')}.txt", "x\n")
    path, said = _start(play)
    if path.startswith(f"{folder}/"):
        raise Unfit("it is there")
    _ask(play, COPY, path, said, d=folder)
    play.bash(f"cp {path} {folder}/")
    play.say(f"Copied {path} to {folder}/.")


def delete(play: Play) -> None:
    """A file that goes; it is not read first."""
    path, said = _start(play)
    _ask(play, DELETE, path, said)
    play.bash(f"rm {path}")
    play.say(f"Deleted {path}.")


def delete_two(play: Play) -> None:
    """Two or three files that the order names."""
    rng = play.rng
    paths = []
    for _ in range(rng.choice((2, 2, 3))):
        path, text = _some_file(rng)
        if path.startswith("."):
            raise Unfit("a hidden file")
        play.file(path, text)
        paths.append(path)
    sources.distract(play, *paths)
    play.user(
        typed(
            rng,
            one_frame(
                rng,
                "delete {a}\nremove {a}\n{a} can go\nrm {a}\nI don't need {a} any more, delete them",
                a=joined(paths),
            ),
        )
    )
    play.bash(f"rm {' '.join(paths)}")
    play.say(f"Deleted {joined(paths)}.")


def by_ending(play: Play) -> None:
    """All files with some ending: deleted, or moved into a folder."""
    rng = play.rng
    ending = rng.choice(("tmp", "bak", "log", "old", "orig", "swp"))
    count = rng.randint(1, 4)
    stems = sorted({value(rng, rng.choice(("thing", "word"))) for _ in range(count)})
    for stem in stems:
        play.file(f"{stem}.{ending}", f"{sources.text_line(rng)}\n")
    sources.distract(play)
    if rng.random() < 0.5:
        order = one_frame(
            rng,
            """
                delete all .{e} files
                remove every *.{e}
                the .{e} files can go
                clean up: delete the {e} files
            """,
            e=ending,
        )
        play.user(typed(rng, order))
        play.glob(f"*.{ending}")
        play.bash(f"rm {' '.join(f'{stem}.{ending}' for stem in stems)}")
        play.say(f"Deleted {joined([f'{stem}.{ending}' for stem in stems])}.")
        return
    folder = rng.choice(DIRECTORIES)
    if play.exists(folder):
        raise Unfit("the folder is there")
    order = one_frame(
        rng,
        """
            move all .{e} files (to|into) a new folder {d}
            put the .{e} files into a folder {d}, make it first
            make a folder {d} for the {e} files and move them there
        """,
        e=ending,
        d=folder,
    )
    play.user(typed(rng, order))
    play.glob(f"*.{ending}")
    play.bash(f"mkdir -p {folder} && mv {' '.join(f'{stem}.{ending}' for stem in stems)} {folder}/")
    play.say(f"Moved {joined([f'{stem}.{ending}' for stem in stems])} to {folder}/.")


def make_folder(play: Play) -> None:
    """One folder, or several, or one in another."""
    rng = play.rng
    sources.distract(play)
    folders = rng.sample(DIRECTORIES, 2)
    said = rng.choice(
        (
            folders[0],
            folders[0],
            value(rng, "word"),
            "/".join(folders),
            f"{folders[0]}/{rng.randint(2022, 2027)}",
        )
    )
    if play.exists(said):
        raise Unfit("it is there")
    play.user(typed(rng, one_frame(rng, FOLDER, d=said)))
    play.bash(f"mkdir -p {said}")
    play.say(f"Made the folder {said}.")


FAMILIES = (
    Family(rename, 1.6),
    Family(move, 0.8),
    Family(move_to_new, 0.5),
    Family(copy, 0.3),
    Family(delete, 0.9),
    Family(delete_two, 0.2),
    Family(by_ending, 0.3),
    Family(make_folder, 0.5),
)
