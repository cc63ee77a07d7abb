"""How people ask for what is not there."""

SHOW = """
(show|print|open|read|display) (me|) {file}
what is in {file}?
what does {file} say?
(can|could) you (show|read) me {file}?
cat {file}
let me see {file}
I (want|need) to read {file}
summarize {file} (in a sentence|)
the content of {file}, please
what stands in {file}?
how many lines (has|are in) {file}?
what is the first line of {file}?
read {file} and tell me what it is about
"""
EDIT = """
(add|append|put|write) "{text}" (to|at the end of) {file}
(replace|change) {old} (by|with|to) {new} in {file}
in {file}, (rename|change) {old} to {new}
(delete|remove) line {n} (of|from) {file}
{file}: {old} -> {new}
fix the typo {old} in {file}, it should be {new}
set {old} to {n} in {file}
(write|put) a line "{text}" into {file}
"""
DELETE = """
(delete|remove) (the file|) {file} (please|for me|)
rm {file}
{file} can go, delete it
get rid of {file}
throw {file} away, I don't need it any more
erase {file}
"""
MOVE = """
(rename|move) {file} to {new}
mv {file} {new}
copy {file} to {new}
make a copy of {file} (called|named) {new}
{file} should be called {new}
"""
RUN = """
(run|execute|start|launch) {file}
run {file} and (tell|show) me what (it prints|comes out)
what does {file} print (if you run it|)?
can you (start|run) {file}?
python3 {file}
does {file} work? run it
"""
KEY = """
what is the {key} in {file}?
which {key} (is set|do we have|is configured) in {file}?
{key} in {file}?
(look up|tell me|check) the {key} in {file}
what does {file} say about the {key}?
{file}: {key}?
how is the {key} set in {file}?
"""
SET_KEY = """
(set|change) the {key} (in {file} |)to {value} in {file}
(set|change) {key} to {value} in {file}
in {file} the {key} should be {value}
{key} = {value} in {file}
put the {key} in {file} to {value}
please correct the {key} in {file}, it must be {value}
"""
RENAME_NAME = """
in {file} rename {name} to {new}
rename {name} to {new} in {file}
(change|replace) {name} (with|by) {new} in {file}
{file}: {name} should be called {new}
I want {name} to be called {new} (in {file}|everywhere in {file})
(delete|remove) {name} from {file}
take {name} out of {file}
"""
WHAT_RETURNS = """
what does {name} (return|do) in {file}?
which (parameters|arguments) does {name} in {file} take?
(show|print) me the function {name} (in|from|of) {file}
on which line of {file} is {name}?
explain {name} (in|from) {file}
"""
PERSON = """
which {column} does {name} have in {file}?
what is the {column} of {name}?
(which|what) {column} has {name}?
{name}'s {column}?
look up {name} in {file} and tell me the {column}
how about {name}, which {column}?
tell me the {column} of {name}, it is in {file}
"""
LINE = """
what is (in|on) line {n} of {file}?
read me line {n} of {file}
(show|print) line {n} of {file}
delete line {n} of {file}
line {n} in {file}?
"""
FOLDER_FILE = """
(read|open|show|print|cat) (the file|) {folder}
what does the file {folder} say?
(show|give) me the content of the file {folder}
"""
NO_FOLDER = """
what is in (the folder|) {folder}?
(list|show) the files in {folder}
how many files are in {folder}?
which files are in the {folder} (folder|directory)?
(look|have a look) into {folder}
"""
COMMAND = """
run {command}
(execute|start) {command} (please|)
(can you|please) run `{command}`
{command}
what does {command} (say|print)?
run {command} and show me (what comes out|the output)
"""
COMMANDS = """
frobnicate --all|zipcheck data.zip|mkpodcast|texcount2 main.tex|gradlew2 build|bundlex exec
pdfjoin3 a.pdf b.pdf|photosort .|csvsum --column 2|fixspaces notes.txt|gtl status|pyhton3 --version
gti status|sl -la|lintall src|deploy-now|imgshrink logo.png|rustfmtx|yamlcheck app.yaml
wordcount2 essay.txt|kubectx2|weather Lisbon|morse hello|makee test|nmp install|cargp build
calx 3+4|dockre ps|brewx update|translate-it|sensors-all|mplayer2 a.mp3
"""
AMBIGUOUS = """
(set|change) the {key} in the {what} to {value}
the {key} in the {what} should be {value}
(open|edit) the {what} and set {key} to {value}
{key} in the {what} must be {value}
what is the {key} in the {what}?
(which|what) {key} does the {what} have?
(delete|remove) the {key} from the {what}
"""
EMPTY_LINES = """{file} is empty.
The file {file} is empty.
{file} is there, but it is empty."""
PAIRS = """
config | config.dev | config.prod
settings | settings.local | settings.default
config | client/config | server/config
settings | app/settings | worker/settings
config file | config | config.old
inventory | inventory.berlin | inventory.porto
price list | prices-2024 | prices-2025
setup | setup.linux | setup.mac
env file | staging | production
camera config | camera1 | camera2
room config | rooms/kitchen | rooms/attic
"""
SAME_NAME = """
(open|show|print|read) {name}
what is in {name}?
(delete|remove) line {n} (of|from) {name}
(add|append) a line "{text}" to {name}
how many lines has {name}?
"""
ABSENT_TEXT = """
(replace|change) {old} (by|with|to) {new} in {file}
in {file}, {old} should be {new}
(delete|remove) the line (with|about) {old} (in|from) {file}
(take|strike) {old} off {file}
{file}: {old} -> {new}
correct {old} to {new} in {file}
put {new} below {old} in {file}
the {old} in {file} must become {new}
"""
FOREIGN = """
de | zeig mir (bitte|) {name} | {name} gibt es hier nicht. Hier sind {files}.
de | was steht in {name}? | Es gibt hier keine Datei {name}. Hier sind {files}.
de | (lies|öffne) {name} | Hier ist keine Datei {name}. Es gibt {files}.
fr | montre-moi {name} | Il n'y a pas de fichier {name} ici. Il y a {files}.
fr | qu'est-ce qu'il y a dans {name} ? | Il n'y a pas de {name} ici. Il y a {files}.
es | muéstrame {name} | No hay ningún archivo {name} aquí. Hay {files}.
es | ¿qué dice {name}? | Aquí no hay {name}. Hay {files}.
"""
