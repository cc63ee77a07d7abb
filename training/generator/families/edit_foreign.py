"""Edits of records, sections, tables and words that are asked for in six languages."""

from training.generator import sources
from training.generator.families import edit_records, edit_sections, edit_tables, edit_words, long_named
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit

SET = """
(ändere|setze) {c} von {r} auf {v} | {c} von {r} ist jetzt {v} in {f}, vorher {o}.
{c} von {r} soll {v} sein | {c} von {r} ist jetzt {v} in {f}, vorher {o}.
bei {r} muss {c} {v} sein, nicht {o} | {c} von {r} ist jetzt {v} in {f}, vorher {o}.
(change|mets) {c} de {r} à {v} | {c} de {r} : {v} dans {f}, avant {o}.
{c} de {r} doit être {v} | {c} de {r} : {v} dans {f}, avant {o}.
(cambia|pon) {c} de {r} a {v} | {c} de {r}: {v} en {f}, antes {o}.
{c} de {r} debe ser {v} | {c} de {r}: {v} en {f}, antes {o}.
cambia {c} di {r} in {v} | {c} di {r}: {v} in {f}, prima {o}.
zet {c} van {r} op {v} | {c} van {r} is nu {v} in {f}, eerst {o}.
muda {c} de {r} para {v} | {c} de {r}: {v} em {f}, antes {o}.
""".strip()
ADD = """
(schreib|setz) {i} (unter|zu) {s} | {i} steht jetzt unter {s} in {f}.
{i} gehört noch zu {s}, bitte ergänzen | {i} steht jetzt unter {s} in {f}.
ajoute {i} (sous|à) {s} | {i} est ajouté sous {s} dans {f}.
(añade|pon) {i} en {s} | He añadido {i} en {s} de {f}.
aggiungi {i} (a|sotto) {s} | Ho aggiunto {i} a {s} in {f}.
voeg {i} toe (bij|aan) {s} | {i} staat nu bij {s} in {f}.
acrescenta {i} em {s} | Acrescentei {i} em {s} de {f}.
""".strip()
DELETE = """
(lösch|entferne|streich) {r} | {r} ist aus {f} gelöscht.
{r} kann weg | {r} ist aus {f} gelöscht.
die Zeile mit {r} bitte löschen | {r} ist aus {f} gelöscht.
(supprime|enlève) {r} | {r} est supprimé de {f}.
(borra|quita) {r} | He quitado {r} de {f}.
(togli|elimina) {r} | Ho tolto {r} da {f}.
(verwijder|schrap) {r} | {r} is verwijderd uit {f}.
(apaga|tira) {r} | Tirei {r} de {f}.
""".strip()
WORD = """
(ersetze|tausche) {o} durch {v} | {o} ist in {f} durch {v} ersetzt.
{v} statt {o} | {o} ist in {f} durch {v} ersetzt.
es heißt {v}, nicht {o} | {o} ist in {f} durch {v} ersetzt.
remplace {o} par {v} | {o} est remplacé par {v} dans {f}.
c'est {v}, pas {o} | {o} est remplacé par {v} dans {f}.
(cambia|reemplaza) {o} por {v} | He cambiado {o} por {v} en {f}.
es {v}, no {o} | He cambiado {o} por {v} en {f}.
(sostituisci|cambia) {o} con {v} | Ho cambiato {o} con {v} in {f}.
vervang {o} door {v} | {o} is vervangen door {v} in {f}.
(troca|substitui) {o} por {v} | Troquei {o} por {v} em {f}.
""".strip()
LOOK = """
(was|wie) ist {w} von {k}? | {w} von {k}: {v}.
{k}: {w}? | {w}: {v}.
(was|welcher Wert) steht bei {k}? | Bei {k} steht {v}.
que dit la ligne de {k} ? | Pour {k} : {v}.
quelle valeur a {k} ? | {k} : {v}.
qué valor tiene {k}? | {k}: {v}.
che valore ha {k}? | {k}: {v}.
welke waarde heeft {k}? | {k}: {v}.
qual é o valor de {k}? | {k}: {v}.
""".strip()


def _say(play: Play, path: str, block: str, **slots: str) -> str:
    """Lay out other files, say the order with the file's name, and return the frame of the answer."""
    rng = play.rng
    sources.distract(play, path, most=3)
    frame, _, answer = rng.choice(block.split("\n")).rpartition(" | ")
    order = one_frame(rng, frame, **slots)
    order = order[0].upper() + order[1:] if rng.random() < 0.3 and order[0] in frame else order
    play.user(rng.choice((f"{path}: {order}", f"{order} ({path})", f"{order}, {path}")))
    return answer


def record(play: Play) -> None:
    """A value of a record."""
    rng = play.rng
    made = edit_records.make_records(rng)
    at = rng.randrange(len(made.rows))
    key = rng.choice([key for key in made.kinds if key != made.name_key])
    name, old = made.names[at], made.rows[at][key]
    new = edit_records.value_for(rng, made.kinds[key])
    if new == old:
        raise Unfit("the same value")
    play.file(made.path, "\n".join(edit_records.layout(made)[0]) + "\n")
    answer = _say(play, made.path, SET, c=key, r=name, v=new, o=old)
    play.read(made.path)
    edit_records.set_value(play, made, at, key, new)
    play.say(answer.format(c=key, r=name, v=new, o=old, f=made.path))


def section(play: Play) -> None:
    """A new item of a section."""
    rng = play.rng
    made, free = edit_sections.make_sections(rng)
    at = rng.randrange(len(made.heads))
    item = rng.choice(free)
    play.file(made.path, "\n".join(made.layout()[0]) + "\n")
    answer = _say(play, made.path, ADD, i=item, s=made.heads[at])
    play.read(made.path)
    play.insert_after(made.path, made.number(at, len(made.items[at]) - 1), made.mark + item)
    play.say(answer.format(i=item, s=made.heads[at], f=made.path))


def row(play: Play) -> None:
    """A row of a table less."""
    rng = play.rng
    table = edit_tables.make_table(rng)
    at = rng.randrange(len(table.rows))
    name = table.rows[at][0]
    play.file(table.path, table.text)
    answer = _say(play, table.path, DELETE, r=name)
    play.read(table.path)
    play.delete_lines(table.path, table.first + at)
    play.say(answer.format(r=name, f=table.path))


def word(play: Play) -> None:
    """A word that becomes another."""
    rng = play.rng
    made = edit_words.make_words(rng)
    text = "\n".join(made.lines)
    found = [part for part in made.parts if text.count(part) == 1]
    if not found:
        raise Unfit("nothing once")
    old = rng.choice(found)
    new = edit_words.other_part(rng, old)
    play.file(made.path, text + "\n")
    answer = _say(play, made.path, WORD, o=old, v=new)
    play.read(made.path)
    number = next(number for number, line in enumerate(made.lines, 1) if old in line)
    play.set_lines(made.path, number, made.lines[number - 1].replace(old, new))
    play.say(answer.format(o=old, v=new, f=made.path))


def long_row(play: Play) -> None:
    """What a row of a long file says."""
    rng = play.rng
    made = long_named.make_long(rng)
    name = rng.choice(list(made.rows))
    number, old, _ = made.rows[name]
    if not made.single or sum(name in line for line in made.lines) != 1:
        raise Unfit("not in one line")
    play.file(made.path, "\n".join(made.lines) + "\n")
    answer = _say(play, made.path, LOOK, k=name, w=made.what[0])
    shown = play.grep(long_named.escaped(name), made.path)
    if shown.count("\n") or f":{number}: " not in shown:
        raise Unfit("other matches")
    line = f"{made.path}, line {number}: {made.lines[number - 1].strip()}"
    play.say(f"{line}\n{answer.format(k=name, w=made.what[0], v=old)}")


FAMILIES = (
    Family(record, 0.8),
    Family(section, 0.7),
    Family(row, 0.5),
    Family(word, 0.8),
    Family(long_row, 0.5),
)
