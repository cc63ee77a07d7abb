"""Folders of many kinds of projects and households, with small plausible files.

```
layout ─▶ paths ─▶ a text for each path ─▶ {path: text}
collection: files of one kind, of which some mention a certain thing (for searches)
```
"""

import posixpath
import re
from dataclasses import dataclass, field
from random import Random

from training.generator.folder_texts import sentence, text_for
from training.generator.folder_words import COLLECTIONS, LAYOUTS, POOLS
from training.generator.frames import spell

Files = dict[str, str | bytes]
BINARY = ("png", "jpg", "pdf", "mp3", "wav", "mp4", "zip", "xlsx", "docx", "stl")
_WORD = re.compile(r"<(\w+)>")


def fill_words(rng: Random, text: str, fixed: dict[str, str]) -> str:
    """Return the text with a word of a pool for each `<pool>`; one in capitals is kept in `fixed`."""

    def word(found: re.Match[str]) -> str:
        name = found[1]
        if name in fixed:
            return fixed[name]
        if name.isupper():
            fixed[name] = rng.choice(POOLS[name.lower()])
            return fixed[name]
        if name.istitle():
            return rng.choice(POOLS[name.lower()]).title()
        return _number(rng, name) or (rng.choice(POOLS[name]) if name in POOLS else found[0])

    return _WORD.sub(word, text)


def _number(rng: Random, name: str) -> str:
    match name:
        case "num":
            return str(rng.randint(100, 9999))
        case "digit":
            return str(rng.randint(0, 9))
        case "price":
            return f"{rng.randint(1, 90)}.{rng.choice(('00', '50', '90', '95', '20'))}"
        case "amount":
            return rng.choice(
                ("200 g", "2 tbsp", "1 cup", "a pinch of", "30 ml", "3", "half a glass", "500 g")
            )
        case _:
            return ""


@dataclass(frozen=True)
class Folder:
    """A folder's kind and its files."""

    kind: str
    files: Files = field(default_factory=dict)

    def paths(self, ending: str = "") -> list[str]:
        """Return the sorted paths, of one ending only if it is given."""
        return sorted(path for path in self.files if not ending or path.endswith(f".{ending}"))

    def folders(self) -> list[str]:
        """Return the folders directly here, sorted."""
        return sorted({path.split("/")[0] for path in self.files if "/" in path})


def some_folder(rng: Random, least: int = 3, most: int = 14) -> Folder:
    """Return a folder of a random layout with this number of files."""
    while True:
        kind, _, shape = rng.choice(LAYOUTS).partition(" | ")
        paths = _paths(rng, shape.split(" "))
        if len(paths) > most:
            paths = sorted(rng.sample(paths, most))
        if len(paths) >= least and rng.random() < 0.1:
            paths.append(rng.choice(("notes", "LICENSE", "VERSION", "TODO", "data", "run")))
        if len(paths) >= least:
            return Folder(kind, {path: text_for(rng, path) for path in paths})


def _paths(rng: Random, shapes: list[str]) -> list[str]:
    fixed: dict[str, str] = {}
    paths: list[str] = []
    for shape in shapes:
        times = (
            rng.randint(2, 4) if shape.endswith("+") else int(not shape.endswith("?") or rng.random() < 0.6)
        )
        where = dict(fixed)
        if "/" in shape:  # repeated files share their folder
            head, _, tail = shape.rpartition("/")
            shape = f"{fill_words(rng, head, where)}/{tail}"
        for _ in range(times):
            path = fill_words(rng, shape.rstrip("?+"), where)
            if path not in paths:
                paths.append(path)
        fixed |= {key: word for key, word in where.items() if key.isupper()}
    return sorted(paths)


def distractors(rng: Random, count: int, taken: Files) -> Files:
    """Return some files of a random folder whose paths are not taken."""
    others = some_folder(rng, least=2).files
    paths = [path for path in sorted(others) if path not in taken and path.split("/")[0] not in taken]
    return {path: others[path] for path in rng.sample(paths, min(count, len(paths)))}


@dataclass(frozen=True)
class Collection:
    """Files of one kind, of which some contain an item."""

    files: Files
    item: str
    absent: str
    """A word of the same pool that no file contains."""
    folder: str
    noun: str
    plural: str
    verb: str
    """A verb in the plural: recipes `use` an ingredient."""
    hits: tuple[str, ...]
    """The files that contain the item."""


def collection(
    rng: Random, hits: int, others: int = 3, each: int = 1, *, in_folder: bool = False
) -> Collection:
    """Return a collection in which `hits` files contain its item, each up to `each` times."""
    while True:
        found = _collection(rng, hits, others, each)
        text = "\n".join(one for one in found.files.values() if isinstance(one, str))
        names = "\n".join(found.files)
        is_clear = (
            found.item.lower() not in names.lower() and found.absent.lower() not in f"{names}{text}".lower()
        )
        lines = [line for line in text.split("\n") if re.search(re.escape(found.item), line, re.IGNORECASE)]
        is_clear = is_clear and (bool(found.folder) or not in_folder)
        if is_clear and len(found.files) == hits + others and hits <= len(lines) <= hits * each:
            return found


def _collection(rng: Random, hits: int, others: int, each: int) -> Collection:
    folder, name, first, line, pool, noun, plural, verbs = rng.choice(COLLECTIONS).split(" | ")
    item, absent, *rest = rng.sample(POOLS[pool], min(12, len(POOLS[pool])))
    where = rng.choice((f"{folder}/", f"{folder}/", ""))
    files: Files = {}
    names: list[str] = []
    for _ in range(40):
        fixed = {word: _number(rng, word) or rng.choice(POOLS[word]) for word in _WORD.findall(name)}
        path = where + fill_words(rng, name, fixed)
        if path in files or len(files) == hits + others:
            continue
        names.append(path)
        items = rng.sample(rest, rng.randint(2, min(5, len(rest))))
        if len(names) <= hits:
            for _ in range(rng.randint(1, each)):
                items.insert(rng.randint(0, len(items)), item)
        lines = [fill_words(rng, spell(rng, line, item=one), {}) for one in items]
        if path.endswith((".md", ".txt")) and rng.random() < 0.3:
            lines.insert(rng.randint(0, len(lines)), sentence(rng))
        if rng.random() < 0.3:
            lines = [text[0].upper() + text[1:] for text in lines]
        files[path] = "\n".join([fill_words(rng, first, fixed), *_spaced(rng, path, lines)]) + "\n"
    verb = rng.choice(verbs.split(", "))
    return Collection(files, item, absent, where.rstrip("/"), noun, plural, verb, tuple(sorted(names[:hits])))


def _spaced(rng: Random, path: str, lines: list[str]) -> list[str]:
    """Return the lines with an empty line above and at times a remark below, as prose has them."""
    if not path.endswith((".md", ".txt")) or rng.random() < 0.5:
        return lines
    return ["", *lines, *rng.choice(((), ("", f"({rng.choice(POOLS['person'])})"), ("", "to be continued")))]


def ending(path: str) -> str:
    """Return what follows the last dot of a file name; empty without one or when it begins the name."""
    return posixpath.splitext(posixpath.basename(path))[1].lstrip(".")
