"""Searches among texts of very different kinds: a name, a town, a number, and then what stands there."""

from training.generator.families.search import evidence, files_of, hits_of, pattern_of, tell
from training.generator.frames import one_frame
from training.generator.phrases import vary
from training.generator.play import Family, Play, Unfit
from training.generator.scenes import KINDS, Scene

SEARCHABLE = (
    "fullname",
    "surname",
    "city",
    "email",
    "phone",
    "code",
    "word",
    "street",
    "petname",
    "firstname",
)
WHICH = """
which file (mentions|has|contains|is about) {w}?
in which file (is|do I find|did I write about) {w}?
where (is|was|did I write down|do I find) {w}?
where did I (put|note|mention) {w}?
(find|search|search for|look for) {w} (in my files|here|everywhere|)
who is {w}? (it must be|it's) in one of my files(, which one|)
I am looking for {w}, which file (is it|)
(what|which) (of my files|file here) has something about {w}
does {w} (appear|occur|come up) (anywhere|somewhere) (here|in the files|)?
grep for {w}
is there (anything|something) about {w} (here|in these files)?
I (got|have) a (call|mail|letter) from {w}. where (is that name|do I have that)?
(someone|a customer|my boss) asked about {w}, (which file is that|where do we have that)
{w}?? where is that
not sure where I (have|saw) {w}, (can you|please) find it
in welcher Datei (steht|kommt) {w} (vor|)?
wo steht {w}?
où est-ce qu'on parle de {w} ?
dans quel fichier est {w} ?
¿en qué archivo está {w}?
¿dónde aparece {w}?
in quale file si trova {w}?
in welk bestand staat {w}?
em que arquivo está {w}?
""".strip()
OFTEN = """
how often (is|does) {w} (mentioned|there|come up) (in my files|here|)?
how many (times|lines) (mention|have) {w} (here|)?
how many files (mention|contain|have) {w}?
count the (files|lines) (with|that mention) {w}
""".strip()
THEN = """
and what is {k} (there|in it)?
ok, what does it say about {k}?
(good|thanks), what's {k} in that file?
open it: what is {k}?
tell me {k} from (there|that file)
and {k}?
""".strip()


def _folder(play: Play, count: int) -> list[Scene]:
    """Lay out scenes of different kinds."""
    scenes = [Scene(play.rng, kind) for kind in play.rng.sample(KINDS, count)]
    for scene in scenes:
        play.file(scene.path, scene.text)
    return scenes


def _word(play: Play, scenes: list[Scene]) -> tuple[Scene, str]:
    """A value that stands in one file only."""
    found = [
        (scene, scene.values[slot])
        for scene in scenes
        for slot, what in scene.kinds.items()
        if what in SEARCHABLE and scene.values[slot] in scene.text
    ]
    if not found:
        raise Unfit("nothing to search for")
    scene, word = play.rng.choice(found)
    if len(word) < 3 or any(word.lower() in other.text.lower() for other in scenes if other is not scene):
        raise Unfit("the word is elsewhere too")
    return scene, word


def _order(play: Play, block: str, word: str) -> None:
    frame = play.rng.choice(block.split("\n"))
    text = one_frame(play.rng, frame, w=word)
    play.user(vary(play.rng, text) if frame[0] in "(wfIgind{" and "quale" not in frame else text)


def mention(play: Play) -> None:
    """Which file has a name, at times with a question about that file."""
    scenes = _folder(play, play.rng.randint(3, 6))
    scene, word = _word(play, scenes)
    _order(play, WHICH, word)
    tell(play, hits_of(play.grep(pattern_of(word))), word)
    if scene.kind.names and play.rng.random() < 0.35:
        slot = play.rng.choice(sorted(scene.kind.names))
        play.user(vary(play.rng, one_frame(play.rng, THEN, k=scene.name_of(slot))))
        play.read(scene.path)
        play.say(scene.told(slot))


def nowhere(play: Play) -> None:
    """A name that no file has."""
    scenes = _folder(play, play.rng.randint(2, 5))
    _, word = _word(play, [Scene(play.rng, kind) for kind in play.rng.sample(KINDS, 6)])
    if any(word.lower() in scene.text.lower() for scene in scenes):
        raise Unfit("it is there")
    _order(play, WHICH, word)
    tell(play, hits_of(play.grep(pattern_of(word))), word)


def how_often(play: Play) -> None:
    """In how many lines a name stands, each of which is listed."""
    rng = play.rng
    kind = rng.choice([kind for kind in KINDS if len(kind.variants) > 3])
    pattern = rng.choice([path for path in kind.paths if "{v}" in path])
    scenes = [Scene(rng, kind, one, pattern) for one in rng.sample(kind.variants, rng.randint(2, 4))]
    slots = [slot for slot, what in scenes[0].kinds.items() if what in SEARCHABLE]
    if not slots:
        raise Unfit("nothing to search for")
    slot = rng.choice(slots)
    word = scenes[0].values[slot]
    for scene in scenes[1 : rng.randint(1, len(scenes))]:
        scene.values[slot] = word
    for scene in scenes:
        play.file(scene.path, scene.text)
    _order(play, OFTEN, word)
    asks_files = "files" in play.messages[-1].text.split("?")[0] and "my files" not in play.messages[-1].text
    hits = hits_of(play.grep(pattern_of(word)))
    listed = files_of(hits) if asks_files else evidence(hits).split("\n")
    numbered = "\n".join(f"{at}. {one}" for at, one in enumerate(listed, 1))
    play.say(f"{numbered}\nThat is {len(listed)}.")


FAMILIES = (Family(mention, 5.0), Family(nowhere, 0.7), Family(how_often, 1.2))
