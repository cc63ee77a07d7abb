"""Words that documents are made of, and the values that stand in them."""

import random

__all__ = [
    "CITIES",
    "COLOURS",
    "DAYS",
    "FIRST",
    "FOODS",
    "LAST",
    "MONTHS",
    "MONTH_SHORT",
    "THINGS",
    "bank",
    "clock",
    "coined",
    "date_of",
    "identifier",
    "money",
    "number",
    "person",
    "phone",
    "place_of",
    "version",
]

FIRST = """Amir Beata Colin Dora Emil Fatou Greta Hugo Ida Jonas Karim Lea Milan Nora Oskar Pia Quentin Rosa
Sami Tove Ugo
Vera Wanda Xiu Yusuf Zofia Anneke Bashir Chidi Delphine Efua Farouk Giulia Haruki Ines Jamal Keiko Laszlo
Mireille Nkechi
Olu Priya Rafael Saskia Tariq Ulla Viktor Wei Yara Zeno Aoife Bram Carmen Dmitri Esther Finn Gunnar Hana Ivo
Jun Kofi
Linh Malik Niamh Otto Paola Ravi Sigrid Tomasz Uma Vito Walter Ximena Ylva Zainab Ada Boris Cleo Dina Edgar
Flora Gus
Hilda Igor Jasper Klara Leon Mina Ned Olga Pablo Ruth Simon Tess Vince Willa""".split()

LAST = """Okafor Lindqvist Brandt Moreau Takeda Novak Ferreira Haddad Kowalski Jensen Murphy Castillo Ivanova
Schmid Osei
Nakamura Rossi Byrne Dubois Keller Mbeki Larsen Petrov Sandoval Tanaka Ullman Varga Whitlock Yilmaz Zeller
Abara Bakker
Cohen Duarte Eriksen Fontaine Gupta Holt Ibrahim Jovanovic Kaur Lemaire Mancini Nguyen Oduya Pereira Quist
Raman Salo
Thorne Uribe Vance Wexler Adeyemi Boone Carver Dahl Ek Farrow Grieg Hale Iqbal Juhasz Krol Lund
Marsh""".split()

CITIES = """Lisbon Bergen Graz Leeds Porto Kyoto Lagos Oslo Turin Ghent Basel Riga Malmö Nantes Quito Tampere
Cork Izmir
Kraków Zürich Genoa Accra Busan Cusco Dakar Essen Faro Gdansk Hanoi Innsbruck Jena Kiel Lyon Mainz Napier
Odense Perth
Rennes Split Tartu Ulm Verona Windhoek York Zagreb Aarhus Bath Córdoba Delft Évora""".split()

FOODS = """apples|bananas|oat milk|eggs|butter|rice|lentils|flour|brown sugar|olive oil|tomatoes|onions
garlic|carrots|leeks
potatoes|mushrooms|spinach|yoghurt|cheddar|tofu|chickpeas|pasta|coffee beans|green tea|honey|almonds|raisins
oats|cumin
paprika|basil|lemons|ginger|coconut milk|tahini|salmon|chicken thighs|bacon|bread|rye crackers|strawberries
plums
cucumber|feta|black beans|peanut butter|vanilla|yeast|cocoa|cinnamon|maple syrup|soy sauce|noodles|cabbage"""

COLOURS = """red|dark blue|green|amber|ivory|teal|crimson|slate grey|mustard|violet|copper|turquoise|black
white|olive
salmon|lilac|silver|burgundy|mint"""

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
MONTH_SHORT = [month[:3] for month in MONTHS]

THINGS = """lamp|kettle|tent|rope|ladder|drill|bucket|mirror|kite|radio|pump|hammer|stool|basket|blanket
candle|compass
torch|whistle|helmet|saddle|anchor|lantern|easel|trowel|barrel|clamp|funnel|spanner|tripod|projector
microphone|cable drum
first-aid kit|folding chair|extension lead|rain jacket|sleeping bag|water bottle|camp stove|pocket knife
sunscreen
toothbrush|towel|swimsuit|passport|charger|headphones|notebook|umbrella|hiking boots|wool socks|map
binoculars"""

BANKS = {"food": FOODS, "colour": COLOURS, "thing": THINGS}

SYLLABLES = """ba be bri cal cor da del dor el fa fen gar hal il jo ka kel lan lo mar mi mon na nor o pel
qui ra rin sa so tam te ti ul va vel vo wen yor za""".split()
ENDS = "n r s x lia ron tis mar dek nix la ra vik sen ton berg um ova eth ax".split()

CODE_WORDS = """app user order cart invoice report cache queue worker token session mail image video audio
map route track
player enemy score level tile sprite sensor valve motor pump meter battery signal frame packet socket buffer
index search
backup export import upload job task event ticket booking seat room guest menu recipe price tax discount
stock shelf
parcel label printer scanner camera lens filter colour font page chapter note tag author reader loan member
vote poll
quiz grade lesson course student class timer alarm clock calendar weather rain wind tide moon orbit planet
star gene
cell sample assay dose patient visit ward pixel layer brush canvas chord tempo drum synth mixer
fader""".split()


def bank(name: str) -> list[str]:
    """The words of a bank."""
    return BANKS[name].replace("\n", "|").split("|")


def person(rng: random.Random) -> str:
    """A first and a last name."""
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def coined(rng: random.Random) -> str:
    """A name that no dictionary knows."""
    middle = "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 2)))
    return (middle + rng.choice(ENDS)).capitalize()


def identifier(rng: random.Random, most: int = 2) -> str:
    """A name as code has it, in snake case."""
    return "_".join(rng.sample(CODE_WORDS, rng.randint(1, most)))


def place_of(rng: random.Random) -> str:
    """A city, or a place nobody knows."""
    return rng.choice(CITIES) if rng.random() < 0.8 else coined(rng)


def money(rng: random.Random, least: int = 1, most: int = 90) -> str:
    """An amount with two decimals."""
    return f"{rng.randint(least, most)}.{rng.choice(['00', '50', '20', '90', '95', '99', '75', '40', '10'])}"


def number(rng: random.Random) -> int:
    """A number of any size, round or not."""
    return rng.choice(
        [rng.randint(2, 12), rng.randint(13, 99), rng.randint(100, 999), rng.randint(2, 90) * 50]
    )


def clock(rng: random.Random, first: int = 6, last: int = 22) -> str:
    """A time of the day."""
    return f"{rng.randint(first, last):02}:{rng.choice(['00', '15', '30', '45', '05', '10', '20', '50'])}"


def date_of(rng: random.Random, form: int = -1) -> str:
    """A date, in one of the usual forms or in this one."""
    day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(2015, 2026)
    forms = (
        f"{year}-{month:02}-{day:02}",
        f"{day} {MONTHS[month - 1]} {year}",
        f"{MONTHS[month - 1]} {day}, {year}",
        f"{day:02}.{month:02}.{year}",
        f"{day} {MONTHS[month - 1]}",
        f"{MONTH_SHORT[month - 1]} {day}",
    )
    return rng.choice(forms) if form < 0 else forms[form]


def version(rng: random.Random) -> str:
    """A version of three numbers."""
    return f"{rng.choice([0, 1, 1, 2, 3, 4, 7, 12])}.{rng.randint(0, 24)}.{rng.randint(0, 9)}"


def phone(rng: random.Random) -> str:
    """A telephone number."""
    a, b = rng.randint(10, 99), rng.randint(1000, 9999)
    return rng.choice([f"0{a} {b}{rng.randint(10, 99)}", f"555-{b}", f"+{a} {rng.randint(100, 999)} {b}"])
