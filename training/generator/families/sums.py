"""More sums that need no tool: drills, sums in words and in other languages, money, time, averages."""

import random

from training.generator.frames import ask, ask_foreign, one_frame, spell
from training.generator.knowledge.number_words import in_words
from training.generator.knowledge.sum_frames import (
    ABROAD,
    AVERAGE,
    BILL,
    CHANGE,
    DRILL,
    FRACTIONS,
    LONG,
    MORE,
    PART_OF,
    PLAIN,
    RECTANGLE,
    SPAN,
    SPEED,
    TABLE,
    TOGETHER,
)
from training.generator.phrases import lines, one_of
from training.generator.play import Family, Play

SHOWN = {"+": "+", "-": "−", "*": "×", "/": "÷"}
TYPED = {"+": "+", "-": "-", "*": "* x ×".split(), "/": "/ ÷ :".split()}


def plain_sum(play: Play) -> None:
    """A sum of two numbers up to one hundred, asked in one of many ways."""
    rng = play.rng
    operation, a, b = draw(rng)
    play.user(_asked(rng, operation, a, b))
    play.say(f"{solved(operation, a, b)}.")
    while rng.random() < 0.35:
        operation, a, b = draw(rng)
        play.user(one_frame(rng, MORE, sum=_typed(rng, operation, a, b)))
        play.say(f"{solved(operation, a, b)}.")


def _asked(rng: random.Random, operation: str, a: int, b: int) -> str:
    words = rng.random() < 0.25 and max(a, b) <= 100
    first, second = (in_words(a), in_words(b)) if words else (str(a), str(b))
    frame = spell(rng, rng.choice(lines(PLAIN[operation])))
    if not words and rng.random() < 0.4:
        return ask(rng, PLAIN["typed"], sum=_typed(rng, operation, a, b))
    return ask(rng, frame, a=first, b=second)


GO_ON = {
    "+": "and (if you add|plus) {c}( to that|)?\nadd {c}( to that|)\nplus {c}?\nnow {c} more\nand {c} more?",
    "-": "minus {c}?\nand (if I take away|without|less) {c}?\ntake {c} (away|off)\nsubtract {c}( from that|)",
    "*": "(and |)times {c}?\n(and |)multiplied by {c}?\n{c} times that?\nnow {c} times (as much|that)",
}


def go_on(play: Play) -> None:
    """A sum that goes on with the result of the one before."""
    rng = play.rng
    operation, a, b = draw(rng)
    play.user(_asked(rng, operation, a, b))
    play.say(f"{solved(operation, a, b)}.")
    result = {"+": a + b, "-": a - b, "*": a * b, "/": a // max(b, 1)}[operation]
    for _ in range(rng.choice((1, 1, 2))):
        operation = rng.choice("++-*") if result <= 100 else rng.choice("+-")
        c = rng.randint(2, 12) if operation == "*" else rng.randint(1, min(100, max(result, 1)))
        play.user(ask(rng, GO_ON[operation], c=str(c)))
        play.say(f"{solved(operation, result, c)}.")
        result = {"+": result + c, "-": result - c, "*": result * c}[operation]


def drill(play: Play) -> None:
    """Several sums in one message, each answered on a line."""
    rng = play.rng
    sums = [draw(rng) for _ in range(rng.choice([2, 3, 4, 5, 6, 8, 10, 12, 16, 20]))]
    if rng.random() < 0.5:
        operation = rng.choice("+-*")
        sums = [draw(rng, operation) for _ in sums]
    typed = [_typed(rng, *one) + rng.choice(["", "", " =", "="]) for one in sums]
    order = one_frame(rng, DRILL).replace(" :", ":")
    play.user(f"{order}\n" + "\n".join(typed) if rng.random() < 0.5 else f"{order} {', '.join(typed)}")
    play.say("\n".join(solved(*one) for one in sums))


def abroad(play: Play) -> None:
    """A sum in German, French, Spanish or Italian, in digits or in words."""
    rng = play.rng
    language = rng.choice(["de", "fr", "es", "it"])
    operation, a, b = draw(rng)
    frame = one_of(rng, ABROAD[language][operation])
    words = rng.random() < 0.35 and max(a, b) <= 100
    first, second = (in_words(a, language), in_words(b, language)) if words else (str(a), str(b))
    play.user(ask_foreign(rng, frame, a=first, b=second))
    play.say(f"{solved(operation, a, b)}.")


def table(play: Play) -> None:
    """A times table, or a part of one."""
    rng = play.rng
    number = rng.randint(2, 20)
    play.user(ask(rng, TABLE, n=str(number)))
    play.say("\n".join(f"{number} × {at} = {number * at}" for at in range(1, 11)))


def longer(play: Play) -> None:
    """Three or four numbers, added one after the other."""
    rng = play.rng
    numbers = [rng.randint(1, 60) for _ in range(rng.choice([3, 3, 3, 4]))]
    play.user(ask(rng, LONG, sum=" + ".join(map(str, numbers)), list=", ".join(map(str, numbers))))
    play.say(f"{_chained(numbers)}.")


def _chained(numbers: list[int]) -> str:
    steps, total = [], numbers[0]
    for number in numbers[1:]:
        steps.append(f"{total} + {number} = {total + number}")
        total += number
    return ", then ".join(steps)


def average(play: Play) -> None:
    """The mean of a few numbers."""
    rng = play.rng
    count = rng.choice([2, 3, 3, 4])
    numbers = [rng.randint(1, 40) for _ in range(count)]
    numbers[-1] += -sum(numbers) % count
    play.user(ask(rng, AVERAGE, list=", ".join(map(str, numbers))))
    total = sum(numbers)
    play.say(
        f"{_chained(numbers)}, and {total} ÷ {count} = {total // count}. The average is {total // count}."
    )


def money(play: Play) -> None:
    """A bill, change, two prices: amounts with cents."""
    rng = play.rng
    price = rng.choice([50, 60, 75, 80, 90, 110, 120, 150, 180, 220, 240, 250, 280, 320, 350, 450, 499, 650])
    kind = rng.randrange(3)
    if kind == 0:
        count = rng.randint(2, 9)
        play.user(ask(rng, BILL, n=str(count), price=_cents(price)))
        play.say(f"{count} × {_cents(price)} = {_cents(count * price)}.")
    elif kind == 1:
        paid = rng.choice([500, 1000, 2000, 5000])
        cost = rng.randrange(paid // 5, paid, 5)
        play.user(ask(rng, CHANGE, paid=str(paid // 100), cost=_cents(cost)))
        play.say(f"{paid // 100}.00 − {_cents(cost)} = {_cents(paid - cost)}.")
    else:
        other = rng.randrange(100, 3000, 10)
        play.user(ask(rng, TOGETHER, a=_cents(price), b=_cents(other)))
        play.say(f"{_cents(price)} + {_cents(other)} = {_cents(price + other)}.")


def span(play: Play) -> None:
    """How long something lasts, from one time of the day to another."""
    rng = play.rng
    start = rng.randrange(6 * 12, 20 * 12) * 5
    length = rng.choice(
        [20, 25, 30, 35, 40, 45, 50, 60, 75, 80, 90, 95, 105, 110, 120, 135, 150, 180, 200, 225]
    )
    play.user(ask(rng, SPAN, start=_clock(start), end=_clock(start + length)))
    play.say(f"From {_clock(start)} to {_clock(start + length)} it is {_duration(length)}.")


def _clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02}"


def _duration(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    parts = [f"{hours} hour{'s' * (hours > 1)}"] * (hours > 0) + [f"{rest} minutes"] * (rest > 0)
    return " and ".join(parts)


def shares(play: Play) -> None:
    """A fraction of a number, or how many per cent one number is of another."""
    rng = play.rng
    if rng.random() < 0.5:
        top, bottom, words = rng.choice(FRACTIONS)
        whole = bottom * rng.randint(2, 25)
        said = rng.choice([words, f"{top}/{bottom}"])
        play.user(ask(rng, "(what is|how much is|) {part} of {n}?\n{part} of {n}", part=said, n=str(whole)))
        play.say(f"{top}/{bottom} of {whole} is {whole * top // bottom}.")
        return
    percent = rng.choice([5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90])
    whole = rng.choice([20, 40, 60, 80, 100, 120, 200, 400, 500])
    play.user(ask(rng, PART_OF, a=str(whole * percent // 100), b=str(whole)))
    play.say(f"{whole * percent // 100} of {whole} is {percent}%.")


def shapes_and_speed(play: Play) -> None:
    """The area of a room, the perimeter, how far one gets."""
    rng = play.rng
    a, b = rng.randint(2, 15), rng.randint(2, 15)
    kind, frames = rng.choice(list(RECTANGLE.items()))
    if rng.random() < 0.35:
        speed, hours = rng.choice([4, 5, 12, 15, 18, 20, 30, 50, 60, 80, 90, 100, 120]), rng.randint(2, 6)
        play.user(ask(rng, SPEED, v=str(speed), t=str(hours)))
        play.say(f"{speed} × {hours} = {speed * hours}, so {speed * hours} km.")
        return
    play.user(ask(rng, frames, a=str(a), b=str(b)))
    if kind == "area":
        play.say(f"{a} × {b} = {a * b}, so {a * b} square metres.")
    else:
        play.say(f"{a} + {b} = {a + b}, and 2 × {a + b} = {2 * (a + b)}, so {2 * (a + b)} metres.")


def draw(rng: random.Random, operation: str = "") -> tuple[str, int, int]:
    """Return an operation and two numbers that fit it."""
    operation = operation or rng.choice("++++---***/")
    if operation == "*":
        a, b = rng.randint(2, 12), rng.randint(2, 12)
        return operation, a, rng.choice([b, b, b, b, rng.randint(11, 30), b * 10])
    if operation == "/":
        b = rng.randint(2, 12)
        return operation, b * rng.randint(2, 12), b
    a, b = rng.randint(1, 100), rng.randint(1, 100)
    if operation == "-":
        return operation, max(a, b), min(a, b)
    return operation, a, b


def solved(operation: str, a: int, b: int) -> str:
    """Return a sum with its result; a product beyond the times tables goes in two steps."""
    if operation == "*" and b > 12 and b % 10:
        tens, ones = b - b % 10, b % 10
        parts = f"{a} × {tens} + {a} × {ones} = {a * tens} + {a * ones}"
        return f"{a} × {b} = {parts} = {a * b}"
    results = {"+": a + b, "-": a - b, "*": a * b, "/": a // b if operation == "/" else 0}
    return f"{a} {SHOWN[operation]} {b} = {results[operation]}".replace("= -", "= −")


def _typed(rng: random.Random, operation: str, a: int, b: int) -> str:
    space = rng.choice(["", " "])
    return f"{a}{space}{rng.choice(TYPED[operation])}{space}{b}"


def _cents(amount: int) -> str:
    return f"{amount // 100}.{amount % 100:02}"


FAMILIES = (
    Family(plain_sum, 5.5),
    Family(drill, 4.0),
    Family(go_on, 1.5),
    Family(abroad, 1.4),
    Family(table, 0.4),
    Family(longer, 0.8),
    Family(average, 0.4),
    Family(money, 0.9),
    Family(span, 0.4),
    Family(shares, 0.5),
    Family(shapes_and_speed, 0.4),
)
