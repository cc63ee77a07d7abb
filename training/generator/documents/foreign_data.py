"""German, French and Spanish texts.

A block is a text: language | paths | how people call it | what it is; then lines `text ; questions ; answer`,
or plain text. Values: {n} number, {m} amount, {t} time, {p} and {q} people, {c} city, {x} a name,
{w} a thing.
"""

__all__ = ["AFTER", "BEFORE", "LISTS", "TEXTS", "WORDS"]

WORDS = {
    "de": (
        "Äpfel,Brötchen,Käse,Milch,Zwiebeln,Butter,Möhren,Honig,Mehl,Nudeln,Gurken,Schrauben,Kerzen,"
        "Handtücher,Bücher,Löffel"
    ),
    "fr": (
        "pommes,pain,beurre,œufs,crème,fromage,oignons,farine,miel,poires,bougies,serviettes,pâtes,café,"
        "champignons,sucre"
    ),
    "es": (
        "manzanas,leche,huevos,harina,limones,cebollas,queso,arroz,velas,platos,miel,aceite,piñas,azúcar,"
        "tomates,jabón"
    ),
}

BEFORE = {
    "de": (
        "{F}: {q}|in {F}: {q}|schau in {F}: {q}|laut {F}, {q}|lies mal {F}: {q}|Frage zu {F}: {q}"
        "|bitte in {F} nachsehen: {q}|kannst du in {F} nachsehen, {q}"
    ),
    "fr": (
        "{F} : {q}|dans {F}, {q}|regarde dans {F} : {q}|d'après {F}, {q}|ouvre {F}, {q}"
        "|lis {F} et dis-moi : {q}|question sur {F} : {q}"
    ),
    "es": (
        "{F}: {q}|en {F}, {q}|mira en {F}: {q}|según {F}, {q}|abre {F}, {q}|lee {F} y dime: {q}"
        "|pregunta sobre {F}: {q}"
    ),
}
AFTER = {
    "de": "{q} laut {F}|{q}? Steht in {F}|{q}? ({F})|{q}, siehe {F}|{q}? Schau in {F}",
    "fr": "{q} d'après {F}|{q} ? C'est dans {F}|{q} ? ({F})|{q}, voir {F}|{q} dans {F}",
    "es": "{q} según {F}|{q}? Está en {F}|{q}? ({F})|{q}, mira {F}|{q} en {F}",
}

LISTS = {
    "de": (
        "einkauf.txt|einkaufsliste.txt|liste.md|packliste.txt|listen/einkauf.txt",
        "der Einkaufsliste|meiner Liste|der Liste",
        (
            "wie viele [Sachen|Dinge|Einträge] [sind|stehen] [auf der Liste|drauf]|Anzahl der Einträge"
            "|zähl die Einträge"
        ),
        "Das sind {n}.",
        "was steht in Zeile {n}|Zeile {n}|lies mir Zeile {n} vor|welcher Eintrag ist in Zeile {n}",
        "In Zeile {n} steht: {w}",
        "was steht [ganz unten|in der letzten Zeile]|letzter Eintrag|was kommt zuletzt",
        "In der letzten Zeile steht: {w}",
        "steht {w} auf der Liste|haben wir {w} [schon|] aufgeschrieben|brauchen wir {w}",
        "Ja, {w} steht auf der Liste.",
        "Nein, {w} steht nicht auf der Liste.",
        "was steht [alles|] [drauf|auf der Liste]|lies die Liste vor|zeig [mir|] die Liste",
    ),
    "fr": (
        "courses.txt|liste.txt|liste-courses.md|listes/courses.txt|achats.txt",
        "la liste de courses|ma liste|la liste",
        "combien de choses [y a-t-il|il y a] [sur la liste|]|nombre d'entrées|compte les lignes",
        "Cela fait {n}.",
        "qu'est-ce qu'il y a à la ligne {n}|ligne {n}|lis-moi la ligne {n}",
        "À la ligne {n} il y a : {w}",
        "quelle est la dernière ligne|dernière entrée|qu'est-ce qui vient en dernier",
        "La dernière ligne est : {w}",
        "est-ce que {w} est sur la liste|{w} est noté|a-t-on noté {w}",
        "Oui, {w} est sur la liste.",
        "Non, {w} n'est pas sur la liste.",
        "qu'est-ce qu'il y a sur la liste|lis la liste|montre la liste",
    ),
    "es": (
        "compras.txt|lista.txt|lista-compra.md|listas/compras.txt|casa/lista.txt",
        "la lista de la compra|mi lista|la lista",
        "¿cuántas cosas hay en la lista|número de entradas|cuenta las líneas",
        "Son {n}.",
        "¿qué hay en la línea {n}|línea {n}|léeme la línea {n}",
        "En la línea {n} pone: {w}",
        "¿cuál es la última línea|última entrada|¿qué viene al final",
        "La última línea es: {w}",
        "¿está {w} en la lista|¿apunté {w}|¿tenemos {w} en la lista",
        "Sí, {w} está en la lista.",
        "No, {w} no está en la lista.",
        "¿qué hay en la lista|lee la lista|enséñame la lista",
    ),
}

TEXTS = """
de | protokoll.md|protokolle/sitzung.md|sitzung.txt | dem Protokoll|unserem Protokoll|den Notizen der Sitzung
  | das Protokoll einer Sitzung
# Sitzung Gartenverein
Ort: Vereinsheim {x} ; wo war die Sitzung/wo haben wir uns getroffen ; Die Sitzung war im Vereinsheim {x}.
Leitung: {p} ; wer hat die Sitzung geleitet/wer war die Leitung ; Die Leitung hatte {p}.
Kassenstand: {m} € ; wie viel Geld ist in der Kasse/wie hoch ist der Kassenstand/Kassenstand? ; Der
  Kassenstand ist {m} €.
Die neue Pumpe bestellt {q}. ; wer bestellt die Pumpe/wer kümmert sich um die Pumpe ; {q} bestellt die neue
  Pumpe.
Nächstes Treffen um {t} Uhr ; wann ist das nächste Treffen/um wie viel Uhr treffen wir uns wieder ; Das
  nächste Treffen ist um {t} Uhr.

de | rezept.txt|rezepte/kuchen.md|kuchen.txt | dem Rezept|meinem Kuchenrezept|dem Backrezept | ein Rezept
Rührkuchen nach {p} ; von wem ist das Rezept/nach wem ist der Kuchen ; Das Rezept ist nach {p}.
{n} g Butter ; wie viel Butter brauche ich/wie viel Gramm Butter ; Man braucht {n} g Butter.
4 Eier
{k} g Mehl ; wie viel Mehl kommt rein/wie viel Mehl brauche ich ; Man braucht {k} g Mehl.
bei {h} °C backen ; bei wie viel Grad wird gebacken/wie heiß muss der Ofen sein ; Gebacken wird bei {h} °C.
Backzeit: {b} Minuten ; wie lange muss er in den Ofen/wie lang ist die Backzeit ; Die Backzeit ist {b}
  Minuten.

de | rechnung.txt|rechnungen/handwerker.txt|belege/rechnung.txt | der Rechnung|dieser Rechnung | eine Rechnung
Rechnung Nr. {k} ; welche Nummer hat die Rechnung/Rechnungsnummer? ; Die Rechnung hat die Nummer {k}.
Von: Malerei {x} ; von wem ist die Rechnung/wer hat die Rechnung geschickt ; Die Rechnung ist von Malerei {x}.
Arbeitszeit: {n} Stunden ; wie viele Stunden wurden berechnet/wie lange wurde gearbeitet ; Es sind {n}
  Stunden.
Farbe: {g} €
Gesamt: {m} € ; wie hoch ist die Rechnung/was müssen wir insgesamt zahlen/Gesamtbetrag? ; Insgesamt sind es
  {m} €.
Zahlbar in {b} Tagen ; bis wann muss gezahlt werden/wie viele Tage haben wir Zeit ; Zahlbar in {b} Tagen.

de | einladung.txt|feste/einladung.md|fest.txt | der Einladung|dem Einladungstext | eine Einladung
Sommerfest in {c} ; in welcher Stadt ist das Fest/wo wird gefeiert ; Das Fest ist in {c}.
Beginn: {t} Uhr ; wann beginnt das Fest/um wie viel Uhr geht es los ; Es beginnt um {t} Uhr.
Bitte {w} mitbringen. ; was sollen wir mitbringen/was muss ich mitnehmen ; Bitte {w} mitbringen.
Anmeldung bei {p} ; bei wem meldet man sich an/an wen geht die Anmeldung ; Die Anmeldung geht an {p}.
Eintritt: {m} € ; was kostet der Eintritt/wie teuer ist es ; Der Eintritt kostet {m} €.

de | einstellungen.ini|heizung.ini|konfig.ini | den Einstellungen|der Konfiguration|der Ini-Datei |
  Einstellungen einer Heizung
[heizung]
tag = {b} ; wie warm ist es am Tag/welche Temperatur gilt tagsüber ; Am Tag sind es {b} Grad.
nacht = {a} ; wie warm ist es nachts/auf wie viel Grad wird nachts geheizt ; Nachts sind es {a} Grad.
[pumpe]
start = {t} ; wann startet die Pumpe/Startzeit der Pumpe? ; Die Pumpe startet um {t}.
leistung = {k} ; welche Leistung hat die Pumpe/wie stark ist die Pumpe ; Die Leistung der Pumpe ist {k}.

de | stundenplan.txt|schule/plan.txt|woche.txt | dem Stundenplan|dem Wochenplan | ein Stundenplan
Montag: Mathe bei {p} ; was haben wir am Montag/bei wem ist Mathe ; Am Montag ist Mathe bei {p}.
Dienstag: Chor um {t} ; wann ist Chor/was ist am Dienstag ; Am Dienstag ist um {t} Chor.
Mittwoch: Werken in Raum {n} ; in welchem Raum ist Werken/wo ist Werken ; Werken ist in Raum {n}.
Donnerstag: Sport mit {q} ; wer macht Sport/mit wem ist Sport ; Sport ist mit {q}.

fr | compte-rendu.md|reunion.txt|notes/reunion.md | le compte rendu|les notes de la réunion | le compte rendu
  d'une réunion
# Réunion du club
Lieu : salle {x} ; où était la réunion/dans quelle salle était la réunion ; La réunion était dans la salle
  {x}.
Présidence : {p} ; qui présidait/qui a présidé la réunion ; {p} présidait la réunion.
Budget : {m} € ; quel est le budget/combien d'argent avons-nous ; Le budget est de {m} €.
{q} achète les chaises. ; qui achète les chaises/qui s'occupe des chaises ; {q} achète les chaises.
Prochaine réunion à {t} ; à quelle heure est la prochaine réunion/prochaine réunion ? ; La prochaine réunion
  est à {t}.

fr | recette.txt|recettes/tarte.md|tarte.txt | la recette|ma recette de tarte | une recette
Tarte aux {w} ; c'est une tarte à quoi/quelle tarte est-ce ; C'est une tarte aux {w}.
{k} g de farine ; combien de farine faut-il/quelle quantité de farine ; Il faut {k} g de farine.
{n} g de beurre ; combien de beurre faut-il/il faut combien de beurre ; Il faut {n} g de beurre.
Four à {h} °C ; à quelle température est le four/le four est à combien de degrés ; Le four est à {h} °C.
Cuisson : {b} minutes ; combien de temps de cuisson/la cuisson dure combien de minutes ; La cuisson dure {b}
  minutes.

fr | menu.txt|carte.txt|resto/menu.md | le menu|la carte | un menu
Entrée : soupe de {w} ; quelle est l'entrée/qu'est-ce qu'il y a en entrée ; L'entrée est : soupe de {w}.
Plat : canard de {c} ; quel est le plat/qu'y a-t-il comme plat ; Le plat est : canard de {c}.
Dessert : tarte {x} ; quel est le dessert/c'est quoi le dessert ; Le dessert est : tarte {x}.
Prix : {m} € ; combien coûte le menu/quel est le prix ; Le prix est de {m} €.
Service jusqu'à {t} ; jusqu'à quelle heure sert-on/on peut manger jusqu'à quand ; Le service dure jusqu'à {t}.

fr | lettre.txt|courrier/lettre.txt|lettre-voisin.txt | la lettre|cette lettre | une lettre
De : {p} ; qui a écrit la lettre/de qui est la lettre ; La lettre est de {p}.
À : {q} ; à qui est la lettre/qui a reçu la lettre ; La lettre est pour {q}.
Le bruit dure depuis {n} jours. ; depuis combien de jours y a-t-il du bruit/depuis quand dure le bruit ; Le
  bruit dure depuis {n} jours.
Je demande {m} € pour les travaux. ; combien demande-t-on pour les travaux/quelle somme est demandée ; On
  demande {m} €.

es | acta.md|actas/mayo.txt|reunion.txt | el acta|las notas de la reunión | el acta de una reunión
# Reunión de vecinos
Lugar: portal {n} ; ¿dónde fue la reunión/¿en qué portal fue la reunión ; La reunión fue en el portal {n}.
Preside: {p} ; ¿quién preside/¿quién presidió la reunión ; Preside {p}.
Fondo: {m} € ; ¿cuánto dinero hay en el fondo/¿cuál es el fondo ; En el fondo hay {m} €.
{q} llama al fontanero. ; ¿quién llama al fontanero/¿quién se ocupa del fontanero ; {q} llama al fontanero.
Próxima reunión a las {t} ; ¿a qué hora es la próxima reunión/próxima reunión? ; La próxima reunión es a las
  {t}.

es | receta.txt|recetas/tortilla.md|tortilla.txt | la receta|mi receta | una receta
Tortilla de {w} ; ¿de qué es la tortilla/¿qué tortilla es ; Es una tortilla de {w}.
{a} huevos ; ¿cuántos huevos lleva/¿cuántos huevos hacen falta ; Lleva {a} huevos.
{k} g de patatas ; ¿cuántas patatas lleva/¿cuánta patata hace falta ; Lleva {k} g de patatas.
Tiempo: {b} minutos ; ¿cuánto tarda/¿cuántos minutos son ; Tarda {b} minutos.

es | horario.txt|horario.md|escuela/horario.txt | el horario|mi horario | un horario
Lunes: piano con {p} ; ¿con quién es piano/¿qué hay el lunes ; El lunes hay piano con {p}.
Martes: natación a las {t} ; ¿a qué hora es natación/¿qué hay el martes ; El martes hay natación a las {t}.
Jueves: taller en el aula {n} ; ¿en qué aula es el taller/¿dónde es el taller ; El taller es en el aula {n}.
Viernes: viaje a {c} ; ¿adónde es el viaje/¿qué hay el viernes ; El viernes hay un viaje a {c}.

es | factura.txt|facturas/taller.txt|recibo.txt | la factura|el recibo | una factura
Factura {k} ; ¿qué número tiene la factura/número de factura? ; La factura tiene el número {k}.
Cliente: {p} ; ¿quién es el cliente/¿para quién es la factura ; El cliente es {p}.
Horas: {n} ; ¿cuántas horas son/¿cuántas horas trabajaron ; Son {n} horas.
Total: {m} € ; ¿cuál es el total/¿cuánto hay que pagar ; El total es {m} €.
"""
