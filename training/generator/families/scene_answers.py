"""Questions about scenes: the file is named, called by what it is, or left to be found."""

import re
from collections.abc import Sequence
from random import Random

from training.generator.documents.page import spin
from training.generator.documents.questions import NOUN_FRAMES, with_file, worded
from training.generator.frames import one_frame
from training.generator.phrases import vary
from training.generator.play import Family, Play, Unfit
from training.generator.scenes import KINDS, Kind, Question, Scene

FOREIGN = re.compile(
    r"^(wann|wer|wo|wieviele?|wie|welche[rsmn]?|was (muss|kostet|ist)|(an|in) welche[rm]|zu wem"
    r"|(ab|bei) (wann|welchem|wieviel)|combien|chez|où|avec|avant|dans|qui|que|quels?|quelles?|quand"
    r"|qu'est-ce|à|c'est quand|a (che|que)|da quale|quale|quanto|quanti|quando|come|con chi|in quale"
    r"|hoe|hoeveel|wanneer|waar|wat|quantos|onde|quem|qual|de que)(?!\w)|^¿",
    re.IGNORECASE,
)
"""How a question begins that is not English."""
VAGUE = re.compile(
    r"\b(it|they|them|he|she|there|one|this|those)\b|^(total|price|average|deadline|our fee)\b"
)
HELLO = """
hi
hello
hi there
good morning
hey, are you there?
hello, I need some help (with my files|today|)
can you help me (a bit|with something|)?
I have a question (about my files|)
(moin|servus|bonjour|hola)
""".strip()
ANSWER_HELLO = (
    "Hello! What can I do for you?",
    "Hello. What would you like to know?",
    "Hello! What is it about?",
    "Hello. What shall I do?",
)
WHY = """
I am (writing|sending) an email (about it|) and need one thing.
(my|our) (boss|neighbour|daughter|son|customer|colleague) (wants to know|asked me) something.
I should know this but I (don't|forgot).
I wrote (this|it) down somewhere.
(it is|it's) in one of my files (here|).
no idea which file it was, but
I am sure (it is|I wrote it) somewhere here.
(sorry|excuse me), my english is not (so|very) good.
I can't find my glasses.
(long day|busy morning), (please help|quick one).
""".strip()
IS_IT = """
is {n} (really|still|) {v}?
{n} is {v}, (right|isn't it|correct)?
I think {n} is {v}, (is that right|true|am I right)?
someone said {n} is {v}, (is that so|can that be)?
(check|can you check|verify) (that|whether|if) {n} is {v}
does it say {v} for {n}?
""".strip()
FOREIGN_FRAMES = ("{f}: {q}", "{q} ({f})", "{q} {f}")


def lay_others(play: Play, taken: Sequence[Scene], *, most: int = 4, only: str = "") -> list[Scene]:
    """Lay out scenes of other kinds; `only` takes those of code, or those of text."""
    rng = play.rng
    kinds = [kind for kind in KINDS if kind not in [scene.kind for scene in taken]]
    if only:
        kinds = [kind for kind in kinds if kind.is_code == (only == "code")]
    found: list[Scene] = []
    for kind in rng.sample(kinds, min(rng.choice((0, 1, 2, 3, most)), len(kinds))):
        scene = Scene(rng, kind)
        if not any(alike(scene.path, other.path) for other in (*taken, *found)):
            found.append(scene)
    for scene in found:
        play.file(scene.path, scene.text)
    return found


def alike(one: str, two: str) -> bool:
    """True when two paths have a word in common, so that one may be taken for the other."""
    words = [{*re.findall(r"[a-z]{3,}", path.rpartition(".")[0].lower())} for path in (one, two)]
    return bool(words[0] & words[1]) or one == two


def siblings(play: Play, kind: Kind, count: int) -> list[Scene]:
    """Lay out several files of one kind, which differ in their values."""
    pattern = play.rng.choice([path for path in kind.paths if "{v}" in path])
    chosen = sorted(play.rng.sample(kind.variants, min(count, len(kind.variants))))
    scenes = [Scene(play.rng, kind, variant, pattern) for variant in chosen]
    for scene in scenes:
        play.file(scene.path, scene.text)
    return scenes


def greet(play: Play, chance: float = 0.06) -> None:
    """At times a greeting comes first, which needs no tool."""
    if play.rng.random() < chance:
        play.user(one_frame(play.rng, HELLO))
        play.say(play.rng.choice(ANSWER_HELLO))


def asked(rng: Random, question: str, name: str) -> str:
    """A question as somebody types it, with what the file is called."""
    if FOREIGN.match(question):
        frame = rng.choice(FOREIGN_FRAMES if name else ("{q}",))
        return frame.format(q=question, f=name)
    if name.startswith(("the ", "our ")) and rng.random() < 0.25:
        name = f"{'my' if name.endswith('s') or ' of ' in name else rng.choice(('this', 'my'))} {name[4:]}"
    text = worded(rng, with_file(rng, question, name))
    if rng.random() < 0.07:
        text = f"{one_frame(rng, WHY)} {text}"
    return text


def find(play: Play, scene: Scene, text: str) -> None:
    """Read the file, which the order names or which is found among the files."""
    if scene.path not in text:
        play.glob()
    play.read(scene.path)


def one_question(scene: Scene) -> tuple[str, str]:
    """A question and its answer: a written one, or a plain one for something that has a name."""
    rng = scene.rng
    if scene.kind.names and rng.random() < 0.3:
        slot = rng.choice(sorted(scene.kind.names))
        name = scene.name_of(slot)
        return spin(rng, NOUN_FRAMES.strip().replace("\n", "|"), {"n": name}), scene.told(slot)
    question: Question = rng.choice(scene.kind.questions)
    return scene.ask(question), scene.answer(question)


def some_scene(rng: Random, *, code: bool | None = None) -> Scene:
    """A scene of any kind."""
    return Scene(rng, rng.choice([kind for kind in KINDS if code in (None, kind.is_code)]))


def fact(play: Play) -> None:
    """A fact, with the file named, called or left out."""
    rng = play.rng
    scene = some_scene(rng)
    question, answer = one_question(scene)
    way = rng.choice(("path", "called", "bare", "bare"))
    play.file(scene.path, scene.text)
    is_vague = bool(VAGUE.search(question))
    if way == "bare" and not is_vague:
        lay_others(play, [scene], only="text" if scene.kind.is_code else "code")
    elif way != "bare":
        lay_others(play, [scene])
    name = {"path": scene.path, "called": scene.called(), "bare": ""}[way]
    greet(play)
    text = asked(rng, question, name)
    play.user(text)
    find(play, scene, text)
    play.say(answer)


def of_several(play: Play) -> None:
    """A fact from one of several files that differ in their values only."""
    rng = play.rng
    kind = rng.choice([kind for kind in KINDS if len(kind.variants) > 3])
    scenes = siblings(play, kind, rng.randint(2, 4))
    lay_others(play, scenes, most=2)
    scene = rng.choice(scenes)
    question, answer = one_question(scene)
    name = scene.called() if rng.random() < 0.7 else scene.path
    text = asked(rng, question, name)
    play.user(text)
    find(play, scene, text)
    play.say(answer)


def compare_files(play: Play) -> None:
    """Which of two files has the larger number."""
    rng = play.rng
    kind = rng.choice([kind for kind in KINDS if len(kind.variants) > 3])
    one, two = siblings(play, kind, 2)
    slots = [slot for slot in sorted(kind.names) if re.match(r"int|float", one.kinds.get(slot, ""))]
    if not slots:
        raise Unfit("nothing to compare")
    slot = rng.choice(slots)
    name = one.name_of(slot)
    frames = """
        where is {n} (higher|larger): {a} or {b}?
        is {n} (higher|larger) in {a} or in {b}?
        compare {n} of {a} and {b}(, which is larger|)
        {a} or {b}, which has the larger value for {n}?
    """
    play.user(vary(rng, one_frame(rng, frames, n=name, a=one.path, b=two.path)))
    play.read(one.path)
    play.read(two.path)
    best = max((one, two), key=lambda scene: float(scene.values[slot]))
    other = two if best is one else one
    proof = f"{one.evidence(slot)}\n{two.evidence(slot)}"
    play.say(f"{proof}\nIn {best.path} it is higher: {best.values[slot]} against {other.values[slot]}.")


def two_facts(play: Play) -> None:
    """Two facts in one order."""
    rng = play.rng
    scene = some_scene(rng)
    if len(scene.kind.questions) < 2:
        raise Unfit("one question")
    play.file(scene.path, scene.text)
    lay_others(play, [scene])
    first, second = rng.sample(scene.kind.questions, 2)
    if any(FOREIGN.match(asked_.wordings[0]) or "%" in asked_.answer for asked_ in (first, second)):
        raise Unfit("foreign")
    both = f"{scene.ask(first)}{rng.choice((' and ', ', and ', '? and ', '? also, '))}{scene.ask(second)}"
    text = asked(rng, both, rng.choice((scene.path, scene.called())))
    play.user(text)
    find(play, scene, text)
    marks = (*first.evidence, *second.evidence)
    told = " ".join(scene.answer(one).rpartition("\n")[2] for one in (first, second))
    play.say(f"{scene.evidence(*marks)}\n{told}")


def is_it_so(play: Play) -> None:
    """Whether a value is what the user thinks."""
    rng = play.rng
    scene = rng.choice([Scene(rng, kind) for kind in rng.sample(KINDS, 4) if kind.names] or [some_scene(rng)])
    if not scene.kind.names:
        raise Unfit("no names")
    slot = rng.choice(sorted(scene.kind.names))
    name, value = scene.name_of(slot), scene.values[slot]
    is_right = rng.random() < 0.5
    said = value if is_right else scene.fresh(scene.kinds[slot], value)
    play.file(scene.path, scene.text)
    lay_others(play, [scene])
    place = rng.choice((f" ({scene.path})", f", see {scene.path}", f" in {scene.called()}"))
    question = one_frame(rng, IS_IT, n=name, v=said)
    text = vary(rng, question.rstrip("?") + place + "?" * question.endswith("?"))
    play.user(text)
    find(play, scene, text)
    told = scene.told_name(slot)
    verdict = f"Yes, {told} is {value}." if is_right else f"No, {told} is {value}, not {said}."
    play.say(f"{scene.evidence(slot)}\n{verdict}")


FAMILIES = (
    Family(fact, 17.0),
    Family(of_several, 4.0),
    Family(compare_files, 1.0),
    Family(two_facts, 3.0),
    Family(is_it_so, 2.5),
)
