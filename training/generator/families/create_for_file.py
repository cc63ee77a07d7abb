"""Scripts that work on a file of the folder, two files in one order, and orders in other languages."""

from random import Random

from training.generator import sources
from training.generator.create_shapes import TABLE_SHAPES, cell
from training.generator.families.create import show
from training.generator.families.create_dictated import ODD_LINES, words
from training.generator.families.create_loose import folder_path
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.targets import order_text, quoted
from training.generator.word_pools import GOODS, SURNAMES

ASK = """
write {f} that {d}
I need a script {f} that {d}
(make|create) {f}, it {d}
(make|write) a (small |little |)(python |)(script|program) {f} which {d}
{f}: {d}
can you write {f}? it {d}
a script that {d}, call it {f}
please program {f}; it {d}
for my (boss|class|sister|report) I need {f} that {d}
""".strip()
COLUMN_TASKS = """
sum | prints the sum of the column {c} (in|of) {a} / adds up the {c} column of {a} and prints the result / reads {a} and prints the total of {c}
largest | prints the largest {c} in {a} / reads {a} and prints the biggest {c} / finds the highest {c} of {a}
smallest | prints the smallest {c} in {a} / reads {a} and prints the lowest {c}
names | prints all values of the column {k} in {a}, one per line / reads {a} and prints every {k} / lists the {k} of each row of {a}
count | prints how many rows {a} has, without the header / counts the rows of {a} (not the header) and prints the number
best | prints the {k} with the largest {c} in {a} / reads {a} and prints the {k} that has the highest {c}
above | prints the {k} of each row of {a} where {c} is above {n} / lists every {k} in {a} with a {c} over {n}
""".strip()  # noqa: E501
HEAD = """import csv

with open("{a}", newline="") as file:
    rows = list(csv.DictReader(file))
"""
COLUMN_CODE = {
    "sum": 'print(sum({t}(row["{c}"]) for row in rows))',
    "largest": 'print(max({t}(row["{c}"]) for row in rows))',
    "smallest": 'print(min({t}(row["{c}"]) for row in rows))',
    "names": 'for row in rows:\n    print(row["{k}"])',
    "count": "print(len(rows))",
    "best": 'best = max(rows, key=lambda row: {t}(row["{c}"]))\nprint(best["{k}"])',
    "above": 'for row in rows:\n    if {t}(row["{c}"]) > {n}:\n        print(row["{k}"])',
}
TEXT_TASKS = """
lines | prints how many lines {a} has / counts the lines of {a} | print(len(open("{a}").readlines())) | wc -l < {a}
words | prints how many words {a} has / counts the words in {a} | print(len(open("{a}").read().split())) | wc -w < {a}
upper | prints {a} in upper case / shows {a} in capital letters | print(open("{a}").read().upper(), end="") | tr '[:lower:]' '[:upper:]' < {a}
sorted | prints the lines of {a} in alphabetical order / sorts {a} and prints it | for line in sorted(open("{a}")):¶    print(line.rstrip()) | sort {a}
numbered | prints {a} with line numbers / numbers the lines of {a} like "1: text" | for number, line in enumerate(open("{a}"), 1):¶    print(f"{number}: {line.rstrip()}") | nl -ba -w1 -s': ' {a}
first | prints the first line of {a} / shows only line 1 of {a} | print(open("{a}").readline().rstrip()) | head -n 1 {a}
last | prints the last line of {a} / shows the final line of {a} | print(open("{a}").readlines()[-1].rstrip()) | tail -n 1 {a}
longest | prints the longest line of {a} / finds the line of {a} with the most characters | print(max(open("{a}"), key=len).rstrip()) |
reverse | prints {a} from the last line to the first / prints the lines of {a} in reverse order | for line in reversed(open("{a}").readlines()):¶    print(line.rstrip()) | tac {a}
with | prints the lines of {a} with {w} / shows each line of {a} that contains {w} | for line in open("{a}"):¶    if "{w}" in line:¶        print(line.rstrip()) | grep {w} {a}
count | prints on how many lines of {a} {w} is / counts the lines of {a} that contain {w} | print(sum("{w}" in line for line in open("{a}"))) | grep -c {w} {a}
""".strip()  # noqa: E501
TWO = """
create {f} with {a} and {g} with {b}
(make|write) two files: {f} with {a} and {g} with {b}
I need {f} ({a}) and {g} ({b})
{f}: {a}, {g}: {b}, (please make both|both are new)
put {a} in {f} and {b} in {g}
new files {f} and {g}, the first (says|with) {a}, the second {b}
""".strip()
FOREIGN = """
(erstelle|leg) {f} (an |)mit (dem Text|dem Inhalt) {c} | {f} ist angelegt.
schreib (bitte |){c} in {f} | {f} ist angelegt.
ich brauche eine Datei {f}, Inhalt: {c} | {f} ist angelegt.
kannst du {f} anlegen mit {c} | {f} ist angelegt.
mach mir (mal |){f}, da soll {c} drin stehen | {f} ist angelegt.
crée {f} avec {c} | {f} est créé.
écris {c} dans {f} | {f} est créé.
j'ai besoin de {f} avec le texte {c} | {f} est créé.
peux-tu faire {f} avec {c} | {f} est créé.
crea {f} con {c} | {f} está creado.
escribe {c} en {f} | {f} está creado.
necesito {f} con el texto {c} | {f} está creado.
haz {f}, que diga {c} | {f} está creado.
crea il file {f} con {c} | {f} è stato creato.
scrivi {c} in {f} | {f} è stato creato.
mi serve {f} con il testo {c} | {f} è stato creato.
maak {f} met {c} | {f} is gemaakt.
schrijf {c} in {f} | {f} is gemaakt.
zet {c} in een nieuw bestand {f} | {f} is gemaakt.
cria {f} com {c} | {f} foi criado.
escreve {c} em {f} | {f} foi criado.
""".strip()


def _stem(rng: Random) -> str:
    return rng.choice(
        ("sum", "stats", "show", "check", "total", "report", "read", "main", "list", rng.choice(GOODS))
    )


def _run(play: Play, path: str) -> str:
    shown = play.bash(f"{'python3' if path.endswith('py') else 'sh'} {path}").strip()
    if not shown or len(shown.split("\n")) > 12 or "Error" in shown:
        raise Unfit("no short output")
    return shown


def _finish(play: Play, path: str, *, runs: bool) -> None:
    play.say(f"Created {path}. Its output:\n{_run(play, path)}" if runs else f"Created {path}.")


TAILS = (" and run it", ", then run it", ". Run it too", " and show me the output")


def for_table(play: Play) -> None:
    """A Python script about a CSV file, which is read first for its columns."""
    rng = play.rng
    stems, columns, kinds = rng.choice(TABLE_SHAPES)
    numeric = [at for at, kind in enumerate(kinds) if at and kind.split()[0] in ("int", "money", "float")]
    if not numeric:
        raise Unfit("no numbers")
    at = rng.choice(numeric)
    rows = [[cell(rng, kind) for kind in kinds] for _ in range(rng.randint(3, 8))]
    if any("," in text for row in rows for text in row):
        raise Unfit("a comma")
    data = f"{rng.choice(stems)}.csv"
    play.file(data, "\n".join(",".join(row) for row in (list(columns), *rows)) + "\n")
    kind, _, ways = rng.choice(COLUMN_TASKS.split("\n")).partition(" | ")
    number = "int" if kinds[at].startswith("int") else "float"
    slots = {"a": data, "c": columns[at], "k": columns[0], "n": str(rng.randint(2, 60)), "t": number}
    path = f"{_stem(rng)}.py"
    sources.distract(play, path, data, most=3)
    runs = rng.random() < 0.35
    order = one_frame(rng, ASK, f=show(rng, path), d=one_frame(rng, rng.choice(ways.split(" / ")), **slots))
    play.user(order_text(rng, order + (rng.choice(TAILS) if runs else ""), exact_end=True))
    play.read(data)
    code = HEAD + COLUMN_CODE[kind]
    if kind == "sum" and number == "float":
        code = code.replace("print(sum(", "print(round(sum(").replace("rows))", "rows), 2))")
    for name, text in slots.items():
        code = code.replace(f"{{{name}}}", text)
    play.write(path, code)
    _finish(play, path, runs=runs)


def for_text(play: Play) -> None:
    """A Python or shell script about a text of the folder."""
    rng = play.rng
    _, ways, python, shell = (
        part.strip(" ") for part in f"{rng.choice(TEXT_TASKS.split(chr(10)))} ".split(" | ")
    )
    lines = [
        f"{rng.choice(GOODS)} {rng.choice(SURNAMES)} {rng.randint(2, 90)}" for _ in range(rng.randint(3, 9))
    ]
    data = f"{rng.choice(GOODS)}.txt"
    play.file(data, "\n".join(lines) + "\n")
    language = rng.choice(("py", "py", "sh")) if shell else "py"
    word = rng.choice(lines).split()[0]
    path = f"{_stem(rng)}.{language}"
    code = (
        (python if language == "py" else shell).replace("¶", "\n").replace("{a}", data).replace("{w}", word)
    )
    sources.distract(play, path, data, most=3)
    runs = rng.random() < 0.35
    does = one_frame(rng, rng.choice(ways.split(" / ")), a=data, w=word)
    order = one_frame(rng, ASK, f=show(rng, path), d=does)
    if language == "sh":
        order = order.replace("python ", "shell ")
    play.user(order_text(rng, order + (rng.choice(TAILS) if runs else ""), exact_end=True))
    play.write(path, code)
    _finish(play, path, runs=runs)


def two_files(play: Play) -> None:
    """Two new files in one order."""
    rng = play.rng
    first, second = rng.sample(GOODS, 2)
    texts = [
        words(rng, rng.choice(ODD_LINES)) if rng.random() < 0.5 else sources.text_line(rng) for _ in "ab"
    ]
    paths = [folder_path(rng, f"{stem}.{rng.choice(('txt', 'md', 'log'))}") for stem in (first, second)]
    shown = [quoted(rng, text, bare=0) for text in texts]
    sources.distract(play, *paths, most=3)
    play.user(
        order_text(rng, one_frame(rng, TWO, f=paths[0], g=paths[1], a=shown[0], b=shown[1]), exact_end=True)
    )
    for path, text in zip(paths, texts, strict=True):
        play.write(path, text)
    play.say(f"Created {paths[0]} and {paths[1]}.")


def foreign(play: Play) -> None:
    """A file with a given text, asked for in one of six languages."""
    rng = play.rng
    text = words(rng, rng.choice(ODD_LINES)) if rng.random() < 0.5 else sources.text_line(rng)
    path = folder_path(rng, f"{rng.choice(GOODS)}.{rng.choice(('txt', 'md', 'log'))}")
    sources.distract(play, path, most=3)
    frame, _, answer = rng.choice(FOREIGN.split("\n")).rpartition(" | ")
    play.user(one_frame(rng, frame, f=path, c=quoted(rng, text, bare=0)))
    play.write(path, text)
    play.say(answer.format(f=path))


FAMILIES = (
    Family(for_table, 1.4),
    Family(for_text, 1.4),
    Family(two_files, 0.7),
    Family(foreign, 1.0),
)
