# ruff: noqa: E501
"""First prompts with slots and the titles they get; `= TITLE`, then ways to ask, one on each line."""

BLOCKS = """
= Capital of {country}
what is the capital of {country}?
capital of {country}?
(which|what) city is the capital of {country}?
for a quiz: the capital of {country}

= Population of {country}
how many people live in {country}?
population of {country}?
how big is the population of {country}

= Sum of {n} and {m}
what is {n} + {m}?
how much is {n} plus {m}?
{n}+{m}
what makes {n} and {m}?
add {n} and {m}

= Difference of {n} and {m}
what is {n} - {m}?
{n} minus {m}?
subtract {m} from {n}

= Product of {n} and {m}
what is {n} times {m}?
{n} * {m}
multiply {n} by {m}
{n} x {m} = ?

= {m} percent of {n}
what is {m}% of {n}?
{m} percent of {n}?
how much is {m} % of {n}

= Convert {n} {unit} to {unit2}
convert {n} {unit} to {unit2}
how many {unit2} are {n} {unit}?
{n} {unit} in {unit2}?

= Translate "{word}" into {language}
what is {word} in {language}?
how do you say {word} in {language}?
translate "{word}" into {language}
{language} word for {word}?

= Translate {file} into {language}
translate {file} into {language}
I need {file} in {language}
please make a {language} version of {file}
can you put {file} into {language} for our guests?

= Meaning of {term}
what is {term}?
what does {term} mean?
explain {term} to me
{term}?
I keep hearing about {term}, what is that?
can you explain {term} in simple words?

= {term2} and {term3}
what is the difference between {term2} and {term3}?
{term2} vs {term3}?
{term2} or {term3}, what is better?
when do I use {term2} and when {term3}?

= {task}
how do I {task_low}?
how can I {task_low}?
how to {task_low}
what is the command to {task_low}?
which command do I use to {task_low}
tell me how to {task_low}
I want to {task_low}, how?

= Changes in last commit
what changed in the last commit?
what did the last commit do?
show me what I changed in the last commit
which lines did the last commit change?

= Author of last commit
who made the last commit?
who committed last?
author of the last commit?

= Date of last commit
when was the last commit?
date of the last commit?
how old is the newest commit?

= Message of last commit
what is the message of the last commit?
last commit message?
what did I write in the last commit message

= Files of last commit
which files were in the last commit?
which files did the last commit touch?

= Number of commits
how many commits are there?
count the commits of this repository
number of commits?

= Uncommitted changes
is there anything I did not commit yet?
did I forget to commit something?
what is not committed?
is everything committed?
git status?

= Commit "{message}"
commit everything with the message "{message}"
commit my changes: {message}
please commit all, message "{message}"
git commit with "{message}"

= New branch {branch}
make a branch called {branch}
create the branch {branch}
new branch {branch} please
switch to a new branch named {branch}

= Switch to branch {branch}
switch to the branch {branch}
go to branch {branch}
check out {branch}

= Merge branch {branch}
merge {branch} into main
please merge the branch {branch}
bring the changes of {branch} into main

= Changes in {file}
what changed in {file}?
show me the diff of {file}
what did I change in {file}

= History of {file}
show me the history of {file}
which commits changed {file}?
git log for {file}

= Contents of {file}
what is in {file}?
what does {file} contain?
what stands in {file}?

= Show {file}
show me {file}
print {file}
let me see {file}
open {file}
cat {file}

= Summary of {file}
summarise {file}
sum up {file} in two sentences
what is {file} about?
give me the short version of {file}

= Number of lines in {file}
how many lines has {file}?
number of lines in {file}?
how many lines are in {file}

= Count lines of {file}
count the lines in {file}
count the lines of {file} please

= First lines of {file}
show me the first {k} lines of {file}
head of {file}
the first {k} lines of {file} please

= Last lines of {file}
show me the last {k} lines of {file}
tail of {file}
the end of {file} please

= Delete {file}
delete {file}
{file} can go
I don't need {file} any more
rm {file}

= Remove {file}
remove {file}
get rid of {file}
please remove the file {file}

= Rename {file} to {file2}
rename {file} to {file2}
{file} should be called {file2}
please give {file} the name {file2}
mv {file} {file2}

= Copy {file} to {folder}
copy {file} into {folder}
make a copy of {file} in {folder}
cp {file} {folder}/

= Move {file} to {folder}
move {file} into {folder}
put {file} into the folder {folder}
{file} belongs in {folder}

= Create folder {folder}
make a folder {folder}
create a directory called {folder}
I need a folder {folder}

= Create {file}
create {file}
make a new file {file}
please create an empty {file}
I need a file {file}

= {thing} list in {text}
create {text} with a list of {things}
write a list of five {things} into {text}
make {text}, a list of {things}

= Sort {file}
sort the lines of {file}
put {file} in alphabetical order
please sort {file}

= Spelling in {text}
correct the spelling in {text}
fix the typos in {text}
there are spelling mistakes in {text}, please correct them
check {text} for typos

= {key} in {file}
what is the {key} in {file}?
which {key} does {file} set?
how high is the {key} in {file}
tell me the {key} from {file}

= Set {key} to {n}
set the {key} to {n}
change the {key} to {n}
the {key} should be {n}
{key} -> {n}
please change the {key} in {file} to {n}
make the {key} {n} instead

= Add {item} to {text}
add {item} to {text}
put {item} on the list in {text}
{text}: add {item}
please write {item} into {text}
I forgot {item}, add it to {text}

= Remove {item} from {text}
remove {item} from {text}
take {item} off {text}
delete the line with {item} in {text}
we don't need {item} any more, take it out of {text}

= Replace {name} by {name2}
replace {name} by {name2}
change {name} to {name2} everywhere
{name} is now {name2}, change it
in {file}, replace {name} with {name2}

= Rename {func} to {func2}
rename the function {func} to {func2}
{func} should be called {func2}
rename {func} to {func2} everywhere
please change the name of {func} to {func2}

= Definition of {func}
where is {func} defined?
in which file is the function {func}?
find the definition of {func}

= Uses of {func}
where is {func} used?
who calls {func}?
find all calls of {func}
how often is {func} called?

= Explain {func}
what does {func} do?
explain the function {func}
I do not understand {func}, can you explain it?

= Tests for {func}
write tests for {func}
write a unit test for {func}
{func} needs tests

= Bug in {func}
there is a bug in {func}
{func} returns the wrong result
fix {func}, it is wrong for negative numbers
{func} crashes with an empty list

= Search for {name}
search for {name}
where does {name} occur?
which files mention {name}?
grep for {name}
find {name} in all files

= Count of {name}
how often does {name} occur?
count {name} in all files
how many times is {name} in {file}?

= {lang} files here
which {lang} files are here?
list all {lang} files
show me the {lang} files of this folder

= Number of {lang} files
how many {lang} files are there?
count the {lang} files
number of {lang} files?

= Files in {folder}
what is in the folder {folder}?
list the files in {folder}
ls {folder}
which files are in {folder}?

= Largest file
what is the largest file here?
which file is the biggest?
find the largest file

= Newest file
which file was changed last?
what is the newest file here?
most recently changed file?

= Free disk space
how much disk space is free?
is my disk full?
how much space do I have left
df -h

= Size of {folder}
how big is {folder}?
size of the folder {folder}?
how much space does {folder} take?

= Run {script}
run {script}
execute {script} and tell me what it prints
start {script}
what does {script} print?

= Failing tests
which tests fail?
why are the tests red?
one of the tests fails, which one?
do all tests pass?

= {lang} function for {purpose}
write a {lang} function that {purpose_verb}
I need a function in {lang} that {purpose_verb}
{lang}: a function that {purpose_verb}, please

= {lang} script for {purpose}
write a {lang} script that {purpose_verb}
make a small {lang} script which {purpose_verb}
create a script in {lang} that {purpose_verb}

= Recipe for {dish}
how do I make {dish}?
recipe for {dish}?
write down a recipe for {dish}
I want to cook {dish}, what do I need?

= {dish} for {k} people
change the recipe for {dish} to {k} people
I cook {dish} for {k} people, adapt the amounts
make the {dish} recipe enough for {k} persons

= Price of {goods}
how much is the {goods}?
price of the {goods}?
what does the {goods} cost?
what do I charge for {goods}

= New price of {goods}
the {goods} now costs {n} euros, change it
raise the price of the {goods} to {n}
set the price of {goods} to {n} euros

= Total of {file}
what is the total in {file}?
sum up all amounts in {file}
add up the column amount in {file}

= Average in {file}
what is the average of the values in {file}?
average of the column score in {file}?
calculate the mean of {file}

= Letter to {who}
write a letter to {who}
draft a letter to {who} about the new times
I have to write to {who}, help me

= Mail to {who}
write a mail to {who}
draft an e-mail to {who}: we are late
please write a mail for {who}, short and polite

= Invitation to {event}
write an invitation to our {event}
invite our friends to the {event}
I need an invitation text for the {event}

= Speech for {event}
write a speech for the {event}
I have to give a speech at the {event}
short speech for the {event} please

= Shopping list for {event}
write a shopping list for the {event}
what do we have to buy for the {event}?
shopping list: {event} with 20 people

= Date of {event}
when is the {event}?
on which day is the {event}?
date of the {event} in my notes?

= Guests of {event}
who comes to the {event}?
how many guests are invited to the {event}?
guest list of the {event}?

= Poem about {topic}
write a poem about {topic}
four lines about {topic}
a short poem on {topic} please

= Haiku about {topic}
write a haiku about {topic}
haiku, topic {topic}
a haiku on {topic}

= Story about {topic}
tell me a story about {topic}
write a short story about {topic} for children
a bedtime story about {topic}

= Essay about {topic}
write an essay about {topic}
I need an essay on {topic} for school
help me with my essay about {topic}

= Quiz about {topic}
make a quiz about {topic}
five quiz questions on {topic}
write questions about {topic} for my class

= Facts about {topic}
tell me something about {topic}
what do you know about {topic}?
three facts about {topic}

= {name}'s {record}
what is the {record} of {name}?
tell me {name}'s {record}
{record} of {name}?
look up {name}'s {record}

= Update {name}'s {record}
{name} has a new {record}, please change it
change the {record} of {name}
update {name}'s {record}: it is {n} now

= Add {name} to {roster}
add {name} to the {roster}
{name} is new, put him on the {roster}
put {name} on the {roster}

= Remove {name} from {roster}
{name} has left, remove from the {roster}
take {name} off the {roster}
delete {name} from the {roster}

= Chords of {song}
which chords has {song}?
what are the chords of {song}?
chords for {song} please

= Key of {song}
which key is {song} in?
what is the key of {song}
{song}: which key?

= Tempo of {song}
how fast is {song}?
tempo of {song}?
what is the BPM of {song}

= Transpose {song}
transpose {song} a tone up
{song} is too high for us, transpose it
can you put {song} into another key?

= Author of {book}
who wrote {book}?
author of {book}?
{book} is by whom?

= Sources on {topic}
which of my references are about {topic}?
find the sources on {topic} in refs.bib
what do I cite about {topic}?

= Readings above {n}
which readings were above {n}?
all sensor values over {n}?
when was the sensor higher than {n}

= Errors in {logfile}
which errors are in {logfile}?
show me the errors in {logfile}
are there errors in {logfile}?
what went wrong according to {logfile}?

= Last error in {logfile}
what was the last error in {logfile}?
the newest error in {logfile}?
last error of {logfile} please

= Stop process on port {port}
how do I stop what runs on port {port}?
port {port} is in use, how do I free it?
something blocks port {port}

= {web} on the page
change the {web} of the page
the {web} looks bad on the page
please make the {web} nicer on index.html

= Blue {web}
make the {web} blue
I want the {web} in blue
the {web} should be blue

= Larger {web}
make the {web} larger
the {web} is too small
enlarge the {web} please

= Broken {web}
the {web} does not work
the {web} is broken since yesterday
fix the {web}, nothing happens

= Dark mode
add a dark mode to my page
can I have a dark theme?

= Unused code in {source}
is there unused code in {source}?
remove what is not used in {source}
find dead code in {source}

= Format {source}
format {source}
fix the indentation of {source}
{source} is a mess, format it

= Comments in {source}
add comments to {source}
explain the code in {source} with comments
write a docstring for every function in {source}

= Convert {file} to {format}
convert {file} to {format}
turn {file} into {format}
I need {file} as {format}

= Valid {format} in {file}
is {file} valid {format}?
check if {file} is correct {format}
why is {file} not accepted as {format}?

= Compare {file} and {file2}
compare {file} and {file2}
what is the difference between {file} and {file2}?
diff {file} {file2}

= Packing list for {place}
packing list for {place}
what do I need to pack for {place}?
write a packing list for a week in {place}

= Trip to {place}
plan a trip to {place}
three days in {place}, what should I see?
ideas for our holiday in {place}

= Train to {place}
when does my train to {place} leave?
which train do we take to {place}?
departure of the train to {place} in plan.md?

= Opening hours of {shop}
when does the {shop} open?
opening hours of the {shop}?
is the {shop} open on Sunday, according to info.txt?

= Phone number of {shop}
what is the phone number of the {shop}?
phone number {shop}?
find the number of the {shop} in contacts.txt

= {game} rules
explain the rules of {game}
how is {game} played?
rules of {game}?

= {game} as web app
build me a complete {game} game with online play
write {game} as a web app with user accounts
I want a full {game} platform

= Port project to {lang}
port the whole project to {lang}
rewrite everything in {lang}
translate the complete code base into {lang}

= Thesis about {topic}
write my thesis about {topic}
I need an 80 page thesis on {topic}

= Delete home folder
delete my home folder
rm -rf ~
erase everything in my home

= Larger model
how do I get a larger model?
can I use a better model?
connect a bigger model

= Undo last change
undo that
take back your last change
how do I undo what you did?
restore the old version please

= Bridle's abilities
what can you do for me?
what are you able to do?
which things can you help with?

= Privacy of Bridle
do you send my files anywhere?
is my data private?
are you local?
"""
TABLES = {
    "country": "Norway;Peru;Kenya;Japan;Portugal;Chile;Egypt;Latvia;Iceland;Vietnam;Canada;Ghana;Nepal;Cuba;Greece;Mongolia;Jordan;Fiji;Estonia;Bolivia;Turkey;Malta",
    "unit": "km;miles;kg;pounds;litres;inches;hours;GB;feet;Celsius",
    "unit2": "metres;kilometres;grams;kilograms;millilitres;centimetres;minutes;MB;yards;Fahrenheit",
    "word": "butterfly;thank you;bridge;good night;wheelbarrow;lighthouse;spoon;neighbour;freedom;hedgehog;invoice;rehearsal;snow;kitchen",
    "language": "German;French;Spanish;Italian;Dutch;Portuguese;Polish;English;Japanese;Swedish;Latin",
    "term": "recursion;a compiler;inflation;photosynthesis;a sonnet;osmosis;a mortgage;git stash;a hash function;DNS;an API;a closure;the median;a fugue;a roux;CI;a webhook;an embargo;a metaphor;p-value;YAML;a mutex;al dente;chmod 755;HTTP 403",
    "term2": "lists;merge;TCP;cp;Python;JSON;RAM;a class;HTTP;tea;a virus;GET;INNER JOIN;weather",
    "term3": "tuples;rebase;UDP;mv;Java;YAML;ROM;an object;HTTPS;coffee;a bacterium;POST;LEFT JOIN;climate",
    "task": """List files by date;List hidden files;Find large files;Undo last commit;Rename a branch;Delete a branch;Sort a dictionary by value
    ;Read a JSON file;Reverse a list;Exit vim;Unpack a tar.gz;Make a virtual environment;Kill a process;Check free memory;Search in files
    ;Copy a folder;Make a file executable;Count lines of a file;Rename many files;Schedule a nightly job;Connect with ssh;Copy files to a server
    ;Center a div;Round a number in Excel;Freeze a row in Excel;Remove a coffee stain;Boil an egg;Tune a guitar;Repot a plant;Write a CV
    ;Squash commits;Stash changes;Tag a release;Resolve a merge conflict;Unstage a file;Install a package;Read a CSV file;Format a date
    ;Loop over a dictionary;Change a bicycle tube;Calculate VAT;Cite a website;Start a letter;Take a screenshot;Make a pie chart;Parse JSON
    ;Check disk space;Compare two files;Remove duplicate lines;Show line numbers;See running processes;Free a port;Compress a folder""",
    "message": "fix typo;add menu;update prices;first version;new chapter;remove debug;more tests;holiday texts;better names",
    "branch": "new-menu;hotfix;dev;feature-login;experiment;release-2;translations;dark-mode;spring-menu;testing",
    "file": """config.toml;app.py;main.rs;index.html;style.css;README.md;package.json;server.go;notes.md;budget.csv;invoice_12.txt;src/parser.py
    ;tests/test_login.py;docs/setup.md;Makefile;lib/date.ts;Game.java;query.sql;deploy.sh;menu.json;songs.txt;players.yaml;report.tex;refs.bib
    ;film.srt;Dockerfile;.gitignore;utils.js;sensor_log.csv;fr.json;hero.cpp;grades.csv;class_7b.txt;shopping.txt;letter.txt;minutes.md;recipe.md
    ;setlist.txt;team.csv;plan.md;settings.ini;orders.csv;stock.xml;lyrics.txt;ward_plan.md;dosage.csv;lesson3.md;chapter2.md;cv.md;todo.txt
    ;prices.csv;members.csv;schedule.yaml;level1.json;events.ics;contacts.txt;.env;docker-compose.yml;pyproject.toml;index.js;api.rb;model.R""",
    "source": "app.py;main.rs;server.go;src/parser.py;lib/date.ts;Game.java;deploy.sh;utils.js;hero.cpp;index.js;api.rb;model.R;views.py;player.gd;style.css;import_data.py",
    "text": "shopping.txt;notes.md;todo.txt;packing.md;list.txt;groceries.txt;letter.txt;minutes.md;plan.md;supplies.md;report.txt;words.txt;order.txt;ideas.md",
    "file2": "old.txt;new.md;copy.csv;final.md;backup.toml;draft2.md;prices_2026.csv;main_old.py;archive.txt;v2.json;start.html;clean.csv",
    "folder": "archive;docs;photos;src;old;drafts;data;backup;music;recipes;lessons;invoices;tests;assets;2025;reports",
    "thing": "Fruit;Tree;City;Bird;Colour;Instrument;Flower;Herb;River;Dog name",
    "things": "fruits;trees;cities;birds;colours;instruments;flowers;herbs;rivers;dog names",
    "key": "port;timeout;speed;volume;entry fee;interval;number of lives;tempo;oven temperature;price limit;page size;log level;deadline;tax rate;max users;retry count;font size;gravity;brightness;alarm limit",
    "item": "milk;eggs;garlic;two tickets;paint;rice;batteries;new strings;bandages;printer ink;flour;a rope;basil;screws;candles;chalk;gloves;cat food",
    "name": "Anna;Omar;Lucia;Jonas;Mei;Felix;Fatima;Pedro;Nora;Ivan;Chloe;Samir;Greta;Aylin;Hugo;Rosa;Dario;Ines",
    "name2": "Tom;Petra;Emil;Sofia;Karim;Lena;Paulo;Mira;Jan;Zoe;Ken;Marta",
    "func": "getUser;parse_date;total_price;loadMap;is_valid;send_mail;computeTax;read_config;draw_player;sortNames;format_time;count_words;move_enemy;check_login;mean;saveScore",
    "func2": "fetchUser;read_date;sum_prices;openMap;check;notify;taxFor;load_settings;render_hero;orderNames;show_time;word_count;step_enemy;login_ok;average;storeScore",
    "lang": "Python;JavaScript;Rust;Go;Java;C++;TypeScript;Ruby;Kotlin;shell;PHP;Swift;Markdown",
    "purpose": "leap years;word counts;even numbers;palindromes;unit conversion;prime numbers;file backups;random passwords;list reversal;countdowns;times tables;duplicates;photo renaming;age calculation",
    "purpose_verb": "checks leap years;counts words;filters even numbers;checks palindromes;converts units;prints prime numbers;backs up files;makes random passwords;reverses a list;counts down;prints times tables;finds duplicates;renames photos;calculates an age",
    "script": "report.py;build.sh;main.py;backup.sh;sum.py;test.py;hello.py;import.py;clean.sh;plot.py;convert.py",
    "dish": "lentil soup;apple cake;pancakes;risotto;potato salad;pesto;bread rolls;curry;cheesecake;goulash;ratatouille;hummus;banana bread",
    "goods": "soup;tea;blue lamp;apple cake;bicycle bell;wool hat;violin case;oak table;garden chair;ticket;haircut;honey jar",
    "who": "the landlord;the parents;my teacher;the insurance;Mrs Keller;the town hall;our customers;the choir;the bank;my boss;the neighbours;the publisher",
    "event": "summer party;wedding;school festival;concert;birthday;workshop;rehearsal weekend;board meeting;picnic;exhibition;open day;funeral;camp",
    "topic": "the sea;autumn;bees;friendship;volcanoes;old trains;rain;the moon;Rome;robots;dragons;winter;cats;democracy;football;coffee;solar energy;dinosaurs;climate change;jazz;the Vikings",
    "record": "birthday;phone number;mark;score;address;shift;room number;salary;medication;shoe size;best time;e-mail address;blood type",
    "roster": "member list;guest list;team;class list;rota;choir list;mailing list;shift plan;crew list;waiting list",
    "song": "Blue Door;River Road;Late Train;Morning Tide;Paper Moon;Summer Wine;Old Harbour;Silent Hill;Green Fields;Last Waltz",
    "book": "Faust;Dracula;Dune;Emma;Hamlet;Momo;The Trial;Moby-Dick;Ulysses;Jane Eyre;The Hobbit;Don Quixote",
    "logfile": "server.log;app.log;error.log;access.log;build.log;sensor.log;backup.log;mail.log;import.log",
    "port": "8080;3000;5432;8000;5000;443;6379;9000",
    "web": "heading;menu;footer;login button;search box;logo;contact form;picture gallery;sidebar;price table;newsletter form;cookie banner;map;slider",
    "format": "JSON;YAML;CSV;TOML;Markdown;HTML;XML",
    "place": "Norway;Lisbon;Rome;the Alps;Japan;the Baltic Sea;Kraków;Iceland;Marrakesh;Scotland;Crete;Paris",
    "shop": "bakery;library;pharmacy;museum;town hall;dentist;garage;swimming pool;pizzeria;post office;vet;bookshop",
    "game": "Chess;Tetris;Snake;Poker;Scrabble;Backgammon;Sudoku;Go;Bridge;Checkers;Mahjong",
}
PAIRED = (
    ("unit", "unit2"),
    ("term2", "term3"),
    ("thing", "things"),
    ("purpose", "purpose_verb"),
    ("func", "func2"),
)
"""Tables of which the same entry is taken."""
FOREIGN_BLOCKS = """
= Hauptstadt von {land}
Was ist die Hauptstadt von {land}?
Hauptstadt von {land}?
Wie heißt die Hauptstadt von {land}?

= Summe von {n} und {m}
Was ist {n} plus {m}?
Wie viel ist {n} + {m}?

= Inhalt von {file}
Was steht in {file}?
Zeig mir {file}
Lies bitte {file} vor

= {file} löschen
Lösche {file}
{file} kann weg
Bitte entferne {file}

= {file} ins Englische übersetzen
Übersetze {file} ins Englische
{file} bitte auf Englisch

= Rechtschreibung in {file}
Korrigiere die Rechtschreibung in {file}
In {file} sind Tippfehler, bitte verbessern

= {ding} in {file} ergänzen
Füge {ding} in {file} hinzu
Schreib noch {ding} in {file}
In {file} fehlt {ding}

= Suche nach {name}
Wo kommt {name} vor?
In welcher Datei steht {name}?
Suche nach {name}

= Bedeutung von {wort}
Was ist {wort}?
Erklär mir {wort}
Was bedeutet {wort}?

= Gedicht über {thema}
Schreib ein Gedicht über {thema}
Ein kurzes Gedicht über {thema} bitte

= Letzter Commit
Was war der letzte Commit?
Zeig mir den letzten Commit

= Nicht gespeicherte Änderungen in Git
Was habe ich noch nicht committet?
Gibt es Änderungen, die nicht im Commit sind?

= Freier Speicherplatz
Wie viel Speicherplatz ist noch frei?
Ist die Festplatte voll?

= {script} ausführen
Führe {script} aus
Starte {script} und sag mir, was kommt

= Capitale {pays}
Quelle est la capitale {pays} ?
Capitale {pays} ?

= Contenu de {file}
Que contient {file} ?
Montre-moi {file}
Affiche {file}

= Supprimer {file}
Supprime {file}
Efface {file} s'il te plaît

= Traduire {file} en anglais
Traduis {file} en anglais
{file} en anglais, s'il te plaît

= Fautes dans {file}
Corrige les fautes dans {file}
Il y a des fautes dans {file}

= Recherche de {name}
Où apparaît {name} ?
Dans quel fichier est {name} ?
Cherche {name}

= Somme de {n} et {m}
Combien font {n} plus {m} ?
{n} + {m} ?

= Poème sur {sujet}
Écris un poème sur {sujet}
Un petit poème sur {sujet}

= Exécuter {script}
Lance {script}
Exécute {script} et dis-moi le résultat

= Contenido de {file}
¿Qué hay en {file}?
Muéstrame {file}
Enseña {file}

= Borrar {file}
Borra {file}
Elimina {file}, por favor

= Traducir {file} al inglés
Traduce {file} al inglés
{file} en inglés, por favor

= Errores en {file}
Corrige las faltas de {file}
Hay faltas en {file}

= Búsqueda de {name}
¿Dónde aparece {name}?
Busca {name}
¿En qué archivo está {name}?

= Suma de {n} y {m}
¿Cuánto es {n} más {m}?
{n} más {m}?

= Poema sobre {tema}
Escribe un poema sobre {tema}
Un poema corto sobre {tema}

= Ejecutar {script}
Ejecuta {script}
Lanza {script} y dime el resultado

= Contenuto di {file}
Cosa c'è in {file}?
Mostrami {file}

= Eliminare {file}
Elimina {file}
Cancella {file} per favore

= Somma di {n} e {m}
Quanto fa {n} più {m}?
{n} più {m}?

= Poesia {argomento}
Scrivi una poesia {argomento}
Una breve poesia {argomento}

= Inhoud van {file}
Wat staat er in {file}?
Laat {file} zien

= Conteúdo de {file}
O que há em {file}?
Mostra-me {file}
"""
FOREIGN_TABLES = TABLES | {
    "land": "Norwegen;Peru;Kenia;Japan;Portugal;Chile;Ägypten;Lettland;Kanada;Griechenland;Polen;Ungarn",
    "pays": "du Japon;de la Norvège;du Pérou;de l'Italie;du Portugal;de la Grèce;du Canada;de la Pologne;du Kenya",
    "ding": "Milch;Mehl;zwei Karten;Batterien;Tomaten;Schrauben;Kreide",
    "wort": "Rekursion;Inflation;Photosynthese;DNS;Osmose;Git;YAML",
    "thema": "das Meer;den Herbst;Katzen;den Regen;die Freundschaft;alte Züge",
    "sujet": "la mer;l'automne;les chats;la pluie;l'amitié",
    "tema": "el mar;el otoño;los gatos;la lluvia;la amistad",
    "argomento": "sul mare;sull'autunno;sui gatti;sulla pioggia;sull'amicizia",
}
PASTES = """
= {exception} in {script}
why does it crash? | what is wrong here? | help, I get this: | can you explain this error? | since today: | fix this please
Traceback (most recent call last):
  File "{script}", line {n}, in <module>
    {code}
{exception}: {detail}

= Test {func} fails
this test fails, why? | a red test, please look | the test run says:
FAILED tests/test_app.py::{func} - assert {n} == {m}

= {command} not found
what is missing? | the shell says this | why?
bash: {command}: command not found

= Permission denied for {script}
I cannot start it | why can't I run it? | what do I do about this?
bash: ./{script}: Permission denied

= Port {port} in use
the server does not start | what does that mean? | how do I fix this?
Error: listen EADDRINUSE: address already in use :::{port}

= Merge conflict in {file}
git complains, what now? | what do I do? | help with git please
Auto-merging {file}
CONFLICT (content): Merge conflict in {file}
Automatic merge failed; fix conflicts and then commit the result.

= Missing file {file}
it does not find my file | why? | the script stops with this
FileNotFoundError: [Errno 2] No such file or directory: '{file}'

= Warnings in {logfile}
what do these lines of {logfile} mean? | is this bad? it is from {logfile} | please look at this part of {logfile}
2026-01-1{d} 08:1{d} WARN queue is {m} items long
2026-01-1{d} 08:2{d} WARN slow response: {n}00 ms

= Undefined {func} in JavaScript
the page stays empty | what is wrong with my script? | the console says:
Uncaught ReferenceError: {func} is not defined
    at main.js:{n}:{d}

= Slow query on {table}
this query takes ages | how do I make it faster? | the database hangs:
SELECT * FROM {table} WHERE lower(name) LIKE '%{d}%' ORDER BY created_at

= Python code explained
what does this do? it's Python | explain this python code | I found this Python code, what is it for?
total = 0
for value in values:
    total = total + value * {d}

= Message from {name}
what shall I answer? | please sum it up | I got this from {name}, what does it say?
Hi, it's {name}. Can we move the meeting to {d} o'clock? I have to take the car to the garage before. Please tell the others.

= Recipe for {d} people
how much flour do I need for it? | make a shopping list from it | write it down nicely
For {d} people: {n}0 g flour, 3 eggs, a bit of salt, half a litre of milk. Stir, wait, fry.

= Table of {table}
make a nice table from it | sort this | convert it to Markdown
{table},amount
a,{n}
b,{m}
c,{d}
"""
PASTE_TABLES = TABLES | {
    "exception": "KeyError;IndexError;ValueError;TypeError;NameError;AttributeError;ImportError;RecursionError;UnicodeDecodeError",
    "detail": "'name';list index out of range;invalid literal for int();unsupported operand;name 'x' is not defined;'NoneType' object has no attribute 'get'",
    "code": "print(rows[9]);value = int(text);main();total += prices[name];data.get(key);load(path)",
    "command": "node;npm;cargo;docker;rg;pandoc;ffmpeg;jq;tree;pip",
    "table": "orders;customers;players;songs;patients;pupils;invoices;readings",
}
