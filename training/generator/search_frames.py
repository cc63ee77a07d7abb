"""How people ask where something is: in texts, tables, logs and code."""

from training.generator.folder_words import entries

WHICH = """
which {noun} {does} {item}?
(which|what) {plural} {verb} {item}?
in which {noun} (is|do I find|do you see|does it say something about|did I put) {item}?
in which (file|of the files|of my {plural}) (do I mention|is|did I write about|is there something
  about|comes up) {item}?
which (file|of the files|one) (mentions|contains|has|is about|talks about) {item}?
where (is|do I find) {item} mentioned?
(search|look) for {item} (in my {plural}|in the {plural}|here|in all files|everywhere)
(find|give me|show me|list) the {plural} (that|which) {verb} {item}
grep {item}
grep for {item} (please|here|in all files)
search: {item}
find {item}
find "{item}" (in the files|in this folder|)
{item}: which {noun}?
{item} - where is (that|it)?
I need (every|all the|the) {plural} (with|that have something to do with) {item}
I remember (something about|a line with|reading about) {item}, in which {noun} was (it|that)?
can you (find out|tell me|check) which {noun} {does} {item}?
does (any|one) of (my|the) {plural} {verb} {item}? which?
where did I (write down|note|put) the thing (with|about) {item}?
(somebody|my boss|a customer|my sister|the teacher) asks about {item}, in which {noun} is (that|it)?
(what|which) lines (mention|contain) {item}?
all lines with {item}, (please|with file and number)
the {noun} with {item} in it, which one is it?
tell me the {noun} and the line with {item}
any {noun} (with|about) {item}?
which {plural} have to do with {item}?
who knows in which {noun} I have {item}... can you search?
I am looking for {item}, it must be in one of the {plural}
look through (my|the) {plural} for {item}
show (me|) every mention of {item}
need to know where {item} (is written|appears|shows up)
{item} appears where?
"""
WHERE_LINE = """
on which line of {file} is {item}?
which line (of|in) {file} (mentions|has|contains) {item}?
find {item} in {file}
where in {file} (is|do I find|comes) {item}?
{file}: where is {item}?
search {file} for {item}
give me the line number of {item} in {file}
at what line does {file} (mention|contain) {item}?
does {file} (mention|contain) {item}? on which line?
grep {item} {file}
grep -n "{item}" {file}
"""
FILES_ONLY = """
which files (mention|contain|have) {item}? (only the names|just the file names|names only|no lines, only
  the names)
(list|give me) (only|just) the names of the files (with|that contain|that mention) {item}
only (the|) file names: where (is|do I find) {item}?
grep -l {item}
grep -rl "{item}" .
names of all {plural} (with|that {verb}) {item}
"""
HOW_OFTEN = """
how often (is|do I mention|does it say|do you find|comes) {item} (in all|in total|altogether|in my
  {plural}|in the {plural}|)?
how many times (does {item} occur|is {item} mentioned|do I have {item}) (here|in the {plural}|in all
  files|)?
(count|please count) (the lines with|the mentions of|every line that has) {item}
(number|count) of lines with {item}?
how many (lines|places|entries) (have|mention|contain) {item}?
how many hits for {item}?
{item} - how often (all in all|in total|)?
"""
HOW_MANY_FILES = """
how many {plural} {verb} {item}?
how many (files|of the files|of my {plural}) (mention|contain|have) {item}?
in how many {plural} is {item}?
(count|number of) (the|) {plural} (with|that {verb}) {item}?
"""
FIRST = """
where is {item} mentioned first? (the first hit is enough|only the first hit)
(show|give) me (only|just) the first (hit|match|place) for {item}
first line that mentions {item}?
find one place with {item}, one is enough
"""
IN_FOLDER = """
which files in {folder} (mention|contain|have) {item}?
(search|look) for {item}, but only in {folder}
is {item} anywhere in {folder}? (in which file|)
find {item} (in|below|inside) {folder}(, not elsewhere|)
grep {item} in {folder}
only look into {folder}: where is {item}?
where in the folder {folder} is {item}?
"""
ANY_CASE = """
(search|grep|look) for {item}, (upper or lower case|any case|case does not matter|ignore case|case
  insensitive)
grep -i {item} (please|and give me the hit with line number|)
grep -rin {item} .
where is {item} mentioned, no matter (how it is capitalised|if upper or lower case)?
which files have {item} (in any spelling of upper and lower case|in big or small letters)?
find {item} or {upper} (in the files|please|)
case-insensitive search for {item}
"""
IS_IT = """
is {item} (mentioned|listed|written) (anywhere|somewhere|in one of the {plural})?
do I have {item} (in one of my {plural}|somewhere in the {plural}|anywhere)?
does {item} (occur|appear|come up) (anywhere|somewhere) (here|)?
did I (ever|) (write about|mention|note) {item} (here|somewhere|)?
is there (any|a) (mention of|line with|{noun} with) {item}?
"""
DEFINED = """
where is {name} defined?
(which|in which) file (defines|has the definition of) {name}?
where (do we|do I|does the project) define {name}?
where is the {kind} {name} (declared|defined|written|implemented|coming from)?
find the definition of {name}
definition of {name}?
(show|give) me the place where {name} is defined
in which file is {name} (implemented|defined|declared)?
{name} is used everywhere, but where is it defined?
where does {name} come from?
{name} - defined where?
I want to change {name}. where is it (defined|implemented)?
jump to definition of {name}
which line (defines|declares) {name}?
who defines {name}?
file and line of the {kind} {name} (please|)?
"""
SET_WHERE = """
where do I set {name}(, which file and line|)?
where is {name} set?
where is the value of {name}? I want to tune it
in which file is {name} given its value?
I see {name} used in several places, where is it set?
where can I change {name}?
"""
CALLED = """
who calls {name}?
where is {name} called?
which files call {name}?
(list|show|find) (all|the|) (calls|callers) of {name}
from where is {name} called?
what calls {name}?
{name}: callers?
I want to rename {name}. who calls it?
(which|what) code (calls|invokes) {name}?
"""
USED = """
where is {name} used?
which files use {name}?
(who|what) uses {name}?
(list|show|find) (all uses|all usages|every use) of {name}
in which files do we use the {kind} {name}?
usages of {name}?
where do we need {name}?
(show|tell) me where the {kind} {name} (is used|gets used|is needed)
before I delete {name}: where is it still used?
which parts of the (code|project) depend on {name}?
{name}, used where?
find references to {name}
"""
IS_USED = """
is {name} used (anywhere|somewhere|at all)?
is {name} still (used|needed|called)?
can I (remove|delete) {name}, or (is it used|does something use it)?
is the {kind} {name} dead code?
does (anything|anybody|any file) use {name}?
"""
IMPORTS = """
which files import {module}?
who imports {module}?
where is {module} imported?
(list|find|show) (all|the) imports of {module}
which (scripts|modules|sources) (need|depend on|import) {module}?
{module}: imported where?
what imports {module}?
"""
TAGS = """
(any|are there any|are there still) {tag}s (left|here|in the code|in the sources|)? (tell me the
  files|where|which)
(list|show|find|collect) (all|all the|the|every|my) {tag}s (in the code|in the sources|in this
  project|here|)
where are the {tag}s?
which files (still|) have a {tag}?
{tag}s?
grep {tag}
what is left to do according to the {tag} comments?
show me every {tag} comment with file and line
open {tag}s in this project?
I need the list of {tag}s for the (meeting|release|review)
"""
COUNT_TAGS = """
how many {tag}s (are there|are left|do we have|are in the code|are still open)?
(count|number of) (the|) {tag}s?
how many {tag} comments (are here|did I leave in the code)?
"""
NUMBERS = """
in which (file|of the files|table|list) is {what} {code}?
a customer asks about {what} {code}, (which file is it in|in which of the files is it|where is it)?
(find|search|look up|look for) {what} {code}
{what} {code} - which file?
where is {code}?
which (file|csv|list) (has|contains) {code}?
find the line with {code}
does {code} (occur|appear) (anywhere|somewhere|in one of the files)?
I have {what} {code} here on the phone, where do we have it?
show me the (row|line|entry) of {what} {code}
in what file and line is {code}
"""
LINKS = """
which (web addresses|links|URLs) are in (the|these|my) files?
(find|list|show) (all|the|) (links|URLs|web addresses) (in the files|here|)
are there any (links|URLs) in here?
grep for URLs
"""
MAILS = """
which (mail|e-mail|email) addresses are in (the|these|my) files?
(find|list|show) (all|the|) (email|mail) addresses (in the files|here|)
are there any email addresses in here?
"""
AND_OTHER = """
and {item}?
(what|how) about {item}?
(same|now the same) for {item}
now {item}
and where is {item}?
now look for {item}
"""
SHOW_IT = """
(show|print) (me|) (that file|it|the file|the whole file)
open (it|that one)
what else is in (there|that file|it)?
let me see the whole file
"""
# language | ask which (X), how often (H), none (X) | folder | names | first line | line | items
FOREIGN = """
de | Rezepte | suppe,kuchen,salat,brot,eintopf | Zutaten | - 200 g {item} |
  Linsen,Butter,Möhren,Zwiebeln,Quark,Äpfel,Nüsse,Sellerie
de | Protokolle | januar,februar,maerz,april,mai | Protokoll | {item} wurde besprochen. | Die
  Heizung,Das Sommerfest,Der Beitrag,Die Küche,Der Schlüssel,Das Dach
de | Briefe | vermieter,bank,schule,tante,verein | Guten Tag, | es geht um {item}. | die Miete,den
  Garten,das Zeugnis,die Rechnung,den Umzug,das Fahrrad
fr | recettes | tarte,soupe,gratin,salade,pain | Ingrédients | - 100 g de {item} |
  beurre,farine,carottes,poireaux,crème,amandes
fr | lettres | banque,voisin,mairie,ecole | Bonjour, | je vous écris pour {item}. | le loyer,la fuite,le
  jardin,le permis,la clé
es | actas | mayo,junio,julio,agosto | Acta | Se habló de {item}. | las sillas,el sonido,el permiso,la
  limpieza,el presupuesto,la llave
es | recetas | sopa,tortilla,ensalada,pan | Ingredientes | - 100 g de {item} |
  harina,mantequilla,patatas,cebolla,garbanzos,azúcar
"""
FOREIGN_ASK = """
de | in welcher Datei steht (etwas über|was von|) {item}?
de | wo (steht|finde ich) {item}?
de | such(e|) (bitte|) nach {item}
de | welche Dateien enthalten {item}?
de | wo (kommt|kam) {item} vor?
fr | dans quel fichier (est|parle-t-on de|trouve-t-on) {item} ?
fr | où est-ce que je parle de {item} ?
fr | cherche {item} (dans les fichiers|s'il te plaît|)
fr | quels fichiers contiennent {item} ?
es | ¿en qué archivo (sale|está|aparece) {item}?
es | ¿dónde (aparece|se menciona) {item}?
es | busca {item} (en los archivos|por favor|)
es | ¿qué archivos contienen {item}?
"""
FOREIGN_FOUND = {"de": "Das steht in {files}.", "fr": "C'est dans {files}.", "es": "Está en {files}."}
FOREIGN_NONE = {
    "de": "{item} kommt in keiner Datei vor.",
    "fr": "Aucun fichier ne contient {item}.",
    "es": "Ningún archivo contiene {item}.",
}
FOREIGN_AND = {"de": "und", "fr": "et", "es": "y"}
TAG_TEXTS = """
handle (empty|negative|very long) (names|numbers|lists)
(remove|drop) this after {month}
ask {person} about the {topic}
make the (limit|size|delay) configurable
(write|add) a test for this
this breaks when the (file|list|queue) is empty
translate this text
cache the result
rename this
use the new {mod} here
"""
CODES = entries("""
order | orders_{mon}.csv | number,name,sum | {code},{surname},{price} | #####
order number | {month}/orders.csv | order;customer;total | {code};{surname};{price} | A-####
invoice | invoices/{month}.csv | invoice,customer,amount | {code},{surname},{price} | R####
customer number | customers_{city}.csv | id,name,city | {code},{surname},{city2} | 7####
ticket | tickets-{day}.txt | open tickets | {code} {surname}: {topic} | T-###
serial number | devices/{room}.txt | devices | {code} {product} ({year}) | SN####-##
licence plate | parking/{day}.csv | plate,hour | {code},{n} | K-XY ####
membership number | members_{city}.csv | number,name | {code},{surname} | M#####
ISBN | shelves/{n}.csv | isbn,title | {code},{song} | 978-3-####-##
part number | boxes/{tool1}.txt | box | {code}: {product} | PN-####
tracking number | parcels-{month}.log | parcels | {day} {code} sent to {city} | DE####SE
phone number | phone/{city}.txt | numbers | {surname}: {code} | 0####-####
error code | {host}.log | log of {host} | {day} ERROR {code} {mod} | E-####
request id | logs/{mod}.log | requests | GET /{mod} id={code} {n}ms | req-####
flight | trips/{month}.txt | flights | {code} to {city} at {n}:20 | LH###
colour code | themes/{mod}.css | /* theme */ | .{cssname} { color: {code}; } | #c#f#b#
seat | seats/{day}.csv | seat,guest | {code},{surname} | R##
patient number | ward_{klass}.csv | number,doctor | {code},{surname} | P-###
account | banks/{city}.csv | account,owner,balance | {code},{surname},{price} | CH##-####
batch | lab/{date}.csv | batch,ph | {code},{digit}.{digit} | B-2####
""")
MESSAGES = """
(could not|cannot|failed to|unable to) (open|read|save|load|parse|find|reach) (the|your)
  (file|order|invoice|score|printer)
(invalid|unknown|missing|wrong) (password|date|user name|postcode|file type|coupon|seat number)
(please|you must) (log in|choose a room|enter your name|pick a date|confirm the order) first
(the|your) (cart|list|basket|queue|calendar) is (empty|full|locked)
(saved|sent|deleted|printed) (all|your) (photos|notes|letters|changes)
(no|too many) (players|tickets|connections|samples|retries) (left|found)
(welcome|good evening|goodbye), (captain|dear guest|gardener|stranger)
{city} is (closed|out of reach|too far away) today
"""
MESSAGE_LINES = """
py = print("{text}") = raise ValueError("{text}") = return "{text}"
js = console.error('{text}'); = throw new Error('{text}'); = alert("{text}");
ts = throw new Error('{text}'); = toast.show('{text}');
go = return errors.New("{text}") = fmt.Println("{text}")
rs = eprintln!("{text}"); = return Err("{text}".into());
c = fprintf(stderr, "{text}\\n"); = puts("{text}");
java = throw new IllegalStateException("{text}"); = System.out.println("{text}");
rb = raise "{text}" = puts "{text}"
sh = echo "{text}" = echo "{text}" >&2; exit 1
lua = error("{text}") = print("{text}")
html = <p class="note">{text}</p> = <h2>{text}</h2>
json = {"message": "{text}"} = {"title": "{text}", "level": 3}
"""
MESSAGE = """
where does the (message|text|error) "{text}" come from?
where (is|do we have) the (message|text|error) "{text}" (in the code|)?
(which|what) file (prints|has|contains|shows) "{text}"?
I (get|see) "{text}". where does that come from?
the (program|app|script) says "{text}", where is that in the (code|sources)?
find "{text}" in the (code|sources|files)
my users see the text "{text}", which (file|line) is (it|that)?
(search|grep) for "{text}"
(which|what) line prints "{text}"?
who throws "{text}"?
where can I translate "{text}"?
"{text}" - where is this written?
"""
