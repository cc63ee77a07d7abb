"""How people ask for lists of files, and how they call kinds of files."""

from training.generator.folder_words import table

ALL = """
(what|which) files (are here|are in here|do I have here|are there|do we have|exist here)?
(list|show|print|name|tell me) (all files|all the files|every file|the files) (here|in this folder|of
  this project|)
what is in (this folder|here|this directory|the current directory|my folder)?
what (have I|do I have) (got|) in (here|this folder)?
(show|give) me (an overview of|a list of|) (everything|all files|the files) (here|in here|in this
  folder|that are here)
(show|print|give me|draw) the (tree|file tree|folder tree|directory tree|folder structure) (here|of this
  folder|please|)
I (need|want|would like) (a list of|to see) (all|the) files (here|in this folder|in this
  project|including the subfolders)
can you (list|show me|tell me) (what is here|the files here|what files there are|what I have in this
  folder)?
files?
dir listing (please|)
list everything (in here|you can see|including subfolders|)
what do we have (in here|here|in the project)?
(so|ok,) what am I looking at here, which files?
just got this folder from (a colleague|a friend|my brother|school), what is in it?
what all is stored (here|in this place|in this folder)?
everything in this folder and below, by name
please to list the files of the folder
which documents lie in this folder?
find all files (here|below this folder|)
"""
KINDS = table("""
py: Python file, Python script, .py file, python source
js: JavaScript file, .js file, js file, javascript source
ts: TypeScript file, .ts file
go: Go file, .go file, go source
rs: Rust file, .rs file, rust source
c: C file, .c file, C source
h: header file, .h file, C header
java: Java file, .java file, java class
rb: Ruby file, .rb file
lua: Lua script, .lua file
sh: shell script, .sh file, bash script
sql: SQL file, .sql file, sql script
md: Markdown file, .md file, markdown document, md file
txt: text file, .txt file, txt file, plain text file
csv: CSV file, .csv file, csv, csv table
json: JSON file, .json file, json
yaml: YAML file, .yaml file, yaml config
toml: TOML file, .toml file
html: HTML file, web page, .html file, html page
css: stylesheet, CSS file, .css file
png: PNG, png image, .png file, PNG picture
jpg: JPG, jpg photo, .jpg file, JPEG
svg: SVG, svg graphic, .svg file
pdf: PDF, pdf document, .pdf file, pdf
mp3: MP3, mp3 file, .mp3 file
wav: WAV file, .wav file
log: log file, log, .log file
conf: conf file, .conf file
tex: LaTeX file, .tex file
bib: bibliography, .bib file
srt: subtitle file, .srt file
tf: terraform file, .tf file
ly: LilyPond score, .ly file
stl: STL model, .stl file
gpx: GPX track, .gpx file
docx: Word document, .docx file
xlsx: Excel file, spreadsheet, .xlsx file
""")
GROUPS = table("""
png,jpg,jpeg,gif,svg: image, picture, image file, graphic
png,jpg,jpeg: photo, picture
mp3,wav,ogg: sound file, audio file, recording
toml,yaml,json,ini: config file, configuration file
ts,tsx: TypeScript file, TS source
c,h: C source or header, C file
md,txt: text document, note
csv,xlsx: table, spreadsheet
""")
OF_KIND = """
(which|what) {kinds} (are here|are there|do I have|do we have|exist|are in this folder|does this folder
  have)?
(list|show|print|name|find|give me) (all|all the|the|every one of the|my) {kinds} (here|in this
  folder|please|)
(list|show me) {kinds}
{kinds}?
{kinds} only, (please|no other files)
which of these files are {kinds}?
(can|could) you (list|find|show me) (the|all|all my) {kinds}?
I (need|want) (to see|to know|a list of) (the|all) {kinds} (here|in the project|)
where are (the|my|all the) {kinds}?
are there {kinds} here, and which ones?
names of (all|the) {kinds} (please|here|)
(search|look) for {kinds} (in all folders|everywhere|in here)
I only (care about|look for) the {kinds}. which are there?
the {kinds} in this folder and the folders below it, (list them|which are they)?
show me only {kinds}, nothing else
show which {kinds} this folder has
"""
COUNT_KIND = """
how many {kinds} (are here|are there|do I have|do we have|are in this folder|exist|are in here)?
(count|please count) the {kinds} (here|in all folders|)
(number|amount|count) of {kinds}?
what is the number of {kinds} (here|in this project|including the subfolders)?
(tell me|I need to know|I'd like to know) how many {kinds} (there are|I have|are here)
how many {kinds} did I (save|put|collect) (in here|here) (in total|all in all|so far|)? subfolders count too
{kinds} - how many?
{kinds}: how many are (here|there)?
how much {kinds} are in this folder?
I lost (count|track), how many {kinds} are in here by now?
"""
IN_FOLDER = """
(what|which) files (are|lie|live) in (the folder {folder}|{folder}|the {folder} folder|{folder}/)?
what is in (the folder {folder}|{folder}|the {folder} folder|{folder}/)?
(list|show|print) (the content of|the files in|everything in|what is in|) {folder}
(list|show me) {folder}/
(look|have a look) into {folder}. what is there?
(show|print|draw) the tree of {folder}
the files below {folder}, please
what (did I put|do I have|have we got) in {folder}?
contents of {folder}?
{folder}: which files?
can you (tell me what is in|list|open) the {folder} (folder|directory)?
I only want to see the files (of|in|under) {folder}
everything in {folder}, but nothing else
which files does the {folder} (folder|directory) hold?
name the files inside (of|) {folder}
"""
COUNT_FOLDER = """
how many files (are in|are there in|does it have in) {folder}?
(count|please count) the files in {folder}
(number|count) of files in the {folder} (folder|directory)?
how many things (are in|did I put into) {folder}?
how full is {folder}? just count the files
tell me how many files are (in|inside|below) {folder}
"""
COUNT_ALL = """
how many files (are here|are there|do I have here|are in this folder) (in total|in all|altogether|)?
(count|please count) (all|) the files (here|in this folder)
(total|) number of files (here|)?
what is the file count (of this folder|here)?
how many files does this (project|folder) (have|contain), subfolders included?
"""
FOLDERS_HERE = """
(which|what) folders (are here|are there|do I have|are directly here|lie here)?
(list|show|name) (the|all) (folders|directories|subfolders) (here|in this folder|) (directly, no
  files|only, no files|)
only the (folders|directories) please, (not the|no) files
what (subfolders|directories) does this (folder|project) have (at the top|on the first level|)?
{folderword} names (only|please)?
just the (folders|directories), I don't care about (the|) files
into which folders is this (project|place|stuff) (divided|sorted)?
what are the top level (folders|directories) (here|called)?
"""
COUNT_FOLDERS = """
how many (folders|directories|subfolders) (are here|are there|do I have|does this have)?
(count|number of) (the|) (folders|directories) (directly here|here)?
how many folders did I make (in here|here)?
"""
HIDDEN = """
(which|what|any|are there) hidden files (here|in here|are here|do I have)?
(list|show) (the|all|also the|me the) (hidden files|dotfiles|files that start with a dot|dot files)
do I have (hidden files|dotfiles) (in this folder|here|) and which?
files whose name starts with a dot?
show me what ls would hide
"""
FULLEST = """
which (folder|directory|subfolder) (has|holds|contains) the most files?
(where|in which folder) are the most files?
the (folder|directory) with the most files (in it|)?
what is the fullest folder (here|by number of files|)?
(tell me|name|find) the (folder|directory) (with|that has) the most files (in it|)
which one of the folders has most files in it?
where did I put the most stuff, which folder? count files
"""
LARGEST = """
(what|which) is the (largest|biggest) file (here|in here|of this project|in this folder|)?
which file (is the (largest|biggest)|takes the most (space|room)|needs the most (disk space|bytes))?
(find|show me|name|tell me) the (largest|biggest) file (here|in all folders|)
(biggest|largest) file?
what eats the most space (here|in this folder)? one file
"""
SMALLEST = """
(what|which) is the smallest file (here|in here|of this project|in this folder|)?
(find|show me|name) the smallest file (here|)
smallest file?
which file has the fewest bytes?
"""
NEWEST = """
(what|which) is the (newest|latest|most recent) file (here|in here|in this folder|)?
which file (did I change|was changed|was modified|did somebody edit) last?
(find|show me|name) the (newest file|most recently changed file|last modified file)
(newest|latest) file?
what did I (work on|save|touch) last, which file?
"""
OLDEST = """
(what|which) is the oldest file (here|in here|in this folder|)?
which file (was not changed|has not been touched|lies untouched) for the longest time?
(find|show me|name) the (oldest file|file that was changed longest ago)
oldest file?
"""
NO_ENDING = """
(which|what) files (have no|are without an|lack an) (extension|ending)?
(list|find|show) (the|all) files without (an extension|an ending|a suffix|a dot in the name)
any files with no extension?
"""
BEGINS = """
(which|what) files (begin|start) with {part}?
(list|find|show) (all|the) files (that begin with|whose name starts with|starting with|named) {part}...
files that start with {part}?
everything called {part}something
"""
CONTAINS = """
(which|what) files have {part} in (the|their) name?
(list|find|show) (all|the) files with {part} in the name
is there (a file|something) with {part} in its name?
(find|search) files (named like|called something like) {part}
I had a file with {part} in the name, where is it?
"""
IS_THERE = """
is there a (file called|) {name} (here|in here|in this folder|somewhere|)?
(do I have|do we have|have we got|does this project have) (a|any|the|) {name}?
(check|look) (if|whether) (there is a|I have a|we have a|) {name} (here|exists|somewhere|)
does {name} exist (here|)?
{name} - is it (here|there)?
did I (save|keep|create) {name} (here|in this folder|already|)?
has this (folder|project) got a {name}?
can you see a {name} (anywhere|somewhere|in here)?
is {name} (there|here|missing) (or not|)?
"""
WHERE = """
where is {name}?
(in which|which) folder (is {name}|holds {name}|is {name} in)?
(find|locate) {name} (for me|)
what is the path of {name}?
I cannot find {name}, where (is it|did I put it)?
full path to {name}?
where did I (put|save|leave) {name}?
"""
ANY_KIND = """
(do I have|are there|do we have|have we got|is there) any {kinds} (here|in here|in this folder|somewhere|)?
any {kinds} (here|around|in here)?
(check|look) (if|whether) there are {kinds} (here|)
does this (folder|project) (have|contain) {kinds}?
"""
MORE_OF = """
are there more {one} or {other} here?
(which|what) (is more|are more|do I have more of): {one} or {other}?
do I have more {one} than {other}?
more {one} or more {other}?
what do we have more of here, {one} or {other}?
"""
TYPES = """
(which|what) (kinds|types) of files (are here|are there|do I have)?
(what|which) (file extensions|file endings|file types) (occur|are used|are) here?
(list|show) the (file extensions|file types) in this folder
"""
HERE_ONLY = """
which files are directly here, (not in subfolders|without the subfolders)?
(list|show) (only|just) the files (at the top|on the top level|directly in this folder), (no
  subfolders|nothing from the folders)
what lies loose in this folder, outside of the subfolders?
files on the first level only
"""
EMPTY_FILES = """
(are there|do I have|which are the|find|list|any) empty files (here|in here|)?
which files (are empty|have no content|have nothing in them)?
show me all files of zero bytes
"""
LS = """
ls
ls please
run ls
do an ls (here|)
"""
NUMBERED_MORE = """
(and|) how many (is that|are that|are those|is it)?
(count them|how many are those), please
so how many in total?
"""
AND_KIND = """
(and|now) the {kinds}?
(and|what about|how about) {kinds}?
(same|now the same) for {kinds}
and which {kinds}?
"""


KIND_IN_FOLDER = """
(which|what) {kinds} are in {folder}?
(list|show|find) the {kinds} (in|of|below) {folder}
(are there|do I have) {kinds} in {folder}, and which?
{kinds} in {folder}?
in {folder}, which files are {kinds}?
"""
COUNT_KIND_IN_FOLDER = """
how many {kinds} are in {folder}?
(count|number of) {kinds} in the {folder} folder?
in {folder}: how many {kinds}?
"""


MAYBE_FILES = """
README.md LICENSE Makefile Dockerfile package.json Cargo.lock requirements.txt .gitignore setup.py
go.sum CHANGELOG.md tsconfig.json notes.txt todo.txt compose.yaml index.html .env main.py budget.csv
contacts.csv schema.sql package-lock.json pyproject.toml .editorconfig style.css data.json
passwords.txt plan.md logo.png
""".split()
FOREIGN = """
de | all | (welche|was für) Dateien (gibt es hier|sind hier|liegen hier)?
de | all | (zeig|liste|nenne) mir (bitte|) alle Dateien (in diesem Ordner|hier|)
de | all | was ist (alles|) in diesem Ordner?
de | folder | (was|welche Dateien) (liegt|ist|sind) (in|im Ordner) {folder}?
de | folder | zeig mir (bitte|) den Inhalt von {folder}
de | kind | welche {kinds} (gibt es hier|liegen hier|habe ich)?
de | kind | (liste|zeig) (mir|) alle {kinds} auf
de | count | wie viele {kinds} (gibt es hier|habe ich|sind das hier|liegen hier)?
de | dirs | welche Ordner (gibt es hier|liegen hier)? (nur die Ordner bitte|)
de | there | gibt es (hier|) (eine Datei|) {name}?
de | there | ist {name} (hier|da|schon da)?
fr | all | (quels|quels sont les) fichiers (y a-t-il ici|dans ce dossier)?
fr | all | (montre|liste)(-moi|) tous les fichiers
fr | folder | qu'est-ce qu'il y a dans (le dossier|) {folder}?
fr | folder | quels fichiers sont dans {folder}?
fr | kind | quels fichiers {kinds} (y a-t-il|sont ici)?
fr | count | combien de fichiers {kinds} (y a-t-il|j'ai) ici?
fr | dirs | quels dossiers y a-t-il ici? (seulement les dossiers|)
fr | there | est-ce qu'il y a un fichier {name} (ici|)?
es | all | ¿qué archivos hay (aquí|en esta carpeta)?
es | all | (muéstrame|lista) todos los archivos
es | folder | ¿qué (hay|archivos hay) en (la carpeta|) {folder}?
es | kind | ¿qué archivos {kinds} hay (aquí|)?
es | count | ¿cuántos archivos {kinds} hay (aquí|en total)?
es | dirs | ¿qué carpetas hay aquí? (solo las carpetas|)
es | there | ¿(hay|existe) un archivo {name} (aquí|)?
"""
GERMAN_KINDS = {
    "py": "Python-Dateien",
    "md": "Markdown-Dateien",
    "txt": "Textdateien",
    "csv": "CSV-Dateien",
    "jpg": "JPG-Bilder",
    "json": "JSON-Dateien",
}
COUNT_WORDS = {"de": "Das sind {n}.", "fr": "Cela fait {n}.", "es": "Son {n}."}
YES_WORDS = {"de": "Ja: {path}", "fr": "Oui : {path}", "es": "Sí: {path}"}
NO_WORDS = {
    "de": "Nein, {name} gibt es hier nicht.",
    "fr": "Non, il n'y a pas de {name} ici.",
    "es": "No, aquí no hay {name}.",
}


YEARLY = """
(which|what) (photos|pictures) do I have from {year}?
(list|show) the files of {year}
what is there for {year}?
{year}: which files?
"""
