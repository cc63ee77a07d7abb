"""Questions with computed answers: units, the calendar, letters of words."""

import random
from calendar import monthrange

from training.generator.phrases import one_of

UNITS = """
km | miles | 0.621371
miles | km | 1.609344
kilometres | miles | 0.621371
kg | pounds | 2.204623
pounds | kg | 0.453592
kilograms | grams | 1000
grams | kilograms | 0.001
cm | inches | 0.393701
inches | cm | 2.54
feet | metres | 0.3048
metres | feet | 3.28084
metres | cm | 100
cm | mm | 10
mm | cm | 0.1
km | metres | 1000
metres | km | 0.001
litres | millilitres | 1000
litres | ml | 1000
ml | litres | 0.001
tonnes | kg | 1000
hours | minutes | 60
hours | seconds | 3600
minutes | seconds | 60
minutes | hours | 0.0166666667
days | hours | 24
weeks | days | 7
years | months | 12
years | weeks | 52
GB | MB | 1000
MB | KB | 1000
TB | GB | 1000
MB | GB | 0.001
GiB | MiB | 1024
MiB | KiB | 1024
bytes | bits | 8
bits | bytes | 0.125
dozen | pieces | 12
euros | cents | 100
dollars | cents | 100
kWh | Wh | 1000
hectares | square metres | 10000
"""
ASK_UNITS = """
how many {to} are {n} {unit}?
how many {to} is {n} {unit}?
convert {n} {unit} to {to}
{n} {unit} in {to}?
{n} {unit} are how many {to}?
{n} {unit} = ? {to}
what is {n} {unit} in {to}?
how much is {n} {unit} in {to}?
please convert {n} {unit} into {to}
I have {n} {unit}, how many {to} is that?
{n} {unit} to {to}
turn {n} {unit} into {to}
can you tell me {n} {unit} in {to}?
"""
ASK_DEGREES = """
convert {n} {a} to {b}
{n} degrees {a} in {b}?
what is {n} {a} in {b}?
how warm is {n} degrees {a} in {b}?
{n} {a} to {b}
{n} {a} = ? {b}
how much is {n} degree {a} in {b}
the oven says {n} {a}, what is that in {b}?
"""
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = """January February March April May June July August September October November December""".split()
WORDS = """
necessary rhythm receive separate beautiful believe calendar cemetery conscience definitely embarrass February
friend government grammar guarantee height island knife language library maintenance neighbour
occasion parallel possible privilege queue restaurant schedule science secret sincerely surprise
tomorrow until vacuum weather Wednesday which banana orange kitchen garden window bottle yellow purple
planet rocket python function variable keyboard guitar violin summer winter mountain river castle
dragon wizard puzzle pencil paper button coffee
""".split()


def conversion(rng: random.Random) -> tuple[str, str]:
    """Return a question that converts a quantity, and its answer."""
    if rng.random() < 0.3:
        return _degrees(rng)
    unit, to, factor = one_of(rng, UNITS).split(" | ")
    number = float(
        rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 42, 50, 60, 90, 100, 120, 2.5, 1.5, 0.5])
    )
    if float(factor) < 0.1 or factor == "0.125":
        number = float(
            rng.choice([16, 24, 40, 60, 64, 80, 120, 180, 240, 500, 750, 800, 1000, 1500, 2000, 2500, 5000])
        )
    exact = number * float(factor)
    value = round(exact, 3 if float(factor) in (0.001, 0.1, 0.125) else 2)
    about = "" if abs(exact - value) < 1e-6 * exact else "about "
    ask = one_of(rng, ASK_UNITS)
    return ask.format(
        n=f"{number:g}", unit=unit, to=to
    ), f"{number:g} {unit} are {about}{_plain(value)} {to}."


def _plain(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _degrees(rng: random.Random) -> tuple[str, str]:
    ask = one_of(rng, ASK_DEGREES)
    short = rng.random() < 0.5
    celsius, fahrenheit = ("C", "F") if short else ("Celsius", "Fahrenheit")
    if rng.random() < 0.65:
        number = rng.choice(
            [*range(-20, 45, 5), 37, 60, 70, 80, 90, 100, 150, 160, 170, 175, 180, 190, 200, 220, 250]
        )
        value = round(number * 9 / 5 + 32, 1)
        return ask.format(n=number, a=celsius, b=fahrenheit), f"{number} °C is {value:g} °F."
    number = rng.choice(
        [
            32,
            41,
            50,
            59,
            68,
            77,
            86,
            95,
            98.6,
            104,
            122,
            140,
            212,
            302,
            320,
            338,
            350,
            356,
            375,
            400,
            425,
            450,
        ]
    )
    value = round((number - 32) * 5 / 9, 1)
    return ask.format(n=f"{number:g}", a=fahrenheit, b=celsius), f"{number:g} °F is {value:g} °C."


def calendar(rng: random.Random) -> tuple[str, str]:
    """Return a question about days and months, and its answer."""
    day, month = rng.randrange(7), rng.randrange(12)
    ask, answer = rng.choice([_day_after, _days_later, _month_after, _month_number, _month_length])(
        rng, day, month
    )
    return ask, answer


def _day_after(rng: random.Random, day: int, month: int) -> tuple[str, str]:
    if rng.random() < 0.5:
        ask = rng.choice(["what day comes after {}?", "the day after {}?", "which weekday follows {}?"])
        return ask.format(DAYS[day]), f"{DAYS[(day + 1) % 7]} comes after {DAYS[day]}."
    ask = rng.choice(["what day comes before {}?", "the day before {}?", "which weekday is before {}?"])
    return ask.format(DAYS[day]), f"{DAYS[day - 1]} comes before {DAYS[day]}."


def _days_later(rng: random.Random, day: int, month: int) -> tuple[str, str]:
    days = rng.randint(2, 10)
    ask = rng.choice(
        [
            "if today is {0}, what day is it in {1} days?",
            "today is {0}. which weekday is it {1} days from now?",
            "{1} days after {0} is which weekday?",
            "what day of the week is {1} days after {0}?",
        ]
    )
    return ask.format(DAYS[day], days), f"{days} days after {DAYS[day]} is {DAYS[(day + days) % 7]}."


def _month_after(rng: random.Random, day: int, month: int) -> tuple[str, str]:
    if rng.random() < 0.5:
        ask = rng.choice(["what month comes after {}?", "the month after {}?", "which month follows {}?"])
        return ask.format(MONTHS[month]), f"{MONTHS[(month + 1) % 12]} comes after {MONTHS[month]}."
    ask = rng.choice(["what month comes before {}?", "the month before {}?", "which month is before {}?"])
    return ask.format(MONTHS[month]), f"{MONTHS[month - 1]} comes before {MONTHS[month]}."


def _month_number(rng: random.Random, day: int, month: int) -> tuple[str, str]:
    if rng.random() < 0.5:
        ask = rng.choice(["which month is number {}?", "month {} of the year is?", "the name of month {}?"])
        return ask.format(month + 1), f"Month {month + 1} is {MONTHS[month]}."
    ask = rng.choice(["what number is {}?", "{} is month number what?", "which number has the month {}?"])
    return ask.format(MONTHS[month]), f"{MONTHS[month]} is month {month + 1}."


def _month_length(rng: random.Random, day: int, month: int) -> tuple[str, str]:
    ask = rng.choice(
        ["how many days has {}?", "how many days are in {}?", "does {} have 30 or 31 days?", "days in {}?"]
    )
    days = f"{monthrange(2025, month + 1)[1]} days" + (", and 29 in a leap year" if month == 1 else "")
    return ask.format(MONTHS[month]), f"{MONTHS[month]} has {days}."


def spelling(rng: random.Random) -> tuple[str, str]:
    """Return a question about the letters of a word, and its answer."""
    word = rng.choice(WORDS)
    kind = rng.randrange(5)
    if kind == 0:
        ask = rng.choice(["how do you spell {}?", "spell {}", 'spell the word "{}"', "spelling of {}?"])
        return ask.format(word), f"{word}: {'-'.join(word)}."
    if kind == 1:
        ask = rng.choice(
            ["how many letters has {}?", 'how many letters are in "{}"?', "number of letters in {}?"]
        )
        return ask.format(word), f'"{word}" has {len(word)} letters.'
    if kind == 2:
        which, letter = rng.choice([("first", word[0]), ("last", word[-1])])
        ask = rng.choice(["what is the {0} letter of {1}?", "{0} letter of {1}?", 'the {0} letter in "{1}"?'])
        return ask.format(which, word), f'The {which} letter of "{word}" is {letter}.'
    if kind == 3:
        ask = rng.choice(["write {} in capital letters", "{} in upper case?", 'put "{}" in capitals'])
        return ask.format(word), f"{word.upper()}."
    words = rng.sample(WORDS, 3)
    ask = rng.choice(
        ["sort these words: {}", "put in alphabetical order: {}", "which order do {} have in the alphabet?"]
    )
    return ask.format(", ".join(words)), ", ".join(sorted(words, key=str.lower)) + "."
