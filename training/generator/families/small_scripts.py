"""Small scripts and functions with numbers, words and names of their own, in Python, shell and JavaScript."""

import re
from random import Random

from training.generator import create_tasks, sources
from training.generator.families.create_code import Spec, file_for, order_program, tell
from training.generator.play import Family, Play, Unfit
from training.generator.word_pools import FIRST_NAMES, GOODS, INTERJECTIONS, TOWNS

MAX_OUTPUT = 14
_SLOT = re.compile(r"«(\w)((?:[+*-]\w+)*)»")
_STEP = re.compile(r"([+*-])(\w+)")
_PLAIN = tuple(word for word in GOODS if word.isalpha() and word.isascii())
_NAMES = tuple(name for name in FIRST_NAMES if name.isalpha() and name.isascii())
RUNNERS = {"py": "python3", "sh": "sh"}


def blocks(table: str) -> list[str]:
    """Return the tasks of a table."""
    return table.strip().removeprefix("== ").split("\n== ")


SCRIPTS = blocks(create_tasks.SCRIPTS)
FUNCTIONS = blocks(create_tasks.FUNCTIONS)


def made_up(rng: Random) -> dict[str, str]:
    """Return the numbers and words of one task."""
    first = rng.choice((1, 1, 2, 3, 5, 10, rng.randint(1, 30)))
    words = rng.sample(_PLAIN, 3)
    names = rng.sample(_NAMES, 3)
    step, other = rng.sample(range(2, 10), 2)
    numbers = {
        "a": first,
        "b": first + rng.randint(5, 30),
        "c": rng.choice((5, 6, 8, 10, 10, 10, 12, 12, 15)),
        "d": rng.randint(3, 8),
        "k": rng.randint(2, 19),
        "s": step,
        "u": other,
        "v": rng.choice((16, 17, 18, 18, 21)),
    }
    texts = dict(zip("xyz", words, strict=True)) | dict(zip("pqr", names, strict=True))
    texts |= {"w": rng.choice(INTERJECTIONS), "t": rng.choice(TOWNS)}
    return {key: str(number) for key, number in numbers.items()} | texts


def put(text: str, slots: dict[str, str]) -> str:
    """Fill the slots of a text, also those with a small sum."""

    def fill(found: re.Match[str]) -> str:
        if not found[2]:
            return slots[found[1]]
        total = int(slots[found[1]])
        for sign, part in _STEP.findall(found[2]):
            number = int(slots.get(part, part))
            total = total * number if sign == "*" else total + number * (1 if sign == "+" else -1)
        return str(total)

    return _SLOT.sub(fill, text)


def parse(block: str) -> tuple[str, list[str], dict[str, str]]:
    """Return the head of a script's block, its wordings, and the code of each language."""
    head, *rest = block.split("\n")
    does: list[str] = []
    code: dict[str, list[str]] = {}
    language = ""
    for line in rest:
        if line.startswith("- ") and not language:
            does.append(line[2:])
        elif line in ("py", "sh", "js"):
            language = line
            code[language] = []
        else:
            code[language].append(line)
    return head, does, {key: "\n".join(lines) for key, lines in code.items()}


def script_spec(rng: Random, block: str, language: str = "") -> Spec:
    """Return a script of a block with made-up numbers and words."""
    head, does, code = parse(block)
    language = language or rng.choices(("py", "sh", "js"), (5, 2, 2))[0]
    if language not in code:
        raise Unfit("not in this language")
    slots = made_up(rng)
    name = rng.choice(head.split(", ")).replace("*", language)
    return Spec(language, name, "", tuple(put(one, slots) for one in does), put(code[language], slots))


def function_spec(rng: Random, block: str, language: str = "") -> tuple[Spec, str]:
    """Return a function of a block, and a check of it in Python."""
    slots = made_up(rng)
    head, *rest = put(block, slots).split("\n")
    signature = head.removeprefix("def ")
    does = tuple(line[2:] for line in rest if line.startswith("- "))
    parts = dict(line.split(" ", 1) for line in rest if not line.startswith("- "))
    language = language or rng.choices(("py", "js"), (3, 1))[0]
    if language == "py":
        code = f"def {signature}:\n    {parts['py']}".replace("\\n", "\n")
    else:
        code = f"function {signature} {{\n  {parts['js']}\n}}"
        does = tuple(one.replace("True", "true").replace("dictionary", "object") for one in does)
    return Spec(language, signature.partition("(")[0], signature, does, code), parts["check"]


def script(play: Play) -> None:
    """A script in a new file."""
    rng = play.rng
    _write(play, script_spec(rng, rng.choice(SCRIPTS)))


def function(play: Play) -> None:
    """A function in a new file."""
    rng = play.rng
    _write(play, function_spec(rng, rng.choice(FUNCTIONS))[0])


def _write(play: Play, spec: Spec) -> None:
    rng = play.rng
    does = rng.choice(spec.does)
    path = file_for(rng, spec)
    sources.distract(play, path, most=3)
    order_program(play, spec, does, path)
    play.write(path, spec.code)
    play.say(tell(spec, path, does))


def script_and_run(play: Play) -> None:
    """A script that is written and then run."""
    rng = play.rng
    spec = script_spec(rng, rng.choice(SCRIPTS), rng.choice(("py", "py", "sh")))
    does = rng.choice(spec.does)
    path = file_for(rng, spec)
    sources.distract(play, path, most=2)
    tails = (
        ", and run it",
        ", then run it",
        ". Run it too",
        ". show me what it prints",
        ", start it afterwards",
    )
    order_program(play, spec, does, path, tail=rng.choice(tails))
    play.write(path, spec.code)
    shown = play.bash(f"{RUNNERS[spec.ending]} {path}").strip()
    if len(shown.split("\n")) > MAX_OUTPUT:
        raise Unfit("a long output")
    play.say(f"Created {path}. Its output:\n{shown}")


FAMILIES = (
    Family(script, 4.0),
    Family(function, 2.4),
    Family(script_and_run, 0.6),
)
