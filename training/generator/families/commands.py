"""Commands: scripts, tests, the small tools of the shell, and what came out."""

import random
import re
from textwrap import dedent

from training.generator.knowledge.command_data import (
    ANY_COMMAND,
    ASK_EXIT,
    ASK_FAILING,
    ASK_LINE,
    ASK_TESTS,
    FILE_WORK,
    MAKE,
    MODULES,
    ONE_LINERS,
    RUN,
    RUN_ABROAD,
    RUN_AND_TELL,
    RUN_BY_KIND,
    RUN_WITH,
    SYNTAX,
    TEXT_TOOLS,
    VERSIONS,
    WITH_INPUT,
)
from training.generator.knowledge.scripts import CITIES, NAMES, WORDS, Script, load_scripts
from training.generator.phrases import lines, one_of, vary
from training.generator.play import Family, Play, Unfit

SCRIPTS = load_scripts("scripts")
WITH_ARGUMENTS = load_scripts("argument_scripts")
FAILING = load_scripts("failing_scripts")
EXITING = load_scripts("exit_scripts")
PLACES = ["", "", "", "", "scripts/", "tools/", "bin/", "src/", "school/", "work/", "code/"]
_STATUS = re.compile(r"\n?\[exit status (\d+)\]$")
_LINE = re.compile(r"line (\d+)(?:, in .*)?\n +(.*)")


def run_script(play: Play) -> None:
    """Run a script that is named, and say what it printed."""
    rng = play.rng
    script = _laid_out(play, rng.choice(SCRIPTS).drawn(rng))
    label = script.notes[1]
    abroad = rng.random() < 0.05
    if abroad:
        order = one_of(rng, RUN_ABROAD).format(file=script.name, command=script.command)
    elif label != "-" and rng.random() < 0.45:
        order = one_of(rng, RUN_AND_TELL).format(file=script.name, label=label, command=script.command)
    else:
        order = one_of(rng, RUN).format(file=script.name, command=script.command)
    play.user(order if abroad else vary(rng, order))
    _say_output(play, script, play.bash(script.command))
    _maybe_again(play, script)


def run_by_kind(play: Play) -> None:
    """Run a script that is called by what it is, or by its bare name in some folder."""
    rng = play.rng
    script = _laid_out(play, rng.choice(SCRIPTS).drawn(rng), foldered=rng.random() < 0.5)
    what = script.notes[0]
    if "/" in script.name and rng.random() < 0.4:
        order = one_of(rng, RUN).format(
            file=script.name.rpartition("/")[2], command=script.name.rpartition("/")[2]
        )
    else:
        order = one_of(rng, RUN_BY_KIND).format(what=what)
    play.user(vary(rng, order))
    play.glob("**/*")
    _say_output(play, script, play.bash(script.command))


def run_with_arguments(play: Play) -> None:
    """Run a script with the arguments of the order."""
    rng = play.rng
    script = _laid_out(play, rng.choice(WITH_ARGUMENTS).drawn(rng))
    for number in range(1 + (rng.random() < 0.25)):
        if number:
            script = Script(script.name, rng.choice(_same(script)).drawn(rng).notes, script.code)
        arguments = script.notes[0]
        spoken = " and ".join(arguments.split()) if rng.random() < 0.5 else arguments
        order = one_of(rng, RUN_WITH["again" if number else "first"])
        play.user(
            vary(
                rng,
                order.format(file=script.name, spoken=spoken, arguments=arguments, command=script.command),
            )
        )
        _say_output(play, script, play.bash(f"{script.command} {arguments}"))


def _same(script: Script) -> list[Script]:
    name = script.name.rpartition("/")[2]
    return [other for other in WITH_ARGUMENTS if other.name == name]


def run_with_input(play: Play) -> None:
    """Run a script that reads what it is given: from a file, or from a pipe."""
    rng = play.rng
    name, code, kind, *orders = one_of(rng, WITH_INPUT).split(" | ")
    path, content = _document(rng, kind)
    place = rng.choice(PLACES)
    play.file(place + name, code.replace("\\n", "\n") + "\n")
    play.file(path, content)
    order = rng.choice(orders).format(script=place + name, file=path)
    play.user(vary(rng, order))
    _say_output(play, Script(place + name, [], ""), play.bash(f"python3 {place}{name} < {path}"))


def run_failing(play: Play) -> None:
    """Run a script that fails: its last line, and what it means."""
    rng = play.rng
    script = _laid_out(play, rng.choice(FAILING).drawn(rng))
    meaning, what = script.notes
    by_kind = rng.random() < 0.2
    frame = RUN if rng.random() < 0.5 else ASK_FAILING
    order = one_of(rng, RUN_BY_KIND).format(what=what) if by_kind else ""
    play.user(vary(rng, order or one_of(rng, frame).format(file=script.name, command=script.command)))
    if by_kind:
        play.glob("**/*")
    output = play.bash(script.command)
    status = _STATUS.search(output)
    if status is None:
        raise Unfit("it did not fail")
    last = _STATUS.sub("", output).strip().split("\n")[-1]
    play.say(f"{script.name} failed with exit status {status[1]}: {last}\n{meaning}")
    places = _LINE.findall(output)
    if places and rng.random() < 0.4:
        play.user(vary(rng, one_of(rng, ASK_LINE)))
        number, code = places[-1]
        play.say(f"In line {number} of {script.name}: {code}")


def exit_status(play: Play) -> None:
    """Tell the exit status of a command."""
    rng = play.rng
    scripts = rng.choice([EXITING, EXITING, EXITING, FAILING, SCRIPTS])
    script = _laid_out(play, rng.choice(scripts).drawn(rng))
    play.user(vary(rng, one_of(rng, ASK_EXIT).format(file=script.name, command=script.command)))
    output = play.bash(script.command)
    found = _STATUS.search(output)
    status = found[1] if found else "0"
    play.say(f"The exit status of {script.command} is {status}{'' if found else ', so it succeeded'}.")


def run_tests(play: Play) -> None:
    """Run unit tests, and say which fail."""
    rng = play.rng
    name, code, *cases = one_of(rng, MODULES).split(" | ")
    cases = rng.sample(cases, rng.randint(2, len(cases)))
    wrong = rng.sample(
        range(len(cases)), rng.choice([0, 0, 1, 1, 1, 2]) if len(cases) > 2 else rng.choice([0, 1])
    )
    path = rng.choice(
        ["tests.py", "test_{}.py", "test_{}.py", "test.py", "tests/test_{}.py", "tests/test_{}.py"]
    )
    path = path.format(name)
    tests = []
    for number, case in enumerate(cases):
        title, call, value = case.split(" => ")
        expected = _spoilt(rng, value) if number in wrong else value
        tests.append(f"    def test_{title}(self):\n        self.assertEqual({call}, {expected})\n")
    head = f"import unittest\n\nimport {name}\n\n\nclass Test{name.title()}(unittest.TestCase):\n"
    play.file(f"{name}.py", code.replace("\\n", "\n") + "\n")
    play.file(path, head + "\n".join(tests) + '\n\nif __name__ == "__main__":\n    unittest.main()\n')
    packaged = "/" in path and rng.random() < 0.5
    if packaged:
        play.file("tests/__init__.py", "")
    command = (
        "python3 -m unittest discover -s tests" if "/" in path and not packaged else "python3 -m unittest"
    )
    known = rng.random() < 0.5
    if known:
        command = (
            f"python3 {path}" if "/" not in path and rng.random() < 0.5 else f"python3 -m unittest {path}"
        )
    asked = ASK_TESTS["named"] if known else ASK_TESTS["all"]
    play.user(vary(rng, one_of(rng, asked).format(file=path, command=command)))
    if not known:
        play.glob("**/*")
    output = play.bash(command)
    play.say(_test_report(output, len(cases)))


def _spoilt(rng: random.Random, value: str) -> str:
    """Return another value of the same kind."""
    if value.lstrip("-").isdigit():
        return str(int(value) + rng.choice([-2, -1, 1, 2, 10]))
    if value in ("True", "False"):
        return str(value == "False")
    return f"{value[:-1]}x{value[-1]}" if value[-1] in "'\"" else f"{value[:-1]}, 0{value[-1]}"


def _test_report(output: str, count: int) -> str:
    failed = re.findall(r"^(?:FAIL|ERROR): (\w+)", output, re.MULTILINE)
    ran = re.search(r"^Ran (\d+) test", output, re.MULTILINE)
    if ran is None or int(ran[1]) != count:
        raise Unfit("the tests were not found")
    if not failed:
        return f"All {count} tests passed."
    reasons = re.findall(r"^AssertionError: (.*)", output, re.MULTILINE)
    if len(reasons) != len(failed):
        raise Unfit("a test failed in another way")
    named = ", ".join(f"{name} ({reason})" for name, reason in zip(failed, reasons, strict=True))
    return f"{len(failed)} of {count} tests failed: {named}."


def text_tool(play: Play) -> None:
    """Use wc, sort, uniq, cut, awk and the like on a file."""
    rng = play.rng
    blocks = [block.split("\n") for block in TEXT_TOOLS.strip().split("\n\n")]
    head, *orders = rng.choice(blocks)
    kind, command, answer = head.removeprefix("= ").split(" || ")
    path, content = _document(rng, kind)
    play.file(path, content)
    _distract(play)
    word = rng.choice(re.findall(r"[A-Za-z]{3,}", content) or [path])
    number = rng.randint(2, 4)
    column = rng.choice([1, 2])
    heads = content.split("\n")[0].split(",")
    fills = {"{file}": path, "{word}": word, "{n}": str(number), "{col}": str(column)}
    if kind == "csv":
        fills |= {"{head}": heads[column - 1], "{sumhead}": heads[-1]}

    def fill(text: str) -> str:
        for blank, value in fills.items():
            text = text.replace(blank, value)
        return text

    play.user(vary(rng, fill(rng.choice(orders))))
    output = play.bash(fill(command))
    shown = dedent(output.strip("\n"))
    value = re.split(r"\s", shown)[0]
    plural = "" if value == "1" else "s"
    play.say(
        fill(answer)
        .replace("{out}", shown)
        .replace("{value}", value)
        .replace("{s}", plural)
        .replace(" // ", "\n")
    )


def _document(rng: random.Random, kind: str) -> tuple[str, str]:
    """Return a name and a text of a kind: prose, a list of words, numbers, a table."""
    names, words, cities = rng.sample(NAMES, 8), rng.sample(WORDS, 8), rng.sample(CITIES, 6)
    if kind == "prose":
        sentences = """
{a} walked to the {w} and waited for {b}.
The {w} in {c} is older than the {v}.
Nobody had seen the {w} since Monday.
In {c} the {v} costs more than a {w}.
"Where is my {w}?" asked {a}.
It rained, and {b} stayed at home with the {v}.
The client pays for the {w} within {n} days.
Every {w} needs a {v}.
we sing of the {w} again and again
{a} and {b} met in {c}.
"""
        rows = [
            sentence.format(
                a=rng.choice(names),
                b=rng.choice(names),
                c=rng.choice(cities),
                n=rng.randint(2, 40),
                w=rng.choice(words),
                v=rng.choice(words),
            )
            for sentence in rng.sample(lines(sentences), rng.randint(3, 7))
        ]
        name = rng.choice(
            "story.txt notes.txt letter.txt contract.txt lyrics/verse.txt essay.md speech.txt".split()
        )
    elif kind == "words":
        pool = rng.choice([names, words, cities])[: rng.randint(3, 5)]
        rows = [rng.choice(pool) for _ in range(rng.randint(5, 11))]
        name = rng.choice(
            "guests.txt names.txt items.txt cities.txt votes.txt tags.txt list.txt data/animals.txt".split()
        )
    elif kind == "numbers":
        rows = [str(rng.randint(1, 400)) for _ in range(rng.randint(4, 10))]
        name = rng.choice(
            "numbers.txt scores.txt values.txt times.txt readings.txt data/points.txt lengths.txt".split()
        )
    else:
        heads, first = rng.choice(
            [
                ("name,points", names),
                ("city,km", cities),
                ("item,price", words),
                ("player,goals", names),
                ("customer,total", names),
                ("product,stock", words),
                ("stop,minutes", cities),
                ("guest,seats", names),
            ]
        )
        rows = [heads, *(f"{key},{rng.randint(1, 120)}" for key in rng.sample(first, rng.randint(3, 6)))]
        name = rng.choice(
            "table.csv results.csv data.csv sales.csv data/trip.csv export.csv summary.csv".split()
        )
    return name, "\n".join(rows) + "\n"


def any_command(play: Play) -> None:
    """Run exactly the command that is given."""
    rng = play.rng
    kind = rng.choice(["prose", "words", "numbers", "csv"])
    path, content = _document(rng, kind)
    play.file(path, content)
    _distract(play)
    commands = [line for line in lines(ANY_COMMAND["commands"]) if line.startswith((f"{kind} ", "any "))]
    command = rng.choice(commands).split(" ", 1)[1].replace("{file}", path)
    command = command.replace("{n}", str(rng.randint(1, 4)))
    play.user(vary(rng, one_of(rng, ANY_COMMAND["orders"]).replace("{command}", command)))
    output = play.bash(command)
    if output == "(no output)" or _STATUS.search(output):
        raise Unfit("no useful output")
    play.say(_printed(command, output))


def one_liner(play: Play) -> None:
    """Compute something with python3 -c or the shell."""
    rng = play.rng
    command, *orders = one_of(rng, ONE_LINERS).split(" || ")
    fills = {"{n}": str(rng.randint(11, 99)), "{m}": str(rng.randint(11, 99)), "{d}": str(rng.randint(2, 9))}
    fills["{w}"] = rng.choice(WORDS)
    order = rng.choice(orders)
    for blank, value in fills.items():
        command, order = command.replace(blank, value), order.replace(blank, value)
    play.user(vary(rng, order))
    play.say(_printed(command, play.bash(command)))


def versions(play: Play) -> None:
    """Ask a program for its version, or the system for a fact."""
    rng = play.rng
    command, answer, *orders = one_of(rng, VERSIONS).split(" || ")
    for number in range(rng.randint(2, 5) if command.startswith("ls") else 0):
        script = SCRIPTS[number * 9 + rng.randrange(9)].drawn(rng)
        play.file(script.name, script.code)
    play.user(vary(rng, rng.choice(orders)))
    output = play.bash(command)
    if _STATUS.search(output) or "not found" in output or output == "(no output)":
        raise Unfit("not on this machine")
    first = output.split("\n")[0]
    play.say(answer.format(out=first, last=first.split()[-1]))


def syntax_check(play: Play) -> None:
    """Check whether a script can be compiled."""
    rng = play.rng
    broken = rng.random() < 0.5
    scripts = [
        script for script in FAILING if script.name in ("broken.py", "indent.py", "quote.py", "colon.py")
    ]
    good = [script for script in SCRIPTS if script.name.endswith(".py")]
    script = rng.choice(scripts if broken else good).drawn(rng)
    if broken:
        script = Script(rng.choice(good).name, script.notes, script.code)
    script = _laid_out(play, script)
    play.user(vary(rng, one_of(rng, SYNTAX).format(file=script.name)))
    output = play.bash(f"python3 -m py_compile {script.name}")
    found = re.search(r"line (\d+)", output)
    if not broken and output == "(no output)":
        play.say(f"Yes, the syntax of {script.name} is correct.")
    elif broken and found:
        last = _STATUS.sub("", output).strip().split("\n")[-1].strip()
        play.say(f"No: {script.name}, line {found[1]}: {last}\n{script.notes[0]}")
    else:
        raise Unfit("no line is named")


def make(play: Play) -> None:
    """Run a target of a Makefile."""
    rng = play.rng
    targets = [line.split(" = ") for line in rng.sample(lines(MAKE["targets"]), 3)]
    word, number = rng.choice(WORDS), rng.randint(2, 90)
    rules = [f"{name}:\n\t@{line.format(word=word, n=number)}\n" for name, line in targets]
    play.file("Makefile", f".PHONY: {' '.join(name for name, _ in targets)}\n\n" + "\n".join(rules))
    _distract(play)
    target = rng.choice(targets)[0]
    play.user(vary(rng, one_of(rng, MAKE["orders"]).format(target=target)))
    play.say(_printed(f"make {target}", play.bash(f"make {target}")))


def file_work(play: Play) -> None:
    """Copy, move, rename or delete a file that is named, or make a folder."""
    rng = play.rng
    blocks = [block.split("\n") for block in FILE_WORK.strip().split("\n\n")]
    head, *orders = rng.choice(blocks)
    command, answer = head.removeprefix("= ").split(" || ")
    path, content = _document(rng, rng.choice(["prose", "words", "numbers", "csv"]))
    folder = rng.choice("backup archive old done copies 2025 images drafts".split())
    stem, _, ending = path.rpartition("/")[2].rpartition(".")
    new = rng.choice([f"{stem}_old", f"{stem}2", rng.choice(WORDS), f"{stem}-copy", "final"]) + f".{ending}"
    place = path.rpartition("/")[0]
    fills = {"{file}": path, "{dir}": folder, "{new}": f"{place}/{new}" if place else new}
    play.file(path, content)
    _distract(play)
    if "{dir}" in command and "mkdir" not in command:
        play.file(f"{folder}/readme.txt", "old things\n")
    order = rng.choice(orders)
    for blank, value in fills.items():
        command, answer, order = (text.replace(blank, value) for text in (command, answer, order))
    play.user(vary(rng, order))
    output = play.bash(command)
    if output != "(no output)":
        raise Unfit(output)
    play.say(answer)


def _laid_out(play: Play, script: Script, *, foldered: bool | None = None) -> Script:
    """Lay out a script, perhaps in a folder, with other files beside it; return it with its path."""
    rng = play.rng
    place = rng.choice(PLACES) if foldered is None else rng.choice(PLACES[4:]) if foldered else ""
    path = place + script.name
    play.file(path, script.code)
    _distract(play, script.name)
    return Script(path, script.notes, script.code)


def _distract(play: Play, taken: str = "") -> None:
    """Lay out some other files."""
    rng = play.rng
    for script in rng.sample(SCRIPTS, rng.choice([0, 0, 1, 2])):
        drawn = script.drawn(rng)
        if drawn.name != taken and not play.exists(drawn.name):
            play.file(drawn.name, drawn.code)
    if rng.random() < 0.3:
        name = rng.choice(["README.md", "todo.txt", "notes.md"])
        if not play.exists(name):
            play.file(name, f"# {rng.choice(WORDS).title()}\n")


def _say_output(play: Play, script: Script, output: str) -> None:
    if output == "(no output)":
        play.say(f"{script.name} ran without output.")
        return
    play.say(_printed(script.name, output))


def _printed(what: str, output: str) -> str:
    """Return a sentence with the output: in the same line when it is short."""
    if _STATUS.search(output):
        raise Unfit("it failed")
    output = output.strip("\n")
    if "\n" in output:
        return f"{what} printed:\n{output}"
    return f"{what} printed: {output.strip()}"


def _maybe_again(play: Play, script: Script) -> None:
    """Sometimes ask for the code of what was run."""
    rng = play.rng
    if rng.random() < 0.1:
        play.user(
            vary(
                rng,
                one_of(
                    rng,
                    [
                        "and how does it do that? show me the code",
                        "show me its code",
                        "what is in the script?",
                    ],
                ),
            )
        )
        play.read(script.name)
        play.say(play.text(script.name).rstrip())


FAMILIES = (
    Family(run_script, 2.6),
    Family(run_by_kind, 1.2),
    Family(run_with_arguments, 0.9),
    Family(run_with_input, 0.3),
    Family(run_failing, 1.1),
    Family(exit_status, 0.8),
    Family(run_tests, 1.3),
    Family(text_tool, 1.7),
    Family(any_command, 0.6),
    Family(one_liner, 0.3),
    Family(versions, 1.3),
    Family(syntax_check, 0.3),
    Family(make, 0.25),
    Family(file_work, 0.8),
)
