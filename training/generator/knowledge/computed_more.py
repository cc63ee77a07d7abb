# ruff: noqa: E501
"""More questions with computed answers: Roman and binary numbers, primes, letters, order, reversed words."""

import random
from collections.abc import Callable

from training.generator.frames import one_frame
from training.generator.knowledge.computed import DAYS, MONTHS, WORDS

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ORDINALS = {1: "1st", 2: "2nd", 3: "3rd", 21: "21st", 22: "22nd", 23: "23rd"}
_ROMAN = ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
_NOUNS = """anchor basket candle desert engine feather garden harbour island jacket kettle ladder mirror needle
orchard parrot quarter ribbon saddle tunnel umbrella valley walnut yogurt zebra bridge circle dinner forest ginger
hammer insect jungle kitten lemon magnet napkin octopus pepper rocket salad ticket violet window""".split()

Exchange = tuple[str, str]


def number_question(rng: random.Random) -> Exchange:
    """Return a question about Roman, binary and hexadecimal numbers, primes, factors, squares."""
    make = rng.choice(
        [_roman, _roman, _from_roman, _binary, _from_binary, _hexadecimal, _prime, _factors, _power]
    )
    return make(rng)


def letter_question(rng: random.Random) -> Exchange:
    """Return a question about the alphabet, about the letters of a word, or about the order of words."""
    make: Callable[[random.Random], Exchange] = rng.choice(
        [_place, _after, _before, _reversed, _vowels, _occurrences, _sorted, _sorted, _months_apart]
    )
    return make(rng)


def roman(number: int) -> str:
    """Return a number up to one hundred in Roman letters."""
    text = ""
    for value, letters in _ROMAN:
        text += letters * (number // value)
        number %= value
    return text


def _roman(rng: random.Random) -> Exchange:
    number = rng.randint(1, 100)
    ask = """
    (what is|write|how do I write) {n} in Roman numerals?
    {n} in Roman (numerals|numbers)
    Roman (numeral|number) for {n}?
    convert {n} to Roman
    """
    return one_frame(rng, ask, n=str(number)), f"{number} is {roman(number)} in Roman numerals."


def _from_roman(rng: random.Random) -> Exchange:
    number = rng.randint(1, 100)
    ask = """
    what (number|) is the Roman (numeral|number) {n}?
    the Roman number {n} (is|means) what?
    {n} is which number? it is Roman
    (how much|which number) is {n} in Roman numerals?
    """
    return one_frame(rng, ask, n=roman(number)), f"{roman(number)} is {number}."


def _binary(rng: random.Random) -> Exchange:
    number = rng.randint(1, 32)
    ask = "(what is|) {n} in binary?\n(convert|turn) {n} (to|into) binary\nbinary (form|) of {n}?"
    return one_frame(rng, ask, n=str(number)), f"{number} is {number:b} in binary."


def _from_binary(rng: random.Random) -> Exchange:
    number = rng.randint(1, 32)
    ask = "(what is|) binary {n} in decimal?\n(convert|turn) binary {n} (to|into) decimal\n{n} binary is which number?"
    return one_frame(rng, ask, n=f"{number:b}"), f"Binary {number:b} is {number}."


def _hexadecimal(rng: random.Random) -> Exchange:
    number = rng.choice([*range(8, 33), 64, 100, 128, 200, 255, 256])
    ask = "(what is|) {n} in (hex|hexadecimal)?\n(convert|turn) {n} (to|into) hex\nhex (value|) of {n}?"
    return one_frame(rng, ask, n=str(number)), f"{number} is {number:x} in hexadecimal."


def _divisor(number: int) -> int:
    return next((at for at in range(2, number) if number % at == 0), 0)


def _prime(rng: random.Random) -> Exchange:
    number = rng.randint(2, 100)
    ask = (
        "is {n} (prime|a prime|a prime number)?\n{n}, prime or not?\n(check|tell me|find out) if {n} is prime"
    )
    divisor = _divisor(number)
    answer = (
        f"No, {number} is {divisor} times {number // divisor}." if divisor else f"Yes, {number} is prime."
    )
    return one_frame(rng, ask, n=str(number)), answer


def _factors(rng: random.Random) -> Exchange:
    number = rng.randint(4, 60)
    found = [str(at) for at in range(1, number + 1) if number % at == 0]
    ask = "(what are the|list all|) divisors of {n}?\nby which numbers can I divide {n}?\nall numbers that divide {n}"
    return one_frame(rng, ask, n=str(number)), f"The divisors of {number} are {', '.join(found)}."


def _power(rng: random.Random) -> Exchange:
    base, exponent = rng.choice([(2, rng.randint(2, 12)), (10, rng.randint(2, 6)), (3, rng.randint(2, 5))])
    ask = "(what is|how much is|) {a} to the power of {b}?\n{a}^{b}\n{a}**{b}\n{a} to the {b}th power?"
    said = one_frame(rng, ask.replace("{b}th", "power {b}, the"), a=str(base), b=str(exponent))
    return said.replace(" the power?", "?"), f"{base} to the power of {exponent} is {base**exponent}."


def _ordinal(number: int) -> str:
    return ORDINALS.get(number, f"{number}th")


def _place(rng: random.Random) -> Exchange:
    at = rng.randint(1, 26)
    if rng.random() < 0.5:
        ask = "(what is|which is|) the {n} letter of the alphabet?\nletter number {i} (of|in) the alphabet?"
        said = one_frame(rng, ask, n=_ordinal(at), i=str(at))
    else:
        ask = "(which|what) number (is|has) the letter {c} in the alphabet?\nplace of {c} in the alphabet?"
        said = one_frame(rng, ask, c=LETTERS[at - 1])
    return said, f"{LETTERS[at - 1]} is the {_ordinal(at)} letter of the alphabet."


def _after(rng: random.Random) -> Exchange:
    at = rng.randint(0, 24)
    ask = "(which|what) letter (comes after|follows) {c}?\nthe letter after {c}?\nwhat comes after {c} in the alphabet?"
    return one_frame(rng, ask, c=LETTERS[at]), f"{LETTERS[at + 1]} comes after {LETTERS[at]}."


def _before(rng: random.Random) -> Exchange:
    at = rng.randint(1, 25)
    ask = "(which|what) letter (comes|is) before {c}?\nthe letter before {c}?\nwhat is before {c} in the alphabet?"
    return one_frame(rng, ask, c=LETTERS[at]), f"{LETTERS[at - 1]} comes before {LETTERS[at]}."


def _reversed(rng: random.Random) -> Exchange:
    word = rng.choice([word for word in (*WORDS, *_NOUNS) if len(word) < 8])
    ask = '(write|spell|say|what is) "{w}" backwards\n{w} (backwards|in reverse)?\nreverse the word {w}'
    return one_frame(rng, ask, w=word), f"{'-'.join(word[::-1])}, so {word[::-1]}."


def _vowels(rng: random.Random) -> Exchange:
    word = rng.choice([*WORDS, *_NOUNS])
    found = [letter for letter in word.lower() if letter in "aeiou"]
    if not found:
        return _reversed(rng)
    ask = 'how many vowels (has|are in) (the word|) "{w}"?\nvowels in {w}?\ncount the vowels of {w}'
    return one_frame(rng, ask, w=word), f"{', '.join(found)}: that is {len(found)}."


def _occurrences(rng: random.Random) -> Exchange:
    word = rng.choice([*WORDS, *_NOUNS]).lower()
    letter = rng.choice(word)
    spelled = "-".join(word)
    ask = 'how (many|often is) {c} (are|) in "{w}"?\nhow (often does|many times is) {c} (occur in|in) {w}?'
    times = word.count(letter)
    said = one_frame(rng, ask.split("\n")[1], c=letter, w=word)
    return said, f"{spelled}: {letter} occurs {times} time{'s' * (times > 1)}."


def _sorted(rng: random.Random) -> Exchange:
    words = rng.sample(_NOUNS, rng.randint(3, 5))
    ask = """
    (sort|order) (these|the words|) alphabetically: {w}
    (put|bring) {w} in alphabetical order
    which comes first in the alphabet: {w}?
    alphabetical order of {w}?
    """
    said = one_frame(rng, ask, w=", ".join(words))
    ordered = sorted(words)
    return said, f"{ordered[0]} comes first." if "comes first" in said else f"{', '.join(ordered)}."


def _months_apart(rng: random.Random) -> Exchange:
    if rng.random() < 0.5:
        at, count = rng.randrange(12), rng.randint(2, 6)
        ask = "which month is {n} months after {m}?\n{n} months (after|from) {m}, which month?"
        said = one_frame(rng, ask, n=str(count), m=MONTHS[at])
        return said, f"{count} months after {MONTHS[at]} is {MONTHS[(at + count) % 12]}."
    at = rng.randrange(7)
    ask = "(which|what) number of the week is {d}?\n{d} is the how manieth day of the week (starting with Monday)?"
    return one_frame(rng, ask, d=DAYS[at]), f"{DAYS[at]} is day {at + 1} of the week, counted from Monday."
