"""What the model is taught to know without a tool: tables of questions and answers, read from text files.

```
[capitals]                                the name of a topic
? capital of {0}? | {0} capital?          ways to ask; the second cell of a row is {1}
& and of {0}?                             ways to ask on about another row
! The capital of {0} is {1}.              ways to answer; then may follow more such groups
France | Paris                            ` / ` parts alternatives, ` // ` breaks a line, `-` is no cell
```
"""

import random
import re
from pathlib import Path

from msgspec import Struct

from training.generator.phrases import one_of
from training.generator.play import Unfit

_CELL = re.compile(r"\{(\d)\}")
_BAR = re.compile(r" \| (?=(?:[^`]*`[^`]*`)*[^`]*$)")
"""Between two cells: a bar that is not in backticks; a bar in the first cell needs none."""
_SLASH = re.compile(r" / (?=(?:[^`]*`[^`]*`)*[^`]*$)")
"""Between two alternatives: a slash that is not in backticks."""
_BREAK = re.compile(r" // (?=(?:[^`]*`[^`]*`)*[^`]*$)")
"""A break of a line, not in backticks."""
_MARKS = {"? ": "asks", "& ": "asks_on", "! ": "answers"}
BLANKS = {
    "{file}": "file notes todo report draft letter menu songs budget minutes guests scores plan list".split(),
    "{file2}": "other copy final new_version backup result january archive second old".split(),
    "{dir}": "folder photos src docs data build music invoices recipes projects old backups lessons".split(),
    "{word}": "word price total error Anna timeout invoice rain garlic TODO Berlin violin summer".split(),
    "{word2}": "new cost sum warning Clara delay bill snow onion Vienna cello winter".split(),
    "{branch}": "name dev feature-login hotfix experiment new-menu v2 testing release translations".split(),
    "{n}": "5 3 8 10 20 30 8080".split(),
    "{host}": "host example.org server.example.org 192.168.1.20 my-server web1".split(),
    "{url}": ["URL", "https://example.org/data.json", "https://example.com", "http://localhost:8000/items"],
}
"""Names for the blanks of rows; the first stands in an answer to a question that names nothing."""


class Group(Struct):
    """Ways to ask for one cell of a row, and to answer."""

    asks: list[str]
    asks_on: list[str]
    answers: list[str]

    def fits(self, row: tuple[str, ...]) -> bool:
        """Return whether all cells that the group speaks of are there."""
        cells = {int(index) for text in (*self.asks, *self.answers) for index in _CELL.findall(text)}
        return all(row[cell] != "-" for cell in cells)


class Topic(Struct):
    """Rows of cells with the groups that ask about them."""

    name: str
    groups: list[Group]
    rows: list[tuple[str, ...]]

    def draw(self, rng: random.Random, *, turns: int = 1) -> list[tuple[str, str]]:
        """Return a question and its answer; with more turns, further rows that are asked in short."""
        group = rng.choice(self.groups)
        rows = [row for row in self.rows if group.fits(row)]
        if len(rows) < turns:
            raise Unfit(f"{self.name} has no {turns} rows")
        return [
            _filled(rng, one_of(rng, group.asks_on if number and group.asks_on else group.asks), group, row)
            for number, row in enumerate(rng.sample(rows, turns))
        ]


def _filled(rng: random.Random, ask: str, group: Group, row: tuple[str, ...]) -> tuple[str, str]:
    frame = one_of(rng, group.answers)
    question = _CELL.sub(lambda cell: one_of(rng, _SLASH.split(row[int(cell[1])])), ask)
    answer = _CELL.sub(lambda cell: one_of(rng, _SLASH.split(row[int(cell[1])])), frame)
    answer = _BREAK.sub("\n", answer)
    if frame.startswith("{") and ":" not in frame and frame != "{1}." and frame[3:4] == " ":
        answer = answer[0].upper() + answer[1:]
    return _with_names(rng, question, answer)


def _with_names(rng: random.Random, question: str, answer: str) -> tuple[str, str]:
    for blank, (plain, *names) in BLANKS.items():
        if blank in question or blank in answer:
            name = rng.choice(names) if blank in question else plain
            if "file" in blank:
                name += _ending(question + answer)
            question, answer = question.replace(blank, name), answer.replace(blank, name)
    return question, answer


def _ending(text: str) -> str:
    """Return an ending for a file name that fits what is said about the file."""
    for word, ending in (("json", ".json"), ("csv", ".csv"), ("cut -d,", ".csv"), ("python3 {", ".py")):
        if word in text.lower():
            return ending
    return ".sh" if "chmod +x" in text or "shell script" in text else ".txt"


def load(name: str) -> list[Topic]:
    """Return the topics of a file of this folder."""
    topics: list[Topic] = []
    text = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line or line.startswith("# "):
            continue
        if line.startswith("[") and line.endswith("]"):
            topics.append(Topic(line[1:-1], [], []))
        elif line[:2] in _MARKS:
            _add_frames(topics[-1], _MARKS[line[:2]], line[2:].split(" | "))
        else:
            topics[-1].rows.append(_row(topics[-1], line))
    return topics


def _add_frames(topic: Topic, kind: str, frames: list[str]) -> None:
    if kind == "asks":
        topic.groups.append(Group(frames, [], []))
    else:
        setattr(topic.groups[-1], kind, frames)


def _row(topic: Topic, line: str) -> tuple[str, ...]:
    frames = " ".join(frame for group in topic.groups for frame in (*group.asks, *group.answers))
    width = max(int(index) for index in _CELL.findall(frames)) + 1
    cells = _BAR.split(line)
    spare = max(0, len(cells) - width)
    cells = [" | ".join(cells[: spare + 1]), *cells[spare + 1 :]]
    if len(cells) != width:
        raise ValueError(f"{topic.name}: {line} has not {width} cells")
    return tuple(cells)
