"""New entries in JSON files: settings and texts, nested or not, mostly as the last entry."""

import json
from collections.abc import Mapping
from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import in_folder, value
from training.generator.targets import aim, order_text, place

TEXTS = """
de | save=Speichern, cancel=Abbrechen, delete=Löschen, open=Öffnen, close=Schließen, search=Suchen, back=Zurück,
  next=Weiter, settings=Einstellungen, language=Sprache, help=Hilfe, welcome=Willkommen, password=Passwort,
  print=Drucken, size=Größe, monday=Montag, street=Straße, error=Fehler, edit=Ändern, overview=Übersicht, yes=Ja,
  goodbye=Auf Wiedersehen, empty=Keine Einträge, loading=Lädt …, hint=Bitte „OK“ drücken, price=Preis in €, logout=Abmelden
fr | save=Enregistrer, cancel=Annuler, delete=Supprimer, open=Ouvrir, close=Fermer, search=Rechercher, back=Précédent,
  next=Suivant, settings=Paramètres, language=Langue, help=Aide, welcome=Bienvenue, password=Mot de passe,
  print=Imprimer, size=Taille, error=Erreur, edit=Modifier, yes=Oui, goodbye=À bientôt, empty=Aucun élément,
  hint=Appuyez sur « OK », logout=Se déconnecter, summer=Été, pupil=Élève
es | save=Guardar, cancel=Cancelar, delete=Eliminar, open=Abrir, close=Cerrar, search=Buscar, back=Atrás, yes=Sí,
  next=Siguiente, settings=Configuración, language=Idioma, help=Ayuda, welcome=¡Bienvenido!, password=Contraseña,
  print=Imprimir, size=Tamaño, error=Error, tomorrow=Mañana, sure=¿Está seguro?, logout=Cerrar sesión, page=Página
it | save=Salva, cancel=Annulla, delete=Elimina, open=Apri, close=Chiudi, search=Cerca, back=Indietro, next=Avanti,
  settings=Impostazioni, language=Lingua, help=Aiuto, welcome=Benvenuto, print=Stampa, yes=Sì, city=Città, error=Errore
en | save=Save, cancel=Cancel, delete=Delete, open=Open, welcome=Welcome back!, back=Back, sure=Are you sure?,
  hint=Press "OK" to go on, search=Search, empty=Nothing here yet, error=Something went wrong, offline=You're offline,
  quote=She said "no", settings=Settings, close=Close, logout=Log out, more=Show "more", items={n} items
""".replace("\n  ", " ")  # noqa: E501
SETTINGS = """
name=word title=word version=version port=port debug=bool timeout=int-5-90 retries=int-1-9 author=person city=city
theme=color host=host url=url email=email cache=bool level=int-1-20 volume=int-0-100 logs=path owner=person
language=pick-de/fr/en/pl/it width=int-300-1900 height=int-200-1200 start=time date=date price=money items=int-2-99
verbose=bool backup=bool limit=int-10-500 shop=shop color=color lives=int-1-9 speed=float-1-9 seats=int-2-80
""".split()  # noqa: E501
SECTIONS = (
    "server client window mail player database paths editor network printer display sync user export".split()
)
SETTING_FILES = """
config.json settings.json app.json package.json data.json options.json profile.json game.json manifest.json
appsettings.json theme.json device.json club.json state.json
""".split()
ADD = """
add the (key|entry) {k} with (the value |){v}
add {k} with {v}
add {k}: {v}
(put|insert) {k} with the value {v}
(a|one) new (key|entry), {k}: {v}
{k} is missing, (it is|the value is|it should be) {v}
add a (key|entry) {k} = {v}
(I need|we need) a (key|new key|new entry) {k}, (value|set to) {v}
new: {k} -> {v}
can you add {k} ({v})
append {k}: {v}
(at the end|as the last entry) add {k}: {v}
""".strip()
ADD_TEXT = """
add the (translation|text) {v} for {k}
{k} has no (translation|text) yet, it is {v}
the text for {k} is missing: {v}
{k} is called {v}, add that
add {k}, (that is|which is) {v}
""".strip()
INSIDE = """
add {k} with (the value |){v} (to|in|under) {s}
{s} (needs|should get) (a key|an entry|) {k}: {v}
(under|in) {s} add {k}: {v}
add {k} to the (section|object|block) {s}, value {v}
in the {s} (part|section|block) {k} is missing, it is {v}
put {k} = {v} into {s}
""".strip()
AFTER = """
add {k}: {v} (after|below|behind) {a}
(after|below) {a} (insert|add|put) {k} with {v}
insert {k} with (the value |){v} right after {a}
""".strip()

Json = Mapping[str, object]


class _Json(Struct):
    """A JSON file with what is added to it: where, the key and the value."""

    path: str
    data: dict[str, object]
    section: str
    key: str
    new: object
    is_text: bool

    @property
    def target(self) -> dict[str, object]:
        """The object that gets the entry."""
        inner = self.data[self.section] if self.section else self.data
        assert isinstance(inner, dict)
        return inner


def _texts(rng: Random) -> _Json:
    language, _, words = rng.choice(TEXTS.strip().split("\n")).partition(" | ")
    pairs = [word.strip().split("=") for word in words.split(", ")]
    chosen = rng.sample(pairs, rng.randint(3, 8))
    prefix = rng.choice(("", "", "", "menu.", "app.", "btn_"))
    (key, new), *rest = [(prefix + key, text.rstrip(",")) for key, text in chosen]
    data: dict[str, object] = dict(rest)
    section = ""
    if rng.random() < 0.35:
        section = rng.choice("buttons menu dialog page form errors labels".split())
        other: dict[str, object] = {"title": value(rng, "word").capitalize(), "lang": language}
        data = {**other, section: data} if rng.random() < 0.5 else {section: data, "about": other}
    folder = rng.choice(("", "", "i18n/", "locales/", "lang/", "src/locales/", "translations/"))
    return _Json(f"{folder}{language}.json", data, section, key, new, is_text=True)


def _settings(rng: Random) -> _Json:
    pairs = [word.split("=") for word in rng.sample(SETTINGS, rng.randint(4, 8))]
    (key, new), *rest = [(key, _typed(value(rng, kind.replace("-", " ")))) for key, kind in pairs]
    data: dict[str, object] = dict(rest)
    section = ""
    if rng.random() < 0.5:
        section, second = rng.sample(SECTIONS, 2)
        other = dict([rest.pop(), *rest[2:]])
        inner = dict(rest[:3])
        data = {section: inner, second: other} if rng.random() < 0.5 else {**other, section: inner}
        section = section if rng.random() < 0.75 else ""
    if not section and key not in data and rng.random() < 0.25:
        data["tags"] = [value(rng, "thing"), value(rng, "word")]
    return _Json(in_folder(rng, rng.choice(SETTING_FILES), 0.3), data, section, key, new, is_text=False)


def _typed(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    return float(text) if text.replace(".", "", 1).isdigit() and text.count(".") == 1 else _whole(text)


def _whole(text: str) -> object:
    return int(text) if text.isdigit() and (text == "0" or text[0] != "0") else text


def _said(rng: Random, new: object) -> str:
    text = new if isinstance(new, str) else json.dumps(new)
    marks = ("{}", "'{}'", "`{}`", "“{}”") if '"' in text else ('"{}"', '"{}"', "{}", "'{}'", "“{}”")
    mark = rng.choice(marks)
    if not isinstance(new, str) or "„" in text or "'" in text or "«" in text:
        mark = "{}"
    return mark.format(text)


def _order(rng: Random, file: _Json, after: str) -> str:
    key = rng.choice(("{}", "{}", '"{}"', "'{}'")).format(file.key)
    slots = {"k": key, "v": _said(rng, file.new), "s": file.section, "a": after}
    if after:
        return one_frame(rng, AFTER, **slots)
    if file.section:
        return one_frame(rng, INSIDE, **slots)
    return one_frame(rng, rng.choice((ADD, ADD_TEXT)) if file.is_text else ADD, **slots)


def _dumped(data: Json, indent: int | str) -> str:
    return json.dumps(data, indent=indent, ensure_ascii=False) + "\n"


def _line_of_last(file: _Json, indent: int | str, name: str) -> int:
    """Return the number of the line with which the entry of a name ends."""
    mark = "\x01"
    copy: dict[str, object] = {}
    for key, old in file.target.items():
        copy[key] = old
        if key == name:
            copy[mark] = 1
    data = {**file.data, file.section: copy} if file.section else copy
    lines = _dumped(data, indent).split("\n")
    return next(number for number, line in enumerate(lines) if json.dumps(mark) in line)


def add(play: Play) -> None:
    """A new entry, mostly the last of its object: the entry before it gets a comma."""
    rng = play.rng
    file = _texts(rng) if rng.random() < 0.5 else _settings(rng)
    indent: int | str = rng.choice((2, 2, 2, 4, "\t"))
    text = _dumped(file.data, indent)
    if file.key in file.target or text.count("\n") > 22:
        raise Unfit("there already, or long")
    names = list(file.target)
    after = rng.choice(names[:-1]) if len(names) > 2 and rng.random() < 0.15 else ""
    play.file(file.path, text)
    sources.distract(play, file.path)
    target = aim(rng, file.path, after)
    play.user(order_text(rng, place(rng, _order(rng, file, after), target), exact_end=True))
    target.find(play)
    play.read(file.path)
    _insert(play, file, indent, after)
    shown = json.dumps({file.key: file.new}, ensure_ascii=False)[1:-1]
    where = f"in {file.section} of" if file.section else "to"
    play.say(f"Added {shown} {where} {file.path}.")


def _insert(play: Play, file: _Json, indent: int | str, after: str) -> None:
    """Put the entry in its place, and check that the file is the JSON that it should be."""
    number = _line_of_last(file, indent, after or list(file.target)[-1])
    lines = play.text(file.path).split("\n")
    unit = indent if isinstance(indent, str) else " " * indent
    start = unit * (2 if file.section else 1)
    entry = start + json.dumps({file.key: file.new}, ensure_ascii=False)[1:-1]
    if after:
        play.insert_after(file.path, number, f"{entry},")
    else:
        play.set_lines(file.path, number, f"{lines[number - 1]},\n{entry}")
    got = json.loads(play.text(file.path))
    inner = got[file.section] if file.section else got
    if inner.get(file.key) != file.new or len(inner) != len(file.target) + 1:
        raise Unfit("not the JSON that it should be")


FAMILIES = (Family(add, 4.2),)
