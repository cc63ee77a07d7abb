"""What follows an answer or a change: write it down, rename or copy the file; a new list that grows."""

import shlex
from random import Random

from training.generator.families.scene_answers import asked, find, lay_others, one_question, some_scene
from training.generator.families.scene_talk import Talk
from training.generator.folder_words import POOLS
from training.generator.frames import joined, one_frame
from training.generator.phrases import vary
from training.generator.play import Family, Play, Unfit

SAVE_LINE = """
(write|put|save|copy) that line (into|to|in) {f}
(and|now|ok,) (save|put) that line in (a new file|a file called|) {f}
make a file {f} with (just|only) that line
create {f} with this line in it
I need that line in {f} (too|)
""".strip()
SAVE_VALUE = """
(write|put|save) (that|it|the value) (into|to|in) {f}
make {f} and write only {v} (into it|there)
(ok|good|thanks), (now|) create {f} with {v} in it
a new file {f} with just {v} please
note {v} in (a new file|) {f}
""".strip()
RENAME = """
(now|and|ok,) rename the file to {f}
(good|fine). the file should be called {f}
call the file {f} (now|)
(and|) give the file the name {f}
move it to {f}
(now|) rename it to {f} (please|)
""".strip()
COPY = """
(now|and) make a copy (called|named) {f}
copy the file to {f}
(keep|save) a copy (of it|) as {f}
I want a copy of it, {f}
duplicate it as {f}
""".strip()
LIST = """
(make|create|write) {f} with {i}
(I need|start) a list {f}: {i}
new file {f}: {i}, (one per line|each on a line)
put {i} into a new file {f}
(please|) write {i} into {f}, one per line
""".strip()
ADD = """
and {i}
(also|and) add {i}
{i} too
I forgot {i}
{i} (is missing|belongs on it too)
(oh|ah), and {i}
put {i} on it (as well|)
""".strip()
REMOVE = """
(without|not) {i} (after all|)
(delete|remove) {i} (again|)
(take|strike) {i} (off|out) again
no {i}, (please|) delete it
we don't need {i}
""".strip()
SWAP = """
{n} instead of {i}
(sorry|no), not {i} but {n}
(make|turn) {i} into {n}
I meant {n}, not {i}
replace {i} (by|with) {n}
""".strip()
SHOW = """
what is (in it|on it|on the list) now?
show (it|me the list) (again|)
(read|print) it (to me|)
what do we have (now|so far)?
cat it
""".strip()
COUNT = """
how many (are that|is that|are there) (now|)?
(and|) how many (lines|things) are (on it|in it) (now|)?
count them
""".strip()
STEMS = "answer note result found memo for_ben keep line reply value copy extract info for-rosa saved".split()
LISTS = {
    "shopping": "food",
    "guests": "person",
    "invited": "person",
    "team": "person",
    "plants": "plant",
    "garden": "plant",
    "towns": "city",
    "trip": "city",
    "animals": "animal",
    "birds": "bird",
    "tools": "tool",
    "colors": "color",
    "instruments": "instrument",
    "subjects": "subject",
}


def _new_name(rng: Random, ending: str = "") -> str:
    stem = rng.choice(STEMS)
    if rng.random() < 0.3:
        stem += rng.choice(("_new", "-2", "1", "_today", "2025"))
    return f"{rng.choice(('', '', '', 'notes/', 'out/'))}{stem}.{ending or rng.choice(('txt', 'txt', 'md'))}"


def write_it_down(play: Play) -> None:
    """A question, and the line or the value of the answer in a new file."""
    rng = play.rng
    scene = some_scene(rng)
    play.file(scene.path, scene.text)
    lay_others(play, [scene], most=2)
    path = _new_name(rng)
    if scene.kind.names and rng.random() < 0.5:
        talk = Talk(play, scene)
        talk.first_question()
        content = scene.values[talk.slot]
        order = one_frame(rng, SAVE_VALUE, f=path, v=content)
    else:
        question, answer = one_question(scene)
        text = asked(rng, question, rng.choice((scene.path, scene.called())))
        play.user(text)
        find(play, scene, text)
        play.say(answer)
        rows = [row for row in answer.split("\n")[:-1] if ", line " in row]
        if len(rows) != 1:
            raise Unfit("not one line")
        content = rows[0].partition(", line ")[2].partition(": ")[2]
        order = one_frame(rng, SAVE_LINE, f=path)
    play.user(vary(rng, order))
    play.write(path, content)
    play.say(f"Created {path}.")


def rename_after(play: Play) -> None:
    """A question or a change, then the file gets another name or a copy, then something more."""
    rng = play.rng
    scene = some_scene(rng)
    play.file(scene.path, scene.text)
    lay_others(play, [scene], most=2)
    talk = Talk(play, scene)
    rng.choice((talk.first_change, talk.first_question))()
    folder, slash, name = scene.path.rpartition("/")
    ending = name.rpartition(".")[2] if "." in name[1:] else ""
    new = f"{folder}{slash}{_new_name(rng, ending or 'txt').rpartition('/')[2]}"
    if play.exists(new):
        raise Unfit("it is there")
    is_copy = rng.random() < 0.35
    play.user(vary(rng, one_frame(rng, COPY if is_copy else RENAME, f=new)))
    verb = "cp" if is_copy else "mv"
    if play.bash(f"{verb} {shlex.quote(scene.path)} {shlex.quote(new)}") != "(no output)":
        raise Unfit("it failed")
    play.say(f"{'Copied' if is_copy else 'Renamed'} {scene.path} to {new}.")
    if not is_copy:
        scene.path = new
        if rng.random() < 0.6:
            rng.choice((talk.change_other, talk.ask_other, talk.ask_more))()


def growing_list(play: Play) -> None:
    """A list is written, grows, shrinks, is shown and counted."""
    rng = play.rng
    names = [name for name, pool in LISTS.items() if pool in POOLS]
    name = rng.choice(names)
    items = rng.sample(POOLS[LISTS[name]], min(9, len(POOLS[LISTS[name]])))
    path = f"{rng.choice(('', '', 'lists/', 'home/'))}{name}.{rng.choice(('txt', 'txt', 'md'))}"
    lay_others(play, [], most=2, only="code")
    here = [items.pop() for _ in range(rng.randint(2, 4))]
    play.user(vary(rng, one_frame(rng, LIST, f=path, i=joined(here))))
    play.write(path, "\n".join(here))
    play.say(f"Created {path}.")
    steps = [_add, _add, _remove, _swap, _show, _count]
    for _ in range(rng.choice((1, 2, 2, 3))):
        step = rng.choice(steps)
        if step in (_show, _count):
            steps.remove(step)
        step(play, path, here, items)


def _add(play: Play, path: str, here: list[str], items: list[str]) -> None:
    item = items.pop()
    play.user(vary(play.rng, one_frame(play.rng, ADD, i=item)))
    play.read(path)
    play.insert_after(path, len(here), item)
    here.append(item)
    play.say(f"Added {item} to {path}.")


def _remove(play: Play, path: str, here: list[str], items: list[str]) -> None:
    if len(here) < 2:
        raise Unfit("too few")
    at = play.rng.randrange(len(here))
    play.user(vary(play.rng, one_frame(play.rng, REMOVE, i=here[at])))
    play.read(path)
    play.delete_lines(path, at + 1)
    play.say(f"Removed {here.pop(at)} from {path}.")


def _swap(play: Play, path: str, here: list[str], items: list[str]) -> None:
    at, new = play.rng.randrange(len(here)), items.pop()
    play.user(vary(play.rng, one_frame(play.rng, SWAP, i=here[at], n=new)))
    play.read(path)
    play.set_lines(path, at + 1, new)
    play.say(f"Replaced {here[at]} by {new} in {path}.")
    here[at] = new


def _show(play: Play, path: str, here: list[str], items: list[str]) -> None:
    play.user(vary(play.rng, one_frame(play.rng, SHOW)))
    play.read(path)
    play.say("\n".join(here))


def _count(play: Play, path: str, here: list[str], items: list[str]) -> None:
    play.user(vary(play.rng, one_frame(play.rng, COUNT)))
    play.read(path)
    numbered = "\n".join(f"{at}. {item}" for at, item in enumerate(here, 1))
    play.say(f"{numbered}\nThat is {len(here)}.")


FAMILIES = (Family(write_it_down, 1.6), Family(rename_after, 1.4), Family(growing_list, 2.6))
