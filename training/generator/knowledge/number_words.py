# ruff: noqa: E501
"""Numbers up to one hundred, in words of five languages."""

_EN = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen""".split()
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_DE = """null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn
siebzehn achtzehn neunzehn""".split()
_DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_FR = """zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept
dix-huit dix-neuf""".split()
_FR_TENS = "vingt trente quarante cinquante soixante".split()
_ES = """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis
veintisiete veintiocho veintinueve""".split()
_ES_TENS = "treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
_IT = """zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici
sedici diciassette diciotto diciannove""".split()
_IT_TENS = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta".split()


def in_words(number: int, language: str = "en") -> str:
    """Return a number from 0 to 100 in words."""
    return {"en": _english, "de": _german, "fr": _french, "es": _spanish, "it": _italian}[language](number)


def _english(number: int) -> str:
    if number < 20:
        return _EN[number]
    if number == 100:
        return "a hundred"
    tens = _EN_TENS[number // 10 - 2]
    return f"{tens}-{_EN[number % 10]}" if number % 10 else tens


def _german(number: int) -> str:
    if number < 20:
        return _DE[number]
    if number == 100:
        return "hundert"
    tens, ones = _DE_TENS[number // 10 - 2], number % 10
    return f"{'ein' if ones == 1 else _DE[ones]}und{tens}" if ones else tens


def _french(number: int) -> str:
    if number < 20:
        return _FR[number]
    if number == 100:
        return "cent"
    if number >= 80:
        return f"quatre-vingt-{_FR[number - 80]}" if number > 80 else "quatre-vingts"
    tens, ones = min(number // 10, 6), number - min(number // 10, 6) * 10
    if ones in (1, 11):
        return f"{_FR_TENS[tens - 2]} et {_FR[ones]}"
    return f"{_FR_TENS[tens - 2]}-{_FR[ones]}" if ones else _FR_TENS[tens - 2]


def _spanish(number: int) -> str:
    if number < 30:
        return _ES[number]
    if number == 100:
        return "cien"
    tens = _ES_TENS[number // 10 - 3]
    return f"{tens} y {_ES[number % 10]}" if number % 10 else tens


def _italian(number: int) -> str:
    if number < 20:
        return _IT[number]
    if number == 100:
        return "cento"
    tens, ones = _IT_TENS[number // 10 - 2], number % 10
    if ones in (1, 8):
        return tens[:-1] + _IT[ones]
    return tens + ("tré" if ones == 3 else _IT[ones] if ones else "")
