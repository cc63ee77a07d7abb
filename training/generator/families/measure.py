"""Commands that are asked for by what they tell: words, sizes, room on the disk, tests."""

import re

from bridle.core.ids import CallId
from bridle.core.messages import Message, ToolCall, ToolResult
from training.generator.families.commands import run_tests
from training.generator.families.scene_answers import lay_others, some_scene
from training.generator.frames import one_frame
from training.generator.phrases import vary
from training.generator.play import Family, Play, Unfit

WORDS = """
how many words (has|does) {f} (have|)?
(count|number of) (the|) words (in|of) {f}
word count of {f}
I may write (500|300|1000) words, how many (are in|has) {f}?
how long is {f} in words?
words in {f}?
""".strip()
BYTES = """
how (big|large) is {f} in bytes?
size of {f} in bytes?
how many bytes has {f}?
""".strip()
DISK = """
how much (room|space) is (left|free) on (the|this|my) disk?
is (the|my) disk (nearly|almost|) full?
(check|tell me) how full the disk is
(run|use) df (-h|) and tell me what is free
do I have enough (disk space|room) (left|)? (check it|)
how many gigabytes are free here?
df -h .
wie voll ist die Platte?
combien de place reste-t-il sur le disque ?
¿cuánto espacio queda en el disco?
""".strip()
MEMORY = """
how much (memory|ram) is (free|used|left)?
(check|show) the memory (of this machine|)
free -h
is there enough ram (left|)?
how much ram has this (machine|computer)?
wieviel RAM ist frei?
""".strip()
FOLDER = """
how (big|large) is this (whole|) folder?
how much (room|space) does (this|the) folder (take|use|need)?
size of (this|the current) folder (please|)?
du -sh .
(check|tell me) the size of all this together
wie groß ist dieser Ordner?
""".strip()
BIGGEST = """
which (folder|of the folders) (here|) (is the (biggest|largest)|takes the most (space|room))?
what (takes|uses) (the most|most of the) (space|room) here? (which folder|)
find the folder that (eats|takes) the most space
sort the folders by size, which is (biggest|largest)?
where (is|does) all (the|my) space (go|gone)?
""".strip()
TEST_MORE = {
    "which": """
        which (one|test|ones) (is it|was that|failed)?
        what is it called?
        (and|) which?
        the name of (it|the failing one)?
    """,
    "why": """
        why (does it fail|did it fail|)?
        what (is|was) the (reason|problem|error)?
        and what went wrong?
        what did it (expect|get)?
    """,
    "rest": """
        how many (passed|are ok|are green) (then|)?
        and the (others|rest)?
        so how many are fine?
    """,
}


def _order(play: Play, block: str, **slots: str) -> None:
    said = one_frame(play.rng, block, **slots)
    play.user(said if re.match(r"wie|combien|¿", said) else vary(play.rng, said))


def _shown(play: Play, command: str, output: str) -> None:
    """A call whose output is made up: what a machine has free is another thing each time."""
    call = ToolCall(CallId(f"c{len(play.messages)}"), "bash", {"command": command})
    play.messages += [
        Message("assistant", (call,)),
        Message("tool", (ToolResult(call.id, "bash", output, False),)),
    ]


def size_of_text(play: Play) -> None:
    """The words or bytes of a text, which may be called by what it is."""
    rng = play.rng
    scene = some_scene(rng, code=False)
    play.file(scene.path, scene.text)
    lay_others(play, [scene], only="code")
    name = rng.choice((scene.path, scene.called(), scene.called()))
    unit, flag, block = rng.choice((("words", "w", WORDS), ("words", "w", WORDS), ("bytes", "c", BYTES)))
    _order(play, block, f=name)
    if name != scene.path:
        play.glob()
    count = play.bash(f"wc -{flag} < {scene.path}").strip()
    if not count.isdigit():
        raise Unfit("no number")
    play.say(f"{scene.path} has {count} {unit}.")


def room(play: Play) -> None:
    """How much of the disk or of the memory is free."""
    rng = play.rng
    lay_others(play, [], most=2)
    size = rng.choice((30, 60, 120, 250, 460, 930))
    used = rng.randint(3, size - 2)
    if rng.random() < 0.65:
        _order(play, DISK)
        device = rng.choice(("/dev/sda1", "/dev/nvme0n1p2", "/dev/vda1", "/dev/mapper/root", "overlay"))
        mount = rng.choice(("/", "/", "/home", "/data"))
        share = f"{-(-used * 100 // size)}%"
        head = "Filesystem      Size  Used Avail Use% Mounted on"
        row = f"{device:<14} {f'{size}G':>5} {f'{used}G':>5} {f'{size - used}G':>5} {share:>4} {mount}"
        _shown(play, "df -h .", f"{head}\n{row}")
        play.say(f"{size - used}G of {size}G are free; {share} are used.")
        return
    _order(play, MEMORY)
    total, cache = rng.choice((4, 8, 16, 32, 64)), rng.randint(1, 2)
    used = rng.randint(1, total - cache - 1)
    free = total - used - cache
    head = "               total        used        free      shared  buff/cache   available"
    numbers = (total, used, free, 0, cache, free + cache)
    row = "Mem:    " + "".join(f"{f'{number}Gi':>12}" for number in numbers)
    _shown(play, "free -h", f"{head}\n{row}")
    play.say(f"{free + cache}Gi of {total}Gi are available; {used}Gi are used.")


def folder_size(play: Play) -> None:
    """The size of the folder, or which of its folders is the largest."""
    rng = play.rng
    names = rng.sample(
        ("photos", "music", "videos", "backup", "data", "docs", "old", "mails"), rng.randint(2, 4)
    )
    sizes = rng.sample(range(1, 13), len(names))
    for name, size in zip(names, sizes, strict=True):
        for number in range(1 + size // 3):
            play.file(f"{name}/part{number + 1}.bin", bytes(1000) * min(13, size))
    if rng.random() < 0.45:
        _order(play, FOLDER)
        output = play.bash("du -sh .").split()
        play.say(f"This folder takes {output[0]}.")
        return
    _order(play, BIGGEST)
    rows = play.bash("du -sh */ | sort -h").strip().split("\n")
    shown = [row.split() for row in rows]
    if len(shown) != len(names) or shown[-1][0] == shown[-2][0]:
        raise Unfit("two of a size")
    play.say(f"{shown[-1][1]} is the largest, with {shown[-1][0]}.")


def tests_and_more(play: Play) -> None:
    """Tests are run; then which failed, why, and how many passed: the conversation knows."""
    run_tests(play)
    told = play.messages[-1].text
    found = re.fullmatch(r"1 of (\d+) tests failed: (\w+) \((.*)\)\.", told, re.DOTALL)
    if not found:
        raise Unfit("not one failing test")
    count, name, reason = int(found[1]), found[2], found[3]
    for kind in play.rng.sample(sorted(TEST_MORE), play.rng.choice((1, 1, 2))):
        _order(play, TEST_MORE[kind])
        told = {
            "which": f"It is {name}.",
            "why": f"{name} failed: {reason}",
            "rest": f"{count - 1} of {count} tests passed.",
        }[kind]
        play.say(told)


FAMILIES = (
    Family(size_of_text, 1.0),
    Family(room, 0.8),
    Family(folder_size, 0.8),
    Family(tests_and_more, 0.8),
)
