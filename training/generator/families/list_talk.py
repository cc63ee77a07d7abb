"""Conversations about a list of things to do: what is left, tick one off, add one, count again."""

from training.generator import more_answers_data as data
from training.generator.families.scene_answers import lay_others
from training.generator.frames import one_frame
from training.generator.phrases import vary
from training.generator.play import Family, Play, Unfit

LEFT = """
what is (left|still open|still to do|missing)?
what's left (to do|on it|)?
what do (I|we) still have to do?
what (remains|is not done yet)?
(show|tell) me what is (still open|left)
what have I not done yet?
was ist noch offen?
qu'est-ce qui reste à faire ?
""".strip()
LEFT_AGAIN = """
what is left (now|)?
and what's (left|still open) (now|)?
(so|ok), what (remains|do I still have to do)?
what else (is there to do|is open)?
show me the rest
and now? what is left
""".strip()
HOW_MANY_LEFT = """
how many are (left|open) (now|)?
and how many is that (still|)?
how many (things|points|tasks) do I still have?
""".strip()
DONE_NOW = """
what is (already|) done?
(and|) what did I (already|) (finish|do)?
(ok|and) which ones are done?
""".strip()
TICK = """
tick off {i}
{i} is done
(I did|done:|finished:) {i}
mark {i} as done
{i} (can be ticked off|is finished|is ready)
check off {i} (please|)
I am through with {i}
{i}: done
""".strip()
TICK_MORE = """
{i} too
and {i} (is done too|as well|too)
also {i}
(now|next) {i}
{i} is done as well
oh, and {i}
""".strip()
UNTICK = """
no, (that|it) is not done (yet|), open it again
(sorry|wait), that one is still open
untick it again
oh no, {i} is not done (yet|)
open {i} again
""".strip()
ADD = """
add {i}
(and|also) add {i} (to it|to the list|)
{i} (is missing|has to be on it|comes on top)
put {i} on it
(one|something) more: {i}
I forgot {i}
we (also|still) need {i}
""".strip()
AWAY = """
(delete|remove) that again
take it off again
(no|hm), (delete|remove) that line (again|)
actually not, take {i} off (again|)
forget that one, delete it
""".strip()
WHERE = ("on the list", "on the list", "in {f}", "in {f}", "on {f}", "")


class Todo:
    """A list with what is done; each turn reads it again."""

    def __init__(self, play: Play) -> None:
        rng = self.rng = play.rng
        self.play = play
        name, title, things = rng.choice(data.LISTS).split(" | ")
        items = [item.strip() for item in things.split(";")]
        rng.shuffle(items)
        self.spare, items = items[:3], items[3 : rng.randint(7, 10)]
        self.marks = rng.choice([mark for mark in data.MARKS if mark[3] != "csv" and "{p}" not in mark[0]])
        self.states = {item: rng.random() < 0.4 for item in items}
        stem, _, ending = name.rpartition(".")
        self.path = rng.choice(("", "", "lists/", "home/")) + f"{stem}.{self.marks[3] or ending}"
        self.head = [title] if rng.random() < 0.6 else []
        play.file(self.path, "\n".join([*self.head, *map(self.line, self.states)]) + "\n")
        lay_others(play, [], most=2, only="code")
        self.last = ""
        self.is_found = False

    def line(self, item: str) -> str:
        """The line of an item."""
        opened, closed, *_ = self.marks
        return (closed if self.states[item] else opened).replace("{i}", item)

    def number(self, item: str) -> int:
        """The number of its line."""
        return len(self.head) + 1 + list(self.states).index(item)

    def user(self, block: str, item: str = "") -> None:
        """Say one sentence; the first one may name the file. Then read it."""
        text = one_frame(self.rng, block, i=item)
        place = ""
        if not self.is_found:
            place = self.rng.choice(WHERE[-5:] if block == LEFT else WHERE[:4]).format(f=self.path)
            mark = "?" * text.endswith("?")
            text = f"{text.rstrip(' ?')} {place}".strip() + mark
        self.play.user(vary(self.rng, text))
        if not self.is_found and self.path not in text:
            self.play.glob()
        self.is_found = True
        self.play.read(self.path)

    def listed(self, *, done: bool) -> None:
        """Say which are open, or done."""
        found = [item for item, state in self.states.items() if state == done]
        word = "done" if done else "still open"
        if not found:
            self.play.say("Nothing is done yet." if done else "Nothing is left: everything is done.")
            return
        rows = "\n".join(f"{at}. {item}" for at, item in enumerate(found, 1))
        self.play.say(f"{rows}\nThat is {len(found)} {word}.")

    def left(self) -> None:
        """What is open."""
        self.user(LEFT_AGAIN if self.is_found else LEFT)
        self.listed(done=False)

    def count(self) -> None:
        """How many are open."""
        if not self.is_found:
            raise Unfit("the first question")
        self.user(HOW_MANY_LEFT)
        self.listed(done=False)

    def done(self) -> None:
        """What is done."""
        if not self.is_found:
            raise Unfit("the first question")
        self.user(DONE_NOW)
        self.listed(done=True)

    def _mark(self, block: str, item: str, *, done: bool) -> None:
        self.user(block, item)
        self.states[item] = done
        self.play.set_lines(self.path, self.number(item), self.line(item))
        self.play.say(f"“{item}” is {'ticked off' if done else 'open again'} in {self.path}.")

    def tick(self) -> None:
        """Something is done now."""
        found = [item for item, state in self.states.items() if not state]
        if not found:
            raise Unfit("all is done")
        item = self.rng.choice(found)
        self._mark(TICK_MORE if self.last == "tick" else TICK, item, done=True)
        self.last, self.item = "tick", item

    def untick(self) -> None:
        """It is not done after all."""
        if self.last != "tick":
            raise Unfit("nothing was ticked off")
        self._mark(UNTICK, self.item, done=False)
        self.last = ""

    def add(self) -> None:
        """A new item, which is open."""
        if not self.spare:
            raise Unfit("no more items")
        item = self.spare.pop()
        self.user(ADD, item)
        at = len(self.head) + len(self.states)
        self.states[item] = False
        self.play.insert_after(self.path, at, self.line(item))
        self.play.say(f"Added {item} to {self.path}.")
        self.last, self.item = "add", item

    def away(self) -> None:
        """The new item goes again."""
        if self.last != "add":
            raise Unfit("nothing was added")
        self.user(AWAY, self.item)
        self.play.delete_lines(self.path, self.number(self.item))
        del self.states[self.item]
        self.play.say(f"Removed {self.item} from {self.path}.")
        self.last = ""


def to_do(play: Play) -> None:
    """Two to four turns about a list of things to do."""
    todo = Todo(play)
    rng = play.rng
    rng.choice((todo.left, todo.left, todo.tick, todo.add))()
    said = ""
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        after = {"tick": (todo.untick,), "add": (todo.away, todo.away)}.get(todo.last, ())
        steps = (todo.left, todo.left, todo.tick, todo.tick, todo.add, todo.count, todo.done, *after)
        step = rng.choice([step for step in steps if step.__name__ != said])
        said = step.__name__
        step()


FAMILIES = (Family(to_do, 4.0),)
