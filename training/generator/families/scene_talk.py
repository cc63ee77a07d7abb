"""Conversations about one text or several of a kind: ask, change, correct, put back, the next file."""

from collections.abc import Callable

from training.generator.documents.page import spin
from training.generator.documents.questions import NOUN_FRAMES
from training.generator.families.scene_answers import FOREIGN, asked, find, greet, lay_others, siblings
from training.generator.frames import one_frame
from training.generator.phrases import vary
from training.generator.play import Family, Play, Unfit
from training.generator.scenes import KINDS, Scene

CHANGE = """
set {k} to {v}
{k} (should be|must be|has to be|is now|is) {v}(, please correct (it|that)|, change (it|that)|)
(change|turn|put) {k} to {v}
(change|correct|update) {k}, it is {v} now
make {k} {v}
{k} (has changed|changed) to {v}
{v} for {k} (please|)
I want {k} to be {v}
(could|can) you (change|set) {k} (from {o} |)to {v}?
{k} is not {o} (any more|) but {v}, fix (it|that)
(write|put) {v} for {k} instead of {o}
there is a mistake: {k} is {v}, not {o}
we agreed on {v} for {k}, (change|correct) that
(let's|we) make {k} {v}
{o} is wrong for {k}, it's {v}
please adjust {k} to {v}
""".strip()
IT = """
(now |then |ok, |)(change|set) (it|that) to {v}
make (it|that) {v} (please|)
(it|that) should be {v}
{v} would be (better|right)
that's wrong, (it is|it's) {v}
(hm|hmm|oh), that should be {v}
(that's|this is) out of date. {v}
write {v} there (instead|)
correct (it|that) to {v}
then make it {v}
not {o} but {v}, correct that
not right. {v}
I'd rather have {v} there
(mach|ändere) das auf {v}
""".strip()
AGAIN = """
(sorry|no|oh|oops|wait|hmm), {v}
make it {v} instead
(sorry|wait), I meant {v}
actually {v} (please|)
no, {v} (instead|is right|is better|was what I meant)
my mistake, it must be {v}
{v}, not {n}
{v} (after all|then)
(I mistyped|typo from me), {v}
not {n}! {v}
can we make that {v}?
ach nein, {v}
""".strip()
BACK = """
put it back
(no, |hm, |)(put|set|change) (it|that) back (to {o}|to what it was|please|)
{o} was (right|better) after all
(oh|ok), leave it at {o} (then|)
I want the old (value|one) back
back to {o} (please|)
restore the old value
as it was before, please
doch wieder {o}
""".strip()
OTHER = """
and {k} to {v}
(now|also|then) (set|change) {k} to {v}
{k} too: {v}
and {k} (is|should be|must be) {v}
(good|ok|fine|thanks), (now|next) {k}: {v}
one more: {k} is {v}
and make {k} {v}
(while you are there|in the same file), {k} is {v}
""".strip()
MORE = """
and {q}
(ok|good|thanks|great|alright), (and|) {q}
(also|next): {q}
{q}
and then {q}
one more thing: {q}
while you're at it, {q}
""".strip()
MORE_NAME = """
and {k}?
(and|) what about {k}?
{k} too
(ok|thanks), and {k}?
what's {k} (then|)?
same for {k}
et {k}?
""".strip()
NOW = """
(and |so |)what is it now?
what does it say now?
(check|look) again, (what is it|is it right) now?
is it (changed|correct|in there) now?
show me that line (again|now)
what's {k} now?
read it (to me|) again
""".strip()
WHAT = """
what did you (just |)(change|do)?
what exactly did you change
what have you changed (so far|now|)?
which line did you change?
what was it before?
tell me what you did
was hast du geändert?
""".strip()
NEXT_FILE = """
and (in|for) {f}?
(ok|now|and) {f}?
what about {f}?
(the |)same (question |)for {f}
and (what does|what's in) {f} (say|)?
now {f}
sorry, I meant {f}
no, (the other one|not this one), {f}
et dans {f}?
und in {f}?
""".strip()
SAME_CHANGE = """
(now |and |)the same (in|for) {f}
do the same (in|for|with) {f}
{f} too
{f} needs (it|that) too
also (change it|) in {f}
and (in|for) {f} as well
change {f} (too|likewise|the same way)
""".strip()
OTHER_VALUE = """
and in {f} (make it|it is|set it to|it should be) {v}
(now|for) {f}: {v}
{f} gets {v}
in {f} it's {v}
""".strip()


class Talk:
    """A conversation about a scene: what was last spoken of, and what it was before."""

    def __init__(self, play: Play, scene: Scene) -> None:
        if not scene.kind.names:
            raise Unfit("nothing may change")
        self.play, self.scene, self.rng = play, scene, play.rng
        self.slot = self.rng.choice(sorted(scene.kind.names))
        self.old = self.new = ""

    def path(self) -> str:
        """How the first order calls the file."""
        return self.rng.choice((self.scene.path, self.scene.path, self.scene.called()))

    def fresh(self) -> str:
        """A new value for what was spoken of."""
        kind = self.scene.kinds.get(self.slot, "")
        if not kind or self.scene.text.count(f"{self.scene.values[self.slot]}") < 1:
            raise Unfit("no such value")
        return self.scene.fresh(kind, self.scene.values[self.slot], self.old)

    def put(self, new: str, *, is_read: bool = False) -> None:
        """Read the file, put a new value in place of the old one and tell it."""
        scene, slot = self.scene, self.slot
        number, self.old, self.new = scene.row_of(slot), scene.values[slot], new
        if sum(f"[[{slot}:" in row or f"[[{slot}]]" in row for row in scene.rows) != 1:
            raise Unfit("the value stands in two lines")
        name = scene.told_name(slot)
        if not is_read:
            self.play.read(scene.path)
        scene.values[slot] = new
        self.play.set_lines(scene.path, number, scene.lines[number - 1])
        self.play.say(f"Changed {name} from {self.old} to {new} in {scene.path}.")

    def user(self, block: str, **slots: str) -> None:
        """Let the user say one sentence."""
        self.play.user(vary(self.rng, one_frame(self.rng, block, **slots)))

    def first_question(self) -> None:
        """Ask for what has a name."""
        self.old = ""
        noun = spin(self.rng, NOUN_FRAMES.strip().replace("\n", "|"), {"n": self.scene.name_of(self.slot)})
        text = asked(self.rng, noun, self.path())
        self.play.user(text)
        find(self.play, self.scene, text)
        self.play.say(self.scene.told(self.slot))

    def first_change(self) -> None:
        """Change what has a name."""
        new = self.fresh()
        order = one_frame(
            self.rng,
            CHANGE,
            k=self.scene.name_of(self.slot),
            v=new,
            o=self.scene.values[self.slot],
        )
        end = "?" * order.endswith("?")
        frames = "{o} in {f}\nin {f}, {o}\n{f}: {o}\n{o} ({f})\nin {f}: {o}"
        order = one_frame(self.rng, frames.replace("({f})", "[{f}]"), o=order.rstrip("?"), f=self.path())
        text = vary(self.rng, order.replace("[", "(").replace("]", ")") + end)
        self.play.user(text)
        find(self.play, self.scene, text)
        self.put(new, is_read=True)

    def change_it(self) -> None:
        """Change what was just spoken of, or correct the number just given."""
        new = self.fresh()
        old = self.scene.values[self.slot]
        self.user(AGAIN if self.old else IT, v=new, o=old, n=old)
        self.put(new)

    def put_back(self) -> None:
        """Give it the value it had."""
        if not self.old:
            raise Unfit("nothing was changed")
        self.user(BACK, o=self.old)
        self.put(self.old)

    def change_other(self) -> None:
        """Change something else in the file."""
        self.slot, self.old = self.other(), ""
        new = self.fresh()
        self.user(OTHER, k=self.scene.name_of(self.slot), v=new)
        self.put(new)

    def other(self) -> str:
        """Another slot that has a name."""
        names = [slot for slot in sorted(self.scene.kind.names) if slot != self.slot]
        if not names:
            raise Unfit("only one name")
        return self.rng.choice(names)

    def ask_other(self) -> None:
        """Ask for another value by its name."""
        self.slot, self.old = self.other(), ""
        self.user(MORE_NAME, k=self.scene.name_of(self.slot))
        self.play.read(self.scene.path)
        self.play.say(self.scene.told(self.slot))

    def ask_more(self) -> None:
        """Another question about the text, which reads it again."""
        question = self.rng.choice(self.scene.kind.questions)
        words = self.scene.ask(question)
        if FOREIGN.match(words):
            raise Unfit("foreign")
        self.user(MORE, q=words + "?" * (self.rng.random() < 0.6))
        self.play.read(self.scene.path)
        self.play.say(self.scene.answer(question))

    def ask_now(self) -> None:
        """What it is after the change."""
        if not self.old:
            raise Unfit("nothing was changed")
        self.user(NOW, k=self.scene.name_of(self.slot))
        self.play.read(self.scene.path)
        self.play.say(self.scene.told(self.slot))

    def what(self) -> None:
        """What was changed: the conversation knows."""
        if not self.old:
            raise Unfit("nothing was changed")
        self.user(WHAT)
        number = self.scene.row_of(self.slot)
        name = self.scene.told_name(self.slot)
        self.play.say(f"I changed {name} from {self.old} to {self.new} in {self.scene.path}, line {number}.")


def _go_on(play: Play, steps: tuple[Callable[[], None], ...], turns: int) -> None:
    last: Callable[[], None] | None = None
    for _ in range(turns):
        last = play.rng.choice([step for step in steps if step != last])
        last()
    if play.rng.random() < 0.08:
        play.user(play.rng.choice(("thanks", "thank you", "great, thanks", "ok, that's all", "perfect")))
        play.say(play.rng.choice(("You are welcome.", "Gladly.")))


def _talk(play: Play, kind_of: str = "") -> Talk:
    rng = play.rng
    kinds = [kind for kind in KINDS if kind.names and (not kind_of or kind.is_code == (kind_of == "code"))]
    scene = Scene(rng, rng.choice(kinds))
    play.file(scene.path, scene.text)
    lay_others(play, [scene], most=3)
    return Talk(play, scene)


def ask_then_change(play: Play) -> None:
    """A question, then a change of what was answered, and more."""
    talk = _talk(play)
    greet(play)
    talk.first_question()
    talk.change_it()
    steps = (talk.change_it, talk.put_back, talk.ask_now, talk.what, talk.ask_more, talk.ask_other)
    _go_on(play, steps, play.rng.choice((0, 0, 1, 1, 2)))


def change_then_more(play: Play) -> None:
    """A change, then a correction, another one, or a question."""
    talk = _talk(play)
    talk.first_change()
    steps = (
        talk.change_it,
        talk.change_it,
        talk.put_back,
        talk.change_other,
        talk.change_other,
        talk.ask_more,
        talk.ask_more,
        talk.ask_other,
        talk.ask_now,
        talk.what,
    )
    _go_on(play, steps, play.rng.choice((1, 1, 1, 2, 2, 3)))


def ask_and_ask(play: Play) -> None:
    """Several questions about one text."""
    talk = _talk(play)
    talk.first_question()
    _go_on(play, (talk.ask_more, talk.ask_other, talk.change_it), play.rng.choice((1, 1, 2)))


def next_file(play: Play) -> None:
    """A question about one of several files, then the same about the next."""
    rng = play.rng
    kind = rng.choice([kind for kind in KINDS if len(kind.variants) > 3])
    scenes = siblings(play, kind, rng.randint(2, 4))
    rng.shuffle(scenes)
    lay_others(play, scenes, most=2)
    question = rng.choice(kind.questions)
    text = asked(rng, scenes[0].ask(question), rng.choice((scenes[0].path, scenes[0].called())))
    play.user(text)
    find(play, scenes[0], text)
    play.say(scenes[0].answer(question))
    for scene in scenes[1 : 1 + rng.choice((1, 1, 2))]:
        name = rng.choice((scene.path, scene.called(), scene.variant))
        play.user(vary(rng, one_frame(rng, NEXT_FILE, f=name)))
        play.read(scene.path)
        play.say(scene.answer(question))


def same_change(play: Play) -> None:
    """A change in one of several files, then the same or another one in the next."""
    rng = play.rng
    kind = rng.choice([kind for kind in KINDS if len(kind.variants) > 3 and kind.names])
    first, second = siblings(play, kind, 2)
    lay_others(play, [first, second], most=2)
    talk = Talk(play, first)
    talk.first_change()
    new, slot = talk.new, talk.slot
    name = rng.choice((second.path, second.called(), second.variant))
    then = Talk(play, second)
    then.slot = slot
    if rng.random() < 0.7:
        then.user(SAME_CHANGE, f=name)
    else:
        new = second.fresh(second.kinds[slot], new)
        then.user(OTHER_VALUE, f=name, v=new)
    if second.values[slot] == new:
        raise Unfit("it has that value")
    then.put(new)
    if rng.random() < 0.3:
        then.change_it()


def list_read_change(play: Play) -> None:
    """What is here, then what one of the files says, then a change in it."""
    rng = play.rng
    talk = _talk(play)
    frames = """
        what (files|) (is|are|do I have) here?
        (list|show me) (all|the|my) files
        which files are there
        ls
        what do we have in this folder
        show me what is here
    """
    play.user(vary(rng, one_frame(rng, frames)))
    play.say(play.glob().rstrip("\n"))
    name = talk.scene.called()
    text = asked(
        rng, f"what is {talk.scene.name_of(talk.slot)}", name if rng.random() < 0.7 else talk.scene.path
    )
    play.user(text)
    play.read(talk.scene.path)
    play.say(talk.scene.told(talk.slot))
    if rng.random() < 0.6:
        talk.change_it()


FAMILIES = (
    Family(ask_then_change, 4.0),
    Family(change_then_more, 6.0),
    Family(ask_and_ask, 3.0),
    Family(next_file, 2.5),
    Family(same_change, 2.5),
    Family(list_read_change, 1.5),
)
