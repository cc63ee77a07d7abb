"""Sums that need no tool: two small numbers, per cents, halves, and word problems of one step."""

import random
from collections.abc import Callable

from training.generator.families.sums import solved
from training.generator.phrases import one_of, vary
from training.generator.play import Family, Play

SYMBOLS = """
{a} {op} {b}
{a}{op}{b}
what is {a} {op} {b}?
how much is {a} {op} {b}?
{a} {op} {b} = ?
{a}{op}{b}=
calculate {a} {op} {b}
compute {a} {op} {b}
solve {a} {op} {b}
what makes {a} {op} {b}?
result of {a} {op} {b}?
can you calculate {a} {op} {b} for me?
how many is {a} {op} {b}?
tell me {a} {op} {b}
I need {a} {op} {b}
what's {a} {op} {b}
{a} {op} {b} makes?
please work out {a} {op} {b}
quick math: {a} {op} {b}
was ist {a} {op} {b}?
wie viel ist {a} {op} {b}?
combien font {a} {op} {b} ?
¿cuánto es {a} {op} {b}?
"""
IN_WORDS = {
    "+": """
what is {a} plus {b}?
{a} plus {b}?
add {a} and {b}
the sum of {a} and {b}?
how much do {a} and {b} make together?
{a} and {b} is how much?
if I add {b} to {a}, what do I get?
sum up {a} and {b}
what do I get when I add {a} to {b}?
was ergibt {a} plus {b}?
combien font {a} plus {b} ?
¿cuánto es {a} más {b}?
""",
    "-": """
what is {a} minus {b}?
{a} minus {b}?
subtract {b} from {a}
take {b} away from {a}
the difference between {a} and {b}?
what remains of {a} if I take away {b}?
{a} less {b} is?
how much more is {a} than {b}?
was ist {a} minus {b}?
""",
    "*": """
what is {a} times {b}?
{a} times {b}?
multiply {a} by {b}
{a} multiplied by {b}
the product of {a} and {b}?
how much is {a} times {b}
{a} x {b}?
what do {a} groups of {b} make?
was ist {a} mal {b}?
combien font {a} fois {b} ?
¿cuánto es {a} por {b}?
""",
    "/": """
what is {a} divided by {b}?
divide {a} by {b}
{a} divided by {b}?
{a} over {b}?
how often does {b} go into {a}?
how many times does {b} fit in {a}?
share {a} among {b}, how much does each get?
was ist {a} geteilt durch {b}?
""",
}
SIGNS = {"+": "+ + + plus", "-": "- - − minus", "*": "* x × times", "/": "/ ÷ : /"}
SHOWN = {"+": "+", "-": "−", "*": "×", "/": "÷"}
STORIES = """
+ | I have {a} {things} and buy {b} more. How many do I have now?
+ | {who} has {a} {things}, {who2} has {b}. How many do they have together?
+ | there are {a} {things} in one box and {b} in the other, how many altogether?
+ | a {thing} costs {a} euros and the delivery {b} euros, what do I pay in total?
+ | we were {a} people, then {b} more came. how many are we?
+ | I read {a} pages yesterday and {b} today. how many pages is that?
+ | {who} is {a} years old. How old will {who} be in {b} years?
+ | the walk was {a} km in the morning and {b} km in the afternoon, how far in all?
- | I had {a} {things} and gave away {b}. How many are left?
- | {who} has {a} {things} and loses {b}. How many remain?
- | the book has {a} pages, I have read {b}. how many pages are left?
- | there were {a} {things} in the shop and {b} were sold, how many are there still?
- | I pay with {a} euros and it costs {b} euros. how much change do I get?
- | {who} is {a}, {who2} is {b}. how many years older is {who}?
- | a rope of {a} metres, I cut off {b} metres. what is left?
- | {a} guests were invited, {b} cannot come. how many come?
* | {a} boxes with {b} {things} each, how many {things} is that?
* | one {thing} costs {b} euros. what do {a} cost?
* | {a} rows of {b} chairs: how many chairs?
* | {who} runs {b} km on each of {a} days. how many km in total?
* | I work {b} hours a day for {a} days, how many hours is that?
* | there are {a} teams with {b} players each. how many players?
* | {a} people pay {b} euros each, how much is it together?
/ | {a} {things} are shared by {b} children. how many does each get?
/ | I put {a} {things} into {b} bags, the same number in each. how many per bag?
/ | {a} euros for {b} people, how much does each pay?
/ | {b} tickets cost {a} euros. what is the price of one?
/ | a ribbon of {a} cm is cut into {b} equal pieces. how long is one?
/ | {who} has {a} pages to read in {b} days. how many per day?
"""
THINGS = """apples eggs books pencils stamps cookies marbles tickets cards photos balls chairs bottles
screws plants candles songs coins buttons pears magnets postcards sandwiches
batteries keys strings reeds sensors""".split()
NAMES = (
    "Anna Omar Lucia Ben Mei Jonas Fatima Pedro Nora Ivan Chloe Samir Greta Tom Aylin Hugo Rosa Dario".split()
)
PER_CENT = """
what is {p}% of {n}?
{p}% of {n}?
{p} percent of {n}
how much is {p} % of {n}?
{n} * {p}%
calculate {p} per cent of {n}
if I give {p}% discount on {n}, how much is the discount?
{p}% tip on {n}, how much is that?
how many are {p} percent of {n}
the tax is {p}% and the price {n}, how much is the tax?
wie viel sind {p} % von {n}?
"""
REDUCED = """
a price of {n} minus {p}% is?
{n} with {p}% off?
what costs a {n} euro coat after {p}% discount?
{n} less {p} percent, what is left?
I get {p}% off {n}. what do I pay?
new price when {n} is reduced by {p}%?
"""
RAISED = """
{n} plus {p}% is?
{n} increased by {p} percent?
{n} net and {p}% VAT, what is gross?
add {p}% to {n}
what do I pay for {n} with {p}% tax on top?
"""
PARTS = {
    "half": "half of {n}? | what is half of {n}? | {n} halved | the half of {n} is?",
    "third": "a third of {n}? | what is one third of {n}? | {n} divided into three parts, one is?",
    "quarter": "a quarter of {n}? | what is a quarter of {n}? | one fourth of {n}? | the quarter of {n}",
    "double": "double {n} | what is twice {n}? | two times {n}? | {n} doubled? | the double of {n} is?",
    "triple": "triple {n} | three times {n}? | {n} tripled is? | what is the triple of {n}",
    "square": "{n} squared? | the square of {n}? | {n}^2 | {n} to the power of 2? | what is {n}²?",
    "cube": "{n} cubed? | {n}^3 | {n} to the power of three?",
    "root": "square root of {n}? | what is the root of {n}? | sqrt({n}) | sqrt {n}? | √{n}",
}


def sum_of_two(play: Play) -> None:
    """Plus, minus, times, divided by; now and then a second sum."""
    rng = play.rng
    for _ in range(1 + (rng.random() < 0.15)):
        operation = rng.choice("++-*/")
        a, b = _operands(rng, operation)
        if rng.random() < 0.6:
            sign = rng.choice(SIGNS[operation].split())
            question = one_of(rng, SYMBOLS).format(a=a, b=b, op=f" {sign} " if sign.isalpha() else sign)
            question = " ".join(question.split())
        else:
            question = one_of(rng, IN_WORDS[operation]).format(a=a, b=b)
        play.user(vary(rng, question))
        play.say(f"{solved(operation, a, b)}.")


def story(play: Play) -> None:
    """A word problem of one step."""
    rng = play.rng
    operation, text = one_of(rng, STORIES).split(" | ")
    a, b = _operands(rng, operation, 80)
    if b < 2 or a < 2:
        a, b = a + 2 * b if operation == "/" else a + 2, max(b, 2)
        a -= a % b if operation == "/" else 0
    things = rng.choice(THINGS)
    who, who2 = rng.sample(NAMES, 2)
    play.user(vary(rng, text.format(a=a, b=b, things=things, thing=_one(things), who=who, who2=who2)))
    play.say(f"{a} {SHOWN[operation]} {b} = {_result(operation, a, b)}.")


def per_cent(play: Play) -> None:
    """A percentage, a discount, a tax."""
    rng = play.rng
    percent = rng.choice([1, 2, 5, 10, 10, 15, 20, 20, 25, 30, 40, 50, 60, 75, 80, 90])
    number = rng.choice(
        [10, 20, 30, 40, 50, 60, 80, 100, 120, 150, 160, 200, 240, 250, 300, 400, 500, 600, 800, 1000]
    )
    part = number * percent / 100
    frames, answer = rng.choice(
        [
            (PER_CENT, f"{percent}% of {number} is {part:g}."),
            (PER_CENT, f"{percent}% of {number} is {part:g}."),
            (REDUCED, f"{percent}% of {number} is {part:g}, so {number} − {part:g} = {number - part:g}."),
            (RAISED, f"{percent}% of {number} is {part:g}, so {number} + {part:g} = {number + part:g}."),
        ]
    )
    play.user(vary(rng, one_of(rng, frames).format(p=percent, n=number)))
    play.say(answer)


def part_or_power(play: Play) -> None:
    """Half, double, square and the like."""
    rng = play.rng
    kind = rng.choice(list(PARTS))
    small, large = rng.randint(2, 15), rng.randint(2, 60)
    made: dict[str, Callable[[], tuple[int, str]]] = {
        "half": lambda: (large * 2, f"Half of {large * 2} is {large}."),
        "third": lambda: (large * 3, f"A third of {large * 3} is {large}."),
        "quarter": lambda: (large * 4, f"A quarter of {large * 4} is {large}."),
        "double": lambda: (large, f"Double {large} is {large * 2}."),
        "triple": lambda: (large, f"Three times {large} is {large * 3}."),
        "square": lambda: (small, f"{small}² = {small * small}."),
        "cube": lambda: (small % 6 + 2, f"{small % 6 + 2}³ = {(small % 6 + 2) ** 3}."),
        "root": lambda: (small * small, f"The square root of {small * small} is {small}."),
    }
    number, answer = made[kind]()
    play.user(vary(rng, rng.choice(PARTS[kind].split(" | ")).format(n=number)))
    play.say(answer)


def comparison(play: Play) -> None:
    """Which is larger, even or odd, next number, rounding."""
    rng = play.rng
    a, b = rng.sample(range(2, 500), 2)
    tenths = rng.randint(11, 999)
    rounded = tenths // 10 + (tenths % 10 >= 5)
    step = rng.randint(2, 9)
    row = [a % 20 + step * at for at in range(4)]
    question, answer = rng.choice(
        [
            (f"which is larger, {a} or {b}?", f"{max(a, b)} is larger."),
            (f"which number is smaller: {a} or {b}?", f"{min(a, b)} is smaller."),
            (f"is {a} bigger than {b}?", f"{'Yes' if a > b else 'No'}, {max(a, b)} is bigger."),
            (f"is {a} even or odd?", f"{a} is {'odd' if a % 2 else 'even'}."),
            (f"is {a} an even number?", f"{'No' if a % 2 else 'Yes'}, {a} is {'odd' if a % 2 else 'even'}."),
            (f"what comes after {a}?", f"{a + 1} comes after {a}."),
            (f"which number comes before {a}?", f"{a - 1} comes before {a}."),
            (f"round {tenths / 10:g}.", f"{tenths / 10:g} rounded is {rounded}."),
            (f"round {tenths / 10:g} to a whole number", f"{tenths / 10:g} rounded is {rounded}."),
            (f"continue: {', '.join(map(str, row[:3]))}, ...", f"The next number is {row[3]}."),
            (f"what is the next number: {row[0]} {row[1]} {row[2]} ?", f"The next number is {row[3]}."),
        ]
    )
    if question.endswith(".") and tenths % 10 == 0:
        question = question.removesuffix(".")
    play.user(vary(rng, question))
    play.say(answer)


def chain(play: Play) -> None:
    """A sum, and then "and times two?"."""
    rng = play.rng
    a, b = _operands(rng, "+")
    play.user(vary(rng, one_of(rng, SYMBOLS).format(a=a, b=b, op="+")))
    play.say(f"{a} + {b} = {a + b}.")
    operation = rng.choice("+-*")
    c = rng.randint(2, 5 if operation == "*" else min(30, a + b))
    word = {"+": "plus", "-": "minus", "*": "times"}[operation]
    play.user(
        rng.choice(
            [f"and {word} {c}?", f"{word} {c}?", f"now that {word} {c}", f"and the result {word} {c}?"]
        )
    )
    play.say(f"{a + b} {SHOWN[operation]} {c} = {_result(operation, a + b, c)}.")


def _operands(rng: random.Random, operation: str, limit: int = 250) -> tuple[int, int]:
    if operation == "*":
        a, b = rng.randint(2, 12), rng.randint(2, 12)
        return (a * 10, b) if rng.random() < 0.1 else (a, rng.choice([b, b, b, rng.randint(11, 25)]))
    if operation == "/":
        b = rng.randint(2, 12)
        return b * rng.randint(2, 12), b
    top = min(limit, rng.choice([20, 100, 100, 100, 250]))
    a, b = rng.randint(1, top), rng.randint(1, top)
    return (max(a, b), min(a, b)) if operation == "-" and rng.random() < 0.93 else (a, b)


def _result(operation: str, a: int, b: int) -> str:
    results = {"+": a + b, "-": a - b, "*": a * b, "/": a / b}
    return (
        f"{results[operation]:g}".replace("-", "−")
        if operation == "/"
        else f"{results[operation]}".replace("-", "−")
    )


def _one(things: str) -> str:
    """Return the singular of a word."""
    for ending, single in (("ies", "y"), ("ches", "ch"), ("s", "")):
        if things.endswith(ending) and things != "cookies":
            return things.removesuffix(ending) + single
    return "cookie"


FAMILIES = (
    Family(sum_of_two, 1.8),
    Family(story, 0.7),
    Family(per_cent, 0.6),
    Family(part_or_power, 0.5),
    Family(comparison, 0.25),
    Family(chain, 0.15),
)
