"""Texts and questions in six languages for families.search_foreign: in which file is something said?"""

from training.generator.folder_words import entries

# language | the topic as it is asked for | the stem to search for | lines that mention it
TOPICS = entries("""
de | die Versicherung | Versicherung | Die Versicherung läuft im Mai aus. ; Neue Versicherung vergleichen
de | den Zahnarzt | Zahnarzt | Zahnarzt am Montag um neun ; Rechnung vom Zahnarzt bezahlen
de | die Heizung | Heizung | Die Heizung im Keller tropft. ; Termin: Heizung warten
de | das Fahrrad | Fahrrad | Fahrrad zur Werkstatt bringen ; Das Fahrrad steht im Hof.
de | Kürbis | Kürbis | Der Kürbis braucht viel Wasser. ; 500 g Kürbis, gewürfelt
de | die Miete | Miete | Miete für März überwiesen ; Die Miete steigt im Herbst.
de | den Schlüssel | Schlüssel | Der Schlüssel liegt bei Frau Roth. ; zweiten Schlüssel nachmachen
de | die Impfung | Impfung | Impfung der Katze im Juni ; Impfung: Termin verschoben
es | la vacuna | vacuna | La vacuna del perro toca en mayo. ; pedir cita para la vacuna
es | el alquiler | alquiler | Pagar el alquiler el día 3 ; El alquiler sube en otoño.
es | la calefacción | calefacción | La calefacción no funciona bien. ; revisar la calefacción
es | las vacaciones | vacaciones | Vacaciones en la costa, en agosto ; reservar las vacaciones
es | la contraseña | contraseña | Cambiar la contraseña del correo ; La contraseña está en el cajón.
es | el dentista | dentista | Dentista el martes a las diez ; llamar al dentista
es | la boda | boda | La boda de Inés es en junio. ; flores para la boda
es | las llaves | llaves | Las llaves están con Paco. ; hacer copia de las llaves
fr | l'assurance | assurance | L'assurance arrive à échéance en mai. ; appeler l'assurance
fr | le loyer | loyer | Payer le loyer avant le 5 ; Le loyer augmente en automne.
fr | le chauffage | chauffage | Le chauffage fait du bruit. ; entretien du chauffage
fr | les vacances | vacances | Vacances en Bretagne, en août ; réserver pour les vacances
fr | le vélo | vélo | Le vélo est chez le réparateur. ; pneu du vélo à changer
fr | le médecin | médecin | Médecin jeudi à onze heures ; rappeler le médecin
fr | les clés | clés | Les clés sont chez la voisine. ; refaire les clés
fr | la réunion | réunion | La réunion est reportée à lundi. ; préparer la réunion
it | l'affitto | affitto | Pagare l'affitto entro il 5 ; L'affitto aumenta in autunno.
it | il riscaldamento | riscaldamento | Il riscaldamento perde acqua. ; controllo del riscaldamento
it | la caldaia | caldaia | La caldaia va pulita a settembre. ; chiamare per la caldaia
it | le vacanze | vacanze | Vacanze in Puglia ad agosto ; prenotare le vacanze
it | il dentista | dentista | Dentista martedì alle dieci ; chiamare il dentista
it | le chiavi | chiavi | Le chiavi sono da Marta. ; copia delle chiavi
it | la bicicletta | bicicletta | La bicicletta ha una gomma a terra. ; vendere la bicicletta
it | la festa | festa | La festa comincia alle otto. ; palloncini per la festa
pt | o aluguel | aluguel | Pagar o aluguel no dia 5 ; O aluguel sobe no outono.
pt | a vacina | vacina | A vacina do gato é em maio. ; marcar a vacina
pt | as férias | férias | Férias na praia, em agosto ; reservar as férias
pt | o dentista | dentista | Dentista na terça às dez ; ligar para o dentista
pt | as chaves | chaves | As chaves estão com a Rita. ; fazer cópia das chaves
pt | a reunião | reunião | A reunião passou para segunda. ; preparar a reunião
pt | o jardim | jardim | Regar o jardim à noite ; O jardim precisa de terra.
pt | a senha | senha | Trocar a senha do correio ; A senha está na gaveta.
nl | de verzekering | verzekering | De verzekering loopt af in mei. ; nieuwe verzekering zoeken
nl | de huur | huur | De huur gaat omhoog in de herfst. ; huur betalen voor de vijfde
nl | de tandarts | tandarts | Tandarts op dinsdag om tien uur ; tandarts bellen
nl | de verwarming | verwarming | De verwarming lekt in de kelder. ; verwarming laten nakijken
nl | de fiets | fiets | De fiets staat in de schuur. ; band van de fiets plakken
nl | de sleutel | sleutel | De sleutel ligt bij de buurvrouw. ; sleutel laten bijmaken
nl | de vakantie | vakantie | Vakantie aan zee in augustus ; vakantie boeken
nl | de vergadering | vergadering | De vergadering begint om negen uur. ; vergadering voorbereiden
""")
# Asked in the plural, written in the singular, or the other way round: the stem finds both.
STEMS = entries("""
de | Rechnungen | Rechnung | Die Rechnung vom Klempner ist da. ; Rechnung bis Freitag prüfen
de | Tomaten | Tomate | Die erste Tomate ist rot. ; Tomate und Basilikum nebeneinander
es | las facturas | factura | La factura del taller ha llegado. ; revisar la factura
es | los tomates | tomate | El primer tomate ya está rojo. ; sopa de tomate
fr | les factures | facture | La facture du garage est arrivée. ; vérifier la facture
fr | les tomates | tomate | La première tomate est rouge. ; soupe de tomate
it | le fatture | fattur | La fattura del meccanico è arrivata. ; controllare la fattura
it | i pomodori | pomodor | Il primo pomodoro è rosso. ; zuppa di pomodoro
pt | as faturas | fatura | A fatura da oficina chegou. ; conferir a fatura
pt | os tomates | tomate | O primeiro tomate está vermelho. ; sopa de tomate
nl | facturen | factu | De factuur van de garage is er. ; factuur nakijken
nl | tomaten | tomaat | De eerste tomaat is rood. ; soep van tomaat
""")
ASKED = entries("""
de | in welcher (Datei|meiner Dateien) (steht|steht etwas über) {t}?
de | welche Datei erwähnt {t}?
de | wo habe ich etwas über {t} (notiert|aufgeschrieben|geschrieben)?
de | in welcher Datei (geht es um|finde ich etwas über) {t}?
de | welche (Notiz|Datei) betrifft {t}?
de | suche die Datei(, in der es um {t} geht| über {t}| zum Thema {T})
de | {t} - in welcher Datei war das?
es | ¿(en qué|en cuál) archivo (hablo sobre|menciono|escribí sobre) {t}?
es | ¿qué archivo (menciona|habla sobre|trata sobre) {t}?
es | ¿dónde (apunté|anoté|escribí) algo sobre {t}?
es | busca el archivo (que menciona|sobre) {t}
es | ¿cuál de (los|mis) archivos menciona {t}?
es | en que archivo (menciono|apunté) {t}?
fr | (quel fichier|lequel de mes fichiers) (mentionne|concerne) {t}?
fr | dans quel fichier (est-ce que je mentionne|ai-je noté|il y a quelque chose sur) {t}?
fr | où est-ce que j'ai (noté|écrit) quelque chose sur {t}?
fr | (cherche|trouve) le fichier (qui mentionne|sur) {t}
fr | {t}, c'est dans quel fichier?
it | (quale file|quale dei file) (menziona|riguarda|cita) {t}?
it | in quale file (menziono|cito|ho annotato) {t}?
it | dove ho (scritto|annotato) qualcosa che riguarda {t}?
it | (cerca|trova) il file che (menziona|riguarda) {t}
it | {t}: in quale file (era|si trova)?
pt | (qual|que) arquivo (menciona|fala sobre|trata sobre) {t}?
pt | em (qual|que) (arquivo|ficheiro) (eu falo sobre|está escrito algo sobre|menciono) {t}?
pt | onde (anotei|escrevi) algo sobre {t}?
pt | (procure|encontra) o arquivo (que menciona|sobre) {t}
nl | (in welk bestand|waar) (staat iets over|heb ik iets geschreven over) {t}?
nl | welk bestand (gaat over|noemt|heeft iets over) {t}?
nl | zoek het bestand (over|dat gaat over|met iets over) {t}
nl | {t}: in welk bestand was dat?
""")
FOUND = {
    "de": "(Das steht in {f}.|Es steht in {f}.)",
    "es": "(Está en {f}.|Eso está en {f}.)",
    "fr": "(C'est dans {f}.|Cela se trouve dans {f}.)",
    "it": "(È in {f}.|Si trova in {f}.)",
    "pt": "(Está em {f}.|Isso está em {f}.)",
    "nl": "(Dat staat in {f}.|Het staat in {f}.)",
}
NONE = {
    "de": "In keiner Datei steht etwas darüber.",
    "es": "Ningún archivo habla de eso.",
    "fr": "Aucun fichier n'en parle.",
    "it": "Nessun file ne parla.",
    "pt": "Nenhum arquivo fala disso.",
    "nl": "Geen enkel bestand gaat daarover.",
}
AND = {"de": "und", "es": "y", "fr": "et", "it": "e", "pt": "e", "nl": "en"}
NAMES = {
    "de": "notizen montag brief april einkauf garten haus familie woche termine liste anna 2024".split(),
    "es": "notas lunes carta abril compra jardin casa familia semana citas lista ana 2024".split(),
    "fr": "notes lundi lettre avril courses jardin maison famille semaine agenda liste anne 2024".split(),
    "it": "appunti lunedi lettera aprile spesa orto casa famiglia settimana agenda lista anna 2024".split(),
    "pt": "notas segunda carta abril compras horta casa familia semana agenda lista ana 2024".split(),
    "nl": "notities maandag brief april boodschappen tuin huis familie week agenda lijst anna 2024".split(),
}
FILLERS = {
    "de": ["Milch und Brot kaufen", "Oma anrufen", "Sonntag frei", "Pakete abholen", "Wetter: Regen"],
    "es": ["comprar leche y pan", "llamar a la abuela", "domingo libre", "recoger el paquete", "llueve"],
    "fr": ["acheter du lait et du pain", "appeler mamie", "dimanche libre", "retirer le colis", "il pleut"],
    "it": ["comprare latte e pane", "chiamare la nonna", "domenica libera", "ritirare il pacco", "piove"],
    "pt": ["comprar leite e pão", "ligar para a avó", "domingo livre", "buscar o pacote", "chove"],
    "nl": ["melk en brood kopen", "oma bellen", "zondag vrij", "pakje ophalen", "het regent"],
}
FOLDERS = {
    "de": ("", "", "notizen/", "texte/", "privat/"),
    "es": ("", "", "notas/", "textos/", "casa/"),
    "fr": ("", "", "notes/", "textes/", "perso/"),
    "it": ("", "", "appunti/", "testi/", "casa/"),
    "pt": ("", "", "notas/", "textos/", "casa/"),
    "nl": ("", "", "notities/", "teksten/", "thuis/"),
}

# language | question about one folder's files
LISTED = entries("""
de | (was liegt|was gibt es|welche Dateien sind|welche Dateien liegen) (in|im Ordner) {folder}?
de | (zeig|liste) (mir|) (bitte|) (nur|) die Dateien (in|im Ordner|aus) {folder} (auf|)
de | welche Dateien hat der Ordner {folder}?
de | was ist alles in {folder}?
de | ich brauche (nur|) die Dateinamen aus {folder}
es | ¿qué (hay|archivos hay) (en|dentro de) (la carpeta|) {folder}?
es | (lista|muéstrame|dime) (solo|) los archivos de (la carpeta|) {folder}
es | ¿cuáles son los archivos de {folder}?
es | que archivos tengo en {folder}
fr | (qu'est-ce qu'il y a|que trouve-t-on|quels fichiers y a-t-il) dans (le dossier|) {folder}?
fr | (liste|montre-moi|donne-moi) (seulement|) les fichiers (du dossier|de) {folder}
fr | quels sont les fichiers (du dossier|de) {folder}?
fr | contenu du dossier {folder}?
it | (cosa c'è|quali file ci sono) (in|nella cartella) {folder}?
it | (elenca|mostrami|dimmi) (solo|) i file (in|nella cartella) {folder}
it | quali sono i file della cartella {folder}?
pt | (o que há|quais arquivos há|que ficheiros existem) (em|na pasta) {folder}?
pt | (liste|mostre|mostra-me) (só|) os arquivos (da pasta|de) {folder}
pt | o que tem na pasta {folder}?
nl | (wat staat er|welke bestanden staan er|wat zit er) in (de map|) {folder}?
nl | (toon|laat) (me|) (alleen|) de bestanden (in|van) {folder} (zien|)
nl | welke bestanden heeft de map {folder}?
""")
COUNTED = entries("""
de | wie viele Dateien (sind|liegen|gibt es) (in|im Ordner) {folder}? | Das sind {n}.
es | ¿cuántos archivos hay en (la carpeta|) {folder}? | Son {n}.
fr | combien de fichiers y a-t-il dans (le dossier|) {folder}? | Cela fait {n}.
it | quanti file ci sono (in|nella cartella) {folder}? | Sono {n}.
pt | quantos arquivos há (em|na pasta) {folder}? | São {n}.
nl | hoeveel bestanden staan er in (de map|) {folder}? | Dat zijn er {n}.
""")
